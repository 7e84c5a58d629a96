"""Warm starts from a published artifact, and the vector cache between builds."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import msgspec
import numpy as np
import pytest

from artifact_maker import MODEL, sample_chunks, unit_vectors, write_chunks
from ragpress.artifact.format import read_manifest
from ragpress.config import Config
from ragpress.embedding.llama import engine
from ragpress.errors import ArtifactError, BuildError
from ragpress.files import file_sha256
from ragpress.models.known import KNOWN, locked_file
from ragpress.models.lock import Locked, read_lock, write_lock
from ragpress.pipeline import publish
from ragpress.pipeline.seed import SeedSetting, seed_cache
from ragpress.repository import Repository, open_repository
from ragpress.vectors.cache import VectorCache
from ragpress.vectors.digests import vector_keys
from repository_maker import artifact_bytes, build, failing, make_repository, write_source
from tiny_builds import NAME, cached, clean_build, command, embedded, settings, text, tiny_model, tiny_repository

pytestmark = pytest.mark.usefixtures("one_core")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that has been built and packed."""
    root = tiny_repository(tmp_path_factory.mktemp("published") / "repo")
    build(root, "pack")
    return root


@pytest.fixture
def seed(published: Path) -> Path:
    """The archive of the artifact."""
    (archive,) = (published / "build").glob("*.tar.zst")
    return archive


def clone(published: Path, target: Path, *lines: str) -> Path:
    """The repository as git has it: without its build folder. `lines` are added to the settings."""
    shutil.copytree(published, target, ignore=shutil.ignore_patterns("build"))
    (target / "pyproject.toml").write_text(settings(*lines), encoding="utf-8")
    return target


# -- builds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_a_fresh_clone_with_a_seed_embeds_nothing_and_gives_the_same_bytes(
    published: Path, seed: Path, tmp_path: Path, kind: str
) -> None:
    seed = published / "build" / "kb" if kind == "folder" else seed
    root = clone(published, tmp_path / "clone", f'seed = "{seed}"')
    printed = build(root)
    assert "ragpress: embedding" not in printed
    assert f"ragpress: 6 vectors taken from {seed}, which holds 6 chunks" in printed
    assert artifact_bytes(root) == artifact_bytes(published)
    assert sorted(path.name for path in (root / "build").iterdir()) == sorted(
        path.name for path in (published / "build").iterdir() if path.suffix != ".zst"
    )


def test_only_what_changed_since_the_seed_is_embedded(published: Path, seed: Path, tmp_path: Path) -> None:
    root = clone(published, tmp_path / "clone", f'seed = "{seed}"')
    write_source(root, "1.md", text(1, mark=", изменённый"))
    write_source(root, "new.md", text(9))
    (root / "sources" / "2.md").unlink()
    assert embedded(build(root)) == 3
    assert artifact_bytes(root) == clean_build(root, tmp_path / "clean")


def test_the_seed_is_read_once_and_again_after_its_vectors_were_dropped(
    published: Path, seed: Path, tmp_path: Path
) -> None:
    root = clone(published, tmp_path / "clone", f'seed = "{seed}"')
    write_source(root, "new.md", text(7))
    assert "vectors taken" in build(root)
    write_source(root, "new.md", text(8))
    assert "vectors taken" not in build(root)
    (root / "sources" / "1.md").unlink()
    build(root)
    assert command(root, "cache", "--prune").startswith("4 vectors dropped; ")
    write_source(root, "1.md", text(1))
    printed = build(root)
    assert "ragpress: 2 vectors taken" in printed
    assert "ragpress: embedding" not in printed


