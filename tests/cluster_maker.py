"""Dask clusters on this machine, their scheduler in a process of its own: two worker processes, or as many as asked.

Run as a program it starts one, prints the scheduler's address and a line a worker (its process), and ends with its
standard input.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repository_maker import environment

SLOW = """
import os, time
import ragpress.embedding.embedder as embedder
import ragpress.readers.markdown as markdown

embed, read = embedder.Embedder.embed_text, markdown.read_markdown
pause = float(os.environ["SLOW"])

def embed_text(self, text, name):
    time.sleep(pause)
    return embed(self, text, name)

def read_markdown(data, source, config):
    time.sleep(pause)
    return read(data, source, config)

embedder.Embedder.embed_text, markdown.read_markdown = embed_text, read_markdown
"""
"""Workers that take their time: the variable SLOW says how many seconds for a text, and for a source."""


class Running:
    """A cluster that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._process = process
        self.address = process.stdout.readline().strip()
        self.workers = [int(number) for number in process.stdout.readline().split()]

    def kill_worker(self, number: int) -> None:
        """Kills one of its first workers; Dask starts another in its place."""
        os.kill(self.workers[number], signal.SIGKILL)

    def kill(self) -> None:
        """Kills the scheduler and all workers at once."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@contextmanager
def cluster(folder: Path, *, code: str = "", workers: int = 2, port: int = 0, **variables: str) -> Iterator[Running]:
    """A cluster whose workers have these variables, and run this code when they start; `folder` is for its files."""
    (folder / "site").mkdir(parents=True, exist_ok=True)
    (folder / "site" / "sitecustomize.py").write_text(code, encoding="utf-8")
    python_path = os.pathsep.join([str(folder / "site"), *filter(None, sys.path)])
    process = subprocess.Popen(
        [sys.executable, __file__, str(workers), str(port), str(folder / "dask")],
        env=environment(PYTHONPATH=python_path, **variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(folder / "log").open("a"),
        text=True,
        start_new_session=True,
    )
    try:
        yield Running(process)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def main(workers: int, port: int, folder: str) -> None:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        scheduler_port=port,
        dashboard_address=None,
        local_directory=folder,
    ) as started:
        print(started.scheduler_address)
        print(*(worker.process.pid for worker in started.workers.values()), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
