"""From drafts to chunks: small ones merge, context goes on top."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from ragpress.chunking.budget import Budget
from ragpress.chunking.context import overlap
from ragpress.records import ContentType, Locator

PARAGRAPHS = "\n\n"
"""What stands between the parts of a chunk that are not one text in the source."""


class ChunkDraft(NamedTuple):
    """What one chunk says itself, and what may stand above it."""

    own: str
    size: int
    section: str
    headings: tuple[str, ...]
    locator: Locator
    above: str  # breadcrumb and open headings
    repeated: str = ""  # a table's header, a question, a cell's label, with the white space behind it
    joint: str = PARAGRAPHS  # what stands between it and the draft before
    tail: str = ""  # prose at its end, for the next draft to repeat
    overlaps: bool = False  # whether it goes on where a text was cut, and so begins with the tail of the draft before


class NewChunk(NamedTuple):
    """A chunk without its id and neighbours."""

    content_type: ContentType
    section: str
    headings: tuple[str, ...]
    locator: Locator
    context: str
    own: str
    tokens: int


def merged(drafts: Sequence[ChunkDraft], budget: Budget) -> list[ChunkDraft]:
    """Drafts below `min_tokens` joined to a neighbour where the two fit: one under the same headings, else the smaller.

    One pass from the beginning, so that an edit moves nothing far from it.
    """
    done: list[ChunkDraft] = []
    rest = list(reversed(drafts))
    while rest:
        draft = rest.pop()
        before, after = done[-1] if done else None, rest[-1] if rest else None
        if draft.size < budget.min_tokens:
            if before is not None and not _fit(before, draft, budget):
                before = None
            if after is not None and not _fit(draft, after, budget):
                after = None
            if after is not None and (before is None or _closer(draft, after, before)):
                rest[-1] = _joined(draft, after, budget)
                continue
            if before is not None:
                done[-1] = _joined(before, draft, budget)
                continue
        done.append(draft)
    return done


def _fit(one: ChunkDraft, two: ChunkDraft, budget: Budget) -> bool:
    return budget.size(one.above) + budget.size(one.repeated) + one.size + two.size <= budget.room


def _closer(draft: ChunkDraft, after: ChunkDraft, before: ChunkDraft) -> bool:
    return (after.headings != draft.headings, after.size) <= (before.headings != draft.headings, before.size)


def _joined(one: ChunkDraft, two: ChunkDraft, budget: Budget) -> ChunkDraft:
    return one._replace(
        own=budget.joined((one.own, two.own), two.joint),
        size=one.size + two.size,
        headings=common_path((one.headings, two.headings)),
        locator=one.locator.to(two.locator),
        tail=two.tail,
    )


def common_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The headings that all paths begin with."""
    if all(path == paths[0] for path in paths):
        return paths[0]
    same = takewhile(lambda step: len(set(step)) == 1, zip(*paths, strict=False))
    return tuple(step[0] for step in same)


def new_chunks(drafts: Sequence[ChunkDraft], content_type: ContentType, budget: Budget) -> list[NewChunk]:
    """The drafts with their context on top, counted."""
    made = []
    for number, draft in enumerate(drafts):
        context = draft.above + PARAGRAPHS if draft.above else ""
        if draft.repeated:
            context += draft.repeated
        elif number and draft.overlaps:
            before = drafts[number - 1]
            tail = overlap(before.tail, before.own, budget.room - budget.size(draft.above) - draft.size, budget)
            context += tail + draft.joint if tail else ""
        tokens = budget.tokens(context, draft.own)
        made.append(NewChunk(content_type, draft.section, draft.headings, draft.locator, context, draft.own, tokens))
    return made
