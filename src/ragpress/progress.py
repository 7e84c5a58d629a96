"""How far a long step is: a bar where a terminal is attached, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, int], None]
_EVERY = 30.0  # seconds between two lines where nobody watches a bar


@contextmanager
def progress(total: int, what: str, tell: Callable[[str], None]) -> Iterator[Advance]:
    """Gives a function that is called with how many of how many are done."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, desc=what, unit="", file=sys.stderr) as bar:

            def draw(done: int, _: int) -> None:
                bar.update(done - bar.n)

            yield draw
        return
    tell(f"ragpress: {what}: {total}")
    last = time.monotonic()

    def line(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            tell(f"ragpress: {what}: {done} of {of}")

    yield line
