from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from ragpress.errors import BuildError
from ragpress.models.known import KNOWN, ModelFile
from ragpress.vectors import file as cachefile
from ragpress.vectors.cache import Stored, VectorCache
from ragpress.vectors.digests import vector_digest, vector_keys

DIMENSIONS = 64
NOMIC = ModelFile(
    model=KNOWN["nomic-embed-text-v2-moe"], path=Path("model.gguf"), sha256="a" * 64, size=1, dimensions=DIMENSIONS
)


def _refuse(line: str) -> None:
    raise AssertionError(f"nothing was to be said, but: {line}")


def _texts(number: int) -> list[str]:
    return [f"текст номер {index}" for index in range(number)]


def _vectors(number: int, seed: int = 0) -> Stored:
    found = np.random.default_rng(seed).standard_normal((number, DIMENSIONS))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float16)


def _filled(path: Path, number: int) -> tuple[list[bytes], Stored]:
    keys, values = vector_keys(NOMIC, _texts(number)), _vectors(number)
    with VectorCache(path, _refuse) as cache:
        cache.put_many(zip(keys, values, strict=True), "engine one")
    return keys, values


def test_vectors_come_back_bit_for_bit_and_in_order(tmp_path: Path) -> None:
    keys, values = _filled(tmp_path / "new" / "vectors.sqlite", 300)
    with VectorCache(tmp_path / "new" / "vectors.sqlite", _refuse) as cache:
        found, absent = cache.matrix([b"unknown", *reversed(keys), keys[0]], DIMENSIONS)
        assert absent == [0]
        assert not found[0].any()
        assert np.array_equal(found[1:301], values[::-1])
        assert np.array_equal(found[301], values[0])
        assert cache.missing([keys[3], b"unknown", keys[4]]) == [1]
        assert cache.missing([]) == []


def test_a_float32_vector_is_kept_as_the_float16_that_the_index_holds(tmp_path: Path) -> None:
    exact = np.random.default_rng(1).standard_normal(DIMENSIONS).astype(np.float32)
    with VectorCache(tmp_path / "vectors.sqlite", _refuse) as cache:
        cache.put_many([(b"k", exact)], "engine")
        assert np.array_equal(cache.matrix([b"k"], DIMENSIONS)[0][0], exact.astype(np.float16))


def test_the_engine_is_kept_and_can_be_asked_for(tmp_path: Path) -> None:
    keys, values = _filled(tmp_path / "vectors.sqlite", 10)
    with VectorCache(tmp_path / "vectors.sqlite", _refuse) as cache:
        cache.put_many([(keys[7], values[0])], "engine two")
        assert cache.digests(keys)[1] == ("engine one", "engine two")
        assert cache.digests(keys[:7])[1] == ("engine one",)
        assert cache.missing(keys, engine="engine two") == [0, 1, 2, 3, 4, 5, 6, 8, 9]
        assert np.array_equal(cache.matrix(keys[7:8], DIMENSIONS)[0][0], values[0])


def test_vectors_are_told_apart_by_digests(tmp_path: Path) -> None:
    keys, values = _filled(tmp_path / "vectors.sqlite", 300)
    with VectorCache(tmp_path / "vectors.sqlite", _refuse) as cache:
        digests, engines = cache.digests([b"unknown", *keys, keys[0]])
    wanted = [vector_digest(row.tobytes()) for row in values]
    assert digests.tolist() == [0, *wanted, wanted[0]]
    assert engines == ("engine one",)


