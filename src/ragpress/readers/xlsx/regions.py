"""Finds the tables on a sheet: side by side, one below another, with titles above them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from ragpress.readers.headers import find_header, join_header, kind
from ragpress.readers.tables import TITLE_LIMIT, Row, Table, is_title, read_table
from ragpress.readers.xlsx.grid import SeenRow

TITLE_LINES = 4
"""More lines than this above a table are notes, not its title."""
TITLE_GAP = 4
"""A title may stand so many blank rows above its table."""
LOOK_BACK = 64
"""So many regions back a title or a table that goes on is looked for."""
MAX_GRID = 1 << 24
"""Cells, blank ones included, up to which rows are laid out under their columns; no table that people read has more."""
SIDE_BY_SIDE = 8
"""With more blank columns than this they are the rhythm of one table."""
COMPARED = 50
"""Rows looked at to tell whether a block goes on with the table above it."""


class Proven(msgspec.Struct, frozen=True):
    """A range that the file itself calls a table: rows by number, columns by place, and how many rows head it."""

    top: int
    bottom: int
    left: int
    right: int
    header_rows: int


@dataclass(slots=True)
class _Region:
    """A block of cells without a blank row or column through it. `ys` are its rows' places among the visible ones."""

    left: int
    right: int
    rows: list[Row]
    ys: tuple[int, int]
    header_rows: int | None = None
    titles: list[Row] = field(default_factory=list)
    headed: bool = False

    @property
    def order(self) -> tuple[int, int]:
        first = self.titles[0] if self.titles else self.rows[0]
        return first.place, self.left

    def overlaps(self, other: _Region) -> bool:
        return self.left <= other.right and other.left <= self.right

    def lines_only(self) -> bool:
        return all(len(row.filled()) == 1 for row in self.rows)


def find_tables(rows: Sequence[SeenRow], proven: Sequence[Proven] = ()) -> list[Table]:
    """The tables of a sheet, by the row and then the column that they begin in."""
    regions = []
    left_over = list(rows)
    for area in proven:
        region, left_over = _cut(left_over, area)
        if region is not None:
            regions.append(region)
    for block in _blocks(left_over):
        regions.extend(_side_by_side(block))
    regions.sort(key=lambda region: (region.ys[0], region.left))
    assembled = _assemble(regions)
    assembled.sort(key=lambda region: region.order)
    return [_table(region) for region in assembled]


def _table(region: _Region) -> Table:
    table = read_table(region.rows, region.header_rows)
    return msgspec.structs.replace(table, titles=(*region.titles, *table.titles))


def _cut(rows: list[SeenRow], area: Proven) -> tuple[_Region | None, list[SeenRow]]:
    """The region of a proven table, and the rows without its cells."""
    inside, outside = [], []
    for row in rows:
        if area.top <= row.number <= area.bottom and any(area.left <= x <= area.right for x in row.texts):
            within = {x: text for x, text in row.texts.items() if area.left <= x <= area.right}
            inside.append(msgspec.structs.replace(row, texts=within))
            beyond = {x: text for x, text in row.texts.items() if x not in within}
            if beyond:
                outside.append(msgspec.structs.replace(row, texts=beyond))
        else:
            outside.append(row)
    if not inside:
        return None, outside
    region = _region(inside, area.left, area.right)
    visible_head = sum(row.number < area.top + area.header_rows for row in inside)
    region.header_rows = visible_head
    region.headed = visible_head > 0
    return region, outside


def _blocks(rows: Sequence[SeenRow]) -> Iterator[list[SeenRow]]:
    """Runs of rows without a blank one between."""
    block: list[SeenRow] = []
    for row in rows:
        if block and row.y > block[-1].y + 1:
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _side_by_side(block: Sequence[SeenRow]) -> list[_Region]:
    """The regions of a block: apart where two columns are blank, or one between what looks like two tables."""
    reaches = {reach for row in block if len(row.texts) > 1 for reach in _reaches(row)}
    if not reaches:
        reaches = {reach for row in block for reach in _reaches(row)}
    taken = {x for first, span in reaches for x in range(first, first + span)}
    spans: list[tuple[int, int]] = []
    for x in sorted(taken):
        if spans and x <= spans[-1][1] + 1:
            spans[-1] = spans[-1][0], x
        else:
            spans.append((x, x))
    spans = _glue(block, spans)
    parts: list[list[SeenRow]] = [[] for _ in spans]
    for row in block:
        placed: dict[int, dict[int, str]] = {}
        for x, text in row.texts.items():
            placed.setdefault(_nearest(spans, x), {})[x] = text
        for number, texts in placed.items():
            parts[number].append(msgspec.structs.replace(row, texts=texts))
    regions: list[_Region] = []
    for part in parts:
        if part:
            columns = {x for row in part for x in row.texts}
            regions.append(_region(part, min(columns), max(columns)))
    _head_alike(regions)
    return regions


