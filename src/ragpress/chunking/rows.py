"""Rows too short to say anything by themselves, such as a code and a number, share a chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ragpress.chunking.budget import Budget
from ragpress.records import Unit

_TINY = 12
"""Tokens of a row up to which it is tiny: two cells of a word or a number each, with their names."""
_MANY = 4
"""So many tiny rows in a row are a list of values; fewer stay by themselves."""


def row_runs(rows: Sequence[Unit], budget: Budget) -> Iterator[list[Unit]]:
    """Rows that follow each other, each by itself; many tiny ones together, up to `min_tokens` a chunk."""
    for tiny, group in groupby(rows, key=lambda row: budget.size(row.text) <= _TINY):
        members = list(group)
        if not tiny or len(members) < _MANY:
            yield from ([row] for row in members)
            continue
        run: list[Unit] = []
        size = 0
        for row in members:
            size += budget.size(row.text)
            if run and (size > budget.min_tokens or row.headings != run[0].headings):
                yield run
                run, size = [], budget.size(row.text)
            run.append(row)
        yield run
