"""What is known of the vectors of the published artifact, so that the next build looks up those of new texts alone.

It stands for no vector: what an index needs is read from the vector cache, and made again where it is gone from there.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from ragpress.files import read_checksummed, write_checksummed
from ragpress.repository import Repository
from ragpress.vectors.cache import Marks

Texts = npt.NDArray[np.void]
"""The `text_digest`s of chunks: 32 bytes each."""


class _Kept(msgspec.Struct, frozen=True):
    """build/marks, a sealed file. `identity` is of all that makes vectors comparable; the others are arrays' bytes."""

    identity: str
    texts: bytes
    digests: bytes
    makers: bytes
    engines: tuple[str, ...]


_KEPT = msgspec.msgpack.Decoder(_Kept)


def remember(repository: Repository, identity: str, texts: Texts, marks: Marks) -> None:
    """Raises BuildError where the disk refuses."""
    used, makers = np.unique(marks.makers, return_inverse=True)
    kept = _Kept(
        identity,
        texts.tobytes(),
        marks.digests.tobytes(),
        makers.astype(np.uint16).tobytes(),
        tuple(marks.engines[number] for number in used.tolist()),
    )
    write_checksummed(repository.build / "marks", msgspec.msgpack.encode(kept))


def recall(repository: Repository, identity: str, texts: Texts) -> Marks:
    """What is remembered of the vectors of these texts; nothing where they would not be comparable."""
    kept = read_checksummed(repository.build / "marks", _KEPT)
    if kept is None or kept.identity != identity or not kept.texts:
        return Marks.unknown(len(texts))
    old, new = _words(kept.texts), _words(texts.tobytes())
    order = np.argsort(old[:, 0], kind="stable")
    places = order[np.minimum(np.searchsorted(old[order, 0], new[:, 0]), len(old) - 1)]
    same = (old[places] == new).all(axis=1)
    digests = np.where(same, np.frombuffer(kept.digests, np.uint64)[places], np.uint64(0))
    return Marks(digests, np.frombuffer(kept.makers, np.uint16)[places], kept.engines)


def _words(texts: bytes) -> npt.NDArray[np.uint64]:
    return np.frombuffer(texts, "<u8").reshape(-1, 4)
