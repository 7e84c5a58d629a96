"""Pictures and shapes: alternative text, the bytes of pictures, text boxes (DrawingML or VML), WordArt.

Alternative text is put into the paragraph, on one line. Left out: that of decorative pictures, that of shapes with a
text box (the text itself is there), and what is a bare file name or address. Shapes that their author has hidden are
left out whole.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator

from docx.opc.spec import default_content_types

from ragpress.readers.docx.blocks import Block, Paragraph
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.embedded import OBJECTS, read_object
from ragpress.readers.docx.graphics import graphic_blocks
from ragpress.readers.docx.inline import ParagraphText, chosen
from ragpress.readers.docx.names import CX, DGM, MC, PIC, WP, A, C, O, R, V, W, is_on
from ragpress.readers.ooxml.xml import EMPTY, Element
from ragpress.records import Picture

_FILE_NAME = re.compile(
    r"(?:[a-z]:\\|file:|https?:|\\\\|/).*|[^\s/\\]+(?: \(\d+\))?\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp)",
    re.IGNORECASE,
)
_HIDDEN_STYLE = re.compile(r"visibility\s*:\s*hidden|display\s*:\s*none", re.IGNORECASE)
_IMAGE_TYPES = {f".{ending}": kind for ending, kind in default_content_types if kind.startswith("image/")}
_IMAGE_TYPES[".svg"] = "image/svg+xml"
_GRAPHICS = frozenset({C + "chart", CX + "chart", DGM + "relIds"})
_DECORATIVE = "{http://schemas.microsoft.com/office/drawing/2017/decorative}decorative"

BlockReader = Callable[[Iterable[Element], Context], list[Block]]


def read_drawing(drawing: Element, context: Context, line: ParagraphText, blocks: BlockReader) -> None:
    """Adds what a w:drawing, w:pict or w:object shows to the line that holds it."""
    properties = next(drawing.iter(WP + "docPr"), EMPTY)
    if is_on(properties.get("hidden")):
        return
    pieces = list(_pieces(drawing))
    embedded = [block for piece in pieces if piece.tag in OBJECTS for block in read_object(piece, context, blocks)]
    boxes = list(embedded)
    pictures: list[str] = []
    undescribed = 0
    for piece in pieces:
        tag = piece.tag
        if tag == W + "txbxContent":
            with context.inside(piece):
                boxes += blocks(piece, context)
        elif tag in _GRAPHICS:
            boxes += graphic_blocks(piece, context)
        elif tag == A + "p":
            text = "".join(_drawn_text(piece)).strip()
            boxes += [Paragraph(text, context.place)] if text else []
        elif tag == V + "textpath":
            text = " ".join((piece.get("string") or "").split())
            boxes += [Paragraph(text, context.place)] if text else []
        elif tag not in OBJECTS and not embedded:  # else the picture shows what was read
            found = _picture(piece, context)
            pictures += [found] if found else []
            undescribed += bool(found)
    line.boxes += boxes
    line.pictures += pictures
    words = bool(embedded) or any(isinstance(block, Paragraph) and block.text for block in boxes)
    text = "" if words else _alternative(drawing, properties)
    if text:
        line.add(f" {text} ")
    elif undescribed and not words:
        context.undescribed_pictures += undescribed


def _pieces(drawing: Element) -> Iterator[Element]:
    """What a drawing is made of, in order: text boxes, charts, diagrams, drawn text, WordArt and pictures.

    Of alternative branches only one is taken, and nothing inside a text box is told apart from it.
    """
    stack = [iter(drawing)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif child.tag == MC + "AlternateContent":
            stack.append(iter(chosen(child)))
        elif child.tag in _WANTED:
            yield child
        elif not _HIDDEN_STYLE.search(child.get("style") or ""):
            stack.append(iter(child))


_WANTED = _GRAPHICS | OBJECTS | {W + "txbxContent", A + "p", V + "textpath", A + "blip", V + "imagedata"}


def _drawn_text(paragraph: Element) -> Iterator[str]:
    """The text of a DrawingML paragraph."""
    for node in paragraph.iter(A + "t", A + "br"):
        yield (node.text or "") if node.tag == A + "t" else "\n"


def _alternative(drawing: Element, properties: Element) -> str:
    """What the author says that the drawing shows, on one line."""
    if any(is_on(mark.get("val")) for mark in properties.iter(_DECORATIVE)):
        return ""
    candidates: list[str | None] = [properties.get("descr"), properties.get("title")]
    candidates += [inner.get("descr") for inner in drawing.iter(PIC + "cNvPr")]
    for shape in drawing.iter(V + "shape", V + "rect", V + "group", V + "imagedata"):
        candidates += [shape.get("alt"), shape.get(O + "title")]
    for candidate in candidates:
        text = " ".join((candidate or "").split())
        if text and not _FILE_NAME.fullmatch(text):
            return text
    return ""


def _picture(element: Element, context: Context) -> str:
    """Takes the bytes of an a:blip or v:imagedata. Its sha256, or empty where it is not in the file."""
    link = context.link(element.get(R + "embed") or element.get(R + "id") or element.get(R + "pict"))
    data = context.package.read(link.part)
    if not data:
        context.lost_pictures += 1
        return ""
    digest = hashlib.sha256(data).hexdigest()
    if digest not in context.pictures:
        context.pictures[digest] = Picture(digest, _media_type(context, link.part), data)
    return digest


def _media_type(context: Context, part: str) -> str:
    declared = context.package.content_type(part)
    if declared.startswith("image/"):
        return declared
    return _IMAGE_TYPES.get(posixpath.splitext(part)[1].lower(), "application/octet-stream")
