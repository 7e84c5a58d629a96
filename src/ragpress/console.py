"""The one way to report to a person: finished lines on standard error, progress, plural forms."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from tqdm import tqdm

Report = Callable[[str], None]
"""Receives one finished line for the person who builds."""

_AFTER = 2.0  # seconds: what is done sooner shows no progress
_EVERY = 10.0  # seconds between two lines where there is no terminal


def write_utf8() -> None:
    """Has standard output and errors take every letter: the same bytes under every locale, and no traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def report(line: str) -> None:
    """A line for the person who builds, on standard error, above a progress bar that is there."""
    if Progress.bars:
        from tqdm import tqdm

        with tqdm.external_write_mode(file=sys.stderr):
            print(line, file=sys.stderr, flush=True)
    else:
        print(line, file=sys.stderr, flush=True)


def plural(number: int, one: str, many: str) -> str:
    """`1 chunk`, `2 chunks`."""
    return f"{number} {one if number == 1 else many}"


def under_ci() -> bool:
    """Whether nobody watches this build, as the variable CI says."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


class Progress:
    """How far `what` is, of which there are `total` `unit`, with rate and time left; a context manager.

    On a terminal it is a bar, from two seconds on; elsewhere a line every ten seconds; under CI nothing. Safe from
    several threads.
    """

    bars = 0
    """How many are drawn now."""

    def __init__(self, what: str, total: int, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._done = 0
        self._begun = self._shown = time.monotonic()
        self._quiet = under_ci()
        self._bar: tqdm[None] | None = None
        self._lock = threading.Lock()

    def advance(self, number: int = 1) -> None:
        """So many more are done."""
        with self._lock:
            self._done += number
            if self._bar is not None:
                self._bar.update(number)
            elif not self._quiet and time.monotonic() - self._shown >= (_AFTER if sys.stderr.isatty() else _EVERY):
                self._show()

    def _show(self) -> None:
        self._shown = time.monotonic()
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=self._total, desc=self._what, unit=f" {self._unit}", file=sys.stderr, leave=False)
            self._bar.start_t -= self._shown - self._begun
            self._bar.update(self._done)
            self._bar.refresh()
            Progress.bars += 1
        else:
            rate = self._done / max(self._shown - self._begun, 0.001)
            speed = f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}"
            left = max(self._total - self._done, 0) / max(rate, 0.001)
            report(
                f"ragpress: {self._what}: {self._done} of {self._total} {self._unit}, {speed} a second,"
                f" {_duration(left)} left"
            )

    def close(self) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.close()
                self._bar = None
                Progress.bars -= 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
