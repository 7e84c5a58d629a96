"""Reading and verifying an artifact: every byte is checked before anything reads it."""

from __future__ import annotations

import hashlib
import itertools
import mmap
import os
import re
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from ragpress.artifact.format import (
    CHUNKS,
    DOCUMENTS,
    INDEX,
    OFFSETS,
    REBUILD,
    WORDS,
    FileRecord,
    Manifest,
    read_manifest,
)
from ragpress.artifact.index import Data, IndexFile, VectorIndex
from ragpress.artifact.jsonl import decode_chunk, read_documents
from ragpress.artifact.offsets import Offsets, decode_offsets, encode_offsets
from ragpress.errors import ArtifactError
from ragpress.lexical.postings import content_hash
from ragpress.lexical.scoring import WordFile, WordIndex
from ragpress.records import Chunk, index_key
from ragpress.system import processors

_Result = TypeVar("_Result")

_READ = 1 << 20
_IDENTIFIER = re.compile("[0-9a-f]{16}")


class Artifact(msgspec.Struct, frozen=True):
    """An artifact's files, mapped into memory; they stay readable when the folder is replaced or removed."""

    manifest: Manifest
    lines: Data
    documents: Data
    offsets: Offsets
    index: VectorIndex
    words: WordIndex

    def row(self, chunk_id: str) -> int | None:
        """The rank of a chunk among the ids; None for what is no chunk of this artifact."""
        if not _IDENTIFIER.fullmatch(chunk_id):
            return None
        key = index_key(chunk_id)
        row = int(np.searchsorted(self.offsets.keys, np.uint64(key)))
        return row if row < len(self.offsets.keys) and int(self.offsets.keys[row]) == key else None

    def rows_of(self, files: slice) -> range:
        """The rows of these index files."""
        ends = [0, *itertools.accumulate(shard.vectors for shard in self.manifest.shards)]
        begin, end, _ = files.indices(len(self.manifest.shards))
        return range(ends[begin], ends[end])

    def chunk(self, row: int) -> Chunk:
        """The chunk of this rank, decoded from its line. Raises ArtifactError."""
        start, length = int(self.offsets.starts[row]), int(self.offsets.lengths[row])
        return decode_chunk(self.lines[start : start + length])


def open_artifact(folder: Path, *, whole: bool = False) -> Artifact:
    """Checks and maps an artifact; with `whole` by sha256 as well. Raises ArtifactError.

    Where a build replaces the folder meanwhile, the new artifact is artifact.
    """
    return _while_current(folder, lambda place: _open(place, whole))


def _while_current(folder: Path, work: Callable[[Path], _Result]) -> _Result:
    """What `work` makes of the artifact's folder; begun again where that is replaced before it is done."""
    if not folder.name:
        folder = folder.resolve()  # `.` has no name to show in a message
    while True:
        place = current_folder(folder)
        try:
            handle = os.open(place, os.O_RDONLY)  # as long as it is open, no new folder gets the same inode
        except OSError:
            return work(place)  # there is none: it says so
        try:
            return work(place)
        except ArtifactError:
            if _is_same(os.fstat(handle), current_folder(folder)):
                raise
        finally:
            os.close(handle)


def _is_same(before: os.stat_result, folder: Path) -> bool:
    try:
        return os.path.samestat(before, folder.stat())
    except OSError:
        return False


def current_folder(folder: Path) -> Path:
    """Where the artifact of this name is: beside, for a moment, where the system cannot exchange two folders."""
    aside = folder.with_name(f"{folder.name}.old")
    # Not Path.exists, which raises where a folder above may not be entered: then reading says so.
    return aside if not os.path.exists(folder) and os.path.exists(aside / INDEX) else folder  # noqa: PTH110


def _open(folder: Path, whole: bool) -> Artifact:
    manifest = read_manifest(folder)
    names = sorted(manifest.files, key=lambda name: (-manifest.files[name].size, name))
    with ThreadPoolExecutor(processors()) as threads:  # zlib and hashlib let other threads run
        tasks = {name: threads.submit(_checked, folder, name, manifest.files[name], whole) for name in names}
        files = {name: task.result() for name, task in tasks.items()}
    offsets = decode_offsets(files[OFFSETS], manifest.counts.chunks)
    parts = [IndexFile(shard.file, files[shard.file], shard.repeats) for shard in manifest.shards]
    index = VectorIndex(offsets.keys, parts, manifest.model.dimensions, manifest.index.expansion_search)
    words = WordIndex([WordFile(part.file, files[part.file]) for part in manifest.words])
    return Artifact(manifest, files[CHUNKS], files[DOCUMENTS], offsets, index, words)


def _checked(folder: Path, name: str, expected: FileRecord, whole: bool) -> Data:
    """A file's map, once its bytes are found to be those that index.json speaks of. Raises ArtifactError.

    crc32 finds every error of one or two bits and every burst of up to 32, at three times the speed of sha256, which
    `whole` adds.
    """
    place = f"{folder.name}/{name}"
    crc, digest = 0, hashlib.sha256()
    buffer = memoryview(bytearray(_READ))  # not through the map: what is only checked should take no memory
    try:
        with (folder / name).open("rb", buffering=0) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size != expected.size:
                raise ArtifactError(
                    "bad-artifact", f"{place} has {size} bytes, {INDEX} says {expected.size}; {REBUILD}"
                )
            while count := stream.readinto(buffer):
                crc = zlib.crc32(buffer[:count], crc)
                if whole:
                    digest.update(buffer[:count])
            if f"{crc:08x}" != expected.crc32 or (whole and digest.hexdigest() != expected.sha256):
                raise ArtifactError("bad-artifact", f"{place} was changed after it was written (checksum); {REBUILD}")
            # of the same open file, so that it is the checked one also where the folder was replaced just now
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError:
        raise ArtifactError("bad-artifact", f"{place} is missing; {REBUILD}") from None
    except OSError as error:
        raise ArtifactError("bad-artifact", f"{place} cannot be read: {error.strerror}; {REBUILD}") from None


