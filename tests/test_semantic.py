"""Chunking by meaning: where a paragraph is cut, what stays whole, what is compared at all."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

import pytest

from invariants import check_chunks, own
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.records import Chunk, Document, Unit
from units import listing, placed, sentence, unit, words


def alike(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """The share of the letters in which two texts begin their words that both have."""
    found = []
    for one, two in pairs:
        first, second = ({word[0] for word in re.findall(r"\w+", text.lower())} for text in (one, two))
        found.append(len(first & second) / len(first | second))
    return found


def about(name: str, sentences: int) -> str:
    """Sentences of ten words that all begin with the letters of one subject."""
    return " ".join(sentence(f"{name}{number}", 10) for number in range(sentences))


def chunked(
    units: Sequence[Unit], limit: int = 100, min_tokens: int = 0, percentile: int = 20, overlap: int = 0
) -> tuple[Chunk, ...]:
    document = Document(source="клиника/приём.md", units=placed(units))
    config = Config(
        max_tokens=limit,
        min_tokens=min_tokens,
        overlap_sentences=overlap,
        strategy="semantic",
        breakpoint_percentile=percentile,
    )
    chunks, _ = chunk_document(document, config, words, alike)
    check_chunks(document, chunks, limit, words)
    return chunks


def prose(*subjects: tuple[str, int], **fields: Any) -> Unit:
    """A paragraph of so many sentences about each subject."""
    return unit("paragraph", " ".join(about(*subject) for subject in subjects), **fields)


def plain(*subjects: tuple[str, int]) -> Unit:
    """A paragraph under no heading."""
    return prose(*subjects, section="", headings=(), breadcrumb="")


def first_words(chunks: Sequence[Chunk]) -> list[str]:
    return [own(chunk).split()[0] for chunk in chunks]


def test_a_paragraph_is_cut_where_its_subject_changes() -> None:
    chunks = chunked([plain(("весло", 4), ("парус", 3), ("якорь", 4))])
    assert first_words(chunks) == ["Весло01", "Парус01", "Якорь01"]


def test_a_paragraph_about_one_thing_is_not_cut() -> None:
    chunks = chunked([plain(("весло", 6)), plain(("парус", 6))])
    assert first_words(chunks) == ["Весло01", "Парус01"]


def test_a_higher_percentile_cuts_more() -> None:
    text = [plain(("весло", 2), ("парус", 2), ("якорь", 2), ("трюм", 2), ("борт", 2))]
    assert [len(chunked(text, percentile=percentile)) for percentile in (5, 50)] == [2, 5]


def test_a_section_that_fits_stays_one_chunk_and_a_longer_one_does_not() -> None:
    paragraph = prose(("весло", 2), ("парус", 2))
    assert len(chunked([paragraph], limit=60)) == 1
    more = prose(("якорь", 3))
    assert first_words(chunked([paragraph, more], limit=60)) == ["Весло01", "Парус01", "Якорь01"]


def test_lists_and_tables_stay_whole() -> None:
    items = listing([f"- {about(name, 1)}" for name in ("весло", "парус", "якорь", "трюм")])
    table = listing([f"| {about(name, 1)} |" for name in ("весло", "парус", "якорь", "трюм")], kind="table")
    chunks = chunked([prose(("борт", 3), ("киль", 3)), items, table])
    assert first_words(chunks) == ["Борт01", "Киль01", "-", "|"]


def test_a_part_below_min_tokens_stays_with_the_neighbour_that_is_more_like_it() -> None:
    text = f"{about('весло', 4)} {sentence('весна парус', 4)} {about('парус', 4)}"
    (left, right) = chunked(
        [unit("paragraph", text, section="", headings=(), breadcrumb="")], min_tokens=20, percentile=50
    )
    assert "Весна" in own(left) or "Весна" in own(right)
    assert min(len(own(left).split()), len(own(right).split())) >= 20


def test_what_is_too_long_without_a_seam_is_cut_where_it_is_least_alike() -> None:
    text = f"{about('весло', 5)} {about('весло парус', 1)} {about('парус', 5)}"
    chunks = chunked([unit("paragraph", text, section="", headings=(), breadcrumb="")], limit=80, percentile=1)
    assert max(chunk.tokens for chunk in chunks) <= 80 and len(chunks) > 1


def test_a_sentence_longer_than_a_chunk_is_cut_and_never_compared() -> None:
    asked: list[tuple[str, str]] = []

    def noting(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return alike(pairs)

    text = f"{about('весло', 2)} {sentence('парус', 300)} {about('якорь', 2)}"
    document = Document(source="а.txt", units=placed([unit("paragraph", text, breadcrumb="")]))
    config = Config(max_tokens=60, min_tokens=0, strategy="semantic")
    chunks, _ = chunk_document(document, config, words, noting)
    check_chunks(document, chunks, 60, words)
    assert asked and not [pair for pair in asked if "арус" in pair[0] + pair[1]]


def test_only_sentences_of_paragraphs_that_may_be_cut_are_compared() -> None:
    asked: list[tuple[str, str]] = []

    def noting(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return alike(pairs)

    units = [
        unit("paragraph", sentence("весло", 90)),  # one sentence
        unit("paragraph", about("парус", 2)),  # too short for two parts
        listing([about("якорь", 3), about("трюм", 3)]),
        unit("paragraph", about("борт", 6)),
        unit("paragraph", about("киль", 6), section="Мал", number=1),  # a section that fits
    ]
    config = Config(max_tokens=100, min_tokens=20, strategy="semantic")
    chunk_document(Document(source="а.md", units=placed(units)), config, words, noting)
    assert {word[:4] for pair in asked for text in pair for word in text.lower().split()} == {"борт"}


def test_sentences_are_compared_however_their_lines_are_wrapped() -> None:
    asked: list[tuple[str, str]] = []

    def noting(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return alike(pairs)

    config = Config(max_tokens=40, min_tokens=0, strategy="semantic")
    text = about("весло", 4)
    for wrapped in (text, text.replace(" весло03", "\nвесло03")):
        document = read_document(wrapped.encode(), "a.md", config)
        chunk_document(document, config, words, noting)
    assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]


def test_the_tail_of_the_part_before_is_repeated() -> None:
    chunks = chunked([plain(("весло", 4), ("парус", 4))], overlap=1)
    assert chunks[1].text[: chunks[1].context_chars].strip() == sentence("весло3", 10)


def test_pairs_and_rows_are_no_prose() -> None:
    pair = unit("qa_pair", f"Вопрос: {about('весло', 1)}\nОтвет: {about('парус', 2)} {about('якорь', 2)}")
    assert len(chunked([pair])) == 1


def test_without_something_to_compare_with_it_is_a_fault_of_the_caller() -> None:
    document = Document(source="а.txt", units=placed([plain(("весло", 3))]))
    with pytest.raises(ValueError, match="compare"):
        chunk_document(document, Config(strategy="semantic"), words)


@pytest.mark.parametrize("text", ["А. " * 40_000, "а " * 100_000, about("весло", 8_000)])
def test_hostile_prose_is_cut_in_linear_time(text: str) -> None:
    document = Document(source="а.txt", units=placed([unit("paragraph", text.strip(), breadcrumb="")]))
    begin = time.perf_counter()
    chunk_document(document, Config(strategy="semantic"), words, lambda pairs: [1.0] * len(pairs))
    assert time.perf_counter() - begin < 5
