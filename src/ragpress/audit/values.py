"""Whether number and date cells are shown in a text, whatever their number formats make of them.

Formatting a value as a spreadsheet does is the reader's work. Here only what every format keeps is asked for: a
number's leading digits, cut or rounded, and of a date the day, year and hour that its format shows.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Container, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from operator import itemgetter

import msgspec

from ragpress.audit.visible import StoredCell
from ragpress.text import fold

NUMBER = re.compile(r"[+-]?(\d{0,400})(?:\.(\d{0,400}))?(?:[eE]([+-]?\d{1,3}))?")
_RUN = re.compile(r"\d+(?:[ \u00a0\u202f.,'’٬٫()/-]{1,2}\d+)*")
_DIGITS = re.compile(r"\d+")
_TOKEN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|.', re.DOTALL)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?\d{1,20}(?:\.\d{1,20})?)\]")
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_OTHER_CALENDAR = re.compile(r"\[\$-(?:[^\]]*,|[0-9a-f]{6,})|\bb{1,4}", re.IGNORECASE)
_SHOWN_IN_DIGITS = re.compile(r"[yhsebn]|(?<![dm])[dm]{1,2}(?![dm])")
_GENERAL_NAMES = re.compile(r"general|standard|основной")
_OWN = "abcdefghij"  # 0 to 9 where a format code says them itself
TRUTH = {"1": ("true", "истина", "да", "درست", "1"), "0": ("false", "ложь", "нет", "نادرست", "0")}
"""How a truth value may be shown."""
_PRECISION = 15  # digits that a spreadsheet keeps; more are noise of binary fractions
_LONGEST = 10  # digits before the point from which on a number without a format may be shown as a power of ten
_TELLING = 5  # fewer digits are found inside longer numbers by chance
_FEW = 200  # numbers that are compared one by one, as those of a row
_LAST_DAY = 2958466  # 31 December 9999


class Numbers:
    """The numbers of a text that no cell has claimed yet.

    They are kept as they stand in the text, by their digits without zeros at either end. None goes on over a line end.
    """

    def __init__(self, text: str = "") -> None:
        self._said: list[str] = _RUN.findall(text)
        self._groups: set[str] | None = None
        self._runs: dict[str, str] = {}  # one a line; hundreds of thousands of lists would take long to make
        for written in self._said:
            key = _digits(written).rstrip("0")
            same = self._runs.get(key)
            self._runs[key] = f"{same}\n{written}" if same else written

    def __bool__(self) -> bool:
        return any(self._runs.values())

    def unclaimed(self) -> str:
        """What is left, as a text."""
        return "\n".join(self._runs.values())

    def take(self, key: str, least: int) -> bool:
        """Takes out the shortest number with these digits that has so many in all. Tells whether there is one."""
        found = self._runs.get(key)
        fitting = [written for written in found.split("\n") if len(_digits(written)) >= least] if found else []
        if not fitting:
            return False
        self._remove(key, min(fitting, key=lambda written: len(_digits(written))))
        return True

    def take_all(self, parts: Sequence[Sequence[str]]) -> bool:
        """Takes out a number that has all parts of a date, each in one of its spellings. Tells whether there is one.

        Of several that which has the fewest groups of digits: an hour of 0 is also in 1200.00.
        """
        fitting = [
            (len(groups), key, written)
            for key, found in (self._runs.items() if len(self._runs) <= _FEW else ())
            for written in found.split("\n")
            if _has_all(groups := _groups_of(written), parts)
        ]
        if fitting:
            _, key, written = min(fitting, key=itemgetter(0))
            self._remove(key, written)
        return bool(fitting)

    def _remove(self, key: str, written: str) -> None:
        found = self._runs[key].split("\n")
        found.remove(written)
        self._runs[key] = "\n".join(found)

    def groups(self) -> set[str]:
        """The runs of digits in all numbers of the text, claimed or not."""
        if self._groups is None:
            self._groups = {group for run in self._said for group in _groups_of(run)}
        return self._groups

    def have_inside(self, parts: Sequence[Sequence[str]]) -> bool:
        """Whether a number has among its digits one of each sequence."""
        return len(self._runs) <= _FEW and any(
            all(any(part in _digits(written) for part in choices) for choices in parts)
            for found in self._runs.values()
            for written in found.split("\n")
        )


def _has_all(groups: Container[str], parts: Sequence[Sequence[str]]) -> bool:
    return all(any(spelling in groups for spelling in spellings) for spellings in parts)


def _digits(written: str) -> str:
    if written.isdigit() and written.isascii():
        return written.lstrip("0")
    return "".join(_DIGITS.findall(written if written.isascii() else fold(written))).lstrip("0")


def _groups_of(written: str) -> list[str]:
    return [group.lstrip("0") for group in _DIGITS.findall(written if written.isascii() else fold(written))]


def claim(cells: Sequence[StoredCell], numbers: Sequence[Numbers], words: Sequence[Container[str]]) -> list[StoredCell]:
    """The number, date and truth cells whose value is not shown; what shows the others is taken out of `numbers`.

    `numbers` and `words` are what the texts say in which the cells should stand.
    """
    missing = _claim_numbers([cell for cell in cells if cell.kind == "number"], numbers)
    for cell in cells:
        if cell.kind == "truth":
            shown = any(word in pool for word in TRUTH.get(cell.text, ()) for pool in words)
        else:
            shown = cell.kind == "number" or _claim_date(cell, numbers)
        if not shown:
            missing.append(cell)
    return missing


def is_date(code: str, number: float) -> bool:
    """Whether a number format code shows a number as a date or time."""
    section = _section(code, number).replace("general", "")
    if "[" not in section and number < 0:
        return False  # before the first day only lengths of time are shown
    return re.search("[ymdhs]", section) is not None and abs(number) < _LAST_DAY


def shows_nothing(value: str, code: str) -> bool:
    """Whether a number format code shows no digit of a value: `;;;`, or a dash or nothing for zero."""
    if not code:
        return False
    number = float(value)
    section = _section(code, number)
    if "general" in section or re.search("[ymdhs0/]", section):
        return False
    places = len(re.findall("[#?]", section.partition(".")[2]))
    rounded = round(number * (100 if "%" in section else 1), places)
    return rounded == 0 or not re.search("[?#@]", section)


class _CodeSection(msgspec.Struct, frozen=True):
    """A section of a format code: without literal text; and its places for digits, with its own digits as letters.

    `condition` is what the section is for, an operator and a bound, if it says so.
    """

    bare: str
    digits: str
    condition: tuple[str, float] | None


@lru_cache(maxsize=256)
def _sections(code: str) -> tuple[_CodeSection, ...]:
    """The sections of a format code, the first three."""
    parts: list[list[str]] = [[]]
    for token in _TOKEN.findall(_GENERAL_NAMES.sub("general", code.lower())):
        if token == ";":
            parts.append([])
        else:
            parts[-1].append(token)
    found = []
    for tokens in parts[:3]:
        conditions = [hit for token in tokens if (hit := _CONDITION.fullmatch(token))]
        condition = (conditions[0][1], float(conditions[0][2])) if conditions else None
        bare = "".join(token for token in tokens if not _LITERAL.fullmatch(token))
        digits = "".join(map(_places, tokens))
        found.append(_CodeSection(bare, digits, condition))
    return tuple(found)


def _places(token: str) -> str:
    """What a token of a format code gives of a number's digits: `0`, `#`, `?`, the point, or digits of its own."""
    if token in "0#?.":
        return token
    return "".join(_OWN[int(digit)] for digit in re.findall("[0-9]", token)) if token[0] not in "_*[" else ""


