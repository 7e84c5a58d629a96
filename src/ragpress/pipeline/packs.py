"""Many small jobs as units of about a second for an executor whose workers may be on other machines.

How much a worker does in a second is learned from the units that came back. No result depends on it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Protocol

import msgspec
import numpy as np

from ragpress.console import Report
from ragpress.errors import BuildError
from ragpress.models.known import ModelFile, tokenizer_file
from ragpress.models.remote import remote_file
from ragpress.pipeline.pool import Pool, checked, prefixes_of
from ragpress.pipeline.results import Job, Outcome
from ragpress.pipeline.units import (
    CompileSetup,
    CompileUnit,
    Embedded,
    EmbedUnit,
    compile_pack,
    embed_pack,
    remote_model,
)
from ragpress.pipeline.workers import Workers
from ragpress.repository import Repository
from ragpress.sources import SourceFile
from ragpress.vectors.cache import Stored

_AHEAD = 2
"""Units that are with the executor for each worker: one that runs, and one that it finds at hand when that is done."""

_AT_ONCE = 1000  # sources that are with the workers or wait for one; each holds a thread here
_ROOM = 256 * 1024**2  # bytes of sources that are held at a time
_FIRST_BYTES, _MOST_BYTES = 16_384, 8 * 1024**2  # of the sources of a unit; a larger source is one by itself
_FIRST_TOKENS, _MOST_TOKENS = 200, 100_000  # of the texts of a unit
_LOOK = 0.5  # seconds


class _Size:
    """How much a unit should have to take about a second, in bytes or tokens."""

    def __init__(self, first: int, most: int) -> None:
        self.amount = first
        self._most = most

    def learn(self, amount: int, seconds: float) -> None:
        """From a unit that was done."""
        fitting = amount / max(seconds, 1e-3)
        self.amount = int(min(self._most, max(self.amount / 2, min(2 * self.amount, fitting))))


class PackedPool(Pool):
    """Compiles sources by an executor's workers; those with pictures to caption, or cut by meaning, on this machine.

    `compile` is called by many threads, each for one source: what waits when a worker is free becomes its next unit.
    """

    def __init__(self, repository: Repository, workers: Workers, report: Report) -> None:
        super().__init__(repository, report)
        self.at_once = _AT_ONCE
        self._repository = repository
        self._workers = workers
        self._here = repository.config.captions != "off" or repository.config.strategy == "semantic"
        self._lock = threading.Condition()
        self._waiting: deque[tuple[Job, Future[bytes]]] = deque()
        self._running = 0
        self._held = 0
        self._size = _Size(_FIRST_BYTES, _MOST_BYTES)

    @cached_property
    def _unit_setup(self) -> CompileSetup:
        config = self._repository.config
        tokenizer = remote_file(tokenizer_file(config, self._repository.root))
        return CompileSetup(tokenizer, prefixes_of(config), config.source_megabytes)

    @contextmanager
    def room(self, source: SourceFile) -> Iterator[None]:
        """Waits until there is room for a source's bytes beside those that are being compiled."""
        try:
            size = source.path.stat().st_size
        except OSError:
            size = 0  # it fails by name when it is read
        with self._lock:
            self._lock.wait_for(lambda: not self._held or self._held + size <= _ROOM)
            self._held += size
        try:
            yield
        finally:
            with self._lock:
                self._held -= size
                self._lock.notify_all()

    def compile(self, job: Job) -> Outcome:
        """As of `Pool`. Raises ClusterError where the workers cannot go on."""
        if self._here:
            return super().compile(job)
        answer: Future[bytes] = Future()
        with self._lock:
            self._unit_setup  # noqa: B018 (once, and where its error is raised to the caller)
            self._waiting.append((job, answer))
            self._send()
        return checked(msgspec.msgpack.decode(answer.result(), type=Outcome))

    def _send(self) -> None:
        """Makes units of what waits, as many as the workers have a use for. The caller holds the lock."""
        try:
            most = _AHEAD * max(1, self._workers.slots())
        except BuildError as error:
            _fail([answer for _, answer in self._waiting], error)
            self._waiting.clear()
            return
        while self._waiting and self._running < most:
            pack = [self._waiting.popleft()]
            size = len(pack[0][0].data)
            while self._waiting and size + len(self._waiting[0][0].data) <= self._size.amount:
                pack.append(self._waiting.popleft())
                size += len(pack[-1][0].data)
            unit = msgspec.msgpack.encode(CompileUnit(self._unit_setup, tuple(job for job, _ in pack)))
            answers = [answer for _, answer in pack]
            try:
                future = self._workers.submit(compile_pack, unit)
            except BuildError as error:
                _fail(answers, error)
                continue
            self._running += 1
            future.add_done_callback(partial(self._done, answers, size, time.monotonic()))

    def _done(self, answers: list[Future[bytes]], size: int, begun: float, future: Future[bytes]) -> None:
        with self._lock:
            self._running -= 1
            self._size.learn(size, (time.monotonic() - begun) / _AHEAD)
            self._send()
        error = future.exception()
        if error is not None:
            _fail(answers, error)
            return
        for answer, outcome in zip(
            answers, msgspec.msgpack.decode(future.result(), type=list[msgspec.Raw]), strict=True
        ):
            answer.set_result(bytes(outcome))


def _fail(answers: list[Future[bytes]], error: BaseException) -> None:
    for answer in answers:
        answer.set_exception(error)


class Text(Protocol):
    """A text to embed, the id of its chunk, and how many tokens it has."""

    @property
    def chunk_id(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def tokens(self) -> int: ...


def embed_packed(
    workers: Workers, file: ModelFile, texts: Sequence[Text]
) -> Iterator[tuple[Sequence[int], Stored, str]]:
    """The places of some texts, their vectors of the shape (places, dimensions), and what made these, as they come.

    None at all where none came in a while, so that the caller may look around. Raises ClusterError where the workers
    cannot go on.
    """
    model, size = remote_model(file), _Size(_FIRST_TOKENS, _MOST_TOKENS)
    running: dict[Future[bytes], tuple[range, int, float]] = {}
    begin = 0
    while begin < len(texts) or running:
        while begin < len(texts) and len(running) < _AHEAD * max(1, workers.slots()):
            end, tokens = begin + 1, texts[begin].tokens
            while end < len(texts) and tokens + texts[end].tokens <= size.amount:
                tokens += texts[end].tokens
                end += 1
            pack = texts[begin:end]
            unit = EmbedUnit(model, tuple(text.text for text in pack), tuple(text.chunk_id for text in pack))
            future = workers.submit(embed_pack, msgspec.msgpack.encode(unit))
            running[future] = range(begin, end), tokens, time.monotonic()
            begin = end
        done, _ = wait(running, _LOOK, FIRST_COMPLETED)
        if not done:
            yield (), np.empty((0, file.dimensions), "<f2"), ""
        for future in done:
            places, tokens, begun = running.pop(future)
            made = msgspec.msgpack.decode(future.result(), type=Embedded)
            size.learn(tokens, (time.monotonic() - begun) / _AHEAD)
            yield places, np.frombuffer(made.vectors, "<f2").reshape(len(places), -1), made.engine
