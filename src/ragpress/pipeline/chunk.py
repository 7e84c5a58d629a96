"""The stages of a build as functions on a repository: chunk every source, merge, embed, publish.

Each stage looks at what stands on the disk and does only what is missing, so that a build that was killed, or whose
doit state is lost, goes on where it stopped.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragpress.artifact.jsonl import encode_chunk
from ragpress.config import Config
from ragpress.console import Report, report
from ragpress.errors import BuildError, SourceError, render
from ragpress.files import copy_signature, fingerprint, replace_file, stat_signature, tree_signature
from ragpress.models.known import known_model, tokenizer_file
from ragpress.models.selection import allowed, chunking_stamp, keep_choice, sticky_name
from ragpress.pipeline.ahead import counting_ahead, load_ahead
from ragpress.pipeline.jobs import Compiled, Job, Outcome
from ragpress.pipeline.rounds import compile_jobs
from ragpress.pipeline.states import (
    State,
    is_edited,
    keep_looks,
    look,
    look_stamp,
    result_stamp,
    source_failure,
    write_state,
)
from ragpress.repository import Found, Repository, find_sources, tool_fingerprint

if TYPE_CHECKING:
    from ragpress.chunking.semantic import Compare
    from ragpress.pipeline.similarity import Similarity

_FEW_BYTES = 200_000  # of sources whose tokens cost less to ask for than a vocabulary to load


@contextmanager
def build_lock(repository: Repository, report: Report = report) -> Iterator[None]:
    """Keeps other builds of the same folder waiting; released by the system when the process ends, however."""
    try:
        repository.build.mkdir(parents=True, exist_ok=True)
        handle = os.open(repository.build / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
    except OSError as error:
        raise BuildError(
            "disk", f"{repository.config.build}/ cannot be written: {error.strerror}; check the folder's rights"
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("ragpress: another build of this folder is running; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


# -- chunk -----------------------------------------------------------------------------------------------------------


def chunk_sources(repository: Repository, wanted: Sequence[Found], report: Report = report) -> dict[str, str]:
    """Chunks those of the wanted sources whose results do not stand in the build folder yet.

    Returns the `Look.stamps` of those whose results stand there now.
    """
    seen = look(repository, wanted)
    if not seen.stale:
        return seen.stamps
    with comparing(repository, report) as compare:
        if compare is not None:
            keep_choice(repository, compare.file)  # the chunks depend on it
            seen = look(repository, wanted)
        settings = chunking_stamp(repository)
        if not is_chunked_alike(repository):
            _settings(repository).unlink(missing_ok=True)  # a run that is stopped leaves chunks of two settings
        before = {found.source: stat_signature(found.file) for found in seen.stale}
        stamps = dict(seen.stamps)
        for found, outcome in compiled(repository, seen.stale, report, compare):
            if _keep(repository, found, settings, outcome, before[found.source], report):
                stamps[found.source] = look_stamp(repository, found.source, before[found.source])
    return stamps


@contextmanager
def comparing(repository: Repository, report: Report) -> Iterator[Similarity | None]:
    """What sentences are compared by, where the strategy asks for it. Raises ModelError."""
    if repository.config.strategy != "semantic":
        yield None
        return
    from ragpress.pipeline.similarity import similarity

    with similarity(repository, report) as found:
        yield found


def _settings(repository: Repository) -> Path:
    return repository.build / "settings"


def is_chunked_alike(repository: Repository) -> bool:
    """Whether all chunks that stand in the build folder were made with the settings and the tool as they are now."""
    try:
        return _settings(repository).read_bytes() == chunking_stamp(repository).encode()
    except OSError:
        return False


def compiled(
    repository: Repository, wanted: Sequence[Found], report: Report = report, compare: Compare | None = None
) -> Iterator[tuple[Found, Outcome]]:
    """What the repository's settings make of each of the sources, those that had to wait for captions last.

    Converted files and new captions are kept, nothing else is written. `compare` is what `comparing` gives.
    """
    config = repository.config
    tokenizer = tokenizer_file(config, repository.root)
    prefixes = tuple(known_model(name).document_prefix for name in allowed(config))
    few = sum(_size(found) for found in wanted) <= _FEW_BYTES
    count = counting_ahead(tokenizer, prefixes[0]) if few else None
    captioned = config.captions != "off"
    jobs = [
        Job(
            found.source,
            found.file,
            config,
            "" if count else str(tokenizer),
            prefixes,
            root=str(repository.sources),
            captions=str(repository.captions) if captioned else "",
            pictures=str(repository.build / "pictures") if captioned else "",
        )
        for found in wanted
    ]
    named = {found.source: found for found in wanted}
    for job, outcome in compile_jobs(jobs, repository.build / "converted", report, compare, count):
        yield named[job.source], outcome


def _size(found: Found) -> int:
    return found.path.stat().st_size if found.regular and found.path.exists() else 0


def _keep(repository: Repository, found: Found, settings: str, outcome: Outcome, before: str, report: Report) -> bool:
    """Writes what a source became; whether that stands as long as nothing changes."""
    source = found.source
    if isinstance(outcome, Compiled):
        lines = b"".join(encode_chunk(chunk) for chunk in outcome.chunks)
        replace_file(repository.chunks_of(source), lines)
        stamp = fingerprint(settings, outcome.entry.sha256)
        write_state(
            repository,
            source,
            State(stamp, hashlib.sha256(lines).hexdigest(), entry=outcome.entry, uses=outcome.uses),
        )
        for message in outcome.messages:
            report(render(message, f"{repository.config.sources}/"))
        return True
    repository.chunks_of(source).unlink(missing_ok=True)
    readable = found.regular and found.path.is_file()
    stamp = result_stamp(settings, found.path.read_bytes()) if readable else ""
    if stat_signature(found.file) != before:
        stamp = ""  # it is not known which bytes failed
    write_state(repository, source, State(stamp, "", failure=outcome))
    return outcome.lasting and bool(stamp)


def foresee(repository: Repository, found: Sequence[Found]) -> None:
    """Before doit looks at the sources one by one: begins to load the model if one of them was edited.

    Not where chunks depend on the model, which is loaded for them then.
    """
    if repository.config.strategy != "semantic" and is_edited(repository, found):
        load_ahead(repository)


def chunk(repository: Repository, found: Found, report: Report = report) -> None:
    """One source's part of the build: raises SourceError where it fails and nothing says to skip it.

    The first call of a process chunks all sources that need it, so that both cores have work.
    """
    seen = _chunk_all(repository, report)
    for _ in range(_ATTEMPTS):
        stamp = stat_signature(found.file)
        if seen.get(found.source) == stamp:
            break
        chunk_sources(repository, [found], report)  # it was changed after it was read, which doit would not notice
        seen[found.source] = stamp
    else:
        raise SourceError("file-gone", "it changes all the time; build again when it is at rest", found.source)
    failure = source_failure(repository, found.source)
    if failure is not None and repository.config.on_error == "fail":
        raise failure


def _chunk_all(repository: Repository, report: Report) -> dict[str, str]:
    """Source to what its file was like when it was read; all sources are at the first call of a process."""
    seen = _chunked.get(repository.root)
    if seen is None:
        found = find_sources(repository.sources)
        seen = {item.source: stat_signature(item.file) for item in found}
        try:
            keep_looks(repository, chunk_sources(repository, found, report))
            if not is_chunked_alike(repository):
                replace_file(_settings(repository), chunking_stamp(repository).encode())
        except BuildError as error:
            seen = error
        _chunked[repository.root] = seen
    if isinstance(seen, BuildError):
        raise seen  # a full disk is tried once, and not for each source
    return seen


_ATTEMPTS = 3
_chunked: dict[Path, dict[str, str] | BuildError] = {}


# -- publish (publish.py does it, with the heavy libraries) -----------------------------------------------------------


def merged_stamp(repository: Repository) -> bytes:
    """Over all that the last merge wrote. Raises OSError before one."""
    return (repository.build / "merged" / "stamp").read_bytes()


def published_stamp(repository: Repository) -> str:
    """Over all that decides the artifact, and the artifact's files as they stand. Raises OSError before a merge."""
    config = repository.config
    own_model = copy_signature(repository.root / config.model_path) if config.model_path else ""
    settings = (config.model, config.model_file, config.model_path, own_model, config.dimensions, _engine(config))
    made_from = (tool_fingerprint(), merged_stamp(repository).hex(), settings, sticky_name(repository))
    return fingerprint(*made_from, tree_signature(repository.artifact))


def _engine(config: Config) -> str:
    """What the vectors must be made by, if not by anything: loads llama.cpp where the settings ask for it."""
    if not config.reproducible:
        return ""
    from ragpress.embedding.llama import engine

    return engine()


def is_published(repository: Repository) -> bool:
    """Whether the artifact stands as it was last written, and is made from the merged files as they are now."""
    try:
        return (repository.build / "published").read_bytes() == published_stamp(repository).encode()
    except OSError:
        return False
