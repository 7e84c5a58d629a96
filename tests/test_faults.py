"""What happens to builds: full and read-only disks, damaged files of every kind, models and sources that fail."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gguf_maker import write_nomic
from programs import lacking
from ragpress.artifact.read import verify_artifact
from ragpress.pipeline.chunk import read_source
from repository_maker import artifact_bytes, build, environment, failing, run, write_source
from tiny_builds import cached, clean_build, settings, start, text, tiny_model, tiny_repository, waited


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tiny_repository(tmp_path_factory.mktemp("faults") / "repo", 4)
    build(root)
    return root


@pytest.fixture
def repository(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "repo"))


def one_line(printed: str) -> str:
    """The only line of a failed build that tells an error."""
    lines = [line for line in printed.splitlines() if "error: " in line]
    assert len(lines) == 1, printed
    assert "; " in lines[0], "it must say what to do"
    return lines[0]


# -- disks -----------------------------------------------------------------------------------------------------------


@contextmanager
def mounted(target: Path, *options: str) -> Iterator[None]:
    """A file system at `target` for the time being. Skips the test where mounting is not allowed."""
    done = subprocess.run(["mount", *options, str(target)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lacking(f"mounting is not allowed here: {done.stderr}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(target)], check=True)


def stopped_by(root: Path, left: int) -> str:
    """What a build could not write with so many bytes left on the disk of its build folder; empty if it ended well."""
    free = os.statvfs(root / "build")
    ballast = root / "build" / "ballast"
    ballast.write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - left)))
    try:
        done = run(root, "doit")
    finally:
        ballast.unlink()
    printed = done.stdout + done.stderr
    assert "Traceback" not in printed, printed
    return one_line(printed).split("error: ")[1].split(" ")[0] if done.returncode else ""


def sweep(root: Path, step: int) -> list[str]:
    """Builds with ever more room until one ends well; until then the artifact is as it was. What stopped each."""
    before = artifact_bytes(root)
    places: list[str] = []
    while place := stopped_by(root, len(places) * step):
        places.append(place)
        assert artifact_bytes(root) == before
        verify_artifact(root / "build" / "kb")
    return places


def test_a_full_disk_stops_the_build_wherever_it_is_and_leaves_the_artifact(built: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(built, tmp_path / "repo", ignore=shutil.ignore_patterns("build")))
    (root / "build").mkdir()
    with mounted(root / "build", "-t", "tmpfs", "-o", "size=700k", "tmpfs"):
        shutil.copytree(built / "build", root / "build", dirs_exist_ok=True)
        for number in range(4, 10):
            write_source(root, f"{number}.md", text(number))
        places = sweep(root, 10_240)
        (root / "sources" / "3.md").unlink()
        places += sweep(root, 8_192)
        assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")
    assert {place.partition(".")[2] or place for place in places} >= {"md.jsonl", "md.json", "the", "kb/"}, places


WRITES = (
    ("doit", "accept"),
    ("doit", "report"),
    ("doit", "pack"),
    ("ragpress", "cache", "--prune"),
    ("ragpress", "seed", "build/kb"),
    ("ragpress", "model", "lock"),
    ("ragpress", "init", "."),
)


def test_each_command_that_meets_a_full_disk_says_so_in_one_line(built: Path, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    with mounted(root, "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
        shutil.copytree(built, root, dirs_exist_ok=True)
        (root / "build" / "cache" / "vectors.sqlite").write_bytes(b"")  # so that there is something to put in
        before = artifact_bytes(root)
        free = os.statvfs(root)
        (root / "ballast").write_bytes(bytes(free.f_bavail * free.f_frsize))
        for command in WRITES:
            done = run(root, *command)
            printed = done.stdout + done.stderr
            assert done.returncode != 0 and "Traceback" not in printed, (command, printed)
            assert "[disk]" in one_line(printed), command
        assert artifact_bytes(root) == before


def test_a_read_only_build_folder_is_one_line(repository: Path) -> None:
    with mounted(repository / "build", "--bind", str(repository / "build")):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(repository / "build")], check=True)
        before = artifact_bytes(repository)
        assert "build/ cannot be written; check the folder's rights" in failing(repository)
        write_source(repository, "1.md", text(9))
        assert "build/ cannot be written; check the folder's rights" in failing(repository)
        assert artifact_bytes(repository) == before


# -- damaged files of the build folder -------------------------------------------------------------------------------

STATE = (
    ".lock",
    "doit.sqlite",
    "model.json",
    "published",
    "merged/merged.json",
    "merged/chunks.jsonl",
    "merged/documents.jsonl",
    "chunks/1.md.jsonl",
    "documents/1.md.json",
    "cache/vectors.sqlite",
    "kb/index.json",
    "kb/chunks.idx",
    "kb/chunks.jsonl",
    "kb/documents.jsonl",
    "kb/index.usearch",
    "kb/words.idx",
)


def test_every_file_of_the_build_folder_is_damaged_below(built: Path) -> None:
    files = {path.relative_to(built / "build").as_posix() for path in (built / "build").rglob("*") if path.is_file()}
    assert {re.sub(r"\d\.md", "1.md", name) for name in files} == set(STATE)


@pytest.fixture(scope="module")
def earlier(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build folder of an earlier state of the repository: one source more, and another text."""
    root = Path(shutil.copytree(built, tmp_path_factory.mktemp("earlier") / "repo"))
    write_source(root, "1.md", text(1, mark=", прежний"))
    write_source(root, "9.md", text(9))
    build(root)
    return root / "build"


