"""Word tables: grids, merges, and which tables hold data."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from docx_maker import docx, gone, ins, p, r, read, style, styled, tbl, tc, texts, tr
from ragpress.config import Config
from ragpress.readers.docx import read_docx
from ragpress.records import Document

HEAD = tr("Город", "Адрес", "Телефон")


def rows(document: Document) -> list[str]:
    return [unit.text for unit in document.units if unit.kind == "table_row"]


def test_a_row_says_its_header_and_its_value_cell_by_cell() -> None:
    (unit,) = read(tbl(HEAD, tr("Тверь", "Садовая, 3", "12-34"))).units
    assert unit.text == "Город: Тверь\nАдрес: Садовая, 3\nТелефон: 12-34"
    assert [unit.text[offset:].split(":")[0] for offset in unit.breaks] == ["Адрес", "Телефон"]
    assert str(unit.locator) == "B1"


def test_the_paragraphs_of_a_cell_keep_their_lines_and_a_name_is_one_line() -> None:
    hours = tc(p("пн–пт 8–20") + p("") + p("сб 9–15<w:br/>".join(("<w:r><w:t>", "</w:t></w:r>"))))
    found = rows(read(tbl(tr("Город", tc(p("Часы") + p("приёма"))), tr("Тверь", hours))))
    assert found == ["Город: Тверь\nЧасы приёма: пн–пт 8–20\nсб 9–15"]


def test_a_horizontally_merged_cell_stands_once() -> None:
    wide = tc("Итого за год", '<w:gridSpan w:val="2"/>')
    old = tc("Итого за год", '<w:hMerge w:val="restart"/>') + tc("", "<w:hMerge/>")
    for merged in (wide, old):
        table = tbl(HEAD, tr("Тверь", "Садовая, 3", "12-34"), f"<w:tr>{merged}{tc('46')}</w:tr>")
        assert rows(read(table))[-1].count("Итого") == 1
        assert rows(read(table))[-1].endswith("Телефон: 46")


def test_a_vertically_merged_value_stands_in_every_row_that_it_covers() -> None:
    begin, on = tc("Север", '<w:vMerge w:val="restart"/>'), tc("", "<w:vMerge/>")
    found = rows(read(tbl(HEAD, tr(begin, "Кемь", "1"), tr(on, "Умба", "2"), tr(on, "Сорока", "3"))))
    assert [row.split("\n")[0] for row in found] == ["Город: Север"] * 3


def test_text_that_a_continued_cell_holds_all_the_same_is_not_lost() -> None:
    begin, on = tc("Север", '<w:vMerge w:val="restart"/>'), tc("Юг", "<w:vMerge/>")
    assert rows(read(tbl(HEAD, tr(begin, "Кемь", "1"), tr(on, "Сочи", "2"))))[1].startswith("Город: Юг")


def test_grid_offsets_keep_values_below_their_headers() -> None:
    table = tbl(HEAD, tr("Тверь", "Садовая, 3", "1"), tr("Лесная, 7", "2", properties='<w:gridBefore w:val="1"/>'))
    assert rows(read(table))[-1] == "Адрес: Лесная, 7\nТелефон: 2"


def test_deleted_rows_and_cells_are_out_and_inserted_ones_in() -> None:
    table = tbl(
        HEAD,
        tr("Тверь", "Садовая, 3", "12-34", properties='<w:ins w:id="1" w:author="x"/>'),
        tr("Клин", "Новая, 1", "56-78", properties='<w:del w:id="2" w:author="x"/>'),
        tr("Псков", tc("Старая, 2", '<w:cellDel w:id="3" w:author="x"/>'), "Мира, 9", "90-12"),
        ins(tr("Ржев", "Речная, 4", "34-56")),
    )
    assert rows(read(table)) == [
        "Город: Тверь\nАдрес: Садовая, 3\nТелефон: 12-34",
        "Город: Псков\nАдрес: Мира, 9\nТелефон: 90-12",
        "Город: Ржев\nАдрес: Речная, 4\nТелефон: 34-56",
    ]


def test_deletions_inside_cells_are_out() -> None:
    table = tbl(HEAD, tr("Тверь", tc(p(gone("Старая, 1") + ins(r("Новая, 2")))), "12-34"))
    assert rows(read(table)) == ["Город: Тверь\nАдрес: Новая, 2\nТелефон: 12-34"]


def test_rows_that_repeat_on_each_page_are_the_header() -> None:
    repeated = "<w:tblHeader/>"
    table = tbl(tr("альфа", "бета", properties=repeated), tr("гамма", "дельта"), tr("эта", "тета"))
    assert rows(read(table)) == ["альфа: гамма\nбета: дельта", "альфа: эта\nбета: тета"]


def test_a_row_that_stands_out_by_colour_or_by_the_style_of_the_table_is_the_header() -> None:
    def shaded(text: str) -> str:
        return tc(text, '<w:shd w:val="clear" w:fill="D9E2F3"/>')

    plain = tr("гамма", "дельта") + tr("эта", "тета") + tr("йота", "каппа") + tr("лямбда", "мю")
    expected = ["альфа: гамма\nбета: дельта", "альфа: эта\nбета: тета"]
    assert rows(read(tbl(tr(shaded("альфа"), shaded("бета")), plain)))[:2] == expected
    first = '<w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr>'
    styles = style("Grid", kind="table", inner=first) + style("Mine", based="Grid", kind="table")
    for look, header in (('w:firstRow="1"', True), ('w:val="04A0"', True), ('w:val="0480"', False)):
        properties = f'<w:tblPr><w:tblStyle w:val="Mine"/><w:tblLook {look}/></w:tblPr>'
        table = f"<w:tbl>{properties}{tr('альфа', 'бета')}{plain}</w:tbl>"
        assert (rows(read(table, styles=styles))[:2] == expected) is header


def test_columns_of_a_right_to_left_table_keep_the_order_of_the_file() -> None:
    table = "<w:tbl><w:tblPr><w:bidiVisual/></w:tblPr>" + tr("ردیف", "شرح کالا", "بها") + tr("۱", "شیر برقی", "۹۸۰۰۰")
    assert rows(read(table + "</w:tbl>")) == ["ردیف: ۱\nشرح کالا: شیر برقی\nبها: ۹۸۰۰۰"]


def test_a_table_in_a_cell_is_read_in_place_and_gives_rows_of_its_own() -> None:
    inner = tbl(tr("Параметр", "Норма"), tr("Высота", "120 см"), tr("Масса", "34 кг"))
    document = read(tbl(tr("А", tc(p("до") + inner + p("после"))), tr("Б", "конец")))
    assert texts(document) == [
        "А",
        "до",
        "Параметр: Высота\nНорма: 120 см",
        "Параметр: Масса\nНорма: 34 кг",
        "после",
        "Б",
        "конец",
    ]


def test_a_small_table_in_a_cell_of_a_long_data_table_does_not_undo_its_rows() -> None:
    inner = tbl(tr("пн", "8–12"), tr("вт", "12–18"))
    many = [tr("Псков", "Мира, 9", f"{n}{n}-00") for n in range(12)]
    found = rows(read(tbl(HEAD, *many, tr("Тверь", tc(p("Садовая, 3") + inner + p("")), "12-34"))))
    assert len(found) == 13
    assert found[-1] == "Город: Тверь\nАдрес: Садовая, 3\nпн | 8–12\nвт | 12–18\nТелефон: 12-34"


def test_a_frame_of_one_cell_is_prose() -> None:
    document = read(tbl(tr(tc(p("Внимание!") + p("Приём только по записи.")))))
    assert [(unit.kind, unit.text) for unit in document.units] == [
        ("paragraph", "Внимание!"),
        ("paragraph", "Приём только по записи."),
    ]


def test_a_cell_as_long_as_a_chunk_makes_a_table_without_header_a_layout() -> None:
    long = "Длинный рассказ о клинике. " * 60
    document = read(tbl(tr("слева", long), tr("ещё", "справа")))
    assert {unit.kind for unit in document.units} == {"paragraph"}
    assert [unit.text[:6] for unit in document.units] == ["слева", "Длинны", "ещё", "справа"]


def test_long_answers_below_a_header_stay_rows() -> None:
    answer = "Приходите натощак и возьмите паспорт. " * 40
    table = tbl(tr("Вопрос", "Ответ"), *[tr(f"Как сдать анализ {n}?", answer) for n in range(4)])
    found = rows(read(table))
    assert len(found) == 4
    assert found[0].startswith("Вопрос: Как сдать анализ 0?\nОтвет: Приходите")


def test_the_names_of_empty_columns_are_not_lost() -> None:
    document = read(tbl(tr("Город", "Подпись"), tr("Тверь 1", ""), tr("Клин 2", "")))
    assert any("Подпись" in text for text in texts(document))


def test_headings_inside_a_layout_open_sections() -> None:
    inner = styled("Heading1", "Услуги") + p("Эндоскопия и спирография.") + tbl(tr("а", "б"), tr("1", "2")) + p("")
    document = read(tbl(tr(tc(inner))))
    assert [unit.section for unit in document.units] == ["Услуги"] * len(document.units)
    assert document.units[0].text == "Эндоскопия и спирография."


def test_numbers_that_a_column_counts_by_itself_are_values() -> None:
    auto = tc(p("", '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'))
    levels = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    table = tbl(tr("Номер", "Врач"), tr(auto, "Терапевт"), tr(auto, "Хирург"))
    assert rows(read(table, numbering=numbering)) == ["Номер: 1.\nВрач: Терапевт", "Номер: 2.\nВрач: Хирург"]


def test_a_row_is_a_block_of_the_body_by_its_table() -> None:
    document = read(p("раз") + tbl(HEAD, tr("Тверь", "Садовая, 3", "12-34")) + p("два"))
    assert [str(unit.locator) for unit in document.units] == ["B1", "B2", "B3"]


def test_absurd_spans_cost_no_memory() -> None:
    wide = tc("всё", '<w:gridSpan w:val="999999999"/>')
    assert rows(read(tbl(tr(wide, "край"), tr("а", "б")))) != []


def test_a_long_table_is_read_in_linear_time() -> None:
    head = tr(*(f"колонка {n}" for n in range(8)))
    data = docx(tbl(head, *(tr(*(f"{m}.{n}" for n in range(8))) for m in range(1500))))
    begin = time.process_time()
    document = read_docx(data, "a.docx", Config())
    assert time.process_time() - begin < 2
    assert len(document.units) == 1500


def test_what_the_schema_forbids_is_read_as_if_it_were_not_said() -> None:
    odd = "".join(
        f'<w:{name} w:val="{value}"/>' for name in ("gridSpan", "vMerge") for value in ("x", "", "-1", "9" * 5000)
    )
    row = tr(tc("Врач", odd), tc("Кабинет", "<w:gridSpan/>"), properties='<w:gridBefore w:val="x"/>')
    table = f"<w:tbl>{row}{tr('Терапевт', '12')}</w:tbl>"
    look = '<w:rStyle/><w:b w:val="x"/><w:vanish w:val="off"/>'
    odd_paragraph = p(r("Приём", look), '<w:pStyle/><w:outlineLvl w:val="x"/><w:numPr><w:numId w:val="x"/></w:numPr>')
    styles = '<w:style w:type="x" w:default="x"><w:name/><w:basedOn/></w:style>'
    numbers = '<w:num w:numId="x"/><w:num><w:lvlOverride/></w:num>'
    section = '<w:sectPr><w:titlePg w:val="x"/><w:headerReference w:type="x"/></w:sectPr>'
    document = read(table + odd_paragraph + section, styles=styles, numbering=numbers)
    assert texts(document) == ["Врач: Терапевт\nКабинет: 12", "Приём"]


def bold(text: str) -> str:
    return tc(p(r(text, "<w:b/>")))


def shaded(text: str) -> str:
    return tc(text, '<w:shd w:val="clear" w:fill="D9D9D9"/>')


@pytest.mark.parametrize("name", [bold, shaded])
def test_names_that_stand_out_beside_values_that_do_not_make_a_card(name: Callable[[str], str]) -> None:
    title = tr(tc("Курс", '<w:gridSpan w:val="2"/>'))
    card = tbl(title, tr(name("Название"), "Бухгалтерия"), tr(name("Часов"), "72"), tr(name("Цена"), "15 000 руб."))
    document = read(card)
    assert rows(document) == ["Название: Бухгалтерия", "Часов: 72", "Цена: 15 000 руб."]
    assert {unit.headings for unit in document.units} == {("Курс",)}


def test_a_card_may_have_two_pairs_a_row_and_names_of_groups() -> None:
    first = tr(bold("ФИО"), tc("Иванова А. А.", '<w:gridSpan w:val="3"/>'))
    second = tr(bold("Приём"), "пн", bold("Кабинет"), "12")
    card = tbl(
        first, tr(tc("Связь", '<w:gridSpan w:val="4"/>')), second, tr(bold("Телефон"), "", bold("Почта"), "a@b.c")
    )
    document = read(card)
    assert rows(document) == ["ФИО: Иванова А. А.", "Приём: пн\nКабинет: 12", "Телефон\nПочта: a@b.c"]
    assert [unit.headings for unit in document.units] == [(), ("Связь",), ("Связь",)]


def test_a_long_value_of_a_card_keeps_its_name_and_a_bold_first_column_under_a_header_is_data() -> None:
    long = "слово " * 300
    card = tbl(tr(bold("Описание"), long), tr(bold("Цена"), "500"))
    assert rows(read(card)) == [f"Описание: {long.strip()}", "Цена: 500"]
    table = tbl(tr(bold("Город"), bold("Цена")), tr(bold("Тверь"), "500"), tr(bold("Псков"), "400"))
    assert rows(read(table)) == ["Город: Тверь\nЦена: 500", "Город: Псков\nЦена: 400"]
