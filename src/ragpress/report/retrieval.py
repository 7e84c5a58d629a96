"""The questions of a repository and what each finds, for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from ragpress.console import Report
from ragpress.errors import BuildError
from ragpress.records import Hit
from ragpress.repository import Repository
from ragpress.review.git import Base

if TYPE_CHECKING:
    from ragpress.evaluation import Figures, Result
    from ragpress.evaluation.record import Record

Trend = Literal["better", "worse", ""]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One of a question's hits, and whether it is what the question asks for."""

    hit: Hit
    expected: bool


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question and what it found. `rank` is that of the first right hit, None where none of ten is right.

    `expected` has each condition's name and values. `before` is the recorded rank, None where none is; `trend` compares
    the two.
    """

    place: str
    question: str
    expected: tuple[tuple[str, tuple[str, ...]], ...]
    rank: int | None
    before: int | None
    trend: Trend
    obstacle: str
    answers: tuple[Answer, ...]


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Figures over some of the questions; `kind` is total, recorded, language or source."""

    kind: str
    name: str
    figures: Figures


class Retrieval(msgspec.Struct, frozen=True, kw_only=True):
    """The whole table. The first group is the total, as measured now.

    `against` is what the questions' ranks before are of, empty where there are none; `before` and `after` are the
    figures of those questions that were asked then and now. `note` says what is to be known of the artifact.
    """

    model: str
    groups: tuple[Group, ...]
    questions: tuple[Question, ...]
    against: str = ""
    before: Figures | None = None
    after: Figures | None = None
    note: str = ""

    @property
    def total(self) -> Figures:
        return self.groups[0].figures

    @property
    def worse(self) -> tuple[Question, ...]:
        return tuple(one for one in self.questions if one.trend == "worse")

    @property
    def better(self) -> tuple[Question, ...]:
        return tuple(one for one in self.questions if one.trend == "better")


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A table, or a note on why there is none; with `failed` another attempt may go better."""

    retrieval: Retrieval | None = None
    note: str = ""
    failed: bool = False


def measure(repository: Repository, base: Base | None, note: str, report: Report) -> Measured:
    """Asks the repository's questions, and compares with the figures of the base, else with those in the folder.

    An error is reported and noted: it takes nothing else from the report.
    """
    from ragpress.evaluation.gate import QUESTIONS, evaluate_repository
    from ragpress.evaluation.record import RECORD, read_records, records_at

    name = f"{repository.config.golden}/{QUESTIONS}"
    if not (repository.golden / QUESTIONS).exists():
        return Measured(note=f"There is no {name}; write questions into it to have retrieval measured.")
    try:
        model, results = evaluate_repository(repository, report)
        record = records_at(repository, base.revision).get(model) if base else None
        against = base.name if base and record else f"{repository.config.golden}/{RECORD}"
        record = record or read_records(repository).get(model)
    except BuildError as error:
        report(f"{error} - the report is made without retrieval")
        return Measured(note=f"Retrieval could not be measured: {error.message.text}.", failed=True)
    table = _table(model, results, record)
    return Measured(retrieval=replace(table, against=against if table.before else "", note=note))


def _table(model: str, results: tuple[Result, ...], record: Record | None) -> Retrieval:
    from ragpress.evaluation import by_language, by_source, figures
    from ragpress.evaluation.record import compare

    groups = [Group(kind="total", name="all questions", figures=figures([result.rank for result in results]))]
    compared = {}
    if record is not None:
        groups.append(Group(kind="recorded", name="before", figures=record.figures))
        compared = {one.result.case.place: one for one in compare(record, results)}
    groups += [Group(kind="language", name=key, figures=found) for key, found in by_language(results).items()]
    groups += [Group(kind="source", name=key, figures=found) for key, found in by_source(results).items()]
    questions = []
    for result in results:
        one = compared.get(result.case.place)
        trend: Trend = "" if one is None else "worse" if one.is_worse else "better" if one.is_better else ""
        questions.append(_question(result, one.before if one else None, trend))
    return Retrieval(
        model=model,
        groups=tuple(groups),
        questions=tuple(questions),
        before=figures([one.before for one in compared.values()]) if compared else None,
        after=figures([one.now for one in compared.values()]) if compared else None,
    )


def _question(result: Result, before: int | None, trend: Trend) -> Question:
    case = result.case
    expected = (
        ("source", case.sources),
        ("section", case.sections),
        ("type", case.content_types),
        ("answer", case.answers),
    )
    return Question(
        place=case.place,
        question=case.question,
        expected=tuple((name, values) for name, values in expected if values),
        rank=result.rank,
        before=before,
        trend=trend,
        obstacle=result.obstacle,
        answers=tuple(Answer(hit=hit, expected=case.is_answered_by(hit.chunk)) for hit in result.hits),
    )
