"""How alike sentences are by the model that a build folder uses: what chunking by meaning goes by."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ragpress.console import Report
from ragpress.embedding.embedder import Embedder
from ragpress.errors import BuildError
from ragpress.models.known import ModelFile, resolve
from ragpress.models.selection import locked_model, sticky_name
from ragpress.pipeline.seed import SeedSetting
from ragpress.repository import Repository
from ragpress.vectors.cache import VectorCache
from ragpress.vectors.digests import vector_keys

_EVERY = 30.0  # seconds between two lines that tell how far it is


class Similarity:
    """Cosine similarities of pairs of texts, embedded as texts of a document. May be called from several threads.

    `file` tells the model; whether it is on this machine is asked when a text has no vector in the cache, which gets
    the new ones.
    """

    def __init__(self, repository: Repository, file: ModelFile, find: Callable[[], ModelFile], report: Report) -> None:
        self.file = file
        self._repository = repository
        self._find = find
        self._report = report
        self._embedder: Embedder | None = None
        self._made, self._told = 0, time.monotonic()
        self._lock = threading.Lock()  # a call uses all cores, and the cache is one thread's

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The similarity of each pair, -1 to 1: the same bits wherever the vectors are. Raises BuildError."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        keys = vector_keys(self.file, texts)
        with self._lock, VectorCache(self._repository.vectors, self._report) as cache:
            absent = cache.missing(keys, self._wanted_engine())
            if absent:
                self._embed(cache, [(keys[at], texts[at]) for at in absent])
            found, lost = cache.matrix(keys, self.file.dimensions)
        if lost:
            raise BuildError("embedding", "the vectors of sentences are gone from the cache; build again")
        vectors = found.astype(np.float64)
        # fsum is exact, so that the bits do not depend on numpy's own instruction set
        norms = [math.sqrt(math.fsum(vector.tolist())) for vector in np.square(vectors)]
        place = {text: at for at, text in enumerate(texts)}
        similarities = []
        for one, two in ((place[one], place[two]) for one, two in pairs):
            product = math.fsum((vectors[one] * vectors[two]).tolist())
            similarities.append(product / (norms[one] * norms[two]))
        return similarities

    def _wanted_engine(self) -> str | None:
        if not self._repository.config.reproducible:
            return None
        from ragpress.embedding.llama import engine

        return engine()

    def _embed(self, cache: VectorCache, items: Sequence[tuple[bytes, str]]) -> None:
        if self._embedder is None:
            self._embedder = Embedder(self._find())
        embedder = self._embedder
        embedder.embed_documents(
            [text for _, text in items],
            names=[f"the sentence «{text[:40]}…»" for _, text in items],
            on_batch=lambda batch: cache.put_many([(items[at][0], vector) for at, vector in batch], embedder.engine),
        )
        self._made += len(items)
        if time.monotonic() - self._told >= _EVERY:
            self._told = time.monotonic()
            self._report(f"ragpress: comparing sentences: {self._made} embedded")

    def close(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None


@contextmanager
def similarity(repository: Repository, report: Report) -> Iterator[Similarity]:
    """The similarities by the model that the build folder uses, as `publish.embed` chooses it. Raises ModelError."""
    sticky = sticky_name(repository) or SeedSetting(repository, report).choose_model()

    def find() -> ModelFile:
        return resolve(repository.config, repository.root, sticky=sticky, report=report)

    # A model that was settled before is not looked for until a sentence needs a vector; no other can be found then.
    locked = locked_model(repository, sticky) if sticky == repository.config.model else None
    file = locked or find()
    found = Similarity(repository, file, find if locked else lambda: file, report)
    try:
        yield found
    finally:
        found.close()
