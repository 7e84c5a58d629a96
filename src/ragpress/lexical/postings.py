"""A word file: of each word, which chunks have it and how often. docs/artifact.md describes its bytes."""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Sequence
from itertools import chain

import msgspec
import numpy as np
import numpy.typing as npt

from ragpress.errors import ArtifactError
from ragpress.lexical.words import VERSION, words

_HEAD = struct.Struct("<2IQ")
_MOST = 255  # a word that a chunk repeats more often counts so many times

Data = bytes | mmap.mmap
Codes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint32]


def word_code(word: str) -> int:
    """What stands for a word in a file: the first 64 bits of the sha256 of its UTF-8, little-endian."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")


class Postings(msgspec.Struct, frozen=True):
    """A word file's columns. `rows` and `counts` of word number w are those from `starts[w]` to `starts[w + 1]`.

    `codes` (`word_code`) ascend, and so do the rows of a word; `lengths` are the number of words of each row.
    """

    codes: Codes
    starts: Numbers
    lengths: Numbers
    rows: Numbers
    counts: npt.NDArray[np.uint8]


class _Numbered(dict[str, int]):
    """Words numbered as they come."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def build_postings(texts: Sequence[str]) -> bytes:
    """The bytes of a word file of these texts, which are its rows. The same texts give the same bytes."""
    numbers = _Numbered()
    found = [words(text) for text in texts]
    lengths = np.array([len(each) for each in found], np.int64)
    terms = np.fromiter(map(numbers.__getitem__, chain.from_iterable(found)), np.int64, int(lengths.sum()))
    codes = np.array([word_code(word) for word in numbers], np.uint64)
    order = np.argsort(codes)
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes))
    places = np.repeat(np.arange(len(texts)), lengths)
    entries, counts = np.unique(ranks[terms] * max(len(texts), 1) + places, return_counts=True)
    starts = np.searchsorted(entries, np.arange(len(codes) + 1) * max(len(texts), 1))
    columns = (
        (codes[order], "<u8"),
        (starts, "<u4"),
        (lengths, "<u4"),
        (entries % max(len(texts), 1), "<u4"),
        (np.minimum(counts, _MOST), "<u1"),
    )
    head = _HEAD.pack(len(texts), len(codes), len(entries))
    return head + b"".join(np.ascontiguousarray(column, kind).tobytes() for column, kind in columns)


def content_hash(texts: Sequence[str]) -> str:
    """The sha256 over all that decides a word file's bytes."""
    digest = hashlib.sha256(b"%d" % VERSION)
    for text in texts:
        data = text.encode()
        digest.update(len(data).to_bytes(4, "little") + data)
    return digest.hexdigest()


def read_postings(name: str, data: Data) -> Postings:
    """The columns of a word file; no copy is made. Raises ArtifactError for bytes that are none."""
    if len(data) < _HEAD.size:
        raise _damaged(name)
    rows, terms, entries = _HEAD.unpack_from(data)
    if len(data) != _HEAD.size + 8 * terms + 4 * (terms + 1) + 4 * rows + 5 * entries:
        raise _damaged(name)
    place = _HEAD.size
    columns = []
    for kind, count in (("<u8", terms), ("<u4", terms + 1), ("<u4", rows), ("<u4", entries), ("<u1", entries)):
        columns.append(np.frombuffer(data, kind, count, place))
        place += columns[-1].nbytes
    return Postings(*columns)


def check_postings(name: str, found: Postings) -> None:
    """Raises ArtifactError where the columns do not fit each other."""
    starts = found.starts.astype(np.int64)
    sound = (
        bool((found.codes[1:] > found.codes[:-1]).all())
        and starts[0] == 0
        and starts[-1] == len(found.rows)
        and bool((np.diff(starts) > 0).all())
        and bool((found.rows < len(found.lengths)).all())
        and bool((found.counts > 0).all())
    )
    if not sound:
        raise _damaged(name)


def _damaged(name: str) -> ArtifactError:
    return ArtifactError("bad-artifact", f"{name}: it is no word file; build the artifact again")
