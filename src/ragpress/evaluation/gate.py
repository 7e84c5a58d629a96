"""The retrieval gate: a repository's own questions against its artifact, and against the figures recorded before."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragpress.config import Config
from ragpress.console import Report, plural, report, under_ci
from ragpress.errors import BuildError
from ragpress.evaluation.cases import read_cases
from ragpress.evaluation.measuring import Measurement, Result, figures, measure_artifact
from ragpress.evaluation.record import (
    RECORD,
    Compared,
    Record,
    Records,
    compare,
    encode_records,
    falls,
    gave_up,
    read_records,
    records_at,
    updated,
)
from ragpress.evaluation.tables import found_instead, misses, rank_words, separation_lines, table
from ragpress.files import replace_file
from ragpress.models.selection import custom_model_file
from ragpress.pipeline.publish import is_built
from ragpress.repository import Repository
from ragpress.review.git import find_base

QUESTIONS = "questions.jsonl"

_LITTLE = 1e-9  # shares are rounded, and so is the setting that their difference is compared with


class Baseline(msgspec.Struct, frozen=True):
    """The figures that were recorded at the revision that a change is compared with."""

    name: str
    records: Records


# -- the two tasks ---------------------------------------------------------------------------------------------------


def check_retrieval(repository: Repository, report: Report = report, base: str = "") -> None:
    """Reports the figures and every question that got worse than recorded; under CI, or with `base`, than there too.

    Raises BuildError where hit@5 is below min_hit_at_5, where hit@5 or MRR@10 fell by more than max_hit_drop, and under
    CI where there are no figures to compare with.
    """
    golden = repository.config.golden
    if not has_questions(repository):
        report(f"ragpress: there is no {golden}/{QUESTIONS}; write questions into it to have retrieval measured")
        return
    found = find_base(repository.root, base) if base or under_ci() else None
    baseline = Baseline(found.name, records_at(repository, found.revision)) if found else None
    measured = _measure(repository, report)
    for line in (*table(measured.results), *separation_lines(measured.separation)):
        report(line)
    records = read_records(repository)
    decide(repository.config, records, measured.model, measured.results, report, baseline, must_compare=under_ci())


def accept_retrieval(repository: Repository, report: Report = report, worse: bool = False) -> None:
    """Shows the figures of the artifact beside the recorded ones, and records them; lower ones only with `worse`.

    Nothing is done where there are no questions, or no artifact of what there is now.
    """
    path = f"{repository.config.golden}/{RECORD}"
    if not has_questions(repository):
        return
    if not is_built(repository):
        report(
            f"ragpress: {path} stays as it is, for want of an artifact of these chunks; run `ragpress build`, then"
            " accept again"
        )
        return
    try:
        records = read_records(repository)
    except BuildError:
        records = {}  # damaged: this is what replaces it
    model, results = evaluate_repository(repository, report)
    compared = compare(records[model], results) if model in records else []
    if compared:
        _report_compared(path, compared, report)
    fallen = falls(compared)
    if fallen and not worse:
        report(
            f"ragpress: {path} keeps the better figures ({'; '.join(fallen)}): fix what the questions above should"
            " find, or run `ragpress accept --retrieval` to accept these"
        )
        return
    data = encode_records(updated(records, model, results))
    target = repository.golden / RECORD
    if not target.is_file() or target.read_bytes() != data:
        replace_file(target, data)
        report(f"wrote {path}: {', '.join(fallen)}" if fallen else f"wrote {path}")


def has_questions(repository: Repository) -> bool:
    return (repository.golden / QUESTIONS).exists()


def evaluate_repository(repository: Repository, report: Report = report) -> tuple[str, tuple[Result, ...]]:
    """The model's name, and the results of the repository's own questions against its artifact. Raises BuildError."""
    found = _measure(repository, report)
    return found.model, found.results


def _measure(repository: Repository, report: Report) -> Measurement:
    config = repository.config
    cases = read_cases(repository.golden / QUESTIONS, report, f"{config.golden}/{QUESTIONS}")
    return measure_artifact(repository.artifact, cases, report, custom_model_file(repository))


# -- the verdict -----------------------------------------------------------------------------------------------------


def decide(
    config: Config,
    records: Records,
    model: str,
    results: Sequence[Result],
    report: Report,
    baseline: Baseline | None = None,
    must_compare: bool = False,
) -> None:
    """Reports what got worse than recorded, here and in the baseline. Raises BuildError as `check_retrieval` says.

    A fall below the baseline that the record says was accepted is reported and passes.
    """
    failures = _below_minimum(config, results, report)
    own = records.get(model)
    if own is not None:
        failures += _dropped(config, f"{config.golden}/{RECORD}", own, results, report)
    elif must_compare:
        failures.append(_no_record(config, records, model))
    else:
        report(f"ragpress: {_no_record(config, records, model)}")
    base = baseline.records.get(model) if baseline else None
    if baseline and base is None:
        report(f"ragpress: there are no figures of {model} in {baseline.name} to compare with")
    if baseline and base is not None and (own is None or base.ranks != own.ranks):
        fallen = _dropped(config, baseline.name, base, results, report)
        if fallen and gave_up(own, base):
            report(f"ragpress: this was accepted by `ragpress accept --retrieval`, as {config.golden}/{RECORD} says")
        else:
            failures += fallen
    if failures:
        raise BuildError("retrieval", "; ".join(dict.fromkeys(failures)))


def _below_minimum(config: Config, results: Sequence[Result], report: Report) -> list[str]:
    least = config.min_hit_at_5
    found = figures([result.rank for result in results]).hit_at_5
    if found >= least - _LITTLE:
        return []
    for result in misses(results):
        _report_found(result, rank_words(result.rank), report)
    return [
        f"hit@5 is {found:.4f}, below min_hit_at_5 = {least}; fix what the questions above should find, or the"
        " questions"
    ]


def _dropped(config: Config, name: str, record: Record, results: Sequence[Result], report: Report) -> list[str]:
    compared = compare(record, results)
    if not compared:
        return []
    _report_compared(name, compared, report)
    fallen = falls(compared, config.max_hit_drop)
    if not fallen:
        return []
    return [
        f"{' and '.join(fallen)} against {name}, by more than max_hit_drop = {config.max_hit_drop}; fix what the"
        " questions above should find, or accept it by `ragpress accept --retrieval` and commit"
    ]


def _report_compared(name: str, compared: Sequence[Compared], report: Report) -> None:
    """The questions that got worse, with what came first instead, and the figures before → after."""
    worse = [one for one in compared if one.is_worse]
    for one in worse:
        _report_found(one.result, f"rank {one.before} before, now {rank_words(one.now)}", report)
    before, now = figures([one.before for one in compared]), figures([one.now for one in compared])
    better = sum(one.is_better for one in compared)
    report(
        f"ragpress: against {name}: {plural(len(worse), 'question', 'questions')} worse,"
        f" {better} better, hit@5 {before.hit_at_5:.4f} → {now.hit_at_5:.4f},"
        f" MRR@10 {before.mrr_at_10:.4f} → {now.mrr_at_10:.4f}"
    )


def _report_found(result: Result, what: str, report: Report) -> None:
    report(f"{result.case.place}: {what}")
    for line in found_instead(result):
        report(line)


def _no_record(config: Config, records: Records, model: str) -> str:
    path = f"{config.golden}/{RECORD}"
    if not records:
        return f"there are no figures to compare with; `ragpress accept` records these in {path}, commit it"
    return (
        f"{path} has figures of {', '.join(records)}, which those of {model} cannot be compared with;"
        " `ragpress accept` records these beside them"
    )
