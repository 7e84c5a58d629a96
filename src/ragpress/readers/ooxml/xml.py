"""Parses the XML parts of an OOXML file that nobody vouches for: no DTD, no entities, no network."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

Element = Any
"""An lxml element. lxml has no types of its own."""

ElementClasses = Any
"""A lookup of element classes by name (lxml's `ElementNamespaceClassLookup`), or None for plain elements."""

EMPTY: Element = etree.Element("empty")
"""An element without content: what is read of a part that is not there."""

ON = frozenset({"1", "true", "on"})
"""How an attribute of SpreadsheetML or DrawingML says yes (ECMA-376 part 1, 22.9.2.7)."""

_STRICT = re.compile(rb"""(xmlns(?::[^\s=]*)?\s*=\s*["'])http://purl\.oclc\.org/ooxml/([A-Za-z]+)/""")
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_DOCUMENT_TYPE = re.compile(rb"<!DOCTYPE[^\[>]*(?:\[(.*?)\]\s*)?>", re.DOTALL)
_EXTERNAL = re.compile(rb"\s+[\w.:-]+\s+(?:SYSTEM|PUBLIC)\s")
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[\w.:-]+;")
_BOMS_16 = (b"\xff\xfe", b"\xfe\xff")


class XmlRefused(ValueError):
    """The XML declares entities of its own, which Office never does (ECMA-376 part 2, 8.1.2) and bombs are made of."""


class _LocalNames(dict[str, str]):
    """By tag; it is asked for every element of every sheet."""

    def __missing__(self, tag: str) -> str:
        if len(self) >= _MOST_NAMES:
            self.clear()
        name = self[tag] = tag.rpartition("}")[2]
        return name


_MOST_NAMES = 1 << 12
_local_names = _LocalNames()


def local(element: Element) -> str:
    """An element's name without its namespace: strict and transitional files, and odd writers, differ only there."""
    return _local_names[element.tag]


def child(element: Element, name: str) -> Element:
    """The first child of that local name, `EMPTY` where there is none."""
    for inner in element:
        if _local_names[inner.tag] == name:
            return inner
    return EMPTY


def is_on(value: str | None) -> bool:
    return value in ON


def parse_xml(data: bytes, classes: ElementClasses = None) -> tuple[Element | None, str]:
    """The root element, and what was wrong with the XML ("" if nothing).

    `classes` gives elements the classes of a library, such as those of python-docx.

    Damaged XML gives what the parser could save of it, or None where nothing. The namespaces of strict OOXML
    (ISO/IEC 29500-1 annex A) are renamed to the transitional ones of ECMA-376, which hold the same names. Comments and
    processing instructions are left out, and so are entities that lie outside the file: nothing is fetched. Raises
    XmlRefused for entities that are declared inside it.
    """
    if data.startswith(_BOMS_16):
        data = _DECLARATION.sub("", data.decode("utf-16", errors="replace"), count=1).encode()
    outside = ""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # before the parser sees them
        data = _without_document_type(data)
        outside = "it refers to entities outside the file, which are not fetched"
    if b"purl.oclc.org" in data:
        data = _STRICT.sub(rb"\1http://schemas.openxmlformats.org/\2/2006/", data)
    root, fault = _parse(data, classes)
    if root is not None and root.getroottree().docinfo.internalDTD is not None:  # in an encoding not looked at above
        raise XmlRefused("declares a document type in an encoding that Office never writes")
    return root, fault or outside


def _without_document_type(data: bytes) -> bytes:
    """The XML without its document type declaration and without references to what that declares."""
    found = _DOCUMENT_TYPE.search(data)
    if found is not None and all(_EXTERNAL.match(entity) for entity in (found[1] or b"").split(b"<!ENTITY")[1:]):
        data = data[: found.start()] + data[found.end() :]
        if b"<!DOCTYPE" not in data and b"<!ENTITY" not in data:
            return _REFERENCE.sub(b"", data)
    raise XmlRefused("declares entities, as a bomb does and Office never")


def _parse(data: bytes, classes: ElementClasses) -> tuple[Element | None, str]:
    try:
        return etree.fromstring(data, _parser(classes)), ""
    except etree.XMLSyntaxError as error:
        fault = " ".join(str(error.msg or "no XML").split())
    try:  # deeper or longer than the cautious parser takes, but sound
        return etree.fromstring(data, _parser(classes, huge_tree=True)), ""
    except etree.XMLSyntaxError:
        pass
    try:
        return etree.fromstring(data, _parser(classes, huge_tree=True, recover=True)), fault
    except etree.XMLSyntaxError:
        return None, fault


def _parser(classes: ElementClasses, huge_tree: bool = False, recover: bool = False) -> Any:
    # A parser a part: one kept for all would keep the names of every hostile file in its dictionary.
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=huge_tree,
        recover=recover,
    )
    parser.set_element_class_lookup(classes)
    return parser
