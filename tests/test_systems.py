"""Other systems than Linux: a build, its reader and its review without all that only Linux has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repository_maker import artifact_bytes, build, failing, run, write_source
from tiny_builds import text, tiny_repository

TAKEN_AWAY = """
import ctypes, mmap, os, shutil, signal, sys

for name in ("fcntl", "resource", "pwd", "grp"):
    sys.modules[name] = None
for name in ("sched_getaffinity", "sched_setaffinity", "killpg", "getuid", "geteuid", "getpgid", "setsid", "fork"):
    delattr(os, name)
for name in ("pthread_sigmask", "SIG_BLOCK", "SIG_SETMASK", "alarm", "setitimer"):
    delattr(signal, name)
del mmap.MADV_DONTNEED

real_open, real_library = os.open, ctypes.CDLL

def open_no_folder(path, flags, *arguments, **named):
    if isinstance(path, (str, bytes, os.PathLike)) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return real_open(path, flags, *arguments, **named)

class Library(real_library):
    def __init__(self, name, *arguments, **named):
        if name is None:
            raise TypeError("bad argument type for built-in operation")
        super().__init__(name, *arguments, **named)

os.open, ctypes.CDLL = open_no_folder, Library
shutil._use_fd_functions = False
"""
"""As Windows has it, in every process: the workers are started with the same variables."""


@pytest.fixture
def without(tmp_path: Path) -> dict[str, str]:
    """Variables of a process from which it is taken away."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(TAKEN_AWAY, encoding="utf-8")
    # Windows has a lock of its own, which filelock takes there; what it has here instead, it warns of.
    return {
        "PYTHONWARNINGS": "ignore",
        "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }


def test_what_is_taken_away_is_gone(tmp_path: Path, without: dict[str, str]) -> None:
    code = "import os\ntry:\n    import fcntl\nexcept ImportError:\n    print(hasattr(os, 'killpg'))\n"
    (tmp_path / "shown.py").write_text(code, encoding="utf-8")
    assert run(tmp_path, "shown", **without).stdout == "False\n"


def test_a_build_its_edit_and_its_review_give_the_same_bytes_without_what_only_linux_has(
    tmp_path: Path, without: dict[str, str]
) -> None:
    here, there = (tiny_repository(tmp_path / name) for name in ("here", "there"))
    usual: dict[str, str] = {}
    for root, extra in ((here, usual), (there, without)):
        build(root, **extra)
        build(root, "accept", **extra)
        write_source(root, "1.md", text(1, mark=", другой"))
        (root / "sources" / "2.md").unlink()
        build(root, **extra)
    assert artifact_bytes(there) == artifact_bytes(here)
    assert "nothing to do" in build(there, **without)
    assert failing(there, "golden", **without) == failing(here, "golden")
    assert "build/kb: sound" in run(there, "ragpress", "verify", "build/kb", **without).stderr
    for mode in ("words", "hybrid"):
        shown = run(here, "ragpress", "search", "другой", "--mode", mode).stdout
        assert "Текст номер 1, другой" in shown
        assert run(there, "ragpress", "search", "другой", "--mode", mode, **without).stdout == shown


def test_sources_that_misbehave_fail_alone_without_limits_of_the_system(
    tmp_path: Path, without: dict[str, str]
) -> None:
    root = tiny_repository(tmp_path / "repo")
    (root / "sources" / "broken.docx").write_bytes(b"PK\x03\x04 no archive")
    assert "broken.docx: error: " in failing(root, **without)
    assert (root / "build" / "chunks" / "1.md.jsonl").exists()


@pytest.mark.parametrize("encoding", ["ascii", "cp1251", "cp1256"])
def test_a_console_of_another_encoding_costs_no_letter_and_no_build(tmp_path: Path, encoding: str) -> None:
    root = tiny_repository(tmp_path / "repo")
    write_source(root, "راهنما ёлка.md", "# Ёлка\n\n## Пусто\n\n## راهنما\n\nمتن.\n")
    other = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    assert "راهنما ёлка.md:L3: warning: there is no text under «Пусто»" in build(root, **other)
    assert "متن." in failing(root, "golden", **other)
    assert "متن." in run(root, "ragpress", "search", "متن", "--mode", "words", **other).stdout
