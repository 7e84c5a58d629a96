"""What the sample builders share: right-to-left Word paragraphs, tables, and packing with fixed dates."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from typing import IO, Any

from docx import Document as new_word_file
from docx.document import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph

SAVED = "2026-11-01T08:00:00Z"
PACKED = (2026, 11, 1, 8, 0, 0)
_DATE = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(</)")


def word_file(title: str) -> Document:
    """An empty Word file with a title in its properties."""
    document = new_word_file()
    document.core_properties.title = title
    document.core_properties.author = "ragpress"
    document.core_properties.comments = ""
    return document


def persian(place: Document | _Cell, text: str, style: str | None = None) -> Paragraph:
    """Adds a right-to-left paragraph, marked so as Word marks it."""
    paragraph = place.add_paragraph(style=style)
    paragraph.paragraph_format.element.get_or_add_pPr().append(OxmlElement("w:bidi"))
    run = paragraph.add_run(text)
    run.font.rtl = True
    return paragraph


def persian_cell(cell: _Cell, text: str) -> None:
    """Writes the first paragraph of a cell, right to left."""
    paragraph = cell.paragraphs[0]
    paragraph.paragraph_format.element.get_or_add_pPr().append(OxmlElement("w:bidi"))
    paragraph.add_run(text).font.rtl = True


def persian_table(place: Document | _Cell, rows: Sequence[Sequence[str]]) -> Table:
    """Adds a table whose columns run from right to left; the first row is the header."""
    table = place.add_table(len(rows), len(rows[0]))
    if isinstance(place, Document):
        table.style = "Table Grid"
    properties: Any = table._tbl.tblPr
    visual = OxmlElement("w:bidiVisual")
    style = properties.find(qn("w:tblStyle"))
    if style is None:
        properties.insert(0, visual)
    else:
        style.addnext(visual)
    for row, values in zip(table.rows, rows, strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            persian_cell(cell, value)
    return table


def packed(save: Callable[[IO[bytes]], Any]) -> bytes:
    """The bytes of an Office file with every date fixed, so that the same content gives the same file."""
    buffer = io.BytesIO()
    save(buffer)
    result = io.BytesIO()
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist(), key=lambda part: (part != "[Content_Types].xml", part)):
            data = old.read(name)
            if name == "docProps/core.xml":
                data = _DATE.sub(rb"\g<1>" + SAVED.encode() + rb"\g<2>", data)
            entry = zipfile.ZipInfo(name, PACKED)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            new.writestr(entry, data)
    return result.getvalue()
