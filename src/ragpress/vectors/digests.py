"""What tells texts and vectors apart: cache keys, and the checksums of what the vector cache keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from zlib import crc32

from ragpress.models.known import ModelFile


def vector_keys(file: ModelFile, texts: Iterable[str]) -> list[bytes]:
    """The cache keys of document texts: sha256, 32 bytes, over all that changes a vector's meaning.

    That is the model file's sha256, the document prefix, pooling and dimensions, each after its length, and the sha256
    of the text.
    """
    common = hashlib.sha256()
    model = file.model
    for part in (file.sha256, model.document_prefix, model.pooling, str(file.dimensions)):
        data = part.encode("utf-8", "replace")
        common.update(len(data).to_bytes(8, "little") + data)
    keys = []
    for text in texts:
        one = common.copy()
        one.update(hashlib.sha256(text.encode("utf-8", "replace")).digest())
        keys.append(one.digest())
    return keys


def vector_digest(data: bytes) -> int:
    """64 bits of the sha256 over a vector's bytes (float16, little-endian): tells vectors apart that are not read."""
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "little")


def row_checksum(key: bytes, engine: str, data: bytes) -> int:
    """The crc32 over what belongs together in the vector cache."""
    return crc32(data, crc32(key + engine.encode()))
