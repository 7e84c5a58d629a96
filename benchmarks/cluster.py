"""A Dask cluster on this machine against builds without one: what a cluster costs, and what bounds it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.builds import WORDS, make_corpus
from benchmarks.chunking import sample

_T = TypeVar("_T")
_PROCESSES = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(
        n_workers=int(sys.argv[2]), threads_per_worker=1, dashboard_address=None, local_directory=sys.argv[1]
    ) as started:
        print(started.scheduler_address, flush=True)
        sys.stdin.read()
"""
_SCHEDULER = """
import asyncio
from distributed import Scheduler

async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(main())
"""
_WORKERS = """
import asyncio, sys
from distributed import Worker

async def main():
    workers = [Worker(sys.argv[3], nthreads=1, local_directory=sys.argv[1]) for _ in range(int(sys.argv[2]))]
    await asyncio.gather(*workers)
    print("ready", flush=True)
    await asyncio.gather(*(worker.finished() for worker in workers))

asyncio.run(main())
"""
"""Many workers in one process, which is enough where they sleep."""


@contextmanager
def started(folder: Path, code: str, *arguments: object) -> Iterator[tuple[str, int]]:
    """The first line and the id of a process that runs this code."""
    script = folder / "start.py"
    script.write_text(code, encoding="utf-8")
    command = [sys.executable, str(script), str(folder / "dask"), *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


def nap(unit: bytes) -> bytes:
    """A unit of work that takes a second and needs no processor."""
    time.sleep(1.0)
    return unit


def processor_seconds(pid: int) -> float:
    """What a process has computed so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def family_seconds(pid: int) -> float:
    """The same of a process and all that it started."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    children = [child for thread in threads for child in (thread / "children").read_text().split()]
    return processor_seconds(pid) + sum(family_seconds(int(child)) for child in children)


def _quiet(_: str) -> None:
    pass


def _timed(work: Callable[[], _T]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def embedding(address: str, cluster: int, rounds: int) -> tuple[float, str]:
    """Texts a second by two workers / by this process, the best of some rounds by turns.

    The details also say what a round took of the processors, which other work on the machine changes less.
    """
    from ragpress.embedding.embedder import Embedder, TokenCounter
    from ragpress.models.known import KNOWN, ModelFile, cache_folder
    from ragpress.models.lock import remembered_sha256
    from ragpress.models.starter import make_starter
    from ragpress.pipeline.cluster import Cluster
    from ragpress.pipeline.embed import Text
    from ragpress.pipeline.packs import embed_packed

    path = make_starter(cache_folder())
    model = KNOWN["multilingual-e5-small"]
    sha256 = remembered_sha256(path, cache_folder())
    file = ModelFile(model=model, path=path, sha256=sha256, size=path.stat().st_size, dimensions=model.dimensions)
    count = TokenCounter(path, model.document_prefix)
    random = np.random.default_rng(0)
    sizes = random.integers(10, 100, 120)
    words = [" ".join(WORDS[at] for at in random.integers(0, len(WORDS), size)) for size in sizes]
    texts = [Text(str(number), text, count(text)) for number, text in enumerate(words)]
    workers = Cluster(address, print)
    here, there = [], []
    try:
        for _ in embed_packed(workers, file, texts[:40]):  # has the workers load the model
            pass
        with Embedder(file) as embedder:
            embedder.embed_documents(words[:8])
            spent = [0.0, 0.0]
            for _ in range(rounds):
                before = time.process_time()
                here.append(_timed(lambda: embedder.embed_documents(words)))
                middle = time.process_time()
                spent[0] += middle - before
                before = family_seconds(cluster)
                there.append(_timed(lambda: list(embed_packed(workers, file, texts))))
                spent[1] += family_seconds(cluster) - before + time.process_time() - middle
    finally:
        workers.shutdown()
    rates = f"{len(texts) / min(there):.1f} / {len(texts) / min(here):.1f} texts/s"
    return min(here) / min(there), f"{rates}; processor time {spent[1] / rounds:.1f} / {spent[0] / rounds:.1f} s"


def chunking(address: str, folder: Path, rounds: int) -> tuple[float, str]:
    """Sources a second by two workers / by local processes, the best of some rounds by turns."""
    from ragpress import pipeline
    from ragpress.pipeline.cluster import Cluster
    from ragpress.pipeline.packs import PackedPool
    from ragpress.pipeline.pool import Pool
    from ragpress.repository import open_repository
    from ragpress.sources import find_sources

    make_corpus(folder / "corpus", 1)
    data = sample(20)
    for number in range(100):
        path = folder / "corpus" / "sources" / f"{number:05d}.md"
        path.write_text(data.replace("Раздел", f"Раздел {number}"), encoding="utf-8")
    repository = open_repository(folder / "corpus")
    sources = find_sources(repository)

    def chunk(pool: Pool) -> None:
        for source in sources:
            repository.result_of(source.source).unlink(missing_ok=True)
        for _ in pool.map(lambda source: pipeline.chunk_source(repository, source, pool, _quiet), sources):
            pass

    workers = Cluster(address, print)
    here, there = [], []
    with Pool(repository) as local, PackedPool(repository, workers, print) as packed:
        chunk(local)
        chunk(packed)
        for _ in range(rounds):
            here.append(_timed(lambda: chunk(local)))
            there.append(_timed(lambda: chunk(packed)))
    workers.shutdown()
    return min(here) / min(there), f"{len(sources) / min(there):.0f} / {len(sources) / min(here):.0f} sources/s"


def napping(folder: Path, number: int, kilobytes: int = 0) -> tuple[float, float, float]:
    """Units a second of workers that sleep for a second each, and the scheduler's and the client's seconds a unit."""
    from concurrent.futures import FIRST_COMPLETED, wait

    from ragpress.pipeline.cluster import Cluster

    with started(folder, _SCHEDULER) as (address, scheduler), started(folder, _WORKERS, number, address):
        workers = Cluster(address, lambda _: None)
        unit = bytes(1024 * kilobytes)
        for future in [workers.submit(nap, unit) for _ in range(number)]:
            future.result()
        units = 20 * number
        before, own, begin = processor_seconds(scheduler), time.process_time(), time.perf_counter()
        running = {workers.submit(nap, unit) for _ in range(min(units, 2 * number))}
        left = units - len(running)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for _ in range(min(left, len(done))):
                running.add(workers.submit(nap, unit))
                left -= 1
        seconds = time.perf_counter() - begin
        spent, client = processor_seconds(scheduler) - before, time.process_time() - own
        workers.shutdown()
    return units / seconds, spent / units, client / units


def run(folder: Path, rounds: int = 3) -> Iterator[tuple[str, float, str]]:
    """(what, figure, details)."""
    with started(folder, _PROCESSES, 2) as (address, process):
        yield "embedding, two workers / this machine without a cluster", *embedding(address, process, rounds)
        yield "chunking, two workers / this machine without a cluster", *chunking(address, folder, rounds)
    one, _, _ = napping(folder, 1)
    for size in (0, 64, 1024):
        many, scheduler, client = napping(folder, 64, size)
        details = f"{many:.1f} / {one:.2f} units/s; a unit takes {1000 * scheduler:.1f} ms of the scheduler's processor"
        yield (
            f"64 sleeping workers / 64 × one, units of {size} KB",
            many / (64 * one),
            f"{details} and {1000 * client:.1f} ms of the client's",
        )
