"""Worker processes that read, chunk and audit sources, so that a hostile one fails alone.

A worker ends with the pool that started it. One that exceeds its time is killed, one that exceeds its memory says so
or dies, and the next source gets a new one. What it answers is msgpack: a pickle from a process that has read a
hostile file could run code here.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ragpress.captions.making import CaptionMaker
from ragpress.config import Config
from ragpress.console import Report, report
from ragpress.errors import BuildError, ModelError
from ragpress.models.known import known_model, tokenizer_file
from ragpress.models.selection import configured_models
from ragpress.pipeline.compile import compile_source
from ragpress.pipeline.results import Failure, Job, Outcome, failure
from ragpress.repository import Repository
from ragpress.sources import SourceFile
from ragpress.system import limit_memory, limit_time, processors

if TYPE_CHECKING:
    from ragpress.chunking.semantic import Compare
    from ragpress.embedding.embedder import TokenCounter
    from ragpress.pipeline.semantic import Semantic

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_SLOWEST = 50
"""Bytes of a source whose sentences are embedded in a second at the least: so much longer `semantic` may take."""


class Setup(msgspec.Struct, frozen=True):
    """What a worker loads before its first source.

    `tokenizer` is a GGUF with the configured model's vocabulary; `prefixes` are the document prefixes of the models
    that may embed the chunks, of which tokens are counted with the first.
    """

    tokenizer: str
    prefixes: tuple[str, ...]
    megabytes: int
    semantic: Semantic | None = None


class LimitedPool:
    """Workers with limits; safe from several threads. They are started when a source first needs one.

    `setup` is asked then. `processes` is their number, as many as this process may use processors if it is 0.
    """

    def __init__(self, setup: Callable[[], Setup], processes: int = 0) -> None:
        self.processes = processes or processors()
        self.at_once = 2 * self.processes
        """Sources that should be asked for at once, so that no worker waits for the next."""
        self._setup = setup
        self._starting = threading.Lock()
        self._pool: Any = None

    def begin(self, job: Job) -> Any:
        """Has a source compiled as soon as a worker is free; a future for `outcome`."""
        limit = job.config.source_seconds
        seconds = limit + (len(job.data) / _SLOWEST if job.config.strategy == "semantic" else 0)
        return self._started().schedule(_serve, args=[job], timeout=seconds)

    def outcome(self, job: Job, future: Any) -> Outcome:
        """What became of a source that was begun; a model that fails is a Failure of the code `model`.

        Raises BuildError where no worker can be started.
        """
        from pebble import ProcessExpired

        limit = job.config.source_seconds
        try:
            outcome: Outcome = msgspec.msgpack.decode(future.result(), type=Outcome)
        except TimeoutError:
            return Failure(
                "too-slow",
                f"not read within {limit} seconds; simplify or split the file, or raise source_seconds",
                job.source,
                lasting=False,
                seconds=float(limit),
            )
        except ProcessExpired as error:
            status = error.exitcode or 0
            ending = signal.Signals(-status).name if status < 0 else f"status {status}"
            return Failure(
                "too-large",
                f"the reading process ended ({ending}) in the middle of this file;"
                f" split the file, or raise source_megabytes (now {job.config.source_megabytes})",
                job.source,
                lasting=False,
            )
        except (CancelledError, RuntimeError) as error:  # the pool was stopped, or no worker can be started
            text = f"no process can read sources ({error}); free some memory, then build again"
            raise BuildError("internal", text) from None
        return outcome

    def stop(self) -> None:
        """Ends the workers, whatever they do."""
        with self._starting:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()
            pool.join()

    def _started(self) -> Any:
        with self._starting:
            if self._pool is None:
                from pebble import ProcessPool

                spawn: Any = multiprocessing.get_context("spawn")  # a fork would copy the locks of other threads
                self._pool = ProcessPool(
                    self.processes,
                    initializer=_prepare,
                    initargs=[self._setup()],
                    context=spawn,
                )
            return self._pool


class Pool(LimitedPool):
    """The workers on this machine for one repository's settings; a context manager."""

    def __init__(self, repository: Repository, report: Report = report, processes: int = 0) -> None:
        super().__init__(lambda: _setup_of(repository, report), processes)
        self.captions = CaptionMaker()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def room(self, source: SourceFile) -> AbstractContextManager[None]:
        """Held while a source is read and compiled: it bounds what is in memory."""
        return contextlib.nullcontext()

    def compile(self, job: Job) -> Outcome:
        """What became of one source. Raises ModelError where the model fails, which is no source's fault."""
        return checked(self.outcome(job, self.begin(job)))

    def map(self, work: Callable[[_Item], _Result], items: Sequence[_Item]) -> Iterator[_Result]:
        """What `work`, which calls `compile`, returns for each item, in order; ends at once where it is given up."""
        with ThreadPoolExecutor(self.at_once) as threads:
            try:
                yield from threads.map(work, items)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                self.stop()
                raise


def checked(outcome: Outcome) -> Outcome:
    """The same. Raises ModelError where it is that the model failed."""
    if isinstance(outcome, Failure) and outcome.code == "model":
        raise ModelError(outcome.code, outcome.text)
    return outcome


def prefixes_of(config: Config) -> tuple[str, ...]:
    """The `Setup.prefixes` for these settings."""
    return tuple(known_model(name).document_prefix for name in configured_models(config))


def _setup_of(repository: Repository, report: Report) -> Setup:
    """Raises ModelError where the tokenizer or, for `semantic`, the model cannot be found."""
    config = repository.config
    semantic = None
    if config.strategy == "semantic":
        from ragpress.pipeline.semantic import prepare

        semantic = prepare(repository, report)
    tokenizer = tokenizer_file(config, repository.root)
    return Setup(str(tokenizer), prefixes_of(config), config.source_megabytes, semantic)


# -- in a worker -----------------------------------------------------------------------------------------------------

_setup: Setup | None = None


def _prepare(setup: Setup) -> None:
    """Loads what every source needs, which is not a source's to pay for: modules, the vocabulary, the model."""
    global _setup
    _setup = setup
    for name in ("audit", "chunking", "readers"):
        importlib.import_module(f"ragpress.{name}")
    with contextlib.suppress(BuildError):  # it comes again, and is reported, when a source is compiled
        _tools(setup)
    limit_memory(setup.megabytes)


@cache
def _tools(setup: Setup) -> tuple[TokenCounter, Compare | None]:
    """What counts tokens and, for `semantic`, what compares sentences. Raises ModelError."""
    from ragpress.embedding.embedder import TokenCounter

    counter = TokenCounter(Path(setup.tokenizer), setup.prefixes[0])
    if setup.semantic is None:
        return counter, None
    from ragpress.pipeline.semantic import Comparer

    return counter, Comparer(setup.semantic)


def _serve(job: Job) -> bytes:
    """The outcome of one source, as msgpack."""
    assert _setup is not None
    limit_time(job.config.source_seconds)
    begin = time.perf_counter()
    try:
        counter, compare = _tools(_setup)
        outcome = compile_source(job, counter, _setup.prefixes, compare)
    except ModelError as error:
        outcome = failure(error, job.source)
    outcome = msgspec.structs.replace(outcome, seconds=round(time.perf_counter() - begin, 3))
    return msgspec.msgpack.encode(outcome)
