"""Words outside of cells: shapes, charts, page headers, comments."""

from __future__ import annotations

from ragpress.readers.xlsx.drawings import print_lines
from xlsx_maker import MAIN, OFFICE, Sheet, make_xlsx, read, relationships, rows, said, texts

TABLE = rows([["Имя", "Число"], ["Мост", 1], ["Брод", 2]], first=3)
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/"
LINK = [("rId1", "drawing", "../drawings/drawing1.xml")]


def shape(text: str, row: int = 0, hidden: str = "") -> str:
    runs = "<a:br/>".join(f"<a:r><a:t>{line}</a:t></a:r>" for line in text.split("|"))
    return (
        f"<xdr:twoCellAnchor><xdr:from><xdr:col>0</xdr:col><xdr:row>{row}</xdr:row></xdr:from><xdr:sp><xdr:nvSpPr>"
        f'<xdr:cNvPr id="1" name="s" {hidden}/></xdr:nvSpPr><xdr:txBody><a:p>{runs}</a:p></xdr:txBody></xdr:sp>'
        "</xdr:twoCellAnchor>"
    )


def drawing(inside: str) -> str:
    return (
        f'<xdr:wsDr xmlns:xdr="{DRAWING}spreadsheetDrawing" xmlns:a="{DRAWING}main" xmlns:r="{OFFICE}" '
        f'xmlns:c="{DRAWING}chart" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">{inside}</xdr:wsDr>'
    )


def chart(title: str) -> str:
    return (
        f'<c:chartSpace xmlns:c="{DRAWING}chart" xmlns:a="{DRAWING}main"><c:chart><c:title><c:tx><c:rich><a:p><a:r>'
        f"<a:t>{title}</a:t></a:r></a:p></c:rich></c:tx></c:title><c:ser><c:tx><c:strRef><c:strCache><c:pt><c:v>Число</c:v>"
        "</c:pt></c:strCache></c:strRef></c:tx></c:ser></c:chart></c:chartSpace>"
    )


FRAME = (
    "<xdr:twoCellAnchor><xdr:from><xdr:row>8</xdr:row></xdr:from><xdr:graphicFrame><a:graphic><a:graphicData>"
    '<c:chart r:id="rId7"/></a:graphicData></a:graphic></xdr:graphicFrame></xdr:twoCellAnchor>'
)


def test_text_boxes_are_read_once_where_they_begin() -> None:
    inside = shape("Внимание|две строки", row=0) + shape("После таблицы", row=9) + shape("скрыто", hidden='hidden="1"')
    document = read(make_xlsx({"А": Sheet(TABLE, links=LINK)}, parts={"xl/drawings/drawing1.xml": drawing(inside)}))
    assert texts(document) == ["Внимание\nдве строки", "Имя: Мост\nЧисло: 1", "Имя: Брод\nЧисло: 2", "После таблицы"]
    assert [unit.kind for unit in document.units] == ["paragraph", "table_row", "table_row", "paragraph"]
    assert [str(unit.locator) for unit in document.units] == ["А!R1", "А!R4", "А!R5", "А!R10"]


def test_of_alternatives_the_first_is_read() -> None:
    inside = (
        f"<mc:AlternateContent><mc:Choice>{shape('видно')}</mc:Choice>"
        f"<mc:Fallback>{shape('нужна новая версия')}</mc:Fallback></mc:AlternateContent>"
    )
    document = read(make_xlsx({"А": Sheet("", links=LINK)}, parts={"xl/drawings/drawing1.xml": drawing(inside)}))
    assert texts(document) == ["видно"]


def test_a_chart_gives_its_title_and_not_the_cells_again() -> None:
    parts = {
        "xl/drawings/drawing1.xml": drawing(FRAME),
        "xl/drawings/_rels/drawing1.xml.rels": relationships([("rId7", "chart", "../charts/chart1.xml")]),
        "xl/charts/chart1.xml": chart("Ход работ"),
    }
    document = read(make_xlsx({"А": Sheet(TABLE, links=LINK)}, parts=parts))
    assert texts(document) == ["Имя: Мост\nЧисло: 1", "Имя: Брод\nЧисло: 2", "Ход работ"]


def test_a_chart_sheet_gives_its_title_and_a_message() -> None:
    parts = {
        "xl/drawings/drawing1.xml": drawing(FRAME),
        "xl/drawings/_rels/drawing1.xml.rels": relationships([("rId7", "chart", "../charts/chart1.xml")]),
        "xl/charts/chart1.xml": chart("Ход работ"),
    }
    sheets = {
        "А": Sheet(TABLE),
        "График": Sheet("", links=LINK, kind="chartsheet"),
        "Окно": Sheet("", kind="dialogsheet"),
    }
    document = read(make_xlsx(sheets, parts=parts))
    assert texts(document)[-1] == "Ход работ"
    assert document.units[-1].section == "График"
    assert "sheet «График» is a chart; only its titles were read" in said(document)
    assert "sheet «Окно» is no worksheet; it was skipped" in said(document)


def test_a_page_header_is_read_once_if_it_has_words_of_its_own() -> None:
    code = '&amp;L&amp;"Arial,Bold"Учебный &amp;A&amp;Rстр. &amp;P из &amp;N'
    sheet = Sheet(TABLE, after=f"<headerFooter><oddHeader>{code}</oddHeader></headerFooter>")
    document = read(make_xlsx({"А": sheet, "Б": sheet}))
    assert texts(document).count("Учебный") == 1
    assert "стр" not in "\n".join(texts(document))


def test_codes_of_page_headers_are_no_words() -> None:
    assert print_lines('&C&"-,Bold"&14&K00FF00Дела && люди&RСтраница &P из &N') == ["Дела & люди"]
    assert print_lines("&D &T &F") == []


def test_comments_are_left_out_and_counted() -> None:
    comment = '<comment ref="A1"><text><t>тайна</t></text></comment>'
    part = f'<comments xmlns="{MAIN}"><commentList>{comment}</commentList></comments>'
    sheet = Sheet(TABLE, links=[("rId1", "comments", "../comments1.xml")])
    document = read(make_xlsx({"А": sheet}, parts={"xl/comments1.xml": part}))
    assert "тайна" not in "\n".join(texts(document))
    assert "comments left out: 1" in said(document)
