"""Header, titles and rows of a grid, and the units made of them."""

from __future__ import annotations

import time

import pytest

from ragpress.readers.headers import find_header
from ragpress.readers.kinds import kind
from ragpress.readers.rows import Row, TableReading
from ragpress.readers.table_units import row_text, table_units
from ragpress.readers.tables import read_table, read_tables
from ragpress.records import Locator, Unit


def grid(*lines: str, **marks: dict[int, tuple[int, ...]]) -> list[Row]:
    """Rows from lines whose cells are divided by bars; `spans` and `inherited` by row number, from 1."""
    spans, inherited = marks.get("spans", {}), marks.get("inherited", {})
    return [
        Row(number, tuple(cell.strip() for cell in line.split("|")), spans.get(number, ()), inherited.get(number, ()))
        for number, line in enumerate(lines, start=1)
    ]


def units(table: TableReading, **fields: str) -> tuple[Unit, ...]:
    return table_units(table, locate=lambda row: Locator("R", row.place, row.place), **fields)  # type: ignore[arg-type]


def test_a_row_names_each_value_by_its_column() -> None:
    found = units(read_table(grid("Город | Цена", "Тверь | 100", "Псков | 90")))
    assert [unit.text for unit in found] == ["Город: Тверь\nЦена: 100", "Город: Псков\nЦена: 90"]
    assert [str(unit.locator) for unit in found] == ["R2", "R3"]


def test_breaks_are_where_the_later_cells_begin() -> None:
    text, breaks = row_text(("a", "", "c"), ("один", "два", "три"))
    assert text == "a: один\nдва\nc: три"
    assert [text[offset:] for offset in breaks] == ["два\nc: три", "c: три"]


def test_values_under_blank_and_repeated_headers_are_all_kept() -> None:
    table = read_table(grid("Имя | Сумма | Сумма | ", "Мост | 1 | 2 | без имени", "Тоннель | 3 | 4 | "))
    assert [unit.text for unit in units(table)] == [
        "Имя: Мост\nСумма: 1\nСумма: 2\nбез имени",
        "Имя: Тоннель\nСумма: 3\nСумма: 4",
    ]


def test_titles_above_the_header_become_headings() -> None:
    table = read_table(grid("Остатки на складе | | ", "на июнь | |", "Товар | Место | Число", "Болт | А | 4"))
    (unit,) = units(table, breadcrumb="## Склад")
    assert unit.headings == ("Остатки на складе", "на июнь")
    assert unit.breadcrumb == "## Склад\n### Остатки на складе\n#### на июнь"
    assert unit.text == "Товар: Болт\nМесто: А\nЧисло: 4"


def test_a_title_too_long_to_repeat_is_a_paragraph() -> None:
    long = "Подробное пояснение к таблице " * 12
    found = units(read_table(grid(f"{long} | ", "Товар | Число", "Болт | 4")))
    assert [(unit.kind, unit.headings) for unit in found] == [("paragraph", ()), ("table_row", ())]
    assert found[0].text == long.strip()


def test_rows_of_facts_above_the_header_stay_rows() -> None:
    table = read_table(
        grid(
            "Отчёт | | |",
            "Дата: | 01.02.2024 | |",
            "Склад: | север | |",
            "Товар | Место | Число | Цена",
            "Болт | А | 4 | 10",
        )
    )
    assert [(unit.text, unit.headings) for unit in units(table)] == [
        ("Дата: 01.02.2024", ("Отчёт",)),
        ("Склад: север", ("Отчёт",)),
        ("Товар: Болт\nМесто: А\nЧисло: 4\nЦена: 10", ("Отчёт",)),
    ]


def test_a_lone_number_above_a_table_is_no_title() -> None:
    found = units(read_table(grid("7 | ", "Товар | Число", "Болт | 4")))
    assert [(unit.text, unit.headings) for unit in found] == [("7", ()), ("Товар: Болт\nЧисло: 4", ())]


def test_without_a_provable_header_values_stand_alone() -> None:
    found = units(read_table(grid("Болт | 4 | 10", "Гайка | 5 | 20")))
    assert [unit.text for unit in found] == ["Болт\n4\n10", "Гайка\n5\n20"]


