"""Reads CSV as spreadsheets write it: any usual encoding and delimiter, quoted line breaks, banners, ragged rows."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from ragpress.config import Config
from ragpress.errors import SourceError, message
from ragpress.readers.rows import Row, TableReading
from ragpress.readers.table_units import table_units
from ragpress.readers.tables import read_tables
from ragpress.records import Document, Locator, Message, Unit
from ragpress.text import decode, normalize

DELIMITERS = "\t;|,"
"""Those known, the surer sign first: a comma also stands in decimals and prose."""

_SAMPLE = 1 << 18  # characters looked at for the delimiter
_LEAST = 0.5  # evidence below which a file has one column
_SEPARATOR = re.compile(r'"?sep=(.)"?[ \t]*\n?', re.IGNORECASE)
_QUOTED = re.compile(r'(?:^|(?<=[\t;|,\n]))"(?:[^"]|"")*"(?=[\t;|,\n]|\Z)')
_LONGEST_FIELD = 1 << 27
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
    decoded = decode(data, source)
    messages = list(decoded.messages)
    text = decoded.text
    first = 1
    hint = _SEPARATOR.match(text)
    if hint is not None:  # Excel reads the delimiter from this line and does not show it
        text, first = text[hint.end() :], 2
    delimiter = hint[1] if hint is not None else find_delimiter(text, PurePosixPath(source).suffix.lower() == ".tsv")
    records, unclosed = _records(text, delimiter, first)
    if unclosed:
        found = f"quotations that do not end: {len(unclosed)}; the marks were kept as text"
        messages.append(message("warning", "csv-quote", found, source, Locator("R", unclosed[0], unclosed[0])))
    rows = _rows(records)
    if not rows:
        raise SourceError("empty-source", "the file holds no record; fill it in or remove it", source)
    units: list[Unit] = []
    for table in read_tables(rows):
        units.extend(_units(table, units[-1].section_number + 1 if units else 1))
        messages.extend(_ragged(table, source))
    return Document(source=source, title=PurePosixPath(source).stem, units=tuple(units), messages=tuple(messages))


def find_delimiter(text: str, tabs: bool = False) -> str:
    """The delimiter that divides most records, and those alike; `""` for a single column. `tabs` prefers tabs.

    Quoted fields are set aside first. Of two that do equally well the surer sign wins, so that a decimal comma
    divides nothing.
    """
    lines = [line for line in _QUOTED.sub("x", text[:_SAMPLE]).split("\n") if line.strip()]
    if len(text) > _SAMPLE and len(lines) > 1:
        lines.pop()  # cut short
    if tabs and any("\t" in line for line in lines):
        return "\t"
    best, most = "", _LEAST
    for delimiter in DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        divided = [count for count in counts if count]
        if divided:
            usual = Counter(divided).most_common(1)[0][1]
            score = (usual + len(divided)) / (2 * len(lines))
            if score > most + 0.02:
                best, most = delimiter, score
    return best


def _records(text: str, delimiter: str, first: int) -> tuple[list[_Record], list[int]]:
    """All records but blank ones, and the numbers of those in which a quotation does not end."""
    if not delimiter:
        delimiter = "\x1f"  # decoding leaves no control character
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, strict=True)
        found = [_Record(number, fields) for number, fields in enumerate(reader, start=first)]
    except csv.Error:
        found, unclosed = _tolerant(text, delimiter, first)
    else:
        unclosed = []
    return [record for record in found if any(field.strip() for field in record.fields)], unclosed


def _tolerant(text: str, delimiter: str, first: int) -> tuple[list[_Record], list[int]]:
    """As `_records`, for quotes inside quotations that are not doubled, and quotations that never end."""
    records: list[_Record] = []
    unclosed: list[int] = []
    fields: list[str] = []
    plain = re.compile(f"[^{re.escape(delimiter)}\n]*")
    position, number = 0, first
    while position < len(text):
        value, end = None, position
        if text[position] == '"':
            end = _closing(text, position, delimiter)
            if end:
                value = text[position + 1 : end].replace('""', '"')
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


def _closing(text: str, start: int, delimiter: str) -> int:
    """Where the quotation that opens at `start` ends, or 0.

    A quote ends it before a delimiter, a line end or the end of the text. One that stands like an opening quote in a
    later line tells that the first one never ended.
    """
    position = start + 1
    line_end = -1
    limit = start + _LOOK_AHEAD
    while (position := text.find('"', position, limit)) >= 0:
        behind = text[position + 1 : position + 2]
        if behind == '"':
            position += 2
            continue
        if behind in ("", "\n", delimiter):
            return position
        if line_end < 0:
            line_end = text.find("\n", start)
        if line_end >= 0 and position > line_end and text[position - 1] in ("\n", delimiter):
            return 0
        position += 1
    return 0


def _rows(records: Sequence[_Record]) -> list[Row]:
    rows: list[Row] = []
    last = 0
    for number, fields in records:
        cells = tuple(normalize(field).strip() for field in fields)
        if any(cells):
            rows.append(Row(number, cells, gap=number - last - 1 if rows else 0))
            last = number
    return rows


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
    found = f"rows with more or fewer than {usual} fields: {len(uneven)}; all fields were kept"
    return [message("warning", "csv-ragged", found, source, first)]
