"""Consecutive chunks read as one passage, each part once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from ragpress.records import Chunk

_HEADING = re.compile("(#{1,6}) ")


def passage(chunks: Sequence[Chunk]) -> str:
    """The texts of consecutive chunks as one: the first whole, of the others what is new, below its headings."""
    text = ""
    open_lines: tuple[str, ...] = ()
    for chunk in chunks:
        piece = chunk.text
        if text:
            missing = [line for line in _headings(chunk) if line not in open_lines]
            piece = "\n".join([*missing, chunk.text[chunk.context_chars :]])
        open_lines = _open_after(open_lines, piece)
        text += _gap(text, piece) + piece
    return text


def _headings(chunk: Chunk) -> list[str]:
    """The heading lines at the top of a chunk's context; the rest of it repeats what comes before the chunk."""
    lines = (line for line in chunk.text[: chunk.context_chars].splitlines() if line)
    return list(itertools.takewhile(_HEADING.match, lines))


def _open_after(lines: tuple[str, ...], text: str) -> tuple[str, ...]:
    for line in text.splitlines():
        if found := _HEADING.match(line):
            lines = (*(one for one in lines if _level(one) < len(found[1])), line)
    return lines


def _level(line: str) -> int:
    return len(line) - len(line.lstrip("#"))


def _gap(before: str, piece: str) -> str:
    if not before:
        return ""
    rows = piece.startswith("|") and before.rsplit("\n", 1)[-1].startswith("|")
    return "\n" if rows else "\n\n"  # rows of one table stay together
