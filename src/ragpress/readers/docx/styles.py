"""styles.xml: what a style says about outline level, numbering and hidden or bold text, through its chain of bases."""

from __future__ import annotations

import re

import msgspec
from docx.enum.style import WD_STYLE_TYPE

from ragpress.readers.docx.names import VAL, W, inner, read
from ragpress.readers.ooxml.xml import EMPTY, Element

# The built-in names are English in every Word; other writers translate them.
_HEADING = re.compile(
    r"(?:heading|заголовок|عنوان|سرفصل|تیتر|überschrift|titre|título|titolo)\s*([1-9۱-۹])", re.IGNORECASE
)
_TITLES = frozenset({"title", "название", "عنوان"})
_CAPTIONS = frozenset({"caption", "название объекта", "عنوان توضیحی"})
_BODY_TEXT = 9  # the outline level that means none (17.3.1.20)


class ParagraphStyle(msgspec.Struct, frozen=True):
    """A paragraph style with all that it inherits.

    `level` is the outline level 0 to 8 or None. `numbering` is the number of a list or None, `list_level` the level
    in it; `numbered_by` are the styles of the chain, nearest first, to which a level may be linked.
    """

    level: int | None = None
    title: bool = False
    caption: bool = False
    numbering: int | None = None
    list_level: int | None = None
    numbered_by: tuple[str, ...] = ()
    hidden: bool = False
    bold: bool = False

    @property
    def names(self) -> bool:
        """Whether its paragraphs are names of what follows rather than text."""
        return self.level is not None or self.title or self.caption


class CharacterStyle(msgspec.Struct, frozen=True):
    hidden: bool = False
    bold: bool = False


class Styles:
    """The styles of one document, made from the root of styles.xml. `language` is its usual one, such as `ru`."""

    def __init__(self, root: Element) -> None:
        self._styles: dict[str, Element] = {}
        self._default = ""
        self._paragraph: dict[str, ParagraphStyle] = {}
        self._character: dict[str, CharacterStyle] = {}
        for style in root.iter(W + "style"):
            identifier = style.styleId or ""
            self._styles.setdefault(identifier, style)
            if read(style, "type") == WD_STYLE_TYPE.PARAGRAPH and read(style, "default"):
                self._default = self._default or identifier
        usual = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr")
        self._hidden = bool(read(usual, "vanish", "val"))
        self.language = (inner(usual, W + "lang").get(VAL) or "").lower()[:2]

    def paragraph(self, identifier: str) -> ParagraphStyle:
        """The style `identifier`; the default one for an empty or unknown identifier."""
        found = self._paragraph.get(identifier)
        if found is None:
            found = self._paragraph[identifier] = self._read_paragraph(identifier)
        return found

    def character(self, identifier: str) -> CharacterStyle:
        found = self._character.get(identifier)
        if found is None:
            chain = self._chain(identifier)
            found = CharacterStyle(_hidden(chain), bool(_first_switch(chain, "b")))
            self._character[identifier] = found
        return found

    def hidden(self, paragraph: ParagraphStyle, character: CharacterStyle) -> bool:
        """Whether the styles hide text: a toggle that each kind of style turns over (17.7.3)."""
        return self._hidden or paragraph.hidden != character.hidden

    def list_of(self, style: str) -> int | None:
        """The list that a numbering style names."""
        return _list_number(self._styles.get(style))

    def heads_tables(self, identifier: str) -> bool:
        """Whether a table style sets the first row apart by bold text or shading."""
        for style in self._chain(identifier):
            for part in style.iterfind(W + "tblStylePr"):
                if part.get(W + "type") == "firstRow":
                    shaded = inner(part, f"{W}tcPr/{W}shd") is not EMPTY
                    return shaded or bool(read(part.find(W + "rPr"), "b", "val"))
        return False

    def _read_paragraph(self, identifier: str) -> ParagraphStyle:
        if identifier not in self._styles:
            # Generated files name built-in styles that they do not define.
            latent = _HEADING.fullmatch(identifier)
            default = self.paragraph(self._default) if self._default else ParagraphStyle()
            if not latent:
                return default
            return ParagraphStyle(level=int(latent[1]) - 1, hidden=default.hidden)
        chain = self._chain(identifier)
        return ParagraphStyle(
            level=_outline(chain),
            title=_name(chain[0]) in _TITLES,
            caption=any(_name(style) in _CAPTIONS for style in chain),
            numbering=next((found for style in chain if (found := _list_number(style)) is not None), None),
            list_level=next((found for style in chain if (found := _list_level(style)) is not None), None),
            numbered_by=tuple(style.styleId or "" for style in chain),
            hidden=_hidden(chain),
            bold=bool(_first_switch(chain, "b")),
        )

    def _chain(self, identifier: str) -> list[Element]:
        """The style and those it is based on, nearest first."""
        chain: list[Element] = []
        seen: set[str] = set()
        while identifier in self._styles and identifier not in seen:
            seen.add(identifier)
            chain.append(self._styles[identifier])
            identifier = read(chain[-1], "basedOn_val") or ""
        return chain


def _list_number(style: Element | None) -> int | None:
    found: int | None = read(style, "pPr", "numPr", "numId", "val")
    return found


def _list_level(style: Element) -> int | None:
    found: int | None = read(style, "pPr", "numPr", "ilvl", "val")
    return found


def _outline(chain: list[Element]) -> int | None:
    for style in chain:
        level = read(style, "pPr", "outlineLvl", "val")
        if level is not None:
            return level if 0 <= level < _BODY_TEXT else None
        built_in = _HEADING.fullmatch((read(style, "name_val") or "").strip())
        if built_in:
            return int(built_in[1]) - 1
    return None


def _name(style: Element) -> str:
    return (read(style, "name_val") or "").strip().lower()


def _hidden(chain: list[Element]) -> bool:
    return bool(_first_switch(chain, "vanish") or _first_switch(chain, "specVanish"))


def _first_switch(chain: list[Element], name: str) -> bool | None:
    return next((state for style in chain if (state := read(style, "rPr", name, "val")) is not None), None)
