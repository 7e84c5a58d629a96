"""The audit of Word files: what it sees, and that it notices a reader that overlooks something."""

from __future__ import annotations

import io
import zipfile

import msgspec
import pytest

from docx_maker import (
    NAMES,
    archive,
    box,
    code,
    docx,
    field,
    gone,
    heading,
    ins,
    level,
    lists,
    mark,
    numbered,
    p,
    r,
    sdt,
    story,
    style,
    styled,
    t,
    tbl,
    tc,
    tr,
    vml_box,
)
from ragpress.audit import CoverageReport, audit
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.readers.docx import read_docx
from ragpress.records import Chunk, Document, Gap

CONFIG = Config(min_tokens=0)
BEFORE, BEHIND = p("Клиника работает ежедневно."), p("Регистратура отвечает по телефону.")
TABLE = tbl(tr("Врач", "Кабинет"), tr("Терапевт", "12"), tr("Окулист", "14"))


def words(text: str) -> int:
    return 3 + len(text.split())


def compiled(data: bytes) -> tuple[Document, tuple[Chunk, ...]]:
    document = read_docx(data, "a.docx", CONFIG)
    return document, chunk_document(document, CONFIG, words)[0]


def audited(data: bytes, compiled_from: bytes | None = None) -> CoverageReport:
    """The account of a file, or of one against the chunks of another: what a reader gives that overlooks the rest."""
    return audit(data, *compiled(data if compiled_from is None else compiled_from), CONFIG)


def footnote(text: str) -> str:
    return f'<w:footnote w:id="2">{p(text)}</w:footnote>'


CITING = p(r("Срок приёма") + '<w:r><w:footnoteReference w:id="2"/></w:r>')
SECTION = '<w:sectPr><w:headerReference w:type="default" r:id="rId_header1"/></w:sectPr>'

OVERLOOKED = {
    "a paragraph": (p("Лаборатория закрыта."), "", "Лаборатория закрыта."),
    "a content control": (sdt(p("Лаборатория закрыта.")), "", "Лаборатория закрыта."),
    "an insertion": (p(r("Приём") + ins(r(" без записи"))), p(r("Приём")), "без записи"),
    "a hyperlink": (p(r("См. ") + f"<w:hyperlink>{r('расписание')}</w:hyperlink>"), p(r("См. ")), "расписание"),
    "a field's result": (p(r("См. ") + field(" REF x ", r("расписание"))), p(r("См. ")), "расписание"),
    "a text box": (p(r("Адрес") + box(p("вход со двора"))), p(r("Адрес")), "вход со двора"),
    "a VML text box": (p(r("Адрес") + f"<w:r>{vml_box(p('вход со двора'))}</w:r>"), p(r("Адрес")), "вход со двора"),
    "a table": (TABLE, "", "Терапевт"),
    "a row": (TABLE, TABLE.replace(tr("Окулист", "14"), ""), "Окулист"),
    "a nested table": (
        tbl(tr("Отдел", tc(p("Состав") + TABLE))),
        tbl(tr("Отдел", tc(p("Состав")))),
        "Терапевт",
    ),
    "a list item": (
        numbered("Паспорт") + numbered("Полис"),
        numbered("Паспорт"),
        "Полис",
    ),
    "a formula": (
        p(r("Доза") + "<m:oMath><m:r><m:t>x</m:t></m:r><m:r><m:t>17</m:t></m:r></m:oMath>"),
        p(r("Доза")),
        "x 17",
    ),
}


@pytest.mark.parametrize("name", OVERLOOKED)
def test_what_a_reader_overlooks_is_named_with_its_place(name: str) -> None:
    inside, without, missing = OVERLOOKED[name]
    whole = docx(BEFORE + inside + BEHIND, numbering=lists(level(0, "%1.")))
    assert audited(whole).coverage == 1.0
    found = audited(whole, docx(BEFORE + without + BEHIND, numbering=lists(level(0, "%1."))))
    assert found.coverage < 1.0
    assert found.missing >= len(missing.split())
    places = [gap.place for gap in found.gaps if missing.split()[0] in gap.text]
    assert places in (["B2"], ["B3"]), found.gaps


