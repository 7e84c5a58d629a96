"""A cell's value as its number format shows it."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

import msgspec

from ragpress.config import LocaleSetting
from ragpress.readers.ooxml.calendars import GREGORIAN, LAST_SERIAL, Day, day_of, names
from ragpress.readers.ooxml.format_codes import FormatSection, Token, parse_format


class NumberLocale(msgspec.Struct, frozen=True):
    """The signs between groups of three digits and before decimals.

    Where `everywhere` is false, only a number in groups has them: it would be misread else, `5,400` for 5.4. One
    without groups has a point.
    """

    group: str
    decimal: str
    everywhere: bool = True


ENGLISH = NumberLocale(",", ".")
_SPACE_AND_COMMA, _POINT_AND_COMMA = NumberLocale(" ", ","), NumberLocale(".", ",")
_LOCALES = {"en": ENGLISH, "ru": _SPACE_AND_COMMA, "fa": ENGLISH}
"""By language. A Persian Excel groups as an English one does; its digits are those that the format asks for."""
_OF_FORMATS = {
    **dict.fromkeys((0x09, 0x29), ENGLISH),  # English, Persian
    **dict.fromkeys((0x19, 0x22, 0x23, 0x3F, 0x0C, 0x15, 0x05), _SPACE_AND_COMMA),  # ru uk be kk fr pl cs
    **dict.fromkeys((0x07, 0x0A, 0x10, 0x13, 0x16, 0x1F), _POINT_AND_COMMA),  # de es it nl pt tr
}
"""By the language that a format names (the low 10 bits of a Windows LCID). 1 and 2 are none: `[$€-2]` is any euro."""

_DIGITS = {0x02: "٠١٢٣٤٥٦٧٨٩", 0x03: "۰۱۲۳۴۵۶۷۸۹"}
_CONTEXT = Context(prec=400, rounding=ROUND_HALF_UP)
_SYSTEM = {"date": "dd.mm.yyyy", "time": "h:mm:ss"}
_DAY = 86_400


def locale_of(setting: LocaleSetting, language: str) -> NumberLocale:
    """How numbers are shown under the setting `number_locale` in a document of a language, such as `ru`.

    `auto` shows numbers in groups as readers of that language write them, and no others.
    """
    if setting != "auto":
        return _LOCALES[setting]
    return msgspec.structs.replace(_LOCALES.get(language, ENGLISH), everywhere=False)


def show_number(value: Decimal, code: str, date1904: bool = False, locale: NumberLocale = ENGLISH) -> str:
    """A number as the format `code` shows it to a reader of `locale`, unless the format names a language itself."""
    if code == "General":
        return general(value, locale)
    sections = parse_format(code)
    section, negative = _choose(sections, value)
    if section is None:
        return general(value, locale)
    locale = _OF_FORMATS.get(section.language, locale)
    if section.system:
        section = parse_format(_SYSTEM[section.system])[0]
    if section.is_date:
        text = _date(section, value, date1904)
        if text is None:
            return general(value, locale)
    else:
        text = _number(section, abs(value), locale)
        if negative and any(digit in text for digit in "123456789"):
            text = "-" + text.lstrip()
    numerals = _DIGITS.get(section.numerals)
    return text.translate(str.maketrans("0123456789", numerals)) if numerals else text


def show_text(text: str, code: str) -> str:
    """A text as the format's text section shows it; without one as it is."""
    if code in ("General", "@") or ("@" not in code and code.count(";") < 3):
        return text
    sections = parse_format(code)
    own = [section for section in sections if any(token.kind == "text" for token in section.tokens)]
    if not own and len(sections) < 4:
        return text
    section = own[-1] if own else sections[3]
    return "".join(text if token.kind == "text" else token.text for token in section.tokens)


def general(value: Decimal, locale: NumberLocale = ENGLISH) -> str:
    """A number without a format: 15 significant digits as Excel keeps, without exponent or float noise.

    A whole number keeps all digits that the file has. Only what would need more than 30 digits gets an exponent.
    """
    if value == value.to_integral_value() and abs(value.adjusted()) < 30:
        return f"{value:f}".split(".")[0] if value else "0"
    shown = _unformatted(value)
    return shown.replace(".", locale.decimal) if locale.everywhere else shown


def _unformatted(value: Decimal) -> str:
    rounded = _significant(value)
    if not rounded:
        return "0"
    if abs(rounded.adjusted()) > 30:
        mantissa, _, exponent = f"{rounded:E}".partition("E")
        if "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        return f"{mantissa}E{int(exponent):+03d}"
    plain = f"{rounded:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _significant(value: Decimal) -> Decimal:
    return Context(prec=15, rounding=ROUND_HALF_UP).plus(value)


