"""The language of a workbook, by its letters: in which way its numbers are shown."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from ragpress.readers.ooxml.formatted_values import ENGLISH, LOCALES, NumberLocale
from ragpress.readers.ooxml.package import Package
from ragpress.readers.xlsx.workbook import Workbook

_ENOUGH = 200
"""Letters that tell a language."""
_TEXTS, _LENGTH = 5_000, 200  # how many texts are looked at, and how many characters of each
_HEAD = 1 << 20  # bytes of a sheet whose texts stand in the sheet itself
_SHEETS = 8
_INLINE_TEXT = re.compile(r"<(?:\w+:)?t(?:\s[^<>]*)?>([^<]+)")

_SCRIPTS = {"ru": re.compile("[\u0400-\u04ff]"), "fa": re.compile("[\u0600-\u06ff]"), "en": re.compile("[A-Za-z]")}


def number_locale(setting: str, package: Package, workbook: Workbook, strings: Sequence[str]) -> NumberLocale:
    """How numbers are shown under the setting `number_locale`.

    `auto` looks at the letters of sheets' names and texts: one in ten that is Cyrillic or Arabic decides, for price
    lists are full of Latin names. Then only numbers in groups are shown in the way of that language.
    """
    if setting != "auto":
        return LOCALES[setting]
    step = max(1, len(strings) // _TEXTS)
    sample = "".join(text[:_LENGTH] for text in (*(sheet.name for sheet in workbook.sheets), *strings[::step]))
    if sum(map(str.isalpha, sample)) < _ENOUGH:
        sample += "".join(text[:_LENGTH] for text in islice(_inline_texts(package, workbook), _TEXTS))
    letters = {language: len(script.findall(sample)) for language, script in _SCRIPTS.items()}
    language = max("ru", "fa", key=letters.__getitem__)
    if letters[language] * 10 < sum(letters.values()) or not letters[language]:
        return ENGLISH
    return LOCALES[language]._replace(everywhere=False)


def _inline_texts(package: Package, workbook: Workbook) -> Iterator[str]:
    """Texts from the beginnings of the sheets that hold their texts themselves; only their letters count."""
    for sheet in [sheet for sheet in workbook.sheets if sheet.part and not sheet.hidden][:_SHEETS]:
        head = package.head(sheet.part, _HEAD)
        encoding = "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
        yield from (found[1] for found in _INLINE_TEXT.finditer(head.decode(encoding, "ignore")))
