"""Sections of Word files: by heading styles alone."""

from __future__ import annotations

from docx_maker import PNG, heading, p, picture, r, read, style, styled, t, tbl, texts, tr
from ragpress.errors import render
from ragpress.records import Document


def sections(document: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(unit.headings, unit.text) for unit in document.units]


def test_headings_make_a_path_and_the_nearest_is_the_section() -> None:
    document = read(
        p("до всего")
        + styled("Heading1", "Клиника")
        + p("о клинике")
        + styled("Heading2", "Приём")
        + p("о приёме")
        + styled("Heading1", "Контакты")
        + p("адрес")
    )
    assert sections(document) == [
        ((), "до всего"),
        (("Клиника",), "о клинике"),
        (("Клиника", "Приём"), "о приёме"),
        (("Контакты",), "адрес"),
    ]
    assert [unit.section for unit in document.units] == ["", "Клиника", "Приём", "Контакты"]
    assert [unit.breadcrumb for unit in document.units] == ["", "## Клиника", "## Клиника\n### Приём", "## Контакты"]
    assert [unit.section_number for unit in document.units] == [0, 1, 2, 3]


def test_a_heading_is_known_by_its_outline_level_whatever_its_name() -> None:
    styles = heading("a1", 0, "Заголовок отдела") + style("a2", "Мой стиль", based="a1") + heading("a3", 1, "عنوان ۲")
    document = read(styled("a2", "Отдел") + styled("a3", "بخش") + p("متن"), styles=styles)
    assert sections(document) == [(("Отдел", "بخش"), "متن")]


def test_a_built_in_heading_needs_no_outline_level() -> None:
    assert sections(read(styled("x1", "Глава") + p("текст"), styles=style("x1", "heading 1"))) == [
        (("Глава",), "текст")
    ]


def test_a_style_based_on_a_heading_may_say_that_it_is_none() -> None:
    plain = '<w:pPr><w:outlineLvl w:val="9"/></w:pPr>'
    styles = heading("Heading1", 0) + style("TOCHeading", "TOC Heading", based="Heading1", inner=plain)
    assert sections(read(styled("TOCHeading", "Оглавление") + p("а"), styles=styles)) == [((), "Оглавление"), ((), "а")]


def test_a_paragraph_may_be_a_heading_by_itself() -> None:
    assert sections(read(p("Глава", '<w:outlineLvl w:val="0"/>') + p("текст"))) == [(("Глава",), "текст")]


def test_bold_or_numbered_or_short_lines_are_no_headings() -> None:
    bold = "<w:r><w:rPr><w:b/></w:rPr>" + t("ВАЖНО") + "</w:r>"
    assert sections(read(p(bold) + p("1. Приём") + p("текст"))) == [((), "ВАЖНО"), ((), "1. Приём"), ((), "текст")]


def test_styles_based_on_each_other_in_a_circle_end() -> None:
    styles = style("a", based="b") + style("b", based="a")
    assert sections(read(styled("a", "текст"), styles=styles)) == [((), "текст")]


def test_the_title_names_the_document_and_stands_above_its_headings() -> None:
    title = styled("Title1", "Устав") + styled("Title1", "клиники")
    document = read(
        title + p("текст") + styled("H1", "Цели") + p("цель"), styles=style("Title1", "Title") + heading("H1", 0)
    )
    assert document.title == "Устав клиники"
    assert sections(document) == [(("Устав клиники",), "текст"), (("Устав клиники", "Цели"), "цель")]
    assert document.units[1].breadcrumb == "## Устав клиники\n### Цели"


def test_a_title_without_a_text_below_it_is_kept_as_a_paragraph() -> None:
    document = read(styled("Title1", "Устав"), styles=style("Title1", "Title"))
    assert (document.title, texts(document)) == ("Устав", ["Устав"])


def test_a_heading_without_a_body_is_kept_as_a_paragraph_with_a_message() -> None:
    document = read(styled("Heading1", "Цены") + styled("Heading2", "пустая") + styled("Heading2", "Скидки") + p("5 %"))
    assert sections(document) == [(("Цены",), "пустая"), (("Цены", "Скидки"), "5 %")]
    (found,) = document.messages
    assert (found.severity, found.code, str(found.locator)) == ("info", "empty-section", "B2")
    assert "“пустая”" in found.text


def test_headings_whose_words_stand_in_the_path_of_others_are_not_kept() -> None:
    document = read(styled("Heading1", "Раз") + styled("Heading2", "Два") + p("а"))
    assert sections(document) == [(("Раз", "Два"), "а")]
    assert document.messages == ()


