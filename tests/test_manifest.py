"""The JSONL files: what a line looks like, and which ones are refused."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from ragpress.artifact.jsonl import encode_chunk, encode_document, read_chunks, read_documents
from ragpress.errors import ArtifactError, BuildError
from ragpress.files import replace_file
from ragpress.records import Chunk, DocumentEntry, Gap, Locator, Message

CHUNK = Chunk(
    chunk_id="0123456789abcdef",
    source="клиника/приём.md",
    content_type="paragraph",
    section="Приём",
    headings=("Клиника", "Приём"),
    locator="L3-5",
    tokens=12,
    previous_chunk_id=None,
    next_chunk_id="fedcba9876543210",
    context_chars=10,
    text='## Приём\n\nمی‌خواهم "да"\u2028\x01',
)
ENTRY = DocumentEntry(
    source="a.md",
    sha256="0" * 64,
    title="Клиника",
    front_matter={"теги": ["а", "б"], "дата": "2024-05-01"},
    chunks=1,
    coverage=0.5,
    gaps=(Gap("потеряно", "L4"),),
    left_out={"extra-h1": 3},
    messages=(Message("warning", "left-out", "…", "a.md", Locator("R", 4, 5, "Лист")),),
)


def test_a_line_has_the_keys_in_order_and_no_ascii_escapes() -> None:
    line = encode_chunk(CHUNK)
    assert line.startswith(
        '{"chunk_id":"0123456789abcdef","source":"клиника/приём.md","content_type":"paragraph","section":"Приём",'
        '"headings":["Клиника","Приём"],"locator":"L3-5","tokens":12,"previous_chunk_id":null,'
        '"next_chunk_id":"fedcba9876543210","context_chars":10,"text":"## Приём\\n\\nمی‌خواهم'.encode()
    )
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert json.loads(line)["text"] == CHUNK.text


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    chunks, documents = tmp_path / "chunks.jsonl", tmp_path / "documents.jsonl"
    other = msgspec.structs.replace(CHUNK, chunk_id="fedcba9876543210")
    chunks.write_bytes(encode_chunk(CHUNK) + encode_chunk(other))
    documents.write_bytes(encode_document(ENTRY))
    assert read_chunks(chunks) == (CHUNK, other)
    assert read_documents(documents) == (ENTRY,)


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    path.write_bytes(b"")
    assert read_chunks(path) == ()


def test_a_lone_surrogate_is_written_as_a_replacement_character() -> None:
    broken = msgspec.structs.replace(CHUNK, text="a\ud83d b😀", headings=("\udc00",))
    read = json.loads(encode_chunk(broken))
    assert (read["text"], read["headings"]) == ("a� b😀", ["�"])
    entry = msgspec.structs.replace(ENTRY, front_matter={"\ud800": ["\ud800"]})
    assert json.loads(encode_document(entry))["front_matter"] == {"�": ["�"]}


@pytest.mark.parametrize(
    ("damaged", "found"),
    [
        (lambda data: data[:-2], "line 2 is cut off"),
        (lambda data: data[:-1], "line 2 is cut off"),
        (lambda data: data.replace(b'"tokens":12', b'"tokens":"12"', 1), "line 1 is not what it should be .*tokens"),
        (lambda data: data.replace(b'"tokens":12,', b"", 1), "line 1 is not what it should be .*tokens"),
        (lambda data: data.replace("Приём".encode(), b"\xff\xfe", 1), "line 1 is not what it should be"),
        (lambda data: data + b"[" * 100_000 + b"\n", "line 3 is not what it should be"),
        (lambda data: data + b"\n", "line 3 is not what it should be"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line_that_names_the_place(
    tmp_path: Path, damaged: object, found: str
) -> None:
    path = tmp_path / "chunks.jsonl"
    path.write_bytes(damaged(encode_chunk(CHUNK) * 2))  # type: ignore[operator]
    with pytest.raises(ArtifactError, match=f"chunks.jsonl: {found}") as caught:
        read_chunks(path)
    assert str(caught.value).endswith("build the artifact again [bad-artifact]")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"chunks\.jsonl cannot be read: No such file or directory"):
        read_chunks(tmp_path / "chunks.jsonl")


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "chunks" / "клиника" / "a.md.jsonl"
    replace_file(path, b"one\n")
    replace_file(path, b"two\n")
    assert path.read_bytes() == b"two\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_disk_that_refuses_is_named_and_the_old_file_stands(tmp_path: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    path.mkdir()
    (path / "old").write_bytes(b"old")
    with pytest.raises(BuildError, match=r"^ragpress: error: chunks\.jsonl cannot be written: .*\[disk\]$"):
        replace_file(path, b"new")
    assert [each.name for each in tmp_path.rglob("*")] == ["chunks.jsonl", "old"]
    with pytest.raises(BuildError, match="cannot be written"):
        replace_file(path / "old" / "chunks.jsonl", b"new")
