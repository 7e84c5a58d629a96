"""What stands in a cell: strings of every kind, formulas, constants, places."""

from __future__ import annotations

from xml.sax.saxutils import escape

import pytest

from xlsx_maker import MAIN, OFFICE, Sheet, cell, make_xlsx, read, rows, said, texts


def line(*cells: str) -> str:
    return f'<row r="1">{"".join(cells)}</row>'


def test_shared_rich_and_inline_strings_are_whole() -> None:
    strings = (
        "<si><t>простая</t></si>"
        '<si><r><t xml:space="preserve">две </t></r><r><rPr><b/></rPr><t>части</t></r></si>'
        "<si><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si>"
    )
    cells = [f'<c r="{column}1" t="s"><v>{index}</v></c>' for index, column in enumerate("ABC")]
    inline = '<c r="D1" t="inlineStr"><is><r><t>стро</t></r><r><t>ка</t></r></is></c>'
    book = make_xlsx({"А": line(*cells, inline)}, strings=strings)
    assert texts(read(book)) == ["простая\nдве части\n東京\nстрока"]


def test_escapes_are_undone_and_line_breaks_kept() -> None:
    strings = (
        "<si><t>раз_x000D_&#10;два</t></si><si><t>a_x005F_x0041_b</t></si><si><t>три&#13;&#10;четыре_x0007_</t></si>"
    )
    cells = [f'<c r="{column}1" t="s"><v>{index}</v></c>' for index, column in enumerate("ABC")]
    assert texts(read(make_xlsx({"А": line(*cells)}, strings=strings))) == ["раз\nдва\na_x0041_b\nтри\nчетыре"]


def test_a_missing_shared_string_is_a_message() -> None:
    cells = '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>7</v></c>'
    document = read(make_xlsx({"А": line(cells)}, strings="<si><t>есть</t></si>"))
    assert texts(document) == ["есть"]
    assert "cells whose text is missing from the file: 1" in said(document)


def test_a_formula_shows_its_stored_value() -> None:
    cells = (
        '<c r="A1"><f>SUM(B2:B3)</f><v>1500000</v></c>'
        '<c r="B1" t="str"><f>"пар"&amp;"ус"</f><v>парус</v></c>'
        '<c r="C1" t="str"><f>""</f><v></v></c>'
        '<c r="D1" t="e"><f>NA()</f><v>#N/A</v></c>'
        '<c r="E1" t="b"><f>TRUE()</f><v>1</v></c>'
    )
    document = read(make_xlsx({"А": line(cells)}))
    assert texts(document) == ["1500000\nпарус\n#N/A\nTRUE"]
    assert "formula" not in said(document)


def test_the_error_that_stands_in_for_a_picture_is_not_shown() -> None:
    cells = '<c r="A1" t="e" vm="1"><v>#VALUE!</v></c><c r="B1" t="e"><v>#REF!</v></c>'
    assert texts(read(make_xlsx({"А": line(cells)}))) == ["#REF!"]


def test_a_formula_without_a_value_is_kept_as_written_and_reported() -> None:
    document = read(make_xlsx({"А": line('<c r="A1"><f>SUM(B2:B3)*2</f></c>')}))
    assert texts(document) == ["=SUM(B2:B3)*2"]
    (found,) = [entry for entry in document.messages if entry.code == "xlsx-formula"]
    assert found.severity == "warning"
    assert str(found.locator) == "А!R1"


def test_rows_and_cells_without_an_address_are_counted_on() -> None:
    cells = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>Имя</t></is></c><c t="inlineStr"><is><t>Число</t></is></c></row>'
        '<row><c s="1"/><c><v>17</v></c></row>'
        '<row r="9"><c t="inlineStr"><is><t>Брод</t></is></c><c><v>3</v></c></row>'
    )
    document = read(make_xlsx({"А": cells}))
    assert texts(document) == ["Число: 17", "Имя: Брод\nЧисло: 3"]
    assert [str(unit.locator) for unit in document.units] == ["А!R2", "А!R9"]


def test_rows_out_of_order_come_in_order() -> None:
    book = make_xlsx({"А": rows([["б", "2"]], first=5) + rows([["а", "1"]], first=2)})
    assert texts(read(book)) == ["а\n1", "б\n2"]


def test_the_stored_dimension_is_not_trusted() -> None:
    sheet = Sheet(rows([["Имя", "Число"], ["Мост", 1], ["Брод", 2]]), before='<dimension ref="A1"/>')
    assert texts(read(make_xlsx({"А": sheet}))) == ["Имя: Мост\nЧисло: 1", "Имя: Брод\nЧисло: 2"]


def test_styled_empty_cells_far_away_cost_nothing() -> None:
    ghosts = "".join(f'<row r="{number}"><c r="XFD{number}" s="1"/></row>' for number in range(3, 60_000))
    sheet = Sheet(rows([["Имя", "Число"], ["Мост", 1]]) + ghosts, before='<dimension ref="A1:XFD1048576"/>')
    assert texts(read(make_xlsx({"А": sheet}))) == ["Имя: Мост\nЧисло: 1"]


