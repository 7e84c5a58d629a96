"""Sources compiled by worker processes, as a build does it, without a build."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ragpress import pipeline
from ragpress.config import Config
from ragpress.console import Report
from ragpress.pipeline.pool import Pool
from ragpress.pipeline.results import Job, Outcome, Result
from ragpress.repository import Repository
from ragpress.sources import find_sources


def compiled(root: Path, files: Mapping[str, bytes], config: Config, processes: int = 2) -> dict[str, Outcome]:
    """What becomes of files of these names and bytes, in their order."""
    with Pool(Repository(root, config), print, processes) as pool:
        jobs = [
            Job(source=name, sha256=hashlib.sha256(data).hexdigest(), data=data, config=config)
            for name, data in files.items()
        ]
        return dict(zip(files, pool.map(pool.compile, jobs), strict=True))


def chunk_all(repository: Repository, report: Report = print) -> dict[str, Result]:
    """The first stage for all sources: what each became."""
    with Pool(repository, report) as pool:
        sources = find_sources(repository)
        results = pool.map(lambda source: pipeline.chunk_source(repository, source, pool, report), sources)
        return {source.source: result for source, result in zip(sources, results, strict=True)}
