"""One run of a section's units to chunks: whole if it fits, else a paragraph, list, table or code block each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragpress.chunking.blocks import Block, pieces, whole
from ragpress.chunking.budget import Budget
from ragpress.chunking.context import open_headings
from ragpress.chunking.parts import Draft, Part, drafts, merged
from ragpress.records import ContentType, Unit

_LIKELY_CHARS_A_TOKEN = 8  # a run with more is hardly one chunk: its units are counted before the whole
_USUAL_CHARS_A_TOKEN = 4  # so are those of a run with more, which are wanted where it is too long
_JOINT = 2  # tokens at most that a text can save where it goes on behind a blank line


def content_type(unit: Unit) -> ContentType:
    """What the chunks of a unit are called: its kind, and `paragraph` for all prose."""
    if unit.kind in ("table_row", "qa_pair", "image_caption"):
        return unit.kind
    return "paragraph"


def chunk_run(
    units: Sequence[Unit], lines: tuple[str, ...], budget: Budget, seams: Mapping[Unit, Sequence[int]]
) -> list[Draft]:
    """The chunks of a run: prose units that follow each other in one section, or one row (or tiny rows), pair or
    caption with the headings that stand right above it.

    `lines` are the heading lines that are open where the run begins. `seams` are offsets into the texts of units at
    which these are cut, if the run is more than one chunk.
    """
    kind, one = content_type(units[-1]), _as_one(units, lines, budget)
    found = _fitting(one, units, kind, budget)
    if found:
        return found
    parts = [part for block in _blocks(units, lines, budget) for part in _parts(block, budget, seams)]
    if not _is_likely(one, budget) and one.above:
        size = budget.size(one.above) + sum(part.size for part in parts)
        if size <= budget.room:
            return drafts([one], kind, budget)
    return drafts(merged(parts, budget), kind, budget)


def is_one_chunk(units: Sequence[Unit], lines: tuple[str, ...], budget: Budget) -> bool:
    """Whether `chunk_run` makes one chunk of a run because it fits."""
    return bool(_fitting(_as_one(units, lines, budget), units, content_type(units[-1]), budget))


def _as_one(units: Sequence[Unit], lines: tuple[str, ...], budget: Budget) -> Part:
    return whole(Block(tuple(units), 0, _lines_above(lines, units)), 0, budget)


def _is_likely(one: Part, budget: Budget) -> bool:
    return len(one.own) <= _LIKELY_CHARS_A_TOKEN * budget.room


def _fitting(one: Part, units: Sequence[Unit], kind: ContentType, budget: Budget) -> list[Draft]:
    """The run as one chunk, or nothing."""
    # Prose that no heading holds together is rarely about one thing: there each paragraph is a chunk.
    if not _is_likely(one, budget) or (kind == "paragraph" and not one.above):
        return []
    if len(one.own) > _USUAL_CHARS_A_TOKEN * budget.room:
        least = sum(budget.size(unit.text) - _JOINT for unit in units)
        if least > budget.limit - budget.overhead:
            return []
    found = drafts([one], kind, budget)
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


def _parts(block: Block, budget: Budget, seams: Mapping[Unit, Sequence[int]]) -> Iterator[Part]:
    """The block as one part if it fits, else in pieces that do."""
    sizes = [budget.size(unit.text) for unit in block.units]
    cuts = seams.get(block.units[-1], ()) if seams else ()
    if not cuts:
        part = whole(block, sum(sizes), budget)
        if part.size + budget.size(part.above) <= budget.room:
            yield part
            return
    yield from pieces(block, sizes, budget, cuts)
