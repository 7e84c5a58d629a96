"""The README is true: its commands, settings and files are those of the code."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ragpress.cli import parser
from ragpress.config import Config

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(top: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def test_every_command_is_in_the_readme_and_every_command_there_exists() -> None:
    known = {name for name, _ in commands(parser())}
    told = set(re.findall(r"`ragpress ([a-z]+)", README))
    assert told == known


def test_every_setting_is_told_with_its_default() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| `([^|]*)` \| .+ \|$", README, re.MULTILINE))
    defaults = msgspec.to_builtins(Config())
    assert told == {name: json.dumps(value) for name, value in defaults.items()}


def test_every_task_is_told() -> None:
    source = (ROOT / "src" / "ragpress" / "tasks" / "__init__.py").read_text(encoding="utf-8")
    tasks = set(re.findall(r"^def task_(\w+)", source, re.MULTILINE)) - {"chunk", "merge", "embed", "index"}
    assert set(re.findall(r"^\| `ragpress (\w+)\b", README, re.MULTILINE)) >= tasks | {"build", "clean"}


def test_every_option_and_argument_has_a_help_text() -> None:
    for name, command in commands(parser()):
        silent = [action.dest for action in command._actions if not action.help and action.dest != "action"]
        assert not silent, name


def test_ci_runs_the_readme_s_test_command() -> None:
    (line,) = re.findall(r"^    (.* tools/check\.py)$", README, re.MULTILINE)
    assert line in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_files_that_the_readme_links_to_exist() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
