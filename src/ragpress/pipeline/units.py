"""Units of work, about a second each, that run wherever there is a worker: functions of bytes that give bytes.

A worker has no path of the machine that asks: it knows a model's file by its sha256, and what was read of a source is
in the unit. Both directions are msgpack.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from ragpress.models.known import ModelFile, known_model
from ragpress.models.remote import RemoteFile, find_file, remote_file
from ragpress.pipeline.pool import LimitedPool, Setup
from ragpress.pipeline.results import Job

if TYPE_CHECKING:
    from ragpress.embedding.embedder import Embedder


class RemoteModel(msgspec.Struct, frozen=True):
    """A model and the file of it as another machine knows them."""

    name: str
    file: RemoteFile
    dimensions: int


def remote_model(file: ModelFile) -> RemoteModel:
    """What another machine is told of a model on this one. Raises ModelError."""
    return RemoteModel(file.model.name, remote_file(file.path), file.dimensions)


def _model_here(model: RemoteModel) -> ModelFile:
    path = find_file(model.file)
    return ModelFile(
        model=known_model(model.name),
        path=path,
        sha256=model.file.sha256,
        size=path.stat().st_size,
        dimensions=model.dimensions,
    )


# -- chunking --------------------------------------------------------------------------------------------------------


class CompileSetup(msgspec.Struct, frozen=True):
    """What a worker loads before its first source, see `pool.Setup`."""

    tokenizer: RemoteFile
    prefixes: tuple[str, ...]
    megabytes: int


class CompileUnit(msgspec.Struct, frozen=True):
    """Sources to compile."""

    setup: CompileSetup
    jobs: tuple[Job, ...]


_own = threading.local()


def compile_pack(unit: bytes) -> bytes:
    """What each source of a `CompileUnit` became, as a list of outcomes in the order of its jobs.

    They are read one after the other under the usual limits, in a process that this thread keeps for the next unit.
    """
    wanted = msgspec.msgpack.decode(unit, type=CompileUnit)
    pool = _pool(wanted.setup)
    begun = [pool.begin(job) for job in wanted.jobs]
    return msgspec.msgpack.encode([pool.outcome(job, future) for job, future in zip(wanted.jobs, begun, strict=True)])


def _pool(wanted: CompileSetup) -> LimitedPool:
    if getattr(_own, "setup", None) != wanted:
        setup = Setup(str(find_file(wanted.tokenizer)), wanted.prefixes, wanted.megabytes)
        if hasattr(_own, "pool"):
            _own.pool.stop()
        _own.pool, _own.setup = LimitedPool(lambda: setup, 1), wanted
    pool: LimitedPool = _own.pool
    return pool


# -- embedding -------------------------------------------------------------------------------------------------------


class EmbedUnit(msgspec.Struct, frozen=True):
    """Texts to embed; `names` are their chunks' ids, for messages."""

    model: RemoteModel
    texts: tuple[str, ...]
    names: tuple[str, ...]


class Embedded(msgspec.Struct, frozen=True):
    """The vectors of a unit's texts, float16 little-endian one after the other, and what made them."""

    engine: str
    vectors: bytes


def embed_pack(unit: bytes) -> bytes:
    """The `Embedded` of an `EmbedUnit`. Safe from several threads, which share the weights. Raises ModelError."""
    wanted = msgspec.msgpack.decode(unit, type=EmbedUnit)
    with _loading:  # once a process
        embedder = _embedder(wanted.model)
    vectors = [embedder.embed_text(text, name) for text, name in zip(wanted.texts, wanted.names, strict=True)]
    return msgspec.msgpack.encode(Embedded(embedder.engine, np.array(vectors, "<f2").tobytes()))


_loading = threading.Lock()


@cache
def _embedder(model: RemoteModel) -> Embedder:
    from ragpress.embedding.embedder import Embedder

    return Embedder(_model_here(model))
