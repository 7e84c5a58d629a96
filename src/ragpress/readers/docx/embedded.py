"""Files embedded in a Word file as objects (o:OLEObject): a worksheet or another Word file that it shows as content.

Of a workbook the sheet is read that Word shows, the active one. Not read are files attached as an icon, linked files,
and objects in other formats (presentations, oleObject1.bin of the programs before 2007): each kind has its message.
"""

from __future__ import annotations

import posixpath

from ragpress.config import Config
from ragpress.errors import SourceError, message
from ragpress.readers.docx.altchunk import BlockReader, read_nested_word
from ragpress.readers.docx.blocks import Block, Worksheet
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.names import O, R, W, number
from ragpress.readers.ooxml.package import open_package
from ragpress.readers.ooxml.xml import Element, child, local
from ragpress.readers.rows import one_line
from ragpress.records import Severity
from ragpress.text import normalize

OBJECTS = frozenset({O + "OLEObject", W + "objectEmbed", W + "objectLink"})


def read_object(element: Element, context: Context, blocks: BlockReader) -> list[Block]:
    """What the object shows as content; nothing where it was not read, which a message says."""
    program = element.get("ProgID") or element.get(W + "progId") or "unknown program"
    aspect = element.get("DrawAspect") or element.get(W + "drawAspect") or ""
    link = context.link(element.get(R + "id"))
    name = posixpath.basename(link.part or link.target) or "?"
    if element.tag == W + "objectLink" or (element.get("Type") or "").lower() == "link":
        context.unread_objects.setdefault(f"linked {program}", []).append(context.place)
        return []
    if aspect.lower() == "icon":
        text = f"the file {name} ({program}) is attached as an icon and was not read; add it as a source of its own"
        _report(context, "info", "left-out", text)
        return []
    data = context.package.read(link.part)
    try:
        found = _read(data, name, context, blocks) if data is not None and data.startswith(b"PK\x03\x04") else None
    except SourceError as error:
        found, program = None, f"{program}: {error.message.text}"
    if found is None:
        context.unread_objects.setdefault(program, []).append(context.place)
    return found or []


def _read(data: bytes, name: str, context: Context, blocks: BlockReader) -> list[Block] | None:
    package = open_package(data, context.package.source, "Word")
    main = package.root(package.main_part("main+xml", "xl/workbook.xml"))
    if local(main) == "document":
        return read_nested_word(data, name, context, blocks)
    return [_worksheet(data, _active_sheet(main), name, context)] if local(main) == "workbook" else None


def _worksheet(data: bytes, sheet: str, name: str, context: Context) -> Worksheet:
    from ragpress.readers.xlsx import read_xlsx  # few Word files hold a workbook

    context.enter_file()
    document = read_xlsx(data, context.package.source, Config(number_locale=context.number_locale))
    units = tuple(unit for unit in document.units if unit.locator.part == sheet)
    others = list(dict.fromkeys(unit.locator.part for unit in document.units if unit.locator.part != sheet))
    if others:
        names = ", ".join(others)
        text = f"of the embedded workbook {name} the sheet shown, «{sheet}», was read and the others not ({names})"
        _report(context, "info", "left-out", text)
    for found in document.messages:
        _report(context, found.severity, found.code, f"in the embedded workbook {name}: {found.text}")
    return Worksheet(units, context.place)


def _active_sheet(workbook: Element) -> str:
    """The name of the sheet that was in front when the workbook was saved, which is the one that Word shows."""
    sheets = [sheet for sheet in child(workbook, "sheets") if local(sheet) == "sheet"]
    active = number(child(child(workbook, "bookViews"), "workbookView").get("activeTab")) or 0
    return normalize(one_line(sheets[active].get("name") or "")) if 0 <= active < len(sheets) else ""


def _report(context: Context, severity: Severity, code: str, text: str) -> None:
    context.messages.append(message(severity, code, text, context.package.source, context.locator()))