def damages(name: str, data: bytes, other: bytes, earlier: bytes) -> dict[str, bytes]:
    middle = len(data) // 2
    found = {"cut": data[:middle], "one bit": data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]}
    if "1.md" in name:
        found["another's"] = other
    elif len(data) < 1000:
        found["nonsense"] = b"\xff\x00{]" * 200
    return found | {"an earlier one": earlier}


@pytest.fixture(scope="module")
def without_a_source(built: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The artifact of the repository without its last source."""
    root = Path(shutil.copytree(built, tmp_path_factory.mktemp("without") / "repo"))
    (root / "sources" / "3.md").unlink()
    build(root)
    return artifact_bytes(root)


@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize("name", [name for name in STATE if name != ".lock"])  # that one is empty
def test_a_damaged_file_of_the_build_folder_is_mended(
    built: Path, repository: Path, without_a_source: dict[str, bytes], earlier: Path, name: str
) -> None:
    """Each damage together with a change that makes the file be read: a source that is gone."""
    path = repository / "build" / name
    (repository / "sources" / "3.md").unlink()
    other = path.with_name(path.name.replace("1.md", "2.md")).read_bytes()
    for what, data in damages(name, path.read_bytes(), other, (earlier / name).read_bytes()).items():
        shutil.rmtree(repository / "build")
        shutil.copytree(built / "build", repository / "build")
        path.write_bytes(data)
        printed = build(repository)
        assert "Traceback" not in printed, printed
        assert artifact_bytes(repository) == without_a_source, (what, printed)
    assert "nothing to do" in build(repository)


@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize("folder", ["chunks", "documents", "merged", "cache", "kb"])
def test_a_folder_of_an_earlier_build_is_brought_up_to_date(
    built: Path, repository: Path, earlier: Path, folder: str
) -> None:
    """As after a part of a backup was restored, with the times that the files had. Nothing else changed since."""
    shutil.rmtree(repository / "build" / folder)
    shutil.copytree(earlier / folder, repository / "build" / folder)
    build(repository)
    assert artifact_bytes(repository) == artifact_bytes(built)
    assert "nothing to do" in build(repository)


def test_damage_alone_is_noticed_too(repository: Path, built: Path) -> None:
    for name in STATE:
        (repository / "build" / name).write_bytes(b"nonsense")
    build(repository)
    assert artifact_bytes(repository) == artifact_bytes(built)
    assert "nothing to do" in build(repository)


def test_a_damaged_model_lock_is_one_line_and_nothing_is_touched(repository: Path, built: Path) -> None:
    lock = repository / "model.lock.json"
    good = lock.read_bytes()
    write_source(repository, "1.md", text(9))
    for data in (good[:-30], b"", b"[]", good.replace(b'"sha256"', b'"sha265"')):
        lock.write_bytes(data)
        assert "model.lock.json is damaged (" in one_line(failing(repository))
        assert lock.read_bytes() == data
    lock.write_bytes(good.replace(b'"sha256": "', b'"sha256": "0')[:-1].replace(b"0", b"1", 1))
    failing(repository)
    assert artifact_bytes(repository) == artifact_bytes(built)


def test_a_damaged_offline_model_in_the_cache_is_made_anew(repository: Path, tmp_path: Path) -> None:
    from ragpress.config import Config
    from ragpress.models.known import cache_folder, tokenizer_file

    good = tokenizer_file(Config(), tmp_path)
    assert good.parent == cache_folder()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / good.name).write_bytes(good.read_bytes()[:-5])
    (tmp_path / "cache" / "sha256.json").write_bytes(b"nonsense")
    (repository / "pyproject.toml").write_text('[tool.ragpress]\noffline_model = "multilingual-e5-small"\n')
    (repository / "build" / "model.json").unlink()
    shutil.rmtree(repository / "build" / "kb")
    for number in range(1, 4):
        (repository / "sources" / f"{number}.md").unlink()
    build(repository, RAGPRESS_CACHE=str(tmp_path / "cache"))
    assert (tmp_path / "cache" / good.name).read_bytes() == good.read_bytes()


def test_doit_state_that_another_program_holds_is_one_line(repository: Path) -> None:
    state = sqlite3.connect(repository / "build" / "doit.sqlite", isolation_level=None)
    state.execute("BEGIN EXCLUSIVE")
    try:
        assert "build/doit.sqlite is held by another program; close that, then build again" in failing(repository)
    finally:
        state.close()
    assert not (repository / "build" / "doit.sqlite.damaged").exists()
    assert "nothing to do" in build(repository)


# -- sources ---------------------------------------------------------------------------------------------------------

MISCHIEF = """
import os, time
import ragpress.readers.markdown as module

real = module.read_markdown

def read_markdown(data, source, config):
    if b" hang" in data:
        time.sleep(60)
    if b" pause" in data:
        time.sleep(2)
    if b" spin" in data:
        with open(os.environ["RAGPRESS_SPINS"], "w") as file:
            file.write(str(os.getpid()))
        while True:
            pass
    if b" eat" in data:
        return [bytearray(1 << 26) for _ in range(100)]
    return real(data, source, config)

module.read_markdown = read_markdown
"""


def misbehaving(root: Path) -> str:
    """PYTHONPATH for a build whose workers read Markdown by `MISCHIEF`."""
    (root / "site").mkdir()
    (root / "site" / "sitecustomize.py").write_text(MISCHIEF, encoding="utf-8")
    return os.pathsep.join([str(root / "site"), *filter(None, sys.path)])


def test_a_source_that_is_edited_after_it_was_read_is_read_again(tmp_path: Path) -> None:
    """Another one takes its time meanwhile, so that the small one's task is not done yet."""
    root = tiny_repository(tmp_path / "repo", 1)
    write_source(root, "other.md", text(1, mark=" pause"))
    process = start(root, PYTHONPATH=misbehaving(root))
    waited(lambda: (root / "build" / "documents" / "0.md.json").exists())
    assert not (root / "build" / "documents" / "other.md.json").exists()
    write_source(root, "0.md", text(2))
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == 0, printed
    build(root)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_a_source_that_is_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    """A long write sets the time when it begins: here two halves, of which the second leaves the time as it is."""
    path = tmp_path / "big.md"
    old, new = b"a" * 1000, b"b" * 1000
    path.write_bytes(old)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(read_source(path, "big.md")))
    with path.open("r+b", buffering=0) as file:
        file.write(new[:500])
        begun = path.stat()
        reader.start()
        time.sleep(0.1)
        file.write(new[500:])
        os.utime(path, ns=(begun.st_atime_ns, begun.st_mtime_ns))
    reader.join()
    assert found == [new]


