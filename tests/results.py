"""Chunks and results of retrieval cases, made by hand."""

from __future__ import annotations

from ragpress.evaluation import Case, Result
from ragpress.records import Chunk, ContentType, Hit


def chunk(
    text: str, source: str = "klinika/wiki.md", section: str = "Оплата", kind: ContentType = "paragraph"
) -> Chunk:
    return Chunk(
        chunk_id="0" * 16,
        source=source,
        content_type=kind,
        section=section,
        headings=(section,),
        locator="L1",
        tokens=9,
        previous_chunk_id=None,
        next_chunk_id=None,
        context_chars=0,
        text=text,
    )


SCORES = tuple(9 - place / 2 for place in range(10))


def result(rank: int | None, question: str = "Как?", *sources: str, scores: tuple[float, ...] = SCORES) -> Result:
    """What a question found: a chunk `hit 1` and so on for each of the scores."""
    hits = tuple(Hit(chunk=chunk(f"hit {number}"), score=score) for number, score in enumerate(scores, 1))
    case = Case(question=question, place=f"golden/questions.jsonl:{len(question)}", sources=sources)
    return Result(case=case, hits=hits, rank=rank)
