"""`ragpress build` and the like: doit's tasks, run in the root of the repository that the working folder is in."""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ragpress.errors import INSTALL_BUILD, BuildError
from ragpress.repository import repository_here


def build(_: argparse.Namespace) -> int:
    return run_tasks(["index"])


def golden(options: argparse.Namespace) -> int:
    return run_tasks(["golden", *(["--stat"] if options.stat else [])])


def accept(options: argparse.Namespace) -> int:
    paths = [f"--only={from_root(repository_here().root, path)}" for path in options.paths]
    return run_tasks(["accept", *(["--retrieval"] if options.retrieval else []), *paths])


def report_site(options: argparse.Namespace) -> int:
    """The report is drawn although the build failed: it shows why."""
    status = run_tasks(["index"], ["report", *base_option(options)])
    if options.open:
        import webbrowser

        webbrowser.open((repository_here().build / "report" / "index.html").as_uri())
    return status


def base_option(options: argparse.Namespace) -> list[str]:
    return [f"--base={options.base}"] if options.base else []


def pack(options: argparse.Namespace) -> int:
    return run_tasks(["pack", *(["--fallback"] if options.fallback else [])])


def clean(options: argparse.Namespace) -> int:
    from ragpress.console import report
    from ragpress.pipeline import build_lock
    from ragpress.pipeline.clean import clean_build

    repository = repository_here()
    with build_lock(repository):
        clean_build(repository, report, everything=options.all)
    return 0


# -- running doit ----------------------------------------------------------------------------------------------------


def run_tasks(*tasks: Sequence[str]) -> int:
    """doit with each of these tasks and its options in turn, whether or not one before failed.

    Returns 0, 1 where one failed, and more where one was interrupted. Raises BuildError where doit cannot begin.
    """
    root = _ready()
    sys.stdout.flush()
    return max(_run(root, task) for task in tasks)


def _run(root: Path, task: Sequence[str]) -> int:
    doit = subprocess.Popen([sys.executable, "-m", "doit", *task], cwd=root)
    # An interrupt from the keyboard reaches doit as well, which ends in order; only then does this process end.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.signal(signal.SIGTERM, lambda *_: doit.terminate())
    try:
        status = doit.wait()
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)
    return {0: 0, 1: 1, 2: 1, 3: 1}.get(status, status if status > 0 else 128 - status)


def _ready() -> Path:
    """The root, once its settings are known to be good: doit itself would show a traceback for a slip in TOML."""
    repository = repository_here()
    if importlib.util.find_spec("doit") is None:
        raise BuildError("extra", f"doit is not installed; {INSTALL_BUILD}")
    if not (repository.root / "dodo.py").is_file():
        raise BuildError("no-sources", "there is no dodo.py beside pyproject.toml; `ragpress init .` writes it")
    return repository.root


def from_root(root: Path, path: str) -> str:
    """A path that was given in the working folder, from the repository's root on, if it is there; else as given."""
    target = Path(os.path.abspath(path))  # not resolved: a link is a source by its own name  # noqa: PTH100
    below = target.is_relative_to(root) and (target.exists() or Path.cwd() == root)
    return target.relative_to(root).as_posix() if below else path