def test_a_note_that_the_text_cites_is_seen_and_one_that_nothing_cites_is_not() -> None:
    whole = docx(BEFORE + CITING, footnotes=footnote("Кроме выходных."))
    assert audited(whole).coverage == 1.0
    assert audited(whole, docx(BEFORE + CITING)).gaps == (Gap("Кроме выходных.", "B2"),)
    uncited = docx(BEFORE, footnotes=footnote("Кроме выходных."))
    assert audited(uncited).visible == 3


def test_a_page_header_counts_once_and_its_page_number_not_at_all() -> None:
    lines = p("Клиника «Рассвет»") + p(r("стр. ") + field(" PAGE ", r("7")))
    whole = docx(BEFORE + SECTION, header1=lines)
    assert audited(whole).coverage == 1.0
    found = audited(whole, docx(BEFORE))
    assert found.gaps == (Gap("Клиника «Рассвет»", "header"),)
    assert found.left_out["page-number"] == 2


def test_a_header_of_first_pages_counts_only_where_there_are_title_pages() -> None:
    link = '<w:headerReference w:type="first" r:id="rId_header1"/>'
    without = docx(f"{BEFORE}<w:sectPr>{link}</w:sectPr>", header1=p("Титул"))
    assert audited(without, docx(BEFORE)).coverage == 1.0
    printed = docx(f"{BEFORE}<w:sectPr>{link}<w:titlePg/></w:sectPr>", header1=p("Титул"))
    assert audited(printed, docx(BEFORE)).gaps == (Gap("Титул", "header"),)


HIDDEN = {
    "deleted": p(r("Приём") + gone("по пятницам")),
    "hidden": p(r("Приём") + r("по пятницам", "<w:vanish/>")),
    "field-code": p(mark("begin") + code("HYPERLINK пятница адрес") + mark("separate") + r("Приём") + mark("end")),
}


@pytest.mark.parametrize("reason", HIDDEN)
def test_what_nobody_sees_is_counted_apart(reason: str) -> None:
    found = audited(docx(BEFORE + HIDDEN[reason]))
    assert (found.coverage, found.visible) == (1.0, 4)
    assert found.left_out[reason] >= 2


def test_text_hidden_by_its_style_is_not_seen() -> None:
    styles = style("Тайный", inner="<w:rPr><w:vanish/></w:rPr>") + style("Потомок", based="Тайный")
    found = audited(docx(BEFORE + styled("Потомок", "по пятницам"), styles=styles))
    assert (found.visible, found.left_out) == (3, {"hidden": 2})


def test_comments_are_left_out() -> None:
    comments = story("comments", f'<w:comment w:id="1">{p("проверить срок")}</w:comment>')
    data = docx(BEFORE, also={"word/comments.xml": comments}, related=[("rId9", "comments", "comments.xml")])
    assert audited(data).left_out == {"comment": 2}


def test_a_moved_text_counts_at_its_new_place_only() -> None:
    moved = p(gone("кочует", "moveFrom")) + p(f'<w:moveTo w:id="3" w:author="x">{r("кочует")}</w:moveTo>')
    found = audited(docx(BEFORE + moved))
    assert (found.coverage, found.visible, found.duplicated) == (1.0, 4, 0)


def test_a_field_that_never_ends_hides_nothing() -> None:
    found = audited(docx(p(mark("begin") + r("Приём по записи")) + BEHIND))
    assert found.visible == 7


def test_a_field_may_go_on_over_paragraphs() -> None:
    body = p(mark("begin") + code(" TOC ") + r("код") + mark("separate") + r("Раздел 3")) + p(
        r("Глава 5") + mark("end")
    )
    found = audited(docx(body + BEHIND))
    assert (found.coverage, found.visible) == (1.0, 8)


