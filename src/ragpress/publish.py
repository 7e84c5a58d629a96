"""The last stages of a build: embed the texts that have no vector, and publish the artifact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragpress.ahead import loaded_ahead
from ragpress.artifact import model_record
from ragpress.build import merged_stamp, published_stamp, say
from ragpress.choice import artifact_choice, keep_choice, locked_model, sticky_name
from ragpress.digests import digest_keys, vector_keys
from ragpress.errors import BuildError, message, render
from ragpress.index import Halves
from ragpress.manifest import decode_chunk, replace_file, with_tokens
from ragpress.merging import DIGEST_BYTES, merged_chunks, merged_digests, merged_documents
from ragpress.models import ModelFile, known_model, resolve, tokenizer_file
from ragpress.progress import progress
from ragpress.repository import CUTTING_SETTINGS, Repository, file_stamp, fingerprint, tool_fingerprint
from ragpress.sealed import read_sealed, write_sealed
from ragpress.seed import SeedSetting
from ragpress.vectors import Marks, VectorCache
from ragpress.writing import Places, Vectors, write_artifact

Say = Callable[[str], None]
_SPARE_BYTES = 2 * 1024**3  # that the vector cache may take beyond four times what the artifact needs


class Merged(NamedTuple):
    """The lines of all chunks and the `text_digest` of each."""

    lines: list[bytes]
    digests: list[bytes]


class Ready(NamedTuple):
    """What an artifact is made of: the model, and for each chunk its line, its vector's key and what is known of it."""

    lines: list[bytes]
    file: ModelFile
    keys: list[bytes]
    marks: Marks


_ready: dict[Path, tuple[bytes, Ready]] = {}  # by repository, with the stamp of its merged files


def embed(repository: Repository, tell: Say = say) -> None:
    """Embeds every text that the vector cache has no vector for, with the model that the build folder uses."""
    with VectorCache(repository.vectors, tell) as cache:
        _ready[repository.root] = merged_stamp(repository), _embed(repository, cache, read_merged(repository), tell)


def read_merged(repository: Repository) -> Merged:
    """What `merge` wrote. Raises BuildError where that is missing."""
    try:
        lines = merged_chunks(repository).read_bytes().splitlines(keepends=True)
        digests = merged_digests(repository).read_bytes()
    except OSError as error:
        raise BuildError("file-gone", f"the merged chunks cannot be read: {error.strerror}; build again") from None
    return Merged(lines, [digests[at : at + DIGEST_BYTES] for at in range(0, len(digests), DIGEST_BYTES)])


def _embed(repository: Repository, cache: VectorCache, merged: Merged, tell: Say, *, thoroughly: bool = False) -> Ready:
    """Sees to it that there is a vector of each text; `thoroughly` also that each can be read."""
    seed = SeedSetting(repository, tell)
    sticky = sticky_name(repository) or seed.choose_model()
    file = locked_model(repository, sticky)
    ready = _known(repository, cache, merged, file, seed) if file else None
    if ready is None or ready.marks.absent or thoroughly:
        file = resolve(repository.config, repository.root, sticky=sticky, announce=tell)
        if ready is None or ready.file != file:
            ready = _known(repository, cache, merged, file, seed)
        places = range(len(merged.lines)) if thoroughly else ready.marks.absent
        if places:
            chunks = (decode_chunk(merged.lines[at]) for at in places)
            embed_missing(repository, cache, {chunk.text: chunk.chunk_id for chunk in chunks}, file, tell)
            ready = ready._replace(marks=_completed(repository, cache, ready, places))
    before = artifact_choice(repository)
    if before is not None and before.name != ready.file.model.name:
        text = f"the artifact was of {before.name} and is now of {ready.file.model.name}"
        tell(render(message("warning", "model-switch", text)))
    keep_choice(repository, ready.file)
    return ready


def _known(repository: Repository, cache: VectorCache, merged: Merged, file: ModelFile, seed: SeedSetting) -> Ready:
    """What is known of the vectors, once the seed's have been taken where one was absent."""
    keys = digest_keys(file, merged.digests)
    marks = cache.marks(keys, _wanted_engine(repository))
    if marks.absent and seed.fill(cache, file):
        marks = cache.marks(keys, _wanted_engine(repository))
    return Ready(merged.lines, file, keys, marks)


def _completed(repository: Repository, cache: VectorCache, ready: Ready, places: Sequence[int]) -> Marks:
    """The marks with those of new vectors at `places`."""
    fresh = cache.marks([ready.keys[at] for at in places], _wanted_engine(repository))
    digests = ready.marks.digests.copy()
    digests[list(places)] = fresh.digests
    engines = fresh.engines if len(places) == len(digests) else {*ready.marks.engines, *fresh.engines}
    return Marks(digests, [places[at] for at in fresh.absent], tuple(sorted(engines)))


