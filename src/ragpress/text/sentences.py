"""Where sentences end in Russian, Persian and English text."""

from __future__ import annotations

import re

_END = re.compile(r"(?:[.!?…؟]+[»”\"')\]]*|[؛])\s+|\n+")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) in code points that follow each other without a gap and cover `text`."""
    ends = [found.end() for found in _END.finditer(text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    starts = [0, *ends[:-1]]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def sentences(text: str) -> list[str]:
    """The sentences of `text`, white space included: their concatenation is `text`."""
    return [text[start:end] for start, end in sentence_spans(text)]
