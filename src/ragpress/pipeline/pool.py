"""Reads, chunks and audits sources in processes of their own, so that a hostile one fails alone.

A worker is `python -m ragpress.pipeline.pool`: frames of msgpack on its standard input and output, each after its
length in four bytes. It lives as long as its pool and serves one source after another; one that exceeds its time is
killed, one that exceeds its memory says so, and the next source gets a new worker.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from ragpress.errors import BuildError
from ragpress.pipeline.compile import compile_source, counter
from ragpress.pipeline.jobs import Asked, Compiled, Failure, Job, Outcome

if TYPE_CHECKING:
    from ragpress.chunking.semantic import Compare

__all__ = ["Compiled", "Failure", "Job", "Outcome", "compile_sources"]


Count = Callable[[str], int]

_LENGTH = 4
_START_SECONDS = 300.0
_PAIRS = 64  # compared at a time: an interruption waits for no more


def compile_sources(
    jobs: Sequence[Job], processes: int | None = None, compare: Compare | None = None, count: Count | None = None
) -> Generator[Outcome]:
    """The outcome of each job, in order, from up to `processes` workers.

    Without a number there are as many as cores that this process may use. `compare` answers what the workers ask for
    the strategy `semantic`, `count` what they ask for jobs without a tokenizer; both are called from several threads.
    What they raise ends the whole.
    """
    stopped = threading.Event()
    number = max(1, min(processes or len(os.sched_getaffinity(0)), len(jobs)))
    workers = [_Worker() for _ in range(number)]
    free = list(workers)  # list.pop and append are atomic; there are as many threads as workers

    def answer(asked: Asked) -> list[float]:
        if asked.texts:
            if count is None:
                raise ValueError("there is nothing to count tokens with")
            return [count(text) for text in asked.texts]
        if compare is None:
            raise ValueError("there is nothing to compare sentences with")
        pairs, found = asked.pairs, list[float]()
        for start in range(0, len(pairs), _PAIRS):
            if stopped.is_set():
                raise InterruptedError
            found += compare(pairs[start : start + _PAIRS])
        return found

    def run(job: Job) -> Outcome:
        worker = free.pop()
        try:
            return worker.compile(job, answer)
        finally:
            free.append(worker)

    try:
        with ThreadPoolExecutor(number) as threads:
            futures = [threads.submit(run, job) for job in jobs]
            try:
                for future in futures:
                    yield future.result()
            except BaseException:
                stopped.set()
                threads.shutdown(wait=False, cancel_futures=True)
                for worker in workers:
                    worker.end()
                raise
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """The parent's end of one worker process, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._starting = threading.Lock()

    def compile(self, job: Job, answer: Callable[[Asked], Sequence[float]]) -> Outcome:
        left = float(job.config.source_seconds)
        found, spent = self._outcome(job, job, left)
        while isinstance(found, Asked):  # the answer is not on the source's clock
            left -= spent
            found, spent = self._outcome(job, answer(found), left)
        return found

    def _outcome(self, job: Job, said: Job | Sequence[float], seconds: float) -> tuple[Outcome | Asked, float]:
        limit = job.config.source_seconds
        try:
            return self._exchange(said, seconds)
        except TimeoutError:
            self.stop()
            return Failure(
                "too-slow",
                f"not read within {limit} seconds; simplify or split the file, or raise source_seconds",
                job.source,
                lasting=False,
                seconds=float(limit),
            ), 0.0
        except (EOFError, BrokenPipeError):
            status = self.stop()
            return Failure(
                "too-large",
                f"the reading process ended ({_ending(status)}) in the middle of this file;"
                f" split the file, or raise source_megabytes (now {job.config.source_megabytes})",
                job.source,
                lasting=False,
            ), 0.0

    def _exchange(self, said: Job | Sequence[float], seconds: float) -> tuple[Outcome | Asked, float]:
        """What the worker answers, and after how many seconds. Raises TimeoutError after so many, or EOFError."""
        fresh = self._process is None
        with self._starting:
            if self._ended:
                raise EOFError
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "ragpress.pipeline.pool"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
        sink, source = self._process.stdin, self._process.stdout
        if sink is None or source is None:
            raise EOFError
        _write_frame(sink, msgspec.msgpack.encode(said))
        with selectors.DefaultSelector() as waiting:
            waiting.register(source, selectors.EVENT_READ)
            if fresh:  # loading the vocabulary is not on the source's clock
                _read_frame(source, waiting, time.monotonic() + _START_SECONDS)
            begin = time.monotonic()
            frame = _read_frame(source, waiting, begin + seconds)
            spent = time.monotonic() - begin
        found: Outcome | Asked = msgspec.msgpack.decode(frame, type=Outcome | Asked)
        return found, spent

    def end(self) -> None:
        """Ends the process for good. The thread that waits for its answer sees that there is none.

        The pipes are left to that thread: it would wait for ever for one that is closed under it.
        """
        with self._starting:
            self._ended = True
            if self._process is not None:
                self._process.kill()

    def stop(self) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        if process.poll() is None:
            process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:  # a frame that was never read; the process is gone
                    continue
        return process.wait()


