"""`doit golden`, `doit accept`, `ragpress diff` and `doit pack` in real repositories, as an editor and CI run them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from docx_maker import docx, heading, p, styled
from ragpress.errors import BuildError
from ragpress.repository import open_repository
from ragpress.review.accept import accept, check_goldens
from ragpress.review.git import files_at
from repository_maker import build, environment, failing, make_repository, run, write_source

SENTENCES = [f"Абзац {number}: в этом предложении сказано, что бывает в случае {number}." for number in range(1, 9)]
PARAGRAPHS = [" ".join(SENTENCES[number:] + SENTENCES[:number]) for number in range(8)]
CLINIC = "# Клиника\n\n## Приём\n\n" + "\n\n".join(PARAGRAPHS) + "\n\n## Оплата\n\nКартой или наличными.\n\n## Пусто\n"
INSURANCE = "# بیمه\n\n## نشانی\n\nاصفهان، خیابان نمونه، پلاک ۱۲.\n\n## تماس\n\nبا شمارهٔ ۱۲۳ تماس بگیرید.\n"
NEW = "Новый абзац о том, что теперь принимают и по субботам, если записаться заранее. " * 4


def clinic_docx(paragraphs: list[str]) -> bytes:
    body = [styled("H1", "Клиника"), styled("H2", "Приём"), *map(p, paragraphs), styled("H2", "Оплата"), p("По счёту.")]
    return docx("".join(body), styles=heading("H1", 0) + heading("H2", 1))


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=Тест", "-c", "user.email=test@example.org", *arguments],
        cwd=root,
        capture_output=True,
        check=True,
        env=environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null"),
    )
    return done.stdout.decode()


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "state")


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with accepted goldens, committed on main."""
    root = make_repository(tmp_path_factory.mktemp("accepted"), {"clinic.md": CLINIC, "fa/بیمه.md": INSURANCE})
    (root / "sources" / "clinic.docx").write_bytes(clinic_docx(PARAGRAPHS))
    (root / ".gitignore").write_text("/build/\n")
    (root / ".gitattributes").write_text("golden/** text eol=lf diff -whitespace\nsources/** -text\n")
    git(root, "init", "-q", "-b", "main")
    build(root, "accept")
    commit(root)
    return root


@pytest.fixture
def repository(accepted: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(accepted, tmp_path / "repo", symlinks=True))


def checked(root: Path) -> str:
    """What `doit golden` tells of the chunks as they stand, without a build before; it must find something."""
    lines: list[str] = []
    with pytest.raises(BuildError, match="not match the chunks"):
        check_goldens(open_repository(root), lines.append)
    return "\n".join(lines)


def accept_now(root: Path) -> list[str]:
    lines: list[str] = []
    accept(open_repository(root), lines.append)
    return lines


def golden(root: Path, source: str) -> Path:
    return root / "golden" / f"{source}.txt"


def diff(root: Path, *arguments: str) -> str:
    done = run(root, "ragpress", "diff", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- the editor's way ------------------------------------------------------------------------------------------------


def test_a_paragraph_put_into_a_document_changes_the_lines_that_it_must_in_the_golden(repository: Path) -> None:
    write_source(repository, "clinic.md", CLINIC.replace(PARAGRAPHS[4], f"{NEW}\n\n{PARAGRAPHS[4]}"))
    (repository / "sources" / "clinic.docx").write_bytes(clinic_docx([*PARAGRAPHS[:4], NEW, *PARAGRAPHS[4:]]))
    build(repository, "accept")
    for source in ("clinic.md", "clinic.docx"):
        lines = git(repository, "diff", "-U0", f"golden/{source}.txt").split("\n")
        changed = [line for line in lines if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]
        assert {line[:1] for line in changed} == {"+"}, changed
        assert [line[1:2] for line in changed if line[1:2] != "┆"] == ["●", "│", ""], changed  # one chunk
        assert any(NEW.strip() in line for line in changed)


def test_golden_tells_what_changed_accept_agrees_and_golden_is_content(repository: Path) -> None:
    told: list[str] = []
    check_goldens(open_repository(repository), told.append)
    assert told == ["ragpress: all goldens match"]
    write_source(repository, "fa/بیمه.md", INSURANCE.replace("پلاک ۱۲", "پلاک ۲۱"))
    write_source(repository, "new.md", "# Новое\n\n## Раздел\n\nНовый текст.\n")
    (repository / "sources" / "clinic.docx").unlink()
    printed = failing(repository, "golden")
    assert "clinic.docx: removed, 9 chunks\n" in printed
    assert "new.md: new, 1 chunk\n" in printed
    assert "fa/بیمه.md: 1 changed\n" in printed
    assert "  - اصفهان، خیابان نمونه، پلاک [-۱۲-].\n  + اصفهان، خیابان نمونه، پلاک {+۲۱+}.\n" in printed
    assert "3 goldens do not match the chunks" in printed.replace("\n", " ")
    assert "ragpress accept" in printed
    accepted = build(repository, "accept")
    for line in ("wrote golden/new.md.txt", "wrote golden/fa/بیمه.md.txt", "deleted golden/clinic.docx.txt"):
        assert f"{line}\n" in accepted
    assert "wrote golden/clinic.md.txt" not in accepted
    assert accept_now(repository) == ["ragpress: all goldens match already"]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (b"<<<<<<< HEAD\n", "its golden is damaged: line 1: a git merge begins here and is not finished"),
        (b"?\n", "its golden is damaged: line 1 is not part of a golden"),
        (b"\xff\xfe", "its golden is damaged: byte 0 is no UTF-8"),
        (b"\n", "its golden says the same, but is written in another form"),
    ],
)
def test_a_damaged_golden_is_named_and_written_anew(repository: Path, damage: bytes, told: str) -> None:
    path = golden(repository, "clinic.md")
    whole = path.read_bytes()
    path.write_bytes(damage + whole)
    assert f"clinic.md: {told}" in checked(repository)
    assert accept_now(repository) == ["wrote golden/clinic.md.txt"]
    assert path.read_bytes() == whole


