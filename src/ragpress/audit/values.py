"""Whether number and date cells are shown in a text, whatever their number formats make of them.

Formatting a value as a spreadsheet does is the reader's work. Here only what every format keeps is asked for: a
number's leading digits, cut or rounded, and of a date the day, year and hour that its format shows.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Container, Iterable
from functools import lru_cache
from operator import itemgetter

import msgspec

from ragpress.audit.visible import Cell
from ragpress.text import fold

NUMBER = re.compile(r"[+-]?(\d{0,400})(?:\.(\d{0,400}))?(?:[eE]([+-]?\d{1,3}))?")
_RUN = re.compile(r"\d+(?:[ .,'’٬٫()/-]{1,2}\d+)*")
_DIGITS = re.compile(r"\d+")
_TEXT = re.compile(r'"[^"]*"|\\.|_.|\*.')
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?\d{1,20}(?:\.\d{1,20})?)\]")
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_OTHER_CALENDAR = re.compile(r"\[\$-(?:[^\]]*,|[0-9a-f]{6,})|\bb{1,4}", re.IGNORECASE)
TRUTH = {"1": ("true", "истина", "да", "درست", "1"), "0": ("false", "ложь", "нет", "نادرست", "0")}
"""How a truth value may be shown."""
_PRECISION = 15  # digits that a spreadsheet keeps; more are noise of binary fractions
_LONGEST = 10  # digits before the point from which on a number without a format may be shown as a power of ten
_TELLING = 5  # fewer digits are found inside longer numbers by chance
_LAST_DAY = 2958466  # 31 December 9999


class Numbers(msgspec.Struct):
    """The digits in a text that no cell has claimed yet, all without leading zeros.

    `runs` are numbers: the digits without separators, and the number as it stands; `groups` are runs of digits.
    """

    runs: list[tuple[str, str]]
    groups: Counter[str]


def numbers_in(text: str) -> Numbers:
    """The numbers of a chunk's text; none goes on over a line break."""
    text = fold(text)
    runs = [("".join(_DIGITS.findall(run)).lstrip("0"), run) for run in _RUN.findall(text)]
    return Numbers(runs, Counter(group.lstrip("0") for group in _DIGITS.findall(text)))


def merged(found: Iterable[Numbers]) -> Numbers:
    """The numbers of several texts."""
    together = Numbers([], Counter())
    for numbers in found:
        together.runs += numbers.runs
        together.groups.update(numbers.groups)
    return together


def claim(cells: Iterable[Cell], numbers: Numbers, words: Container[str]) -> list[Cell]:
    """The number, date and truth cells whose value is not shown; what shows the others is taken out of `numbers`."""
    missing = []
    counts = []
    for cell in cells:
        if cell.kind == "truth":
            if not any(word in words for word in TRUTH.get(cell.text, ())):
                missing.append(cell)
        elif cell.kind == "date":
            if not _claim_date(cell, numbers):
                missing.append(cell)
        elif "/" in _bare(cell.code):  # a fraction
            if not numbers.runs:
                missing.append(cell)
        else:
            counts.append(cell)
    return missing + _claim_numbers(counts, numbers)


def is_date(code: str) -> bool:
    """Whether a number format code shows a date or time."""
    return re.search("[ymdhs]", _bare(code)) is not None


def shows_nothing(value: str, code: str) -> bool:
    """Whether a number format code shows no digit of a value: `;;;`, or a dash or nothing for zero."""
    if not code:
        return False
    number = float(value)
    section = _section(code.lower(), number)
    if "general" in section or re.search("[ymdhs0/]", section):
        return False
    places = len(re.findall("[#?]", section.partition(".")[2]))
    rounded = round(number * (100 if "%" in section else 1), places)
    return rounded == 0 or not re.search("[?#@]", section)


def _section(code: str, number: float) -> str:
    """The section of a format code that applies, without literal text (ECMA-376 part 1, 18.8.31)."""
    sections = _TEXT.sub("", code).split(";")[:3]
    conditions = [_CONDITION.search(section) for section in sections]
    bare = [_LITERAL.sub("", section) for section in sections]
    if any(conditions):
        for section, condition in zip(bare, conditions, strict=True):
            if condition is None or _holds(number, condition[1], float(condition[2])):
                return section
        return "general"
    if number < 0 and len(bare) > 1:
        return bare[1]
    return bare[2] if number == 0 and len(bare) > 2 else bare[0]


def _holds(number: float, operator: str, bound: float) -> bool:
    signs = {"<": number < bound, ">": number > bound, "=": number == bound}
    return number != bound if operator == "<>" else any(signs[sign] for sign in operator)


@lru_cache(maxsize=256)
def _bare(code: str) -> str:
    """The first section of a format code without literal text."""
    return _LITERAL.sub("", code).partition(";")[0].lower().replace("general", "")


