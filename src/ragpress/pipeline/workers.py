"""Where a build's work is done: in processes on this machine, or by the workers of a cluster."""

from __future__ import annotations

from concurrent.futures import Executor

from ragpress.config import cluster_address
from ragpress.console import Report, report
from ragpress.pipeline.pool import Pool
from ragpress.repository import Repository


class Workers(Executor):
    """An executor whose workers may be on other machines, and that knows how many calls it runs at once."""

    def slots(self) -> int:
        """That number; 0 while there is no worker. Asked often: it costs little."""
        raise NotImplementedError


def open_workers(repository: Repository, report: Report = report) -> tuple[Pool, Workers | None]:
    """What compiles sources, and the workers elsewhere, if any. Nothing is started or connected before it is needed."""
    address = cluster_address(repository.config)
    if not address:
        return Pool(repository, report), None
    from ragpress.pipeline.cluster import Cluster
    from ragpress.pipeline.packs import PackedPool

    workers = Cluster(address, report)
    return PackedPool(repository, workers, report), workers
