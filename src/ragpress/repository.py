"""A content repository on the disk: its folders, its sources, and the fingerprints of what a result was made with."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

import msgspec

from ragpress import __version__
from ragpress.config import Config, load_config
from ragpress.errors import BuildError
from ragpress.files import copy_signature, fingerprint

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
