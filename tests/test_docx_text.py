"""The text of Word paragraphs: what wraps runs, what is taken out of them, and what stands for a character."""

from __future__ import annotations

import pytest

from docx_maker import code, docx, field, gone, ins, mark, p, r, read, sdt, style, styled, t, tbl, tc, texts, tr
from ragpress.config import Config
from ragpress.readers.docx import read_docx


def line(content: str) -> str:
    """The text of a document of one paragraph with this content."""
    (text,) = texts(read(p(content)))
    return text


def test_runs_join_with_nothing_between() -> None:
    assert line(r("می") + r("\u200c") + r("خوا") + r("هم")) == "می\u200cخواهم"


def test_content_controls_are_read_at_every_level_in_place() -> None:
    inner = p(r("до ") + sdt(r("внутри")) + r(" после"))
    row = tr("СТ-17", sdt(tc("согласовано")))
    document = read(
        p("первый") + sdt(sdt(inner) + tbl(tr("Код", "Статус"), row, sdt(tr("СТ-18", "в работе")))) + p("последний")
    )
    assert texts(document) == [
        "первый",
        "до внутри после",
        "Код: СТ-17\nСтатус: согласовано",
        "Код: СТ-18\nСтатус: в работе",
        "последний",
    ]


def test_a_placeholder_of_a_content_control_is_read_since_a_person_sees_it() -> None:
    assert line(sdt(r("Место для ввода текста"), "<w:showingPlcHdr/>")) == "Место для ввода текста"


def test_insertions_and_move_targets_are_in_and_deletions_and_move_sources_out() -> None:
    moved = '<w:moveTo w:id="3" w:author="x">' + r("сюда") + "</w:moveTo>"
    left = '<w:moveFrom w:id="4" w:author="x">' + r("отсюда") + "</w:moveFrom>"
    assert line(r("срок ") + gone("десять") + ins(r("пять ")) + left + moved) == "срок пять сюда"


def test_a_deletion_inside_an_insertion_is_out() -> None:
    assert line(ins(r("осталось") + gone(" нет"))) == "осталось"


def test_text_that_a_careless_writer_left_in_a_deletion_is_out() -> None:
    assert line(r("видно") + '<w:del w:id="1" w:author="x">' + r(" не видно") + "</w:del>") == "видно"


def test_a_paragraph_whose_end_was_deleted_goes_on_in_the_next_one() -> None:
    ended = '<w:rPr><w:del w:id="1" w:author="x"/></w:rPr>'
    assert texts(read(p(r("Начало "), ended) + p(r("и конец.")) + p("Другой."))) == ["Начало и конец.", "Другой."]
    assert texts(read(p(gone("всё"), ended) + p("Остался."))) == ["Остался."]
    assert texts(read(p("Последний", ended))) == ["Последний"]


@pytest.mark.parametrize(
    "wrapped",
    [
        '<w:hyperlink r:id="rIdNone">{}</w:hyperlink>',
        "<w:smartTag><w:smartTagPr/>{}</w:smartTag>",
        "<w:customXml><w:customXmlPr/>{}</w:customXml>",
        '<w:fldSimple w:instr=" REF x ">{}</w:fldSimple>',
        '<w:dir w:val="rtl">{}</w:dir>',
        '<w:bdo w:val="ltr">{}</w:bdo>',
        "<w:unknownWrapper>{}</w:unknownWrapper>",
        "<w:r>{}</w:r>",
    ],
)
def test_whatever_wraps_runs_is_looked_through(wrapped: str) -> None:
    assert line(r("а ") + wrapped.format(r("внутри")) + r(" б")) == "а внутри б"


def test_of_a_complex_field_the_result_is_in_and_the_code_out() -> None:
    inner = field(" PAGEREF x ", r("7"))
    text = line(field(r" HYPERLINK \l x ", r("Глава ") + inner) + r(" конец"))
    assert text == "Глава 7 конец"


def test_a_field_inside_a_code_is_out_with_its_result() -> None:
    content = mark("begin") + code(" IF ") + field(" REF x ", r("скрыто")) + code(" = 1 ") + mark("separate")
    assert line(content + r("видно") + mark("end")) == "видно"


def test_a_field_goes_over_many_paragraphs() -> None:
    begin = p(mark("begin") + code(" TOC ") + mark("separate") + r("Первая глава"))
    assert texts(read(begin + p("Вторая глава") + p(mark("end") + r("Текст")))) == [
        "Первая глава",
        "Вторая глава",
        "Текст",
    ]


def test_a_field_that_never_ends_hides_nothing() -> None:
    assert texts(read(p(mark("begin") + code(" REF x ") + r("раз")) + p("два"))) == ["раз", "два"]


def test_a_field_without_a_result_hides_no_further_paragraph() -> None:
    assert texts(read(p(mark("begin") + code(" TC x ") + r("код")) + p("видно") + p(mark("end")))) == ["видно"]


