"""From parts of a section to chunks: small ones merge, context goes on top."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from ragpress.chunking.budget import Budget
from ragpress.chunking.context import overlap
from ragpress.records import ContentType, Locator

PARAGRAPHS = "\n\n"
"""What stands between the parts of a chunk that are not one text in the source."""


class Part(NamedTuple):
    """What one chunk says itself, and what may stand above it."""

    own: str
    size: int
    section: str
    headings: tuple[str, ...]
    locator: Locator
    above: str  # breadcrumb and open headings
    repeated: str = ""  # a table's header, a question, a cell's label, with the white space behind it
    joint: str = PARAGRAPHS  # what stands between it and the part before
    tail: str = ""  # prose at its end, for the next part to repeat
    overlaps: bool = False  # whether it goes on where a text was cut, and so begins with the tail of the part before


class Draft(NamedTuple):
    """A chunk without its id and neighbours."""

    content_type: ContentType
    section: str
    headings: tuple[str, ...]
    locator: Locator
    context: str
    own: str
    tokens: int


def merged(parts: Sequence[Part], budget: Budget) -> list[Part]:
    """Parts below `min_tokens` joined to a neighbour where the two fit: one under the same headings, else the smaller.

    One pass from the beginning, so that an edit moves nothing far from it.
    """
    done: list[Part] = []
    rest = list(reversed(parts))
    while rest:
        part = rest.pop()
        before, after = done[-1] if done else None, rest[-1] if rest else None
        if part.size < budget.min_tokens:
            if before is not None and not _fit(before, part, budget):
                before = None
            if after is not None and not _fit(part, after, budget):
                after = None
            if after is not None and (before is None or _closer(part, after, before)):
                rest[-1] = _joined(part, after, budget)
                continue
            if before is not None:
                done[-1] = _joined(before, part, budget)
                continue
        done.append(part)
    return done


def _fit(one: Part, two: Part, budget: Budget) -> bool:
    return budget.size(one.above) + budget.size(one.repeated) + one.size + two.size <= budget.room


def _closer(part: Part, after: Part, before: Part) -> bool:
    return (after.headings != part.headings, after.size) <= (before.headings != part.headings, before.size)


def _joined(one: Part, two: Part, budget: Budget) -> Part:
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


def drafts(parts: Sequence[Part], content_type: ContentType, budget: Budget) -> list[Draft]:
    """The parts with their context on top, counted."""
    made = []
    for number, part in enumerate(parts):
        context = part.above + PARAGRAPHS if part.above else ""
        if part.repeated:
            context += part.repeated
        elif number and part.overlaps:
            before = parts[number - 1]
            tail = overlap(before.tail, before.own, budget.room - budget.size(part.above) - part.size, budget)
            context += tail + part.joint if tail else ""
        tokens = budget.tokens(context, part.own)
        made.append(Draft(content_type, part.section, part.headings, part.locator, context, part.own, tokens))
    return made
