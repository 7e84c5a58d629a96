"""Reads CSV as spreadsheets write it: any usual encoding and delimiter, quoted line breaks, banners, ragged rows."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

import msgspec

from ragpress.config import Config
from ragpress.errors import SourceError, message
from ragpress.readers.dialect import DELIMITERS, Dialect, find_dialect
from ragpress.readers.kinds import kind
from ragpress.readers.rows import Row, SheetTables, TableReading
from ragpress.readers.table_units import table_units
from ragpress.readers.tables import read_tables
from ragpress.records import Document, Locator, Message, Unit
from ragpress.text import decode, normalize

_LONGEST_FIELD = 1 << 27
_ESCAPED = "\ue000"  # stands for an escaped quote while fields are told apart
_LOOK_AHEAD = 1 << 20  # characters in which a quotation must end


class _Record(NamedTuple):
    """A record and its number: blank lines count, as they do in a spreadsheet's rows."""

    number: int
    fields: list[str]


def read_csv(data: bytes, source: str, config: Config) -> Document:
    """The records as table rows, each located by its number (`R5`): the row that a spreadsheet program shows it in.

    Lines above the header are titles. `config` is not needed here. Raises SourceError: "bad-encoding" for bytes that
    are no text, "empty-source" where no field holds anything.
    """
    found = _read(data, source)
    messages = list(found.messages)
    units: list[Unit] = []
    for table in found.sheet.tables:
        units.extend(_units(table, units[-1].section_number + 1 if units else 1))
        messages.extend(_ragged(table, source))
    return Document(source=source, title=PurePosixPath(source).stem, units=tuple(units), messages=tuple(messages))


def read_csv_tables(data: bytes, source: str) -> list[SheetTables]:
    """How the file's tables are read. Raises SourceError as `read_csv` does."""
    return [_read(data, source).sheet]


class _Read(NamedTuple):
    sheet: SheetTables
    messages: tuple[Message, ...]


def _read(data: bytes, source: str) -> _Read:
    decoded = decode(data, source)
    messages = list(decoded.messages)
    dialect = find_dialect(decoded.text, PurePosixPath(source).suffix.lower() == ".tsv")
    records, unclosed = _records(decoded.text, dialect)
    if unclosed:
        found = f"quotations that do not end: {len(unclosed)}; the marks were kept as text"
        messages.append(message("warning", "csv-quote", found, source, Locator("R", unclosed[0], unclosed[0])))
    rows = _rows(records, dialect.delimiter)
    if not rows:
        raise SourceError("empty-source", "the file holds no record; fill it in or remove it", source)
    left = min((row.filled()[0] for row in rows if len(row.filled()) > 1), default=0)
    tables = tuple(
        msgspec.structs.replace(table, column=left + 1) for table in read_tables([_without(row, left) for row in rows])
    )
    return _Read(SheetTables("", tables, decoded.encoding, dialect.delimiter), tuple(messages))


def _records(text: str, dialect: Dialect) -> tuple[list[_Record], list[int]]:
    """All records but blank ones, and the numbers of those in which a quotation does not end."""
    delimiter = dialect.delimiter or "\x1f"  # decoding leaves no control character
    text = _plain_quotes(text[dialect.start :], delimiter, dialect.quote)
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, quotechar=dialect.quote, strict=True)
        found = [_Record(number, fields) for number, fields in enumerate(reader, start=dialect.first)]
    except csv.Error:
        found, unclosed = _tolerant(text, delimiter, dialect.quote, dialect.first)
    else:
        unclosed = []
    records = [record for record in found if any(field.strip() for field in record.fields)]
    if _ESCAPED in text:
        records = [
            _Record(number, [each.replace(_ESCAPED, dialect.quote) for each in fields]) for number, fields in records
        ]
    return _written_otherwise(records, delimiter), unclosed


def _plain_quotes(text: str, delimiter: str, quote: str) -> str:
    """The text with a mark for each quote escaped as `\\"`, and without the blanks between a delimiter and a quote."""
    if f"\\{quote}" in text and re.search(rf"\\{quote}[^\n{re.escape(delimiter)}]", text):
        text = re.sub(rf"\\{quote}(?=[^\n{re.escape(delimiter)}])", _ESCAPED, text)
    sign = re.escape(delimiter)
    if delimiter != " " and (f"{delimiter} {quote}" in text or f"{quote} {delimiter}" in text):
        field = rf"(?:^|(?<={sign})|(?<=\n)) *{quote}(?:[^{quote}]|{quote}{quote})*{quote} *(?={sign}|\n|\Z)"
        text = re.sub(field, lambda found: found[0].strip(" "), text)
    return text


