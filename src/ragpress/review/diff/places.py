"""Where a chunk of a Word file is, in words that a person finds it by: Word shows no numbers of body blocks."""

from __future__ import annotations

from collections.abc import Sequence

from ragpress.records import Locator
from ragpress.review.golden import GoldenChunk

_HEADING = 60  # characters of a heading


def places_in_words(chunks: Sequence[GoldenChunk]) -> list[str]:
    """`paragraphs 3–4 of «Запись»` or `row 2 of table 1 of «Цены»` of each chunk; empty for lines and sheets' rows.

    Paragraphs and tables are counted from the heading, or from the beginning where there is none; the rows of a table
    as the chunks have them, without its header.
    """
    found: list[str] = []
    headings: tuple[str, ...] | None = None
    first = last = tables = row = 0  # first block under the heading, last table, tables so far, row in the last
    for chunk in chunks:
        place = Locator.parse(chunk.locator)
        if chunk.headings != headings:
            headings, first, last, tables = chunk.headings, place.start, 0, 0
        if place.unit != "B":
            found.append("")
            continue
        if chunk.content_type == "table_row":
            row = row + 1 if place.start == last else 1
            tables += place.start != last
            last = place.start
            words = f"row {row} of table {tables}"
        else:
            one, two = (block - first + 1 - tables for block in (place.start, place.end))
            words = f"paragraph {max(one, 1)}" if two <= one else f"paragraphs {max(one, 1)}–{two}"
        heading = " ".join(headings[-1].split()) if headings else ""
        short = heading if len(heading) <= _HEADING else f"{heading[:_HEADING].rstrip()}…"
        found.append(f"{words} of «{short}»" if short else words)
    return found
