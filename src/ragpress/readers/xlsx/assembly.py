"""Puts the regions of a sheet that stand one below another together, and reads the tables in each such stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from ragpress.readers.rows import Row, TableReading
from ragpress.readers.tables import is_title, read_table, read_tables
from ragpress.readers.xlsx.grid import VisibleRow
from ragpress.readers.xlsx.regions import DeclaredTable, Region, find_regions

TITLE_LINES = 4
"""More lines than this above a table of the file's own are notes, not its title."""
TITLE_GAP = 4
"""A title may stand so many blank rows above such a table."""
LOOK_BACK = 64
"""So many stacks back one is looked for that a region goes on with."""


class _Stack(msgspec.Struct):
    """Regions one below another that share columns."""

    regions: list[Region]

    @property
    def last(self) -> Region:
        return self.regions[-1]

    def overlaps(self, region: Region) -> bool:
        return any(own.overlaps(region) for own in self.regions[-LOOK_BACK:])

    def rows(self) -> list[Row]:
        """The rows of all regions, in the columns from the leftmost on."""
        left = min(region.left for region in self.regions)
        rows: list[Row] = []
        bottom = 0
        for region in self.regions:
            shifted = [_shifted(row, region.left - left) for row in region.rows]
            if rows:
                gap = max(region.ys[0] - bottom - 1, 0)
                shifted[0] = msgspec.structs.replace(shifted[0], gap=gap)
            rows += shifted
            bottom = max(bottom, region.ys[1])
        return rows


def find_tables(rows: Sequence[VisibleRow], declared: Sequence[DeclaredTable] = ()) -> list[TableReading]:
    """The tables of a sheet, by the row and then the column that they begin in."""
    tables: list[tuple[int, int, TableReading]] = []
    for stack in _stacked(find_regions(rows, declared)):
        left = min(region.left for region in stack.regions)
        if stack.last.header_rows is not None:
            titles = tuple(row for region in stack.regions[:-1] for row in region.rows)
            table = read_table(stack.last.rows, stack.last.header_rows)
            found = [msgspec.structs.replace(table, titles=(*titles, *table.titles))]
        else:
            found = read_tables(stack.rows())
        tables += [(table.first_place(), left, msgspec.structs.replace(table, column=left)) for table in found]
    tables.sort(key=lambda entry: entry[:2])
    return [table for _, _, table in tables]


def _stacked(regions: Sequence[Region]) -> list[_Stack]:
    """A region goes on with the stack above it unless one beside it does so already."""
    stacks: list[_Stack] = []
    blocks = Counter(region.block for region in regions)
    for region in regions:
        stack = _overlapped(stacks, region)
        if stack is None or stack.last.header_rows is not None:
            stacks.append(_Stack([region]))
        elif region.header_rows is not None:
            if _names(stack, region):
                stack.regions.append(region)
            else:
                stacks.append(_Stack([region]))
        elif blocks[region.block] > 1 and stack.last.block == region.block:
            stacks.append(_Stack([region]))
        else:
            stack.regions.append(region)
    return stacks


def _overlapped(stacks: Sequence[_Stack], region: Region) -> _Stack | None:
    return next((stack for stack in reversed(stacks[-LOOK_BACK:]) if stack.overlaps(region)), None)


def _names(stack: _Stack, region: Region) -> bool:
    """Whether a stack is nothing but the title of a table that the file itself calls one."""
    rows = [row for own in stack.regions for row in own.rows]
    return all(map(is_title, rows)) and len(rows) <= TITLE_LINES and region.ys[0] - stack.last.ys[1] - 1 <= TITLE_GAP


def _shifted(row: Row, by: int) -> Row:
    """The row with `by` blank columns before it."""
    if not by:
        return row
    return msgspec.structs.replace(
        row,
        cells=("",) * by + row.cells,
        spans=(1,) * by + row.spans if row.spans else (),
        inherited=tuple(column + by for column in row.inherited),
    )
