"""Pairs of questions and answers on their way to chunks: places, sections, splitting, what stays as it was."""

from __future__ import annotations

import time

import pytest

from docx_maker import docx, heading, p, styled, tbl, tr
from invariants import check_chunks, own
from ragpress.chunking import chunk_document
from ragpress.chunking.qa import find_pairs
from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.records import Chunk, Locator, Unit
from units import sentence, words

CONFIG = Config(max_tokens=60, min_tokens=0)


def chunked(text: str | bytes, name: str = "a.txt", config: Config = CONFIG) -> tuple[Chunk, ...]:
    document = read_document(text.encode() if isinstance(text, str) else text, name, config)
    chunks, _ = chunk_document(document, config, words)
    check_chunks(document, chunks, config.max_tokens, words)
    return chunks


def kinds(chunks: tuple[Chunk, ...]) -> list[str]:
    return [chunk.content_type for chunk in chunks]


def prose(*texts: str, section_number: int = 0) -> list[Unit]:
    return [
        Unit(kind="paragraph", text=text, locator=Locator("B", number, number), section_number=section_number)
        for number, text in enumerate(texts, start=1)
    ]


def pairs(units: list[Unit], config: Config = CONFIG) -> list[Unit]:
    return [unit for unit in find_pairs(units, config) if unit.kind == "qa_pair"]


# -- chunks ----------------------------------------------------------------------------------------------------------


def test_question_and_answer_stand_in_one_chunk_alone() -> None:
    chunks = chunked("Справка.\n\nВ: Где вход?\nО: Со двора.\n\nВ: Где касса?\nО: Слева.\n")
    assert [(chunk.content_type, own(chunk)) for chunk in chunks] == [
        ("paragraph", "Справка."),
        ("qa_pair", "В: Где вход?\nО: Со двора."),
        ("qa_pair", "В: Где касса?\nО: Слева."),
    ]
    assert [chunk.locator for chunk in chunks] == ["L1", "L3-4", "L6-7"]


def test_a_pair_that_fits_is_never_split() -> None:
    answer = "\n".join(f"- {sentence(name, 5)}" for name in "абвгд")
    (chunk,) = chunked(
        f"Вопрос: Что взять?\nОтвет: Вот список.\n\n{answer}\n", config=Config(max_tokens=60, min_tokens=48)
    )
    assert own(chunk).count("\n- ") == 5


def test_each_piece_of_a_long_answer_begins_with_the_question() -> None:
    answer = "\n\n".join(sentence(name, 20) for name in "абвгде")
    chunks = chunked(f"Вопрос: Как подготовиться к осмотру?\nОтвет: {answer}\n")
    assert len(chunks) > 2 and set(kinds(chunks)) == {"qa_pair"}
    assert all(chunk.text.startswith("Вопрос: Как подготовиться к осмотру?\n") for chunk in chunks)
    assert [chunk.context_chars > 0 for chunk in chunks] == [False] + [True] * (len(chunks) - 1)


def test_a_long_answer_is_split_between_its_paragraphs_and_items() -> None:
    items = "\n".join(f"- {sentence(name, 12)}" for name in "абвгде")
    chunks = chunked(f"Вопрос: Что взять с собой?\n\nОтвет: Вот список.\n\n{items}\n", "a.md")
    assert len(chunks) > 1
    assert all(line.startswith("- ") for chunk in chunks[1:] for line in own(chunk).split("\n"))


def test_nothing_of_one_answer_is_repeated_in_the_next_pair() -> None:
    text = "".join(f"В: Где {name}?\nО: {sentence(name, 20)} {sentence(name + 'я', 20)}\n\n" for name in "абв")
    chunks = chunked(text, config=Config(max_tokens=60, overlap_sentences=2, min_tokens=48))
    assert kinds(chunks) == ["qa_pair"] * 3 and not any(chunk.context_chars for chunk in chunks)


def test_pairs_stand_under_their_headings() -> None:
    chunks = chunked("## Оплата\n\n**В:** Берёте карты?\n**О:** Да.\n\n## Вход\n\nСо двора.\n", "a.md")
    assert [(chunk.content_type, chunk.section, chunk.text.split("\n")[0]) for chunk in chunks] == [
        ("qa_pair", "Оплата", "## Оплата"),
        ("paragraph", "Вход", "## Вход"),
    ]


def test_a_deeper_heading_goes_with_the_pair_below_it() -> None:
    text = "## Услуги\n\nОбщее.\n\n### Оплата\n\nВ: Берёте карты?\nО: Да.\n\nВ: Дадите чек?\nО: Да, на почту.\n"
    chunks = chunked(text, "a.md")
    assert [own(chunk) for chunk in chunks] == [
        "Общее.",
        "### Оплата\n\nВ: Берёте карты?\nО: Да.",
        "В: Дадите чек?\nО: Да, на почту.",
    ]
    assert "### Оплата" in chunks[2].text and chunks[2].headings[-1] == "Оплата"