def test_an_iso_date_cell_has_no_midnight() -> None:
    cells = '<c r="A1" t="d"><v>2023-09-23T00:00:00</v></c><c r="B1" t="d"><v>2023-09-23T09:05:00</v></c>'
    assert texts(read(make_xlsx({"А": line(cells)}))) == ["2023-09-23\n2023-09-23 09:05:00"]


def test_digits_and_letters_of_persian_are_kept_in_normal_form() -> None:
    assert texts(read(make_xlsx({"А": rows([["۰۲۱۰۰", "كتاب علي", "می‌رود"]])}))) == ["۰۲۱۰۰\nکتاب علی\nمی‌رود"]


def test_the_second_of_two_cells_at_one_place_is_not_lost() -> None:
    book = make_xlsx({"А": line(cell("а", "A1"), cell("б", "A1"))})
    assert texts(read(book)) == ["а\nб"]


def test_strict_and_prefixed_parts_are_read_alike() -> None:
    strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    book = make_xlsx(
        {"А": ""},
        parts={
            "xl/worksheets/sheet1.xml": (
                f'<x:worksheet xmlns:x="{strict}"><x:sheetData><x:row r="1"><x:c r="A1" t="inlineStr"><x:is><x:t>видно'
                "</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>"
            ),
            "xl/workbook.xml": (
                f'<workbook xmlns="{strict}" xmlns:r="http://purl.oclc.org/ooxml/officeDocument/relationships">'
                '<sheets><sheet name="А" sheetId="1" r:id="rId1"/></sheets></workbook>'
            ),
        },
    )
    assert texts(read(book)) == ["видно"]


def test_a_part_in_utf_16_is_read() -> None:
    text = (
        f'<?xml version="1.0" encoding="UTF-16"?><worksheet xmlns="{MAIN}"><sheetData>'
        f"{rows([['видно']])}</sheetData></worksheet>"
    )
    book = make_xlsx({"А": ""}, parts={"xl/worksheets/sheet1.xml": text.encode("utf-16")})
    assert texts(read(book)) == ["видно"]


def linked(ref: str, target: str, text: str) -> bytes:
    page = Sheet(
        rows([["Товар", "Цена"], [text, 100]]),
        after=f'<hyperlinks xmlns:r="{OFFICE}"><hyperlink ref="{ref}" r:id="rId1"/></hyperlinks>',
        links=[("rId1", "hyperlink", escape(target) + '" TargetMode="External')],
    )
    return make_xlsx({"Прайс": page})


@pytest.mark.parametrize(
    ("ref", "target", "text", "shown"),
    [
        ("A2", "https://example.org/bolt?a=1&b=2", "Болт", "[Болт](https://example.org/bolt?a=1&b=2)"),
        ("A2:B2", "https://example.org/", "Болт", "[Болт](https://example.org/)"),
        ("A2", "https://example.org/bolt_(m6)", "Болт", "[Болт](<https://example.org/bolt_(m6)>)"),
        ("A2", "https://www.example.org/", "example.org", "example.org"),
        ("A2", "mailto:shop@example.org?subject=x", "shop@example.org", "shop@example.org"),
        ("A2", "mailto:shop@example.org", "написать", "[написать](mailto:shop@example.org)"),
        ("A2", "tel:+70000000001", "+7 (000) 000-00-01", "+7 (000) 000-00-01"),
        ("A2", "file:///C:/прайс.xlsx", "Болт", "Болт"),
        ("A2", "javascript:alert(1)", "Болт", "Болт"),
    ],
)
def test_a_link_keeps_its_address_where_that_says_more_than_its_text(
    ref: str, target: str, text: str, shown: str
) -> None:
    said = texts(read(linked(ref, target, text)))[0]
    assert said.split("\n")[0] == f"Товар: {shown}"


def test_a_link_to_a_place_in_the_file_is_its_text() -> None:
    page = Sheet(
        rows([["Товар", "Цена"], ["Болт", 100]]),
        after='<hyperlinks><hyperlink ref="A2" location="Прайс!B2"/></hyperlinks>',
    )
    assert texts(read(make_xlsx({"Прайс": page}))) == ["Товар: Болт\nЦена: 100"]


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ('HYPERLINK("https://example.org/bolt","Болт")', "[Болт](https://example.org/bolt)"),
        ('HYPERLINK("https://example.org/"&amp;A1,"Болт")', "Болт"),
        ('"Болт"', "Болт"),
    ],
)
def test_a_formula_that_links_keeps_the_address_that_it_spells_out(formula: str, shown: str) -> None:
    line = f'<c r="A2" t="str"><f>{formula}</f><v>Болт</v></c>{cell(100, "B2")}'
    page = f'{rows([["Товар", "Цена"]])}<row r="2">{line}</row>'
    assert texts(read(make_xlsx({"Прайс": page}))) == [f"Товар: {shown}\nЦена: 100"]
