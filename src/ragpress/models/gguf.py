"""What a GGUF file says of its model, read from its head without loading anything.

The layout is that of ggml's `docs/gguf.md`, versions 2 and 3: magic, version, counts, then keys with typed values.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import IO

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_LONGEST = 1 << 16  # bytes of a text
_MOST = 1 << 22  # keys, or entries of an array

Value = int | float | bool | str | None


def embedding_length(path: Path, architecture: str) -> int | None:
    """The length of a model's vectors; None where the file does not say, of which loading it will tell the reason."""
    try:
        with path.open("rb") as stream:
            if stream.read(4) != b"GGUF":
                return None
            _, _, count = struct.unpack("<IQQ", stream.read(20))
            for _ in range(min(count, _MOST)):
                key, value = _text(stream), _value(stream, _number(stream, "<I"))
                if key == f"{architecture}.embedding_length" and isinstance(value, int):
                    return value
    except (OSError, struct.error, KeyError, ValueError):
        return None
    return None


def _number(stream: IO[bytes], form: str) -> int:
    return int(struct.unpack(form, stream.read(struct.calcsize(form)))[0])


def _text(stream: IO[bytes]) -> str:
    length = _number(stream, "<Q")
    if length > _LONGEST:
        raise ValueError(length)
    return stream.read(length).decode("utf-8", "replace")


def _value(stream: IO[bytes], kind: int) -> Value:
    if kind == _STRING:
        return _text(stream)
    if kind != _ARRAY:
        form = _SCALARS[kind]
        found: Value = struct.unpack(form, stream.read(struct.calcsize(form)))[0]
        return found
    inner, count = struct.unpack("<IQ", stream.read(12))
    if count > _MOST:
        raise ValueError(count)
    if inner in _SCALARS:
        stream.seek(count * struct.calcsize(_SCALARS[inner]), os.SEEK_CUR)
        return None
    for _ in range(count):
        _value(stream, inner)
    return None
