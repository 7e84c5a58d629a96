from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from hub_server import COMMIT, LATER_COMMIT, Hub, serve
from programs import lacking
from ragpress.config import Config
from ragpress.errors import ModelError
from ragpress.files import file_sha256
from ragpress.models import known as models
from ragpress.models.hub import unreachable
from ragpress.models.known import KNOWN, lock_model, model_of_artifact, resolve, tokenizer_file
from ragpress.models.lock import LOCK_NAME, Locked, read_lock, remembered_sha256, write_lock
from ragpress.models.starter import SHA256

NOMIC = "nomic-embed-text-v2-moe"
E5 = "multilingual-e5-small"
FILE = f"{NOMIC}.Q6_K.gguf"
HUB_NAME = f"{KNOWN[NOMIC].repository}/{FILE}"
ONLINE = Config(model=NOMIC)
BOTH = Config(model=NOMIC, offline_model=E5)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A local hub with one model file, and an empty user cache of hub files."""
    from huggingface_hub import constants

    with serve() as server:
        server.files[HUB_NAME] = b"GGUF" + bytes(range(256)) * 400
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
        # the client reads them when it is imported, which another test may have done before
        monkeypatch.setattr(constants, "ENDPOINT", server.address)
        template = server.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield server


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


@pytest.fixture
def no_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Hub:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
    return hub


def _refuse(line: str) -> None:
    raise AssertionError(f"nothing was to be announced, but: {line}")


def _file_requests(hub: Hub) -> list[str]:
    return [request for request in hub.requests if "/resolve/" in request or "/blobs/" in request]


def test_first_use_fetches_the_file_and_locks_it_with_the_hubs_commit(hub: Hub, root: Path) -> None:
    found = resolve(ONLINE, root, report=_refuse)

    assert found.path.read_bytes() == hub.files[HUB_NAME]
    assert (found.sha256, found.size) == (file_sha256(found.path), len(hub.files[HUB_NAME]))
    assert (found.model, found.dimensions) == (KNOWN[NOMIC], 768)
    assert read_lock(root) == {NOMIC: Locked(FILE, found.sha256, found.size, COMMIT)}
    assert (root / LOCK_NAME).read_text(encoding="utf-8").startswith('{\n  "nomic-embed-text-v2-moe": {\n    "file": ')


def test_second_use_makes_no_request(hub: Hub, root: Path) -> None:
    first = resolve(ONLINE, root, report=_refuse)
    hub.requests.clear()

    assert resolve(ONLINE, root, report=_refuse) == first
    assert tokenizer_file(ONLINE, root) == first.path
    assert hub.requests == []


def test_a_fetched_file_that_differs_from_the_lock_is_refused(hub: Hub, root: Path) -> None:
    write_lock(root, NOMIC, Locked(FILE, "0" * 64, 5))

    with pytest.raises(
        ModelError, match=r"model\.lock\.json has .* \(000000000000…, 5 bytes\); run `ragpress model lock`"
    ):
        resolve(ONLINE, root, report=_refuse)


def test_a_cached_file_that_was_changed_is_refused(hub: Hub, root: Path) -> None:
    path = resolve(ONLINE, root, report=_refuse).path.resolve()
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)

    with pytest.raises(ModelError, match="ragpress model lock"):
        resolve(ONLINE, root, report=_refuse)


def test_a_local_file_is_locked_and_then_held_to_the_lock(hub: Hub, root: Path) -> None:
    config = Config(model=NOMIC, model_path="own.gguf")
    (root / "own.gguf").write_bytes(b"GGUF one")
    assert resolve(config, root, report=_refuse).path == root / "own.gguf"
    assert tokenizer_file(config, root) == root / "own.gguf"
    (root / "own.gguf").write_bytes(b"GGUF another")

    with pytest.raises(ModelError, match=r"own\.gguf .*run `ragpress model lock`"):
        resolve(config, root, report=_refuse)
    assert lock_model(config, root) == read_lock(root)[NOMIC]
    assert resolve(config, root, report=_refuse).size == len(b"GGUF another")
    assert hub.requests == []


def test_a_missing_local_file_is_named(root: Path) -> None:
    with pytest.raises(ModelError, match=r"model_path = 'gone\.gguf': there is no such file"):
        resolve(Config(model_path="gone.gguf"), root, report=_refuse)


def test_the_locked_commit_is_fetched_and_lock_model_takes_the_newest(
    hub: Hub, root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from huggingface_hub import constants

    resolve(ONLINE, root, report=_refuse)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "fresh-cache"))  # a fresh clone elsewhere
    hub.requests.clear()
    resolve(ONLINE, root, report=_refuse)
    assert f"HEAD /{KNOWN[NOMIC].repository}/resolve/{COMMIT}/{FILE}" in hub.requests

    hub.commit, hub.files[HUB_NAME] = LATER_COMMIT, b"GGUF of a later day"
    locked = lock_model(ONLINE, root)
    assert (locked.size, locked.revision) == (len(b"GGUF of a later day"), LATER_COMMIT)
    assert resolve(ONLINE, root, report=_refuse).sha256 == locked.sha256


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (
            404,
            {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT},
            "the hub has no such file; correct model_file",
        ),
        (
            404,
            {"X-Error-Code": "RepoNotFound"},
            "the hub has no such public repository; check HF_ENDPOINT and HF_TOKEN",
        ),
        (403, {"X-Error-Code": "GatedRepo"}, "access has to be granted first; log in"),
        (401, {}, "the hub answered 401"),
    ],
)
def test_an_answer_without_a_file_is_one_line_with_advice(
    hub: Hub, root: Path, status: int, headers: dict[str, str], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    hub.status, hub.headers = status, headers

    with pytest.raises(ModelError) as caught:
        resolve(ONLINE, root, report=_refuse)

    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")
    assert read_lock(root) == {}


def test_a_transfer_that_breaks_off_is_one_line_and_locks_nothing(
    hub: Hub, root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)  # between the client's retries
    hub.cut = True

    with pytest.raises(ModelError, match=r"cannot be fetched: .*; try again, or set model_path"):
        resolve(ONLINE, root, report=_refuse)

    assert "Error while downloading" not in capfd.readouterr().err
    assert read_lock(root) == {}
    hub.cut = False
    assert resolve(ONLINE, root, report=_refuse).path.read_bytes() == hub.files[HUB_NAME]


def test_a_full_disk_during_the_fetch_is_named(
    hub: Hub, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode != 0:
        lacking("mounting a small file system needs privileges")
    try:
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(small / "hub"))
        with pytest.raises(ModelError, match="the disk is full; free some space") as caught:
            resolve(ONLINE, root, report=_refuse)
        assert caught.value.message.code == "disk"
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_closed_port_is_noticed_at_once(no_hub: Hub) -> None:
    begun = time.monotonic()
    assert "refused" in unreachable()
    assert time.monotonic() - begun < 3


def test_a_hub_that_never_answers_is_noticed_within_three_seconds(
    hub: Hub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        begun = time.monotonic()
        assert unreachable()
        assert time.monotonic() - begun < 3
        found = resolve(BOTH, root, report=lines.append)
    assert found.model.name == E5
    assert len(lines) == 1


def test_a_hub_that_is_down_counts_as_out_of_reach(hub: Hub) -> None:
    hub.root_status = 503
    assert unreachable() == "it answers 503"


def test_offline_mode_of_the_client_is_honoured_without_a_request(
    hub: Hub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    with pytest.raises(ModelError, match="HF_HUB_OFFLINE is set"):
        resolve(ONLINE, root, report=_refuse)
    assert hub.requests == []


def test_an_endpoint_that_is_no_address_is_named(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "mirror.example")
    with pytest.raises(ModelError, match=r"HF_ENDPOINT is 'mirror\.example', which is no web address"):
        unreachable()


def test_the_offline_model_is_announced_in_one_line(no_hub: Hub, root: Path) -> None:
    lines: list[str] = []
    found = resolve(BOTH, root, report=lines.append)

    assert (found.model.name, found.sha256, found.dimensions) == (E5, SHA256, 384)
    assert len(lines) == 1
    assert lines[0].startswith("ragpress: warning: the hub cannot be reached (")
    assert lines[0].endswith("; multilingual-e5-small is used in place of nomic-embed-text-v2-moe [model-offline]")
    assert not (root / LOCK_NAME).exists()


def test_without_an_offline_model_an_unreachable_hub_is_an_error(no_hub: Hub, root: Path) -> None:
    with pytest.raises(ModelError, match="connect, set model_path to a file, or set offline_model") as caught:
        resolve(ONLINE, root, report=_refuse)
    assert caught.value.message.code == "model-offline"


def test_an_artifact_of_the_offline_model_stays_with_it_though_the_hub_answers(hub: Hub, root: Path) -> None:
    lines: list[str] = []
    assert resolve(BOTH, root, selected=E5, report=lines.append).model.name == E5
    assert lines == [
        "ragpress: info: staying with multilingual-e5-small;"
        " `ragpress model use nomic-embed-text-v2-moe` switches [model-offline]"
    ]
    assert hub.requests == []


def test_an_artifact_of_the_hubs_model_is_never_continued_with_the_offline_one(no_hub: Hub, root: Path) -> None:
    with pytest.raises(ModelError, match="the build folder is of nomic-embed-text-v2-moe; connect, or run"):
        resolve(BOTH, root, selected=NOMIC, report=_refuse)


def test_a_switch_of_models_is_announced(hub: Hub, root: Path) -> None:
    lines: list[str] = []
    assert resolve(ONLINE, root, selected=E5, report=lines.append).model.name == NOMIC
    assert lines == [
        "ragpress: warning: nomic-embed-text-v2-moe takes the place of multilingual-e5-small;"
        " all texts are embedded [model-switch]"
    ]


def test_tokens_are_counted_without_network_while_no_file_was_fetched(hub: Hub, root: Path) -> None:
    assert file_sha256(tokenizer_file(ONLINE, root)) == SHA256
    assert hub.requests == []


def test_a_damaged_offline_model_is_made_again(
    hub: Hub, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGPRESS_CACHE", str(tmp_path / "own-cache"))
    found = resolve(Config(model=E5), root, report=_refuse)
    assert found.path.parent == tmp_path / "own-cache"
    found.path.write_bytes(found.path.read_bytes()[:1000])

    assert file_sha256(resolve(Config(model=E5), root, report=_refuse).path) == SHA256


def test_dimensions_are_cut_only_for_a_model_that_was_trained_for_it(no_hub: Hub, root: Path) -> None:
    (root / "own.gguf").write_bytes(b"GGUF")
    cut = Config(model=NOMIC, model_path="own.gguf", dimensions=256)
    assert resolve(cut, root, report=_refuse).dimensions == 256
    assert resolve(Config(model=E5, dimensions=256), root, report=_refuse).dimensions == 384
    with pytest.raises(ModelError, match="dimensions = 1000, but nomic-embed-text-v2-moe has 768"):
        resolve(msgspec.structs.replace(cut, dimensions=1000), root, report=_refuse)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (Config(model="nomic"), "the model 'nomic' is not known; use one of: nomic-embed-text-v2-moe, "),
        (Config(model=E5, offline_model=NOMIC), "must be fetched itself; use multilingual-e5-small"),
    ],
)
def test_a_model_that_cannot_be_is_named_with_those_that_can(root: Path, config: Config, reason: str) -> None:
    with pytest.raises(ModelError) as caught:
        resolve(config, root, report=_refuse)
    assert reason in str(caught.value)


def test_a_reader_gets_the_file_that_made_the_artifact_or_an_error(hub: Hub, root: Path) -> None:
    made = resolve(ONLINE, root, report=_refuse)

    assert model_of_artifact(NOMIC, FILE, made.sha256, 768) == made
    assert model_of_artifact(E5, "", SHA256, 384).model.name == E5
    other = root / "other.gguf"
    other.write_bytes(b"GGUF")
    with pytest.raises(ModelError, match=r"other\.gguf is not the file that made the artifact"):
        model_of_artifact(NOMIC, FILE, made.sha256, 768, other)


def test_a_damaged_lock_is_named(hub: Hub, root: Path) -> None:
    (root / LOCK_NAME).write_text('{"nomic-embed-text-v2-moe": {"file": 1}}', encoding="utf-8")
    with pytest.raises(ModelError, match=r"model\.lock\.json is damaged .*; restore it"):
        resolve(ONLINE, root, report=_refuse)


def test_locking_one_model_keeps_the_others(root: Path) -> None:
    write_lock(root, "b", Locked("b.gguf", "1" * 64, 1))
    write_lock(root, "a", Locked("a.gguf", "2" * 64, 2))
    assert list(read_lock(root)) == ["a", "b"]


def test_a_hash_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"one")
    first = remembered_sha256(path, tmp_path / "cache")
    assert first == file_sha256(path)
    status = path.stat()

    path.write_bytes(b"two")  # the same size
    assert remembered_sha256(path, tmp_path / "cache") == file_sha256(path) != first

    memory = tmp_path / "cache" / "sha256.json"
    memory.write_bytes(memory.read_bytes().replace(file_sha256(path).encode(), b"f" * 64))
    assert remembered_sha256(path, tmp_path / "cache") == "f" * 64  # so it was not read again
    memory.write_bytes(b"\x00 no json")
    assert remembered_sha256(path, tmp_path / "cache") == file_sha256(path)
    assert path.stat().st_size == status.st_size


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGPRESS_CACHE", "/somewhere")
    assert models.cache_folder() == Path("/somewhere")
    monkeypatch.delenv("RAGPRESS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert models.cache_folder() == Path("/caches/ragpress")


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAGPRESS_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000)  # a number that no user has
    with pytest.raises(ModelError, match="no home for the models' cache; set RAGPRESS_CACHE"):
        models.cache_folder()
