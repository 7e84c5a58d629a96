"""What hangs on a Word paragraph or stands around the page: notes, text boxes, pictures, headers and footers."""

from __future__ import annotations

import hashlib
from typing import Any

from docx_maker import PNG, Part, box, field, p, picture, r, read, story, styled, t, tbl, texts, tr, vml_box


def footnote(identifier: int, text: str, kind: str = "") -> str:
    mark = f' w:type="{kind}"' if kind else ""
    return f'<w:footnote w:id="{identifier}"{mark}>{p("<w:r><w:footnoteRef/></w:r>" + r(text))}</w:footnote>'


def cite(identifier: int, kind: str = "footnote") -> str:
    return f'<w:r><w:{kind}Reference w:id="{identifier}"/></w:r>'


def test_a_note_stands_with_the_paragraph_that_cites_it() -> None:
    notes = footnote(0, "", "separator") + footnote(2, "Не более 5 % суммы.")
    document = read(p(r("Пеня") + cite(2) + r(" установлена.")) + p("дальше"), footnotes=notes)
    assert texts(document) == ["Пеня установлена.\nНе более 5 % суммы.", "дальше"]


def test_endnotes_are_read_like_footnotes() -> None:
    notes = footnote(2, "Том 3, лист 14.").replace("footnote", "endnote")
    assert texts(read(p(r("Отчёт.") + cite(2, "endnote")), endnotes=notes)) == ["Отчёт.\nТом 3, лист 14."]


def test_a_note_is_read_once_though_cited_twice_and_a_note_that_nothing_cites_never() -> None:
    notes = footnote(2, "Однажды.") + footnote(3, "Никогда.")
    assert texts(read(p(r("а") + cite(2)) + p(r("б") + cite(2)), footnotes=notes)) == ["а\nОднажды.", "б"]


def test_a_note_whose_reference_was_deleted_is_out() -> None:
    deleted = f'<w:del w:id="1" w:author="x">{cite(2)}</w:del>'
    assert texts(read(p(r("а") + deleted), footnotes=footnote(2, "нет"))) == ["а"]


def test_a_paragraph_of_nothing_but_a_note_is_not_empty() -> None:
    assert texts(read(p(cite(2)), footnotes=footnote(2, "Только сноска."))) == ["Только сноска."]


def test_a_note_that_cites_itself_ends() -> None:
    notes = f'<w:footnote w:id="2">{p(r("круг") + cite(2))}</w:footnote>'
    assert texts(read(p(r("а") + cite(2)), footnotes=notes)) == ["а\nкруг"]


def test_the_note_of_a_heading_follows_it_and_is_no_part_of_its_name() -> None:
    document = read(styled("Heading1", r("Цены") + cite(2)) + p("Текст."), footnotes=footnote(2, "С 1 мая."))
    assert [(unit.section, unit.text) for unit in document.units] == [("Цены", "С 1 мая."), ("Цены", "Текст.")]


def test_the_note_of_a_cell_stands_in_the_cell() -> None:
    table = tbl(tr("Город", "Цена"), tr("Тверь", f"<w:tc>{p(r('500') + cite(2))}</w:tc>"))
    assert texts(read(table, footnotes=footnote(2, "без НДС"))) == ["Город: Тверь\nЦена: 500\nбез НДС"]


def test_a_text_box_is_read_once_after_its_paragraph() -> None:
    document = read(p(r("Абзац") + box(p("Врезка") + p("вторая строка")) + r(" с рамкой.")))
    assert texts(document) == ["Абзац с рамкой.", "Врезка", "вторая строка"]


def test_a_text_box_of_the_old_kind_is_read() -> None:
    assert texts(read(p(f"<w:r>{vml_box(p('Старая рамка'))}</w:r>"))) == ["Старая рамка"]


