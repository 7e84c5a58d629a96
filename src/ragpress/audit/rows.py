"""Compares the visible cells of a workbook with its chunks, row by row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from ragpress.audit.compare import (
    MAX_GAPS,
    WordCounts,
    count_duplicated,
    divided_words,
    heading_words,
    own_text,
    shorten,
)
from ragpress.audit.values import TRUTH, Numbers, claim
from ragpress.audit.visible import SheetRow, StoredCell, Visible, VisibleText, words
from ragpress.records import Chunk, Document, Gap, LeftOut, Locator

_T = TypeVar("_T")

_Lost = tuple[Locator, str, int]  # a place, what is missing there, and how many words it is


class _SheetWords(msgspec.Struct):
    """A sheet's rows and floating texts, and for each row the numbers of the chunks that stand for it.

    `texts` are those of the chunks, `words` and `numbers` what each says and no cell has claimed yet; `spare` are
    words, `lines` texts that are outside of the sheet's chunks, in headings or among what was left out on purpose.
    """

    rows: list[SheetRow]
    pieces: list[VisibleText]
    spare: Counter[str]
    lines: list[str]
    holders: dict[int, list[int]]
    texts: list[str]
    words: list[Counter[str]]
    numbers: list[Numbers]


def compare_rows(seen: Visible, document: Document, chunks: Sequence[Chunk], excluded: Sequence[LeftOut]) -> WordCounts:
    """The counts of a workbook. `excluded` was left out on purpose.

    A cell is looked for in its own row's chunks. What has none, such as a header that the chunks of other rows repeat,
    has to stand among the words of the sheet that no row has claimed.
    """
    chunks_of = _grouped((Locator.parse(chunk.locator).part, chunk) for chunk in chunks)
    rows_of = _grouped((row.sheet, row) for row in seen.rows)
    pieces_of = _grouped((Locator.parse(piece.place).part, piece) for piece in seen.pieces)
    left_of = _grouped((entry.locator.part, entry.text) for entry in excluded)
    counts = WordCounts()
    visible: Counter[str] = Counter()
    own: Counter[str] = Counter()
    repeatable = seen.repeatable.union(*TRUTH.values())
    for name in dict.fromkeys((*rows_of, *pieces_of)):
        held = chunks_of.get(name, [])
        headed = heading_words(document, held, name)
        left = left_of.get(name, [])
        sheet = _gather(rows_of.get(name, []), pieces_of.get(name, []), held, headed + Counter(words("\n".join(left))))
        sheet.lines = [*left, *dict.fromkeys(heading for chunk in held for heading in chunk.headings)]
        for found in sheet.words:
            own.update(found)
        _add(_lost_of(sheet), counts)
        repeatable.update(headed)
        for row in sheet.rows:
            shown = [word for cell in row.cells for word in _words(cell)]
            counts.visible += len(shown)
            visible.update(shown)
            if row.number not in sheet.holders:
                repeatable.update(shown)
        for piece in sheet.pieces:
            shown = words(piece.text)
            counts.visible += len(shown)
            visible.update(shown)
    counts.duplicated = count_duplicated(chunks, own, visible, repeatable)
    return counts


def _grouped(entries: Iterable[tuple[str, _T]]) -> dict[str, list[_T]]:
    found: dict[str, list[_T]] = defaultdict(list)
    for name, entry in entries:
        found[name].append(entry)
    return dict(found)


def _gather(
    rows: list[SheetRow], pieces: list[VisibleText], chunks: Sequence[Chunk], spare: Counter[str]
) -> _SheetWords:
    numbers = [row.number for row in rows]
    holders: dict[int, list[int]] = defaultdict(list)
    for index, chunk in enumerate(chunks):
        place = Locator.parse(chunk.locator)
        for number in numbers[bisect_left(numbers, place.start) : bisect_right(numbers, place.end)]:
            holders[number].append(index)
    texts = [own_text(chunk) for chunk in chunks]
    counts = [Counter(words(text)) for text in texts]
    return _SheetWords(rows, pieces, spare, [], dict(holders), texts, counts, [Numbers(text) for text in texts])


def _lost_of(sheet: _SheetWords) -> list[_Lost]:
    """What of a sheet is nowhere. Rows are looked for in their own chunks first, then in what all others leave."""
    lacking = []
    for row in sheet.rows:
        held = sheet.holders.get(row.number, [])
        pools = [sheet.words[index] for index in held]
        missing = _claim_row(row.cells, pools, [sheet.numbers[index] for index in held])
        if missing:
            lacking.append((row, missing))
    if not lacking and not sheet.pieces:
        return []
    rest = sheet.spare.copy()
    for unclaimed in sheet.words:
        rest.update(unclaimed)
    numbers = []
    if any(cell.kind != "text" for _, cells in lacking for cell in cells):
        numbers = [Numbers("\n".join((*sheet.lines, *(left.unclaimed() for left in sheet.numbers))))]
    lost: list[_Lost] = []
    for row, cells in lacking:
        owned = [sheet.texts[index] for index in sheet.holders.get(row.number, [])]
        missing = [cell for cell in _claim_row(cells, [rest], numbers) if not _is_divided(cell, owned)]
        if missing:
            place = Locator("R", row.number, row.number, row.sheet)
            count = sum(len(_words(cell)) for cell in missing)
            lost.append((place, " | ".join(cell.text for cell in missing), count))
    for piece in sheet.pieces:
        words_lost = _claim_words(words(piece.text), [rest])
        if words_lost:
            lost.append((Locator.parse(piece.place), piece.text, len(words_lost)))
    return lost


def _claim_row(cells: Sequence[StoredCell], pools: list[Counter[str]], numbers: list[Numbers]) -> list[StoredCell]:
    """The cells of a row that do not stand in the pools, with the words that are missing. What does is taken out."""
    values = [cell for cell in cells if cell.kind != "text"]
    unshown = {id(cell) for cell in claim(values, numbers, pools)} if values else ()
    missing = []
    for cell in cells:
        if cell.kind != "text":
            missing += [cell] if id(cell) in unshown else []
        elif lost := _claim_words(words(cell.text), pools):
            missing.append(cell if len(lost) == len(words(cell.text)) else StoredCell(" ".join(lost)))
    return missing


def _is_divided(cell: StoredCell, owned: Sequence[str]) -> bool:
    """Whether what is missing of a cell are long words that were divided between its row's chunks."""
    missing = words(cell.text) if cell.kind == "text" else []
    return bool(missing) and len(divided_words(missing, owned)) == len(missing)


def _claim_words(wanted: list[str], pools: list[Counter[str]]) -> list[str]:
    missing = []
    for word in wanted:
        pool = next((pool for pool in pools if pool[word] > 0), None)
        if pool is None:
            missing.append(word)
        else:
            pool[word] -= 1
    return missing


def _words(cell: StoredCell) -> list[str]:
    """The words that a cell counts as; any value but a text is one."""
    return words(cell.text) if cell.kind == "text" else [cell.text]


def _add(lost: list[_Lost], counts: WordCounts) -> None:
    counts.missing += sum(count for _, _, count in lost)
    for place, text, _ in sorted(lost, key=lambda entry: entry[0].start):
        if len(counts.gaps) < MAX_GAPS:
            counts.gaps.append(Gap(shorten(" ".join(text.split())), str(place)))
