"""Every strategy has its goldens: the chunks of two small documents as each of them cuts these.

`python tests/test_strategies.py` rewrites them; read what it changes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from invariants import check_chunks
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.embedding.embedder import TokenCounter
from ragpress.models.known import tokenizer_file
from ragpress.pipeline.semantic import Comparer, prepare
from ragpress.readers import read_document
from ragpress.records import Chunk
from ragpress.repository import Repository
from ragpress.review.golden import render_golden

GOLDENS = Path(__file__).resolve().parent / "goldens"
SOURCES = sorted((GOLDENS / "sources").iterdir())
STRATEGIES: tuple[Literal["fixed", "semantic"], ...] = ("fixed", "semantic")
MARGIN = 0.0035
"""Between the similarities on both sides of a percentile. The last bits of vectors differ from CPU to CPU, and with
them the similarities: by 0.00045 at most with weights laid out anew, an eighth of this."""


def config_of(strategy: Literal["fixed", "semantic"]) -> Config:
    return Config(
        model="multilingual-e5-small", max_tokens=112, min_tokens=24, strategy=strategy, breakpoint_percentile=25
    )


def chunked(path: Path, config: Config, folder: Path, asked: list[float]) -> tuple[tuple[Chunk, ...], list[str]]:
    """The chunks of a source, and its messages; `asked` gets all similarities that were asked for."""
    document = read_document(path.read_bytes(), path.name, config)
    count = TokenCounter(tokenizer_file(config, folder), "passage: ")
    with closing(Comparer(prepare(Repository(folder, config), print))) as compare:

        def noting(pairs: Sequence[tuple[str, str]]) -> list[float]:
            found = compare(pairs)
            asked.extend(found)
            return found

        chunks, messages = chunk_document(document, config, count, noting)
    check_chunks(document, chunks, config.max_tokens, count)
    return chunks, [f": {message.severity}: {message.text}" for message in (*document.messages, *messages)]


def rendered(strategy: Literal["fixed", "semantic"], folder: Path) -> dict[str, str]:
    found = {path: chunked(path, config_of(strategy), folder, []) for path in SOURCES}
    return {path.name: render_golden(*chunks) for path, chunks in found.items()}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_chunks_of_a_strategy_are_its_goldens(strategy: Literal["fixed", "semantic"], tmp_path: Path) -> None:
    texts = rendered(strategy, tmp_path)
    assert {path.stem for path in (GOLDENS / strategy).iterdir()} == set(texts)
    for source, text in texts.items():
        assert text == (GOLDENS / strategy / f"{source}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_goldens_do_not_hang_on_the_last_bits_of_a_vector(path: Path, tmp_path: Path) -> None:
    config = config_of("semantic")
    asked: list[float] = []
    chunked(path, config, tmp_path, asked)
    below = len(asked) * config.breakpoint_percentile // 100
    ordered = sorted(asked)
    assert below and ordered[below] - ordered[below - 1] >= MARGIN, ordered


if __name__ == "__main__":
    for name in STRATEGIES:
        with tempfile.TemporaryDirectory() as made:
            for source, text in rendered(name, Path(made)).items():
                (GOLDENS / name).mkdir(exist_ok=True)
                (GOLDENS / name / f"{source}.txt").write_text(text, encoding="utf-8", newline="\n")
