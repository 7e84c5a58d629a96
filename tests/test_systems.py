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
    # Without any lock of the system, filelock makes a file, and the one of an ended process is waited for a moment.
    waiting = "ragpress: another build of this folder is running; waiting for it\n"
    assert failing(there, "golden", **without).replace(waiting, "") == failing(here, "golden")
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


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("вопрос?.md", "Windows allows no '?' in a name"),
        ("2026: цены/a.md", "Windows allows no ':' in a name"),
        ("папка /a.md", "Windows allows no dot or space at the end of a name"),
        ("nul.md", "nul.md is the name of a device on Windows"),
    ],
)
def test_a_name_that_windows_does_not_take_is_a_warning(tmp_path: Path, name: str, reason: str) -> None:
    root = tiny_repository(tmp_path / "repo", 1)
    write_source(root, name, text(1))
    advice = "rename it, so that the repository can be cloned there [name]"
    assert f"sources/{name}: warning: {reason}; {advice}" in build(root)


def test_names_that_differ_by_case_alone_are_a_warning(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", 1)
    for number, name in enumerate(("Цены.md", "цены.md")):
        write_source(root, name, text(number))
    warning = "sources/цены.md: warning: Windows and macOS take Цены.md for the same file; rename one [name]"
    assert build(root).count(warning) == 1


def test_a_name_too_long_for_what_is_made_of_it_is_one_line(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", 1)
    write_source(root, "ж" * 108 + ".md", text(1))
    build(root)
    write_source(root, "ж" * 109 + ".md", text(2))
    assert "its name takes 221 bytes, where 220 are possible; shorten it [name]\n" in failing(root)


def test_texts_with_line_ends_of_windows_give_the_same_chunks_goldens_and_settings(tmp_path: Path) -> None:
    here, there = (tiny_repository(tmp_path / name) for name in ("here", "there"))
    questions = '{"question": "Текст номер 1?", "answer": "номер 1"}\n'
    for root in (here, there):
        (root / "golden").mkdir()
        (root / "golden" / "questions.jsonl").write_text(questions, encoding="utf-8")
        build(root)
        build(root, "accept")
    for path in (there / "pyproject.toml", *(there / "sources").iterdir(), *(there / "golden").iterdir()):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    build(there)
    build(there, "golden")
    build(there, "eval")
    ours, theirs = (artifact_bytes(root) for root in (here, there))
    assert theirs.keys() == ours.keys()
    assert [name for name in ours if theirs[name] != ours[name]] in ([], ["documents.jsonl", "index.json"])
    write_source(there, "1.md", text(7))
    build(there, "accept")
    assert b"\r" not in (there / "golden" / "1.md.txt").read_bytes()
