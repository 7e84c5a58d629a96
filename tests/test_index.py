"""The vector index: what is nearest, in one file or several, and what it refuses."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from artifact_maker import unit_vectors
from ragpress.artifact.index import Halves, IndexFile, Keys, VectorIndex, build_graph, most_frequent
from ragpress.artifact.shards import _Worker, build_graphs, shard_bounds, shard_names
from ragpress.errors import ArtifactError, BuildError

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
    """Rows of the nearest by exact arithmetic, equal ones in the order of the rows."""
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


def test_processes_build_the_same_bytes_as_one_thread() -> None:
    keys = keys_for(600)
    halves = topics(len(keys)).astype(np.float16)
    pieces = [(f"{begin}", keys[begin : begin + 100], halves[begin : begin + 100]) for begin in range(0, 600, 100)]
    assert list(build_graphs(pieces, 2)) == list(build_graphs(pieces, 1))


def test_a_worker_that_is_killed_is_one_line() -> None:
    worker = _Worker()
    keys = keys_for(60_000)
    halves: Halves = unit_vectors(len(keys), 64).astype(np.float16)

    def kill() -> None:
        while worker._process is None:
            time.sleep(0.01)
        time.sleep(0.3)
        worker._process.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(BuildError, match=r"a process that builds the index ended \(SIGKILL\); free some memory"):
        worker.build(keys, halves)
    killer.join()
    worker.stop()


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
