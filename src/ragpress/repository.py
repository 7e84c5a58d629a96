"""A content repository on the disk: its folders, its sources, and the fingerprints of what a result was made with."""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from ragpress import __version__
from ragpress.config import Config, load_config
from ragpress.errors import BuildError
from ragpress.readers import is_readable

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg"})
"""Suffixes of files that documents refer to; no sources themselves."""

CUTTING_SETTINGS = (
    "max_tokens",
    "min_tokens",
    "overlap_sentences",
    "strategy",
    "breakpoint_percentile",
    "extra_h1",
    "excluded_section_headings",
    "detect_qa",
)
"""Settings that decide where text is cut; index.json quotes them."""

_CHUNKING_SETTINGS = (*CUTTING_SETTINGS, "captions", "convert_doc", "min_coverage")


class Repository(msgspec.Struct, frozen=True):
    """A folder with a pyproject.toml, and its settings."""

    root: Path
    config: Config

    @property
    def sources(self) -> Path:
        return self.root / self.config.sources

    @property
    def golden(self) -> Path:
        return self.root / self.config.golden

    @property
    def build(self) -> Path:
        return self.root / self.config.build

    @property
    def artifact(self) -> Path:
        return self.build / "kb"

    @property
    def captions(self) -> Path:
        return self.root / "captions.jsonl"

    @property
    def vectors(self) -> Path:
        return self.build / "cache" / "vectors.sqlite"

    def chunks_of(self, source: str) -> Path:
        return self.build / "chunks" / f"{source}.jsonl"

    def state_of(self, source: str) -> Path:
        return self.build / "documents" / f"{source}.json"


def open_repository(root: Path) -> Repository:
    """The repository at `root`. Raises BuildError for settings that cannot be used."""
    return Repository(root.resolve(), load_config(root))


class Found(msgspec.Struct, frozen=True, order=True):
    """An entry of the sources folder, `file` its path. `regular` is false for what is no readable file."""

    source: str
    file: str
    regular: bool

    @property
    def path(self) -> Path:
        return Path(self.file)


def find_sources(folder: Path) -> tuple[Found, ...]:
    """Every source below the folder, by its NFC POSIX path, in code point order.

    Left out: names that begin with a dot, Word's and Excel's lock files (`~$…`), and pictures. A directory whose name
    ends like a source's is given as one, so that it fails by name. Raises BuildError where two names differ only
    in their Unicode normal form, or a link leads out of the folder.
    """
    root = folder.resolve()
    found = sorted(_walk(folder, "", root))
    for one, two in itertools.pairwise(found):
        if one.source == two.source:
            raise BuildError(
                "not-a-file", "two files have this same name (in different Unicode forms); rename one", one.source
            )
    return tuple(found)


def _walk(folder: Path, prefix: str, root: Path) -> Iterator[Found]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        raise BuildError("no-sources", f"there is no folder {folder.name}/; make it and put documents in") from None
    except OSError as error:
        raise BuildError("file-gone", f"{folder.name}/ cannot be listed: {error.strerror}") from None
    for entry in entries:
        if entry.name.startswith((".", "~$")):
            continue
        source = prefix + unicodedata.normalize("NFC", entry.name)
        if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(root):
            raise BuildError("not-a-file", "this link leads out of the folder; put the file itself there", source)
        if entry.is_dir():
            if is_readable(source):
                yield Found(source, entry.path, False)
            else:
                yield from _walk(Path(entry.path), f"{source}/", root)
        elif os.path.splitext(source)[1].lower() not in PICTURES:  # noqa: PTH122 (a tenth of the time, for each source)
            yield Found(source, entry.path, entry.is_file() and os.access(entry.path, os.R_OK))


@lru_cache(maxsize=1)
def tool_fingerprint() -> str:
    """The tool's version and the sha256 of its code, so that no result outlives a change of either."""
    digest = hashlib.sha256(__version__.encode())
    package = Path(__file__).parent
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def fingerprint(*parts: object) -> str:
    """The sha256 (hex) over plain values."""
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def chunking_fingerprint(repository: Repository) -> str:
    """Over everything but the source's bytes that decides its chunks: the tool, the settings, the vocabulary."""
    config = repository.config
    settings = [getattr(config, name) for name in _CHUNKING_SETTINGS]
    own_model = ""
    if config.model_path:
        own_model = file_stamp(repository.root / config.model_path)
    return fingerprint(tool_fingerprint(), settings, config.model, config.offline_model, own_model)


def under_ci() -> bool:
    """Whether nobody watches this build, as the variable CI says."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def file_stamp(path: Path) -> str:
    """Size and modification time of a file, or empty where there is none: enough to notice that it was replaced."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size}-{status.st_mtime_ns}"


def source_stamp(path: Path | str) -> str:
    """Changes with whatever is done to a file; empty where there is none."""
    try:
        return stamp_of(os.stat(path))  # noqa: PTH116 (a string is as good, for each source)
    except OSError:
        return ""


def stamp_of(status: os.stat_result) -> str:
    """The same of a status. The time of the last change of the inode is in it, which nobody can set back."""
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def tree_stamp(folder: Path) -> str:
    """The sha256 over names, sizes and times of all files below the folder; no file is opened."""
    digest = hashlib.sha256()
    for name, status in sorted(_files(folder, "")):
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def files_below(folder: Path) -> list[str]:
    """The POSIX paths of all files below the folder, in no order."""
    found: list[str] = []
    waiting = [("", folder)]
    while waiting:
        prefix, place = waiting.pop()
        for entry in os.scandir(place) if place.is_dir() else ():
            if entry.is_dir(follow_symlinks=False):
                waiting.append((f"{prefix}{entry.name}/", Path(entry.path)))
            else:
                found.append(f"{prefix}{entry.name}")
    return found


def _files(folder: Path, prefix: str) -> Iterable[tuple[str, os.stat_result]]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        status = entry.stat()
        if stat.S_ISDIR(status.st_mode):
            yield from _files(Path(entry.path), f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", status
