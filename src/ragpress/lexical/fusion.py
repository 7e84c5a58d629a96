"""Cosines and word scores as one ranking: z + 6 b.

z is the cosine less the mean, divided by the deviation, of the question's cosines over the chunks, so that it says
how unusual a chunk is for this question; b is the word score. Weights from 4 to 8 differ little; sums of reciprocal
ranks lose, and so do larger weights on reworded questions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

WEIGHT = 6.0
SAMPLE = 1024
"""Chunks, evenly spaced among the rows, over which mean and deviation are taken where there are more."""

CONFIDENCE_WEIGHT = 0.15
_FLAT = 1e-6  # no deviation to speak of

Floats = npt.NDArray[np.float64]


class Spread(NamedTuple):
    """Mean and deviation of a question's cosines."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, cosines: Floats) -> Spread:
        """That of these cosines, which may be none."""
        return cls(float(cosines.mean()), float(cosines.std())) if len(cosines) else cls(0.0, 0.0)

    def standardized(self, cosines: Floats) -> Floats:
        """z of these cosines; 0 where all chunks are alike."""
        if self.deviation < _FLAT:
            return np.zeros(len(cosines))
        return (cosines - self.mean) / self.deviation

    def fused(self, cosines: Floats, word_scores: Floats) -> Floats:
        """z + 6 b."""
        return self.standardized(cosines) + WEIGHT * word_scores


def sample_rows(count: int) -> npt.NDArray[np.int64]:
    """The rows over which mean and deviation are taken: row ⌊i · count / size⌋ for each i below the sample's size."""
    size = min(count, SAMPLE)
    return np.arange(size, dtype=np.int64) * count // max(size, 1)


def confidence(cosine: float | None, word_score: float | None) -> float:
    """How far a chunk can be trusted to answer: cosine + 0.15 b, or the one of the two that there is."""
    if cosine is None or word_score is None:
        return cosine if cosine is not None else word_score or 0.0
    return cosine + CONFIDENCE_WEIGHT * word_score
