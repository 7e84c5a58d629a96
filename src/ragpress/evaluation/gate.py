"""The retrieval gate: a repository's own questions against its artifact, and against the figures recorded before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from ragpress.config import Config
from ragpress.console import Report, plural, report
from ragpress.errors import BuildError
from ragpress.evaluation.cases import read_cases
from ragpress.evaluation.measuring import DEPTH, Figures, Result, evaluate_artifact, figures
from ragpress.evaluation.tables import found_instead, misses, rank_words, table
from ragpress.files import replace_file
from ragpress.models.selection import own_file
from ragpress.pipeline.merge import is_built
from ragpress.repository import Repository

QUESTIONS = "questions.jsonl"
RECORD = "retrieval.json"

TIE = 0.001
"""Scores that differ by no more may change places on another CPU, whose vectors differ in their last bits.

Measured with the offline model and flash attention on and off: the difference of two scores among the first ten
changed by more than this in one pair of a hundred; the median difference of two neighbours is 0.0035.
"""

_LITTLE = 1e-9  # shares are rounded, and so is the setting that their difference is compared with

Rank = Annotated[int, msgspec.Meta(ge=1, le=DEPTH)]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What golden/retrieval.json holds of one model: its figures, and the rank of each question; null for not found."""

    figures: Figures
    ranks: dict[str, Rank | None]


Records = dict[str, Record]
"""Model name to record: figures of two models are not comparable."""


class Compared(msgspec.Struct, frozen=True):
    """A question and its ranks. `now` is what it was where only a tie of scores was decided otherwise."""

    result: Result
    before: int | None
    now: int | None

    @property
    def is_worse(self) -> bool:
        return (self.now or DEPTH + 1) > (self.before or DEPTH + 1)

    @property
    def is_better(self) -> bool:
        return (self.now or DEPTH + 1) < (self.before or DEPTH + 1)


# -- the two tasks ---------------------------------------------------------------------------------------------------


def check_retrieval(repository: Repository, report: Report = report) -> None:
    """Reports the figures and every question that got worse.

    Raises BuildError where hit@5 is below min_hit_at_5, or hit@5 or MRR@10 fell by more than max_hit_drop.
    """
    golden = repository.config.golden
    if not _has_questions(repository):
        report(f"ragpress: there is no {golden}/{QUESTIONS}; write questions into it to have retrieval measured")
        return
    model, results = evaluate_repository(repository, report)
    for line in table(results):
        report(line)
    decide(repository.config, read_records(repository), model, results, report)


def accept_retrieval(repository: Repository, report: Report = report) -> None:
    """Records the figures of the artifact, where there are questions and it is made from what there is now."""
    path = f"{repository.config.golden}/{RECORD}"
    if not _has_questions(repository):
        return
    if not is_built(repository):
        report(
            f"ragpress: {path} stays as it is, for want of an artifact of these chunks; run `doit`, then accept again"
        )
        return
    try:
        records = read_records(repository)
    except BuildError:
        records = {}  # damaged: this is what replaces it
    model, results = evaluate_repository(repository, report)
    data = encode_records(updated(records, model, results))
    target = repository.golden / RECORD
    if not target.is_file() or target.read_bytes() != data:
        replace_file(target, data)
        report(f"wrote {path}")


def _has_questions(repository: Repository) -> bool:
    return (repository.golden / QUESTIONS).exists()


def evaluate_repository(repository: Repository, report: Report = report) -> tuple[str, tuple[Result, ...]]:
    """The model's name, and the results of the repository's own questions against its artifact. Raises BuildError."""
    config = repository.config
    cases = read_cases(repository.golden / QUESTIONS, report, f"{config.golden}/{QUESTIONS}")
    return evaluate_artifact(repository.artifact, cases, report, own_file(repository))


# -- comparing -------------------------------------------------------------------------------------------------------


def decide(config: Config, records: Records, model: str, results: Sequence[Result], report: Report) -> None:
    """Reports what got worse than recorded. Raises BuildError where it, or hit@5, is worse than the settings allow."""
    failures = _below_minimum(config, results, report)
    if model in records:
        failures += _dropped(config, compare(records[model], results), report)
    else:
        report(_no_record(config, records, model))
    if failures:
        raise BuildError(
            "retrieval", f"{'; '.join(failures)}; fix what the questions above should find, or the questions"
        )


