"""What a person sees of a workbook: the cells with a value on the visible sheets, row by row."""

from __future__ import annotations

import datetime
import io
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter

import msgspec
from lxml import etree

from ragpress.audit.graphics import floating_texts
from ragpress.audit.names import R, S
from ragpress.audit.package import SAFE, Element, Parts
from ragpress.audit.values import NUMBER, is_date, shows_nothing
from ragpress.audit.visible import SheetRow, StoredCell, Visible, VisibleText, words
from ragpress.records import Locator
from ragpress.text import normalize

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})", re.IGNORECASE)
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BUILT_IN = {
    **dict.fromkeys((1, 3, 37, 38), "#,##0"),
    **dict.fromkeys((2, 4, 39, 40), "#,##0.00"),
    **dict.fromkeys((9, 10), "0%"),
    **dict.fromkeys((11, 48), "0.00E+00"),
    **dict.fromkeys((12, 13), "# ?/?"),
    **dict.fromkeys((14, 15, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), "yyyy-mm-dd"),
    16: "d-mmm",
    17: "mmm-yy",
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 34, 35, 55, 56), "h:mm"),
    22: "m/d/yy h:mm",
    **dict.fromkeys((41, 42, 43, 44), '#,##0;-#,##0;"-"'),
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    49: "@",
}
"""The number formats that have no code in the file (ECMA-376 part 1, 18.8.30), as far as they differ from General."""

_KEPT = 4_000  # rows and cells that stand in memory together, and then one row
_filled = etree.XPath("s:c[*]", namespaces={"s": S[1:-1]})  # some sheets have a million cells with only a style
_counted_on = etree.XPath("boolean(s:c[not(@r)])", namespaces={"s": S[1:-1]})
_WIDEST = 16_384
_MAX_CROSSINGS = 2_000_000
_Range = tuple[int, int, int, int]  # first row, first column, last row, last column
_Value = tuple[int, str, str, str]  # column, text, type, format code


class _Workbook(msgspec.Struct):
    parts: Parts
    strings: list[str]
    formats: list[str]
    epoch_1904: bool
    rich: list[str]  # what cells show whose value is none of the plain types, by their `vm` attribute from 1


class _Sheet(msgspec.Struct):
    """What is gathered of one sheet: of each row with a value the number and the cells, which see `_cells`."""

    name: str
    rows: list[tuple[int, list[_Value]]] = []
    hidden_rows: set[int] = set()
    hidden_columns: list[tuple[int, int]] = []
    filters: list[_Range] = []
    merged: list[_Range] = []
    printed: list[str] = []

    def hides_row(self, number: int) -> bool:
        """Rows that a filter hides are data."""
        return number in self.hidden_rows and not any(first <= number <= last for first, _, last, _ in self.filters)

    def hides_column(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.hidden_columns)


def visible_xlsx(data: bytes, source: str) -> Visible:
    """All rows with a value, except those that are hidden and no filter hides. Raises SourceError."""
    visible = Visible()
    parts = Parts(data, source)
    main = parts.main("sheet", "xl/workbook.xml")
    root = parts.tree(main)
    links = parts.links(main)
    book = _Workbook(
        parts,
        _shared_strings(_linked_tree(parts, links, "sharedStrings")),
        _formats(_linked_tree(parts, links, "styles")),
        any(_is_on(properties.get("date1904")) for properties in root.iter(S + "workbookPr")),
        _rich_values(*(_linked_tree(parts, links, kind) for kind in _RICH)),
    )
    for number, entry in enumerate(root.iter(S + "sheet"), start=1):
        # Where the relationships are broken, the parts still have their usual names.
        kind, part = links.get(entry.get(R + "id") or "", ("worksheet", f"xl/worksheets/sheet{number}.xml"))
        name = normalize(" ".join((entry.get("name") or f"Sheet{number}").split()))
        sheet = _read_sheet(book, part, name) if kind == "worksheet" else _Sheet(name)
        floating = [
            VisibleText(text, str(Locator("R", row, row, name)))
            for found, drawing in parts.links(part).values()
            if found == "drawing"
            for row, text in floating_texts(parts, drawing)
            if text.strip()
        ]
        if entry.get("state") in ("hidden", "veryHidden"):
            visible.leave_out("hidden-sheet", (value[1] for _, values in sheet.rows for value in values))
            visible.leave_out("hidden-sheet", (piece.text for piece in floating))
        else:
            _add_cells(sheet, book, visible)
            visible.pieces += floating
    return visible


def _linked_tree(parts: Parts, links: dict[str, tuple[str, str]], kind: str) -> Element:
    # Where the relationships are broken, the part still has its usual name.
    return parts.tree(next((name for found, name in links.values() if found == kind), f"xl/{kind}.xml"))


