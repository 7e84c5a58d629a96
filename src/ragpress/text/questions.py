"""What the beginning of a line or the name of a column says of questions and answers, in Russian, Persian, English."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from ragpress.text.normalization import fold

Role = Literal["question", "answer"]

_DIGIT = "0-9٠-٩۰-۹"
_MARKUP = (
    r"(?:_|[^\w\"'«“„‘(\[{<]){0,12}"  # bullets, emphasis, a quotation's mark; an opening quote begins what is cited
)
_NUMBER = rf"\(?(?P<number>[{_DIGIT}]{{1,3}}(?:\.[{_DIGIT}]{{1,2}}){{0,2}})"
# A hyphen before Cyrillic is an inflection (`2-й`); before a digit any of these signs is part of an amount or a time.
_ENUMERATOR = (
    rf"{_NUMBER}\s?(?:\.\s?[-–—]|[.)])(?![{_DIGIT}])|{_NUMBER.replace('number', 'counted')}\s?[-–—:/](?=\s|[ء-ی])"
)
_ITEM = re.compile(rf"{_MARKUP}(?:{_ENUMERATOR})")

_QUESTIONS = "вопрос|سوال|سؤال|پرسش|question"
_ANSWERS = "ответ|پاسخ|جواب|answer"
_COUNT = rf"\s*(?:№|#|no\.?|شمارهٔ?)?\s*[{_DIGIT}]{{1,3}}"
_WORD = r"[^\W\d_]+(?:\u200c[^\W\d_]+)*"
# Who asks or answers (`Ответ врача:`), but not what about or to whom: `Ответ на жалобу: 30 дней`.
_WHOSE = rf"(?:\s+(?!(?:на|о|об|по|в|и|к|за|для|до|из|с|به|از|در|و|برای|and|to|of|for|on|in)\s){_WORD}){{1,2}}"
_CLOSING = r"[*_`]{0,4}"
_LABEL = re.compile(
    rf"{_MARKUP}(?:(?:{_ENUMERATOR}){_MARKUP})?(?:"
    rf"(?:(?P<question>(?i:{_QUESTIONS}))|(?P<answer>(?i:{_ANSWERS})))"
    rf"(?:(?:{_COUNT})?{_CLOSING}(?:\s?[:：]|\s?(?P<sign>[-–—.)])(?=\s|$)|\s*$)|{_WHOSE}(?:{_COUNT})?{_CLOSING}\s?[:：])"
    rf"|(?:(?P<asks>[ВQس])|(?P<replies>[ОAج]))(?:{_COUNT})?{_CLOSING}\s?(?:\.?[:：]|(?<![ВО])(?P<mark>[-–—.)])(?=\s|$))"
    rf"){_CLOSING}\s*"
)
_REPLY_WITHIN = re.compile(
    rf"(?<=[?؟.!…»)*])\s+(?=(?:[-–—]\s)?[*_]{{0,3}}(?:(?i:{_ANSWERS})|(?P<letter>[ОAج]))(?:{_COUNT})?[*_]{{0,3}}\s?[:：])"
)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_ASKING = re.compile(r"[?؟][\s*_`»”\"')]*\Z")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COLUMNS: dict[str, Role] = {
    **dict.fromkeys(_words("вопрос вопросы سوال سوالات سوالها پرسش پرسشها question questions q س"), "question"),
    **dict.fromkeys(_words("ответ ответы پاسخ پاسخها جواب جوابها answer answers a ج"), "answer"),
}
_FORMS: dict[str, Role] = {**_COLUMNS, "вопроса": "question", "ответа": "answer"}
_BEFORE_NAME = _words(
    "текст частый частые типовой типовые популярные краткий полный правильный متن شرح عنوان full short"
)
_NOT_WHOSE = _words(
    "до на о об по от в к да нет дата срок время номер код тип вид статус балл شماره تاریخ نوع کد به از تا"
    " id no yes type date number by due category topic section author status score source language link count url"
)
_LONGEST_NAME = 60


class Mark(NamedTuple):
    """The mark that a line begins with.

    `label` is how far the mark reaches. `role` is None for an enumerator alone, whose `number` it gives. `letter`
    tells a mark of one letter (`В:`), `weak` one without a colon, which is also written for other things.
    """

    label: int
    role: Role | None
    number: str = ""
    letter: bool = False
    weak: bool = False


def mark_of(line: str) -> Mark | None:
    """The mark of a question, an answer or an enumerator at the beginning of a line, behind bullets and emphasis."""
    found = _LABEL.match(line)
    if found is not None:
        letter = bool(found["asks"] or found["replies"])
        weak = bool(found["sign"] or found["mark"])
        return Mark(found.end(), "question" if found["question"] or found["asks"] else "answer", "", letter, weak)
    found = _ITEM.match(line)
    if found is not None:
        return Mark(found.end(), None, fold(found["number"] or found["counted"]))
    return None


def has_label(line: str) -> bool:
    """Whether a line begins with the mark of a question or an answer."""
    return _LABEL.match(line) is not None


def answer_within(line: str, mark: Mark) -> int:
    """Where the answer begins in a line that the question's `mark` begins, or 0: `Вопрос: Когда? Ответ: Завтра.`"""
    for found in _REPLY_WITHIN.finditer(line, mark.label):
        if mark.letter or not found["letter"]:
            return found.end()
    return 0


def is_asking(text: str) -> bool:
    """Whether a text ends with a question mark."""
    return _ASKING.search(text[-20:]) is not None


def pair_columns(names: Iterable[str]) -> bool:
    """Whether a table with columns of these names holds questions and their answers."""
    return {"question", "answer"} <= set(map(column_role, names))


def column_role(name: str) -> Role | None:
    """Whether a column of this name holds questions or answers: `سوال`, `Ответ врача`, `Текст вопроса`."""
    if len(name) > _LONGEST_NAME or not set("?؟:").isdisjoint(name.strip().rstrip("?؟: ")):
        return None  # a question itself
    words = re.findall(r"\w+", fold(_IN_BRACKETS.sub("", name)))
    if len({_FORMS[word] for word in words if word in _FORMS}) != 1:
        return None  # neither, or a column of both
    words = re.findall(r"\w+", fold(_IN_BRACKETS.sub("", name.rpartition(" / ")[2])))
    if len(words) == 2 and words[0] in _BEFORE_NAME:
        return _FORMS.get(words[1])
    return _COLUMNS.get(words[0]) if 0 < len(words) <= 3 and _NOT_WHOSE.isdisjoint(words) else None
