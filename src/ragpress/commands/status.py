"""`ragpress` alone: how the repository is, and what can be done next."""

from __future__ import annotations

import argparse
from pathlib import Path

from ragpress.console import plural
from ragpress.errors import BuildError
from ragpress.pipeline.publish import is_built
from ragpress.pipeline.results import read_result, stale_sources
from ragpress.repository import Repository, find_root, open_repository
from ragpress.review.accept import changes_of
from ragpress.review.diff import describe_all
from ragpress.review.git import uncommitted
from ragpress.sources import find_sources


def status(_: argparse.Namespace) -> int:
    """What can be done next, here."""
    root = find_root(Path.cwd())
    if root is None:
        print("ragpress: no repository here or in a folder above")
        print("  ragpress init DIR   make one")
        print("  ragpress --help     all commands")
        return 0
    print("\n".join(next_steps(open_repository(root))))
    return 0


def next_steps(repository: Repository) -> list[str]:
    """How things are, and the commands that come next, a line each. Raises BuildError as `find_sources` does."""
    from ragpress.artifact.pack import packed, stand_in

    config = repository.config
    sources = find_sources(repository)
    done = [f"{repository.root.name}: {plural(len(sources), 'source', 'sources')} in {config.sources}/"]
    if not sources:
        return [*done, f"  put documents into {config.sources}/, then", _step("build", "build the artifact")]
    results = [read_result(repository, each.source) for each in sources]
    failed = [each.source for each, result in zip(sources, results, strict=True) if result and result.failure]
    stale = stale_sources(repository, sources)
    if not (repository.artifact / "index.json").exists():
        done.append("not built yet" if not failed else "not built")
    elif stale or not is_built(repository):
        changed = f": {plural(len(stale), 'source', 'sources')} changed" if stale else ""
        done.append(f"built, but not since the last change{changed}")
    else:
        done.append("built")
    if failed:
        shown = ", ".join(f"{config.sources}/{source}" for source in failed[:3])
        done.append(
            f"{plural(len(failed), 'source', 'sources')} could not be read: {shown}{' …' if failed[3:] else ''}"
        )
    if done[1] != "built":
        return [*done, _step("build", "build, and say what is wrong" if failed else "build the artifact")]
    try:
        changes = changes_of(repository)
    except BuildError as error:
        return [*done, str(error), _step("build", "build again")]
    if changes.sources:
        done += [f"changed since the goldens: {describe_all(changes)}", _step("golden", "say what changed")]
        done += [_step("accept", "agree to it"), _step("report --open", "look at everything")]
        return done
    done.append("accepted")
    open_files = uncommitted(repository.root, config.golden)
    if open_files:
        done.append(f"not committed: {plural(open_files, 'file', 'files')} in {config.golden}/")
        done.append(f"  git add {config.sources} {config.golden} && git commit")
    archive, wrong_model = packed(repository), stand_in(repository)
    if archive.exists():
        done.append(f"packed: {config.build}/{archive.name}")
    elif wrong_model:
        done.append(f"not packed for the chatbot: embedded by {wrong_model}, which stands in for {config.model}")
    else:
        done += ["not packed for the chatbot", _step("pack", "put the artifact into one archive")]
    return [*done, _step('search "…"', "try a question"), _step("report --open", "look at everything")]


def _step(command: str, what: str) -> str:
    return f"  ragpress {command.ljust(15)} {what}"
