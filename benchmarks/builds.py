"""Builds of 10,000 sources and 100,000 chunks, with synthetic vectors in the place of embedding."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SECTIONS = 10
_SETTINGS = '[tool.ragpress]\noffline_model = "multilingual-e5-small"\n'
WORDS = ("приём", "запись", "врач", "анализ", "кабинет", "оплата", "полис", "справка", "документ", "адрес", "этаж")
_BARE = """
from pathlib import Path

def task_bare():
    for path in sorted(Path("sources").iterdir()):
        yield {"name": path.name, "file_dep": [str(path)], "actions": [lambda: None]}

DOIT_CONFIG = {"backend": "sqlite3", "dep_file": "bare.sqlite", "verbosity": 0, "reporter": "zero"}
"""


def make_corpus(root: Path, sources: int) -> None:
    """A repository of Markdown files with `SECTIONS` short sections each."""
    random = np.random.default_rng(0)
    (root / "sources").mkdir(parents=True)
    (root / "pyproject.toml").write_text(_SETTINGS, encoding="utf-8")
    (root / "dodo.py").write_text("from ragpress.tasks import *\n", encoding="utf-8")
    for number in range(sources):
        lines = [f"# Документ {number}\n"]
        for section in range(SECTIONS):
            words = " ".join(WORDS[at] for at in random.integers(0, len(WORDS), 30))
            lines.append(f"## Раздел {section}\n\nПункт {number}-{section}: {words}.\n")
        (root / "sources" / f"{number:05d}.md").write_text("\n".join(lines), encoding="utf-8")


def timed(root: Path, *arguments: str, dodo: str = "dodo.py") -> tuple[float, int]:
    """Seconds of a build in a process of its own, and its peak memory in MB."""
    environment = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9"}
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "doit", "-f", dodo, *arguments],
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    errors = process.stderr.read() if process.stderr else ""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status:
        raise RuntimeError(errors)
    return seconds, usage.ru_maxrss // 1024


def fill_cache(root: Path) -> int:
    """Gives every text of the merged chunks a random vector of the offline model's. Returns the number of chunks."""
    from ragpress.artifact.jsonl import read_chunks
    from ragpress.models.known import resolve
    from ragpress.pipeline.merge import merged_chunks
    from ragpress.repository import open_repository
    from ragpress.vectors.cache import VectorCache
    from ragpress.vectors.digests import vector_keys

    repository = open_repository(root)
    chunks = read_chunks(merged_chunks(repository))
    os.environ.setdefault("HF_ENDPOINT", "http://127.0.0.1:9")
    file = resolve(repository.config, root, report=lambda _: None)
    random = np.random.default_rng(1)
    keys = vector_keys(file, (chunk.text for chunk in chunks))
    with VectorCache(repository.vectors, print) as cache:
        for begin in range(0, len(keys), 10_000):
            vectors = random.standard_normal((len(keys[begin : begin + 10_000]), file.dimensions)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            cache.put_many(zip(keys[begin : begin + 10_000], vectors, strict=True), "synthetic")
    return len(chunks)


def _rebuilt(root: Path) -> tuple[float, int]:
    """Seconds and peak memory of a build from nothing but the sources and the cached vectors."""
    for path in (root / "build").iterdir():
        if path.is_dir() and path.name != "cache":
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
    return timed(root)


def _edited(root: Path, number: int) -> float:
    """Seconds of the build after one paragraph has got a word that no source had before."""
    path = root / "sources" / f"{number:05d}.md"
    text = path.read_text(encoding="utf-8").replace("Пункт", f"Правило{number}", 1)
    path.write_text(text, encoding="utf-8")
    return timed(root)[0]


def run(folder: Path, sources: int = 10_000) -> Iterator[tuple[str, float, str]]:
    """(what, ratio, details) of each measurement."""
    root = folder / "corpus"
    make_corpus(root, sources)
    timed(root, "merge")
    count = fill_cache(root)
    full, memory = min(_rebuilt(root) for _ in range(2))
    yield "peak memory of a build, MB", float(memory), f"{count} chunks; the limit is 1000 beyond the model"
    timed(root)
    idle = min(timed(root)[0] for _ in range(3))
    (root / "bare.py").write_text(_BARE, encoding="utf-8")
    timed(root, dodo="bare.py")
    bare = min(timed(root, dodo="bare.py")[0] for _ in range(3))
    yield f"nothing to do, {sources} sources / bare doit", idle / bare, f"{idle:.2f} s / {bare:.2f} s"
    edit = min(_edited(root, number) for number in (sources // 4, sources // 2, sources * 3 // 4))
    yield f"one paragraph edited / full rebuild of {count} chunks", edit / full, f"{edit:.2f} s / {full:.2f} s"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        for what, ratio, details in run(Path(scratch), int(sys.argv[1]) if len(sys.argv) > 1 else 10_000):
            print(f"{what}: {ratio:.2f} ({details})", flush=True)
