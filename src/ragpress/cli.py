"""`ragpress …`: the commands that are no part of a build."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ragpress import __version__
from ragpress.errors import BuildError


def parser() -> argparse.ArgumentParser:
    """All commands and options; the README's list is checked against it."""
    top = argparse.ArgumentParser(
        prog="ragpress",
        description="Compiles a repository of documents into the files that a chatbot searches.",
        epilog="A build is run by `doit` in a repository that `ragpress init` made.",
    )
    top.add_argument("--version", action="version", version=f"ragpress {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    init = commands.add_parser("init", help="make a content repository in a folder")
    init.add_argument("folder", metavar="DIR", type=Path)

    chunk = commands.add_parser("chunk", help="print the chunks of files as JSONL, without a build")
    chunk.add_argument("paths", metavar="PATH", type=Path, nargs="+", help="a file, or a folder of files")
    chunk.add_argument("--report", metavar="FILE", type=Path, help="write a JSON object of outcomes by file name")

    search = commands.add_parser("search", help="search an artifact")
    search.add_argument("question", metavar="QUESTION")
    search.add_argument("--artifact", metavar="DIR", type=Path, default=Path("build/kb"), help="default: build/kb")
    search.add_argument("-k", type=_positive, default=5, help="number of hits (default: 5)")
    search.add_argument("--neighbours", metavar="N", type=_natural, default=0, help="chunks to add around each hit")
    search.add_argument("--source", action="append", default=[], help="search this source alone (repeatable)")
    search.add_argument("--section", action="append", default=[], help="search this section alone (repeatable)")
    search.add_argument("--type", action="append", default=[], help="search this content type alone (repeatable)")
    search.add_argument("--model", metavar="GGUF", type=Path, help="the model's file, where it is not in the cache")
    search.add_argument("--json", action="store_true", help="print a list of objects: a chunk's fields and score")

    verify = commands.add_parser("verify", help="check an artifact")
    verify.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=Path("build/kb"))

    model = commands.add_parser("model", help="show, choose or lock the embedding model")
    actions = model.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("show", help="say which model the build folder uses and what is locked")
    use = actions.add_parser("use", help="use this model from the next build on")
    use.add_argument("name", metavar="NAME")
    actions.add_parser("lock", help="accept the model's file as it is now into model.lock.json")
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
    """Runs one command. Returns the exit status: 0, 1 for what the user can mend, 2 for wrong usage."""
    for stream in (sys.stdout, sys.stderr):  # the same bytes under every locale
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    options = parser().parse_args(arguments)
    try:
        status = _run(options)
        sys.stdout.flush()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("ragpress: interrupted", file=sys.stderr)
        return 130
    return status


def _run(options: argparse.Namespace) -> int:
    from ragpress import commands

    run = {
        "init": commands.init,
        "chunk": commands.chunk,
        "search": commands.search,
        "verify": commands.verify,
        "model": commands.model,
    }
    return run[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
