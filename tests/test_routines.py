"""Whole routines in real repositories with real git: an editor's, a reviewer's and CI's, each also from a subfolder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from lxml import html

from ragpress.init import make_repository as write_repository
from repository_maker import environment, make_repository, run, write_source
from tiny_builds import settings

PLAIN = "# Клиника\n\n## {0}\n\nОбщий номер {0}, особый приём. Цена 1 250 рублей.\n"
QUESTIONS = [
    {"question": "Какой тут номер?", "answer": "номер"},
    {"question": "Есть ли особый приём?", "answer": "особый"},
]
"""Every chunk answers both, so that the ranks do not depend on the model."""

HERE = pytest.mark.parametrize("folder", ["", "sources/дети"])


def git(root: Path, *arguments: str) -> str:
    plain = environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
    who = ("-c", "user.name=Тест", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *who, *arguments], cwd=root, capture_output=True, check=True, env=plain)
    return done.stdout.decode()


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


def ragpress(folder: Path, *arguments: str, status: int = 0, ci: str = "") -> str:
    """What a command printed on both streams; under CI where a base branch is given."""
    extra = {"CI": "true", "GITHUB_BASE_REF": ci} if ci else {}
    done = run(folder, "ragpress", *arguments, **extra)
    printed = done.stdout + done.stderr
    assert done.returncode == status, printed
    assert "Traceback" not in printed, printed
    return printed


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository on main, built, accepted and committed."""
    root = tmp_path_factory.mktemp("routines") / "база знаний"
    make_repository(root, {"a.md": PLAIN.format("один"), "дети/b.md": PLAIN.format("два")}, settings())
    (root / ".gitignore").write_text("/build/\n")
    (root / "golden").mkdir()
    lines = [json.dumps(question, ensure_ascii=False) + "\n" for question in QUESTIONS]
    (root / "golden" / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    ragpress(root, "build")
    printed = ragpress(root, "accept")
    assert "wrote golden/retrieval.json" in printed
    commit(root, "Первая база")
    return root


@pytest.fixture
def repository(accepted: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(accepted, tmp_path / "repo"))


def edit(root: Path, old: str, new: str) -> None:
    for path in (root / "sources").rglob("*.md"):
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def rank(root: Path, question: dict[str, str]) -> int | None:
    (record,) = json.loads((root / "golden" / "retrieval.json").read_bytes()).values()
    found: int | None = record["ranks"][question["question"]]
    return found


# -- the editor ------------------------------------------------------------------------------------------------------


@HERE
def test_an_editor_edits_builds_reads_the_difference_accepts_and_commits(repository: Path, folder: str) -> None:
    here = repository / folder
    assert "accepted\n" in ragpress(here)
    edit(repository, "1 250", "1 350")
    assert "built, but not since the last change: 2 sources changed\n  ragpress build" in ragpress(here)
    assert "build/kb holds 2 chunks" in ragpress(here, "build")
    assert "changed since the goldens: 2 sources differ (chunks: 2 changed)\n  ragpress golden" in ragpress(here)
    printed = ragpress(here, "golden", status=1)
    assert "  - Общий номер один, особый приём. Цена [-1 250-] рублей.\n" in printed
    assert "  + Общий номер один, особый приём. Цена {+1 350+} рублей.\n" in printed
    stat = ragpress(here, "golden", "--stat", status=1)
    assert "a.md: 1 changed\nдети/b.md: 1 changed\n2 sources differ (chunks: 2 changed)\n" in stat
    assert "1 350" not in stat
    printed = ragpress(here, "accept")
    assert "wrote golden/a.md.txt" in printed
    assert "against golden/retrieval.json: 0 questions worse, 0 better, hit@5 1.0000 → 1.0000" in printed
    assert "all goldens match" in ragpress(here, "golden")
    assert "not committed: 2 files in golden/\n  git add sources golden && git commit\n" in ragpress(here)
    commit(repository, "Новая цена")
    assert "not committed" not in ragpress(here)
    assert "hit@5 1.0000 → 1.0000" in ragpress(here, "eval")
    assert "sound" in ragpress(here, "verify")
    assert "1. " in ragpress(here, "search", "Какая цена?", "-k", "1")
    archive = repository / ragpress(here, "pack").splitlines()[0]
    assert archive.is_file()
    assert f"packed: build/{archive.name}" in ragpress(here)
    assert "no differences" in ragpress(here, "diff")


@pytest.mark.parametrize(
    ("folder", "path"), [("", "sources/дети"), ("sources/дети", "b.md"), ("", "golden/дети/b.md.txt")]
)
def test_an_editor_accepts_a_part(repository: Path, folder: str, path: str) -> None:
    edit(repository, "1 250", "1 350")
    ragpress(repository, "build")
    printed = ragpress(repository / folder, "accept", path)
    assert [line for line in printed.splitlines() if line.startswith("wrote ")] == ["wrote golden/дети/b.md.txt"]
    stat = ragpress(repository, "golden", "--stat", status=1)
    assert "a.md: 1 changed" in stat
    assert "b.md" not in stat
    wrong = ragpress(repository, "accept", "sources/дети/c.md", status=1)
    assert "is neither a source nor a folder of sources; did you mean sources/дети/b.md?" in wrong


@HERE
def test_an_editor_who_loses_an_answer_accepts_chunks_and_figures_by_two_acts(repository: Path, folder: str) -> None:
    here = repository / folder
    edit(repository, "особый", "обычный")
    ragpress(here, "build")
    printed = ragpress(here, "accept")
    assert "golden/questions.jsonl:2: rank 1 before, now beyond rank 10" in printed
    assert "hit@5 1.0000 → 0.5000" in printed
    assert "golden/retrieval.json keeps the better figures" in printed
    assert "all goldens match" in ragpress(here, "golden"), "the chunks are accepted"
    assert rank(repository, QUESTIONS[1]) == 1
    printed = ragpress(here, "eval", status=1)
    assert "hit@5 fell from 1.0000 to 0.5000" in printed
    assert "ragpress accept --retrieval" in printed
    ragpress(here, "accept", "--retrieval")
    assert rank(repository, QUESTIONS[1]) is None
    shown = git(repository, "diff", "-U0", "golden/retrieval.json")
    for line in ('-   "Есть ли особый приём?": 1,', '+   "Есть ли особый приём?": null,', '+   "hit@5": 0.5,'):
        assert line in shown.splitlines() or line.rstrip(",") in shown.splitlines(), shown
    assert '+  "accepted_below": {' in shown
    ragpress(here, "eval")


def test_clean_says_what_it_removes_and_keeps_the_vectors_unless_all_must_go(repository: Path) -> None:
    printed = ragpress(repository / "sources", "clean")
    assert "removed build/kb/ (" in printed
    assert "kept build/cache/ (1 file, " in printed
    assert [path.name for path in (repository / "build").iterdir() if path.name != ".lock"] == ["cache"]
    assert "embedding" not in ragpress(repository, "build"), "nothing is embedded again"
    assert "removed build/cache/" in ragpress(repository, "clean", "--all")
    assert "there is nothing to remove in build/" in ragpress(repository, "clean", "--all")


# -- the reviewer ----------------------------------------------------------------------------------------------------


@HERE
def test_a_reviewer_reads_a_branch_against_its_base_in_report_and_comment(repository: Path, folder: str) -> None:
    here = repository / folder
    git(repository, "switch", "-q", "-c", "правка")
    edit(repository, "особый", "обычный")
    ragpress(here, "build")
    ragpress(here, "accept", "--retrieval")
    commit(repository, "Хуже")
    git(repository, "switch", "-q", "main")
    write_source(repository, "другое.md", PLAIN.format("три"))
    commit(repository, "Основная ветка идёт дальше")
    git(repository, "switch", "-q", "правка")
    (repository / "sources" / "bad.docx").write_bytes(b"no archive")
    printed = ragpress(here, "report", status=1)
    assert "sources/bad.docx: error:" in printed
    page = html.parse(str(repository / "build" / "report" / "changes.html")).getroot()
    text = " ".join(" ".join(page.itertext()).split()).replace(" :", ":")
    base = git(repository, "merge-base", "main", "HEAD")[:10]
    assert f"Compared with {base}: 3 sources differ (chunks: 2 changed)" in text
    assert "hit@5 1.0000 0.5000" in text
    assert "1 question worse, 0 better" in text
    assert "Есть ли особый приём? rank 1 before, not among ten now" in text
    assert "What comes first instead: paragraph" in text
    assert "Общий номер один, особый приём" in text
    assert "cannot be read" in text, "and the source that fails takes nothing else off"
    (repository / "sources" / "bad.docx").unlink()
    comment = ragpress(here, "diff", "--markdown", "--report-url", "https://kb.example/r/")
    assert comment.startswith("<!-- ragpress: ")
    assert f"compared with <code>{base}</code>" in comment
    assert f"<b>Retrieval</b> compared with <code>{base}</code>: hit@5 1.0000 → 0.5000" in comment
    assert "<b>Есть ли особый приём?</b>" in comment
    assert "<p>rank 1 before, not among ten now</p>" in comment
    assert "first instead: <code>" in comment
    assert "<del>особый</del> <ins>обычный</ins>" in comment
    link = comment.partition('<a href="https://kb.example/r/')[2].partition('"')[0]
    name, _, anchor = link.partition("#")
    target = html.parse(str(repository / "build" / "report" / name)).getroot()
    assert "обычный" in target.get_element_by_id(anchor).text_content()
    against = ragpress(here, "diff", "--markdown", "--base", "main")
    assert "compared with <code>main</code>" in against
    ragpress(here, "report", "--base", "no-such-revision", status=1)


def test_the_report_draws_what_was_accepted_over_time(repository: Path) -> None:
    write_source(repository, "ещё.md", PLAIN.format("три"))
    ragpress(repository, "build")
    ragpress(repository, "accept")
    commit(repository, "Больше")
    ragpress(repository, "report")
    page = html.parse(str(repository / "build" / "report" / "index.html")).getroot()
    captions = [one.text_content() for one in page.xpath("//figcaption")]
    assert captions == ["hit@5 as accepted: 1.000 → 1.000", "Chunks as accepted: 2 → 3"]
    assert [len(one.xpath(".//circle")) for one in page.xpath("//figure")] == [2, 2]


# -- CI --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def clone(repository: Path, tmp_path: Path) -> Path:
    """What CI checks out: a branch of a clone that has its remote, and a cache of vectors."""
    git(repository, "switch", "-q", "-c", "правка")
    target = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(target))
    shutil.copytree(repository / "build" / "cache", target / "build" / "cache")
    return target


