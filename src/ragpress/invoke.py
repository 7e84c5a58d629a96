"""`ragpress build` and the like: doit's tasks, run in the root of the repository that the working folder is in."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ragpress.errors import BuildError
from ragpress.repository import Repository, find_root, open_repository


def here() -> Repository:
    """The repository that the working folder is in. Raises BuildError where there is none or its settings are wrong."""
    root = find_root(Path.cwd())
    if root is None:
        raise BuildError(
            "no-sources", "no repository here or in a folder above; run `ragpress init DIR` to make one, or go into one"
        )
    return open_repository(root)


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
    repository = here()
    if importlib.util.find_spec("doit") is None:
        raise BuildError("model", 'doit is not installed; run `pip install "ragpress[build]"`')
    if not (repository.root / "dodo.py").is_file():
        raise BuildError("no-sources", "there is no dodo.py beside pyproject.toml; `ragpress init .` writes it")
    return repository.root


def from_root(root: Path, path: str) -> str:
    """A path that was given in the working folder, from the repository's root on, if it is there; else as given."""
    target = Path(os.path.abspath(path))  # not resolved: a link is a source by its own name  # noqa: PTH100
    below = target.is_relative_to(root) and (target.exists() or Path.cwd() == root)
    return target.relative_to(root).as_posix() if below else path
