"""What `ragpress init` writes is true: each command line in it can be run, and git keeps the goldens as they are."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from ragpress import __version__
from ragpress.cli import parser
from ragpress.evaluation.cases import read_cases
from ragpress.init import make_repository
from ragpress.review.golden import GoldenChunk, render_golden

ROOT = Path(__file__).resolve().parent.parent
TASKS = set(
    re.findall(r"^def task_(\w+)", (ROOT / "src/ragpress/tasks/__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    make_repository(tmp_path / "Мои документы")
    return tmp_path / "Мои документы"


def check_command(line: str) -> str:
    """The name of the tool, once its arguments are found to be understood."""
    tool, *arguments = shlex.split(line.partition(" > ")[0], comments=True)
    if tool == "ragpress":
        parser().parse_args(arguments)
    elif tool == "doit":
        assert set(arguments) <= TASKS | {"clean"}, line
    return tool


def test_every_command_of_the_workflow_exists_and_takes_its_options(repository: Path) -> None:
    workflow = yaml.safe_load((repository / ".github/workflows/knowledge-base.yml").read_text(encoding="utf-8"))
    assert workflow[True] == {"push": {"branches": ["main"]}, "pull_request": None}  # `on` is YAML 1.1's true
    steps = workflow["jobs"]["build"]["steps"]
    lines = [line.strip() for step in steps for line in step.get("run", "").splitlines()]
    assert {check_command(line) for line in lines if line.startswith(("doit", "ragpress"))} == {"ragpress"}
    for command in ("build", "golden", "eval", "report", "pack"):
        assert f"ragpress {command}" in lines
    assert not any("${{" in line for line in lines), "an expression in a shell script runs what a branch is named"
    assert all(set(step) <= {"name", "id", "uses", "with", "run", "if", "env"} for step in steps)
    assert all(("run" in step) != ("uses" in step) for step in steps)


def test_the_workflow_is_bounded_pinned_and_runs_each_check_though_one_fails(repository: Path) -> None:
    text = (repository / ".github/workflows/knowledge-base.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    job = workflow["jobs"]["build"]
    assert job["timeout-minutes"] <= 60
    assert workflow["concurrency"]["group"].endswith("${{ github.ref }}")
    uses = re.findall(r"uses: (\S+)", text)
    assert all(re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40}", each) for each in uses), uses
    assert f'pip install "ragpress[build,starter]=={__version__}"' in text
    for step in job["steps"]:
        if step.get("run") in ("ragpress golden", "ragpress eval", "ragpress report"):
            assert step["if"] == "${{ !cancelled() }}", step
    (saved,) = (step for step in job["steps"] if step.get("uses", "").startswith("actions/cache/save@"))
    before = job["steps"][job["steps"].index(saved) - 1]
    assert before["run"].startswith("ragpress cache --prune --max-megabytes ")
    names = [step["with"]["name"] for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    assert names == ["knowledge-base-${{ github.sha }}", "report-${{ github.sha }}"]


def test_every_command_of_the_readme_exists(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^ {4}((?:doit|ragpress).*)$", text, re.MULTILINE)
    lines += re.findall(r"`((?:doit|ragpress)[^`]*)`", text)
    assert {check_command(line) for line in lines} == {"ragpress"}


def test_nothing_is_left_of_the_placeholders(repository: Path) -> None:
    for path in repository.rglob("*"):
        if path.is_file():
            assert not re.search(r"(?<!\$)\{\{", path.read_text(encoding="utf-8")), path.name


def test_the_questions_of_a_new_repository_are_about_its_example(repository: Path) -> None:
    example = (repository / "sources" / "example.md").read_text(encoding="utf-8")
    cases = read_cases(repository / "golden" / "questions.jsonl", print, "questions.jsonl")
    assert len(cases) == 2
    assert all(case.sources == ("example.md",) and case.answers[0] in example for case in cases)


def git(root: Path, *arguments: str) -> bytes:
    plain = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    who = ("-c", "user.name=Тест", "-c", "user.email=test@example.org", "-c", "core.autocrlf=true")
    return subprocess.run(["git", *who, *arguments], cwd=root, capture_output=True, check=True, env=plain).stdout


@pytest.mark.parametrize("attributes", [ROOT / ".gitattributes", ROOT / "src/ragpress/templates/gitattributes"])
def test_git_keeps_a_golden_s_bytes_and_shows_its_changes(attributes: Path, tmp_path: Path) -> None:
    (tmp_path / ".gitattributes").write_bytes(attributes.read_bytes())
    text = "Строка с пробелами в конце  \r\n\tи \x00 со знаками\u2028 концов строк\x0c."
    chunk = GoldenChunk(f"{1:016x}", "paragraph", "", (), "L1", 9, "", text)
    path = tmp_path / "golden" / "папка" / "a.md.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(before := render_golden([chunk], ()).encode())
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    path.unlink()
    git(tmp_path, "checkout", "-q", "--", "golden")
    assert path.read_bytes() == before
    path.write_bytes(before.replace("знаками".encode(), "буквами".encode()))
    assert "+║ \tи \\u{0} со буквами" in git(tmp_path, "diff").decode()
    git(tmp_path, "diff", "--check")
    found = git(tmp_path, "check-attr", "diff", "linguist-generated", "--", "golden/папка/a.md.txt").decode()
    assert "diff: set" in found
    assert "linguist-generated: set" not in found