@pytest.mark.parametrize("damage", ["missing", "a bit of the archive", "a bit of a file", "cut"])
def test_a_seed_that_is_missing_or_damaged_is_told_in_one_line_and_the_build_goes_on(
    published: Path, seed: Path, tmp_path: Path, damage: str
) -> None:
    root = clone(published, tmp_path / "clone", 'seed = "seed"')
    there = root / "seed"
    if damage == "a bit of a file":
        shutil.copytree(published / "build" / "kb", there)
        there = there / "index.usearch"
    elif damage != "missing":
        shutil.copyfile(seed, there)
    if damage != "missing":
        data = bytearray(there.read_bytes())
        data[len(data) // 2] ^= 4 if damage != "cut" else 0
        there.write_bytes(data if damage != "cut" else data[:-20])
    printed = build(root)
    (line,) = [line for line in printed.splitlines() if ": warning: " in line]
    assert "; going on without the seed [" in line
    assert embedded(printed) == 6
    assert artifact_bytes(root) == artifact_bytes(published)
    assert not (root / "build" / "seed").exists()


def test_the_command_fills_the_cache_before_a_build(published: Path, seed: Path, tmp_path: Path) -> None:
    root = clone(published, tmp_path / "clone")
    assert "ragpress: 6 vectors taken" in command(root, "seed", str(seed))
    assert "ragpress: 0 vectors taken" in command(root, "seed", str(seed))
    assert cached(root) == 6
    assert embedded(build(root)) == 0
    assert artifact_bytes(root) == artifact_bytes(published)


def test_a_fresh_clone_needs_neither_the_model_nor_the_hub_where_the_seed_has_all(
    published: Path, seed: Path, tmp_path: Path
) -> None:
    """The settings name the hub's file; only its lock is there, and no hub answers."""
    root = clone(published, tmp_path / "clone")
    (root / "pyproject.toml").write_text(f'[tool.ragpress]\ndimensions = 64\nseed = "{seed}"\n', encoding="utf-8")
    assert read_lock(root)[NAME].sha256 == file_sha256(tiny_model())
    build(root)
    assert artifact_bytes(root)["index.usearch"] == artifact_bytes(published)["index.usearch"]
    write_source(root, "new.md", text(7))
    assert "the hub cannot be reached" in failing(root)


def test_a_seed_of_the_offline_model_makes_it_the_model_of_a_fresh_clone(tmp_path: Path) -> None:
    offline = '[tool.ragpress]\noffline_model = "multilingual-e5-small"\n'
    one = make_repository(tmp_path / "one", {"a.md": text(1)}, offline)
    build(one)
    seed = one / "build" / "kb"
    two = make_repository(tmp_path / "two", {"a.md": text(1)}, f'{offline}seed = "{seed}"\n')
    printed = build(two)
    assert "is of multilingual-e5-small, and so is this build folder from now on [model-offline]" in printed
    assert "`ragpress model use nomic-embed-text-v2-moe` switches" in printed
    assert "the hub cannot be reached" not in printed
    assert embedded(printed) == 0
    assert artifact_bytes(two) == artifact_bytes(one)
    command(two, "model", "use", NAME)
    assert "run `ragpress model use multilingual-e5-small` first [seed]" in command(two, "seed", str(seed), status=1)


# -- what is not taken -----------------------------------------------------------------------------------------------

MADE = msgspec.structs.replace(MODEL, name=NAME, document_prefix="search_document: ", query_prefix="search_query: ")


def repository_of(root: Path, **options: object) -> Repository:
    """Settings for vectors of 16 dimensions, and a lock for the file that `MADE` is of."""
    root.mkdir(exist_ok=True)
    write_lock(root, NAME, Locked("model.gguf", MADE.sha256, 1))
    return Repository(root, Config(**{"dimensions": 16, **options}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "multilingual-e5-small"}, f"kb is of multilingual-e5-small, this build of {NAME} [seed]"),
        ({"sha256": "f" * 64}, f"kb is of another file of {NAME} (ffffffffffff… and here 000000000000…)"),
        ({"document_prefix": "passage: "}, "kb is of another prefix"),
        ({"pooling": "cls"}, "kb is of another pooling"),
        ({"dimensions": 8}, "kb is of another number of dimensions"),
    ],
)
def test_nothing_is_taken_from_an_artifact_of_another_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    model = msgspec.structs.replace(MADE, **change)
    chunks = sample_chunks()
    write_chunks(Path("kb"), chunks, unit_vectors(len(chunks), model.dimensions), model=model)
    repository = repository_of(tmp_path / "repo", seed=str(tmp_path / "kb"))
    with pytest.raises(BuildError) as refused:
        seed_cache(repository, Path("kb"), print)
    assert reason in str(refused.value)
    lines: list[str] = []
    file = locked_file(repository.config, read_lock(repository.root)[NAME])
    with VectorCache(repository.vectors, lines.append) as cache:
        setting = SeedSetting(repository, lines.append)
        assert not setting.fill(cache, file)
        assert not setting.fill(cache, file)
        assert cache.count() == 0
    (line,) = lines
    assert "warning:" in line
    assert "; going on without the seed [seed]" in line
    assert not (repository.build / "model.json").exists()