def _head_alike(regions: Sequence[_Region]) -> None:
    """What stands beside a header, in its row and above cells of its own, is a header as well."""
    heads = set()
    for region in regions:
        found = find_header(region.rows)
        if found is not None and found.depth == 1:
            heads.add(region.rows[found.start].place)
    for region in regions:
        if len(region.rows) > 1 and region.rows[0].place in heads and find_header(region.rows) is None:
            first = region.rows[0]
            if all(text and kind(text) == "text" for text in first.cells) and len(first.cells) > 1:
                region.header_rows, region.headed = 1, True


def _reaches(row: SeenRow) -> Iterator[tuple[int, int]]:
    """Where the cells of a row begin and how many columns they cover."""
    for x in row.texts:
        yield x, row.spans.get(x, 1)


def _nearest(spans: Sequence[tuple[int, int]], x: int) -> int:
    """The span that holds column x, else the one before it, else the first."""
    return max((number for number, (left, _) in enumerate(spans) if left <= x), default=0)


def _glue(block: Sequence[SeenRow], spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Joins spans that one blank column divides, unless both look like tables of their own."""
    joined = spans[:1]
    for span in spans[1:]:
        last = joined[-1]
        if span[0] - last[1] > 2 or (len(spans) <= SIDE_BY_SIDE and _apart(block, last, span)):
            joined.append(span)
        else:
            joined[-1] = last[0], span[1]
    return joined


def _apart(block: Sequence[SeenRow], one: tuple[int, int], other: tuple[int, int]) -> bool:
    if one[0] == one[1] or other[0] == other[1]:
        return False
    sides = [_clip(block, *span) for span in (one, other)]
    heads = [find_header(side) for side in sides]
    if heads[0] is None or heads[1] is None:
        return False
    names = [
        join_header(side[head.start : head.start + head.depth])
        for side, head in zip(sides, heads, strict=True)
        if head is not None
    ]
    ends = [(side[0].place, side[-1].place) for side in sides]
    return ends[0] != ends[1] or names[0] == names[1]


def _clip(block: Sequence[SeenRow], left: int, right: int) -> list[Row]:
    rows = []
    for row in block:
        texts = {x: text for x, text in row.texts.items() if left <= x <= right}
        if texts:
            rows.append(_row(msgspec.structs.replace(row, texts=texts), left, row.bold))
    return rows


def _region(part: Sequence[SeenRow], left: int, right: int) -> _Region:
    # What stands out: bold rows where some are not bold, else filled ones.
    by_fill = all(row.bold for row in part) or not any(row.bold for row in part)
    ys = part[0].y, part[-1].y
    if sum(max(row.texts) - left + 1 for row in part) > MAX_GRID:
        return _Region(left, right, [Row(row.number, tuple(row.texts.values())) for row in part], ys, 0)
    rows = [_row(row, left, row.filled if by_fill else row.bold) for row in part]
    return _Region(left, right, rows, ys)


def _row(row: SeenRow, left: int, strong: bool) -> Row:
    right = max(row.texts)  # blank cells behind it would cost the memory of the widest row in each
    cells = tuple(row.texts.get(x, "") for x in range(left, right + 1))
    spans = tuple(row.spans.get(x, 1) for x in range(left, right + 1)) if row.spans else ()
    inherited = tuple(x - left for x in row.inherited if x in row.texts)
    return Row(row.number, cells, spans, inherited, strong)


def _assemble(regions: Sequence[_Region]) -> list[_Region]:
    """Puts titles to their tables and blocks that go on with a table to it."""
    made: list[_Region] = []
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


def _above(made: Sequence[_Region], region: _Region) -> _Region | None:
    return next((earlier for earlier in reversed(made[-LOOK_BACK:]) if earlier.overlaps(region)), None)


def _is_title(above: _Region, region: _Region) -> bool:
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


def _heads(above: _Region, region: _Region) -> bool:
    """Whether a header stands alone above a blank row and this region is what it heads."""
    if region.titles or region.left < above.left or region.right > above.right:
        return False
    return find_header([*above.rows, *_shifted(region, above)]) is not None


def _fits(above: _Region, region: _Region) -> bool:
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


def _append(above: _Region, region: _Region) -> None:
    # A title inside a table's run is a line that names the rows below it.
    rows = [*region.titles, *region.rows]
    named = next((number for number, row in enumerate(rows) if not is_title(row)), 0)
    rows[:named] = [msgspec.structs.replace(row, strong=True) for row in rows[:named]]
    above.rows.extend(_shifted(_Region(region.left, region.right, rows, region.ys), above))
    above.ys = above.ys[0], region.ys[1]


def _shifted(region: _Region, above: _Region) -> list[Row]:
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
