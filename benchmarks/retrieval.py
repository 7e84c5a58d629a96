"""Retrieval on public questions: hit@1, hit@5 and MRR@10 of the three modes of search, and questions without an answer.

The folder has, for each language, folders of documents, and `cases/`: JSONL files of questions, each named by the
folder that it is asked of and, behind `_`, how its questions are worded. Every folder is built as a repository.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragpress.evaluation import figures, measure_artifact, read_cases
from ragpress.evaluation.confidence import question_confidence, separation
from ragpress.knowledge_base import MODES, KnowledgeBase

MODEL = "multilingual-e5-small"
PROSE = "prose"
WORDINGS = ("reworded", "verbatim")


def run(data: Path, scratch: Path) -> Iterator[str]:
    """A line a language, wording of the questions and mode."""
    cache = scratch / "vectors.sqlite"
    yield f"{'':24}questions   hit@1   hit@5  MRR@10   ({MODEL})"
    for language in sorted(path.name for path in data.iterdir() if (path / "cases").is_dir()):
        groups: dict[str, list[tuple[Path, Path]]] = {}
        for cases in sorted((data / language / "cases").glob("*.jsonl")):
            name, _, wording = cases.stem.rpartition("_")
            name, group = (name, wording) if wording in WORDINGS else (cases.stem, PROSE)
            folder = scratch / f"{language}-{name}"
            if not folder.exists():
                build(folder, sorted((data / language / name).iterdir()), cache)
            groups.setdefault(group, []).append((folder, cases))
        for group, asked in groups.items():
            yield from _compared(f"{language} {group}", asked)
        yield from _unanswered(language, groups[PROSE], scratch, cache)


def _compared(name: str, asked: Sequence[tuple[Path, Path]]) -> Iterator[str]:
    for mode in MODES:
        ranks: list[int | None] = []
        for folder, cases in asked:
            measured = measure_artifact(folder / "build/kb", read_cases(cases, _ignore), _ignore, mode=mode)
            ranks += [result.rank for result in measured.results]
        found = figures(ranks)
        shares = "  ".join(f"{share:.4f}" for share in (found.hit_at_1, found.hit_at_5, found.mrr_at_10))
        yield f"{f'{name}, {mode}':24}{found.questions:>9}  {shares}"


def _unanswered(language: str, asked: Sequence[tuple[Path, Path]], scratch: Path, cache: Path) -> Iterator[str]:
    """Questions about the first half of the articles against those about the others, which are left out."""
    for mode in MODES:
        answerable: list[float] = []
        others: list[float] = []
        for folder, cases in asked:
            sources = sorted((folder / "sources").iterdir())
            kept = sources[: len(sources) // 2]
            half = scratch / f"{folder.name}-half"
            if not half.exists():
                build(half, kept, cache)
            questions = read_cases(cases, _ignore)
            with KnowledgeBase.open(half / "build/kb") as base:
                found = base.search_many([case.question for case in questions], 10, mode=mode)
            for case, hits in zip(questions, found, strict=True):
                there = set(case.sources) & {path.name for path in kept}
                (answerable if there else others).append(question_confidence(hits))
        apart = separation(answerable, others)
        if apart:
            name = f"{language} no answer, {mode}"
            shares = f"{apart.answered:.1%} kept, {apart.rejected:.1%} rejected"
            yield (
                f"{name:24}{apart.answerable:>4}/{apart.unanswerable:<4}  area {apart.area:.4f},"
                f" at {apart.threshold:.3f} {shares}"
            )


def build(root: Path, sources: Sequence[Path], cache: Path) -> None:
    """A repository of these documents, built; vectors are taken from `cache`, a file, and left there."""
    (root / "sources").mkdir(parents=True)
    for path in sources:
        shutil.copyfile(path, root / "sources" / path.name)
    (root / "pyproject.toml").write_text(f"[tool.ragpress]\nmodel = {json.dumps(MODEL)}\n", encoding="utf-8")
    (root / "dodo.py").write_text("from ragpress.tasks import *\n", encoding="utf-8")
    own = root / "build" / "cache" / "vectors.sqlite"
    own.parent.mkdir(parents=True)
    if cache.exists():
        shutil.copyfile(cache, own)
    environment = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9"}
    subprocess.run([sys.executable, "-m", "doit"], cwd=root, env=environment, check=True, capture_output=True)
    shutil.copyfile(own, cache)


def _ignore(line: str) -> None:
    """What is said of cases and documents is not what is measured."""