def test_vectors_come_out_as_the_artifact_holds_them_and_with_its_engines(tmp_path: Path) -> None:
    chunks = sample_chunks()
    vectors = unit_vectors(len(chunks)).astype(np.float16)
    write_chunks(tmp_path / "kb", chunks, vectors, model=MADE, engines=("one", "two"))
    repository = repository_of(tmp_path / "repo")
    keys = vector_keys(
        locked_file(repository.config, read_lock(repository.root)[NAME]), [chunk.text for chunk in chunks]
    )
    with VectorCache(repository.vectors, print) as cache:
        cache.put_many([(keys[4], -vectors[4])], "three")
    lines: list[str] = []
    seed_cache(repository, tmp_path / "kb", lines.append)
    assert lines[0].startswith("ragpress: 8 vectors taken from ")
    with VectorCache(repository.vectors, print) as cache:
        found, absent = cache.matrix(keys, 16)
        assert absent == []
        assert np.array_equal(np.delete(found, 4, 0), np.delete(vectors, 4, 0))
        assert np.array_equal(found[4], -vectors[4])  # what is there already stays
        assert cache.digests(keys)[1] == ("one", "three", "two")
        assert cache.missing(keys, "one") == list(range(9)), "it is not known which of the two made them"


def test_reproducible_takes_no_vectors_of_another_engine(tmp_path: Path) -> None:
    chunks = sample_chunks()
    repository = repository_of(tmp_path / "repo", reproducible=True)
    write_chunks(tmp_path / "kb", chunks, unit_vectors(9), model=MADE, engines=("another",))
    with pytest.raises(ArtifactError, match="was made by another engine, and reproducible = true"):
        seed_cache(repository, tmp_path / "kb", print)
    write_chunks(tmp_path / "kb", chunks, unit_vectors(9), model=MADE, engines=(engine(),))
    seed_cache(repository, tmp_path / "kb", print)
    with VectorCache(repository.vectors, print) as cache:
        assert cache.count() == 9


def test_an_artifact_whose_files_do_not_fit_each_other_is_no_seed(tmp_path: Path) -> None:
    repository = repository_of(tmp_path / "repo")
    write_chunks(tmp_path / "kb", sample_chunks()[:-1], unit_vectors(8), model=MADE)
    with pytest.raises(ArtifactError, match="does not point at the one after it"):
        seed_cache(repository, tmp_path / "kb", print)
    with VectorCache(repository.vectors, print) as cache:
        assert cache.count() == 0
    for wrong in (tmp_path / "nothing", tmp_path / "repo"):
        with pytest.raises(ArtifactError):
            seed_cache(repository, wrong, print)


def test_every_known_model_can_be_seeded_by_its_lock_or_its_own_file(tmp_path: Path) -> None:
    """Also one that was never locked here: its vectors wait under the seed's own hash."""
    repository = Repository(tmp_path, Config(dimensions=16))
    write_chunks(tmp_path / "kb", sample_chunks(), unit_vectors(9), model=MADE)
    assert read_manifest(tmp_path / "kb").model.pooling == KNOWN[NAME].pooling
    seed_cache(repository, tmp_path / "kb", print)
    file = locked_file(repository.config, Locked("x", MADE.sha256, 0))
    with VectorCache(repository.vectors, print) as cache:
        assert cache.missing(vector_keys(file, [chunk.text for chunk in sample_chunks()])) == []


