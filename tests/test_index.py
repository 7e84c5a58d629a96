"""The vector index: what is nearest, in one file or several, and what it refuses."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from artifact_maker import unit_vectors
from ragpress.artifact.index import IndexFile, Keys, VectorIndex, build_graph, most_frequent
from ragpress.artifact.shards import CORES, FEW, Piece, build_graphs, local_executor, shard_bounds, shard_names
from ragpress.errors import ArtifactError

Floats = npt.NDArray[np.float32]


def keys_for(count: int, seed: int = 1) -> Keys:
    return np.unique(np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64))


def opened(keys: Keys, vectors: Floats, files: int = 1) -> VectorIndex:
    halves = vectors.astype(np.float16)
    names = shard_names(files, 1)
    bounds = shard_bounds(keys, len(names))
    built = [
        IndexFile(name, build_graph(keys[begin:end], halves[begin:end]), most_frequent(halves[begin:end]))
        for name, begin, end in zip(names, bounds, bounds[1:], strict=False)
    ]
    return VectorIndex(keys, built, vectors.shape[1], 128)


def expected(vectors: Floats, query: Floats, k: int) -> list[int]:
    """Positions of the nearest by exact arithmetic, equal ones in the order of the rows."""
    stored = vectors.astype(np.float16).astype(np.float64)
    scores = (stored * query.astype(np.float64)).sum(axis=1) / np.linalg.norm(stored, axis=1)
    return [int(row) for row in np.lexsort((np.arange(len(vectors)), -scores))[:k]]


def rows(found: list[tuple[int, float]]) -> list[int]:
    return [row for row, _ in found]


def topics(count: int, dimensions: int = 64, seed: int = 3) -> Floats:
    """Vectors in clusters, as texts on the same topics have them."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((40, dimensions))
    made = centres[random.integers(0, 40, count)] + 0.5 * random.standard_normal((count, dimensions))
    unit: Floats = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return unit


@pytest.mark.parametrize("files", [1, 2])
def test_a_search_finds_exactly_the_nearest(files: int) -> None:
    keys = keys_for(1500)
    vectors = topics(len(keys))
    index = opened(keys, vectors, files)
    for query in topics(20, seed=4):
        found = index.nearest(query, 10)
        assert rows(found) == expected(vectors, query, 10)
        assert found[0][1] == pytest.approx(float(vectors[found[0][0]] @ query), abs=1e-3)


def test_a_walk_through_the_graphs_finds_nearly_all_of_the_nearest() -> None:
    keys = keys_for(3000)
    vectors = topics(len(keys))
    index = opened(keys, vectors)
    index.scans = False
    found = [set(rows(index.nearest(query, 10))) & set(expected(vectors, query, 10)) for query in topics(50, seed=4)]
    assert sum(map(len, found)) >= 0.99 * 500


@pytest.mark.parametrize(("scans", "files"), [(True, 1), (False, 1), (False, 2)])
def test_every_chunk_is_found_by_its_own_vector_where_one_text_stands_600_times(scans: bool, files: int) -> None:
    keys = keys_for(3200)
    vectors = topics(len(keys))
    same = np.arange(0, 1200, 2)
    vectors[same] = vectors[same[0]]
    index = opened(keys, vectors, files)
    index.scans = scans
    for row in range(0, len(keys), 3 if files == 1 else 19):
        first_five = rows(index.nearest(vectors[row], 5))
        if row in same:
            assert first_five == same[:5].tolist()
        else:
            assert row in first_five


def test_a_walk_alone_does_lose_vectors_among_equal_ones() -> None:
    """Should this fail, usearch finds its way by now, and the comparing of whole files can go."""
    keys = keys_for(1500)
    vectors = topics(len(keys))
    vectors[:600] = vectors[0]
    graph = opened(keys, vectors)._parts[0].graph
    lost = [row for row in range(600, 1500) if keys[row] not in graph.search(vectors[row], 128, threads=1).keys]
    assert len(lost) > 50


def test_equal_vectors_come_in_the_order_of_their_ids_however_many_files_there_are() -> None:
    keys = keys_for(400)
    vectors = np.repeat(unit_vectors(4, 32), 100, axis=0)
    one, several = opened(keys, vectors, 1), opened(keys, vectors, 2)
    for query in unit_vectors(10, 32, seed=5):
        assert one.nearest(query, 30) == several.nearest(query, 30)
        assert rows(one.nearest(query, 30)) == expected(vectors, query, 30)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_asking_for_more_than_there_is_gives_all_once(count: int) -> None:
    keys = keys_for(count)
    vectors = unit_vectors(count, 8)
    index = opened(keys, vectors)
    for scans in (True, False):
        index.scans = scans
        assert sorted(rows(index.nearest(unit_vectors(1, 8, seed=9)[0], 10))) == list(range(count))
    index.check()


@pytest.mark.parametrize("share", [1, 6000, 9000])
def test_a_search_among_some_rows_finds_the_nearest_of_them(share: int) -> None:
    keys = keys_for(9000)
    vectors = unit_vectors(len(keys), 8)
    index = opened(keys, vectors, 2)
    among = np.sort(np.random.default_rng(6).choice(len(keys), share, replace=False))
    for query in unit_vectors(5, 8, seed=7):
        found = rows(index.nearest(query, 4, among))
        assert found == among[expected(vectors[among], query, 4)].tolist()
    assert index.nearest(query, 4, among[:0]) == []


