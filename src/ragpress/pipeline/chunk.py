"""The first stage: what one source becomes, with the help that its reader may not have.

Reading happens in restricted processes (`pool`). What needs another program or the network is done here: a file of an
old format is converted first, and a source whose pictures have no caption yet is compiled once more when those have
been made.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import msgspec

from ragpress.artifact.jsonl import encode_chunk
from ragpress.captions.store import NAME
from ragpress.console import Report, under_ci
from ragpress.errors import BuildError, ClusterError, ModelError, SourceError, render
from ragpress.files import replace_file
from ragpress.pipeline.convert import convert
from ragpress.pipeline.pool import Pool
from ragpress.pipeline.results import (
    Compiled,
    Failure,
    Job,
    Outcome,
    Result,
    current_result,
    failure,
    result_fingerprint,
    write_result,
)
from ragpress.readers import CONVERTIBLE, suffix_of
from ragpress.repository import Repository
from ragpress.sources import SourceFile

_REST = 0.25  # seconds that one write of a program may take


def chunk_source(repository: Repository, source: SourceFile, pool: Pool, report: Report) -> Result:
    """What a source became: as it is in the build folder, if that was made from the same; else made and put there.

    Raises BuildError where the disk refuses, ModelError where chunks depend on a model that cannot be used,
    ClusterError where the workers cannot go on.
    """
    with pool.room(source):
        return _chunk(repository, source, pool, report)


def _chunk(repository: Repository, source: SourceFile, pool: Pool, report: Report) -> Result:
    name = source.source
    if source.problem:
        wrong = Failure(source.problem.code, source.problem.text, name, lasting=False)
        return _write(repository, name, "", wrong, report)
    try:
        data = read_source(source.path, name)
    except SourceError as error:
        return _write(repository, name, "", failure(error, name), report)
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        result = current_result(repository, name, sha256)
        outcome = None if result else compile_file(repository, name, data, pool, report)
    except (ModelError, ClusterError):
        raise
    except BuildError as error:
        result, outcome = None, failure(error, name)
    if result is not None:
        return result
    assert outcome is not None
    return _write(repository, name, sha256, outcome, report)


def _write(repository: Repository, source: str, sha256: str, outcome: Outcome, report: Report) -> Result:
    made_from = result_fingerprint(repository, sha256) if sha256 else ""
    if isinstance(outcome, Failure):
        repository.chunks_of(source).unlink(missing_ok=True)
        result = Result(made_from, failure=msgspec.structs.replace(outcome, uncaptioned=(), seconds=0.0))
    else:
        lines = b"".join(encode_chunk(chunk) for chunk in outcome.chunks)
        replace_file(repository.chunks_of(source), lines)
        chunks_sha256 = hashlib.sha256(lines).hexdigest()
        result = Result(made_from, chunks_sha256, entry=outcome.entry, uses=outcome.uses)
    write_result(repository, source, result)
    if isinstance(outcome, Compiled):
        for message in outcome.messages:
            report(render(message, f"{repository.config.sources}/"))
    return result


def compile_file(
    repository: Repository,
    source: str,
    data: bytes,
    pool: Pool,
    report: Report,
    *,
    root: Path | None = None,
    converted: Path | None = None,
) -> Outcome:
    """What the repository's settings make of a source's bytes; only converted files and new captions are kept.

    `root` is the folder that the source is in by its name, where that is not the repository's; captions are used then,
    but none are made. `converted` is the folder for converted files, if not the build folder's. Raises ModelError where
    the model fails, BuildError for captions.jsonl or a disk that refuses.
    """
    job = _job(repository, source, data, root, converted or repository.build / "converted")
    if isinstance(job, Failure):
        return job
    outcome = pool.compile(job)
    if isinstance(outcome, Compiled) or not outcome.uncaptioned or under_ci():
        return outcome
    pictures = {each.sha256: (each, f"{source}:{each.locator}") for each in outcome.uncaptioned}
    failed = pool.captions.make(pictures, Path(job.pictures), Path(job.captions), job.config, report)
    for picture in outcome.uncaptioned:
        if picture.sha256 in failed:
            by_hand = f'or write {{"sha256": "{picture.sha256}", "text": "…"}} into {NAME}'
            text = f"a picture has no caption: {failed[picture.sha256].message.text}; {by_hand}"
            return Failure("caption", text, source, picture.locator, lasting=False)
    return pool.compile(job)


def _job(repository: Repository, source: str, data: bytes, root: Path | None, converted: Path) -> Job | Failure:
    config = repository.config
    captioned = config.captions != "off"
    job = Job(
        source=source,
        sha256=hashlib.sha256(data).hexdigest(),
        data=data,
        config=config,
        root=str(root or repository.sources),
        captions=str(repository.captions) if captioned else "",
        pictures=str(repository.build / "pictures") if captioned and root is None else "",
    )
    if not config.convert_doc or suffix_of(source) not in CONVERTIBLE:
        return job
    try:
        made = convert(data, source, converted, config)
        return msgspec.structs.replace(job, data=made.read_bytes(), converted=made.suffix)
    except BuildError as error:
        return failure(error, source, lasting=isinstance(error, SourceError))


def read_source(path: Path, source: str) -> bytes:
    """The bytes of a source as they are at one moment. Raises SourceError for what is no readable file."""
    try:
        if not os.path.lexists(path):
            raise SourceError("file-gone", "there is no such file; check its name", source)
        if not path.is_file():
            raise SourceError("not-a-file", "it is not a regular file; remove it or give it another name", source)
        before = path.stat()
        age = time.time() - before.st_mtime
        if 0 <= age < _REST:  # the time is set when a write begins: one that is under way would not show in it
            time.sleep(_REST - age)
        data = path.read_bytes()
        after = path.stat()
    except OSError as error:
        raise SourceError("file-gone", f"it cannot be read: {error.strerror}; check its rights", source) from None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(data) != after.st_size:
        raise SourceError("file-gone", "it was changed while it was read; build again", source)
    return data
