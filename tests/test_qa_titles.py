"""A title line above questions and answers: it goes with the first of them, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from docx_maker import docx, heading, p, styled, tbl, tr
from invariants import check_chunks, own
from ragpress.audit import audit
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.records import Chunk
from units import sentence, words

CONFIG = Config(max_tokens=60, min_tokens=0)
TITLE = "Частые вопросы о приёме"
PAIRS = ("В: Где вход?", "О: Со двора.", "В: Где касса?", "О: Слева.")
LINES = "\n\n".join(["\n".join(PAIRS[:2]), "\n".join(PAIRS[2:])]) + "\n"


def chunked(data: bytes, name: str, config: Config = CONFIG) -> tuple[Chunk, ...]:
    """The chunks, checked for what holds for all; no word of the source is missing in them."""
    document = read_document(data, name, config)
    chunks, messages = chunk_document(document, config, words)
    check_chunks(document, chunks, config.max_tokens, words)
    assert audit(data, document, chunks, config).coverage == 1.0
    assert messages == ()
    return chunks


def word(*paragraphs: str) -> bytes:
    """A Word file of these paragraphs and whatever begins with a tag; `H1` is a heading style."""
    body = "".join(text if text.startswith("<") else p(text) for text in paragraphs)
    return docx(body, styles=heading("H1", 0))


def said(chunks: tuple[Chunk, ...]) -> list[tuple[str, str, str]]:
    """Type, context and own text of each."""
    return [(chunk.content_type, chunk.text[: chunk.context_chars], own(chunk)) for chunk in chunks]


WITH_TITLE = [
    ("qa_pair", "", f"{TITLE}\n\nВ: Где вход?\nО: Со двора."),
    ("qa_pair", "", "В: Где касса?\nО: Слева."),
]


# -- what is a title -------------------------------------------------------------------------------------------------


def test_in_word_it_is_part_of_the_first_pair() -> None:
    chunks = chunked(word(TITLE, *PAIRS), "a.docx")
    assert said(chunks) == WITH_TITLE
    assert [(chunk.section, chunk.headings, chunk.locator) for chunk in chunks] == [("", (), "B1-3"), ("", (), "B4-5")]


def test_in_plain_text_too_though_each_question_is_a_section() -> None:
    chunks = chunked(f"{TITLE}\n\n{LINES}".encode(), "a.txt")
    assert said(chunks) == WITH_TITLE
    assert [(chunk.section, chunk.headings, chunk.locator) for chunk in chunks] == [
        ("Где вход?", ("Где вход?",), "L1-4"),
        ("Где касса?", ("Где касса?",), "L6-7"),
    ]


def test_in_plain_text_with_numbered_questions_too() -> None:
    text = f"{TITLE}\n\n1. Где вход?\nОтвет: Со двора.\n\n2. Где касса?\nОтвет: Слева.\n"
    assert [own(chunk) for chunk in chunked(text.encode(), "a.txt")] == [
        f"{TITLE}\n\n1. Где вход?\nОтвет: Со двора.",
        "2. Где касса?\nОтвет: Слева.",
    ]


def test_in_markdown_it_stands_below_the_heading() -> None:
    assert said(chunked(f"## Приём\n\n{TITLE}\n\n{LINES}".encode(), "a.md")) == [
        ("qa_pair", "## Приём\n\n", f"{TITLE}\n\nВ: Где вход?\nО: Со двора."),
        ("qa_pair", "## Приём\n\n", "В: Где касса?\nО: Слева."),
    ]


def test_each_section_of_word_may_have_one() -> None:
    body = (styled("H1", "Приём"), TITLE, *PAIRS, styled("H1", "Оплата"), "Вопросы об оплате", *PAIRS)
    chunks = chunked(word(*body), "a.docx")
    assert [(chunk.section, own(chunk).split("\n")[0]) for chunk in chunks] == [
        ("Приём", TITLE),
        ("Приём", "В: Где касса?"),
        ("Оплата", "Вопросы об оплате"),
        ("Оплата", "В: Где касса?"),
    ]


def test_above_a_table_of_questions_too() -> None:
    rows = tbl(tr("Вопрос", "Ответ"), tr("Где вход?", "Со двора."), tr("Где касса?", "Слева."))
    assert said(chunked(word(TITLE, rows), "a.docx")) == [
        ("qa_pair", "", f"{TITLE}\n\nВопрос: Где вход?\nОтвет: Со двора."),
        ("qa_pair", "", "Вопрос: Где касса?\nОтвет: Слева."),
    ]


@pytest.mark.parametrize(
    "title",
    [
        "پرسش‌های پرتکرار دربارهٔ خسارت خودرو",
        "سوالات متداول:",
        "FAQ",
        "Вопросы и ответы (часть 2)",
        "Памятка «До и после операции»",
        "Вопросы и ответы 2024",
    ],
)
def test_titles(title: str) -> None:
    first, second = chunked(word(title, *PAIRS), "a.docx")
    assert own(first) == f"{title}\n\nВ: Где вход?\nО: Со двора." and own(second).startswith("В: ")


def test_each_piece_of_a_long_first_pair_begins_with_title_and_question() -> None:
    long = "О: " + " ".join(sentence(name, 20) for name in "абвгд")
    *pieces, last = chunked(word(TITLE, "В: Где лифт?", long, *PAIRS[:2]), "a.docx")
    assert len(pieces) > 2
    assert all(chunk.text.startswith(f"{TITLE}\n\nВ: Где лифт?\n") for chunk in pieces)
    assert said((last,)) == [("qa_pair", "", "В: Где вход?\nО: Со двора.")]


# -- what is none ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "Мы отвечаем на вопросы.",
        "Добро пожаловать!",
        "Что вы хотели узнать?",
        "چه می‌خواهید بدانید؟",
        "Уважаемые пациенты,",
        "Клиника. Частые вопросы",
        "1. Общие вопросы",
        "- Общие вопросы",
        "Обновлено 12.03.2024",
        "+7 000 000-00-00",
        "* * *",
        " ".join(["слово"] * 13),
    ],
)
def test_no_titles(line: str) -> None:
    chunks = chunked(word(line, *PAIRS), "a.docx")
    assert [own(chunk) for chunk in chunks] == [line, "В: Где вход?\nО: Со двора.", "В: Где касса?\nО: Слева."]


def test_a_line_over_a_single_pair_is_none() -> None:
    assert [own(chunk) for chunk in chunked(word(TITLE, *PAIRS[:2]), "a.docx")] == [TITLE, "В: Где вход?\nО: Со двора."]


def test_a_line_that_is_not_the_first_or_not_right_above_is_none() -> None:
    for before, after in ((("Клиника «Берёза»", TITLE), ()), ((TITLE,), ("Ответы даёт регистратура.",))):
        chunks = chunked(word(*before, *after, *PAIRS), "a.docx")
        assert [own(chunk) for chunk in chunks][:2] == [*before, *after]
        assert not any(chunk.context_chars for chunk in chunks)


def test_a_line_above_a_heading_belongs_to_no_pair_below_it() -> None:
    chunks = chunked(word(TITLE, styled("H1", "Приём"), *PAIRS), "a.docx")
    assert own(chunks[0]) == TITLE and chunks[1].text.startswith("## Приём\n\nВ:")


def test_a_line_over_pairs_with_something_in_between_is_none() -> None:
    table = tbl(tr("Услуга", "Цена"), *(tr(f"услуга {number}", f"{number} рублей") for number in range(40)))
    chunks = chunked(word(TITLE, *PAIRS[:2], table, *PAIRS[2:]), "a.docx")
    assert own(chunks[0]) == TITLE


def test_without_pairs_a_title_line_stays_a_paragraph() -> None:
    config = Config(max_tokens=60, min_tokens=0, detect_qa=False)
    assert own(chunked(word(TITLE, *PAIRS), "a.docx", config)[0]) == TITLE
