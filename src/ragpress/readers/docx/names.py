"""The XML names of WordprocessingML and its neighbours (ECMA-376 part 1), and how the values of its elements are read.

The elements are those of python-docx, on the hardened parser of `readers.ooxml`. python-docx raises for what the schema
forbids; files from everywhere hold such things, so its properties are read through `read`.
"""

from __future__ import annotations

from typing import Any

from docx.exceptions import InvalidXmlError
from docx.oxml import parser
from docx.oxml.exceptions import InvalidXmlError as InvalidElementError
from docx.oxml.ns import nsmap
from docx.oxml.simpletypes import ST_OnOff

from ragpress.readers.ooxml.xml import EMPTY, Element, ElementClasses

ELEMENT_CLASSES: ElementClasses = parser.element_class_lookup

W, R, M, A, C, DGM, WP, PIC = (f"{{{nsmap[prefix]}}}" for prefix in ("w", "r", "m", "a", "c", "dgm", "wp", "pic"))
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
V = "{urn:schemas-microsoft-com:vml}"
O = "{urn:schemas-microsoft-com:office:office}"  # noqa: E741  (the prefix that the standard uses)

VAL = W + "val"


def read(element: Element | None, *names: str) -> Any:
    """The value at the end of a path of python-docx properties, such as `read(style, "pPr", "numPr", "numId", "val")`.

    None where an element of the path is absent or its value is not one that the schema allows.
    """
    try:
        for name in names:
            if element is None:
                return None
            element = getattr(element, name)
    except (InvalidXmlError, InvalidElementError, ValueError):
        return None
    return element


def inner(parent: Element | None, path: str) -> Element:
    """The first element at `path` below `parent`, `EMPTY` where there is none."""
    found = None if parent is None else parent.find(path)
    return EMPTY if found is None else found


def value(parent: Element | None, tag: str) -> str | None:
    """The w:val of the child `tag`, or None where there is no such child or value."""
    found: str | None = inner(parent, tag).get(VAL)
    return found


def is_on(text: str | None, absent: bool = False) -> bool:
    """An on/off attribute (17.17.4). `absent` is what it means where it is missing or has no such value."""
    try:
        return absent if text is None else bool(ST_OnOff.from_xml(text.lower()))
    except InvalidXmlError:
        return absent


def switched_on(element: Element) -> bool:
    """An on/off element (17.17.4): on unless it says otherwise."""
    return is_on(element.get(VAL), absent=True)


def switch(parent: Element | None, tag: str) -> bool | None:
    """The state of the on/off child `tag`, or None where there is no such child."""
    child = inner(parent, tag)
    return None if child is EMPTY else switched_on(child)


def number(text: str | None) -> int | None:
    """A whole number as writers write it, or None."""
    try:
        return int(float(text)) if text else None
    except (ValueError, OverflowError):
        return None
