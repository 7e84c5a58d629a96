"""Parses the XML parts of an OOXML file that nobody vouches for: no DTD, no entities, no network."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

Element = Any
"""An lxml element. lxml has no types of its own."""

_STRICT = re.compile(rb"""(xmlns(?::[^\s=]*)?\s*=\s*["'])http://purl\.oclc\.org/ooxml/([A-Za-z]+)/""")
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_BOMS_16 = (b"\xff\xfe", b"\xfe\xff")


class XmlRefused(ValueError):
    """The XML declares a document type, which OOXML forbids (ECMA-376 part 2, 8.1.2) and entity bombs need."""


def parse_xml(data: bytes) -> tuple[Element | None, str]:
    """The root element, and what was wrong with the XML ("" if nothing).

    Damaged XML gives what the parser could save of it, or None where nothing. The namespaces of strict OOXML
    (ISO/IEC 29500-1 annex A) are renamed to the transitional ones of ECMA-376, which hold the same names. Comments and
    processing instructions are left out. Raises XmlRefused for a document type declaration.
    """
    if data.startswith(_BOMS_16):
        data = _DECLARATION.sub("", data.decode("utf-16", errors="replace"), count=1).encode()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # before the parser sees them
        raise XmlRefused("declares a document type or entities, which Office never writes")
    if b"purl.oclc.org" in data:
        data = _STRICT.sub(rb"\1http://schemas.openxmlformats.org/\2/2006/", data)
    root, fault = _parse(data)
    if root is not None and root.getroottree().docinfo.internalDTD is not None:  # in an encoding not looked at above
        raise XmlRefused("declares a document type or entities, which Office never writes")
    return root, fault


def _parse(data: bytes) -> tuple[Element | None, str]:
    try:
        return etree.fromstring(data, _parser()), ""
    except etree.XMLSyntaxError as error:
        fault = " ".join(str(error.msg or "no XML").split())
    try:  # deeper or longer than the cautious parser takes, but sound
        return etree.fromstring(data, _parser(huge_tree=True)), ""
    except etree.XMLSyntaxError:
        pass
    try:
        return etree.fromstring(data, _parser(huge_tree=True, recover=True)), fault
    except etree.XMLSyntaxError:
        return None, fault


def _parser(huge_tree: bool = False, recover: bool = False) -> Any:
    # A parser a part: one kept for all would keep the names of every hostile file in its dictionary.
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=huge_tree,
        recover=recover,
    )