def _choose(sections: tuple[FormatSection, ...], value: Decimal) -> tuple[FormatSection | None, bool]:
    """The section for a value, and whether a minus sign is due."""
    numeric = sections[:3] if len(sections) < 4 or sections[3].condition is None else sections
    if len(sections) > 1 and any(token.kind == "text" for token in sections[-1].tokens) and len(sections) < 4:
        numeric = sections[:-1]
    if any(section.condition for section in numeric):
        return _conditional(numeric, value)
    if len(numeric) == 1 or value > 0:
        return numeric[0], value < 0
    if value < 0:
        return numeric[1], False
    return numeric[2] if len(numeric) > 2 else numeric[0], False


def _conditional(sections: tuple[FormatSection, ...], value: Decimal) -> tuple[FormatSection | None, bool]:
    for position, section in enumerate(sections):
        if section.condition is not None:
            operator, bound = section.condition
            fits = _holds(value, operator, Decimal(str(bound)))
            sign = not (operator in ("<", "<=") and bound <= 0)
        elif position == 0:
            fits, sign = (value > 0 if len(sections) > 2 else value >= 0), True
        elif position == 1 and len(sections) > 2:
            fits, sign = value < 0, False
        else:
            fits, sign = True, True
        if fits:
            return section, sign and value < 0
    return None, False


def _holds(value: Decimal, operator: str, bound: Decimal) -> bool:
    order = (value > bound) - (value < bound)
    return {"<": order < 0, "<=": order <= 0, "=": order == 0, ">=": order >= 0, ">": order > 0, "<>": order != 0}[
        operator
    ]


def _number(section: FormatSection, value: Decimal, locale: NumberLocale) -> str:
    tokens = section.tokens
    kinds = {token.kind for token in tokens}
    if "general" in kinds or ("text" in kinds and "digit" not in kinds):
        return "".join(general(value, locale) if token.kind in ("general", "text") else token.text for token in tokens)
    if "digit" not in kinds:
        return "".join(token.text for token in tokens)
    if value != value.to_integral_value():
        value = _significant(value)
    value = value.scaleb(2 * sum(token.kind == "percent" for token in tokens), _CONTEXT)
    if "exponent" in kinds:
        return _scientific(tokens, value, locale)
    slash = next((i for i, token in enumerate(tokens) if token.kind == "slash"), None)
    if slash is not None and any(token.kind == "digit" for token in tokens[:slash]):
        return _fraction(tokens, slash, value)
    return _fixed(tokens, value, locale)


def _fixed(tokens: tuple[Token, ...], value: Decimal, locale: NumberLocale) -> str:
    """Digits filled into placeholders: from the point to the left, the first placeholder takes what is left over."""
    point = next((i for i, token in enumerate(tokens) if token.kind == "point"), len(tokens))
    digits = [i for i, token in enumerate(tokens) if token.kind == "digit"]
    whole_places = [i for i in digits if i < point]
    part_places = [i for i in digits if i > point]
    grouped = False
    for i, token in enumerate(tokens):
        if token.kind == "comma" and digits and i > digits[0]:
            if whole_places and whole_places[0] < i < whole_places[-1]:
                grouped = True
            elif i > digits[-1] or i < point:
                value = value.scaleb(-3, _CONTEXT)
    rounded = value.quantize(Decimal(1).scaleb(-len(part_places)), context=_CONTEXT)
    whole, _, part = f"{rounded:f}".partition(".")
    whole = whole.lstrip("0")
    if not (grouped or locale.everywhere):
        locale = ENGLISH
    filled = _fill_whole(tokens, whole_places, whole, locale.group if grouped else "")
    kept = len(part.rstrip("0"))
    for order, place in enumerate(part_places):
        mark = tokens[place].text
        filled[place] = part[order] if order < kept or mark == "0" else " " if mark == "?" else ""
    out = []
    for i, token in enumerate(tokens):
        if token.kind == "digit":
            out.append(filled[i])
        elif token.kind == "point" and i == point:
            if not whole_places:
                out.append(whole)
            out.append(locale.decimal)
        elif token.kind != "comma":
            out.append(token.text)
    return "".join(out)


def _fill_whole(tokens: tuple[Token, ...], places: list[int], whole: str, group: str) -> dict[int, str]:
    filled: dict[int, str] = {}
    left = whole
    position = 0  # digits written so far, from the right
    for order, place in enumerate(reversed(places)):
        first = order == len(places) - 1
        take, left = (left, "") if first else (left[-1:], left[:-1])
        if not take:
            take = {"0": "0", "?": " "}.get(tokens[place].text, "")
        text = ""
        for digit in reversed(take):
            if group and position and position % 3 == 0 and digit != " ":
                text = group + text
            text = digit + text
            position += 1
        filled[place] = text
    return filled


def _scientific(tokens: tuple[Token, ...], value: Decimal, locale: NumberLocale) -> str:
    split = next(i for i, token in enumerate(tokens) if token.kind == "exponent")
    mantissa = tokens[:split]
    point = next((i for i, token in enumerate(mantissa) if token.kind == "point"), len(mantissa))
    step = max(1, sum(token.kind == "digit" for token in mantissa[:point]))
    places = sum(token.kind == "digit" for token in mantissa[point:])
    exponent = value.adjusted() // step * step if value else 0
    scaled = value.scaleb(-exponent, _CONTEXT).quantize(Decimal(1).scaleb(-places), context=_CONTEXT)
    if scaled.adjusted() >= step:  # rounded up to one digit more
        exponent += step
        scaled = value.scaleb(-exponent, _CONTEXT)
    sign = "-" if exponent < 0 else "+" if tokens[split].text.endswith("+") else ""
    power = _fixed(tokens[split + 1 :], Decimal(abs(exponent)), ENGLISH)
    return f"{_fixed(mantissa, scaled, locale)}E{sign}{power}"


