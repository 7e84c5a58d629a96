"""docs/artifact.md is enough to read an artifact: a reader in Node finds what Python's does."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from artifact_maker import chunks_of, many_chunks, sample_chunks, unit_vectors, write_chunks
from programs import lacking
from ragpress.artifact.read import open_artifact
from ragpress.artifact.search import Search
from ragpress.knowledge_base import KnowledgeBase
from ragpress.records import Chunk

NODE = Path(__file__).parent / "node"
QUERIES = unit_vectors(12, seed=21)


@pytest.fixture(scope="session")
def node() -> str:
    """The node program, with usearch installed beside the reader."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        lacking("Node is not installed")
    if not (NODE / "node_modules" / "usearch").is_dir():
        # its binaries are part of the package, so that nothing has to be compiled
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        done = subprocess.run(command, cwd=NODE, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lacking(f"usearch for Node cannot be fetched: {done.stderr}")
    return found


def ask(
    node: str, folder: Path, k: int, vectors: npt.NDArray[np.float32] | None, texts: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """The reader, asked by vectors, by texts, or by both, each vector with the text in its place."""
    pairs = itertools.zip_longest([] if vectors is None else vectors.tolist(), texts)
    questions = [{"vector": vector, "text": text} for vector, text in pairs]
    question = json.dumps({"folder": str(folder), "k": k, "questions": questions})
    return subprocess.run(
        [node, str(NODE / "reader.mjs")], input=question, capture_output=True, encoding="utf-8", check=False
    )


def answers(
    node: str, folder: Path, k: int, vectors: npt.NDArray[np.float32] | None = QUERIES, texts: Sequence[str] = ()
) -> list[list[dict[str, Any]]]:
    done = ask(node, folder, k, vectors, texts)
    assert done.returncode == 0, done.stderr
    found: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("chunks", "limit"), [(sample_chunks(), 100), (many_chunks(800), 100)])
def test_node_finds_the_same_chunks_with_the_same_scores(
    node: str, tmp_path: Path, chunks: list[Chunk], limit: int
) -> None:
    write_chunks(tmp_path / "kb", chunks, limit=limit)
    with KnowledgeBase.open(tmp_path / "kb") as base:
        expected = [base.search_vector(query, 7) for query in QUERIES]
    for hits, found in zip(expected, answers(node, tmp_path / "kb", 7), strict=True):
        assert [msgspec.convert(hit["line"], Chunk) for hit in found] == [hit.chunk for hit in hits]
        assert [hit["score"] for hit in found] == pytest.approx([hit.score for hit in hits], abs=1e-6)


QUESTIONS = (
    "Какая строка 17 и какая 318?",
    "ТЕЛЕФОН ۵٬۴۰۰ и 8 (812) 555-01-23",
    "شعبهٔ شيراز كجاست",
    "ёлка №5 строки",
    "нет такого слова",
)
WORDED = [
    *many_chunks(400),
    *chunks_of("слова.md", ["Цена 5 400 рублей, цена.", "Звоните: +7 812 555-01-23.", "شعبه‌های شیراز و یزد", "Ёлки."]),
]


@pytest.mark.parametrize("limit", [1000, 100])
def test_node_finds_by_words_and_by_both_what_the_reader_finds(node: str, tmp_path: Path, limit: int) -> None:
    write_chunks(tmp_path / "kb", WORDED, limit=limit)
    vectors = unit_vectors(len(QUESTIONS), seed=8)
    with KnowledgeBase.open(tmp_path / "kb") as base:
        by_words = [base.search(question, 7, mode="words") for question in QUESTIONS]
        search = Search(open_artifact(tmp_path / "kb"))
        by_both = [search.by_both(text, vector, 7) for text, vector in zip(QUESTIONS, vectors, strict=True)]
    for hits, found in zip(by_words, answers(node, tmp_path / "kb", 7, None, QUESTIONS), strict=True):
        assert [hit["line"]["text"] for hit in found] == [hit.chunk.text for hit in hits]
        assert [hit["score"] for hit in found] == pytest.approx([hit.score for hit in hits], abs=1e-9)
    ids = sorted(chunk.chunk_id for chunk in WORDED)
    for ranked, found in zip(by_both, answers(node, tmp_path / "kb", 7, vectors, QUESTIONS), strict=True):
        assert [hit["line"]["chunk_id"] for hit in found] == [ids[one.row] for one in ranked]
        assert [hit["score"] for hit in found] == pytest.approx([one.score for one in ranked], abs=1e-5)


def test_node_finds_every_chunk_where_one_text_stands_600_times(node: str, tmp_path: Path) -> None:
    vectors = unit_vectors(1000)
    vectors[:600] = vectors[0]
    write_chunks(tmp_path / "kb", many_chunks(1000), vectors)
    with KnowledgeBase.open(tmp_path / "kb") as base:
        expected = [[hit.chunk.chunk_id for hit in base.search_vector(vector, 5)] for vector in vectors[580:]]
    found = answers(node, tmp_path / "kb", 5, vectors[580:])
    assert [[hit["line"]["chunk_id"] for hit in hits] for hits in found] == expected


def test_node_finds_each_chunk_by_its_own_vector(node: str, tmp_path: Path) -> None:
    chunks = sample_chunks()
    write_chunks(tmp_path / "kb", chunks)
    found = answers(node, tmp_path / "kb", 1, unit_vectors(len(chunks)))
    assert [hits[0]["line"]["text"] for hits in found] == [chunk.text for chunk in chunks]


def test_node_reads_an_artifact_without_chunks(node: str, tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", [])
    assert answers(node, tmp_path / "kb", 5) == [[]] * len(QUERIES)


def test_the_checksums_are_computed_as_the_page_says(node: str, tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", sample_chunks())
    for path in sorted((tmp_path / "kb").iterdir()):
        data = path.read_bytes()
        path.write_bytes(data.replace(b"1", b"2", 1) if path.suffix == ".json" else data[:-1] + bytes([data[-1] ^ 1]))
        done = ask(node, tmp_path / "kb", 1, QUERIES)
        assert (done.returncode, done.stdout) == (1, "")
        assert path.name in done.stderr
        path.write_bytes(data)
    assert len(answers(node, tmp_path / "kb", 1)) == len(QUERIES)


def test_the_page_describes_every_key_of_index_json(tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", sample_chunks())
    page = (Path(__file__).parent.parent / "docs" / "artifact.md").read_text(encoding="utf-8")
    said = msgspec.json.decode((tmp_path / "kb" / "index.json").read_bytes())
    keys = {
        *said["words"][0],
        *said,
        *said["model"],
        *said["index"],
        *said["counts"],
        *said["shards"][0],
        *said["files"]["chunks.idx"],
    }
    keys |= set(Chunk.__struct_fields__)
    assert {key for key in keys if f"`{key}`" not in page} == set()
