"""Small documents for the chunker's tests, chunked with a counter that a reader can follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from invariants import check_chunks
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.records import Chunk, Document, Locator, Message, Unit, UnitKind


def words(text: str) -> int:
    """A token a word, and three for a prefix and the special tokens."""
    return 3 + len(text.split())


def unit(kind: UnitKind, text: str, section: str = "Приём", number: int = 0, **fields: Any) -> Unit:
    """A unit of a Markdown section `## {section}`."""
    plain = {"locator": Locator("L", 1, 1), "headings": ("Клиника", section), "breadcrumb": f"## {section}", **fields}
    return Unit(kind=kind, text=text, section=section, section_number=number, **plain)


def sentence(name: str, length: int = 10) -> str:
    """A sentence of so many words, each of which is found nowhere else."""
    return " ".join(f"{name}{number}" for number in range(1, length)).capitalize() + f" {name}{length}."


def paragraph(name: str, sentences: int, length: int = 10, **fields: Any) -> Unit:
    """A paragraph of the sentences `{name}a`, `{name}b` and so on."""
    text = " ".join(sentence(f"{name}{chr(97 + number)}", length) for number in range(sentences))
    return unit("paragraph", text, **fields)


def listing(items: Sequence[str], **fields: Any) -> Unit:
    """A list unit with its breaks."""
    text = "\n".join(items)
    breaks: list[int] = []
    for item in items[:-1]:
        breaks.append(len(item) + 1 + (breaks[-1] if breaks else 0))
    return unit(fields.pop("kind", "list"), text, breaks=tuple(breaks), **fields)


def placed(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """The units one below the other, a blank line between them."""
    found, line = [], 1
    for each in units:
        end = line + each.text.count("\n")
        fields = {name: getattr(each, name) for name in Unit.__struct_fields__}
        found.append(Unit(**{**fields, "locator": Locator("L", line, end)}))
        line = end + 2
    return tuple(found)


def chunked(units: Sequence[Unit], limit: int = 60, min_tokens: int = 0, overlap: int = 0) -> tuple[Chunk, ...]:
    """The chunks of the units; what holds for all chunks is checked."""
    return chunked_with_messages(units, limit, min_tokens, overlap)[0]


def chunked_with_messages(
    units: Sequence[Unit], limit: int = 60, min_tokens: int = 0, overlap: int = 0
) -> tuple[tuple[Chunk, ...], tuple[Message, ...]]:
    document = Document(source="клиника/приём.md", units=placed(units))
    config = Config(max_tokens=limit, min_tokens=min_tokens, overlap_sentences=overlap)
    chunks, messages = chunk_document(document, config, words)
    check_chunks(document, chunks, limit, words)
    return chunks, messages


def texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def owns(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text[chunk.context_chars :] for chunk in chunks]


def contexts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text[: chunk.context_chars] for chunk in chunks]
