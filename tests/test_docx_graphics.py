"""Text that Word keeps in parts and languages of its own: charts, diagrams, formulas, imported files."""

from __future__ import annotations

import pytest

from docx_maker import NAMES, Part, docx, p, r, read, style, styled, tbl, tc, texts, tr
from ragpress.audit import CoverageReport, audit
from ragpress.chunking import chunk_document
from ragpress.config import Config, LocaleSetting
from ragpress.readers.docx import read_docx
from ragpress.records import Document

CHART_NAMES = NAMES.replace(
    'xmlns:w="', 'xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex" xmlns:w="'
)


def cache(kind: str, *values: str, code: str = "") -> str:
    points = "".join(f'<c:pt idx="{n}"><c:v>{value}</c:v></c:pt>' for n, value in enumerate(values) if value)
    return f"<c:{kind}>{f'<c:formatCode>{code}</c:formatCode>' if code else ''}{points}</c:{kind}>"


def series(name: str, categories: tuple[str, ...], values: tuple[str, ...], code: str = "General") -> str:
    tx = f"<c:tx><c:strRef>{cache('strCache', name)}</c:strRef></c:tx>" if name else ""
    cat = f"<c:cat><c:strRef>{cache('strCache', *categories)}</c:strRef></c:cat>"
    return f"<c:ser>{tx}{cat}<c:val><c:numRef>{cache('numCache', *values, code=code)}</c:numRef></c:val></c:ser>"


def rich(text: str) -> str:
    return f"<c:tx><c:rich><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx>"


CHART_LINK = [("rId9", "chart", "charts/chart1.xml")]


def chart(content: str) -> tuple[str, dict[str, Part]]:
    """A body with a chart, and the part of the chart."""
    part = f"<c:chartSpace {NAMES}><c:chart>{content}</c:chart></c:chartSpace>"
    drawing = '<w:r><w:drawing><wp:inline><a:graphic><a:graphicData><c:chart r:id="rId9"/></a:graphicData></a:graphic>'
    body = p(r("Рисунок 1.") + drawing + "</wp:inline></w:drawing></w:r>")
    return body, {"word/charts/chart1.xml": part}


def with_chart(content: str) -> Document:
    body, parts = chart(content)
    return read(body, also=parts, related=CHART_LINK)


def test_a_chart_gives_its_titles_and_a_row_a_category() -> None:
    years = ("2022", "2023")
    plot = series("Москва", years, ("12.5", "13")) + series("Тверь", years, ("3.4000000000000004", ""))
    axis = f"<c:catAx><c:title>{rich('Год')}</c:title></c:catAx>"
    document = with_chart(f"<c:title>{rich('Приём по городам')}</c:title><c:plotArea>{plot}{axis}</c:plotArea>")
    assert [(unit.headings, unit.text) for unit in document.units] == [
        ((), "Рисунок 1."),
        ((), "Год"),
        (("Приём по городам",), "2022\nМосква: 12.5\nТверь: 3.4"),
        (("Приём по городам",), "2023\nМосква: 13"),
    ]


def test_values_of_a_chart_show_as_their_format_says() -> None:
    document = with_chart(series("Доля", ("а", "б"), ("0.125", "#N/A"), code="0.0%"))
    assert texts(document)[1:] == ["а\nДоля: 12.5%", "б\nДоля: #N/A"]


def test_the_title_of_a_chart_is_kept_below_a_caption_and_in_a_cell() -> None:
    content = f"<c:title>{rich('Выручка')}</c:title><c:plotArea>{series('Р', ('а',), ('1',))}</c:plotArea>"
    body, parts = chart(content)
    captioned = styled("Caption", "Рисунок 2") + body
    found = read(captioned, also=parts, related=CHART_LINK, styles=style("Caption", "caption"))
    assert [unit.headings for unit in found.units] == [(), (), ("Выручка",)]
    many = [tr("Псков", f"{number}") for number in range(8)]
    in_a_cell = read(tbl(tr("Город", "Объём"), *many, tr("Тверь", tc(body))), also=parts, related=CHART_LINK)
    assert texts(in_a_cell)[-1] == "Город: Тверь\nОбъём: Рисунок 1.\nВыручка\nР\nа | 1"


