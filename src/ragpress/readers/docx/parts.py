"""Finds the parts of a Word file, wherever its writer put them, and makes the context of reading it."""

from __future__ import annotations

import posixpath

from docx.opc.constants import RELATIONSHIP_TYPE as RT

from ragpress.config import LocaleSetting
from ragpress.errors import SourceError
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.fields import Fields
from ragpress.readers.docx.names import W
from ragpress.readers.docx.notes import find_notes
from ragpress.readers.docx.numbering import Numbering
from ragpress.readers.docx.styles import Styles
from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import Element

_KINDS = (RT.STYLES, RT.NUMBERING, RT.FOOTNOTES, RT.ENDNOTES, RT.SETTINGS)
_SEARCHED = 200  # parts looked into where nothing names the main one


def open_document(package: Package, number_locale: LocaleSetting) -> tuple[Element, Context]:
    """The w:body of the main part, and the context in which it is walked. `number_locale` is the setting.

    Raises SourceError "bad-archive" where the archive holds no Word document, or a damaged one.
    """
    part = _main_part(package)
    if not part and (package.read("mimetype") or b"").startswith(b"application/vnd.oasis.opendocument"):
        raise SourceError(
            "bad-archive", "this is an OpenDocument file under another suffix; save it as .docx", package.source
        )
    root = package.required_xml(part, "Word document (word/document.xml); save the file again in Word")
    bodies = root.findall(W + "body")
    if len(bodies) != 1 and root.tag == W + "document":
        bodies = [root]  # a broken writer's second body is shown too
    if not bodies:
        found = root.tag.rpartition("}")[2]
        raise SourceError(
            "bad-archive", f"{part} holds <{found}> and no Word document; save the file again in Word", package.source
        )
    body = bodies[0]
    parts = related_parts(package, part)
    styles = Styles(package.root(parts[RT.STYLES]))
    numbering = Numbering(package.root(parts[RT.NUMBERING]), styles)
    notes = find_notes(package, parts)
    return body, Context(package, part, styles, numbering, Fields(body), notes, number_locale)


def related_parts(package: Package, part: str) -> dict[str, str]:
    """The parts beside the main one by type of relationship; without a relationship by their usual name."""
    folder = posixpath.dirname(part)
    found = {}
    for kind in _KINDS:
        related = package.related(part, kind)
        usual = posixpath.join(folder, f"{posixpath.basename(kind)}.xml")
        found[kind] = related[0] if related else package.find(usual)
    return found


def settings(package: Package, part: str) -> Element:
    return package.root(related_parts(package, part)[RT.SETTINGS])


def _main_part(package: Package) -> str:
    """The part with the document: by relationship or content type, by its usual name, else whichever has the root."""
    part = package.main_part(".main+xml", "word/document.xml")
    if part:
        return part
    for name in package.names()[:_SEARCHED]:
        if name.lower().endswith(".xml") and package.root(name).tag == W + "document":
            return name
    return ""
