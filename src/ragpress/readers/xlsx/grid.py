"""From a sheet's content to what a person sees: hidden cells out, merged values in every row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import msgspec

from ragpress.readers.rows import RowEvidence
from ragpress.readers.xlsx.content import Area, SheetContent, rows_between

MAX_VISITS = 1 << 22
"""Rows that all merged ranges together may reach over; ranges that overlap by the thousand are no work of people."""


class VisibleRow(msgspec.Struct, frozen=True):
    """A visible row with a text.

    `number` is its row on the sheet; `y` and the columns of `texts` and `spans` count only what is visible, so that
    hidden rows and columns leave no gap. `inherited` columns repeat a merged value from a row above.
    """

    number: int
    y: int
    texts: dict[int, str]
    spans: dict[int, int]
    inherited: frozenset[int]
    evidence: RowEvidence


class VisibleSheet(msgspec.Struct):
    """The visible rows with a text, and counts of what is not visible."""

    rows: list[VisibleRow] = []
    hidden_rows: int = 0
    hidden_columns: int = 0
    filtered_rows: int = 0
    covered: int = 0


def visible_rows(content: SheetContent) -> VisibleSheet:
    """What of a sheet's cells is visible. Rows that an active filter hides are data and stay."""
    visible = VisibleSheet()
    hidden_rows = _hidden_rows(content, visible)
    columns = _Columns(content.hidden_columns)
    _add_shown_rows(content, hidden_rows)
    numbers = list(content.cells)
    covers = _cover(content, numbers, hidden_rows, columns)
    hidden_columns = set()
    ordered_hidden = sorted(hidden_rows)
    for number in numbers:
        if number in hidden_rows:
            continue
        cover = covers.get(number, _NOTHING)
        texts: dict[int, str] = {}
        spans: dict[int, int] = {}
        if cover is _NOTHING and not content.hidden_columns:
            texts = content.cells[number]  # most rows of most sheets
        else:
            covered = _Columns(cover.ranges)
            for column, text in content.cells[number].items():
                if covered.hidden(column):
                    visible.covered += column not in cover.anchors
                elif columns.hidden(column):
                    hidden_columns.add(column)
                else:
                    texts[columns.place(column)] = text
            for column, (text, span) in cover.shown.items():
                texts[column] = text
                spans[column] = span
        if texts:
            visible.rows.append(
                VisibleRow(
                    number,
                    number - bisect_left(ordered_hidden, number),
                    texts if list(texts) == sorted(texts) else dict(sorted(texts.items())),
                    spans,
                    frozenset(cover.inherited),
                    content.evidence(number),
                )
            )
    visible.hidden_columns = len(hidden_columns)
    return visible


def _hidden_rows(content: SheetContent, visible: VisibleSheet) -> set[int]:
    hidden = set()
    for number in content.hidden_rows:
        if any(found.top <= number <= found.bottom for found in content.filters):
            visible.filtered_rows += number in content.cells
        else:
            hidden.add(number)
            visible.hidden_rows += number in content.cells
    return hidden


def _add_shown_rows(content: SheetContent, hidden: set[int]) -> None:
    """Adds rows without cells of their own that show a merged value, since the row that holds it is hidden."""
    added = set()
    visits = 0
    for merged in content.merged:
        if merged.top in hidden and content.cells.get(merged.top, {}).get(merged.left):
            row = merged.top + 1
            while row in hidden and row <= merged.bottom and visits < MAX_VISITS:
                row += 1
                visits += 1
            if row <= merged.bottom and row not in content.cells and row not in hidden:
                added.add(row)
    if added:
        content.cells = dict(sorted({**content.cells, **{row: {} for row in added}}.items()))


class _Columns:
    """Which columns some ranges hide, and the place of a visible one among the visible ones, from 1."""

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._before: list[int] = []  # hidden columns before each range
        total = 0
        for first, last in sorted(ranges):
            first = max(first, self._ends[-1] + 1) if self._ends else first
            if first <= last:
                self._starts.append(first)
                self._ends.append(last)
                self._before.append(total)
                total += last - first + 1

    def hidden(self, column: int) -> bool:
        at = bisect_right(self._starts, column) - 1
        return at >= 0 and column <= self._ends[at]

    def place(self, column: int) -> int:
        at = bisect_right(self._starts, column) - 1
        skipped = self._before[at] + self._ends[at] - self._starts[at] + 1 if at >= 0 else 0
        return column - skipped

    def visible(self, first: int, last: int) -> list[int]:
        """The first visible column of a range and how many there are, or nothing."""
        while first <= last and self.hidden(first):
            first = self._ends[bisect_right(self._starts, first) - 1] + 1
        if first > last:
            return []
        while self.hidden(last):
            last = self._starts[bisect_right(self._starts, last) - 1] - 1
        return [first, self.place(last) - self.place(first) + 1]


class _Cover(msgspec.Struct):
    """What merged ranges do to one row: the ranges of columns they cover, and the texts they show instead."""

    ranges: list[tuple[int, int]] = []
    anchors: set[int] = set()
    shown: dict[int, tuple[str, int]] = {}
    inherited: set[int] = set()


_NOTHING = _Cover()


def _cover(content: SheetContent, numbers: list[int], hidden: set[int], columns: _Columns) -> dict[int, _Cover]:
    """By row. Only rows with a text count: a range merged down to the end of the sheet costs nothing.

    The value of a range is shown in its first visible row even where the row that holds it is hidden.
    """
    covers: dict[int, _Cover] = {}
    visits = 0
    for merged in content.merged:
        text = content.cells.get(merged.top, {}).get(merged.left, "")
        place = columns.visible(merged.left, merged.right)
        first = True
        found = rows_between(numbers, merged.top, merged.bottom)
        visits += len(found)
        for number in found if visits < MAX_VISITS else found[:1]:
            cover = covers.setdefault(number, _Cover())
            cover.ranges.append((merged.left, merged.right))
            if number == merged.top:
                cover.anchors.add(merged.left)
            if number in hidden or not place or not text:
                continue
            shown = columns.place(place[0])
            cover.shown[shown] = (text, place[1])
            if not first:
                cover.inherited.add(shown)
            first = False
    return covers


def area_places(found: Area, content: SheetContent) -> tuple[int, int]:
    """The first and last visible column of an area, as places among the visible columns; (1, 0) if none."""
    columns = _Columns(content.hidden_columns)
    place = columns.visible(found.left, found.right)
    return (columns.place(place[0]), columns.place(place[0]) + place[1] - 1) if place else (1, 0)
