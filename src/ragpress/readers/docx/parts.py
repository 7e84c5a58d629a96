"""Finds the parts of a Word file, wherever its writer put them, and makes the context of reading it."""

from __future__ import annotations

import posixpath

from ragpress.errors import SourceError
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.fields import Fields
from ragpress.readers.docx.names import W
from ragpress.readers.docx.notes import find_notes
from ragpress.readers.docx.numbering import Numbering
from ragpress.readers.docx.styles import Styles
from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import Element

_KINDS = ("styles", "numbering", "footnotes", "endnotes", "settings")
_SEARCHED = 200  # parts looked into where nothing names the main one


def open_document(package: Package) -> tuple[Element, Context]:
    """The w:body of the main part, and the context in which it is walked.

    Raises SourceError "bad-archive" where the archive holds no Word document, or a damaged one.
    """
    part = _main_part(package)
    if not part and (package.read("mimetype") or b"").startswith(b"application/vnd.oasis.opendocument"):
        raise SourceError(
            "bad-archive", "this is an OpenDocument file under another suffix; save it as .docx", package.source
        )
    root = package.required_xml(part, "Word document (word/document.xml); save the file anew in Word")
    bodies = root.findall(W + "body")
    if len(bodies) != 1 and root.tag == W + "document":
        bodies = [root]  # a broken writer's second body is shown too
    if not bodies:
        found = root.tag.rpartition("}")[2]
        raise SourceError(
            "bad-archive", f"{part} holds <{found}> and no Word document; save the file anew in Word", package.source
        )
    body = bodies[0]
    parts = related_parts(package, part)
    styles = Styles(_root(package, parts, "styles"))
    numbering = Numbering(_root(package, parts, "numbering"), styles)
    return body, Context(package, part, styles, numbering, Fields(body), find_notes(package, parts))


def related_parts(package: Package, part: str) -> dict[str, str]:
    """The parts beside the main one by kind; without a relationship by their usual name."""
    folder = posixpath.dirname(part)
    found = {}
    for kind in _KINDS:
        related = package.related(part, kind)
        found[kind] = related[0] if related else package.find(posixpath.join(folder, f"{kind}.xml"))
    return found


def settings(package: Package, part: str) -> Element | None:
    return _root(package, related_parts(package, part), "settings")


def _main_part(package: Package) -> str:
    """The part with the document: by relationship or content type, by its usual name, else whichever has the root."""
    part = package.main_part(".main+xml", "word/document.xml")
    if part:
        return part
    for name in package.names()[:_SEARCHED]:
        if name.lower().endswith(".xml"):
            root = package.xml(name)
            if root is not None and root.tag == W + "document":
                return name
    return ""


def _root(package: Package, parts: dict[str, str], kind: str) -> Element | None:
    part = parts.get(kind, "")
    return package.xml(part) if part else None
