"""Prints docs/commands.md, from what `ragpress --help` says: `python tools/commands_page.py > docs/commands.md`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ragpress.cli import parser

HEAD = """# Commands

All work in any folder of a repository, as git does. `ragpress` alone says how things stand and what comes next;
`ragpress COMMAND --help` says what stands here. `build`, `golden`, `accept`, `eval`, `report` and `pack` run
[doit](https://pydoit.org)'s tasks of these names (`build` is `index`), which `doit NAME` runs in the repository's top
folder. A command ends with status 0, with 1 where something is wrong that a person can fix, with 2 where it was called
wrongly."""


def sections(top: argparse.ArgumentParser) -> Iterator[str]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: str(choice.help) for choice in action._choices_actions}
            for name, command in action.choices.items():
                yield section(command, command.description or f"{helps[name][:1].upper()}{helps[name][1:]}.")


def section(command: argparse.ArgumentParser, described: str) -> str:
    lines = [f"## `{command.prog}`", "", described]
    rows = [row for action in command._actions for row in rows_of(action)]
    return "\n".join([*lines, *(["", "| argument | meaning |", "|---|---|", *rows] if rows else [])])


def rows_of(action: argparse.Action) -> Iterator[str]:
    if isinstance(action, argparse._SubParsersAction):
        for choice in action._choices_actions:
            named = [each for each in action.choices[choice.dest]._actions if not each.option_strings]
            yield f"| `{' '.join([choice.dest, *(str(each.metavar) for each in named)])}` | {choice.help} |"
    elif action.dest != "help":
        name = ", ".join(action.option_strings) or str(action.metavar)
        value = "" if action.nargs == 0 or not action.option_strings else f" {shown_value(action)}"
        yield f"| `{name}{value}` | {action.help} |"


def shown_value(action: argparse.Action) -> str:
    return "\\|".join(action.choices) if action.choices else str(action.metavar or action.dest.upper())


if __name__ == "__main__":
    print("\n\n".join([HEAD, *sections(parser())]))
