"""A grid of cell texts to header, title rows and data rows, and those to units. Shared by docx, xlsx and csv."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from ragpress.readers.headers import SAMPLE, HeaderRows, find_header, is_name, join_header, kind
from ragpress.readers.rows import Row
from ragpress.records import Locator, Unit

__all__ = [
    "TITLE_LIMIT",
    "Row",
    "Table",
    "deeper",
    "is_title",
    "one_line",
    "read_table",
    "row_text",
    "split_stacked",
    "table_units",
]

TITLE_LIMIT = 160
"""A longer line above a table is a paragraph of its own: it would cost every row's chunk its room."""


class Table(msgspec.Struct, frozen=True):
    """What was found in a grid.

    `titles` are lines above the header, `above` other rows there. `header` has one text a column (`""` for a blank
    one) and is empty where no header is provable; `header_rows` are the rows it was made from. `rows` are the data.
    """

    titles: tuple[Row, ...]
    above: tuple[Row, ...]
    header: tuple[str, ...]
    header_rows: tuple[Row, ...]
    rows: tuple[Row, ...]


def read_table(grid: Sequence[Row], header_rows: int | None = None) -> Table:
    """Finds titles, header and data rows.

    `header_rows` says how many rows from the first one are the header where the source itself says so (a header row
    repeated on every page, an Excel table); None looks for a provable one. Rows that hold nothing, or only what they
    inherit from a merge above, are dropped.
    """
    rows = [row for row in grid if (_own_texts(row) if row.inherited else any(row.cells))]
    found = HeaderRows(0, min(header_rows, len(rows))) if header_rows is not None else find_header(rows)
    if found is None:
        start = _leading_titles(rows)
        return Table(tuple(rows[:start]), (), (), (), tuple(rows[start:]))
    before, head = rows[: found.start], rows[found.start : found.start + found.depth]
    header = join_header(head)
    titles = tuple(row for row in before if is_title(row))
    above = tuple(row for row in before if not is_title(row))
    data = (row for row in rows[found.start + found.depth :] if not _repeats(row, header))
    return Table(titles, above, header, tuple(head), tuple(data))


def split_stacked(grid: Sequence[Row]) -> list[list[Row]]:
    """Parts of a grid in which another table begins without a blank row: a title, and under it a header of its own."""
    parts: list[list[Row]] = [[]]
    header: tuple[str, ...] = ()
    for number, row in enumerate(grid):
        if len(parts[-1]) > 1 and is_title(row) and number + 1 < len(grid):
            header = header or read_table(parts[-1][:SAMPLE]).header
            if header and _heads_anew(grid[number + 1 : number + SAMPLE], header):
                parts.append([])
                header = ()
        parts[-1].append(row)
    return parts


def _heads_anew(rows: Sequence[Row], header: Sequence[str]) -> bool:
    """Whether the first row is a header: the one above again, or a proven one that mostly has names of columns."""
    names = [one_line(name) for name in rows[0].cells if name]
    if _repeats(rows[0], header):
        return True
    known = sum(name in header or is_name(name) for name in names)
    if len(names) < 2 or known * 2 < len(names) or any(kind(name) == "figure" for name in names):
        return False
    found = find_header(rows)
    return found is not None and found.start == 0


