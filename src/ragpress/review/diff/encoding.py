"""Changes as JSON, for other programs: typed, with its keys in a fixed order."""

from __future__ import annotations

import msgspec

from ragpress.review.diff.records import KINDS, Aspect, Changes, ChunkChange, Kind, SourceChange, Status
from ragpress.review.diff.words import Run, word_runs
from ragpress.review.golden import GoldenChunk


class ChunkRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a chunk. `words` and `context_words` are there where the text or the context differs."""

    kind: Kind
    aspects: tuple[Aspect, ...]
    before: GoldenChunk | None
    after: GoldenChunk | None
    words: tuple[Run, ...] = ()
    context_words: tuple[Run, ...] = ()


class SourceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A source that differs; `counts` has every kind."""

    source: str
    status: Status
    before_source: str
    note: str
    counts: dict[Kind, int]
    changes: tuple[ChunkRecord, ...]
    messages_added: tuple[str, ...]
    messages_removed: tuple[str, ...]


class ChangesRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The whole comparison. `base` is a git revision as it was given, or empty for the goldens in the folder."""

    base: str
    counts: dict[Kind, int]
    sources: tuple[SourceRecord, ...]


def to_json(changes: Changes) -> str:
    """A `ChangesRecord`, indented, with a newline at its end."""
    counts = changes.counts()
    record = ChangesRecord(
        base=changes.base,
        counts={kind: counts[kind] for kind in KINDS},
        sources=tuple(_source(source) for source in changes.sources),
    )
    return msgspec.json.format(msgspec.json.encode(record), indent=1).decode() + "\n"


def _source(source: SourceChange) -> SourceRecord:
    counts = source.counts()
    return SourceRecord(
        source=source.source,
        status=source.status,
        before_source=source.before_source,
        note=source.note,
        counts={kind: counts[kind] for kind in KINDS},
        changes=tuple(_chunk(change) for change in source.changes),
        messages_added=source.messages_added,
        messages_removed=source.messages_removed,
    )


def _chunk(change: ChunkChange) -> ChunkRecord:
    one, two = change.before, change.after
    words: tuple[Run, ...] = ()
    context_words: tuple[Run, ...] = ()
    if one is not None and two is not None:
        words = word_runs(one.text, two.text) if one.text != two.text else ()
        context_words = word_runs(one.context, two.context) if one.context != two.context else ()
    return ChunkRecord(
        kind=change.kind, aspects=change.aspects, before=one, after=two, words=words, context_words=context_words
    )