@pytest.mark.parametrize(
    ("language", "setting", "shown"),
    [("ru-RU", "auto", "5 400"), ("en-US", "auto", "5,400"), ("en-US", "ru", "5 400"), ("", "auto", "5,400")],
)
def test_values_of_a_chart_are_grouped_as_the_language_of_the_document_writes_them(
    language: str, setting: LocaleSetting, shown: str
) -> None:
    body, parts = chart(series("Цена", ("а", "б"), ("5400.4", "7"), code="#,##0"))
    usual = f'<w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="{language}"/></w:rPr></w:rPrDefault></w:docDefaults>'
    data = docx(body, also=parts, related=CHART_LINK, styles=usual)
    assert texts(read_docx(data, "a.docx", Config(number_locale=setting)))[1:] == [f"а\nЦена: {shown}", "б\nЦена: 7"]


def test_a_chart_without_names_of_series_gives_all_its_rows() -> None:
    assert texts(with_chart(series("", ("а", "б"), ("1", "2"))))[1:] == ["а\n1", "б\n2"]


def test_a_chart_that_is_missing_costs_nothing_but_itself() -> None:
    assert texts(read(p(r("а") + '<w:r><w:drawing><c:chart r:id="rId5"/></w:drawing></w:r>'))) == ["а"]


def test_a_diagram_gives_its_points_as_a_list_by_their_order() -> None:
    def point(identifier: str, text: str, kind: str = "node") -> str:
        inner = f"<dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t>" if text else ""
        return f'<dgm:pt modelId="{identifier}" type="{kind}">{inner}</dgm:pt>'

    def below(parent: str, child: str, order: int) -> str:
        return f'<dgm:cxn srcId="{parent}" destId="{child}" srcOrd="{order}"/>'

    points = point("0", "", "doc") + point("2", "Второй") + point("1", "Первый") + point("3", "Подпункт")
    points += point("9", "не виден", "pres")
    data = f"<dgm:dataModel {NAMES}><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>"
    data += below("0", "1", 0) + below("0", "2", 1) + below("1", "3", 0) + "</dgm:cxnLst></dgm:dataModel>"
    body = p('<w:r><w:drawing><dgm:relIds r:dm="rId9"/></w:drawing></w:r>')
    document = read(
        body, also={"word/diagrams/data1.xml": data}, related=[("rId9", "diagramData", "diagrams/data1.xml")]
    )
    assert texts(document) == ["- Первый\n  - Подпункт\n- Второй"]


def m(name: str, *inner: str) -> str:
    return f"<m:{name}>{''.join(inner)}</m:{name}>"


def run(text: str) -> str:
    return m("r", f"<m:t>{text}</m:t>")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (run("x=") + m("f", m("num", run("a+b")), m("den", run("2"))), "x=(a+b)/2"),
        (m("sSup", m("e", run("x")), m("sup", run("2"))) + run("+1"), "x^2 +1"),
        (m("sSubSup", m("e", run("x")), m("sub", run("i")), m("sup", run("n+1"))), "x_i^(n+1)"),
        (m("rad", m("deg"), m("e", run("x"))), "√(x)"),
        (
            m(
                "nary",
                '<m:naryPr><m:chr m:val="∑"/></m:naryPr>',
                m("sub", run("i=1")),
                m("sup", run("n")),
                m("e", run("i")),
            ),
            "∑_(i=1)^n i",
        ),
        (
            m("d", '<m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>', m("e", run("a")), m("e", run("b"))),
            "[a|b]",
        ),
        (
            m("m", m("mr", m("e", run("1")), m("e", run("0"))), m("mr", m("e", run("0")), m("e", run("1")))),
            "[1, 0; 0, 1]",
        ),
        (m("func", m("fName", run("sin")), m("e", run("x"))), "sin x"),
        (m("limLow", m("e", run("lim")), m("lim", run("n→∞"))), "lim_(n→∞)"),
        (m("unheardOf", m("e", run("y"))), "y"),
    ],
)
def test_a_formula_is_one_line(formula: str, text: str) -> None:
    assert texts(read(p(r("где ") + m("oMath", formula)))) == [f"где {text}"]


