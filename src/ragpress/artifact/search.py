"""The chunks of an artifact that fit a question best: by their vectors, by their words, or by both together."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from ragpress.artifact.index import Positions, Vector
from ragpress.artifact.read import Artifact
from ragpress.lexical.fusion import WEIGHT, Spread, confidence, sample_rows
from ragpress.lexical.scoring import Scores

_CANDIDATES = 16  # chunks beyond those asked for that each ranking names for the fusion of both
_MOST_CANDIDATES = 1024  # so many by words at most, where it takes more to be sure of the first ones
_ROUNDING = 1e-9
_ALL = slice(None)


class Ranked(msgspec.Struct, frozen=True):
    """A row and what it was ranked by; `cosine` or `word_score` is None where that was not looked at."""

    row: int
    score: float
    cosine: float | None
    word_score: float | None

    @property
    def confidence(self) -> float:
        return confidence(self.cosine, self.word_score)


class Search:
    """Searches an open artifact, or those of its index and word files that `files` names. Safe from several threads.

    Each method gives at most `k` rows, best first, equal ones in their order. With `among` (ascending rows) only those
    are searched; a row's score does not change by that. A query is a vector of unit length.
    """

    def __init__(self, artifact: Artifact, files: slice = _ALL) -> None:
        self._artifact = artifact
        self._files = files
        self._sample: npt.NDArray[np.float32] | None = None
        self._sampling = threading.Lock()
        # usearch's working memory of a search belongs to a thread's number, and each caller's thread is its number 0
        self._searching = threading.Lock()

    def by_vector(self, query: Vector, k: int, among: Positions | None = None) -> list[Ranked]:
        """The nearest by cosine."""
        with self._searching:
            found = self._artifact.index.nearest(query, k, among, self._files)
        return [Ranked(row, cosine, cosine, None) for row, cosine in found]

    def by_words(self, text: str, k: int, among: Positions | None = None) -> list[Ranked]:
        """The best by word score, of those with a word of the text."""
        scores = self._artifact.words.scores(text, self._files)
        rows = top(scores, k, self._rows(among))
        return [Ranked(row, score, None, score) for row in rows.tolist() if (score := float(scores[row])) > 0]

    def by_both(self, text: str, query: Vector, k: int, among: Positions | None = None) -> list[Ranked]:
        """The first by `Spread.fused` of the candidates that the two rankings name.

        No other chunk has a higher cosine than the last of those that are nearest, so that it could only come before
        the last one found by its words: those with a word score that is high enough for that are candidates, too.
        """
        words = self._artifact.words.scores(text, self._files)
        searched = self._rows(among)
        total = len(words) if searched is None else len(searched)
        spread = self.spread(query)
        near = self.by_vector(query, k + _CANDIDATES, among)
        best = top(words, _MOST_CANDIDATES, searched)
        rows = np.union1d(np.array([one.row for one in near], np.int64), best[: k + _CANDIDATES])
        cosines = self._artifact.index.cosines(query, rows)
        scores = spread.fused(cosines, words[rows])
        if len(near) < total:
            last = np.sort(scores)[-k:][0]
            needed = (last - spread.standardized(np.array([near[-1].score]))[0]) / WEIGHT
            more = np.setdiff1d(best[words[best] >= needed - _ROUNDING], rows)
            cosines = np.concatenate([cosines, self._artifact.index.cosines(query, more)])
            rows = np.concatenate([rows, more])
            scores = spread.fused(cosines, words[rows])
        order = np.lexsort((rows, -scores))[:k]
        columns = (rows[order], scores[order], cosines[order], words[rows[order]])
        return [Ranked(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]

    def _rows(self, among: Positions | None) -> Positions | None:
        """The rows that are searched, where these are not all."""
        if among is not None or self._files == _ALL:
            return among
        bounds = self._artifact.rows_of(self._files)
        return np.arange(bounds.start, bounds.stop)

    def spread(self, query: Vector) -> Spread:
        """Mean and deviation of the query's cosines, over the sample of `sample_rows`."""
        with self._sampling:
            if self._sample is None:
                rows = sample_rows(len(self._artifact.index))
                vectors = self._artifact.index.vectors(rows).astype(np.float32)
                self._sample = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        cosines = (self._sample @ query).astype(np.float64)
        return Spread.of(cosines)


def top(scores: Scores, k: int, among: Positions | Sequence[int] | None = None) -> Positions:
    """The `k` rows of the highest scores, best first, equal ones in their order."""
    rows = np.arange(len(scores)) if among is None else np.asarray(among, np.int64)
    chosen = scores[rows]
    if k < len(rows):
        least = np.partition(chosen, len(chosen) - k)[len(chosen) - k]
        above = rows[chosen > least]
        rows = np.concatenate([above, rows[chosen == least][: k - len(above)]])
    return rows[np.lexsort((rows, -scores[rows]))]
