"""What a person would see of a source, in pieces with their places, and the words in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Literal

import msgspec

from ragpress.text import fold

UNKNOWN_LETTER = "\ue000"
"""Stands for a letter whose name depends on a font. A word with one is not counted."""

_MAX_KNOWN = 1 << 17
_LONGEST_KNOWN = 100
_WORD = re.compile(r"[^\W_]+")
_UNKNOWN_WORD = re.compile(rf"[^\W_]*{UNKNOWN_LETTER}[^\W_{UNKNOWN_LETTER}]*")


def words(text: str) -> list[str]:
    """The runs of letters and digits of a text, folded, so that neither punctuation nor spelling variants count."""
    return list(chain.from_iterable(map(_known.__getitem__, text.split())))


class _Known(dict[str, tuple[str, ...]]):
    """Words of tokens met before: a text has few different ones, and folding takes its time."""

    def __missing__(self, token: str) -> tuple[str, ...]:
        text = fold(token)
        if UNKNOWN_LETTER in text:
            text = _UNKNOWN_WORD.sub(" ", text)
        found = tuple(_WORD.findall(text))
        if len(self) >= _MAX_KNOWN:
            self.clear()
        if len(token) <= _LONGEST_KNOWN:
            self[token] = found
        return found


_known = _Known()


class VisibleText(msgspec.Struct, frozen=True):
    """Visible text that hangs together, such as a paragraph or a line. `place` is written as a rendered Locator.

    A `formula` is set in two dimensions, so that only the order of its letters and digits is a matter of fact.
    """

    text: str
    place: str
    formula: bool = False


class StoredCell(msgspec.Struct, frozen=True):
    """The stored value of a spreadsheet cell. `code` is the number format by which a number or date is shown."""

    text: str
    kind: Literal["text", "number", "date", "truth"] = "text"
    code: str = ""


class SheetRow(msgspec.Struct, frozen=True):
    """The visible cells of a spreadsheet row that have a value, in order."""

    sheet: str
    number: int
    cells: tuple[StoredCell, ...]


class Visible(msgspec.Struct):
    """All of a source: `rows` of a workbook, `pieces` of anything else.

    `left_out` counts words that no person sees, by reason. `repeatable` are words that may rightly stand more often in
    the chunks than in the source: of table headers, merged cells and labels.
    """

    pieces: list[VisibleText] = []
    rows: list[SheetRow] = []
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    repeatable: set[str] = set()

    def leave_out(self, reason: str, texts: Iterable[str]) -> None:
        """Counts words that are not to be found in the chunks."""
        count = sum(len(words(text)) for text in texts)
        if count:
            self.left_out[reason] += count
