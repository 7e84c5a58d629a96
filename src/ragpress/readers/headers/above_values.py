"""A header above values: where the values begin, and how far up the header reaches from there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ragpress.readers.column_names import DATE_NAMES, UNITS
from ragpress.readers.headers.texts import are_facts
from ragpress.readers.headers.view import PREFACE, SEARCHED, View
from ragpress.readers.kinds import CELL_LIMIT, fold_letters, is_name, is_period, is_range, kind, lower_bound
from ragpress.readers.rows import Row

GAP = 8
"""Blank rows that may stand between a header and its data; between two rows of a header half as many."""
STUB = 40
"""A longer text alone in its row is a title, not the name of the first column."""


_UNIT = re.compile(r"[,(] ?[^\W\d]{1,4}\.?\)?$")


def body_start(view: View) -> int | None:
    """The first row of values; rows of facts above a fuller row of names are passed over.

    `Период | 01.04.2024` above `Дата | Контрагент | Приход` is none.
    """
    index = 0
    while index < min(SEARCHED, len(view.rows)):
        if view.is_body(index) and not _name_columns(view, index):
            names = _fuller_names(view, index)
            if names is None:
                return index
            index = names
        index += 1
    return None


def _fuller_names(view: View, index: int) -> int | None:
    """A row of names soon below that fills more columns than all values above it."""
    most = 0
    for number in range(index, min(index + PREFACE, len(view.rows) - 1)):
        said, filled = view.said(number), len(view.filled[number])
        if view.is_body(number):
            most = max(most, filled)
        elif filled > most and not said.values and said.names + said.periods > 1:
            return number
    return None


def _name_columns(view: View, index: int) -> bool:
    """Whether the figures of a row name the columns, as spans and sizes do: rising with ranges among them, or rising
    under a blank corner, or behind a name in even steps.

    `Span, m | 1.0 | 1.5 | 2.0 | 2.5` above `Beam A | 500 | 430 | 300 | 220`; `Under 10 | 10-14 | 15 | 16 | 17-24`.
    """
    row, filled = view.rows[index], view.filled[index]
    below = [number for number in range(index + 1, min(index + 10, len(view.rows))) if len(view.filled[number]) > 1]
    texts = [row.cells[column] for column in filled if column > 0]
    if not below or len(texts) < 2:
        return False
    bounds = [lower_bound(text) for text in texts if kind(text) == "figure"]
    rising = all(one <= other for one, other in pairwise(bounds))
    if (len(bounds) > 2 and any(map(is_range, texts))) or all(map(is_range, texts)):
        ranges = any(is_range(view.rows[number].cells[column]) for number in below for column in view.filled[number])
        return rising and not ranges
    if 2 < len(bounds) < len(texts):  # `K | 1 | 2 | 3 | Total`
        return all(other == one + 1 for one, other in pairwise(bounds))
    steps = _steps(view, index)
    if len(steps) < 2 or not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
        return False
    if any(_steps(view, number) == steps for number in below):
        return False  # such as a calendar
    if filled[0] > 0:
        return all(view.filled[number][0] == 0 for number in below)
    corner = row.cells[0]
    if len(steps) < 3 or len(set(steps)) > 1 or kind(corner) != "text" or len(below) < 2:
        return False
    return is_name(corner) or bool(_UNIT.search(corner))


def _steps(view: View, index: int) -> list[float]:
    """The differences of the figures in a row behind its first column; none where one is no plain number."""
    figures = [_number(view.rows[index].cells[column]) for column in view.filled[index] if column > 0]
    if None in figures:
        return []
    return [round(after - before, 6) for before, after in pairwise(each for each in figures if each is not None)]


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ".").replace(" ", ""))
    except ValueError:
        return None


def header_above(view: View, body: int) -> tuple[int, int]:
    """The first header row above `body` and the row behind the last one; equal where there is none."""
    start = end = body
    labels = 0  # lone texts in the first column right above the data: group labels, or the first column's name
    while start > 0:
        index = start - 1
        gap = view.rows[start].gap
        if gap > (GAP if start == end else GAP // 2):
            break
        if start == end and _is_alone(view, index):
            labels, start, end = labels + 1, index, index
            continue
        if start == end and not _begins(view, index):
            if not _is_plain_data(view, index):
                break
            labels, start, end = 0, index, index
            continue
        if start < end and not _is_upper(view, index, end):
            if not _is_instead(view, index, start, end):
                break
            end = start
        start = index
    if start == end:
        return body, body
    start, end = _without_data(view, start, end)
    if start < end and labels and end + labels <= body and not _is_stub_named(view, start, end):
        end += _names_stub(view, end, body)
    return start, end


def _names_stub(view: View, index: int, body: int) -> bool:
    """Whether a lone text right below the names is that of the first column: `State` below `      | 2001 | 2002`.

    It is where a blank row parts it from the data, or it is a usual name; where more such texts stand in the data, or
    in capitals or with a colon, it names a group of rows.
    """
    text = view.rows[index].cells[view.filled[index][0]]
    if len(text) > STUB or text.endswith(":") or text.isupper():
        return False
    more = any(_is_alone(view, number) and number + 1 < len(view.rows) and len(view.filled[number + 1]) > 1
               for number in range(body, len(view.rows)))  # fmt: skip
    if is_name(text) and index + 1 < body:
        return True  # above the label of a group
    return not more and view.rows[index + 1].gap > view.rows[index].gap


def _is_alone(view: View, index: int) -> bool:
    return len(view.filled[index]) == 1 and view.filled[index][0] == 0


def _is_stub_named(view: View, start: int, end: int) -> bool:
    return any(0 in view.filled[number] for number in range(start, end))


def _begins(view: View, index: int) -> bool:
    """Whether a row may be the last one of a header: it names columns of values, and holds none."""
    if are_facts(view.rows[index]):
        return False
    said = view.said(index)
    unlabelled = view.filled[index][0] > 0 and said.values < said.names and _are_labelled(view, index)
    if said.values and not unlabelled and not _name_columns(view, index):
        return False
    if not said.names and said.periods == 1 and view.filled[index][0] == 0 and not is_name(view.rows[index].cells[0]):
        return False  # `Berlin | 1990` may be a row of data
    first = int(0 in view.values and view.filled[index][0] == 0 and len(view.values) > 1)  # a label, or its name
    if said.names + said.periods > first or _name_columns(view, index):
        return True
    return any(column not in view.values for column in view.filled[index]) and _is_partial(view, index)


def _are_labelled(view: View, index: int) -> bool:
    """Whether all rows of values below have a text in the first column: one without is none of them."""
    below = [view.filled[number][0] for number in range(index + 1, len(view.rows)) if view.is_body(number)]
    return bool(below) and not any(below)


def _is_partial(view: View, index: int) -> bool:
    """A row of words beside the columns of values, that the row of names above it leaves to it.

    `Total | 1994-` below `Inquiries |       | Period`.
    """
    named: set[int] = set()
    for number in range(index - 1, max(index - 4, -1), -1):
        said = view.said(number)
        if len(view.filled[number]) > 1 and (said.values or not said.names + said.periods):
            break
        named.update(view.filled[number] if len(view.filled[number]) > 1 else ())
    return bool(named) and named.isdisjoint(view.filled[index])


def _is_plain_data(view: View, index: int) -> bool:
    """A row without a value in the columns of values, such as a name whose price is not known yet."""
    return len(view.filled[index]) > 1 and not view.said(index).values


def _is_upper(view: View, index: int, end: int) -> bool:
    """Whether a row above header rows is one as well: it names groups of their columns, or columns that they leave."""
    row, filled = view.rows[index], view.filled[index]
    said = view.said(index)
    values = said.values - _broken_figures(view, index) if said.values else 0
    if not filled or values * 2 > said.names + said.periods or not _are_short(view.rows[index : index + 1]):
        return False
    below = {column for number in range(index + 1, end) for column in view.filled[number]}
    merged = [column for column in filled if row.span(column) > 1]
    if len(filled) == 1:
        return _is_lone_upper(view, index, end, below)
    if are_facts(row) or _tells_the_time(row):
        return False
    if merged or any(column not in below for column in filled) or filled[0] > 0:
        return True
    if _goes_on(view, index, end):
        return True
    return any(second - first > 1 for first, second in pairwise(filled))


def _broken_figures(view: View, index: int) -> int:
    """How many figures of a row begin names that the row below ends: `65` above `years and over`."""
    lower = view.rows[index + 1].cells
    return sum(
        kind(view.rows[index].cells[column]) == "figure" and column < len(lower) and lower[column][:1].islower()
        for column in view.filled[index]
    )


def _tells_the_time(row: Row) -> bool:
    """The time that a whole table is of: `Период | май 2024`."""
    return row.filled() == (0, 1) and fold_letters(row.cells[0]) in DATE_NAMES and is_period(row.cells[1])


def _is_lone_upper(view: View, index: int, end: int, below: set[int]) -> bool:
    """A text alone in its row: a group over columns, or the name of the first column between rows of a header."""
    row, column = view.rows[index], view.filled[index][0]
    span = row.span(column)
    text = row.cells[column]
    if column == 0:
        if span > 1 or _is_stub_named(view, index + 1, end) or len(text) > STUB:
            return False
        above = index - 1
        return (
            above >= 0
            and row.gap <= GAP // 2
            and len(view.filled[above]) > 0
            and view.filled[above][0] > 0
            and not view.said(above).values
        )
    last = max(below)
    if span > 1:
        return not (span * 2 > last + 1 and column + span - 1 < last)  # centred, it is a title
    if column not in below:
        return True
    if len(text) > 2 * STUB:
        return False
    lower = view.rows[index + 1]
    over = lower.cells[column] if column < len(lower.cells) else ""
    firsts = {filled[0] for filled in view.filled[:index] if filled}
    if column > 1 and firsts <= {column}:  # centred, as all lines above it are
        return is_period(over) and not is_period(lower.cells[column - 1])
    if over and not lower.gap and _continues(text, over):
        return True
    if column >= last > 1:
        return False
    names = [number for number in range(index + 1, end) if len(view.filled[number]) > 1]
    full = any(0 in view.filled[number] and len(view.filled[number]) >= view.width for number in names)
    return bool(firsts) or not (full and (lower.gap or len(text) > STUB))


def _without_data(view: View, start: int, end: int) -> tuple[int, int]:
    """Takes rows off the end that name what the rows above them name already: they are data.

    `Шов | бесплатно` below `Услуга | Цена` and above `Пластырь | 20`.
    """
    while end - start > 1:
        lower = set(view.filled[end - 1])
        above = {column for number in range(start, end - 1) for column in view.filled[number]}
        if 0 not in lower or not lower <= above or len(lower) * 2 < len(above):
            break
        if _goes_on(view, end - 2, end) or not _is_stub_named(view, start, end - 1):
            break
        end -= 1
    return start, end


def _is_instead(view: View, index: int, start: int, end: int) -> bool:
    """Whether a row names all columns that the rows below name, which then are data: words for missing values.

    `Услуга | Цена` above `Шов | бесплатно` and `Вывих | бесплатно`, above `Пластырь | 20`.
    """
    below = {column for number in range(start, end) for column in view.filled[number]}
    if view.said(index).values or not below <= set(view.filled[index]) or view.rows[start].gap or 0 not in below:
        return False
    upper, lower = (
        sum(column in below and is_name(text) for column, text in enumerate(view.rows[at].cells))
        for at in (index, start)
    )
    return upper >= lower


def _goes_on(view: View, index: int, end: int) -> bool:
    """Whether the row below continues the names of this one, as units do: `Price | Weight` above `(USD) | (kg)`."""
    row, lower = view.rows[index], view.rows[index + 1]
    shared = [column for column in view.filled[index + 1] if column in view.filled[index]]
    if index + 1 >= end or not shared:
        return False
    going = sum(_continues(row.cells[column], lower.cells[column]) for column in shared)
    return going * 2 > len(shared)


def _continues(upper: str, lower: str) -> bool:
    return upper.endswith(("-", ",", "(")) or lower[0].islower() or lower[0] in "(%$€₽,." or lower in UNITS


def _are_short(rows: Sequence[Row]) -> bool:
    texts = [text for row in rows for text in row.cells if text]
    return sum(len(text) <= CELL_LIMIT for text in texts) * 5 >= len(texts) * 4
