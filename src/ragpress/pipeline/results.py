"""What becomes of one source: the records that pass between the processes, and how they stand in the build folder."""

from __future__ import annotations

import hashlib

import msgspec

from ragpress.artifact.jsonl import read_chunks
from ragpress.captions.document import Uncaptioned
from ragpress.captions.uses import Use, still_true
from ragpress.config import Config
from ragpress.errors import BuildError, SourceError
from ragpress.files import fingerprint, read_checksummed, write_checksummed
from ragpress.models.selection import chunking_fingerprint
from ragpress.records import Chunk, DocumentEntry, Locator, Message
from ragpress.repository import Repository
from ragpress.sources import SourceFile

# -- between the processes -------------------------------------------------------------------------------------------


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One source to read, chunk and audit.

    `data` are the bytes to read and `sha256` is that of the source's own bytes; both differ for a file of an old
    format, of which `converted` is the suffix of what was made of it. With captions on, `captions` is the path of
    captions.jsonl, `root` the folder that the source is in by its name, and `pictures` a folder for those without a
    caption; without that folder they are named in a message.
    """

    source: str
    sha256: str
    data: bytes
    config: Config
    converted: str = ""
    root: str = ""
    captions: str = ""
    pictures: str = ""


class Failure(msgspec.Struct, frozen=True, tag=True):
    """Why a source has no chunks. `lasting` tells whether the same bytes would fail again.

    `uncaptioned` are its pictures that first need a caption, and that are in the job's folder `pictures` now.
    """

    code: str
    text: str
    source: str
    locator: Locator | None = None
    lasting: bool = True
    seconds: float = 0.0
    uncaptioned: tuple[Uncaptioned, ...] = ()

    def error(self) -> SourceError:
        return SourceError(self.code, self.text, self.source, self.locator)


class Compiled(msgspec.Struct, frozen=True, tag=True):
    """What became of one source. `uses` are the pictures that it shows, where captions are on."""

    entry: DocumentEntry
    chunks: tuple[Chunk, ...]
    messages: tuple[Message, ...]
    seconds: float = 0.0
    uses: tuple[Use, ...] = ()


Outcome = Compiled | Failure


def failure(error: BuildError, source: str, *, lasting: bool = False) -> Failure:
    """An error as the outcome of a source."""
    return Failure(error.message.code, error.message.text, source, error.message.locator, lasting)


# -- in the build folder ---------------------------------------------------------------------------------------------


class Result(msgspec.Struct, frozen=True):
    """build/documents/<source>.json, a checksummed file beside the source's chunks: what a source became.

    `fingerprint` is over all that decided it: the source's bytes, the settings and the tool; empty where the bytes are
    not known. `uses` are the source's pictures and their captions.
    """

    fingerprint: str
    chunks_sha256: str = ""
    entry: DocumentEntry | None = None
    failure: Failure | None = None
    uses: tuple[Use, ...] = ()


_DECODER = msgspec.json.Decoder(Result)


def read_result(repository: Repository, source: str) -> Result | None:
    """What is in the build folder for a source; None where nothing usable is."""
    return read_checksummed(repository.result_of(source), _DECODER)


def write_result(repository: Repository, source: str, result: Result) -> None:
    """Raises BuildError where the disk refuses."""
    write_checksummed(repository.result_of(source), msgspec.json.encode(result))


def result_fingerprint(repository: Repository, sha256: str) -> str:
    """The `Result.fingerprint` of a source with this sha256."""
    return fingerprint(chunking_fingerprint(repository), sha256)


def current_result(repository: Repository, source: str, sha256: str) -> Result | None:
    """The result of a source with this sha256, if it is what a build would make again now.

    Raises BuildError where captions.jsonl cannot be read.
    """
    result = read_result(repository, source)
    if result is None or result.fingerprint != result_fingerprint(repository, sha256):
        return None
    if result.failure is not None:
        return result if result.failure.lasting else None
    if not still_true(result.uses, repository.captions, repository.sources):
        return None
    return result if chunks_bytes(repository, source, result) is not None else None


def chunks_bytes(repository: Repository, source: str, result: Result) -> bytes | None:
    """The lines of a source's chunks; None where they are missing or damaged."""
    try:
        data = repository.chunks_of(source).read_bytes()
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == result.chunks_sha256 else None


def load_source(repository: Repository, source: str) -> tuple[tuple[Chunk, ...], DocumentEntry]:
    """The chunks and the entry of a source from the build folder. Raises BuildError."""
    result = read_result(repository, source)
    if result is not None and result.failure is not None:
        raise result.failure.error()
    if result is None or result.entry is None:
        raise missing(source)
    return read_chunks(repository.chunks_of(source)), result.entry


def missing(source: str) -> SourceError:
    """The error for a source without a usable result."""
    return SourceError("file-gone", "its chunks are missing from the build folder; run `ragpress build`", source)


def stale_sources(repository: Repository, sources: tuple[SourceFile, ...]) -> list[SourceFile]:
    """Those of the sources whose results are missing, or made from something else than now. Raises BuildError."""
    return [source for source in sources if not _is_current(repository, source)]


def _is_current(repository: Repository, source: SourceFile) -> bool:
    try:
        sha256 = hashlib.sha256(source.path.read_bytes()).hexdigest() if source.regular else ""
    except OSError:
        return False
    return bool(sha256) and current_result(repository, source.source, sha256) is not None
