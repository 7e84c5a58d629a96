"""Word files (docx, docm, dotx, dotm) to a Document.

The XML is walked once, in document order. What is left out on purpose is listed in the module that meets it:
`inline` (deleted and hidden text, field codes, comments), `tables` (deleted rows and cells), `drawing` (hidden shapes,
alternative text that is a file name), `notes` (notes that nothing cites), `headers_footers` (page numbers).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ragpress.config import Config
from ragpress.console import plural
from ragpress.errors import SourceError, message
from ragpress.readers.docx.blocks import Block, Paragraph
from ragpress.readers.docx.body import read_blocks
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.headers_footers import footer_lines, header_lines
from ragpress.readers.docx.names import ELEMENT_CLASSES
from ragpress.readers.docx.parts import open_document, settings
from ragpress.readers.docx.units import UnitWriter
from ragpress.readers.ooxml.package import open_package
from ragpress.records import Document, Locator, Message

__all__ = ["read_docx"]

_SHOWN = 60  # characters of a heading in a message
_HEADING_LIMIT = 100  # characters; a longer bold line is emphasis
_SENTENCE_ENDS = tuple(".!?؟…;,،؛")


def read_docx(data: bytes, source: str, config: Config) -> Document:
    """Reads a Word file. Places are body blocks from 1: paragraphs and tables, counted through content controls.

    Raises SourceError for what is no readable Word file ("bad-archive", "encrypted", "legacy-doc", "too-large") and for
    one without any text or picture ("empty-source").
    """
    package = open_package(data, source, "Word", ELEMENT_CLASSES)
    body, context = open_document(package, config.number_locale)
    preferences = settings(package, context.part)
    above = header_lines(body, context, preferences)
    blocks = read_blocks(body, context)
    below = footer_lines(body, context, preferences)
    writer = UnitWriter(config)
    writer.write(above)
    writer.write(blocks)
    writer.close()
    writer.write(below)
    if not writer.units:
        raise SourceError("empty-source", "the document holds no text; fill it or remove it", source)
    return Document(
        source=source,
        title=writer.title,
        units=tuple(writer.units),
        messages=(
            *package.messages,
            *context.messages,
            *_remarks(context, writer, config),
            *_bold_headings(blocks, source),
        ),
        pictures=tuple(context.pictures.values()),
    )


def _remarks(context: Context, writer: UnitWriter, config: Config) -> list[Message]:
    """What is reported once a document, with how often it was met."""
    source = context.package.source
    found = []
    if context.undescribed_pictures and config.captions == "off":  # else a caption will say what they show
        one, many = "picture has no alternative text", "pictures have no alternative text"
        found_so = "it" if context.undescribed_pictures == 1 else "they"
        text = f"{plural(context.undescribed_pictures, one, many)}; write one in Word so that {found_so} can be found"
        found.append(message("info", "picture", text, source))
    if context.lost_pictures:
        pictures = plural(context.lost_pictures, "picture is", "pictures are")
        text = f"{pictures} linked or missing and cannot be read; embed all pictures in the document"
        found.append(message("info", "picture", text, source))
    for kind, places in context.unread_objects.items():
        objects = plural(len(places), "object was", "objects were")
        text = f"{objects} not read ({kind}); paste what is shown as text or as a table"
        found.append(message("warning", "bad-part", text, source, Locator("B", max(places[0], 1), max(places[0], 1))))
    if writer.empty_headings:
        text, place = writer.empty_headings[0]
        text = _shortened(text)
        more = f" and {len(writer.empty_headings) - 1} more" if len(writer.empty_headings) > 1 else ""
        text = f"the heading “{text}”{more} has no text below it and is kept as a paragraph; style it as text if it is"
        found.append(message("info", "empty-section", text, source, Locator("B", max(place, 1), max(place, 1))))
    return found


def _bold_headings(blocks: Sequence[Block], source: str) -> list[Message]:
    """Says where bold lines do the work of headings. No section is inferred from them; the author can style them."""
    styled = sum(isinstance(block, Paragraph) and block.level is not None for block in blocks)
    found = [
        block
        for block, below in pairwise(blocks)
        if isinstance(block, Paragraph)
        and _looks_like_heading(block)
        and not (isinstance(below, Paragraph) and below.bold)
    ]
    if len(found) < 2 or len(found) <= styled:
        return []
    text = (
        f"{len(found)} bold lines look like headings but have no heading style (first “{_shortened(found[0].text)}”),"
        " so they open no sections; give them one in Word"
    )
    return [message("info", "bold-headings", text, source, Locator("B", found[0].place, found[0].place))]


def _looks_like_heading(block: Paragraph) -> bool:
    named = block.level is not None or block.title or block.caption or block.label
    is_line = 0 < len(block.text) <= _HEADING_LIMIT and "\n" not in block.text
    return block.bold and is_line and not named and not block.text.endswith(_SENTENCE_ENDS)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + "…"
