"""An index in several files: which chunk is in which, and building them in processes of their own.

A worker is `python -m ragpress.artifact.shards`: on its standard input come blocks of keys and vectors, on its output
go the bytes of their graphs. It writes no file, so that one whose parent was killed can spoil nothing.
"""

from __future__ import annotations

import hashlib
import os
import queue
import signal
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec
import numpy as np

from ragpress.artifact.index import Halves, IndexSettings, Keys, build_graph, kernel
from ragpress.errors import BuildError

FILE_LIMIT = 20_000
"""Up to so many chunks are one file, and so many are in one file at most while there are no more than 256."""

# An edited chunk leaves one file and enters another: 1/32 of the index is built again. A graph of half the size takes a
# third of the time.
_FEWEST = 64
_MOST = 256
_SHAPE = struct.Struct("<2I")
_LENGTH = struct.Struct("<Q")

Piece = tuple[str, Keys, Halves]


def shard_names(chunks: int, limit: int = FILE_LIMIT) -> tuple[str, ...]:
    """The names of the index files for so many chunks: one, or a power of two from 64 to 256.

    The number depends on the count alone, so that a build from scratch and an incremental one agree.
    """
    if chunks <= limit:
        return ("index.usearch",)
    count = _FEWEST
    while count < _MOST and chunks > count * limit:
        count *= 2
    return tuple(f"index-{number:02x}.usearch" for number in range(count))


def shard_bounds(keys: Keys, count: int) -> list[int]:
    """Where each of `count` files begins in the ascending keys, and the end: a file is the keys' leading bits."""
    if count == 1:
        return [0, len(keys)]
    step = 2**64 // count
    starts = np.array([number * step for number in range(count)], np.uint64)
    return [*np.searchsorted(keys, starts).tolist(), len(keys)]


def content_hash(settings: IndexSettings, dimensions: int, keys: Keys, digests: Keys) -> str:
    """The sha256 over all that decides a file's bytes: settings, CPU kernel, keys and the `vector_digest` of each."""
    digest = hashlib.sha256(msgspec.json.encode([settings, kernel(dimensions)]))
    digest.update(np.ascontiguousarray(keys, "<u8").data)
    digest.update(np.ascontiguousarray(digests, "<u8").data)
    return digest.hexdigest()


def build_graphs(pieces: Iterable[Piece], processes: int) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each piece's file, in order; with one process in this one. Raises BuildError.

    Little more than one piece a process is held at a time, so that `pieces` may make them as they are asked for.
    """
    if processes == 1:
        yield from _in_threads(pieces)
        return
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    workers = [_Worker() for _ in range(processes)]
    for worker in workers:
        idle.put(worker)

    def run(keys: Keys, vectors: Halves) -> bytes:
        worker = idle.get()
        try:
            return worker.build(keys, vectors)
        finally:
            idle.put(worker)

    waiting: deque[tuple[str, Future[bytes]]] = deque()
    try:
        with ThreadPoolExecutor(processes) as threads:
            try:
                for name, keys, vectors in pieces:
                    waiting.append((name, threads.submit(run, keys, vectors)))
                    if len(waiting) > processes:
                        name, future = waiting.popleft()
                        yield name, future.result()
                for name, future in waiting:
                    yield name, future.result()
            except BaseException:
                for worker in workers:  # so that the threads come back at once
                    worker.stop()
                raise
    finally:
        for worker in workers:
            worker.stop()


def _in_threads(pieces: Iterable[Piece]) -> Iterator[tuple[str, bytes]]:
    """The same in this process, a thread a core, for a few pieces.

    usearch takes the interpreter's lock for every vector, so that threads stand in each other's way with many.
    """
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        futures = [(name, threads.submit(build_graph, keys, vectors)) for name, keys, vectors in pieces]
        for name, future in futures:
            yield name, future.result()


class _Worker:
    """The parent's end of one worker process, started when it is first needed. Used by one thread at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def build(self, keys: Keys, vectors: Halves) -> bytes:
        if self._process is None and not self._stopped:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ragpress.artifact.shards"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise _ended("it was stopped")
        try:
            process.stdin.write(_SHAPE.pack(*vectors.shape))
            process.stdin.write(np.ascontiguousarray(keys, "<u8").data)
            process.stdin.write(np.ascontiguousarray(vectors, "<f2").data)
            process.stdin.flush()
            head = process.stdout.read(_LENGTH.size)
            size = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else 0
            data = process.stdout.read(size)
        except BrokenPipeError:
            size, data = 0, b""
        if size == 0 or len(data) != size:
            status = process.wait()
            raise _ended(signal.Signals(-status).name if status < 0 else f"status {status}")
        return data

    def stop(self) -> None:
        self._stopped = True
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:  # a block that was never read; the process is gone
                    continue


def _ended(how: str) -> BuildError:
    return BuildError("internal", f"a process that builds the index ended ({how}); free some memory and build again")


def serve() -> None:
    """The worker's loop: a graph for each block on standard input until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing but graphs may reach the parent
    while head := source.read(_SHAPE.size):
        rows, columns = _SHAPE.unpack(head)
        keys = np.frombuffer(source.read(8 * rows), "<u8")
        vectors = np.frombuffer(source.read(2 * rows * columns), "<f2").reshape(rows, columns)
        data = build_graph(keys, vectors)
        sink.write(_LENGTH.pack(len(data)))
        sink.write(data)
        sink.flush()


if __name__ == "__main__":
    try:
        serve()
    except BrokenPipeError:
        os._exit(1)  # the parent is gone, and nobody is left to tell
