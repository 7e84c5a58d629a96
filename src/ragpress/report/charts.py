"""The histogram of chunk sizes and the curves of what was accepted, as numbers that a template draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from ragpress.records import Chunk, ContentType
from ragpress.report.history import Point

_BINS = 16
_STEP = 8  # widths of bins are multiples of it


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """Chunks with `first` to `last` tokens; `height` is the share (0 to 1) of the fullest bin."""

    first: int
    last: int
    chunks: int
    by_type: dict[ContentType, int]
    height: float


class Histogram(msgspec.Struct, frozen=True, kw_only=True):
    """Bins of the same width from 1 to the limit. `marks` are the numbers at the axis, rising from 0."""

    bins: tuple[Bin, ...]
    types: tuple[ContentType, ...]
    marks: tuple[int, ...]
    most: int


def histogram(chunks: Sequence[Chunk], limit: int, types: Sequence[ContentType]) -> Histogram:
    """How many chunks have how many tokens, at most `limit`, in all and by content type."""
    width = -(-limit // (_BINS * _STEP)) * _STEP
    counts = Counter(((chunk.tokens - 1) // width, chunk.content_type) for chunk in chunks)
    present = tuple(name for name in types if any(kind == name for _, kind in counts))
    rows = [{name: counts[number, name] for name in present} for number in range(-(-limit // width))]
    top, marks = _marks(max(sum(row.values()) for row in rows))
    bins = tuple(
        Bin(
            first=number * width + 1,
            last=min((number + 1) * width, limit),
            chunks=sum(row.values()),
            by_type=row,
            height=round(sum(row.values()) / top, 4),
        )
        for number, row in enumerate(rows)
    )
    return Histogram(bins=bins, types=present, marks=marks, most=top)


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A value over time. `points` are (x, y, value, day, commit), oldest first, `marks` (y, label) at the axis.

    x and y are shares (0 to 1) of the area.
    """

    title: str
    points: tuple[tuple[float, float, str, str, str], ...]
    marks: tuple[tuple[float, str], ...]


def curves(points: Sequence[Point]) -> tuple[Curve, ...]:
    """hit@5 and the number of chunks over the accepted states, each where there are two states or more."""
    hits = [(one.hit_at_5, f"{one.hit_at_5:.3f}", one) for one in points if one.hit_at_5 is not None]
    chunks = [(float(one.chunks), str(one.chunks), one) for one in points]
    top, marks = _marks(max((one.chunks for one in points), default=1))
    found = [
        _curve("hit@5 as accepted", hits, 1.0, [(0, "0"), (0.5, "0.5"), (1, "1")]),
        _curve("Chunks as accepted", chunks, top, [(mark, str(mark)) for mark in marks]),
    ]
    return tuple(curve for curve in found if len(curve.points) > 1)


def _curve(
    title: str, values: Sequence[tuple[float, str, Point]], top: float, marks: Sequence[tuple[float, str]]
) -> Curve:
    last = max(1, len(values) - 1)
    return Curve(
        title=title,
        points=tuple(
            (round(at / last, 4), round(value / top, 4), shown, one.day, one.commit)
            for at, (value, shown, one) in enumerate(values)
        ),
        marks=tuple((round(mark / top, 4), label) for mark, label in marks),
    )


def _marks(most: int) -> tuple[int, tuple[int, ...]]:
    """The end of the axis, and round numbers from 0 to it."""
    step = 1
    while most > 4 * step:
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    end = -(-max(most, 1) // step) * step
    return end, tuple(range(0, end + 1, step))
