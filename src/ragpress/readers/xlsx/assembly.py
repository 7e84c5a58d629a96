"""Puts the regions of a sheet together to tables: titles to what they name, blocks to the table they go on with."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragpress.readers.headers import find_header, kind
from ragpress.readers.tables import TITLE_LIMIT, Row, Table, is_title, read_table
from ragpress.readers.xlsx.grid import SeenRow
from ragpress.readers.xlsx.regions import Proven, Region, find_regions

TITLE_LINES = 4
"""More lines than this above a table are notes, not its title."""
TITLE_GAP = 4
"""A title may stand so many blank rows above its table."""
LOOK_BACK = 64
"""So many regions back a title or a table that goes on is looked for."""
COMPARED = 50
"""Rows looked at to tell whether a block goes on with the table above it."""


def find_tables(rows: Sequence[SeenRow], proven: Sequence[Proven] = ()) -> list[Table]:
    """The tables of a sheet, by the row and then the column that they begin in."""
    assembled = _assemble(find_regions(rows, proven))
    assembled.sort(key=lambda region: region.order)
    return [_table(region) for region in assembled]


def _table(region: Region) -> Table:
    table = read_table(region.rows, region.header_rows)
    return msgspec.structs.replace(table, titles=(*region.titles, *table.titles))


def _assemble(regions: Sequence[Region]) -> list[Region]:
    """Puts titles to their tables and blocks that go on with a table to it."""
    made: list[Region] = []
    for region in regions:
        above = _above(made, region)
        if above is not None and _is_title(above, region):
            made.remove(above)
            region.titles = [*above.titles, *above.rows]
            above = _above(made, region)
        if region.header_rows is None:
            region.headed = find_header(region.rows) is not None
        if above is None or region.headed or above.header_rows is not None:
            made.append(region)
        elif above.headed and _fits(above, region):
            _append(above, region)
        elif not above.headed and len(above.rows) <= 3 and _heads(above, region):
            _append(above, region)
            above.headed = True
        else:
            made.append(region)
    return made


def _above(made: Sequence[Region], region: Region) -> Region | None:
    return next((earlier for earlier in reversed(made[-LOOK_BACK:]) if earlier.overlaps(region)), None)


def _is_title(above: Region, region: Region) -> bool:
    """Whether a block of lines names the block below it."""
    return (
        not above.headed
        and above.header_rows is None
        and all(is_title(row) for row in above.rows)
        and not region.lines_only()
        and len(above.rows) <= TITLE_LINES
        and sum(len(text) for row in above.rows for text in row.cells) <= 2 * TITLE_LIMIT
        and region.ys[0] - above.ys[1] - 1 <= TITLE_GAP
    )


def _heads(above: Region, region: Region) -> bool:
    """Whether a header stands alone above a blank row and this region is what it heads."""
    if region.titles or region.left < above.left or region.right > above.right:
        return False
    return find_header([*above.rows, *_shifted(region, above)]) is not None


def _fits(above: Region, region: Region) -> bool:
    """Whether a block without a header holds the same kinds of values in the same columns as the table above."""
    inside = min(region.right, above.right) - region.left + 1
    if region.left < above.left or inside * 2 < region.right - region.left + 1:
        return False
    table = read_table(above.rows)
    upper, lower = table.rows[-COMPARED:], _shifted(region, above)[:COMPARED]
    alike = unlike = 0
    for column in range(len(table.header)):
        kinds = [_usual(rows, column) for rows in (upper, lower)]
        if all(kinds):
            alike += kinds[0] == kinds[1]
            unlike += kinds[0] != kinds[1]
    return alike > unlike


def _usual(rows: Sequence[Row], column: int) -> str:
    kinds = [kind(row.cells[column]) for row in rows if column < len(row.cells) and row.cells[column]]
    return max(sorted(set(kinds)), key=kinds.count) if kinds else ""


def _append(above: Region, region: Region) -> None:
    # A title inside a table's run is a line that names the rows below it.
    rows = [*region.titles, *region.rows]
    named = next((number for number, row in enumerate(rows) if not is_title(row)), 0)
    rows[:named] = [msgspec.structs.replace(row, strong=True) for row in rows[:named]]
    above.rows.extend(_shifted(Region(region.left, region.right, rows, region.ys), above))
    above.ys = above.ys[0], region.ys[1]


def _shifted(region: Region, above: Region) -> list[Row]:
    """The region's rows in the columns of the one above."""
    by = region.left - above.left
    if not by:
        return region.rows
    return [
        msgspec.structs.replace(
            row,
            cells=("",) * by + row.cells,
            spans=(1,) * by + row.spans if row.spans else (),
            inherited=tuple(column + by for column in row.inherited),
        )
        for row in region.rows
    ]
