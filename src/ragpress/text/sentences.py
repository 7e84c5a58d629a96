"""Where sentences end in Russian, Persian and English text.

Own rules, after measuring libraries on 143 marked lines, and on 55 more that were written after the rules and
before a look at their result (all in tests/test_text_sentences.py). Lines that are right in full:

    these rules             143 of 143, then 52 of 55
    yasbd-lib 1.0.4         122 of 143, then 48 of 55
    razdel 0.5.0            Russian 63 of 72, then 28 of 35; no Persian; no release since 2020
    sentencex 1.0.32         94 of 143, then 38 of 55
    pysbd 0.3.4              89 of 143, then 33 of 55; 0.1 MB/s

Every one of them cuts inside abbreviations that addresses and office texts are full of («корп.», «рис.», «доц.»,
«ок.», «и т. п.» inside a quoted title). A wrong cut costs more than a missed end, so in doubt there is none.
"""

from __future__ import annotations

import re

# A terminator, what closes behind it (quotes, brackets, Markdown emphasis, a note's number), and white space; or a
# blank line; or a line end before a list marker. A lone line end is none: it may be a hard wrap.
_CANDIDATE = re.compile(
    r"(?<![.!?…؟۔])(?P<stop>[.!?…؟۔]++)(?P<closing>[»”’\"')\]*_`]*+(?:\[\d+\])*+)\s+"
    r"|\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-–—•*+▪●]|\(?\w{1,3}[.)])[ \t])"
)
_LEADING = " \t\n\u00a0«„“‘\"'([{*_`—–-•|"
_PAIR = re.compile(r"«[^«»\n]{0,250}»|\([^()\n]{0,250}\)|„[^„“\n]{0,250}“|“[^“”\n]{0,250}”")
_NUMBER = re.compile(r"\(?\d+(?:[.:,/–-]\d+)*")
_ROMAN = re.compile(r"[IVXLХ]+")
_SURNAME = re.compile(r"[А-ЯЁ][а-яё-]*(?:[оеё]в|[иы]н|[иыо]й|[оеё]ва|[иы]на|ая|ко|[ую]к|ич|[иы]х|ян|дзе|швили)")


def _words(*groups: str) -> frozenset[str]:
    return frozenset(word for group in groups for word in group.split())


_NEVER = _words(
    # addresses and places
    "ул пл пр-т просп пр-кт пер наб бул б-р ш корп кв стр строен оф каб под эт тер мкр обл р-н респ пос дер хут",
    "ст-ца оз им тел факс доб авт трол",
    # references
    "см ср рис табл гл п пп ст илл прил разд подп абз напр прим цит вып изд ред сост рец кн",
    # people
    "проф доц акад чл-корр канд докт мед хим физ мат техн экон юрид пед псих биол зам зав нач мл св преп инж",
    "г-н г-жа гр-н гр-ка тов адм ген",
    # other
    "ок прибл соч удовл неуд сокр",
    "mr mrs ms dr prof fig figs vol pp eq vs cf approx",
    "رک نک صص",
)
"""What is written before its noun, name or number, so that no sentence ends behind it."""

_COUNTED = _words("см мл стр эт")
"""Those of them that are a unit where a number stands before: `5 см.`"""

_BEFORE_NUMBER = _words("руб коп тыс млн млрд трлн долл шт экз чел мин сек др пр гг no sec ch inc ltd co jan feb")
"""May end a sentence, but not before a number: `5 руб. 20 коп.`"""

_ENDING_CHAINS = frozenset({"тд", "тп", "нэ", "др", "пр", "pm", "am", "us", "uk"})
"""Dotted letters that may end a sentence: `и т. д.`; all others (`т. е.`, `к. м. н.`, `ه. ش.`) may not."""

_LETTER_UNITS = frozenset("гвмсчлтр")
"""Letters that are a unit behind a number (`в 1950 г.`, `XIX в.`, `2 м.`) and begin a name elsewhere (`г. Псков`)."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) in code points that follow each other without a gap and cover `text`.

    The white space behind a sentence belongs to it. Text in quotes or brackets of up to 250 characters stays whole.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    held = _held(text)
    for found in _CANDIDATE.finditer(text):
        end = found.end()
        if end >= len(text):
            break
        while held and held[-1][1] <= found.start():
            held.pop()
        if found["stop"] is not None and (
            (held and held[-1][0] < found.start() and end <= held[-1][1]) or not _ends(text, start, found)
        ):
            continue
        spans.append((start, end))
        start = end
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def sentences(text: str) -> list[str]:
    """The sentences of `text`, white space included: their concatenation is `text`."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _held(text: str) -> list[tuple[int, int]]:
    """Quoted and bracketed stretches, the first one last."""
    return [found.span() for found in _PAIR.finditer(text)][::-1]


def _ends(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether the sentence that began at `start` ends at this terminator."""
    stop, closing = found["stop"], found["closing"]
    following = text[found.end() : found.end() + 40].lstrip(_LEADING)
    head = following[:1]
    if head.islower():
        return False
    caseless = head.isalpha() and not head.isupper()
    if stop != ".":
        if caseless and "…" in stop.replace("...", "…"):
            return " " in text[start : found.start()].strip()  # one word and dots is a hesitation
        return not (caseless and stop[-1] in "!?؟" and closing[:1] in ("»", "”"))
    if closing.strip("*_`"):
        return True
    return _full_stop_ends(text, start, found.start(), following)


def _full_stop_ends(text: str, start: int, at: int, following: str) -> bool:
    before = text[max(start, at - 120) : at].replace("\u00a0", " ").split()
    if not before or text[at - 1].isspace():
        return True
    token = before[-1].lstrip("«„“‘\"'([{*_`—–-")
    head = following[:1]
    if _NUMBER.fullmatch(token):
        # A number that begins a sentence counts a point of a list, and so does the first one behind a colon.
        return not (len(before) == 1 or (before[-2][-1] in ":;" and token in ("1", "۱")))
    letters = token.replace(".", "")
    if letters and all(len(part) == 1 for part in token.split(".")) and letters.isalpha():
        return _letters_end(letters, before, head, following)
    word = token.rpartition("/")[2].casefold()
    if word in _NEVER and not (word in _COUNTED and len(before) > 1 and _ends_in_number(before[-2])):
        return False
    return not (word in _BEFORE_NUMBER and _is_number(head))


def _letters_end(letters: str, before: list[str], head: str, following: str) -> bool:
    """Whether a sentence ends behind single letters with stops: initials, chains such as `т. е.`, units."""
    chain = letters
    place = len(before) - 2
    while place >= 0 and len(before[place]) == 2 and before[place][1] == "." and before[place][0].isalpha():
        chain = before[place][0] + chain
        place -= 1
    previous = before[place] if place >= 0 else ""
    if chain.casefold() in _ENDING_CHAINS:
        return not _is_number(head)
    if chain.isupper():
        if head.isalpha() and (chain.isascii() != head.isascii()):
            return True  # a letter of another script is no initial of the name that follows
        another = following[1:2] == "."
        return len(chain) > 1 and place > 0 and not another and _SURNAME.fullmatch(previous) is not None
    if letters in _LETTER_UNITS and len(chain) == 1:
        counted = previous.rstrip(".").casefold() in {"кв", "куб", "тыс", "млн", "млрд"}
        return (counted or _ends_in_number(previous)) and not _is_number(head)
    return False


def _is_number(head: str) -> bool:
    return head.isdecimal() or head == "№"


def _ends_in_number(token: str) -> bool:
    return token[-1:].isdecimal() or _ROMAN.fullmatch(token) is not None
