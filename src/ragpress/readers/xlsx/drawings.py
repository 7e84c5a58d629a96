"""Words that float above a sheet: text boxes, shapes, charts and diagrams; and what is printed around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import EMPTY, Element, child, is_on, local
from ragpress.readers.xlsx.strings import clean

_EMBEDDED = {"chart", "chartEx", "diagramData"}
_ANCHORS = {"twoCellAnchor", "oneCellAnchor", "absoluteAnchor"}


class Floating(msgspec.Struct, frozen=True):
    """A text and the row, from 1, that its anchor begins in."""

    row: int
    text: str


def drawing_texts(package: Package, part: str) -> list[Floating]:
    """The texts of a drawing part, each once, in the order of the file. Hidden shapes are left out."""
    links = package.relationships(part)
    found = []
    for anchor in _visible_elements(package.root(part)):
        if local(anchor) not in _ANCHORS:
            continue
        start = child(child(anchor, "from"), "row")
        row = int(start.text) + 1 if (start.text or "").strip().isdecimal() else 1
        for element in _visible_elements(anchor):
            name = local(element)
            if name == "txBody":
                found.append(Floating(row, _body_text(element)))
            else:
                for key, value in element.attrib.items():
                    link = links.get(value) if "}" in key else None
                    if link is not None and link.kind in _EMBEDDED and link.part:
                        found.extend(Floating(row, text) for text in embedded_texts(package, link.part))
    return [floating for floating in found if floating.text]


def embedded_texts(package: Package, part: str) -> list[str]:
    """The words typed into a chart (its titles) or a diagram (its nodes); what a chart takes from cells is not."""
    bodies = [element for element in package.root(part).iter() if local(element) in ("rich", "t")]
    texts = [_body_text(body) for body in bodies]
    return [text for text in texts if text]


def _visible_elements(element: Element) -> Iterator[Element]:
    """Text bodies and what else is below an element. Of alternatives the first: the last only says what is missing."""
    for inner in element:
        name = local(inner)
        if name == "Fallback":
            continue
        if is_on(_properties(inner).get("hidden")):
            continue
        yield inner
        if name != "txBody":
            yield from _visible_elements(inner)


def _properties(shape: Element) -> Element:
    """The `cNvPr` of a shape, which is in its `nvSpPr` or the like."""
    named = (child(inner, "cNvPr") for inner in shape if local(inner).startswith("nv"))
    return next((properties for properties in named if properties is not EMPTY), EMPTY)


def _body_text(body: Element) -> str:
    paragraphs = []
    for paragraph in body:
        if local(paragraph) != "p":
            continue
        pieces: list[str] = []
        for run in paragraph:
            name = local(run)
            if name in ("r", "fld"):
                pieces.extend(part.text or "" for part in run if local(part) == "t")
            elif name == "br":
                pieces.append("\n")
        paragraphs.append("".join(pieces))
    return clean("\n".join(text for text in paragraphs if text.strip()))


_FONT = re.compile(r'&"[^"]*"|&K[0-9A-Fa-f]{6}|&K\d\d[+-]\d{3}|&\d+')
_FIELD = re.compile(r"&[PNDTFAGZ](?:[+-]\d+)?", re.IGNORECASE)
_PART = re.compile(r"&[LCR]")
_STYLE = re.compile(r"&[A-Z]", re.IGNORECASE)
_COUNTING = {"page", "of", "pages", "стр", "страница", "из", "лист", "листов", "صفحه", "از", "برگ"}


def print_lines(code: str) -> list[str]:
    """The own words of a page header or footer, a line for each of left, centre and right.

    Page numbers, dates and names that the program fills in are no words of the file, nor is what only counts pages.
    """
    lines = []
    for part in _PART.split(_FONT.sub("", code)):
        text = part.replace("&&", "\0")
        text = _STYLE.sub("", _FIELD.sub(" ", text)).replace("\0", "&")
        text = " ".join(clean(text).split())
        words = [word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in _COUNTING]
        if words:
            lines.append(text)
    return lines
