"""Page headers and footers: once a document, and only what they say themselves.

Read are those that are printed: the default ones, those of first pages where a section has a title page, those of even
pages where the settings distinguish them. Page numbers are left out, and lines that say nothing else ("Page 3 of 7");
a line that several headers share is read once. Pictures in them (logos) are not offered for captions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from docx.enum.section import WD_HEADER_FOOTER

from ragpress.readers.docx.blocks import Paragraph, lines
from ragpress.readers.docx.body import read_blocks
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.fields import Fields
from ragpress.readers.docx.names import W, read, switched_on
from ragpress.readers.ooxml.xml import Element

_COUNTING = re.compile(
    "pages?|of|pg?|no|стр|страниц[аыу]?|из|с|лист(?:а|ов|ы)?|صفحهٔ?|صفحات|از|ص|seiten?|von|páginas?|de|strona|z|oldal",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")


def header_lines(root: Element, context: Context, settings: Element) -> list[Paragraph]:
    """What is printed above every page, in the order of the sections."""
    return _read(root, context, settings, "headerReference")


def footer_lines(root: Element, context: Context, settings: Element) -> list[Paragraph]:
    """What is printed below every page."""
    return _read(root, context, settings, "footerReference")


def _read(root: Element, context: Context, settings: Element, kind: str) -> list[Paragraph]:
    found: dict[str, None] = {}
    for part in dict.fromkeys(_printed(root, context, settings, kind)):
        element = context.package.root(part)
        with context.inside(element, part):
            context.fields = Fields(element, without_page_numbers=True)
            texts = lines(read_blocks(element, context))
            numbered = context.fields.numbered
        for text in texts:
            if not _counts_pages(text, numbered):
                found.setdefault(text)
    return [Paragraph(text, max(context.place, 1)) for text in found]


def _printed(root: Element, context: Context, settings: Element, kind: str) -> Iterator[str]:
    sections = [section for section in root.iter(W + "sectPr") if section.getparent().tag != W + "sectPrChange"]
    wanted = {WD_HEADER_FOOTER.PRIMARY}
    if any(read(section, "titlePg_val") for section in sections):
        wanted.add(WD_HEADER_FOOTER.FIRST_PAGE)
    if any(map(switched_on, settings.iterchildren(W + "evenAndOddHeaders"))):
        wanted.add(WD_HEADER_FOOTER.EVEN_PAGE)
    for section in sections:
        for reference in section.iterfind(W + kind):
            link = context.link(read(reference, "rId"))
            pages = read(reference, "type_") or WD_HEADER_FOOTER.PRIMARY
            if link.part and pages in wanted:
                yield link.part


def _counts_pages(text: str, numbered: bool) -> bool:
    """Whether a line says nothing but which page this is.

    `numbered`: its header has a page number field, whose result is out already, so that digits mean something else.
    """
    words = _WORD.findall(text)
    if not all(map(_COUNTING.fullmatch, words)):
        return False
    if not any(map(str.isdigit, text)):
        return True
    return not numbered and (bool(words) or text.strip(" -–—.|/").isdigit())
