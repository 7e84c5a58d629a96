"""A number as the formats of automatic numbering write it (ECMA-376 part 1, 17.18.59 ST_NumberFormat)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"  # the standard's series has no ё, й, ъ and ь
_ARABIC_ALPHA = "أبتثجحخدذرزسشصضطظعغفقكلمنهوي"
_ARABIC_ABJAD = "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ"
_HEBREW_ALPHA = "אבגדהוזחטיכלמנסעפצקרשת"
_CHICAGO = "*†‡§"
_ROMAN = (
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
)
_HEBREW = (
    *((400, "ת"), (300, "ש"), (200, "ר"), (100, "ק"), (90, "צ"), (80, "פ"), (70, "ע"), (60, "ס"), (50, "נ"), (40, "מ")),
    *((30, "ל"), (20, "כ"), (10, "י"), (9, "ט"), (8, "ח"), (7, "ז"), (6, "ו"), (5, "ה")),
    *((4, "ד"), (3, "ג"), (2, "ב"), (1, "א")),
)
_LONGEST = 8  # letters of one series repeated; a label that repeats more is a broken start value


def format_number(value: int, kind: str, pattern: str = "") -> str:
    """`value` in the number format `kind`, or in decimal where the format is unknown or has no such number.

    `pattern` is the w:format of a custom format, such as `001, 002, 003, ...`.
    """
    if kind == "custom":
        first = pattern.partition(",")[0].strip()
        return str(value).zfill(len(first)) if first.isdigit() else str(value)
    write = _FORMATS.get(kind)
    return write(value) if write and value > 0 else str(value)


def _repeated(letters: str) -> Callable[[int], str]:
    """a … z, aa, bb …: the letter of the series, once more after every full round."""

    def write(value: int) -> str:
        rounds, place = divmod(value - 1, len(letters))
        return letters[place] * (rounds + 1) if rounds < _LONGEST else str(value)

    return write


def _digits(zero: str) -> Callable[[int], str]:
    shift = ord(zero) - ord("0")
    return lambda value: "".join(chr(ord(digit) + shift) for digit in str(value))


def _additive(signs: Sequence[tuple[int, str]]) -> Callable[[int], str]:
    def write(value: int) -> str:
        if value >= 4000:
            return str(value)
        text = ""
        for worth, sign in signs:
            while value >= worth:
                text += sign
                value -= worth
        return text

    return write


def _block(first: str, last: int) -> Callable[[int], str]:
    """Characters that stand in Unicode one after the other."""
    return lambda value: chr(ord(first) + value - 1) if value <= last else str(value)


def _ordinal(value: int) -> str:
    ending = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"


def _chinese(digits: str, units: str) -> Callable[[int], str]:
    """Counting below ten thousand: 二十一."""

    def write(value: int) -> str:
        if value >= 10_000:
            return str(value)
        text = ""
        for power in range(len(str(value)) - 1, -1, -1):
            digit = value // 10**power % 10
            if digit:
                leading_ten = power == 1 and digit == 1 and not text
                text += ("" if leading_ten else digits[digit]) + (units[power - 1] if power else "")
            elif text and value % 10**power and not text.endswith(digits[0]):
                text += digits[0]
        return text

    return write


def _hebrew(value: int) -> str:
    """15 and 16 are written as 9 + 6 and 9 + 7, since 10 + 5 and 10 + 6 would spell a holy name."""
    return _hebrew_sum(value).replace("יה", "טו").replace("יו", "טז")


_roman = _additive(_ROMAN)
_hebrew_sum = _additive(_HEBREW)
_CHINESE_DIGITS = "〇一二三四五六七八九"
_FORMATS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda value: f"{value:02}",
    "upperRoman": _roman,
    "lowerRoman": lambda value: _roman(value).lower(),
    "upperLetter": _repeated(_LATIN.upper()),
    "lowerLetter": _repeated(_LATIN),
    "russianUpper": _repeated(_RUSSIAN.upper()),
    "russianLower": _repeated(_RUSSIAN),
    "arabicAlpha": _repeated(_ARABIC_ALPHA),
    "arabicAbjad": _repeated(_ARABIC_ABJAD),
    "hebrew1": _hebrew,
    "hebrew2": _repeated(_HEBREW_ALPHA),
    "hindiNumbers": _digits("०"),
    "thaiNumbers": _digits("๐"),
    "decimalFullWidth": _digits("０"),
    "decimalFullWidth2": _digits("０"),
    "ordinal": _ordinal,
    "numberInDash": lambda value: f"- {value} -",
    "decimalEnclosedCircle": _block("①", 20),
    "decimalEnclosedCircleChinese": _block("①", 20),
    "decimalEnclosedParen": _block("⑴", 20),
    "decimalEnclosedFullstop": _block("⒈", 20),
    "ideographEnclosedCircle": _block("㊀", 10),
    "ganada": _repeated("가나다라마바사아자차카타파하"),
    "chosung": _repeated("ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"),
    "ideographTraditional": _repeated("甲乙丙丁戊己庚辛壬癸"),
    "ideographZodiac": _repeated("子丑寅卯辰巳午未申酉戌亥"),
    "ideographDigital": lambda value: "".join(_CHINESE_DIGITS[int(digit)] for digit in str(value)),
    "japaneseDigitalTenThousand": lambda value: "".join(_CHINESE_DIGITS[int(digit)] for digit in str(value)),
    "chineseCounting": _chinese(_CHINESE_DIGITS, "十百千"),
    "chineseCountingThousand": _chinese(_CHINESE_DIGITS, "十百千"),
    "taiwaneseCountingThousand": _chinese(_CHINESE_DIGITS, "十百千"),
    "japaneseCounting": _chinese(_CHINESE_DIGITS, "十百千"),
    "koreanCounting": _chinese(_CHINESE_DIGITS, "十百千"),
    "chineseLegalSimplified": _chinese("零壹贰叁肆伍陆柒捌玖", "拾佰仟"),
    "aiueoFullWidth": _repeated(
        "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
    ),
    "aiueo": _repeated("ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ"),
    "irohaFullWidth": _repeated(
        "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
    ),
    "hex": lambda value: f"{value:X}",
    "chicago": _repeated(_CHICAGO),
}
