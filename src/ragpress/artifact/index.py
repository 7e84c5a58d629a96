"""The vector index: usearch graphs in one file or several, built, opened and searched. The only importer of usearch."""

from __future__ import annotations

import mmap
import struct
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ragpress.artifact.format import CONNECTIVITY, DTYPE, EXPANSION_ADD, EXPANSION_SEARCH, METRIC, IndexSettings
from ragpress.errors import ArtifactError, BuildError

if TYPE_CHECKING:
    from usearch.index import Index

Keys = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]
Stored = npt.NDArray[np.float16]
Vector = npt.NDArray[np.float32]
Distances = npt.NDArray[np.float32]
Data = bytes | mmap.mmap

SCAN_ELEMENTS = 1 << 27
"""Up to so many numbers (chunks × dimensions) all vectors are compared, which misses nothing.

Measured at 100,000 × 768 in 32 files: comparing all takes 9 ms, walking the graphs 10 ms.
"""

REPEATS = 32
"""A file in which one vector stands more often is compared whole: usearch links equal vectors to each other alone.

A walk that gets among them hardly gets out, and other vectors become unreachable. Measured at 3,000 vectors: of the
others, none was missed with groups of 64, 5 in 2,360 with groups of 128, 372 in 2,400 with one of 600.
"""

_SPARE = 32  # candidates beyond those asked for, so that exact scores can reorder the last places
_SLACK = 5e-4  # how far a half-precision kernel's distance may be off; some CPUs also add in half precision
_UNIT = 0.01
_BLOCK = 4096
_ALL = slice(None)
_HEAD = struct.Struct("<7s3H4B3Q")
_KINDS = (ord("c"), 12, 14)  # cosine, f16, 64-bit keys, in usearch's numbering


def current_settings() -> IndexSettings:
    """The settings of the graphs that this version builds."""
    import usearch

    return IndexSettings(library=f"usearch {usearch.__version__}")


def kernel(dimensions: int) -> str:
    """The instruction set that distances are computed with here; another may order equal distances otherwise."""
    from usearch.index import Index

    return str(Index(ndim=dimensions, metric=METRIC, dtype=DTYPE).hardware_acceleration)


def build_graph(keys: Keys, vectors: Stored, like: str = "") -> bytes:
    """The bytes of a usearch file of these vectors, shape (len(keys), dimensions), keys ascending.

    One thread and one order: the same input gives the same bytes on the same CPU. Raises BuildError where that is not
    of the `kernel` that is named by `like`.
    """
    from usearch.index import Index

    if like and (own := kernel(vectors.shape[1])) != like:
        reason = f"its processor computes distances as {own} and not as {like}, which gives another index"
        raise BuildError("cluster", f"{reason}; leave it out, or build the index without a cluster: RAGPRESS_CLUSTER=")
    graph = Index(
        ndim=vectors.shape[1],
        metric=METRIC,
        dtype=DTYPE,
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )
    if len(keys):
        graph.add(keys, vectors, threads=1)
    saved = graph.save()
    if saved is None:
        raise RuntimeError("usearch returned no bytes")
    return bytes(saved)


def most_frequent(vectors: Stored) -> int:
    """How often the most frequent of these vectors stands among them; 0 where there is none."""
    return max(Counter(row.tobytes() for row in vectors).values(), default=0)


class IndexFile(NamedTuple):
    """An index file's bytes, or a map of them. `repeats` is how often its most frequent vector stands in it."""

    name: str
    data: Data
    repeats: int = 1


class _Candidates(NamedTuple):
    """The nearest of one file, ascending by distance; `complete` where these are all that it has."""

    rows: Positions
    distances: Distances
    complete: bool


class _Part:
    """One file: its vectors in key order, the row of its first one among all, and its graph."""

    def __init__(self, file: IndexFile, first: int, dimensions: int, expansion: int) -> None:
        self.first = first
        self.vectors = _vectors(file.name, file.data, dimensions)
        self.compares = file.repeats > REPEATS
        self._file = file  # usearch keeps a bare pointer into its data
        self._dimensions, self._expansion = dimensions, expansion

    @cached_property
    def graph(self) -> Index:
        """Looked into at the first search of this file alone: usearch notes where each vector's links are."""
        graph = _view(self._file, self._dimensions, self._expansion, lookups=False)
        if len(graph) != len(self.vectors):
            raise _damaged(self._file.name, f"its graph has {len(graph)} entries for {len(self.vectors)} vectors")
        return graph

    def __len__(self) -> int:
        return len(self.vectors)


