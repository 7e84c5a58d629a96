"""The vector cache as a person sees it: how large it is, how much of it is used, and dropping the rest."""

from __future__ import annotations

from ragpress.artifact.jsonl import read_chunks
from ragpress.console import Report
from ragpress.errors import BuildError
from ragpress.models.selection import artifact_model, model_file, read_selected
from ragpress.pipeline.merge import merged_chunks
from ragpress.pipeline.publish import is_built
from ragpress.repository import Repository
from ragpress.vectors.cache import VectorCache
from ragpress.vectors.digests import vector_keys


def describe(repository: Repository, report: Report) -> str:
    """Size and contents of the cache, one line. The caller holds the build lock."""
    name = repository.vectors.relative_to(repository.root)
    if not repository.vectors.exists():
        return f"{name}: not there yet"
    with VectorCache(repository.vectors, report) as cache:
        used = _used(repository)
        found = len(used) - len(cache.missing(used))
        size = cache.size() / 1e6
        return f"{name}: {size:.1f} MB, {cache.count()} vectors, {found} of them used by the last build"


def prune(repository: Repository, max_bytes: int, report: Report) -> str:
    """Drops vectors that nothing uses, the oldest first, until the cache is no larger; says how many, in one line.

    The caller holds the build lock. Raises BuildError where the last build is not complete: what it would have used
    cannot be known.
    """
    if not is_built(repository):
        reason = "the last build is not complete; run `ragpress build`, then prune what it does not use"
        raise BuildError("bad-cache", reason)
    with VectorCache(repository.vectors, report) as cache:
        removed = cache.prune(_used(repository), max_bytes)
    return f"{removed} vectors dropped; {describe(repository, report)}"


def _used(repository: Repository) -> list[bytes]:
    """The keys of all texts of the build folder, for the models that it and its artifact are of."""
    files = (merged_chunks(repository), repository.artifact / "chunks.jsonl")
    texts = dict.fromkeys(chunk.text for path in files if path.is_file() for chunk in read_chunks(path))
    models = {read_selected(repository), artifact_model(repository)}
    return [key for model in models if model and model.sha256 for key in vector_keys(model_file(model), texts)]
