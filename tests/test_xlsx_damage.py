"""Files that are broken, foreign or hostile: a message or one named error, never a crash."""

from __future__ import annotations

import pytest

from ragpress.errors import SourceError
from xlsx_maker import MAIN, OFFICE, Sheet, make_xlsx, pack, read, relationships, rows, said, texts

TABLE = rows([["Имя", "Число"], ["Мост", 1], ["Брод", 2]])
SHOWN = ["Имя: Мост\nЧисло: 1", "Имя: Брод\nЧисло: 2"]


@pytest.mark.parametrize(
    "styles",
    ["", "<", "<styleSheet/>", f'<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="x"/></cellXfs></styleSheet>'],
)
def test_broken_styles_show_plain_values(styles: str) -> None:
    book = make_xlsx({"А": TABLE.replace("<c ", '<c s="5" ')}, styles=styles)
    assert texts(read(book)) == SHOWN


def test_a_sheet_cut_short_gives_what_is_left_and_a_message() -> None:
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{TABLE}<row r="4"><c r="A4" t="inl'
    document = read(make_xlsx({"А": ""}, parts={"xl/worksheets/sheet1.xml": sheet}))
    assert texts(document) == SHOWN
    assert "sheet1.xml is damaged" in said(document)


def test_a_sheet_that_is_missing_is_a_message() -> None:
    links = [("rId1", "worksheet", "worksheets/sheet1.xml"), ("rId2", "worksheet", "worksheets/gone.xml")]
    document = read(make_xlsx({"А": TABLE, "Б": TABLE}, parts={"xl/_rels/workbook.xml.rels": relationships(links)}))
    assert "А" in {unit.section for unit in document.units}
    gone = read(
        make_xlsx(
            {"А": TABLE},
            parts={
                "xl/workbook.xml": (
                    f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="А" sheetId="1" r:id="rId1"/>'
                    '<sheet name="Б" sheetId="2" r:id="rId9"/></sheets></workbook>'
                )
            },
        )
    )
    assert texts(gone) == SHOWN
    assert "sheet «Б» is missing from the file" in said(gone)


def test_sheets_are_found_without_relationships_and_without_a_list() -> None:
    assert texts(read(make_xlsx({"А": TABLE}, parts={"xl/_rels/workbook.xml.rels": ""}))) == SHOWN
    unlisted = make_xlsx({"А": TABLE}, parts={"xl/workbook.xml": f'<workbook xmlns="{MAIN}"/>'})
    assert texts(read(unlisted)) == SHOWN


def test_a_workbook_without_sheets_is_refused() -> None:
    with pytest.raises(SourceError, match="lists no sheet"):
        read(make_xlsx({}))


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ({"xl/workbook.bin": "x"}, "binary workbook"),
        ({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"}, "OpenDocument"),
        ({"word/document.xml": "<document/>"}, "Word file"),
        ({"a.txt": "x"}, "no workbook"),
    ],
)
def test_other_kinds_of_archives_are_refused_by_name(parts: dict[str, str], found: str) -> None:
    with pytest.raises(SourceError, match=found):
        read(pack(parts))


def test_encrypted_and_old_files_are_refused_by_name() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    with pytest.raises(SourceError, match="encrypted"):
        read(ole + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(SourceError, match="older format"):
        read(ole + "Workbook".encode("utf-16-le"))


@pytest.mark.parametrize(
    "part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml", "xl/workbook.xml"]
)
def test_entities_are_refused_in_every_part(part: str) -> None:
    bomb = f'<!DOCTYPE x [<!ENTITY a "b">]><x xmlns="{MAIN}">&a;</x>'
    with pytest.raises(SourceError, match="entities"):
        read(make_xlsx({"А": TABLE}, strings="", parts={part: bomb}))


def test_one_long_string_in_every_cell_is_refused() -> None:
    cells = "".join(f'<row r="{number}"><c r="A{number}" t="s"><v>0</v></c></row>' for number in range(1, 3000))
    with pytest.raises(SourceError, match="million characters"):
        read(make_xlsx({"А": cells}, strings=f"<si><t>{'длинно ' * 4000}</t></si>"))


def test_nothing_outside_the_file_is_fetched() -> None:
    links = [("rId1", "externalLink", "http://example.invalid/a.xml"), ("rId2", "drawing", "http://example.invalid/b")]
    assert texts(read(make_xlsx({"А": Sheet(TABLE, links=links)}))) == SHOWN


@pytest.mark.parametrize(
    "cells",
    [
        '<c r="A1" t="s"><v>-1</v></c>',
        '<c r="A1" t="s"><v>99999999999999999999</v></c>',
        '<c r="ZZZZ1"><v>1</v></c>',
        '<c r="A0" s="-4"><v>1</v></c>',
        '<c r="" t="weird"><v>1</v></c>',
        '<c r="A1" t="d"><v>2023-99-99</v></c>',
        "<c><v>--</v></c>",
        "<c><is/></c><c/><c><v/></c>",
    ],
)
def test_impossible_cells_do_no_harm(cells: str) -> None:
    row = f'<row r="x">{cells}<c t="inlineStr"><is><t>видно</t></is></c></row><row r="99999999999"/>'
    assert "видно" in texts(read(make_xlsx({"А": row})))[0]


@pytest.mark.parametrize(
    "after",
    ['<mergeCells><mergeCell ref=""/><mergeCell/><mergeCell ref="D9:C8"/></mergeCells>', '<autoFilter ref="?"/>'],
)
def test_impossible_ranges_do_no_harm(after: str) -> None:
    columns = '<cols><col min="x" max="0" hidden="1"/><col min="9" max="3" hidden="1"/></cols>'
    assert "Мост" in "\n".join(texts(read(make_xlsx({"А": Sheet(TABLE, before=columns, after=after)}))))
