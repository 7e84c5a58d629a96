"""What the beginning and the look of a line of plain text say: list item, numbered heading, question, capitals."""

from __future__ import annotations

import re
from typing import NamedTuple

_ZEROS = "0٠۰"
_DIGIT = "0-9٠-٩۰-۹"
_NUMBER = re.compile(
    rf"\(?(?P<number>[{_DIGIT}]{{1,3}}(?:\.[{_DIGIT}]{{1,2}}){{0,4}})(?P<mark>[.)]|\s?[-–—](?=\s)|(?=\s))[ \t]*(?=\S)"
)
_ROMAN = re.compile(r"(?P<number>[IVXLC]{1,6})[.)][ \t]+(?=\S)")
_LETTER = re.compile(r"\(?(?:[a-zа-яё]|الف|[ابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهی])\)[ \t]*(?=\S)")
_BULLET = re.compile(r"[-–—•*+▪●◦·►✓✔■□➢➤][ \t]+(?=\S)")
_WORD_AND_NUMBER = re.compile(
    rf"(?:глава|раздел|часть|статья|приложение|chapter|section|part|article|appendix)\s+(?:№\s*)?(?:[{_DIGIT}]+|[IVXLC]+)\b"
    rf"|(?:فصل|بخش|ماده|پیوست)\s+(?:[{_DIGIT}]+|یکم|اول|دوم|سوم|چهارم|پنجم|ششم|هفتم|هشتم|نهم|دهم)(?=\W|$)",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    rf"(?:в|вопрос|q|question|سوال|سؤال|پرسش|س)\s*(?:№?\s*[{_DIGIT}]{{1,3}}\s*)?[:：]\s*(?=\S)", re.IGNORECASE
)
_ANSWER = re.compile(rf"(?:о|ответ|a|answer|پاسخ|جواب|ج)\s*(?:№?\s*[{_DIGIT}]{{1,3}}\s*)?[:：]", re.IGNORECASE)
_RULE = re.compile(r"\s*([-=_*~#.+—–])(?:\s*\1){2,}\s*")
_LONGEST_HEADING = 100
_LETTERS = re.compile(r"[^\W\d_]")


class Number(NamedTuple):
    """A line's number: its parts (2.1 is 2 and 1; Roman numbers are 0) and what follows it."""

    parts: tuple[int, ...]
    title: str


def is_rule(line: str) -> bool:
    """Whether a line is a row of dashes, stars and the like, which divides and says nothing."""
    return _RULE.fullmatch(line) is not None


def question(line: str) -> str:
    """What a question line asks, without its mark, or nothing."""
    found = _QUESTION.match(line)
    return line[found.end() :].strip() if found else ""


def is_answer(line: str) -> bool:
    """Whether a line begins with an answer's mark."""
    return _ANSWER.match(line) is not None


def is_item(line: str) -> bool:
    """Whether a line begins with a bullet or with an enumerator: `-`, `1.`, `۱-`, `а)`."""
    return bool(_BULLET.match(line) or _LETTER.match(line)) or numbered(line) is not None


def numbered(line: str) -> Number | None:
    """The number that a line begins with, or None. Dates, times, quantities and amounts are none."""
    found = _NUMBER.match(line)
    if found is None:
        roman = _ROMAN.match(line)
        return Number((0,), line[roman.end() :]) if roman else None
    parts = found["number"].split(".")
    title = line[found.end() :]
    if any(len(part) > 1 and part[0] in _ZEROS for part in parts):
        return None
    if not found["mark"] and (len(parts) == 1 or not title[:1].isalpha() or title[:1].islower()):
        return None  # `5 врачей` and `8.30 открытие`, but `2.1 Запись`
    if found["mark"] and title[:1].isdecimal():
        return None
    return Number(tuple(int(part) for part in parts), title)


def is_titled(title: str) -> bool:
    """Whether text reads as a title: short, on one line, begun like a sentence and not ended like one."""
    first = title.lstrip("«„“\"'(")[:1]
    return (
        0 < len(title) <= _LONGEST_HEADING
        and first.isalpha()
        and not first.islower()
        and not title.rstrip("»”\"')").endswith((".", ",", ";", ":", "،", "؛", "…", "-"))
    )


def is_named_part(line: str) -> bool:
    """Whether a line is the heading of a numbered part: `Глава 2. Права`, `فصل اول`."""
    found = _WORD_AND_NUMBER.match(line)
    return found is not None and (is_titled(line) or not _LETTERS.search(line[found.end() :]))


def is_capitals(line: str) -> bool:
    """Whether all letters of a line are capitals, and it consists of letters for the most part."""
    letters = _LETTERS.findall(line)
    return (
        3 <= len(letters) <= len(line) <= _LONGEST_HEADING
        and line.isupper()
        and all(letter.isupper() for letter in letters)
        and 2 * len(letters) >= len(line.replace(" ", ""))
        and not line.endswith((",", ";"))
    )
