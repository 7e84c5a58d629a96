"""What was accepted in the past, from git: the number of chunks, and hit@5."""

from __future__ import annotations

import msgspec

from ragpress.errors import BuildError
from ragpress.repository import Repository
from ragpress.review.git import commits_of, lines_at
from ragpress.review.golden import HEAD

MOST = 12
"""Commits that are looked at: the last that changed the goldens."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The goldens of a commit: its short id and day, their chunks, and hit@5 (0 to 1), None where none is recorded."""

    commit: str
    day: str
    chunks: int
    hit_at_5: float | None


def points_of(repository: Repository, model: str) -> tuple[Point, ...]:
    """The last accepted states, oldest first; none without git. hit@5 is that of this model."""
    from ragpress.evaluation.record import records_at

    root, golden = repository.root, repository.config.golden
    found = []
    for commit in commits_of(root, golden, MOST):
        try:
            record = records_at(repository, commit.identifier).get(model)
        except BuildError:  # a damaged file of the past is no point of the curve
            record = None
        chunks = lines_at(root, commit.identifier, golden, f"{HEAD} ")
        if chunks:
            hit = record.figures.hit_at_5 if record else None
            found.append(Point(commit=commit.identifier, day=commit.day, chunks=chunks, hit_at_5=hit))
    return tuple(found)
