"""The one way to report to a person: finished lines on standard error, progress, plural forms."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str], None]
"""Receives one finished line for the person who builds."""

Advance = Callable[[int, int], None]
_EVERY = 30.0  # seconds between two lines where nobody watches a bar


def write_utf8() -> None:
    """Has standard output and errors take every letter: the same bytes under every locale, and no traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def report(line: str) -> None:
    """A line for the person who builds, on standard error."""
    print(line, file=sys.stderr, flush=True)


def plural(number: int, one: str, many: str) -> str:
    """`1 chunk`, `2 chunks`."""
    return f"{number} {one if number == 1 else many}"


@contextmanager
def progress(total: int, what: str, tell: Callable[[str], None]) -> Iterator[Advance]:
    """Gives a function that is called with how many of how many are done.

    A bar where a terminal is attached, a line now and then elsewhere.
    """
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, desc=what, unit="", file=sys.stderr) as bar:

            def draw(done: int, _: int) -> None:
                bar.update(done - bar.n)

            yield draw
        return
    report(f"ragpress: {what}: {total}")
    last = time.monotonic()

    def line(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            report(f"ragpress: {what}: {done} of {of}")

    yield line
