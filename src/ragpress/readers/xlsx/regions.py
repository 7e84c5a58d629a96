"""Divides a sheet into regions that each hold one table or text, side by side and one below another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

import msgspec

from ragpress.readers.headers import find_header, join_header
from ragpress.readers.kinds import is_period, kind
from ragpress.readers.rows import Row
from ragpress.readers.tables import is_title
from ragpress.readers.xlsx.grid import VisibleRow

MAX_GRID = 1 << 24
"""Cells, blank ones included, up to which rows are laid out under their columns; no table that people read has more."""
HEADING = 3
"""Rows that a block of names, apart from its table, may have."""
SIDE_BY_SIDE = 8
"""With more blank columns than this they are the rhythm of one table."""


class DeclaredTable(msgspec.Struct, frozen=True):
    """A range that the file itself calls a table: rows by number, columns by place, and how many rows head it."""

    top: int
    bottom: int
    left: int
    right: int
    header_rows: int


class Region(msgspec.Struct):
    """A block of cells without a blank row or column through it. `ys` are its rows' places among the visible ones.

    `header_rows` is known where the file, or a table beside it, says how many rows head it. `block` is the number of
    the run of rows that it stands in.
    """

    left: int
    right: int
    rows: list[Row]
    ys: tuple[int, int]
    header_rows: int | None = None
    block: int = -1

    def overlaps(self, other: Region) -> bool:
        return self.left <= other.right and other.left <= self.right


def find_regions(rows: Sequence[VisibleRow], declared: Sequence[DeclaredTable] = ()) -> list[Region]:
    """The regions of a sheet, by the row and then the column that they begin in."""
    regions = []
    left_over = list(rows)
    for area in declared:
        region, left_over = _cut(left_over, area)
        if region is not None:
            regions.append(region)
    number = 0
    for blocks, taken in _groups(_blocks(left_over)):
        spans = _glue([row for block in blocks for row in block], _spans(taken))
        for block in blocks:
            for region in _side_by_side(block, spans):
                region.block = number
                regions.append(region)
            number += 1
    regions.sort(key=lambda region: (region.ys[0], region.left))
    return regions


def _groups(blocks: Iterable[list[VisibleRow]]) -> Iterator[tuple[list[list[VisibleRow]], set[int]]]:
    """Blocks one below another that belong together, and the columns that cells stand in.

    What lies side by side in one of them is nowhere bridged by another, so that it is parted in all of them or in
    none. Some names above a table and a line or two below it, such as totals, fill few of its columns and count for
    nothing in this.
    """
    group: list[list[VisibleRow]] = []
    taken: set[int] = set()
    parts = 1
    for block in blocks:
        own = _taken([row for row in block if len(row.texts) > 1] or block)
        own_parts = len(_spans(own)) if len(block) >= HEADING and not _are_names(block) else 1
        if group and len(_spans(taken | own)) < max(parts, own_parts):
            yield group, taken
            group, taken, parts = [], set(), 1
        group.append(block)
        taken |= own
        parts = max(parts, own_parts)
    if group:
        yield group, taken


def _are_names(block: Sequence[VisibleRow]) -> bool:
    return len(block) <= HEADING and all(
        kind(text) == "text" or is_period(text) for row in block for text in row.texts.values()
    )


def _spans(taken: set[int]) -> list[tuple[int, int]]:
    """The runs of columns without a blank one between, as first and last column."""
    spans: list[tuple[int, int]] = []
    for x in sorted(taken):
        if spans and x <= spans[-1][1] + 1:
            spans[-1] = spans[-1][0], x
        else:
            spans.append((x, x))
    return spans


def _cut(rows: list[VisibleRow], area: DeclaredTable) -> tuple[Region | None, list[VisibleRow]]:
    """The region of a declared table, and the rows without its cells."""
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
    return region, outside


def _blocks(rows: Sequence[VisibleRow]) -> Iterator[list[VisibleRow]]:
    """Runs of rows without a blank one between."""
    block: list[VisibleRow] = []
    for row in rows:
        if block and row.y > block[-1].y + 1:
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _side_by_side(block: Sequence[VisibleRow], spans: Sequence[tuple[int, int]]) -> list[Region]:
    """The regions of a block, one for each span of columns that it has cells in."""
    parts: list[list[VisibleRow]] = [[] for _ in spans]
    for row in block:
        if len(spans) == 1:
            parts[0].append(row)
            continue
        placed: dict[int, dict[int, str]] = {}
        for x, text in row.texts.items():
            placed.setdefault(_nearest(spans, x), {})[x] = text
        for number, texts in placed.items():
            parts[number].append(msgspec.structs.replace(row, texts=texts))
    regions: list[Region] = []
    for part, span in zip(parts, spans, strict=True):
        if part:
            columns = {x for row in part for x in row.texts}
            regions.append(_region(part, min((*columns, span[0])), max((*columns, span[1]))))
    _head_alike(regions)
    return regions


def _head_alike(regions: Sequence[Region]) -> None:
    """What stands beside a header, in its row and above cells of its own, is a header as well."""
    if len(regions) < 2:
        return
    headers = [find_header(region.rows) for region in regions]
    heads = {
        region.rows[found.start].place
        for region, found in zip(regions, headers, strict=True)
        if found is not None and found.depth == 1
    }
    for region, found in zip(regions, headers, strict=True):
        if len(region.rows) > 1 and region.rows[0].place in heads and found is None:
            first = region.rows[0]
            if all(text and kind(text) == "text" for text in first.cells) and len(first.cells) > 1:
                region.header_rows = 1


def _taken(rows: Sequence[VisibleRow]) -> set[int]:
    """The columns that cells stand in or reach over."""
    taken: set[int] = set()
    reaches: set[tuple[int, int]] = set()
    for row in rows:
        taken.update(row.texts)
        reaches.update(row.spans.items())
    for first, span in reaches:
        taken.update(range(first, first + span))
    return taken


def _nearest(spans: Sequence[tuple[int, int]], x: int) -> int:
    """The span that holds column x, else the one before it, else the first."""
    return max((number for number, (left, _) in enumerate(spans) if left <= x), default=0)


def _glue(block: Sequence[VisibleRow], spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Joins spans that one blank column divides, unless both look like tables of their own, and figures to their names
    over any number of blank columns."""
    joined = spans[:1]
    for span in spans[1:]:
        last = joined[-1]
        wide = span[0] - last[1] > 2 and not _are_values_of(block, last, span)
        if wide or (span[0] - last[1] <= 2 and len(spans) <= SIDE_BY_SIDE and _apart(block, last, span)):
            joined.append(span)
        else:
            joined[-1] = last[0], span[1]
    return joined


