"""The content of a worksheet part, before anything is judged."""

from __future__ import annotations

from bisect import bisect_left

import msgspec
from openpyxl.utils.cell import range_boundaries

from ragpress.readers.rows import RowEvidence
from ragpress.readers.xlsx.styles import BOLD, FILLED, RULED_ABOVE, RULED_BELOW

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384
"""The size of a sheet in Excel; what claims to lie beyond is taken to follow what came before it."""


class Area(msgspec.Struct, frozen=True):
    """A range of cells, from 1, all ends in."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def is_cell(self) -> bool:
        return self.top == self.bottom and self.left == self.right


class SheetContent(msgspec.Struct):
    """The cells of a sheet and what belongs to them.

    `cells` gives the texts of a row by column, rows ascending; `looks` what all texts of a row look like (bits of
    `styles`). `frozen` is the last row of the frozen pane, `print_titles` are the first and the last row of those that
    are printed on every page (0 for none), `filtered` has the rows with the buttons of a filter. `formulas` lists rows
    with a formula whose value is not in the file; `bad_strings` counts cells whose shared string is missing,
    `pictures` those that show a picture without a text.
    """

    cells: dict[int, dict[int, str]] = {}
    looks: dict[int, int] = {}
    frozen: int = 0
    print_titles: tuple[int, int] = (0, 0)
    filtered: set[int] = set()
    hidden_rows: set[int] = set()
    hidden_columns: list[tuple[int, int]] = []
    merged: list[Area] = []
    filters: list[Area] = []
    formulas: list[int] = []
    bad_strings: int = 0
    pictures: int = 0
    print_texts: list[str] = []

    def evidence(self, row: int) -> RowEvidence:
        """What the file shows of a row beside its texts."""
        look = self.looks.get(row, 0)
        first, last = self.print_titles
        return RowEvidence(
            bold=bool(look & BOLD),
            filled=bool(look & FILLED),
            ruled=bool(look & RULED_BELOW or self.looks.get(row + 1, 0) & RULED_ABOVE),
            pinned=row <= self.frozen or first <= row <= last,
            filtered=row in self.filtered,
        )


def area(reference: str | None) -> Area | None:
    """The range that a reference such as `A1:B2`, `A1` or `A:B` names, or None."""
    try:
        left, top, right, bottom = range_boundaries((reference or "").strip())
    except ValueError:
        return None
    if not top and not left:
        return None
    top, bottom, left, right = top or 1, bottom or MAX_ROW, left or 1, right or MAX_COLUMN
    return Area(min(top, bottom), min(left, right), max(top, bottom), max(left, right))


def rows_between(rows: list[int], first: int, last: int) -> list[int]:
    """The members of an ascending list from `first` to `last`."""
    return rows[bisect_left(rows, first) : bisect_left(rows, last + 1)]
