"""Repositories whose model is a tiny one of random weights, so that a build takes a second."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from gguf_maker import write_nomic
from repository_maker import artifact_bytes, build, environment, make_repository, run

NAME = "nomic-embed-text-v2-moe"


def tiny_model(seed: int = 0) -> Path:
    """A GGUF of the architecture of the configured model, made once a session."""
    path = Path(os.environ["RAGPRESS_CACHE"]) / f"tiny-{seed}.gguf"
    if not path.exists():
        write_nomic(path, seed=seed)
    return path


def settings(*lines: str, model: Path | None = None) -> str:
    return "\n".join(["[tool.ragpress]", f'model_path = "{model or tiny_model()}"', *lines, ""])


def text(number: int, mark: str = "") -> str:
    return f"# Тема {number}\n\n## Раздел {number}\n\nТекст номер {number}{mark}.\n\n## بخش\n\nمتن شماره {number}.\n"


def tiny_repository(root: Path, count: int = 3, *lines: str) -> Path:
    """A repository of `count` sources with two chunks each."""
    return make_repository(root, {f"{number}.md": text(number) for number in range(count)}, settings(*lines))


def clean_build(root: Path, elsewhere: Path) -> dict[str, bytes]:
    """The artifact of the same sources and settings, built from nothing in another folder."""
    elsewhere.mkdir(parents=True)
    for path in root.iterdir():
        if path.name != "build":
            (shutil.copytree if path.is_dir() else shutil.copyfile)(path, elsewhere / path.name)
    build(elsewhere)
    return artifact_bytes(elsewhere)


def embedded(printed: str) -> int:
    """How many texts a build said it embedded."""
    return sum(map(int, re.findall(r"^ragpress: embedding (\d+) texts?$", printed, re.MULTILINE)))


def cached(root: Path) -> int:
    """Vectors in the cache; 0 where there is none yet."""
    path = root / "build" / "cache" / "vectors.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as cache:
        begun = cache.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vectors'").fetchone()
        return int(cache.execute("SELECT count(*) FROM vectors").fetchone()[0]) if begun else 0


def command(root: Path, *arguments: str, status: int = 0, **extra: str) -> str:
    """What `ragpress …` printed in the repository, on both streams."""
    done = run(root, "ragpress", *arguments, **extra)
    printed = done.stdout + done.stderr
    assert done.returncode == status, printed
    assert "Traceback" not in printed, printed
    return printed


def start(root: Path, **extra: str) -> subprocess.Popen[str]:
    """A build in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "doit"],
        cwd=root,
        env=environment(**extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )


def waited(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Waits for it, and fails where it does not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
