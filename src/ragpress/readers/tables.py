"""A grid of cell texts to tables: titles, header, groups, data and notes. Shared by docx, xlsx and csv.

Everything here looks at a bounded number of rows for each place at which a table might begin, so that the whole is
linear in the number of rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ragpress.readers.headers import (
    PREFACE,
    SAMPLE,
    SEARCHED,
    HeaderRows,
    are_facts,
    find_header,
    find_header_over_values,
    header_texts,
    is_card,
    usual_width,
)
from ragpress.readers.kinds import is_name, is_period, kind
from ragpress.readers.rows import Row, TableReading, one_line

__all__ = ["Row", "TableReading", "is_title", "one_line", "read_table", "read_tables"]

NOTE = 60
"""A lone text below a table is a note where it is longer; a shorter one may be the name of a row without values."""
COMPARED = 50
"""Rows looked at to tell what the columns of a table hold."""
LABEL = 160
"""A longer text names no group of rows."""

_NOTE = re.compile(
    r"\W{0,2}(?:sources?|notes?|footnotes?|remarks?|see|примечани[ея]|источники?|сноск[аи]|справочно|прим\.|"
    r"منبع|منابع|مأخذ|ماخذ|یادداشت|توضیح|توضیحات|نکته)\b|[*†‡¹²³⁴⁵]|\\?\d{1,2}[).]? \D",
    re.IGNORECASE,
)

_MARK = re.compile(
    r"(?:sources?|notes?|примечани[ея]|источники?|منبع|توضیح)[:.]?|[^\w\s]{1,3}|\W?\d{1,2}\W?|\(?[a-z]{1,2}\)?",
    re.IGNORECASE,
)
_PERSON = re.compile(r"[^\W\d_]\. ?[^\W\d_]\.|_{3,}")  # initials, or the line to sign on


def read_tables(grid: Sequence[Row]) -> list[TableReading]:
    """The tables of a grid, one below another: a new one begins where a header is found anew, or where the rows behind
    a blank one hold other kinds of values than the table above."""
    rows = _told(grid)
    tables = []
    start = 0
    while start < len(rows):
        end, found = _end(rows, start)
        if start and all(_is_signature([row]) for row in rows[start:end]):
            tables.append(TableReading(body=tuple(rows[start:end]), pairs=True))
        else:
            tables.append(_read(rows[start:end], found if found or end == len(rows) else find_header(rows[start:end])))
        start = end
    return tables


def read_table(grid: Sequence[Row], header_rows: int | None = None) -> TableReading:
    """Reads one table.

    `header_rows` says how many rows from the first one are the header where the source itself says so (a header row
    repeated on every page, an Excel table); None looks for a provable one. Rows that hold nothing, or only what they
    inherit from a merge above, are dropped.
    """
    rows = _told(grid)
    return _read(rows, HeaderRows(0, min(header_rows, len(rows))) if header_rows is not None else find_header(rows))


def _read(rows: Sequence[Row], found: HeaderRows | None) -> TableReading:
    if found is None:
        start = _leading_titles(rows)
        body, notes = _split_notes(rows[start:])
        return TableReading(
            titles=tuple(rows[:start]),
            body=tuple(body),
            groups=_groups(body),
            notes=tuple(notes),
            pairs=is_card(body),
        )
    before, head = rows[: found.start], rows[found.start : found.start + found.depth]
    names = header_texts(head)
    below = rows[found.start + found.depth :]
    again = [row for row in below if _repeats(row, head)]
    body, notes = _split_notes([row for row in below if not _repeats(row, head)] if again else below)
    if body and _numbers_columns(body[0]):  # `1 | 2 | 3` below the names of a form
        again, body = [body[0], *again], body[1:]
    return TableReading(
        titles=tuple(row for row in before if is_title(row)),
        facts=tuple(row for row in before if not is_title(row)),
        names=names,
        header_rows=tuple(head),
        body=tuple(body),
        groups=_groups(body),
        repeated=tuple(again),
        notes=tuple(notes),
    )


def is_title(row: Row) -> bool:
    """A row that says one thing in words."""
    filled = row.filled()
    return len(filled) == 1 and kind(row.cells[filled[0]]) == "text"


def _told(grid: Sequence[Row]) -> list[Row]:
    """The rows that say something of their own. What is dropped leaves no gap."""
    return [row for row in grid if (row.own() if row.inherited else any(row.cells))]


def _leading_titles(rows: Sequence[Row]) -> int:
    """How many lines stand above a table that has no provable header. A list of one column has none."""
    width = max((len(row.filled()) for row in rows), default=0)
    start = 0
    while width > 1 and start < len(rows) and is_title(rows[start]):
        start += 1
    return start if start < len(rows) and len(rows[start].filled()) > 1 else 0


def _repeats(row: Row, head: Sequence[Row]) -> bool:
    """A row of the header printed again."""
    return len(row.filled()) > 1 and any(row.cells == each.cells for each in head)


def _numbers_columns(row: Row) -> bool:
    """`1 | 2 | 3`, the numbers of the columns; in forms of statistics `А | Б | 1 | 2`."""
    texts = row.own()
    letters = sum(text in {"А", "Б", "В", "A", "B", "C"} for text in texts[:-2])
    numbers = [str(number + 1) for number in range(len(texts) - letters)]
    return len(texts) > 2 and row.filled()[0] == 0 and texts[letters:] == numbers


def _is_signature(rows: Sequence[Row]) -> bool:
    """One row below a table, of an office and a person: `Ответственный | Иванова А. А.`."""
    if len(rows) != 1 or rows[0].filled() != (0, 1):
        return False
    name, value = rows[0].cells[:2]
    return (name.endswith(":") or is_name(name) or bool(_PERSON.search(value))) and not is_name(value)


# -- where a table ends ------------------------------------------------------------------------------------------------


def _end(rows: Sequence[Row], start: int) -> tuple[int, HeaderRows | None]:
    """The index behind the last row of the table that begins at `start`, and its header as found on the way."""
    sample = rows[start : start + SEARCHED + SAMPLE]
    found = _first_header(sample)
    head = sample[found.start : found.start + found.depth] if found is not None else []
    first = start + found.start + found.depth if found is not None else start + _leading_titles(sample)
    holds = _holds(rows[first : first + COMPARED]) if first < len(rows) else {}
    for index in range(first + 1, len(rows)):
        behind_gap = rows[index].gap > 0
        lone = len(rows[index].filled()) == 1
        if not behind_gap and not (head and lone and len(rows[index - 1].filled()) > 1):
            continue
        if head and rows[index].cells == head[0].cells:
            continue  # printed again
        if sum(map(bool, header_texts(head))) > 2 and all(map(_may_be_note, rows[index : _gap(rows, index)])):
            continue
        if _begins_anew(rows, index, head, holds) or (behind_gap and not _fits(rows, index, head, holds)):
            return index, found
    return len(rows), found


def _first_header(rows: Sequence[Row]) -> HeaderRows | None:
    """The header of the first table: by the rows down to a blank one where these hold values, else by all."""
    gaps = [index for index, row in enumerate(rows[:SEARCHED]) if row.gap and index]
    for index in gaps:
        found = find_header_over_values(rows[:index])
        if found is not None and len(rows[found.start + found.depth - 1].filled()) > 1:
            return found
    return find_header(rows)


def _begins_anew(rows: Sequence[Row], index: int, head: Sequence[Row], holds: dict[int, str]) -> bool:
    """Whether a header of its own stands at `index`, or right below titles and facts that do."""
    several = [at for at in range(index, min(index + PREFACE, len(rows))) if len(rows[at].filled()) > 1]
    named = next((at for at in several if not _are_facts(rows, at)), None)
    if named is None or named + 1 >= len(rows):
        return False
    cells = [rows[named].cells[column] for column in rows[named].filled()]
    if any(kind(text) != "text" and not is_period(text) for text in cells):
        return False
    if head and any(rows[named].cells == row.cells for row in head):
        return named > index  # printed again it goes on with the table; below a title it begins another one
    odd = rows[index].gap and any(holds.get(column, "figure") != "text" for column in rows[named].filled() if column)
    if not odd and sum(is_name(text) or is_period(text) for text in cells) * 2 < len(cells):
        return False
    found = _first_header(rows[index : index + COMPARED])
    return found is not None and index + found.start <= named


def _are_facts(rows: Sequence[Row], index: int) -> bool:
    """Whether a row above a header is no part of it: a name and its value above fuller rows."""
    if rows[index].filled() != (0, 1):
        return are_facts(rows[index])
    return max((len(row.filled()) for row in rows[index + 1 : index + PREFACE]), default=0) > 2


def _fits(rows: Sequence[Row], index: int, head: Sequence[Row], holds: dict[int, str]) -> bool:
    """Whether the rows behind a blank one hold the same kinds of values in the same columns as those above."""
    end = _gap(rows, index)
    block = [row for row in rows[index:end] if len(row.filled()) > 1]
    if not block or not head:
        return True
    if end == len(rows) and len(head[-1].cells) > 2 and all(_is_signature([row]) for row in block):
        return False
    kinds = _holds(block)
    shared = [column for column in kinds if column in holds]
    unlike = sum(kinds[column] != holds[column] for column in shared if column > 0)
    return unlike * 2 <= len([column for column in shared if column > 0])


def _gap(rows: Sequence[Row], index: int) -> int:
    """The next row from `index` on with a blank one above it, or the end of what is compared."""
    end = index + 1
    while end < len(rows) and end < index + COMPARED and not rows[end].gap:
        end += 1
    return end


def _holds(rows: Sequence[Row]) -> dict[int, str]:
    """What each column mostly holds: `text`, or `figure` where it is figures or codes."""
    found: dict[int, Counter[str]] = {}
    for row in rows:
        for column in row.filled() if len(row.filled()) > 1 else ():
            found.setdefault(column, Counter())["text" if kind(row.cells[column]) == "text" else "figure"] += 1
    return {column: counts.most_common(1)[0][0] for column, counts in found.items()}


# -- groups and notes --------------------------------------------------------------------------------------------------


def _split_notes(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The rows without the notes at their end: lone texts behind a blank row, long ones, or such as call themselves
    so. A list of one column has none."""
    start = len(rows)
    while start > 0 and _may_be_note(rows[start - 1]):
        start -= 1
    if not any(len(row.filled()) > 1 for row in rows[:start]):
        return list(rows), []
    width = usual_width(rows)
    body = rows[:start]
    alone = sum(len(row.filled()) == 1 for row in body)
    spelled = width > 2 and alone * 3 <= len(body)  # a row without values is no row of such a table
    while start < len(rows) and not (_is_note(rows[start], width) or (spelled and rows[start].cells[0])):
        start += 1
    return list(rows[:start]), list(rows[start:])


