"""The doit graph: names, paths and dependencies, no logic. A repository's dodo.py is `from ragpress.tasks import *`.

`doit` runs chunk, merge, embed and index. `doit golden`, `accept`, `eval`, `report` and `pack` are asked for by name,
`doit clean` empties the build folder.

doit's own state is a convenience: each action looks at what stands on the disk (`build.py`), so that state which is
lost, foreign or from a killed run costs a look and no work.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

from doit.doit_cmd import DoitMain
from doit.exceptions import TaskFailed

from ragpress.console import report
from ragpress.errors import BuildError
from ragpress.pipeline import chunk as build
from ragpress.pipeline import merge as merging
from ragpress.pipeline import states
from ragpress.repository import find_sources, open_repository
from ragpress.tasks.reporter import Reporter
from ragpress.tasks.state import Checker, state_file

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


# A build's objects live till its end. Looking among them for cycles after each 700 new ones takes a quarter of the time
# of a build of 10,000 sources that has nothing to do.
gc.set_threshold(1_000_000)


def _stop(error: BuildError) -> SystemExit:
    return SystemExit(str(error))


try:
    REPOSITORY = open_repository(Path.cwd())
    FOUND = find_sources(REPOSITORY.sources)
    DOIT_CONFIG = {
        "default_tasks": ["index"],
        "backend": "sqlite3",
        "dep_file": state_file(REPOSITORY.build, report),
        "check_file_uptodate": Checker,
        "verbosity": 2,
        "continue": True,
        "reporter": Reporter,
    }
except BuildError as error:
    raise _stop(error) from None


def _interrupted(number: int, _: object) -> None:
    # doit saves its state on the way out; it would print a traceback for a KeyboardInterrupt
    os.write(2, b"\nragpress: interrupted; what is done is kept, and the next build goes on from there\n")
    raise SystemExit(128 + number)


if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, _interrupted)
    signal.signal(signal.SIGTERM, _interrupted)


def _action(function: Callable[..., object]) -> Callable[..., bool | TaskFailed]:
    """An action for doit: under the build lock, with a BuildError as a failed task's one line."""

    @wraps(function)
    def run(*arguments: object) -> bool | TaskFailed:
        try:
            with build.build_lock(REPOSITORY):
                function(*arguments)
        except BuildError as error:
            return TaskFailed(str(error))
        return True

    return run


# Imported when they run: a build with nothing to do must not load what the last stages need.


def _embed() -> None:
    from ragpress.pipeline.publish import embed

    embed(REPOSITORY)


def _publish() -> None:
    from ragpress.pipeline.publish import publish

    publish(REPOSITORY)


def _golden() -> None:
    from ragpress.review.accept import check_goldens

    check_goldens(REPOSITORY)


def _accept() -> None:
    from ragpress.review.accept import accept

    accept(REPOSITORY)
    if (REPOSITORY.golden / "questions.jsonl").exists():
        from ragpress.evaluation import accept_retrieval

        accept_retrieval(REPOSITORY)


def _evaluate() -> None:
    from ragpress.evaluation import check_retrieval

    check_retrieval(REPOSITORY)


def _pack() -> None:
    from ragpress.artifact.pack import pack

    print(pack(REPOSITORY).relative_to(REPOSITORY.root))


def _report() -> None:
    from ragpress.report import draw_report

    print(draw_report(REPOSITORY).relative_to(REPOSITORY.root))


def task_chunk() -> Iterator[Task]:
    """Read each source and cut it into chunks"""
    others = {command.get_name() for command in DoitMain.DOIT_CMDS} - {"run"}
    if others.isdisjoint(sys.argv[1:2]):  # a run, and no list or the like
        build.foresee(REPOSITORY, FOUND)  # first of all: a model is loaded while doit does its part
    alike = build.is_chunked_alike(REPOSITORY)
    action = _action(build.chunk)
    root = len(f"{REPOSITORY.root}{os.sep}")
    yield {"basename": "chunk", "name": None, "doc": "Read each source and cut it into chunks"}
    for item in FOUND:
        yield {
            "name": item.source.replace("%", "%25").replace("=", "%3D"),  # doit allows no equal sign in a name
            # Relative names, so that a repository may be moved or cloned with its build folder.
            "file_dep": [item.file[root:]] if item.regular else [],
            "targets": [f"{REPOSITORY.config.build}/chunks/{item.source}.jsonl"],
            "actions": [(action, [REPOSITORY, item])],
            "uptodate": [alike and item.regular, *_pictures(item.source)],
        }


def _pictures(source: str) -> list[Callable[[], bool]]:
    """What else decides whether a source's chunks stand: without captions, nothing."""

    def current() -> bool:
        try:
            return states.pictures_current(REPOSITORY, source)
        except BuildError:  # the action meets it, too, and says so
            return False

    return [] if REPOSITORY.config.captions == "off" else [current]


def task_merge() -> Task:
    """Put all chunks in order and drop what belongs to no source"""
    return {
        "task_dep": ["chunk"],
        "uptodate": [lambda: merging.is_merged(REPOSITORY, FOUND)],
        "actions": [(_action(merging.merge), [REPOSITORY])],
    }


def task_embed() -> Task:
    """Embed the texts that no vector exists for"""
    return {
        "task_dep": ["merge"],
        "uptodate": [lambda: build.is_published(REPOSITORY)],
        "actions": [_action(_embed)],
    }


def task_index() -> Task:
    """Write the artifact, build/kb/"""
    return {
        "task_dep": ["embed"],
        "uptodate": [lambda: build.is_published(REPOSITORY)],
        "actions": [_action(_publish)],
        "clean": [lambda: shutil.rmtree(REPOSITORY.build, ignore_errors=True)],
    }


def task_golden() -> Task:
    """Compare the chunks with their goldens, and say what changed"""
    return {"task_dep": ["chunk"], "actions": [_action(_golden)]}


def task_accept() -> Task:
    """Rewrite the goldens to what the chunks are now, and record the retrieval figures of the artifact"""
    return {"task_dep": ["chunk"], "actions": [_action(_accept)]}


def task_eval() -> Task:
    """Ask the artifact golden/questions.jsonl, and compare what it finds with what it found before"""
    return {"task_dep": ["index"], "actions": [_action(_evaluate)]}


def task_pack() -> Task:
    """Put the artifact into one archive, build/NAME-HASH.tar.zst"""
    return {"task_dep": ["index"], "actions": [_action(_pack)]}


def task_report() -> Task:
    """Draw build/report/, a site that opens from disk: all chunks, what changed in them, what questions find"""
    return {"actions": [_action(_report)]}  # it has a source that fails shown, where a dependency would stop it
