"""Markdown: what examples cannot show. The examples: tests/cases/text/markdown*.txt."""

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


# Front matter


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
