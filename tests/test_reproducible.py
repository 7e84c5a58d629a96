"""The same sources, settings and model give the same bytes, whatever else differs."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ragpress.artifact.format import read_manifest
from ragpress.embedding.llama import engine
from repository_maker import artifact_bytes, build, environment, make_repository, write_source
from tiny_builds import cached, clean_build, embedded, settings, text, tiny_repository

SAMPLES = Path(__file__).resolve().parent.parent / "sources"
CHOSEN = (
    "bimeh/form.docx",
    "bimeh/omr.docx",
    "bimeh/taarefe.xlsx",
    "bimeh/سوالات متداول.xlsx",
    "klinika/pamyatka.txt",
    "klinika/prajs.csv",
    "klinika/wiki.md",
)


def fill(root: Path, names: tuple[str, ...]) -> Path:
    """A repository of these sample sources, made in this order."""
    make_repository(root, {}, settings())
    for name in names:
        (root / "sources" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SAMPLES / name, root / "sources" / name)
    return root


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = fill(tmp_path_factory.mktemp("reproducible") / "repo", CHOSEN)
    build(root)
    return root


@pytest.fixture
def repository(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "repo"))


# -- from scratch, elsewhere -----------------------------------------------------------------------------------------


def turkish(folder: Path) -> dict[str, str]:
    """The variables of a Turkish locale, in which `i` is no lower case of `I`; made where the system has none."""
    if shutil.which("localedef"):
        subprocess.run(
            ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(folder / "tr_TR.UTF-8")], capture_output=True, check=False
        )
    return {"LC_ALL": "tr_TR.UTF-8", "LOCPATH": str(folder)}


def on_one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def with_another_umask() -> None:
    os.umask(0o077)


@pytest.mark.parametrize(
    ("folder", "extra", "before"),
    [
        ("другая папка/پوشه", {"LC_ALL": "C", "TZ": "Asia/Tehran", "PYTHONHASHSEED": "1"}, on_one_core),
        ("b", {"TZ": "Pacific/Chatham", "PYTHONHASHSEED": "4242", "PYTHONUTF8": "0"}, with_another_umask),
    ],
    ids=["another locale, one core", "Turkish, another user's rights"],
)
def test_the_bytes_depend_on_nothing_but_the_input(
    built: Path, tmp_path: Path, folder: str, extra: dict[str, str], before: Callable[[], None]
) -> None:
    """Also the files are made in another order, in which the system lists them."""
    root = fill(tmp_path / folder, CHOSEN[::-1])
    extra = {**turkish(tmp_path), "HOME": str(tmp_path), **extra}
    done = subprocess.run(
        [sys.executable, "-m", "doit"], cwd=root, env=environment(**extra), capture_output=True, preexec_fn=before
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    assert artifact_bytes(root) == artifact_bytes(built)


# -- step by step ----------------------------------------------------------------------------------------------------


def changed(root: Path, chance: random.Random) -> None:
    """One edit, addition, deletion, renaming or exchange of two names."""
    sources = sorted(path for path in (root / "sources").rglob("*") if path.is_file())
    path = chance.choice(sources)
    what = chance.randrange(5)
    if what == 0 and path.suffix in {".md", ".txt"}:
        path.write_text(path.read_text("utf-8") + f"\n\nДобавлено {chance.random()}.\n", "utf-8")
    elif what == 1:
        write_source(root, f"новое/{chance.randrange(99)}.md", text(chance.randrange(99)))
    elif what == 2 and len(sources) > 3:
        path.unlink()
    elif what == 3:
        path.rename(path.with_name(f"{chance.randrange(99)}-{path.name}"))
    else:
        other = chance.choice([each for each in sources if each.suffix == path.suffix])
        path.rename(root / "aside")
        if other != path:
            other.rename(path)
        (root / "aside").rename(other)


@pytest.mark.usefixtures("one_core")
def test_changes_in_any_order_and_back_end_with_the_same_bytes(built: Path, repository: Path, tmp_path: Path) -> None:
    chance = random.Random(20)
    for _ in range(3):
        for _ in range(5):
            changed(repository, chance)
        build(repository)
    assert artifact_bytes(repository) == clean_build(repository, tmp_path / "clean")
    assert artifact_bytes(repository) != artifact_bytes(built)
    for path in sorted((repository / "sources").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    for name in chance.sample(CHOSEN, len(CHOSEN)):
        (repository / "sources" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built / "sources" / name, repository / "sources" / name)
    assert embedded(build(repository)) == 0
    assert artifact_bytes(repository) == artifact_bytes(built)


@pytest.mark.usefixtures("one_core")
def test_a_change_that_keeps_time_and_size_is_noticed(tmp_path: Path) -> None:
    """As of files that were unpacked from an archive, which all have the same time."""
    root = tiny_repository(tmp_path / "repo")
    for path in (root / "sources").iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000))
    build(root)
    one, two = root / "sources" / "1.md", root / "sources" / "2.md"
    one.rename(root / "aside")
    two.rename(one)
    (root / "aside").rename(two)
    (root / "sources" / "0.md").write_text(text(5), "utf-8")
    os.utime(root / "sources" / "0.md", (1_000_000_000, 1_000_000_000))
    build(root)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


# -- other engines ---------------------------------------------------------------------------------------------------


def made_elsewhere(root: Path, count: int) -> None:
    """As if so many of the cached vectors came from another machine; their last bits differ, too."""
    import numpy as np

    from ragpress.vectors.cache import VectorCache

    with VectorCache(root / "build" / "cache" / "vectors.sqlite", print) as cache:
        rows = cache._file.database.execute("SELECT key, vector FROM vectors ORDER BY id LIMIT ?", (count,)).fetchall()
        vectors = [(key, np.frombuffer(data, "<f2") * np.float16(1.0005)) for key, data in rows]
        cache.put_many(vectors, "llama.cpp of another machine")


def test_vectors_of_another_engine_are_reused_and_the_artifact_says_so(repository: Path) -> None:
    before = cached(repository)
    made_elsewhere(repository, 3)
    shutil.rmtree(repository / "build" / "kb")
    assert embedded(build(repository)) == 0
    assert cached(repository) == before
    assert read_manifest(repository / "build" / "kb").engines == tuple(
        sorted([engine(), "llama.cpp of another machine"])
    )


@pytest.mark.usefixtures("one_core")
def test_reproducible_makes_the_vectors_of_another_engine_again(built: Path, repository: Path) -> None:
    made_elsewhere(repository, 3)
    shutil.rmtree(repository / "build" / "kb")
    build(repository)
    assert artifact_bytes(repository) != artifact_bytes(built)
    (repository / "pyproject.toml").write_text(settings("reproducible = true"), encoding="utf-8")
    assert embedded(build(repository)) == 3
    assert artifact_bytes(repository) == artifact_bytes(built)
    assert "nothing to do" in build(repository)


@pytest.mark.usefixtures("one_core")
def test_reproducible_notices_an_artifact_that_another_machine_built(built: Path, tmp_path: Path) -> None:
    """Its build folder was restored here, with all that says that there is nothing to do."""
    root = Path(shutil.copytree(built, tmp_path / "repo"))
    (root / "pyproject.toml").write_text(settings("reproducible = true"), encoding="utf-8")
    build(root)
    made_elsewhere(root, 2)
    (root / "build" / "published").write_text("0" * 64)  # as it is where it was another engine's
    assert embedded(build(root)) == 2
    assert artifact_bytes(root) == artifact_bytes(built)


@pytest.mark.usefixtures("one_core")
def test_the_cache_file_of_another_build_can_be_put_in(repository: Path, built: Path, tmp_path: Path) -> None:
    """The vectors are found by text and model: a cache that was restored serves any sources."""
    root = fill(tmp_path / "other", CHOSEN[2:])
    write_source(root, "new.md", text(1))
    (root / "build" / "cache").mkdir(parents=True)
    shutil.copyfile(built / "build" / "cache" / "vectors.sqlite", root / "build" / "cache" / "vectors.sqlite")
    assert embedded(build(root)) == 2
    with sqlite3.connect(root / "build" / "cache" / "vectors.sqlite") as cache:
        (count,) = cache.execute("SELECT count(*) FROM vectors").fetchone()
    cache.close()
    assert count == cached(built) + 2
