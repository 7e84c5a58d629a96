"""One text that is too long: where it is cut, how full its pieces are, and what they repeat."""

from __future__ import annotations

import unicodedata

import pytest

from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.records import Document, Locator
from units import chunked, chunked_with_messages, contexts, listing, owns, paragraph, sentence, unit


def table(rows: int, header: str = "| Услуга | Цена |") -> tuple[str, int, tuple[int, ...]]:
    head = f"{header}\n|---|---|"
    lines = [f"| У{number} | {number} руб. |" for number in range(rows)]
    text = "\n".join([head, *lines])
    return text, len(head), tuple(text.index(line) for line in lines)


def test_a_long_paragraph_is_cut_at_sentences_and_filled_up() -> None:
    chunks = chunked([paragraph("p", 12)])
    assert [own.count(".") for own in owns(chunks)] == [5, 5, 2]
    assert owns(chunks)[1].startswith("Pf1 ")


def test_the_pieces_of_a_paragraph_overlap_by_sentences() -> None:
    chunks = chunked([paragraph("p", 24, 5)], overlap=2)
    assert contexts(chunks)[1:] == [
        f"## Приём\n\n{sentence('pj', 5)} {sentence('pk', 5)} ",
        f"## Приём\n\n{sentence('ps', 5)} {sentence('pt', 5)} ",
    ]
    assert [own.count(".") for own in owns(chunks)] == [11, 9, 4]


def test_a_last_piece_below_min_tokens_is_evened_out() -> None:
    assert [own.count(".") for own in owns(chunked([paragraph("p", 11)]))] == [5, 5, 1]
    assert [own.count(".") for own in owns(chunked([paragraph("p", 11)], min_tokens=15))] == [5, 3, 3]


def test_a_long_list_is_cut_between_items() -> None:
    items = [f"{number}. {sentence(f'i{number}x', 8)}" for number in range(1, 30)]
    chunks = chunked([listing(items)])
    assert "\n".join(owns(chunks)).splitlines() == items


def test_an_item_that_is_too_long_is_cut_at_sentences() -> None:
    long = f"- {paragraph('q', 8).text}"
    chunks = chunked([listing(["- a", long, "- b"])])
    assert [own.partition(" ")[0] for own in owns(chunks)] == ["-", "Qf1"]
    assert owns(chunks)[-1].endswith("\n- b")


def test_nested_items_and_code_keep_their_indentation() -> None:
    lines = [f"    {'    ' * (number % 2)}step{number} a b c d" for number in range(40)]
    chunks = chunked([listing(["def run():", *lines], kind="code")])
    assert len(chunks) > 1
    assert "\n".join(owns(chunks)).splitlines() == ["def run():", *lines]


def test_each_piece_of_a_table_has_the_header_and_whole_rows() -> None:
    text, repeat, breaks = table(40)
    chunks = chunked([unit("table", text, repeat=repeat, breaks=breaks)])
    assert len(chunks) > 2
    assert contexts(chunks) == ["## Приём\n\n"] + [f"## Приём\n\n{text[:repeat]}\n"] * (len(chunks) - 1)
    assert "\n".join(owns(chunks)) == text


def test_evening_out_leaves_a_heading_with_its_text() -> None:
    units = [unit("heading", f"### {sentence('h', 24)}"), unit("paragraph", f"{sentence('p', 25)} {sentence('q', 8)}")]
    assert owns(chunked(units, min_tokens=15))[1] == sentence("q", 8)


def test_evening_out_leaves_room_for_a_table_header() -> None:
    rows = ["h h h\n- -", sentence("p", 10), sentence("q", 40), sentence("r", 11)]
    text = "\n".join(rows)
    cut = unit("table", text, repeat=len(rows[0]), breaks=tuple(text.index(row) for row in rows[1:]))
    assert owns(chunked([cut], min_tokens=12)) == ["\n".join(rows[:3]), rows[3]]


def test_a_table_header_stays_with_the_first_row_even_where_it_is_too_long_to_repeat() -> None:
    header, row = sentence("h", 25), sentence("p", 20)
    text = f"{header}\n{row}\n{sentence('q')}"
    cut = unit("table", text, section=sentence("s", 13), repeat=len(header), breaks=(len(header) + 1, text.index("Q1")))
    assert owns(chunked([cut]))[0].startswith(f"{header}\nP1 ")


def test_a_table_header_that_leaves_no_room_is_not_repeated_and_that_is_said() -> None:
    text, repeat, breaks = table(30, "| " + " | ".join(f"колонка{number}" for number in range(25)) + " |")
    chunks, messages = chunked_with_messages([unit("table", text, repeat=repeat, breaks=breaks)])
    assert [found.code for found in messages] == ["long-heading"]
    assert set(contexts(chunks)) == {"## Приём\n\n"}


