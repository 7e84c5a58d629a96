"""What holds for the chunks of every source, whatever it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

import msgspec

from ragpress.artifact.jsonl import encode_chunk
from ragpress.records import Chunk, Document, Locator, chunk_id


def check_chunks(
    document: Document | None, chunks: Sequence[Chunk], limit: int, count: Callable[[str], int] | None = None
) -> None:
    """Asserts the rules for the chunks of one source.

    `document` is what they were made from, if at hand: their own texts must then say all that its units say, once
    and in order. `count` is the counter of the model that `tokens` and `limit` are about.
    """
    _check_tokens(chunks, limit, count)
    _check_ids(chunks)
    _check_pointers(chunks)
    _check_places(chunks, document)
    _check_context(chunks)
    for chunk in chunks:
        assert msgspec.json.decode(encode_chunk(chunk), type=Chunk) == chunk
        assert encode_chunk(chunk).count(b"\n") == 1
    if document is not None:
        _check_nothing_lost(document, chunks)
        _check_sections(document, chunks)


def own(chunk: Chunk) -> str:
    """What a chunk says that no chunk before it said."""
    return chunk.text[chunk.context_chars :]


def _check_tokens(chunks: Sequence[Chunk], limit: int, count: Callable[[str], int] | None) -> None:
    for chunk in chunks:
        assert 0 < chunk.tokens <= limit, f"{chunk.locator}: {chunk.tokens} tokens are over {limit}"
        if count is not None:
            assert chunk.tokens == count(chunk.text), f"{chunk.locator}: tokens are not those of the text"


def _check_ids(chunks: Sequence[Chunk]) -> None:
    ids = [chunk.chunk_id for chunk in chunks]
    assert len(set(ids)) == len(ids), "two chunks share an id"
    seen: dict[tuple[tuple[str, ...], str], int] = {}
    for chunk in chunks:
        name = chunk.headings, own(chunk)
        duplicate = seen.get(name, 0)
        seen[name] = duplicate + 1
        assert chunk.chunk_id == chunk_id(chunk.source, *name, duplicate)


def _check_pointers(chunks: Sequence[Chunk]) -> None:
    assert len({chunk.source for chunk in chunks}) <= 1, "chunks of several sources"
    ids: list[str | None] = [None, *(chunk.chunk_id for chunk in chunks), None]
    assert [chunk.previous_chunk_id for chunk in chunks] == ids[:-2]
    assert [chunk.next_chunk_id for chunk in chunks] == ids[2:]


def _check_places(chunks: Sequence[Chunk], document: Document | None) -> None:
    places = [Locator.parse(chunk.locator) for chunk in chunks]
    parts = [part for part, _ in groupby(place.part for place in places)]
    assert len(set(parts)) == len(parts), "a part of the source is left and entered again"
    for one, two in pairwise(places):
        assert one.unit == two.unit
        if one.part == two.part and not _begins_beside(two, document):
            assert one.start <= two.start and one.end <= two.end, f"{one} stands before {two}"


def _begins_beside(place: Locator, document: Document | None) -> bool:
    """Whether a table may begin there: on a sheet tables stand side by side, and are read one after the other."""
    if place.unit != "R":
        return False
    units = document.units if document is not None else ()
    firsts = {next(section).locator.start for _, section in groupby(units, key=lambda unit: unit.section_number)}
    return document is None or place.start in firsts


def _check_context(chunks: Sequence[Chunk]) -> None:
    for chunk in chunks:
        assert 0 <= chunk.context_chars < len(chunk.text)
        assert own(chunk).strip(), f"{chunk.locator}: a chunk without text of its own"
        assert chunk.text == chunk.text.rstrip(), f"{chunk.locator}: white space at the end"


def _check_nothing_lost(document: Document, chunks: Sequence[Chunk]) -> None:
    """Up to white space, which may go where a text was cut."""
    said = "".join("".join(own(chunk).split()) for chunk in chunks)
    units = "".join("".join(unit.text.split()) for unit in document.units)
    if said != units:
        at = next(
            (i for i, (one, two) in enumerate(zip(said, units, strict=False)) if one != two), min(len(said), len(units))
        )
        raise AssertionError(f"the chunks say …{said[at - 20 : at + 40]!r}, the source …{units[at - 20 : at + 40]!r}")


def _check_sections(document: Document, chunks: Sequence[Chunk]) -> None:
    """A chunk's section and headings are those of the units that it was made from."""
    paths: dict[str, set[tuple[str, ...]]] = {}
    for unit in document.units:
        paths.setdefault(unit.section, set()).add(unit.headings)
    for chunk in chunks:
        assert chunk.section in paths, f"{chunk.locator}: no unit has the section {chunk.section!r}"
        assert any(path[: len(chunk.headings)] == chunk.headings for path in paths[chunk.section])
