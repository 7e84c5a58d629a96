"""index.json: what an artifact is, and the checksums of its files. docs/artifact.md describes every file."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ragpress.errors import ArtifactError
from ragpress.models.known import ModelFile

FORMAT = 2
INDEX = "index.json"
CHUNKS = "chunks.jsonl"
DOCUMENTS = "documents.jsonl"
OFFSETS = "chunks.idx"
WORDS = "words.idx"

REBUILD = "build the artifact again, or copy it again from where it was built"
_CHECKSUM = re.compile(rb',\n  "checksum": "([0-9a-f]{64})"\n\}\n')
_CHECKSUM_LENGTH = len(b',\n  "checksum": ""\n}\n') + 64
_OFFSET_BYTES = 8 + 8 + 4

Size = Annotated[int, msgspec.Meta(ge=1, le=65_536)]

# f16 keeps the ranks of f32 (recall@10 of an exact search 1.000, bf16 .998), and numpy and other readers know it.
DTYPE: Literal["f16"] = "f16"
METRIC: Literal["cos"] = "cos"
CONNECTIVITY = 16
EXPANSION_ADD = 128
EXPANSION_SEARCH = 128


class ToolRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What wrote the artifact."""

    name: str
    version: str


class ModelRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The model of all vectors; questions must be embedded by the same file, with `query_prefix`."""

    name: str
    file: str
    sha256: str
    dimensions: Size
    document_prefix: str
    query_prefix: str
    pooling: str
    max_tokens: int


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    sources: int
    chunks: int


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """An index file: how many vectors it has, how often the most frequent one stands in it, a hash of its making."""

    file: str
    vectors: int
    repeats: int
    content: str


class IndexSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a graph is made with. `expansion_search` is not in usearch's file: a reader sets it after opening."""

    library: str
    dtype: Literal["f16"] = DTYPE
    metric: Literal["cos"] = METRIC
    connectivity: Size = CONNECTIVITY
    expansion_add: Size = EXPANSION_ADD
    expansion_search: Size = EXPANSION_SEARCH


class WordFileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A word file, of the same chunks as the index file in the same place, and a hash of its making."""

    file: str
    content: str


class FileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A file's bytes. The crc32 (8 hex digits) is for opening, the sha256 for verifying."""

    size: int
    crc32: str
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """index.json without its checksum; the order of the fields is the order of the keys.

    `engines` are the llama.cpp builds that made the vectors; `files` has every other file of the folder by name.
    """

    format: int
    tool: ToolRecord
    model: ModelRecord
    engines: tuple[str, ...]
    chunking: dict[str, object]
    counts: Counts
    index: IndexSettings
    shards: tuple[Shard, ...]
    words: tuple[WordFileRecord, ...]
    files: dict[str, FileRecord]


class _Format(msgspec.Struct):
    format: int


def model_record(file: ModelFile) -> ModelRecord:
    """What index.json says of a model."""
    model = file.model
    return ModelRecord(
        name=model.name,
        file=file.path.name,
        sha256=file.sha256,
        dimensions=file.dimensions,
        document_prefix=model.document_prefix,
        query_prefix=model.query_prefix,
        pooling=model.pooling,
        max_tokens=model.max_tokens,
    )


def encode_manifest(manifest: Manifest) -> bytes:
    """index.json: the manifest, and as the last key the sha256 of all bytes before that key's comma."""
    body = msgspec.json.format(msgspec.json.encode(manifest), indent=2).removesuffix(b"\n}")
    return body + f',\n  "checksum": "{hashlib.sha256(body).hexdigest()}"\n}}\n'.encode()


def read_manifest(folder: Path) -> Manifest:
    """index.json of an artifact. Raises ArtifactError where it is missing, damaged, or of another format."""
    try:
        data = (folder / INDEX).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise ArtifactError(
            "bad-artifact",
            f"{folder.name}/ holds no artifact (no {INDEX}); run `ragpress build`, or give the folder that does",
        ) from None
    except OSError as error:
        raise ArtifactError(
            "bad-artifact", f"{folder.name}/{INDEX} cannot be read: {error.strerror}; {REBUILD}"
        ) from None
    return decode_manifest(data, folder.name)


def decode_manifest(data: bytes, folder: str) -> Manifest:
    """The manifest in the bytes of index.json; `folder` is for messages. Raises ArtifactError."""
    place = f"{folder}/{INDEX}"
    try:
        found = msgspec.json.decode(data, type=_Format).format
        if found != FORMAT:
            raise ArtifactError(
                "bad-artifact",
                f"{place} is of format {found}, this ragpress reads format {FORMAT}; build it again with"
                " `ragpress build`, or use the ragpress that built it",
            )
        checksum = _CHECKSUM.fullmatch(data, max(0, len(data) - _CHECKSUM_LENGTH))
        if checksum is None or hashlib.sha256(data[:-_CHECKSUM_LENGTH]).hexdigest() != checksum[1].decode():
            raise ArtifactError("bad-artifact", f"{place} was changed after it was written; {REBUILD}")
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ArtifactError("bad-artifact", f"{place} is not what it should be ({error}); {REBUILD}") from None
    _check_names(manifest, place)
    return manifest


def _check_names(manifest: Manifest, place: str) -> None:
    parts = [part.file for part in manifest.shards] + [part.file for part in manifest.words]
    named = {CHUNKS, DOCUMENTS, OFFSETS, *parts}
    if named != set(manifest.files) or any("/" in name or "\\" in name or name[:1] in ("", ".") for name in named):
        raise ArtifactError("bad-artifact", f"{place} does not list the files of an artifact; {REBUILD}")
    if len(manifest.words) != len(manifest.shards):
        raise ArtifactError("bad-artifact", f"{place} lists other word files than index files; {REBUILD}")
    if manifest.files[OFFSETS].size != manifest.counts.chunks * _OFFSET_BYTES:
        raise ArtifactError("bad-artifact", f"{place}: its counts do not fit its files; {REBUILD}")
