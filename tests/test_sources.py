"""Which files of a folder are sources, which are passed over, and that one bad name hides no other error."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from compiling import chunk_all
from ragpress.config import Config
from ragpress.repository import Repository
from ragpress.sources import list_sources
from repository_maker import run, write_source
from tiny_builds import tiny_repository


def names(folder: Path, *exclude: str) -> list[str]:
    return [found.source for found in list_sources(folder, exclude).sources]


def put(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("текст\n", encoding="utf-8")


def test_what_systems_and_editors_leave_behind_is_passed_over_by_name(tmp_path: Path) -> None:
    leavings = ["Backup of a.wbk", "Desktop.ini", "Thumbs.db", "a.md~", "b/a.docx.bak", "b/~WRL0001.tmp"]
    put(tmp_path, *leavings, "a.md", ".DS_Store", "~$a.docx", "notes.ini", "bak.md")
    found = list_sources(tmp_path)
    assert [each.source for each in found.sources] == ["a.md", "bak.md", "notes.ini"]
    assert found.passed_over == tuple(leavings)


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("drafts/**", ["a.md", "b/a.md", "b/drafts/a.md"]),
        ("drafts", ["a.md", "b/a.md", "b/drafts/a.md"]),
        ("**/drafts", ["a.md", "b/a.md"]),
        ("**/a.md", []),
        ("*.md", ["b/a.md", "b/drafts/a.md", "drafts/a.md"]),
        ("b/*.md", ["a.md", "b/drafts/a.md", "drafts/a.md"]),
        ("?.md", ["b/a.md", "b/drafts/a.md", "drafts/a.md"]),
        ("a", ["a.md", "b/a.md", "b/drafts/a.md", "drafts/a.md"]),
    ],
)
def test_exclude_takes_globs_from_the_sources_folder_on(tmp_path: Path, pattern: str, left: list[str]) -> None:
    put(tmp_path, "a.md", "b/a.md", "b/drafts/a.md", "drafts/a.md")
    assert names(tmp_path, pattern) == left


def test_an_excluded_folder_is_named_in_any_unicode_form(tmp_path: Path) -> None:
    put(tmp_path, unicodedata.normalize("NFD", "йод/a.md"), "b.md")
    assert names(tmp_path, "йод/") == ["b.md"]
    assert names(tmp_path, unicodedata.normalize("NFD", "йод/**")) == ["b.md"]


def test_bad_names_and_links_fail_by_name_and_hide_no_other_error(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    put(sources, "good.md", "bad.docx", "х" * 120 + ".md", unicodedata.normalize("NFD", "й.md"), "й.md")
    (sources / "loop.md").symlink_to("loop.md")
    (sources / "out.md").symlink_to(tmp_path / "elsewhere.md")
    (sources / "outside").symlink_to("/usr")
    Path(os.fsdecode(os.fsencode(sources) + b"/\xff.md")).write_bytes(b"x")
    results = chunk_all(Repository(tmp_path, Config()), report=lambda line: None)
    failures = {source: result.failure.text for source, result in results.items() if result.failure}
    assert results.keys() - failures.keys() == {"good.md"}
    assert failures["out.md"] == failures["outside"] == "this link leads out of the folder; put the file itself there"
    assert "in different Unicode forms" in failures["й.md"]
    assert failures["\\udcff.md"] == "its name is no UTF-8; give it another"
    (long,) = (source for source in failures if "…" in source)
    assert failures[long] == "its name takes 243 bytes, where 220 are possible; shorten it"
    assert failures["loop.md"] == "this link leads nowhere; put the file itself there"
    assert "bad.docx" in failures


def test_a_build_says_in_one_line_what_is_passed_over_and_how_to_exclude_what_it_cannot_read(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", 1, 'exclude = ["drafts/**"]')
    write_source(root, "drafts/b.md", "x")
    write_source(root, "Thumbs.db", "x")
    write_source(root, "прайс.odg", "x")
    printed = run(root, "ragpress", "build").stderr
    assert "ragpress: info: passed over as no documents: Thumbs.db; 1 by `exclude` [passed-over]\n" in printed
    assert "no reader for .odg; " in printed and "or name it in the setting `exclude` [unknown-suffix]" in printed
    (root / "sources" / "прайс.odg").unlink()
    assert run(root, "ragpress", "build").returncode == 0