# -- verifying -------------------------------------------------------------------------------------------------------


def verify_artifact(folder: Path) -> Manifest:
    """Checks every byte by sha256 and all files against each other. Raises ArtifactError for the first fault.

    Beyond the checksums: the folder holds nothing else; ids are unique; the pointers of each source form one chain in
    the order of the lines; documents.jsonl counts the same chunks; chunks.idx points at the lines; every chunk has its
    vector, of unit length; the word files are of the chunks' texts.
    """
    return _while_current(folder, _verify)


def _verify(folder: Path) -> Manifest:
    artifact = _open(folder, whole=True)
    manifest = artifact.manifest
    for name in _names(folder):
        if name not in manifest.files and name != INDEX:
            raise _wrong(folder, name, f"{INDEX} does not list it; remove it")
    counted = [(entry.source, entry.chunks) for entry in read_documents(folder / DOCUMENTS)]
    if len(counted) != manifest.counts.sources or counted != sorted(set(counted)):
        raise _wrong(folder, DOCUMENTS, f"its sources are not the {manifest.counts.sources} of {INDEX}, each once")
    found = _check_lines(folder, artifact)
    if found != [(source, chunks) for source, chunks in counted if chunks]:
        raise _wrong(folder, CHUNKS, f"its sources and their numbers of chunks are not those of {DOCUMENTS}")
    if [shard.vectors for shard in manifest.shards] != artifact.index.sizes():
        raise _wrong(folder, INDEX, "it gives other numbers of vectors than the index files hold")
    artifact.index.check()
    _check_words(folder, artifact)
    return manifest


def _check_words(folder: Path, artifact: Artifact) -> None:
    """Compares the word files with each other, the index files and the texts that they must be made from."""
    artifact.words.check()
    if artifact.words.sizes() != artifact.index.sizes():
        raise _wrong(folder, WORDS, "the word files are of other chunks than the index files")
    row = 0
    for part, size in zip(artifact.manifest.words, artifact.words.sizes(), strict=True):
        texts = [artifact.chunk(place).text for place in range(row, row + size)]
        if content_hash(texts) != part.content:
            raise _wrong(folder, part.file, f"it was not made from the texts of {CHUNKS}")
        row += size


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise ArtifactError("bad-artifact", f"{folder.name}/ cannot be listed: {error.strerror}; {REBUILD}") from None


def _check_lines(folder: Path, artifact: Artifact) -> list[tuple[str, int]]:
    """Source and number of chunks, in the order of the lines, each of which is checked."""
    counts: dict[str, int] = {}
    keys, starts, lengths = [], [], []
    position, before = 0, None
    while position < len(artifact.lines):
        end = artifact.lines.find(b"\n", position)
        if end < 0:
            raise _wrong(folder, CHUNKS, "its last line is cut off")
        chunk = decode_chunk(artifact.lines[position:end])
        _check_chunk(folder, chunk, artifact.manifest.model.max_tokens)
        _check_link(folder, before, chunk)
        counts[chunk.source] = counts.get(chunk.source, 0) + 1
        keys.append(index_key(chunk.chunk_id))
        starts.append(position)
        lengths.append(end - position)
        position, before = end + 1, chunk
    _check_link(folder, before, None)
    found = decode_offsets(
        encode_offsets(np.array(keys, np.uint64), np.array(starts, np.uint64), np.array(lengths, np.uint32)), len(keys)
    )
    if len(np.unique(found.keys)) != len(keys):
        raise _wrong(folder, CHUNKS, "two chunks have the same id")
    for one, two in zip(msgspec.structs.astuple(found), msgspec.structs.astuple(artifact.offsets), strict=True):
        if not np.array_equal(one, two):
            raise _wrong(folder, OFFSETS, f"it does not point at the lines of {CHUNKS}")
    return list(counts.items())


def _check_chunk(folder: Path, chunk: Chunk, limit: int) -> None:
    name = chunk.chunk_id
    if not _IDENTIFIER.fullmatch(name):
        raise _wrong(folder, CHUNKS, f"{name!r} is no chunk id")
    if not 0 < chunk.tokens <= limit:
        raise _wrong(folder, CHUNKS, f"chunk {name} has {chunk.tokens} tokens, the model reads at most {limit}")
    if not 0 <= chunk.context_chars < len(chunk.text):
        raise _wrong(folder, CHUNKS, f"chunk {name} has no text of its own")


def _check_link(folder: Path, one: Chunk | None, two: Chunk | None) -> None:
    """Compares the pointers of two neighbouring lines; None stands for what is before the first and after the last."""
    joined = one is not None and two is not None and one.source == two.source
    if one is not None and one.next_chunk_id != (two.chunk_id if two is not None and joined else None):
        raise _wrong(folder, CHUNKS, f"chunk {one.chunk_id} does not point at the one after it")
    if two is not None and two.previous_chunk_id != (one.chunk_id if one is not None and joined else None):
        raise _wrong(folder, CHUNKS, f"chunk {two.chunk_id} does not point at the one before it")


def _wrong(folder: Path, name: str, what: str) -> ArtifactError:
    return ArtifactError("bad-artifact", f"{folder.name}/{name}: {what}; {REBUILD}")
