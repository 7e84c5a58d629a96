"""The last stages of a build: embed the texts that have no vector, and publish the artifact."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from ragpress.artifact import model_record
from ragpress.build import published_stamp, say
from ragpress.choice import artifact_choice, keep_choice, locked_model, sticky_name
from ragpress.errors import BuildError, message, render
from ragpress.manifest import encode_chunk, encode_document, read_chunks, read_documents, replace_file
from ragpress.merging import merged_chunks, merged_documents
from ragpress.models import ModelFile, known_model, resolve, tokenizer_file
from ragpress.progress import progress
from ragpress.repository import CUTTING_SETTINGS, Repository
from ragpress.seed import SeedSetting
from ragpress.vectors import VectorCache, vector_keys
from ragpress.writing import write_artifact

Say = Callable[[str], None]
_SPARE_BYTES = 2 * 1024**3  # that the vector cache may take beyond four times what the artifact needs


def embed(repository: Repository, tell: Say = say) -> None:
    """Embeds every text that the vector cache has no vector for, with the model that the build folder uses."""
    names = {chunk.text: chunk.chunk_id for chunk in read_chunks(merged_chunks(repository))}
    with VectorCache(repository.vectors, tell) as cache:
        _embed(repository, cache, names, tell)


def _embed(repository: Repository, cache: VectorCache, names: dict[str, str], tell: Say) -> ModelFile:
    seed = SeedSetting(repository, tell)
    sticky = sticky_name(repository) or seed.choose_model()
    file = locked_model(repository, sticky)
    if file is None or _lacks(repository, cache, names, file, seed):
        file = resolve(repository.config, repository.root, sticky=sticky, announce=tell)
        if not repository.config.seed or _lacks(repository, cache, names, file, seed):
            embed_missing(repository, cache, names, file, tell)
    before = artifact_choice(repository)
    if before is not None and before.name != file.model.name:
        tell(
            render(
                message("warning", "model-switch", f"the artifact was of {before.name} and is now of {file.model.name}")
            )
        )
    keep_choice(repository, file)
    return file


def _lacks(
    repository: Repository, cache: VectorCache, names: dict[str, str], file: ModelFile, seed: SeedSetting
) -> bool:
    """Whether a text has no vector, also once the seed's have been taken."""
    keys = vector_keys(file, names)
    if not _absent(repository, cache, keys):
        return False
    return not seed.fill(cache, file) or bool(_absent(repository, cache, keys))


def _absent(repository: Repository, cache: VectorCache, keys: list[bytes]) -> list[int]:
    """Positions of the keys that a vector has to be made for."""
    if repository.config.reproducible:
        from ragpress.engine import engine

        return cache.missing(keys, engine())
    return cache.missing(keys)


def embed_missing(
    repository: Repository, cache: VectorCache, names: dict[str, str], file: ModelFile, tell: Say
) -> None:
    """Puts the vectors that the cache lacks into it; `names` are the texts with their chunks' ids, for messages."""
    texts = list(names)
    keys = vector_keys(file, texts)
    absent = _absent(repository, cache, keys)
    if not absent:
        return
    from ragpress.embedding import Embedder

    with Embedder(file) as embedder, progress(len(absent), "embedding", tell) as advance:
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
    chunks = read_chunks(merged_chunks(repository))
    with VectorCache(repository.vectors, tell) as cache:
        # What `embed` did a moment ago is found done here; what another process pruned since is made again.
        file = _embed(repository, cache, {chunk.text: chunk.chunk_id for chunk in chunks}, lambda _: None)
        keys = vector_keys(file, (chunk.text for chunk in chunks))
        vectors, absent = cache.matrix(keys, file.dimensions)
        if absent:
            name = chunks[absent[0]].chunk_id
            raise BuildError("embedding", f"the vector of chunk {name} is gone from the cache; build again")
        engines = cache.engines(keys)
        bound = _SPARE_BYTES + 4 * vectors.nbytes
        if cache.size() > bound:
            tell(f"ragpress: {cache.prune(keys, bound)} vectors that nothing uses dropped from the cache")
    extra = 0
    if file.model.name != config.model:
        # Exact: the prefix ends with a space, which no token of the shared vocabulary crosses.
        extra = prefix_tokens(repository, file.model.document_prefix) - prefix_tokens(
            repository, known_model(config.model).document_prefix
        )
    write_artifact(
        repository.artifact,
        chunks=((chunk.chunk_id, encode_chunk(replace(chunk, tokens=chunk.tokens + extra))) for chunk in chunks),
        documents=(encode_document(entry) for entry in read_documents(merged_documents(repository))),
        vectors=vectors,
        model=model_record(file),
        engines=engines,
        chunking={name: getattr(config, name) for name in CUTTING_SETTINGS},
    )
    replace_file(repository.build / "published", published_stamp(repository).encode())
    tell(f"ragpress: {config.build}/kb holds {len(chunks)} chunks, embedded by {file.model.name}")


def prefix_tokens(repository: Repository, prefix: str) -> int:
    """Tokens of a prefix and the special ones, by the vocabulary that chunks are counted with."""
    from ragpress.embedding import TokenCounter

    return TokenCounter(tokenizer_file(repository.config, repository.root), prefix).overhead
