"""The audit of workbooks: what it sees, and that it notices a reader that overlooks something."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

import pytest

from ragpress.audit import CoverageReport, audit
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.records import Gap
from xlsx_maker import (
    MAIN,
    Sheet,
    Styled,
    Value,
    cell,
    make_xlsx,
    merge,
    pack,
    read,
    relationships,
    rows,
    said,
    texts,
)

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


def audited(data: bytes, compiled_from: bytes | None = None) -> CoverageReport:
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
    found = audited(book(GRID))
    assert (found.coverage, found.visible, found.missing, found.duplicated, found.gaps) == (1.0, 15, 0, 0, ())


def test_an_overlooked_row_is_named() -> None:
    found = audited(book(GRID), book(without_row(3)))
    assert found.gaps == (Gap("Окулист | 14 | по вторникам", "Врачи!R3"),)
    assert found.missing == 4


def test_an_overlooked_column_is_named_even_if_it_holds_numbers() -> None:
    found = audited(book(GRID), book(without_column(2)))
    assert found.gaps == tuple(
        Gap(text, f"Врачи!R{row}") for row, text in ((1, "Кабинет"), (2, "12"), (3, "14"), (4, "16"))
    )


def test_a_row_is_not_covered_by_the_same_words_in_other_rows() -> None:
    same: list[list[Value | Styled]] = [[*HEADER]]
    same += [["Терапевт", 12, f"смена {name}"] for name in ("утро", "день", "ночь")]
    found = audited(book(same), book([same[0], same[1], [], same[3]]))
    assert found.gaps == (Gap("Терапевт | 12 | смена день", "Врачи!R3"),)


def test_an_overlooked_sheet_is_named() -> None:
    two = make_xlsx({"Врачи": rows(GRID), "Цены": rows([["Услуга", "Цена"], ["Осмотр", 900]])})
    found = audited(two, make_xlsx({"Врачи": rows(GRID)}))
    assert [gap.place for gap in found.gaps] == ["Цены!R1", "Цены!R2"]


def test_an_overlooked_title_is_named() -> None:
    titled = make_xlsx({"Врачи": Sheet(rows([["Расписание на май"], [], *GRID]))})
    untitled = make_xlsx({"Врачи": Sheet(rows(GRID, first=3))})
    assert audited(titled).coverage == 1.0
    assert audited(titled, untitled).gaps == (Gap("Расписание на май", "Врачи!R1"),)


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
    assert audited(shown).coverage == 1.0
    grid[1] = ["мера"]
    assert audited(shown, book(grid, [code])).missing == 1


@pytest.mark.parametrize(("value", "other"), [(7, 1), (1250, 1251), (0.15, 0.16), (99.7, 101), (12, 2)])
def test_another_number_does_not_stand_for_a_number(value: float, other: float) -> None:
    grid: list[list[Value | Styled]] = [["Вид", "Величина"], ["мера", value], ["ещё", 8]]
    wrong: list[list[Value | Styled]] = [["Вид", "Величина"], ["мера", other], ["ещё", 8]]
    assert audited(book(grid), book(wrong)).missing == 1


def test_a_cell_cannot_take_the_number_of_another() -> None:
    grid: list[list[Value | Styled]] = [["А", "Б"], [15.4, 154], [3, 4]]
    assert audited(book(grid)).coverage == 1.0
    found = audited(book(grid), book([["А", "Б"], [None, 154], [3, 4]]))
    assert found.missing == 1


def test_a_format_that_shows_nothing_hides_the_value() -> None:
    grid: list[list[Value | Styled]] = [["А", "Б"], ["сумма", Styled(5, 1)], ["ноль", Styled(0, 2)]]
    found = audited(book(grid, [";;;", '#,##0;-#,##0;"-"']))
    assert (found.coverage, found.visible) == (1.0, 4)


def test_hidden_sheets_rows_and_columns_are_counted_apart() -> None:
    columns = '<cols><col min="3" max="3" hidden="1"/></cols>'
    data = make_xlsx(
        {"Врачи": Sheet(rows(GRID, hidden=[3]), before=columns), "Тайна": Sheet(rows([["секрет"]]), state="hidden")}
    )
    found = audited(data)
    assert (found.coverage, found.visible) == (1.0, 6)
    assert found.left_out == {"hidden-column": 5, "hidden-row": 4, "hidden-sheet": 1}


def test_rows_that_a_filter_hides_are_seen() -> None:
    condition = '<autoFilter ref="A1:C4"><filterColumn colId="0"><filters blank="1"/></filterColumn></autoFilter>'
    data = make_xlsx({"Врачи": Sheet(rows(GRID, hidden=[3]), after=condition)})
    assert audited(data).coverage == 1.0
    assert audited(data, book(without_row(3))).gaps == (Gap("Окулист | 14 | по вторникам", "Врачи!R3"),)


def test_of_a_merged_range_the_first_cell_is_seen_wherever_some_of_it_is_visible() -> None:
    grid: list[list[Value | Styled]] = [
        ["Этаж", "Врач"],
        ["Первый", "Терапевт"],
        ["под ним", "Окулист"],
        ["Второй", "Хирург"],
    ]
    found = audited(book(grid, after=merge("A2:A3")))
    assert (found.coverage, found.duplicated, found.left_out) == (1.0, 0, {"merged-over": 2})
    data = make_xlsx({"Врачи": Sheet(rows(grid, hidden=[2]), after=merge("A2:A3"))})
    found = audited(data)
    assert (found.coverage, found.visible) == (1.0, 6)


def test_phonetic_runs_and_escapes_are_no_text() -> None:
    strings = "<si><r><t>Тера</t></r><r><t>певт_x000D_</t></r><rPh><t>чтение</t></rPh></si>"
    table = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    found = audited(make_xlsx({"Врачи": table}, strings=strings))
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
    assert audited(data).coverage == 1.0
    assert audited(data, book(GRID)).gaps == (Gap("Звоните заранее", "Врачи!R7"),)


def test_sheets_are_found_without_relationships() -> None:
    lost = make_xlsx({"Врачи": rows(GRID)}, parts={"xl/_rels/workbook.xml.rels": relationships([])})
    assert audited(lost, book(without_row(4))).gaps[0].place == "Врачи!R4"


def test_cells_and_rows_without_numbers_are_counted_on() -> None:
    bare = '<row><c t="inlineStr"><is><t>Врач</t></is></c><c/><c t="inlineStr"><is><t>Приём</t></is></c></row>'
    columns = f'<cols xmlns="{MAIN}"><col min="3" max="3" hidden="1"/></cols>'
    found = audited(make_xlsx({"Врачи": Sheet(bare * 2, before=columns)}))
    assert found.left_out == {"hidden-column": 2}


def test_truth_values_and_errors_are_seen() -> None:
    table = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>Открыто</t></is></c><c r="B1" t="b"><v>1</v></c></row>'
        '<row r="2"><c r="A2" t="inlineStr"><is><t>Цена</t></is></c><c r="B2" t="e"><v>#REF!</v></c></row>'
    )
    found = audited(make_xlsx({"Врачи": table}))
    assert (found.coverage, found.visible) == (1.0, 4)


def test_a_column_range_that_is_no_number_hides_nothing() -> None:
    page = Sheet(rows([["Имя", "Число"], ["Мост", 1]]), before='<cols><col min="x" max="2" hidden="1"/></cols>')
    found = audited(make_xlsx({"А": page}))
    assert (found.coverage, found.left_out) == (1.0, {})


WAYS_TO_SHOW: list[tuple[str, list[float]]] = [
    ('[<1000]0;[<1000000]0.0,"K";0.0,,"M"', [789, 45678, 1234567, 999.6]),
    ("[>=1000000]0.0,,;[>=1000]0.0,;0", [2345678, 40000, 12]),
    ("[h]:mm", [1.25, -1.25, -0.0625, 0.99999999]),
    ("[h]:mm:ss.000", [0.0416666, 1.5]),
    ("dd.mm.yyyy", [45192, -3, 3_000_000]),
    ("yyyy-mm-dd hh:mm:ss.000", [45192.378472, 45192.9999999]),
    ("mm:ss.0", [0.123456789, 0]),
    ("yyyymmdd", [40, 45200]),
    ("+7 (000) 000-00-00", [1, 54_00, 1_234_567_890, -5]),
    ('"№ 5-"000', [1, 42]),
    ('0" (2024)"', [3, 400, 0]),
    ("0,", [40, 4_000]),
    ("#,##0", [1234567890123456, 123456789012345678]),
    ("Standard", [7.5, 45200]),
    ("[$-419]dddd", [45200, 5]),
    ("0.0##%", [0.075, 1]),
]


@pytest.mark.parametrize("epoch", ["", '<workbookPr date1904="1"/>'], ids=["1900", "1904"])
@pytest.mark.parametrize(("code", "values"), WAYS_TO_SHOW, ids=[code for code, _ in WAYS_TO_SHOW])
def test_a_number_is_seen_however_its_format_shows_it(code: str, values: list[float], epoch: str) -> None:
    for value in values:
        grid: list[list[Value | Styled]] = [
            ["Врач", "Кабинет"],
            ["Терапевт", Styled(value, 1)],
            ["Окулист", 3],
            ["Хирург", 16],
        ]
        assert audited(make_xlsx({"Врачи": rows(grid)}, formats=[code], properties=epoch)).gaps == ()


def test_a_format_with_digits_of_its_own_hides_no_other_number() -> None:
    shown = book([*GRID, ["Педиатр", Styled(1234, 1), "всегда"]], ['"5-"0000'])
    other = book([*GRID, ["Педиатр", Styled(1235, 1), "всегда"]], ['"5-"0000'])
    assert [gap.text for gap in audited(shown, other).gaps] == ["1234"]


RICH = "http://schemas.microsoft.com/office/spreadsheetml/2017/richdata"


def with_rich_values(structures: str, values: Sequence[str], cells: str) -> bytes:
    """A workbook whose cells show rich values; `vm` attributes count them from 1."""
    count = range(len(values))
    marks = "".join(f'<bk><extLst><ext uri="x"><r:rvb i="{number}"/></ext></extLst></bk>' for number in count)
    uses = "".join(f'<bk><rc t="1" v="{number}"/></bk>' for number in count)
    kinds = '<metadataTypes><metadataType name="XLRICHVALUE"/></metadataTypes>'
    data = make_xlsx({"Прайс": cells})
    office = "http://schemas.microsoft.com/office/2017/06/relationships"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    links = "".join(
        f'<Relationship Id="m{kind}" Type="{office}/{kind}" Target="{target}.xml"/>'
        for kind, target in (("sheetMetadata", "metadata"), ("rdRichValue", "values"), ("rdRichValueStructure", "keys"))
    )
    name = "xl/_rels/workbook.xml.rels"
    parts[name] = parts[name].replace(b"</Relationships>", f"{links}</Relationships>".encode())
    parts["xl/metadata.xml"] = (
        f'<metadata xmlns="{MAIN}" xmlns:r="{RICH}">{kinds}<futureMetadata name="XLRICHVALUE">{marks}</futureMetadata>'
        f"<valueMetadata>{uses}</valueMetadata></metadata>"
    ).encode()
    parts["xl/values.xml"] = f'<rvData xmlns="{RICH}">{"".join(values)}</rvData>'.encode()
    parts["xl/keys.xml"] = f'<rvStructures xmlns="{RICH}">{structures}</rvStructures>'.encode()
    return pack(parts)


def rich_rows(*names: str) -> str:
    lines = "".join(
        f'<row r="{row}">{cell(name, f"A{row}")}<c r="B{row}" t="e" vm="{row - 1}"><v>#VALUE!</v></c>'
        f"{cell(row * 100, f'C{row}')}</row>"
        for row, name in enumerate(names, start=2)
    )
    return rows([["Товар", "Вид", "Цена"]]) + lines


def test_a_picture_in_a_cell_says_its_alternative_text_and_no_error() -> None:
    picture = '<s t="_localImage"><k n="_rvRel:LocalImageIdentifier" t="i"/><k n="Text" t="s"/></s>'
    values = ['<rv s="0"><v>0</v><v>Насос сбоку</v></rv>', '<rv s="0"><v>1</v><v></v></rv>']
    data = with_rich_values(picture, values, rich_rows("Насос", "Клапан"))
    document = read(data)
    assert texts(document) == ["Товар: Насос\nВид: Насос сбоку\nЦена: 200", "Товар: Клапан\nЦена: 300"]
    assert "cells that show a picture or data without a text: 1" in said(document)
    assert audited(data).gaps == ()


def test_a_linked_data_type_says_the_name_that_it_shows() -> None:
    linked = '<s t="_linkedentity"><k n="%EntityId" t="s"/><k n="_DisplayString" t="s"/><k n="Name" t="s"/></s>'
    data = with_rich_values(linked, ['<rv s="0"><v>a1</v><v>Тверь</v><v>город</v></rv>'], rich_rows("Склад"))
    assert texts(read(data)) == ["Товар: Склад\nВид: Тверь\nЦена: 200"]
    assert audited(data).gaps == ()


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (14, "m/d/yyyy", "23.09.2023"),
        (14, "mm-dd-yy", "23.09.2023"),
        (14, "yyyy-mm-dd hh:mm", "2023-09-23 09:05"),
        (14, "0.0", "45192.4"),
        (22, "m/d/yy h:mm", "23.09.2023 9:05"),
        (22, "d mmm", "23 Sep"),
    ],
)
def test_a_date_of_the_system_is_shown_as_the_system_does_unless_the_file_says_something_else(
    number: int, code: str, shown: str
) -> None:
    styles = (
        f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="{number}" formatCode="{code}"/></numFmts>'
        f'<cellXfs><xf numFmtId="0"/><xf numFmtId="{number}"/></cellXfs></styleSheet>'
    )
    data = make_xlsx({"Дни": rows([["Что", "Когда"], ["Мост", Styled(45192.378472, 1)]])}, styles=styles)
    assert texts(read(data)) == [f"Что: Мост\nКогда: {shown}"]
    assert audited(data).gaps == ()


def test_a_date_without_a_telling_part_takes_no_number_of_another_cell() -> None:
    grid: list[list[Value | Styled]] = [[88647, Styled(32, 1), "Врач"], ["Мира, 5", "Итого", Styled(0, 2)]]
    assert audited(book(grid, ["dd.mm.yyyy", "h:mm"])).gaps == ()


def test_a_number_in_groups_that_became_a_heading_is_seen() -> None:
    grid: list[list[Value | Styled]] = [[Styled(941371, 1)], [], ["а", "б"], ["в", "г"]]
    assert audited(make_xlsx({"Отчёт": Sheet(rows(grid), after=merge("A1:B1"))}, formats=["#,##0"])).gaps == ()


def test_a_day_by_name_alone_needs_no_number_in_its_row() -> None:
    grid: list[list[Value | Styled]] = [["День", "Врач"], [Styled(45200, 1), "Окулист"], [Styled(45201, 1), "Хирург"]]
    assert audited(book(grid, ["dddd"])).gaps == ()


def test_a_number_shown_rounded_leaves_the_number_of_a_later_row() -> None:
    grid: list[list[Value | Styled]] = [
        ["Вал", Styled(0.411, 1)],
        ["Ось", Styled(3.913, 1)],
        ["Болт", Styled(7, 1)],
        ["Ключ", Styled(9, 1)],
    ]
    data = book(grid, ["#,##0"])
    document = read_document(data, "a.xlsx", Config())
    chunks = chunk_document(document, Config(), words)[0]
    assert [chunk.locator for chunk in chunks] == ["Врачи!R1-4"]
    assert audit(data, document, chunks, Config()).gaps == ()


def test_a_word_longer_than_a_chunk_is_seen_in_its_parts() -> None:
    code = "".join(f"{number:x}" for number in range(2000))
    document = read_document(book([["Ключ", "Число"], [code, 5], ["б", 6]]), "a.xlsx", Config())
    chunks = chunk_document(document, Config(), len)[0]
    assert sum(chunk.locator == "Врачи!R2" for chunk in chunks) > 1
    assert audit(book([["Ключ", "Число"], [code, 5], ["б", 6]]), document, chunks, Config()).gaps == ()


def test_formats_are_found_without_relationships() -> None:
    with zipfile.ZipFile(io.BytesIO(book([["День", "Врач"], [Styled(45200, 1), "Окулист"]], ["dd.mm.yyyy"]))) as file:
        parts = {name: file.read(name) for name in file.namelist() if name != "xl/_rels/workbook.xml.rels"}
    assert audited(pack(parts)).gaps == ()
