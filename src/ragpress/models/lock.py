"""model.lock.json: the sha256 of each hub or local model file, committed, so that no other file is ever used unseen."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from ragpress.errors import BuildError, ModelError
from ragpress.files import file_sha256, replace_file

LOCK_NAME = "model.lock.json"
_REMEMBERED = 64  # files whose hashes are remembered


class Locked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model's file as it was first used: name, sha256 (64 hex digits), bytes, and the hub's commit, if any."""

    file: str
    sha256: str
    size: int
    revision: str = ""


def read_lock(root: Path) -> dict[str, Locked]:
    """Model name to its locked file; empty without a lock file. Raises ModelError for one that cannot be read."""
    path = root / LOCK_NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Locked])
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ModelError("model", f"{LOCK_NAME} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelError(
            "model", f"{LOCK_NAME} is damaged ({error}); restore it from the repository's history, or delete it"
        ) from None


def write_lock(root: Path, name: str, locked: Locked) -> None:
    """Sets the entry of one model and keeps the others. Raises BuildError."""
    entries = read_lock(root) | {name: locked}
    plain = {key: msgspec.to_builtins(entries[key]) for key in sorted(entries)}
    replace_file(root / LOCK_NAME, msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")


def check_lock(root: Path, name: str, found: Locked) -> None:
    """Refuses a file that is not the locked one; the first file of a model is locked. Raises ModelError."""
    locked = read_lock(root).get(name)
    if locked is None:
        write_lock(root, name, found)
    elif (locked.file, locked.sha256, locked.size) != (found.file, found.sha256, found.size):
        raise ModelError(
            "model",
            f"{name} is {found.file} (sha256 {found.sha256[:12]}…, {found.size} bytes), but {LOCK_NAME} has"
            f" {locked.file} ({locked.sha256[:12]}…, {locked.size} bytes); run `ragpress model lock` to accept it",
        )


def remembered_sha256(path: Path, cache: Path) -> str:
    """The same, taken from `cache` while size, time of change and inode are as before. Raises OSError.

    A model of 400 MB is hashed once and not at every build.
    """
    status = path.stat()
    stamp = [status.st_size, status.st_mtime_ns, status.st_ino]
    key = os.fspath(path.resolve())
    memory = cache / "sha256.json"
    known: dict[str, tuple[list[int], str]] = {}
    with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):  # it is only a memory
        known = msgspec.json.decode(memory.read_bytes(), type=dict[str, tuple[list[int], str]])
    if key in known and known[key][0] == stamp:
        return known[key][1]
    found = file_sha256(path)
    known.pop(key, None)
    known[key] = (stamp, found)
    with contextlib.suppress(BuildError):
        replace_file(memory, msgspec.json.encode(dict(list(known.items())[-_REMEMBERED:])))
    return found
