"""The stage between chunks and vectors: the chunks of all sources in order, as files in the build folder.

What a source became since the last merge is read, and all else is taken from the files of that merge.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ragpress.artifact.jsonl import decode_chunk, encode_document, with_tokens
from ragpress.console import Report, report
from ragpress.errors import BuildError
from ragpress.files import (
    copy_signature,
    files_below,
    fingerprint,
    read_checksummed,
    remove_empty_parents,
    replace_file,
    write_checksummed,
)
from ragpress.pipeline.chunk import chunk_sources, is_published
from ragpress.pipeline.counting import more_tokens
from ragpress.pipeline.states import read_state, standing_stamp
from ragpress.records import index_key
from ragpress.repository import Found, Repository, find_sources, tool_fingerprint
from ragpress.vectors.digests import text_digest

ROW = struct.Struct("<QI32s")
"""A chunk in merged/rows: the key of its id, the length of its line in bytes, and its `text_digest`."""


def merged_chunks(repository: Repository) -> Path:
    """The lines of all chunks, as they stand in the artifact."""
    return repository.build / "merged" / "chunks.jsonl"


def merged_documents(repository: Repository) -> Path:
    """The lines of all sources' entries."""
    return repository.build / "merged" / "documents.jsonl"


def merged_rows(repository: Repository) -> Path:
    """A `ROW` for each chunk, in the order of the lines."""
    return repository.build / "merged" / "rows"


class _Part(msgspec.Struct, frozen=True, array_like=True):
    """What of the merged files is of one source, in bytes. `stamp` is the `standing_stamp` of what it was made from."""

    source: str
    stamp: str
    lines: int
    rows: int
    entry: int


class _Parts(msgspec.Struct, frozen=True):
    """merged/parts, a sealed file: the parts of the merged files, of which `stamp` is the `_files_stamp`.

    `more` is the `more_tokens` that are in their lines.
    """

    stamp: str
    more: int
    parts: tuple[_Part, ...]


_PARTS = msgspec.msgpack.Decoder(_Parts)


class _Files(msgspec.Struct, frozen=True):
    """What the merged files hold of one source, or of several in a row."""

    lines: bytes
    rows: bytes
    entries: bytes


def _files_stamp(repository: Repository) -> str:
    files = (merged_chunks(repository), merged_documents(repository), merged_rows(repository))
    return fingerprint(tool_fingerprint(), [copy_signature(path) for path in files])


def _merge_stamp(repository: Repository, stamps: dict[str, str]) -> str:
    """`stamps` are the `standing_stamp`s of all sources, in their order.

    Of those only the times are taken that a copy keeps, so that a repository may be moved with its build folder.
    """
    states = [(source, stamp.partition(" ")[0].rpartition("-")[0]) for source, stamp in stamps.items()]
    return fingerprint(states, repository.config.on_error, _files_stamp(repository))


def _stamps(repository: Repository, found: Sequence[Found]) -> dict[str, str]:
    return {item.source: standing_stamp(repository, item.source) for item in found}


def is_merged(repository: Repository, found: Sequence[Found]) -> bool:
    """Whether the merged files are made from the chunks of these sources, all there are, as they stand."""
    try:
        stamp = (repository.build / "merged" / "stamp").read_bytes()
        return stamp == _merge_stamp(repository, _stamps(repository, found)).encode()
    except OSError:
        return False


def merge(repository: Repository, report: Report = report, model: str | None = None) -> None:
    """All sources' chunks and entries, in the order of their names; what belongs to no source goes.

    The numbers of tokens are those of the model, or the one in use. Raises BuildError for a source that failed, unless
    on_error = "skip".
    """
    found = find_sources(repository.sources)
    if not found:
        raise BuildError("no-sources", f"{repository.config.sources}/ holds no document; put one in and build again")
    remove_orphans(repository, {item.source for item in found})
    more = more_tokens(repository, model)
    before = _Before(repository, more)
    stamps = _stamps(repository, found)
    fresh = [item for item in found if (item.source, stamps[item.source]) not in before.places]
    made = _made(repository, fresh, more, report)
    stamps |= _stamps(repository, fresh)
    parts: list[_Part] = []
    runs: list[_Files | range] = []
    for item in found:
        new = made.get(item.source)
        place = before.places.get((item.source, stamps[item.source]))
        if isinstance(new, BuildError):
            if repository.config.on_error == "fail":
                raise new
            report(f'{new} - left out of the artifact, as on_error = "skip" says')
        elif new is not None:
            runs.append(new)
            parts.append(_Part(item.source, stamps[item.source], len(new.lines), len(new.rows), len(new.entries)))
        elif place is not None:
            last = runs[-1] if runs else None
            if isinstance(last, range) and last.stop == place:
                runs[-1] = range(last.start, place + 1)
            else:
                runs.append(range(place, place + 1))
            parts.append(before.parts[place])
        else:
            raise BuildError("file-gone", "its chunks are missing from the build folder; build again", item.source)
    if not parts:
        raise BuildError("no-sources", "no source could be read; mend the ones named above")
    merged = [before.files(run) if isinstance(run, range) else run for run in runs]
    replace_file(merged_chunks(repository), b"".join(each.lines for each in merged))
    replace_file(merged_documents(repository), b"".join(each.entries for each in merged))
    replace_file(merged_rows(repository), b"".join(each.rows for each in merged))
    kept = _Parts(_files_stamp(repository), more, tuple(parts))
    write_checksummed(repository.build / "merged" / "parts", msgspec.msgpack.encode(kept))
    replace_file(repository.build / "merged" / "stamp", _merge_stamp(repository, stamps).encode())


