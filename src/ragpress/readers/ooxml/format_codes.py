"""Number format codes (ECMA-376 part 1, 18.8.30 and 18.8.31) taken apart into sections of tokens."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

import msgspec

from ragpress.readers.ooxml.calendars import RUSSIAN_LANGUAGE

TokenKind = Literal["literal", "digit", "point", "comma", "percent", "exponent", "slash", "text", "general", "date"]


class Token(msgspec.Struct, frozen=True):
    """`text` is the literal's text, the placeholder, or for a date its letters (`yyyy`, `.00`, `[hh]`, `AM/PM`)."""

    kind: TokenKind
    text: str


class FormatSection(msgspec.Struct, frozen=True):
    """One of the parts that a semicolon divides. `condition` is an operator and a number, such as `>=100`, or empty.

    `language` is the low part of a Windows LCID, `calendar` and `numerals` as `[$-NNCCLLLL]` gives them.
    """

    tokens: tuple[Token, ...]
    condition: tuple[str, float] | None = None
    language: int = 0
    calendar: int = 0
    numerals: int = 0
    genitive: bool = False
    system: str = ""

    @property
    def is_date(self) -> bool:
        return any(token.kind == "date" for token in self.tokens)


_TOKEN = re.compile(
    r"""
      "(?P<quoted>[^"]*)"? | \\(?P<escaped>.?) | [*](?P<fill>.?) | _(?P<space>.?)
    | \[(?P<bracket>[^\]]*)\]
    | (?P<general>General|Standard|Основной|G/General)
    | (?P<half>AM/PM|A/P|上午/下午)
    | (?P<exponent>E[+-])
    | (?P<era>g+|e+|b[12](?![0-9])|bb(?:bb)?)
    | (?P<date>y+|m+|d+|h+|s+|aaaa?)
    | (?P<fraction>\.0+)
    | (?P<placeholder>[0\#?]) | (?P<point>\.) | (?P<comma>,) | (?P<percent>%) | (?P<slash>/) | (?P<at>@)
    | (?P<other>.)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[0-9.]+(?:E[+-]?\d+)?)", re.IGNORECASE)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_LOCALE = re.compile(r"\$(?P<currency>[^-]*)(?:-(?P<locale>.*))?", re.DOTALL)
_LANGUAGES = {
    "ru": RUSSIAN_LANGUAGE, "fa": 0x29, "ar": 0x01, "uk": 0x22, "be": 0x23, "kk": 0x3F, "en": 0x09, "fr": 0x0C,
    "pl": 0x15, "cs": 0x05, "de": 0x07, "es": 0x0A, "it": 0x10, "nl": 0x13, "pt": 0x16, "tr": 0x1F,
}  # fmt: skip


@lru_cache(maxsize=4096)
def parse_format(code: str) -> tuple[FormatSection, ...]:
    """The sections of a format code; at least one. What has no meaning in a code is taken as a literal."""
    return tuple(_section(part) for part in _split(code))


def _split(code: str) -> list[str]:
    """At semicolons outside quotes, brackets and escapes."""
    parts = [""]
    position = 0
    while position < len(code):
        found = _TOKEN.match(code, position)
        assert found is not None  # the last alternative takes any character
        if found["other"] == ";":
            parts.append("")
        else:
            parts[-1] += found[0]
        position = found.end()
    return parts


def _section(code: str) -> FormatSection:
    tokens: list[Token] = []
    condition: tuple[str, float] | None = None
    language = calendar = numerals = 0
    genitive = False
    system = ""
    for found in _TOKEN.finditer(code):
        kind, text = found.lastgroup or "other", found[found.lastgroup or 0]
        if kind == "bracket":
            if text.startswith("$"):
                currency, locale = _LOCALE.fullmatch(text).group("currency", "locale")  # type: ignore[union-attr]
                if currency:
                    tokens.append(Token("literal", currency))
                language, calendar, numerals, genitive, system = _locale(locale or "")
            elif _ELAPSED.fullmatch(text):
                tokens.append(Token("date", f"[{text.lower()}]"))
            elif bound := _CONDITION.fullmatch(text):
                condition = (bound[1], float(bound[2]))
        elif kind == "space":
            tokens.append(Token("literal", " "))
        elif kind in ("quoted", "escaped", "other"):
            tokens.append(Token("literal", text))
        elif kind == "era" and text.lower() == "b2":
            calendar = 0x06
        elif kind in ("era", "date"):
            tokens.append(Token("date", text.lower()))
        elif kind == "half":
            tokens.append(Token("date", "A/P" if text.upper() == "A/P" else "AM/PM"))
        elif kind == "fraction":
            tokens.extend([Token("point", text)])
        elif kind != "fill":
            tokens.append(Token(_PLAIN[kind], text))
    if any(token.kind == "date" for token in tokens):
        tokens = _date_tokens(tokens)
    else:
        tokens = [part for token in tokens for part in _number_tokens(token)]
    return FormatSection(tuple(tokens), condition, language, calendar, numerals, genitive, system)


_PLAIN: dict[str, TokenKind] = {
    "general": "general",
    "exponent": "exponent",
    "placeholder": "digit",
    "point": "point",
    "comma": "comma",
    "percent": "percent",
    "slash": "slash",
    "at": "text",
}


def _number_tokens(token: Token) -> list[Token]:
    """`.00` in a number is a point and placeholders."""
    if token.kind == "point" and len(token.text) > 1:
        return [Token("point", "."), *(Token("digit", "0") for _ in token.text[1:])]
    return [token]


def _date_tokens(tokens: list[Token]) -> list[Token]:
    """In a date, `m` beside hours or seconds means minutes (`n` here), and what only numbers use is literal."""
    dates = [position for position, token in enumerate(tokens) if token.kind == "date"]
    made = list(tokens)
    for order, position in enumerate(dates):
        text = tokens[position].text
        if text in ("m", "mm"):
            before = tokens[dates[order - 1]].text if order else ""
            after = tokens[dates[order + 1]].text if order + 1 < len(dates) else ""
            if before.strip("[").startswith("h") or after.strip("[").startswith("s"):
                made[position] = Token("date", "n" * len(text))
    for position, token in enumerate(made):
        if token.kind == "point" and len(token.text) > 1:
            after_seconds = position > 0 and made[position - 1].text.strip("[]").startswith("s")
            made[position] = Token("date" if after_seconds else "literal", token.text)
        elif token.kind in ("point", "comma", "slash", "percent", "digit"):
            made[position] = Token("literal", token.text)
    return made


def _locale(text: str) -> tuple[int, int, int, bool, str]:
    """Language, calendar, numerals, genitive months, and `date` or `time` for the reader's own formats.

    `NNCCLLLL` in hexadecimal, or a language tag and `NNCC` ([MS-XLSX] 2.5.4). The upper bit of NN and CC speaks of
    input only. F800 and F400 are the system's long date and time; Russian FC19 asks for the genitive.
    """
    tag, _, extra = text.partition(",")
    lowered = tag.lower()
    if lowered in ("x-sysdate", "f800"):
        return 0, 0, 0, False, "date"
    if lowered in ("x-systime", "f400"):
        return 0, 0, 0, False, "time"
    try:
        number = int(tag, 16)
    except ValueError:
        language = _LANGUAGES.get(lowered.split("-")[0], 0)
        genitive = "x-gen" in lowered
        number = 0
    else:
        language = number & 0x3FF
        genitive = number & 0xFFFF == 0xFC19
    shape = number >> 16
    if extra:
        try:
            shape = int(extra, 16)
        except ValueError:
            shape = 0
    return language, shape & 0x7F, shape >> 8 & 0x7F, genitive, ""
