"""A table's reading to units: a row is a unit, each value behind the names of its column."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragpress.readers.rows import Row, TableReading, one_line
from ragpress.records import Locator, Unit

TITLE_LIMIT = 160
"""A longer line above a table is a paragraph of its own: it would cost every row's chunk its room."""


def row_text(header: Sequence[str], cells: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """`header: value`, one line a cell, empty cells left out, values alone where the header has no text.

    The second value holds the offsets at which the second and each later cell begins.
    """
    parts = []
    for column, text in enumerate(cells):
        name = header[column] if column < len(header) else ""
        if text:
            parts.append(f"{name}: {text}" if name else text)
    return _lines(parts)


def pairs_text(cells: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """`name: value`, one line a pair of cells; as `row_text`."""
    parts = []
    for column in range(0, len(cells), 2):
        name, value = one_line(cells[column]), cells[column + 1] if column + 1 < len(cells) else ""
        if name and value:
            parts.append(f"{name} {value}" if name.endswith((":", "?")) else f"{name}: {value}")
        elif name or value:
            parts.append(name or value)
    return _lines(parts)


def _lines(parts: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    breaks = []
    offset = 0
    for part in parts[:-1]:
        offset += len(part) + 1
        breaks.append(offset)
    return "\n".join(parts), tuple(breaks)


def table_units(
    table: TableReading,
    *,
    locate: Callable[[Row], Locator],
    section: str = "",
    section_number: int = 0,
    headings: tuple[str, ...] = (),
    breadcrumb: str = "",
) -> tuple[Unit, ...]:
    """The units of a table in reading order.

    Titles become headings below `headings` and lines below `breadcrumb`; a title too long for that is a paragraph. A
    row that names a group is a heading for the rows below it and opens a section: the last unit's `section_number`
    tells the caller where to go on. Notes are paragraphs behind all that. A table without data rows gives paragraphs
    of its words, and the names of columns without values are a row of their own.
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
    if not table.body:
        for row in (*table.titles, *table.facts, *table.header_rows, *table.notes):
            put("paragraph", "\n".join(row.own()), row)
        return tuple(units)
    for row in table.titles:
        text = one_line(" ".join(row.own()))
        if len(text) <= TITLE_LIMIT and sum(map(len, path[len(headings) :])) + len(text) <= 2 * TITLE_LIMIT:
            if path == headings and path[-1:] == (text,):
                continue  # the sheet's own name, printed above its table
            path, trail = (*path, text), deeper(trail, text)
        else:
            put("paragraph", text, row)
    base = path, trail
    for row in table.facts:
        texts = row.own()
        named = len(texts) % 2 == 0 and all(text.endswith(":") for text in texts[::2])
        put("paragraph", pairs_text(texts)[0] if named else "\n".join(texts), row)
    header = table.header
    unused = _unused(table)
    if unused:
        put("table_row", "\n".join(unused), table.body[0])
    for number, row in enumerate(table.body):
        if number in table.groups:
            if number - 1 not in table.groups:
                path, trail = base
            text = one_line(" ".join(row.own()))
            path, trail = (*path, text), deeper(trail, text)
            section_number += 1
        else:
            text, breaks = pairs_text(row.cells) if table.pairs else row_text(header, row.cells)
            put("table_row", text, row, breaks)
    path, trail = base
    section_number += bool(table.groups)
    for row in table.notes:
        put("paragraph", "\n".join(row.own()), row)
    return tuple(units)


def deeper(breadcrumb: str, text: str) -> str:
    """The breadcrumb with one more line, a level below its last one (`##` where it is empty)."""
    if not breadcrumb:
        return f"## {text}"
    last = breadcrumb.rsplit("\n", 1)[-1]
    level = min(len(last) - len(last.lstrip("#")) + 1, 6)
    return f"{breadcrumb}\n{'#' * level} {text}"


def _unused(table: TableReading) -> list[str]:
    """The names of columns in which no row has a value: without rows to stand in, they would be lost."""
    header = table.header
    used: set[int] = set()
    for number, row in enumerate(table.body):
        if len(used) == len(header):
            break
        used.update(row.filled() if number not in table.groups else ())
    return [name for column, name in enumerate(header) if name and column not in used]
