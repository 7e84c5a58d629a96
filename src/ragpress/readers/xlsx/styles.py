"""What a cell's style says about its text: the number format, and whether it stands out."""

from __future__ import annotations

import msgspec

from ragpress.readers.ooxml.package import Package
from ragpress.readers.xlsx.stream import Element, child

GENERAL = "General"

_EAST_ASIAN = dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), "yyyy-mm-dd")
_EAST_ASIAN_TIMES = dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss")
BUILT_IN: dict[int, str] = {
    0: GENERAL,
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: '"$"#,##0_);\\("$"#,##0\\)',
    6: '"$"#,##0_);[Red]\\("$"#,##0\\)',
    7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
    8: '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)',
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    # 14 and 22 follow the reader's system: day, month, year with dots, as Russian systems show them.
    14: "dd.mm.yyyy",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "dd.mm.yyyy h:mm",
    37: "#,##0_);\\(#,##0\\)",
    38: "#,##0_);[Red]\\(#,##0\\)",
    39: "#,##0.00_);\\(#,##0.00\\)",
    40: "#,##0.00_);[Red]\\(#,##0.00\\)",
    41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
    42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
    44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    **_EAST_ASIAN,
    **_EAST_ASIAN_TIMES,
}
"""The formats that a file names by number alone (ECMA-376 part 1, 18.8.30). An unknown number is General."""

_SYSTEM_DATES = (14, 22)
"""Programs that list these write one country's order for what is each reader's own."""

_FORMAT_16 = "{http://schemas.microsoft.com/office/spreadsheetml/2015/02/main}formatCode16"


class Styles(msgspec.Struct, frozen=True):
    """By a cell's style index: its format code, whether it is bold, whether it is filled."""

    formats: tuple[str, ...] = ()
    bold: tuple[bool, ...] = ()
    filled: tuple[bool, ...] = ()

    def format(self, index: int) -> str:
        return self.formats[index] if 0 <= index < len(self.formats) else GENERAL


def read_styles(package: Package, name: str) -> Styles:
    """The styles of a workbook; those of a missing or damaged part are all General."""
    root = package.xml(name) if name else None
    if root is None:
        return Styles()
    codes = dict(BUILT_IN)
    for entry in _list(root, "numFmts"):
        number = _number(entry.get("numFmtId"), -1)
        code = entry.get(_FORMAT_16) or entry.get("formatCode")
        if number >= 0 and code and number not in _SYSTEM_DATES:
            codes[number] = code
    bold = [_is_on(child(font, "b")) for font in _list(root, "fonts")]
    filled = [_is_filled(child(fill, "patternFill")) for fill in _list(root, "fills")]
    formats = _list(root, "cellXfs")
    return Styles(
        tuple(codes.get(_number(entry.get("numFmtId")), GENERAL) for entry in formats),
        tuple(_at(bold, _number(entry.get("fontId"))) for entry in formats),
        tuple(_at(filled, _number(entry.get("fillId"))) for entry in formats),
    )


def _list(root: Element, name: str) -> list[Element]:
    found = child(root, name)
    return list(found) if found is not None else []


def _number(text: str | None, otherwise: int = 0) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else otherwise


def _at(values: list[bool], index: int) -> bool:
    return index < len(values) and values[index]


def _is_on(element: Element | None) -> bool:
    return element is not None and element.get("val", "1") not in ("0", "false", "off")


def _is_filled(pattern: Element | None) -> bool:
    """A solid fill in another colour than white."""
    if pattern is None or pattern.get("patternType") != "solid":
        return False
    colour = child(pattern, "fgColor")
    if colour is None:
        return False
    white = (colour.get("rgb") or "").upper().endswith("FFFFFF") or colour.get("indexed") in ("1", "9")
    return not white and not (colour.get("theme") == "0" and not colour.get("tint"))
