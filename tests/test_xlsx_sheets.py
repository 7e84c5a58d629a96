"""Which sheets, rows and columns are seen, and how tables on a sheet are told apart."""

from __future__ import annotations

import pytest

from ragpress.errors import SourceError
from ragpress.readers.xlsx import is_default_name
from xlsx_maker import MAIN, Sheet, Styled, Value, make_xlsx, merge, read, rows, said, styles_part, texts

Grid = list[list[Value | Styled]]
TABLE = rows([["Имя", "Число"], ["Мост", 1], ["Брод", 2], ["Вал", 3]])


def hidden_columns(*ranges: tuple[int, int]) -> str:
    return (
        "<cols>"
        + "".join(f'<col min="{first}" max="{last}" hidden="1" width="0"/>' for first, last in ranges)
        + "</cols>"
    )


def table_part(reference: str, header_rows: str = "", inside: str = "") -> str:
    return f'<table xmlns="{MAIN}" id="1" name="T" ref="{reference}" {header_rows}>{inside}</table>'


def test_the_sheet_names_the_section_and_the_breadcrumb_unless_it_is_a_default() -> None:
    own, default = read(make_xlsx({"Склад": TABLE, "Лист1": TABLE})).units[::3]
    assert (own.section, own.headings, own.breadcrumb) == ("Склад", ("Склад",), "## Склад")
    assert (default.section, default.headings, default.breadcrumb) == ("Лист1", ("Лист1",), "")
    assert own.section_number != default.section_number


@pytest.mark.parametrize("name", ["Sheet1", "Лист 2", "برگه1", "کاربرگ۱", "شیت 1", "Sheet1 (2)", "Tabelle1"])
def test_names_that_the_program_gave_are_known(name: str) -> None:
    assert is_default_name(name)
    assert not is_default_name(f"{name} цены")


def test_a_title_merged_across_the_table_is_a_heading() -> None:
    sheet = Sheet(
        rows([["Остатки на складе"], ["Группа", "Товар", "Число"], ["Крепёж", "Болт", 4]]), after=merge("A1:C1")
    )
    (unit,) = read(make_xlsx({"Лист1": sheet})).units
    assert unit.headings == ("Лист1", "Остатки на складе")
    assert unit.breadcrumb == "## Остатки на складе"


def test_a_vertically_merged_value_stands_in_every_row_and_a_horizontal_one_once() -> None:
    grid: Grid = [
        ["Группа", "Товар", "Число", "Место"],
        ["Крепёж", "Болт", 4, "А"],
        [None, "Гайка", 5],
        [None, "Шайба", 6, "Б"],
    ]
    sheet = Sheet(rows(grid), after=merge("A2:A4", "C3:D3"))
    assert texts(read(make_xlsx({"А": sheet}))) == [
        "Группа: Крепёж\nТовар: Болт\nЧисло: 4\nМесто: А",
        "Группа: Крепёж\nТовар: Гайка\nЧисло: 5",
        "Группа: Крепёж\nТовар: Шайба\nЧисло: 6\nМесто: Б",
    ]


def test_a_merge_to_the_end_of_the_sheet_repeats_nothing() -> None:
    sheet = Sheet(rows([["Имя", "Число"], ["Мост", 1]]), after=merge("A2:A1048576", "C1:XFD1048576"))
    assert texts(read(make_xlsx({"А": sheet}))) == ["Имя: Мост\nЧисло: 1"]


def test_what_lies_under_a_merged_cell_is_not_seen_and_counted() -> None:
    document = read(make_xlsx({"А": Sheet(rows([["видно", "скрыто"], ["ещё", "два"]]), after=merge("A1:B1"))}))
    assert "скрыто" not in "\n".join(texts(document))
    assert "values under merged cells left out: 1" in said(document)


