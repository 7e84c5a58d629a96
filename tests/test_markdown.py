"""Markdown: which section a text belongs to, what is kept as written, what is left out."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest

from ragpress.config import Config
from ragpress.errors import SourceError
from ragpress.readers import read_document
from ragpress.records import Document, Unit


def read(text: str | bytes, source: str = "folder/name.md", **settings: Any) -> Document:
    data = text.encode() if isinstance(text, str) else text
    return read_document(data, source, Config(**settings))


def units(text: str, **settings: Any) -> tuple[Unit, ...]:
    return read(text, **settings).units


def texts(text: str, **settings: Any) -> list[str]:
    return [unit.text for unit in units(text, **settings)]


def codes(document: Document) -> list[str]:
    return [found.code for found in document.messages]


# Sections


def test_an_h2_names_its_section_until_the_next_h1_or_h2() -> None:
    found = units("# К\n\n## А\n\nодин\n\nдва\n\n## Б\n\nтри\n\n# Л\n\n## В\n\nчетыре\n")
    assert [(unit.section, unit.text, unit.breadcrumb, unit.headings) for unit in found] == [
        ("А", "один", "## А", ("К", "А")),
        ("А", "два", "## А", ("К", "А")),
        ("Б", "три", "## Б", ("К", "Б")),
        ("В", "четыре", "## В", ("Л", "В")),
    ]
    assert [unit.section_number for unit in found] == [2, 2, 3, 5]


def test_an_h1_names_text_that_stands_under_no_h2() -> None:
    found = units("# Первый\n\nдо\n\n## Раздел\n\nв\n\n# Второй\n\nбез раздела\n")
    assert [(unit.section, unit.breadcrumb) for unit in found] == [
        ("Первый", "# Первый"),
        ("Раздел", "## Раздел"),
        ("Второй", "# Второй"),
    ]


def test_text_before_any_heading_takes_the_title_else_the_name_of_the_file() -> None:
    titled = read("---\ntitle: Справка\n---\nтекст\n\n## А\n\nещё\n")
    assert (titled.title, titled.units[0].section, titled.units[0].breadcrumb) == ("Справка", "Справка", "# Справка")
    untitled = read("текст\n\n# Глава\n\nещё\n")
    assert (untitled.title, untitled.units[0].section, untitled.units[0].headings) == ("Глава", "name", ("name",))
    assert read("текст").title == "name"


def test_h3_and_deeper_stay_in_the_body_and_open_nothing() -> None:
    found = units("## Врачи\n\n### Терапевт ###\n\nПробный\n\n#### График\n\nпн\n\n### ЛОР\n\nПримеров\n")
    assert {unit.section for unit in found} == {"Врачи"}
    assert {unit.section_number for unit in found} == {1}
    assert [(unit.kind, unit.text) for unit in found if unit.kind == "heading"] == [
        ("heading", "### Терапевт"),
        ("heading", "#### График"),
        ("heading", "### ЛОР"),
    ]
    assert [unit.headings for unit in found][1::2] == [
        ("Врачи", "Терапевт"),
        ("Врачи", "Терапевт", "График"),
        ("Врачи", "ЛОР"),
    ]


def test_equal_headings_are_sections_of_their_own() -> None:
    found = units("## Итоги\n\nодин\n\n## Итоги\n\nдва\n")
    assert [(unit.section, unit.section_number) for unit in found] == [("Итоги", 1), ("Итоги", 2)]


def test_text_under_a_heading_without_words_takes_the_next_heading_above() -> None:
    found = units("# Отчёт\n\n## А\n\nодин\n\n##\n\nдва\n\n#\n\nтри\n")
    assert [(unit.section, unit.breadcrumb, unit.headings) for unit in found] == [
        ("А", "## А", ("Отчёт", "А")),
        ("Отчёт", "# Отчёт", ("Отчёт",)),
        ("name", "# name", ("name",)),
    ]
    assert len({unit.section_number for unit in found}) == 3


def test_a_section_without_text_gives_a_message_and_no_unit() -> None:
    found = read("# К\n\n## Пусто\n\n## Только подзаголовки\n\n### Один\n\n### Два\n\n## А\n\nтекст\n")
    assert [unit.text for unit in found.units] == ["текст"]
    assert codes(found) == ["empty-section", "empty-section"]
    assert "«Пусто»" in found.messages[0].text and str(found.messages[0].locator) == "L3"
    assert [(left.reason, left.text) for left in found.left_out] == [
        ("empty-section", "Пусто"),
        ("empty-section", "Только подзаголовки\nОдин\nДва"),
    ]


def test_an_h1_directly_above_an_h2_is_no_empty_section() -> None:
    assert read("# К\n\n## А\n\nтекст\n").messages == ()
    assert codes(read("# К\n\n# Л\n\nтекст\n")) == ["empty-section"]


def test_setext_headings_open_sections_and_leave_no_underline() -> None:
    found = units("Документ\n========\n\nвводный\n\nГлава\nвторая\n---\n\nтекст\n\n- пункт\n---\n\nпосле черты\n")
    assert [(unit.section, unit.text) for unit in found] == [
        ("Документ", "вводный"),
        ("Глава вторая", "текст"),
        ("Глава вторая", "- пункт"),
        ("Глава вторая", "после черты"),
    ]


def test_markup_in_a_heading_is_rendered_to_its_words() -> None:
    head = (
        r"## *Цены* на [услуги](http://x.example/a_b) `mg/dl` &amp; \*скидки\* ![знак](z.png)<!-- черновик --> <b>2</b>"
    )
    found = read(f"{head}\n\nтекст\n")
    assert found.units[0].section == "Цены на услуги mg/dl & *скидки* знак 2"
    assert [left.text for left in found.left_out] == ["черновик"]


def test_headings_in_code_quotations_and_lists_open_nothing() -> None:
    text = "## А\n\n```sh\n# раз\n## два\n```\n\n    # три\n\n> ## четыре\n\n- # пять\n\n~~~~\n```\n## шесть\n~~~~\n"
    assert {unit.section for unit in units(text)} == {"А"}
    assert {unit.headings for unit in units(text)} == {("А",)}


# Settings


def test_excluded_sections_are_left_out_and_said() -> None:
    text = "# К\n\n## Внутреннее:\n\nсекрет\n\n### Ещё\n\nсекрет\n\n## А\n\nтекст\n\n## يادداشت\n\nмолчок\n"
    found = read(text, excluded_section_headings=("внутреннее:", "یادداشت"))
    assert [unit.text for unit in found.units] == ["текст"]
    assert [(left.reason, left.text) for left in found.left_out] == [
        ("excluded-section", "Внутреннее:\nсекрет\nЕщё\nсекрет"),
        ("excluded-section", "یادداشت\nмолчок"),
    ]
    assert codes(found) == ["left-out", "left-out"]


def test_an_excluded_h1_takes_its_sections_along() -> None:
    found = read("# Черновик\n\n## А\n\nодин\n\n# Б\n\nдва\n", excluded_section_headings=("черновик",))
    assert [unit.text for unit in found.units] == ["два"]


def test_extra_h1_drop_leaves_out_everything_from_the_second_h1_on_and_warns() -> None:
    text = "# Первый\n\nодин\n\n# Второй\n\nдва\n\n## Глава\n\nтри\n"
    assert texts(text) == ["один", "два", "три"]
    found = read(text, extra_h1="drop")
    assert [unit.text for unit in found.units] == ["один"]
    assert [(each.severity, each.code, str(each.locator)) for each in found.messages] == [
        ("warning", "extra-h1", "L5-11")
    ]
    assert [(left.reason, left.text) for left in found.left_out] == [("extra-h1", "Второй\nдва\nГлава\nтри")]


# Blocks


def test_locators_are_lines_of_the_file_with_the_front_matter_counted() -> None:
    found = units("---\nlang: ru\n---\n\n# К\n\nодин\nдва\n\n- а\n- б\n\n\n```\nx\n```\n")
    assert [str(unit.locator) for unit in found] == ["L7-8", "L10-11", "L14-16"]


def test_a_list_is_one_unit_with_breaks_at_all_its_items() -> None:
    (unit,) = units("1. первый\n   продолжение\n\n   абзац\n2. второй\n   - вложенный\n   - ещё\n3. третий\n")
    assert unit.kind == "list"
    assert [unit.text[at:].split("\n")[0] for at in unit.breaks] == [
        "1. первый",
        "2. второй",
        "   - вложенный",
        "   - ещё",
        "3. третий",
    ]
    assert unit.text.startswith("1. первый\n   продолжение\n\n   абзац\n2. второй")


def test_a_table_is_one_unit_with_breaks_at_its_rows_and_its_header_repeated() -> None:
    (unit,) = units("Ключ | Значение\n:-- | --:\nчерта \\| внутри | 5\nбез хвоста\nлишний | 8 | х\n")
    assert unit.kind == "table"
    assert unit.text[: unit.repeat] == "Ключ | Значение\n:-- | --:\n"
    assert [unit.text[at:].split("\n")[0] for at in unit.breaks] == [
        "черта \\| внутри | 5",
        "без хвоста",
        "лишний | 8 | х",
    ]


def test_code_is_kept_whole_with_breaks_at_its_lines() -> None:
    (unit,) = units("```bash\n# не заголовок\n\nmake  all\n---\n```\n")
    assert unit.kind == "code"
    assert unit.text == "```bash\n# не заголовок\n\nmake  all\n---\n```"
    assert unit.text[: unit.repeat] == "```bash\n"
    assert [unit.text[at : at + 6] for at in unit.breaks] == ["# не з", "\nmake ", "make  ", "---\n``"]


def test_indented_and_unclosed_code_never_reads_as_headings() -> None:
    assert texts("абзац\n\n    # отступ\n      rm ``` файл\n") == ["абзац", "````\n# отступ\n  rm ``` файл\n````"]
    assert texts("```\n# до конца\nпоследняя") == ["```\n# до конца\nпоследняя"]


def test_what_an_editor_wrote_stays_as_written() -> None:
    text = (
        "Абзац с **жирным**, [ссылкой](https://x.example/?a=1&b=2) и \\*звёздочкой\\*,\n`<b>кодом</b> &amp;` и 2 < 3."
    )
    assert texts(text) == [text]


def test_a_quotation_is_one_unit_with_breaks_at_its_blocks() -> None:
    (unit,) = units("> первый\n> абзац\n>\n> второй\n>\n> - пункт\n")
    assert unit.text == "> первый\n> абзац\n>\n> второй\n>\n> - пункт"
    assert [unit.text[at:][:8] for at in unit.breaks] == ["> первый", "> второй", "> - пунк"]


def test_paragraphs_stay_apart() -> None:
    assert texts("Вопрос: когда?\n\nОтвет: завтра.\n\nВопрос: где?\n\nОтвет: тут.\n") == [
        "Вопрос: когда?",
        "Ответ: завтра.",
        "Вопрос: где?",
        "Ответ: тут.",
    ]


# What nobody sees


def test_comments_are_not_text_but_accounted_for() -> None:
    found = read("До <!-- раз --> после.\n\n<!--\nдва\n\n## не раздел\n-->\n\n- пункт <!-- три -->\n- `<!-- код -->`\n")
    assert [unit.text for unit in found.units] == ["До  после.", "- пункт\n- `<!-- код -->`"]
    assert [(left.reason, left.text) for left in found.left_out] == [
        ("comment", "раз"),
        ("comment", "два\n\n## не раздел"),
        ("comment", "три"),
    ]
    assert found.messages == ()


def test_a_comment_that_is_not_closed_is_warned_of() -> None:
    found = read("текст\n\n<!-- забыто\n\n## А\n\nпропало\n")
    assert [unit.text for unit in found.units] == ["текст"]
    assert codes(found) == ["left-out"] and "not closed" in found.messages[0].text
    assert texts("стрелка <!-- не комментарий") == ["стрелка <!-- не комментарий"]


def test_html_leaves_its_visible_text_only() -> None:
    html = (
        "<div class='a'>\n<style>p { color: red }</style>\n<script>alert('x > y')</script>\n"
        "<p>Первый<br>второй &amp; <b>третий</b></p>\n<img src='data:image/png;base64,AAAA' alt='Схема проезда'>\n"
        "<ul><li>раз</li><li>два</li></ul>\n<table><tr><td>Имя</td><td>Цена</td></tr><tr><td>А</td><td>5</td></tr></table>\n"
        "</div>\n"
    )
    assert texts(html) == ["Первый\nвторой & третий\nСхема проезда\n- раз\n- два\nИмя | Цена\nА | 5"]


def test_inline_tags_and_entities_become_what_a_page_shows() -> None:
    assert texts("H<sub>2</sub>O&nbsp;&mdash; <a href='x'>вода</a><br>строка, می&zwnj;خواهم, A&shy;B, &nosuch;") == [
        "H2O\u00a0— вода\nстрока, می\u200cخواهم, AB, &nosuch;"
    ]
    assert texts("| а | б |\n|---|---|\n| один<br>два | <b>три</b> |\n")[0].endswith("| один два | три |")


def test_details_around_markdown_lose_their_tags_only() -> None:
    assert texts("<details>\n<summary>Ещё</summary>\n\nскрытый **абзац**\n\n</details>\n") == [
        "Ещё",
        "скрытый **абзац**",
    ]


def test_pictures_keep_their_alt_text_and_lose_their_bytes() -> None:
    assert texts("См. ![Схема](a.png) и ![Фото](data:image/png;base64,iVBORw0KGgo=) ниже.") == [
        "См. ![Схема](a.png) и ![Фото]() ниже."
    ]


def test_link_definitions_are_no_text_but_notes_are() -> None:
    text = (
        "Текст[^1] и [сайт][s].\n\n[s]: https://x.example 'Сайт'\n[//]: # (скрыто)\n[^1]: Примечание.\n\n"
        "[Телефон]: 8-800-000-00-00\n\nконец\n"
    )
    assert texts(text) == [
        "Текст[^1] и [сайт](https://x.example).\n[^1]: Примечание.",
        "[Телефон]: 8-800-000-00-00",
        "конец",
    ]


# Front matter


def test_front_matter_is_metadata_and_never_text() -> None:
    text = '\ufeff---\ntitle: "Регламент обхода"\nlang: ru\ntags:\n  - обход\n--- \n\n# Порядок\n\nВ восемь.\n'
    found = read(text.replace("\n", "\r\n"))
    assert found.front_matter == {"title": "Регламент обхода", "lang": "ru", "tags": ["обход"]}
    assert (found.title, [unit.text for unit in found.units]) == ("Регламент обхода", ["В восемь."])
    assert [str(unit.locator) for unit in found.units] == ["L10"]


def test_scalars_stay_as_written() -> None:
    block = "date: 2024-05-07\nversion: 1.10\ndraft: no\nwake: 10:00\nкод: 007\nпусто:\nвложено: {a: [да, 3, ~]}\n"
    assert read(f"---\n{block}...\nтекст").front_matter == {
        "date": "2024-05-07",
        "version": "1.10",
        "draft": "no",
        "wake": "10:00",
        "код": "007",
        "пусто": "",
        "вложено": {"a": ["да", "3", "~"]},
    }


def test_fences_inside_values_do_not_end_the_block() -> None:
    found = read("---\nnote: |\n  ```\n  ---\n  ```\nlang: ru\n---\nтекст")
    assert found.front_matter == {"note": "```\n---\n```\n", "lang": "ru"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("---\n\n# Раздел\n\nТема: насосы\n\n---\n\nхвост\n", ["Тема: насосы", "хвост"]),
        ("---\nпросто текст\n---\n\nхвост\n", ["хвост"]),  # a setext H2: its words are the section
        ("---\n- один\n- два\n---\n\nхвост\n", ["- один\n- два", "хвост"]),
        ("---\n---\n\nхвост\n", ["хвост"]),
        (
            "---\n# Раздел\n\n**Тема:** насосы\n\nВывод: важно\n\n---\n\nхвост\n",
            ["**Тема:** насосы", "Вывод: важно", "хвост"],
        ),
        ("---\ntitle: не закрыт\n\nтекст\n", ["title: не закрыт", "текст"]),
        ("текст\n\n---\ntitle: не первый\n---\n", ["текст"]),
    ],
)
def test_a_block_that_is_no_mapping_is_body(text: str, kept: list[str]) -> None:
    found = read(text)
    assert [unit.text for unit in found.units] == kept
    assert found.front_matter == {}


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("title: Регламент: порядок", 2),
        ("lang: ru\ntitle: 'не закрыт", 3),
        ("lang: ru\ntags: [а, б\nx: y", 4),
        ("lang: ru\n  title: сдвиг", 3),
    ],
)
def test_broken_yaml_fails_with_its_line(block: str, line: int) -> None:
    with pytest.raises(SourceError) as caught:
        read(f"---\n{block}\n---\nтекст")
    assert caught.value.message.code == "front-matter"
    assert str(caught.value.message.locator) == f"L{line}"
    assert "\n" not in str(caught.value)


def test_a_key_that_stands_twice_and_tabs_are_tolerated_and_said() -> None:
    twice = read("---\ntitle: Один\ntitle: Два\n---\nтекст")
    assert twice.title == "Два" and codes(twice) == ["front-matter"] and "`title`" in twice.messages[0].text
    tabs = read("---\nmeta:\n\ta: 1\n---\nтекст")
    assert tabs.front_matter == {"meta": {"a": "1"}} and codes(tabs) == ["front-matter"]


def test_yaml_bombs_are_refused() -> None:
    names = "abcdefghij"
    laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n" for before, after in pairwise(names)
    )
    for block in (laughs, "a: " + "[" * 5000, "a: &a [*a]", "a:\n" + "- x\n" * 30_000):
        with pytest.raises(SourceError) as caught:
            read(f"---\n{block}\n---\nтекст")
        assert caught.value.message.code == "front-matter"


# Bounds


@pytest.mark.parametrize("text", ["", " \n\t\n", "---\ntitle: А\n---\n", "<!-- а -->", "---\n\n***\n", "[a]: http://b"])
def test_a_file_without_text_fails_by_name(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(text)
    assert caught.value.message.code == "empty-source"


def test_arabic_letters_are_normalized_before_anything_is_compared_or_kept() -> None:
    found = read("---\ntitle: كتاب\n---\n## خدمات ملي\n\nشعبه مركزي\n")
    assert (found.title, found.units[0].section, found.units[0].text) == ("کتاب", "خدمات ملی", "شعبه مرکزی")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "# " + "[a](" * 20_000 + "\n\nx",
        "# " + "*a_" * 20_000 + "\n\nx",
        ">" * 50_000 + " a",
        "a " + "<!--" * 50_000,
        "<!--" * 50_000 + "\n\nx -->\n\ny",
        "a " + "<a '" * 50_000,
        "a " + "<script>" * 30_000,
        "a " + " ".join("`" * size for size in range(1, 500)),
        "a &amp; " + "<?a" * 50_000,
        "[a]: b\n" * 5_000,
        "a <b>\n" * 20_000,
        "x![a](data:" * 30_000,
        "%%a\n" * 30_000,
        "{/*\n" * 30_000,
        "a %% b {/* " * 20_000,
        "<table>\n" * 20_000 + "\n\nx",
        "<table><tr>" + "<td colspan=1000 rowspan=65000>a" * 2_000 + "<tr>" * 2_000 + "</table>",
        "<table>" + "<tr><a '" * 20_000 + "</table>\n\nx",
        "[a]: /b\n\n" + "[a [a](" * 20_000,
        "x[^1]\n\n" + "".join(f"[^{number}]: y[^{number + 1}]\n" for number in range(1, 5_000)),
        "!!! note\n    " * 10_000,
        "".join("    " * depth + "!!! note\n" for depth in range(200)),
    ],
)
def test_hostile_markdown_is_read_in_linear_time(text: str) -> None:
    begin = time.perf_counter()
    read(text)
    assert time.perf_counter() - begin < 5


def test_an_h1_whose_sections_are_all_empty_is_told_like_them() -> None:
    document = read("# А\n\nтекст\n\n# Б\n\n## В\n\n# Г\n\nтекст\n")
    assert [entry.text for entry in document.left_out] == ["Б", "В"]


def test_a_code_block_may_hold_nothing_but_what_looks_like_its_end() -> None:
    (unit,) = units("```\n\t```")
    assert (unit.kind, unit.text, unit.breaks, unit.repeat) == ("code", "```\n\t```", (4,), 4)


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        *(("слово\n", 2000), ("- слово\n", 1000), ("- слово\n\n", 1000), ("1. слово\n* х\n", 500)),
        *(("- слово\n  слово\n", 1000), ("|а|\n", 1000), ("слово\n---\n", 200), ("а\n<b>\n", 200)),
    ],
)
def test_a_long_text_takes_time_in_proportion(lines: str, times: int) -> None:
    def seconds(text: str) -> float:
        found = []
        for _ in range(3):
            begin = time.process_time()
            read(text)
            found.append(time.process_time() - begin)
        return min(found)

    assert seconds(lines * 10 * times) < 25 * seconds(lines * times) + 0.02
