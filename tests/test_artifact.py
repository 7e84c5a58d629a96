"""Writing, replacing, opening and verifying the artifact, and what may happen to it on the way."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import pytest

from artifact_maker import (
    MODEL,
    entry,
    many_chunks,
    read_all,
    sample_chunks,
    unit_vectors,
    write_chunks,
)
from ragpress import files
from ragpress.artifact.format import encode_manifest, read_manifest
from ragpress.artifact.read import open_artifact, verify_artifact
from ragpress.artifact.shards import local_executor
from ragpress.errors import ArtifactError, BuildError
from ragpress.files import recover
from ragpress.records import Chunk


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    target = tmp_path / "kb"
    write_chunks(target, sample_chunks())
    return target


def refused(folder: Path) -> str:
    """The one line with which opening refuses; verifying refuses too."""
    with pytest.raises(ArtifactError) as verifying:
        verify_artifact(folder)
    with pytest.raises(ArtifactError) as opening:
        open_artifact(folder)
    for error in (verifying.value, opening.value):
        assert "\n" not in str(error)
        assert "; " in str(error), "it must say what to do"
    return str(opening.value)


# -- what is written -------------------------------------------------------------------------------------------------


def test_index_json_says_what_a_reader_must_know(kb: Path) -> None:
    said = msgspec.json.decode((kb / "index.json").read_bytes())
    assert list(said) == [
        "format",
        "tool",
        "model",
        "engines",
        "chunking",
        "counts",
        "index",
        "shards",
        "words",
        "files",
        "checksum",
    ]
    assert said["model"] == {**msgspec.to_builtins(MODEL)}
    assert said["counts"] == {"sources": 3, "chunks": 9}
    assert said["index"]["dtype"] == "f16"
    assert sorted(said["files"]) == ["chunks.idx", "chunks.jsonl", "documents.jsonl", "index.usearch", "words.idx"]
    assert verify_artifact(kb) == read_manifest(kb)


def test_the_same_input_gives_the_same_bytes_however_it_is_built(tmp_path: Path) -> None:
    chunks = many_chunks(300)
    vectors = unit_vectors(300)
    write_chunks(tmp_path / "a", chunks, vectors, limit=100)
    with local_executor(10**6) as processes, ThreadPoolExecutor(3) as threads:
        write_chunks(tmp_path / "b", chunks, vectors, limit=100, executor=processes)
        write_chunks(tmp_path / "c", chunks, vectors, limit=100, executor=threads)
    first = read_all(tmp_path / "a")
    assert len(first) == 2 * 64 + 4
    assert read_all(tmp_path / "b") == read_all(tmp_path / "c") == first
    write_chunks(tmp_path / "b", many_chunks(300, mark="!"), vectors, limit=100)
    write_chunks(tmp_path / "b", chunks, vectors, limit=100)
    assert read_all(tmp_path / "b") == first


def test_one_changed_chunk_rebuilds_the_files_it_leaves_and_enters(tmp_path: Path) -> None:
    target = tmp_path / "kb"
    vectors = unit_vectors(300)
    before = write_chunks(target, many_chunks(300), vectors, limit=100)
    inodes = {path.name: path.stat().st_ino for path in target.iterdir()}
    after = write_chunks(target, many_chunks(300, mark="!"), vectors, limit=100)
    changed = {one.file for one, two in zip(before.shards, after.shards, strict=True) if one.content != two.content}
    assert 1 <= len(changed) <= 2
    for shard in after.shards:
        assert (target.joinpath(shard.file).stat().st_ino == inodes[shard.file]) == (shard.file not in changed)
    verify_artifact(target)


def test_a_damaged_index_file_is_not_taken_over(tmp_path: Path) -> None:
    target = tmp_path / "kb"
    chunks = many_chunks(300)
    write_chunks(target, chunks, limit=100)
    good = read_all(target)
    flip(target / "index-07.usearch", 40)
    (target / "index-08.usearch").unlink()
    write_chunks(target, chunks, limit=100)
    assert read_all(target) == good


def test_vectors_of_half_precision_are_stored_bit_for_bit(kb: Path) -> None:
    halves = unit_vectors(9).astype(np.float16)
    write_chunks(kb, sample_chunks(), halves)
    opened = open_artifact(kb)
    rows = np.array([opened.row(chunk.chunk_id) for chunk in sample_chunks()])
    assert np.array_equal(opened.index.vectors(rows), halves)


def test_an_artifact_without_chunks_opens(tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", [])
    assert verify_artifact(tmp_path / "kb").counts.chunks == 0
    assert open_artifact(tmp_path / "kb").index.nearest(unit_vectors(1)[0], 5) == []


# -- what must not be published --------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, 2.0])
def test_a_vector_that_is_not_of_unit_length_stops_the_build(kb: Path, bad: float) -> None:
    before = read_all(kb)
    chunks = sample_chunks()
    vectors = unit_vectors(len(chunks))
    vectors[4] *= bad
    with pytest.raises(BuildError, match=f"the vector of chunk {chunks[4].chunk_id} has the length") as found:
        write_chunks(kb, chunks, vectors)
    assert found.value.message.code == "embedding"
    assert read_all(kb) == before


def test_vectors_of_another_shape_stop_the_build(kb: Path) -> None:
    before = read_all(kb)
    for count in (8, 10):
        with pytest.raises(BuildError, match=f"{count} vectors of 16 dimensions for 9 chunks of 16"):
            write_chunks(kb, sample_chunks(), unit_vectors(count))
    with pytest.raises(BuildError, match="9 vectors of 16 dimensions for 9 chunks of 8"):
        write_chunks(kb, sample_chunks(), unit_vectors(9), dimensions=8)
    assert read_all(kb) == before


def test_two_chunks_with_one_id_stop_the_build(kb: Path) -> None:
    chunks = sample_chunks()
    with pytest.raises(BuildError, match=f"two chunks have the id {chunks[0].chunk_id}"):
        write_chunks(kb, [*chunks, chunks[0]])


# -- what opening and verifying find ---------------------------------------------------------------------------------


def flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8 % len(data)] ^= 1 << bit % 8
    path.write_bytes(data)


def test_a_flipped_bit_anywhere_is_found_by_opening_and_by_verifying(kb: Path) -> None:
    good = read_all(kb)
    random = np.random.default_rng(8)
    for name, data in good.items():
        bits = len(data) * 8
        for bit in {0, bits // 2, bits - 1, bits - 9, *random.integers(0, bits, 12).tolist()}:
            flip(kb / name, bit)
            assert f"kb/{name}" in refused(kb), f"{name}, bit {bit}"
            (kb / name).write_bytes(data)
    verify_artifact(kb)


def test_cut_emptied_foreign_and_missing_files_are_named(kb: Path, tmp_path: Path) -> None:
    write_chunks(tmp_path / "other", many_chunks(9), unit_vectors(9, 8))
    for name, data in read_all(kb).items():
        path = kb / name
        for replacement in (data[: len(data) // 2], data[:-1], b"", b"x" * 550, data + b"\n", bytes(len(data))):
            path.write_bytes(replacement)
            assert f"kb/{name}" in refused(kb)
        if name != "index.json":
            path.write_bytes((tmp_path / "other" / name).read_bytes())
            assert f"kb/{name}" in refused(kb)
        path.unlink()
        assert f"kb/{name} is missing" in refused(kb) or name == "index.json"
        path.mkdir()
        assert f"kb/{name} cannot be read" in refused(kb)
        path.rmdir()
        path.write_bytes(data)
    verify_artifact(kb)


def test_no_artifact_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("text")
    for name in ("empty", "file", "absent"):
        assert f"{name}/ holds no artifact (no index.json); run `ragpress build`" in refused(tmp_path / name)
    assert f" {Path().resolve().name}/ holds no artifact" in refused(Path())


def test_an_artifact_of_another_format_is_refused_before_anything_else(kb: Path) -> None:
    manifest = msgspec.structs.replace(read_manifest(kb), format=1)
    for data in (encode_manifest(manifest), b'{"format": 1, "all else": "is old"}'):
        (kb / "index.json").write_bytes(data)
        assert (
            "kb/index.json is of format 1, this ragpress reads format 2; build it again with `ragpress build`"
            in refused(kb)
        )


def test_an_index_json_that_names_files_elsewhere_is_refused(kb: Path) -> None:
    manifest = read_manifest(kb)
    for name in ("../chunks.jsonl", "/etc/hostname", "index2.usearch"):
        files = {**manifest.files, name: manifest.files["index.usearch"]}
        (kb / "index.json").write_bytes(encode_manifest(msgspec.structs.replace(manifest, files=files)))
        assert "does not list the files of an artifact" in refused(kb)


def test_an_index_json_of_impossible_sizes_is_refused(kb: Path) -> None:
    manifest = read_manifest(kb)
    for name, wrong in (("dimensions", 0), ("expansion_search", -1), ("expansion_search", 10**9), ("dtype", "i8")):
        part = "model" if name == "dimensions" else "index"
        record = msgspec.structs.replace(getattr(manifest, part), **{name: wrong})
        (kb / "index.json").write_bytes(encode_manifest(msgspec.structs.replace(manifest, **{part: record})))
        assert "kb/index.json is not what it should be (" in refused(kb)
        assert f"$.{part}.{name}" in refused(kb)


def test_verifying_finds_a_file_that_does_not_belong(kb: Path) -> None:
    (kb / "notes.txt").write_text("text")
    with pytest.raises(ArtifactError, match=r"kb/notes.txt: index.json does not list it; remove it"):
        verify_artifact(kb)


def changed(chunks: list[Chunk], number: int, **fields: object) -> list[Chunk]:
    return [*chunks[:number], msgspec.structs.replace(chunks[number], **fields), *chunks[number + 1 :]]


def test_verifying_finds_files_that_are_whole_but_do_not_fit_each_other(tmp_path: Path) -> None:
    chunks = sample_chunks()
    entries = [entry("клиника/приём.md", 4), entry("шаги.txt", 2), entry("شعبه‌ها.csv", 3)]
    one = chunks[0].chunk_id
    cases = [
        (changed(chunks, 1, previous_chunk_id=None), entries, "does not point at the one before it"),
        (changed(chunks, 1, next_chunk_id=one), entries, "does not point at the one after it"),
        (changed(chunks, 5, next_chunk_id=one), entries, "does not point at the one after it"),
        ([chunks[1], chunks[0], *chunks[2:]], entries, "does not point at"),
        (chunks[:-1], entries, "does not point at the one after it"),
        (changed(chunks, 2, tokens=513), entries, "has 513 tokens, the model reads at most 512"),
        (changed(chunks, 2, context_chars=10**6), entries, "has no text of its own"),
        (chunks, [entry("клиника/приём.md", 5), *entries[1:]], "are not those of documents.jsonl"),
        (chunks, entries[:2], "are not those of documents.jsonl"),
        (chunks, [entries[1], entries[0], entries[2]], "its sources are not the 3 of index.json"),
    ]
    for number, (these, those, what) in enumerate(cases):
        write_chunks(tmp_path / "kb", these, unit_vectors(len(these)), entries=those)
        open_artifact(tmp_path / "kb")
        with pytest.raises(ArtifactError, match=what) as found:
            verify_artifact(tmp_path / "kb")
        assert "\n" not in str(found.value), number


# -- replacing -------------------------------------------------------------------------------------------------------


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Writing beyond it fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_refuses_leaves_the_old_artifact(kb: Path) -> None:
    before = read_all(kb)
    chunks = many_chunks(100)
    sizes = sorted({len(data) for data in before.values()})
    for size in [0, *sizes, 4000]:
        with file_size_limit(size), pytest.raises(BuildError, match=r"kb/ cannot be written: .*; make room") as found:
            write_chunks(kb, chunks)
        assert found.value.message.code == "disk"
        assert "\n" not in str(found.value)
        assert [path.name for path in kb.parent.iterdir()] == ["kb"]
    assert read_all(kb) == before
    write_chunks(kb, chunks)
    verify_artifact(kb)


def test_a_build_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "build").write_text("a file in the folder's place")
    with pytest.raises(BuildError, match="kb/ cannot be written: Not a directory"):
        write_chunks(tmp_path / "build" / "kb", sample_chunks())


_KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from artifact_maker import many_chunks, write_chunks
one, two = many_chunks(400), many_chunks(400, mark="!")
print("ready", flush=True)
while True:
    write_chunks(Path(sys.argv[1]), one, limit=100)
    write_chunks(Path(sys.argv[1]), two, limit=100)
"""