def merged_for(repository: Repository) -> int | None:
    """The `more_tokens` in the merged lines; None where that is not known."""
    kept = _read_parts(repository)
    return kept.more if kept else None


def _read_parts(repository: Repository) -> _Parts | None:
    kept = read_checksummed(repository.build / "merged" / "parts", _PARTS)
    return kept if kept and kept.stamp == _files_stamp(repository) else None


class _Before:
    """The files of the last merge, if nothing was done to them since and their tokens are counted alike.

    `places` are the numbers of `parts`, by source and stamp.
    """

    def __init__(self, repository: Repository, more: int) -> None:
        kept = _read_parts(repository)
        self.parts = kept.parts if kept and kept.more == more else ()
        self.places = {(part.source, part.stamp): number for number, part in enumerate(self.parts)}
        self._ends = list(_ends(self.parts))
        if self.parts:
            self._files = _Files(
                merged_chunks(repository).read_bytes(),
                merged_rows(repository).read_bytes(),
                merged_documents(repository).read_bytes(),
            )

    def files(self, run: range) -> _Files:
        """What they hold of these parts."""
        line, row, entry = self._ends[run.start]
        to_line, to_row, to_entry = self._ends[run.stop]
        files = self._files
        return _Files(files.lines[line:to_line], files.rows[row:to_row], files.entries[entry:to_entry])


def _ends(parts: Sequence[_Part]) -> Iterator[tuple[int, int, int]]:
    """Where each part begins in the three files, and where the last one ends."""
    line = row = entry = 0
    yield line, row, entry
    for part in parts:
        line, row, entry = line + part.lines, row + part.rows, entry + part.entry
        yield line, row, entry


def _made(repository: Repository, fresh: Sequence[Found], more: int, report: Report) -> dict[str, _Files | BuildError]:
    """What these sources became, those chunked again of which that is missing or damaged; or why they failed."""
    made = {item.source: _read(repository, item.source, more) for item in fresh}
    damaged = [item for item in fresh if made[item.source] is None]
    chunk_sources(repository, damaged, report)
    made |= {item.source: _read(repository, item.source, more) for item in damaged}
    return {source: found for source, found in made.items() if found is not None}


def _read(repository: Repository, source: str, more: int) -> _Files | BuildError | None:
    """What a source became, or why it failed; None where that is missing or damaged."""
    state = read_state(repository, source)
    if state is None:
        return None
    if state.failure is not None:
        return state.failure.error()
    try:
        data = repository.chunks_of(source).read_bytes()
    except OSError:
        return None
    if state.entry is None or hashlib.sha256(data).hexdigest() != state.chunks_sha256:
        return None
    lines, rows = [], []
    for line in data.splitlines(keepends=True):
        chunk = decode_chunk(line)
        lines.append(with_tokens(line, more) if more else line)
        rows.append(ROW.pack(index_key(chunk.chunk_id), len(lines[-1]), text_digest(chunk.text)))
    return _Files(b"".join(lines), b"".join(rows), encode_document(state.entry))


def remove_orphans(repository: Repository, present: set[str]) -> None:
    """Deletes the chunks and states in the build folder of sources that are no longer there."""
    for folder, suffix in ((repository.build / "chunks", ".jsonl"), (repository.build / "documents", ".json")):
        for name in sorted(files_below(folder)):
            if name.removesuffix(suffix) not in present:
                path = folder / name
                path.unlink()
                remove_empty_parents(folder, path.parent)


def is_built(repository: Repository) -> bool:
    """Whether the artifact stands as it was last written and is made from the sources' chunks as they are now."""
    return is_merged(repository, find_sources(repository.sources)) and is_published(repository)
