"""One archive of an artifact, the same bytes for the same artifact, and reading one that anybody may have made.

`<name>-<hash>.tar.zst` holds a folder kb/ with index.json first. The hash is the beginning of index.json's sha256, and
index.json has that of every other file.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tarfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import zstandard

from ragpress.artifact.format import INDEX, Manifest, decode_manifest, encode_manifest, read_manifest
from ragpress.artifact.read import Artifact, open_artifact, verify_artifact
from ragpress.console import Progress
from ragpress.errors import ArtifactError, BuildError
from ragpress.files import locked
from ragpress.repository import Repository

SUFFIX = ".tar.zst"
LIMIT = 64 * 1024**3
"""Bytes that an archive may unfold to, if nothing else is said."""

_FOLDER = "kb"
_LEVEL = 10  # vectors hardly shrink, and text is as small as it gets for the time
_INDEX_LIMIT = 64 * 1024**2
_BLOCK = 1 << 20


# -- packing ---------------------------------------------------------------------------------------------------------


def pack(repository: Repository, fallback: bool = False) -> Path:
    """Verifies the artifact and packs it into the build folder, where it replaces earlier packs. Returns the path.

    Raises ArtifactError for an artifact that is missing or damaged, BuildError where the disk refuses, and, unless
    `fallback` is wanted, for one of the offline model where that only stood in for the configured one.
    """
    manifest = verify_artifact(repository.artifact)
    config, model = repository.config, stand_in(repository)
    if model and not fallback:
        raise BuildError(
            "model-offline",
            f"{config.build}/kb is of {model}, which stood in for {config.model}; build where the hub can be reached,"
            " or run `ragpress pack --fallback` to have this packed",
        )
    name = project_name(repository)
    target = packed(repository)
    beside = target.with_name(f"{target.name}.new")
    try:
        with beside.open("wb") as file:
            _write(file, repository.artifact, [INDEX, *sorted(manifest.files)])
        beside.replace(target)
        for path in repository.build.glob(f"*{SUFFIX}"):
            if path != target and re.fullmatch(rf"{re.escape(name)}-[0-9a-f]{{16}}{re.escape(SUFFIX)}", path.name):
                path.unlink()
    except OSError as error:
        raise BuildError(
            "disk", f"{target.name} cannot be written: {error.strerror}; make room, or check the folder's rights"
        ) from None
    finally:
        beside.unlink(missing_ok=True)
    return target


def stand_in(repository: Repository) -> str:
    """The offline model, where the artifact is of it because the configured one could not be had; else nothing."""
    config, model = repository.config, read_manifest(repository.artifact).model.name
    return model if model == config.offline_model and model != config.model else ""


def packed(repository: Repository) -> Path:
    """Where the archive of the artifact as it is now belongs."""
    digest = hashlib.sha256((repository.artifact / INDEX).read_bytes()).hexdigest()[:16]
    return repository.build / f"{project_name(repository)}-{digest}{SUFFIX}"


def project_name(repository: Repository) -> str:
    """`[project] name` of pyproject.toml, else the folder's name, as far as it fits a file's name."""
    table = tomllib.loads((repository.root / "pyproject.toml").read_text(encoding="utf-8-sig"))
    project = table.get("project")
    name = project.get("name") if isinstance(project, dict) else None
    for wanted in (name, repository.root.name):
        found = re.sub(r"[^\w.]+", "-", wanted).strip("-.") if isinstance(wanted, str) else ""
        if found:
            return found
    return "knowledge-base"


def _write(file: BinaryIO, artifact: Path, names: list[str]) -> None:
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    with (
        Progress("packing", len(names), "files") as shown,
        compressor.stream_writer(file, closefd=False) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as archive,
    ):
        for name in names:
            with (artifact / name).open("rb") as content:
                member = tarfile.TarInfo(f"{_FOLDER}/{name}")  # owner 0, time 0
                member.size = content.seek(0, 2)
                member.mode = 0o644
                content.seek(0)
                archive.addfile(member, content)
            shown.advance()


# -- unpacking -------------------------------------------------------------------------------------------------------


def unpack(archive: Path, folder: Path, limit: int = LIMIT) -> Manifest:
    """Makes `folder`, which must not be there, from an archive that `pack` wrote. Returns its index.json.

    The archive may come from anywhere: nothing but the files that its index.json lists is written, each under its plain
    name, of the size and sha256 that stand there. Raises ArtifactError, and leaves nothing behind, for anything else
    and for more than `limit` bytes; BuildError where the disk refuses.
    """
    staging = folder.with_name(f"{folder.name}.new")
    try:
        if folder.exists():
            raise BuildError("disk", f"{folder.name} is there already; remove it or give another folder")
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        with archive.open("rb") as file, _damage_named(archive):
            manifest = _extract(_Members(file, archive.name), staging, limit)
        staging.rename(folder)
    except OSError as error:
        raise BuildError(
            "disk", f"{archive.name} cannot be unpacked to {folder.name}: {error.strerror or error}"
        ) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return manifest


def read_packed(archive: Path) -> Manifest:
    """index.json of an archive that `pack` wrote, where it stands first. Raises ArtifactError."""
    try:
        with archive.open("rb") as file, _damage_named(archive):
            return _read_index(_Members(file, archive.name))[1]
    except OSError as error:
        raise _wrong(archive.name, f"it cannot be read: {error.strerror or error}") from None


def unpacked(archive: Path, cache: Path) -> Artifact:
    """The artifact of an archive that `pack` wrote, unpacked below `cache` unless it is there already.

    One that was damaged there is unpacked again. Raises ArtifactError and BuildError, as `unpack` and opening do.
    """
    digest = hashlib.sha256(encode_manifest(read_packed(archive))).hexdigest()[:32]
    folder = cache / digest
    with locked(cache / f"{digest}.lock", lambda: None):
        if folder.exists():
            try:
                return open_artifact(folder)
            except ArtifactError:
                shutil.rmtree(folder)
        unpack(archive, folder)
    return open_artifact(folder)


@contextmanager
def _damage_named(archive: Path) -> Iterator[None]:
    try:
        yield
    except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
        raise _wrong(archive.name, f"it is damaged or no archive of an artifact ({error})") from None


def _wrong(archive: str, what: str) -> ArtifactError:
    return ArtifactError("bad-artifact", f"{archive}: {what}; pack it again, or copy it again from where it was packed")


class _Members:
    """The members of an archive in order, one block at a time.

    Python's own tar reader is not used: it follows extension headers, whose size the archive alone decides.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._stream = zstandard.ZstdDecompressor().stream_reader(file)

    def next(self) -> tuple[str, int]:
        """Name below kb/ and size of the next member. Raises ArtifactError."""
        member = tarfile.TarInfo.frombuf(self._exactly(tarfile.BLOCKSIZE), "utf-8", "strict")
        folder, _, name = member.name.partition("/")
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or folder != _FOLDER or not name or member.size < 0:
            raise _wrong(self.name, "it holds something that is no file of an artifact")
        return name, member.size

    def read(self, size: int) -> Iterator[bytes]:
        """The content of the member, in blocks, and over the padding behind it."""
        left = size
        while left:
            block = self._exactly(min(left, _BLOCK))
            left -= len(block)
            yield block
        self._exactly(-size % tarfile.BLOCKSIZE)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._stream.read(size - len(data))
            if not more:
                raise EOFError("it is cut off")
            data += more
        return data


def _read_index(members: _Members) -> tuple[bytes, Manifest]:
    name, size = members.next()
    if name != INDEX or size > _INDEX_LIMIT:
        raise _wrong(members.name, f"it does not begin with {INDEX}")
    index = b"".join(members.read(size))
    return index, decode_manifest(index, members.name)


def _extract(members: _Members, staging: Path, limit: int) -> Manifest:
    index, manifest = _read_index(members)
    whole = sum(record.size for record in manifest.files.values())
    if whole > limit:
        raise _wrong(members.name, f"it would unfold to {whole} bytes, {limit} are allowed")
    (staging / INDEX).write_bytes(index)
    missing = dict(manifest.files)
    while missing:
        name, size = members.next()
        record = missing.pop(name, None)
        if record is None or size != record.size:
            raise _wrong(members.name, f"it holds a file that is not what its {INDEX} lists")
        digest = hashlib.sha256()
        with (staging / name).open("xb") as file:
            for block in members.read(size):
                digest.update(block)
                file.write(block)
        if digest.hexdigest() != record.sha256:
            raise _wrong(members.name, f"{name} is not the file that its {INDEX} lists")
    return manifest
