"""Writing an artifact: whole, into a folder beside, then put in the place of the old one in one step."""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from ragpress import __version__
from ragpress.artifact.format import (
    CHUNKS,
    DOCUMENTS,
    FORMAT,
    INDEX,
    OFFSETS,
    WORDS,
    Counts,
    FileRecord,
    Manifest,
    ModelRecord,
    Shard,
    ToolRecord,
    WordFileRecord,
    encode_manifest,
    read_manifest,
)
from ragpress.artifact.index import Data, Keys, Positions, Stored, current_settings, most_frequent
from ragpress.artifact.jsonl import decode_text, encode_chunk
from ragpress.artifact.offsets import encode_offsets
from ragpress.artifact.shards import (
    FILE_LIMIT,
    Piece,
    build_graphs,
    content_hash,
    local_executor,
    shard_bounds,
    shard_names,
)
from ragpress.console import Progress
from ragpress.errors import ArtifactError, BuildError
from ragpress.files import disk_error, put_in_place, recover, staging_folder
from ragpress.lexical import postings
from ragpress.records import Chunk, index_key
from ragpress.vectors.digests import vector_digest

_UNIT = 2e-3  # how far from 1 the norm of a vector may be, its rounding to f16 included
_BLOCK = 4096
_HELD = 512 * 1024**2  # bytes of vectors that are with an executor whose workers may be many


class Lines(NamedTuple):
    """The lines of chunks, one after the other; the key of each chunk; the length of each line, its end included.

    `data` may be a map of a file, so that many lines need not be in memory.
    """

    data: Data
    keys: Keys
    lengths: npt.NDArray[np.uint32]


def lines_of(chunks: Sequence[Chunk]) -> Lines:
    """The lines of these chunks."""
    lines = [encode_chunk(chunk) for chunk in chunks]
    keys = np.array([index_key(chunk.chunk_id) for chunk in chunks], np.uint64)
    return Lines(b"".join(lines), keys, np.array([len(line) for line in lines], np.uint32))


class Vectors(NamedTuple):
    """The vectors of chunks, told apart by `digests` (`vector_digest` of each, shape (chunks,)) without being read.

    `take` gives those of some chunks, by their places in the order of the chunks: shape (places, `dimensions`).
    """

    digests: Keys
    dimensions: int
    take: Callable[[Positions], Stored]


