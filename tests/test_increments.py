"""What a build does after a change: that it is noticed, that nothing else is done, and that the result is no other."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ragpress import pipeline
from ragpress.artifact.read import open_artifact
from ragpress.errors import BuildError
from ragpress.models.known import KNOWN, ModelFile
from ragpress.repository import open_repository
from ragpress.vectors.cache import VectorCache
from ragpress.vectors.digests import vector_keys
from repository_maker import artifact_bytes, build, write_source
from tiny_builds import clean_build, embedded, text, tiny_repository


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tiny_repository(tmp_path_factory.mktemp("built") / "repo", 4)
    build(root)
    return root


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    """A copy that was built where it lies: its files' times are known."""
    root = Path(shutil.copytree(built, tmp_path / "repo"))
    write_source(root, "0.md", text(0, " заново"))
    time.sleep(0.3)  # a file that was written just now is not taken as known
    build(root)
    return root


def rewritten(path: Path, data: bytes) -> None:
    """Other content of the same size and time of modification, as a copying tool or a bad disk leaves it."""
    status = path.stat()
    assert len(data) == status.st_size
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def chunked(root: Path) -> list[str]:
    """The sources whose chunks a build wrote."""
    folder = root / "build" / "chunks"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.jsonl")}
    build(root)
    return sorted(path.stem for path in folder.rglob("*.jsonl") if path.stat().st_mtime_ns != before.get(path))


def test_what_was_done_to_a_source_or_its_chunks_is_noticed_whatever_its_time_says(root: Path, tmp_path: Path) -> None:
    source = root / "sources" / "1.md"
    rewritten(source, source.read_bytes().replace("номер".encode(), "шифры".encode()))
    lines = root / "build" / "chunks" / "2.md.jsonl"
    rewritten(lines, lines.read_bytes()[::-1])
    (root / "build" / "documents" / "3.md.json").unlink()
    assert chunked(root) == ["1.md", "2.md", "3.md"]
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_a_file_whose_time_alone_changed_has_nothing_done(root: Path) -> None:
    (root / "sources" / "1.md").touch()
    assert "nothing to do" in build(root)


def test_other_settings_have_every_source_chunked(root: Path) -> None:
    with (root / "pyproject.toml").open("a", encoding="utf-8") as settings:
        settings.write("min_tokens = 1\n")
    assert chunked(root) == ["0.md", "1.md", "2.md", "3.md"]


def test_a_source_that_changes_while_it_is_chunked_is_chunked_by_the_next_build(root: Path, tmp_path: Path) -> None:
    (root / "dodo.py").write_text(
        "from pathlib import Path\n"
        "from ragpress import pipeline\n"
        "from ragpress.tasks import *\n"
        "real = pipeline.chunk_source\n"
        "def late(repository, source, pool):\n"
        "    result = real(repository, source, pool)\n"
        "    if not Path('late').exists() and source.source == '1.md':\n"
        "        Path('late').touch()\n"
        "        Path(source.file).write_text(Path(source.file).read_text().replace('номер', 'поздний'))\n"
        "    return result\n"
        "pipeline.chunk_source = late\n",
        encoding="utf-8",
    )
    write_source(root, "1.md", text(1, " и правка"))
    build(root)
    assert chunked(root) == ["1.md"]
    (root / "dodo.py").write_text("from ragpress.tasks import *\n", encoding="utf-8")
    (root / "late").unlink()
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_vectors_that_are_damaged_are_embedded_again_when_they_are_needed(root: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(root / "build" / "cache" / "vectors.sqlite")) as cache, cache:
        cache.execute("UPDATE vectors SET vector = zeroblob(length(vector)) WHERE id % 2")
    write_source(root, "1.md", text(1, " и правка"))
    printed = build(root)
    assert "are damaged and are made again [bad-cache]" in printed
    assert embedded(printed) > 1
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_vectors_that_vanish_between_embedding_and_publishing_are_made_again_by_the_next_build(
    root: Path, tmp_path: Path
) -> None:
    repository = open_repository(root)
    write_source(root, "1.md", text(1, " и правка"))
    build(root, "embed")
    with VectorCache(repository.vectors, print) as cache:
        assert cache.prune([]) > 8
    with pytest.raises(BuildError, match="is gone from the cache; run `ragpress build` again"):
        pipeline.publish_artifact(repository)
    build(root)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_merged_chunks_that_are_damaged_are_an_error_that_says_what_to_do(root: Path) -> None:
    repository = open_repository(root)
    lines = root / "build" / "merged" / "chunks.jsonl"
    lines.write_bytes(lines.read_bytes()[::-1])
    with pytest.raises(BuildError, match="is missing or damaged; run `ragpress build` again"):
        pipeline.embed_texts(repository)


def test_vectors_that_another_build_makes_in_between_are_those_of_the_index(root: Path) -> None:
    repository = open_repository(root)
    write_source(root, "1.md", text(1, " и правка"))
    build(root, "embed")
    with closing(sqlite3.connect(repository.vectors)) as other:
        rows = other.execute("SELECT key, vector FROM vectors").fetchall()
    with VectorCache(repository.vectors, print) as cache:  # the same texts by another engine: other last bits
        cache.put_many([(key, np.frombuffer(data, "<f2") * np.float16(1.0005)) for key, data in rows], "another engine")
        pipeline.publish_artifact(repository)
        opened = open_artifact(repository.artifact)
        model, rows_of_all = opened.manifest.model, np.arange(opened.manifest.counts.chunks)
        file = ModelFile(
            model=KNOWN[model.name], path=Path(model.file), sha256=model.sha256, size=0, dimensions=model.dimensions
        )
        keys = vector_keys(file, (opened.chunk(int(row)).text for row in rows_of_all))
        assert opened.manifest.engines == ("another engine",)
        assert np.array_equal(opened.index.vectors(rows_of_all), cache.matrix(keys, model.dimensions)[0])