def _fraction(tokens: tuple[Token, ...], slash: int, value: Decimal) -> str:
    """`# ?/?`: a whole number, if the code has a place for it, and the nearest fraction that fits."""
    before = [i for i in range(slash) if tokens[i].kind == "digit"]
    start = before[-1]  # the numerator: the last run of placeholders before the slash
    while start - 1 in before:
        start -= 1
    mixed = before[0] < start
    fixed = "".join(token.text for token in tokens[slash + 1 :] if token.text.isdigit() and token.text != "0")
    limit = 10 ** max(1, min(sum(token.kind == "digit" for token in tokens[slash + 1 :]), 7)) - 1
    whole = int(value) if mixed else 0
    rest = Fraction(value) - whole
    if fixed:
        denominator = int("".join(token.text for token in tokens[slash + 1 :] if token.text.isdigit()))
        numerator = int(rest * denominator + Fraction(1, 2))
    else:
        nearest = rest.limit_denominator(limit)
        numerator, denominator = nearest.numerator, nearest.denominator
    if mixed and numerator == denominator:
        whole, numerator = whole + 1, 0
    if mixed and not numerator:
        return str(whole)
    share = f"{numerator}/{denominator}"
    return f"{whole} {share}" if whole else share


def _date(section: FormatSection, value: Decimal, date1904: bool) -> str | None:
    """The date and time of a serial number, or None where Excel shows none (negative or after the year 9999)."""
    elapsed = any(token.text.startswith("[") for token in section.tokens if token.kind == "date")
    negative = value < 0
    if negative and not elapsed:
        return None
    decimals = max((len(token.text) - 1 for token in section.tokens if token.text.startswith(".0")), default=0)
    value = abs(value) + (1462 if date1904 and not elapsed else 0)
    if value >= LAST_SERIAL + 1:
        return None
    # Seconds are rounded to what is shown, or to whole ones; larger units are cut off.
    timed = any(token.text[0] in "[hns" for token in section.tokens if token.kind == "date")
    seconds = (value * _DAY).quantize(Decimal(1).scaleb(-decimals), context=_CONTEXT) if timed else int(value) * _DAY
    days, rest = divmod(Decimal(seconds), _DAY)
    clock = _Clock(day_of(int(days), section.calendar or GREGORIAN), Decimal(seconds), rest)
    half = any(token.text in ("AM/PM", "A/P") for token in section.tokens)
    out = [_piece(token, section, clock, half) if token.kind == "date" else token.text for token in section.tokens]
    text = "".join(part for part, token in zip(out, section.tokens, strict=True) if token.kind != "text")
    return f"-{text}" if negative else text


class _Clock:
    """A moment: its day, the seconds since the epoch and those since midnight."""

    def __init__(self, day: Day, total: Decimal, rest: Decimal) -> None:
        self.day = day
        self.total = total
        self.hour, left = divmod(int(rest), 3600)
        self.minute, self.second = divmod(left, 60)
        self.fraction = rest - int(rest)


def _piece(token: Token, section: FormatSection, clock: _Clock, half: bool) -> str:
    text = token.text
    width = len(text.strip("[]"))
    if text.startswith("["):
        unit = {"h": 3600, "m": 60, "s": 1}[text[1]]
        return f"{int(clock.total) // unit:0{width}d}"
    if text.startswith(".0"):
        return f"{clock.fraction:.{width - 1}f}"[1:]
    letter = text[0]
    words = names(section.language, section.calendar, section.genitive)
    day = clock.day
    if letter == "y":
        return f"{day.year % 100:02d}" if width < 3 else f"{day.year:04d}"
    if letter in "eb":
        return f"{day.year + (543 if letter == 'b' else 0)}"
    if letter == "m":
        if width < 3:
            return f"{day.month:0{width}d}"
        long = words.months[day.month - 1]
        return words.short_months[day.month - 1] if width == 3 else long[0] if width == 5 else long
    if letter == "d" and width < 3:
        return f"{day.day:0{width}d}"
    if text in ("AM/PM", "A/P"):
        return (words.halves if text == "AM/PM" else ("A", "P"))[clock.hour >= 12]
    if letter in "da":
        return (words.short_days if width == 3 else words.days)[day.weekday]
    if letter == "h":
        hour = (clock.hour % 12 or 12) if half else clock.hour
        return f"{hour:0{min(width, 2)}d}"
    if letter in "ns":
        return f"{clock.minute if letter == 'n' else clock.second:0{min(width, 2)}d}"
    return ""  # an era's name (g): the year is counted from the common era here
