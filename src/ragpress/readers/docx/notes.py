"""Footnotes and endnotes: read where the text cites them, each once.

Separators are no notes and nothing cites them. A note that no visible text cites is not printed, so it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from docx.opc.constants import RELATIONSHIP_TYPE as RT

from ragpress.readers.docx.blocks import Block, lines
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.inline import ParagraphText
from ragpress.readers.docx.names import W
from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import Element

_PARTS = {
    W + "footnoteReference": (RT.FOOTNOTES, W + "footnote"),
    W + "endnoteReference": (RT.ENDNOTES, W + "endnote"),
}
Notes = dict[tuple[str, str], tuple[str, Element]]


def find_notes(package: Package, parts: dict[str, str]) -> Notes:
    """The notes by the tag and id of the reference to them, with the part that they stand in."""
    found: Notes = {}
    for reference, (kind, tag) in _PARTS.items():
        part = parts[kind]
        for note in package.root(part).iter(tag):
            found.setdefault((reference, note.get(W + "id") or ""), (part, note))
    return found


def read_note(
    reference: Element,
    context: Context,
    line: ParagraphText,
    blocks: Callable[[Iterable[Element], Context], list[Block]],
) -> None:
    """Adds the note that `reference` cites to the line, unless it was cited before."""
    found = context.notes.pop((reference.tag, reference.get(W + "id") or ""), None)
    if found is None:
        return
    part, note = found
    with context.inside(note, part):
        text = "\n".join(lines(blocks(note, context)))
    if text:
        line.notes.append(text)
