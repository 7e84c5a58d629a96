"""The pictures that a source showed when it was compiled, so that a change of one, or of its caption, is noticed."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from ragpress.captions.pictures import LARGEST_FILE
from ragpress.captions.store import Caption, read_captions


class Use(msgspec.Struct, frozen=True):
    """A picture, and what it was taken to say.

    `file` is where it is below the sources' folder; empty for one inside the source itself. `sha256` is empty where
    there was no such file. `text` is None where it had no caption.
    """

    file: str
    sha256: str
    text: str | None


def still_true(uses: Iterable[Use], store: Path, root: Path) -> bool:
    """Whether pictures below `root`, and their captions in `store`, are what they were. Raises BuildError."""
    captions = _captions(store, store.stat().st_mtime_ns if store.exists() else 0) if uses else {}
    for use in uses:
        caption = captions.get(use.sha256)
        if use.text != (caption.text if caption else None):
            return False
        if use.file and _sha256(read_picture(root, use.file)) != use.sha256:
            return False
    return True


@lru_cache(maxsize=1)
def _captions(store: Path, changed: int) -> dict[str, Caption]:
    return read_captions(store)


def _sha256(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def read_picture(root: Path, file: str) -> bytes | None:
    """A file below `root`, under any Unicode form of its name; None for what is no readable file in that folder."""
    for form in ("NFC", "NFD"):
        path = root / unicodedata.normalize(form, file)
        try:
            if path.is_file() and path.resolve().is_relative_to(root.resolve()):
                return path.read_bytes() if path.stat().st_size <= 4 * LARGEST_FILE else None
        except OSError:
            return None
    return None