@HERE
def test_ci_is_green_without_a_loss_and_red_with_one_until_it_is_accepted_on_purpose(clone: Path, folder: str) -> None:
    here = clone / folder
    edit(clone, "1 250", "1 350")
    ragpress(here, "build", ci="main")
    assert "2 goldens do not match the chunks" in ragpress(here, "golden", status=1, ci="main")
    assert "goldens are not accepted under CI" in ragpress(here, "accept", status=1, ci="main")
    ragpress(here, "accept")
    ragpress(here, "golden", ci="main")
    assert "0 questions worse" in ragpress(here, "eval", ci="main")
    edit(clone, "особый", "обычный")
    ragpress(here, "build")
    ragpress(here, "accept")
    commit(clone, "Потеря")
    ragpress(here, "golden", ci="main")
    assert "hit@5 fell from 1.0000 to 0.5000" in ragpress(here, "eval", status=1, ci="main")
    (clone / "golden" / "retrieval.json").unlink()
    printed = ragpress(here, "eval", status=1, ci="main")
    assert "there are no figures to compare with" in printed
    assert "against origin/main" in printed, "no record of its own, but the base has one"
    git(clone, "restore", "golden/retrieval.json")
    ragpress(here, "accept", "--retrieval")
    commit(clone, "Согласны")
    printed = ragpress(here, "eval", ci="main")
    assert "against origin/main: 1 question worse, 0 better, hit@5 1.0000 → 0.5000" in printed
    assert "accepted by `ragpress accept --retrieval`" in printed