def _shared_strings(root: Element) -> list[str]:
    return [_rich_text(item) for item in root.iterchildren(S + "si")]


def _rich_text(item: Element) -> str:
    """The text of all runs without the phonetic ones."""
    texts = [
        part.text or "" for part in item.iter(S + "t") if part.getparent() is item or part.getparent().tag == S + "r"
    ]
    return _plain("".join(texts))


def _plain(text: str) -> str:
    """Text without the escapes for what XML cannot hold, and without control characters."""
    if "_x" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return text if text.isprintable() else _CONTROLS.sub("", text)


_RICH = ("sheetMetadata", "rdRichValue", "rdRichValueStructure")


def _rich_values(metadata: Element, values: Element, structures: Element) -> list[str]:
    """The names and alternative texts of data types and pictures in cells, by place in the value metadata."""
    fields = [[key.get("n") if key.get("t") == "s" else "" for key in structure] for structure in structures]
    texts = []
    for value in values:
        number = value.get("s") or ""
        names = fields[int(number)] if number.isdigit() and int(number) < len(fields) else []
        given = dict(
            zip(names, [part.text or "" for part in value if etree.QName(part).localname == "v"], strict=False)
        )
        texts.append(given.get("_DisplayString") or given.get("Text") or given.get("Name") or "")
    marks = [mark.get("i") or "" for mark in metadata.xpath("*[local-name() = 'futureMetadata']//*[@i]")]
    shown = [texts[int(mark)] if mark.isdigit() and int(mark) < len(texts) else "" for mark in marks]
    found = []
    for block in metadata.iterfind(f"{S}valueMetadata/{S}bk"):
        place = next((record.get("v") or "" for record in block), "")
        found.append(shown[int(place)] if place.isdigit() and int(place) < len(shown) else "")
    return found


def _formats(root: Element) -> list[str]:
    """The format code of each cell style; `""` for General."""
    codes = dict(_BUILT_IN)
    for entry in root.iter(S + "numFmt"):
        number = entry.get("numFmtId") or ""
        if number.isdigit():
            code = entry.get("formatCode") or ""
            codes[int(number)] = "" if code.lower() == "general" else code
    numbers = [style.get("numFmtId") or "0" for style in root.iterfind(f"{S}cellXfs/*")]
    return [codes.get(int(number), "") if number.isdigit() else "" for number in numbers]


def _read_sheet(book: _Workbook, part: str, name: str) -> _Sheet:
    sheet = _Sheet(name)
    number = 0
    for element in _elements(book.parts, part, "row", "col", "autoFilter", "mergeCell", "headerFooter"):
        tag = element.tag
        if tag == S + "row":
            given = element.get("r") or ""
            number = int(given) if given.isdigit() and len(given) < 9 else number + 1
            if _is_on(element.get("hidden")):
                sheet.hidden_rows.add(number)
            cells = list(_cells(element, book)) if len(element) else []
            if cells:
                sheet.rows.append((number, cells))
        elif tag == S + "col" and _is_on(element.get("hidden")):
            ends = [int(end) if end.isdigit() else 0 for end in (element.get("min") or "", element.get("max") or "")]
            if all(ends):
                sheet.hidden_columns.append((ends[0], ends[1]))
        elif tag == S + "autoFilter" and element.find(S + "filterColumn") is not None:
            sheet.filters.append(_range(element.get("ref")))
        elif tag == S + "mergeCell":
            sheet.merged.append(_range(element.get("ref")))
        elif tag == S + "headerFooter":
            sheet.printed += [part.text for part in element if part.text]
    for kind, table in book.parts.links(part).values():
        if kind == "table":
            for element in _elements(book.parts, table, "autoFilter"):
                if element.find(S + "filterColumn") is not None:
                    sheet.filters.append(_range(element.get("ref")))
    return sheet


def _elements(parts: Parts, name: str, *tags: str) -> Iterator[Element]:
    """The elements of a part as they end. Those behind are dropped, so that a large sheet is never held in memory."""
    data = parts.transitional(name)
    if not data:
        return
    events = etree.iterparse(io.BytesIO(data), tag=[S + tag for tag in tags], **SAFE)
    del data
    kept = 0
    for _, element in events:
        yield element
        kept += 1 + len(element)
        element.clear()
        if kept >= _KEPT:
            parent = element.getparent()  # which already holds some that are yet to come
            del parent[: parent.index(element)]
            kept = 0


def _is_on(value: str | None) -> bool:
    return value in ("1", "true", "on")


def _cells(row: Element, book: _Workbook) -> Iterator[_Value]:
    """The cells of a row that have a value."""
    column = 0
    for cell in row.iterchildren(S + "c") if _counted_on(row) else _filled(row):
        column = _place(cell.get("r") or "", column)
        text, kind = _stored(cell, book)
        if text:
            style = cell.get("s") or "0"
            code = book.formats[int(style)] if style.isdigit() and int(style) < len(book.formats) else ""
            yield column, text, kind, code


