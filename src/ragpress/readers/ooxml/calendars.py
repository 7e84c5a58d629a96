"""Day numbers to the dates of the calendars that number formats ask for, and the names of months and days."""

from __future__ import annotations

import datetime

import msgspec


class Day(msgspec.Struct, frozen=True):
    """A date in some calendar. `weekday` counts from Sunday = 0, as number formats do."""

    year: int
    month: int
    day: int
    weekday: int


GREGORIAN, HIJRI, THAI, PERSIAN = 0x01, 0x06, 0x07, 0x16
"""Calendar types as number formats name them ([MS-XLS] and Windows' CAL_ constants, hexadecimal)."""

LAST_SERIAL = 2_958_465
"""31 December 9999, the last day that Excel shows."""

_EPOCH = datetime.date(1899, 12, 30).toordinal()
_UNIX_JULIAN = 1_721_425  # Julian day number of the ordinal 0 of Python's calendar, at noon


def day_of(serial: int, calendar: int = GREGORIAN) -> Day:
    """The date of a serial day number of the 1900 system (0 to LAST_SERIAL).

    Excel takes 1900 for a leap year, so that 60 is a day that never was and earlier days are one off.
    """
    if calendar == GREGORIAN and serial in (0, 60):
        return Day(1900, 1, 0, 6) if serial == 0 else Day(1900, 2, 29, 3)
    ordinal = _EPOCH + serial + (1 if serial < 60 else 0)
    weekday = (serial - 1) % 7
    if calendar == PERSIAN:
        return Day(*_persian(ordinal), weekday)
    if calendar == HIJRI:
        return Day(*_hijri(ordinal), weekday)
    date = datetime.date.fromordinal(ordinal)
    return Day(date.year + (543 if calendar == THAI else 0), date.month, date.day, weekday)


def _persian(ordinal: int) -> tuple[int, int, int]:
    year = datetime.date.fromordinal(ordinal).year - 621
    if ordinal < _persian_new_year(year):
        year -= 1
    passed = ordinal - _persian_new_year(year)
    if passed < 186:
        return year, 1 + passed // 31, 1 + passed % 31
    return year, 7 + (passed - 186) // 30, 1 + (passed - 186) % 30


def _persian_new_year(year: int) -> int:
    """The ordinal of 1 Farvardin by the cycle of 33 years, which is the true one from 1200 to 1634 (1821 to 2256)."""
    return 365 * year + (8 * year + 21) // 33 + 226_530


def _hijri(ordinal: int) -> tuple[int, int, int]:
    """The tabular calendar with leap years 2, 5, 7, 10, 13, 16, 18, 21, 24, 26, 29 of 30, as Excel counts."""
    julian = ordinal + _UNIX_JULIAN - 1
    days = julian - 1_948_440 + 10_632
    cycle = (days - 1) // 10_631
    days = days - 10_631 * cycle + 354
    months = (10_985 - days) // 5_316 * (50 * days // 17_719) + days // 5_670 * (43 * days // 15_238)
    days = days - (30 - months) // 15 * (17_719 * months // 50) - months // 16 * (15_238 * months // 43) + 29
    month = 24 * days // 709
    return 30 * cycle + months - 30, month, days - 709 * month // 24


class Names(msgspec.Struct, frozen=True):
    """Names of months (January first, or the calendar's own), short and long, and of days, Sunday first."""

    months: tuple[str, ...]
    short_months: tuple[str, ...]
    days: tuple[str, ...]
    short_days: tuple[str, ...]
    halves: tuple[str, str]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ENGLISH = Names(
    _words("January February March April May June July August September October November December"),
    _words("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
    _words("Sunday Monday Tuesday Wednesday Thursday Friday Saturday"),
    _words("Sun Mon Tue Wed Thu Fri Sat"),
    ("AM", "PM"),
)
_RUSSIAN = Names(
    _words("Январь Февраль Март Апрель Май Июнь Июль Август Сентябрь Октябрь Ноябрь Декабрь"),
    _words("янв фев мар апр май июн июл авг сен окт ноя дек"),
    _words("воскресенье понедельник вторник среда четверг пятница суббота"),
    _words("Вс Пн Вт Ср Чт Пт Сб"),
    ("AM", "PM"),
)
_RUSSIAN_GENITIVE = msgspec.structs.replace(
    _RUSSIAN, months=_words("января февраля марта апреля мая июня июля августа сентября октября ноября декабря")
)
_PERSIAN_DAYS = ("یکشنبه", "دوشنبه", "سه‌شنبه", "چهارشنبه", "پنجشنبه", "جمعه", "شنبه")
_PERSIAN_MONTHS = _words("فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند")
_GREGORIAN_IN_PERSIAN = _words("ژانویه فوریه مارس آوریل مه ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر")
_HIJRI_MONTHS = (
    "محرم", "صفر", "ربیع‌الاول", "ربیع‌الثانی", "جمادی‌الاول", "جمادی‌الثانی",
    "رجب", "شعبان", "رمضان", "شوال", "ذیقعده", "ذیحجه",
)  # fmt: skip
_ARABIC = Names(
    _words("يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"),
    _words("يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"),
    _words("الأحد الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت"),
    _words("الأحد الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت"),
    ("ص", "م"),
)

ARABIC_LANGUAGE, RUSSIAN_LANGUAGE, PERSIAN_LANGUAGE = 0x01, 0x19, 0x29


def names(language: int, calendar: int, genitive: bool = False) -> Names:
    """The names in a language (the low 10 bits of a Windows LCID). English where another one is asked for or none.

    A format without a language is shown in that of the reader's system, which the file does not know.
    """
    if language == RUSSIAN_LANGUAGE:
        return _RUSSIAN_GENITIVE if genitive else _RUSSIAN
    if calendar in (PERSIAN, HIJRI) or language == PERSIAN_LANGUAGE:
        months = {PERSIAN: _PERSIAN_MONTHS, HIJRI: _HIJRI_MONTHS}.get(calendar, _GREGORIAN_IN_PERSIAN)
        return Names(months, months, _PERSIAN_DAYS, _PERSIAN_DAYS, ("ق.ظ", "ب.ظ"))
    return _ARABIC if language == ARABIC_LANGUAGE else _ENGLISH
