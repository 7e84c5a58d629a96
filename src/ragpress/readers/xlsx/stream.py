"""Walks a large XML part element by element, so that no sheet is ever held in memory as a tree."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from lxml import etree

from ragpress.readers.ooxml.package import Package, part_name
from ragpress.readers.ooxml.xml import Element, local

_UTF_8 = re.compile(rb"""(?:\xef\xbb\xbf)?\s*<(?!\?xml)[^\0]|(?:\xef\xbb\xbf)?\s*<\?xml[^>\0]*?>""")
"""The beginning of a part in an encoding like ASCII."""
_OTHER_ENCODING = re.compile(rb"""\s*<\?xml[^>]*encoding\s*=\s*["'](?!utf-?8["']|us-ascii["'])""", re.IGNORECASE)
_EMPTY_CELL = re.compile(rb"""<c r="[A-Z]{1,3}\d{1,7}"[^<>]*(?:/>|></c>)""")
_UNPLACED = re.compile(rb"""<(?:c|row)(?! r=")[ />]""")
_EMPTY_ROW = re.compile(rb"""<row r="\d{1,7}"[^<>]*(?:/>|></row>)""")


def stream(package: Package, name: str, *names: str) -> Iterator[Element]:
    """The elements of a part that have one of the local names, as each ends; it is emptied afterwards.

    A damaged part gives what could be read of it and a message. What Office does not write (a document type, another
    encoding than UTF-8) is parsed whole by `Package.xml`. Raises SourceError as that does.
    """
    data = package.read(name)
    if data is None:
        return
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or not _UTF_8.match(data) or _OTHER_ENCODING.match(data):
        yield from (element for element in package.root(name).iter() if local(element) in names)
        return
    if "row" in names:
        data = _strip_empty_cells(data)
    # Without `huge_tree` the parser bounds depth, length of a text and growth by entities itself.
    parser = etree.iterparse(
        io.BytesIO(data),
        events=("end",),
        tag=[f"{{*}}{wanted}" for wanted in names],
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        recover=True,
    )
    del data
    try:
        for _, element in parser:
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:  # nothing in it is XML
        package.warn(f"{part_name(name)} is damaged ({_one_line(error.msg)}) and was not read; save the file again")
        return
    faults = [entry for entry in parser.error_log if entry.level_name != "WARNING" and "NS_" not in entry.type_name]
    if faults:
        found = _one_line(faults[0].message)
        package.warn(f"{part_name(name)} is damaged ({found}); what could be read of it was; save the file again")


def _strip_empty_cells(data: bytes) -> bytes:
    """A sheet without cells and rows that only carry a style: some files have a million of them."""
    if b"<!--" in data or b"<![CDATA[" in data:  # where the same characters may be text
        return data
    if _UNPLACED.search(data):  # cells without an address are counted on from the ones before
        return data
    return _EMPTY_ROW.sub(b"", _EMPTY_CELL.sub(b"", data))


def _one_line(text: str | None) -> str:
    return " ".join((text or "no XML").split())