def test_hidden_sheets_rows_and_columns_are_left_out_and_counted() -> None:
    grid: Grid = [["Имя", "Тайна", "Число"], ["Мост", "т1", 1], ["Брод", "т2", 2], ["Вал", "т3", 3]]
    document = read(
        make_xlsx(
            {
                "А": Sheet(rows(grid, hidden=[3]), before=hidden_columns((2, 2))),
                "Б": Sheet(TABLE, state="hidden"),
                "В": Sheet(TABLE, state="veryHidden"),
            }
        )
    )
    assert texts(document) == ["Имя: Мост\nЧисло: 1", "Имя: Вал\nЧисло: 3"]
    assert "hidden sheets left out: 2 (Б, В)" in said(document)
    assert "hidden rows with content left out: 1" in said(document)
    assert "hidden columns with content left out: 1" in said(document)


def test_a_merged_value_whose_first_row_is_hidden_is_seen_in_the_next() -> None:
    grid: Grid = [["Группа", "Товар"], ["Крепёж", "Болт"], [None, "Гайка 5"], [None, "Шайба 6"]]
    document = read(make_xlsx({"А": Sheet(rows(grid, hidden=[2]), after=merge("A2:A4"))}))
    assert texts(document) == ["Группа: Крепёж\nТовар: Гайка 5", "Группа: Крепёж\nТовар: Шайба 6"]


def test_rows_that_an_active_filter_hides_are_data() -> None:
    condition = '<autoFilter ref="A1:B4"><filterColumn colId="0"><filters blank="1"/></filterColumn></autoFilter>'
    hidden = rows([["Имя", "Число"], ["Мост", 1], ["Брод", 2], ["Вал", 3]], hidden=[3])
    filtered = read(make_xlsx({"А": Sheet(hidden, after=condition)}))
    assert "Имя: Брод\nЧисло: 2" in texts(filtered)
    assert "rows hidden by a filter are read: 1" in said(filtered)
    idle = read(make_xlsx({"А": Sheet(hidden, after='<autoFilter ref="A1:B4"/>')}))
    assert "Имя: Брод\nЧисло: 2" not in texts(idle)
    in_table = Sheet(hidden, links=[("rId1", "table", "../tables/table1.xml")])
    part = {"xl/tables/table1.xml": table_part("A1:B4", inside=condition)}
    assert "Имя: Брод\nЧисло: 2" in texts(read(make_xlsx({"А": in_table}, parts=part)))


def test_an_excel_table_proves_its_header() -> None:
    grid: Grid = [["Париж", "Франция"], ["Рим", "Италия"], ["Бонн", "Германия"]]
    sheet = Sheet(rows(grid), links=[("rId1", "table", "../tables/table1.xml")])
    assert texts(read(make_xlsx({"А": Sheet(rows(grid))})))[0] == "Париж\nФранция"
    proven = make_xlsx({"А": sheet}, parts={"xl/tables/table1.xml": table_part("A1:B3")})
    assert texts(read(proven)) == ["Париж: Рим\nФранция: Италия", "Париж: Бонн\nФранция: Германия"]
    headless = make_xlsx({"А": sheet}, parts={"xl/tables/table1.xml": table_part("A1:B3", 'headerRowCount="0"')})
    assert texts(read(headless))[0] == "Париж\nФранция"


def test_a_bold_row_above_plain_ones_is_a_header() -> None:
    grid: Grid = [[Styled("Сорт", 1), Styled("Вкус", 1)], ["белый", "кислый"], ["серый", "сладкий"]]
    book = make_xlsx({"А": rows(grid)}, styles=styles_part(["General"], bold=[1]))
    assert texts(read(book)) == ["Сорт: белый\nВкус: кислый", "Сорт: серый\nВкус: сладкий"]


