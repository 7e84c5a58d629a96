"""The XML names of WordprocessingML and its neighbours (ECMA-376 part 1), and how their values are read."""

from __future__ import annotations

from ragpress.readers.ooxml.xml import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
PIC = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
V = "{urn:schemas-microsoft-com:vml}"
O = "{urn:schemas-microsoft-com:office:office}"  # noqa: E741  (the prefix that the standard uses)

VAL = W + "val"
_OFF = frozenset({"0", "false", "off", "no"})


def value(parent: Element | None, tag: str) -> str | None:
    """The w:val of the child `tag`, or None where there is no such child or value."""
    child = parent.find(tag) if parent is not None else None
    return None if child is None else child.get(VAL)


def switched_on(element: Element) -> bool:
    """An on/off element (ECMA-376 part 1, 17.17.4): on unless it says otherwise."""
    return (element.get(VAL) or "1").lower() not in _OFF


def switch(parent: Element | None, tag: str) -> bool | None:
    """The state of the on/off child `tag`, or None where there is no such child."""
    child = parent.find(tag) if parent is not None else None
    return None if child is None else switched_on(child)


def number(text: str | None) -> int | None:
    """A whole number as writers write it, or None."""
    try:
        return int(float(text)) if text else None
    except (ValueError, OverflowError):
        return None