def test_a_paragraph_whose_end_was_deleted_goes_on_in_the_next() -> None:
    ended = '<w:rPr><w:del w:id="5" w:author="x"/></w:rPr>'
    found = audited(docx(p(r("Запи"), ended) + p("сь открыта.") + BEHIND))
    assert (found.coverage, found.visible) == (1.0, 6)


def test_a_text_box_stored_twice_is_seen_once() -> None:
    found = audited(docx(p(r("Адрес") + box(p("вход со двора")))))
    assert (found.visible, found.duplicated) == (4, 0)


def test_headings_are_accounted_for_by_the_chunks_that_carry_them() -> None:
    styles = heading("Heading1", 0, "heading 1")
    data = docx(styled("Heading1", "Запись") + BEFORE + styled("Heading1", "Запись") + BEHIND, styles=styles)
    document, chunks = compiled(data)
    assert audit(data, document, chunks, CONFIG).coverage == 1.0
    bare = [msgspec.structs.replace(chunk, headings=()) for chunk in chunks]
    assert audit(data, document, bare, CONFIG).gaps == (Gap("Запись", "B1"), Gap("Запись", "B3"))


def test_automatic_numbers_may_stand_in_the_chunks_alone() -> None:
    found = audited(docx(numbered("Паспорт") + numbered("Полис"), numbering=lists(level(0, "Пункт %1."))))
    assert (found.coverage, found.visible, found.duplicated) == (1.0, 2, 0)


def test_a_vertically_merged_value_may_stand_in_every_row() -> None:
    merged = tbl(
        tr("Этаж", "Врач"),
        tr(tc("Первый этаж", '<w:vMerge w:val="restart"/>'), "Терапевт"),
        tr(tc("", "<w:vMerge/>"), "Окулист"),
    )
    found = audited(docx(merged))
    assert (found.coverage, found.visible, found.duplicated) == (1.0, 6, 0)


def test_text_that_chunks_hold_twice_is_counted() -> None:
    once = docx(BEFORE + BEHIND)
    assert audited(once).duplicated == 0
    assert audited(once, docx(BEFORE + BEFORE + BEHIND)).duplicated == 3


def drawing(content: str) -> str:
    frame = f"<a:graphic><a:graphicData>{content}</a:graphicData></a:graphic>"
    return f'<w:drawing><wp:inline><wp:docPr id="1" name="x"/>{frame}</wp:inline></w:drawing>'


def drawn(text: str) -> str:
    return f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"


CHART = (
    f"<c:chartSpace {NAMES}><c:chart><c:title><c:tx><c:rich>{drawn('Визиты')}</c:rich></c:tx></c:title><c:plotArea>"
    "<c:barChart><c:ser><c:cat><c:strRef><c:strCache><c:pt><c:v>Весна</c:v></c:pt></c:strCache></c:strRef></c:cat>"
    "</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
)
DIAGRAM = (
    f'<dgm:dataModel {NAMES}><dgm:ptLst><dgm:pt modelId="1"><dgm:t>{drawn("Запись")}</dgm:t></dgm:pt></dgm:ptLst>'
    "</dgm:dataModel>"
)


def test_a_main_part_of_another_name_is_seen() -> None:
    elsewhere = docx(BEFORE + BEHIND, main="content/text.xml")
    assert audited(elsewhere, docx(BEFORE)).gaps == (Gap("Регистратура отвечает по телефону.", "B2"),)


def test_words_of_a_file_that_shows_none_are_told_of() -> None:
    assert audited(docx(p("")), docx(BEFORE)).duplicated == 3


def test_a_file_that_was_converted_is_audited_as_what_it_became() -> None:
    document, chunks = compiled(docx(BEFORE))
    renamed = msgspec.structs.replace(document, source="a.doc")
    assert audit(docx(BEFORE + BEHIND), renamed, chunks, CONFIG, ".docx").missing == 4


