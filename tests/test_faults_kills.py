"""Builds that are killed, interrupted and started several at a time, each for real.

`RAGPRESS_KILLS=100` kills at so many moments.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from ragpress.artifact.read import verify_artifact
from ragpress.knowledge_base import KnowledgeBase
from repository_maker import artifact_bytes, build, make_repository, write_source
from tiny_builds import cached, clean_build, embedded, settings, start, text, tiny_repository, waited

KILLS = int(os.environ.get("RAGPRESS_KILLS", "20"))
STAGES = ("chunk", "merge", "embed", "index")

SLOWLY = """
import importlib.util, os, sys, time

class Finder:
    # Changes the module when it is imported, and imports nothing itself.
    def find_spec(self, name, path, target=None):
        if name != "ragpress.embedding.embedder":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def patched(module):
            execute(module)
            whole = module.Embedder.stream

            def stream(*arguments, **named):
                for each in whole(*arguments, **named):
                    time.sleep(0.06)
                    yield each

            module.Embedder.stream = stream
            assert module._SAVE_SECONDS > 1
            module._SAVE_SECONDS = float(os.environ.get("SAVE_SECONDS", module._SAVE_SECONDS))

        spec.loader.exec_module = patched
        return spec

sys.meta_path.insert(0, Finder())
"""
"""A model that takes its time, as a large one does: what it has made comes in one by one."""


class Edited(NamedTuple):
    """A repository that was built and then edited."""

    root: Path
    before: dict[str, bytes]  # the artifact that stands there
    after: dict[str, bytes]  # the artifact that a build must make
    texts: int  # that have no vector yet
    seconds: float  # that a build takes


def sections(mark: str) -> str:
    return "\n\n".join(f"## Раздел {part}\n\nСлово {mark} {part}." for part in range(8))


@pytest.fixture(scope="module")
def slowly(tmp_path_factory: pytest.TempPathFactory) -> str:
    """PYTHONPATH for builds with a slow model, of which SAVE_SECONDS tells how often its vectors are saved."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(SLOWLY, encoding="utf-8")
    return os.pathsep.join([str(folder), *filter(None, sys.path)])


@pytest.fixture(scope="module")
def edited(slowly: str, tmp_path_factory: pytest.TempPathFactory) -> Edited:
    folder = tmp_path_factory.mktemp("kills")
    sources = {f"{number}.md": text(number) for number in range(4)} | {"long.md": sections("один")}
    root = make_repository(folder / "repo", sources, settings())
    build(root)
    write_source(root, "long.md", sections("два"))
    (root / "sources" / "3.md").unlink()
    after = clean_build(root, folder / "clean")
    trial = Path(shutil.copytree(root, folder / "trial"))
    begin = time.monotonic()
    process = start(trial, PYTHONPATH=slowly)
    printed = process.communicate(timeout=120)[0]
    seconds = time.monotonic() - begin
    assert artifact_bytes(trial) == after
    return Edited(root, artifact_bytes(root), after, embedded(printed), seconds)


def reached(process: subprocess.Popen[str], stage: str) -> None:
    """Waits until a build says that it is at this stage."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == f"ragpress: {stage}":
            return
    pytest.fail(f"the build ended before it came to {stage}")


def saved(root: Path, known: int) -> None:
    """Waits until there are more vectors in the cache than the known ones."""
    waited(lambda: cached(root) > known)


def test_a_build_that_was_killed_at_any_moment_goes_on_where_it_was(
    edited: Edited, slowly: str, tmp_path: Path
) -> None:
    """Half of the moments are spread over the whole build, half lie just behind the beginning of a stage.

    Some builds begin from nothing. Some kills hit the main process alone, the others the whole group.
    """
    chance = random.Random(3)
    kept = dict.fromkeys((signal.SIGKILL, signal.SIGTERM), 0)
    ends: list[int] = []
    for number in range(KILLS):
        nothing = number % 5 == 4
        ignored = shutil.ignore_patterns("build") if nothing else None
        root = Path(shutil.copytree(edited.root, tmp_path / f"{number}", ignore=ignored))
        known = cached(root)
        process = start(root, PYTHONPATH=slowly, SAVE_SECONDS="0.02")
        if number % 2:
            stage = STAGES[number // 2 % 4]
            reached(process, stage)
            if stage == "embed":
                saved(root, known)
            time.sleep(chance.random() * 0.15)
        else:
            time.sleep((number + chance.random()) / KILLS * edited.seconds)
        kind = signal.SIGTERM if number % 3 == 1 else signal.SIGKILL
        if number % 4 == 3:
            process.send_signal(kind)
        else:
            os.killpg(process.pid, kind)
        printed = process.communicate(timeout=60)[0]
        ends.append(process.returncode)
        assert "Traceback" not in printed, printed
        if (root / "build" / "kb").exists() or not nothing:
            verify_artifact(root / "build" / "kb")
            assert artifact_bytes(root) in ([edited.after] if nothing else [edited.before, edited.after])
        done = cached(root) - known
        kept[kind] += 0 < done < edited.texts
        wanted = len(edited.after["chunks.jsonl"].splitlines()) if nothing else edited.texts
        assert embedded(build(root)) == wanted - done
        assert artifact_bytes(root) == edited.after
        assert not list((root / "build").glob("kb.*"))
    print(
        f"{KILLS} kills of a build of {edited.seconds:.1f} s: {sum(map(bool, ends))} in time, {kept} in the embedding"
    )
    assert sum(map(bool, ends)) > KILLS / 2
    assert KILLS < 20 or all(kept.values()), kept


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_at_once_and_keeps_what_was_embedded(
    edited: Edited, slowly: str, tmp_path: Path, number: signal.Signals
) -> None:
    """The interruption alone saves it here: a build saves every two seconds, and this one has not come so far."""
    for wait in (0.4, 0.8, 1.6):  # until the model is loaded, which takes what it takes
        root = Path(shutil.copytree(edited.root, tmp_path / f"{wait}"))
        known = cached(root)
        process = start(root, PYTHONPATH=slowly)
        reached(process, "embed")
        time.sleep(wait)
        os.killpg(process.pid, number)
        begin = time.monotonic()
        printed = process.communicate(timeout=60)[0]
        assert time.monotonic() - begin < 3
        assert "Traceback" not in printed, printed
        if (done := cached(root) - known) or process.returncode == 0:
            break
    assert process.returncode != 0
    assert 0 < done < edited.texts
    assert embedded(build(root)) == edited.texts - done


def test_several_builds_with_edits_in_between_end_as_a_clean_one(tmp_path: Path) -> None:
    """A reader that opened the artifact before goes on answering from it."""
    root = tiny_repository(tmp_path / "repo", 4)
    build(root)
    old = artifact_bytes(root)
    with KnowledgeBase.open(root / "build" / "kb") as base:
        question = [1.0] * base.manifest.model.dimensions
        answers = base.search_vector(question, 8)
        builds = []
        for number in range(3):
            write_source(root, f"{number}.md", text(number, mark=", новый"))
            write_source(root, f"new-{number}.md", text(20 + number))
            builds.append(start(root))
            time.sleep(0.2)
        printed = [process.communicate(timeout=120)[0] for process in builds]
        assert all("Traceback" not in each for each in printed), printed
        assert [process.returncode for process in builds] == [0] * 3, printed
        build(root)
        assert artifact_bytes(root) == clean_build(root, tmp_path / "clean") != old
        assert base.search_vector(question, 8) == answers