def test_ci_without_the_branch_to_compare_with_is_red_and_says_what_to_do(clone: Path) -> None:
    printed = ragpress(clone, "eval", status=1, ci="no-such")
    assert "git knows no revision origin/no-such" in printed
    assert "check out with the whole history" in printed


def test_the_commands_of_the_workflow_run_one_by_one_in_a_clone(clone: Path, tmp_path: Path) -> None:
    write_repository(clone)
    edit(clone, "1 250", "1 350")
    ragpress(clone, "build")
    ragpress(clone, "accept")
    commit(clone, "Правка")
    workflow = yaml.safe_load((clone / ".github/workflows/knowledge-base.yml").read_text(encoding="utf-8"))
    steps = [step for step in workflow["jobs"]["build"]["steps"] if "run" in step]
    tools = tmp_path / "bin"
    tools.mkdir()
    asked = tmp_path / "asked"
    scripts = {
        "pip": "exit 0",
        "ragpress": f'exec "{sys.executable}" -m ragpress "$@"',
        "gh": f'echo "$*" >> "{asked}"; case "$*" in *--paginate*) cat "{tmp_path}/found" ;; esac',
    }
    for name, script in scripts.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    for found, expected in (("", "api comments --field"), ("17\n", "api --method PATCH comment/17 --field")):
        (tmp_path / "found").write_text(found)
        asked.unlink(missing_ok=True)
        for step in steps:
            variables = {
                "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
                "COMMENTS": "comments",
                "COMMENT": "comment",
                "OWN": "true",
            }
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=clone,
                env=environment(CI="true", GITHUB_BASE_REF="main", **variables),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (step["run"], done.stdout, done.stderr)
        assert any(line.startswith(expected) for line in asked.read_text().splitlines())
    assert (clone / "comment.md").read_text(encoding="utf-8").startswith("<!-- ragpress: ")
    assert "<del>1 250</del> <ins>1 350</ins>" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert len(list((clone / "build").glob("*.tar.zst"))) == 1


