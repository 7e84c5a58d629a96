"""Results for a person: tables, and what a question found instead."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragpress.evaluation.measuring import DEPTH, Figures, Result, by_language, by_source, figures
from ragpress.review.diff.showing import shorten, visible

_SHOWN = 100  # characters of a question or chunk in a line

HEADS = ("questions", "hit@1", "hit@3", "hit@5", "MRR@10")


def cells(found: Figures) -> tuple[str, ...]:
    """The figures below `HEADS`."""
    shares = (found.hit_at_1, found.hit_at_3, found.hit_at_5, found.mrr_at_10)
    return (str(found.questions), *(f"{share:.4f}" for share in shares))


def table(results: Sequence[Result]) -> list[str]:
    """The figures in total, by language and by source.

    A name stands last in its line and a Latin word first, so that a terminal that lays out right-to-left names leaves
    the columns alone.
    """
    rows = [("", *HEADS, ""), ("total", *cells(figures([result.rank for result in results])), "")]
    rows += [("language", *cells(found), name) for name, found in by_language(results).items()]
    rows += [("source", *cells(found), visible(name) or "(any)") for name, found in by_source(results).items()]
    return aligned(rows)


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of a table: the first column to the left, the last as it is, all others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *middle, last in rows:
        inner = [cell.rjust(width) for cell, width in zip(middle, widths[1:-1], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *inner, last]).rstrip())
    return lines


def report_lines(results: Sequence[Result]) -> list[str]:
    """The table, and the questions whose right chunk is not among the first five hits."""
    lines = table(results)
    for result in misses(results):
        lines += ["", f"{result.case.place}: {rank_words(result.rank)}", *found_instead(result)]
    return lines


def misses(results: Sequence[Result]) -> list[Result]:
    """The results that hit@5 does not count."""
    return [result for result in results if result.rank is None or result.rank > 5]


def rank_words(rank: int | None) -> str:
    return f"rank {rank}" if rank else f"beyond rank {DEPTH}"


def found_instead(result: Result) -> list[str]:
    """The question, and what it finds first, a thing a line: a line of one direction stays readable."""
    lines = [f"    question  {_short(result.case.question)}"]
    if result.obstacle:
        lines.append(f"    expected  {_short(result.obstacle)}")
    if result.hits:
        chunk = result.hits[0].chunk
        lines.append(f"    first     {visible(f'{chunk.source}:{chunk.locator}')}")
        if chunk.section:
            lines.append(f"    section   {_short(chunk.section)}")
        lines.append(f"    text      {_short(chunk.text[chunk.context_chars :])}")
    return lines


def _short(text: str) -> str:
    return shorten(visible(" ".join(text.split())), _SHOWN)


def to_json(results: Sequence[Result]) -> str:
    """The figures as an object: `questions`, `hit@1`, `hit@3`, `hit@5`, `mrr@10`, `by_language`, `by_source`."""
    found = {
        **msgspec.to_builtins(figures([result.rank for result in results])),
        "by_language": by_language(results),
        "by_source": by_source(results),
    }
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode()