def test_stored_vectors_are_read_back_bit_for_bit() -> None:
    keys = keys_for(300)
    vectors = unit_vectors(300, 24)
    wanted = np.array([5, 0, 299, 120])
    assert np.array_equal(opened(keys, vectors, 2).vectors(wanted), vectors.astype(np.float16)[wanted])


def test_chunks_are_divided_by_the_leading_bits_of_their_ids() -> None:
    assert shard_names(20_000) == ("index.usearch",)
    assert [len(shard_names(count)) for count in (20_001, 1_280_000, 1_280_001, 10**8)] == [64, 64, 128, 256]
    assert (shard_names(20_001)[0], shard_names(20_001)[-1]) == ("index-00.usearch", "index-3f.usearch")
    keys = keys_for(1000)
    bounds = shard_bounds(keys, 32)
    assert (bounds[0], bounds[-1], len(bounds)) == (0, len(keys), 33)
    for number, (begin, end) in enumerate(pairwise(bounds)):
        assert {int(key) >> 59 for key in keys[begin:end]} <= {number}


def pieces_of(count: int) -> Iterator[Piece]:
    """Six pieces of so many vectors."""
    keys = keys_for(6 * count)
    vectors = topics(len(keys)).astype(np.float16)
    for begin in range(0, len(keys), count):
        yield f"{begin}", keys[begin : begin + count], vectors[begin : begin + count]


def test_processes_and_threads_build_the_same_bytes() -> None:
    built = []
    for vectors in (0, FEW + 1):
        with local_executor(vectors) as executor:
            built.append(list(build_graphs(pieces_of(100), executor)))
    assert built[0] == built[1]
    assert [name for name, _ in built[0]] == ["0", "100", "200", "300", "400", "500"]


def test_no_more_pieces_are_made_than_are_being_built() -> None:
    made: list[str] = []

    def counted() -> Iterator[Piece]:
        for piece in pieces_of(10):
            made.append(piece[0])
            yield piece

    with ThreadPoolExecutor(1) as threads:
        for done, _ in enumerate(build_graphs(counted(), threads, pending=2)):
            assert len(made) <= done + 2


_BUILDING = """
import signal, sys
import numpy as np
from ragpress.artifact import shards
from ragpress.errors import BuildError
keys = np.arange(20_000, dtype=np.uint64)
vectors = np.random.default_rng(0).standard_normal((len(keys), 64)).astype(np.float16)
def pieces():
    for number in range(9):
        print("piece", flush=True)
        yield str(number), keys, vectors
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with shards.local_executor(10**6) as executor:
            list(shards.build_graphs(pieces(), executor))
    except BuildError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted")
"""


@contextmanager
def building(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A process that builds graphs in processes of its own, and those."""
    script = folder / "building.py"
    script.write_text(_BUILDING)
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        workers: list[int] = []
        while len(workers) < CORES:
            time.sleep(0.1)
            workers = [pid for pid in children_of(process.pid) if b"spawn_main" in command_of(pid)]
        yield process, workers
        process.kill()


def children_of(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


in_processes = pytest.mark.skipif(CORES < 2, reason="one core builds in threads")


@in_processes
def test_a_worker_that_is_killed_is_one_line(tmp_path: Path) -> None:
    with building(tmp_path) as (process, workers):
        os.kill(workers[0], signal.SIGKILL)
        said = process.communicate(timeout=60)[1]
    assert re.fullmatch(r"ragpress: error: a process that builds the index was killed; free some memory [^\n]*\n", said)


@in_processes
def test_an_interrupt_says_nothing_but_what_the_parent_says(tmp_path: Path) -> None:
    with building(tmp_path) as (process, workers):
        for pid in (*workers, process.pid):  # as a terminal does
            os.kill(pid, signal.SIGINT)
        assert process.communicate(timeout=60)[1] == "interrupted\n"


@in_processes
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    with building(tmp_path) as (process, workers):
        process.kill()
        process.wait()
        deadline = time.monotonic() + 60
        while any(b"spawn_main" in command_of(pid) for pid in workers):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_bytes_that_are_no_index_of_these_vectors_are_refused() -> None:
    keys = keys_for(50)
    good = build_graph(keys, unit_vectors(50, 16).astype(np.float16))
    other = build_graph(keys, unit_vectors(50, 8).astype(np.float16))
    fewer = build_graph(keys[:49], unit_vectors(49, 16).astype(np.float16))
    query = unit_vectors(1, 16)[0]
    for data in (good[: len(good) // 2], good[:100], b"", b"x" * 550, other, fewer, good[:-200]):
        with pytest.raises(ArtifactError, match=r"^[^\n]*; build the artifact again \[bad-artifact\]$"):
            VectorIndex(keys, [IndexFile("index.usearch", data)], 16, 128).nearest(query, 3)


def test_an_index_with_other_keys_or_another_order_is_found_out() -> None:
    keys = keys_for(50)
    halves = unit_vectors(50, 16).astype(np.float16)
    VectorIndex(keys, [IndexFile("index.usearch", build_graph(keys, halves))], 16, 128).check()
    for other, vectors in ((keys_for(50, seed=2), halves), (keys[::-1], halves), (keys, halves * np.float16(2))):
        index = VectorIndex(keys, [IndexFile("index.usearch", build_graph(other, vectors))], 16, 128)
        with pytest.raises(ArtifactError, match=r"^ragpress: error: index.usearch: "):
            index.check()