def _written_otherwise(records: list[_Record], delimiter: str) -> list[_Record]:
    """Records that were written in another way than most: all fields in single quotes, or divided by another sign
    that gives as many fields as most records have."""
    usual = Counter(len(record.fields) for record in records[:1000]).most_common(1)
    if not usual or usual[0][0] < 3:
        return records
    found = []
    for number, fields in records:
        if len(fields) == 1:
            parts = [fields[0].split(other) for other in DELIMITERS if other != delimiter]
            fields = next((each for each in parts if len(each) == usual[0][0]), fields)
        elif all(len(field) > 1 and field[0] == field[-1] == "'" for field in fields):
            fields = [field[1:-1] for field in fields]
        found.append(_Record(number, fields))
    return found


def _tolerant(text: str, delimiter: str, quote: str, first: int) -> tuple[list[_Record], list[int]]:
    """As `_records`, for quotes inside quotations that are not doubled, and quotations that never end."""
    records: list[_Record] = []
    unclosed: list[int] = []
    fields: list[str] = []
    plain = re.compile(f"[^{re.escape(delimiter)}\n]*")
    position, number = 0, first
    open_until = 0  # no quotation that opens before this place ends
    while position < len(text):
        value, end = None, position
        if text[position] == quote:
            end = _closing(text, position, delimiter, quote) if position >= open_until else 0
            if end < 0:
                end, open_until = 0, position + _LOOK_AHEAD
            if end:
                value = text[position + 1 : end].replace(quote * 2, quote)
                end += 1
            elif not unclosed or unclosed[-1] != number:
                unclosed.append(number)
        rest = plain.match(text, end or position)
        assert rest is not None  # it also matches nothing
        fields.append(rest[0] if value is None else value + rest[0].strip())
        position = rest.end()
        if position >= len(text) or text[position] == "\n":
            records.append(_Record(number, fields))
            fields, number = [], number + 1
        elif position == len(text) - 1:  # a delimiter ends the text
            fields.append("")
            records.append(_Record(number, fields))
        position += 1
    return records, unclosed


def _closing(text: str, start: int, delimiter: str, quote: str) -> int:
    """Where the quotation that opens at `start` ends; 0 where another one opens before, -1 where none ends.

    A quote ends it before a delimiter, a line end or the end of the text. One that stands like an opening quote in a
    later line tells that the first one never ended.
    """
    position = start + 1
    line_end = -1
    limit = start + _LOOK_AHEAD
    while (position := text.find(quote, position, limit)) >= 0:
        behind = text[position + 1 : position + 2]
        if behind == quote:
            position += 2
            continue
        if behind in ("", "\n", delimiter):
            return position
        if line_end < 0:
            line_end = text.find("\n", start)
        if line_end >= 0 and position > line_end and text[position - 1] in ("\n", delimiter):
            return 0
        position += 1
    return -1


def _whole_comments(records: Sequence[_Record], delimiter: str) -> Iterator[_Record]:
    """Comments above a table, `# made, by hand`, are one text each; `#id,name` that fits the records is no comment."""
    top = next((at for at, record in enumerate(records) if not record.fields[0].startswith("#")), 0)
    names = top > 0 and len(records[top - 1].fields) == len(records[top].fields) > 1
    names = names and any(kind(field.strip()) != "text" for field in records[top].fields if field.strip())
    for at, record in enumerate(records):
        comment = at < top - names and len(record.fields) > 1
        yield _Record(record.number, [delimiter.join(record.fields)]) if comment else record


def _rows(records: Sequence[_Record], delimiter: str) -> list[Row]:
    rows: list[Row] = []
    last = 0
    for number, fields in _whole_comments(records, delimiter):
        cells = tuple(normalize(field).strip() for field in fields)
        if any(cells):
            rows.append(Row(number, cells, gap=number - last - 1 if rows else 0))
            last = number
    return rows


def _without(row: Row, left: int) -> Row:
    """The row without the blank columns at the left of all tables; a line that begins there moves to the first."""
    if not left:
        return row
    return msgspec.structs.replace(row, cells=row.cells[left:] if any(row.cells[left:]) else (row.own()[0],))


def _units(table: TableReading, section_number: int) -> tuple[Unit, ...]:
    return table_units(table, locate=lambda row: Locator("R", row.place, row.place), section_number=section_number)


def _ragged(table: TableReading, source: str) -> list[Message]:
    """A message where records have more or fewer fields than most; lines above a table and empty ends do not count."""
    rows = (*table.header_rows, *table.body)
    if not rows:
        return []
    widths = [max(row.filled()) + 1 for row in rows]
    fields = [len(row.cells) for row in rows]
    usual = Counter(fields).most_common(1)[0][0]
    uneven = [row for row, width, count in zip(rows, widths, fields, strict=True) if width > usual or count < usual]
    if not uneven:
        return []
    first = Locator("R", uneven[0].place, uneven[0].place)
    found = f"rows with more or fewer than {usual + table.column - 1} fields: {len(uneven)}; all fields were kept"
    return [message("warning", "csv-ragged", found, source, first)]
