"""Thousands of damaged inputs: each ends in chunks or in one named error, within bounds of time and memory.

`RAGPRESS_FUZZ=10000` tries so many, instead of a small sample; `RAGPRESS_FUZZ=500:900` those of these numbers.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import fuzzer
from compiling import compiled
from ragpress.config import Config
from ragpress.errors import CODES
from ragpress.pipeline.results import Compiled, Failure

CONFIG = Config(offline_model="multilingual-e5-small", source_seconds=10, source_megabytes=400, min_coverage=0.0)
ABOUT_A_SOURCE = {
    "bad-archive",
    "bad-encoding",
    "coverage",
    "empty-source",
    "encrypted",
    "front-matter",
    "legacy-doc",
    "too-large",
    "unknown-suffix",
}
"""Codes by which damage may be named."""


def numbers() -> range:
    first, _, last = os.environ.get("RAGPRESS_FUZZ", "150").rpartition(":")
    return range(int(first or 0), int(last))


def test_every_damaged_input_ends_in_chunks_or_one_named_error(tmp_path: Path) -> None:
    samples = fuzzer.samples()
    made = [fuzzer.mutant(samples, number) for number in numbers()]
    wrong = []
    ends: dict[str, int] = {}
    slowest = 0.0
    begin = time.monotonic()
    for item, outcome in zip(
        made, compiled(tmp_path, {item.name: item.data for item in made}, CONFIG).values(), strict=True
    ):
        end = outcome.code if isinstance(outcome, Failure) else "chunks"
        ends[end] = ends.get(end, 0) + 1
        slowest = max(slowest, outcome.seconds)
        if isinstance(outcome, Compiled):
            sound = bool(outcome.chunks) and all(message.code in CODES for message in outcome.messages)
        else:
            sound = outcome.code in ABOUT_A_SOURCE and "the reading process ended" not in outcome.text
            sound = sound and "\n" not in outcome.text and "; " in outcome.text
        if not sound:
            what = outcome.text if isinstance(outcome, Failure) else "no chunks"
            wrong.append(f"{item.name} ({item.recipe}): {end}: {what}")
    assert not wrong, "\n".join(wrong)
    assert ends["chunks"] > len(made) / 10
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"{len(made)} inputs in {time.monotonic() - begin:.0f} s, slowest {slowest:.1f} s, {memory} MB: {ends}")