def test_a_document_of_headings_alone_loses_none() -> None:
    document = read(styled("Heading1", "Раз") + styled("Heading2", "Два") + styled("Heading1", "Три"))
    assert sections(document) == [(("Раз",), "Два"), ((), "Три")]
    assert "and 1 more" in document.messages[0].text


def test_a_whole_paragraph_styled_as_a_heading_is_text() -> None:
    long = "Это не заголовок, а целый абзац, которому кто-то дал стиль заголовка ради крупных букв. " * 3
    document = read(styled("Heading1", "Глава") + styled("Heading1", long) + p("дальше"))
    assert sections(document) == [(("Глава",), long.strip()), (("Глава",), "дальше")]


def test_a_heading_over_nothing_but_a_picture_keeps_its_place_before_it() -> None:
    parts, related = {"word/media/a.png": PNG}, [("rId9", "image", "media/a.png")]
    document = read(styled("Heading1", "Схема") + p(picture("rId9")), also=parts, related=related)
    assert [(unit.kind, unit.text, str(unit.locator)) for unit in document.units] == [
        ("paragraph", "Схема", "B1"),
        ("image_caption", "", "B2"),
    ]


def test_table_rows_belong_to_the_section_around_them() -> None:
    document = read(styled("Heading1", "Филиалы") + tbl(tr("Город", "Тел."), tr("Тверь", "12-34")) + p("Итого"))
    assert sections(document) == [(("Филиалы",), "Город: Тверь\nТел.: 12-34"), (("Филиалы",), "Итого")]


def test_empty_paragraphs_count_as_places_and_are_no_units() -> None:
    document = read(p("") + p("а") + p(" ") + p("б"))
    assert [(str(unit.locator), unit.text) for unit in document.units] == [("B2", "а"), ("B4", "б")]


def test_a_caption_right_before_a_table_is_a_heading_of_its_rows() -> None:
    styles = style("Caption1", "caption") + style("Mine", based="Caption1") + heading("Heading1", 0)
    table = tbl(tr("Город", "Тел."), tr("Тверь", "12-34"))
    document = read(
        styled("Heading1", "Филиалы") + styled("Mine", "Таблица 1. Связь") + table + styled("Mine", "Рис. 1") + p("а"),
        styles=styles,
    )
    assert sections(document) == [
        (("Филиалы", "Таблица 1. Связь"), "Город: Тверь\nТел.: 12-34"),
        (("Филиалы",), "Рис. 1"),
        (("Филиалы",), "а"),
    ]
    assert document.units[0].section == "Филиалы"
    assert document.units[0].breadcrumb == "## Филиалы\n### Таблица 1. Связь"
    assert texts(read(styled("Caption1", "Рамка") + tbl(tr("одна ячейка")), styles=styles)) == ["Рамка", "одна ячейка"]


def bold(text: str) -> str:
    return p(r(text, "<w:b/>"))


def told(body: str) -> list[str]:
    return [render(found) for found in read(body).messages if found.code == "bold-headings"]


def test_bold_lines_open_no_sections_and_the_author_is_told_how_many_look_like_headings() -> None:
    body = (
        p("О клинике")
        + bold("Приём")
        + p("с восьми до шести")
        + bold("Цены:")
        + tbl(tr("Врач", "Цена"), tr("ЛОР", "9"))
    )
    assert {unit.section for unit in read(body).units} == {""}
    assert told(body) == [
        "sources/a.docx:B2: info: 2 bold lines look like headings but have no heading style (first “Приём”), so they"
        " open no sections; give them one in Word [bold-headings]"
    ]


def test_bold_text_that_heads_nothing_is_not_taken_for_headings() -> None:
    assert told(bold("Приём") + p("с восьми до шести")) == []  # one line is emphasis
    assert told((bold("Приходите вовремя!") + p("Ждём вас")) * 3) == []
    assert told(bold("Все") + bold("строки") + bold("жирные")) == []
    assert told((p(r("Приём", "<w:b/>") + r(" с восьми")) + p("до шести")) * 3) == []
    assert told((bold("длинно " * 20) + p("текст")) * 3) == []


def test_a_file_with_more_heading_styles_than_bold_lines_is_in_order() -> None:
    headings = "".join(styled("Heading1", name) + p("текст") for name in ("Первая", "Вторая", "Третья"))
    assert told(headings + (bold("Приём") + p("с восьми до шести")) * 2) == []
