"""Small artifacts for tests, with made-up vectors in place of a model's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from ragpress.artifact.format import Manifest, ModelRecord
from ragpress.artifact.jsonl import encode_document
from ragpress.artifact.write import in_memory, lines_of, write_artifact
from ragpress.records import Chunk, DocumentEntry, chunk_id

DIMENSIONS = 16
MODEL = ModelRecord(
    name="multilingual-e5-small",
    file="multilingual-e5-small.Q4_0.gguf",
    sha256="0" * 64,
    dimensions=DIMENSIONS,
    document_prefix="passage: ",
    query_prefix="query: ",
    pooling="mean",
    max_tokens=512,
)
TEXTS = {
    "клиника/приём.md": ["Запись по телефону.", "Приём ведётся с утра.", "Возьмите полис.", "Выход через сад."],
    "шаги.txt": ["Первый шаг.", "Второй шаг."],
    "شعبه‌ها.csv": ["شهر: شیراز", "شهر: یزد", "شهر: تبریز"],
}


def chunks_of(source: str, texts: Sequence[str], section: str = "Приём", **fields: Any) -> list[Chunk]:
    """A source's chunks, linked, each below `## {section}`."""
    ids: list[str | None] = [None, *(chunk_id(source, (section,), text, 0) for text in texts), None]
    context = f"## {section}\n\n"
    plain = {"content_type": "paragraph", "context_chars": len(context), "tokens": 9, **fields}
    return [
        Chunk(
            chunk_id=ids[number] or "",
            source=source,
            section=section,
            headings=(section,),
            locator=f"L{number}",
            previous_chunk_id=ids[number - 1],
            next_chunk_id=ids[number + 1],
            text=context + text,
            **plain,
        )
        for number, text in enumerate(texts, start=1)
    ]


def entry(source: str, chunks: int) -> DocumentEntry:
    return DocumentEntry(
        source=source,
        sha256="0" * 64,
        title="",
        front_matter={},
        chunks=chunks,
        coverage=1.0,
        gaps=(),
        left_out={},
        messages=(),
    )


def unit_vectors(count: int, dimensions: int = DIMENSIONS, seed: int = 0) -> npt.NDArray[np.float32]:
    """Random directions, shape (count, dimensions)."""
    made = np.random.default_rng(seed).standard_normal((count, dimensions), dtype=np.float32)
    norms: npt.NDArray[np.float32] = np.linalg.norm(made, axis=1, keepdims=True)
    return made / norms


def write_chunks(
    target: Path, chunks: Sequence[Chunk], vectors: npt.NDArray[np.floating] | None = None, **options: Any
) -> Manifest:
    """An artifact of these chunks, in their order; random vectors where none are given."""
    counts: dict[str, int] = {}
    for chunk in chunks:
        counts[chunk.source] = counts.get(chunk.source, 0) + 1
    model = options.pop("model", MODEL)
    if vectors is None:
        vectors = unit_vectors(len(chunks), model.dimensions)
    entries = options.pop("entries", [entry(source, count) for source, count in counts.items()])
    return write_artifact(
        target,
        chunks=lines_of(chunks),
        documents=b"".join(map(encode_document, entries)),
        vectors=in_memory(vectors),
        model=msgspec.structs.replace(model, dimensions=options.pop("dimensions", vectors.shape[1])),
        engines=options.pop("engines", ("engine one",)),
        chunking={"max_tokens": 384},
        **options,
    )


def sample_chunks(texts: dict[str, list[str]] = TEXTS) -> list[Chunk]:
    return [chunk for source in sorted(texts) for chunk in chunks_of(source, texts[source])]


def many_chunks(count: int, mark: str = "") -> list[Chunk]:
    """Chunks of sources with ten each; `mark` changes the text of the last one."""
    found = []
    for begin in range(0, count, 10):
        texts = [f"Строка {number}." for number in range(begin, min(begin + 10, count))]
        if begin + 10 >= count:
            texts[-1] += mark
        found += chunks_of(f"файл-{begin:06d}.md", texts)
    return found


def read_all(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
