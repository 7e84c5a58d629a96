"""Changes as JSON, for other programs: the records with what follows from them."""

from __future__ import annotations

from collections import Counter

import msgspec
from msgspec.structs import asdict

from ragpress.review.diff.records import KINDS, Changes, ChunkChange, Kind, SourceChange
from ragpress.review.diff.words import word_runs


def to_json(changes: Changes) -> str:
    """`Changes`, indented, with a newline at its end.

    It and each source have `counts` with every kind; a changed chunk has its `words` and `context_words` (`word_runs`),
    which are empty where text or context is the same.
    """
    found = {**asdict(changes), "counts": _all(changes.counts()), "sources": [*map(_source, changes.sources)]}
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"


def _source(source: SourceChange) -> dict[str, object]:
    return {**asdict(source), "counts": _all(source.counts()), "changes": [*map(_chunk, source.changes)]}


def _chunk(change: ChunkChange) -> dict[str, object]:
    one, two = change.before, change.after
    pairs = {"words": (one.text, two.text), "context_words": (one.context, two.context)} if one and two else {}
    words = {name: word_runs(*pair) for name, pair in pairs.items() if pair[0] != pair[1]}
    return {**asdict(change), "words": (), "context_words": (), **words}


def _all(counts: Counter[Kind]) -> dict[Kind, int]:
    return {kind: counts[kind] for kind in KINDS}
