"""Layouts of tables as people make them: what each row is taken for.

`table_layouts.txt` holds them: behind `====` the layout's name, then a row a line, its cells divided by the file's
delimiter, with a letter before it: `t` title, `f` fact, `h` header, `r` what repeats the header or numbers its
columns, `g` group, `d` data, `n` note, `p` a pair of name and value.
"""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

import pytest

from ragpress.readers.csv import read_csv_tables
from ragpress.readers.rows import TableReading

LAYOUTS = (Path(__file__).parent / "table_layouts.txt").read_text(encoding="utf-8").split("==== ")[1:]


def letters(table: TableReading) -> dict[int, str]:
    """The letter of each row by its number."""
    parts = {"t": table.titles, "f": table.facts, "h": table.header_rows, "r": table.repeated, "n": table.notes}
    found = {row.place: letter for letter, rows in parts.items() for row in rows}
    for number, row in enumerate(table.body):
        found[row.place] = "g" if number in table.groups else "p" if table.pairs else "d"
    return found


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout.partition("\n")[0] for layout in LAYOUTS])
def test_each_row_of_a_layout_is_taken_for_what_it_is(layout: str) -> None:
    lines = layout.rstrip("\n").split("\n")[1:]
    (sheet,) = read_csv_tables("\n".join(line[2:] for line in lines).encode(), "a.csv")
    found: dict[int, str] = {}
    for table in sheet.tables:
        found |= letters(table)
    read = [f"{found.get(number, '')} {line[2:]}".strip() for number, line in enumerate(lines, start=1)]
    assert [one for one, other in zip_longest(read, lines) if one != other] == []
