"""What each page shows, put together for its template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePosixPath

import msgspec

from ragpress.records import Chunk, ContentType
from ragpress.report.charts import Curve, Histogram, curves, histogram
from ragpress.report.differences import Differences, changed_chunks, differences
from ragpress.report.gathering import Contents, Note, SourceReport
from ragpress.report.showing import KINDS, median, page_name, parts_of
from ragpress.review.diff import Kind, SourceChange
from ragpress.review.diff.showing import describe, describe_all
from ragpress.review.table_view import ShownRow, how_read, shown_rows

SEVERITIES = ("error", "warning", "info")
MOST_NOTES = 200
"""Messages on the overview; all are on their sources' pages."""
MOST_DIFFERENCES = 500
"""Differences on the page of all changes; all are on their sources' pages."""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A source and the file of its page."""

    source: str
    page: str


class SourceRow(msgspec.Struct, frozen=True, kw_only=True):
    """A source in the overview's table. `flags` are what its filters look for."""

    link: Link
    title: str
    one: SourceReport
    types: dict[ContentType, int]
    middle: int
    longest: int
    severities: dict[str, int]
    change: str
    flags: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The first page."""

    report: Contents
    rows: tuple[SourceRow, ...]
    types: dict[ContentType, int]
    severities: dict[str, int]
    histogram: Histogram | None
    curves: tuple[Curve, ...]
    chunks: int
    tokens: int
    middle: int
    longest: int
    incomplete: int
    lowest: float
    left_out: dict[str, int]
    notes: tuple[tuple[Link, Note], ...]
    more_notes: int


class ChunkView(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk on its source's page. `change` is empty where its text is that of the golden."""

    chunk: Chunk
    context: str
    text: str
    change: Kind | None
    notes: tuple[Note, ...]
    flags: str


class SheetView(msgspec.Struct, frozen=True, kw_only=True):
    """A sheet as it was read: its name, how (of a CSV file), and the rows of each table."""

    name: str
    how: str
    tables: tuple[tuple[ShownRow, ...], ...]


class SourcePage(msgspec.Struct, frozen=True, kw_only=True):
    """The page of a source; `groups` are runs of chunks under the same headings."""

    link: Link
    title: str
    one: SourceReport
    before: Link | None
    after: Link | None
    groups: tuple[tuple[str, tuple[ChunkView, ...]], ...]
    types: dict[ContentType, int]
    changed: int
    noted: int
    has_context: bool
    status: str
    differences: Differences | None
    sheets: tuple[SheetView, ...]


class ChangedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source on the page of all changes; `more` of its differences are on its own page alone."""

    link: Link
    change: SourceChange
    status: str
    differences: Differences | None
    more: int


class ChangesPage(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from the base, of all sources."""

    report: Contents
    summary: str
    sources: tuple[ChangedSource, ...]


def link_of(source: str) -> Link:
    return Link(source=source, page=f"sources/{page_name(source)}")


def title_of(one: SourceReport) -> str:
    """The title of a source, empty where it is only its file's name once more."""
    title = one.entry.title if one.entry else ""
    return "" if title == PurePosixPath(one.source).stem else title


# -- all changes -----------------------------------------------------------------------------------------------------


def all_changes(report: Contents) -> ChangesPage:
    """The differences of all sources, the most urgent sources first, as far as they fit."""
    found = []
    room = MOST_DIFFERENCES
    for one in sorted(report.sources, key=lambda one: (one.failure is None, one.source)):
        change = one.change
        if change is None:
            continue
        shown = _differences(change)
        more = 0
        if shown is not None:
            more = max(0, len(shown.shown) - room)
            shown = msgspec.structs.replace(shown, shown=shown.shown[:room])
            room -= len(shown.shown)
        found.append(
            ChangedSource(
                link=link_of(one.source), change=change, status=describe(change), differences=shown, more=more
            )
        )
    return ChangesPage(
        report=report, summary=describe_all(report.changes) if report.changes else "", sources=tuple(found)
    )


# -- the overview ----------------------------------------------------------------------------------------------------


