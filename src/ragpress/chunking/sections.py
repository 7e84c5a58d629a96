"""One run of a section's units to chunks: whole if it fits, else a paragraph, list, table or code block each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from ragpress.chunking.blocks import Block, segments, whole
from ragpress.chunking.budget import Budget
from ragpress.chunking.context import open_headings
from ragpress.chunking.drafts import ChunkDraft, NewChunk, merged, new_chunks
from ragpress.records import ContentType, Unit

_LIKELY_CHARS_A_TOKEN = 8  # a run with more is hardly one chunk: its units are counted before the whole
_USUAL_CHARS_A_TOKEN = 4  # so are those of a run with more, which are wanted where it is too long
_TINY = 12
"""Tokens of a row up to which it is tiny: two cells of a word or a number each, with their names."""
_MANY = 4
"""So many tiny rows in a row are a list of values; fewer stay by themselves."""
_JOINT = 2  # tokens at most that a text can save where it goes on behind a blank line


def content_type(unit: Unit) -> ContentType:
    """What the chunks of a unit are called: its kind, and `paragraph` for all prose."""
    if unit.kind in ("table_row", "qa_pair", "image_caption"):
        return unit.kind
    return "paragraph"


def chunk_run(
    units: Sequence[Unit], lines: tuple[str, ...], budget: Budget, breakpoints: Mapping[Unit, Sequence[int]]
) -> list[NewChunk]:
    """The chunks of a run: prose units that follow each other in one section, or one row (or tiny rows), pair or
    caption with the headings that stand right above it.

    `lines` are the heading lines that are open where the run begins. `breakpoints` are offsets into the texts of units
    at which these are cut, if the run is more than one chunk.
    """
    kind, one = content_type(units[-1]), _as_one(units, lines, budget)
    found = _fitting(one, units, kind, budget)
    if found:
        return found
    drafts = [draft for block in _blocks(units, lines, budget) for draft in _drafts(block, budget, breakpoints)]
    if not _is_likely(one, budget) and one.above:
        size = budget.size(one.above) + sum(draft.size for draft in drafts)
        if size <= budget.room:
            return new_chunks([one], kind, budget)
    return new_chunks(merged(drafts, budget), kind, budget)


def is_one_chunk(units: Sequence[Unit], lines: tuple[str, ...], budget: Budget) -> bool:
    """Whether `chunk_run` makes one chunk of a run because it fits."""
    return bool(_fitting(_as_one(units, lines, budget), units, content_type(units[-1]), budget))


def _as_one(units: Sequence[Unit], lines: tuple[str, ...], budget: Budget) -> ChunkDraft:
    return whole(Block(tuple(units), 0, _lines_above(lines, units)), 0, budget)


def _is_likely(one: ChunkDraft, budget: Budget) -> bool:
    return len(one.own) <= _LIKELY_CHARS_A_TOKEN * budget.room


def _fitting(one: ChunkDraft, units: Sequence[Unit], kind: ContentType, budget: Budget) -> list[NewChunk]:
    """The run as one chunk, or nothing."""
    # Prose that no heading holds together is rarely about one thing: there each paragraph is a chunk.
    if not _is_likely(one, budget) or (kind == "paragraph" and not one.above):
        return []
    if len(one.own) > _USUAL_CHARS_A_TOKEN * budget.room:
        least = sum(budget.size(unit.text) - _JOINT for unit in units)
        if least > budget.limit - budget.overhead:
            return []
    found = new_chunks([one], kind, budget)
    return found if found[0].tokens <= budget.limit else []


def _blocks(units: Sequence[Unit], lines: tuple[str, ...], budget: Budget) -> Iterator[Block]:
    """Headings and short lead-ins with what follows them. Headings that nothing follows end the last block."""
    leads: list[Unit] = []
    held: Block | None = None
    for unit, after in zip(units, (*units[1:], None), strict=True):
        if after is not None and _leads(unit, leads, budget):
            leads.append(unit)
            continue
        if unit.kind == "heading" and held is not None:  # the last unit: nothing follows
            held = held._replace(units=(*held.units, *leads, unit))
            break
        if held is not None:
            yield held
        held = Block((*leads, unit), len(leads), _lines_above(lines, (*leads, unit)))
        lines = open_headings(lines, (*leads, unit))
        leads = []
    if held is not None:
        yield held


def _leads(unit: Unit, leads: list[Unit], budget: Budget) -> bool:
    if unit.kind == "heading":
        return True
    if unit.kind != "paragraph" or not unit.text.endswith((":", "：")):
        return False
    # One lead-in a block: in a list of names and values each line may end with a colon.
    return all(lead.kind == "heading" for lead in leads) and budget.size(unit.text) < budget.min_tokens


def _lines_above(lines: tuple[str, ...], units: Sequence[Unit]) -> tuple[str, ...]:
    if units[0].kind != "heading":
        return lines
    return open_headings(lines, units[:1])[:-1]


def _drafts(block: Block, budget: Budget, breakpoints: Mapping[Unit, Sequence[int]]) -> Iterator[ChunkDraft]:
    """The block as one draft if it fits, else in segments that do."""
    sizes = [budget.size(unit.text) for unit in block.units]
    cuts = breakpoints.get(block.units[-1], ()) if breakpoints else ()
    if not cuts:
        draft = whole(block, sum(sizes), budget)
        if draft.size + budget.size(draft.above) <= budget.room:
            yield draft
            return
    yield from segments(block, sizes, budget, cuts)


def row_runs(rows: Sequence[Unit], budget: Budget) -> Iterator[list[Unit]]:
    """Rows that follow each other, each by itself; many tiny ones, such as a code and a number, together, up to
    `min_tokens` a chunk: by itself one says nothing.
    """
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
