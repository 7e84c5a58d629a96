"""The second stage: the chunks of all sources in order, and their entries, as files in build/merged/."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ragpress.artifact.jsonl import encode_document
from ragpress.console import Report
from ragpress.errors import BuildError, message, render
from ragpress.files import (
    disk_error,
    file_sha256,
    files_below,
    fingerprint,
    put_in_place,
    read_checksummed,
    recover,
    remove_empty_parents,
    staging_folder,
    write_checksummed,
)
from ragpress.pipeline.results import Result, chunks_bytes, missing, read_result
from ragpress.repository import Repository, tool_fingerprint
from ragpress.sources import SourceFile, find_sources

_RECORD = "merged.json"


class Merged(msgspec.Struct, frozen=True):
    """build/merged/merged.json, a checksummed file: what the files beside it were made from, and their sha256."""

    fingerprint: str
    chunks_sha256: str
    documents_sha256: str


_DECODER = msgspec.json.Decoder(Merged)


def merged_chunks(repository: Repository) -> Path:
    """The lines of all chunks, as they are in the artifact."""
    return repository.build / "merged" / "chunks.jsonl"


def merged_documents(repository: Repository) -> Path:
    """The lines of all sources' entries."""
    return repository.build / "merged" / "documents.jsonl"


def merge_chunks(repository: Repository, sources: Sequence[SourceFile], report: Report) -> None:
    """Puts together what the sources became, in the order of their names; what belongs to no source is removed.

    Raises BuildError for a source that failed, unless on_error = "skip", and for one whose result is missing.
    """
    if not sources:
        raise BuildError("no-sources", f"{repository.config.sources}/ holds no document; put one in and build again")
    _remove_orphans(repository, {source.source for source in sources})
    results = {source.source: read_result(repository, source.source) for source in sources}
    present = dict(_usable(repository, results, report))
    if not present:
        raise BuildError("no-sources", "no source could be read; fix the ones named above")
    if read_merged(repository) != (made_from := _fingerprint(repository, results)) or not _intact(repository):
        _report_alike(sources, report)
        _write(repository, present, made_from)


def read_merged(repository: Repository) -> str:
    """The fingerprint of what was merged; empty where nothing usable is."""
    record = _record(repository)
    return record.fingerprint if record else ""


def check_merged(repository: Repository) -> None:
    """Raises BuildError, which says what to do, unless the merged files are as they were written."""
    if not _intact(repository):
        build = repository.config.build
        raise BuildError("file-gone", f"{build}/merged/ is missing or damaged; run `ragpress build` again")


def _record(repository: Repository) -> Merged | None:
    return read_checksummed(repository.build / "merged" / _RECORD, _DECODER)


def _intact(repository: Repository) -> bool:
    record = _record(repository)
    try:
        return record is not None and (record.chunks_sha256, record.documents_sha256) == (
            file_sha256(merged_chunks(repository)),
            file_sha256(merged_documents(repository)),
        )
    except OSError:
        return False


def is_merged(repository: Repository) -> bool:
    """Whether the merged files are made from the sources' results as they are."""
    sources = find_sources(repository)
    results = {source.source: read_result(repository, source.source) for source in sources}
    return read_merged(repository) == _fingerprint(repository, results)


def _fingerprint(repository: Repository, results: dict[str, Result | None]) -> str:
    return fingerprint(tool_fingerprint(), repository.config.on_error, [*results.items()])


def _usable(repository: Repository, results: dict[str, Result | None], report: Report) -> Iterator[tuple[str, Result]]:
    for source, result in results.items():
        if result is None:
            raise missing(source)
        if result.failure is None:
            yield source, result
        elif repository.config.on_error == "skip":
            report(f'{result.failure.error()} - left out of the artifact, as on_error = "skip" says')
        else:
            raise result.failure.error()


def _write(repository: Repository, results: dict[str, Result], made_from: str) -> None:
    target = repository.build / "merged"
    recover(target)
    staging = staging_folder(target)
    chunks, documents = hashlib.sha256(), hashlib.sha256()
    try:
        staging.mkdir(parents=True)
        with (staging / "chunks.jsonl").open("wb") as lines, (staging / "documents.jsonl").open("wb") as entries:
            for source, result in results.items():
                data, entry = _lines(repository, source, result)
                chunks.update(data)
                documents.update(entry)
                lines.write(data)
                entries.write(entry)
        record = Merged(made_from, chunks.hexdigest(), documents.hexdigest())
        write_checksummed(staging / _RECORD, msgspec.json.encode(record))
        put_in_place(staging, target)
    except OSError as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise disk_error(target, error) from None
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _lines(repository: Repository, source: str, result: Result) -> tuple[bytes, bytes]:
    """The lines of a source's chunks, and that of its entry. Raises SourceError."""
    data = chunks_bytes(repository, source, result)
    if data is None or result.entry is None:
        raise missing(source)
    return data, encode_document(result.entry)


def _report_alike(sources: Sequence[SourceFile], report: Report) -> None:
    """Names the sources that systems where upper and lower case are the same would have one file for."""
    known: dict[str, str] = {}
    for each in sources:
        other = known.setdefault(each.source.casefold(), each.source)
        if other != each.source:
            reason = f"Windows and macOS take {other} for the same file; rename one"
            report(render(message("warning", "name", reason, each.source)))


def _remove_orphans(repository: Repository, present: set[str]) -> None:
    """Deletes the chunks and results in the build folder of sources that are no longer there."""
    for folder, suffix in ((repository.build / "chunks", ".jsonl"), (repository.build / "documents", ".json")):
        for name in sorted(files_below(folder)):
            if name.removesuffix(suffix) not in present:
                path = folder / name
                path.unlink()
                remove_empty_parents(folder, path.parent)
