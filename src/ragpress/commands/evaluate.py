"""`ragpress eval`: the gate on retrieval, and figures of artifacts and settings."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from ragpress.commands.tasks import base_option, run_tasks
from ragpress.repository import repository_here

if TYPE_CHECKING:
    from ragpress.evaluation import Case


def evaluate(options: argparse.Namespace) -> int:
    """The gate; or figures of an artifact, or of other settings, on standard output, status 0, whatever they are."""
    measured = (options.cases, options.artifact, options.model, options.json, options.sweep, options.compare)
    if not any(measured) and options.mode == "hybrid":
        return run_tasks(["eval", *base_option(options)])
    from ragpress.console import report
    from ragpress.evaluation import comparison_lines, measure_artifact, read_cases, report_lines, to_json
    from ragpress.evaluation.tables import separation_lines
    from ragpress.knowledge_base import MODES
    from ragpress.models.selection import file_for

    path = options.cases or repository_here().golden / "questions.jsonl"
    cases = read_cases(path, report, str(options.cases or "golden/questions.jsonl"))
    if options.sweep:
        return _sweep(options, cases)
    artifact = options.artifact or repository_here().artifact
    model = options.model or file_for(artifact)
    if options.compare:
        modes = {mode: measure_artifact(artifact, cases, report, model, mode) for mode in MODES}
        print(to_json(modes) if options.json else "\n".join(comparison_lines(modes)))
        return 0
    found = measure_artifact(artifact, cases, report, model, options.mode)
    if options.json:
        print(to_json(found))
    else:
        print("\n".join([*report_lines(found.results), *separation_lines(found.separation)]))
    return 0


def _sweep(options: argparse.Namespace, cases: Sequence[Case]) -> int:
    from ragpress.evaluation.sweep import parse_sweep, sweep, sweep_table

    repository = repository_here()
    rows = list(sweep(repository, cases, parse_sweep(options.sweep, repository.config)))
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode())
    else:
        print("\n".join(sweep_table(rows)))
    return 0