def test_line_ends_of_a_checkout_are_no_difference(repository: Path) -> None:
    path = golden(repository, "clinic.md")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    check_goldens(open_repository(repository), lambda _: None)
    assert accept_now(repository) == ["ragpress: all goldens match already"]


def test_accept_deletes_no_file_that_was_never_a_golden(repository: Path) -> None:
    note = repository / "golden" / "notes.txt"
    note.write_text("Что проверить: телефоны.\n", encoding="utf-8")
    golden(repository, "clinic.md").unlink()
    assert "notes: its golden is damaged" in checked(repository)
    with pytest.raises(BuildError, match=r"golden/notes\.txt is no golden of any source; move it out of golden/"):
        accept_now(repository)
    assert note.exists()
    assert not golden(repository, "clinic.md").exists(), "nothing is done by halves"


def test_accept_deletes_goldens_of_sources_that_are_gone_and_their_empty_folders(repository: Path) -> None:
    for name in ("sources/fa/بیمه.md", "build/documents/fa/بیمه.md.json", "build/chunks/fa/بیمه.md.jsonl"):
        (repository / name).unlink()
    assert "fa/بیمه.md: removed, 2 chunks" in checked(repository)
    assert accept_now(repository) == ["deleted golden/fa/بیمه.md.txt"]
    assert not (repository / "golden" / "fa").exists()


@pytest.mark.parametrize(
    ("value", "refused"), [("true", True), ("1", True), ("false", False), ("0", False), ("", False)]
)
def test_accept_refuses_where_nobody_reads_the_changes(
    repository: Path, monkeypatch: pytest.MonkeyPatch, value: str, refused: bool
) -> None:
    path = golden(repository, "clinic.md")
    path.unlink()
    monkeypatch.setenv("CI", value)
    if refused:
        with pytest.raises(BuildError, match="not accepted under CI"):
            accept_now(repository)
    else:
        accept_now(repository)
    assert path.exists() != refused


def test_messages_are_locked_without_the_numbers_of_their_lines(repository: Path) -> None:
    before = golden(repository, "clinic.md").read_text(encoding="utf-8")
    assert "\n▲ warning: there is no text under «Пусто»" in before
    write_source(repository, "clinic.md", CLINIC.replace("# Клиника\n", "# Клиника\n\n\n\n"))
    build(repository, "accept")
    after = golden(repository, "clinic.md").read_text(encoding="utf-8")
    assert after.split("\n")[1:] == before.split("\n")[1:]  # the place of the first chunk alone is absolute


def test_a_source_that_is_skipped_is_locked_as_such(repository: Path) -> None:
    settings = repository / "pyproject.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + 'on_error = "skip"\n', encoding="utf-8")
    (repository / "sources" / "clinic.docx").write_bytes(b"no archive")
    printed = failing(repository, "golden")
    assert "clinic.docx: 9 removed, 1 message\n" in printed
    build(repository, "accept")
    assert golden(repository, "clinic.docx").read_text(encoding="utf-8").startswith("▲ error: ")


