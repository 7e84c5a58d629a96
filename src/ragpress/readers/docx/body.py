"""The blocks of a container (body, cell, text box, note, header) in the order of the file, whatever wraps them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ragpress.readers.docx.altchunk import read_altchunk
from ragpress.readers.docx.blocks import Block, Paragraph
from ragpress.readers.docx.context import DEEPEST, Context, flat_text
from ragpress.readers.docx.drawing import read_drawing
from ragpress.readers.docx.inline import DELETED, ParagraphText, Readers, chosen, read_inline
from ragpress.readers.docx.names import MC, M, R, W, inner, read, switched_on
from ragpress.readers.docx.notes import read_note
from ragpress.readers.docx.styles import ParagraphStyle
from ragpress.readers.docx.tables import WRAPPERS, read_table
from ragpress.readers.ooxml.xml import Element

_PROPERTIES = DELETED | {
    W + name for name in ("sdtPr", "sdtEndPr", "tcPr", "customXmlPr", "smartTagPr", "sectPr", "pPr")
}
_INLINE = frozenset(
    {W + name for name in ("r", "t", "hyperlink", "fldSimple", "drawing", "pict", "sym", "tab", "br")}
    | {M + "oMath", M + "oMathPara"}
)
_TOO_LONG_FOR_A_HEADING = 200
_DROPPED_CAPS = ("drop", "margin")


def read_blocks(container: Iterable[Element], context: Context) -> list[Block]:
    """The visible blocks among the children of `container`. Counts `context.place` up where it reads the body."""
    blocks: list[Block] = []
    carried: ParagraphText | None = None  # a paragraph that goes on in the next one
    for element in _block_elements(container):
        tag = element.tag
        if context.depth == 0 and tag in (W + "p", W + "tbl"):
            context.place += 1
        if tag == W + "p":
            line, properties = _read_line(element, context, carried)
            carried = line if properties.continues else None
            if carried is None:
                blocks += _finished(line, properties, context)
            continue
        if carried is not None:
            blocks += _finished(carried, _Properties(context.styles.paragraph("")), context)
            carried = None
        if tag == W + "subDoc":
            link = context.link(element.get(R + "id"))
            target = link.target or "another file"
            context.warn(f"the part of this master document in {target} was not read; add that file as a source, too")
        elif tag == W + "altChunk":
            blocks += read_altchunk(element, context, read_blocks)
        elif context.depth >= DEEPEST:
            blocks.append(Paragraph(flat_text(element), context.place))
        elif tag == W + "tbl":
            context.depth += 1
            blocks.append(read_table(element, context, read_blocks))
            context.depth -= 1
        else:  # inline content where a paragraph should be
            loose = ParagraphText(context.styles.paragraph(""))
            read_inline([element], context, loose, _READERS)
            blocks += _finished(loose, _Properties(context.styles.paragraph("")), context)
    if carried is not None:
        blocks += _finished(carried, _Properties(context.styles.paragraph("")), context)
    return blocks


def _block_elements(container: Iterable[Element]) -> Iterator[Element]:
    """Paragraphs, tables, imported parts and loose inline content, through all wrappers."""
    stack = [iter(container)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
            continue
        tag = child.tag
        if tag in (W + "p", W + "tbl", W + "altChunk", W + "subDoc"):
            yield child
        elif tag in _PROPERTIES:
            continue
        elif tag == MC + "AlternateContent":
            stack.append(iter(chosen(child)))
        elif tag in WRAPPERS or next(child.iter(W + "p"), None) is not None:
            stack.append(iter(child))
        elif tag in _INLINE:
            yield child


class _Properties(msgspec.Struct):
    """What a w:pPr says. `continues`: its end was deleted, or it is the big first letter of the next paragraph."""

    style: ParagraphStyle
    list_: Element | None = None
    outline: int | None = None
    continues: bool = False
    hidden_end: bool = False


def _read_line(element: Element, context: Context, carried: ParagraphText | None) -> tuple[ParagraphText, _Properties]:
    properties = _read_properties(element.pPr, context)
    line = carried or ParagraphText(properties.style)
    line.style = properties.style
    line.plain = properties.outline is not None or properties.style.names
    read_inline(element, context, line, _READERS)
    context.fields.end_paragraph()
    return line, properties


def _read_properties(element: Element | None, context: Context) -> _Properties:
    if element is None:
        return _Properties(context.styles.paragraph(""))
    found = _Properties(context.styles.paragraph(read(element, "style") or ""), element.numPr)
    found.outline = read(element, "outlineLvl", "val")
    found.continues = inner(element, W + "framePr").get(W + "dropCap") in _DROPPED_CAPS
    for mark in element.iterfind(f"{W}rPr/*"):
        if mark.tag in DELETED:
            found.continues = True
        elif mark.tag in (W + "vanish", W + "specVanish") and switched_on(mark):
            found.hidden_end = True
    return found


def _finished(line: ParagraphText, properties: _Properties, context: Context) -> list[Block]:
    """The paragraph, then what hangs on it. Nothing for an empty one, which all the same counts in its list."""
    paragraph = Paragraph(line.text(), max(context.place, 1), notes=line.notes, pictures=line.pictures)
    if paragraph.text or not (properties.hidden_end or properties.continues):
        label = context.numbering.label(properties.list_, properties.style)
        if label is not None:
            paragraph.label, paragraph.depth = label.text, label.depth
    level = properties.style.level if properties.outline is None else properties.outline
    if level is not None and level < 9 and len(paragraph.text) <= _TOO_LONG_FOR_A_HEADING:
        paragraph.level = level
    paragraph.title, paragraph.caption = properties.style.title, properties.style.caption
    paragraph.bold = line.characters > 0 and line.bold == line.characters
    blocks: list[Block] = [paragraph] if paragraph.text or paragraph.label or line.notes or line.pictures else []
    for box in line.boxes:
        if isinstance(box, Paragraph):
            box.level = None  # a heading in a box names the box, not what follows in the body
        blocks.append(box)
    return blocks


def _drawing(element: Element, context: Context, line: ParagraphText) -> None:
    if context.depth >= DEEPEST:
        line.boxes.append(Paragraph(flat_text(element), context.place))
    else:
        read_drawing(element, context, line, read_blocks)


def _note(element: Element, context: Context, line: ParagraphText) -> None:
    read_note(element, context, line, read_blocks)


_READERS = Readers(_drawing, _note, read_blocks)
