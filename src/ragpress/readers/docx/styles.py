"""styles.xml: what a style says about outline level, numbering and hidden or bold text, through its chain of bases."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragpress.readers.docx.names import W, number, switch, value
from ragpress.readers.ooxml.xml import Element

# The built-in names are English in every Word; other writers translate them.
_HEADING = re.compile(
    r"(?:heading|заголовок|عنوان|سرفصل|تیتر|überschrift|titre|título|titolo)\s*([1-9۱-۹])", re.IGNORECASE
)
_TITLES = frozenset({"title", "название", "عنوان"})
_CAPTIONS = frozenset({"caption", "название объекта", "عنوان توضیحی"})
_BODY_TEXT = 9  # the outline level that stands for none (17.3.1.20)


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """A paragraph style with all that it inherits.

    `level` is the outline level 0 to 8 or None. `numbering` is the identifier of a list or None, `list_level` the level
    in it; `numbered_by` are the styles of the chain, nearest first, to which a level may be linked.
    """

    level: int | None = None
    title: bool = False
    caption: bool = False
    numbering: str | None = None
    list_level: int | None = None
    numbered_by: tuple[str, ...] = ()
    hidden: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True)
class CharacterStyle:
    hidden: bool = False
    bold: bool = False


class Styles:
    """The styles of one document. Made from the root of styles.xml, or from None where there is none."""

    def __init__(self, root: Element | None) -> None:
        self._styles: dict[str, Element] = {}
        self._default = ""
        self._paragraph: dict[str, ParagraphStyle] = {}
        self._character: dict[str, CharacterStyle] = {}
        for style in root.iter(W + "style") if root is not None else ():
            identifier = style.get(W + "styleId") or ""
            self._styles.setdefault(identifier, style)
            if style.get(W + "type") == "paragraph" and (style.get(W + "default") or "0") in ("1", "true", "on"):
                self._default = self._default or identifier
        defaults = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr") if root is not None else None
        self._hidden = bool(switch(defaults, W + "vanish"))

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
            found = CharacterStyle(_hidden(chain), bool(_first_switch(chain, W + "b")))
            self._character[identifier] = found
        return found

    def hidden(self, paragraph: ParagraphStyle, character: CharacterStyle) -> bool:
        """Whether the styles hide text: a toggle that each kind of style turns over (17.7.3)."""
        return self._hidden or paragraph.hidden != character.hidden

    def list_of(self, style: str) -> str | None:
        """The list that a numbering style stands for."""
        return value(self._numbering(self._styles.get(style)), W + "numId")

    def heads_tables(self, identifier: str) -> bool:
        """Whether a table style sets the first row apart by bold text or shading."""
        for style in self._chain(identifier):
            for part in style.iterfind(W + "tblStylePr"):
                if part.get(W + "type") == "firstRow":
                    shaded = part.find(f"{W}tcPr/{W}shd") is not None
                    return shaded or bool(switch(part.find(W + "rPr"), W + "b"))
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
        numbered = [style for style in chain if self._numbering(style) is not None]
        numberings = [self._numbering(style) for style in numbered]
        list_levels = [value(found, W + "ilvl") for found in numberings]
        return ParagraphStyle(
            level=_outline(chain),
            title=_name(chain[0]) in _TITLES,
            caption=any(_name(style) in _CAPTIONS for style in chain),
            numbering=next((list_id for found in numberings if (list_id := value(found, W + "numId"))), None),
            list_level=next((number(level) for level in list_levels if level), None),
            numbered_by=tuple(style.get(W + "styleId") or "" for style in chain),
            hidden=_hidden(chain),
            bold=bool(_first_switch(chain, W + "b")),
        )

    def _chain(self, identifier: str) -> list[Element]:
        """The style and those it is based on, nearest first."""
        chain: list[Element] = []
        seen: set[str] = set()
        while identifier in self._styles and identifier not in seen:
            seen.add(identifier)
            chain.append(self._styles[identifier])
            identifier = value(chain[-1], W + "basedOn") or ""
        return chain

    @staticmethod
    def _numbering(style: Element | None) -> Element | None:
        return None if style is None else style.find(f"{W}pPr/{W}numPr")


def _outline(chain: list[Element]) -> int | None:
    for style in chain:
        level = number(value(style.find(W + "pPr"), W + "outlineLvl"))
        if level is not None:
            return level if 0 <= level < _BODY_TEXT else None
        built_in = _HEADING.fullmatch((value(style, W + "name") or "").strip())
        if built_in:
            return int(built_in[1]) - 1
    return None


def _name(style: Element) -> str:
    return (value(style, W + "name") or "").strip().lower()


def _hidden(chain: list[Element]) -> bool:
    return bool(_first_switch(chain, W + "vanish") or _first_switch(chain, W + "specVanish"))


def _first_switch(chain: list[Element], tag: str) -> bool | None:
    return next((state for style in chain if (state := switch(style.find(W + "rPr"), tag)) is not None), None)
