"""Compiles one source: reads, captions, chunks and audits it. Runs in a worker process, see `pool`."""

from __future__ import annotations

import posixpath
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragpress.captions.document import Captioned, Uncaptioned, missing_message, with_captions
from ragpress.captions.making import picture_name
from ragpress.captions.store import read_captions
from ragpress.captions.uses import Use
from ragpress.config import Config
from ragpress.errors import BuildError, SourceError, message
from ragpress.files import replace_file
from ragpress.pipeline.results import Compiled, Failure, Job, Outcome, failure
from ragpress.records import Chunk, Document, DocumentEntry, Picture
from ragpress.sources import name_message

if TYPE_CHECKING:
    from ragpress.chunking.semantic import Compare

Count = Callable[[str], int]


def compile_source(job: Job, count: Count, prefixes: Sequence[str], compare: Compare | None) -> Outcome:
    """Reads, captions, chunks and audits one source in this process; whatever goes wrong is a Failure.

    `count` tells the tokens of the string that the configured model embeds for a text, `prefixes` are the document
    prefixes of that model and of the offline one, `compare` is as `chunk_document` says.
    """
    try:
        return _compile(job, count, prefixes, compare)
    except BuildError as error:
        lasting = isinstance(error, SourceError) and not job.captions  # a caption may fix it
        return failure(error, job.source, lasting=lasting)
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


def _compile(job: Job, count: Count, prefixes: Sequence[str], compare: Compare | None) -> Outcome:
    from ragpress.audit import audit, messages_for
    from ragpress.chunking import chunk_document
    from ragpress.readers import read_document

    document = read_document(job.data, job.source, job.config, job.converted)
    uses: tuple[Use, ...] = ()
    if job.captions:
        document, uses, uncaptioned = _captioned(job, document)
        if uncaptioned and job.pictures:
            return _wanting(job, uncaptioned)
    chunks, cut = chunk_document(document, _fitting(job.config, count, prefixes), count, compare)
    if not chunks:
        pictures = document.pictures and job.config.captions == "off"
        advice = "add text, set captions to have its pictures read," if pictures else "add text"
        raise SourceError("empty-source", f"there is no text to index in it; {advice} or remove the file", job.source)
    coverage = audit(job.data, document, tuple(map(_written, chunks)), job.config, job.converted)
    named = name_message(job.source)
    messages = (*([named] if named else []), *document.messages, *cut, *messages_for(coverage, job.source, job.config))
    if job.converted:
        text = f"LibreOffice made {job.converted} of it; what there shows the day or the name of the file is left out"
        messages = (message("info", "convert", text, job.source), *messages)
    entry = DocumentEntry(
        source=job.source,
        sha256=job.sha256,
        title=document.title,
        front_matter=document.front_matter,
        chunks=len(chunks),
        coverage=coverage.coverage,
        gaps=coverage.gaps,
        left_out=coverage.left_out,
        messages=messages,
    )
    return Compiled(entry, chunks, messages, uses=uses)


def _written(chunk: Chunk) -> Chunk:
    """A chunk as far as the source says it: what was made of a picture must not stand in for words that are lost."""
    if chunk.content_type != "image_caption":
        return chunk
    return msgspec.structs.replace(chunk, text=chunk.text[: chunk.context_chars])


def _captioned(job: Job, document: Document) -> Captioned:
    """The document with captions; pictures that lack one are in the job's folder then, or named in a message."""
    captions = read_captions(Path(job.captions))
    found = with_captions(document, captions, job.config.captions, Path(job.root), posixpath.dirname(job.source))
    if not found.uncaptioned:
        return found
    if not job.pictures:
        messages = (*found.document.messages, missing_message(job.source, found.uncaptioned))
        return found._replace(document=msgspec.structs.replace(found.document, messages=messages))
    for uncaptioned, picture in found.uncaptioned:
        replace_file(Path(job.pictures) / picture_name(uncaptioned), picture.data)
    return found


def _wanting(job: Job, uncaptioned: Sequence[tuple[Uncaptioned, Picture]]) -> Failure:
    first = uncaptioned[0][0]
    more = f" and {len(uncaptioned) - 1} more have" if len(uncaptioned) > 1 else " has"
    text = (
        f"the picture {first.sha256[:12]}… ({first.media_type}){more} no caption in captions.jsonl; build on your"
        " machine, and commit captions.jsonl"
    )
    return Failure(
        "caption", text, job.source, first.locator, False, uncaptioned=tuple(each for each, _ in uncaptioned)
    )


def _fitting(config: Config, count: Count, prefixes: Sequence[str]) -> Config:
    """The settings with a limit under which a text fits whichever of the models' prefixes it is given.

    Exact, since a prefix ends with a space and no token of the known vocabulary crosses one.
    """
    longest = max(count(prefix) for prefix in prefixes)
    return msgspec.structs.replace(config, max_tokens=config.max_tokens - (longest - count(prefixes[0])))
