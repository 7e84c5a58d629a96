"""What differs from the goldens, laid out in two columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ragpress.report.showing import PARTING, parts_of
from ragpress.review.diff import ChunkChange, Kind, Renaming, Run, SourceChange, word_runs
from ragpress.review.diff.showing import describe_minor, facts, headings_of, one_side, span, visible_run
from ragpress.review.golden import GoldenChunk

WORDS: dict[Kind, str] = {
    "added": "new chunk",
    "removed": "removed chunk",
    "changed": "changed text",
    "renamed": "other headings",
    "moved": "moved",
    "minor": "same text",
}


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One column. Runs are `same` or, of what the other side lacks, `removed` (in the golden) or `added` (now)."""

    headings: tuple[Run, ...]
    context: tuple[Run, ...]
    text: tuple[Run, ...]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk's change. `before` is None for an added chunk, `after` for a removed one.

    `identifier` is the change's own on its page, `chunk_id` that of the chunk now. `together`: the text is
    the same on both sides, and one column is enough.
    """

    kind: Kind
    word: str
    identifier: str
    chunk_id: str
    headings: str
    facts: tuple[str, ...]
    together: bool
    before: Side | None
    after: Side | None


class Differences(msgspec.Struct, frozen=True, kw_only=True):
    """All of a source. `minor` says in a line what has the same text, `minor_ids` are those chunks now."""

    shown: tuple[Difference, ...]
    minor: str
    minor_ids: tuple[str, ...]


def differences(change: SourceChange) -> Differences:
    """A source's changes in reading order; of a new source none, since all of it is new."""
    minor = [one for one in change.changes if one.kind == "minor"]
    shown = change.blocks() if change.status != "added" else ()
    return Differences(
        shown=tuple(_renaming(one) if isinstance(one, Renaming) else _difference(one) for one in shown),
        minor=describe_minor(minor) if minor else "",
        minor_ids=tuple(one.after.chunk_id for one in minor if one.after),
    )


def changed_chunks(change: SourceChange | None) -> dict[str, Kind]:
    """Id now to kind, of the chunks that are worth a mark: all but those with the same text in the same place."""
    if change is None:
        return {}
    return {one.after.chunk_id: one.kind for one in change.changes if one.after and one.kind != "minor"}


def _renaming(found: Renaming) -> Difference:
    first = found.changes[0].shown.chunk_id
    headings = word_runs(headings_of(found.before), headings_of(found.after))
    return Difference(
        kind="renamed",
        word=WORDS["renamed"],
        identifier=f"d-{first}",
        chunk_id=first,
        headings="",
        facts=(span(found), "the same text under another heading"),
        together=False,
        before=Side(headings=_of(headings, "removed"), context=(), text=()),
        after=Side(headings=_of(headings, "added"), context=(), text=()),
    )


def _difference(change: ChunkChange) -> Difference:
    one, two = change.before, change.after
    before, after = _sides(one, two)
    now = change.shown
    return Difference(
        kind=change.kind,
        word=WORDS[change.kind],
        identifier=f"{'d' if two else 'r'}-{now.chunk_id}",
        chunk_id=two.chunk_id if two else "",
        headings=" › ".join(now.headings),
        facts=tuple(facts(change)),
        together=change.kind == "moved",
        before=before,
        after=after,
    )


def _sides(one: GoldenChunk | None, two: GoldenChunk | None) -> tuple[Side | None, Side | None]:
    if one is None or two is None:
        return _alone(one), _alone(two)
    (old_context, old_text), (new_context, new_text) = parts_of(one), parts_of(two)
    headings = word_runs(" › ".join(one.headings), " › ".join(two.headings))
    context, text = word_runs(old_context, new_context), word_runs(old_text, new_text)
    return (
        Side(headings=_of(headings, "removed"), context=_of(context, "removed"), text=_of(text, "removed")),
        Side(headings=_of(headings, "added"), context=_of(context, "added"), text=_of(text, "added")),
    )


def _alone(chunk: GoldenChunk | None) -> Side | None:
    if chunk is None:
        return None
    context, text = parts_of(chunk)
    return Side(headings=(), context=_plain(context), text=_plain(text))


def paragraphs_of(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs by paragraph; what separates two of them goes with the first."""
    found: list[list[Run]] = [[]]
    for run in runs:
        for number, text in enumerate(PARTING.split(run.text)):
            if number:
                found.append([])
            if text:
                found[-1].append(Run(run.op, text))
    return [part for part in found if part]


def _plain(text: str) -> tuple[Run, ...]:
    return (Run("same", text),) if text else ()


def _of(runs: Sequence[Run], op: Literal["removed", "added"]) -> tuple[Run, ...]:
    return tuple(visible_run(run) for run in one_side(runs, op))
