"""Cuts one text that is too long for a chunk: at its own breaks, else sentences, else spaces, else inside a word."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from ragpress.chunking.budget import Budget
from ragpress.records import Locator
from ragpress.text import sentence_spans

# The levels at which a text comes apart, coarse to fine.
BREAKS, SENTENCES, SPACES, ALL_SPACES, INSIDE = range(5)

# No-break spaces keep together what belongs together (a number and its unit, initials): they come last.
_WORDS = {SPACES: re.compile(r"[^ \t\n\r\f\v]+"), ALL_SPACES: re.compile(r"\S+")}
_CHARS_A_TOKEN = 4  # in running text: only where a search begins
_EXACT = 64  # a word's beginning is found to this part of its length


class Piece(NamedTuple):
    """A stretch of the text that is cut: offsets, and tokens."""

    start: int
    end: int
    size: int


class Atom(NamedTuple):
    """A stretch that is kept whole while it fits. `level` is where it comes apart otherwise.

    `glued` ones stand at the text's beginning (a heading, a lead-in, a table's header) and stay with what follows.
    """

    start: int
    end: int
    size: int
    level: int = BREAKS
    glued: bool = False


Room = Callable[[int, Piece | None], int]
"""How many tokens of its own a piece may hold, by where it starts and which piece came before it."""


def cut(
    text: str, atoms: Iterable[Atom], breaks: tuple[int, ...], budget: Budget, room: Room, place: Locator
) -> list[Piece]:
    """The pieces of `text`, in order; only white space lies between them.

    Each piece is filled up to its `room`, which must be positive. A last piece below `min_tokens` is evened out with
    the one before. A word that had to be cut inside is noted in the budget, with `place`.
    """
    feed = _Feed(atoms)
    pieces: list[Piece] = []
    before: list[Atom] = []  # the last finished piece, held back for evening out
    taken: list[Atom] = []
    used, free = 0, room(0, None)
    while (atom := feed.next()) is not None:
        if used + atom.size <= free:
            taken.append(atom)
            used += atom.size
            continue
        next_room = room(atom.start, _piece(taken)) if taken else 0
        finished = bool(taken) and not taken[-1].glued and atom.size <= next_room
        if not finished:
            finer = _finer(text, atom, breaks, budget)
            if finer is not None:
                feed.put(finer)
                continue
            # One word. It begins a new piece unless much of this one is still free for its beginning.
            finished = bool(taken) and (atom.size <= next_room or 2 * used > free)
        if finished:
            if before:
                pieces.append(_piece(before))
            before, taken, used, free = taken, [], 0, next_room
            feed.put([atom])
            continue
        if not text[atom.start - 1 : atom.start].strip():  # its beginning, not a later piece of it
            budget.long_words.setdefault(text[atom.start : atom.start + 20], place)
        end = longest_beginning(text, atom.start, atom.end, free - used, budget)
        taken.append(Atom(atom.start, end, free - used, INSIDE))
        used = free
        if end < atom.end:
            feed.put([Atom(end, atom.end, budget.size(text[end : atom.end]), INSIDE)])
    last = _evened(before, taken, budget, room) if before else [taken]
    return [*pieces, *(_piece(piece) for piece in last if piece)]


class _Feed:
    """The atoms to come. Lazy, so that a huge text never lies in memory word by word."""

    def __init__(self, atoms: Iterable[Atom]) -> None:
        self._stack = [iter(atoms)]

    def next(self) -> Atom | None:
        while self._stack:
            atom = next(self._stack[-1], None)
            if atom is not None:
                return atom
            self._stack.pop()
        return None

    def put(self, atoms: Iterable[Atom]) -> None:
        """Puts atoms before all others."""
        self._stack.append(iter(atoms))


def _piece(atoms: list[Atom]) -> Piece:
    return Piece(atoms[0].start, atoms[-1].end, sum(atom.size for atom in atoms))


def _finer(text: str, atom: Atom, breaks: tuple[int, ...], budget: Budget) -> Iterator[Atom] | None:
    """The atom's parts at the next level where it has several. None for a single word."""
    for level in range(atom.level, INSIDE):
        parts = _parts(text, atom.start, atom.end, level, breaks)
        first, second = next(parts, None), next(parts, None)
        if first is not None and second is not None:
            spans = chain((first, second), parts)
            return (Atom(start, end, budget.size(text[start:end]), level + 1) for start, end in spans)
    return None


def _parts(text: str, start: int, end: int, level: int, breaks: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    if level == BREAKS:
        inner = breaks[bisect_right(breaks, start) : bisect_left(breaks, end)]
        for one, two in pairwise((start, *inner, end)):
            # Spaces stay before a line of code and a nested item: they say where it belongs.
            piece = text[one:two].rstrip()
            if piece:
                yield (two - len(text[one:two].lstrip("\r\n")), one + len(piece))
    elif level == SENTENCES:
        for one, two in sentence_spans(text[start:end]):
            piece = text[start + one : start + two]
            if piece.strip():
                yield (start + two - len(piece.lstrip()), start + one + len(piece.rstrip()))
    else:
        for found in _WORDS[level].finditer(text, start, end):
            yield found.span()


def longest_beginning(text: str, start: int, over: int, room: int, budget: Budget) -> int:
    """The end of about the longest stretch from `start` that fits, given that up to `over` is too long.

    It parts no letter from its marks, and is never empty.
    """
    last, fits = over, start
    probe = start + max(1, room) * _CHARS_A_TOKEN
    while over - fits > max(1, (fits - start) // _EXACT):
        probe = min(max(probe, fits + 1), over - 1)
        if budget.size(text[start:probe]) <= room:
            fits = probe
            probe = start + 2 * (probe - start)
        else:
            over = probe
        if over < last:
            probe = (fits + over) // 2
    end = fits
    while end > start and not _separable(text, end):
        end -= 1
    return end if end > start else max(fits, start + 1)


def _separable(text: str, at: int) -> bool:
    """Whether a reader would still see the same characters if the text were cut before `at`."""
    joiners = "\u200c\u200d"
    before, behind = text[at - 1], text[at : at + 1]
    if not behind:
        return True
    mark = unicodedata.category(behind).startswith("M") or "\U0001f3fb" <= behind <= "\U0001f3ff"
    return not mark and before not in joiners and behind not in joiners


def _evened(before: list[Atom], last: list[Atom], budget: Budget, room: Room) -> list[list[Atom]]:
    """The last two pieces, made about equal if the last one is below `min_tokens`."""
    sizes = [atom.size for atom in (*before, *last)]
    tail = sum(atom.size for atom in last)
    if tail >= budget.min_tokens or len(before) < 2:
        return [before, last]
    total, head = sum(sizes), 0
    at = 0
    while at < len(before) - 1 and 2 * (head + sizes[at]) <= total:
        head += sizes[at]
        at += 1
    both = [*before, *last]
    if not at or both[at - 1].glued or total - head > room(both[at].start, _piece(both[:at])):
        return [before, last]
    return [both[:at], both[at:]]
