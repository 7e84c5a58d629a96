"""What differs between operating systems: processors, limits, ending a program, exchanging folders, files on the disk.

Nothing else asks which system it runs on. What a system lacks is asked of it when it is needed, not of its name, so
that taking it away shows what remains: no limit on memory, two renamings in the place of an exchange.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_AT_FDCWD = -100
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux's renameat2, RENAME_SWAP of macOS's renamex_np
_LIMITED = 'ulimit -v "$1" 2>/dev/null; shift; exec "$@"'
_SHELL = "/bin/sh"


def _module(name: str) -> Any:
    """A module of the standard library that only some systems have; None elsewhere."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# -- this process ----------------------------------------------------------------------------------------------------


def processors() -> int:
    """The number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def limit_memory(megabytes: int) -> None:
    """Lets this process take so much more address space than it has; a MemoryError follows beyond. Linux alone."""
    resource, status = _module("resource"), Path("/proc/self/statm")
    if resource is None or not status.exists():  # other systems have no cheap way to tell what is in use already
        return
    limit = int(status.read_text().split()[0]) * resource.getpagesize() + megabytes * (1 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def limit_time(seconds: int) -> None:
    """Has the system end this process once it has computed for so long: its parent, which would, may be gone.

    Not on Windows, where the parent alone ends it.
    """
    resource = _module("resource")
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + seconds * (os.cpu_count() or 1) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Lets a process that is started here inherit that an interrupt is not for it: its parent decides what it means."""
    mask = getattr(signal, "pthread_sigmask", None)
    if mask is None:
        yield
        return
    before = mask(getattr(signal, "SIG_BLOCK"), {signal.SIGINT})  # noqa: B009 (not on every system)
    try:
        yield
    finally:
        mask(getattr(signal, "SIG_SETMASK"), before)  # noqa: B009


# -- another program -------------------------------------------------------------------------------------------------


def limited(command: Sequence[str], megabytes: int) -> list[str]:
    """The command with a limit on its address space, where a shell can set one."""
    return [_SHELL, "-c", _LIMITED, "sh", str(megabytes * 1024), *command] if os.path.exists(_SHELL) else [*command]  # noqa: PTH110


def kill_with_children(process: subprocess.Popen[bytes]) -> None:
    """Ends a program that was started with `start_new_session`, and all that it started."""
    kill_group = getattr(os, "killpg", None)
    if kill_group is not None:
        with suppress(ProcessLookupError):
            kill_group(process.pid, getattr(signal, "SIGKILL"))  # noqa: B009
    else:
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        process.kill()
    process.communicate()


# -- folders ---------------------------------------------------------------------------------------------------------


def synchronise(folder: Path) -> None:
    """Has the names in a folder written to the disk, where the system lets a folder be opened. Raises OSError."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders, and keeps their names in its journal
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def exchange(one: Path, two: Path) -> bool:
    """Swaps two folders' names in one step; false where the system cannot. Raises OSError where it refuses."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
    except TypeError:  # Windows
        return False
    names = os.fsencode(one), os.fsencode(two)
    if hasattr(library, "renameat2"):
        status = library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE)
    elif hasattr(library, "renamex_np"):
        status = library.renamex_np(*names, _EXCHANGE)
    else:
        return False
    if status == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, getattr(errno, "ENOTSUP", errno.EINVAL)):  # a file system without it
        return False
    raise OSError(code, os.strerror(code))
