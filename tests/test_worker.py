"""Sources are read in processes of their own: one that hangs, dies or eats memory fails alone, by name."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from compiling import compiled
from ragpress.config import Config
from ragpress.errors import SourceError
from ragpress.pipeline.chunk import read_source
from ragpress.pipeline.pool import Pool
from ragpress.pipeline.results import Compiled, Failure, Job, Outcome
from ragpress.repository import Repository

CONFIG = Config(source_seconds=4, source_megabytes=300)
GOOD = "# Клиника\n\n## Запись\n\nЗаписаться можно на сайте.\n"

# A reader of `.md` files that misbehaves on demand, put in the place of the real one by the worker's environment.
MISCHIEF = """
import os, sys, time
import ragpress.readers.markdown as module

real = module.read_markdown

def read_markdown(data, source, config):
    if b"hang" in data:
        time.sleep(60)
    if b"die" in data:
        os._exit(7)
    if b"eat" in data:
        return [bytearray(1 << 26) for _ in range(100)]
    if b"fault" in data:
        raise ZeroDivisionError("by nothing")
    if b"talk" in data:
        print("a library's chatter")
    return real(data, source, config)

module.read_markdown = read_markdown
"""


def outcomes(folder: Path, texts: dict[str, str], processes: int = 2) -> dict[str, Outcome]:
    return compiled(folder, {name: text.encode() for name, text in texts.items()}, CONFIG, processes)


@pytest.fixture
def mischief(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(MISCHIEF, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)]))
    return tmp_path


def test_sources_that_misbehave_fail_alone_and_by_name(mischief: Path) -> None:
    texts = {name: f"{GOOD}\n{name}\n" for name in ("hang.md", "good.md", "die.md", "eat.md", "fault.md", "talk.md")}
    found = outcomes(mischief, texts)
    failures = {name: outcome for name, outcome in found.items() if isinstance(outcome, Failure)}
    assert {name: failure.code for name, failure in failures.items()} == {
        "hang.md": "too-slow",
        "die.md": "too-large",
        "eat.md": "too-large",
        "fault.md": "internal",
    }
    assert "status 7" in failures["die.md"].text
    assert "ZeroDivisionError" in failures["fault.md"].text
    assert [name for name, failure in failures.items() if failure.lasting] == ["fault.md"]
    assert {name for name, outcome in found.items() if isinstance(outcome, Compiled)} == {"good.md", "talk.md"}


def test_outcomes_come_in_the_order_of_the_jobs_whatever_the_number_of_workers(tmp_path: Path) -> None:
    texts = {f"{number}.md": GOOD.replace("сайте", f"сайте {number}") for number in range(12)}
    one, two = outcomes(tmp_path, texts, 1), outcomes(tmp_path, texts, 2)
    chunks = [[outcome.chunks for outcome in found.values() if isinstance(outcome, Compiled)] for found in (one, two)]
    assert len(chunks[0]) == len(texts)
    assert chunks[0] == chunks[1]


def test_a_file_that_is_gone_or_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    for name, reason in (("gone.md", "there is no such file"), ("folder.md", "not a regular file")):
        with pytest.raises(SourceError, match=reason):
            read_source(tmp_path / name, name)


def test_a_pool_that_was_stopped_starts_new_workers(tmp_path: Path) -> None:
    data = GOOD.encode()
    job = Job(source="a.md", sha256=hashlib.sha256(data).hexdigest(), data=data, config=CONFIG)
    with Pool(Repository(tmp_path, CONFIG), print, 1) as pool:
        first = pool.compile(job)
        pool.stop()
        assert replace(pool.compile(job), seconds=0.0) == replace(first, seconds=0.0)