def _are_values_of(block: Sequence[VisibleRow], one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether the right span holds but figures, in rows that the left one names: `Revenue | | | 1,200`."""
    firsts = [(row.texts[other[0]], min(row.texts)) for row in block if other[0] in row.texts]
    figures = [leftmost for text, leftmost in firsts if kind(text) == "figure"]
    named = sum(one[0] <= leftmost <= one[1] for leftmost in figures)
    return len(figures) * 5 >= len(firsts) * 4 and named * 5 >= len(figures) * 4


def _apart(block: Sequence[VisibleRow], one: tuple[int, int], other: tuple[int, int]) -> bool:
    if one[0] == one[1] or other[0] == other[1]:
        return False
    sides = [_clip(block, *span) for span in (one, other)]
    heads = [find_header(side) for side in sides]
    if heads[0] is None or heads[1] is None:
        return False
    starts = [side[head.start].place for side, head in zip(sides, heads, strict=True) if head is not None]
    names = [
        join_header(side[head.start : head.start + head.depth])
        for side, head in zip(sides, heads, strict=True)
        if head is not None
    ]
    ends = [(side[0].place, side[-1].place) for side in sides]
    titled = all(is_title(side[0]) for side in sides)
    return ends[0] != ends[1] or names[0] == names[1] or starts[0] != starts[1] or titled


def _clip(block: Sequence[VisibleRow], left: int, right: int) -> list[Row]:
    rows = []
    for row in block:
        texts = {x: text for x, text in row.texts.items() if left <= x <= right}
        if texts:
            rows.append(_row(msgspec.structs.replace(row, texts=texts), left, row.evidence.bold))
    return rows


def _region(part: Sequence[VisibleRow], left: int, right: int) -> Region:
    # What stands out: bold rows where some are not bold, else filled ones.
    by_fill = all(row.evidence.bold for row in part) or not any(row.evidence.bold for row in part)
    ys = part[0].y, part[-1].y
    if sum(max(row.texts) - left + 1 for row in part) > MAX_GRID:
        return Region(left, right, [Row(row.number, tuple(row.texts.values())) for row in part], ys, 0)
    rows = []
    for number, row in enumerate(part):
        gap = row.y - part[number - 1].y - 1 if number else 0
        rows.append(_row(row, left, row.evidence.filled if by_fill else row.evidence.bold, gap))
    return Region(left, right, rows, ys)


def _row(row: VisibleRow, left: int, strong: bool, gap: int = 0) -> Row:
    right = max(row.texts)  # blank cells behind it would cost the memory of the widest row in each
    cells = tuple(map(row.texts.get, range(left, right + 1), repeat("")))
    spans = tuple(row.spans.get(x, 1) for x in range(left, right + 1)) if row.spans else ()
    inherited = tuple(x - left for x in row.inherited if x in row.texts)
    return Row(row.number, cells, spans, inherited, strong, gap=gap, evidence=row.evidence)