def _may_be_note(row: Row) -> bool:
    """A lone text, or a text behind what calls it a note or is its mark: `Source: | Bureau`, `* | estimated`."""
    filled = row.filled()
    if len(filled) == 1:
        return True
    first, *rest = (row.cells[column] for column in filled)
    if filled[0] or any(kind(text) != "text" for text in rest):
        return False
    return bool(_MARK.fullmatch(first)) if len(rest) == 1 else bool(_NOTE.match(first)) and len(first) > 5


def _is_note(row: Row, width: int) -> bool:
    column = row.filled()[0]
    text = row.cells[column]
    if len(row.filled()) > 1:
        return True
    return kind(text) == "text" and (
        row.gap > 0 or len(text) > NOTE or row.span(column) >= max(width, 2) or bool(_NOTE.match(text))
    )


def _groups(body: Sequence[Row]) -> frozenset[int]:
    """The indices of rows that name the rows below them: one label in the first column or across the table.

    In a narrow table, and where such rows are many, the label has to be set off: merged, strong, behind a blank row,
    in capitals or with a colon.
    """
    width = usual_width(body)
    alone = [number for number, row in enumerate(body) if len(row.filled()) == 1]
    if not alone or width < 2 or len(alone) * 2 > len(body):
        return frozenset()
    strong = sum(row.strong for row in body) * 2 <= len(body)
    plain = width > 2 and len(alone) * 3 <= len(body)
    found: set[int] = set()
    for number in reversed(alone):
        row = body[number]
        column = row.filled()[0]
        text = row.cells[column]
        heads = number + 1 < len(body) and (len(body[number + 1].filled()) > 1 or number + 1 in found)
        across = row.span(column) >= width
        if not heads or column in row.inherited or len(text) > LABEL or (kind(text) != "text" and not across):
            continue
        marked = across or (row.strong and strong) or row.gap > 0 or text.endswith(":") or text.isupper()
        if column == 0 and (marked or plain):
            found.add(number)
    return frozenset(found)