def row_text(header: Sequence[str], cells: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """`header: value`, one line a cell, empty cells left out, values alone where the header has no text.

    The second value holds the offsets at which the second and each later cell begins.
    """
    parts = []
    for column, text in enumerate(cells):
        name = header[column] if column < len(header) else ""
        if text:
            parts.append(f"{name}: {text}" if name else text)
    breaks = []
    offset = 0
    for part in parts[:-1]:
        offset += len(part) + 1
        breaks.append(offset)
    return "\n".join(parts), tuple(breaks)


def table_units(
    table: Table,
    *,
    locate: Callable[[Row], Locator],
    section: str = "",
    section_number: int = 0,
    headings: tuple[str, ...] = (),
    breadcrumb: str = "",
) -> tuple[Unit, ...]:
    """The units of a table in reading order.

    Titles become headings below `headings` and lines below `breadcrumb`; a title too long for that is a paragraph. A
    line across the whole table inside the data is a heading for the rows below it and opens a section: the last
    unit's `section_number` tells the caller where to go on. A table without data rows gives paragraphs of its words,
    and the names of columns without values are a row of their own.
    """
    units: list[Unit] = []

    def put(kind: str, text: str, row: Row, breaks: tuple[int, ...] = ()) -> None:
        units.append(
            Unit(
                kind="table_row" if kind == "table_row" else "paragraph",
                text=text,
                locator=locate(row),
                section=section,
                section_number=section_number,
                headings=path,
                breadcrumb=trail,
                breaks=breaks,
            )
        )

    path, trail = headings, breadcrumb
    if not table.rows:
        for row in (*table.titles, *table.above, *table.header_rows):
            put("paragraph", "\n".join(_own_texts(row)), row)
        return tuple(units)
    for row in table.titles:
        text = one_line(" ".join(_own_texts(row)))
        if len(text) <= TITLE_LIMIT and sum(map(len, path[len(headings) :])) + len(text) <= 2 * TITLE_LIMIT:
            if path == headings and path[-1:] == (text,):
                continue  # the sheet's own name, printed above its table
            path, trail = (*path, text), deeper(trail, text)
        else:
            put("paragraph", text, row)
    base = path, trail
    for row in table.above:
        put("table_row", *_place(row, ()))
    unused = _unused(table)
    if unused:
        put("table_row", "\n".join(unused), table.rows[0])
    last = len(table.rows) - 1
    width = max(len(row.cells) for row in (*table.header_rows, *table.rows))
    for number, row in enumerate(table.rows):
        if number < last and _is_band(row, width) and not _is_band(table.rows[number + 1], width):
            text = one_line(" ".join(_own_texts(row)))
            path, trail = (*base[0], text), deeper(base[1], text)
            section_number += 1
        else:
            put("table_row", *_place(row, table.header))
    return tuple(units)


def deeper(breadcrumb: str, text: str) -> str:
    """The breadcrumb with one more line, a level below its last one (`##` where it is empty)."""
    if not breadcrumb:
        return f"## {text}"
    last = breadcrumb.rsplit("\n", 1)[-1]
    level = min(len(last) - len(last.lstrip("#")) + 1, 6)
    return f"{breadcrumb}\n{'#' * level} {text}"


def one_line(text: str) -> str:
    return " ".join(text.split())


def _place(row: Row, header: Sequence[str]) -> tuple[str, Row, tuple[int, ...]]:
    text, breaks = row_text(header, row.cells)
    return text, row, breaks


def _unused(table: Table) -> list[str]:
    """The names of columns in which no row has a value: without rows to stand in, they would be lost."""
    used: set[int] = set()
    for row in table.rows:
        if len(used) == len(table.header):
            break
        used.update(row.filled())
    return [name for column, name in enumerate(table.header) if name and column not in used]


def _own_texts(row: Row) -> list[str]:
    return [text for column, text in enumerate(row.cells) if text and column not in row.inherited]


def is_title(row: Row) -> bool:
    """A row that says one thing in words."""
    filled = row.filled()
    return len(filled) == 1 and kind(row.cells[filled[0]]) == "text"


def _is_band(row: Row, width: int) -> bool:
    """A line merged across the table, or a lone strong one in its first column, that names the rows below it."""
    filled = row.filled()
    if len(filled) != 1 or width < 2 or filled[0] in row.inherited or len(row.cells[filled[0]]) > TITLE_LIMIT:
        return False
    return row.span(filled[0]) >= width or (row.strong and filled[0] == 0)


def _repeats(row: Row, header: Sequence[str]) -> bool:
    """A header row printed again, as on every page of an export."""
    return len(row.filled()) > 1 and tuple(map(one_line, row.cells)) == tuple(header)


def _leading_titles(rows: Sequence[Row]) -> int:
    """How many lines stand above a table that has no provable header. A list of one column has none."""
    width = max((len(row.filled()) for row in rows), default=0)
    start = 0
    while width > 1 and start < len(rows) and is_title(rows[start]):
        start += 1
    return start if start < len(rows) and len(rows[start].filled()) > 1 else 0
