"""captions.jsonl at the repository's root: a line a picture, sorted by sha256, committed and reviewed like a golden.

A person may correct the text of a line, leave a picture out by an empty text, or delete a line to have it made again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from ragpress.errors import BuildError
from ragpress.files import replace_file
from ragpress.text.conflicts import UNRESOLVED, begins_conflict

NAME = "captions.jsonl"


class Caption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The caption of one picture: its sha256 (64 hex digits), the engine that made it, where the picture was found.

    `engine` and `found` are for the people who review it; a line written by hand needs neither.
    """

    sha256: str
    engine: str = ""
    found: str = ""
    text: str = ""


def read_captions(path: Path) -> dict[str, Caption]:
    """sha256 to caption; empty where there is no file. Raises BuildError that names the line which is none."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BuildError("caption", f"{NAME} cannot be read: {error.strerror}; check its rights") from None
    found: dict[str, Caption] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            caption = msgspec.json.decode(line, type=Caption)
        except (msgspec.DecodeError, RecursionError) as error:
            if begins_conflict(line.decode("utf-8", "replace")):
                raise BuildError("conflict", f"{NAME}, line {number}: {UNRESOLVED}; keep one line a picture") from None
            raise BuildError(
                "caption",
                f"{NAME}, line {number} is no caption ({error}); correct it, or delete it to have it made again",
            ) from None
        if not re.fullmatch("[0-9a-f]{64}", caption.sha256):
            raise BuildError("caption", f"{NAME}, line {number}: `sha256` must be 64 hex digits; correct or delete it")
        if caption.sha256 in found:
            raise BuildError(
                "caption", f"{NAME}, line {number}: the picture {caption.sha256[:12]}… has two lines; keep one"
            )
        found[caption.sha256] = caption
    return found


def write_captions(path: Path, captions: Iterable[Caption]) -> None:
    """Writes all captions, sorted. Raises BuildError if the disk refuses."""
    lines = [msgspec.json.encode(caption) + b"\n" for caption in sorted(captions, key=lambda each: each.sha256)]
    replace_file(path, b"".join(lines))


def prune_captions(path: Path, used: Collection[str]) -> int:
    """Takes the captions of pictures out that no source uses. Returns how many. Raises BuildError."""
    captions = read_captions(path)
    kept = [caption for caption in captions.values() if caption.sha256 in used]
    if len(kept) < len(captions):
        write_captions(path, kept)
    return len(captions) - len(kept)