def in_memory(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Vectors of the shape (chunks, dimensions)."""
    halves = np.ascontiguousarray(vectors, "<f2")
    digests = np.array([vector_digest(row.tobytes()) for row in halves], np.uint64)
    return Vectors(digests, vectors.shape[1], lambda places: halves[places])


def write_artifact(
    target: Path,
    *,
    chunks: Lines,
    documents: bytes,
    vectors: Vectors,
    model: ModelRecord,
    engines: Iterable[str],
    chunking: dict[str, object],
    limit: int = FILE_LIMIT,
    executor: Executor | None = None,
) -> Manifest:
    """Replaces the artifact at `target` and returns the new index.json; until then the old one is untouched.

    `chunks` are the lines of chunks.jsonl, `documents` is what stands in documents.jsonl, `vectors` has one of unit
    length for each chunk, in the same order. Files of the old artifact whose keys and vectors, or texts, are the same
    are kept, and those vectors are not read. `limit` is the number of chunks up to which there is one index file. The
    graphs are built by `executor`, else on this machine. The caller holds the build lock. Raises BuildError: code
    `disk` where the disk refuses, `embedding` for a vector that no index should hold.
    """
    recover(target)
    target = target.resolve()  # a link to a folder elsewhere stays one
    staging = staging_folder(target)
    writer = _Writer(staging)
    try:
        staging.mkdir(parents=True)
        _check_keys(chunks.keys)
        _check_shape(vectors, len(chunks.keys), model)
        with ThreadPoolExecutor(1) as threads:  # checksums and the disk leave a core to the graphs
            written = threads.submit(_write_lines, writer, chunks, documents)
            words = threads.submit(_write_words, writer, target, chunks, limit)
            shards = _write_index(writer, target, chunks.keys, vectors, limit, executor, threads)
            written.result()
        manifest = Manifest(
            format=FORMAT,
            tool=ToolRecord(name="ragpress", version=__version__),
            model=model,
            engines=tuple(sorted(set(engines))),
            chunking=chunking,
            counts=Counts(sources=documents.count(b"\n"), chunks=len(chunks.keys)),
            index=current_settings(),
            shards=shards,
            words=words.result(),
            files=dict(sorted(writer.records.items())),
        )
        writer.file(INDEX, encode_manifest(manifest))
        put_in_place(staging, target)
    except OSError as error:
        shutil.rmtree(staging, ignore_errors=True)  # the disk may refuse this too; the next build tries again
        raise disk_error(target, error) from None
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return manifest


class _Writer:
    """Writes files into the new folder, down to the disk, and keeps what index.json says of each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.records: dict[str, FileRecord] = {}

    def file(self, name: str, data: Data) -> None:
        with (self._folder / name).open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        digest = hashlib.sha256(data).hexdigest()
        self.records[name] = FileRecord(size=len(data), crc32=f"{zlib.crc32(data):08x}", sha256=digest)

    def keep(self, name: str, old: Path, record: FileRecord) -> bool:
        """Takes an old artifact's file over, if it is still what its index.json says."""
        try:
            with old.open("rb") as stream:
                if hashlib.file_digest(stream, "sha256").hexdigest() != record.sha256:
                    return False
        except OSError:
            return False  # missing or unreadable: it is built again
        try:
            os.link(old, self._folder / name)
        except OSError:  # a file system without hard links
            shutil.copyfile(old, self._folder / name)
        self.records[name] = record
        return True


def _check_keys(keys: Keys) -> None:
    once, times = np.unique(keys, return_counts=True)
    if len(once) != len(keys):
        raise BuildError("internal", f"two chunks have the id {int(once[times > 1][0]):016x}; please report it")


def _write_lines(writer: _Writer, chunks: Lines, documents: bytes) -> None:
    """Writes chunks.jsonl, chunks.idx and documents.jsonl."""
    writer.file(DOCUMENTS, documents)
    writer.file(CHUNKS, chunks.data)
    ends = np.cumsum(chunks.lengths, dtype=np.uint64)
    writer.file(OFFSETS, encode_offsets(chunks.keys, ends - chunks.lengths, chunks.lengths - 1))


def _write_words(writer: _Writer, target: Path, chunks: Lines, limit: int) -> tuple[WordFileRecord, ...]:
    """Writes the word files, a file for the chunks of each index file, or keeps those of the old artifact."""
    manifest = _old_manifest(target)
    old = {part.content: part.file for part in manifest.words} if manifest else {}
    ends = np.cumsum(chunks.lengths, dtype=np.int64)
    order = np.argsort(chunks.keys)
    names = shard_names(len(chunks.keys), limit, WORDS)
    bounds = shard_bounds(chunks.keys[order], len(names))
    records = []
    for name, begin, end in zip(names, bounds, bounds[1:], strict=False):
        places = order[begin:end]
        spans = zip((ends[places] - chunks.lengths[places]).tolist(), ends[places].tolist(), strict=True)
        texts = [decode_text(chunks.data[one:other]) for one, other in spans]
        content = postings.content_hash(texts)
        known = old.get(content)
        if not (manifest and known and writer.keep(name, target / known, manifest.files[known])):
            writer.file(name, postings.build_postings(texts))
        records.append(WordFileRecord(file=name, content=content))
    return tuple(records)


def _write_index(
    writer: _Writer,
    target: Path,
    keys: Keys,
    vectors: Vectors,
    limit: int,
    executor: Executor | None,
    threads: ThreadPoolExecutor,
) -> tuple[Shard, ...]:
    """Writes the index files in the order of the keys, those of the old artifact taken over where nothing changed.

    Those are checked by `threads`, and built where they are damaged.
    """
    settings = current_settings()
    manifest = _old_manifest(target)
    old = {shard.content: (shard, manifest.files[shard.file]) for shard in manifest.shards} if manifest else {}
    order = np.argsort(keys)
    names = shard_names(len(keys), limit)
    bounds = shard_bounds(keys[order], len(names))
    shards: dict[str, Shard] = {}
    changed: list[tuple[str, Positions, str]] = []
    kept: list[tuple[str, Positions, str, Future[bool]]] = []
    for name, begin, end in zip(names, bounds, bounds[1:], strict=False):
        places = order[begin:end]
        content = content_hash(settings, vectors.dimensions, keys[places], vectors.digests[places])
        known = old.get(content)
        if known is None:
            changed.append((name, places, content))
        else:
            shards[name] = replace(known[0], file=name)
            kept.append((name, places, content, threads.submit(writer.keep, name, target / known[0].file, known[1])))

    def pieces(wanted: Iterable[tuple[str, Positions, str]]) -> Iterator[Piece]:
        for name, places, content in wanted:
            halves = np.ascontiguousarray(vectors.take(places), np.float16)
            _check_vectors(keys[places], halves)
            shards[name] = Shard(file=name, vectors=len(places), repeats=most_frequent(halves), content=content)
            yield name, keys[places], halves

    def build(wanted: Sequence[tuple[str, Positions, str]]) -> None:
        vectors = sum(len(places) for _, places, _ in wanted)
        shown = Progress("index", vectors, "vectors")
        with shown, nullcontext(executor) if executor else local_executor(vectors if len(wanted) > 1 else 0) as graphs:
            for name, data in build_graphs(pieces(wanted), graphs, held=_HELD if executor else 0):
                writer.file(name, data)
                shown.advance(shards[name].vectors)

    build(changed)
    build([(name, places, content) for name, places, content, done in kept if not done.result()])
    return tuple(shards[name] for name in names)


def _old_manifest(target: Path) -> Manifest | None:
    """What the artifact that is replaced says of its files; None where it cannot be read."""
    try:
        return read_manifest(target)
    except ArtifactError:
        return None


def _check_shape(vectors: Vectors, chunks: int, model: ModelRecord) -> None:
    if (len(vectors.digests), vectors.dimensions) != (chunks, model.dimensions):
        raise BuildError(
            "embedding",
            f"the model gave {len(vectors.digests)} vectors of {vectors.dimensions} dimensions for {chunks} chunks of"
            f" {model.dimensions}; it is no embedding model, or not the configured one",
        )


def _check_vectors(keys: Keys, vectors: npt.NDArray[np.float16]) -> None:
    for begin in range(0, len(vectors), _BLOCK):
        norms = np.linalg.norm(vectors[begin : begin + _BLOCK].astype(np.float32), axis=1)
        wrong = np.flatnonzero(~(np.abs(norms - 1) <= _UNIT))  # true for NaN as well
        if len(wrong):
            place = begin + int(wrong[0])
            raise BuildError(
                "embedding",
                f"the vector of chunk {int(keys[place]):016x} has the length {float(norms[wrong[0]]):.4g}, not 1;"
                " delete the vector cache and build again",
            )
