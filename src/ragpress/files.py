"""Files on this machine: whole writes, folders swapped in one step, checksummed records, signatures, locks."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from ragpress.errors import BuildError
from ragpress.system import exchange, synchronise

_Record = TypeVar("_Record")


# -- one file --------------------------------------------------------------------------------------------------------


def replace_file(path: Path, data: bytes) -> None:
    """Writes beside `path` and renames into place: a reader sees the old file or the new one, never a mixture.

    Makes the folders above it. Two processes may write the same file at once. Raises BuildError if the disk refuses.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_native_id()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(data)
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise BuildError("disk", f"{path.name} cannot be written: {reason}; make room or allow it") from None


def write_checksummed(path: Path, data: bytes) -> None:
    """Replaces a file whose last line is the crc32 of what stands before. Raises BuildError if the disk refuses."""
    replace_file(path, b"%b\n%08x" % (data, zlib.crc32(data)))


def read_checksummed(
    path: Path, decoder: msgspec.json.Decoder[_Record] | msgspec.msgpack.Decoder[_Record]
) -> _Record | None:
    """The record that `write_checksummed` wrote; None where it is missing, damaged or of another version."""
    try:
        data, _, checksum = path.read_bytes().rpartition(b"\n")
        return decoder.decode(data) if zlib.crc32(data) == int(checksum or b"-1", 16) else None
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds a lock on a file that other processes ask for; the system releases it when the process ends, however.

    `waiting` is called once where another process holds it. Raises BuildError where the file cannot be made.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            waiting()
            lock.acquire()
    except OSError as error:
        raise BuildError(
            "disk", f"{path.parent.name}/ cannot be written: {error.strerror}; check the folder's rights"
        ) from None
    try:
        yield
    finally:
        lock.release()


# -- what tells files and values apart -------------------------------------------------------------------------------


def fingerprint(*parts: object) -> str:
    """The sha256 (64 hex digits) over plain values."""
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def file_sha256(path: Path) -> str:
    """The sha256 of a file's content, 64 hex digits. Raises OSError."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def stat_signature(path: Path | str) -> str:
    """Changes with whatever is done to a file; empty where there is none."""
    try:
        return signature_of(os.stat(path))  # noqa: PTH116 (a string is as good, for each source)
    except OSError:
        return ""


def signature_of(status: os.stat_result) -> str:
    """The same of a status. The time of the last change of the inode is in it, which nobody can set back."""
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def copy_signature(path: Path | str) -> str:
    """Size and modification time, which a copy may keep; empty where there is no file."""
    return stat_signature(path).rpartition("-")[0]


def tree_signature(folder: Path) -> str:
    """The sha256 over names, sizes and modification times of all files below the folder; no file is opened."""
    digest = hashlib.sha256()
    for name, status in sorted(_files(folder, "")):
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _files(folder: Path, prefix: str) -> Iterable[tuple[str, os.stat_result]]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        status = entry.stat()
        if stat.S_ISDIR(status.st_mode):
            yield from _files(Path(entry.path), f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", status


# -- folders ---------------------------------------------------------------------------------------------------------


def files_below(folder: Path) -> list[str]:
    """The POSIX paths of all files below the folder, in no order; links are not followed."""
    found: list[str] = []
    waiting = [("", folder)]
    while waiting:
        prefix, place = waiting.pop()
        for entry in os.scandir(place) if place.is_dir() else ():
            if entry.is_dir(follow_symlinks=False):
                waiting.append((f"{prefix}{entry.name}/", Path(entry.path)))
            else:
                found.append(f"{prefix}{entry.name}")
    return found


def remove_empty_parents(root: Path, folder: Path) -> None:
    """Removes `folder` and its parents below `root` as long as they are empty."""
    while folder != root and root in folder.parents:
        with suppress(OSError):  # not empty: it stays
            folder.rmdir()
        folder = folder.parent


def recover(target: Path) -> None:
    """Tidies up after a killed build: no half-written folder is left, and one that was set aside is put back.

    Raises BuildError where the disk refuses.
    """
    target = target.resolve()
    aside = _aside(target)
    try:
        if aside.exists() and not target.exists():
            aside.rename(target)
    except OSError as error:
        raise disk_error(target, error) from None
    for left in (aside, staging_folder(target)):
        try:
            if left.exists():
                shutil.rmtree(left)
        except OSError as error:  # such as the artifact that another user built
            reason = error.strerror or str(error)
            text = f"{left.name}/, left over from an earlier build, cannot be removed: {reason}; remove it by hand"
            raise BuildError("disk", text) from None


def staging_folder(target: Path) -> Path:
    """Where a new folder is made whole before it takes the place of `target`."""
    return target.with_name(f"{target.name}.new")


def _aside(target: Path) -> Path:
    return target.with_name(f"{target.name}.old")


def disk_error(target: Path, error: OSError) -> BuildError:
    """What the disk refused, as a line for a person."""
    reason = error.strerror or str(error)
    return BuildError(
        "disk",
        f"{target.name}/ cannot be written: {reason}; make room or check the rights of {target.parent.name}/"
        " (what stood there is untouched)",
    )


def put_in_place(staging: Path, target: Path) -> None:
    """The new folder under the old one's name, on the disk. At every moment one of the two is there, whole.

    Raises OSError.
    """
    synchronise(staging)
    if not target.exists():
        staging.rename(target)
        synchronise(target.parent)
    elif exchange(staging, target):
        synchronise(target.parent)
        shutil.rmtree(staging, ignore_errors=True)  # the old one by now; where it stays, the next build removes it
    else:
        # A kill between these two leaves the old one set aside, where readers and the next build look for it.
        target.rename(_aside(target))
        staging.rename(target)
        synchronise(target.parent)
        shutil.rmtree(_aside(target), ignore_errors=True)
