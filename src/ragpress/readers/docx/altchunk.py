"""w:altChunk: parts in other formats (HTML, MHT, text, RTF, Word) that Word itself shows in place."""

from __future__ import annotations

import email
import email.policy
import posixpath
from collections.abc import Callable, Iterable

from ragpress.errors import SourceError
from ragpress.readers.docx.blocks import Block, Paragraph
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.html import html_blocks, html_text
from ragpress.readers.docx.names import ELEMENT_CLASSES, R
from ragpress.readers.docx.parts import open_document
from ragpress.readers.docx.rtf import rtf_paragraphs
from ragpress.readers.ooxml.package import open_package
from ragpress.readers.ooxml.xml import Element

_DEEPEST = 3  # Word files inside Word files

BlockReader = Callable[[Iterable[Element], Context], list[Block]]


def read_altchunk(element: Element, context: Context, blocks: BlockReader) -> list[Block]:
    """The blocks of the part that a w:altChunk imports. A part that cannot be read costs a message that names it."""
    link = context.link(element.get(R + "id"))
    data = context.package.read(link.part)
    if data is None:
        target = link.target or element.get(R + "id") or "?"
        context.warn(
            f"the imported part {target} is missing, so its text was not read; open the file in Word and save it"
        )
        return []
    try:
        return _import(data, context.package.content_type(link.part), link.part, context, blocks)
    except SourceError as error:
        context.warn(f"the imported part {link.part} was not read: {error.message.text}")
        return []


def _import(data: bytes, declared: str, part: str, context: Context, blocks: BlockReader) -> list[Block]:
    kind, _, parameters = declared.partition(";")
    charset = parameters.partition("charset=")[2].strip(" \"'")
    suffix = posixpath.splitext(part)[1].lower()
    place = max(context.place, 1)
    start = data[:256].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    if data.startswith(b"PK\x03\x04"):
        return read_nested_word(data, part, context, blocks)
    if start.startswith(b"{\\rtf"):
        return [Paragraph(text, place) for text in rtf_paragraphs(data, context.package.source)]
    if (
        kind in ("message/rfc822", "multipart/related")
        or start.startswith(b"mime-version")
        or suffix in (".mht", ".mhtml")
    ):
        return _mht(data, context, place)
    if "html" in kind or suffix in (".htm", ".html", ".xhtml") or start.startswith((b"<html", b"<!doctype html")):
        return html_blocks(data, charset, context.package.source, place)
    if kind == "text/plain" or suffix == ".txt":
        text = html_text(data, charset, context.package.source)
        return [Paragraph(line, place) for part_ in text.splitlines() if (line := part_.strip())]
    context.warn(
        f"the imported part {part} ({kind or 'of unknown kind'}) was not read; open the file in Word and save it"
    )
    return []


def _mht(data: bytes, context: Context, place: int) -> list[Block]:
    """A web archive: its first HTML part, else its first text part."""
    archive = email.message_from_bytes(data, policy=email.policy.compat32)
    for wanted in ("text/html", "text/plain"):
        for part in archive.walk():
            if part.get_content_type() != wanted or part.is_multipart():
                continue
            payload = part.get_payload(decode=True)
            if not isinstance(payload, bytes) or not payload.strip():
                continue
            charset = part.get_content_charset("")
            if wanted == "text/html":
                return html_blocks(payload, charset, context.package.source, place)
            lines = html_text(payload, charset, context.package.source).splitlines()
            return [Paragraph(text, place) for line in lines if (text := line.strip())]
    return []


def read_nested_word(data: bytes, part: str, context: Context, blocks: BlockReader) -> list[Block]:
    """The blocks of a Word file inside this one."""
    if context.nested >= _DEEPEST:
        context.warn(f"the imported part {part} lies too deep in other files and was not read")
        return []
    context.enter_file()
    package = open_package(data, context.package.source, "Word", ELEMENT_CLASSES)
    body, inner = open_document(package, context.number_locale)
    inner.nested, inner.files_left = context.nested + 1, context.files_left
    inner.depth = context.depth + 1
    inner.place = context.place
    found = blocks(body, inner)
    context.files_left = inner.files_left
    context.messages += [*inner.package.messages, *inner.messages]
    context.pictures |= inner.pictures
    for kind, places in inner.unread_objects.items():
        context.unread_objects.setdefault(kind, []).extend(places)
    context.undescribed_pictures += inner.undescribed_pictures
    context.lost_pictures += inner.lost_pictures
    return found
