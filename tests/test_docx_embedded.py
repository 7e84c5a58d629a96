"""Files that a Word file holds as objects: worksheets and Word files are read in their place, the rest is named."""

from __future__ import annotations

import pytest

from docx_maker import box, docx, heading, p, read, styled, tbl, tc, texts, tr
from ragpress.audit import CoverageReport, audit
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.errors import render
from ragpress.readers.docx import read_docx
from ragpress.records import Document
from xlsx_maker import Sheet, make_xlsx, rows

PRICES = rows([["Блюдо", "Цена"], ["Борщ", 250], ["Щи", 220]])


def shown(program: str = "Excel.Sheet.12", aspect: str = "Content", kind: str = "Embed") -> str:
    """A paragraph with an object and the picture that stands for it."""
    ole = f'<o:OLEObject Type="{kind}" ProgID="{program}" DrawAspect="{aspect}" r:id="rId8"/>'
    return p(f'<w:r><w:object><v:shape><v:imagedata r:id="rId9"/></v:shape>{ole}</w:object></w:r>')


def made(data: bytes, body: str = "", name: str = "sheet1.xlsx", kind: str = "package") -> bytes:
    """A Word file that holds `data` as an object."""
    return docx(
        body or p("Меню:") + shown() + p("Приятного аппетита."),
        also={f"word/embeddings/{name}": data, "word/media/image1.emf": b"picture"},
        related=[("rId8", kind, f"embeddings/{name}"), ("rId9", "image", "media/image1.emf")],
        styles=heading("Heading1", 0),
    )


def document(data: bytes, body: str = "", **rest: str) -> Document:
    return read_docx(made(data, body, **rest), "a.docx", Config())


def told(found: Document) -> list[str]:
    return [render(entry, "") for entry in found.messages]


def audited(data: bytes, compiled_from: bytes | None = None) -> CoverageReport:
    config = Config(min_tokens=0)
    found = read_docx(compiled_from or data, "a.docx", config)
    return audit(data, found, chunk_document(found, config, lambda text: len(text.split()))[0], config)


def test_an_embedded_worksheet_is_read_as_a_table_in_its_place() -> None:
    found = document(make_xlsx({"Лист1": PRICES}), styled("Heading1", "Смета") + p("Меню:") + shown() + p("Всё."))
    assert [(unit.kind, unit.text) for unit in found.units] == [
        ("paragraph", "Меню:"),
        ("table_row", "Блюдо: Борщ\nЦена: 250"),
        ("table_row", "Блюдо: Щи\nЦена: 220"),
        ("paragraph", "Всё."),
    ]
    assert {(unit.headings, unit.breadcrumb) for unit in found.units} == {(("Смета",), "## Смета")}
    assert [str(unit.locator) for unit in found.units] == ["B2", "B3", "B3", "B4"]
    assert (told(found), found.pictures) == ([], ())


def test_groups_of_an_embedded_worksheet_are_headings_below_those_of_the_text() -> None:
    grid = rows([["Блюдо", "Цена", "Вес"], ["СУПЫ"], ["Борщ", 250, 300], ["НАПИТКИ"], ["Чай", 50, 200]])
    found = document(make_xlsx({"Меню": grid}), styled("Heading1", "Смета") + shown())
    assert [unit.headings for unit in found.units if "Цена" in unit.text] == [("Смета", "СУПЫ"), ("Смета", "НАПИТКИ")]


def test_of_a_workbook_the_sheet_in_front_is_read_and_the_others_are_named() -> None:
    book = make_xlsx({"Цены": PRICES, "Склад": rows([["Товар", "Штук"], ["Мука", 7]])})
    found = document(book)
    assert [unit.text for unit in found.units if unit.kind == "table_row"] == [
        "Блюдо: Борщ\nЦена: 250",
        "Блюдо: Щи\nЦена: 220",
    ]
    assert told(found) == [
        "a.docx:B2: info: of the embedded workbook sheet1.xlsx the sheet shown, «Цены», was read and the others not"
        " (Склад) [left-out]"
    ]


def test_a_worksheet_in_a_cell_is_text_of_the_cell() -> None:
    table = tbl(tr("Меню", "Сайт"), tr(tc(shown()), "да"))
    assert "Борщ" in "".join(unit.text for unit in document(make_xlsx({"Лист1": PRICES}), table).units)


