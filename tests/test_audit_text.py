"""The audit of Markdown, plain text and CSV: what it sees, and that it notices what a reader overlooks."""

from __future__ import annotations

import pytest

from ragpress.audit import CoverageReport, audit
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.records import Gap


def words(text: str) -> int:
    return 3 + len(text.split())


def audited(text: str, compiled_from: str | None = None, name: str = "a.md", **settings: object) -> CoverageReport:
    """The account of a text, or of one against the chunks of another: what a reader gives that overlooks the rest."""
    config = Config(min_tokens=0, **settings)  # type: ignore[arg-type]
    document = read_document((text if compiled_from is None else compiled_from).encode(), name, config)
    return audit(text.encode(), document, chunk_document(document, config, words)[0], config)


WIKI = """---
title: Клиника
tags: [приём, адрес]
---
# Клиника

Открыта <!-- пока --> ежедневно.

## Врачи

- Терапевт
- Окулист

### Часы

| День | Время |
|------|-------|
| Среда | 9:00 |

```python title=расчёт
# не заголовок
print("<b>цена</b>")
```

См. [расписание](https://example.org/grafik "сетка") и <a href="#adres">адрес</a>, кабинет&nbsp;5\\_б.

[ссылка]: https://example.org/dom
"""

LINES = {
    "a paragraph": ("Открыта <!-- пока --> ежедневно.\n", Gap("Открыта ежедневно.", "L7")),
    "a heading": ("### Часы\n", Gap("Часы", "L14")),
    "a list item": ("- Окулист\n", Gap("Окулист", "L12")),
    "a table row": ("| Среда | 9:00 |\n", Gap("Среда | 9:00", "L18")),
    "a line of code": ("# не заголовок\n", Gap("не заголовок", "L21")),
    "a tag in code": ('print("<b>цена</b>")\n', Gap('print("<b>цена</b>")', "L22")),
}


def test_all_that_a_reader_of_the_page_sees_is_covered() -> None:
    found = audited(WIKI)
    assert (found.coverage, found.missing, found.duplicated) == (1.0, 0, 0)
    assert found.left_out == {"comment": 1, "front-matter": 5}


@pytest.mark.parametrize("name", LINES)
def test_a_line_of_markdown_that_is_overlooked_is_named(name: str) -> None:
    line, gap = LINES[name]
    assert line in WIKI
    assert audited(WIKI, WIKI.replace(line, "")).gaps == (gap,)


def test_a_block_that_only_looks_like_front_matter_is_text() -> None:
    text = "---\n\nВажно: приём отменён.\n\n---\n\nЖдём вас.\n"
    assert audited(text).visible == 5
    assert audited(text, "Ждём вас.\n").gaps == (Gap("Важно: приём отменён.", "L3"),)


def test_link_targets_and_labels_may_be_indexed_or_not() -> None:
    with_target = audited(
        "Пишите [сюда](https://example.org/pochta) и [туда][почта].\n\n[почта]: https://example.org\n"
    )
    assert (with_target.coverage, with_target.visible, with_target.duplicated) == (1.0, 4, 0)


def test_emphasis_inside_a_word_does_not_divide_it() -> None:
    assert audited("# Сло**во** `кода`ми\n\nТе**ра**певт\n").visible == 3


def test_a_comment_may_go_on_over_lines_and_is_text_in_code() -> None:
    found = audited("Да.\n\n<!-- раз\nдва -->\n\n```\n<!-- видно -->\n```\n")
    assert (found.visible, found.left_out) == (2, {"comment": 2})


def test_what_the_settings_leave_out_is_counted_apart() -> None:
    text = "# А\n\nодин\n\n## Архив\n\nстарое дело\n\n# Б\n\nдва\n"
    excluded = audited(text, excluded_section_headings=("Архив",))
    assert (excluded.coverage, excluded.left_out) == (1.0, {"excluded-section": 3})
    dropped = audited(text, extra_h1="drop")
    assert (dropped.coverage, dropped.left_out) == (1.0, {"extra-h1": 2})


