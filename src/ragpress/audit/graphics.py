"""The words of charts, diagrams and drawings, which lie in parts of their own."""

from __future__ import annotations

from collections.abc import Iterator

from ragpress.audit.names import CX, MC, XDR, A, C, D
from ragpress.audit.package import Element, Parts
from ragpress.audit.pruning import texts

_NAMES = (C + "strCache", C + "multiLvlStrCache", CX + "txData", CX + "strDim")  # numbers show as bars and lines
_ANCHORS = (XDR + "twoCellAnchor", XDR + "oneCellAnchor", XDR + "absoluteAnchor")
_SILENT = ("pres", "parTrans", "sibTrans", "doc")


def chart_texts(root: Element, with_names: bool) -> list[str]:
    """The titles and labels of a chart, and the names of its series and categories, each once."""
    found = [_line(paragraph) for paragraph in root.iter(A + "p")]
    for name in root.iter(*_NAMES) if with_names else ():
        found += texts(name, C + "v", CX + "v", CX + "pt")
    return list(dict.fromkeys(found))


def diagram_texts(root: Element) -> list[str]:
    """The paragraphs of a diagram's points."""
    points = [point for point in root.iter(D + "pt") if point.get("type") not in _SILENT]
    return [_line(paragraph) for point in points for paragraph in point.iter(A + "p")]


def _line(paragraph: Element) -> str:
    return "".join((node.text or "") if node.tag == A + "t" else " " for node in paragraph.iter(A + "t", A + "br"))


def floating_texts(parts: Parts, name: str) -> Iterator[tuple[int, str]]:
    """The row (from 1) and words of each shape and chart that floats above a sheet."""
    links = parts.links(name)
    for anchor in list(parts.tree(name).iter(*_ANCHORS)):
        if any(parent.tag == MC + "Fallback" for parent in anchor.iterancestors()):
            continue
        start = anchor.find(f"{XDR}from/{XDR}row")
        row = int(start.text) + 1 if start is not None and (start.text or "").strip().isdigit() else 1
        for fallback in list(anchor.iter(MC + "Fallback")):
            fallback.getparent().remove(fallback)
        for properties in list(anchor.iter(XDR + "cNvPr")):
            if properties.get("hidden") in ("1", "true"):
                properties.getparent().getparent().clear()
        for paragraph in anchor.iter(A + "p"):
            yield row, _line(paragraph)
        for element in anchor.iter():
            for value in element.attrib.values():
                kind, target = links.get(value, ("", ""))
                if kind in ("chart", "chartEx"):
                    yield from ((row, text) for text in chart_texts(parts.tree(target), with_names=False))
                elif kind == "diagramData":
                    yield from ((row, text) for text in diagram_texts(parts.tree(target)))
