"""Automatic numbering of Word lists: the labels that stand nowhere in the file."""

from __future__ import annotations

import pytest

from docx_maker import gone, level, lists, numbered, p, r, read, style, styled, texts
from ragpress.readers.docx.numberformats import format_number

CLAUSES = level(0, "%1.") + level(1, "%1.%2.") + level(2, "%3)", "russianLower")


def items(body: str, numbering: str, styles: str = "") -> list[str]:
    """The lines of the one list that the body is."""
    (unit,) = read(body, numbering=numbering, styles=styles).units
    assert unit.kind == "list"
    lines = unit.text.split("\n")
    starts = [0, *unit.breaks]
    assert [unit.text[start:].split("\n")[0] for start in starts] == lines
    return lines


def test_labels_count_by_level_and_start_anew_below_the_next_item() -> None:
    body = "".join(numbered(text, depth) for depth, text in enumerate(["А", "Б", "В"]))
    body += numbered("Г", 2) + numbered("Д", 1) + numbered("Е", 0) + numbered("Ж", 1)
    assert items(body, lists(CLAUSES)) == [
        "1. А",
        "  1.1. Б",
        "    а) В",
        "    б) Г",
        "  1.2. Д",
        "2. Е",
        "  2.1. Ж",
    ]


def test_a_list_goes_on_after_a_paragraph_between_its_items() -> None:
    document = read(numbered("раз") + p("между") + numbered("два"), numbering=lists(CLAUSES))
    assert texts(document) == ["1. раз", "между", "2. два"]


def test_a_second_list_on_the_same_numbers_starts_where_it_says() -> None:
    numbers = [
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>',
        '<w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num>',
    ]
    body = "".join(numbered(text, 0, list_id) for text, list_id in [("а", 1), ("б", 1), ("в", 2), ("г", 2), ("д", 3)])
    assert items(body, lists(CLAUSES, numbers=numbers)) == ["1. а", "2. б", "5. в", "6. г", "7. д"]


def test_a_level_may_be_replaced_in_one_list() -> None:
    replaced = level(0, "(%1)", "upperRoman", start=3)
    numbers = [
        f'<w:num w:numId="1"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">{replaced}</w:lvlOverride></w:num>'
    ]
    assert items(numbered("а") + numbered("б"), lists(CLAUSES, numbers=numbers)) == ["(III) а", "(IV) б"]


def test_a_level_that_never_restarts_counts_on() -> None:
    steady = level(0, "%1.") + level(1, "%2)").replace("<w:lvlText", '<w:lvlRestart w:val="0"/><w:lvlText')
    body = numbered("а") + numbered("б", 1) + numbered("в") + numbered("г", 1)
    assert items(body, lists(steady)) == ["1. а", "  1) б", "2. в", "  2) г"]


def test_legal_numbering_shows_outer_levels_in_digits() -> None:
    legal = level(0, "%1.", "upperRoman") + level(1, "%1.%2.", more="<w:isLgl/>")
    assert items(numbered("а") + numbered("б", 1), lists(legal)) == ["I. а", "  1.1. б"]


def test_an_outer_level_that_was_skipped_counts_as_begun() -> None:
    body = numbered("а", 1) + numbered("б", 1) + numbered("в") + numbered("г", 2)
    assert items(body, lists(CLAUSES)) == ["1.1. а", "  1.2. б", "2. в", "    а) г"]


def test_bullets_of_all_fonts_have_one_mark() -> None:
    marks = [level(0, sign, "bullet") for sign in ("\uf0b7", "•", "o", "–", "")]
    body = "".join(numbered(f"п{n}", 0, n + 1) for n in range(len(marks)))
    assert items(body, lists(*marks)) == [f"- п{n}" for n in range(len(marks))]


def test_words_that_a_list_puts_before_its_items_are_kept() -> None:
    body = numbered("а") + numbered("б", 0, 2)
    assert items(body, lists(level(0, "Статья %1."), level(0, "Примечание:", "bullet"))) == [
        "Статья 1. а",
        "Примечание: б",
    ]


def test_a_style_may_number_its_paragraphs() -> None:
    number = '<w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    styles = style("Clause", inner=number) + style("Deeper", based="Clause")
    body = numbered("а") + styled("Clause", "б") + styled("Deeper", "в") + styled("Clause", r("г"))
    assert items(body, lists(CLAUSES), styles=styles) == ["1. а", "  1.1. б", "  1.2. в", "  1.3. г"]


