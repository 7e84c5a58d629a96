"""A finished folder takes the place of another in one step, and what a killed build left is tidied up."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from pathlib import Path

from ragpress.errors import BuildError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def recover(target: Path) -> None:
    """Tidies up after a killed build: no half-written folder is left, and one that was set aside stands again.

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
            told = f"{left.name}/, left over from an earlier build, cannot be removed: {reason}; remove it by hand"
            raise BuildError("disk", told) from None


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


def _synchronise(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def put_in_place(staging: Path, target: Path) -> None:
    """The new folder under the old one's name, on the disk. At every moment one of the two stands there, whole.

    Raises OSError.
    """
    _synchronise(staging)
    if not target.exists():
        staging.rename(target)
        _synchronise(target.parent)
    elif _exchange(staging, target):
        _synchronise(target.parent)
        shutil.rmtree(staging, ignore_errors=True)  # the old one by now; where it stays, the next build removes it
    else:
        # A kill between these two leaves the old one set aside, where readers and the next build look for it.
        target.rename(_aside(target))
        staging.rename(target)
        _synchronise(target.parent)
        shutil.rmtree(_aside(target), ignore_errors=True)


def _exchange(one: Path, two: Path) -> bool:
    """Swaps two folders' names in one step, if the system can (Linux: renameat2)."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(two), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL):  # a file system or kernel without it
        return False
    raise OSError(code, os.strerror(code))
