"""The content of a paragraph as text: runs and everything that may wrap them.

In: insertions and move targets, links, smart tags, content controls (placeholders too: a person sees them), field
results, direction runs, symbols, the base of a ruby with its reading in brackets, formulas, alternative text of
pictures, notes (with the paragraph that cites them), text boxes (after the paragraph that they hang on).
Out, because a person does not see it: deletions and move sources, field codes, hidden text (also by style), comments,
soft hyphens, marks of a rendered page. Runs are joined with nothing between them, in the order of the file, which is
the logical order in right-to-left text too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import msgspec

from ragpress.readers.docx.blocks import Block
from ragpress.readers.docx.context import DEEPEST, Context, flat_text
from ragpress.readers.docx.fields import field_address
from ragpress.readers.docx.math import formula_text
from ragpress.readers.docx.names import CX, DGM, MC, VAL, A, C, M, V, W, switched_on
from ragpress.readers.docx.styles import CharacterStyle, ParagraphStyle
from ragpress.readers.docx.symbols import symbol_char, symbol_text
from ragpress.readers.ooxml.links import linked
from ragpress.readers.ooxml.xml import Element

DELETED = frozenset({W + "del", W + "moveFrom"})
_SKIPPED = DELETED | {
    W + name
    for name in ("pPr", "rPr", "sdtPr", "sdtEndPr", "smartTagPr", "customXmlPr", "rubyPr", "delText", "fldData")
}
_BLOCKS = frozenset({W + "p", W + "tbl"})
_FORMULAS = frozenset({M + "oMath", M + "oMathPara"})
_DRAWINGS = frozenset({W + "drawing", W + "pict", W + "object"})
_NOTES = frozenset({W + "footnoteReference", W + "endnoteReference"})
_SIGNS = {W + "tab": " ", W + "ptab": " ", W + "br": "\n", W + "cr": "\n", W + "noBreakHyphen": "-"}
_TEXT, _RUN = W + "t", W + "r"
_OFFICE = ("http://schemas.microsoft.com/office/", "http://schemas.openxmlformats.org/", "urn:schemas-microsoft-com:")
_AS_SPACE = str.maketrans("\t\r\n", "   ")
_PLAIN = CharacterStyle()
_LINK_END = "\0"  # no text of XML holds it
_SPACES = re.compile(" {2,}")
_CONTENT = (
    *(W + "t", W + "sym", W + "txbxContent", W + "p", A + "t", A + "blip", C + "chart", CX + "chart", DGM + "relIds"),
    *(M + "t", V + "imagedata", V + "textpath"),
)


class ParagraphText(msgspec.Struct):
    """What a paragraph has given so far. `boxes` are blocks to follow it.

    `link` is the address of the link that is being read and how many parts there were before it. `plain`: addresses of
    links are left out, as in a heading, which is a name.
    """

    style: ParagraphStyle
    parts: list[str] = []
    boxes: list[Block] = []
    notes: list[str] = []
    pictures: list[str] = []
    bold: int = 0  # characters that are bold
    characters: int = 0
    link: tuple[str, int] = ("", 0)
    plain: bool = False

    def add(self, text: str, bold: bool = False) -> None:
        self.parts.append(text)
        self.characters += len(text)
        if bold:
            self.bold += len(text)

    def follow(self, address: str) -> None:
        """Ends the link that is being read and begins one to `address`, unless that is empty."""
        ended, start = self.link
        if ended and not self.plain:
            self.parts[start:] = [linked("".join(self.parts[start:]), ended)]
        self.link = address, len(self.parts)

    def text(self) -> str:
        """The lines of the paragraph, each stripped, without blank ones."""
        joined = _SPACES.sub(" ", "".join(self.parts))
        if "\n" not in joined:
            return joined.strip()
        return "\n".join(line for part in joined.split("\n") if (line := part.strip()))


class Readers(msgspec.Struct, frozen=True):
    """The readers of what is anchored in a line and holds paragraphs itself."""

    drawing: Callable[[Element, Context, ParagraphText], None]
    note: Callable[[Element, Context, ParagraphText], None]
    blocks: Callable[[Iterable[Element], Context], list[Block]]


class _Look(msgspec.Struct, frozen=True):
    """How a run looks: whether it is hidden or bold, and its font."""

    hidden: bool
    bold: bool
    font: str


def read_inline(element: Element, context: Context, line: ParagraphText, readers: Readers) -> None:
    """Adds the content of a paragraph to `line`. Wrappers may nest at will: nothing here recurses."""
    plain = _Look(context.styles.hidden(line.style, _PLAIN), line.style.bold, "")
    stack: list[tuple[Iterator[Element | str], _Look]] = [(iter(element), plain)]
    fields = context.fields
    if fields.address:  # a link that goes on from the paragraph before
        line.follow(fields.address)
    while stack:
        children, look = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            continue
        if child is _LINK_END:
            line.follow(fields.address)
            continue
        if isinstance(child, str):
            if fields.visible and not look.hidden:
                line.add(child, look.bold)
            continue
        tag = child.tag
        if tag == _RUN:
            stack.append((iter(child), _look(child, context, line.style, plain)))
        elif tag == _TEXT:
            if child.text and not look.hidden and fields.visible:
                line.add(symbol_text(_one_line(child.text), look.font), look.bold)
                fields.text()
        elif tag in _SKIPPED:
            continue
        elif tag == W + "fldChar":
            outer = fields.address
            line.add(fields.mark(child))
            if fields.address != outer:
                line.follow(fields.address)
        elif tag == W + "instrText":
            fields.code(child.text or "")
        elif tag == MC + "AlternateContent":
            stack.append((iter(chosen(child)), look))
        elif tag == W + "fldSimple":
            instruction = child.get(W + "instr") or ""
            if not fields.hides(instruction):
                line.follow(field_address(instruction) or fields.address)
                stack.append((chain(child, (_LINK_END,)), look))
        elif tag == W + "hyperlink":
            line.follow(_address(child, context) or fields.address)
            stack.append((chain(child, (_LINK_END,)), look))
        elif look.hidden or not fields.visible:
            if len(child):  # fields may begin and end in what is not seen
                stack.append((iter(child), look))
        elif tag in _SIGNS:
            line.add(_SIGNS[tag])
        elif tag == W + "sym":
            line.add(symbol_char(child.get(W + "char") or "", child.get(W + "font") or ""))
        elif tag in _DRAWINGS:
            readers.drawing(child, context, line)
        elif tag in _NOTES:
            readers.note(child, context, line)
        elif tag in _FORMULAS:
            line.add(f" {formula_text(child)} ")
        elif tag == W + "ruby":
            stack.append((_ruby(child), look))
        elif tag in _BLOCKS and context.depth >= DEEPEST:
            line.add(f" {flat_text(child)} ")
        elif tag in _BLOCKS:  # where none is allowed: kept, after the paragraph
            with context.inside(child):
                line.boxes += readers.blocks([child], context)
        elif len(child):
            stack.append((iter(child), look))
    line.follow("")


def _address(hyperlink: Element, context: Context) -> str:
    """Where a w:hyperlink leads outside the document, else empty."""
    link = context.link(hyperlink.rId)
    return f"{link.target}#{hyperlink.anchor}" if link.external and hyperlink.anchor else link.target


def chosen(alternatives: Element) -> list[Element]:
    """The content of the branch of an mc:AlternateContent that a person sees (ECMA-376 part 3, 10.2).

    That is the first choice whose namespaces Office knows, else the fallback. A branch that says nothing is passed
    over, as writers leave the text in another one.
    """
    filled = [branch for branch in alternatives if next(branch.iter(*_CONTENT), None) is not None]
    known = [branch for branch in filled if branch.tag != MC + "Choice" or _is_known(branch)]
    return list((known or filled)[0]) if filled else []


def _is_known(choice: Element) -> bool:
    names = (choice.nsmap.get(prefix) or "" for prefix in (choice.get("Requires") or "").split())
    return all(name.startswith(_OFFICE) for name in names)


def _look(run: Element, context: Context, paragraph: ParagraphStyle, plain: _Look) -> _Look:
    properties = run.rPr
    if properties is None or not len(properties):
        return plain
    vanish: bool | None = None
    bold: bool | None = None
    character = _PLAIN
    font = ""
    for child in properties:
        tag = child.tag
        if tag == W + "rStyle":
            character = context.styles.character(child.get(VAL) or "")
        elif tag in (W + "vanish", W + "specVanish"):
            vanish = vanish or switched_on(child)
        elif tag == W + "b":
            bold = switched_on(child)
        elif tag == W + "rFonts":
            font = child.ascii or child.hAnsi or child.get(W + "cs") or ""
    if vanish is None:
        vanish = context.styles.hidden(paragraph, character)
    return _Look(vanish, (paragraph.bold or character.bold) if bold is None else bold, font)


def _ruby(ruby: Element) -> Iterator[Element | str]:
    """The base, then how it is read, in brackets."""
    base, reading = ruby.find(W + "rubyBase"), ruby.find(W + "rt")
    if base is not None:
        yield base
    if reading is not None and next(reading.iter(_TEXT), None) is not None:
        yield "("
        yield reading
        yield ")"


def _one_line(text: str) -> str:
    """Line ends and tabs inside a w:t show as spaces."""
    return text.translate(_AS_SPACE) if "\n" in text or "\t" in text or "\r" in text else text
