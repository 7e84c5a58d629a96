"""What the walk over a Word file carries along: the parts it looks things up in, and what it has found so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from lxml import etree

from ragpress.config import LocaleSetting
from ragpress.errors import SourceError, message
from ragpress.readers.docx.fields import Fields
from ragpress.readers.docx.names import W
from ragpress.readers.docx.numbering import Numbering
from ragpress.readers.docx.styles import Styles
from ragpress.readers.ooxml.package import Package, Relationship
from ragpress.readers.ooxml.xml import Element
from ragpress.records import Locator, Message, Picture

DEEPEST = 30
"""Tables and text boxes inside each other. Deeper ones are read as plain text: no file may exhaust the stack."""

MOST_FILES = 200
"""Files inside a file, at all depths together: a small file may hold thousands, each with thousands."""


_NOWHERE = Relationship("", "", "", "", external=False)


class Context(msgspec.Struct):
    """The state of reading one document. `part` is the part that is walked, whose relationships count."""

    package: Package
    part: str
    styles: Styles
    numbering: Numbering
    fields: Fields
    notes: dict[tuple[str, str], tuple[str, Element]]  # (tag of the reference, its id) to (part, note)
    number_locale: LocaleSetting = "auto"
    place: int = 0
    depth: int = 0
    nested: int = 0  # documents inside documents
    files_left: int = MOST_FILES
    messages: list[Message] = []
    pictures: dict[str, Picture] = {}
    undescribed_pictures: int = 0  # without alternative text
    lost_pictures: int = 0  # linked or missing
    unread_objects: dict[str, list[int]] = {}  # what kind of embedded objects to where they are

    def link(self, identifier: str | None) -> Relationship:
        """The relationship of the current part, one that leads nowhere if it has none of this id."""
        return self.package.relationships(self.part).get(identifier or "", _NOWHERE)

    def locator(self) -> Locator:
        """Where the walk is: the body block, from 1."""
        return Locator("B", max(self.place, 1), max(self.place, 1))

    def enter_file(self) -> None:
        """Counts a file inside this one. Raises SourceError where there are too many."""
        self.files_left -= 1
        if self.files_left < 0:
            found = f"of files inside a file {MOST_FILES} are read and no more"
            raise SourceError("too-large", found, self.package.source)

    def warn(self, text: str) -> None:
        self.messages.append(message("warning", "bad-part", text, self.package.source))

    @contextmanager
    def inside(self, element: Element, part: str | None = None) -> Iterator[None]:
        """Walks content with fields of its own (text box, note, header), then returns to what surrounds it."""
        outer_part, outer = self.part, self.fields
        self.part, self.fields = part or self.part, Fields(element, outer.without_page_numbers)
        self.depth += 1
        try:
            yield
        finally:
            outer.numbered |= self.fields.numbered
            self.part, self.fields = outer_part, outer
            self.depth -= 1


def flat_text(element: Element) -> str:
    """All visible text below an element, without structure: for what is nested too deep to be walked."""
    found: list[str] = []
    hidden_below: Element | None = None
    for step, node in etree.iterwalk(element, events=("start", "end")):
        if hidden_below is not None:
            if step == "end" and node is hidden_below:
                hidden_below = None
        elif step == "start" and node.tag in (W + "del", W + "moveFrom"):
            hidden_below = node
        elif step == "start" and node.tag == W + "t":
            found.append(node.text or "")
        elif step == "end" and node.tag in (W + "p", W + "tab", W + "br"):
            found.append(" ")
    return " ".join("".join(found).split())
