"""The stage between chunks and vectors: the chunks of all sources in order, as files in the build folder.

What a source became since the last merge is read, and all else is taken from the files of that merge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ragpress.build import chunk_sources, is_published, say
from ragpress.digests import text_digest
from ragpress.errors import BuildError
from ragpress.golden import remove_empty_parents
from ragpress.manifest import decode_chunk, encode_document, replace_file
from ragpress.repository import (
    Found,
    Repository,
    file_stamp,
    files_below,
    find_sources,
    fingerprint,
    tool_fingerprint,
    tree_stamp,
)
from ragpress.sealed import read_sealed, write_sealed
from ragpress.states import read_state, standing_stamp

Say = Callable[[str], None]
DIGEST_BYTES = 32


def merged_chunks(repository: Repository) -> Path:
    """The lines of all chunks, as they will stand in the artifact but for their numbers of tokens."""
    return repository.build / "merged" / "chunks.jsonl"


def merged_documents(repository: Repository) -> Path:
    """The lines of all sources' entries."""
    return repository.build / "merged" / "documents.jsonl"


def merged_digests(repository: Repository) -> Path:
    """The `text_digest` of each chunk, one after the other, in the order of the lines."""
    return repository.build / "merged" / "digests"


class Part(msgspec.Struct, frozen=True, array_like=True):
    """What of the merged files is of one source, in bytes. `stamp` is the `standing_stamp` of what it was made from."""

    source: str
    stamp: str
    lines: int
    digests: int
    entry: int


class _Parts(msgspec.Struct, frozen=True):
    """merged/parts, a sealed file: the parts of the merged files, of which `stamp` is the `_files_stamp`."""

    stamp: str
    parts: tuple[Part, ...]


class _Merged(msgspec.Struct, frozen=True):
    """What the merged files hold of one source."""

    lines: bytes
    digests: bytes
    entry: bytes


def _files_stamp(repository: Repository) -> str:
    files = (merged_chunks(repository), merged_documents(repository), merged_digests(repository))
    return fingerprint(tool_fingerprint(), [file_stamp(path) for path in files])


def _merge_stamp(repository: Repository, found: Sequence[Found]) -> str:
    names = [item.source for item in found]
    states = tree_stamp(repository.build / "documents")
    return fingerprint(names, states, repository.config.on_error, _files_stamp(repository))


def is_merged(repository: Repository, found: Sequence[Found]) -> bool:
    """Whether the merged files are made from the chunks of these sources, all there are, as they stand."""
    try:
        stamp = (repository.build / "merged" / "stamp").read_bytes()
        return stamp == _merge_stamp(repository, found).encode()
    except OSError:
        return False


def merge(repository: Repository, tell: Say = say) -> None:
    """All sources' chunks and entries, in the order of their names; what belongs to no source goes.

    Raises BuildError for a source that failed, unless on_error = "skip".
    """
    found = find_sources(repository.sources)
    if not found:
        raise BuildError("no-sources", f"{repository.config.sources}/ holds no document; put one in and build again")
    remove_orphans(repository, {item.source for item in found})
    before = _merged_before(repository)
    stamps = {item.source: standing_stamp(repository, item.source) for item in found}
    fresh = [item for item in found if (item.source, stamps[item.source]) not in before]
    made = _made(repository, fresh, tell)
    stamps |= {item.source: standing_stamp(repository, item.source) for item in fresh}
    parts: list[Part] = []
    merged: list[_Merged] = []
    for item in found:
        stamp = stamps[item.source]
        known = made.get(item.source) or before.get((item.source, stamp))
        if known is None:
            raise BuildError("file-gone", "its chunks are missing from the build folder; build again", item.source)
        if isinstance(known, BuildError):
            if repository.config.on_error == "fail":
                raise known
            tell(f'{known} - left out of the artifact, as on_error = "skip" says')
            continue
        merged.append(known)
        parts.append(Part(item.source, stamp, len(known.lines), len(known.digests), len(known.entry)))
    if not merged:
        raise BuildError("no-sources", "no source could be read; mend the ones named above")
    replace_file(merged_chunks(repository), b"".join(each.lines for each in merged))
    replace_file(merged_documents(repository), b"".join(each.entry for each in merged))
    replace_file(merged_digests(repository), b"".join(each.digests for each in merged))
    kept = _Parts(_files_stamp(repository), tuple(parts))
    write_sealed(repository.build / "merged" / "parts", msgspec.msgpack.encode(kept))
    replace_file(repository.build / "merged" / "stamp", _merge_stamp(repository, found).encode())


def _merged_before(repository: Repository) -> dict[tuple[str, str], _Merged]:
    """What the last merge made of each source, by what it was made from; nothing where its files were touched."""
    data = read_sealed(repository.build / "merged" / "parts")
    try:
        kept = msgspec.msgpack.decode(data, type=_Parts) if data else None
        if kept is None or kept.stamp != _files_stamp(repository):
            return {}
        lines = merged_chunks(repository).read_bytes()
        digests = merged_digests(repository).read_bytes()
        entries = merged_documents(repository).read_bytes()
    except (OSError, ValueError, msgspec.MsgspecError):
        return {}
    found = {}
    line = digest = entry = 0
    for part in kept.parts:
        found[part.source, part.stamp] = _Merged(
            lines[line : line + part.lines],
            digests[digest : digest + part.digests],
            entries[entry : entry + part.entry],
        )
        line, digest, entry = line + part.lines, digest + part.digests, entry + part.entry
    return found


def _made(repository: Repository, fresh: Sequence[Found], tell: Say) -> dict[str, _Merged | BuildError]:
    """What these sources became, those chunked again of which that is missing or damaged; or why they failed."""
    made = {item.source: _read(repository, item.source) for item in fresh}
    damaged = [item for item in fresh if made[item.source] is None]
    chunk_sources(repository, damaged, tell)
    made |= {item.source: _read(repository, item.source) for item in damaged}
    return {source: found for source, found in made.items() if found is not None}


def _read(repository: Repository, source: str) -> _Merged | BuildError | None:
    """What a source became, or why it failed; None where that is missing or damaged."""
    state = read_state(repository, source)
    if state is None:
        return None
    if state.failure is not None:
        return state.failure.error()
    try:
        lines = repository.chunks_of(source).read_bytes()
    except OSError:
        return None
    if state.entry is None or hashlib.sha256(lines).hexdigest() != state.chunks_sha256:
        return None
    digests = b"".join(text_digest(decode_chunk(line).text) for line in lines.split(b"\n") if line)
    return _Merged(lines, digests, encode_document(state.entry))


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
