"""Walks a large XML part element by element, so that a sheet of any length never stands in memory as a tree."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from lxml import etree

from ragpress.errors import SourceError
from ragpress.readers.package import Package, part_name

Element = Any
"""An lxml element. lxml has no types of its own."""


def local(element: Element) -> str:
    """An element's name without its namespace: strict and transitional files, and odd writers, differ only there."""
    tag: str = element.tag
    return tag.rpartition("}")[2]


def child(element: Element | None, name: str) -> Element | None:
    """The first child of that local name."""
    if element is None:
        return None
    return next((inner for inner in element if local(inner) == name), None)


def stream(package: Package, name: str, *names: str) -> Iterator[Element]:
    """The elements of a part that have one of the local names, as each ends; it is emptied afterwards.

    A damaged part gives what could be read of it and a message. Raises SourceError for a document type declaration.
    """
    data = package.read(name)
    if data is None:
        return
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise _declares(package, name)
    parser = etree.iterparse(
        io.BytesIO(data),
        events=("end",),
        tag=[f"{{*}}{wanted}" for wanted in names],
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        huge_tree=True,
        recover=True,
    )
    del data
    first = True
    try:
        for _, element in parser:
            if first and element.getroottree().docinfo.internalDTD is not None:  # in an encoding not looked at above
                raise _declares(package, name)
            first = False
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:  # nothing in it is XML
        package.warn(f"{part_name(name)} is damaged ({_one_line(error.msg)}) and was not read; save the file anew")
        return
    faults = [entry for entry in parser.error_log if entry.level_name != "WARNING" and "NS_" not in entry.type_name]
    if faults:
        found = _one_line(faults[0].message)
        package.warn(f"{part_name(name)} is damaged ({found}); what could be read of it was; save the file anew")


def _declares(package: Package, name: str) -> SourceError:
    found = f"{part_name(name)} declares a document type or entities, which Office never writes"
    return SourceError("bad-archive", f"{found}; do not use this file unless you know its origin", package.source)


def _one_line(text: str | None) -> str:
    return " ".join((text or "no XML").split())
