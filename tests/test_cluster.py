"""The same build on a Dask cluster of two worker processes: the same bytes, and what happens when a part fails."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from artifact_maker import many_chunks, unit_vectors, write_chunks
from cluster_maker import SLOW, Running, cluster
from ragpress.config import Config
from ragpress.pipeline.cluster import Cluster
from ragpress.pipeline.packs import PackedPool
from ragpress.pipeline.results import Compiled, Failure, Job
from ragpress.repository import Repository
from repository_maker import artifact_bytes, build, failing, make_repository
from test_faults import mounted
from test_worker import GOOD, MISCHIEF
from tiny_builds import cached, clean_build, embedded, settings, start, text, tiny_model, tiny_repository, waited

COUNT = 30


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Running]:
    with cluster(tmp_path / "cluster", code=SLOW, SLOW="0.2") as started:
        yield started


def finish(process: subprocess.Popen[str]) -> str:
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == 0, printed
    return printed


def errors(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if "error: " in line]


def test_a_build_gives_the_local_bytes(running: Running, tmp_path: Path) -> None:
    sources = {f"{number}.md": text(number) for number in range(COUNT)}
    sources["table.csv"] = "имя,цена\n" + "".join(f"услуга {number},{number}00\n" for number in range(200))
    root = make_repository(tmp_path / "repo", sources, settings())
    printed = build(root, RAGPRESS_CLUSTER=running.address)
    assert "2 workers on" in printed
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")
    assert "nothing to do" in build(root, RAGPRESS_CLUSTER="tcp://127.0.0.1:9")


def test_the_variable_wins_over_the_setting_and_an_empty_one_means_this_machine(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", 2, 'cluster = "tcp://127.0.0.1:9"')
    assert "no scheduler answers at tcp://127.0.0.1:9" in failing(root)
    build(root, RAGPRESS_CLUSTER="")


def test_index_files_are_the_same_from_workers(running: Running, tmp_path: Path) -> None:
    chunks, vectors = many_chunks(300), unit_vectors(300)
    write_chunks(tmp_path / "here", chunks, vectors, limit=100)
    workers = Cluster(running.address, print)
    try:
        write_chunks(tmp_path / "there", chunks, vectors, limit=100, executor=workers)
    finally:
        workers.shutdown()
    assert [path.read_bytes() for path in sorted((tmp_path / "here").iterdir())] == [
        path.read_bytes() for path in sorted((tmp_path / "there").iterdir())
    ]


def test_sources_that_misbehave_on_a_worker_fail_alone_and_by_name(tmp_path: Path) -> None:
    names = ("hang.md", "good.md", "die.md", "eat.md", "fault.md")
    repository = Repository(tmp_path, Config(source_seconds=4, source_megabytes=300, model_path=str(tiny_model())))
    with cluster(tmp_path / "cluster", code=MISCHIEF) as running:
        workers = Cluster(running.address, print)
        with PackedPool(repository, workers, print) as pool, ThreadPoolExecutor(len(names)) as threads:
            jobs = [
                Job(source=name, sha256="0" * 64, data=f"{GOOD}\n{name}\n".encode(), config=repository.config)
                for name in names
            ]
            found = dict(zip(names, threads.map(pool.compile, jobs), strict=True))
        workers.shutdown()
        assert all(Path(f"/proc/{worker}").exists() for worker in running.workers)
    assert {name: outcome.code for name, outcome in found.items() if isinstance(outcome, Failure)} == {
        "hang.md": "too-slow",
        "die.md": "too-large",
        "eat.md": "too-large",
        "fault.md": "internal",
    }
    assert isinstance(found["good.md"], Compiled)


# -- faults ----------------------------------------------------------------------------------------------------------


def test_a_build_goes_on_when_workers_are_killed(slow: Running, tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", COUNT)
    process = start(root, RAGPRESS_CLUSTER=slow.address)
    waited(lambda: (root / "build" / "chunks").is_dir())
    slow.kill_worker(0)
    waited(lambda: cached(root) > 0)
    slow.kill_worker(1)
    assert errors(finish(process)) == []
    assert cached(root) == 2 * COUNT
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


@pytest.mark.parametrize("stage", ["chunk", "embed"])
def test_a_build_whose_scheduler_is_gone_says_so_and_the_next_goes_on(stage: str, tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", COUNT)
    with cluster(tmp_path / "cluster", code=SLOW, SLOW="0.2") as slow:
        process = start(root, RAGPRESS_CLUSTER=slow.address)
        waited(lambda: done(root, stage) > 0)
        slow.kill()
        printed = process.communicate(timeout=60)[0]
    assert process.returncode != 0, printed
    (line,) = errors(printed)
    assert f"the cluster at {slow.address} is gone; what is done is kept" in line
    kept = done(root, stage)
    assert 0 < kept < (COUNT if stage == "chunk" else 2 * COUNT)
    with cluster(tmp_path / "other") as running:
        printed = build(root, RAGPRESS_CLUSTER=running.address)
    assert embedded(printed) == 2 * COUNT - (kept if stage == "embed" else 0)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def done(root: Path, stage: str) -> int:
    """Results in the build folder."""
    return cached(root) if stage == "embed" else len(list((root / "build" / "documents").glob("*.json")))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("stage", ["chunk", "embed"])
def test_a_build_that_was_stopped_goes_on_on_the_same_cluster(
    slow: Running, stage: str, number: signal.Signals, tmp_path: Path
) -> None:
    root = tiny_repository(tmp_path / "repo", COUNT)
    process = start(root, RAGPRESS_CLUSTER=slow.address)
    waited(lambda: done(root, stage) > 0)
    process.send_signal(number)
    printed = process.communicate(timeout=30)[0]
    assert errors(printed) == [] and "Traceback" not in printed, printed
    kept = done(root, stage)
    printed = build(root, RAGPRESS_CLUSTER=slow.address)
    assert embedded(printed) == 2 * COUNT - (kept if stage == "embed" else 0)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_workers_that_lack_the_model_are_sent_it_once(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", COUNT)
    with cluster(tmp_path / "cluster", RAGPRESS_CACHE=str(tmp_path / "cache")) as running:
        printed = build(root, RAGPRESS_CLUSTER=running.address)
        assert printed.count("ragpress: sending tiny-0.gguf") == 1
        assert [path.name for path in (tmp_path / "cache" / "sent").glob("*/*")] == ["tiny-0.gguf"]
        assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")
        again = tiny_repository(tmp_path / "again", COUNT)
        assert "sending" not in build(again, RAGPRESS_CLUSTER=running.address)


def test_a_worker_whose_disk_is_full_is_named_and_the_build_goes_on_when_there_is_room(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", 3)
    disk = tmp_path / "disk"
    disk.mkdir()
    with (
        mounted(disk, "-t", "tmpfs", "-o", "size=64k", "tmpfs"),
        cluster(tmp_path / "cluster", RAGPRESS_CACHE=str(disk)) as running,
    ):
        (line,) = errors(failing(root, RAGPRESS_CLUSTER=running.address))
        assert "the worker tcp://" in line and "No space left" in line and "[disk]" in line
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        build(root, RAGPRESS_CLUSTER=running.address)
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_a_worker_of_another_version_is_named_and_does_nothing(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo", 3)
    with cluster(tmp_path / "cluster", code='import ragpress; ragpress.__version__ = "0.0.9"') as running:
        (line,) = errors(failing(root, RAGPRESS_CLUSTER=running.address))
    assert "the worker tcp://" in line and "has ragpress 0.0.9" in line and "install the same there" in line
    assert done(root, "chunk") == 0