@pytest.mark.parametrize(
    "lines",
    [
        ("Участок | Ставка", "северный | 12", "южный | 14"),  # numbers below a word
        ("Дисциплина | Преподаватель", "Физика | Иванова", "Химия | Петрова"),  # words that name columns
        ("Сорт | Глубина", "белый | мелко", "белый | мелко", "серый | мелко", "серый | мелко"),  # values repeat
        ("Пункт | Что делать", "Вход | Подождите сигнала и войдите в дверь", "Выход | Сдайте пропуск на посту охраны"),
        ("Показатель | 2021 | 2022", "Доход | 100 | 120", "Расход | 80 | 90"),  # years over other numbers
        ("q1 | q2", "10 | 20", "30 | 40"),  # identifiers over numbers
        ("نام شعبه | نشانی", "مرکزی | خیابان یکم", "شرق | خیابان دوم"),
        ("№ | Название", "первый | куб", "второй | шар"),
        ("Показатель | 01.01.2023 | 01.02.2023", "Приход | 100 | 120", "Уход | 80 | 90"),  # dates over numbers
        ("نام | ۱۴۰۱ | ۱۴۰۲", "الف | ۱۰ | ۲۰", "ب | ۳۰ | ۴۰"),
        (" | Цена", "мел | 5", "доска | 7"),
    ],
)
def test_a_header_is_proven_by_what_sets_it_off(lines: tuple[str, ...]) -> None:
    assert read_table(grid(*lines)).header == tuple(cell.strip() for cell in lines[0].split("|"))


@pytest.mark.parametrize(
    "lines",
    [
        ("Париж | Франция", "Рим | Италия", "Ницца | Франция"),  # the first row is like the others
        ("1 | 2", "3 | 4", "5 | 6"),
        ("Адрес | ул. Первая", "Телефон | сто", "График | будни"),  # a form: names down the side
        ("К1 | гайка", "К2 | болт", "К3 | шайба"),
        ("01.02.2024 | приход", "02.02.2024 | расход", "03.02.2024 | приход"),
    ],
)
def test_a_first_row_like_the_others_is_data(lines: tuple[str, ...]) -> None:
    table = read_table(grid(*lines))
    assert table.header == ()
    assert len(table.rows) == len(lines)


def test_words_that_stand_for_values_are_no_names() -> None:
    table = read_table(
        grid(
            "Событие | Срок | Документ",
            "перелом | пять дней | снимок",
            "ожог | пять дней | отчёт",
            "смерть | 30 дней | акт",
        )
    )
    assert table.header == ("Событие", "Срок", "Документ")
    prices = read_table(grid("Услуга | Цена", "Шов | бесплатно", "Вывих | бесплатно", "Пластырь | 20", "Бинт | 30"))
    assert prices.header == ("Услуга", "Цена")


def test_a_row_that_stands_out_by_style_heads_the_table() -> None:
    plain = grid("Альфа | Бета", "Париж | Франция", "Рим | Италия")
    strong = [Row(1, plain[0].cells, strong=True), *plain[1:]]
    assert read_table(plain).header == ()
    assert read_table(strong).header == ("Альфа", "Бета")


def test_groups_above_names_are_joined() -> None:
    merged = grid(
        "Город | План | | Факт |",
        "Город | год | месяц | год | месяц",
        "Тверь | 1 | 2 | 3 | 4",
        spans={1: (1, 2, 1, 2, 1)},
        inherited={2: (0,)},
    )
    assert read_table(merged).header == ("Город", "План / год", "План / месяц", "Факт / год", "Факт / месяц")
    whole = grid("План | | Факт |", "год | месяц | год | месяц", "1 | 2 | 3 | 4", spans={1: (2, 1, 2, 1)})
    assert read_table(whole).header == ("План / год", "План / месяц", "Факт / год", "Факт / месяц")
    partly = grid(" | План | | ", "Город | год | месяц | Итог", "Тверь | 1 | 2 | 3", spans={1: (1, 2, 1, 1)})
    assert read_table(partly).header == ("Город", "План / год", "План / месяц", "Итог")
    single = grid(" | План | | ", "Город | год | месяц | день", "Тверь | 1 | 2 | 3", spans={1: (1, 3, 1, 1)})
    assert read_table(single).header == ("Город", "План / год", "План / месяц", "План / день")
    titled = grid("План по городам | | | ", "Город | год | месяц | день", "Тверь | 1 | 2 | 3", spans={1: (4, 1, 1, 1)})
    assert read_table(titled).header == ("Город", "год", "месяц", "день")
    loose = grid(" | 2021 | | 2022 | ", "Город | план | факт | план | факт", "Тверь | 1 | 2 | 3 | 4")
    assert read_table(loose).header == ("Город", "2021 / план", "2021 / факт", "2022 / план", "2022 / факт")


