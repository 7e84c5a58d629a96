"""A table's rows with a question and its answer in columns of these names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise, zip_longest

import msgspec

from ragpress.records import Locator, Unit
from ragpress.text.questions import Role, column_role, pair_columns

_BORDER = re.compile(r"(?<!\\)\|")


def pairs_in(unit: Unit) -> list[Unit]:
    """What becomes of a unit: a row a pair, if it is one; a Markdown table its rows, if they are; else the unit."""
    if unit.kind == "table_row":
        return [_pair_in_row(unit)]
    return _rows_of_table(unit) if unit.kind == "table" else [unit]


def _pair_in_row(row: Unit) -> Unit:
    """Every cell is kept with its column's name.

    A question in a column behind its answer, as in a table for readers from right to left, goes before it.
    """
    cells = [row.text[start:end].rstrip("\n") for start, end in pairwise((0, *row.breaks, len(row.text)))]
    roles = [_role(cell) for cell in cells]
    if "question" not in roles or "answer" not in roles:
        return row
    first = roles.index("answer")
    if "question" not in roles[:first]:
        asking = [cell for cell, role in zip(cells, roles, strict=True) if role == "question"]
        rest = [cell for cell, role in zip(cells, roles, strict=True) if role != "question"]
        cells = [*rest[:first], *asking, *rest[first:]]
        first += len(asking)
    text, breaks = _joined(cells)
    return msgspec.structs.replace(row, kind="qa_pair", text=text, breaks=breaks, repeat=breaks[first - 1])


def _joined(cells: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The cells, one a line, and where the second and each later one begins."""
    return "\n".join(cells), tuple(accumulate(len(cell) + 1 for cell in cells[:-1]))


def _role(cell: str) -> Role | None:
    name, colon, value = cell.partition(": ")
    says = colon and "\n" not in name and any(char.isalnum() for char in value)
    return column_role(name) if says else None


def _rows_of_table(table: Unit) -> list[Unit]:
    head, *lines = table.text.split("\n")
    names = _cells(head)
    if not pair_columns(names):
        return [table]
    found = []
    for number, line in enumerate(lines[1:], start=2):  # below the delimiters
        said = zip_longest(names, _cells(line), fillvalue="")
        cells = [f"{name}: {cell}" if name else cell for name, cell in said if cell]
        if cells:
            text, breaks = _joined(cells)
            place = Locator("L", table.locator.start + number, table.locator.start + number)
            row = msgspec.structs.replace(table, kind="table_row", text=text, locator=place, breaks=breaks, repeat=0)
            found.append(_pair_in_row(row))
    return found or [table]


def _cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table."""
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _BORDER.split(inner)]
