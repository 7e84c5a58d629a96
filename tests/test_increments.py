"""An edit costs what it changes: which files, parts and vectors a build looks at, and that the result is no other."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ragpress.artifact.read import open_artifact
from ragpress.models.known import KNOWN, ModelFile
from ragpress.pipeline import merge as merging
from ragpress.pipeline import states
from ragpress.pipeline.chunk import chunk_sources
from ragpress.pipeline.merge import merge, merged_chunks
from ragpress.pipeline.publish import embed, publish
from ragpress.pipeline.states import look
from ragpress.repository import Found, Repository, find_sources, open_repository
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


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources whose files `look` and `merge` read."""
    names: list[str] = []
    is_current, made = states._is_current, merging._read

    def looking(repository: Repository, found: Found, settings: str) -> bool:
        names.append(found.source)
        return is_current(repository, found, settings)

    def reading(repository: Repository, source: str, more: int) -> object:
        names.append(source)
        return made(repository, source, more)

    monkeypatch.setattr(states, "_is_current", looking)
    monkeypatch.setattr(merging, "_read", reading)
    return names


def seen(root: Path) -> list[str]:
    repository = open_repository(root)
    return [found.source for found in look(repository, find_sources(repository.sources)).stale]


def rewritten(path: Path, data: bytes) -> None:
    """Other content of the same size and time of modification, as a copying tool or a bad disk leaves it."""
    status = path.stat()
    assert len(data) == status.st_size
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_files_to_which_nothing_was_done_are_not_read(root: Path, read: list[str]) -> None:
    assert seen(root) == []
    assert read == []


def test_what_was_done_to_a_source_or_its_chunks_is_seen_whatever_its_time_says(root: Path, read: list[str]) -> None:
    source = root / "sources" / "1.md"
    rewritten(source, source.read_bytes().replace("номер".encode(), "шифры".encode()))
    lines = root / "build" / "chunks" / "2.md.jsonl"
    rewritten(lines, lines.read_bytes()[::-1])
    (root / "build" / "documents" / "3.md.json").unlink()
    assert seen(root) == ["1.md", "2.md", "3.md"]
    assert read == ["1.md", "2.md", "3.md"]


def test_a_file_whose_time_alone_changed_is_read_and_stands(root: Path, read: list[str]) -> None:
    (root / "sources" / "1.md").touch()
    assert seen(root) == []
    assert read == ["1.md"]


def test_other_settings_have_every_file_read(root: Path, read: list[str]) -> None:
    with (root / "pyproject.toml").open("a", encoding="utf-8") as settings:
        settings.write("min_tokens = 1\n")
    assert len(seen(root)) == 4
    assert len(read) == 4


def test_a_source_that_was_written_a_moment_ago_is_not_taken_as_known(root: Path) -> None:
    # It may be written once more without a change of its time.
    repository = open_repository(root)
    found = find_sources(repository.sources)
    (root / "sources" / "1.md").touch()
    stamps = look(repository, found).stamps
    assert [source for source, stamp in stamps.items() if not stamp] == ["1.md"]


def test_a_merge_reads_what_changed_and_gives_what_a_whole_one_gives(root: Path, read: list[str]) -> None:
    repository = open_repository(root)
    write_source(root, "2.md", text(2, " длиннее прежнего"))
    write_source(root, "15.md", text(15))
    (root / "sources" / "3.md").unlink()
    chunk_sources(repository, find_sources(repository.sources), print)
    read.clear()
    merge(repository, print)
    assert read == ["15.md", "2.md"]
    merged = {path.name: path.read_bytes() for path in merged_chunks(repository).parent.iterdir()}
    shutil.rmtree(merged_chunks(repository).parent)
    merge(repository, print)
    again = {path.name: path.read_bytes() for path in merged_chunks(repository).parent.iterdir()}
    for name in ("chunks.jsonl", "documents.jsonl", "rows"):
        assert merged[name] == again[name], name


def test_vectors_that_are_damaged_are_embedded_again_when_they_are_needed(root: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(root / "build" / "cache" / "vectors.sqlite")) as cache, cache:
        cache.execute("UPDATE vectors SET vector = zeroblob(length(vector)) WHERE id % 2")
    write_source(root, "1.md", text(1, " и правка"))
    printed = build(root)
    assert "are damaged and are made again [bad-cache]" in printed
    assert embedded(printed) > 1
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_vectors_that_vanish_between_embedding_and_publishing_are_made_again(root: Path, tmp_path: Path) -> None:
    repository = open_repository(root)
    write_source(root, "1.md", text(1, " и правка"))
    chunk_sources(repository, find_sources(repository.sources), print)
    merge(repository, print)
    embed(repository, print)
    with VectorCache(repository.vectors, print) as cache:
        assert cache.prune([]) > 8
    publish(repository, print)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_vectors_that_another_build_makes_in_between_are_those_of_the_index(root: Path) -> None:
    repository = open_repository(root)
    write_source(root, "1.md", text(1, " и правка"))
    chunk_sources(repository, find_sources(repository.sources), print)
    merge(repository, print)
    embed(repository, print)
    with closing(sqlite3.connect(repository.vectors)) as other:
        rows = other.execute("SELECT key, vector FROM vectors").fetchall()
    with VectorCache(repository.vectors, print) as cache:  # the same texts by another engine: other last bits
        cache.put_many([(key, np.frombuffer(data, "<f2") * np.float16(1.0005)) for key, data in rows], "another engine")
        publish(repository, print)
        opened = open_artifact(repository.artifact)
        model, rows_of_all = opened.manifest.model, np.arange(opened.manifest.counts.chunks)
        file = ModelFile(
            model=KNOWN[model.name], path=Path(model.file), sha256=model.sha256, size=0, dimensions=model.dimensions
        )
        keys = vector_keys(file, (opened.chunk(int(row)).text for row in rows_of_all))
        assert opened.manifest.engines == ("another engine",)
        assert np.array_equal(opened.index.vectors(rows_of_all), cache.matrix(keys, model.dimensions)[0])


def test_a_damaged_lookup_of_the_cache_is_made_anew(root: Path, tmp_path: Path) -> None:
    path = root / "build" / "cache" / "vectors.sqlite"
    with closing(sqlite3.connect(path)) as cache:
        (digest,) = cache.execute("SELECT digest FROM vectors WHERE id = 2").fetchone()
        (page,) = cache.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'marks'").fetchone()
        (size,) = cache.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    at = data.index(int(digest).to_bytes(8, "big", signed=True), (page - 1) * size, page * size)
    data[at + 7] ^= 1
    path.write_bytes(data)
    write_source(root, "1.md", text(1, " и правка"))
    build(root)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")