# -- ragpress diff ---------------------------------------------------------------------------------------------------


def test_diff_compares_with_the_goldens_and_with_those_of_a_revision(repository: Path) -> None:
    assert diff(repository) == "no differences\n"
    git(repository, "switch", "-q", "-c", "edit")
    write_source(repository, "clinic.md", CLINIC.replace("Картой", "Чеком"))
    git(repository, "mv", "sources/fa/بیمه.md", "sources/fa/تازه.md")
    build(repository, "accept")
    commit(repository)
    assert diff(repository) == diff(repository, "HEAD") == "no differences\n"
    shown = diff(repository, "main")
    assert "  - [-Картой-] или наличными.\n  + {+Чеком+} или наличными.\n" in shown
    assert "fa/تازه.md: renamed from fa/بیمه.md\n" in shown
    found = json.loads(diff(repository, "main", "--json"))
    assert (found["base"], found["counts"]["changed"], len(found["sources"])) == ("main", 1, 2)
    marked = diff(repository, "main", "--markdown")
    assert '<p dir="auto"><del>Картой</del> <ins>Чеком</ins> или наличными.</p>' in marked
    assert max(map(len, diff(repository, "main", "--width", "50").split("\n"))) <= 50
    assert git(repository, "status", "--porcelain") == ""


def test_a_revision_s_files_are_read_by_their_own_names_and_not_through_links(repository: Path) -> None:
    (repository / "golden" / "link.md.txt").symlink_to("/etc/passwd")
    commit(repository)
    (repository / "golden" / "link.md.txt").unlink()
    assert diff(repository, "HEAD") == "no differences\n"


def test_a_repository_below_the_root_of_a_git_repository_is_compared_with_its_own_goldens(tmp_path: Path) -> None:
    make_repository(tmp_path / "whole" / "golden", {"other.md": INSURANCE})
    root = make_repository(tmp_path / "whole" / "base", {"a.md": INSURANCE})
    (tmp_path / "whole" / ".gitignore").write_text("build/\n")
    build(root, "accept")
    git(tmp_path / "whole", "init", "-q")
    commit(tmp_path / "whole")
    assert diff(root, "HEAD") == "no differences\n"


def test_a_revision_without_goldens_has_none_and_an_unknown_one_is_an_error(repository: Path) -> None:
    git(repository, "rm", "-q", "-r", "--cached", "golden")
    git(repository, "commit", "-q", "-m", "none")
    assert "clinic.md: new, 9 chunks, 1 message\n" in diff(repository, "HEAD")
    for revision in ("no-such-branch", "--output=x", "HEAD:golden", ""):
        done = run(repository, "ragpress", "diff", "--", revision)
        if revision:
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr.startswith("ragpress: error: ")
            assert done.stderr.count("\n") == 1
        else:
            assert done.returncode == 0


def test_where_there_is_no_git_or_no_git_repository_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(BuildError, match="not a git repository"):
        files_at(tmp_path, "main", "golden", ".txt")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BuildError, match="git is not installed"):
        files_at(tmp_path, "main", "golden", ".txt")


def test_diff_says_that_a_source_was_edited_since_the_build_or_could_not_be_read(repository: Path) -> None:
    write_source(repository, "clinic.md", CLINIC.replace("Картой", "Чеком"))
    done = run(repository, "ragpress", "diff")
    assert done.stdout == "no differences\n"
    assert "changed since the last build: " in done.stderr
    assert "sources/clinic.md" in done.stderr
    (repository / "sources" / "clinic.docx").write_bytes(b"no archive")
    failing(repository, "chunk")
    shown = diff(repository)
    assert "clinic.docx: cannot be read: " in shown
    assert "clinic.md: 1 changed\n" in shown


def test_diff_without_a_build_says_what_to_do(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.md": INSURANCE})
    done = run(root, "ragpress", "diff")
    assert done.returncode == 1
    assert "run `ragpress build`" in done.stderr


# -- doit pack -------------------------------------------------------------------------------------------------------


def test_pack_builds_what_is_missing_and_prints_where_the_archive_is(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "демо", {"a.md": INSURANCE}, '[tool.ragpress]\nmodel = "multilingual-e5-small"\n')
    done = run(root, "doit", "pack")
    assert done.returncode == 0, done.stderr
    path = root / done.stdout.strip()
    assert path.parent == root / "build"
    assert path.name.startswith("демо-")
    data = path.read_bytes()
    path.unlink()
    assert run(root, "doit", "pack").stdout == done.stdout
    assert path.read_bytes() == data
