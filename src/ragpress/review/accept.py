"""The goldens of a repository: what of the chunks in its build folder differs from them, and accepting it."""

from __future__ import annotations

import difflib
import sys
import unicodedata
from collections.abc import Sequence, Set
from pathlib import Path

from ragpress.captions.store import prune_captions
from ragpress.console import Report, plural, report, under_ci
from ragpress.errors import BuildError
from ragpress.files import remove_empty_parents, replace_file
from ragpress.pipeline.results import load_source, read_result
from ragpress.repository import Repository
from ragpress.review.diff import Changes, compare, screen_of, to_stat, to_terminal
from ragpress.review.git import Base, files_at, find_base, is_held
from ragpress.review.golden import SUFFIX, is_golden, note_of, render_golden
from ragpress.sources import find_sources

_CHUNKS = 12
_TEXT = 400
"""Chunks of a source and characters of a chunk that `ragpress golden` shows; `ragpress diff` shows all."""

# -- both sides ------------------------------------------------------------------------------------------------------


Goldens = dict[str, str | BuildError]
"""Source to the text of its golden, or to why there is none to read."""


def render_goldens(repository: Repository) -> Goldens:
    """Source to the text of its golden, made from the chunks in the build folder; or to why the source has none.

    Raises BuildError where the build folder lacks what a build would have put there. With on_error = "skip" the golden
    of a source that failed is its error, since this is what the artifact holds of it.
    """
    rendered: Goldens = {}
    for found in find_sources(repository):
        result = read_result(repository, found.source)
        if result is None or result.failure is None:
            chunks, entry = load_source(repository, found.source)
            rendered[found.source] = render_golden(chunks, [note_of(message) for message in entry.messages])
        elif repository.config.on_error == "skip":
            rendered[found.source] = render_golden((), [f"error: {result.failure.error().message.text}"])
        else:
            rendered[found.source] = result.failure.error()
    return rendered


def golden_files(folder: Path) -> dict[str, Path]:
    """Source to its golden's path, sorted. `questions.jsonl` and the like are none."""
    found = {
        unicodedata.normalize("NFC", path.relative_to(folder).as_posix()).removesuffix(SUFFIX): path
        for path in folder.rglob(f"*{SUFFIX}")
        if path.is_file()
    }
    return dict(sorted(found.items()))


def read_goldens(repository: Repository) -> Goldens:
    """Source to the text of its golden in the working folder, or to why it cannot be read."""
    found: Goldens = {}
    for source, path in golden_files(repository.golden).items():
        try:
            found[source] = _decoded(path.read_bytes())
        except OSError as error:
            found[source] = BuildError("golden", f"it cannot be read: {error.strerror}")
        except BuildError as error:
            found[source] = error
    return found


def goldens_at(repository: Repository, revision: str) -> Goldens:
    """Source to the text of its golden at a git revision, or to why it cannot be read. Raises BuildError."""
    found: Goldens = {}
    for name, data in sorted(files_at(repository.root, revision, repository.config.golden, SUFFIX).items()):
        try:
            found[name.removesuffix(SUFFIX)] = _decoded(data)
        except BuildError as error:
            found[name.removesuffix(SUFFIX)] = error
    return found


def _decoded(data: bytes) -> str:
    """Line ends that a checkout changed are forgiven. Raises BuildError."""
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BuildError("golden", f"byte {error.start} is no UTF-8; run `ragpress accept` to write it again") from None


def comparison_base(repository: Repository, given: str, report: Report = report) -> Base | None:
    """The given revision, else the merge base with the default branch where it has goldens; None for the goldens here.

    Raises BuildError for a given revision that git does not know.
    """
    try:
        base = find_base(repository.root, given)
    except BuildError as error:
        if given:
            raise
        report(f"{error} - compared is with the goldens in {repository.config.golden}/")
        return None
    held = base is not None and (given or is_held(repository.root, base.revision, repository.config.golden))
    return base if held else None


def changes_of(repository: Repository, base: Base | None = None) -> Changes:
    """What differs between the goldens, or those of a git revision, and the chunks in the build folder.

    Raises BuildError where the build folder lacks chunks or the revision cannot be read.
    """
    before = goldens_at(repository, base.revision) if base else read_goldens(repository)
    return compare(before, render_goldens(repository), base.name if base else "")


# -- golden and accept -----------------------------------------------------------------------------------------------


