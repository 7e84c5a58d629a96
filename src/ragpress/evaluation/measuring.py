"""Cases asked of an artifact, and the figures over them: how often and how high the right chunk is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from ragpress.artifact.format import CHUNKS
from ragpress.artifact.jsonl import read_chunks
from ragpress.console import Progress, Report
from ragpress.errors import BuildError, ModelError, message, render
from ragpress.evaluation.cases import Case, obstacle
from ragpress.evaluation.confidence import Separation, question_confidence, separation
from ragpress.knowledge_base import KnowledgeBase, Mode
from ragpress.records import Chunk, Hit
from ragpress.system import processors

DEPTH = 10
"""Hits that are looked at for each question."""

_ARABIC, _CYRILLIC = re.compile("[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff]"), re.compile("[\u0400-\u052f]")
_Found = TypeVar("_Found")


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a question found. `hits` are the first ten, best first; `rank` (from 1) is that of the first right one.

    `obstacle` says why no chunk at all is right, and is empty where one is.
    """

    case: Case
    hits: tuple[Hit, ...]
    rank: int | None
    obstacle: str = ""


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Shares (0 to 1) of questions whose right chunk is among the first 1, 3 or 5, and MRR@10, the mean of 1/rank."""

    questions: int
    hit_at_1: float = msgspec.field(name="hit@1")
    hit_at_3: float = msgspec.field(name="hit@3")
    hit_at_5: float = msgspec.field(name="hit@5")
    mrr_at_10: float = msgspec.field(name="mrr@10")


def figures(ranks: Sequence[int | None]) -> Figures:
    """The figures over ranks, at least one; None for what was not found. Rounded to four places."""

    def share(values: Iterable[float]) -> float:
        return round(sum(values) / len(ranks), 4)

    found = [rank for rank in ranks if rank is not None]
    return Figures(
        questions=len(ranks),
        hit_at_1=share(rank <= 1 for rank in found),
        hit_at_3=share(rank <= 3 for rank in found),
        hit_at_5=share(rank <= 5 for rank in found),
        mrr_at_10=share(1 / rank for rank in found if rank <= 10),
    )


# -- asking ----------------------------------------------------------------------------------------------------------


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """The model's name, the results of the cases that a chunk should answer, in order, and how the others differ.

    `separation` is None where no case is `unanswerable`.
    """

    model: str
    results: tuple[Result, ...]
    separation: Separation | None


def measure_artifact(
    folder: Path, cases: Sequence[Case], report: Report, model_path: Path | None = None, mode: Mode = "hybrid"
) -> Measurement:
    """All cases asked of an artifact.

    A warning names each case that no chunk answers: there the documents or the case are at fault, not the search.
    Raises ArtifactError, ModelError, and BuildError where no case has an answer, or that names the case whose question
    is too long.
    """
    answerable = [case for case in cases if not case.unanswerable]
    others = [case for case in cases if case.unanswerable]
    if not answerable:
        raise BuildError("bad-case", "all questions are marked `unanswerable`; write some that have an answer")
    with KnowledgeBase.open(folder, model_path) as base:
        model = base.manifest.model.name
        hits = ask([*answerable, *others], lambda case: base.search(case.question, DEPTH, mode=mode))
        results = judge(answerable, hits[: len(answerable)], lambda: read_chunks(folder / CHUNKS))
    for result in results:
        if result.obstacle:
            text = f"{result.case.place}: no chunk answers it: {result.obstacle}"
            report(render(message("warning", "retrieval", text)))
    trust = [question_confidence(found) for found in hits]
    return Measurement(
        model=model, results=results, separation=separation(trust[: len(answerable)], trust[len(answerable) :])
    )


def ask(cases: Sequence[Case], answer: Callable[[Case], _Found]) -> list[_Found]:
    """`answer` of each case, a core a case: embedding a question takes one core."""

    def named(case: Case) -> _Found:
        try:
            return answer(case)
        except ModelError as error:
            if error.message.code != "embedding":
                raise
            raise BuildError("bad-case", f"{case.place}: {error.message.text}") from None
        finally:
            shown.advance()

    with Progress("asking", len(cases), "questions") as shown, ThreadPoolExecutor(processors()) as threads:
        return list(threads.map(named, cases))


def judge(
    cases: Sequence[Case], hits: Sequence[tuple[Hit, ...]], chunks: Callable[[], Iterable[Chunk]]
) -> tuple[Result, ...]:
    """The rank of each case's first right hit."""
    results = [Result(case=case, hits=found, rank=_rank(case, found)) for case, found in zip(cases, hits, strict=True)]
    if all(result.rank for result in results):
        return tuple(results)
    among = tuple(chunks())
    return tuple(
        result if result.rank else msgspec.structs.replace(result, obstacle=obstacle(result.case, among))
        for result in results
    )


def _rank(case: Case, hits: Sequence[Hit]) -> int | None:
    return next((rank for rank, hit in enumerate(hits, 1) if case.is_answered_by(hit.chunk)), None)


# -- groups -----------------------------------------------------------------------------------------------------------


def language(question: str) -> str:
    """`fa` or `ru` by the script, Arabic or Cyrillic, that has more letters; Latin names among them do not count.

    `other` where neither has one.
    """
    persian, russian = (len(script.findall(question)) for script in (_ARABIC, _CYRILLIC))
    if persian == russian == 0:
        return "other"
    return "fa" if persian > russian else "ru"


def by_language(results: Sequence[Result]) -> dict[str, Figures]:
    """Figures by the language of the question."""
    return _grouped(results, lambda result: language(result.case.question))


def by_source(results: Sequence[Result]) -> dict[str, Figures]:
    """Figures by the source in which the answer is expected, as the case names it; empty for cases that name none."""
    return _grouped(results, lambda result: ", ".join(result.case.sources))


def _grouped(results: Sequence[Result], name: Callable[[Result], str]) -> dict[str, Figures]:
    groups: dict[str, list[int | None]] = {}
    for result in results:
        groups.setdefault(name(result), []).append(result.rank)
    return {group: figures(groups[group]) for group in sorted(groups)}
