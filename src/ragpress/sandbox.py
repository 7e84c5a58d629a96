"""Limits on what reads hostile input: this process's time and memory, and another program's network and secrets too."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

_LIMITED = 'ulimit -v "$1" 2>/dev/null; shift; exec "$@"'  # not every system can limit memory; the time limit stays
_UNSHARED = ("unshare", "--map-root-user", "--net", "--")


class Ended(NamedTuple):
    """How a program ended: its exit status, or minus the signal that killed it, and what it printed."""

    status: int
    output: bytes
    errors: str


def run(
    command: Sequence[str],
    *,
    seconds: float,
    megabytes: int,
    data: bytes = b"",
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    network: bool = True,
) -> Ended:
    """Runs `command` with `data` on its standard input, in `folder`.

    Of the environment it sees PATH and `variables` alone. `network=False` takes the network away where the system
    lets a user do so. Raises TimeoutError after `seconds`, when the program and all that it started are killed, and
    OSError where it cannot be started.
    """
    wrapped = ["/bin/sh", "-c", _LIMITED, "sh", str(megabytes * 1024), *command]
    if not network and _can_unshare():
        wrapped = [*_UNSHARED, *wrapped]
    with subprocess.Popen(
        wrapped,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", **(variables or {})},
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(data, seconds)
        except subprocess.TimeoutExpired:
            _kill(process)
            raise TimeoutError from None
        except BaseException:
            _kill(process)
            raise
    return Ended(process.returncode, output, errors.decode("utf-8", "replace"))


def _kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)  # its own session: nothing but what it started
    process.communicate()


@cache
def _can_unshare() -> bool:
    """Whether a user may have a network of his own here; containers often forbid it."""
    if shutil.which(_UNSHARED[0]) is None:
        return False
    return subprocess.run([*_UNSHARED, "true"], capture_output=True, check=False).returncode == 0


# -- this process ----------------------------------------------------------------------------------------------------


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def limit_memory(megabytes: int) -> None:
    """Lets this process take so much more address space than it has; a MemoryError follows beyond."""
    status = Path("/proc/self/statm")
    if not status.exists():  # other systems have no cheap way to tell what is in use already
        return
    used = int(status.read_text().split()[0]) * resource.getpagesize()
    limit = used + megabytes * (1 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def limit_time(seconds: int) -> None:
    """Has the system end this process once it has computed for so long: its parent, which would, may be gone."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + seconds * (os.cpu_count() or 1) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