def updated(records: Records, model: str, results: Sequence[Result]) -> Records:
    """The records with these results in the place of the model's old ones; what is only a tie stays as it was."""
    kept = {one.result.case.place: one.now for one in compare(records[model], results)} if model in records else {}
    ranks = [kept.get(result.case.place, result.rank) for result in results]
    record = Record(figures(ranks), dict(sorted(zip(labels(results), ranks, strict=True))))
    return {**records, model: record}


def labels(results: Sequence[Result]) -> list[str]:
    """The questions, each by another name: one that several cases ask is numbered from the second on."""
    found: dict[str, None] = {}
    for result in results:
        question = " ".join(result.case.question.split())
        label, number = question, 1
        while label in found:
            number += 1
            label = f"{question} [{number}]"
        found[label] = None
    return list(found)


def compare(record: Record, results: Sequence[Result]) -> list[Compared]:
    """The questions that were asked then and are asked now, whatever the cases expect."""
    pairs = zip(labels(results), results, strict=True)
    return [
        Compared(result, record.ranks[label], _level(result, record.ranks[label]))
        for label, result in pairs
        if label in record.ranks
    ]


def _level(result: Result, before: int | None) -> int | None:
    """The rank now; the rank before where the chunk at that place and the right one have as good as the same score."""
    now, hits = result.rank, result.hits
    if now is None or before is None or before > len(hits):
        return now
    return before if abs(hits[before - 1].score - hits[now - 1].score) <= TIE else now


def _below_minimum(config: Config, results: Sequence[Result], report: Report) -> list[str]:
    least = config.min_hit_at_5
    found = figures([result.rank for result in results]).hit_at_5
    if found >= least - _LITTLE:
        return []
    for result in misses(results):
        _report_found(result, rank_words(result.rank), report)
    return [f"hit@5 is {found:.4f}, below min_hit_at_5 = {least}"]


def _dropped(config: Config, compared: Sequence[Compared], report: Report) -> list[str]:
    if not compared:
        return []
    allowed = config.max_hit_drop
    worse = [one for one in compared if one.is_worse]
    for one in worse:
        _report_found(one.result, f"rank {one.before} before, now {rank_words(one.now)}", report)
    before, now = figures([one.before for one in compared]), figures([one.now for one in compared])
    better = sum(one.is_better for one in compared)
    report(
        f"ragpress: against {config.golden}/{RECORD}: {plural(len(worse), 'question', 'questions')} worse,"
        f" {better} better, hit@5 {before.hit_at_5:.4f} → {now.hit_at_5:.4f},"
        f" MRR@10 {before.mrr_at_10:.4f} → {now.mrr_at_10:.4f}"
    )
    drops = (("hit@5", before.hit_at_5, now.hit_at_5), ("MRR@10", before.mrr_at_10, now.mrr_at_10))
    return [
        f"{name} fell from {old:.4f} to {new:.4f}, by more than max_hit_drop = {allowed} (`doit accept` agrees to it)"
        for name, old, new in drops
        if old - new > allowed + _LITTLE
    ]


def _report_found(result: Result, what: str, report: Report) -> None:
    report(f"{result.case.place}: {what}")
    for line in found_instead(result):
        report(line)


def _no_record(config: Config, records: Records, model: str) -> str:
    path = f"{config.golden}/{RECORD}"
    if not records:
        return f"ragpress: there are no figures to compare with; `doit accept` records these in {path}"
    return (
        f"ragpress: {path} has figures of {', '.join(records)}, which those of {model} cannot be compared with;"
        " `doit accept` records these beside them"
    )


# -- golden/retrieval.json -------------------------------------------------------------------------------------------


def read_records(repository: Repository) -> Records:
    """What was recorded, empty where nothing was. Raises BuildError for a file that is damaged."""
    path = repository.golden / RECORD
    try:
        return msgspec.json.decode(path.read_bytes(), type=Records)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BuildError("retrieval", f"{_name(repository, path)} cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BuildError(
            "retrieval", f"{_name(repository, path)} is damaged ({error}); run `doit accept` to write it again"
        ) from None


def encode_records(records: Records) -> bytes:
    """golden/retrieval.json: models and questions sorted, a question a line, so that a change shows what it changes."""
    return msgspec.json.format(msgspec.json.encode(dict(sorted(records.items()))), indent=1) + b"\n"


def _name(repository: Repository, path: Path) -> str:
    return f"{repository.config.golden}/{path.name}"
