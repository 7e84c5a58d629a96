"""The texts of a header's rows for each column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragpress.readers.rows import Row


def usual_width(rows: Sequence[Row]) -> int:
    """How many cells most of the first 1000 rows fill, lone texts aside; of two numbers equally frequent the larger."""
    return most_frequent(Counter(len(row.filled()) for row in rows[:1000]))


def most_frequent(counts: Counter[int]) -> int:
    """The width that `usual_width` finds, by how many rows have each."""
    return max(counts, key=lambda width: (width > 1, counts[width], width), default=0)


def are_facts(row: Row) -> bool:
    """Names and their values side by side: `Employee: | Ann | Department: | Sales`."""
    texts = row.own()
    named = sum(text.endswith(":") for text in texts)
    return named < len(texts) <= 2 * named


def join_header(rows: Sequence[Row]) -> tuple[str, ...]:
    """One text a column: `group / name` where several rows make the header."""
    return tuple(" / ".join(texts) for texts in header_texts(rows))


def header_texts(rows: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    """The texts of a header for each column, top down, each once.

    A merged cell stands over the columns that it covers. One that is not merged stands over the blank cells right of
    it as far as rows below have names there, where a row below names its own column as well: else it is the name of
    its column alone. It reaches over no column that a row above begins.
    """
    width = max((len(row.cells) for row in rows), default=0)
    levels: list[list[str]] = []
    begun: set[int] = set()
    for number, row in enumerate(rows):
        level = [""] * width
        filled = row.filled()
        below = {column for lower in rows[number + 1 :] for column in lower.filled()}
        begun.update(filled)
        for column, reach in reaches(row, filled, below, width, begun).items():
            for covered in range(column, min(column + reach, width)):
                if reach > row.span(column) and covered not in below:
                    continue  # a column without a name of its own, between those of a group
                level[covered] = " ".join(row.cells[column].split())
        levels.append(level)
    return tuple(tuple(dict.fromkeys(text for text in column if text)) for column in zip(*levels, strict=True))


def reaches(
    row: Row, filled: Sequence[int], below: set[int], width: int, begun: set[int] | None = None
) -> dict[int, int]:
    """How many columns each cell of a header row stands over."""
    stops = sorted(set(filled) | (begun or set()))
    reach = {}
    for column in filled:
        span = row.span(column)
        if span > 1 or any(other > 1 for other in row.spans) or column not in below or column == 0:
            reach[column] = span
            continue
        stop = next((each for each in stops if each > column), width)
        covered = [inner for inner in range(column, stop) if inner in below]
        reach[column] = covered[-1] - column + 1
    return reach
