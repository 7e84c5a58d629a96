"""A build folder that another user made: a build works, or says in one line what it may not do.

Root may do everything, so a process here gives its capabilities up: then the rights of files count for it as for
anyone, and the files of user 65534 are another user's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from programs import lacking
from ragpress.artifact.read import verify_artifact
from repository_maker import artifact_bytes, build, environment, make_repository, write_source
from tiny_builds import clean_build, settings, text, tiny_model, tiny_repository

OTHER = 65534
WITHOUT_RIGHTS = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--")
FORBIDDEN = "Permission denied"


@pytest.fixture(scope="module", autouse=True)
def root_alone() -> None:
    """Skips where files cannot be given to another user, which nobody but root can."""
    if os.getuid() != 0:
        lacking("needs root, to give files to another user")
    if shutil.which("setpriv") is None or subprocess.run([*WITHOUT_RIGHTS, "true"], check=False).returncode != 0:
        lacking("setpriv cannot give up capabilities here")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tiny_repository(tmp_path_factory.mktemp("users") / "repo")
    build(root)
    return root


@pytest.fixture(scope="module")
def edited(built: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The artifact after the edit that each test makes."""
    root = Path(shutil.copytree(built, tmp_path_factory.mktemp("edited") / "repo"))
    write_source(root, "1.md", text(9))
    return clean_build(root, root.parent / "clean")


def given_away(paths: Iterable[Path], folder: int = 0o700, file: int = 0o600) -> None:
    for path in paths:
        path.chmod(folder if path.is_dir() else file)
        os.chown(path, OTHER, OTHER)


def with_another_umask() -> None:
    os.umask(0o077)


def run(root: Path, *command: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """A module of Python's without the rights of root, with another umask and no home."""
    done = subprocess.run(
        [*WITHOUT_RIGHTS, sys.executable, "-m", *command],
        cwd=root,
        env=environment(**{"HOME": "/nonexistent", **extra}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        preexec_fn=with_another_umask,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def only_error(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if "error: " in line]
    assert done.returncode != 0 and len(lines) == 1, done.stderr
    assert "; " in lines[0], "it must say what to do"
    return lines[0]


REFUSED = {
    "build": "build/ cannot be written; check",
    "build/.lock": "build/ cannot be written: Permission denied; check",
    "build/doit.sqlite": "build/doit.sqlite cannot be written; check",
    "build/chunks": ".jsonl cannot be written: Permission denied; make",
    "build/documents": ".json cannot be written: Permission denied; make",
    "build/cache": "the vector cache vectors.sqlite: it cannot be opened; check",
    "build/cache/vectors.sqlite": "the vector cache vectors.sqlite: it cannot be opened; check",
    "sources/1.md": "sources/1.md: error: it cannot be read: Permission denied; check",
}
"""What a build without the right to use one file or folder says."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_not_be_used_is_named_and_the_artifact_stays(built: Path, tmp_path: Path, name: str) -> None:
    root = Path(shutil.copytree(built, tmp_path / "repo"))
    write_source(root, "1.md", text(9))
    before = artifact_bytes(root)
    given_away([root / name])
    assert REFUSED[name] in only_error(run(root, "doit"))
    assert artifact_bytes(root) == before


def test_files_that_may_not_be_read_are_made_anew_where_the_folders_allow_it(
    built: Path, tmp_path: Path, edited: dict[str, bytes]
) -> None:
    """The folders are one's own, as where a group shares them: all that another user wrote into them is replaced."""
    root = Path(shutil.copytree(built, tmp_path / "repo"))
    write_source(root, "1.md", text(9))
    state = (root / "build" / "doit.sqlite", root / "build" / ".lock", root / "build" / "cache" / "vectors.sqlite")
    given_away(path for path in (root / "build").rglob("*") if path.is_file() and path not in state)
    done = run(root, "doit")
    assert done.returncode == 0, done.stderr
    assert artifact_bytes(root) == edited
    assert "nothing to do" in run(root, "doit").stderr


def test_another_user_s_build_folder_can_be_read_but_not_built(built: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(built, tmp_path / "repo"))
    given_away([root / "build", *(root / "build").rglob("*")], 0o755, 0o644)
    before = artifact_bytes(root)
    assert "build/kb: sound" in run(root, "ragpress", "verify", "build/kb").stderr
    found = run(root, "ragpress", "search", "Текст", "--model", str(tiny_model()))
    assert found.returncode == 0 and "Текст номер" in found.stdout
    for command in (["doit"], ["doit", "pack"], ["ragpress", "cache", "--prune"]):
        assert "build/ cannot be written" in only_error(run(root, *command))
    assert artifact_bytes(root) == before


def test_an_artifact_that_may_not_be_read_is_one_line(built: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(built, tmp_path / "repo"))
    given_away([root / "build"])
    assert f"kb/index.json cannot be read: {FORBIDDEN}; " in only_error(run(root, "ragpress", "verify", "build/kb"))


def test_a_build_begun_by_one_user_and_ended_by_another_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    """From scratch in a folder of one's own, in a repository that is another user's and may only be read."""
    root = Path(shutil.copytree(built, tmp_path / "repo", ignore=shutil.ignore_patterns("build")))
    (root / "build").mkdir()
    given_away([path for path in root.rglob("*") if path != root / "build"], 0o755, 0o644)
    done = run(root, "doit")
    assert done.returncode == 0, done.stderr
    assert artifact_bytes(root) == artifact_bytes(built)
    verify_artifact(root / "build" / "kb")
    assert (root / "build" / "kb" / "index.json").stat().st_mode & 0o077 == 0, "the umask counts"


def test_a_home_that_may_not_be_entered_is_one_line(tmp_path: Path) -> None:
    """As in a container that runs under a number and keeps root's HOME."""
    (tmp_path / "home").mkdir()
    given_away([tmp_path / "home"])
    root = make_repository(tmp_path / "repo", {"1.md": text(1)})
    done = run(root, "doit", HOME=str(tmp_path / "home"), RAGPRESS_CACHE="", XDG_CACHE_HOME="")
    assert "the offline model cannot be made in ragpress/: Permission denied; " in only_error(done)


def test_a_model_that_may_not_be_read_is_one_line(built: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(built, tmp_path / "repo"))
    model = Path(shutil.copyfile(tiny_model(), tmp_path / tiny_model().name))
    (root / "pyproject.toml").write_text(settings(model=model), encoding="utf-8")
    given_away([model])
    assert f"llama.cpp cannot load {model.name}: " in only_error(run(root, "doit"))


@pytest.mark.parametrize("folder", ["kb", "merged"])
def test_a_folder_of_another_user_is_replaced_and_what_is_left_of_it_is_named(
    built: Path, tmp_path: Path, edited: dict[str, bytes], folder: str
) -> None:
    root = Path(shutil.copytree(built, tmp_path / "repo"))
    write_source(root, "1.md", text(9))
    given_away([root / "build" / folder])
    assert run(root, "doit").returncode == 0
    assert artifact_bytes(root) == edited
    write_source(root, "2.md", text(10))
    assert f"{folder}.new/, left over from an earlier build, cannot be removed" in only_error(run(root, "doit"))
    assert artifact_bytes(root) == edited
    shutil.rmtree(root / "build" / f"{folder}.new")
    assert run(root, "doit").returncode == 0