def test_the_fallback_is_read_where_the_choice_says_nothing_or_needs_what_office_lacks() -> None:
    empty = '<mc:Choice Requires="wps"><w:drawing/></mc:Choice>'
    unknown = f'<mc:Choice Requires="x" xmlns:x="urn:unknown">{vml_box(p("из будущего"))}</mc:Choice>'
    for choice in (empty, unknown, unknown + empty):
        branches = f"{choice}<mc:Fallback>{vml_box(p('рамка'))}</mc:Fallback>"
        assert texts(read(p(f"<w:r><mc:AlternateContent>{branches}</mc:AlternateContent></w:r>"))) == ["рамка"]
    assert texts(read(p(f"<w:r><mc:AlternateContent>{unknown}</mc:AlternateContent></w:r>"))) == ["из будущего"]


def test_tables_in_text_boxes_and_text_boxes_in_cells_are_read() -> None:
    document = read(p(box(tbl(tr("Город", "Цена"), tr("Тверь", "500")) + p(""))))
    assert texts(document) == ["Город: Тверь\nЦена: 500"]
    cell = f"<w:tc>{p(r('рядом ') + box(p('врезка')))}</w:tc>"
    assert texts(read(tbl(tr("Ячейка", cell)))) == ["Ячейка\nрядом\nврезка"]


def test_hidden_shapes_are_out() -> None:
    hidden = box(p("скрытая рамка")).replace('name="Text Box 1"', 'name="Text Box 1" hidden="1"')
    hidden = hidden.replace("<v:shape>", '<v:shape style="visibility:hidden">')
    assert texts(read(p(r("видно") + hidden))) == ["видно"]


def test_a_heading_in_a_text_box_opens_no_section_of_the_body() -> None:
    document = read(styled("Heading1", "Глава") + p(r("а") + box(styled("Heading1", "Врезка"))) + p("б"))
    assert [(unit.section, unit.text) for unit in document.units] == [
        ("Глава", "а"),
        ("Глава", "Врезка"),
        ("Глава", "б"),
    ]


def test_word_art_and_drawn_text_are_read() -> None:
    art = '<w:pict><v:shape><v:textpath string="РАСПРОДАЖА"/></v:shape></w:pict>'
    assert texts(read(p(f"<w:r>{art}</w:r>"))) == ["РАСПРОДАЖА"]
    drawn = "<w:drawing><a:p><a:r><a:t>Подпись схемы</a:t></a:r></a:p></w:drawing>"
    assert texts(read(p(f"<w:r>{drawn}</w:r>"))) == ["Подпись схемы"]


def test_alternative_text_stands_in_the_line_and_the_picture_after_it() -> None:
    parts = {"word/media/a.png": PNG}
    document = read(
        p(r("До") + picture("rId9", "Схема насоса&#10;у магистрали") + r("после")),
        also=parts,
        related=[("rId9", "image", "media/a.png")],
    )
    digest = hashlib.sha256(PNG).hexdigest()
    assert [(unit.kind, unit.text, unit.picture) for unit in document.units] == [
        ("paragraph", "До Схема насоса у магистрали после", ""),
        ("image_caption", "", digest),
    ]
    (found,) = document.pictures
    assert (found.sha256, found.media_type, found.data) == (digest, "image/png", PNG)


def test_a_file_name_is_no_alternative_text_and_silent_pictures_are_counted() -> None:
    document = read(
        p(r("текст") + picture("rId9", "photo_12.jpg") + picture("rId9")),
        also={"word/media/a.png": PNG},
        related=[("rId9", "image", "media/a.png")],
    )
    assert texts(document) == ["текст"]
    (found,) = document.messages
    assert (found.severity, found.code) == ("info", "picture")
    assert found.text.startswith("2 pictures have no alternative text")


def test_pictures_that_lead_nowhere_cost_a_message_and_no_text() -> None:
    related = [("rId1", "image", "NULL"), ("rId2", "image", "http://example.org/a.png", "External")]
    related += [("rId3", "image", "media/gone.png"), ("rId4", "hyperlink", "#place")]
    link = f'<w:hyperlink r:id="rId4">{r("ссылка")}</w:hyperlink>'
    content = "".join(p(picture(f"rId{n}", f"рисунок {n}")) for n in (1, 2, 3, 7)) + p(link)
    document = read(content, related=related)
    assert texts(document) == ["рисунок 1", "рисунок 2", "рисунок 3", "рисунок 7", "ссылка"]
    assert [found.text[:10] for found in document.messages] == ["4 pictures"]
    assert document.pictures == ()


