"""The build, on one page. Each stage is a function of what the one before wrote, and none calls another.

    chunk   each source: read, cut and audit it in a process with limits  → build/chunks/S.jsonl, build/documents/S.json
    merge   the chunks and entries of all sources, in order               → build/merged/
    embed   select the model; a vector for each text that has none        → build/model.json, build/cache/vectors.sqlite
    index   write the artifact and put it in the place of the old one     → build/kb/

doit decides what is out of date (`tasks`). Where its state is lost, or a run was killed, a stage compares the
fingerprint of what its result was made from, and has nothing to do where that is the same. A missing or damaged result
of an earlier stage is a BuildError that says what to run.

With a cluster (`cluster`), what is read, embedded and indexed is packed into units of about a second (`packs`), which
workers elsewhere compute (`units`); whatever they give comes into the build folder here as it would from this machine.

Heavy libraries are imported by the stage that needs them, so that a build with nothing to do loads none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragpress.console import Report, report
from ragpress.files import locked
from ragpress.repository import Repository
from ragpress.sources import SourceFile

if TYPE_CHECKING:
    from ragpress.pipeline.pool import Pool
    from ragpress.pipeline.results import Result
    from ragpress.pipeline.workers import Workers


def chunk_source(repository: Repository, source: SourceFile, pool: Pool, report: Report = report) -> Result:
    """What one source became; a source that cannot be read is a Result with a failure. Safe from several threads.

    Raises BuildError where the disk refuses, ModelError where chunks depend on a model that cannot be used.
    """
    from ragpress.pipeline.chunk import chunk_source as run

    return run(repository, source, pool, report)


def merge_chunks(repository: Repository, sources: Sequence[SourceFile], report: Report = report) -> None:
    """All sources' chunks in one file. Raises BuildError for a source that failed, unless on_error = "skip"."""
    from ragpress.pipeline.merge import merge_chunks as run

    run(repository, sources, report)


def embed_texts(
    repository: Repository,
    report: Report = report,
    interrupted: Callable[[], bool] = lambda: False,
    workers: Workers | None = None,
) -> None:
    """A vector for each merged text, in the vector cache. Raises ModelError, ClusterError, BuildError."""
    from ragpress.pipeline.embed import embed_texts as run

    run(repository, report, interrupted, workers)


def publish_artifact(repository: Repository, report: Report = report, workers: Workers | None = None) -> None:
    """The artifact of the merged chunks and their vectors. Raises ClusterError, BuildError."""
    from ragpress.pipeline.publish import publish_artifact as run

    run(repository, report, workers)


@contextmanager
def build_lock(repository: Repository, report: Report = report) -> Iterator[None]:
    """Keeps other builds of the same folder waiting; released by the system when the process ends, however."""

    def waiting() -> None:
        report("ragpress: another build of this folder is running; waiting for it")

    with locked(repository.build / ".lock", waiting):
        yield
