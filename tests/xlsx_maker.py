"""Writes small workbooks part by part, so that a test can hold what no library would write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from openpyxl.utils.cell import get_column_letter

from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.records import Document

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"

Value = str | int | float | None


class Styled(NamedTuple):
    """A value with a style: an index into the formats of the workbook, from 1."""

    value: Value
    style: int


class Sheet(NamedTuple):
    """`rows` is the inside of sheetData; `before` and `after` stand around it; `links` are (id, kind, target)."""

    rows: str
    before: str = ""
    after: str = ""
    state: str = "visible"
    links: Sequence[tuple[str, str, str]] = ()
    kind: str = "worksheet"


def cell(value: Value | Styled, reference: str = "") -> str:
    style = ""
    if isinstance(value, Styled):
        style = f' s="{value.style}"'
        value = value.value
    place = f' r="{reference}"' if reference else ""
    if value is None:
        return f"<c{place}{style}/>"
    if isinstance(value, str):
        return f'<c{place}{style} t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f"<c{place}{style}><v>{value!r}</v></c>"


def rows(grid: Sequence[Sequence[Value | Styled]], first: int = 1, hidden: Sequence[int] = ()) -> str:
    """Rows of cells; None leaves a cell out, an empty row writes nothing."""
    found = []
    for number, line in enumerate(grid, start=first):
        cells = [
            cell(value, f"{get_column_letter(column)}{number}")
            for column, value in enumerate(line, start=1)
            if value is not None
        ]
        mark = ' hidden="1"' if number in hidden else ""
        if cells:
            found.append(f'<row r="{number}"{mark}>{"".join(cells)}</row>')
    return "".join(found)


def merge(*ranges: str) -> str:
    return "<mergeCells>" + "".join(f'<mergeCell ref="{found}"/>' for found in ranges) + "</mergeCells>"


def make_xlsx(
    sheets: Mapping[str, str | Sheet],
    strings: str | None = None,
    formats: Sequence[str] = (),
    parts: Mapping[str, str | bytes] | None = None,
    properties: str = "",
    styles: str | None = None,
    names: str = "",
) -> bytes:
    """A workbook. `strings` is the inside of the shared strings part; `formats` are number format codes.

    `properties` stands before the list of sheets, `names` (the inside of definedNames) behind it.
    """
    content: dict[str, str | bytes] = {}
    entries, links = [], []
    for number, (name, sheet) in enumerate(sheets.items(), start=1):
        sheet = sheet if isinstance(sheet, Sheet) else Sheet(sheet)
        entries.append(f'<sheet name="{escape(name)}" sheetId="{number}" state="{sheet.state}" r:id="rId{number}"/>')
        target = f"{sheet.kind}s/sheet{number}.xml"
        links.append((f"rId{number}", sheet.kind, target))
        content[f"xl/{target}"] = (
            f'<{sheet.kind} xmlns="{MAIN}" xmlns:r="{OFFICE}">{sheet.before}'
            f"<sheetData>{sheet.rows}</sheetData>{sheet.after}</{sheet.kind}>"
        )
        if sheet.links:
            content[f"xl/{sheet.kind}s/_rels/sheet{number}.xml.rels"] = relationships(sheet.links)
    if strings is not None:
        links.append(("rIdS", "sharedStrings", "sharedStrings.xml"))
        content["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{strings}</sst>'
    links.append(("rIdT", "styles", "styles.xml"))
    content["xl/styles.xml"] = styles if styles is not None else styles_part(formats)
    content["xl/workbook.xml"] = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{properties}<sheets>{"".join(entries)}</sheets>'
        f"<definedNames>{names}</definedNames></workbook>"
    )
    content["xl/_rels/workbook.xml.rels"] = relationships(links)
    content["_rels/.rels"] = relationships([("rId1", "officeDocument", "xl/workbook.xml")])
    content["[Content_Types].xml"] = (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>'
    )
    content.update(parts or {})
    return pack(content)


def pack(content: Mapping[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return stream.getvalue()


def relationships(links: Sequence[tuple[str, str, str]]) -> str:
    inside = "".join(
        f'<Relationship Id="{identifier}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for identifier, kind, target in links
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{inside}</Relationships>'


def styles_part(formats: Sequence[str], bold: Sequence[int] = ()) -> str:
    """Style 0 is General; style n shows by the n-th format. The styles named in `bold` are so."""
    codes = "".join(
        f'<numFmt numFmtId="{163 + number}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
        for number, code in enumerate(formats, start=1)
    )
    styles = "".join(
        f'<xf numFmtId="{163 + number}" fontId="{int(number in bold)}" fillId="0"/>'
        for number in range(1, len(formats) + 1)
    )
    return (
        f'<styleSheet xmlns="{MAIN}"><numFmts>{codes}</numFmts><fonts><font/><font><b/></font></fonts>'
        f'<fills><fill/></fills><cellXfs><xf numFmtId="0" fontId="0" fillId="0"/>{styles}</cellXfs></styleSheet>'
    )


def read(data: bytes, name: str = "book.xlsx") -> Document:
    return read_document(data, name, Config())


def texts(document: Document) -> list[str]:
    return [unit.text for unit in document.units]


def said(document: Document) -> str:
    """All messages, a line each."""
    return "\n".join(f"{found.code}: {found.text}" for found in document.messages)