def _section_of(code: str, number: float) -> _CodeSection:
    """The section of a format code that applies to a number (ECMA-376 part 1, 18.8.31)."""
    sections = _sections(code)
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _holds(number, *section.condition):
                return section
        return _GENERAL
    if number < 0 and len(sections) > 1:
        return sections[1]
    return sections[2] if number == 0 and len(sections) > 2 else sections[0]


_GENERAL = _CodeSection("general", "", None)


def _section(code: str, number: float) -> str:
    return _section_of(code, number).bare


def _bare(cell: StoredCell) -> str:
    """The section by which a cell is shown; empty where it has no format."""
    return _section(cell.code, float(cell.text)).replace("general", "")


def _holds(number: float, operator: str, bound: float) -> bool:
    signs = {"<": number < bound, ">": number > bound, "=": number == bound}
    return number != bound if operator == "<>" else any(signs[sign] for sign in operator)


def _claim_numbers(cells: list[StoredCell], numbers: Sequence[Numbers]) -> list[StoredCell]:
    """First by all digits, the larger numbers first, so that 15.4 does not take the 154 that shows another cell."""
    missing = []
    rest = []
    for cell in sorted(cells, key=lambda cell: -_significant(cell.text, cell.code)[1]):
        value, before = _significant(cell.text, cell.code)
        if "/" in _bare(cell):  # a fraction
            if not any(numbers):
                missing.append(cell)
        elif not any(found.take(value, before) for found in numbers):
            rest.append(cell)
    for cell in rest:
        value, before = _significant(cell.text, cell.code)
        spellings = _rounded(value, before, _places_of(cell))
        shown = any(found.take(digits, before) for digits in spellings for found in numbers)
        if not shown and not any(_is_inside(cell, found) for found in numbers):
            missing.append(cell)
    return missing


