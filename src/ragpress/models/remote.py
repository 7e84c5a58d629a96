"""A model's file on another machine: known there by its sha256, found in its caches or on the hub, or sent to it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from ragpress.errors import BuildError, ModelError
from ragpress.files import replace_file
from ragpress.models.hub import cached, fetch, revision_of, unreachable
from ragpress.models.known import KNOWN, cache_folder
from ragpress.models.lock import remembered_sha256


class RemoteFile(msgspec.Struct, frozen=True):
    """A file as another machine knows it. `repository` and `revision` are the hub's, where it may be fetched from."""

    sha256: str
    name: str
    repository: str = ""
    revision: str = ""


_told: dict[str, Path] = {}  # sha256 to path of the files that this process told others of


class MissingFileError(ModelError):
    """The file is not on this machine, and the hub does not give it."""

    def __init__(self, wanted: RemoteFile) -> None:
        self.wanted = wanted
        super().__init__("model", f"the model file {wanted.name} is neither on this machine nor to be had from the hub")

    def __reduce__(self) -> tuple[type[MissingFileError], tuple[RemoteFile]]:  # type: ignore[override]
        return type(self), (self.wanted,)


def remote_file(path: Path) -> RemoteFile:
    """What another machine is told of a file on this one. Raises ModelError where it cannot be read."""
    try:
        sha256 = remembered_sha256(path, cache_folder())
    except OSError as error:
        raise ModelError("model", f"the model file {path.name} cannot be read: {error.strerror}") from None
    _told[sha256] = path
    revision = revision_of(path)
    for model in KNOWN.values():
        if model.repository and cached(model.repository, path.name, revision) == path:
            return RemoteFile(sha256, path.name, model.repository, revision)
    return RemoteFile(sha256, path.name)


def find_file(wanted: RemoteFile) -> Path:
    """The path of the very file on this machine, fetched if need be. Raises MissingFileError."""
    for found in (
        lambda wanted: _told.get(wanted.sha256),
        _sent,
        lambda wanted: cache_folder() / wanted.name,
        _fetched,
    ):
        path = found(wanted)
        with suppress(OSError):
            if path and path.is_file() and remembered_sha256(path, cache_folder()) == wanted.sha256:
                return path
    raise MissingFileError(wanted)


def keep_file(wanted: RemoteFile, data: bytes) -> None:
    """Puts a file that was sent into this machine's cache. Raises BuildError where the disk refuses."""
    replace_file(_sent(wanted), data)


def _here(wanted: RemoteFile) -> Path | None:
    return _told.get(wanted.sha256)


def _made(wanted: RemoteFile) -> Path:
    return cache_folder() / wanted.name


def _sent(wanted: RemoteFile) -> Path:
    return cache_folder() / "sent" / wanted.sha256 / wanted.name


def _fetched(wanted: RemoteFile) -> Path | None:
    if not wanted.repository:
        return None
    try:
        found = cached(wanted.repository, wanted.name, wanted.revision)
        return found or (None if unreachable() else fetch(wanted.repository, wanted.name, wanted.revision))
    except BuildError:
        return None  # it is sent instead
