"""Compares the visible cells of a workbook with its chunks, row by row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from ragpress.audit.compare import MAX_GAPS, Balance, count_doubled, heading_words, own_text, shorten
from ragpress.audit.values import Numbers, claim, merged, numbers_in
from ragpress.audit.visible import Cell, Row, Visible, words
from ragpress.records import Chunk, Document, Gap, Locator

_MAX_OTHERS = 1000  # rows without a chunk that are looked for elsewhere; a table has few header rows


class _Sheet(msgspec.Struct):
    """A sheet's rows, and for each row the numbers of the chunks that stand for it.

    `words` and `numbers` are what each chunk says and no cell has claimed yet.
    """

    rows: list[Row]
    holders: dict[int, list[int]]
    words: list[Counter[str]]
    numbers: list[Numbers]


def compare_rows(seen: Visible, document: Document, chunks: Sequence[Chunk], left: dict[str, Counter[str]]) -> Balance:
    """The balance of a workbook. `left` holds for each sheet the words that were left out on purpose.

    A cell is looked for in its own row's chunks. What is not there, such as a header that other rows' chunks repeat,
    has to stand among the words that no row has claimed.
    """
    balance = Balance()
    chunks_of: dict[str, list[tuple[Locator, Chunk]]] = defaultdict(list)
    for chunk in chunks:
        place = Locator.parse(chunk.locator)
        chunks_of[place.part].append((place, chunk))
    rows_of: dict[str, list[Row]] = defaultdict(list)
    for row in seen.rows:
        rows_of[row.sheet].append(row)
    visible: Counter[str] = Counter()
    repeatable = set(seen.repeatable)
    for name, rows in rows_of.items():
        sheet = _gather(rows, chunks_of[name])
        headed = heading_words(document, [chunk for _, chunk in chunks_of[name]], name)
        repeatable.update(headed)
        _balance_sheet(sheet, headed, left.get(name, Counter()), balance)
        for row in rows:
            said = [word for cell in row.cells if cell.kind == "text" for word in words(cell.text)]
            visible.update(said)
            if row.number not in sheet.holders:
                repeatable.update(said)
    balance.doubled = count_doubled([own_text(chunk) for chunk in chunks], visible, repeatable)
    return balance


def _gather(rows: list[Row], chunks: Sequence[tuple[Locator, Chunk]]) -> _Sheet:
    places = [row.number for row in rows]
    holders: dict[int, list[int]] = defaultdict(list)
    for index, (place, _) in enumerate(chunks):
        for number in places[bisect_left(places, place.start) : bisect_right(places, place.end)]:
            holders[number].append(index)
    texts = [own_text(chunk) for _, chunk in chunks]
    return _Sheet(rows, dict(holders), [Counter(words(text)) for text in texts], [numbers_in(text) for text in texts])


def _balance_sheet(sheet: _Sheet, headed: Counter[str], left: Counter[str], balance: Balance) -> None:
    """Adds a sheet. Rows with chunks come first, so that the others find only what is left of them."""
    spare = headed + left
    lost: dict[int, list[str]] = {}
    others = []
    for row in sheet.rows:
        balance.visible += sum(len(_words(cell)) for cell in row.cells)
        held = sheet.holders.get(row.number)
        if held is None:
            others.append(row)
            continue
        numbers = merged([sheet.numbers[index] for index in held])
        unclaimed = [sheet.words[index] for index in held]
        lost[row.number] = _claim_row(row, [*unclaimed, spare], numbers)
        for index in held:
            sheet.numbers[index] = Numbers([], Counter())
        sheet.numbers[held[0]] = numbers
    if others:
        for unclaimed_words in sheet.words:
            spare.update(unclaimed_words)
        numbers = merged([*sheet.numbers, numbers_in("\n".join(headed))])
        numbers.runs = list(dict.fromkeys(numbers.runs))
        for row in others[:_MAX_OTHERS]:
            lost[row.number] = _claim_row(row, [spare], numbers)
        for row in others[_MAX_OTHERS:]:
            lost[row.number] = [word for cell in row.cells for word in _words(cell)]
    for row in sheet.rows:
        if missing := lost[row.number]:
            balance.missing += len(missing)
            if len(balance.gaps) < MAX_GAPS:
                place = Locator("R", row.number, row.number, row.sheet)
                cells = [cell.text for cell in row.cells if not set(_words(cell)).isdisjoint(missing)]
                balance.gaps.append(Gap(shorten(" | ".join(" ".join(text.split()) for text in cells)), str(place)))


def _claim_row(row: Row, pools: list[Counter[str]], numbers: Numbers) -> list[str]:
    """The words of a row that stand in none of the pools; those that do are taken out."""
    texts = [cell for cell in row.cells if cell.kind == "text"]
    others = [cell for cell in row.cells if cell.kind != "text"]
    missing = [cell.text for cell in claim(others, numbers, {word for pool in pools for word in pool})]
    for word in (word for cell in texts for word in _words(cell)):
        pool = next((pool for pool in pools if pool[word] > 0), None)
        if pool is None:
            missing.append(word)
        else:
            pool[word] -= 1
    return missing


def _words(cell: Cell) -> list[str]:
    """The words that a cell counts as; any value but a text is one."""
    return words(cell.text) if cell.kind == "text" else [cell.text]