def test_a_build_that_is_killed_leaves_a_whole_artifact(tmp_path: Path) -> None:
    target = tmp_path / "kb"
    write_chunks(target, many_chunks(400), limit=100)
    whole = [read_all(target)]
    write_chunks(tmp_path / "other", many_chunks(400, mark="!"), limit=100)
    whole.append(read_all(tmp_path / "other"))
    random = np.random.default_rng(11)
    for signal_number in [signal.SIGKILL] * 4 + [signal.SIGTERM]:
        command = [sys.executable, "-c", _KILLED, str(target), str(Path(__file__).parent)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(float(random.uniform(0, 0.6)))
            process.send_signal(signal_number)
        assert read_all(target) in whole
        verify_artifact(target)
    write_chunks(target, many_chunks(400), limit=100)
    assert read_all(target) == whole[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kb", "other"]


def test_an_artifact_that_was_set_aside_when_the_build_was_killed_is_read_and_put_back(kb: Path) -> None:
    before = read_all(kb)
    kb.rename(kb.with_name("kb.old"))
    assert verify_artifact(kb).counts.chunks == 9
    shutil.copytree(kb.with_name("kb.old"), kb.with_name("kb.new"))
    recover(kb)
    assert read_all(kb) == before
    assert [path.name for path in kb.parent.iterdir()] == ["kb"]


def test_a_link_to_the_artifact_stays_a_link(kb: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(kb)
    write_chunks(tmp_path / "link", many_chunks(20))
    assert (tmp_path / "link").is_symlink()
    assert verify_artifact(kb).counts.chunks == verify_artifact(tmp_path / "link").counts.chunks == 20
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kb", "link"]


def test_a_system_that_cannot_exchange_folders_replaces_them_one_after_the_other(
    kb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "exchange", lambda one, two: False)
    write_chunks(kb, many_chunks(20))
    assert verify_artifact(kb).counts.chunks == 20
    assert [path.name for path in kb.parent.iterdir()] == ["kb"]


def test_opening_while_a_build_replaces_the_folder_gives_the_old_or_the_new(kb: Path) -> None:
    stop = threading.Event()
    one, two = many_chunks(60), many_chunks(60, mark="!")

    def replace() -> None:
        while not stop.is_set():
            write_chunks(kb, one)
            write_chunks(kb, two)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        seen = set()
        deadline = time.monotonic() + 1.5
        while time.monotonic() < deadline:
            opened = open_artifact(kb)
            seen.add(len(opened.index.nearest(unit_vectors(1)[0], 100)))
            last = {opened.row(chunks[-1].chunk_id) is not None for chunks in (one, two)}
            assert last == {True, False} or opened.manifest.counts.chunks == 9
    finally:
        stop.set()
        writer.join()
    assert seen <= {9, 60}
    assert 60 in seen


def test_opening_takes_no_longer_for_the_chunks_that_nobody_asks_for(tmp_path: Path) -> None:
    """Nothing is decoded: what opening allocates does not grow with the number of chunks."""
    import tracemalloc

    grown = []
    for count in (100, 3000):
        write_chunks(tmp_path / "kb", many_chunks(count))
        open_artifact(tmp_path / "kb")
        tracemalloc.start()
        opened = open_artifact(tmp_path / "kb")
        grown.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert len(opened.index) == count
    assert grown[1] < grown[0] + 20_000


def test_no_path_of_the_machine_is_written(kb: Path, tmp_path: Path) -> None:
    assert not [name for name, data in read_all(kb).items() if os.fsencode(tmp_path) in data]