def test_sources_that_hang_or_eat_memory_fail_alone_and_the_others_are_chunked(repository: Path) -> None:
    (repository / "pyproject.toml").write_text(settings("source_seconds = 2", "source_megabytes = 200"), "utf-8")
    write_source(repository, "hang.md", text(20, mark=" hang"))
    write_source(repository, "eat.md", text(21, mark=" eat"))
    write_source(repository, "new.md", text(22))
    before = artifact_bytes(repository)
    printed = failing(repository, PYTHONPATH=misbehaving(repository))
    errors = [line for line in printed.splitlines() if "error: " in line]
    assert [(line.split(": ")[0], line[-11:]) for line in sorted(errors)] == [
        ("sources/eat.md", "[too-large]"),
        ("sources/hang.md", " [too-slow]"),
    ]
    assert (repository / "build" / "chunks" / "new.md.jsonl").exists()
    assert artifact_bytes(repository) == before
    build(repository)


def test_a_worker_whose_build_was_killed_does_not_outlive_the_time_of_its_source(repository: Path) -> None:
    (repository / "pyproject.toml").write_text(settings("source_seconds = 1"), "utf-8")
    write_source(repository, "spin.md", text(20, mark=" spin"))
    process = start(repository, PYTHONPATH=misbehaving(repository), RAGPRESS_SPINS=str(repository / "spins"))
    spins = repository / "spins"
    waited(lambda: spins.exists() and spins.read_text() != "")
    worker = int(spins.read_text())
    process.kill()
    waited(lambda: not alive(worker))
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


def alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


# -- models ----------------------------------------------------------------------------------------------------------


def test_a_model_that_returns_no_numbers_is_refused_and_the_artifact_stays(repository: Path, tmp_path: Path) -> None:
    broken = write_nomic(tmp_path / tiny_model().name, broken=True)
    (repository / "pyproject.toml").write_text(settings(model=broken), "utf-8")
    (repository / "model.lock.json").unlink()
    before = artifact_bytes(repository)
    line = one_line(failing(repository))
    assert "a vector that is not finite for " in line
    assert artifact_bytes(repository) == before
    assert cached(repository) == 8


@pytest.mark.parametrize("damage", ["cut", "emptied", "no model"])
def test_a_damaged_model_file_is_one_line(repository: Path, tmp_path: Path, damage: str) -> None:
    data = tiny_model().read_bytes()
    bad = tmp_path / "bad.gguf"
    bad.write_bytes({"cut": data[: len(data) * 3 // 4], "emptied": b"", "no model": b"text" * 99}[damage])
    (repository / "pyproject.toml").write_text(settings(model=bad), "utf-8")
    (repository / "model.lock.json").unlink()
    before = artifact_bytes(repository)
    line = one_line(failing(repository))
    assert "bad.gguf" in line and "sources/" not in line, "no source is at fault"
    assert artifact_bytes(repository) == before


# -- places ----------------------------------------------------------------------------------------------------------


def test_a_repository_may_lie_anywhere_and_be_built_from_anywhere(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "مخزن محتوا с пробелом = %41 'и кавычкой'")
    done = subprocess.run(
        [sys.executable, "-m", "doit", "-f", str(root / "dodo.py")],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [root.name]
    assert "nothing to do" in build(root)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_linked_folders_are_built_like_others(built: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(built, tmp_path / "repo", ignore=shutil.ignore_patterns("build")))
    (tmp_path / "disk").mkdir()
    (root / "sources").rename(tmp_path / "texts")
    (root / "sources").symlink_to(tmp_path / "texts")
    (root / "build").symlink_to(tmp_path / "disk")
    build(root)
    assert artifact_bytes(root) == artifact_bytes(built)
    assert "nothing to do" in build(root)
    (tmp_path / "texts" / "3.md").unlink()
    build(root)
    assert (root / "build").is_symlink()
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")
