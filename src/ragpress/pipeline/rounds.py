"""Compiles sources with the help that their readers may not have: a converter, and an engine for captions.

Reading happens in restricted processes (`worker`). What needs another program or the network is done here, before
and between: a file of an old format is converted first, and a source whose pictures have no caption yet is compiled
once more when they have been made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragpress.captions.document import Wanted
from ragpress.captions.making import make_captions
from ragpress.captions.store import NAME
from ragpress.console import Report
from ragpress.errors import BuildError, ModelError, SourceError
from ragpress.pipeline.compile import read_source
from ragpress.pipeline.convert import convert
from ragpress.pipeline.jobs import Failure, Job, Outcome
from ragpress.pipeline.pool import Count, compile_sources
from ragpress.readers import CONVERTIBLE, suffix_of
from ragpress.repository import under_ci

if TYPE_CHECKING:
    from ragpress.chunking.semantic import Compare

Done = tuple[Job, Outcome]


def compile_jobs(
    jobs: Sequence[Job], converted: Path, report: Report, compare: Compare | None = None, count: Count | None = None
) -> Iterator[Done]:
    """Each job with its outcome; those that had to wait for captions come last.

    `converted` is the folder that converted files are kept in. Captions are made for jobs that name a folder for
    `pictures`, unless CI is set: there a picture without a caption fails its source. `compare`
    and `count` are as `worker.compile_sources` says.
    """
    waiting: list[tuple[Job, tuple[Wanted, ...]]] = []
    for job, outcome in _compiled(jobs, converted, compare, count):
        if isinstance(outcome, Failure) and outcome.wanted and not under_ci():
            waiting.append((job, outcome.wanted))
        else:
            yield job, outcome
    if not waiting:
        return
    failed = _captioned(waiting, report)
    again = []
    for job, wanted in waiting:
        problem = next(((each, failed[each.sha256]) for each in wanted if each.sha256 in failed), None)
        if problem is None:
            again.append(job)
        else:
            yield job, _uncaptioned(job, *problem)
    yield from _compiled(again, converted, compare, count)


def _compiled(jobs: Sequence[Job], converted: Path, compare: Compare | None, count: Count | None) -> Iterator[Done]:
    """All outcomes in order, those of files that cannot be converted among them. Raises ModelError."""
    ready = _converted(jobs, converted)
    whole = [job for job in ready if isinstance(job, Job)]
    with closing(compile_sources(whole, compare=compare, count=count)) as outcomes:
        for job, made in zip(jobs, ready, strict=True):
            outcome = made if isinstance(made, Failure) else next(outcomes)
            if isinstance(outcome, Failure) and outcome.code == "model":
                raise ModelError(outcome.code, outcome.text)  # no source's fault, and the same for each
            yield job, outcome


def _converted(jobs: Sequence[Job], folder: Path) -> list[Job | Failure]:
    """Each job with the file that was made of its source, where one had to be; or why none could be made."""

    def make(job: Job) -> Job | Failure:
        if not job.config.convert_doc or suffix_of(job.source) not in CONVERTIBLE:
            return job
        try:
            made = convert(read_source(Path(job.path), job.source), job.source, folder, job.config)
        except BuildError as error:
            found = error.message
            return Failure(found.code, found.text, job.source, lasting=isinstance(error, SourceError))
        return msgspec.structs.replace(job, converted=str(made))

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return list(threads.map(make, jobs))


def _captioned(waiting: Sequence[tuple[Job, tuple[Wanted, ...]]], report: Report) -> dict[str, BuildError]:
    found: dict[str, tuple[Wanted, str]] = {}
    for job, wanted in waiting:
        for each in wanted:
            found.setdefault(each.sha256, (each, f"{job.source}:{each.locator}"))
    job = waiting[0][0]  # all jobs are of one repository
    return make_captions(found, Path(job.pictures), Path(job.captions), job.config, report)


def _uncaptioned(job: Job, picture: Wanted, problem: BuildError) -> Failure:
    by_hand = f'or write {{"sha256": "{picture.sha256}", "text": "…"}} into {NAME}'
    text = f"a picture has no caption: {problem.message.text}; {by_hand}"
    return Failure("caption", text, job.source, picture.locator, lasting=False)
