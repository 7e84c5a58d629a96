"""Which rows of a grid are its header, decided by evidence: they differ from the data below, or stand out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from ragpress.readers.names import NAMES
from ragpress.readers.rows import Row
from ragpress.text.questions import pair_columns

SEARCHED = 40
"""Rows from the top among which a header may stand; forms have long preambles, nothing sane has longer ones."""
PREFACE = 8
"""Rows of several cells that may stand above a header, such as the facts at the head of a report."""
SAMPLE = 200
"""Data rows looked at as evidence."""
CELL_LIMIT = 120
"""A header cell is short."""
NAME_WORDS = 6
"""A text of more words is no column's name."""

_PERIOD = re.compile(
    r"(?:1[34]|19|20)\d\d(?:[-/](?:\d\d|\d{4}))?(?: ?(?:г\.?|год|г\.г\.))?"  # a year or two
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}:\d\d(?: ?[-–—] ?\d{1,2}:\d\d)?"  # a date, a time
)
_ASCII = str.maketrans("۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩", "01234567890123456789")
_AMOUNT = re.compile(
    r"(?:(?:usd|eur|rub|руб\.?)\s?)?[-+~≈<>]?\d(?:[\d\s.,٬٫:/%()-]*[\d%)])?"
    r"\s?(?:[^\W\d_]{1,5}\.?|тысяч|миллион\w*|рублей|تومان|درصد|[^\w\s]{1,2})?"
    r"|\d{1,2}[ -][^\W\d_]{3,9}[ -]\d{2,4}(?: ?г\.?)?",
    re.IGNORECASE,
)
_CONSTANT = re.compile(r"(?i:true|false|истина|ложь|да|нет|yes|no|بله|خیر|#[a-z0-9/]+[!?]?)")
_WORD = re.compile(r"[^\W_](?:[\w\u200c/-]*\w)?|[№#]")
_ADDRESS = re.compile(r"\S+@\S+\.\S+|(?:https?://|www\.)\S+")


class HeaderRows(NamedTuple):
    """The header is `depth` rows from index `start`."""

    start: int
    depth: int


def find_header(rows: Sequence[Row]) -> HeaderRows | None:
    """The first row (or rows, where groups stand above names) that is provably a header, else None.

    Titles may stand above it, and a few rows that fill fewer columns than is usual; below such rows its cells must
    mostly be known names of columns. A full row that is no header ends the search.
    """
    width = usual_width(rows)
    above = 0
    for start in range(min(SEARCHED, len(rows) - 1)):
        depth = _depth(rows, start, width)
        head = rows[start : start + depth]
        if depth and _provable(head, rows[start + depth :]) and (not above or _is_named(head)):
            return HeaderRows(start, depth)
        filled = len(rows[start].filled())
        above += filled > 1
        if filled >= width or above > PREFACE:
            return None
    return None


def _is_named(head: Sequence[Row]) -> bool:
    names = [name for name in join_header(head) if name]
    return sum(is_name(name) or _is_period(name) for name in names) * 2 >= len(names)


def usual_width(rows: Sequence[Row]) -> int:
    """How many cells most of the first 1000 rows fill; of two numbers equally frequent the larger."""
    counts = Counter(len(row.filled()) for row in rows[:1000])
    return max(counts, key=lambda width: (counts[width], width), default=0)


def join_header(rows: Sequence[Row]) -> tuple[str, ...]:
    """One text a column: `group / name` where several rows make the header, each text once."""
    width = max((len(row.cells) for row in rows), default=0)
    levels: list[list[str]] = []
    for number, row in enumerate(rows):
        level = [""] * width
        for column in row.filled():
            reach = row.span(column)
            if number < len(rows) - 1 and not any(span > 1 for span in row.spans):
                reach = _open_reach(row, rows[-1], column, width)
            for covered in range(column, min(column + reach, width)):
                level[covered] = " ".join(row.cells[column].split())
        levels.append(level)
    return tuple(" / ".join(dict.fromkeys(text for text in column if text)) for column in zip(*levels, strict=True))


def _open_reach(row: Row, below: Row, column: int, width: int) -> int:
    """How far an unmerged group name reaches: over blank cells that have a name below."""
    reach = 1
    while (
        column + reach < width
        and not (column + reach < len(row.cells) and row.cells[column + reach])
        and column + reach < len(below.cells)
        and below.cells[column + reach]
    ):
        reach += 1
    return reach


def _depth(rows: Sequence[Row], start: int, width: int) -> int:
    """How many rows from `start` could be one header: 0 for none, more than 1 where groups stand above names."""
    depth = 1
    while depth < 4 and start + depth < len(rows) - 1 and _groups(rows[start + depth - 1], rows[start + depth]):
        depth += 1
    return depth if _candidate(rows[start : start + depth], width) else 0