def test_text_without_stops_is_cut_at_spaces_and_fills_its_chunks() -> None:
    text = " ".join(f"метка{number}" for number in range(500))
    chunks, messages = chunked_with_messages([unit("paragraph", text)], overlap=2)
    assert " ".join(owns(chunks)) == text
    assert len(chunks) == 10  # 55 words each
    assert messages == ()


def test_no_break_spaces_are_cut_only_where_there_are_no_others() -> None:
    bound = "5\u00a0кг"
    chunks = chunked([unit("paragraph", f"{bound} " * 200)])
    assert all(own.startswith("5") and own.endswith("кг") for own in owns(chunks))
    chunks, messages = chunked_with_messages([unit("paragraph", "\u00a0".join(["слово"] * 200))])
    assert len(chunks) == 4
    assert messages == ()


def characters(text: str) -> int:
    """A token a character, white space apart: long words are long here."""
    return 3 + len("".join(text.split()))


@pytest.mark.parametrize(
    "word",
    ["x" * 500, "é" * 300, "e\u0301" * 200, "می‌" * 150, "👨\u200d👩\u200d👧" * 40, "👩🏽" * 120],
)
def test_a_word_longer_than_a_chunk_is_cut_between_characters_with_a_message(word: str) -> None:
    document = Document(source="a.txt", units=(unit("paragraph", f"до {word} после", breadcrumb=""),))
    chunks, messages = chunk_document(document, Config(max_tokens=60, min_tokens=0), characters)
    assert [(found.severity, found.code) for found in messages] == [("warning", "long-word")]
    assert "".join("".join(owns(chunks)).split()) == f"до{word}после"
    assert owns(chunks)[0].startswith(f"до {word[0]}")
    assert all(chunk.tokens <= 60 for chunk in chunks)
    assert len(chunks) <= len(word) / 57 + 3
    for own in owns(chunks):
        assert not unicodedata.category(own[0]).startswith("M")
        assert own[0] not in "\u200c\u200d🏽"
        assert own[-1] not in "\u200c\u200d" or own[-1] == word[-1]


def test_long_words_are_named_once_a_source() -> None:
    document = Document(source="a.txt", units=(unit("paragraph", f"{'x' * 500} y {'z' * 500}"),))
    _, messages = chunk_document(document, Config(max_tokens=60), characters)
    assert [found.text for found in messages] == [
        f"«{'x' * 20}…» and 1 more are longer than a chunk may be and cut inside; check whether it is text"
    ]


def test_a_letter_with_more_marks_than_a_chunk_holds_is_cut_all_the_same() -> None:
    document = Document(source="a.txt", units=(unit("paragraph", "a" + "\u0301" * 200, breadcrumb=""),))
    chunks, _ = chunk_document(document, Config(max_tokens=60, min_tokens=0), characters)
    assert "".join(owns(chunks)) == "a" + "\u0301" * 200
    assert all(chunk.tokens <= 60 for chunk in chunks)


def test_the_pieces_of_a_unit_tell_their_own_lines() -> None:
    items = [f"- {sentence(f'i{number}x', 8)}" for number in range(12)]
    chunks = chunked([paragraph("p", 2), listing(items)])
    assert [chunk.locator for chunk in chunks] == ["L1", "L3-8", "L9-14"]


def test_a_unit_whose_lines_are_not_those_of_the_source_is_placed_whole() -> None:
    unwrapped = unit("paragraph", paragraph("p", 12).text, locator=Locator("L", 3, 7))
    chunks, _ = chunk_document(Document(source="a.md", units=(unwrapped,)), Config(), len)
    assert [chunk.locator for chunk in chunks] == ["L3-7", "L3-7"]


def test_the_limit_holds_for_a_tokenizer_that_joins_text_across_spaces() -> None:
    def bytewise(text: str) -> int:
        return 5 + (len(text.encode()) + 2) // 3

    document = Document(source="a.md", units=(paragraph("p", 40), paragraph("q", 1, 90)))
    chunks, _ = chunk_document(document, Config(max_tokens=64), bytewise)
    assert all(chunk.tokens == bytewise(chunk.text) <= 64 for chunk in chunks)


def test_the_work_grows_with_the_text_and_not_with_its_square() -> None:
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return 3 + len(text.split())

    def work(sentences: int) -> float:
        nonlocal counted
        counted = 0
        text = " ".join(sentence(f"s{number}x", 12) for number in range(sentences))
        chunk_document(Document(source="a.txt", units=(unit("paragraph", text),)), Config(max_tokens=64), count)
        return counted / len(text)

    assert work(4000) < 1.2 * work(400) < 8