def test_a_formula_between_paragraphs_is_read() -> None:
    assert texts(read(p("а") + m("oMathPara", m("oMath", run("x")), m("oMath", run("y"))))) == ["а", "x\ny"]


def importing(name: str, data: Part, media_type: str = "") -> bytes:
    """A Word file with an altChunk between two paragraphs."""
    types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    if media_type:
        types += f'<Override PartName="/word/{name}" ContentType="{media_type}"/>'
    also = {"[Content_Types].xml": types + "</Types>", f"word/{name}": data}
    return docx(p("до") + '<w:altChunk r:id="rId9"/>' + p("после"), also=also, related=[("rId9", "aFChunk", name)])


def imported(name: str, data: Part, media_type: str = "") -> Document:
    return read_docx(importing(name, data, media_type), "a.docx", Config())


def audited(data: bytes) -> CoverageReport:
    document = read_docx(data, "a.docx", Config())
    chunks, _ = chunk_document(document, Config(), lambda text: len(text.split()))
    return audit(data, document, chunks, Config())


def test_imported_html_is_read_in_place_with_its_structure() -> None:
    html = """<!DOCTYPE html><html><head><title>нет</title><style>p {}</style></head><body><h1>Раздел</h1>
    <p>Первая<br>строка &amp; <b>ещё</b></p><!-- нет --><ul><li>пункт<ol><li>раз</li><li>два</li></ol></li></ul>
    <p style="display:none">скрыто</p><script>нет()</script>
    <table><tr><th>Город</th><th>Тел.</th></tr>
    <tr><td rowspan=2>Тверь</td><td>12-34</td></tr><tr><td>56-78</td></tr></table>
    хвост</body></html>"""
    document = imported("a.html", html.encode())
    assert texts(document) == [
        "до",
        "Первая\nстрока & ещё",
        "- пункт\n  1. раз\n  2. два",
        "Город: Тверь\nТел.: 12-34",
        "Город: Тверь\nТел.: 56-78",
        "хвост",
        "после",
    ]
    assert document.units[1].section == "Раздел"


def test_imported_html_says_its_encoding() -> None:
    data = '<html><head><meta charset="windows-1251"></head><body><p>Привет</p></body></html>'.encode("cp1251")
    assert texts(imported("a.htm", data)) == ["до", "Привет", "после"]


def test_an_imported_web_archive_is_read() -> None:
    body = "=D0=9F=D1=80=D0=B8=D0=B2=D0=B5=D1=82"
    head = 'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="x"\r\n\r\n--x\r\n'
    kind = 'Content-Type: text/html; charset="utf-8"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n'
    assert texts(imported("a.mht", f"{head}{kind}<p>{body}</p>\r\n--x--\r\n")) == ["до", "Привет", "после"]


def test_imported_text_is_read() -> None:
    assert texts(imported("a.txt", "раз\r\n\r\nдва\r\n".encode("utf-8-sig"))) == ["до", "раз", "два", "после"]


RTF = [
    (
        r"{\fonttbl{\f0 Arial;}}{\*\generator x;}\f0 \'cf\'f0\'e8\'e2\'e5\'f2\par \u1084?\u1080?\u1088?",
        ["Привет", "мир"],
    ),
    ("сырые байты", ["сырые байты"]),
    (r"{\fonttbl{\f0\fcharset178 Arial;}}\f0 \'d3\'e1\'c7\'e3", ["سلام"]),
    (r"видно{\v тайна}, \v тайна\v0 видно, {\deleted снято}видно", ["видно, видно, видно"]),
    (r"слово{\footnote сноска} дальше", ["слово", "сноска дальше"]),
    (r"{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 202}}{\shptxt в рамке\par}}{\shprslt рисунок}}", ["в рамке"]),
    (r"\trowd а\cell б\cell\row\trowd в\cell г\cell\row", ["а | б", "в | г"]),
    (r'{\field{\*\fldinst HYPERLINK "x"}{\fldrslt ссылка}} \{2\} 12\_34\~5', ["ссылка {2} 12-34 5"]),
    (r"{\pict\bin4 }}}}}текст \u-10179?\u-8704?", ["текст 😀"]),
]


