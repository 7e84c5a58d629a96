"""Results for a person: tables, and what a question found instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragpress.evaluation.confidence import Separation
from ragpress.evaluation.measuring import DEPTH, Figures, Measurement, Result, by_language, by_source, figures
from ragpress.knowledge_base import Mode
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


def separation_lines(found: Separation | None) -> list[str]:
    """How well questions with and without an answer are separated; nothing where there are none without."""
    if found is None:
        return []
    return [
        f"no answer: {found.unanswerable} of {found.answerable + found.unanswerable} questions have none;"
        f" area under the curve {found.area:.4f}",
        f"no answer: min_confidence = {found.threshold:.4f} serves best: it keeps {found.answered:.1%} of the questions"
        f" that have an answer, and rejects {found.rejected:.1%} of the others",
    ]


def comparison_lines(found: Mapping[Mode, Measurement]) -> list[str]:
    """The figures of several modes of search side by side, in total and by language."""
    rows: list[tuple[str, ...]] = [("", *HEADS, "")]
    for mode, measured in found.items():
        rows.append((mode, *cells(figures([result.rank for result in measured.results])), ""))
    for mode, measured in found.items():
        rows += [(mode, *cells(each), name) for name, each in by_language(measured.results).items()]
    lines = aligned(rows)
    for mode, measured in found.items():
        lines += [f"{mode}: {line}" for line in separation_lines(measured.separation)]
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


def to_json(found: Measurement | Mapping[Mode, Measurement]) -> str:
    """The figures as an object, or one by mode: `questions`, `hit@1`, `hit@3`, `hit@5`, `mrr@10`, `by_language`,
    `by_source`, and `no_answer` where there are questions without one."""
    data = _plain(found) if isinstance(found, Measurement) else {mode: _plain(each) for mode, each in found.items()}
    return msgspec.json.format(msgspec.json.encode(data), indent=1).decode()


def _plain(found: Measurement) -> dict[str, object]:
    return {
        **msgspec.to_builtins(figures([result.rank for result in found.results])),
        "by_language": by_language(found.results),
        "by_source": by_source(found.results),
        **({"no_answer": found.separation} if found.separation else {}),
    }
