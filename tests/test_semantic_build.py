"""Builds with the strategy `semantic`: what the workers embed, and when chunks are made again."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from compiling import chunk_all
from gguf_maker import write_nomic, xlm_roberta
from ragpress.config import Config
from ragpress.models.selection import use
from ragpress.pipeline.results import load_source, stale_sources
from ragpress.pipeline.semantic import Comparer, prepare
from ragpress.repository import Repository, open_repository
from ragpress.sources import find_sources
from ragpress.vectors.cache import VectorCache
from repository_maker import CLOSED, build, chunks, failing, make_repository, run, write_source

SETTINGS = """[tool.ragpress]
offline_model = "multilingual-e5-small"
strategy = "semantic"
max_tokens = 112
min_tokens = 24
breakpoint_percentile = 25
"""
GOLDENS = Path(__file__).resolve().parent / "goldens"
MUSEUM = (GOLDENS / "sources" / "usadba.md").read_text(encoding="utf-8")


def vectors(root: Path) -> int:
    with VectorCache(root / "build" / "cache" / "vectors.sqlite", print) as cache:
        return cache.count()


# -- similarities ----------------------------------------------------------------------------------------------------


def test_similarities_are_those_of_the_model_and_the_same_from_the_cache(tmp_path: Path) -> None:
    repository = Repository(tmp_path, Config(model="multilingual-e5-small", strategy="semantic"))
    pairs = [
        ("Билеты продаются в кассе.", "Взрослый билет стоит пятьсот рублей."),
        ("Билеты продаются в кассе.", "Щи варят из кислой капусты."),
        ("Билеты продаются в кассе.", "Билеты продаются в кассе."),
    ]
    with closing(Comparer(prepare(repository, print))) as compare:
        first = compare(pairs)
        assert compare(pairs[::-1]) == first[::-1]
    with closing(Comparer(prepare(repository, print))) as compare:
        assert compare(pairs) == first
    assert first[1] < first[0] < first[2]
    assert first[2] == pytest.approx(1.0, abs=1e-9)


# -- builds ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_repository(tmp_path_factory.mktemp("semantic") / "repo", {"usadba.md": MUSEUM}, SETTINGS)
    build(made)
    return made


def of_history(root: Path) -> list[dict[str, object]]:
    return [chunk for chunk in chunks(root) if chunk["section"] == "История дома"]


def chunk_again(root: Path) -> list[str]:
    """Chunks what is stale. Returns the chunks' texts."""
    repository = open_repository(root)
    chunk_all(repository, lambda _: None)
    return [chunk.text for chunk in load_source(repository, "usadba.md")[0]]


def is_stale(root: Path) -> bool:
    repository = open_repository(root)
    return bool(stale_sources(repository, find_sources(repository)))


def test_changing_the_setting_alone_changes_the_chunks_and_back(root: Path) -> None:
    assert "nothing to do" in build(root)
    cut = of_history(root)
    settings = (root / "pyproject.toml").read_text(encoding="utf-8")
    (root / "pyproject.toml").write_text(settings.replace("semantic", "fixed"), encoding="utf-8")
    build(root)
    assert [chunk["text"] for chunk in of_history(root)] != [chunk["text"] for chunk in cut]
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")
    before = vectors(root)
    build(root)
    assert of_history(root) == cut
    assert vectors(root) == before  # sentences are kept like any text


def test_the_chunk_command_cuts_as_the_build_does(root: Path) -> None:
    done = run(root, "ragpress", "chunk", "sources")
    assert done.returncode == 0, done.stderr
    printed = [json.loads(line)["chunk_id"] for line in done.stdout.splitlines()]
    assert printed == [chunk["chunk_id"] for chunk in chunks(root)]


def test_an_edit_compares_the_new_sentences_alone(root: Path) -> None:
    chunk_again(root)
    before = vectors(root)
    write_source(root, "usadba.md", MUSEUM.replace("Чай заваривают с мятой", "Квас настаивают на мяте"))
    assert is_stale(root) and "Квас" in "".join(chunk_again(root))
    assert vectors(root) - before == 1


def test_another_model_cuts_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", CLOSED)
    repository = open_repository(root)
    chunk_again(root)
    write_nomic(root / "own.gguf", vocabulary=xlm_roberta())
    settings = (root / "pyproject.toml").read_text(encoding="utf-8")
    (root / "pyproject.toml").write_text(f'{settings}model_path = "own.gguf"\n', encoding="utf-8")
    first = chunk_again(root)
    for name in ("nomic-embed-text-v2-moe", "multilingual-e5-small"):
        use(repository, name)
        assert is_stale(root)
        found = chunk_again(root)
        assert not is_stale(root)
        assert (found == first) == (name == "multilingual-e5-small")


def test_without_any_model_the_build_fails_in_one_line(tmp_path: Path) -> None:
    settings = SETTINGS.replace('offline_model = "multilingual-e5-small"\n', "")
    root = make_repository(tmp_path / "repo", {"usadba.md": MUSEUM}, settings)
    assert "the hub cannot be reached" in failing(root)