def test_charts_and_diagrams_are_seen() -> None:
    chart, diagram = drawing('<c:chart r:id="rId7"/>'), drawing('<dgm:relIds r:dm="rId8"/>')
    data = docx(
        BEFORE + p(f"<w:r>{chart}{diagram}</w:r>"),
        also={"word/charts/chart1.xml": CHART, "word/diagrams/data1.xml": DIAGRAM},
        related=[("rId7", "chart", "charts/chart1.xml"), ("rId8", "diagramData", "diagrams/data1.xml")],
    )
    found = audited(data, docx(BEFORE))
    assert [(gap.text, gap.place) for gap in found.gaps] == [("Визиты", "B2"), ("Весна", "B2"), ("Запись", "B2")]
    assert audited(data).coverage == 1.0


@pytest.mark.parametrize(
    "part", ["<html><body><p>вложенный <b>раз</b>дел</p><script>тайна</script></body></html>", "docx"]
)
def test_an_embedded_file_is_seen_in_place(part: str) -> None:
    name = "word/extra.docx" if part == "docx" else "word/extra.html"
    inner = docx(p("вложенный раздел")) if part == "docx" else part
    data = docx(
        BEFORE + '<w:altChunk r:id="rId7"/>',
        also={name: inner},
        related=[("rId7", "aFChunk", name.removeprefix("word/"))],
    )
    assert audited(data, docx(BEFORE)).gaps == (Gap("вложенный раздел", "B2"),)
    assert audited(data).coverage == 1.0


def strict(data: bytes) -> bytes:
    """The file with the namespaces of the strict variant."""
    made = {}
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        for name in old.namelist():
            text = old.read(name).decode()
            for usual in ("wordprocessingml", "officeDocument"):
                text = text.replace(
                    f"http://schemas.openxmlformats.org/{usual}/2006/", f"http://purl.oclc.org/ooxml/{usual}/"
                )
            made[name] = text
    return archive(made)


def test_strict_files_are_seen_as_the_others_are() -> None:
    data = docx(BEFORE + TABLE)
    assert audited(strict(data)).visible == audited(data).visible == 9
    assert audited(strict(data), docx(BEFORE)).gaps[0].place == "B2"


def test_signs_of_symbol_fonts_are_no_words_and_spoil_none() -> None:
    sign = '<w:r><w:sym w:font="Symbol" w:char="F044"/></w:r>'
    found = audited(docx(p(sign + r("t равно") + r(" нулю"))))
    assert (found.coverage, found.visible) == (1.0, 2)


def test_words_divided_between_runs_are_whole() -> None:
    found = audited(docx(p(f"<w:r>{t('Тера')}</w:r><w:r>{t('певт')}</w:r>")))
    assert (found.coverage, found.visible) == (1.0, 1)


def test_marks_of_fields_that_a_text_box_parts_from_each_other_hide_nothing() -> None:
    inside = audited(docx(p(box(p(mark("begin") + r("в рамке"))) + mark("separate") + mark("end") + r("снаружи"))))
    assert (inside.coverage, inside.visible) == (1.0, 3)


def test_a_main_part_that_is_a_section_or_a_deletion_alone_is_no_fault_of_the_audit() -> None:
    for root in ("sectPr", "trPr"):
        odd = docx("", also={"word/document.xml": story(root, "<w:del/>")})
        assert audit(odd, Document(source="a.docx"), (), CONFIG).visible == 0


def test_a_formula_in_a_row_that_names_a_group_is_seen_in_the_headings() -> None:
    formula = (
        "<m:oMath><m:f><m:num><m:r><m:t>м</m:t></m:r></m:num><m:den><m:r><m:t>с</m:t></m:r></m:den></m:f></m:oMath>"
    )
    group = tr(tc(p(r("Скорость, ") + formula), '<w:gridSpan w:val="2"/>'))
    data = docx(tbl(tr("Прибор", "Значение"), group, tr("Бур", "12"), tr("Пила", "14")))
    assert "Скорость" in compiled(data)[1][0].headings[-1]
    assert audited(data).coverage == 1.0


def test_a_paragraph_whose_end_was_deleted_goes_on_in_a_content_control() -> None:
    ended = p(r("Приём по за"), "<w:rPr><w:del/></w:rPr>")
    assert audited(docx(ended + sdt(p("писи.")))).coverage == 1.0