def test_form_fields_show_their_state() -> None:
    def form(data: str) -> str:
        begin = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        return begin + code(" FORM ") + mark("end")

    entries = '<w:listEntry w:val="Москва"/><w:listEntry w:val="Казань"/>'
    assert line(r("Город ") + form(f'<w:ddList><w:result w:val="1"/>{entries}</w:ddList>')) == "Город Казань"
    assert line(form("<w:checkBox><w:checked/></w:checkBox>") + r(" да")) == "☒ да"
    assert line(form('<w:checkBox><w:default w:val="0"/></w:checkBox>') + r(" да")) == "☐ да"


def test_a_button_shows_its_text_and_not_its_macro() -> None:
    assert line(mark("begin") + code(" MACROBUTTON Run Нажмите здесь ") + mark("end")) == "Нажмите здесь"


def test_hidden_text_is_out_and_text_hidden_only_on_the_web_is_in() -> None:
    assert line(r("видно") + r(" тайна", "<w:vanish/>") + r(" и это", '<w:vanish w:val="0"/>')) == "видно и это"
    assert line(r("на бумаге", "<w:webHidden/>")) == "на бумаге"


def test_text_is_hidden_through_its_styles() -> None:
    styles = (
        style("Secret", kind="character", inner="<w:rPr><w:vanish/></w:rPr>")
        + style("Deeper", based="Secret", kind="character")
        + style("HiddenLine", inner="<w:rPr><w:vanish/></w:rPr>")
    )
    hidden = r("тайна", '<w:rStyle w:val="Deeper"/>')
    shown = r("видно", '<w:rStyle w:val="Secret"/><w:vanish w:val="false"/>')
    assert texts(read(p(hidden + shown) + styled("HiddenLine", r("тоже тайна")), styles=styles)) == ["видно"]


def test_a_hidden_end_of_a_paragraph_hides_no_text() -> None:
    assert texts(read(p("видно", "<w:rPr><w:vanish/><w:specVanish/></w:rPr>"))) == ["видно"]


def test_characters_that_are_elements() -> None:
    content = t("а") + "<w:tab/>" + t("б") + "<w:noBreakHyphen/>" + t("в") + "<w:softHyphen/>" + t("г")
    assert line(f"<w:r>{content}</w:r>") == "а б-вг"
    assert line(f"<w:r>{t('строка')}<w:br/>{t('другая')}<w:cr/>{t('третья')}</w:r>") == "строка\nдругая\nтретья"
    assert line(f"<w:r>{t('сло')}<w:lastRenderedPageBreak/>{t('во')}</w:r>") == "слово"


def test_symbols_come_out_as_unicode_has_them() -> None:
    assert line('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>' + r(" готово")) == "✓ готово"
    assert line('<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>' + r(" частица")) == "α частица"
    assert line(r("\uf0d8", '<w:rFonts w:ascii="Wingdings"/>') + r(" пункт")) == "⮚ пункт"
    assert line('<w:r><w:sym w:font="Segoe UI Symbol" w:char="2713"/></w:r>' + r(" да")) == "✓ да"


def test_a_ruby_gives_its_base_and_the_reading_in_brackets() -> None:
    ruby = f"<w:ruby><w:rubyPr/><w:rt>{r('とうきょう')}</w:rt><w:rubyBase>{r('東京')}</w:rubyBase></w:ruby>"
    assert line(f"<w:r>{ruby}</w:r>") == "東京(とうきょう)"


def test_comments_are_out() -> None:
    comments = {"word/comments.xml": "<w:comments/>"}
    content = '<w:commentRangeStart w:id="1"/>' + r("текст") + '<w:commentRangeEnd w:id="1"/>'
    content += '<w:r><w:commentReference w:id="1"/></w:r>'
    assert texts(read(p(content), also=comments)) == ["текст"]


def test_a_big_first_letter_is_part_of_its_word() -> None:
    assert texts(read(p("О", '<w:framePr w:dropCap="drop"/>') + p("днажды утром"))) == ["Однажды утром"]


def test_right_to_left_text_stays_in_logical_order() -> None:
    assert line(r("قرارداد شمارهٔ ", "<w:rtl/>") + r("QX-77/B") + r(" بسته شد.", "<w:rtl/>")) == (
        "قرارداد شمارهٔ QX-77/B بسته شد."
    )


def test_text_is_in_the_normal_form() -> None:
    assert line(r("كتاب عـلـي")) == "کتاب علی"


def test_wrappers_may_nest_without_end() -> None:
    deep = 1500
    content = '<w:hyperlink w:anchor="x">' * deep + r("на дне") + "</w:hyperlink>" * deep
    assert line(content) == "на дне"


def test_tables_and_boxes_that_nest_without_end_lose_no_text() -> None:
    deep = 200
    nested = "<w:tbl><w:tr><w:tc>" * deep + p("на дне") + ("</w:tc></w:tr></w:tbl>" + p("")) * deep
    assert texts(read_docx(docx(nested), "a.docx", Config())) == ["на дне"]


def test_paragraphs_in_paragraphs_without_end_lose_no_text() -> None:
    deep = 1500
    assert texts(read("<w:p>" * deep + r("на дне") + "</w:p>" * deep)) == ["на дне"]


def test_blocks_where_none_may_stand_are_kept() -> None:
    assert texts(read(p(r("снаружи") + p("внутри")))) == ["снаружи", "внутри"]
    assert texts(read(r("без абзаца") + p("абзац"))) == ["без абзаца", "абзац"]
