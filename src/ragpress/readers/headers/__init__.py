"""Which rows of a grid are its header. `RULES`, below, has the order; each rule is one function with one example.

A header is where what a column says changes: words, years or units above, figures or codes below. Where a table
holds nothing but words, style, words that usually name columns and the shape of the texts decide, with care: a header
that is not found costs names, a data row taken for one gives every value a wrong name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragpress.readers.column_names import GENERIC
from ragpress.readers.headers.above_values import body_start, header_above
from ragpress.readers.headers.above_words import is_named, is_set_off, possible_depth, stands_out
from ragpress.readers.headers.texts import are_facts, header_texts, join_header, usual_width
from ragpress.readers.headers.view import PREFACE, SAMPLE, SEARCHED, View
from ragpress.readers.kinds import CELL_LIMIT, is_name, is_period, kind
from ragpress.readers.rows import Row
from ragpress.text.questions import pair_columns

__all__ = [
    "PREFACE",
    "SAMPLE",
    "SEARCHED",
    "HeaderRows",
    "are_facts",
    "find_header",
    "find_header_over_values",
    "header_texts",
    "is_card",
    "join_header",
    "usual_width",
]


class HeaderRows(NamedTuple):
    """The header is `depth` rows from index `start`."""

    start: int
    depth: int


def find_header(rows: Sequence[Row]) -> HeaderRows | None:
    """The rows that are provably the header, by the first rule that finds one, else None.

    Titles and rows of facts may stand above them. Looks at `SEARCHED` + `SAMPLE` rows, whatever there are more.
    """
    view = View(rows)
    if len(view.rows) < 2 or is_card(rows):
        return None
    return next((found for rule in RULES if (found := rule(view)) is not None), None)


def find_header_over_values(rows: Sequence[Row]) -> HeaderRows | None:
    """The header by the rule `names_over_values` alone, where at least two rows of values stand below it."""
    view = View(rows)
    found = names_over_values(view)
    if found is None:
        return None
    bodies = sum(view.is_body(number) for number in range(found.start + found.depth, len(view.rows)))
    return found if bodies > 1 else None


# -- the rules, in their order -----------------------------------------------------------------------------------------


def question_and_answer(view: View) -> HeaderRows | None:
    """Two columns that say of themselves that they hold questions and answers.

    `Вопрос | Ответ` above anything.
    """
    for index in range(min(PREFACE, len(view.rows) - 1)):
        if len(view.filled[index]) > 1:
            return HeaderRows(index, 1) if pair_columns(join_header(view.rows[index : index + 1])) else None
    return None


def names_over_values(view: View) -> HeaderRows | None:
    """Rows of words, years and units down to the first row that holds values where its columns do.

    `State | Acreage |      ` / `      | 2006    | 2007 ` above `Ohio | 3,150 | 3,610`.
    """
    if not view.values:
        return None
    body = body_start(view)
    if body is None:
        return None
    start, end = header_above(view, body)
    if start == end:
        return None
    head = view.rows[start:end]
    named = {column for column, texts in enumerate(header_texts(head)) if texts}
    asked = [column for column in view.values if column > 0] or list(view.values)
    known = sum(column in named for column in asked)
    if known * 2 < len(asked):
        return None
    return HeaderRows(start, end - start)


def times_over_words(view: View) -> HeaderRows | None:
    """Days, months or hours side by side, above words.

    `      | Monday | Tuesday` above `9:00 | Yoga   | Boxing `.
    """
    for index in range(min(PREFACE, len(view.rows) - 1)):
        row = view.rows[index]
        times = [column for column in view.filled[index] if is_period(row.cells[column])]
        if len(times) < 2 or len(times) < len(view.filled[index]) - 1:
            continue
        below = [other.cells[column] for other in view.rows[index + 1 :] for column in times
                 if column < len(other.cells) and other.cells[column]]  # fmt: skip
        if below and sum(map(is_period, below)) * 4 <= len(below) and len(set(row.cells)) > 2:
            return HeaderRows(index, 1)
    return None


def names_over_words(view: View) -> HeaderRows | None:
    """In a table of words a full row of short texts that style, usual names or the shape of the texts set off.

    `Кличка | Порода` above `Бим | такса`; never `Париж | Франция` above `Рим | Италия`.
    """
    above = 0
    if view.width < 2 and not stands_out(view.rows[0]):
        return None  # lines
    for start in range(min(SEARCHED, len(view.rows) - 1)):
        depth = possible_depth(view, start)
        head = view.rows[start : start + depth]
        if depth and is_set_off(head, view.rows[start + depth :]) and (not above or is_named(head)):
            return HeaderRows(start, depth)
        filled = len(view.filled[start])
        above += filled > 1
        if filled >= view.width or above > PREFACE:
            return None
    return None


RULES: tuple[Callable[[View], HeaderRows | None], ...] = (
    question_and_answer,
    names_over_values,
    times_over_words,
    names_over_words,
)
"""Asked in this order, after `is_card`: a card of names down the side has no header at all."""


def is_card(rows: Sequence[Row]) -> bool:
    """Pairs of a name and its value side by side, the names down the side: no row of it is a header.

    `Название | ООО Пример` / `ИНН | 7700000000`; with four columns two pairs a row. Most names end in a colon, or two
    in five are words that head columns, twice as many as among the values; a first row of such words alone is a header.
    """
    if len(rows) > 2 * SEARCHED:
        return False
    columns = {column for row in rows for column in row.filled()}
    if len(rows) < 2 or columns not in ({0, 1}, {0, 1, 2, 3}) or pair_columns(join_header(rows[:1])):
        return False
    pairs = [(row.cells[at].strip(), row.cells[at + 1]) for row in rows for at in (0, 2)
             if at + 1 < len(row.cells) and row.cells[at] and row.cells[at + 1]]  # fmt: skip
    if len(pairs) < 2 or len(pairs) * 4 < sum(len(row.filled()) for row in rows):
        return False
    labels = [label for label, _ in pairs]
    if any(kind(label) != "text" or len(label) > CELL_LIMIT for label in labels):
        return False
    if len({label.rstrip("0123456789۰۱۲۳۴۵۶۷۸۹") for label in labels}) < len(labels):
        return False  # some twice, or `Box 1`, `Box 2`
    if sum(label.endswith(":") for label in labels) * 2 >= len(labels):
        return True
    first, values = rows[0].filled(), [value for _, value in pairs]
    below = labels[sum(column in (0, 2) for column in first) :]
    named = sum(map(is_name, below))
    names = [is_name(rows[0].cells[column]) or is_period(rows[0].cells[column]) for column in first]
    over_figures = kind(values[0]) == "text" and all(kind(value) == "figure" for value in values[1:])
    if len(names) > 1 and (
        (all(names) and (named * 5 < len(below) * 3 or over_figures or labels[0].lower() in GENERIC))
        or (over_figures and named * 5 < len(below) * 3)
    ):
        return False  # a header
    known = sum(map(is_name, labels))
    return known > 1 and known * 5 >= len(labels) * 2 <= named * 5 + 2 and known > 2 * sum(map(is_name, values))
