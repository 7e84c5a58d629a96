"""A header above words: what sets it off from the rows below."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ragpress.readers.headers.texts import are_facts, join_header
from ragpress.readers.headers.view import SAMPLE, View
from ragpress.readers.kinds import NAME_WORDS, is_name, is_period, kind
from ragpress.readers.rows import Row


def is_named(head: Sequence[Row]) -> bool:
    names = [name for name in join_header(head) if name]
    return sum(is_name(name) or is_period(name) for name in names) * 2 >= len(names)


def possible_depth(view: View, start: int) -> int:
    """How many rows from `start` could be one header: 0 for none, more than 1 where groups stand above names."""
    rows, depth = view.rows, 1
    while depth < 4 and start + depth < len(rows) - 1 and _groups(rows[start + depth - 1], rows[start + depth]):
        depth += 1
    return depth if _is_candidate(rows[start : start + depth], view.width) else 0


def _groups(row: Row, below: Row) -> bool:
    """Whether `row` names groups of the columns that `below` names."""
    filled, names = row.filled(), below.filled()
    own = [column for column in names if column not in below.inherited]
    if not own or any(kind(below.cells[column]) == "figure" and not is_period(below.cells[column]) for column in own):
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
    spread = sum(column > names[0] for column in gaps) * 2 >= len(filled)
    return len(filled) > 1 and len(gaps) > 1 and len(own) > len(filled) and filled[0] > names[0] and spread


def _is_candidate(rows: Sequence[Row], width: int) -> bool:
    """Texts, mostly words, for most of the table's columns."""
    header = join_header(rows)
    texts = [text for text in header if text]
    wide = max(len(header), width)
    corner = len(texts) == wide - 1 and not header[0]  # above the names down the side there may be none
    if not texts or (len(texts) * 10 < wide * 6 and not corner):
        return False
    if all(kind(text) == "figure" for text in texts) or any(map(are_facts, rows)):
        return False
    words = sum(kind(text) != "figure" or is_period(text) for text in texts)
    return words * 10 >= len(texts) * 6


def is_set_off(head: Sequence[Row], data: Sequence[Row]) -> bool:
    """Whether the header differs from the rows below it in style, kind of value, length, or by naming columns."""
    if not data:
        return False
    below = data[:SAMPLE]
    header = join_header(head)
    score = 0.0
    few = len(below) < 3 and not is_named(head)  # one word that may head a column proves little above two rows
    if all(stands_out(row) for row in head) and sum(map(stands_out, below)) * 4 <= len(below):
        score += 2
    for column, name in enumerate(header):
        values = [row.cells[column] for row in below if column < len(row.cells) and row.cells[column]]
        if name and values:
            score += _evidence(name, values, 0.4 if few else 1.0)
    return score >= 0.5


def stands_out(row: Row) -> bool:
    return row.strong or row.evidence.pinned or row.evidence.filtered


def _evidence(name: str, values: Sequence[str], known: float) -> float:
    """What one column says for (above 0) or against a header; `known` is what a usual name of columns counts."""
    named = kind(name)
    kinds = [kind(value) for value in values]
    same = kinds.count(named) / len(kinds)
    if named == "figure":
        periods = sum(map(is_period, values)) * 2 > len(values)
        return 0.4 if is_period(name) and not periods else -1.0 if same > 0.5 else -0.5
    if named == "code" and same <= 0.4:
        return 1.0 if kinds.count("figure") > len(kinds) / 2 else 0.0
    if named == "code" or name in values:
        return -1.0
    if same <= 0.4:
        return 1.0
    score = 0.0
    if is_name(name):
        # Names all the way down are a column of names, as in a form; `teacher` above `doctor` may be one of them.
        alike = sum(_shape(value) == _shape(name) for value in values) * 2 > len(values)
        names = sum(map(is_name, values)) * (4 if alike else 2) >= len(values)
        score = -0.5 if names else min(known, 0.4) if alike else known
    typical = median(map(len, values))
    if typical >= max(2 * len(name), len(name) + 12):
        score += 0.5
    often = len(values) / len(set(values))
    score += 0.5 if often >= 5 else 0.25 if often >= 3 else 0.0
    if len(values) > 2 and name[0].isupper() and sum(value[0].islower() for value in values) * 4 > len(values) * 3:
        score += 0.5  # `Порода` above `такса`, `овчарка`
    if len(values) > 2 and NAME_WORDS >= len(name.split()) > 1 + max(len(value.split()) for value in values):
        score += 0.5  # `К кому обратиться` above `Терапевт`, `Хирург`
    return score


def _shape(text: str) -> tuple[int, bool]:
    """How many words a text has, and whether it begins with a capital."""
    return len(text.split()), text[0].isupper()