def test_an_embedded_word_file_is_read_in_its_place() -> None:
    body = p("до") + shown("Word.Document.12") + p("после")
    found = document(docx(p("внутри")), body, name="text1.docx")
    assert texts(found) == ["до", "внутри", "после"]


@pytest.mark.parametrize(
    ("body", "name", "message"),
    [
        (
            shown("Equation.3") * 2,
            "ole.bin",
            "a.docx:B1: warning: 2 objects were not read (Equation.3); paste what is shown as text or as a"
            " table [bad-part]",
        ),
        (
            shown("AcroExch.Document", aspect="Icon"),
            "rules.bin",
            "a.docx:B1: info: the file rules.bin (AcroExch.Document) is attached as an icon and was not read; add it as"
            " a source of its own [left-out]",
        ),
        (
            shown("Excel.Sheet.12", kind="Link"),
            "book.xlsx",
            "a.docx:B1: warning: 1 object was not read (linked Excel.Sheet.12); paste what is shown as text or as"
            " a table [bad-part]",
        ),
    ],
)
def test_an_object_that_is_not_read_is_named_once_a_kind(body: str, name: str, message: str) -> None:
    assert message in told(document(b"\xd0\xcf\x11\xe0", body + p("текст"), name=name, kind="oleObject"))


def test_a_broken_or_missing_workbook_is_named_and_the_rest_is_read() -> None:
    found = document(b"PK\x03\x04 broken")
    assert texts(found) == ["Меню:", "Приятного аппетита."]
    start = "a.docx:B2: warning: 1 object was not read (Excel.Sheet.12: the archive is damaged"
    assert next(line for line in told(found) if "not read" in line).startswith(start)
    missing = read(p("текст") + shown())
    assert any("object was not read (Excel.Sheet.12)" in line for line in told(missing))


def test_the_audit_sees_the_sheet_in_front_and_misses_it_where_a_reader_overlooks_it() -> None:
    book = make_xlsx({"Цены": PRICES, "Склад": rows([["Товар", "Штук"], ["Мука", 7]])})
    whole = made(book)
    assert (audited(whole).coverage, audited(whole).visible, audited(whole).duplicated) == (1.0, 3 + 6, 0)
    without = docx(p("Меню:") + p("Приятного аппетита."))
    assert [(gap.text, gap.place) for gap in audited(whole, without).gaps] == [
        ("Блюдо Цена", "B2"),
        ("Борщ 250", "B2"),
        ("Щи 220", "B2"),
    ]
    attached = made(book, p("Меню:") + shown(aspect="Icon"))
    assert audited(attached).visible == 1


def test_the_audit_asks_nothing_of_values_that_a_format_shows_in_other_words() -> None:
    book = make_xlsx({"Лист1": rows([["Блюдо", "Доля"], ["Борщ", 0.12345678901234], ["Щи", 0.5]])})
    assert audited(made(book)).coverage == 1.0


def test_the_audit_counts_an_object_in_a_text_box_once() -> None:
    whole = made(make_xlsx({"Цены": PRICES}), p("Меню:") + p(box(shown())))
    assert (audited(whole).coverage, audited(whole).visible) == (1.0, 1 + 6)


def test_files_in_files_are_read_up_to_a_number_whatever_their_depth() -> None:
    inner = made(docx(p("на дне")), shown("Word.Document.12") * 30, name="b.docx")
    data = made(inner, shown("Word.Document.12") * 30, name="a.docx")
    found = read_docx(data, "a.docx", Config())
    assert len(texts(found)) == 200 - 7
    start = "a.docx:B7: warning: 40 objects were not read (Word.Document.12: of files inside a file 200 are"
    assert next(line for line in told(found) if "not read" in line).startswith(start)
    assert audited(data).visible == 2 * (200 - 7)


def test_hidden_sheets_of_an_embedded_workbook_stay_out() -> None:
    book = make_xlsx({"Цены": PRICES, "Тайна": Sheet(rows([["Код", "Ключ"], ["а", "б"]]), state="hidden")})
    found = document(book)
    assert "Ключ" not in "".join(unit.text for unit in found.units)
    assert audited(made(book)).coverage == 1.0
