"""The goldens of a repository: compare the chunks that stand in its build folder with them, or accept the chunks."""

from __future__ import annotations

import os
from collections.abc import Callable

from ragpress.build import load_source, say
from ragpress.errors import BuildError
from ragpress.golden import Differences, accept_goldens, compare_goldens, render_golden
from ragpress.repository import Repository, find_sources

Say = Callable[[str], None]


def render_goldens(repository: Repository) -> dict[str, str]:
    """Source to the text of its golden, for every source that has chunks in the build folder. Raises BuildError."""
    rendered: dict[str, str] = {}
    for found in find_sources(repository.sources):
        chunks, entry = load_source(repository, found.source)
        prefix = f"{repository.config.sources}/{found.source}"
        rendered[found.source] = render_golden(chunks, [line.removeprefix(prefix) for line in entry.messages])
    return rendered


def check_goldens(repository: Repository, tell: Say = say) -> None:
    """Names every golden that is missing, orphaned or different. Raises BuildError where there is one."""
    found = compare_goldens(repository.golden, render_goldens(repository))
    for line in describe(found, repository.config.golden):
        tell(line)
    if found:
        raise BuildError(
            "golden",
            "the chunks differ from their goldens; read the changes, then run `doit accept` and commit golden/",
        )
    tell("ragpress: all goldens match")


def describe(found: Differences, folder: str) -> list[str]:
    """A line a path."""
    return [
        *(f"{folder}/{name}: missing" for name in found.missing),
        *(f"{folder}/{name}: its source is gone" for name in found.orphans),
        *(f"{folder}/{name}: changed" for name in found.changed),
    ]


def accept(repository: Repository, tell: Say = say) -> None:
    """Rewrites the goldens and lists the paths. Raises BuildError under CI, where nobody reads the changes."""
    if os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise BuildError(
            "golden", "goldens are not accepted under CI; run `doit accept` on your machine and commit golden/"
        )
    done = accept_goldens(repository.golden, render_goldens(repository))
    for line in done:
        tell(line)
    if not done:
        tell("ragpress: all goldens match already")
