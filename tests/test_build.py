"""Builds of small repositories through doit: what is rebuilt, what goes, what stays, and how it fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gguf_maker import write_nomic
from repository_maker import artifact_bytes, build, chunks, environment, failing, make_repository, run, write_source
from tiny_builds import cached, clean_build, settings

ONE = "# Клиника\n\n## Запись\n\nЗаписаться можно по телефону или на сайте.\n\n## Оплата\n\nКартой или наличными.\n"
TWO = "# بیمه\n\n## نشانی\n\nاصفهان، خیابان نمونه، پلاک ۱۲.\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_repository(tmp_path_factory.mktemp("built") / "repo", {"one.md": ONE, "fa/two.md": TWO}, settings())
    build(root)
    return root


@pytest.fixture
def repository(built: Path, tmp_path: Path) -> Path:
    """A repository that has been built, in a folder of its own: a build folder may be moved along."""
    return Path(shutil.copytree(built, tmp_path / "repo"))


def test_a_repository_that_was_moved_with_its_build_folder_has_nothing_to_do(repository: Path) -> None:
    assert "nothing to do" in build(repository)


def test_a_second_build_does_nothing_and_loads_no_heavy_library(repository: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (repository / "build").rglob("*")}
    code = (
        "import sys; from doit.doit_cmd import DoitMain; status = DoitMain().run([]);"
        "heavy = {'llama_cpp', 'usearch', 'numpy', 'docx', 'openpyxl', 'lxml', 'markdown_it', 'huggingface_hub'};"
        "print(status, sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[-2] == "0 []", done.stdout + done.stderr
    assert "nothing to do" in done.stderr
    state = repository / "build" / "doit.sqlite"
    changed = [path for path, time in before.items() if path.stat().st_mtime_ns != time and path != state]
    assert [path for path in changed if path.is_file()] == []


def test_an_edit_embeds_the_new_text_alone_and_equals_a_clean_build(repository: Path, tmp_path: Path) -> None:
    before, other = cached(repository), (repository / "build" / "chunks" / "fa" / "two.md.jsonl").stat().st_mtime_ns
    write_source(repository, "one.md", ONE.replace("наличными", "по счёту"))
    build(repository)
    assert cached(repository) == before + 1
    assert (repository / "build" / "chunks" / "fa" / "two.md.jsonl").stat().st_mtime_ns == other
    assert artifact_bytes(repository) == clean_build(repository, tmp_path / "clean")


def test_added_renamed_and_deleted_sources_leave_nothing_stale(repository: Path, tmp_path: Path) -> None:
    write_source(repository, "three.md", "# Новое\n\n## Раздел\n\nНовый текст.\n")
    (repository / "sources" / "one.md").rename(repository / "sources" / "renamed.md")
    (repository / "sources" / "fa" / "two.md").unlink()
    before = cached(repository)
    build(repository)
    assert {str(chunk["source"]) for chunk in chunks(repository)} == {"renamed.md", "three.md"}
    assert cached(repository) == before + 1  # a renamed source's texts are known
    assert not (repository / "build" / "chunks" / "fa").exists()
    assert artifact_bytes(repository) == clean_build(repository, tmp_path / "clean")


def test_a_changed_setting_rebuilds_and_changing_it_back_gives_the_same_bytes(repository: Path) -> None:
    before = artifact_bytes(repository)
    file = repository / "pyproject.toml"
    old = file.read_text(encoding="utf-8")
    file.write_text(old + 'excluded_section_headings = ["Оплата"]\n', encoding="utf-8")
    build(repository)
    assert all(chunk["section"] != "Оплата" for chunk in chunks(repository))
    file.write_text(old, encoding="utf-8")
    build(repository)
    assert artifact_bytes(repository) == before


def test_a_source_that_fails_is_named_and_the_artifact_stays(repository: Path) -> None:
    before = artifact_bytes(repository)
    (repository / "sources" / "bad.docx").write_bytes(b"not a zip archive")
    write_source(repository, "one.md", ONE.replace("Картой", "Чеком"))
    printed = failing(repository)
    assert "sources/bad.docx: error:" in printed
    assert artifact_bytes(repository) == before
    (repository / "sources" / "bad.docx").unlink()
    build(repository)
    assert any("Чеком" in str(chunk["text"]) for chunk in chunks(repository))


def test_on_error_skip_publishes_without_the_failing_source_and_says_so(repository: Path) -> None:
    file = repository / "pyproject.toml"
    file.write_text(file.read_text(encoding="utf-8") + 'on_error = "skip"\n', encoding="utf-8")
    (repository / "sources" / "bad.docx").write_bytes(b"not a zip archive")
    assert "left out" in build(repository)
    assert {str(chunk["source"]) for chunk in chunks(repository)} == {"one.md", "fa/two.md"}


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("empty.md", b"", "empty-source"),
        ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "legacy-doc"),
        ("picture.psd", b"8BPS", "unknown-suffix"),
        ("broken.md", "---\ntitle: [не закрыто\n---\n\n# Текст\n\nДа.\n".encode(), "front-matter"),
        ("binary.txt", bytes(range(256)) * 8, "bad-encoding"),
    ],
)
def test_bad_input_ends_in_one_line_that_names_it(repository: Path, name: str, data: bytes, found: str) -> None:
    (repository / "sources" / name).write_bytes(data)
    printed = failing(repository)
    lines = [line for line in printed.splitlines() if f"sources/{name}" in line]
    assert len(lines) == 1, printed
    assert f"[{found}]" in lines[0]


def test_a_directory_named_like_a_source_fails_by_name(repository: Path) -> None:
    (repository / "sources" / "folder.md").mkdir()
    assert "sources/folder.md: error:" in failing(repository)


def test_an_unknown_setting_is_named_with_the_nearest_known(repository: Path) -> None:
    file = repository / "pyproject.toml"
    file.write_text(file.read_text(encoding="utf-8") + "max_token = 3\n", encoding="utf-8")
    printed = failing(repository)
    assert "`max_token`" in printed
    assert "`max_tokens`" in printed


def test_damaged_state_of_doit_costs_a_look_and_no_embedding(repository: Path) -> None:
    before, bytes_before = cached(repository), artifact_bytes(repository)
    (repository / "build" / "doit.sqlite").write_bytes(b"0123456789")
    assert "put aside" in build(repository)
    assert cached(repository) == before
    assert artifact_bytes(repository) == bytes_before


def test_two_builds_at_once_end_with_the_artifact_of_one(tmp_path: Path) -> None:
    sources = {f"{n}.md": ONE + f"\n## Ещё {n}\n\nТекст {n}.\n" for n in range(8)}
    root = make_repository(tmp_path / "repo", sources, settings())
    builds = [
        subprocess.Popen([sys.executable, "-m", "doit"], cwd=root, env=environment(), stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    printed = [process.communicate(timeout=300)[1] for process in builds]
    assert [process.returncode for process in builds] == [0, 0], printed
    assert "Traceback" not in "".join(printed)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_a_damaged_artifact_is_repaired_by_the_next_build(repository: Path) -> None:
    before = artifact_bytes(repository)
    for damage in (b"", b"text" * 100, before["index.usearch"][: len(before["index.usearch"]) // 2]):
        (repository / "build" / "kb" / "index.usearch").write_bytes(damage)
        build(repository)
        assert artifact_bytes(repository) == before
    (repository / "build" / "kb" / "chunks.jsonl").unlink()
    build(repository)
    assert artifact_bytes(repository) == before


def test_clean_empties_the_build_folder(repository: Path) -> None:
    build(repository, "clean")
    assert not (repository / "build" / "kb").exists()
    build(repository)
    assert chunks(repository)


def test_a_model_of_one_s_own_builds_answers_and_is_locked(tmp_path: Path) -> None:
    settings = '[tool.ragpress]\nmodel_path = "own.gguf"\n'
    root = make_repository(tmp_path / "repo", {"one.md": ONE}, settings)
    write_nomic(root / "own.gguf")
    build(root)
    index = json.loads((root / "build" / "kb" / "index.json").read_text(encoding="utf-8"))
    assert (index["model"]["name"], index["model"]["dimensions"]) == ("nomic-embed-text-v2-moe", 64)
    for model in (["--model", "own.gguf"], []):  # as given, or as the settings of this repository say
        found = run(root, "ragpress", "search", "Запись", "--json", "-k", "1", *model)
        assert json.loads(found.stdout)[0]["source"] == "one.md", found.stderr
    (root / "cases.jsonl").write_text('{"question": "Запись", "expected_source": "one.md"}\n', encoding="utf-8")
    asked = run(root, "ragpress", "eval", "cases.jsonl", "--json")
    assert asked.returncode == 0, asked.stderr
    assert "nothing to do" in build(root)
    write_nomic(root / "own.gguf", seed=1)
    before = artifact_bytes(root)
    assert "ragpress model lock" in failing(root)
    assert artifact_bytes(root) == before
    assert run(root, "ragpress", "model", "lock").returncode == 0
    build(root)
    assert artifact_bytes(root)["index.usearch"] != before["index.usearch"]