def check_goldens(repository: Repository, report: Report = report, stat: bool = False) -> None:
    """Reports what changed, by source, or with `stat` a line a source alone.

    Raises BuildError where a golden is missing, orphaned, damaged or different.
    """
    found = changes_of(repository)
    if not found.sources:
        report("ragpress: all goldens match")
        return
    screen = screen_of(sys.stderr, chunks=_CHUNKS, text=_TEXT)
    for line in to_stat(found, screen) if stat else to_terminal(found, screen):
        report(line)
    counted = plural(len(found.sources), "golden does", "goldens do")
    raise BuildError(
        "golden",
        f"{counted} not match the chunks; read what changed, and where it is meant run `ragpress accept` and commit"
        f" {repository.config.golden}/",
    )


def accept(repository: Repository, report: Report = report, paths: Sequence[str] = ()) -> None:
    """Rewrites the goldens and lists the paths, and drops captions that are no longer used.

    With `paths`, sources or folders of them from the repository's root, it rewrites their goldens alone. Raises
    BuildError for a path without sources, and under CI, where nobody reads the changes.
    """
    if under_ci():
        raise BuildError(
            "golden", "goldens are not accepted under CI; run `ragpress accept` on your machine and commit golden/"
        )
    rendered = render_goldens(repository)
    if paths:
        done = accept_goldens(repository, rendered, _chosen(repository, rendered, paths))
    else:
        done = (*accept_goldens(repository, rendered), *_prune_captions(repository))
    for line in done:
        report(line)
    if not done:
        report("ragpress: all goldens match already")


def _prune_captions(repository: Repository) -> list[str]:
    """Takes captions of pictures out that no source shows; none where a source could not be read."""
    results = [read_result(repository, found.source) for found in find_sources(repository)]
    if repository.config.captions == "off" or any(result is None or result.failure for result in results):
        return []
    used = {use.sha256 for result in results if result for use in result.uses}
    removed = prune_captions(repository.captions, used)
    if not removed:
        return []
    return [f"deleted {plural(removed, 'line', 'lines')} of captions.jsonl: no source shows such a picture"]


def _chosen(repository: Repository, rendered: Goldens, paths: Sequence[str]) -> set[str]:
    """The sources, present or with a golden alone, at or below these paths. Raises BuildError."""
    known = {*rendered, *golden_files(repository.golden)}
    chosen: set[str] = set()
    for path in paths:
        name = unicodedata.normalize("NFC", path).strip("/")
        for folder in (repository.config.sources, repository.config.golden):
            name = "" if name == folder else name.removeprefix(f"{folder}/")
        names = {name, name.removesuffix(SUFFIX)} if path.startswith(f"{repository.config.golden}/") else {name}
        found = {source for source in known if not name or source in names or source.startswith(f"{name}/")}
        if not found:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {repository.config.sources}/{close[0]}?" if close else "name a source or a folder"
            raise BuildError("golden", f"{path} is neither a source nor a folder of sources; {hint}")
        chosen |= found
    return chosen


def accept_goldens(repository: Repository, rendered: Goldens, chosen: Set[str] | None = None) -> tuple[str, ...]:
    """Writes what differs and deletes goldens of removed sources. Returns a line a path: `wrote golden/…`.

    Only of the chosen sources where there are any. Raises BuildError, before anything is touched, for a source that
    could not be read or a file in the golden folder that was never a golden.
    """
    name = repository.config.golden
    texts: dict[str, str] = {}
    for source, text in rendered.items():
        if chosen is not None and source not in chosen:
            continue
        if isinstance(text, BuildError):
            raise text
        texts[source] = text
    files = golden_files(repository.golden)
    present = read_goldens(repository)
    orphans = [source for source in files if source not in rendered and (chosen is None or source in chosen)]
    for source in orphans:
        if not is_golden(files[source].read_bytes().decode("utf-8", "replace")):
            raise BuildError("golden", f"{name}/{source}{SUFFIX} is no golden of any source; move it out of {name}/")
    done: list[str] = []
    for source in orphans:
        try:
            files[source].unlink()
        except OSError as error:
            raise BuildError("disk", f"{name}/{source}{SUFFIX} cannot be deleted: {error.strerror}") from None
        remove_empty_parents(repository.golden, files[source].parent)
        done.append(f"deleted {name}/{source}{SUFFIX}")
    for source, text in texts.items():
        if present.get(source) != text:
            replace_file(files.get(source, repository.golden / f"{source}{SUFFIX}"), text.encode("utf-8"))
            done.append(f"wrote {name}/{source}{SUFFIX}")
    return tuple(done)