def test_rows_that_only_repeat_a_merged_value_are_no_rows() -> None:
    table = read_table(grid("Группа | Число", "Крепёж | 1", "Крепёж | ", inherited={3: (0,)}))
    assert [unit.text for unit in units(table)] == ["Группа: Крепёж\nЧисло: 1"]


def test_a_line_across_the_table_heads_the_rows_below_it() -> None:
    table = read_table(
        grid("Услуга | Цена", "Терапия | ", "Осмотр | 10", "Хирургия | ", "Шов | 20", spans={2: (2, 1), 4: (2, 1)})
    )
    found = units(table, breadcrumb="## Цены")
    assert [(unit.text, unit.headings) for unit in found] == [
        ("Услуга: Осмотр\nЦена: 10", ("Терапия",)),
        ("Услуга: Шов\nЦена: 20", ("Хирургия",)),
    ]
    assert found[0].section_number != found[1].section_number
    assert found[1].breadcrumb == "## Цены\n### Хирургия"


def test_a_last_line_across_the_table_is_a_note_under_no_header() -> None:
    table = read_table(grid("Услуга | Цена", "Осмотр | 10", "Цены без налога | ", spans={3: (2, 1)}))
    assert [unit.text for unit in units(table)][-1] == "Цены без налога"


def test_names_of_columns_without_values_are_not_lost() -> None:
    found = units(read_table(grid("Имя | Факс | Число", "Мост | | 1", "Брод | | 2")))
    assert [unit.text for unit in found] == ["Факс", "Имя: Мост\nЧисло: 1", "Имя: Брод\nЧисло: 2"]


def test_a_header_printed_again_is_no_row() -> None:
    table = read_table(grid("Имя | Число", "Мост | 1", "Имя | Число", "Брод | 2"))
    assert [unit.text for unit in units(table)] == ["Имя: Мост\nЧисло: 1", "Имя: Брод\nЧисло: 2"]


def test_a_title_with_a_header_below_begins_another_table() -> None:
    rows = grid("Город | Расход", "Тверь | 5", "Псков | 6", "Доходы | ", "Город | Доход", "Тверь | 7", "Псков | 8")
    first, second = read_tables(rows)
    assert [unit.text for unit in units(first)] == ["Город: Тверь\nРасход: 5", "Город: Псков\nРасход: 6"]
    assert [(unit.text, unit.headings) for unit in units(second)] == [
        ("Город: Тверь\nДоход: 7", ("Доходы",)),
        ("Город: Псков\nДоход: 8", ("Доходы",)),
    ]


def test_a_line_above_an_ordinary_row_begins_no_table() -> None:
    rows = grid("Услуга | Цена", "Осмотр | 10", "Приём | 15", "Хирургия | ", "Шов | бесплатно", "Пластырь | 20")
    assert len(read_tables(rows)) == 1


def test_what_the_source_calls_a_header_needs_no_proof() -> None:
    table = read_table(grid("Париж | Франция", "Рим | Италия"), header_rows=1)
    assert [unit.text for unit in units(table)] == ["Париж: Рим\nФранция: Италия"]
    assert read_table(grid("Имя | Число", "Мост | 1"), header_rows=0).header == ()


def test_a_table_without_rows_keeps_its_words() -> None:
    found = units(read_table(grid("Имя | Число"), header_rows=1))
    assert [(unit.kind, unit.text) for unit in found] == [("paragraph", "Имя\nЧисло")]


def test_one_ragged_row_does_not_hide_the_header() -> None:
    table = read_table(grid("код | имя | вес", "К1 | гайка | 10", "К2 | шайба | 5 | лишнее | ещё одно"))
    assert [unit.text for unit in units(table)][-1] == "код: К2\nимя: шайба\nвес: 5\nлишнее\nещё одно"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12,50", "figure"),
        ("۱۲٬۵۰۰", "figure"),
        ("12 500 руб.", "figure"),
        ("$198.0", "figure"),
        ("23 сен 2023", "figure"),
        ("+7 000 000-00-01", "figure"),
        ("#N/A", "figure"),
        ("TRUE", "figure"),
        ("А-001", "code"),
        ("info@example.org", "code"),
        ("Шайба М8", "text"),
        ("2021 / план", "text"),
        ("№", "text"),
    ],
)
def test_the_kind_of_a_text(text: str, expected: str) -> None:
    assert kind(text) == expected


def test_hostile_cells_cost_no_time() -> None:
    started = time.perf_counter()
    kind("1 " * 50_000 + "x")
    find_header([Row(number, ("1 " * 20_000, "слово " * 5_000)) for number in range(1, 60)])
    assert time.perf_counter() - started < 2