@pytest.mark.parametrize(("content", "shown"), RTF, ids=[content[:20] for content, _ in RTF])
def test_imported_rtf_is_read_as_word_shows_it_and_the_audit_agrees(content: str, shown: list[str]) -> None:
    data = importing("a.rtf", rf"{{\rtf1\ansi\ansicpg1251 {content}\par}}".encode("cp1251"))
    assert texts(read_docx(data, "a.docx", Config())) == ["до", *shown, "после"]
    assert (audited(data).coverage, audited(data).duplicated) == (1.0, 0)


def test_the_audit_misses_words_of_imported_rtf_that_a_reader_overlooks() -> None:
    data = importing("a.rtf", rb"{\rtf1\ansi seen \u1084?\u1080?\u1088? {\v hidden}\par}")
    document = read_docx(docx(p("до") + p("после")), "a.docx", Config())
    chunks, _ = chunk_document(document, Config(), lambda text: len(text.split()))
    assert [gap.text for gap in audit(data, document, chunks, Config()).gaps] == ["seen мир"]


@pytest.mark.parametrize("content", [rb"\uc", rb"\u9999999999", rb"{\fonttbl " + rb"\f1 " * 20_000 + b"}"])
def test_damaged_rtf_is_named(content: bytes) -> None:
    document = imported("a.rtf", rb"{\rtf1 " + content + b"}")
    assert texts(document) == ["до", "после"]
    assert "the imported part word/a.rtf was not read: its RTF" in document.messages[0].text


def test_an_imported_word_file_is_read_with_its_own_lists_and_notes() -> None:
    note = f'<w:footnote w:id="2">{p("сноска")}</w:footnote>'
    inner = docx(p(r("внутри") + '<w:r><w:footnoteReference w:id="2"/></w:r>'), footnotes=note)
    document = imported("a.docx", inner)
    assert texts(document) == ["до", "внутри\nсноска", "после"]
    assert [str(unit.locator) for unit in document.units] == ["B1", "B1", "B2"]


def test_a_word_file_that_imports_itself_ends() -> None:
    inner: bytes = docx(p("дно"))
    for _ in range(6):
        inner = docx(
            p("слой") + '<w:altChunk r:id="rId9"/>',
            also={"word/a.docx": inner},
            related=[("rId9", "aFChunk", "a.docx")],
        )
    document = imported("a.docx", inner)
    assert texts(document).count("слой") == 3
    assert any("too deep" in found.text for found in document.messages)


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.xml", b"<x/>", "application/xml"),
        ("a.docx", b"PK\x03\x04 broken", ""),
        ("a.txt", b"\x00\x01\x02\xff\xfe" * 40, ""),
    ],
)
def test_an_import_that_cannot_be_read_is_named_and_costs_the_rest_nothing(
    name: str, data: bytes, media_type: str
) -> None:
    assert audited(importing(name, data, media_type)).visible == 2
    document = imported(name, data, media_type)
    assert texts(document) == ["до", "после"]
    (found,) = document.messages
    assert found.severity == "warning"
    assert f"word/{name}" in found.text


def test_an_import_that_is_missing_is_named() -> None:
    document = read(p("до") + '<w:altChunk r:id="rId9"/>', related=[("rId9", "aFChunk", "gone.html")])
    assert "gone.html" in document.messages[0].text


def test_a_chart_without_stored_text_is_named_as_not_read() -> None:
    chart = '<w:r><w:drawing><wp:inline><a:graphic><a:graphicData><c:chart r:id="rId7"/></a:graphicData></a:graphic>'
    found = read(p("Текст") + p(f"{chart}</wp:inline></w:drawing></w:r>") * 2)
    assert [(entry.text, str(entry.locator)) for entry in found.messages] == [
        (
            "2 objects were not read (chart or diagram without stored text); paste what is shown as text or as a table",
            "B2",
        )
    ]
