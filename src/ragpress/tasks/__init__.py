"""The doit graph: names, paths and dependencies. A repository's dodo.py is `from ragpress.tasks import *`.

`doit` runs chunk, merge, embed and index (`pipeline` says what each does). `doit golden`, `accept`, `eval`, `report`
and `pack` are asked for by name, `doit clean` empties the build folder.

doit runs the tasks in threads: those of chunk at once, each waiting for a worker process, all others one at a time.
"""

from __future__ import annotations

import gc
import inspect
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache, wraps
from pathlib import Path
from typing import Any

from doit.exceptions import TaskFailed
from doit.task import result_dep
from doit.tools import config_changed

from ragpress import pipeline
from ragpress.captions.uses import still_true
from ragpress.console import report, write_utf8
from ragpress.errors import BuildError
from ragpress.files import file_sha256, stat_signature
from ragpress.models.selection import chunking_fingerprint
from ragpress.pipeline.clean import clean_build
from ragpress.pipeline.publish import is_published
from ragpress.pipeline.results import read_result
from ragpress.pipeline.workers import open_workers
from ragpress.repository import open_repository
from ragpress.sources import SourceFile, list_sources
from ragpress.tasks.reporter import Reporter, wait_for_turn
from ragpress.tasks.state import content_changed, state_file

__all__ = [
    "DOIT_CONFIG",
    "task_accept",
    "task_chunk",
    "task_embed",
    "task_eval",
    "task_golden",
    "task_index",
    "task_merge",
    "task_pack",
    "task_report",
]

Task = dict[str, Any]
Values = dict[str, Any]

write_utf8()

_WAITING = 5  # tasks that are asked for by name: each may hold a thread until its turn comes

try:
    REPOSITORY = open_repository(Path.cwd())
    LISTING = list_sources(REPOSITORY.sources, REPOSITORY.config.exclude)
    SOURCES = LISTING.sources
    Reporter.listing = LISTING
    POOL, WORKERS = open_workers(REPOSITORY)
    DOIT_CONFIG = {
        "default_tasks": ["index"],
        "backend": "sqlite3",
        "dep_file": state_file(REPOSITORY.build, report),
        "verbosity": 2,
        "continue": True,
        "reporter": Reporter,
        "num_process": POOL.at_once + _WAITING,
        "par_type": "thread",
    }
except BuildError as error:
    raise SystemExit(str(error)) from None

gc.freeze()  # what is loaded lives as long as the build: with 10,000 tasks, looking at it again and again takes a fifth

_BUILD = REPOSITORY.config.build
_DIRECT = {"capture": False}  # capturing exchanges sys.stdout, which all threads share
_INTERRUPTED = threading.Event()
_STOPPED = threading.Event()
_ONE_AT_A_TIME = threading.Lock()
_HELD = ExitStack()
_BRIEFLY = threading.Lock()
_PATIENCE = 30.0  # seconds that what runs has to end in, its work kept


def _interrupt(number: int, _: object) -> None:
    # doit saves its state on the way out; it would print a traceback for a KeyboardInterrupt
    os.write(2, b"\nragpress: interrupted; what is done is kept, and the next build goes on from there\n")
    if not _INTERRUPTED.is_set():
        _INTERRUPTED.set()
        _ONE_AT_A_TIME.acquire(timeout=_PATIENCE)
        if WORKERS is not None:
            _STOPPED.set()
            WORKERS.shutdown()
    raise SystemExit(128 + number)


if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)


@cache
def _take_build_lock() -> None:
    """At the first action; it is held until this process ends."""
    _HELD.enter_context(pipeline.build_lock(REPOSITORY))


def _action(function: Callable[..., object], *, alone: bool = True, asked: str = "") -> Callable[..., object]:
    """An action for doit: under the build lock, with a BuildError as a failed task's one line.

    That of a task that is asked for by name runs after those that were asked for before it.
    """

    @wraps(function)
    def run(*arguments: object, **options: object) -> object:
        try:
            with _BRIEFLY:
                _take_build_lock()
            if not alone:
                return function(*arguments)
            wait_for_turn(asked)
            with _ONE_AT_A_TIME:
                if _INTERRUPTED.is_set():
                    return TaskFailed("ragpress: interrupted")
                function(*arguments, **options)
        except BuildError as error:
            return TaskFailed(str(error))
        return True

    return run