def _wanted_engine(repository: Repository) -> str | None:
    """What the vectors must be made by, if not by anything."""
    if not repository.config.reproducible:
        return None
    from ragpress.engine import engine

    return engine()


def embed_missing(
    repository: Repository, cache: VectorCache, names: dict[str, str], file: ModelFile, tell: Say
) -> None:
    """Puts the vectors that the cache lacks into it; `names` are the texts with their chunks' ids, for messages."""
    texts = list(names)
    keys = vector_keys(file, texts)
    absent = cache.missing(keys, _wanted_engine(repository))
    if not absent:
        return
    from ragpress.embedding import Embedder

    with (
        Embedder(file, weights=loaded_ahead(file.path)) as embedder,
        progress(len(absent), "embedding", tell) as advance,
    ):
        embedder.embed_documents(
            [texts[index] for index in absent],
            names=[names[texts[index]] for index in absent],
            on_batch=lambda batch: cache.put_many(
                [(keys[absent[index]], vector) for index, vector in batch], embedder.engine
            ),
            progress=advance,
        )


def publish(repository: Repository, tell: Say = say) -> None:
    """Writes the artifact of the merged chunks and their vectors, in one step in the place of the old one."""
    config = repository.config
    with VectorCache(repository.vectors, tell) as cache:
        stamp, ready = _ready.pop(repository.root, (b"", None))
        if ready is None or stamp != merged_stamp(repository):
            ready = _embed(repository, cache, read_merged(repository), tell)
        bound = _SPARE_BYTES + 4 * len(ready.keys) * ready.file.dimensions * 2
        if cache.size() > bound:
            tell(f"ragpress: {cache.prune(ready.keys, bound)} vectors that nothing uses dropped from the cache")
        try:
            _write(repository, cache, ready)
        except _LostError:  # damaged, or pruned by another process since
            cache.mend()
            _write(repository, cache, _embed(repository, cache, read_merged(repository), tell, thoroughly=True))
    replace_file(repository.build / "published", published_stamp(repository).encode())
    tell(f"ragpress: {config.build}/kb holds {len(ready.lines)} chunks, embedded by {ready.file.model.name}")


class _LostError(BuildError):
    """A vector that was there cannot be read."""


def _write(repository: Repository, cache: VectorCache, ready: Ready) -> None:
    """Raises _LostError where a vector cannot be read, BuildError as `write_artifact` does."""
    file, marks = ready.file, ready.marks

    def take(places: Places) -> Halves:
        keys = [ready.keys[at] for at in places]
        vectors, absent = cache.matrix(keys, file.dimensions, marks.digests[places].tolist())
        if absent:
            name = decode_chunk(ready.lines[places[absent[0]]]).chunk_id
            raise _LostError("embedding", f"the vector of chunk {name} is gone from the cache; build again")
        return vectors

    write_artifact(
        repository.artifact,
        chunks=_lines(repository, ready),
        documents=merged_documents(repository).read_bytes().splitlines(keepends=True),
        vectors=Vectors(marks.digests, file.dimensions, take),
        model=model_record(file),
        engines=marks.engines,
        chunking={name: getattr(repository.config, name) for name in CUTTING_SETTINGS},
    )


def _lines(repository: Repository, ready: Ready) -> list[bytes]:
    """The lines of chunks.jsonl, with the tokens of the model that is used."""
    config, model = repository.config, ready.file.model
    if model.name == config.model:
        return ready.lines
    # Exact: the prefix ends with a space, which no token of the shared vocabulary crosses.
    own, configured = prefix_tokens(repository, (model.document_prefix, known_model(config.model).document_prefix))
    return [with_tokens(line, own - configured) for line in ready.lines]


def prefix_tokens(repository: Repository, prefixes: Sequence[str]) -> list[int]:
    """Tokens of each prefix and the special ones, by the vocabulary that chunks are counted with.

    Kept in build/prefixes, since that vocabulary takes a second to load.
    """
    vocabulary = tokenizer_file(repository.config, repository.root)
    path = repository.build / "prefixes"
    stamp = fingerprint(tool_fingerprint(), file_stamp(vocabulary), prefixes)
    data = read_sealed(path)
    try:
        kept = msgspec.json.decode(data, type=tuple[str, list[int]]) if data else ("", [])
    except (ValueError, msgspec.MsgspecError):
        kept = ("", [])  # of another version
    if kept[0] == stamp:
        return kept[1]
    from ragpress.embedding import TokenCounter

    counts = [TokenCounter(vocabulary, prefix).overhead for prefix in prefixes]
    write_sealed(path, msgspec.json.encode((stamp, counts)))
    return counts
