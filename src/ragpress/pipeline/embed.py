"""The third stage: the model is selected, and every text that has no vector gets one in the vector cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from ragpress.console import Progress, Report, plural
from ragpress.embedding.embedder import Embedder
from ragpress.errors import ClusterError, message, render
from ragpress.models.known import ModelFile, resolve
from ragpress.models.selection import artifact_model, keep_selected, locked_model, selected_name
from ragpress.pipeline.merge import check_merged, merged_chunks
from ragpress.pipeline.packs import embed_packed
from ragpress.pipeline.seed import SeedSetting
from ragpress.pipeline.workers import Workers
from ragpress.records import Chunk
from ragpress.repository import Repository
from ragpress.vectors.cache import Stored, VectorCache
from ragpress.vectors.digests import vector_keys

_SAVE_SECONDS = 2.0  # a killed build loses so much of what workers sent at most


class Text(msgspec.Struct, frozen=True):
    """What a line of chunks.jsonl says of the text that is embedded."""

    chunk_id: str
    text: str
    tokens: int


def merged_texts(repository: Repository) -> Iterator[Text]:
    """The text of each merged chunk, in order. The caller has checked the merged files."""
    decoder = msgspec.json.Decoder(Text)
    with merged_chunks(repository).open("rb") as lines:
        for line in lines:
            yield decoder.decode(line)


def embed_texts(
    repository: Repository,
    report: Report,
    interrupted: Callable[[], bool] = lambda: False,
    workers: Workers | None = None,
) -> None:
    """Embeds every merged text that there is no vector for, with the model that the build folder uses.

    That is the one in build/model.json, else that of the seed, the lock, or the settings, else the offline model. The
    model's own file is not needed where no text lacks a vector. Raises ModelError, BuildError.
    """
    check_merged(repository)
    engine = wanted_engine(repository)
    with VectorCache(repository.vectors, report) as cache:
        seed = SeedSetting(repository, report)
        name = selected_name(repository) or seed.choose_model()

        def lacking(file: ModelFile) -> bool:
            keys = vector_keys(file, (text.text for text in merged_texts(repository)))
            return bool(cache.missing(keys, engine)) and not (
                seed.fill(cache, file) and not cache.missing(keys, engine)
            )

        file = locked_model(repository, name)
        if file is None or lacking(file):
            file = resolve(repository.config, repository.root, selected=name, report=report)
            if lacking(file):
                texts = {text.text: text for text in merged_texts(repository)}
                embed_missing(repository, cache, texts, file, report, interrupted, workers)
    before = artifact_model(repository)
    if before is not None and before.name != file.model.name:
        text = f"the artifact was of {before.name} and is now of {file.model.name}"
        report(render(message("warning", "model-switch", text)))
    keep_selected(repository, file)


def embed_missing(
    repository: Repository,
    cache: VectorCache,
    texts: Mapping[str, Text | Chunk],
    file: ModelFile,
    report: Report,
    interrupted: Callable[[], bool] = lambda: False,
    workers: Workers | None = None,
) -> None:
    """Puts the vectors that the cache lacks into it; `texts` are by themselves, each with the chunk it is of.

    They are computed by `workers`, else on this machine. Raises KeyboardInterrupt, with what is done kept, once
    `interrupted` says so; ClusterError where the workers cannot go on.
    """
    keys = vector_keys(file, texts)
    engine = wanted_engine(repository)
    missing = cache.missing(keys, engine)
    if not missing:
        return
    wanted = list(texts.values())
    absent = [wanted[index] for index in missing]
    report(f"ragpress: embedding {plural(len(absent), 'text', 'texts')}")
    progress = Progress("embedding", sum(text.tokens for text in absent), "tokens")
    if workers is not None:
        with progress as shown:
            absent_keys = [keys[index] for index in missing]
            _embed_by(workers, absent, absent_keys, cache, file, engine, shown, interrupted)
        return
    with Embedder(file) as embedder, progress as shown:

        def count(index: int) -> None:
            shown.advance(absent[index].tokens)
            if interrupted():
                raise KeyboardInterrupt

        embedder.embed_documents(
            [text.text for text in absent],
            names=[text.chunk_id for text in absent],
            on_batch=lambda batch: cache.put_many(
                [(keys[missing[index]], vector) for index, vector in batch], embedder.engine
            ),
            progress=count,
        )


def _embed_by(
    workers: Workers,
    texts: Sequence[Text | Chunk],
    keys: Sequence[bytes],
    cache: VectorCache,
    file: ModelFile,
    engine: str | None,
    shown: Progress,
    interrupted: Callable[[], bool],
) -> None:
    """Raises ClusterError where workers cannot go on, or compute by another than the wanted engine."""
    fresh: dict[str, list[tuple[bytes, Stored]]] = {}  # by engine
    saved = time.monotonic()

    def save() -> None:
        for made_by, vectors in fresh.items():
            cache.put_many(vectors, made_by)
        fresh.clear()

    try:
        for places, vectors, made_by in embed_packed(workers, file, texts):
            if engine and made_by not in ("", engine):
                reason = f"a worker embeds by another engine ({made_by}), and reproducible = true"
                raise ClusterError("cluster", f"{reason}; use workers with processors like this one's")
            keyed = [(keys[place], vector) for place, vector in zip(places, vectors, strict=True)]
            fresh.setdefault(made_by, []).extend(keyed)
            if time.monotonic() - saved >= _SAVE_SECONDS:
                save()
                saved = time.monotonic()
            shown.advance(sum(texts[place].tokens for place in places))
            if interrupted():
                raise KeyboardInterrupt
    finally:
        save()


def wanted_engine(repository: Repository) -> str | None:
    """What the vectors must be made by, if not by anything."""
    if not repository.config.reproducible:
        return None
    from ragpress.embedding.llama import engine

    return engine()