# -- the build -------------------------------------------------------------------------------------------------------


def task_chunk() -> Iterator[Task]:
    """Read each source and cut it into chunks"""
    yield {"basename": "chunk", "name": None, "doc": "Read each source and cut it into chunks"}
    action = _action(_chunk, alone=False)
    for source in SOURCES:
        target = f"{_BUILD}/chunks/{source.source}.jsonl"
        made: Values = {}  # what the action leaves for doit to keep, and the next build to compare with
        yield {
            "name": source.source.replace("%", "%25").replace("=", "%3D"),  # doit allows no equal sign in a name
            "actions": [(action, [source, target, made])],
            "uptodate": [(_is_chunked, [source, target, made])],
            "io": _DIRECT,
        }


def _chunk(source: SourceFile, target: str, made: Values) -> str | TaskFailed:
    """Chunks a source. doit compares what is returned to see whether merge has something to do.

    An error that is not the source's own, as of a full disk, would meet all others, too: it is reported once, and no
    other is begun.
    """
    if _STOPPED.is_set():
        return TaskFailed("")
    signature = stat_signature(source.file)  # before it is read: doit's own `file_dep` would look at it afterwards
    try:
        result = pipeline.chunk_source(REPOSITORY, source, POOL)
    except BuildError:
        with _BRIEFLY:
            known = _STOPPED.is_set()
            _STOPPED.set()
        if known:
            return TaskFailed("")
        raise
    made["settings"] = chunking_fingerprint(REPOSITORY)
    made["source"] = [signature, result.entry.sha256 if result.entry else ""]
    made["target"] = [stat_signature(target), result.chunks_sha256]
    made["result"] = [stat_signature(beside := REPOSITORY.result_of(source.source)), file_sha256(beside)]
    made["lasting"] = result.failure is None or (result.failure.lasting and source.regular)
    if result.failure is not None and REPOSITORY.config.on_error == "fail":
        raise result.failure.error()
    return f"{result.fingerprint} {result.chunks_sha256} {result.uses}"


def _is_chunked(task: Any, values: Values, source: SourceFile, target: str, made: Values) -> bool:
    """Whether a source's chunks are as they were made, from the same source and settings, by their content."""
    task.value_savers.append(lambda: made)
    return (
        bool(values.get("lasting"))
        and values["settings"] == _settings()
        and not content_changed(source.file, values["source"])
        and not content_changed(target, values["target"])
        and not content_changed(f"{_BUILD}/documents/{source.source}.json", values["result"])
        and _pictures_current(source)
    )


_is_chunked.__signature__ = inspect.signature(_is_chunked)  # type: ignore[attr-defined]  # doit asks for each source


@cache
def _settings() -> str:
    """What all chunks must be made with; asked after the first source was chunked, where that selects the model."""
    return chunking_fingerprint(REPOSITORY)


def _pictures_current(source: SourceFile) -> bool:
    """Whether a source's pictures, and what they are taken to say, are as they were when it was chunked."""
    if REPOSITORY.config.captions == "off":
        return True
    result = read_result(REPOSITORY, source.source)
    try:
        return result is not None and still_true(result.uses, REPOSITORY.captions, REPOSITORY.sources)
    except BuildError:  # the action meets it, too, and reports it
        return False


def task_merge() -> Task:
    """Put all chunks in order and drop what belongs to no source"""
    names = ("chunks.jsonl", "documents.jsonl", "merged.json")
    targets = [f"{_BUILD}/merged/{name}" for name in names]

    def seen() -> Values:
        return {target: [stat_signature(target), file_sha256(Path(target))] for target in targets}

    def is_merged(task: Any, values: Values) -> bool:
        task.value_savers.append(seen)
        return all(target in values and not content_changed(target, values[target]) for target in targets)

    return {
        "uptodate": [result_dep("chunk"), config_changed(REPOSITORY.config.on_error), is_merged],
        "targets": targets,
        "actions": [_action(lambda: pipeline.merge_chunks(REPOSITORY, SOURCES))],
        "io": _DIRECT,
    }