def test_a_cache_of_the_format_before_keeps_its_vectors(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    keys, values = _filled(path, 3)
    with closing(sqlite3.connect(path)) as file:
        file.executescript(
            "ALTER TABLE vectors ADD COLUMN digest INTEGER NOT NULL DEFAULT 0; PRAGMA user_version = 2;"
            "CREATE INDEX marks ON vectors (key, engine, digest);"
        )
    with VectorCache(path, _refuse) as cache:
        assert np.array_equal(cache.matrix(keys, DIMENSIONS)[0], values)


def test_the_key_changes_with_all_that_changes_the_vectors_meaning() -> None:
    def key(text: str = "текст", **changes: object) -> bytes:
        model = {name: changes.pop(name) for name in ("document_prefix", "pooling") if name in changes}
        file = msgspec.structs.replace(NOMIC, model=msgspec.structs.replace(NOMIC.model, **model), **changes)
        return vector_keys(file, [text])[0]

    keys = [
        key(),
        key("текст "),
        key(sha256="b" * 64),
        key(dimensions=32),
        key(pooling="cls"),
        key(document_prefix="passage: "),
        key("x" + "текст", document_prefix=NOMIC.model.document_prefix[:-1]),
    ]
    assert len(set(keys)) == len(keys)
    assert all(len(one) == 32 for one in keys)
    assert key(path=Path("elsewhere.gguf")) == key()
    assert key("search", document_prefix="") != key("", document_prefix="search")


def test_looking_up_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    keys, _ = _filled(path, 20)
    before = path.read_bytes(), path.stat().st_mtime_ns
    with VectorCache(path, _refuse) as cache:
        cache.matrix(keys, DIMENSIONS)
        cache.missing([b"unknown", *keys])
        cache.digests(keys)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(tmp_path.iterdir()) == [path]


def test_pruning_keeps_what_is_used_and_takes_the_oldest_of_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    keys, values = _filled(path, 3000)
    with VectorCache(path, _refuse) as cache:
        assert cache.prune(keys, 0) == 0
        assert cache.prune(keys[1000:1100], cache.size() // 2) > 0
        left = sorted(set(range(3000)) - set(cache.missing(keys)))
        assert set(range(1000, 1100)) <= set(left)
        others = [at for at in left if not 1000 <= at < 1100]
        assert others == list(range(others[0], 3000))
        assert cache.prune(keys[1000:1100]) == len(others)
        found, absent = cache.matrix(keys[1000:1100], DIMENSIONS)
        assert absent == []
        assert np.array_equal(found, values[1000:1100])
        assert path.stat().st_size < 200_000


def test_a_killed_writer_loses_only_the_batch_it_was_writing(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    program = (
        "import sys; from pathlib import Path\n"
        "from ragpress.vectors.digests import vector_keys; from ragpress.vectors.cache import VectorCache\n"
        "from test_vectors import NOMIC, _refuse, _texts, _vectors\n"
        "keys, values = vector_keys(NOMIC, _texts(20000)), _vectors(20000)\n"
        "with VectorCache(Path(sys.argv[1]), print) as cache:\n"
        "    for at in range(0, 20000, 50):\n"
        "        cache.put_many(zip(keys[at : at + 50], values[at : at + 50]), 'engine')\n"
        "        print(at + 50, flush=True)\n"
    )
    for lines in (3, 40):
        writer = subprocess.Popen(
            [sys.executable, "-c", program, str(path)], cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        written = 0
        for _ in range(lines):
            written = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        writer.stdout.close()
        writer.wait()
        with VectorCache(path, _refuse) as cache:
            found, absent = cache.matrix(vector_keys(NOMIC, _texts(written)), DIMENSIONS)
        assert absent == []
        assert np.array_equal(found, _vectors(20000)[:written])


def test_two_builds_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    program = (
        "import sys; from pathlib import Path\n"
        "from ragpress.vectors.digests import vector_keys; from ragpress.vectors.cache import VectorCache\n"
        "from test_vectors import NOMIC, _refuse, _texts, _vectors\n"
        "keys, values = vector_keys(NOMIC, _texts(1000)), _vectors(1000)\n"
        "with VectorCache(Path(sys.argv[1]), _refuse) as cache:\n"
        "    for at in range(int(sys.argv[2]), 1000, 20):\n"
        "        cache.put_many([(keys[at], values[at])], 'engine ' + sys.argv[2])\n"
        "        cache.missing(keys)\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(path), str(first)], cwd=Path(__file__).parent)
        for first in (0, 0, 10)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    with VectorCache(path, _refuse) as cache:
        found, absent = cache.matrix(vector_keys(NOMIC, _texts(1000))[::10], DIMENSIONS)
    assert absent == []
    assert np.array_equal(found, _vectors(1000)[::10])


def _foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE vectors (key, vector)")
    database.close()


@pytest.mark.parametrize("fault", ["truncated", "cut-to-nothing-much", "text", "foreign"])
def test_a_damaged_or_foreign_file_is_moved_aside_and_begun_anew(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "vectors.sqlite"
    keys, values = _filled(path, 500)
    data = path.read_bytes()
    if fault == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif fault == "cut-to-nothing-much":
        path.write_bytes(data[:50])
    elif fault == "text":
        path.write_bytes("не база".encode() * 1000)
    else:
        _foreign(path)
    lines: list[str] = []
    with VectorCache(path, lines.append) as cache:
        absent = cache.missing(keys)
        cache.put_many([(keys[at], values[at]) for at in absent], "engine")
        found, absent = cache.matrix(keys, DIMENSIONS)
    assert absent == []
    assert np.array_equal(found, values)
    assert len(lines) == 1
    assert lines[0].startswith("ragpress: warning: the vector cache is damaged (")
    assert lines[0].endswith("it was moved to vectors.sqlite.damaged and an empty one begun [bad-cache]")
    assert (tmp_path / "vectors.sqlite.damaged").exists()


def test_no_flipped_bit_ever_gives_a_wrong_vector(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    keys, values = _filled(path, 200)
    data = path.read_bytes()
    chosen = random.Random(5)
    offsets = [*range(0, 100, 3), *(chosen.randrange(len(data)) for _ in range(150))]
    repaired = 0
    for offset in offsets:
        flipped = bytearray(data)
        flipped[offset] ^= 1 << chosen.randrange(8)
        path.write_bytes(flipped)
        with VectorCache(path, lambda _: None) as cache:
            found, absent = cache.matrix(keys, DIMENSIONS)
            sound = sorted(set(range(200)) - set(absent))
            assert np.array_equal(found[sound], values[sound]), offset
            repaired += bool(absent)
            for _ in range(2):  # once more where the damage shows only at writing
                cache.put_many([(keys[at], values[at]) for at in absent], "engine")
                absent = cache.missing(keys)
            assert absent == [], offset
    assert repaired > 30


def test_a_cache_that_another_build_moved_aside_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    keys, values = _filled(path, 5)
    with VectorCache(path, _refuse) as cache:
        path.replace(tmp_path / "aside")
        cache.put_many([(keys[0], values[0])], "engine")
    with VectorCache(path, _refuse) as cache:
        assert cache.missing(keys) == [1, 2, 3, 4]


def test_a_full_disk_is_named_and_what_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    keys, values = _filled(path, 100)
    with VectorCache(path, _refuse) as cache:
        (pages,) = cache._file.database.execute("PRAGMA page_count").fetchone()
        cache._file.database.execute(
            f"PRAGMA max_page_count = {pages + 2}"
        )  # sqlite's own limit, with the disk's error
        more = vector_keys(NOMIC, _texts(5000))
        with pytest.raises(BuildError, match=r"vectors\.sqlite: the disk is full; free some space") as caught:
            cache.put_many(zip(more, _vectors(5000), strict=True), "engine")
        assert caught.value.message.code == "disk"
        found, absent = cache.matrix(keys, DIMENSIONS)
        assert absent == []
        assert np.array_equal(found, values)


def test_a_cache_that_another_build_holds_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vectors.sqlite"
    keys, values = _filled(path, 5)
    monkeypatch.setattr(cachefile, "_BUSY_SECONDS", 0.05)
    with sqlite3.connect(path, isolation_level=None) as other, VectorCache(path, _refuse) as cache:
        other.execute("BEGIN IMMEDIATE")
        assert cache.missing(keys) == []  # reading goes on
        with pytest.raises(BuildError, match="another build has held it"):
            cache.put_many([(keys[0], values[0])], "engine")
        other.execute("ROLLBACK")
        cache.put_many([(keys[0], values[0])], "engine")


def test_a_place_that_cannot_hold_a_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(BuildError, match="the folder of the vector cache cannot be made: Not a directory"):
        VectorCache(tmp_path / "file" / "deeper" / "vectors.sqlite", _refuse)
    with pytest.raises(BuildError, match="it cannot be opened; check the permissions"):
        VectorCache(tmp_path / "folder", _refuse)