def test_a_deeper_heading_that_asks_is_repeated_with_each_piece_of_its_answer() -> None:
    answer = "\n\n".join(sentence(name, 20) for name in "абвгде")
    chunks = chunked(f"## Приём\n\n### Как подготовиться?\n\nОтвет: {answer}\n", "a.md")
    assert len(chunks) > 2 and set(kinds(chunks)) == {"qa_pair"}
    assert all("### Как подготовиться?" in chunk.text for chunk in chunks)


def test_an_h2_that_asks_stays_a_section() -> None:
    (chunk,) = chunked("## Когда открываетесь?\n\nОтвет: в восемь.\n", "a.md")
    assert (chunk.content_type, chunk.section) == ("paragraph", "Когда открываетесь?")


def test_a_heading_in_word_ends_an_answer() -> None:
    body = p("В: Где вход?") + p("О: Со двора.") + styled("H1", "Оплата") + p("Картой.")
    chunks = chunked(docx(body, styles=heading("H1", 0)), "a.docx")
    assert [(chunk.content_type, own(chunk)) for chunk in chunks] == [
        ("qa_pair", "В: Где вход?\nО: Со двора."),
        ("paragraph", "Картой."),
    ]


def test_a_page_footer_is_no_part_of_the_last_answer() -> None:
    footer = '<w:sectPr><w:footerReference w:type="default" r:id="rId_footer1"/></w:sectPr>'
    body = p("В: Где вход?") + p("О: Со двора.") + footer
    chunks = chunked(docx(body, footer1=p("Клиника «Берёза»")), "a.docx")
    assert [own(chunk) for chunk in chunks] == ["В: Где вход?\nО: Со двора.", "Клиника «Берёза»"]


def test_the_setting_turns_pairs_off() -> None:
    config = Config(max_tokens=60, min_tokens=0, detect_qa=False)
    assert set(kinds(chunked("В: Где вход?\nО: Со двора.\n", config=config))) == {"paragraph"}
    assert set(kinds(chunked("Вопрос;Ответ\nГде вход?;Со двора.\nГде касса?;Слева.\n", "a.csv", config))) == {
        "table_row"
    }


# -- tables ----------------------------------------------------------------------------------------------------------


def test_a_row_with_question_and_answer_is_a_pair_with_all_its_cells() -> None:
    (first, *_) = chunked("№;Раздел;Вопрос;Ответ\n1;Вход;Где вход?;Со двора.\n2;Вход;Где лифт?;Слева.\n", "a.csv")
    assert (first.content_type, first.text) == ("qa_pair", "№: 1\nРаздел: Вход\nВопрос: Где вход?\nОтвет: Со двора.")


def test_the_pieces_of_a_long_row_begin_with_its_question() -> None:
    answer = " ".join(sentence(name, 20) for name in "абвгде")
    chunks = chunked(f"Вопрос;Ответ\nКак подготовиться?;{answer}\nГде вход?;Со двора.\n", "a.csv")
    assert all(chunk.text.startswith("Вопрос: Как подготовиться?\n") for chunk in chunks[:-1])
    assert chunks[1].context_chars and own(chunks[-1]) == "Вопрос: Где вход?\nОтвет: Со двора."


def test_a_table_of_one_long_pair_is_no_page_layout() -> None:
    answer = " ".join(sentence(name, 20) for name in "абвгде")
    chunks = chunked(docx(tbl(tr("Вопрос", "Ответ"), tr("Где вход?", answer))), "a.docx")
    assert len(chunks) > 1 and set(kinds(chunks)) == {"qa_pair"}
    assert all(chunk.text.startswith("Вопрос: Где вход?\n") for chunk in chunks)


def test_a_question_behind_its_answer_goes_before_it() -> None:
    row = Unit(
        kind="table_row",
        text="ردیف: ۱\nپاسخ: از حیاط.\nطبقهٔ اول.\nسوال: ورودی کجاست؟",
        locator=Locator("R", 2, 2),
        breaks=(8, 34),
    )
    (pair,) = pairs([row])
    assert pair.text == "ردیف: ۱\nسوال: ورودی کجاست؟\nپاسخ: از حیاط.\nطبقهٔ اول."
    assert pair.text[: pair.repeat] == "ردیف: ۱\nسوال: ورودی کجاست؟\n"
    assert [pair.text[at:].split(":")[0] for at in pair.breaks] == ["سوال", "پاسخ"]