def test_a_level_may_be_linked_to_a_style() -> None:
    linked = level(0, "%1.") + level(1, "%1.%2.", more='<w:pStyle w:val="Second"/>')
    styles = style("Second", inner='<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>')
    assert items(numbered("а") + styled("Second", "б"), lists(linked), styles=styles) == ["1. а", "  1.1. б"]


def test_a_paragraph_may_leave_the_list_of_its_style() -> None:
    styles = style("Clause", inner='<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>')
    off = p("без номера", '<w:pStyle w:val="Clause"/><w:numPr><w:numId w:val="0"/></w:numPr>')
    assert texts(read(styled("Clause", "с номером") + off, styles=styles, numbering=lists(CLAUSES))) == [
        "1. с номером",
        "без номера",
    ]


def test_a_list_may_be_defined_through_a_numbering_style() -> None:
    styles = style("Outline", kind="numbering", inner='<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>')
    linked = '<w:numStyleLink w:val="Outline"/>'
    assert items(numbered("а"), lists(linked, '<w:styleLink w:val="Outline"/>' + CLAUSES), styles=styles) == ["1. а"]


def test_deleted_items_do_not_count_and_empty_ones_do() -> None:
    ended = '<w:rPr><w:del w:id="1" w:author="x"/></w:rPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    body = numbered("а") + p(gone("нет"), ended) + numbered("б") + numbered("") + numbered("в")
    assert items(body, lists(CLAUSES)) == ["1. а", "2. б", "4. в"]


def test_a_line_break_in_an_item_stays_inside_it() -> None:
    broken = numbered("<w:r><w:t>а</w:t><w:br/><w:t>ещё</w:t></w:r>", 1)
    (unit,) = read(numbered("о") + broken + numbered("б", 1), numbering=lists(CLAUSES)).units
    assert unit.text == "1. о\n  1.1. а\n  ещё\n  1.2. б"
    assert [unit.text[start:][:6] for start in unit.breaks] == ["  1.1.", "  1.2."]


def test_a_numbered_heading_has_its_number_above_its_text_and_not_in_its_name() -> None:
    styles = style("Heading1", "heading 1", inner='<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>')
    document = read(styled("Heading1", "Предмет") + p("Текст."), styles=styles, numbering=lists(CLAUSES))
    assert [(unit.section, unit.headings, unit.text) for unit in document.units] == [
        ("Предмет", ("Предмет",), "Текст.")
    ]
    assert document.units[0].breadcrumb == "## 1. Предмет"


def test_lists_that_are_not_defined_number_nothing() -> None:
    assert texts(read(numbered("а", 0, 77))) == ["а"]
    looped = '<w:numStyleLink w:val="Loop"/>'
    styles = style("Loop", kind="numbering", inner='<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>')
    assert texts(read(numbered("а"), numbering=lists(looped), styles=styles)) == ["а"]


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ("decimal", {1: "1", 27: "27"}),
        ("decimalZero", {3: "03", 12: "12"}),
        ("upperRoman", {4: "IV", 1999: "MCMXCIX"}),
        ("lowerRoman", {9: "ix"}),
        ("upperLetter", {1: "A", 27: "AA"}),
        ("lowerLetter", {26: "z", 28: "bb"}),
        ("russianLower", {1: "а", 6: "е", 7: "ж", 29: "я"}),
        ("russianUpper", {3: "В"}),
        ("arabicAlpha", {1: "أ", 3: "ت"}),
        ("arabicAbjad", {1: "أ", 4: "د"}),
        ("hebrew1", {15: "טו", 18: "יח"}),
        ("hindiNumbers", {12: "१२"}),
        ("thaiNumbers", {3: "๓"}),
        ("ordinal", {1: "1st", 11: "11th", 22: "22nd"}),
        ("decimalEnclosedCircle", {3: "③", 30: "30"}),
        ("chineseCounting", {10: "十", 21: "二十一", 105: "一百〇五"}),
        ("hex", {255: "FF"}),
        ("numberInDash", {2: "- 2 -"}),
        ("unheardOf", {5: "5"}),
        ("upperRoman", {0: "0", -3: "-3", 5000: "5000"}),
    ],
)
def test_number_formats(kind: str, numbers: dict[int, str]) -> None:
    assert {value: format_number(value, kind) for value in numbers} == numbers


def test_a_custom_format_pads_with_zeros() -> None:
    assert format_number(7, "custom", "001, 002, 003, ...") == "007"
