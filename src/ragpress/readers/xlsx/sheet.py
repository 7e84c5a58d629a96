"""One worksheet part: its cells as texts, and what about them a person does not see."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache

import msgspec
from openpyxl.utils.cell import column_index_from_string
from openpyxl.utils.datetime import WINDOWS_EPOCH

from ragpress.errors import SourceError
from ragpress.readers.ooxml.formatted_values import ENGLISH, NumberLocale, show_number, show_text
from ragpress.readers.ooxml.links import linked
from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import EMPTY, Element, child, is_on, local
from ragpress.readers.xlsx.content import MAX_COLUMN, MAX_ROW, SheetContent, area
from ragpress.readers.xlsx.links import add_links, formula_address, sheet_link
from ragpress.readers.xlsx.stream import stream
from ragpress.readers.xlsx.strings import clean, rich_text
from ragpress.readers.xlsx.styles import CellStyles
from ragpress.readers.xlsx.workbook import SheetEntry

MAX_TEXT = 1 << 26
"""Characters that all cells together may show: one long shared string in every cell would fill any memory."""

_EXACT_DIGITS = 40
_EXACT_EXPONENT = 400
_CACHE = 50_000


class Book(msgspec.Struct):
    """What the sheets of a workbook share."""

    strings: list[str]
    styles: CellStyles
    date1904: bool
    rich_texts: dict[str, str] = {}
    locale: NumberLocale = ENGLISH
    shown: dict[tuple[str, int], str] = {}
    characters: int = 0


_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?)?|(\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?"
)


def read_sheet(package: Package, sheet: SheetEntry, book: Book) -> SheetContent:
    """All cells with a text. Rows and columns are counted on where their numbers are missing."""
    content = SheetContent(print_titles=sheet.print_titles)
    row = 0
    links = []
    for element in stream(package, sheet.part, *_READ):
        kind = local(element)
        if kind == "row":
            row = _number(element.get("r"), MAX_ROW) or row + 1
            _read_row(element, row, content, book)
            _check_size(book, package)
        elif kind == "col":
            if is_on(element.get("hidden")):
                first, last = _number(element.get("min"), MAX_COLUMN), _number(element.get("max"), MAX_COLUMN)
                if 0 < first <= last:
                    content.hidden_columns.append((first, last))
        elif kind == "mergeCell":
            if (merged := area(element.get("ref"))) and not merged.is_cell:
                content.merged.append(merged)
        elif kind == "autoFilter":
            add_filter(element, content)
        elif kind == "hyperlink":
            if link := sheet_link(element, package, sheet.part):
                links.append(link)
        elif kind == "pane":
            if (element.get("state") or "").startswith("frozen"):
                content.frozen = _frozen_row(element)
        else:
            content.print_texts.extend(part.text for part in element if part.text)
    if list(content.cells) != sorted(content.cells):
        content.cells = dict(sorted(content.cells.items()))
    book.characters += add_links(content, links)
    _check_size(book, package)
    return content


_READ = ("pane", "row", "col", "mergeCell", "autoFilter", "hyperlink", "headerFooter")


def _check_size(book: Book, package: Package) -> None:
    if book.characters > MAX_TEXT:
        found = f"its cells hold over {MAX_TEXT // 1_000_000} million characters; split the file"
        raise SourceError("too-large", found, package.source)


def add_filter(element: Element, content: SheetContent) -> None:
    """Takes down where an `autoFilter` has its buttons, and its range if it has a condition: that hides only data."""
    found = area(element.get("ref"))
    if found:
        content.filtered.add(found.top)
        if child(element, "filterColumn") is not EMPTY:
            content.filters.append(found)


def _frozen_row(pane: Element) -> int:
    """The last row above a frozen pane's split, which counts from the first row that is in sight."""
    split = _number(pane.get("ySplit"), MAX_ROW)
    first = area(pane.getparent().get("topLeftCell"))
    return split + (first.top - 1 if first and split else 0)


def _number(text: str | None, limit: int) -> int:
    """A positive number up to `limit`, else 0."""
    if text and text.isdecimal() and len(text) < 9 and int(text) <= limit:
        return int(text)
    return 0


def _read_row(element: Element, row: int, content: SheetContent, book: Book) -> None:
    if is_on(element.get("hidden")):
        content.hidden_rows.add(row)
    texts = content.cells.get(row, {})
    look = -1  # all bits
    column = 0
    cell_name = element.tag[: -len("row")] + "c"
    for cell in element:
        if cell.tag != cell_name:
            continue
        column = _column(cell.get("r")) or column + 1
        style = _style_index(cell.get("s"))
        text = _text(cell, style, row, content, book)
        if text:
            book.characters += len(text)
            # Two cells at one place are damage: nothing may be lost of either.
            texts[column] = f"{texts[column]}\n{text}" if column in texts else text
            look &= book.styles.look(style)
    if texts:
        content.cells[row] = texts
        content.looks[row] = content.looks.get(row, -1) & look