def section(*references: str, more: str = "") -> str:
    made = ""
    for reference in references:
        kind, name = reference.split(":")
        place, _, pages = kind.partition("/")
        made += f'<w:{place}Reference w:type="{pages}" r:id="rId_{name}"/>'
    return f"<w:sectPr>{made}{more}</w:sectPr>"


def test_headers_stand_once_before_the_body_and_footers_once_after_it() -> None:
    sections = section("header/default:header1", "footer/default:footer1")
    body = p("Первый раздел", sections) + p("Второй раздел") + sections
    document = read(body, header1=p("ООО «Пример»"), footer1=p("Тел. 00-00"))
    assert texts(document) == ["ООО «Пример»", "Первый раздел", "Второй раздел", "Тел. 00-00"]
    assert [str(unit.locator) for unit in document.units] == ["B1", "B1", "B2", "B2"]


def test_page_numbers_are_no_text_of_a_footer() -> None:
    pages = r("Стр. ") + field(" PAGE ", r("3")) + r(" из ") + field(r" NUMPAGES \* Arabic ", r("7"))
    simple = '<w:fldSimple w:instr=" PAGE ">' + r("3") + "</w:fldSimple>"
    for content in (pages, simple, r("- ") + field(" PAGE ", r("3")) + r(" -"), r("صفحه ") + simple):
        assert texts(read(p("а") + section("footer/default:footer1"), footer1=p(content))) == ["а"]
    own = p(r("Договор № 5, стр. ") + field(" PAGE ", r("3")))
    assert texts(read(p("а") + section("footer/default:footer1"), footer1=own)) == ["а", "Договор № 5, стр."]
    dated = p("12.05.2024") + p(pages)
    assert texts(read(p("а") + section("footer/default:footer1"), footer1=dated)) == ["а", "12.05.2024"]
    for typed in ("Страница 3", "- 3 -", "3"):
        assert texts(read(p("а") + section("footer/default:footer1"), footer1=p(typed))) == ["а"]


def test_headers_of_first_and_even_pages_are_read_only_where_they_are_printed() -> None:
    references = ("header/default:header1", "header/first:header2", "header/even:header3")
    stories: dict[str, Any] = {"header1": p("все"), "header2": p("первая"), "header3": p("чётные")}
    assert texts(read(p("а") + section(*references), **stories)) == ["все", "а"]
    titled = section(*references, more="<w:titlePg/>")
    assert texts(read(p("а") + titled, settings="<w:evenAndOddHeaders/>", **stories)) == [
        "все",
        "первая",
        "чётные",
        "а",
    ]


def test_text_boxes_in_headers_are_read_once_without_their_page_numbers() -> None:
    content = p(r("Шапка") + box(p("Врезка") + p(field(" PAGE ", r("3")))))
    assert texts(read(p("а") + section("header/default:header1"), header1=content)) == ["Шапка", "Врезка", "а"]


def test_a_header_that_is_missing_costs_nothing() -> None:
    body = p("а") + '<w:sectPr><w:headerReference w:type="default" r:id="rId77"/></w:sectPr>'
    assert texts(read(body)) == ["а"]


def test_notes_and_headers_have_links_of_their_own() -> None:
    also: dict[str, Part] = {
        "word/media/b.png": PNG,
        "word/_rels/footnotes.xml.rels": "<Relationships/>",
        "word/header9.xml": story("hdr", p(t("не связан"))),
    }
    notes = f'<w:footnote w:id="2">{p(picture("rId9", "в сноске"))}</w:footnote>'
    document = read(p(r("а") + cite(2)), also=also, related=[("rId9", "image", "media/b.png")], footnotes=notes)
    assert texts(document) == ["а\nв сноске"]
    assert document.pictures == ()