def _place(reference: str, before: int) -> int:
    """The column that a cell says it is in, or the one after the cell before it."""
    found = _REFERENCE.fullmatch(reference)
    return _column(found[1]) if found else before + 1


def _stored(cell: Element, book: _Workbook) -> tuple[str, str]:
    """The value of a cell as the file has it, and its type."""
    kind = cell.get("t") or "n"
    if kind == "inlineStr":
        return "".join(map(_rich_text, cell.iterfind(S + "is"))), kind
    text = (cell.findtext(S + "v") or "").strip(" \n\r\t")
    if kind == "e" and (metadata := cell.get("vm")):  # the error is for programs that do not know the value's type
        return (
            book.rich[int(metadata) - 1] if metadata.isdigit() and 0 < int(metadata) <= len(book.rich) else ""
        ), kind
    if kind == "s":
        return (book.strings[int(text)] if text.isdigit() and int(text) < len(book.strings) else ""), kind
    return (_plain(text) if kind == "str" else text), kind


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def _range(reference: str | None) -> _Range:
    ends = [(int(found[2]), _column(found[1])) for found in _REFERENCE.finditer(reference or "")]
    return (*ends[0], *ends[-1]) if ends else (0, 0, 0, 0)


def _add_cells(sheet: _Sheet, book: _Workbook, visible: Visible) -> None:
    """Adds the visible cells of a sheet. A merged range shows its first cell wherever any of it is visible."""
    merged = _merged_by_row(sheet)
    shown: dict[int, list[StoredCell]] = defaultdict(list)
    for number, values in sheet.rows:
        hidden = sheet.hides_row(number)
        crossed = merged.get(number, [])
        for column, text, kind, code in values:
            around = _around(crossed, column)
            row, last = number, column
            if around:
                top, left, bottom, last = around
                if (top, left) != (number, column):
                    visible.leave_out("merged-over", [text])
                    continue
                row = next((row for row in range(top, bottom + 1) if not sheet.hides_row(row)), number)
                visible.repeatable.update(words(text))
            if hidden and (row == number):
                visible.leave_out("hidden-row", [text])
            elif sheet.hidden_columns and all(
                sheet.hides_column(place) for place in range(column, min(last, column + _WIDEST) + 1)
            ):
                visible.leave_out("hidden-column", [text])
            elif cell := _cell(text, kind, code, book.epoch_1904):
                shown[row].append(cell)
    visible.repeatable.update(words("\n".join(sheet.printed)))  # on paper only, but it may be indexed
    visible.rows += [SheetRow(sheet.name, number, tuple(shown[number])) for number in sorted(shown)]


def _around(ranges: Sequence[_Range], column: int) -> _Range | None:
    """The one of ranges by first column that is around a column; of those that overlap only the nearest is asked."""
    place = bisect_right(ranges, column, key=itemgetter(1)) - 1
    return ranges[place] if place >= 0 and column <= ranges[place][3] else None


def _merged_by_row(sheet: _Sheet) -> dict[int, list[_Range]]:
    """For each row with cells the merged ranges that it crosses, by their first columns; a bounded number."""
    numbers = sorted({number for number, _ in sheet.rows})
    found: dict[int, list[_Range]] = defaultdict(list)
    budget = _MAX_CROSSINGS
    for merged in sorted(sheet.merged, key=itemgetter(1)):
        for number in numbers[bisect_left(numbers, merged[0]) : bisect_right(numbers, merged[2])][:budget]:
            found[number].append(merged)
            budget -= 1
    return found


def _cell(text: str, kind: str, code: str, epoch_1904: bool) -> StoredCell | None:
    """The cell as its type and number format say; None where the format shows nothing."""
    if kind == "b":
        return StoredCell(text, "truth")
    if kind == "d" and (serial := _serial(text)) is not None:
        return StoredCell(str(serial), "date", code or "yyyy-mm-dd")
    if kind in ("n", "d") and (found := NUMBER.fullmatch(text)) and (found[1] or found[2]):
        if shows_nothing(text, code):
            return None
        elapsed = re.search(r"\[[hms]+\]", code, re.IGNORECASE)  # counts from zero in both systems
        number = float(text) + (1462 if epoch_1904 and not elapsed and float(text) >= 0 else 0)
        return StoredCell(str(number), "date", code) if is_date(code, number) else StoredCell(text, "number", code)
    return StoredCell(text) if "@" in code or code.count(";") < 3 else None


def _serial(text: str) -> float | None:
    """The serial number of an ISO 8601 date, or None."""
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment.replace(tzinfo=None) - datetime.datetime(1899, 12, 30)) / datetime.timedelta(days=1)