def _ending(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


def _read_frame(source: IO[bytes], waiting: selectors.BaseSelector, deadline: float) -> bytes:
    size = int.from_bytes(_read_until(source, waiting, _LENGTH, deadline), "big")
    return _read_until(source, waiting, size, deadline)


def _read_until(source: IO[bytes], waiting: selectors.BaseSelector, size: int, deadline: float) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        if not waiting.select(max(0.0, deadline - time.monotonic())):
            raise TimeoutError
        part = os.read(source.fileno(), min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write_frame(sink: IO[bytes], frame: bytes) -> None:
    sink.write(len(frame).to_bytes(_LENGTH, "big") + frame)
    sink.flush()


def serve() -> None:
    """The worker's loop: answers each Job on standard input until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing but frames may reach the parent

    def ask(asked: Asked) -> list[float]:
        _write_frame(sink, msgspec.msgpack.encode(asked))
        size = int.from_bytes(source.read(_LENGTH), "big")
        return msgspec.msgpack.decode(source.read(size), type=list[float])

    def compare(pairs: Sequence[tuple[str, str]]) -> list[float]:
        return ask(Asked(pairs=tuple(pairs)))

    @lru_cache(maxsize=10_000)
    def count(text: str) -> int:
        return int(ask(Asked(texts=(text,)))[0])

    limited = False
    while header := source.read(_LENGTH):
        job = msgspec.msgpack.decode(source.read(int.from_bytes(header, "big")), type=Job)
        if not limited:
            _prepare(job)
            _limit_memory(job.config.source_megabytes)
            limited = True
            _write_frame(sink, b"")  # ready
        _limit_time(job.config.source_seconds)
        begin = time.perf_counter()
        outcome = compile_source(job, compare, count)
        outcome = msgspec.structs.replace(outcome, seconds=round(time.perf_counter() - begin, 3))
        _write_frame(sink, msgspec.msgpack.encode(outcome))


def _prepare(job: Job) -> None:
    """Loads what every source needs, which is not a source's to pay for: the vocabulary, and modules meanwhile."""
    with ThreadPoolExecutor(1) as threads:
        loading = threads.submit(counter, job.tokenizer, job.prefixes[0]) if job.tokenizer else None
        for name in ("audit", "chunking", "readers"):
            importlib.import_module(f"ragpress.{name}")
    with contextlib.suppress(BuildError):  # it comes again, and is told, when the job is done
        if loading is not None:
            loading.result()


def _limit_memory(megabytes: int) -> None:
    status = Path("/proc/self/statm")
    if not status.exists():  # other systems have no cheap way to tell what is in use already
        return
    used = int(status.read_text().split()[0]) * resource.getpagesize()
    limit = used + megabytes * (1 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _limit_time(seconds: int) -> None:
    """Has the system end this process where its parent, which would, was killed and a source takes for ever."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + seconds * (os.cpu_count() or 1) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


if __name__ == "__main__":
    try:
        serve()
    except BrokenPipeError:
        os._exit(1)  # the parent is gone, and nobody is left to tell
