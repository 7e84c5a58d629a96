"""The audit of workbooks: what it sees, and that it notices a reader that overlooks something."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragpress.audit import Account, audit
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.records import Gap
from xlsx_maker import MAIN, Sheet, Styled, Value, make_xlsx, merge, relationships, rows

CONFIG = Config(min_tokens=0)
HEADER = ["Врач", "Кабинет", "Приём"]
GRID: list[list[Value | Styled]] = [
    [*HEADER],
    ["Терапевт", 12, "по записи"],
    ["Окулист", 14, "по вторникам"],
    ["Хирург", 16, "по средам"],
]


def words(text: str) -> int:
    return 3 + len(text.split())


def account(data: bytes, compiled_from: bytes | None = None) -> Account:
    """The account of a file, or of one against the chunks of another: what a reader gives that overlooks the rest."""
    document = read_document(data if compiled_from is None else compiled_from, "a.xlsx", CONFIG)
    return audit(data, document, chunk_document(document, CONFIG, words)[0], CONFIG)


def book(grid: Sequence[Sequence[Value | Styled]], formats: Sequence[str] = (), after: str = "") -> bytes:
    return make_xlsx({"Врачи": Sheet(rows(grid), after=after)}, formats=formats)


def without_row(number: int) -> list[list[Value | Styled]]:
    return [line if at != number - 1 else [] for at, line in enumerate(GRID)]


def without_column(number: int) -> list[list[Value | Styled]]:
    return [[*line[: number - 1], None, *line[number:]] for line in GRID]


def test_a_whole_table_is_covered_its_header_by_the_rows_that_repeat_it() -> None:
    found = account(book(GRID))
    assert (found.coverage, found.visible, found.missing, found.doubled, found.gaps) == (1.0, 15, 0, 0, ())


def test_an_overlooked_row_is_named() -> None:
    found = account(book(GRID), book(without_row(3)))
    assert found.gaps == (Gap("Окулист | 14 | по вторникам", "Врачи!R3"),)
    assert found.missing == 4


def test_an_overlooked_column_is_named_even_if_it_holds_numbers() -> None:
    found = account(book(GRID), book(without_column(2)))
    assert found.gaps == tuple(
        Gap(text, f"Врачи!R{row}") for row, text in ((1, "Кабинет"), (2, "12"), (3, "14"), (4, "16"))
    )


def test_a_row_is_not_covered_by_the_same_words_in_other_rows() -> None:
    same: list[list[Value | Styled]] = [[*HEADER]]
    same += [["Терапевт", 12, f"смена {name}"] for name in ("утро", "день", "ночь")]
    found = account(book(same), book([same[0], same[1], [], same[3]]))
    assert found.gaps == (Gap("Терапевт | 12 | смена день", "Врачи!R3"),)


def test_an_overlooked_sheet_is_named() -> None:
    two = make_xlsx({"Врачи": rows(GRID), "Цены": rows([["Услуга", "Цена"], ["Осмотр", 900]])})
    found = account(two, make_xlsx({"Врачи": rows(GRID)}))
    assert [gap.place for gap in found.gaps] == ["Цены!R1", "Цены!R2"]


def test_an_overlooked_title_is_named() -> None:
    titled = make_xlsx({"Врачи": Sheet(rows([["Расписание на май"], [], *GRID]))})
    untitled = make_xlsx({"Врачи": Sheet(rows(GRID, first=3))})
    assert account(titled).coverage == 1.0
    assert account(titled, untitled).gaps == (Gap("Расписание на май", "Врачи!R1"),)


SHOWN: list[tuple[Value, str]] = [
    (0.155, "0%"),
    (1250000.5, "#,##0.00"),
    (44.274999999999999, "0.00"),
    (99.7, "0"),
    (0.006, "0.00"),
    (123, "0000000"),
    (4951234567, "+7 (000) 000-00-00"),
    (1234567, '0.0,,"M"'),
    (0.5, "# ?/?"),
    (1.5e10, "0.00E+00"),
    (45192, "dd.mm.yyyy"),
    (45192, "yyyy-mm-dd"),
    (45192, "d mmmm"),
    (45192.4375, "dd.mm.yyyy hh:mm"),
    (0.3784722222222222, "h:mm AM/PM"),
    (1.260416666666667, "[h]:mm"),
]


@pytest.mark.parametrize(("value", "code"), SHOWN)
def test_a_number_is_found_as_its_format_shows_it(value: Value, code: str) -> None:
    grid: list[list[Value | Styled]] = [["Вид", "Величина"], ["мера", Styled(value, 1)], ["ещё", 7]]
    shown = book(grid, [code])
    assert account(shown).coverage == 1.0
    grid[1] = ["мера"]
    assert account(shown, book(grid, [code])).missing == 1


@pytest.mark.parametrize(("value", "other"), [(7, 1), (1250, 1251), (0.15, 0.16), (99.7, 101), (12, 2)])
def test_another_number_does_not_stand_for_a_number(value: float, other: float) -> None:
    grid: list[list[Value | Styled]] = [["Вид", "Величина"], ["мера", value], ["ещё", 8]]
    wrong: list[list[Value | Styled]] = [["Вид", "Величина"], ["мера", other], ["ещё", 8]]
    assert account(book(grid), book(wrong)).missing == 1


def test_a_cell_cannot_take_the_number_of_another() -> None:
    grid: list[list[Value | Styled]] = [["А", "Б"], [15.4, 154], [3, 4]]
    assert account(book(grid)).coverage == 1.0
    found = account(book(grid), book([["А", "Б"], [None, 154], [3, 4]]))
    assert found.missing == 1


def test_a_format_that_shows_nothing_hides_the_value() -> None:
    grid: list[list[Value | Styled]] = [["А", "Б"], ["сумма", Styled(5, 1)], ["ноль", Styled(0, 2)]]
    found = account(book(grid, [";;;", '#,##0;-#,##0;"-"']))
    assert (found.coverage, found.visible) == (1.0, 4)


def test_hidden_sheets_rows_and_columns_are_counted_apart() -> None:
    columns = '<cols><col min="3" max="3" hidden="1"/></cols>'
    data = make_xlsx(
        {"Врачи": Sheet(rows(GRID, hidden=[3]), before=columns), "Тайна": Sheet(rows([["секрет"]]), state="hidden")}
    )
    found = account(data)
    assert (found.coverage, found.visible) == (1.0, 6)
    assert found.left_out == {"hidden-column": 5, "hidden-row": 4, "hidden-sheet": 1}


def test_rows_that_a_filter_hides_are_seen() -> None:
    condition = '<autoFilter ref="A1:C4"><filterColumn colId="0"><filters blank="1"/></filterColumn></autoFilter>'
    data = make_xlsx({"Врачи": Sheet(rows(GRID, hidden=[3]), after=condition)})
    assert account(data).coverage == 1.0
    assert account(data, book(without_row(3))).gaps == (Gap("Окулист | 14 | по вторникам", "Врачи!R3"),)


def test_of_a_merged_range_the_first_cell_is_seen_wherever_some_of_it_is_visible() -> None:
    grid: list[list[Value | Styled]] = [
        ["Этаж", "Врач"],
        ["Первый", "Терапевт"],
        ["под ним", "Окулист"],
        ["Второй", "Хирург"],
    ]
    found = account(book(grid, after=merge("A2:A3")))
    assert (found.coverage, found.doubled, found.left_out) == (1.0, 0, {"merged-over": 2})
    data = make_xlsx({"Врачи": Sheet(rows(grid, hidden=[2]), after=merge("A2:A3"))})
    found = account(data)
    assert (found.coverage, found.visible) == (1.0, 6)


def test_phonetic_runs_and_escapes_are_no_text() -> None:
    strings = "<si><r><t>Тера</t></r><r><t>певт_x000D_</t></r><rPh><t>чтение</t></rPh></si>"
    table = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    found = account(make_xlsx({"Врачи": table}, strings=strings))
    assert (found.coverage, found.visible) == (1.0, 1)


def test_shapes_are_seen_where_they_begin() -> None:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/"
    shape = (
        f'<xdr:wsDr xmlns:xdr="{drawing}spreadsheetDrawing" xmlns:a="{drawing}main"><xdr:twoCellAnchor><xdr:from>'
        "<xdr:row>6</xdr:row></xdr:from><xdr:sp><xdr:txBody><a:p><a:r><a:t>Звоните</a:t></a:r><a:br/><a:r>"
        "<a:t>заранее</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:twoCellAnchor></xdr:wsDr>"
    )
    link = [("rId1", "drawing", "../drawings/drawing1.xml")]
    data = make_xlsx({"Врачи": Sheet(rows(GRID), links=link)}, parts={"xl/drawings/drawing1.xml": shape})
    assert account(data).coverage == 1.0
    assert account(data, book(GRID)).gaps == (Gap("Звоните заранее", "Врачи!R7"),)


def test_sheets_are_found_without_relationships() -> None:
    lost = make_xlsx({"Врачи": rows(GRID)}, parts={"xl/_rels/workbook.xml.rels": relationships([])})
    assert account(lost, book(without_row(4))).gaps[0].place == "Врачи!R4"


def test_cells_and_rows_without_numbers_are_counted_on() -> None:
    bare = '<row><c t="inlineStr"><is><t>Врач</t></is></c><c/><c t="inlineStr"><is><t>Приём</t></is></c></row>'
    columns = f'<cols xmlns="{MAIN}"><col min="3" max="3" hidden="1"/></cols>'
    found = account(make_xlsx({"Врачи": Sheet(bare * 2, before=columns)}))
    assert found.left_out == {"hidden-column": 2}


def test_truth_values_and_errors_are_seen() -> None:
    table = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>Открыто</t></is></c><c r="B1" t="b"><v>1</v></c></row>'
        '<row r="2"><c r="A2" t="inlineStr"><is><t>Цена</t></is></c><c r="B2" t="e"><v>#REF!</v></c></row>'
    )
    found = account(make_xlsx({"Врачи": table}))
    assert (found.coverage, found.visible) == (1.0, 4)


def test_a_column_range_that_is_no_number_hides_nothing() -> None:
    page = Sheet(rows([["Имя", "Число"], ["Мост", 1]]), before='<cols><col min="x" max="2" hidden="1"/></cols>')
    found = account(make_xlsx({"А": page}))
    assert (found.coverage, found.left_out) == (1.0, {})
