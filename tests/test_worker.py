"""Sources are read in processes of their own: one that hangs, dies or eats memory fails alone, by name."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import msgspec
import pytest

from ragpress.config import Config
from ragpress.embedding.embedder import TokenCounter
from ragpress.errors import ModelError
from ragpress.models.known import tokenizer_file
from ragpress.pipeline.ahead import counting_ahead, load_ahead, loaded_ahead
from ragpress.pipeline.pool import Compiled, Failure, Job, Outcome, compile_sources
from ragpress.records import Chunk
from ragpress.repository import open_repository
from repository_maker import build
from tiny_builds import tiny_model, tiny_repository

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
    jobs = []
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        jobs.append(Job(name, str(path), CONFIG, str(tokenizer_file(CONFIG, folder)), ("search_document: ",)))
    return dict(zip(texts, compile_sources(jobs, processes), strict=True))


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
    jobs = [
        Job(name, str(tmp_path / name), CONFIG, str(tokenizer_file(CONFIG, tmp_path)), ("passage: ",))
        for name in ("gone.md", "folder.md")
    ]
    found = list(compile_sources(jobs))
    assert [outcome.code for outcome in found if isinstance(outcome, Failure)] == ["not-a-file", "not-a-file"]


# -- tokens that are asked for -----------------------------------------------------------------------------------------


def asking(folder: Path, texts: dict[str, str]) -> list[Job]:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [Job(name, str(folder / name), CONFIG, "", ("search_document: ",)) for name in texts]


def chunks_of(outcome: Outcome) -> tuple[Chunk, ...]:
    assert isinstance(outcome, Compiled), outcome
    return outcome.chunks


def test_tokens_that_a_worker_asks_for_give_the_chunks_of_tokens_that_it_counts(tmp_path: Path) -> None:
    long = "Записаться можно на сайте.\u2003Приём ведёт врач‑терапевт\u0085по будням. " * 60
    texts = {"one.md": f"{GOOD}\n{long}\n", "two.txt": f"{long}\n\nپاسخ: نشانی مطب را بپرسید.\n", "three.md": GOOD}
    counted = outcomes(tmp_path, texts)
    count = TokenCounter(tokenizer_file(CONFIG, tmp_path), "search_document: ")
    asked = compile_sources(asking(tmp_path, texts), 2, count=count)
    assert [chunks_of(outcome) for outcome in asked] == [chunks_of(outcome) for outcome in counted.values()]


def test_answering_is_not_on_the_source_s_clock_and_what_it_raises_ends_the_whole(tmp_path: Path) -> None:
    waited: list[str] = []

    def slow(text: str) -> int:
        if not waited:
            waited.append(text)
            time.sleep(1.5 * CONFIG.source_seconds)
        return len(text.split())

    (outcome,) = compile_sources(asking(tmp_path, {"a.md": GOOD}), 1, count=slow)
    assert len(chunks_of(outcome)) == 1

    def failing(text: str) -> int:
        raise ModelError("model", "the model file is gone")

    with pytest.raises(ModelError, match="is gone"):
        list(compile_sources(asking(tmp_path, {"a.md": GOOD, "b.md": GOOD}), 2, count=failing))


def test_a_source_that_asks_without_end_fails_by_its_time(mischief: Path) -> None:
    (mischief / "site" / "sitecustomize.py").write_text(
        "import ragpress.pipeline.compile as module\n"
        "def endless(job, compare, count):\n"
        "    number = 0\n"
        "    while True:\n"
        "        count(f'{number}')\n"
        "        number += 1\n"
        "module.compile_source = endless\n",
        encoding="utf-8",
    )
    (job,) = asking(mischief, {"a.md": GOOD})
    brief = msgspec.structs.replace(job, config=msgspec.structs.replace(CONFIG, source_seconds=1))
    (outcome,) = compile_sources([brief], 1, count=len)
    assert isinstance(outcome, Failure)
    assert outcome.code in {"too-slow", "too-large"}, "stopped by the clock, or by the system for its processor time"


def test_a_model_that_is_loaded_ahead_counts_tokens_and_is_handed_over_once(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", 1)
    build(root)
    repository, path = open_repository(root), tiny_model()
    whole = TokenCounter(path, "search_document: ")
    assert counting_ahead(path, "search_document: ") is None
    load_ahead(repository)
    count = counting_ahead(path, "search_document: ")
    assert count is not None
    assert [count(text) for text in ("", "приём", "نشانی مطب")] == [whole(text) for text in ("", "приём", "نشانی مطب")]
    weights = loaded_ahead(path)
    assert weights is not None
    weights.close()
    assert loaded_ahead(path) is None
