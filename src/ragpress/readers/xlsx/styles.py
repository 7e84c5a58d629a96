"""What a cell's style says about its text: the number format, and whether bold, fill or borders set it apart."""

from __future__ import annotations

import msgspec
from openpyxl.styles.colors import Color
from openpyxl.styles.fills import Fill, PatternFill
from openpyxl.styles.numbers import BUILTIN_FORMATS, FORMAT_GENERAL

from ragpress.readers.ooxml.format_codes import parse_format
from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import EMPTY, Element, child, is_on

_EAST_ASIAN_DATES = dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), "yyyy-mm-dd")
_EAST_ASIAN_TIMES = dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss")
BUILT_IN: dict[int, str] = {
    **BUILTIN_FORMATS,
    # 14 and 22 follow the reader's system: day, month, year with dots, as Russian systems show them.
    14: "dd.mm.yyyy",
    22: "dd.mm.yyyy h:mm",
    # openpyxl's 44 lacks its semicolons, and its 47 the colon.
    44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
    47: "mm:ss.0",
    **_EAST_ASIAN_DATES,
    **_EAST_ASIAN_TIMES,
}
"""The formats that a file names by number alone (ECMA-376 part 1, 18.8.30). An unknown number is General."""

_SYSTEM_DATES = (14, 22)
"""Programs that list these write one country's order of day, month and year for what is each reader's own."""

_NO_COLOUR = Color()
_WHITE = (1, 9, "FFFFFFFF", "00FFFFFF")  # indexes of the palette, and as red, green and blue
_FORMAT_16 = "{http://schemas.microsoft.com/office/spreadsheetml/2015/02/main}formatCode16"


BOLD, FILLED, RULED_BELOW, RULED_ABOVE = 1, 2, 4, 8
"""Bits of a look: those that all cells of a row share are what the row looks like."""


class CellStyles(msgspec.Struct, frozen=True):
    """By a cell's style index: its format code, and its look."""

    formats: tuple[str, ...] = ()
    looks: tuple[int, ...] = ()

    def format(self, index: int) -> str:
        return self.formats[index] if 0 <= index < len(self.formats) else FORMAT_GENERAL

    def look(self, index: int) -> int:
        return self.looks[index] if 0 <= index < len(self.looks) else 0


def read_styles(package: Package, name: str) -> CellStyles:
    """The styles of a workbook; those of a missing or damaged part are all General."""
    root = package.root(name)
    codes = dict(BUILT_IN)
    for entry in child(root, "numFmts"):
        number = _number(entry.get("numFmtId"), -1)
        code = entry.get(_FORMAT_16) or entry.get("formatCode")
        if number >= 0 and code and not (number in _SYSTEM_DATES and _parts(code) == _parts(BUILT_IN[number])):
            codes[number] = code
    # Files list hundreds of fonts and borders: openpyxl's records of all would take longer than a small sheet.
    fonts = [BOLD * _is_bold(entry) for entry in child(root, "fonts")]
    fills = [FILLED * _is_filled(entry) for entry in child(root, "fills")]
    borders = [_rules(entry) for entry in child(root, "borders")]
    formats = child(root, "cellXfs")
    return CellStyles(
        tuple(codes.get(_number(entry.get("numFmtId")), FORMAT_GENERAL) for entry in formats),
        tuple(
            _at(fonts, entry.get("fontId")) | _at(fills, entry.get("fillId")) | _at(borders, entry.get("borderId"))
            for entry in formats
        ),
    )


def _parts(code: str) -> tuple[list[str], int]:
    """What of a date a format shows, in any order, and in which language: `yy` is `yyyy`, but `mmm` is not `mm`."""
    section = parse_format(code)[0]
    shown = {token.text[0] + "m" * (len(token.text) > 2 and token.text[0] in "md") for token in section.tokens}
    return sorted(shown & {"y", "m", "mm", "d", "dm", "h", "n", "s"}), section.language


def _number(text: str | None, otherwise: int = 0) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else otherwise


def _at(looks: list[int], index: str | None) -> int:
    number = _number(index)
    return looks[number] if number < len(looks) else 0


def _is_bold(font: Element) -> bool:
    bold = child(font, "b")
    return bold is not EMPTY and is_on(bold.get("val", "1"))


def _is_filled(element: Element) -> bool:
    """A solid fill in another colour than white. No text hangs on one that openpyxl refuses."""
    try:
        fill = Fill.from_tree(element)
    except (TypeError, ValueError, AttributeError, KeyError, IndexError):
        return False
    if not isinstance(fill, PatternFill) or fill.fill_type != "solid":
        return False
    colour = fill.fgColor
    if colour.type == "theme":
        return bool(colour.theme or colour.tint)
    return colour != _NO_COLOUR and colour.value not in _WHITE


def _rules(border: Element) -> int:
    below, above = (bool(child(border, side).get("style", "none") != "none") for side in ("bottom", "top"))
    return RULED_BELOW * below | RULED_ABOVE * above
