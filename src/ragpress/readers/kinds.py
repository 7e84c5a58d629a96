"""What a cell's text is: a figure, a code or words; whether it names a time or is a word that heads columns."""

from __future__ import annotations

import re
from functools import lru_cache

from ragpress.readers.column_names import NAMES, TIMES

CELL_LIMIT = 120
"""A longer text is running text, whatever it holds."""
NAME_WORDS = 6
"""A text of more words is no column's name."""

_ASCII = str.maketrans("۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩", "01234567890123456789")
_FOOTNOTE = r"(?: ?(?:\\|/)\d{1,2}|[*¹²³⁴]{1,3}| ?\[?\(?[a-zа-я]\)?\]?)?"
_YEAR = r"(?:1[34]|1[89]|20)\d\d"
_PERIOD = re.compile(
    rf"{_YEAR}(?: ?[-/–] ?(?:\d\d|\d{{4}})?)?(?: ?(?:г\.?|гг\.?|год|г\.г\.))?"  # a year or two
    rf"{_FOOTNOTE}(?: ?\([^()]{{1,24}}\))?"
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}:\d\d(?: ?[-–—] ?\d{1,2}:\d\d)?"  # a date, a time
    rf"|(?:[1-4]|[ivх]{{1,3}}|iv) ?(?:кв\.?|квартал)(?: {_YEAR}(?: ?г\.?)?)?"  # a quarter
    r"|(?:[qh][1-4]|[1-4][qh])(?:[ /'-]?\d{2,4})?",
    re.IGNORECASE,
)
_WITH_TIME = re.compile(rf"([^\W\d_]+)\.?(?:[ -'’]{{0,2}}(?:{_YEAR}|\d\d)(?: ?г\.?)?)?{_FOOTNOTE}", re.IGNORECASE)
_YEAR_MARKED = re.compile(r"(?:1[34]|19|20)\d\d\d")
_AMOUNT = re.compile(
    r"(?:(?:usd|eur|rub|руб\.?)\s?)?[-+~≈<>]?\d(?:[\d\s.,٬٫:/%()-]*[\d%)])?"
    r"\s?(?:[^\W\d_]{1,5}\.?|тысяч|миллион\w*|рублей|تومان|درصد|[^\w\s]{1,2})?"
    r"|\d{1,2}[ -][^\W\d_]{3,9}[ -]\d{2,4}(?: ?г\.?)?",
    re.IGNORECASE,
)
_CONSTANT = re.compile(
    r"(?i:true|false|истина|ложь|да|нет|yes|no|بله|خیر|#[a-z0-9/]+[!?]?|n\.?[/ ]?a\.?|н/д|nan|null)|\([A-Z]{1,2}\)"
)
_SIGNS = frozenset("№#%$€₽£‰")  # that head columns alone
_RANGE = re.compile(r"\d[\d .,]*[-–—][\d .,]*\d|\d[\d .,]*\+|[<>≤≥] ?\d[\d .,]*")
_WORD = re.compile(r"[^\W_](?:[\w\u200c/-]*\w)?|[№#]")
_SENTENCE = re.compile(r"\S+\s+\S+\s.*[^\W\d_]{4,}[.!?]")
_ADDRESS = re.compile(r"\S+@\S+\.\S+|(?:https?://|www\.)\S+")


@lru_cache(1 << 15)
def kind(text: str) -> str:
    """`figure` (number, date, amount, constant, a sign for none), `code` (letters and digits in one word, an address)
    or `text`. Of several lines the first decides: `500` stays a figure with a note below it."""
    if len(text) > CELL_LIMIT:
        return "text"
    if "\n" in text and kind(text.partition("\n")[0]) == "figure":
        return "figure"
    letters = sum(map(str.isalpha, text))
    digits = sum(map(str.isdigit, text))
    if (digits and not letters) or _AMOUNT.fullmatch(text) or _CONSTANT.fullmatch(text):
        return "figure"
    if _ADDRESS.fullmatch(text) or (digits and len(text.split()) == 1):
        return "code"
    return "text" if letters or text.strip() in _SIGNS else "figure"


@lru_cache(1 << 12)
def is_period(text: str) -> bool:
    """A year, quarter, month, day, date or time: what heads columns as words do."""
    if len(text) >= 32:
        return False
    text = text.translate(_ASCII)
    return bool(_PERIOD.fullmatch(text)) or is_time_word(text)


def is_time_word(text: str) -> bool:
    """A month or a day of the week by name, also shortened or with a year: `Понедельник`, `Jan-07`, `янв. 2024`."""
    if len(text) >= 32:
        return False
    if not any(map(str.isalpha, text)):
        return False
    found = _WITH_TIME.fullmatch(fold_letters(text).replace("\u200c", "").replace(" شنبه", "شنبه"))
    return found is not None and found[1] in TIMES


def is_marked_year(text: str) -> bool:
    """A year with the number of a footnote behind it: `20161` among years is 2016."""
    return bool(_YEAR_MARKED.fullmatch(text.translate(_ASCII)))


def is_range(text: str) -> bool:
    """`15-64`, `65+`, `<5`: figures that name columns as ages and sizes do."""
    return len(text) < 24 and bool(_RANGE.fullmatch(text.translate(_ASCII)))


def lower_bound(text: str) -> float:
    """The first number of a figure, for ordering: 15 of `15-64`, 0 of `<5`; -1 where there is none."""
    found = re.search(r"\d+(?:[.,]\d+)?", text.translate(_ASCII))
    return -1.0 if found is None else 0.0 if text[0] in "<≤" else float(found[0].replace(",", "."))


def fold_letters(text: str) -> str:
    """In lower case and with Persian letters."""
    return text.lower().replace("ي", "ی").replace("ى", "ی").replace("ك", "ک")


@lru_cache(1 << 12)
def is_name(text: str) -> bool:
    """Whether a short text has a word that heads columns, or is an identifier such as `first_name`."""
    words = _WORD.findall(fold_letters(text[: CELL_LIMIT + 1]))
    if not words or len(words) > NAME_WORDS or _SENTENCE.fullmatch(text):
        return False
    return ("_" in text and text.replace("_", "").isalnum()) or any(word in NAMES for word in words)
