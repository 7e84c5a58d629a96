"""How alike sentences are by the model that a build folder uses: what chunking by meaning goes by. Runs in a worker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from ragpress.console import Report, report
from ragpress.embedding.embedder import Embedder
from ragpress.errors import BuildError
from ragpress.models.known import ModelFile, resolve
from ragpress.models.selection import keep_selected, selected_name
from ragpress.pipeline.embed import wanted_engine
from ragpress.pipeline.seed import SeedSetting
from ragpress.repository import Repository
from ragpress.vectors.cache import VectorCache
from ragpress.vectors.digests import vector_keys


class Semantic(msgspec.Struct, frozen=True):
    """The model that sentences are embedded with, the vector cache, and what must have made its vectors."""

    file: ModelFile
    vectors: Path
    engine: str | None


def prepare(repository: Repository, report: Report) -> Semantic:
    """Selects the model as `embed` does, and keeps it: the chunks depend on it. Raises ModelError."""
    name = selected_name(repository) or SeedSetting(repository, report).choose_model()
    file = resolve(repository.config, repository.root, selected=name, report=report)
    keep_selected(repository, file)
    return Semantic(file, repository.vectors, wanted_engine(repository))


class Comparer:
    """Cosine similarities of pairs of texts, embedded as texts of a document; their vectors stay in the cache."""

    def __init__(self, semantic: Semantic) -> None:
        """Loads the model: once a process, and not on a source's clock or memory. Raises ModelError."""
        self._semantic = semantic
        self._embedder = Embedder(semantic.file, threads=1)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The similarity of each pair, -1 to 1: the same bits wherever the vectors are. Raises BuildError."""
        semantic = self._semantic
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        keys = vector_keys(semantic.file, texts)
        with VectorCache(semantic.vectors, report) as cache:
            absent = cache.missing(keys, semantic.engine)
            self._embedder.embed_documents(
                [texts[at] for at in absent],
                names=[f"the sentence «{texts[at][:40]}…»" for at in absent],
                on_batch=lambda batch: cache.put_many(
                    [(keys[absent[at]], vector) for at, vector in batch], self._embedder.engine
                ),
            )
            found, lost = cache.matrix(keys, semantic.file.dimensions)
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

    def close(self) -> None:
        """Frees the model."""
        self._embedder.close()
