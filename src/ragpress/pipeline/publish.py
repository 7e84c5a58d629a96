"""The last stage: the artifact of the merged chunks and their vectors, in one step in the place of the old one."""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from ragpress.config import Config
from ragpress.console import Report
from ragpress.errors import BuildError
from ragpress.files import copy_signature, fingerprint, read_checksummed, tree_signature, write_checksummed
from ragpress.models.selection import selected_file, selected_name
from ragpress.pipeline.merge import check_merged, is_merged, merged_chunks, merged_documents, read_merged
from ragpress.records import index_key
from ragpress.repository import CUTTING_SETTINGS, Repository, tool_fingerprint

if TYPE_CHECKING:
    from ragpress.artifact.index import Positions, Stored
    from ragpress.artifact.write import Lines
    from ragpress.models.known import ModelFile
    from ragpress.pipeline.workers import Workers

_SPARE_BYTES = 2 * 1024**3  # that the vector cache may take beyond four times what the artifact needs


class Published(msgspec.Struct, frozen=True):
    """build/published, a checksummed file: what the artifact was made from, and its files as they were written."""

    made_from: str
    artifact: str


_DECODER = msgspec.json.Decoder(Published)


def is_published(repository: Repository) -> bool:
    """Whether the artifact is as it was last written, and made from the merged files and settings as they are now."""
    try:
        return read_checksummed(repository.build / "published", _DECODER) == _published(repository)
    except OSError:  # an artifact that another user made, and that is replaced
        return False


def is_built(repository: Repository) -> bool:
    """Whether the artifact is as it was last written, and made from the sources' chunks as they are now."""
    return is_published(repository) and is_merged(repository)


def published_fingerprint(repository: Repository) -> str:
    """Over all that decides the artifact, and the artifact's files as they are."""
    return fingerprint(msgspec.to_builtins(_published(repository)))


def _published(repository: Repository) -> Published:
    config = repository.config
    own_model = copy_signature(repository.root / config.model_path) if config.model_path else ""
    settings = (config.model, config.model_file, config.model_path, own_model, config.dimensions, _engine(config))
    made_from = (tool_fingerprint(), read_merged(repository), settings, selected_name(repository))
    return Published(fingerprint(*made_from), tree_signature(repository.artifact))


def _engine(config: Config) -> str:
    if not config.reproducible:
        return ""
    from ragpress.embedding.llama import engine

    return engine()


def publish_artifact(repository: Repository, report: Report, workers: Workers | None = None) -> None:
    """Writes the artifact, or leaves the one that would be written again.

    Raises BuildError: for merged files or a vector that are missing, and where the disk refuses.
    """
    if is_published(repository):
        return
    import numpy as np

    from ragpress.artifact.format import model_record
    from ragpress.artifact.write import Vectors, write_artifact
    from ragpress.vectors.cache import VectorCache
    from ragpress.vectors.digests import vector_digest

    check_merged(repository)
    file = selected_file(repository)
    if file is None:
        build = repository.config.build
        raise BuildError("model", f"no model is selected in {build}/model.json; run `ragpress build`")
    with _merged_lines(repository, file) as (lines, keys), VectorCache(repository.vectors, report) as cache:
        bound = _SPARE_BYTES + 4 * len(keys) * file.dimensions * 2
        if cache.size() > bound:
            report(f"ragpress: {cache.prune(keys, bound)} vectors that nothing uses dropped from the cache")
        digests, engines = cache.digests(keys)
        absent = np.flatnonzero(digests == 0)
        if len(absent):
            raise _lost(lines, int(absent[0]))

        def take(places: Positions) -> Stored:
            vectors, lost = cache.matrix([keys[place] for place in places], file.dimensions)
            if lost or not np.array_equal(digests[places], [vector_digest(row.tobytes()) for row in vectors]):
                raise _lost(lines, int(places[lost[0] if lost else 0]))  # pruned or replaced by another process since
            return vectors

        write_artifact(
            repository.artifact,
            chunks=lines,
            documents=merged_documents(repository).read_bytes(),
            vectors=Vectors(digests, file.dimensions, take),
            model=model_record(file),
            engines=engines,
            chunking={name: getattr(repository.config, name) for name in CUTTING_SETTINGS},
            executor=workers,
        )
    write_checksummed(repository.build / "published", msgspec.json.encode(_published(repository)))
    report(f"ragpress: {repository.config.build}/kb holds {len(keys)} chunks, embedded by {file.model.name}")


class _Line(msgspec.Struct):
    chunk_id: str
    text: str


@contextmanager
def _merged_lines(repository: Repository, file: ModelFile) -> Iterator[tuple[Lines, list[bytes]]]:
    """The lines of all chunks as the artifact takes them, from a map of their file, and the keys of their vectors."""
    import numpy as np

    from ragpress.artifact.write import Lines
    from ragpress.vectors.digests import vector_keys

    decoder = msgspec.json.Decoder(_Line)
    keys, lengths = array("Q"), array("Q")

    def texts() -> Iterator[str]:
        for line in stream:
            found = decoder.decode(line)
            keys.append(index_key(found.chunk_id))
            lengths.append(len(line))
            yield found.text

    with merged_chunks(repository).open("rb") as stream:
        of_vectors = vector_keys(file, texts())
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield Lines(data, np.array(keys, np.uint64), np.array(lengths, np.uint32)), of_vectors


def _lost(lines: Lines, place: int) -> BuildError:
    name = f"{int(lines.keys[place]):016x}"
    return BuildError("embedding", f"the vector of chunk {name} is gone from the cache; run `ragpress build` again")
