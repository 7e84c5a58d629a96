"""What a report shows, read from the build folder, the goldens and the artifact."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from ragpress.config import Config
from ragpress.console import Report
from ragpress.errors import ArtifactError
from ragpress.pipeline.publish import is_built
from ragpress.pipeline.results import load_source, read_result
from ragpress.readers import TABLES, read_tables_of, suffix_of
from ragpress.readers.rows import SheetTables
from ragpress.records import Chunk, DocumentEntry, Locator, Message
from ragpress.report.history import Point, points_of
from ragpress.report.retrieval import Measured, measure
from ragpress.repository import Repository
from ragpress.review.accept import changes_of, golden_files
from ragpress.review.diff import Changes, SourceChange
from ragpress.review.git import Base
from ragpress.sources import find_sources

if TYPE_CHECKING:
    from ragpress.artifact.format import Manifest


MOST_SHOWN = 1 << 18
"""Bytes of a file up to which the report shows how its tables were read; `ragpress tables` shows it of any."""

_ByPart = dict[tuple[str, str], list[tuple[Locator, str]]]
"""Part and unit to the places of its chunks and their ids."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a source with its place rendered. `chunk_id` is the chunk at its place, or empty."""

    severity: str
    code: str
    text: str
    place: str = ""
    chunk_id: str = ""


class SourceReport(msgspec.Struct, frozen=True, kw_only=True):
    """One source. `failure` says why it could not be read; `entry` is None then, and for a removed source.

    `change` is what differs from its golden, None where nothing does or there are no goldens at all. `sheets` is how
    its tables were read, empty where it holds none and where it is large.
    """

    source: str
    entry: DocumentEntry | None = None
    chunks: tuple[Chunk, ...] = ()
    notes: tuple[Note, ...] = ()
    failure: Note | None = None
    change: SourceChange | None = None
    sheets: tuple[SheetTables, ...] = ()


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the pages are made from.

    `changes` is None where there are no goldens yet. `manifest` (index.json) is None where `artifact_note` says why,
    which also says that an artifact is older than the chunks.
    """

    config: Config
    sources: tuple[SourceReport, ...]
    changes: Changes | None
    manifest: Manifest | None
    artifact_note: str
    measured: Measured
    points: tuple[Point, ...] = ()


def gather(repository: Repository, base: Base | None, report: Report) -> Contents:
    """Reads everything. Raises BuildError where the build folder lacks what chunking would have put there."""
    changes = changes_of(repository, base) if base or golden_files(repository.golden) else None
    by_source = {change.source: change for change in changes.sources} if changes else {}
    sources = [_source(repository, found.source, by_source) for found in find_sources(repository)]
    present = {one.source for one in sources}
    removed = [SourceReport(source=name, change=change) for name, change in by_source.items() if name not in present]
    manifest, artifact_note = read_artifact(repository)
    measured = measure(repository, base, artifact_note, report) if manifest else Measured(note=artifact_note)
    return Contents(
        config=repository.config,
        sources=tuple(sorted([*sources, *removed], key=lambda one: one.source)),
        changes=changes,
        manifest=manifest,
        artifact_note=artifact_note,
        measured=measured,
        points=points_of(repository, manifest.model.name if manifest else ""),
    )


def _source(repository: Repository, source: str, changes: dict[str, SourceChange]) -> SourceReport:
    result = read_result(repository, source)
    if result is not None and result.failure is not None:
        failure = _note(result.failure.error().message, {})
        return SourceReport(source=source, failure=failure, change=changes.get(source))
    chunks, entry = load_source(repository, source)
    return SourceReport(
        source=source,
        entry=entry,
        chunks=chunks,
        notes=notes_of(entry, chunks),
        change=changes.get(source),
        sheets=_sheets(repository, entry),
    )


def _sheets(repository: Repository, entry: DocumentEntry) -> tuple[SheetTables, ...]:
    """How the tables of a source were read; read again, which only a file that is as it was chunked, and small, is."""
    path = repository.sources / entry.source
    if suffix_of(entry.source) not in TABLES or not path.is_file() or path.stat().st_size > MOST_SHOWN:
        return ()
    data = path.read_bytes()
    return tuple(read_tables_of(data, entry.source)) if hashlib.sha256(data).hexdigest() == entry.sha256 else ()


def read_artifact(repository: Repository) -> tuple[Manifest | None, str]:
    """The manifest of the artifact, and what is to be known of it: that it is missing, damaged or older."""
    from ragpress.artifact.format import read_manifest

    build = repository.config.build
    if not (repository.artifact / "index.json").exists():
        return None, f"There is no artifact in {build}/kb/ yet; run `ragpress build`, then `ragpress report` again."
    try:
        manifest = read_manifest(repository.artifact)
    except ArtifactError as error:
        return None, f"{error.message.text}."
    if is_built(repository):
        return manifest, ""
    return manifest, f"{build}/kb/ is older than these chunks; run `ragpress build`, then `ragpress report` again."


# -- messages --------------------------------------------------------------------------------------------------------


def notes_of(entry: DocumentEntry, chunks: Sequence[Chunk]) -> tuple[Note, ...]:
    """The messages of an entry, each with the first chunk whose place overlaps its own."""
    by_part: _ByPart = {}
    for chunk in chunks:
        place = Locator.parse(chunk.locator)
        by_part.setdefault((place.part, place.unit), []).append((place, chunk.chunk_id))
    return tuple(_note(found, by_part) for found in entry.messages)


def _note(found: Message, by_part: _ByPart) -> Note:
    return Note(
        severity=found.severity,
        code=found.code,
        text=found.text,
        place=str(found.locator) if found.locator else "",
        chunk_id=_chunk_at(found.locator, by_part) if found.locator else "",
    )


def _chunk_at(place: Locator, by_part: _ByPart) -> str:
    for other, name in by_part.get((place.part, place.unit), ()):
        if other.start <= place.end and place.start <= other.end:
            return name
    return ""
