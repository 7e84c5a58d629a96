"""What tells texts and vectors apart: cache keys, and the checksums of what the vector cache keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from zlib import crc32

from ragpress.models.known import ModelFile


def vector_keys(file: ModelFile, texts: Iterable[str]) -> list[bytes]:
    """The cache keys of document texts: sha256, 32 bytes, over all that changes a vector's meaning.

    That is the model file's sha256, the document prefix, pooling, dimensions and the text, each after its length.
    """
    return digest_keys(file, map(text_digest, texts))


def text_digest(text: str) -> bytes:
    """The sha256 of a text, which stands for it in its key."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def digest_keys(file: ModelFile, digests: Iterable[bytes]) -> list[bytes]:
    """The cache keys of the texts of which these are the digests."""
    common = hashlib.sha256()
    model = file.model
    for part in (file.sha256, model.document_prefix, model.pooling, str(file.dimensions)):
        data = part.encode("utf-8", "replace")
        common.update(len(data).to_bytes(8, "little") + data)
    keys = []
    for digest in digests:
        one = common.copy()
        one.update(digest)
        keys.append(one.digest())
    return keys


def vector_digest(data: bytes) -> int:
    """64 bits of the sha256 over a vector's bytes (float16, little-endian): tells vectors apart that are not read."""
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "little")


def row_checksum(key: bytes, engine: str, data: bytes) -> int:
    """The crc32 over what belongs together in the vector cache."""
    return crc32(data, crc32(key + engine.encode()))


def is_sound(key: bytes, engine: str, checksum: object, digest: object, data: object) -> bool:
    """Whether a vector is what was put in under this key, with its checksum and digest (as `signed`)."""
    return (
        isinstance(data, bytes)
        and row_checksum(key, engine, data) == checksum
        and signed(vector_digest(data)) == digest
    )


def signed(number: int) -> int:
    """The same 64 bits as sqlite has them."""
    return number - (1 << 64) if number >> 63 else number


def unsigned(number: int) -> int:
    """The inverse of `signed`."""
    return number % (1 << 64)
