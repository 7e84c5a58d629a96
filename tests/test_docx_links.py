"""Links of Word files: their text, followed by the address outside the document to which they lead."""

from __future__ import annotations

import pytest

from docx_maker import code, docx, field, heading, mark, p, r, read, styled, tbl, tc, texts, tr
from ragpress.audit import audit
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.readers.docx import read_docx


def lines(body: str, address: str = "https://example.org/a") -> list[str]:
    """The texts of a document in which rId7 leads to the address."""
    return texts(read(body, related=[("rId7", "hyperlink", address, "External")]))


def link(text: str, more: str = "") -> str:
    return f'<w:hyperlink r:id="rId7"{more}>{r(text)}</w:hyperlink>'


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("https://example.org/a", "См. [прайс](https://example.org/a) здесь."),
        ("mailto:info@example.org", "См. [прайс](mailto:info@example.org) здесь."),
        ("https://example.org/a (1)", "См. [прайс](<https://example.org/a (1)>) здесь."),
        ("file:///C:/прайс.docx", "См. прайс здесь."),
        ("прайс.docx", "См. прайс здесь."),
        ("javascript:alert(1)", "См. прайс здесь."),
    ],
)
def test_an_address_that_a_reader_can_use_is_behind_the_text_of_its_link(address: str, text: str) -> None:
    assert lines(p(r("См. ") + link("прайс") + r(" здесь.")), address) == [text]


def test_a_place_within_the_other_page_belongs_to_the_address_and_a_bookmark_is_none() -> None:
    assert lines(p(link("прайс", ' w:anchor="top"'))) == ["[прайс](https://example.org/a#top)"]
    assert lines(p(f'<w:hyperlink w:anchor="_Toc1">{r("Глава 1")}</w:hyperlink>')) == ["Глава 1"]


@pytest.mark.parametrize(
    ("address", "text"),
    [("https://example.org/", "example.org"), ("mailto:info@example.org", "info@example.org"), ("tel:555", "555")],
)
def test_a_link_whose_text_is_its_address_is_read_once(address: str, text: str) -> None:
    assert lines(p(link(text)), address) == [text]


def test_spaces_at_the_ends_of_a_link_stay_outside_and_a_link_without_text_is_nothing() -> None:
    assert lines(p(r("См.") + link(" прайс ") + r("здесь"))) == ["См. [прайс](https://example.org/a) здесь"]
    assert lines(p(r("См.") + link(" ") + r("здесь"))) == ["См. здесь"]


def test_a_link_of_several_runs_is_one_link() -> None:
    several = f'<w:hyperlink r:id="rId7">{r("пр", "<w:b/>")}{r("айс")}</w:hyperlink>'
    assert lines(p(several + r(" и ") + several)) == ["[прайс](https://example.org/a) и [прайс](https://example.org/a)"]


@pytest.mark.parametrize(
    ("instruction", "address"),
    [
        (' HYPERLINK "https://example.org/b" \\h ', "https://example.org/b"),
        ("HYPERLINK https://example.org/b", "https://example.org/b"),
        (' HYPERLINK "https://example.org/b" \\l "top" \\o "подсказка"', "https://example.org/b#top"),
        (' HYPERLINK \\l "_Toc1" ', ""),
        (" REF https://example.org/b ", ""),
    ],
)
def test_the_address_of_a_link_field_is_kept_and_its_code_is_not(instruction: str, address: str) -> None:
    shown = f"См. [прайс]({address})." if address else "См. прайс."
    assert lines(p(r("См. ") + field(instruction, r("прайс")) + r("."))) == [shown]
    quoted = instruction.replace('"', "&quot;")
    simple = f'<w:fldSimple w:instr="{quoted}">{r("прайс")}</w:fldSimple>'
    assert lines(p(r("См. ") + simple + r("."))) == [shown]


def test_a_link_field_over_two_paragraphs_is_a_link_in_both() -> None:
    begin = mark("begin") + code(' HYPERLINK "https://example.org/b" ') + mark("separate")
    assert lines(p(begin + r("прайс")) + p(r("и карта") + mark("end") + r(" здесь"))) == [
        "[прайс](https://example.org/b)",
        "[и карта](https://example.org/b) здесь",
    ]


def test_the_link_of_a_heading_is_its_text_alone_since_it_is_a_name() -> None:
    document = read(
        styled("Heading1", link("Прайс")) + p("Цены"),
        styles=heading("Heading1", 0),
        related=[("rId7", "hyperlink", "https://example.org/a", "External")],
    )
    assert [unit.headings for unit in document.units] == [("Прайс",)]


def test_links_of_cells_and_of_imported_pages_keep_their_address() -> None:
    table = tbl(tr("Город", "Карта"), tr("Тверь", tc(p(link("Садовая, 3")))))
    assert lines(table) == ["Город: Тверь\nКарта: [Садовая, 3](https://example.org/a)"]
    page = '<html><body><p>См. <a href="https://example.org/b">карту</a>.</p></body></html>'
    imported = read('<w:altChunk r:id="rId8"/>', also={"word/a.html": page}, related=[("rId8", "aFChunk", "a.html")])
    assert texts(imported) == ["См. [карту](https://example.org/b)."]


def test_the_audit_knows_a_word_of_which_a_part_is_a_link() -> None:
    data = docx(
        p(r("по ") + link("документ") + r("ам")), related=[("rId7", "hyperlink", "https://example.org/", "External")]
    )
    document = read_docx(data, "a.docx", Config())
    chunks, _ = chunk_document(document, Config(), len)
    assert "[документ](https://example.org/)ам" in chunks[0].text
    assert audit(data, document, chunks, Config()).coverage == 1.0


def test_the_audit_does_not_take_addresses_for_repeated_text() -> None:
    body = p(link("прайс") + r(" и ") + field(' HYPERLINK "https://one.example.org/two/three" ', r("карта")))
    data = docx(body, related=[("rId7", "hyperlink", "https://four.example.org/five/six", "External")])
    config = Config(min_tokens=0)
    document = read_docx(data, "a.docx", config)
    chunks = chunk_document(document, config, len)[0]
    found = audit(data, document, chunks, config)
    assert (found.visible, found.missing, found.duplicated) == (3, 0, 0)
