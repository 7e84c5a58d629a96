"""What a person sees of a workbook: the cells with a value on the visible sheets, row by row."""

from __future__ import annotations

import io
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator

import msgspec
from lxml import etree

from ragpress.audit.package import SAFE, Element, Parts
from ragpress.audit.values import NUMBER, is_date, shows_nothing
from ragpress.audit.visible import Cell, Row, Visible, words

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})", re.IGNORECASE)
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_BUILT_IN = {
    **dict.fromkeys((9, 10), "0%"),
    **dict.fromkeys((14, 15, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), "yyyy-mm-dd"),
    16: "d-mmm",
    17: "mmm-yy",
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 34, 35, 55, 56), "h:mm"),
    22: "m/d/yy h:mm",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    12: "# ?/?",
    13: "# ??/??",
    49: "@",
}
"""The number formats that have no code in the file (ECMA-376 part 1, 18.8.30), as far as they differ from General."""

_MAX_CROSSINGS = 2_000_000
_Range = tuple[int, int, int, int]  # first row, first column, last row, last column


class _Book(msgspec.Struct):
    parts: Parts
    strings: list[str]
    formats: list[str]
    epoch_1904: bool


class _Sheet(msgspec.Struct):
    """What is gathered of one sheet. `hidden_rows` wait for the filters, which stand behind them in the file."""

    name: str
    hidden_columns: list[tuple[int, int]] = []
    filters: list[_Range] = []
    merged: list[_Range] = []
    rows: list[tuple[int, bool, list[tuple[int, str, str, str]]]] = []


def visible_xlsx(data: bytes, source: str) -> Visible:
    """All rows with a value, except those that are hidden and no filter hides. Raises SourceError."""
    seen = Visible()
    parts = Parts(data, source)
    main = parts.main("xl/workbook.xml")
    root = parts.tree(main)
    if root is None:
        return seen
    links = parts.links(main)
    properties = root.find(_S + "workbookPr")
    book = _Book(
        parts,
        _shared_strings(_linked_tree(parts, links, "sharedStrings")),
        _formats(_linked_tree(parts, links, "styles")),
        properties is not None and properties.get("date1904") in ("1", "true"),
    )
    for entry in root.iter(_S + "sheet"):
        kind, part = links.get(entry.get(_R + "id") or "", ("", ""))
        if kind != "worksheet":
            continue
        sheet = _read_sheet(book, part, entry.get("name") or "")
        if entry.get("state") in ("hidden", "veryHidden"):
            seen.leave_out("hidden-sheet", (cell[1] for row in sheet.rows for cell in row[2]))
        else:
            _see(sheet, book, seen)
    return seen


def _linked_tree(parts: Parts, links: dict[str, tuple[str, str]], kind: str) -> Element | None:
    return next((parts.tree(name) for found, name in links.values() if found == kind), None)


def _shared_strings(root: Element | None) -> list[str]:
    return [_rich_text(item) for item in root.iterchildren(_S + "si")] if root is not None else []


def _rich_text(item: Element) -> str:
    """The text of all runs without the phonetic ones."""
    texts = [
        part.text or "" for part in item.iter(_S + "t") if part.getparent() is item or part.getparent().tag == _S + "r"
    ]
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), "".join(texts))


def _formats(root: Element | None) -> list[str]:
    """The format code of each cell style; `""` for General."""
    if root is None:
        return []
    codes = dict(_BUILT_IN)
    for entry in root.iter(_S + "numFmt"):
        number = entry.get("numFmtId") or ""
        if number.isdigit():
            codes[int(number)] = entry.get("formatCode") or ""
    styles = root.find(_S + "cellXfs")
    numbers = [style.get("numFmtId") or "0" for style in styles] if styles is not None else []
    return [codes.get(int(number), "") if number.isdigit() else "" for number in numbers]


def _read_sheet(book: _Book, part: str, name: str) -> _Sheet:
    sheet = _Sheet(name)
    number = 0
    for element in _elements(book.parts, part, "row", "col", "autoFilter", "mergeCell"):
        tag = element.tag
        if tag == _S + "row":
            given = element.get("r") or ""
            number = int(given) if given.isdigit() else number + 1
            cells = list(_cells(element, book))
            if cells:
                sheet.rows.append((number, _is_on(element.get("hidden")), cells))
        elif tag == _S + "col" and _is_on(element.get("hidden")):
            sheet.hidden_columns.append((int(element.get("min") or 0), int(element.get("max") or 0)))
        elif tag == _S + "autoFilter" and len(element):
            sheet.filters.append(_range(element.get("ref")))
        elif tag == _S + "mergeCell":
            sheet.merged.append(_range(element.get("ref")))
    for kind, table in book.parts.links(part).values():
        if kind == "table":
            for element in _elements(book.parts, table, "autoFilter"):
                if len(element):
                    sheet.filters.append(_range(element.get("ref")))
    return sheet


