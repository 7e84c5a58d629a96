"""A content repository on the disk: its folders, its sources, and the fingerprints of what a result was made with."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from ragpress import __version__
from ragpress.config import Config, load_config
from ragpress.errors import BuildError, message
from ragpress.files import copy_signature, fingerprint
from ragpress.readers import is_readable
from ragpress.records import Message

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

_CHUNKING_SETTINGS = (*CUTTING_SETTINGS, "number_locale", "captions", "convert_doc", "min_coverage")


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

    def result_of(self, source: str) -> Path:
        return self.build / "documents" / f"{source}.json"


def find_root(start: Path) -> Path | None:
    """The root of the repository that a folder is in: at or above it, the nearest whose files speak of ragpress.

    These are a pyproject.toml with the table [tool.ragpress] and a dodo.py that imports ragpress.tasks; neither need be
    valid, so that its errors can be shown.
    """
    folder = start.resolve()
    return next((each for each in (folder, *folder.parents) if _is_root(each)), None)


def _is_root(folder: Path) -> bool:
    signs = (("pyproject.toml", rb"(?m)^\s*\[\s*tool\s*\.\s*ragpress\b"), ("dodo.py", rb"\bragpress\.tasks\b"))
    return any(re.search(sign, _bytes_of(folder / name)) for name, sign in signs)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def open_repository(root: Path) -> Repository:
    """The repository at `root`. Raises BuildError for settings that cannot be used."""
    return Repository(root.resolve(), load_config(root))


def repository_here() -> Repository:
    """The repository that the working folder is in. Raises BuildError where there is none or its settings are wrong."""
    root = find_root(Path.cwd())
    if root is None:
        reason = "no repository here or in a folder above; go into one, or run `ragpress init DIR` to make one"
        raise BuildError("no-sources", reason)
    return open_repository(root)


class SourceFile(msgspec.Struct, frozen=True, order=True):
    """An entry of the sources folder, `file` its path. `regular` is false for what is no readable file."""

    source: str
    file: str
    regular: bool

    @property
    def path(self) -> Path:
        return Path(self.file)


_LONGEST_NAME = 220  # bytes: a file system takes 255, and what is made of a source has a longer name
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]')
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?")


def name_message(source: str) -> Message | None:
    """What Windows would not take of a source's name, so that no clone there has the file; None where it takes all.

    The rules are those of Microsoft's "Naming Files, Paths, and Namespaces".
    """
    for part in source.split("/"):
        found = _FORBIDDEN.search(part)
        if found:
            reason = f"Windows allows no {found[0]!r} in a name"
        elif part != part.rstrip(" ."):
            reason = "Windows allows no dot or space at the end of a name"
        elif _DEVICE.fullmatch(part):
            reason = f"{part} is the name of a device on Windows"
        else:
            continue
        return message("warning", "name", f"{reason}; rename it, so that the repository can be cloned there", source)
    return None


def find_sources(folder: Path) -> tuple[SourceFile, ...]:
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


def _walk(folder: Path, prefix: str, root: Path) -> Iterator[SourceFile]:
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
        if (length := len(entry.name.encode("utf-8", "surrogateescape"))) > _LONGEST_NAME:
            reason = f"its name takes {length} bytes, where {_LONGEST_NAME} are possible; shorten it"
            raise BuildError("name", reason, source)
        if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(root):
            raise BuildError("not-a-file", "this link leads out of the folder; put the file itself there", source)
        if entry.is_dir():
            if is_readable(source):
                yield SourceFile(source, entry.path, False)
            else:
                yield from _walk(Path(entry.path), f"{source}/", root)
        elif os.path.splitext(source)[1].lower() not in PICTURES:  # noqa: PTH122 (a tenth of the time, for each source)
            yield SourceFile(source, entry.path, entry.is_file() and os.access(entry.path, os.R_OK))


@lru_cache(maxsize=1)
def tool_fingerprint() -> str:
    """The tool's version and the sha256 of its code, so that no result outlives a change of either."""
    digest = hashlib.sha256(__version__.encode())
    package = Path(__file__).parent
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def settings_fingerprint(repository: Repository) -> str:
    """Over what decides all sources' chunks: the tool, the settings, the vocabulary."""
    config = repository.config
    settings = [getattr(config, name) for name in _CHUNKING_SETTINGS]
    own_model = ""
    if config.model_path:
        own_model = copy_signature(repository.root / config.model_path)
    return fingerprint(tool_fingerprint(), settings, config.model, config.offline_model, own_model)
