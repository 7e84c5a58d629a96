"""What stands in the build folder for each source, and whether the source and the settings would still make it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragpress.artifact.jsonl import read_chunks
from ragpress.captions.uses import Use, still_true
from ragpress.errors import BuildError, SourceError
from ragpress.files import fingerprint, read_checksummed, signature_of, stat_signature, write_checksummed
from ragpress.models.selection import chunking_stamp
from ragpress.pipeline.jobs import Failure
from ragpress.records import Chunk, DocumentEntry
from ragpress.repository import Found, Repository

_FEW = 100  # sources that are read before a build begins
_REST = 250_000_000  # nanoseconds: a file that was changed later may change again without a change of its time


class State(msgspec.Struct, frozen=True):
    """build/documents/<source>.json, a sealed file: what a source became, and what decided it.

    `stamp` is a fingerprint of the source, the settings and the tool, `uses` the source's pictures and their captions.
    """

    stamp: str
    chunks_sha256: str
    entry: DocumentEntry | None = None
    failure: Failure | None = None
    uses: tuple[Use, ...] = ()


_STATE = msgspec.json.Decoder(State)


def read_state(repository: Repository, source: str) -> State | None:
    """What stands in the build folder for a source; None where nothing usable does."""
    return read_checksummed(repository.state_of(source), _STATE)


def write_state(repository: Repository, source: str, state: State) -> None:
    """Raises BuildError where the disk refuses."""
    write_checksummed(repository.state_of(source), msgspec.json.encode(state))


def result_stamp(settings: str, data: bytes) -> str:
    """The `State.stamp` of a source of these bytes."""
    return fingerprint(settings, hashlib.sha256(data).hexdigest())


def source_failure(repository: Repository, source: str) -> SourceError | None:
    """Why a source has no chunks, once it should have some."""
    state = read_state(repository, source)
    if state is None:
        return SourceError("file-gone", "its chunks are missing from the build folder; build again", source)
    return state.failure.error() if state.failure else None


def load_source(repository: Repository, source: str) -> tuple[tuple[Chunk, ...], DocumentEntry]:
    """The chunks and the entry of a source from the build folder. Raises BuildError."""
    state = read_state(repository, source)
    if state is None or state.entry is None:
        raise (
            state.failure.error()
            if state and state.failure
            else BuildError("file-gone", "its chunks are missing from the build folder; run `doit`", source)
        )
    return tuple(read_chunks(repository.chunks_of(source))), state.entry


# -- what is to be done ----------------------------------------------------------------------------------------------


class Look(NamedTuple):
    """Sources without a result that stands; and of the others what their files were like when they were looked at."""

    stale: list[Found]
    stamps: dict[str, str]


class _Looks(msgspec.Struct, frozen=True):
    """build/looks, a sealed file: the `Look.stamps` of a build, and the stamp of its settings."""

    settings: str
    stamps: dict[str, str]


_LOOKS = msgspec.json.Decoder(_Looks)


def look(repository: Repository, wanted: Sequence[Found]) -> Look:
    """Which sources have to be chunked: those to whose files something was done since the last look are read."""
    settings = chunking_stamp(repository)
    known = _known_stamps(repository, settings)
    stale, stamps = [], {}
    latest = time.time_ns() - _REST
    for found in wanted:
        stamp = look_stamp(repository, found.source, _stamp_at_rest(found.file, latest))
        if known.get(found.source) != stamp and not _is_current(repository, found, settings):
            stale.append(found)
        else:
            stamps[found.source] = stamp
    return Look(stale, stamps)


def is_edited(repository: Repository, wanted: Sequence[Found]) -> bool:
    """Whether one of the sources changed since the last look, as far as can be told by reading a few."""
    settings = chunking_stamp(repository)
    known = _known_stamps(repository, settings)
    touched = [item for item in wanted if known.get(item.source, "").partition(" ")[0] != stat_signature(item.file)]
    return len(touched) <= _FEW and not all(_is_current(repository, item, settings) for item in touched)


def stale_sources(repository: Repository, wanted: Sequence[Found]) -> list[Found]:
    """Those of the sources whose chunks in the build folder are missing or made from something else than now."""
    return look(repository, wanted).stale


def keep_looks(repository: Repository, stamps: dict[str, str]) -> None:
    """Keeps what all sources' files were like for the next look. Raises BuildError where the disk refuses."""
    known = {source: stamp for source, stamp in stamps.items() if stamp}
    settings = chunking_stamp(repository)
    if known != _read_looks(repository, settings):
        write_checksummed(_looks_file(repository), msgspec.json.encode(_Looks(settings, known)))


def look_stamp(repository: Repository, source: str, of_source: str) -> str:
    """Changes with whatever is done to a source, of which the stamp is given, or to its result; empty if that is."""
    return of_source and f"{of_source} {standing_stamp(repository, source)}"


def standing_stamp(repository: Repository, source: str) -> str:
    """Changes with whatever is done to the files that a source became."""
    build = f"{repository.root}/{repository.config.build}"
    return f"{stat_signature(f'{build}/documents/{source}.json')} {stat_signature(f'{build}/chunks/{source}.jsonl')}"


def _stamp_at_rest(file: str, latest: int) -> str:
    """The stamp of a file, empty if something was done to it after `latest`."""
    try:
        status = os.stat(file)  # noqa: PTH116 (a string is as good, for each source)
    except OSError:
        return ""
    return signature_of(status) if max(status.st_mtime_ns, status.st_ctime_ns) < latest else ""


def _known_stamps(repository: Repository, settings: str) -> dict[str, str]:
    """The stamps of the last look under these settings."""
    # Of captions there is no stamp: which of them a source uses stands in its state.
    return _read_looks(repository, settings) if repository.config.captions == "off" else {}


def _read_looks(repository: Repository, settings: str) -> dict[str, str]:
    kept = read_checksummed(_looks_file(repository), _LOOKS)
    return kept.stamps if kept and kept.settings == settings else {}


def _looks_file(repository: Repository) -> Path:
    return repository.build / "looks"


def pictures_current(repository: Repository, source: str) -> bool:
    """Whether a source's pictures, and what they are taken to say, are as they were when it was chunked.

    Raises BuildError where captions.jsonl cannot be read.
    """
    state = read_state(repository, source)
    return state is not None and still_true(state.uses, repository.captions, repository.sources)


def _is_current(repository: Repository, found: Found, settings: str) -> bool:
    state = read_state(repository, found.source)
    if state is None or not found.regular:
        return False
    try:
        if state.stamp != result_stamp(settings, found.path.read_bytes()):
            return False
        if state.failure is not None:
            return state.failure.lasting
        if not still_true(state.uses, repository.captions, repository.sources):
            return False
        return hashlib.sha256(repository.chunks_of(found.source).read_bytes()).hexdigest() == state.chunks_sha256
    except OSError:
        return False
