"""Where a paragraph changes its subject: between neighbouring sentences that are least alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ragpress.chunking.budget import Budget
from ragpress.records import Unit
from ragpress.text import sentence_spans

Compare = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""The cosine similarity of the two texts of each pair, embedded as texts of a document."""

Breakpoints = dict[Unit, tuple[int, ...]]
"""Offsets into the texts of paragraphs at which these are to be cut."""


_UNLIKE = -2.0
"""Below every cosine: beside what is no sentence, because it is longer than a chunk, there is a breakpoint."""


class _Sentence(NamedTuple):
    start: int
    text: str
    size: int


class _SentenceRun(NamedTuple):
    """The sentences of a paragraph from index `first` up to `end`, and their tokens."""

    first: int
    end: int
    size: int


def find_breakpoints(units: Iterable[Unit], budget: Budget, percentile: int, compare: Compare) -> Breakpoints:
    """The breakpoints of the paragraphs among a document's units.

    A breakpoint is where the similarity of two neighbouring sentences falls below the `percentile` of all such
    similarities. One that leaves less than `min_tokens` is closed again, and what is then too long for a chunk gets
    another where its sentences are least alike. Paragraphs too short for two parts, such as single sentences, are not
    compared.
    """
    paragraphs: dict[Unit, list[_Sentence]] = {}
    for unit in units:
        if unit.kind == "paragraph" and unit not in paragraphs:
            sentences = list(_sentences(unit.text, budget))
            if len(sentences) > 1 and sum(each.size for each in sentences) >= 2 * budget.min_tokens:
                paragraphs[unit] = sentences
    neighbours = {unit: list(pairwise(sentences)) for unit, sentences in paragraphs.items()}
    pairs = [_texts(two) for each in neighbours.values() for two in each if _is_readable(two, budget)]
    found = dict(zip(pairs, compare(pairs) if pairs else (), strict=True))
    alike = {unit: [found.get(_texts(two), _UNLIKE) for two in each] for unit, each in neighbours.items()}
    ordered = sorted(found[pair] for pair in pairs)
    threshold = ordered[len(ordered) * percentile // 100] if ordered else 0.0
    return {
        unit: tuple(sentences[span.first].start for span in _spans(sentences, alike[unit], threshold, budget)[1:])
        for unit, sentences in paragraphs.items()
    }


def _sentences(text: str, budget: Budget) -> Iterator[_Sentence]:
    for start, end in sentence_spans(text):
        sentence = " ".join(text[start:end].split())  # however its lines are wrapped
        if sentence:
            yield _Sentence(start, sentence, budget.size(sentence))


def _texts(pair: tuple[_Sentence, _Sentence]) -> tuple[str, str]:
    return pair[0].text, pair[1].text


def _is_readable(pair: tuple[_Sentence, _Sentence], budget: Budget) -> bool:
    """Whether the model can read each of the two sentences whole."""
    return max(pair[0].size, pair[1].size) <= budget.room


def _spans(
    sentences: Sequence[_Sentence], alike: Sequence[float], threshold: float, budget: Budget
) -> list[_SentenceRun]:
    """The parts of a paragraph. `alike[n]` is the similarity of the sentences n and n + 1."""
    starts = [0, *(at for at, similarity in enumerate(alike, start=1) if similarity < threshold), len(sentences)]
    spans = [_sentence_run(sentences, *edges) for edges in pairwise(starts)]
    spans = _without_small(spans, alike, budget)
    return [part for span in spans for part in _within_room(span, sentences, alike, budget)]


def _sentence_run(sentences: Sequence[_Sentence], first: int, end: int) -> _SentenceRun:
    return _SentenceRun(first, end, sum(each.size for each in sentences[first:end]))


def _without_small(spans: Sequence[_SentenceRun], alike: Sequence[float], budget: Budget) -> list[_SentenceRun]:
    """Spans below `min_tokens` joined to the neighbour that is more like them, if the two fit in a chunk."""
    done: list[_SentenceRun] = []
    rest = list(reversed(spans))
    while rest:
        span = rest.pop()
        before, after = done[-1] if done else None, rest[-1] if rest else None
        if before is not None and before.size + span.size > budget.room:
            before = None
        if after is not None and after.size + span.size > budget.room:
            after = None
        if span.size >= budget.min_tokens or before is after is None:
            done.append(span)
        elif after is None or (before is not None and alike[span.first - 1] >= alike[span.end - 1]):
            done[-1] = done[-1]._replace(end=span.end, size=done[-1].size + span.size)
        else:
            rest[-1] = rest[-1]._replace(first=span.first, size=rest[-1].size + span.size)
    return done


def _within_room(
    span: _SentenceRun, sentences: Sequence[_Sentence], alike: Sequence[float], budget: Budget
) -> Iterator[_SentenceRun]:
    """The span in parts that fit in a chunk; a sentence that does not is left to be cut."""
    while span.size > budget.room and span.end - span.first > 1:
        size = 0
        best: tuple[bool, float, int, int] | None = None
        for at in range(span.first, span.end - 1):
            size += sentences[at].size
            if size > budget.room and best is not None:
                break
            small = min(size, span.size - size) < budget.min_tokens
            best = min(best or (True, 2.0, 0, 0), (small, alike[at], at + 1, size))
        assert best is not None  # the span has two sentences
        _, _, end, size = best
        yield _SentenceRun(span.first, end, size)
        span = _SentenceRun(end, span.end, span.size - size)
    yield span