def test_tables_side_by_side_and_below_each_have_their_header() -> None:
    grid: Grid = [
        ["Города"],
        [],
        ["Город", "Число", None, None, "Цех", "Смена"],
        ["Тверь", 5, None, None, "литейный", "ночная"],
        ["Псков", 6],
        [],
        ["Расходы"],
        ["Статья", "Сумма"],
        ["Мел", 7],
    ]
    units = read(make_xlsx({"А": rows(grid)})).units
    assert [(unit.text, unit.headings[1:]) for unit in units] == [
        ("Город: Тверь\nЧисло: 5", ("Города",)),
        ("Город: Псков\nЧисло: 6", ("Города",)),
        ("Цех: литейный\nСмена: ночная", ()),
        ("Статья: Мел\nСумма: 7", ("Расходы",)),
    ]
    assert len({unit.section_number for unit in units}) == 3


def test_one_blank_column_inside_a_table_divides_nothing() -> None:
    grid: Grid = [["Задача", None, "Срок", "Число"], ["Проект", None, "май", 1], ["Смета", None, "июнь", 2]]
    assert texts(read(make_xlsx({"А": rows(grid)})))[1] == "Задача: Смета\nСрок: июнь\nЧисло: 2"


def test_two_equal_tables_with_one_blank_column_between_are_two() -> None:
    grid: Grid = [["Имя", "Число", None, "Имя", "Число"], ["Мост", 1, None, "Брод", 2]]
    assert texts(read(make_xlsx({"А": rows(grid)}))) == ["Имя: Мост\nЧисло: 1", "Имя: Брод\nЧисло: 2"]


def test_figures_that_stand_apart_from_their_names_are_one_table() -> None:
    grid: Grid = [["Item", None, None, None, 2008], ["Sales", None, None, None, 1200], ["Rent", None, None, None, 100]]
    assert texts(read(make_xlsx({"А": rows(grid)}))) == ["Item: Sales\n2008: 1200", "Item: Rent\n2008: 100"]


def test_tables_with_titles_of_their_own_are_two_beside_one_blank_column() -> None:
    grid: Grid = [
        ["Приход", None, None, "Расход"],
        ["Товар", "Число", None, "Город", "Сумма"],
        ["Мост", 1, None, "Тверь", 2],
    ]
    units = read(make_xlsx({"А": rows(grid)})).units
    assert [(unit.text, unit.headings[1:]) for unit in units] == [
        ("Товар: Мост\nЧисло: 1", ("Приход",)),
        ("Город: Тверь\nСумма: 2", ("Расход",)),
    ]


def test_tables_beside_one_blank_column_stay_apart_over_blank_rows() -> None:
    grid: Grid = [
        ["Доходы", None, None, "Расходы"],
        [],
        ["Статья", "Сумма", None, "Статья", "Сумма"],
        ["Взносы", 5, None, "Мел", 7],
        ["Аренда", 6],
        [],
        ["Прочее", 1, None, "Бумага", 3],
    ]
    units = read(make_xlsx({"А": rows(grid)})).units
    assert [(unit.text.replace("\n", " "), unit.headings[1:]) for unit in units] == [
        ("Статья: Взносы Сумма: 5", ("Доходы",)),
        ("Статья: Аренда Сумма: 6", ("Доходы",)),
        ("Статья: Прочее Сумма: 1", ("Доходы",)),
        ("Статья: Мел Сумма: 7", ("Расходы",)),
        ("Статья: Бумага Сумма: 3", ("Расходы",)),
    ]


def test_a_header_of_rows_with_blank_ones_between_is_one() -> None:
    grid: Grid = [
        ["Region", "Births", None, "Deaths"],
        [],
        [None, 1980, 1990, 1980, 1990],
        [],
        ["North", 5, 6, 7, 8],
        ["South", 6, 7, 8, 9],
    ]
    expected = "Region: North\nBirths / 1980: 5\nBirths / 1990: 6\nDeaths / 1980: 7\nDeaths / 1990: 8"
    assert texts(read(make_xlsx({"А": rows(grid)})))[0] == expected