@lru_cache(maxsize=1024)
def _style_index(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0


@lru_cache(maxsize=MAX_COLUMN)
def _letters_column(letters: str) -> int:
    try:
        number: int = column_index_from_string(letters)
    except ValueError:
        return 0
    return number if number <= MAX_COLUMN else 0


def _column(reference: str | None) -> int:
    """The column of a cell's address, or 0 for none."""
    return _letters_column(reference.rstrip("0123456789").strip("$")) if reference else 0


def _text(cell: Element, style: int, row: int, content: SheetContent, book: Book) -> str:
    value = formula = None
    for part in cell:
        name = local(part)
        if name == "v":
            value = part.text or ""
        elif name == "is":
            return _formatted(rich_text(part), style, book)
        elif name == "f":
            formula = part
    kind = cell.get("t") or "n"
    if not value or not value.strip():
        if formula is None or (kind == "str" and value is not None):
            return ""
        content.formulas.append(row)
        return clean(f"={formula.text}") if formula.text else ""
    text = _value_text(cell, kind, value, style, content, book)
    address = formula_address(formula.text) if formula is not None and formula.text and text else ""
    return linked(text, clean(address)) if address else text


def _value_text(cell: Element, kind: str, value: str, style: int, content: SheetContent, book: Book) -> str:
    if kind == "s":
        return _shared(value.strip(), style, content, book)
    if kind in ("str", "inlineStr"):
        return _formatted(clean(value), style, book)
    if kind == "b":
        return {"1": "TRUE", "true": "TRUE", "0": "FALSE", "false": "FALSE"}.get(value.strip(), clean(value))
    if kind == "e":
        # With value metadata the error replaces a picture or a data type for older programs.
        metadata = cell.get("vm")
        return _rich_text(metadata, content, book) if metadata else clean(value)
    if kind == "d":
        return _iso_date(value.strip(), style, book)
    return _shown(value.strip(), style, book)


def _rich_text(metadata: str, content: SheetContent, book: Book) -> str:
    text = book.rich_texts.get(metadata, "")
    content.pictures += not text
    return text


def _shared(index: str, style: int, content: SheetContent, book: Book) -> str:
    if index.isdecimal() and len(index) < 10 and int(index) < len(book.strings):
        return _formatted(book.strings[int(index)], style, book)
    content.bad_strings += 1
    return ""


def _formatted(text: str, style: int, book: Book) -> str:
    code = book.styles.format(style)
    return text if "@" not in code and ";" not in code else show_text(text, code).strip()


def _shown(value: str, style: int, book: Book) -> str:
    """A number as shown; what is no number, or one beyond all use, as in the file."""
    key = (value, style)
    text = book.shown.get(key)
    if text is None:
        text = clean(_number_text(value, style, book))
        if len(book.shown) >= _CACHE:
            book.shown.clear()
        book.shown[key] = text
    return text


def _number_text(value: str, style: int, book: Book) -> str:
    try:
        number = Decimal(value) if len(value) <= _EXACT_DIGITS else None
    except InvalidOperation:
        number = None
    if number is None or not number.is_finite() or abs(number.adjusted()) > _EXACT_EXPONENT:
        return value
    return " ".join(show_number(number, book.styles.format(style), book.date1904, book.locale).split())


def _iso_date(value: str, style: int, book: Book) -> str:
    """A cell of type `d` holds ISO 8601; it is shown by its format as a serial number would be."""
    found = _ISO.match(value)
    if found is None:
        return clean(value)
    year, month, day, hour, minute, second, *clock = found.groups()
    if year is None:
        hour, minute, second = clock
    try:
        days = datetime.date(int(year), int(month), int(day)).toordinal() - WINDOWS_EPOCH.toordinal() if year else 0
    except ValueError:
        return clean(value)
    seconds = Decimal(int(hour or 0) * 3600 + int(minute or 0) * 60) + Decimal(second or 0)
    code = book.styles.format(style)
    if code == "General":
        date, time = f"{year}-{month}-{day}" if year else "", f"{hour}:{minute}" + (f":{second}" if second else "")
        return f"{date} {time}".strip() if seconds else date or time
    return " ".join(show_number(days + seconds / 86_400, code).split())
