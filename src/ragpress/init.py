"""`ragpress init`: the files of a content repository."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from ragpress import __version__
from ragpress.config import load_config
from ragpress.errors import BuildError
from ragpress.repository import find_root
from ragpress.sources import list_sources

_FILES = {
    "pyproject.toml": "pyproject.toml",
    "dodo.py": "dodo.py",
    "gitignore": ".gitignore",
    "gitattributes": ".gitattributes",
    "README.md": "README.md",
    "workflow.yml": ".github/workflows/knowledge-base.yml",
}
"""Template in templates/ to path in the repository."""


def make_repository(folder: Path) -> list[str]:
    """Writes the files that are missing, with an example and its questions where there is none. Returns a line a file.

    Raises BuildError where the folder is inside another repository, its pyproject.toml has settings that cannot be
    used, or the disk refuses.
    """
    done: list[str] = []
    above = find_root(folder.absolute().parent)
    if above is not None:
        raise BuildError("bad-setting", f"{folder} is inside the repository {above}; choose a folder outside of it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for template, name in _FILES.items():
            done.append(_write(folder, template, name))
        settings = load_config(folder)
        sources = folder / settings.sources
        sources.mkdir(exist_ok=True)
        if not list_sources(sources).sources:
            done.append(_write(folder, "example.md", f"{settings.sources}/example.md"))
            done.append(_write(folder, "questions.jsonl", f"{settings.golden}/questions.jsonl"))
    except OSError as error:
        raise BuildError("disk", f"{folder} cannot be written: {error.strerror}; check its rights and room") from None
    done.append(
        "ragpress: put documents into sources/, then run `ragpress build`, `ragpress golden`, `ragpress accept`"
    )
    return done


def _write(folder: Path, template: str, name: str) -> str:
    path = folder / name
    if path.exists():
        if name == "pyproject.toml" and "[tool.ragpress]" not in path.read_text(encoding="utf-8-sig"):
            return f"kept {name}; add a table [tool.ragpress] to it where you want other settings than the defaults"
        return f"kept {name}"
    text = resources.files("ragpress").joinpath("templates", template).read_text(encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_filled(text, folder).encode("utf-8"))
    return f"wrote {name}"


def _filled(text: str, folder: Path) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "knowledge-base"
    return text.replace("{{name}}", name).replace("{{version}}", f"=={__version__}")