def _groups(row: Row, below: Row) -> bool:
    """Whether `row` names groups of the columns that `below` names."""
    filled, names = row.filled(), below.filled()
    own = [column for column in names if column not in below.inherited]
    if not own or any(kind(below.cells[column]) == "figure" and not _is_period(below.cells[column]) for column in own):
        return False
    merged = [column for column in filled if row.span(column) > 1]
    if merged:
        covered = {inner for column in merged for inner in range(column, column + row.span(column))}
        wide = max(len(row.cells), len(below.cells))
        if len(filled) == 1 and len(covered) * 2 > wide and (0 in covered or wide - 1 not in covered):
            return False  # a title, at the side or centred
        blank = {column for column in own if column >= len(row.cells) or not row.cells[column]}
        return any(column in covered for column in own) and all(column in covered | blank for column in own)
    if any(below.inherited):
        return False
    gaps = [column for column in own if column >= len(row.cells) or not row.cells[column]]
    return len(filled) > 1 and len(gaps) > 1 and len(own) > len(filled) and filled[0] > names[0]


def _candidate(rows: Sequence[Row], width: int) -> bool:
    """Cells mostly short, unique, non-empty strings, for most of the table's columns."""
    header = join_header(rows)
    texts = [text for text in header if text]
    wide = max(len(header), width)
    corner = len(texts) == wide - 1 and not header[0]  # above the names down the side there may be none
    if not texts or (len(texts) * 10 < wide * 6 and not corner):
        return False
    if all(kind(text) == "figure" for text in texts):
        return False
    short = sum(len(text) <= CELL_LIMIT for text in texts)
    words = sum(kind(text) != "figure" or _is_period(text) for text in texts)
    return short * 10 >= len(texts) * 8 and words * 10 >= len(texts) * 6 and len(set(texts)) * 10 >= len(texts) * 6


def _provable(head: Sequence[Row], data: Sequence[Row]) -> bool:
    """Whether the header differs from the rows below it in style, kind of value, length, or by naming columns."""
    if not data:
        return False
    below = [row for row in data[:SAMPLE] if row.cells != head[-1].cells]  # not the header printed again
    header = join_header(head)
    if pair_columns(header):
        return True
    score = 0.0
    if all(row.strong for row in head) and sum(row.strong for row in below) * 4 <= len(below):
        score += 2
    for column, name in enumerate(header):
        values = [row.cells[column] for row in below if column < len(row.cells) and row.cells[column]]
        if name and values:
            score += _evidence(name, values)
    return score >= 0.5


def _evidence(name: str, values: Sequence[str]) -> float:
    """What one column says for (above 0) or against a header."""
    named = kind(name)
    kinds = [kind(value) for value in values]
    same = kinds.count(named) / len(kinds)
    if named == "figure":
        periods = sum(map(_is_period, values)) * 2 > len(values)
        return 0.5 if _is_period(name) and not periods else -1.0 if same > 0.5 else -0.5
    if named == "code" and same <= 0.4:
        return 1.0 if kinds.count("figure") > len(kinds) / 2 else 0.0
    if named == "code" or name in values:
        return -1.0
    if same <= 0.4:
        return 1.0
    score = 0.0
    if is_name(name):
        # Names all the way down are a column of names itself, as in a form.
        score = 1.0 if sum(map(is_name, values)) * 4 < len(values) else -0.5
    typical = median(map(len, values))
    if typical >= max(2 * len(name), len(name) + 12):
        score += 0.5
    if len(values) >= 4 and len(set(values)) * 2 <= len(values):
        score += 0.5
    return score


def kind(text: str) -> str:
    """`figure` (number, date, amount, constant), `code` (letters and digits in one word, an address) or `text`."""
    if len(text) > CELL_LIMIT:
        return "text"
    letters = sum(map(str.isalpha, text))
    digits = sum(map(str.isdigit, text))
    if (digits and not letters) or _AMOUNT.fullmatch(text) or _CONSTANT.fullmatch(text):
        return "figure"
    if _ADDRESS.fullmatch(text) or (digits and len(text.split()) == 1):
        return "code"
    return "text" if letters or text.strip() in ("№", "#") else "figure"


def _is_period(text: str) -> bool:
    """A year, date or time: figures that head columns as words do."""
    return len(text) < 20 and bool(_PERIOD.fullmatch(text.translate(_ASCII)))


def _covered(row: Row) -> int:
    return sum(row.span(column) for column in row.filled())


def is_name(text: str) -> bool:
    """Whether a short text has a word that heads columns, or is an identifier such as `first_name`."""
    folded = text.lower().replace("ي", "ی").replace("ى", "ی").replace("ك", "ک")
    words = _WORD.findall(folded)
    if not words or len(words) > NAME_WORDS:
        return False
    return ("_" in text and text.replace("_", "").isalnum()) or any(word in NAMES for word in words)