def test_a_block_behind_a_blank_row_goes_on_with_its_table() -> None:
    grid: Grid = [["Имя", "Число"], ["Мост", 1], [], ["Брод", 2], [], ["Раздел второй"], ["Вал", 3]]
    units = read(make_xlsx({"А": rows(grid)})).units
    assert [unit.text for unit in units] == ["Имя: Мост\nЧисло: 1", "Имя: Брод\nЧисло: 2", "Имя: Вал\nЧисло: 3"]
    assert units[2].headings == ("А", "Раздел второй")


def test_a_header_above_a_blank_row_heads_what_follows() -> None:
    grid: Grid = [["Имя", "Число"], [], ["Мост", 1], ["Брод", 2]]
    assert texts(read(make_xlsx({"А": rows(grid)}))) == ["Имя: Мост\nЧисло: 1", "Имя: Брод\nЧисло: 2"]


def test_a_sheet_without_data_rows_is_left_out_and_its_words_are_told() -> None:
    document = read(make_xlsx({"А": rows([["Имя", "Число"]]), "Б": TABLE}))
    assert {unit.section for unit in document.units} == {"Б"}
    assert "sheet «А» has no data rows and is left out: «Имя Число»" in said(document)
    assert [entry.text for entry in document.left_out] == ["Имя\nЧисло"]


def test_a_sheet_of_one_row_is_kept_where_it_says_something_or_there_is_nothing_else() -> None:
    note = "Цены действуют до конца года и не являются публичной офертой."
    assert note in [unit.text for unit in read(make_xlsx({"А": rows([[note]]), "Б": TABLE})).units]
    alone = read(make_xlsx({"А": rows([["Имя", "Число"]])}))
    assert alone.units[0].text == "Имя\nЧисло"
    assert "there is nothing else" in said(alone)


def test_a_workbook_without_a_visible_word_is_empty() -> None:
    with pytest.raises(SourceError, match="no sheet holds a word"):
        read(make_xlsx({"А": ""}))
    with pytest.raises(SourceError, match="no visible sheet holds a word"):
        read(make_xlsx({"А": Sheet(TABLE, state="hidden")}))


def test_odd_sheet_names_are_names_like_others() -> None:
    document = read(make_xlsx({"../etc & «co»!": TABLE}))
    assert str(document.units[0].locator) == "../etc & «co»!!R2"
    assert document.units[0].section == "../etc & «co»!"


WORDS: Grid = [["Альфа", "Бета"], ["Рекс", "Рыжая"], ["Мурка", "Серая"], ["Буян", "Белая"]]
FROZEN = '<sheetViews><sheetView><pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews>'
PRINTED = '<definedName name="_xlnm.Print_Titles" localSheetId="0">Питомцы!$1:$1</definedName>'


@pytest.mark.parametrize(
    ("page", "names"),
    [
        (Sheet(rows(WORDS), before=FROZEN), ""),
        (Sheet(rows(WORDS), after='<autoFilter ref="A1:B4"/>'), ""),
        (Sheet(rows(WORDS)), PRINTED),
    ],
    ids=["frozen pane", "filter buttons", "printed on every page"],
)
def test_a_row_that_the_file_sets_apart_heads_a_table_of_words(page: Sheet, names: str) -> None:
    assert texts(read(make_xlsx({"Питомцы": page}, names=names)))[0] == "Альфа: Рекс\nБета: Рыжая"


def test_a_table_of_words_that_nothing_sets_apart_has_no_header() -> None:
    assert texts(read(make_xlsx({"Питомцы": Sheet(rows(WORDS))})))[0] == "Альфа\nБета"


def test_a_merged_value_whose_row_is_hidden_is_shown_in_a_row_without_cells() -> None:
    page = Sheet(rows([["Имя", "Число"], ["Мост", 1], ["Брод", 2], [], ["Вал", 3]], hidden=[3]), after=merge("A3:A4"))
    assert texts(read(make_xlsx({"А": page}))) == ["Имя: Мост\nЧисло: 1", "Имя: Брод", "Имя: Вал\nЧисло: 3"]
