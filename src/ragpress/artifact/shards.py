"""An index in several files: which chunk is in which, and building them by an executor."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

import msgspec
import numpy as np

from ragpress.artifact.format import IndexSettings
from ragpress.artifact.index import Keys, Stored, build_graph, kernel
from ragpress.errors import BuildError
from ragpress.system import interrupts_held_back, processors

FILE_LIMIT = 20_000
"""Up to so many chunks are one file, and so many are in one file at most while there are no more than 256."""

# An edited chunk leaves one file and enters another: 1/32 of the index is built again. A graph of half the size takes a
# third of the time.
_FEWEST = 64
_MOST = 256

CORES = processors()
FEW = 6000
"""Vectors whose graphs take less time than starting processes for them."""

Piece = tuple[str, Keys, Stored]


def shard_names(chunks: int, limit: int = FILE_LIMIT, name: str = "index.usearch") -> tuple[str, ...]:
    """The names of the index files, or others, for so many chunks: one, or a power of two from 64 to 256.

    The number depends on the count alone, so that a build from scratch and an incremental one agree.
    """
    if chunks <= limit:
        return (name,)
    count = _FEWEST
    while count < _MOST and chunks > count * limit:
        count *= 2
    stem, _, suffix = name.partition(".")
    return tuple(f"{stem}-{number:02x}.{suffix}" for number in range(count))


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


def build_graphs(
    pieces: Iterable[Piece], executor: Executor, pending: int = 2 * CORES, held: int = 0
) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each piece's file, in order, built by the executor. Raises BuildError where a process ended.

    At most `pending` pieces, or more up to `held` bytes of vectors, are held at a time, so that `pieces` may make them
    as they are asked for.
    """
    waiting: deque[tuple[str, Future[bytes]]] = deque()
    try:
        for name, keys, vectors in pieces:
            with interrupts_held_back():
                waiting.append((name, executor.submit(build_graph, keys, vectors, kernel(vectors.shape[1]))))
            if len(waiting) >= max(pending, held // max(1, vectors.nbytes)):
                name, future = waiting.popleft()
                yield name, future.result()
        for name, future in waiting:
            yield name, future.result()
    except BrokenExecutor:
        raise BuildError(
            "internal", "a process that builds the index was killed; free some memory and build again"
        ) from None
    finally:
        for _, future in waiting:
            future.cancel()


@contextmanager
def local_executor(vectors: int) -> Iterator[Executor]:
    """What builds graphs on this machine: threads for few vectors, processes for many.

    usearch takes the interpreter's lock for every vector, so that threads wait for each other with many.
    """
    if vectors <= FEW or CORES == 1:
        with ThreadPoolExecutor(CORES) as threads:
            yield threads
    else:
        spawn = multiprocessing.get_context("spawn")  # a fork would copy the locks of other threads
        with ProcessPoolExecutor(CORES, mp_context=spawn, initializer=_end_with_parent) as processes:
            yield processes


def _end_with_parent() -> None:
    """Ends this process with its parent, which may be killed and then closes none of the pipes between them."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
