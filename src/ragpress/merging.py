"""The stage between chunks and vectors: the chunks of all sources in order, as two files in the build folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from ragpress.build import State, chunk_sources, is_published, read_state, say
from ragpress.errors import BuildError
from ragpress.golden import remove_empty_parents
from ragpress.manifest import encode_document, replace_file
from ragpress.repository import Found, Repository, file_stamp, find_sources, fingerprint, tree_stamp

Say = Callable[[str], None]


def merged_chunks(repository: Repository) -> Path:
    return repository.build / "merged" / "chunks.jsonl"


def merged_documents(repository: Repository) -> Path:
    return repository.build / "merged" / "documents.jsonl"


def _merge_stamp(repository: Repository, found: Sequence[Found]) -> str:
    names = [item.source for item in found]
    files = [file_stamp(merged_chunks(repository)), file_stamp(merged_documents(repository))]
    return fingerprint(names, tree_stamp(repository.build / "documents"), repository.config.on_error, files)


def is_merged(repository: Repository, found: Sequence[Found]) -> bool:
    """Whether the merged files are made from the chunks of these sources, all there are, as they stand."""
    try:
        stamp = (repository.build / "merged" / "stamp").read_bytes()
        return stamp == _merge_stamp(repository, found).encode()
    except OSError:
        return False


def merge(repository: Repository, tell: Say = say) -> None:
    """All sources' chunks and entries, in the order of their names, as two files; what belongs to no source goes."""
    found = find_sources(repository.sources)
    if not found:
        raise BuildError("no-sources", f"{repository.config.sources}/ holds no document; put one in and build again")
    remove_orphans(repository, {item.source for item in found})
    made = {item.source: _made(repository, item.source) for item in found}
    damaged = [item for item in found if made[item.source] is None]
    chunk_sources(repository, damaged, tell)
    made |= {item.source: _made(repository, item.source) for item in damaged}
    lines: list[bytes] = []
    entries: list[bytes] = []
    for item in found:
        whole = made[item.source]
        if whole is None:
            raise BuildError("file-gone", "its chunks are missing from the build folder; build again", item.source)
        state, data = whole
        if state.failure is not None:
            if repository.config.on_error == "fail":
                raise state.failure.error()
            tell(f'{state.failure.error()} - left out of the artifact, as on_error = "skip" says')
            continue
        if state.entry is not None:
            lines.append(data)
            entries.append(encode_document(state.entry))
    if not lines:
        raise BuildError("no-sources", "no source could be read; mend the ones named above")
    replace_file(merged_chunks(repository), b"".join(lines))
    replace_file(merged_documents(repository), b"".join(entries))
    replace_file(repository.build / "merged" / "stamp", _merge_stamp(repository, found).encode())


def _made(repository: Repository, source: str) -> tuple[State, bytes] | None:
    """What a source became, and its lines as they were written; None where either is missing or damaged."""
    state = read_state(repository, source)
    if state is None:
        return None
    if state.failure is not None:
        return state, b""
    try:
        data = repository.chunks_of(source).read_bytes()
    except OSError:
        return None
    return (state, data) if hashlib.sha256(data).hexdigest() == state.chunks_sha256 else None


def remove_orphans(repository: Repository, present: set[str]) -> None:
    """Deletes the chunks and states in the build folder of sources that are no longer there."""
    for folder, suffix in ((repository.build / "chunks", ".jsonl"), (repository.build / "documents", ".json")):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file() and path.relative_to(folder).as_posix().removesuffix(suffix) not in present:
                path.unlink()
                remove_empty_parents(folder, path.parent)


def is_built(repository: Repository) -> bool:
    """Whether the artifact stands as it was last written and is made from the sources' chunks as they are now."""
    return is_merged(repository, find_sources(repository.sources)) and is_published(repository)