def test_a_reader_cannot_leave_out_what_no_setting_asks_for() -> None:
    text = "# А\n\nодин\n\n## Архив\n\nстарое дело\n"
    narrow = Config(min_tokens=0, excluded_section_headings=("Архив",))
    document = read_document(text.encode(), "a.md", narrow)
    chunks = chunk_document(document, narrow, words)[0]
    found = audit(text.encode(), document, chunks, Config())
    assert [gap.text for gap in found.gaps] == ["Архив", "старое дело"]


def test_a_heading_without_a_body_is_counted_apart() -> None:
    found = audited("# А\n\nодин\n\n## Пусто\n\n## Б\n\nдва\n")
    assert (found.coverage, found.left_out) == (1.0, {"empty-section": 1})


def test_sections_of_the_same_name_need_a_heading_each() -> None:
    found = audited("## Итоги\n\nраз\n\n## Итоги\n\nдва\n")
    assert (found.coverage, found.visible) == (1.0, 4)


def test_a_word_that_was_divided_between_chunks_is_whole() -> None:
    long = "ё" * 900
    config = Config(max_tokens=32, min_tokens=0)
    document = read_document(f"Код {long} конец.".encode(), "a.md", config)
    chunks = chunk_document(document, config, lambda text: 3 + len(text) // 4)[0]
    assert len(chunks) > 1
    assert audit(document.units[0].text.encode(), document, chunks, config).coverage == 1.0


def test_a_line_of_plain_text_that_is_overlooked_is_named() -> None:
    text = "ЧАСЫ ПРИЁМА\n\nПо средам.\nПо пятницам.\n\nВопрос: Где вход?\nОтвет: Со двора.\n"
    assert audited(text, name="a.txt").coverage == 1.0
    assert audited(text, text.replace("По пятницам.\n", ""), name="a.txt").gaps == (Gap("По пятницам.", "L4"),)
    assert audited(text, text.replace("ЧАСЫ ПРИЁМА\n\n", ""), name="a.txt").gaps == (Gap("ЧАСЫ ПРИЁМА", "L1"),)


def test_spelling_variants_count_as_the_same_word() -> None:
    found = audited("كتاب علي‌رضا\u0640\u0640 ۱۲\n", "کتاب علیرضا 12\n", name="a.txt")
    assert (found.coverage, found.visible) == (1.0, 3)


TABLE = 'Врач;Кабинет;Приём\nТерапевт;12;"по записи;\nутром"\nОкулист;14;по средам\n'


def test_a_record_that_is_overlooked_is_named_by_its_number() -> None:
    assert audited(TABLE, name="a.csv").coverage == 1.0
    without = TABLE.replace("Окулист;14;по средам\n", "")
    assert audited(TABLE, without, name="a.csv").gaps == (Gap("Окулист;14;по средам", "R3"),)


def test_a_column_that_is_overlooked_is_named() -> None:
    found = audited(TABLE, TABLE.replace(";12", "").replace(";14", "").replace(";Кабинет", ""), name="a.csv")
    assert found.gaps == (Gap("Кабинет", "R1"), Gap("12", "R2"), Gap("14", "R3"))


def test_the_hint_that_names_the_delimiter_is_no_text() -> None:
    found = audited(f"sep=;\n{TABLE}", name="a.csv")
    assert (found.coverage, found.visible) == (1.0, 12)


def test_what_no_page_shows_of_html_in_markdown_is_not_visible() -> None:
    text = "# А\n\n## Б\n\nТекст <script>alert(1)</script> дальше.\n\n<style>\n.x { color: red }\n</style>\n\nКонец.\n"
    assert audited(text).coverage == 1.0
    assert audited("## Б\n\n" + "<script>" * 20_000 + " видно").visible >= 1
