"""Complex fields (ECMA-376 part 1, 17.16.18): which text is a field's code, which its result, and what forms show.

A field runs from a `begin` over its code to `separate`, then over its result to `end`, through as many paragraphs as it
likes, with other fields in both. Files hold fields that never end: they hide nothing here.
"""

from __future__ import annotations

import re

import msgspec

from ragpress.readers.docx.names import W, inner, number, switch, value
from ragpress.readers.ooxml.xml import EMPTY, Element

_DELETED = (W + "del", W + "moveFrom")
PAGE_NUMBERS = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES", "SECTION"})
_LINK = re.compile(r"\s*HYPERLINK\s+(?:\"([^\"]*)\"|([^\s\\\"]\S*))", re.IGNORECASE)
_BOOKMARK = re.compile(r"\\l\s+\"?([^\"\s]+)")
_BUTTONS = frozenset({"MACROBUTTON", "GOTOBUTTON"})


class _Field(msgspec.Struct):
    separated: bool  # whether a `separate` comes at all
    form: str
    in_code: bool = True
    code: list[str] = []
    shown: bool = False
    address: str = ""


class Fields:
    """Where the walk over one root (body, note, text box, header) is among its fields.

    `without_page_numbers` leaves the results of page number fields out and notes in `numbered` that there was one.
    """

    def __init__(self, root: Element, without_page_numbers: bool = False) -> None:
        self.numbered = False
        self.without_page_numbers = without_page_numbers
        self._ended = _ended_fields(root)
        self._open: list[_Field] = []
        self._hiding = 0

    @property
    def visible(self) -> bool:
        """Whether text at this place is seen: not inside the code of a field."""
        return not self._hiding

    @property
    def address(self) -> str:
        """Where the link leads whose result is being read, empty outside of links."""
        return self._open[-1].address if self._open else ""

    def code(self, text: str) -> None:
        if self._open:
            self._open[-1].code.append(text)

    def text(self) -> None:
        """Notes that visible text was met."""
        for field_ in reversed(self._open):
            if field_.shown:  # and so are those around it
                break
            field_.shown = True

    def mark(self, character: Element) -> str:
        """Takes in a w:fldChar. Returns what it shows itself: the state of a form field, the text of a button."""
        kind = character.get(W + "fldCharType")
        if kind == "begin":
            if character in self._ended:
                form = _form(character.find(W + "ffData"))
                self._open.append(_Field(self._ended[character], form, address=self.address))
                self._hiding += 1
        elif kind == "separate" and self._open:
            self._separate(self._open[-1])
        elif kind == "end" and self._open:
            return self._end(self._open.pop())
        return ""

    def end_paragraph(self) -> None:
        """The code of a field without a result ends here at the latest."""
        for field_ in self._open:
            if field_.in_code and not field_.separated:
                field_.in_code = False
                self._hiding -= 1

    def hides(self, instruction: str) -> bool:
        """Whether the result of a field with this code is left out."""
        is_number = instruction.partition("\\")[0].strip().upper() in PAGE_NUMBERS and self.without_page_numbers
        self.numbered = self.numbered or is_number
        return is_number

    def _separate(self, field_: _Field) -> None:
        instruction = "".join(field_.code)
        if field_.in_code and not self.hides(instruction):
            field_.in_code = False
            field_.address = field_address(instruction) or field_.address
            self._hiding -= 1

    def _end(self, field_: _Field) -> str:
        if field_.in_code:
            self._hiding -= 1
        if self._hiding:
            return ""
        if field_.form and not field_.shown:
            return field_.form
        words = "".join(field_.code).split(None, 2)
        if len(words) == 3 and words[0].upper() in _BUTTONS and field_.in_code:
            return words[2]
        return ""


def _ended_fields(root: Element) -> dict[Element, bool]:
    """The `begin` of each field that ends, with whether it has a result. The elements stay alive as keys."""
    ended: dict[Element, bool] = {}
    begun: list[tuple[Element, list[bool]]] = []
    for character in root.iter(W + "fldChar"):
        if any(parent.tag in _DELETED for parent in character.iterancestors()):
            continue
        kind = character.get(W + "fldCharType")
        if kind == "begin":
            begun.append((character, []))
        elif kind == "separate" and begun:
            begun[-1][1].append(True)
        elif kind == "end" and begun:
            begin, separators = begun.pop()
            ended[begin] = bool(separators)
    return ended


def _form(data: Element | None) -> str:
    """What a check box or a drop-down list shows (17.16.7, 17.16.9)."""
    box = inner(data, W + "checkBox")
    if box is not EMPTY:
        state = switch(box, W + "checked")
        return "☒" if (switch(box, W + "default") if state is None else state) else "☐"
    choices = inner(data, W + "ddList")
    entries = [entry.get(W + "val") or "" for entry in choices.iterfind(W + "listEntry")]
    chosen = number(value(choices, W + "result")) or number(value(choices, W + "default")) or 0
    return entries[chosen] if 0 <= chosen < len(entries) else ""


def field_address(instruction: str) -> str:
    """The address in the code of a HYPERLINK field (17.16.5.25), empty for another field or a bookmark."""
    found = _LINK.match(instruction)
    if found is None:
        return ""
    bookmark = _BOOKMARK.search(instruction, found.end())
    address = found[1] or found[2] or ""
    return f"{address}#{bookmark[1]}" if address and bookmark else address
