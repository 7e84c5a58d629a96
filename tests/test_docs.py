"""The README and the docs are true: their commands, settings and files are those of the code."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ragpress.cli import parser
from ragpress.config import Config

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.iterdir()), ROOT / "src" / "ragpress" / "templates" / "messages.md"]


def commands(top: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def test_the_page_of_commands_is_what_help_says() -> None:
    """Renew it by `python tools/commands_page.py > docs/commands.md`."""
    made = subprocess.run([sys.executable, "tools/commands_page.py"], cwd=ROOT, capture_output=True, check=True)
    assert made.stdout.decode() == (DOCS / "commands.md").read_text(encoding="utf-8")


def test_commands_that_the_docs_name_exist() -> None:
    known = {name for name, _ in commands(parser())}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"`ragpress ([a-z]+)", text)) <= known, page.name
        assert set(re.findall(r"^    (?:.*&& )?ragpress ([a-z]+)", text, re.MULTILINE)) <= known, page.name


def test_every_setting_is_told_with_its_default() -> None:
    settings = (DOCS / "settings.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(\w+)` \| `([^|]*)` \| .+ \|$", settings, re.MULTILINE))
    defaults = msgspec.to_builtins(Config())
    assert told == {name: json.dumps(value) for name, value in defaults.items()}


def test_every_task_is_a_command() -> None:
    source = (ROOT / "src" / "ragpress" / "tasks" / "__init__.py").read_text(encoding="utf-8")
    tasks = set(re.findall(r"^def task_(\w+)", source, re.MULTILINE)) - {"chunk", "merge", "embed", "index"}
    assert set(re.findall(r"^\| `ragpress (\w+)\b", README, re.MULTILINE)) == tasks | {"build", "clean"}


def test_every_option_and_argument_has_a_help_text() -> None:
    for name, command in commands(parser()):
        silent = [action.dest for action in command._actions if not action.help and action.dest != "action"]
        assert not silent, name


def test_ci_runs_the_readme_s_test_command() -> None:
    (line,) = re.findall(r"^    (.* tools/check\.py)$", README, re.MULTILINE)
    assert line in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_files_that_the_docs_link_to_exist_and_each_page_is_in_the_index() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([\w./-]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page.name, link)
    assert {path.name for path in DOCS.iterdir()} <= set(re.findall(r"\]\(docs/([^)]+)\)", README))
