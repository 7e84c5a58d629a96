"""Numbers, dates and texts as their format shows them."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import pytest

from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.readers.ooxml.formatted_values import general, show_number, show_text
from xlsx_maker import Styled, Value, make_xlsx, read, rows, texts


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0.30000000000000004", "0.3"),
        ("12345678901234", "12345678901234"),
        ("1.2345678901234E+13", "12345678901234"),
        ("12345678901234567890", "12345678901234567890"),
        ("45192.378472222225", "45192.3784722222"),
        ("-0.000012", "-0.000012"),
        ("1E-40", "1E-40"),
        ("2E+100", "2E+100"),
        ("5.0", "5"),
        ("-0", "0"),
    ],
)
def test_a_number_without_a_format_keeps_its_digits_and_no_noise(value: str, shown: str) -> None:
    assert general(Decimal(value)) == shown


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        ("123", "0000000", "0000123"),
        ("0.155", "0.0%", "15.5%"),
        ("1250000.5", "#,##0.00", "1,250,000.50"),
        ("-1250000.5", "#,##0.00;[Red]-#,##0.00", "-1,250,000.50"),
        ("-5", "#,##0_);(#,##0)", "(5)"),
        ("0", '0;-0;"нет"', "нет"),
        ("1234.5", '#,##0.00\\ "₽"', "1,234.50 ₽"),
        ("1234.5", "_-* #,##0.00\\ [$руб.-419]_-", " 1 234,50 руб. "),
        ("1234567", '0.0,,"M"', "1.2M"),
        ("12345", "0.00E+00", "1.23E+04"),
        ("12345", "##0.0E+0", "12.3E+3"),
        ("0.125", "# ?/?", "1/8"),
        ("2.5", "# ?/?", "2 1/2"),
        ("0.3", "# ?/8", "2/8"),
        ("1234567", "000-00-00", "123-45-67"),
        ("9123456789", "(###) ###-####", "(912) 345-6789"),
        ("7654321", "[<=9999999]###-####;(###) ###-####", "765-4321"),
        ("1", '[=1]"да";[=0]"нет";General', "да"),
        ("0", '[=1]"да";[=0]"нет";General', "нет"),
        ("7", '[=1]"да";[=0]"нет";General', "7"),
        ("5", ";;;", ""),
        ("0.5", "#.##", ".5"),
        ("9.995", "0.00", "10.00"),
        ("-0.001", "0.00", "0.00"),
        ("1234", "[$-3000000]#,##0", "۱,۲۳۴"),
        ("4111111111111111", "0", "4111111111111111"),
        ("3", 'General" шт"', "3 шт"),
    ],
)
def test_a_number_is_shown_by_its_format(value: str, code: str, shown: str) -> None:
    assert show_number(Decimal(value), code) == shown


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        ("45192", "dd.mm.yyyy", "23.09.2023"),
        ("45192", "yyyy-mm-dd;@", "2023-09-23"),
        ("45192", "[$-419]mmmm yyyy;@", "Сентябрь 2023"),
        ("45192", "[$-FC19]dd\\ mmmm\\ yyyy\\ \\г\\.;@", "23 сентября 2023 г."),
        ("45192", "[$-ru-RU-x-genlower]d mmmm", "23 сентября"),
        ("45192", "[$-419]ddd", "Сб"),
        ("45192", "[$-409]d-mmm-yy", "23-Sep-23"),
        ("45192", "[$-F800]dddd, mmmm dd, yyyy", "23.09.2023"),
        ("45192", "[$-fa-IR,16]yyyy/mm/dd;@", "1402/07/01"),
        ("45192", "[$-fa-IR,96]d mmmm yyyy", "1 مهر 1402"),
        ("45192", "[$-3160429]yyyy/mm/dd", "۱۴۰۲/۰۷/۰۱"),
        ("45370", "[$-160429]yyyy/mm/dd", "1402/12/29"),
        ("45371", "[$-160429]yyyy/mm/dd", "1403/01/01"),
        ("45370", "[$-160429]mmmm", "اسفند"),
        ("45371", "[$-060429]yyyy/mm/dd", "1445/09/09"),
        ("45371", "B2yyyy/mm/dd", "1445/09/09"),
        ("0.3784722222222222", "hh:mm", "09:05"),
        ("0.75", "h:mm AM/PM", "6:00 PM"),
        ("1.260416666666667", "[h]:mm", "30:15"),
        ("-0.5", "[h]:mm", "-12:00"),
        ("0.0000123", "mm:ss.0", "00:01.1"),
        ("45192.999999", "dd.mm.yyyy", "23.09.2023"),
        ("60", "dd.mm.yyyy", "29.02.1900"),
        ("1", "d.m.yyyy", "1.1.1900"),
        ("2958466", "dd.mm.yyyy", "2958466"),
        ("-3", "dd.mm.yyyy", "-3"),
    ],
)
def test_a_date_is_shown_by_its_format(value: str, code: str, shown: str) -> None:
    assert show_number(Decimal(value), code) == shown


def test_the_1904_system_counts_from_another_day() -> None:
    assert show_number(Decimal(43730), "dd.mm.yyyy", date1904=True) == "23.09.2023"
    book = make_xlsx(
        {"А": rows([["День", "Число"], [Styled(43730, 1), 1]])},
        formats=["dd.mm.yyyy"],
        properties='<workbookPr date1904="1"/>',
    )
    assert texts(read(book)) == ["День: 23.09.2023\nЧисло: 1"]


def test_a_text_is_shown_by_the_text_section() -> None:
    assert show_text("A7", '"код "@') == "код A7"
    assert show_text("A7", "0;-0;0;") == ""
    assert show_text("A7", "#,##0.00") == "A7"


@pytest.mark.parametrize(
    ("number", "shown"), [(14, "23.09.2023"), (22, "23.09.2023 12:00"), (3, "45 193"), (200, "45192.5")]
)
def test_formats_named_by_number_alone_are_known(number: int, shown: str) -> None:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    styles = f'<styleSheet xmlns="{main}"><cellXfs><xf numFmtId="0"/><xf numFmtId="{number}"/></cellXfs></styleSheet>'
    book = make_xlsx({"А": rows([["Имя", "День"], ["x", Styled(45192.5, 1)]])}, styles=styles)
    assert texts(read(book)) == [f"Имя: x\nДень: {shown}"]


def test_absurd_formats_and_numbers_end_soon() -> None:
    assert show_number(Decimal(7), "0" * 400).endswith("7")
    assert show_number(Decimal(1), '"x') == "x"
    assert show_number(Decimal(1), "[") == "["
    book = make_xlsx({"А": '<row r="1"><c r="A1"><v>1E+999999999</v></c><c r="B1"><v>NaN</v></c></row>'})
    assert texts(read(book)) == ["1E+999999999\nNaN"]


PRICE = rows([["Товар", "Цена"], ["Болт", Styled(5400, 1)], ["Насос", Styled(5400.5, 2)], ["Доля", Styled(0.075, 3)]])
ENGLISH = rows([["Item", "Price"], ["Bolt", Styled(5400, 1)], ["Pump", Styled(5400.5, 2)], ["Share", Styled(0.075, 3)]])
PRICES = ['#,##0\\ "₽"', "#,##0.00", "0.0%"]


def last_lines(data: bytes, config: Config) -> list[str]:
    return [unit.text.rpartition(": ")[2] for unit in read_document(data, "book.xlsx", config).units]


@pytest.mark.parametrize(
    ("page", "setting", "shown"),
    [
        (PRICE, "auto", ["5 400 ₽", "5 400,50", "7.5%"]),
        (PRICE, "ru", ["5 400 ₽", "5 400,50", "7,5%"]),
        (PRICE, "en", ["5,400 ₽", "5,400.50", "7.5%"]),
        (PRICE, "fa", ["5,400 ₽", "5,400.50", "7.5%"]),
        (ENGLISH, "auto", ["5,400 ₽", "5,400.50", "7.5%"]),
        (ENGLISH, "ru", ["5 400 ₽", "5 400,50", "7,5%"]),
    ],
)
def test_numbers_are_shown_as_readers_of_the_language_write_them(
    page: str, setting: Literal["auto", "en", "ru", "fa"], shown: list[str]
) -> None:
    data = make_xlsx({"1": page}, formats=PRICES)
    assert last_lines(data, Config(number_locale=setting)) == shown


def test_a_few_words_of_the_language_decide_among_many_latin_names() -> None:
    names: list[list[Value | Styled]] = [[f"LaserJet Pro M{number}", Styled(5400, 1)] for number in range(100)]
    shared = "<si><t>Наименование товара, марка и цена с налогом; доставка по городу в день заказа</t></si>"
    page = rows([["Model", "Price"], *names])
    assert last_lines(make_xlsx({"1": page}, strings=shared * 20, formats=PRICES), Config())[0] == "5 400 ₽"
    assert last_lines(make_xlsx({"1": page}, formats=PRICES), Config())[0] == "5,400 ₽"


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("[$-419]0.0", "5400,5"),
        ("[$-409]#,##0.00", "5,400.50"),
        ("[$€-407]#,##0.00", "€5.400,50"),
        ("[$€-2]#,##0.00", "€5 400,50"),
        ("[$-ru-RU]#,##0.00", "5 400,50"),
        ("0.00E+00", "5.40E+03"),
    ],
)
def test_a_language_in_a_format_decides_how_its_numbers_are_shown(code: str, shown: str) -> None:
    page = rows([["Товар", "Цена"], ["Болт", Styled(5400.5, 1)]])
    assert last_lines(make_xlsx({"1": page}, formats=[code]), Config()) == [shown]
