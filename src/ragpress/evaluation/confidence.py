"""Questions that have an answer separated from those that have none, by the confidence of what they find."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from ragpress.records import Hit


class Separation(msgspec.Struct, frozen=True, kw_only=True):
    """How well confidence tells the two kinds of questions apart.

    `area` is the area under the curve: the share of pairs, one question of each kind, in which the one with an answer
    has the higher confidence (equal ones count half). `threshold` is the `min_confidence` that serves best: there the
    mean of `answered`, the share of questions with an answer at or above it, and `rejected`, the share of the others
    below it, is highest.
    """

    answerable: int
    unanswerable: int
    area: float
    threshold: float
    answered: float
    rejected: float


def question_confidence(hits: Sequence[Hit]) -> float:
    """The highest confidence among the hits of a question; 0 without hits."""
    return max((hit.confidence for hit in hits), default=0.0)


def separation(answerable: Sequence[float], unanswerable: Sequence[float]) -> Separation | None:
    """The figures over the confidences of both kinds of questions; None where one kind is missing."""
    if not answerable or not unanswerable:
        return None
    good, bad = np.sort(np.array(answerable)), np.sort(np.array(unanswerable))
    pairs = np.searchsorted(bad, good, "left") + np.searchsorted(bad, good, "right")
    values = np.unique(np.concatenate([good, bad]))
    # between two neighbouring values, so that what was measured is not on the edge
    thresholds = np.concatenate([values[:1], (values[1:] + values[:-1]) / 2])
    answered = 1 - np.searchsorted(good, thresholds, "left") / len(good)
    rejected = np.searchsorted(bad, thresholds, "left") / len(bad)
    best = int(np.argmax(answered + rejected))
    return Separation(
        answerable=len(good),
        unanswerable=len(bad),
        area=round(float(pairs.sum()) / (2 * len(good) * len(bad)), 4),
        threshold=round(float(thresholds[best]), 4),
        answered=round(float(answered[best]), 4),
        rejected=round(float(rejected[best]), 4),
    )
