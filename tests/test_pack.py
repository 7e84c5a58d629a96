"""The archive of an artifact: the same bytes for the same artifact, and nothing but an artifact comes out of one."""

from __future__ import annotations

import io
import os
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from artifact_maker import TEXTS, read_all, sample_chunks, write_chunks
from ragpress.artifact.pack import pack, unpack
from ragpress.artifact.read import verify_artifact
from ragpress.config import Config
from ragpress.errors import ArtifactError, BuildError
from ragpress.repository import Repository


def make_repository(
    root: Path, texts: dict[str, list[str]] = TEXTS, project: str = '[project]\nname = "demo"\n'
) -> Repository:
    root.mkdir()
    (root / "pyproject.toml").write_text(project, encoding="utf-8")
    repository = Repository(root, Config())
    write_chunks(repository.artifact, sample_chunks(texts))
    return repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "repo")


def members(archive: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    data = zstandard.ZstdDecompressor().stream_reader(archive.read_bytes()).read()
    with tarfile.open(fileobj=io.BytesIO(data)) as file:
        return [(member, (file.extractfile(member) or io.BytesIO()).read()) for member in file]


def test_the_same_artifact_gives_the_same_bytes_whenever_and_wherever(repository: Repository, tmp_path: Path) -> None:
    first = pack(repository)
    other = make_repository(tmp_path / "elsewhere")
    for path in other.artifact.iterdir():
        path.chmod(0o600)
        os.utime(path, (1, time.time() - 10**6))
    second = pack(other)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_an_archive_says_nothing_of_the_machine_and_has_index_json_first(repository: Repository) -> None:
    found = members(pack(repository))
    assert {name.removeprefix("kb/"): data for name, data in ((item.name, data) for item, data in found)} == read_all(
        repository.artifact
    )
    assert found[0][0].name == "kb/index.json"
    for member, _ in found:
        assert (member.mtime, member.uid, member.gid, member.uname, member.gname, member.mode) == (
            0,
            0,
            0,
            "",
            "",
            0o644,
        )
        assert member.isreg()


def test_the_name_has_the_project_and_the_content(repository: Repository) -> None:
    first = pack(repository)
    assert first.parent == repository.build
    assert first.name.startswith("demo-")
    write_chunks(repository.artifact, sample_chunks({"другой.md": ["Другой текст."]}))
    keep = repository.build / "other-0123456789abcdef.tar.zst"
    keep.write_bytes(b"")
    second = pack(repository)
    assert second.name != first.name
    assert not first.exists(), "an old pack would be shipped beside the new one"
    assert keep.exists()


@pytest.mark.parametrize(
    ("project", "name"),
    [
        ("", "папка с базой"),
        ('[project]\nname = "../../x"\n', "x"),
        ("[project]\nname = 7\n", "папка с базой"),
        ('project = "x"\n', "папка с базой"),
        ('[project]\nname = "/"\n', "папка с базой"),
    ],
)
def test_without_a_usable_project_name_the_folder_s_is_taken(tmp_path: Path, project: str, name: str) -> None:
    found = pack(make_repository(tmp_path / "папка с базой", project=project)).name
    assert found.rpartition("-")[0] == name.replace(" ", "-")


def test_a_damaged_artifact_is_not_packed(repository: Repository) -> None:
    with (repository.artifact / "chunks.jsonl").open("ab") as file:
        file.write(b" ")
    with pytest.raises(ArtifactError, match=r"chunks\.jsonl"):
        pack(repository)
    assert list(repository.build.glob("*.tar.zst*")) == []


# -- unpacking -------------------------------------------------------------------------------------------------------


def test_what_was_packed_comes_out_as_it_was(repository: Repository, tmp_path: Path) -> None:
    manifest = unpack(pack(repository), tmp_path / "out" / "kb")
    assert read_all(tmp_path / "out" / "kb") == read_all(repository.artifact)
    assert verify_artifact(tmp_path / "out" / "kb") == manifest
    with pytest.raises(BuildError, match="is there already"):
        unpack(pack(repository), tmp_path / "out" / "kb")


Member = tuple[tarfile.TarInfo, bytes]


def repacked(archive: Path, edit: Callable[[list[Member]], list[Member]]) -> Path:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as file:
        for member, content in edit(members(archive)):
            file.addfile(member, io.BytesIO(content))
    edited = archive.with_name("edited.tar.zst")
    edited.write_bytes(zstandard.ZstdCompressor().compress(data.getvalue()))
    return edited


def a_file(name: str, content: bytes = b"x", **fields: object) -> Member:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for key, value in fields.items():
        setattr(member, key, value)
    return member, content


def a_link(name: str, target: str, kind: bytes) -> Member:
    return a_file(name, b"", type=kind, linkname=target)


HOSTILE: dict[str, Callable[[list[Member]], list[Member]]] = {
    "above": lambda found: [found[0], a_file("../evil"), *found[1:]],
    "above within": lambda found: [found[0], a_file("kb/../../evil"), *found[1:]],
    "absolute": lambda found: [found[0], a_file("/tmp/evil"), *found[1:]],
    "unlisted": lambda found: [found[0], a_file("kb/evil"), *found[1:]],
    "symbolic link": lambda found: [found[0], a_link("kb/chunks.jsonl", "/etc/passwd", tarfile.SYMTYPE), *found[1:]],
    "hard link": lambda found: [found[0], a_link("kb/chunks.jsonl", "kb/index.json", tarfile.LNKTYPE), *found[1:]],
    "device": lambda found: [found[0], a_file("kb/chunks.jsonl", b"", type=tarfile.CHRTYPE), *found[1:]],
    "folder": lambda found: [a_file("kb", b"", type=tarfile.DIRTYPE), *found],
    "long name": lambda found: [found[0], a_file("kb/" + "x" * 300), *found[1:]],
    "twice": lambda found: [*found[:2], *found[1:]],
    "other content": lambda found: [*found[:-1], (found[-1][0], bytes(len(found[-1][1])))],
    "other size": lambda found: [*found[:-1], a_file(found[-1][0].name, b"short")],
    "file missing": lambda found: found[:-1],
    "index.json missing": lambda found: found[1:],
    "index.json last": lambda found: [*found[1:], found[0]],
    "index.json edited": lambda found: [
        a_file(found[0][0].name, found[0][1].replace(b"demo", b"omed") + b" "),
        *found[1:],
    ],
}


@pytest.mark.parametrize("edit", HOSTILE.values(), ids=HOSTILE)
def test_an_archive_with_anything_else_is_refused_and_leaves_nothing(
    repository: Repository, tmp_path: Path, edit: Callable[[list[Member]], list[Member]]
) -> None:
    edited = repacked(pack(repository), edit)
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(ArtifactError, match=r"edited\.tar\.zst"):
        unpack(edited, out / "kb")
    assert list(out.iterdir()) == []
    assert not (tmp_path / "evil").exists()


def test_damage_anywhere_is_noticed(repository: Repository, tmp_path: Path) -> None:
    archive = pack(repository)
    whole = archive.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]):
            archive.write_bytes(damaged)
            with pytest.raises(ArtifactError):
                unpack(archive, tmp_path / "kb")
            assert not (tmp_path / "kb").exists()


def test_an_archive_that_would_fill_the_disk_is_refused_before_it_does(repository: Repository, tmp_path: Path) -> None:
    whole = sum(map(len, read_all(repository.artifact).values()))
    with pytest.raises(ArtifactError, match="would unfold to"):
        unpack(pack(repository), tmp_path / "kb", limit=whole // 2)
    bomb = tmp_path / "bomb.tar.zst"
    member, _ = a_file("kb/index.json")
    member.size = 8 * 1024**3
    bomb.write_bytes(zstandard.ZstdCompressor().compress(member.tobuf(tarfile.GNU_FORMAT) + bytes(10**8)))
    with pytest.raises(ArtifactError, match=r"does not begin with index\.json"):
        unpack(bomb, tmp_path / "kb")


def test_a_file_that_is_no_archive_or_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.tar.zst").write_bytes(b"not zstd")
    with pytest.raises(ArtifactError, match=r"a\.tar\.zst"):
        unpack(tmp_path / "a.tar.zst", tmp_path / "kb")
    with pytest.raises(BuildError, match=r"b\.tar\.zst"):
        unpack(tmp_path / "b.tar.zst", tmp_path / "kb")
