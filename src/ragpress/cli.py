"""`ragpress …`: how all commands are called. What they do is in `commands`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ragpress import __version__
from ragpress.console import write_utf8
from ragpress.errors import INSTALL_BUILD, BuildError

_COMMANDS = {
    None: ("status", "status"),
    "init": ("setup", "init"),
    "build": ("tasks", "build"),
    "golden": ("tasks", "golden"),
    "accept": ("tasks", "accept"),
    "report": ("tasks", "report_site"),
    "pack": ("tasks", "pack"),
    "clean": ("tasks", "clean"),
    "chunk": ("files", "chunk"),
    "tables": ("files", "tables"),
    "diff": ("differences", "diff"),
    "search": ("artifact", "search"),
    "eval": ("evaluate", "evaluate"),
    "verify": ("artifact", "verify"),
    "explain": ("explain", "explain"),
    "model": ("setup", "model"),
    "seed": ("setup", "seed"),
    "cache": ("setup", "cache"),
}
"""Command to its module below `commands`, imported when it runs, and the function there."""


def parser() -> argparse.ArgumentParser:
    """All commands and options; docs/commands.md is made from it."""
    top = argparse.ArgumentParser(
        prog="ragpress",
        description="Compiles a repository of documents into the files that a chatbot searches.",
        epilog="In a repository or any folder of it, `ragpress` alone says what can be done next.",
    )
    top.add_argument("--version", action="version", version=f"ragpress {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    init = commands.add_parser("init", help="make a content repository in a folder")
    init.add_argument("folder", metavar="DIR", type=Path, help="made where it is missing; what is there is kept")

    commands.add_parser("build", help="build the artifact, build/kb/")

    golden = commands.add_parser("golden", help="compare the chunks with their goldens")
    golden.add_argument("--stat", action="store_true", help="a line a source, and not what changed in it")

    accept = commands.add_parser(
        "accept",
        help="rewrite the goldens to what the chunks are now",
        description="Rewrites golden/, and records what the questions find where that is not worse than before.",
    )
    accept.add_argument("paths", metavar="PATH", nargs="*", help="a source or a folder of them (default: all)")
    accept.add_argument("--retrieval", action="store_true", help="record what the questions find although it is worse")

    report = commands.add_parser("report", help="build, and draw build/report/, a site that opens from disk")
    report.add_argument("--base", metavar="REV", default="", help="compare with this git revision")
    report.add_argument("--open", action="store_true", help="open it in the browser")

    pack = commands.add_parser("pack", help="put the artifact into one archive")
    pack.add_argument("--fallback", action="store_true", help="even where the offline model stood in for the model")

    clean = commands.add_parser("clean", help="remove what was built, but not the vectors")
    clean.add_argument("--all", action="store_true", help="the vectors, too: all texts are embedded again")

    chunk = commands.add_parser("chunk", help="print the chunks of files as JSONL, without a build")
    chunk.add_argument("paths", metavar="PATH", type=Path, nargs="+", help="a file, or a folder of files")
    chunk.add_argument("--report", metavar="FILE", type=Path, help="write a JSON object of outcomes by file name")

    tables = commands.add_parser(
        "tables",
        help="show how tables are read",
        description="Draws the tables of Excel and CSV files as understood: titles, header, groups, data, notes.",
    )
    tables.add_argument("paths", metavar="FILE", type=Path, nargs="+", help="an xlsx or csv file, or a folder of such")
    tables.add_argument("--json", action="store_true", help="print a JSON object a table, one a line")
    tables.add_argument("--width", metavar="N", type=_positive, default=0, help="columns (default: the terminal's)")

    diff = commands.add_parser(
        "diff",
        help="say what the chatbot will read differently",
        description="Compares the chunks in the build folder with the accepted ones in golden/, or with those of BASE.",
    )
    diff.add_argument("base", metavar="BASE", nargs="?", default="", help="a git revision: origin/main, HEAD~1, a tag")
    diff.add_argument("--base", metavar="REV", dest="revision", default="", help="the same")
    form = diff.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print a comment for a pull request, of bounded length")
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    diff.add_argument(
        "--report-url", metavar="URL", default="", help="with --markdown: where build/report/ is published, to link to"
    )
    diff.add_argument("--width", metavar="N", type=_positive, default=0, help="columns (default: the terminal's)")

    search = commands.add_parser("search", help="search an artifact")
    search.add_argument("question", metavar="QUESTION", help="as a person would ask it")
    search.add_argument("--artifact", metavar="DIR", type=Path, help="default: build/kb of this repository")
    search.add_argument("-k", type=_positive, default=5, help="number of hits (default: 5)")
    modes = ("hybrid", "vector", "words")
    search.add_argument(
        "--mode", choices=modes, default="hybrid", help="by meaning and words (default), or by one; words need no model"
    )
    search.add_argument("--neighbours", metavar="N", type=_natural, default=0, help="chunks to add around each hit")
    search.add_argument("--source", action="append", default=[], help="search this source alone (repeatable)")
    search.add_argument("--section", action="append", default=[], help="search this section alone (repeatable)")
    search.add_argument("--type", action="append", default=[], help="search this content type alone (repeatable)")
    search.add_argument("--model", metavar="GGUF", type=Path, help="the model's file, where it is not in the cache")
    search.add_argument("--json", action="store_true", help="print a list of objects: a chunk's fields and scores")

    evaluate = commands.add_parser(
        "eval",
        help="measure whether questions find what they must",
        description="Builds, asks the artifact golden/questions.jsonl, and fails where it finds less than was accepted."
        " With CASES, --artifact, --model, --json or --sweep it only measures, and fails for nothing.",
    )
    evaluate.add_argument(
        "cases", metavar="CASES", type=Path, nargs="?", help="default: golden/questions.jsonl of this repository"
    )
    evaluate.add_argument(
        "--base", metavar="REV", default="", help="compare with the figures of this git revision, too"
    )
    evaluate.add_argument("--artifact", metavar="DIR", type=Path, help="default: build/kb of this repository")
    evaluate.add_argument("--model", metavar="GGUF", type=Path, help="the model's file, where it is not in the cache")
    evaluate.add_argument("--mode", choices=modes, default="hybrid", help="how to search (default: hybrid)")
    evaluate.add_argument("--compare", action="store_true", help="print the figures of all three modes side by side")
    evaluate.add_argument("--json", action="store_true", help="print the figures as a JSON object")
    evaluate.add_argument(
        "--sweep",
        metavar="NAME=VALUE,VALUE",
        nargs="+",
        help="cut the sources with every combination of these settings, and print the figures of each",
    )

    verify = commands.add_parser("verify", help="check an artifact")
    verify.add_argument("folder", metavar="DIR", type=Path, nargs="?", help="default: build/kb of this repository")

    explain = commands.add_parser("explain", help="say what the code of a message means and what to do")
    explain.add_argument("code", metavar="CODE", nargs="?", default="", help="as in brackets behind it (default: all)")

    model = commands.add_parser("model", help="show, choose or lock the embedding model")
    actions = model.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("show", help="say which model the build folder uses and what is locked")
    use = actions.add_parser("use", help="use this model from the next build on")
    use.add_argument("name", metavar="NAME", help="`model` or `offline_model` of the settings")
    actions.add_parser("lock", help="accept the model's file as it is now into model.lock.json")

    seed = commands.add_parser(
        "seed",
        help="take the vectors of a published artifact",
        description="Verifies an artifact and puts its vectors into the vector cache, so that the next build embeds"
        " only the texts that it does not hold. The setting `seed` does the same in a build.",
    )
    seed.add_argument("path", metavar="PATH", type=Path, help="its folder, or the archive that `ragpress pack` made")

    cache = commands.add_parser("cache", help="say how large the vector cache is and how much of it is used")
    cache.add_argument("--prune", action="store_true", help="drop the vectors that the last build does not use")
    cache.add_argument(
        "--max-megabytes",
        metavar="N",
        type=_natural,
        help="with --prune: drop the oldest of them until the cache is no larger (default: all of them)",
    )
    return top


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def _natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns the exit status: 0, 1 for what the user can fix, 2 for wrong usage."""
    write_utf8()
    top = parser()
    options = top.parse_args(arguments)
    if options.command == "cache" and options.max_megabytes is not None and not options.prune:
        top.error("--max-megabytes says how much to prune; give --prune as well")
    try:
        status = _run(options)
        sys.stdout.flush()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "ragpress"):
            raise
        print(BuildError("extra", f"{missing} is not installed; {INSTALL_BUILD}"), file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("ragpress: interrupted", file=sys.stderr)
        return 130
    return status


def _run(options: argparse.Namespace) -> int:
    module, name = _COMMANDS[options.command]
    run: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(f"ragpress.commands.{module}"), name)
    return run(options)
