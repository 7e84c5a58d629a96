"""Word files (docx, docm, dotx, dotm) to a Document.

The XML is walked once, in document order. What is left out on purpose stands in the head of the module that meets it:
`inline` (deleted and hidden text, field codes, comments), `tables` (deleted rows and cells), `drawing` (hidden shapes,
alternative text that is a file name), `notes` (notes that nothing cites), `furniture` (page numbers).
"""

from __future__ import annotations

from ragpress.config import Config
from ragpress.errors import SourceError, message
from ragpress.readers.docx.body import read_blocks
from ragpress.readers.docx.furniture import footer_lines, header_lines
from ragpress.readers.docx.opening import open_story, settings
from ragpress.readers.docx.story import Story
from ragpress.readers.docx.units import UnitWriter
from ragpress.readers.ooxml.package import open_package
from ragpress.records import Document, Locator, Message

__all__ = ["read_docx"]

_SHOWN = 60  # characters of a heading in a message


def read_docx(data: bytes, source: str, config: Config) -> Document:
    """Reads a Word file. Places are body blocks from 1: paragraphs and tables, counted through content controls.

    Raises SourceError for what is no readable Word file ("bad-archive", "encrypted", "legacy-doc", "too-large") and for
    one without any text or picture ("empty-source").
    """
    package = open_package(data, source, "Word")
    body, story = open_story(package)
    preferences = settings(package, story.part)
    above = header_lines(body, story, preferences)
    blocks = read_blocks(body, story)
    below = footer_lines(body, story, preferences)
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
        messages=(*package.messages, *story.messages, *_remarks(story, writer, config)),
        pictures=tuple(story.pictures.values()),
    )


def _remarks(story: Story, writer: UnitWriter, config: Config) -> list[Message]:
    """What was met often enough to be told once a document."""
    source = story.package.source
    found = []
    if story.silent_pictures and config.captions == "off":  # else a caption is to tell what they show
        text = f"{story.silent_pictures} pictures have no alternative text; write one in Word so that they can be found"
        found.append(message("info", "picture", text, source))
    if story.lost_pictures:
        text = f"{story.lost_pictures} pictures are linked or missing, so nothing of them can be read; embed them"
        found.append(message("info", "picture", text, source))
    if writer.bodiless:
        text, place = writer.bodiless[0]
        text = text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + "…"
        more = f" and {len(writer.bodiless) - 1} more" if len(writer.bodiless) > 1 else ""
        text = f"the heading “{text}”{more} has no text below it and is kept as a paragraph; style it as text if it is"
        found.append(message("info", "empty-section", text, source, Locator("B", max(place, 1), max(place, 1))))
    return found
