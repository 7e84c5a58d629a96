"""A block, the units that become one chunk where they fit, and its pieces where they do not."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ragpress.chunking.budget import Budget
from ragpress.chunking.context import above, above_item, open_headings, overlap, parents_of_items, repeated
from ragpress.chunking.fixed import Atom, Piece, cut
from ragpress.chunking.parts import PARAGRAPHS, Part, common_path
from ragpress.records import Locator, Unit


class Block(NamedTuple):
    """Units that become one chunk if they fit: a body unit, and before it `leads` units glued to it.

    `lines` are the heading lines that are open above the block.
    """

    units: tuple[Unit, ...]
    leads: int
    lines: tuple[str, ...]


def whole(block: Block, size: int, budget: Budget) -> Part:
    """A block as one part."""
    first, last = block.units[0], block.units[-1]
    bodies = _bodies(block.units)
    alone = first is last
    return Part(
        own=first.text if alone else budget.joined([unit.text for unit in block.units], PARAGRAPHS),
        size=size,
        section=bodies[0].section,
        headings=common_path([unit.headings for unit in bodies]),
        locator=first.locator if alone else first.locator.to(last.locator),
        above=above(first, block.lines, budget),
        tail=last.text if last.kind == "paragraph" else "",
    )


def pieces(block: Block, sizes: Sequence[int], budget: Budget, seams: Sequence[int] = ()) -> Iterator[Part]:
    """A block in pieces that fit. `sizes` are its units' sizes; it is cut at the `seams` of its last unit anyway."""
    long = _LongBlock(block, budget)
    place = block.units[0].locator.to(block.units[-1].locator)
    before: Piece | None = None
    for atoms in long.stretches(sizes, seams):

        def room(start: int, piece: Piece | None, last: Piece | None = before) -> int:
            return long.room(start, piece or last)

        for piece in cut(long.text, atoms, long.breaks(), budget, room, place):
            yield long.part(piece, before)
            before = piece


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

    def atoms(self, sizes: Sequence[int]) -> Iterator[Atom]:
        """What `cut` begins with: the units, of which leads and a table's header are glued to what follows."""
        most = self.budget.room // 2  # of a chunk, for what is glued
        leading = sum(sizes[: self.leads])
        for number, (unit, start, size) in enumerate(zip(self.units, self.starts, sizes, strict=True)):
            end = start + len(unit.text)
            header = unit.text[: unit.repeat].rstrip()
            body = unit.text[unit.repeat :].lstrip("\r\n")
            if header and body:
                header_size = self.budget.size(header)
                yield Atom(start, start + len(header), header_size, glued=header_size <= most)
                start, size = end - len(body), max(1, size - header_size)
            yield Atom(start, end, size, glued=number < self.leads and leading <= most)
            leading -= sizes[number]

    def stretches(self, sizes: Sequence[int], seams: Sequence[int]) -> Iterator[Iterable[Atom]]:
        """The atoms between two seams each."""
        if not seams:
            yield self.atoms(sizes)
            return
        base, end = self.starts[-1], len(self.text)
        leads = [atom for atom in self.atoms(sizes) if atom.start < base]
        for start, stop in pairwise((base, *(base + seam for seam in seams), end)):
            text = self.text[start:stop].rstrip()
            yield [*leads, Atom(start, start + len(text), self.budget.size(text))]
            leads = []

    def breaks(self) -> tuple[int, ...]:
        return tuple(start + at for unit, start in zip(self.units, self.starts, strict=True) for at in unit.breaks)

    def room(self, start: int, before: Piece | None) -> int:
        """As `fixed.Room` says."""
        budget = self.budget
        if before is None:
            return budget.room - budget.size(self.above_first)
        free = budget.room - budget.size(self.above_later)
        context = self._repeated(start)
        if not context:
            context = overlap(self._tail(before), self.text[before.start : before.end], free, budget)
        return free - budget.size(context)

    def part(self, piece: Piece, before: Piece | None) -> Part:
        """What a piece becomes, given the one before it."""
        first, last = self._at(piece.start), self._at(piece.end - 1)
        bodies = _bodies(self.units[first : last + 1])
        return Part(
            own=self.text[piece.start : piece.end],
            size=piece.size,
            section=bodies[0].section,
            headings=common_path([unit.headings for unit in bodies]),
            locator=self._place(first, piece).to(self._place(last, piece)),
            above=self.above_later if before else self.above_first,
            repeated=self._repeated(piece.start),
            joint=self.text[before.end : piece.start] if before else PARAGRAPHS,
            tail=self._tail(piece),
            overlaps=piece.start > self.starts[first],
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

    def _tail(self, piece: Piece) -> str:
        number = self._at(piece.end - 1)
        if self.units[number].kind != "paragraph":
            return ""
        return self.text[max(self.starts[number], piece.start) : piece.end]

    def _place(self, number: int, piece: Piece) -> Locator:
        where, newlines = self.units[number].locator, self.newlines[number]
        if newlines is None:
            return where
        first = bisect_left(newlines, piece.start - self.starts[number])
        last = bisect_left(newlines, piece.end - self.starts[number])
        return Locator(where.unit, where.start + first, where.start + last, where.part)


def _newlines(unit: Unit) -> list[int] | None:
    """Where the lines of a unit end, if they are the lines of the source."""
    where = unit.locator
    if where.unit != "L" or where.end - where.start != unit.text.count("\n"):
        return None
    return [at for at, char in enumerate(unit.text) if char == "\n"]