# -- the cache -------------------------------------------------------------------------------------------------------


def test_pruning_drops_what_the_last_build_does_not_use_and_nothing_else(published: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(published, tmp_path / "repo"))
    for number in range(4, 8):
        write_source(root, "more.md", text(number))
        build(root)
    assert "14 vectors, 8 of them used by the last build" in command(root, "cache")
    with sqlite3.connect(root / "build" / "cache" / "vectors.sqlite") as cache:
        (before,) = cache.execute("SELECT count(*) FROM vectors").fetchone()
    cache.close()
    assert command(root, "cache", "--prune", "--max-megabytes", "1").startswith("0 vectors dropped; ")
    assert command(root, "cache", "--prune").startswith(f"{before - 8} vectors dropped; ")
    assert "8 vectors, 8 of them used by the last build" in command(root, "cache")
    bytes_before = artifact_bytes(root)
    shutil.rmtree(root / "build" / "kb")
    assert embedded(build(root)) == 0
    assert artifact_bytes(root) == bytes_before
    assert "give --prune as well" in command(root, "cache", "--max-megabytes", "1", status=2)


def test_a_cache_that_grew_far_beyond_what_is_used_is_pruned_by_the_build(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = open_repository(Path(shutil.copytree(published, tmp_path / "repo")))
    junk = unit_vectors(2000, 64)
    with VectorCache(repository.vectors, print) as cache:
        cache.put_many([(bytes([at % 256, at // 256]) * 16, vector) for at, vector in enumerate(junk)], "engine")
        before = cache.size()
    lines: list[str] = []
    (repository.build / "published").unlink()
    publish.publish_artifact(repository, lines.append)
    assert lines == ["ragpress: build/kb holds 6 chunks, embedded by nomic-embed-text-v2-moe"]
    (repository.build / "published").unlink()
    monkeypatch.setattr(publish, "_SPARE_BYTES", 300_000)
    publish.publish_artifact(repository, lines.append)
    assert "vectors that nothing uses dropped from the cache" in lines[1]
    with VectorCache(repository.vectors, print) as cache:
        assert cache.size() < 350_000 < before
        assert 6 < cache.count() < 2000
    assert "6 of them used by the last build" in command(repository.root, "cache")


def test_nothing_is_pruned_after_a_build_that_did_not_finish(published: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(published, tmp_path / "repo"))
    before = cached(root)
    (root / "sources" / "bad.docx").write_bytes(b"no archive")
    failing(root)
    assert "the last build is not complete; run `ragpress build`" in command(root, "cache", "--prune", status=1)
    (root / "sources" / "bad.docx").unlink()
    write_source(root, "1.md", text(11))  # not built yet
    build(root, "merge")
    assert "the last build is not complete; run `ragpress build`" in command(root, "cache", "--prune", status=1)
    assert cached(root) == before


def test_a_build_folder_without_a_cache_says_so(tmp_path: Path) -> None:
    root = tiny_repository(tmp_path / "repo")
    assert "build/cache/vectors.sqlite: not there yet" in command(root, "cache")
    assert not (root / "build" / "cache").exists()


def test_a_damaged_part_of_the_cache_is_made_again_from_the_seed_or_the_model(
    published: Path, seed: Path, tmp_path: Path
) -> None:
    root = clone(published, tmp_path / "clone", f'seed = "{seed}"')
    build(root)
    (root / "build" / "cache" / "vectors.sqlite").write_bytes(b"no database" * 100)
    write_source(root, "new.md", text(7))
    printed = build(root)
    assert "the vector cache is damaged (" in printed
    assert "ragpress: 6 vectors taken" in printed
    assert embedded(printed) == 2