def test_cells_with_labels_of_their_own_are_a_pair_without_a_header() -> None:
    rows = tbl(tr("Вопрос: Где вход?", "Ответ: Со двора."), tr("Вопрос: Где лифт?", "Ответ: Слева."))
    assert [own(chunk) for chunk in chunked(docx(rows), "a.docx")] == [
        "Вопрос: Где вход?\nОтвет: Со двора.",
        "Вопрос: Где лифт?\nОтвет: Слева.",
    ]


def test_a_markdown_table_of_questions_is_a_pair_a_row() -> None:
    rows = ("| № | Вопрос | Ответ |", "|---|:--|---|", "| 1 | Где вход? | Со двора \\| арка |", "| 2 | Где лифт? | |")
    document = read_document("\n".join(("## Справка", "", *rows)).encode(), "a.md", CONFIG)
    chunks, _ = chunk_document(document, CONFIG, words)
    assert [(chunk.content_type, chunk.locator, own(chunk)) for chunk in chunks] == [
        ("qa_pair", "L5", "№: 1\nВопрос: Где вход?\nОтвет: Со двора | арка"),
        ("table_row", "L6", "№: 2\nВопрос: Где лифт?"),
    ]
    assert all(chunk.text.startswith("## Справка\n\n") for chunk in chunks)


# -- units -----------------------------------------------------------------------------------------------------------


def test_several_pairs_in_one_paragraph_come_apart_with_their_lines() -> None:
    unit = Unit(
        kind="paragraph",
        text="Справка:\nВ: Где вход?\nО: Со двора.\nВ: Где касса?\nО: Слева.\nПодробнее\nна стенде.",
        locator=Locator("L", 10, 16),
    )
    assert [(each.kind, str(each.locator), each.text) for each in find_pairs([unit], CONFIG)] == [
        ("paragraph", "L10", "Справка:"),
        ("qa_pair", "L11-12", "В: Где вход?\nО: Со двора."),
        ("qa_pair", "L13-16", "В: Где касса?\nО: Слева.\nПодробнее\nна стенде."),
    ]


def test_what_is_repeated_is_the_question_with_its_line_end_and_breaks_are_where_paragraphs_begin() -> None:
    (pair,) = pairs(prose("Вопрос: Кто?", "Уточню: когда?", "Ответ: врач.", "Утром."))
    assert pair.text[: pair.repeat] == "Вопрос: Кто?\nУточню: когда?\n"
    assert [pair.text[at:] for at in pair.breaks] == ["Ответ: врач.\n\nУтром.", "Утром."]


def test_a_section_that_ends_ends_an_answer() -> None:
    units = prose("В: Где вход?", "О: Со двора.") + prose("Арка справа.", section_number=1)
    assert [unit.text for unit in find_pairs(units, CONFIG)] == ["В: Где вход?\nО: Со двора.", "Арка справа."]


def test_an_answer_does_not_swallow_a_long_text_that_no_question_ends() -> None:
    text = [sentence(f"слово{number}", 40) for number in range(20)]
    found = find_pairs(prose("В: Где вход?", "О: Со двора.", *text), CONFIG)
    assert found[0].text == "В: Где вход?\nО: Со двора." and len(found) == 21
    bounded = pairs(prose("В: Где вход?", "О: Со двора.", *text, "В: Где касса?", "О: Слева."))
    assert bounded[0].text.endswith(text[-1])


def test_a_big_table_ends_an_answer_and_stays_rows() -> None:
    rows = "".join(tr(f"услуга {number}", f"{number} рублей") for number in range(40))
    body = p("В: Сколько стоит?") + p("О: По прейскуранту.") + tbl(tr("Услуга", "Цена"), rows)
    assert kinds(chunked(docx(body), "a.docx"))[:2] == ["qa_pair", "table_row"]


def test_a_picture_with_a_caption_ends_an_answer_and_one_without_does_not() -> None:
    picture = Unit(kind="image_caption", text="Схема входа", locator=Locator("B", 3, 3), picture="0" * 64)
    one, two, three = prose("В: Где вход?", "О: Со двора.", "Под аркой.")
    found = find_pairs([one, two, picture, three], CONFIG)
    assert [unit.kind for unit in found] == ["qa_pair", "image_caption", "paragraph"]


@pytest.mark.parametrize(
    "text",
    [
        "В: а\n" * 20_000,
        "В: а?\nО: б\n" * 10_000,
        "слово\n" * 50_000,
        "В: слово\n" + "слово\n" * 50_000,
        "1. слово\n" * 30_000,
        "-*" * 100_000,
        "Вопрос: а? " * 20_000,
        "Вопрос " * 30_000,
        "? Ответ " * 30_000,
    ],
)
def test_hostile_text_is_paired_in_linear_time(text: str) -> None:
    begin = time.perf_counter()
    find_pairs([Unit(kind="paragraph", text=text.strip(), locator=Locator("B", 1, 1))], CONFIG)
    assert time.perf_counter() - begin < 3
