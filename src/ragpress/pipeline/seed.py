"""Warm starts: a published artifact gives its vectors to the vector cache of a build that has none.

A seed is an artifact's folder or an archive that `ragpress pack` made. It is verified, every byte, before a vector of
it is used; taken are the vectors of the very model file that the build uses, so that a text which is unchanged is found
in the cache as if it had been embedded here.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np

from ragpress.artifact.format import Manifest, read_manifest
from ragpress.artifact.pack import read_packed, unpack
from ragpress.artifact.read import open_artifact, verify_artifact
from ragpress.console import Report
from ragpress.errors import ArtifactError, BuildError, message, render
from ragpress.files import fingerprint
from ragpress.models.known import ModelFile, known_model, locked_file, resolve
from ragpress.models.lock import Locked, read_lock
from ragpress.models.selection import configured_models, selected_name, use
from ragpress.repository import Repository
from ragpress.vectors.cache import VectorCache
from ragpress.vectors.digests import vector_keys

_BLOCK = 4096  # vectors put into the cache at a time


class Seed(msgspec.Struct, frozen=True):
    """An artifact to take vectors from, of which index.json has been read. `name` is its path as a person gave it."""

    path: Path
    name: str
    manifest: Manifest


def open_seed(path: Path, name: str) -> Seed:
    """Reads index.json of an artifact's folder or archive. Raises ArtifactError."""
    if not path.exists():
        raise ArtifactError("seed", f"there is no {name}; give the folder or the archive of a published artifact")
    return Seed(path, name, read_manifest(path) if path.is_dir() else read_packed(path))


class SeedSetting:
    """The setting `seed` during one build: opened when it is first needed, and complained of once."""

    def __init__(self, repository: Repository, report: Report) -> None:
        self._repository = repository
        self._report = report
        self._opened: Seed | None = None
        self._done = not repository.config.seed

    def choose_model(self) -> str | None:
        """Makes the seed's model the one of a build folder that has none yet, if the settings name it."""
        seed = self._seed()
        if seed is None or seed.manifest.model.name not in configured_models(self._repository.config):
            return None
        name = seed.manifest.model.name
        use(self._repository, name)
        if name != self._repository.config.model:
            text = f"{seed.name} is of {name}, and so is this build folder from now on"
            self._report(render(message("info", "model-offline", text)))
        return name

    def fill(self, cache: VectorCache, file: ModelFile) -> bool:
        """Takes the seed's vectors of this model; whether there were any. One that cannot be used is reported."""
        seed = self._seed()
        if seed is None:
            return False
        self._done = True
        try:
            taken = not cache.has_taken(_fingerprint(seed, file)) and _take(
                self._repository, seed, cache, file, self._report
            )
            return bool(taken)
        except ArtifactError as error:
            self._warn(error)
            return False

    def _seed(self) -> Seed | None:
        if self._opened is None and not self._done:
            name = self._repository.config.seed
            try:
                self._opened = open_seed(self._repository.root / Path(name).expanduser(), name)
            except ArtifactError as error:
                self._warn(error)
        return None if self._done else self._opened

    def _warn(self, error: ArtifactError) -> None:
        self._done = True
        text = error.message.text.rstrip(".")
        self._report(render(message("warning", error.message.code, f"{text}; going on without the seed")))


def seed_cache(repository: Repository, path: Path, report: Report) -> None:
    """`ragpress seed`: takes an artifact's vectors now. The caller holds the build lock. Raises BuildError.

    In a build folder without a model the artifact's becomes the chosen one.
    """
    seed = open_seed(path, str(path))
    name = seed.manifest.model.name
    chosen = selected_name(repository)
    if name in configured_models(repository.config) and chosen not in {None, name}:
        raise BuildError(
            "seed", f"{seed.name} is of {name}, the build folder of {chosen}; run `ragpress model use {name}` first"
        )
    with VectorCache(repository.vectors, report) as cache:
        _take(repository, seed, cache, _expected(repository, seed), report)
    if chosen is None:
        report(use(repository, name))


def _expected(repository: Repository, seed: Seed) -> ModelFile:
    """The file that a build would use of the seed's model, as far as that is known without fetching one."""
    config, record = repository.config, seed.manifest.model
    if record.name not in configured_models(config):
        raise ArtifactError("seed", _other(seed, " and ".join(configured_models(config))))
    if config.model_path or not known_model(record.name).repository:
        return resolve(config, repository.root, selected=record.name, report=lambda _: None)
    locked = read_lock(repository.root).get(record.name)
    return locked_file(config, locked or Locked(record.file, record.sha256, 0))


def _take(repository: Repository, seed: Seed, cache: VectorCache, file: ModelFile, report: Report) -> int:
    """Puts those vectors into the cache that it lacks; returns how many. Raises ArtifactError for a useless seed."""
    _check_model(seed, file)
    engines = "\n".join(seed.manifest.engines)
    wanted = None
    if repository.config.reproducible:
        from ragpress.embedding.llama import engine

        wanted = engine()
        if engines != wanted:
            raise ArtifactError("seed", f"{seed.name} was made by another engine, and reproducible = true")
    taken = 0
    with _unpacked(repository, seed) as folder:
        verify_artifact(folder)
        opened = open_artifact(folder)
        if opened.manifest != seed.manifest:
            raise ArtifactError("seed", f"{seed.name} was replaced while it was read")
        count = len(opened.offsets.keys)
        for begin in range(0, count, _BLOCK):
            rows = np.arange(begin, min(begin + _BLOCK, count))
            keys = vector_keys(file, (opened.chunk(int(row)).text for row in rows))
            vectors = opened.index.vectors(rows)
            absent = cache.missing(keys, wanted)
            cache.put_many([(keys[place], vectors[place]) for place in absent], engines)
            taken += len({keys[place] for place in absent})
    cache.note_taken(_fingerprint(seed, file))
    report(f"ragpress: {taken} vectors taken from {seed.name}, which holds {count} chunks")
    return taken


def _fingerprint(seed: Seed, file: ModelFile) -> str:
    return fingerprint(seed.manifest, vector_keys(file, [""])[0].hex())


def _check_model(seed: Seed, file: ModelFile) -> None:
    record, model = seed.manifest.model, file.model
    if record.name != model.name:
        raise ArtifactError("seed", _other(seed, model.name))
    for what, theirs, ours in (
        ("file", record.sha256, file.sha256),
        ("prefix", record.document_prefix, model.document_prefix),
        ("pooling", record.pooling, model.pooling),
        ("number of dimensions", record.dimensions, file.dimensions),
    ):
        if theirs != ours:
            shown = (f"{one[:12]}…" if what == "file" else f"{one!r}" for one in map(str, (theirs, ours)))
            raise ArtifactError(
                "seed",
                f"{seed.name} is of another {what} of {model.name} ({' and here '.join(shown)})",
            )


def _other(seed: Seed, name: str) -> str:
    return f"{seed.name} is of {seed.manifest.model.name}, this build of {name}"


@contextmanager
def _unpacked(repository: Repository, seed: Seed) -> Iterator[Path]:
    """The seed's folder; of an archive one that is there for the time being."""
    if seed.path.is_dir():
        yield seed.path
        return
    folder = repository.build / "seed"
    shutil.rmtree(folder, ignore_errors=True)  # of a build that was killed
    try:
        unpack(seed.path, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
