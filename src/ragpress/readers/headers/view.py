"""The rows of a grid that are looked at for a header, and what their columns hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ragpress.readers.headers.texts import most_frequent
from ragpress.readers.kinds import is_marked_year, is_period, kind
from ragpress.readers.rows import Row

SEARCHED = 40
"""Rows from the top among which a header may stand; forms have long preambles, nothing sane has longer ones."""
PREFACE = 8
"""Rows of several cells that may stand above a header, such as the facts at the head of a report."""
SAMPLE = 200
"""Data rows looked at as evidence."""


class Said(NamedTuple):
    """How many cells of a row, in the columns of values, are values, names, and periods that may be either."""

    values: int
    names: int
    periods: int


class View:
    """The rows that are looked at, and what their columns hold.

    `values` has the columns that mostly hold figures (`f`) or codes (`c`), from the first such cell down; in those of
    `periodic` these are years or dates themselves, in those of `plain` they stand without a word (`5`, not `5 GB`).
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows[: SEARCHED + SAMPLE]
        self.filled = [row.filled() for row in self.rows]
        self.width = most_frequent(Counter(map(len, self.filled)))
        self.values: dict[int, str] = {}
        self.periodic: set[int] = set()
        self.plain: set[int] = set()
        self._find_columns()

    def _find_columns(self) -> None:
        marks: dict[int, Counter[str]] = {}
        leading: Counter[int] = Counter()  # words above the first value
        for row, filled in zip(self.rows, self.filled, strict=True):
            if len(filled) < 2:
                continue
            for column in filled:
                mark = _mark(row.cells[column])
                found = marks.get(column)
                if found is not None:
                    found[mark] += 1
                elif mark != "t":
                    marks[column] = Counter(mark)
                else:
                    leading[column] += 1
        for column, found in marks.items():
            total = found.total()
            if total == 1 and found["c"]:
                continue  # `Arson1`, a name with a footnote's number above nothing
            if found["t"] * 5 <= total * 2 and (total - found["t"]) * 2 >= leading[column]:
                self.values[column] = "c" if found["c"] * 2 >= total - found["t"] else "f"
                if found["w"] * 2 < total:
                    self.plain.add(column)
                if found["p"] * 2 > total:
                    self.periodic.add(column)

    def said(self, index: int) -> Said:
        values = names = periods = bracketed = marked = years = 0
        cells = self.rows[index].cells
        for column in self.filled[index]:
            holds = self.values.get(column)
            if holds is None:
                continue
            text = cells[column]
            mark = _mark(text)
            if (
                mark == "t"
                or (mark == "c" and holds == "f" and _begins_with_letter(text))
                or (mark == "w" and column in self.plain)
                or (mark == "f" and column in self.periodic and any(map(str.isdigit, text)))
            ):
                names += 1
            elif mark == "p" and column not in self.periodic and holds == "f":
                periods += 1
                years += len(text) < 12
            else:
                values += 1
                marked += is_marked_year(text)
                bracketed += text.startswith("(") and any(map(str.isdigit, text))
        if values and values == marked and years:
            return Said(0, names, periods + values)  # 20161 among years: a footnote's number behind one
        if bracketed and bracketed == values and (names > values or self._are_units(index)):
            return Said(0, names + values, periods)
        return Said(values, names, periods)

    def _are_units(self, index: int) -> bool:
        """`(1,000) | (1,000)` above figures that stand in no brackets."""
        columns = [column for column in self.filled[index] if column in self.values]
        cells = self.rows[index].cells
        below = [row.cells[column] for row in self.rows[index + 1 : index + 6] for column in columns
                 if column < len(row.cells) and row.cells[column]]  # fmt: skip
        return all(cells[column].startswith("(") for column in columns) and sum(
            text.startswith("(") for text in below
        ) * 2 < len(below)

    def is_body(self, index: int) -> bool:
        """Whether a row holds values where its columns do."""
        said = self.said(index)
        return len(self.filled[index]) > 1 and said.values > 0 and said.values >= said.names


def _begins_with_letter(text: str) -> bool:
    return next((character.isalpha() for character in text if character.isalnum()), False)


@lru_cache(1 << 15)
def _mark(text: str) -> str:
    """`p` for a period, `w` for a figure with a word (`1 unit`), else the first letter of its kind."""
    if is_period(text):
        return "p"
    found = kind(text)[0]
    return "w" if found == "f" and any(map(str.isalpha, text)) and any(map(str.isdigit, text)) else found
