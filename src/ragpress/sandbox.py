"""Another program on hostile input: its time, memory, network and secrets are limited."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ragpress.system import kill_with_children, limited

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
    wrapped = limited(command, megabytes)
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
            kill_with_children(process)
            raise TimeoutError from None
        except BaseException:
            kill_with_children(process)
            raise
    return Ended(process.returncode, output, errors.decode("utf-8", "replace"))


@cache
def _can_unshare() -> bool:
    """Whether a user may have a network of his own here; containers often forbid it."""
    if shutil.which(_UNSHARED[0]) is None:
        return False
    return subprocess.run([*_UNSHARED, "true"], capture_output=True, check=False).returncode == 0