def _is_inside(cell: StoredCell, numbers: Numbers) -> bool:
    """Whether the digits stand among others that the format has of its own, such as the code of a country."""
    digits = _section_of(cell.code, float(cell.text)).digits
    if not any(letter in digits for letter in _OWN):
        return False
    value, _ = _significant(cell.text, cell.code)
    spelled = _spelled(digits, Decimal(cell.text)).strip("0")
    return numbers.take(spelled, len(spelled)) or (len(value) >= _TELLING and numbers.have_inside([[value]]))


def _spelled(digits: str, value: Decimal) -> str:
    """The digits of a number between those that its format has of its own."""
    places = sum(place in "0#?" for place in digits.partition(".")[2])
    blanks = sum(place in "0#?" for place in digits)
    left = str(int(abs(value).scaleb(places).quantize(Decimal(1), ROUND_HALF_UP))).rjust(blanks, "0")
    filled = []
    for place in digits.replace(".", ""):
        if place in _OWN:
            filled.append(str(_OWN.index(place)))
        else:
            take = len(left) - blanks + 1
            filled.append(left[:take])
            left, blanks = left[take:], blanks - 1
    return "".join(filled)


@lru_cache(maxsize=1 << 12)
def _significant(text: str, code: str) -> tuple[str, int]:
    """The value's digits without zeros at the ends, and how many stand before the decimal point at least."""
    found = NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(f"not a number: {text!r}")
    whole, fraction, exponent = (group or "" for group in found.groups())
    code = _section(code, float(text)).replace("general", "")
    value = (whole + fraction).lstrip("0")
    before = len(whole.lstrip("0")) + int(exponent or 0)
    if not whole.lstrip("0"):
        before -= len(fraction) - len(fraction.lstrip("0"))
    if len(value) > _PRECISION and before < len(value.rstrip("0")):  # a whole number may be a name that keeps all
        cut = len(value) - _PRECISION
        value = str((int(value) + 5 * 10 ** (cut - 1)) // 10**cut)
    before -= 3 * (len(code) - len(code.rstrip(",")))  # a comma at the end shows thousands as ones
    if "e+" in code or "e-" in code or (not code and before > _LONGEST):
        before = 1  # a power of ten follows
    value = value.rstrip("0")
    return value, before if value else 0


def _places_of(cell: StoredCell) -> int | None:
    """How many decimal places the format shows, those of a percentage counted on; None where it does not say."""
    section = _section_of(cell.code, float(cell.text))
    if not re.search("[0#?]", section.digits) or re.search("e[+-]", section.bare):
        return None
    return len(re.findall("[0#?]", section.digits.partition(".")[2])) + 2 * ("%" in section.bare)


def _rounded(value: str, before: int, places: int | None) -> Iterator[str]:
    """The digits of a value rounded and cut after each place, without zeros at the end, as its format shows it first.

    That is after every place behind the decimal point, and of a longer whole number after what a spreadsheet keeps.
    """
    sizes = range(len(value) - 1, min(max(before, 0), _PRECISION) - 1, -1)
    shown = max(before + places, 0) if places is not None else -1
    for size in sorted(sizes, key=lambda size: size != shown):
        kept, rest = divmod(int(value), 10 ** (len(value) - size))
        if 2 * rest >= 10 ** (len(value) - size):
            yield str(kept + 1).rstrip("0")
        yield str(kept).rstrip("0")


def _claim_date(cell: StoredCell, numbers: Sequence[Numbers]) -> bool:
    parts = [] if _OTHER_CALENDAR.search(cell.code) else _date_parts(cell)
    if not parts:  # nothing that distinguishes it from other numbers, or names of days and months alone
        return any(numbers) or not _SHOWN_IN_DIGITS.search(_bare(cell))
    if any(found.take_all(parts) or _has_all(found.groups(), parts) for found in numbers):
        return True
    glued = re.search("[ymdh]{5}", _bare(cell)) is not None  # such as yyyymmdd
    return glued and any(found.have_inside(parts) for found in numbers)


def _date_parts(cell: StoredCell) -> list[list[str]]:
    """For each part that the format shows in digits, the ways to write it, without leading zeros."""
    code = _bare(cell)
    exact = abs(float(cell.text)) * 86400
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