class VectorIndex:
    """All vectors of an artifact, read-only. A row is a chunk's rank among all chunk ids in ascending order.

    `keys` are all chunk ids, ascending; `files` are the index files in their order, and are looked into at the first
    search: mapping a page maps much around it. Not safe from several threads. Every method raises ArtifactError where
    the files do not belong together.
    """

    def __init__(self, keys: Keys, files: Sequence[IndexFile], dimensions: int, expansion: int) -> None:
        self.dimensions = dimensions
        self.scans = len(keys) * dimensions <= SCAN_ELEMENTS
        self._keys = keys
        self._files = tuple(files)
        self._expansion = expansion
        self._opened: list[_Part] = []

    @property
    def _parts(self) -> list[_Part]:
        if not self._opened:
            parts: list[_Part] = []
            first = 0
            for file in self._files:
                parts.append(_Part(file, first, self.dimensions, self._expansion))
                first += len(parts[-1])
            if first != len(self._keys):
                raise _damaged("index.json", f"the index files hold {first} vectors for {len(self._keys)} chunks")
            self._opened = parts
        return self._opened

    def __len__(self) -> int:
        return len(self._keys)

    def sizes(self) -> list[int]:
        """The number of vectors in each file."""
        return [len(part) for part in self._parts]

    def nearest(
        self, query: Vector, k: int, among: Positions | None = None, files: slice = _ALL
    ) -> list[tuple[int, float]]:
        """Row and cosine of the `k` vectors nearest to `query`, fewer where there are fewer; best first, then by row.

        `query` has the shape (dimensions,) and unit length. Only these `files` are searched. With `among` (ascending
        rows of theirs) only those are, and all of them are compared.
        """
        parts = self._parts[files]
        total = sum(map(len, parts)) if among is None else len(among)
        k = min(k, total)
        if k <= 0:
            return []
        if total <= _BLOCK and among is not None:
            return self._ranked(query, among, k)
        wanted = k + _SPARE
        while True:
            found = [self._candidates(part, query, wanted, among) for part in parts]
            distances = np.concatenate([one.distances for one in found])
            bound = np.partition(distances, k - 1)[k - 1] + _SLACK if len(distances) >= k else np.inf
            # A part whose last candidate is within the bound may hold more, as where many texts are the same.
            if all(one.complete or one.distances[-1] > bound for one in found):
                rows = np.concatenate([one.rows for one in found])
                return self._ranked(query, rows[distances <= bound], k)
            wanted *= 8

    def _candidates(self, part: _Part, query: Vector, wanted: int, among: Positions | None) -> _Candidates:
        if among is not None:
            low, high = np.searchsorted(among, (part.first, part.first + len(part)))
            return _compare(part, query, wanted, among[low:high])
        count = min(wanted, len(part))
        if count == 0:
            return _Candidates(np.empty(0, np.int64), np.empty(0, np.float32), True)
        if self.scans or part.compares:
            matches = part.graph.search(query, count, threads=1, exact=True)
        else:
            count = min(max(wanted, self._expansion), len(part))
            matches = part.graph.search(query, count, threads=1)
            if len(matches) < count:  # the walk reached no more; there are more
                matches = part.graph.search(query, count, threads=1, exact=True)
        own = self._keys[part.first : part.first + len(part)]
        rows = part.first + np.searchsorted(own, matches.keys).astype(np.int64)
        return _Candidates(rows, matches.distances, count == len(part))

    def _ranked(self, query: Vector, rows: Positions, k: int) -> list[tuple[int, float]]:
        scores = self.cosines(query, rows)
        order = np.lexsort((rows, -scores))[:k]
        return [(int(rows[place]), float(scores[place])) for place in order]

    def cosines(self, query: Vector, rows: Positions) -> npt.NDArray[np.float64]:
        """The cosine of these rows' vectors with `query`, in their order."""
        scores = np.empty(len(rows))
        for begin in range(0, len(rows), _BLOCK):
            # Element by element and then row by row: equal vectors get equal scores, on every CPU the same ones.
            vectors = self.vectors(rows[begin : begin + _BLOCK]).astype(np.float64)
            norms = np.sqrt((vectors * vectors).sum(axis=1))
            scores[begin : begin + _BLOCK] = (vectors * query.astype(np.float64)).sum(axis=1) / np.maximum(norms, 1e-12)
        return scores

    def vectors(self, rows: Positions) -> Stored:
        """The stored vectors of these rows, shape (len(rows), dimensions), in their order."""
        result = np.empty((len(rows), self.dimensions), np.float16)
        for part in self._parts:
            inside = (rows >= part.first) & (rows < part.first + len(part))
            if inside.any():
                result[inside] = part.vectors[rows[inside] - part.first]
        return result

    def check(self) -> None:
        """Compares each key, and the vector that its graph has for it, with what they must be. Raises ArtifactError."""
        for part, file in zip(self._parts, self._files, strict=True):
            own = self._keys[part.first : part.first + len(part)]
            graph = _view(file, self.dimensions, self._expansion, lookups=True)
            if len(graph) != len(part):
                raise _damaged(file.name, f"its graph has {len(graph)} entries for {len(part)} vectors")
            if not np.array_equal(np.sort(np.asarray(graph.keys, np.uint64)), own):
                raise _damaged(file.name, "its keys are not the chunks' ids")
            if most_frequent(part.vectors) != file.repeats:
                raise _damaged(file.name, f"its most frequent vector does not stand in it {file.repeats} times")
            for begin in range(0, len(part), _BLOCK):
                vectors = part.vectors[begin : begin + _BLOCK]
                found: Any = graph.get(own[begin : begin + _BLOCK])
                if not np.array_equal(np.array(found), vectors):
                    raise _damaged(file.name, "its vectors are not in the order of the keys")
                norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
                if not (np.abs(norms - 1) < _UNIT).all():  # false for NaN as well
                    raise _damaged(file.name, "a vector is not of unit length")

    def close(self) -> None:
        """Lets the files go; no search may be running, and none may follow."""
        self._opened = []
        self._files = ()