def _claim_numbers(cells: list[Cell], numbers: Numbers) -> list[Cell]:
    matched = _match(cells, numbers.runs)
    if None in matched:  # one may have taken the only run of another: those with the least choice first
        choices = [sum(_shows(run, cell) for run, _ in numbers.runs) for cell in cells]
        cells = [cell for _, cell in sorted(zip(choices, cells, strict=True), key=itemgetter(0))]
        matched = _match(cells, numbers.runs)
    taken = {index for index in matched if index is not None}
    for index in taken:
        numbers.groups.subtract(group.lstrip("0") for group in _DIGITS.findall(numbers.runs[index][1]))
    numbers.runs = [run for index, run in enumerate(numbers.runs) if index not in taken]
    return [cell for cell, index in zip(cells, matched, strict=True) if index is None]


def _match(cells: list[Cell], runs: list[tuple[str, str]]) -> list[int | None]:
    """For each cell the index of a run that shows it and no cell before has, or None."""
    free = dict(enumerate(runs))
    matched: list[int | None] = []
    for cell in cells:
        index = next((index for index, (run, _) in free.items() if _shows(run, cell)), None)
        matched.append(index)
        if index is not None:
            del free[index]
    return matched


def _shows(run: str, cell: Cell) -> bool:
    """Whether the digits of a run are what a number format can make of the value."""
    value, before = _significant(cell.text, cell.code)
    if re.search("[1-9]", _bare(cell.code)) and len(value) >= _TELLING and value in run:
        return True  # the format has digits of its own, such as the code of a country
    return len(run) >= before and (run.rstrip("0") == value or _rounds_to(value, run, before))


@lru_cache(maxsize=1 << 12)
def _significant(text: str, code: str) -> tuple[str, int]:
    """The value's digits without zeros at the ends, and how many stand before the decimal point at least."""
    found = NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(f"not a number: {text!r}")
    whole, fraction, exponent = (group or "" for group in found.groups())
    code = _bare(code)
    before = len(whole.lstrip("0")) + int(exponent or 0)
    before -= 3 * (len(code) - len(code.rstrip(",")))  # a comma at the end shows thousands as ones
    if "e+" in code or "e-" in code or (not code and before > _LONGEST):
        before = 1  # a power of ten follows
    value = (whole + fraction).lstrip("0")
    if len(value) > _PRECISION:
        cut = len(value) - _PRECISION
        value = str((int(value) + 5 * 10 ** (cut - 1)) // 10**cut)
    value = value.rstrip("0")
    return value, before if value else 0


def _rounds_to(value: str, run: str, before: int) -> bool:
    """Whether the digits of `run` are those of `value` cut or rounded. `before` counts its digits before the point."""
    if not value:
        return False
    if not run:
        return before <= 0  # a small number shown as 0.00
    surplus = len(value) - len(run)
    if surplus > 0:
        kept, rest = divmod(int(value), 10**surplus)
        if int(run) == kept or (int(run) == kept + 1 and 2 * rest >= 10**surplus):
            return True
    if surplus >= 0 and (before <= 0 or value[0] == "9"):  # 0.006 shown as 0.01, 99.7 shown as 100
        kept, rest = divmod(int(value), 10 ** (surplus + 1))
        return bool(int(run) == kept + 1 and 2 * rest >= 10 ** (surplus + 1))
    return False


def _claim_date(cell: Cell, numbers: Numbers) -> bool:
    if _OTHER_CALENDAR.search(cell.code):
        return bool(numbers.runs)
    shown = []
    parts_of_date = _date_parts(cell)
    for parts in parts_of_date:
        part = next((part for part in parts if numbers.groups[part] > 0), None)
        if part is None:
            glued = re.search("[ymdh]{5}", _bare(cell.code)) is not None  # such as yyyymmdd
            return glued and any(
                all(any(part in run for part in parts) for parts in parts_of_date) for run, _ in numbers.runs
            )
        shown.append(part)
    numbers.groups.subtract(shown)
    return True


def _date_parts(cell: Cell) -> list[list[str]]:
    """For each part that the format shows in digits, the ways to write it, without leading zeros."""
    code = _bare(cell.code)
    exact = float(cell.text) * 86400
    instants = (exact, float(round(exact)))  # programs differ in whether they round
    moments = [_moment(seconds) for seconds in instants if 61 * 86400 <= seconds < _LAST_DAY * 86400]
    parts = []
    if "y" in code and moments:
        parts.append([part for moment in moments for part in (f"{moment.year}", f"{moment.year % 100}".lstrip("0"))])
    if re.search(r"(?<!d)dd?(?!d)", code) and moments:
        parts.append([f"{moment.day}" for moment in moments])
    if "h" in code:
        hours = [int(seconds // 3600) for seconds in instants]
        if "[h" not in code:
            hours = [hour % 24 for hour in hours] + [hour % 12 or 12 for hour in hours]
        parts.append([f"{hour}".lstrip("0") for hour in hours])
    return parts


def _moment(seconds: float) -> datetime.datetime:
    """The date and time of a serial number; not for those before March 1900, where programs differ."""
    return datetime.datetime(1899, 12, 30) + datetime.timedelta(seconds=seconds)
