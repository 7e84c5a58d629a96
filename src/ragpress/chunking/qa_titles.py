"""A title line above questions and answers goes with the first of them, instead of being a chunk of its own.

By itself it answers nothing, and is found before the pairs: it is short, and about all of them. It is no heading,
since in Word none is inferred from text: `section` and `headings` stay as they are. Nor is it repeated above the other
pairs: measured, that makes them more alike than it helps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from ragpress.records import Unit
from ragpress.text import sentence_spans
from ragpress.text.questions import mark_of

_MOST_WORDS = 12
_FEWEST_PAIRS = 2
_LETTERS_A_DIGIT = 3  # fewer are in a date, the number of a document, a telephone
_NO_TITLE_ENDS = (".", "!", "?", "؟", "…", ";", "؛", ",", "،", "-", "–", "—")
_OPENING, _CLOSING = ' *_«“"(', ' *_»”")'


def with_titles(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """The units of a document, pairs found, with each title line in the pair below it.

    A title line is the first unit of its section, or of the document; directly below it stand two pairs or more, under
    the same heading. It is one line of at most twelve words, mostly letters, without the mark of a question, an answer
    or an item; it begins with no sign and does not end as a sentence does.
    """
    found: list[Unit] = []
    at = 0
    for title in _titles(units):
        found += [*units[at:title], _led(units[title], units[title + 1])]
        at = title + 2
    return (*found, *units[at:])


def _titles(units: Sequence[Unit]) -> Iterator[int]:
    """Where the title lines stand."""
    firsts = [0, *(at for at, (one, two) in enumerate(pairwise(units), 1) if one.section_number != two.section_number)]
    for at in firsts:
        below = units[at + 1 : at + 1 + _FEWEST_PAIRS]
        # In plain text each question is a section of its own, under the same heading or none.
        pairs = [unit for unit in below if unit.kind == "qa_pair" and unit.breadcrumb == units[at].breadcrumb]
        if len(pairs) == _FEWEST_PAIRS and _is_title(units[at]):
            yield at


def _is_title(unit: Unit) -> bool:
    text = unit.text.rstrip(_CLOSING)
    if unit.kind != "paragraph" or unit.picture or "\n" in text:
        return False
    if not text.lstrip(_OPENING)[:1].isalnum() or text.endswith(_NO_TITLE_ENDS):
        return False
    digits, letters = sum(map(str.isdigit, text)), sum(map(str.isalpha, text))
    is_short = len(text.split()) <= _MOST_WORDS and len(sentence_spans(text)) == 1
    return is_short and letters > digits * _LETTERS_A_DIGIT and mark_of(text) is None


def _led(title: Unit, pair: Unit) -> Unit:
    """The pair with the title line above its question; a later piece of it repeats both."""
    above = f"{title.text}\n\n"
    return msgspec.structs.replace(
        pair,
        text=above + pair.text,
        locator=title.locator.to(pair.locator),
        breaks=tuple(len(above) + at for at in pair.breaks),
        repeat=len(above) + pair.repeat,
    )
