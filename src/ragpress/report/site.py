"""The pages written: beside the old report, then in its place, and only where something changed."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragpress.console import Progress, Report, report
from ragpress.errors import CODES
from ragpress.explanations import explanations
from ragpress.files import disk_error, fingerprint, put_in_place, recover, replace_file, staging_folder, tree_signature
from ragpress.pipeline.publish import is_built, published_fingerprint
from ragpress.report.differences import paragraphs_of
from ragpress.report.gathering import Contents, gather
from ragpress.report.history import MOST
from ragpress.report.pages import all_changes, overview, source_page
from ragpress.report.searching import search_data
from ragpress.report.showing import (
    KINDS,
    PARTING,
    advice,
    bearing,
    cells_of,
    finalize,
    page_name,
    percent,
    pieces,
    plain_value,
)
from ragpress.repository import Repository, tool_fingerprint
from ragpress.review.accept import comparison_base
from ragpress.review.diff.showing import shorten
from ragpress.review.git import Base, commits_of
from ragpress.sources import find_sources

_HERE = Path(__file__).parent
_STATIC = ("report.css", "report.js", "search.js", "words.js")
_EXCERPT = 200  # characters of a hit


def draw_report(repository: Repository, report: Report = report, base: str = "") -> Path:
    """Makes build/report/ and returns its first page. Nothing is written where nothing changed since.

    It is compared with the revision `base`, else the merge base with the default branch, else the goldens.
    Chunks and artifact are taken as they are. A source that could not be read, and an artifact that is missing or older
    than the chunks, are shown. Raises BuildError where a source's chunks are missing or the disk refuses.
    """
    target = repository.build / "report"
    first = target / "index.html"
    compared = comparison_base(repository, base, report)
    mark, made_from = repository.build / "reported", _made_from(repository, compared)
    if first.is_file() and mark.is_file() and mark.read_text() == fingerprint(made_from, tree_signature(target)):
        return first
    contents = gather(repository, compared, report)
    files: dict[str, bytes] = {}
    with Progress("drawing", len(contents.sources), "sources") as shown:
        for name, data in render(contents):
            files[name] = data
            shown.advance(name.startswith("sources/"))
    _write(target, files)
    if not contents.measured.failed:
        replace_file(mark, fingerprint(made_from, tree_signature(target)).encode())
    return first


def _made_from(repository: Repository, base: Base | None) -> str:
    """The fingerprint of all that decides a report."""
    history = commits_of(repository.root, repository.config.golden, MOST)
    build = repository.build
    folders = (build / "chunks", build / "documents", repository.golden, repository.artifact)
    artifact = published_fingerprint(repository) if is_built(repository) else ""
    names = [found.source for found in find_sources(repository)]
    looks = sorted([*(_HERE / "static").iterdir(), *(_HERE / "templates").iterdir()])
    own = [hashlib.sha256(path.read_bytes()).hexdigest() for path in looks]
    config = repr(repository.config)
    return fingerprint(
        tool_fingerprint(),
        own,
        config,
        names,
        artifact,
        str(base),
        str(history),
        [tree_signature(folder) for folder in folders],
    )


# -- the pages -------------------------------------------------------------------------------------------------------


def render(report: Contents) -> Iterator[tuple[str, bytes]]:
    """Path below the report's folder and content of each of its files."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "advice": advice,
        "bearing": bearing,
        "cells": cells_of,
        "page_name": page_name,
        "paragraphs": PARTING.split,
        "percent": percent,
        "pieces": pieces,
        "plain": plain_value,
        "run_bearing": lambda runs: bearing("".join(run.text for run in runs)),
        "run_paragraphs": paragraphs_of,
        "short": lambda text: shorten(text, _EXCERPT),
    }
    environment.globals |= {"KINDS": KINDS, "CODES": CODES, "EXPLANATIONS": explanations()}

    def page(template: str, **values: Any) -> bytes:
        return environment.get_template(template).render(**values).encode()

    sources = report.sources
    around = zip([None, *sources[:-1]], sources, [*sources[1:], None], strict=True)
    pages = [source_page(one, before, after) for before, one, after in around]
    yield "index.html", page("overview.html", root="", page=overview(report))
    yield "changes.html", page("changes.html", root="", page=all_changes(report), measured=report.measured)
    yield "retrieval.html", page("retrieval.html", root="", measured=report.measured, report=report)
    yield "search.html", page("search.html", root="", pages=pages)
    yield "messages.html", page("messages.html", root="")
    for one in pages:
        yield one.link.page, page("source.html", root="../", page=one, report=report)
    yield "search-data.js", search_data(report, pages).encode()
    for name in _STATIC:
        yield name, (_HERE / "static" / name).read_bytes()


# -- writing ---------------------------------------------------------------------------------------------------------


def _write(target: Path, files: dict[str, bytes]) -> None:
    """The files as a whole in the place of the folder `target`. Raises BuildError where the disk refuses."""
    recover(target)
    staging = staging_folder(target)
    try:
        for name, data in files.items():
            path = staging / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        put_in_place(staging, target)
    except OSError as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise disk_error(target, error) from None