def _view(file: IndexFile, dimensions: int, expansion: int, *, lookups: bool) -> Index:
    from usearch.index import Index

    graph = Index(ndim=dimensions, metric=METRIC, dtype=DTYPE, expansion_search=expansion, enable_key_lookups=lookups)
    try:
        graph.view(memoryview(file.data))
    except RuntimeError as error:
        raise _damaged(file.name, f"usearch says: {error}") from None
    return graph


def _compare(part: _Part, query: Vector, wanted: int, rows: Positions) -> _Candidates:
    from usearch.index import search

    count = min(wanted, len(rows))
    if count == 0:
        return _Candidates(np.empty(0, np.int64), np.empty(0, np.float32), True)
    block = part.vectors[rows - part.first]
    matches = search(block, query.reshape(1, -1), count, METRIC, exact=True, threads=1)
    return _Candidates(rows[matches.keys.astype(np.int64)], matches.distances, count == len(rows))


def _vectors(name: str, data: Data, dimensions: int) -> Stored:
    """The matrix at the beginning of a usearch file, once its head says that it is what it should be."""
    view = memoryview(data).cast("B")
    if len(view) < 8:
        raise _damaged(name, "it is too short")
    rows, width = struct.unpack_from("<2I", view)
    size = rows * width
    if width != 2 * dimensions or len(view) < 8 + size + _HEAD.size:
        raise _damaged(name, f"it holds no {DTYPE} vectors of {dimensions} dimensions")
    magic, _, _, _, metric, scalar, key, _, present, deleted, columns = _HEAD.unpack_from(view, 8 + size)
    if magic != b"usearch" or (metric, scalar, key) != _KINDS:
        raise _damaged(name, f"it is no usearch file of {DTYPE} vectors by cosine")
    if (present, deleted, columns) != (rows, 0, dimensions):
        raise _damaged(name, f"it holds {present} vectors of {columns} dimensions for {rows} of {dimensions}")
    return np.frombuffer(view, np.float16, rows * dimensions, 8).reshape(rows, dimensions)


def _damaged(name: str, what: str) -> ArtifactError:
    return ArtifactError("bad-artifact", f"{name}: {what}; build the artifact again")