# -- the front door --------------------------------------------------------------------------------------------------


def test_outside_of_a_repository_each_command_says_what_to_do(tmp_path: Path) -> None:
    assert "no repository here or in a folder above\n  ragpress init DIR" in ragpress(tmp_path)
    for command in ("build", "golden", "accept", "eval", "report", "pack", "clean", "diff", "verify"):
        printed = ragpress(tmp_path, command, status=1)
        assert "no repository here or in a folder above; go into one, or run `ragpress init DIR`" in printed
        assert printed.count("\n") == 1


def test_init_refuses_inside_a_repository(repository: Path) -> None:
    printed = ragpress(repository / "sources", "init", "new", status=1)
    assert "new is inside the repository " in printed
    assert not (repository / "sources" / "new").exists()


def test_a_slip_in_the_settings_is_one_line_for_each_command(repository: Path) -> None:
    (repository / "pyproject.toml").write_text("[tool.ragpress]\nmodel = nomic\n")
    for command in ((), ("build",), ("search", "x"), ("report",), ("clean",)):
        printed = ragpress(repository / "sources", *command, status=1)
        assert printed.startswith(
            "ragpress: error: pyproject.toml:2: this is no valid TOML: Invalid value at column 9;"
        )
        assert printed.count("\n") == 1


def test_ci_refuses_a_model_that_stands_in_for_the_configured_one_and_pack_does_until_told(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.md": PLAIN.format("один")})
    printed = ragpress(root, "build", status=1, ci="main")
    assert "under CI multilingual-e5-small does not stand in for nomic-embed-text-v2-moe" in printed
    assert not (root / "build" / "kb").exists()
    assert "multilingual-e5-small is used in place of nomic-embed-text-v2-moe" in ragpress(root, "build")
    assert "which stood in for nomic-embed-text-v2-moe" in ragpress(root, "pack", status=1)
    ragpress(root, "accept")
    assert "which stands in for nomic-embed-text-v2-moe" in ragpress(root)
    assert ragpress(root, "pack", "--fallback").startswith("build/repo-")
