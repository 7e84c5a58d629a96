"""Compiles one source: reads, captions, chunks and audits it. Runs in a process of its own, see `worker`."""

from __future__ import annotations

import hashlib
import posixpath
import time
import traceback
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragpress.captions.document import Captioned, Wanted
from ragpress.captions.uses import Use
from ragpress.config import Config
from ragpress.errors import BuildError, SourceError
from ragpress.files import replace_file
from ragpress.pipeline.jobs import Compiled, Failure, Job, Outcome
from ragpress.records import Chunk, Document, DocumentEntry, Picture

if TYPE_CHECKING:
    from ragpress.chunking.semantic import Compare


_REST = 0.25  # seconds that one write of a program may take


def compile_source(job: Job, compare: Compare, count: Callable[[str], int]) -> Outcome:
    """Reads, captions, chunks and audits one source in this process. `compare` is as `chunk_document` says.

    `count` counts tokens for a job without a tokenizer.
    """
    try:
        return _compile(job, compare, counter(job.tokenizer, job.prefixes[0]) if job.tokenizer else count)
    except BuildError as error:
        found = error.message
        lasting = isinstance(error, SourceError) and not job.captions  # a caption may mend it
        return Failure(found.code, found.text, job.source, found.locator, lasting=lasting)
    except MemoryError:
        limit = job.config.source_megabytes
        return Failure(
            "too-large",
            f"reading it takes more than {limit} MB of memory; split the file, or raise source_megabytes",
            job.source,
            lasting=False,
        )
    except RecursionError:
        return Failure("bad-archive", "it is nested too deeply to be read; simplify the file", job.source)
    except Exception as error:  # a fault of ours must not stop the other sources: it is named, and its trace is kept
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Failure(
            "internal",
            f"ragpress failed on this file ({type(error).__name__} at {where}: {error});"
            " please report it, and leave the file out meanwhile",
            job.source,
        )


def _compile(job: Job, compare: Compare, count: Callable[[str], int]) -> Outcome:
    from ragpress.audit import audit, messages_for
    from ragpress.chunking import chunk_document
    from ragpress.errors import message
    from ragpress.readers import read_document

    data = read_source(Path(job.path), job.source)
    shown, suffix = _shown(job, data)
    document = read_document(shown, job.source, job.config, suffix)
    uses: tuple[Use, ...] = ()
    if job.captions:
        document, uses, wanted = _captioned(job, document)
        if wanted and job.pictures:
            return _wanting(job, wanted)
    chunks, messages = chunk_document(document, _fitting(job.config, count, job.prefixes), count, compare)
    if not chunks:
        pictures = document.pictures and job.config.captions == "off"
        advice = "add text, set captions to have its pictures read," if pictures else "add text"
        raise SourceError("empty-source", f"there is no text to index in it; {advice} or remove the file", job.source)
    account = audit(shown, document, tuple(map(_written, chunks)), job.config, suffix)
    found = (*document.messages, *messages, *messages_for(account, job.source, job.config))
    if suffix:
        told = f"LibreOffice made {suffix} of it; what there shows the day or the name of the file is left out"
        found = (message("info", "convert", told, job.source), *found)
    entry = DocumentEntry(
        source=job.source,
        sha256=hashlib.sha256(data).hexdigest(),
        title=document.title,
        front_matter=document.front_matter,
        chunks=len(chunks),
        coverage=account.coverage,
        gaps=account.gaps,
        left_out=account.left_out,
        messages=found,
    )
    return Compiled(entry, chunks, found, uses=uses)


def _written(chunk: Chunk) -> Chunk:
    """A chunk as far as the source says it: what was made of a picture must not stand in for words that are lost."""
    if chunk.content_type != "image_caption":
        return chunk
    return msgspec.structs.replace(chunk, text=chunk.text[: chunk.context_chars])


def _shown(job: Job, data: bytes) -> tuple[bytes, str]:
    """The bytes to read, and their suffix: those of the source, or of what was made of it."""
    if not job.converted:
        return data, ""
    made = Path(job.converted)
    if made.stem != hashlib.sha256(data).hexdigest():
        raise SourceError("file-gone", "it was changed while it was converted; build again", job.source)
    return read_source(made, job.source), made.suffix


def _captioned(job: Job, document: Document) -> Captioned:
    """The document with captions; pictures that lack one are in the job's folder then, or are told of."""
    from ragpress.captions.document import missing_message, with_captions
    from ragpress.captions.making import picture_name
    from ragpress.captions.store import read_captions

    captions = read_captions(Path(job.captions))
    found = with_captions(document, captions, job.config.captions, Path(job.root), posixpath.dirname(job.source))
    if not found.wanted:
        return found
    if not job.pictures:
        message = missing_message(job.source, found.wanted)
        messages = (*found.document.messages, message)
        return found._replace(document=msgspec.structs.replace(found.document, messages=messages))
    folder = Path(job.pictures)
    for wanted, picture in found.wanted:
        replace_file(folder / picture_name(wanted), picture.data)
    return found


def _wanting(job: Job, wanted: Sequence[tuple[Wanted, Picture]]) -> Failure:
    first = wanted[0][0]
    more = f" and {len(wanted) - 1} more have" if len(wanted) > 1 else " has"
    text = (
        f"the picture {first.sha256[:12]}… ({first.media_type}){more} no caption in captions.jsonl; build on your"
        " machine, and commit captions.jsonl"
    )
    return Failure("caption", text, job.source, first.locator, False, wanted=tuple(each for each, _ in wanted))


def read_source(path: Path, source: str) -> bytes:
    """The bytes of a source as they are at one moment. Raises SourceError for what is no readable file."""
    try:
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


@lru_cache(maxsize=1)
def counter(tokenizer: str, prefix: str) -> Callable[[str], int]:
    from ragpress.embedding.embedder import TokenCounter

    return TokenCounter(Path(tokenizer), prefix)


def _fitting(config: Config, count: Callable[[str], int], prefixes: tuple[str, ...]) -> Config:
    """The settings with a limit under which a text fits whichever of the models' prefixes it is given.

    Exact, since a prefix ends with a space and no token of the known vocabulary crosses one.
    """
    longest = max(count(prefix) for prefix in prefixes)
    return msgspec.structs.replace(config, max_tokens=config.max_tokens - (longest - count(prefixes[0])))
