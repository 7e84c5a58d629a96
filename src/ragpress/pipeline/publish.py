"""The last stages of a build: embed the texts that have no vector, and publish the artifact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ragpress.artifact.format import model_record
from ragpress.artifact.index import Positions, Stored
from ragpress.artifact.jsonl import decode_chunk
from ragpress.artifact.write import Lines, Vectors, write_artifact
from ragpress.console import Report, progress, report
from ragpress.errors import BuildError, message, render
from ragpress.files import fingerprint, replace_file
from ragpress.models.known import ModelFile, resolve
from ragpress.models.selection import artifact_choice, keep_choice, locked_model, sticky_name
from ragpress.pipeline.ahead import loaded_ahead
from ragpress.pipeline.chunk import merged_stamp, published_stamp
from ragpress.pipeline.counting import more_tokens
from ragpress.pipeline.merge import merge, merged_chunks, merged_documents, merged_for, merged_rows
from ragpress.pipeline.remembered import Texts, recall, remember
from ragpress.pipeline.seed import SeedSetting
from ragpress.records import Chunk
from ragpress.repository import CUTTING_SETTINGS, Repository, tool_fingerprint
from ragpress.vectors.cache import Marks, VectorCache
from ragpress.vectors.digests import digest_keys, vector_keys

_SPARE_BYTES = 2 * 1024**3  # that the vector cache may take beyond four times what the artifact needs


class Ready(NamedTuple):
    """What an artifact is made of: the model, all lines, each chunk's `text_digest`, what is known of its vector."""

    file: ModelFile
    lines: Lines
    texts: Texts
    marks: Marks

    def keys(self, places: Sequence[int] | None = None) -> list[bytes]:
        """The keys of the chunks' vectors, those at these places or all."""
        texts = self.texts if places is None else self.texts[list(places)]
        return digest_keys(self.file, map(bytes, texts.tolist()))

    def chunks(self, places: Sequence[int]) -> Iterator[Chunk]:
        """The chunks at these places."""
        ends = np.cumsum(self.lines.lengths, dtype=np.int64)[list(places)].tolist()
        for end, length in zip(ends, self.lines.lengths[list(places)].tolist(), strict=True):
            yield decode_chunk(self.lines.data[end - length : end])


_ready: dict[Path, tuple[bytes, Ready]] = {}  # by repository, with the stamp of its merged files


def embed(repository: Repository, report: Report = report) -> None:
    """Embeds every text that there is no vector for, with the model that the build folder uses."""
    with VectorCache(repository.vectors, report) as cache:
        ready = _embed(repository, cache, report)
    _ready[repository.root] = merged_stamp(repository), ready


def _merged(repository: Repository) -> tuple[Lines, Texts]:
    """What `merge` wrote: all lines, and the digest of each one's text. Raises BuildError where that is missing."""
    try:
        data = merged_chunks(repository).read_bytes()
        rows = np.frombuffer(
            merged_rows(repository).read_bytes(), np.dtype([("key", "<u8"), ("length", "<u4"), ("text", "V32")])
        )
    except OSError as error:
        raise BuildError("file-gone", f"the merged chunks cannot be read: {error.strerror}; build again") from None
    return Lines(data, np.ascontiguousarray(rows["key"]), np.ascontiguousarray(rows["length"])), rows["text"]


def _embed(repository: Repository, cache: VectorCache, report: Report, *, thoroughly: bool = False) -> Ready:
    """Sees to it that there is a vector of each text; `thoroughly` that each can be read, whatever is remembered."""
    lines, texts = _merged(repository)
    seed = SeedSetting(repository, report)
    sticky = sticky_name(repository) or seed.choose_model()

    def known(file: ModelFile) -> Ready:
        """What is known of the vectors, once the seed's have been taken where one was absent."""
        identity = _identity(repository, file)
        marks = Marks.unknown(len(texts)) if thoroughly else recall(repository, identity, texts)
        ready = _looked_up(repository, cache, Ready(file, lines, texts, marks))
        if ready.marks.absent() and seed.fill(cache, file):
            ready = _looked_up(repository, cache, ready)
        return ready

    def lacking(ready: Ready) -> list[int]:
        if thoroughly:
            return cache.missing(ready.keys(), _wanted_engine(repository))
        return ready.marks.absent()

    file = locked_model(repository, sticky)
    ready = known(file) if file else None
    if ready is None or lacking(ready):
        file = resolve(repository.config, repository.root, sticky=sticky, report=report)
        if ready is None or ready.file != file:
            ready = known(file)
        if places := lacking(ready):
            names = {chunk.text: chunk.chunk_id for chunk in ready.chunks(places)}
            embed_missing(repository, cache, names, file, report)
            made = cache.marks(ready.keys(places), _wanted_engine(repository))
            ready = ready._replace(marks=ready.marks.filled(places, made))
    before = artifact_choice(repository)
    if before is not None and before.name != ready.file.model.name:
        text = f"the artifact was of {before.name} and is now of {ready.file.model.name}"
        report(render(message("warning", "model-switch", text)))
    keep_choice(repository, ready.file)
    if merged_for(repository) != more_tokens(repository, ready.file.model.name):
        merge(repository, lambda _: None, ready.file.model.name)
        ready = ready._replace(lines=_merged(repository)[0])
    return ready


