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


class Segment(NamedTuple):
    """A stretch of the text that is cut: offsets, and tokens."""

    start: int
    end: int
    size: int


class Span(NamedTuple):
    """A stretch that is kept whole while it fits. `level` is where it comes apart otherwise.

    `glued` ones stand at the text's beginning (a heading, a lead-in, a table's header) and stay with what follows.
    """

    start: int
    end: int
    size: int
    level: int = BREAKS
    glued: bool = False


Room = Callable[[int, Segment | None], int]
"""How many tokens of its own a segment may hold, by where it starts and which segment came before it."""


def cut(
    text: str, spans: Iterable[Span], breaks: tuple[int, ...], budget: Budget, room: Room, place: Locator
) -> list[Segment]:
    """The segments of `text`, in order; only white space lies between them.

    Each segment is filled up to its `room`, which must be positive. A last segment below `min_tokens` is evened out
    with the one before. A word that had to be cut inside is noted in the budget, with `place`.
    """
    feed = _Feed(spans)
    segments: list[Segment] = []
    before: list[Span] = []  # the last finished segment, held back for evening out
    taken: list[Span] = []
    used, free = 0, room(0, None)
    while (span := feed.next()) is not None:
        if used + span.size <= free:
            taken.append(span)
            used += span.size
            continue
        next_room = room(span.start, _segment(taken)) if taken else 0
        finished = bool(taken) and not taken[-1].glued and span.size <= next_room
        if not finished:
            finer = _finer(text, span, breaks, budget)
            if finer is not None:
                feed.put(finer)
                continue
            # One word. It begins a new segment unless much of this one is still free for its beginning.
            finished = bool(taken) and (span.size <= next_room or 2 * used > free)
        if finished:
            if before:
                segments.append(_segment(before))
            before, taken, used, free = taken, [], 0, next_room
            feed.put([span])
            continue
        if not text[span.start - 1 : span.start].strip():  # its beginning, not a later segment of it
            budget.long_words.setdefault(text[span.start : span.start + 20], place)
        end = longest_beginning(text, span.start, span.end, free - used, budget)
        taken.append(Span(span.start, end, free - used, INSIDE))
        used = free
        if end < span.end:
            feed.put([Span(end, span.end, budget.size(text[end : span.end]), INSIDE)])
    last = _evened(before, taken, budget, room) if before else [taken]
    return [*segments, *(_segment(segment) for segment in last if segment)]


class _Feed:
    """The spans to come. Lazy, so that a huge text never lies in memory word by word."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._stack = [iter(spans)]

    def next(self) -> Span | None:
        while self._stack:
            span = next(self._stack[-1], None)
            if span is not None:
                return span
            self._stack.pop()
        return None

    def put(self, spans: Iterable[Span]) -> None:
        """Puts spans before all others."""
        self._stack.append(iter(spans))


def _segment(spans: list[Span]) -> Segment:
    return Segment(spans[0].start, spans[-1].end, sum(span.size for span in spans))


def _finer(text: str, span: Span, breaks: tuple[int, ...], budget: Budget) -> Iterator[Span] | None:
    """The span's parts at the next level where it has several. None for a single word."""
    for level in range(span.level, INSIDE):
        parts = _parts(text, span.start, span.end, level, breaks)
        first, second = next(parts, None), next(parts, None)
        if first is not None and second is not None:
            spans = chain((first, second), parts)
            return (Span(start, end, budget.size(text[start:end]), level + 1) for start, end in spans)
    return None


def _parts(text: str, start: int, end: int, level: int, breaks: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    if level == BREAKS:
        inner = breaks[bisect_right(breaks, start) : bisect_left(breaks, end)]
        for one, two in pairwise((start, *inner, end)):
            # Spaces stay before a line of code and a nested item: they say where it belongs.
            segment = text[one:two].rstrip()
            if segment:
                yield (two - len(text[one:two].lstrip("\r\n")), one + len(segment))
    elif level == SENTENCES:
        for one, two in sentence_spans(text[start:end]):
            segment = text[start + one : start + two]
            if segment.strip():
                yield (start + two - len(segment.lstrip()), start + one + len(segment.rstrip()))
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


def _evened(before: list[Span], last: list[Span], budget: Budget, room: Room) -> list[list[Span]]:
    """The last two segments, made about equal if the last one is below `min_tokens`."""
    sizes = [span.size for span in (*before, *last)]
    tail = sum(span.size for span in last)
    if tail >= budget.min_tokens or len(before) < 2:
        return [before, last]
    total, head = sum(sizes), 0
    at = 0
    while at < len(before) - 1 and 2 * (head + sizes[at]) <= total:
        head += sizes[at]
        at += 1
    both = [*before, *last]
    if not at or both[at - 1].glued or total - head > room(both[at].start, _segment(both[:at])):
        return [before, last]
    return [both[:at], both[at:]]
