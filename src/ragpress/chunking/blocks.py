"""A block, the units that become one chunk where they fit, and its segments where they do not."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ragpress.chunking.budget import Budget
from ragpress.chunking.context import above, above_item, open_headings, overlap, parents_of_items, repeated
from ragpress.chunking.drafts import PARAGRAPHS, ChunkDraft, common_path
from ragpress.chunking.fixed import Segment, Span, cut
from ragpress.records import Locator, Unit


class Block(NamedTuple):
    """Units that become one chunk if they fit: a body unit, and before it `leads` units glued to it.

    `lines` are the heading lines that are open above the block.
    """

    units: tuple[Unit, ...]
    leads: int
    lines: tuple[str, ...]


def whole(block: Block, size: int, budget: Budget) -> ChunkDraft:
    """A block as one part."""
    first, last = block.units[0], block.units[-1]
    bodies = _bodies(block.units)
    alone = first is last
    return ChunkDraft(
        own=first.text if alone else budget.joined([unit.text for unit in block.units], PARAGRAPHS),
        size=size,
        section=bodies[0].section,
        headings=common_path([unit.headings for unit in bodies]),
        locator=first.locator if alone else first.locator.to(last.locator),
        above=above(first, block.lines, budget),
        tail=last.text if last.kind == "paragraph" else "",
    )


def segments(
    block: Block, sizes: Sequence[int], budget: Budget, breakpoints: Sequence[int] = ()
) -> Iterator[ChunkDraft]:
    """A block in segments that fit. `sizes` are its units' sizes; its last unit is cut at its `breakpoints` anyway."""
    long = _LongBlock(block, budget)
    place = block.units[0].locator.to(block.units[-1].locator)
    before: Segment | None = None
    for spans in long.stretches(sizes, breakpoints):

        def room(start: int, segment: Segment | None, last: Segment | None = before) -> int:
            return long.room(start, segment or last)

        for segment in cut(long.text, spans, long.breaks(), budget, room, place):
            yield long.draft(segment, before)
            before = segment


def _bodies(units: Sequence[Unit]) -> Sequence[Unit]:
    return units if len(units) == 1 else [unit for unit in units if unit.kind != "heading"] or units[:1]


class _LongBlock:
    """The joined text of a block, and which unit is where in it."""

    def __init__(self, block: Block, budget: Budget) -> None:
        self.units = block.units
        self.leads = block.leads
        self.budget = budget
        self.text = PARAGRAPHS.join(unit.text for unit in block.units)
        self.starts = [0]
        for unit in block.units[:-1]:
            self.starts.append(self.starts[-1] + len(unit.text) + len(PARAGRAPHS))
        self.above_first = above(block.units[0], block.lines, budget)
        self.above_later = above(block.units[0], open_headings(block.lines, block.units[: block.leads]), budget)
        self.newlines = [_newlines(unit) for unit in block.units]
        self.parents = parents_of_items(block.units[-1]) if block.units[-1].kind == "list" else ()
        self.lead_in = next((unit.text for unit in block.units[: block.leads] if unit.kind == "paragraph"), "")

    def spans(self, sizes: Sequence[int]) -> Iterator[Span]:
        """What `cut` begins with: the units, of which leads and a table's header are glued to what follows."""
        most = self.budget.room // 2  # of a chunk, for what is glued
        leading = sum(sizes[: self.leads])
        for number, (unit, start, size) in enumerate(zip(self.units, self.starts, sizes, strict=True)):
            end = start + len(unit.text)
            header = unit.text[: unit.repeat].rstrip()
            body = unit.text[unit.repeat :].lstrip("\r\n")
            if header and body:
                header_size = self.budget.size(header)
                yield Span(start, start + len(header), header_size, glued=header_size <= most)
                start, size = end - len(body), max(1, size - header_size)
            yield Span(start, end, size, glued=number < self.leads and leading <= most)
            leading -= sizes[number]

    def stretches(self, sizes: Sequence[int], breakpoints: Sequence[int]) -> Iterator[Iterable[Span]]:
        """The spans between two breakpoints each."""
        if not breakpoints:
            yield self.spans(sizes)
            return
        base, end = self.starts[-1], len(self.text)
        leads = [span for span in self.spans(sizes) if span.start < base]
        for start, stop in pairwise((base, *(base + at for at in breakpoints), end)):
            text = self.text[start:stop].rstrip()
            yield [*leads, Span(start, start + len(text), self.budget.size(text))]
            leads = []

    def breaks(self) -> tuple[int, ...]:
        return tuple(start + at for unit, start in zip(self.units, self.starts, strict=True) for at in unit.breaks)

    def room(self, start: int, before: Segment | None) -> int:
        """As `fixed.Room` says."""
        budget = self.budget
        if before is None:
            return budget.room - budget.size(self.above_first)
        free = budget.room - budget.size(self.above_later)
        context = self._repeated(start)
        if not context:
            context = overlap(self._tail(before), self.text[before.start : before.end], free, budget)
        return free - budget.size(context)

    def draft(self, segment: Segment, before: Segment | None) -> ChunkDraft:
        """What a segment becomes, given the one before it."""
        first, last = self._at(segment.start), self._at(segment.end - 1)
        bodies = _bodies(self.units[first : last + 1])
        return ChunkDraft(
            own=self.text[segment.start : segment.end],
            size=segment.size,
            section=bodies[0].section,
            headings=common_path([unit.headings for unit in bodies]),
            locator=self._place(first, segment).to(self._place(last, segment)),
            above=self.above_later if before else self.above_first,
            repeated=self._repeated(segment.start),
            joint=self.text[before.end : segment.start] if before else PARAGRAPHS,
            tail=self._tail(segment),
            overlaps=segment.start > self.starts[first],
        )

    def _at(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def _repeated(self, start: int) -> str:
        number = self._at(start)
        used = self.budget.size(self.above_later)
        if self.units[number].kind == "list" and number == len(self.units) - 1:
            within = start - self.starts[number]
            return (
                above_item(self.units[number], within, self.parents, self.lead_in, used, self.budget) if within else ""
            )
        return repeated(self.units[number], start - self.starts[number], used, self.budget)

    def _tail(self, segment: Segment) -> str:
        number = self._at(segment.end - 1)
        if self.units[number].kind != "paragraph":
            return ""
        return self.text[max(self.starts[number], segment.start) : segment.end]

    def _place(self, number: int, segment: Segment) -> Locator:
        where, newlines = self.units[number].locator, self.newlines[number]
        if newlines is None:
            return where
        first = bisect_left(newlines, segment.start - self.starts[number])
        last = bisect_left(newlines, segment.end - self.starts[number])
        return Locator(where.unit, where.start + first, where.start + last, where.part)


def _newlines(unit: Unit) -> list[int] | None:
    """Where the lines of a unit end, if they are the lines of the source."""
    where = unit.locator
    if where.unit != "L" or where.end - where.start != unit.text.count("\n"):
        return None
    return [at for at, char in enumerate(unit.text) if char == "\n"]