def _looked_up(repository: Repository, cache: VectorCache, ready: Ready) -> Ready:
    """With what the cache knows of the vectors of which nothing is known."""
    places = ready.marks.absent()
    if not places:
        return ready
    found = cache.marks(ready.keys(places), _wanted_engine(repository))
    return ready._replace(marks=ready.marks.filled(places, found))


def _identity(repository: Repository, file: ModelFile) -> str:
    """Over all that makes vectors comparable, and what must have made them."""
    return fingerprint(tool_fingerprint(), digest_keys(file, [b""])[0].hex(), _wanted_engine(repository))


def _wanted_engine(repository: Repository) -> str | None:
    """What the vectors must be made by, if not by anything."""
    if not repository.config.reproducible:
        return None
    from ragpress.embedding.llama import engine

    return engine()


def embed_missing(
    repository: Repository, cache: VectorCache, names: dict[str, str], file: ModelFile, report: Report
) -> None:
    """Puts the vectors that the cache lacks into it; `names` are the texts with their chunks' ids, for messages."""
    texts = list(names)
    keys = vector_keys(file, texts)
    absent = cache.missing(keys, _wanted_engine(repository))
    if not absent:
        return
    from ragpress.embedding.embedder import Embedder

    with (
        Embedder(file, weights=loaded_ahead(file.path)) as embedder,
        progress(len(absent), "embedding", report) as advance,
    ):
        embedder.embed_documents(
            [texts[index] for index in absent],
            names=[names[texts[index]] for index in absent],
            on_batch=lambda batch: cache.put_many(
                [(keys[absent[index]], vector) for index, vector in batch], embedder.engine
            ),
            progress=advance,
        )


def publish(repository: Repository, report: Report = report) -> None:
    """Writes the artifact of the merged chunks and their vectors, in one step in the place of the old one."""
    with VectorCache(repository.vectors, report) as cache:
        stamp, ready = _ready.pop(repository.root, (b"", None))
        if ready is None or stamp != merged_stamp(repository):
            ready = _embed(repository, cache, report)
        bound = _SPARE_BYTES + 4 * len(ready.texts) * ready.file.dimensions * 2
        if cache.size() > bound:
            report(f"ragpress: {cache.prune(ready.keys(), bound)} vectors that nothing uses dropped from the cache")
        try:
            _write(repository, cache, ready)
        except _LostError:  # damaged, or pruned by another process since
            cache.mend()
            ready = _embed(repository, cache, report, thoroughly=True)
            _write(repository, cache, ready)
    remember(repository, _identity(repository, ready.file), ready.texts, ready.marks)
    replace_file(repository.build / "published", published_stamp(repository).encode())
    name = ready.file.model.name
    report(f"ragpress: {repository.config.build}/kb holds {len(ready.texts)} chunks, embedded by {name}")


class _LostError(BuildError):
    """A vector that was there cannot be read."""


def _write(repository: Repository, cache: VectorCache, ready: Ready) -> None:
    """Raises _LostError where a vector cannot be read, BuildError as `write_artifact` does."""
    file, marks = ready.file, ready.marks

    def take(places: Positions) -> Stored:
        wanted = marks.digests[places].tolist()
        vectors, absent = cache.matrix(ready.keys(places.tolist()), file.dimensions, wanted)
        if absent:
            (name,) = (chunk.chunk_id for chunk in ready.chunks([int(places[absent[0]])]))
            raise _LostError("embedding", f"the vector of chunk {name} is gone from the cache; build again")
        return vectors

    write_artifact(
        repository.artifact,
        chunks=ready.lines,
        documents=merged_documents(repository).read_bytes(),
        vectors=Vectors(marks.digests, file.dimensions, take),
        model=model_record(file),
        engines=marks.names(),
        chunking={name: getattr(repository.config, name) for name in CUTTING_SETTINGS},
    )
