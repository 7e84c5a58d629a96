"""Memory and time of the machine that merges and publishes a million small chunks whose vectors are cached."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.builds import WORDS

PER_SOURCE = 1000
_BLOCK = 10_000
_STAGE = """
import re, sys, time
from pathlib import Path
from ragpress import pipeline
from ragpress.repository import open_repository
from ragpress.sources import find_sources

repository = open_repository(Path.cwd())
stages = {
    "merge": lambda: pipeline.merge_chunks(repository, find_sources(repository)),
    "embed": lambda: pipeline.embed_texts(repository),
    "index": lambda: pipeline.publish_artifact(repository),
}
begin = time.perf_counter()
stages[sys.argv[1]]()
peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())
print(time.perf_counter() - begin, int(peak[1]) // 1024)
"""


def make_chunks(root: Path, chunks: int) -> None:
    """A repository with the results of sources that were cut into so many chunks of about 40 tokens."""
    from ragpress.artifact.jsonl import encode_chunk
    from ragpress.pipeline.results import Result, write_result
    from ragpress.records import Chunk, DocumentEntry, chunk_id
    from ragpress.repository import open_repository

    (root / "sources").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.ragpress]\nmodel = "multilingual-e5-small"\n', encoding="utf-8")
    repository = open_repository(root)
    random = np.random.default_rng(0)
    for number in range(chunks // PER_SOURCE):
        source = f"{number:05d}.md"
        (root / "sources" / source).write_text("# Made up\n", encoding="utf-8")
        lines = []
        for part in range(PER_SOURCE):
            own = f"Пункт {number}-{part}: {' '.join(WORDS[at] for at in random.integers(0, len(WORDS), 20))}."
            chunk = Chunk(
                chunk_id=chunk_id(source, (), own, 0),
                source=source,
                content_type="paragraph",
                section="",
                headings=(),
                locator=f"L{part + 1}",
                tokens=40,
                previous_chunk_id=None,
                next_chunk_id=None,
                context_chars=0,
                text=own,
            )
            lines.append(encode_chunk(chunk))
        data = b"".join(lines)
        path = repository.chunks_of(source)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        entry = DocumentEntry(
            source=source,
            sha256="0" * 64,
            title="",
            front_matter={},
            chunks=PER_SOURCE,
            coverage=1.0,
            gaps=(),
            left_out={},
            messages=(),
        )
        write_result(repository, source, Result("made up", hashlib.sha256(data).hexdigest(), entry))


def fill_cache(root: Path) -> None:
    """Gives every merged text a random vector."""
    from ragpress.models.known import resolve
    from ragpress.pipeline.embed import merged_texts
    from ragpress.repository import open_repository
    from ragpress.vectors.cache import VectorCache
    from ragpress.vectors.digests import vector_keys

    repository = open_repository(root)
    file = resolve(repository.config, root, report=lambda _: None)
    random = np.random.default_rng(1)
    keys = vector_keys(file, (text.text for text in merged_texts(repository)))
    with VectorCache(repository.vectors, print) as cache:
        for begin in range(0, len(keys), _BLOCK):
            block = keys[begin : begin + _BLOCK]
            vectors = random.standard_normal((len(block), file.dimensions)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            cache.put_many(zip(block, vectors, strict=True), "synthetic")


def stage(root: Path, name: str) -> tuple[float, int]:
    """Seconds of a stage in a process of its own, and its peak memory in MB."""
    environment = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-c", _STAGE, name], cwd=root, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def run(folder: Path, chunks: int = 1_000_000) -> Iterator[tuple[str, float, str]]:
    """(what, MB at the peak, details) of each stage."""
    root = folder / "million"
    make_chunks(root, chunks)
    for name in ("merge", "embed", "index"):
        if name == "embed":
            fill_cache(root)
        seconds, peak = stage(root, name)
        yield f"{name} of {chunks} chunks, peak MB", float(peak), f"{seconds:.0f} s; the limit is 2000"
    size = sum(path.stat().st_size for path in (root / "build" / "kb").iterdir())
    cache = (root / "build" / "cache" / "vectors.sqlite").stat().st_size
    yield f"artifact of {chunks} chunks, MB", size / 1e6, f"vector cache {cache / 1e6:.0f} MB"
