"""The workbook: which sheets there are, in which order, which of them a person sees, and in which language."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

import msgspec
from openpyxl.worksheet.print_settings import PrintTitles

from ragpress.config import LocaleSetting
from ragpress.errors import SourceError
from ragpress.readers.ooxml.formatted_values import NumberLocale, locale_of
from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import Element, child, is_on, local

SheetKind = Literal["worksheet", "chartsheet", "other"]


class SheetEntry(msgspec.Struct, frozen=True):
    """A sheet as the workbook lists it. `part` is empty where the file holds none for it.

    `print_titles` are the first and last row of those that are printed on every page, 0 for none.
    """

    name: str
    part: str
    kind: SheetKind
    hidden: bool
    print_titles: tuple[int, int] = (0, 0)


class Workbook(msgspec.Struct, frozen=True):
    """`part`, `strings` and `styles` are names of parts, empty where missing."""

    part: str
    sheets: tuple[SheetEntry, ...]
    date1904: bool
    strings: str
    styles: str


_OTHERS = {
    "mimetype": "this is an OpenDocument file; open it in LibreOffice and save it as .xlsx",
    "xl/workbook.bin": "this is a binary workbook (.xlsb); open it in Excel and save it as .xlsx",
    "word/document.xml": "this is a Word file under another suffix; rename it to .docx",
    "ppt/presentation.xml": "this is a presentation under another suffix; take it out of the sources",
}
_LONGEST_RANGE = 1000  # characters of the range that a name refers to; the library's pattern is slow on more
_KINDS: dict[str, SheetKind] = {"worksheet": "worksheet", "chartsheet": "chartsheet"}

_ENOUGH = 200
"""Letters from which a language can be told."""
_TEXTS, _LENGTH = 1_000, 200  # how many texts are looked at, and how many characters of each
_HEAD = 1 << 16  # bytes of a sheet whose texts stand in the sheet itself
_SHEETS = 8
_INLINE_TEXT = re.compile(r"<(?:\w+:)?t(?:\s[^<>]*)?>([^<]+)")

_SCRIPTS = {"ru": re.compile("[\u0400-\u04ff]+"), "fa": re.compile("[\u0600-\u06ff]+"), "en": re.compile("[A-Za-z]+")}
_LETTERS = re.compile(r"[^\W\d_]+")


def read_workbook(package: Package) -> Workbook:
    """The sheets and what they share. Raises SourceError where there is no workbook or no sheet in it."""
    main = package.main_part("spreadsheetml.sheet.main", "xl/workbook.xml")
    if not main.endswith(".xml"):
        for name, found in _OTHERS.items():
            if package.find(name):
                raise SourceError("bad-archive", found, package.source)
    root = package.required_xml(main, "workbook (xl/workbook.xml); save the file again in Excel")
    if local(root) != "workbook":
        damaged = f"{main} holds <{local(root)}> and no workbook; save the file again in Excel"
        found = _OTHERS["word/document.xml"] if local(root) == "document" else damaged
        raise SourceError("bad-archive", found, package.source)
    date1904 = is_on(child(root, "workbookPr").get("date1904"))
    entries = [entry for entry in child(root, "sheets") if local(entry) == "sheet"]
    titles = _print_titles(root)
    sheets = tuple(_sheet(package, main, entry, number, titles) for number, entry in enumerate(entries, start=1))
    if not sheets:
        sheets = _unlisted(package)
    if not sheets:
        raise SourceError("bad-archive", "the workbook lists no sheet; save the file again in Excel", package.source)
    strings = package.related(main, "sharedStrings") or [package.find("xl/sharedStrings.xml")]
    styles = package.related(main, "styles") or [package.find("xl/styles.xml")]
    return Workbook(main, sheets, date1904, strings[0], styles[0])


def _print_titles(root: Element) -> dict[str, tuple[int, int]]:
    """By a sheet's index the rows that are printed on every page."""
    found = {}
    for name in child(root, "definedNames"):
        if name.get("name") == "_xlnm.Print_Titles":
            try:
                rows = PrintTitles.from_string((name.text or "")[:_LONGEST_RANGE]).rows
            except ValueError:
                continue
            if rows is not None:
                found[name.get("localSheetId") or ""] = (rows.min_row, rows.max_row)
    return found


def _sheet(package: Package, main: str, entry: Element, number: int, titles: dict[str, tuple[int, int]]) -> SheetEntry:
    identifier = next((value for key, value in entry.attrib.items() if key.endswith("}id")), "")
    link = package.relationships(main).get(identifier)
    part = link.part if link is not None else ""
    kind: SheetKind = _KINDS.get(link.kind, "other") if link is not None else "worksheet"
    if not part:
        # Files whose relationships are broken still name their sheets by number.
        part = package.find(f"xl/worksheets/sheet{number}.xml") if kind == "worksheet" else ""
    name = entry.get("name") or f"Sheet{number}"
    return SheetEntry(
        name, part, kind, entry.get("state") in ("hidden", "veryHidden"), titles.get(str(number - 1), (0, 0))
    )


def _unlisted(package: Package) -> tuple[SheetEntry, ...]:
    """The sheets of a workbook whose list is lost, by the names of their parts."""
    parts = [name for name in package.names() if name.lower().startswith("xl/worksheets/") and name.endswith(".xml")]
    return tuple(
        SheetEntry(f"Sheet{number}", part, "worksheet", False) for number, part in enumerate(sorted(parts), start=1)
    )


def number_locale(
    setting: LocaleSetting, package: Package, workbook: Workbook, strings: Sequence[str], formats: Sequence[str]
) -> NumberLocale:
    """How numbers are shown under the setting `number_locale`. `formats` are the codes of all styles.

    `auto` looks at the letters of sheets' names and texts: one in ten that is Cyrillic or Arabic decides, for price
    lists are full of Latin names. Then only numbers in groups are shown in the way of that language.
    """
    if setting != "auto" or not any("," in code for code in formats):
        return locale_of(setting, "en")
    step = max(1, len(strings) // _TEXTS)
    sample = "\n".join([sheet.name for sheet in workbook.sheets] + [text[:_LENGTH] for text in strings[::step]])
    if sum(map(len, _LETTERS.findall(sample))) < _ENOUGH:
        sample += "\n".join([text[:_LENGTH] for text in islice(_inline_texts(package, workbook), _TEXTS)])
    letters = {language: sum(map(len, script.findall(sample))) for language, script in _SCRIPTS.items()}
    language = max("ru", "fa", key=letters.__getitem__)
    if letters[language] * 10 < sum(letters.values()) or not letters[language]:
        language = "en"
    return locale_of(setting, language)


def _inline_texts(package: Package, workbook: Workbook) -> Iterator[str]:
    """Texts from the beginnings of the sheets that hold their texts themselves; only their letters count."""
    for sheet in [sheet for sheet in workbook.sheets if sheet.part and not sheet.hidden][:_SHEETS]:
        head = package.head(sheet.part, _HEAD)
        encoding = "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
        yield from _INLINE_TEXT.findall(head.decode(encoding, "ignore"))