def task_embed() -> Task:
    """Embed the texts that no vector exists for"""
    return {
        "task_dep": ["merge"],
        "uptodate": [lambda: is_published(REPOSITORY)],
        "actions": [
            _action(lambda: pipeline.embed_texts(REPOSITORY, interrupted=_INTERRUPTED.is_set, workers=WORKERS))
        ],
        "io": _DIRECT,
    }


def task_index() -> Task:
    """Write the artifact, build/kb/"""
    return {
        "task_dep": ["embed"],
        "uptodate": [lambda: is_published(REPOSITORY)],
        "actions": [_action(lambda: pipeline.publish_artifact(REPOSITORY, workers=WORKERS))],
        "clean": [lambda: clean_build(REPOSITORY)],
        "io": _DIRECT,
    }


# -- asked for by name: imported when they run, since a build with nothing to do must not load what they need --------


def _option(name: str, default: object, explained: str) -> dict[str, object]:
    """An option of a task, as in `doit golden --stat`."""
    return {"name": name, "long": name, "type": type(default), "default": default, "help": explained}


def task_golden() -> Task:
    """Compare the chunks with their goldens, and say what changed"""

    def run(stat: bool) -> None:
        from ragpress.review.accept import check_goldens

        check_goldens(REPOSITORY, stat=stat)

    stat = _option("stat", False, "a line a source, and not what changed in it")
    return {"task_dep": ["chunk"], "actions": [_action(run, asked="golden")], "params": [stat], "io": _DIRECT}


def task_accept() -> Task:
    """Rewrite the goldens to what the chunks are now, and record retrieval figures that are not lower than before"""

    def run(only: list[str], retrieval: bool) -> None:
        from ragpress.review.accept import accept

        accept(REPOSITORY, paths=only)
        if (REPOSITORY.golden / "questions.jsonl").exists() and (retrieval or not only):
            from ragpress.evaluation import accept_retrieval

            accept_retrieval(REPOSITORY, worse=retrieval)

    only = _option("only", [], "a source or a folder of them; repeat for more")
    retrieval = _option("retrieval", False, "record the figures although they are lower")
    params = [only, retrieval]
    return {"task_dep": ["chunk"], "actions": [_action(run, asked="accept")], "params": params, "io": _DIRECT}


def task_eval() -> Task:
    """Ask the artifact golden/questions.jsonl, and compare what it finds with what it found before"""

    def run(base: str) -> None:
        from ragpress.evaluation import check_retrieval

        check_retrieval(REPOSITORY, base=base)

    base = _option("base", "", "a git revision whose figures to compare with, too")
    return {"task_dep": ["index"], "actions": [_action(run, asked="eval")], "params": [base], "io": _DIRECT}


def task_pack() -> Task:
    """Put the artifact into one archive, build/NAME-HASH.tar.zst"""

    def run(fallback: bool) -> None:
        from ragpress.artifact.pack import pack

        print(pack(REPOSITORY, fallback).relative_to(REPOSITORY.root))

    fallback = _option("fallback", False, "even where the offline model stood in for the model")
    return {"task_dep": ["index"], "actions": [_action(run, asked="pack")], "params": [fallback], "io": _DIRECT}


def task_report() -> Task:
    """Draw build/report/, a site that opens from disk: all chunks, what changed in them, what questions find"""

    def run(base: str) -> None:
        from ragpress.report import draw_report

        # A source that fails is shown, where a dependency on chunk would stop the report.
        for result in POOL.map(lambda source: pipeline.chunk_source(REPOSITORY, source, POOL), SOURCES):
            if result.failure is not None:
                report(str(result.failure.error()))
        print(draw_report(REPOSITORY, base=base).relative_to(REPOSITORY.root))

    base = _option("base", "", "a git revision to compare with")
    return {"actions": [_action(run, asked="report")], "params": [base], "io": _DIRECT}
