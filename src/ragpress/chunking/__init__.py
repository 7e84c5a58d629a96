"""Units to chunks.

A document's units are taken section by section: rows, pairs and captions become a chunk each, the prose between them
goes through `sections`. Nothing is merged with, and nothing repeated from, another section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from ragpress.chunking.budget import Budget
from ragpress.chunking.context import open_headings
from ragpress.chunking.drafts import NewChunk
from ragpress.chunking.qa import find_pairs, with_titles
from ragpress.chunking.sections import chunk_run, content_type, is_one_chunk, row_runs
from ragpress.chunking.semantic import Breakpoints, Compare, find_breakpoints
from ragpress.config import Config
from ragpress.errors import message
from ragpress.records import Chunk, Document, Message, Unit, chunk_id

__all__ = ["chunk_document"]


def chunk_document(
    document: Document, config: Config, count: Callable[[str], int], compare: Compare | None = None
) -> tuple[tuple[Chunk, ...], tuple[Message, ...]]:
    """The chunks of one source, in reading order, and what had to be cut in an unnatural place.

    `count` tells the tokens of the exact string that is embedded for a chunk's text. `compare` tells how alike
    sentences are, which the strategy `semantic` asks for. Raises BuildError if `max_tokens` leaves no room beside the
    model's prefix.
    """
    budget = Budget.of(config, count)
    runs: list[tuple[list[Unit], tuple[str, ...]]] = []
    for section in _sections(document.units, config):
        lines: tuple[str, ...] = ()
        for run in _runs(section, budget):
            runs.append((run, lines))
            lines = open_headings(lines, run)
    breakpoints: Breakpoints = {}
    if config.strategy == "semantic":
        if compare is None:
            raise ValueError("semantic chunking has nothing to compare sentences with")
        long = (unit for run, lines in runs if not is_one_chunk(run, lines, budget) for unit in run)
        breakpoints = find_breakpoints(long, budget, config.breakpoint_percentile, compare)
    chunks = [chunk for run, lines in runs for chunk in _within_limit(run, lines, budget, breakpoints)]
    return _linked(document.source, chunks), _messages(document.source, budget)


def _sections(units: Sequence[Unit], config: Config) -> Iterator[list[Unit]]:
    filled = tuple(unit for unit in units if unit.text.strip())  # a picture that has no caption yet has no text
    if config.detect_qa:
        filled = with_titles(find_pairs(filled, config))
    for _, section in groupby(filled, key=lambda unit: unit.section_number):
        yield list(section)


def _runs(section: Sequence[Unit], budget: Budget) -> Iterator[list[Unit]]:
    """Prose that is not interrupted, rows (tiny ones together), and each pair or caption by itself.

    Headings that nothing but a row, pair or caption follows go with it.
    """
    groups = [(kind, list(group)) for kind, group in groupby(section, key=content_type)]
    leads: list[Unit] = []
    for (kind, group), after in zip(groups, (*groups[1:], None), strict=True):
        if kind == "paragraph":
            end = len(group)
            while after is not None and end and group[end - 1].kind == "heading":
                end -= 1
            leads = group[end:]
            if end:
                yield group[:end]
            continue
        for run in row_runs(group, budget) if kind == "table_row" else ([unit] for unit in group):
            yield [*leads, *run]
            leads = []


def _within_limit(
    run: Sequence[Unit], lines: tuple[str, ...], budget: Budget, breakpoints: Breakpoints
) -> list[NewChunk]:
    """The chunks of a run. Done again with less room where a whole is longer than the sum of its parts."""
    while True:
        chunks = chunk_run(run, lines, budget, breakpoints)
        most = max(chunk.tokens for chunk in chunks)
        if most <= budget.limit or budget.room == 1:
            return chunks
        budget = budget.tightened(most)


def _linked(source: str, chunks: Sequence[NewChunk]) -> tuple[Chunk, ...]:
    seen: Counter[tuple[tuple[str, ...], str]] = Counter()
    ids: list[str | None] = [None]
    for chunk in chunks:
        name = chunk.headings, chunk.own
        ids.append(chunk_id(source, *name, seen[name]))
        seen[name] += 1
    ids.append(None)
    return tuple(
        Chunk(
            chunk_id=ids[number] or "",
            source=source,
            content_type=chunk.content_type,
            section=chunk.section,
            headings=chunk.headings,
            locator=str(chunk.locator),
            tokens=chunk.tokens,
            previous_chunk_id=ids[number - 1],
            next_chunk_id=ids[number + 1],
            context_chars=len(chunk.context),
            text=chunk.context + chunk.own,
        )
        for number, chunk in enumerate(chunks, start=1)
    )


def _messages(source: str, budget: Budget) -> tuple[Message, ...]:
    found = []
    for code, texts, what, advice in (
        ("long-word", budget.long_words, "longer than a chunk may be and cut inside", "check whether it is text"),
        ("long-heading", budget.long_headings, "too long to stand above each chunk", "shorten it"),
    ):
        if texts:
            first, place = next(iter(texts.items()))
            more = f" and {len(texts) - 1} more are" if len(texts) > 1 else " is"
            found.append(message("warning", code, f"«{first[:40]}…»{more} {what}; {advice}", source, place))
    return tuple(found)