def overview(report: Contents) -> Overview:
    """Everything in numbers."""
    chunks = [chunk for one in report.sources for chunk in one.chunks]
    tokens = [chunk.tokens for chunk in chunks]
    coverages = [one.entry.coverage for one in report.sources if one.entry]
    left_out: Counter[str] = Counter()
    for one in report.sources:
        left_out.update(one.entry.left_out if one.entry else {})
    notes = [(link_of(one.source), note) for one in report.sources for note in all_notes(one)]
    notes.sort(key=lambda item: SEVERITIES.index(item[1].severity))
    return Overview(
        report=report,
        rows=tuple(_row(one) for one in report.sources),
        types=_types(chunks),
        severities=_severities([note for _, note in notes]),
        histogram=histogram(chunks, report.config.max_tokens, tuple(KINDS)) if chunks else None,
        curves=curves(report.points),
        chunks=len(chunks),
        tokens=sum(tokens),
        middle=median(tokens) if tokens else 0,
        longest=max(tokens, default=0),
        incomplete=sum(share < 1 for share in coverages),
        lowest=min(coverages, default=1.0),
        left_out=dict(sorted(left_out.items())),
        notes=tuple(notes[:MOST_NOTES]),
        more_notes=max(0, len(notes) - MOST_NOTES),
    )


def all_notes(one: SourceReport) -> tuple[Note, ...]:
    """The failure of a source before its messages."""
    return (*([one.failure] if one.failure else []), *one.notes)


def _row(one: SourceReport) -> SourceRow:
    tokens = [chunk.tokens for chunk in one.chunks]
    severities = _severities(all_notes(one))
    flags = [name for name, holds in _row_flags(one).items() if holds]
    return SourceRow(
        link=link_of(one.source),
        title=title_of(one),
        one=one,
        types=_types(one.chunks),
        middle=median(tokens) if tokens else 0,
        longest=max(tokens, default=0),
        severities=severities,
        change=describe(one.change) if one.change else "",
        flags=" ".join([*flags, *_types(one.chunks)]),
    )


def _row_flags(one: SourceReport) -> dict[str, bool]:
    return {
        "changed": one.change is not None,
        "noted": bool(all_notes(one)),
        "incomplete": one.entry is not None and one.entry.coverage < 1,
    }


def _types(chunks: Sequence[Chunk]) -> dict[ContentType, int]:
    counts = Counter(chunk.content_type for chunk in chunks)
    return {name: counts[name] for name in KINDS if counts[name]}


def _severities(notes: Sequence[Note]) -> dict[str, int]:
    counts = Counter(note.severity for note in notes)
    return {name: counts[name] for name in SEVERITIES if counts[name]}


# -- a source --------------------------------------------------------------------------------------------------------


def source_page(one: SourceReport, before: SourceReport | None, after: SourceReport | None) -> SourcePage:
    """The page of one source between its neighbours."""
    views = _views(one)
    groups = [(path, tuple(group)) for path, group in groupby(views, lambda view: " › ".join(view.chunk.headings))]
    return SourcePage(
        link=link_of(one.source),
        title=title_of(one),
        one=one,
        before=link_of(before.source) if before else None,
        after=link_of(after.source) if after else None,
        groups=tuple(groups),
        types=_types(one.chunks),
        changed=sum(view.change is not None for view in views),
        noted=sum(bool(view.notes) for view in views),
        has_context=any(view.context for view in views),
        status=describe(one.change) if one.change else "",
        differences=_differences(one.change),
        sheets=tuple(
            SheetView(
                name=sheet.sheet, how=how_read(sheet), tables=tuple(tuple(shown_rows(table)) for table in sheet.tables)
            )
            for sheet in one.sheets
            if sheet.tables
        ),
    )


def _differences(change: SourceChange | None) -> Differences | None:
    return differences(change) if change and change.status not in ("failed", "unreadable", "form") else None


def _views(one: SourceReport) -> list[ChunkView]:
    changes = changed_chunks(one.change)
    notes: dict[str, list[Note]] = {}
    for note in one.notes:
        if note.chunk_id:
            notes.setdefault(note.chunk_id, []).append(note)
    views = []
    for chunk in one.chunks:
        context, text = parts_of(chunk)
        change, found = changes.get(chunk.chunk_id), tuple(notes.get(chunk.chunk_id, ()))
        views.append(
            ChunkView(
                chunk=chunk, context=context, text=text, change=change, notes=found, flags=chunk_flags(change, found)
            )
        )
    return views


def chunk_flags(change: Kind | None, notes: Sequence[Note]) -> str:
    """What the filters of chunks look for."""
    return " ".join([*(["changed"] if change else []), *(["noted"] if notes else [])])