def _elements(parts: Parts, name: str, *tags: str) -> Iterator[Element]:
    """The elements of a part as they end, each emptied after use, so that a large sheet never stands in memory."""
    data = parts.transitional(name)
    if not data:
        return
    events = etree.iterparse(io.BytesIO(data), tag=[_S + tag for tag in tags], **SAFE)
    for _, element in events:
        yield element
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def _is_on(value: str | None) -> bool:
    return value in ("1", "true", "on")


def _cells(row: Element, book: _Book) -> Iterator[tuple[int, str, str, str]]:
    """Column, text, type and format code of the cells of a row that have a value."""
    column = 0
    for cell in row.iterchildren(_S + "c"):
        place = _REFERENCE.fullmatch(cell.get("r") or "")
        column = _column(place[1]) if place else column + 1
        kind = cell.get("t") or "n"
        if kind == "inlineStr":
            inline = cell.find(_S + "is")
            text = _rich_text(inline) if inline is not None else ""
        else:
            value = cell.find(_S + "v")
            text = (value.text or "").strip(" \n\r\t") if value is not None else ""
        if kind == "s":
            text = book.strings[int(text)] if text.isdigit() and int(text) < len(book.strings) else ""
        elif kind == "str":
            text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
        if text:
            style = cell.get("s") or "0"
            code = book.formats[int(style)] if style.isdigit() and int(style) < len(book.formats) else ""
            yield column, text, kind, code


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def _range(reference: str | None) -> _Range:
    ends = [(int(found[2]), _column(found[1])) for found in _REFERENCE.finditer(reference or "")]
    return (*ends[0], *ends[-1]) if ends else (0, 0, 0, 0)


def _see(sheet: _Sheet, book: _Book, seen: Visible) -> None:
    """Adds the visible cells of a sheet; of a merged range only the first cell is seen."""
    merged = _merged_by_row(sheet)
    for number, hidden, cells in sheet.rows:
        if hidden and not any(first <= number <= last for first, _, last, _ in sheet.filters):
            seen.leave_out("hidden-row", (text for _, text, _, _ in cells))
            continue
        kept = []
        ranges = merged.get(number, ())
        for column, text, kind, code in cells:
            if any(first <= column <= last for first, last in sheet.hidden_columns):
                seen.leave_out("hidden-column", [text])
            elif any(left <= column <= right and (number, column) != (top, left) for top, left, _, right in ranges):
                seen.leave_out("merged-over", [text])
            elif cell := _cell(text, kind, code, book.epoch_1904):
                kept.append(cell)
        if kept:
            seen.rows.append(Row(sheet.name, number, tuple(kept)))
        if ranges:
            seen.repeatable.update(word for cell in kept for word in words(cell.text))


def _merged_by_row(sheet: _Sheet) -> dict[int, list[_Range]]:
    """For each row with cells the merged ranges that it crosses. Ranges beyond a sheet's worth are hostile."""
    numbers = sorted({number for number, _, _ in sheet.rows})
    found: dict[int, list[_Range]] = defaultdict(list)
    budget = _MAX_CROSSINGS
    for merged in sheet.merged:
        for number in numbers[bisect_left(numbers, merged[0]) : bisect_right(numbers, merged[2])][:budget]:
            found[number].append(merged)
            budget -= 1
    return found


def _cell(text: str, kind: str, code: str, epoch_1904: bool) -> Cell | None:
    """The cell as its type and number format say; None where the format shows nothing."""
    if kind == "b":
        return Cell(text, "truth")
    if kind in ("n", "d") and (found := NUMBER.fullmatch(text)) and (found[1] or found[2]):
        if shows_nothing(text, code):
            return None
        if not is_date(code):
            return Cell(text, "number", code)
        return Cell(str(float(text) + 1462 if epoch_1904 else float(text)), "date", code)
    return Cell(text)
