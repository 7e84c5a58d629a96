"""Small files of the build folder that end with a line of their own crc32, so that damage is never taken for data."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TypeVar

import msgspec

from ragpress.manifest import replace_file

_Record = TypeVar("_Record")


def write_sealed(path: Path, data: bytes) -> None:
    """Replaces the file as `replace_file` does. Raises BuildError where the disk refuses."""
    replace_file(path, b"%b\n%08x" % (data, zlib.crc32(data)))


def read_sealed(path: Path) -> bytes | None:
    """What was written; None where the file is missing, cut or changed."""
    try:
        data, _, seal = path.read_bytes().rpartition(b"\n")
        return data if zlib.crc32(data) == int(seal or b"-1", 16) else None
    except (OSError, ValueError):
        return None


def read_record(
    path: Path, decoder: msgspec.json.Decoder[_Record] | msgspec.msgpack.Decoder[_Record]
) -> _Record | None:
    """The record in a sealed file; None also where it is of another version."""
    data = read_sealed(path)
    try:
        return decoder.decode(data) if data else None
    except (ValueError, msgspec.MsgspecError):
        return None
