"""How tables were read: as a grid for a terminal, and as a JSON object a table for programs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ragpress.readers.rows import Row, SheetTables, TableReading
from ragpress.review.diff.showing import visible
from ragpress.review.diff.terminal import Screen

_FIRST, _LAST = 12, 4  # rows of data that are drawn of a longer run
_WIDEST = 24  # columns of a screen that a cell may take
_COLOURS = {
    "title": "35",
    "fact": "36",
    "header": "1;34",
    "repeated": "34",
    "group": "33",
    "data": "0",
    "pair": "32",
    "note": "2",
}


class TableReport(msgspec.Struct, frozen=True):
    """What `--json` says of a table. Rows are numbered as in the file, from 1; rows of facts count as titles, and a
    header printed again as header. `headers` has for each column of the sheet the texts of its header, top down."""

    source: str
    sheet: str
    encoding: str
    delimiter: str
    header_rows: tuple[int, ...]
    title_rows: tuple[int, ...]
    note_rows: tuple[int, ...]
    group_rows: tuple[int, ...]
    data_rows: tuple[int, ...]
    headers: tuple[tuple[str, ...], ...]


def table_lines(source: str, sheets: Sequence[SheetTables]) -> Iterator[str]:
    """A line of JSON for each table."""
    for sheet in sheets:
        for table in sheet.tables:
            yield msgspec.json.encode(report_table(source, sheet, table)).decode()


def report_table(source: str, sheet: SheetTables, table: TableReading) -> TableReport:
    """The report of one table."""
    blank = ((),) * (table.column - 1) if table.names else ()
    return TableReport(
        source=source,
        sheet=sheet.sheet,
        encoding=sheet.encoding,
        delimiter=sheet.delimiter,
        header_rows=_places((*table.header_rows, *table.repeated)),
        title_rows=_places((*table.titles, *table.facts)),
        note_rows=_places(table.notes),
        group_rows=_places(table.body[number] for number in table.groups),
        data_rows=_places(table.rows),
        headers=(*blank, *table.names),
    )


def _places(rows: Iterable[Row]) -> tuple[int, ...]:
    return tuple(sorted({row.place for row in rows}))


def draw(source: str, sheets: Sequence[SheetTables], screen: Screen) -> Iterator[str]:
    """A block a sheet and a grid a table: the number of a row, what it was taken for, and its cells."""
    for sheet in sheets:
        name = visible(f"{source} · {sheet.sheet}" if sheet.sheet else source)
        how = how_read(sheet)
        yield _coloured(name, "1", screen) + (f" ({how})" if how else "")
        for table in sheet.tables:
            yield from _grid(table, screen)
        yield ""


class ShownRow(msgspec.Struct, frozen=True):
    """A row of a table as it is shown: what it was taken for, and its cells, or `cells` of its one text where it has
    no other. `left_out` tells how many rows of data stand here instead."""

    place: int
    kind: str
    cells: tuple[str, ...]
    left_out: int = 0


def shown_rows(table: TableReading) -> Iterator[ShownRow]:
    """The rows of a table from the top, without the middle of long data."""
    rows = sorted(_kinds(table), key=lambda entry: entry[0].place)
    data = [number for number, (_, kind) in enumerate(rows) if kind == "data"]
    left_out = set(data[_FIRST:-_LAST])
    for number, (row, kind) in enumerate(rows):
        if number not in left_out:
            yield ShownRow(row.place, kind, tuple(row.own()) if len(row.filled()) == 1 else row.cells)
        elif number - 1 not in left_out:
            yield ShownRow(row.place, kind, (), len(left_out))


def how_read(sheet: SheetTables) -> str:
    """The encoding and delimiter of a CSV file, empty for a sheet."""
    return ", ".join(
        part for part in (sheet.encoding, f"delimiter {sheet.delimiter!r}" if sheet.delimiter else "") if part
    )


def _grid(table: TableReading, screen: Screen) -> Iterator[str]:
    rows = list(shown_rows(table))
    shown = [row.cells for row in rows if len(row.cells) > 1 and row.kind not in {"title", "note"}]
    width = max(map(len, shown), default=1)
    widths = [
        max((min(_columns(cells[column]), _WIDEST) for cells in shown[:_FIRST] if column < len(cells)), default=1)
        for column in range(width)
    ]
    yield "─" * min(screen.width, sum(widths) + 3 * len(widths) + 16)
    for row in rows:
        if row.left_out:
            yield f"{'':>6}  … {row.left_out} rows of data more"
            continue
        padded = row.cells + ("",) * (width - len(row.cells))
        cells = " ".join(row.cells[0].split()) if len(row.cells) == 1 else " │ ".join(map(_fit, padded, widths))
        line = f"{row.place:>6}  {row.kind:<8} {visible(cells)}".rstrip()
        yield _coloured(_cut(line, screen.width), _COLOURS[row.kind], screen)


def _kinds(table: TableReading) -> Iterator[tuple[Row, str]]:
    parts = (
        (table.titles, "title"),
        (table.facts, "fact"),
        (table.header_rows, "header"),
        (table.repeated, "repeated"),
        (table.notes, "note"),
    )
    for rows, kind in parts:
        yield from ((row, kind) for row in rows)
    for number, row in enumerate(table.body):
        yield row, "group" if number in table.groups else "pair" if table.pairs else "data"


def _fit(text: str, width: int) -> str:
    text = _cut(" ".join(text.split()), width)
    return text + " " * (width - _columns(text))


def _cut(text: str, width: int) -> str:
    if _columns(text) <= width:
        return text
    taken = 0
    for number, character in enumerate(text):
        taken += _columns(character)
        if taken > width - 1:
            return text[:number] + "…"
    return text


def _columns(text: str) -> int:
    """How many columns of a screen a text takes."""
    return sum(
        0 if unicodedata.combining(character) or unicodedata.category(character) == "Cf"
        else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )  # fmt: skip


def _coloured(text: str, colour: str, screen: Screen) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if screen.colour else text
