"""Content repositories for tests, and builds in processes of their own, as an editor runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

CLOSED = "http://127.0.0.1:9"  # the discard port: nobody answers, at once
SETTINGS = """[tool.ragpress]
offline_model = "multilingual-e5-small"
"""


def make_repository(root: Path, sources: dict[str, str], settings: str = SETTINGS) -> Path:
    """A repository with these texts below sources/."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")
    (root / "dodo.py").write_text("from ragpress.tasks import *\n", encoding="utf-8")
    for name, text in sources.items():
        write_source(root, name, text)
    return root


def write_source(root: Path, name: str, text: str) -> None:
    path = root / "sources" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def environment(**extra: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in {"CI", "HF_HUB_OFFLINE"}}
    # numpy's threads, which nothing here uses, cost a third of its start
    return {**kept, "HF_ENDPOINT": CLOSED, "OPENBLAS_NUM_THREADS": "1", **extra}


def run(root: Path, *command: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """A module of Python's, run in the repository: `run(root, "doit", "golden")`."""
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=root,
        env=environment(**extra),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def build(root: Path, *arguments: str, **extra: str) -> str:
    """What a build that must succeed printed."""
    done = run(root, "doit", *arguments, **extra)
    printed = done.stdout + done.stderr
    assert done.returncode == 0, f"{done.returncode}: {printed}"
    return printed


def failing(root: Path, *arguments: str, **extra: str) -> str:
    """What a build that must fail printed: no traceback is part of it."""
    done = run(root, "doit", *arguments, **extra)
    printed = done.stdout + done.stderr
    assert done.returncode != 0, printed
    assert "Traceback" not in printed, printed
    return printed


def artifact_bytes(root: Path) -> dict[str, bytes]:
    folder = root / "build" / "kb"
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def chunks(root: Path) -> list[dict[str, object]]:
    lines = (root / "build" / "kb" / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
