"""The indexes of 100,000 chunks: building, recall, every chunk found by its own vector, opening, search by both."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragpress.artifact import format as settings
from ragpress.artifact import index
from ragpress.artifact.format import model_record
from ragpress.artifact.jsonl import encode_document
from ragpress.artifact.read import open_artifact
from ragpress.artifact.search import Search
from ragpress.artifact.write import in_memory, lines_of, write_artifact
from ragpress.knowledge_base import KnowledgeBase
from ragpress.lexical import words
from ragpress.lexical.postings import build_postings
from ragpress.models.known import KNOWN, ModelFile
from ragpress.records import Chunk, DocumentEntry, chunk_id

DIMENSIONS = 768
COPIES = 600
WORDS = 12_000
_OPEN = """
import resource, sys, time
from ragpress.knowledge_base import KnowledgeBase
import numpy, usearch.index
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.perf_counter()
base = KnowledgeBase.open(sys.argv[1])
print(time.perf_counter() - begin, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def vectors(count: int) -> npt.NDArray[np.float16]:
    """Unit vectors in clusters, as texts of a few topics are; the first `COPIES` are one boilerplate text's."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((200, DIMENSIONS), np.float32)
    made = centres[random.integers(0, len(centres), count)] + random.standard_normal((count, DIMENSIONS), np.float32)
    made[:COPIES] = made[0]
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made.astype(np.float16)


def vocabulary() -> list[str]:
    """Made-up Russian and Persian words, the most frequent first."""
    random = np.random.default_rng(3)
    words = []
    for number in range(WORDS):
        letters = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфё" if number % 2 else "اینرمدتوهبشکسزفجلقگپحعخصطضظذچغثژ"
        words.append("".join(letters[at] for at in random.integers(0, len(letters), random.integers(2, 11))))
    return words


def texts_of(count: int) -> list[str]:
    """Texts of about 890 characters, as frequent words are frequent in a language; the first `COPIES` are the same."""
    random, words = np.random.default_rng(4), vocabulary()
    drawn = np.minimum(random.zipf(1.2, (count, 140)) - 1, WORDS - 1)
    made = [" ".join([words[at] for at in row]) for row in drawn.tolist()]
    return [f"{made[max(number, COPIES - 1)]} {max(number, COPIES - 1)}." for number in range(count)]


def chunks(count: int) -> list[Chunk]:
    """One source of so many chunks; the first `COPIES` say the same."""
    texts = [f"## Раздел\n\n{text}" for text in texts_of(count)]
    ids: list[str | None] = [chunk_id("a.md", (), text, number) for number, text in enumerate(texts)]
    return [
        Chunk(
            chunk_id=ids[number] or "",
            source="a.md",
            content_type="paragraph",
            section="Раздел",
            headings=("Раздел",),
            locator=f"L{number + 1}",
            tokens=20,
            previous_chunk_id=ids[number - 1] if number else None,
            next_chunk_id=ids[number + 1] if number + 1 < count else None,
            context_chars=11,
            text=text,
        )
        for number, text in enumerate(texts)
    ]


def usearch_alone(keys: npt.NDArray[np.uint64], rows: npt.NDArray[np.float16]) -> float:
    """Seconds of one graph with the tool's parameters, one thread."""
    from usearch.index import Index

    graph = Index(
        ndim=DIMENSIONS,
        metric=settings.METRIC,
        dtype=settings.DTYPE,
        connectivity=settings.CONNECTIVITY,
        expansion_add=settings.EXPANSION_ADD,
        expansion_search=settings.EXPANSION_SEARCH,
    )
    begin = time.perf_counter()
    graph.add(keys, rows, threads=1)
    return time.perf_counter() - begin


def run(folder: Path, count: int = 100_000, alone: int = 20_000) -> Iterator[tuple[str, float, str]]:
    """(what, figure, details)."""
    rows, lines = vectors(count), chunks(count)
    keys = np.array([int(chunk.chunk_id, 16) for chunk in lines], np.uint64)
    order = np.argsort(keys[:alone])
    begin = time.perf_counter()
    index.build_graph(keys[:alone][order], rows[:alone][order])
    own = time.perf_counter() - begin
    bare = usearch_alone(keys[:alone][order], rows[:alone][order])
    yield f"index of {alone} / usearch alone", own / bare, f"{own:.1f} s / {bare:.1f} s"

    model = KNOWN["nomic-embed-text-v2-moe"]
    file = ModelFile(model=model, path=folder / "none.gguf", sha256="0" * 64, size=0, dimensions=DIMENSIONS)
    entry = DocumentEntry(
        source="a.md", sha256="0" * 64, title="", front_matter={}, chunks=count, coverage=1.0, gaps=(), left_out={},
        messages=(),
    )  # fmt: skip
    begin = time.perf_counter()
    write_artifact(
        folder / "kb",
        chunks=lines_of(lines),
        documents=encode_document(entry),
        vectors=in_memory(rows),
        model=model_record(file),
        engines=("synthetic",),
        chunking={},
    )
    yield f"whole artifact of {count}, s", time.perf_counter() - begin, "two processes"
    yield from _words(folder / "kb", [line.text for line in lines])
    yield from _search(folder / "kb", rows, lines)
    seconds, memory = min(_opened(folder / "kb") for _ in range(5))
    yield f"opening {count} chunks, ms", seconds * 1000, f"{memory:.0f} MB; the limits are 100 ms and 100 MB"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield "peak memory, MB", peak, "inputs of the benchmark included"


def _words(folder: Path, texts: list[str]) -> Iterator[tuple[str, float, str]]:
    begin = time.process_time()
    words.clear_remembered()
    for place in range(0, len(texts), len(texts) // 64):
        build_postings(texts[place : place + len(texts) // 64])
    yield f"word index of {len(texts)}, s of one core", time.process_time() - begin, "the limit is 20 s"
    size = sum(path.stat().st_size for path in folder.glob("words*"))
    yield "its size / chunks.jsonl", size / (folder / "chunks.jsonl").stat().st_size, f"{size / 1e6:.0f} MB; limit 0.5"


def _search(folder: Path, rows: npt.NDArray[np.float16], lines: list[Chunk]) -> Iterator[tuple[str, float, str]]:
    random = np.random.default_rng(2)
    queries = random.standard_normal((200, DIMENSIONS), np.float32) + rows[random.integers(0, len(rows), 200)] * 20
    exact = np.argsort(-(queries @ rows.astype(np.float32).T), axis=1, kind="stable")[:, :10]
    picked = sorted({*random.integers(0, len(rows), 1000).tolist(), *range(COPIES)})
    with KnowledgeBase.open(folder) as base:
        begin = time.perf_counter()
        found = [base.search_vector(query, 10) for query in queries]
        each = (time.perf_counter() - begin) / len(queries)
        hits = sum(
            len({hit.chunk.chunk_id for hit in hits} & {lines[at].chunk_id for at in wanted})
            for hits, wanted in zip(found, exact, strict=True)
        )
        yield "recall@10", hits / exact.size, f"{each * 1000:.1f} ms a search"
        own = sum(
            any(hit.chunk.text == lines[at].text for hit in base.search_vector(rows[at].astype(np.float32), 5))
            for at in picked
        )
        yield from _both(folder, queries, [line.text for line in lines])
    yield "found among the first 5 by its own vector", own / len(picked), f"{own} of {len(picked)}, copies included"


def _both(folder: Path, queries: npt.NDArray[np.float32], texts: list[str]) -> Iterator[tuple[str, float, str]]:
    """Search by vectors and words against search by vectors, questions of eight words."""
    random = np.random.default_rng(5)
    search = Search(open_artifact(folder))
    units = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    asked = [" ".join(random.choice(texts[at].split(), 8)) for at in random.integers(COPIES, len(texts), len(units))]
    times: dict[str, list[float]] = {"vector": [], "words": [], "both": []}
    for question, query in zip(asked, units, strict=True):
        clock = [time.perf_counter()]
        search.by_vector(query, 10)
        clock.append(time.perf_counter())
        search.by_words(question, 10)
        clock.append(time.perf_counter())
        search.by_both(question, query, 10)
        clock.append(time.perf_counter())
        for name, begin, end in zip(times, clock, clock[1:], strict=False):
            times[name].append(end - begin)
    middle = {name: float(np.median(found)) * 1000 for name, found in times.items()}
    details = ", ".join(f"{name} {each:.1f} ms" for name, each in middle.items())
    yield "search by both / by vectors", middle["both"] / middle["vector"], f"{details}; the limit is 2"


def _opened(folder: Path) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", _OPEN, str(folder)], capture_output=True, text=True, check=True)
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory
