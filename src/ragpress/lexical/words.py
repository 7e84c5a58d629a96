"""The words of a text, in the form in which texts and questions are compared.

A word is a run of letters of the folded text (`text.fold`), cut to its first five: what a Russian or Persian ending
changes lies behind them. A number is whole, in ASCII digits. Digits that are written in groups of three (`5 400`,
`۵٬۴۰۰`) are one number. A telephone number is its groups, all its digits as one, and the last ten of those, which are
the same with `+7` and `8`, with `+98` and `0`; a number of more than ten digits in one is read as one, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

from ragpress.text import fold

VERSION = 1
"""Raise it whenever a text gives other words than before: word files of another version are built again."""

LETTERS = 5
_NATIONAL = 10  # digits of a telephone number without the country's or the trunk's
_PHONE = range(10, 16)

# What separates words whatever stands beside it: no folding reaches across. All else is folded, then searched for runs.
_PIECES = re.compile(r"[^\s!-/:-@\[-`{-~«»“”„…–—،؛؟·•№]+")
_RUNS = re.compile(r"[^\W\d_]+")
_MARKS = re.compile("[\u0300-\u036f]")  # a stress that no letter is composed with
_BLANKS = " \u00a0\u2009\u202f"
_SIGNS = f"[{_BLANKS}()‐‑–-]"  # between a telephone number's groups
_STRETCH = re.compile(rf"\d[\d{_BLANKS},.'’٬()‐‑–-]*")  # begins with a set, so that the search for it is quick
_NUMBER = re.compile(
    rf"(?P<grouped>\d{{1,3}}(?P<mark>[{_BLANKS},.'’٬])\d{{3}}(?:(?P=mark)\d{{3}})*)(?!\d)(?!{_SIGNS}{{1,2}}\d)"
    rf"|(?P<phone>(?:0\d{{1,3}}|[78]){_SIGNS}{{1,3}}\d{{3,8}}(?:{_SIGNS}{{1,2}}\d{{2,4}}){{0,3}})(?!\d)"
    r"|(?P<local>\d{2,3}[‐‑–-]\d\d[‐‑–-]\d\d)(?![‐‑–-]?\d)"
    r"|\d+"
)
_OPENED = re.compile(rf"\d{{1,4}}(?:{_SIGNS}{{1,3}}\d{{2,8}}){{1,4}}(?!\d)")  # a telephone number behind `+` or `(`
_DIGITS = re.compile(r"\d+")
_PLAIN = {character: str(unicodedata.digit(chr(character))) for character in range(0x80, 0x1FC00)
          if unicodedata.category(chr(character)) == "Nd"}  # fmt: skip
_CACHED = 1 << 19


class _Folded(dict[str, tuple[str, ...]]):
    """The words of a piece of text, remembered: a corpus repeats its words."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        if len(self) >= _CACHED:
            self.clear()
        found = self[piece] = tuple(run[:LETTERS] for run in _RUNS.findall(_MARKS.sub("", fold(piece))))
        return found


_folded = _Folded()


def clear_remembered() -> None:
    """Forgets what pieces of text were folded to, which nothing depends on but time and memory."""
    _folded.clear()


def words(text: str) -> list[str]:
    """All words of a text; one that it repeats is repeated. Numbers stand behind the others."""
    found = list(chain.from_iterable(map(_folded.__getitem__, _PIECES.findall(text))))
    found += _numbers(text)
    return found


def _numbers(text: str) -> Iterator[str]:
    for stretch in _STRETCH.finditer(text):
        written = stretch[0].translate(_PLAIN)
        if len(written) < 4:  # no more than short numbers
            yield from _DIGITS.findall(written)
            continue
        begin = 0
        if text[: stretch.start()].rstrip(_BLANKS)[-1:] in ("+", "("):
            phone = _OPENED.match(written)
            if phone and len(parts := _DIGITS.findall(phone[0])) > 1 and sum(map(len, parts)) in _PHONE:
                yield from _phone(parts)
                begin = phone.end()
        for number in _NUMBER.finditer(written, begin):
            parts = _DIGITS.findall(number[0])
            if number["grouped"]:
                yield "".join(parts)
            elif number["local"] or sum(map(len, parts)) in _PHONE:
                yield from _phone(parts)
            else:
                yield from parts


def _phone(parts: list[str]) -> Iterator[str]:
    digits = "".join(parts)
    yield digits
    if len(parts) > 1:
        yield from parts
    if len(digits) > _NATIONAL:
        yield digits[-_NATIONAL:]
