"""chunks.idx: chunk id to place in chunks.jsonl."""

from __future__ import annotations

import msgspec
import numpy as np

from ragpress.artifact.index import Data, Keys


class Offsets(msgspec.Struct, frozen=True):
    """chunks.idx: of each chunk, in the order of the ids, where its line in chunks.jsonl begins and how long it is.

    Three arrays of the same length: ids as numbers, ascending; offsets and lengths in bytes, the newline left out.
    """

    keys: Keys
    starts: Keys
    lengths: np.ndarray


def encode_offsets(identifiers: Keys, starts: Keys, lengths: np.ndarray) -> bytes:
    """chunks.idx of lines in any order: ids, offsets and lengths as little-endian columns, in the order of the ids."""
    order = np.argsort(identifiers)
    columns = ((identifiers, "<u8"), (starts, "<u8"), (lengths, "<u4"))
    return b"".join(np.ascontiguousarray(column[order], kind).tobytes() for column, kind in columns)


def decode_offsets(data: Data, chunks: int) -> Offsets:
    """The columns of chunks.idx, which has been checked to be of the right size; no copy is made."""
    return Offsets(
        np.frombuffer(data, "<u8", chunks, 0),
        np.frombuffer(data, "<u8", chunks, 8 * chunks),
        np.frombuffer(data, "<u4", chunks, 16 * chunks),
    )
