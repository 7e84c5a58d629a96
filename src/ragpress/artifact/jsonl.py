"""The only reader and writer of the JSONL files: chunks.jsonl and documents.jsonl.

One object a line in the order of the records' fields, UTF-8, `\\n`, no ASCII escapes. A lone surrogate, which UTF-8
has no form for, is written as U+FFFD.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ragpress.errors import ArtifactError
from ragpress.records import Chunk, DocumentEntry

Line = TypeVar("Line", Chunk, DocumentEntry)

_ENCODER = msgspec.json.Encoder()
_CHUNK_DECODER = msgspec.json.Decoder(Chunk)
_DOCUMENT_DECODER = msgspec.json.Decoder(DocumentEntry)


class _Text(msgspec.Struct):
    text: str


_TEXT_DECODER = msgspec.json.Decoder(_Text)


def encode_chunk(chunk: Chunk) -> bytes:
    """A line of chunks.jsonl, its newline included."""
    return _encode(chunk)


def encode_document(entry: DocumentEntry) -> bytes:
    """A line of documents.jsonl, its newline included."""
    return _encode(entry)


def decode_chunk(line: bytes) -> Chunk:
    """The chunk of one line of chunks.jsonl. Raises ArtifactError."""
    try:
        return _CHUNK_DECODER.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ArtifactError(
            "bad-artifact", f"chunks.jsonl: a line is not what it should be ({error}); build the artifact again"
        ) from None


def decode_document(line: bytes) -> DocumentEntry:
    """The entry of one line of documents.jsonl. Raises ArtifactError."""
    try:
        return _DOCUMENT_DECODER.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ArtifactError(
            "bad-artifact", f"documents.jsonl: a line is not what it should be ({error}); build the artifact again"
        ) from None


def decode_text(line: bytes | memoryview) -> str:
    """The `text` of one line of chunks.jsonl. Raises ArtifactError."""
    try:
        return _TEXT_DECODER.decode(line).text
    except (msgspec.DecodeError, RecursionError) as error:
        raise ArtifactError(
            "bad-artifact", f"chunks.jsonl: a line is not what it should be ({error}); build the artifact again"
        ) from None


def read_chunks(path: Path) -> tuple[Chunk, ...]:
    """All chunks of a file. Raises ArtifactError that names the line if it is missing or damaged."""
    return _read(path, Chunk)


def read_documents(path: Path) -> tuple[DocumentEntry, ...]:
    """All entries of a file. Raises ArtifactError that names the line if it is missing or damaged."""
    return _read(path, DocumentEntry)


def _encode(line: Chunk | DocumentEntry) -> bytes:
    try:
        return _ENCODER.encode(line) + b"\n"
    except UnicodeEncodeError:
        return _ENCODER.encode(_writable(msgspec.to_builtins(line))) + b"\n"


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_writable(key): _writable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(each) for each in value]
    return value


def _read(path: Path, kind: type[Line]) -> tuple[Line, ...]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ArtifactError(
            "bad-artifact", f"{path.name} cannot be read: {error.strerror}; build the artifact again"
        ) from None
    decoder = msgspec.json.Decoder(kind)
    lines = data.split(b"\n")
    if lines.pop():
        raise ArtifactError("bad-artifact", f"{path.name}: line {len(lines) + 1} is cut off; build the artifact again")
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, RecursionError) as error:
            raise ArtifactError(
                "bad-artifact",
                f"{path.name}: line {number} is not what it should be ({error}); build the artifact again",
            ) from None
    return tuple(found)
