"""Plain text: what examples cannot show. The examples: tests/cases/text/plaintext*.txt."""

from __future__ import annotations

import time

import pytest

from ragpress.config import Config
from ragpress.errors import SourceError
from ragpress.readers import read_document
from ragpress.records import Document, Unit

LONG = "Приём ведётся ежедневно с восьми утра до восьми вечера, по выходным до трёх часов дня, в праздники закрыто."


def read(text: str) -> Document:
    return read_document(text.encode(), "folder/name.txt", Config())


def units(text: str) -> tuple[Unit, ...]:
    return read(text).units


def texts(text: str) -> list[str]:
    return [unit.text for unit in units(text)]


def sections(text: str) -> list[tuple[str, str]]:
    return [(unit.section, unit.text) for unit in units(text)]


# Paragraphs


def test_text_without_headings_has_no_section() -> None:
    (unit,) = units("Просто текст.\n")
    assert (unit.section, unit.headings, unit.breadcrumb, unit.section_number) == ("", (), "", 0)
    assert read("Просто текст.").title == "name"


def test_text_without_stops_or_spaces_is_kept_whole() -> None:
    text = "водоснабжающая инфраструктура " * 3000
    assert texts(text) == [text.strip()]


# Headings


def test_lines_in_capitals_open_sections() -> None:
    found = units(f"ЧТО ВЗЯТЬ С СОБОЙ\n\n{LONG}\n\nПОСЛЕ КАПЕЛЬНИЦЫ\n{LONG}\n\nещё.\n")
    assert [(unit.section, unit.breadcrumb, unit.section_number) for unit in found] == [
        ("ЧТО ВЗЯТЬ С СОБОЙ", "## ЧТО ВЗЯТЬ С СОБОЙ", 1),
        ("ПОСЛЕ КАПЕЛЬНИЦЫ", "## ПОСЛЕ КАПЕЛЬНИЦЫ", 2),
        ("ПОСЛЕ КАПЕЛЬНИЦЫ", "## ПОСЛЕ КАПЕЛЬНИЦЫ", 2),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Подпись\n\nООО ПРИМЕР\n",  # nothing below it
        "МОСКВА\n\nТВЕРЬ\n\nПСКОВ\n\nГорода перечислены выше.\n",
        "ВСЁ НАПИСАНО\n\nТАК ЧТО ЭТО НИЧЕГО НЕ ЗНАЧИТ\n\nНИ ЗДЕСЬ, НИ ТАМ\n\nтолько тут.\n",
        "Тел. 000\n\n8-800-А1\n\nзвоните.\n",
    ],
)
def test_capitals_that_head_nothing_are_text(text: str) -> None:
    found = units(text)
    assert {unit.section for unit in found} == {""}
    assert "\n\n".join(unit.text for unit in found) == text.strip()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1. Общие положения", "2. Права пациента"),
        ("1) Общие положения", "2) Права пациента"),
        ("I. Общие положения", "II. Права пациента"),
        ("۱. پوشش‌ها", "۲. روش خرید"),
        ("۱- پوشش‌ها", "۲- روش خرید"),
        ("Глава 1. Общие положения", "Глава 2"),
        ("فصل اول", "فصل دوم: شرایط"),
    ],
)
def test_numbered_titles_with_text_below_open_sections(first: str, second: str) -> None:
    assert sections(f"{first}\n\n{LONG}\n\n{second}\n\n{LONG}\n") == [(first, LONG), (second, LONG)]


@pytest.mark.parametrize(
    "text",
    [
        "12.05.2024 открыт филиал\n\nТекст.\n",
        "8.30 начало приёма\n\nТекст.\n",
        "5 врачей\n\nТекст.\n",
        "1. Пациент обязан прийти вовремя.\n\nТекст.\n",
        "2.1. Исполнитель обязуется:\n\nТекст.\n",
        "1. первый шаг\n\nТекст.\n",
        "9. Последний раздел\n",
        "г. Образцов\n\nТекст.\n",
    ],
)
def test_numbers_that_head_nothing_open_no_section(text: str) -> None:
    assert {unit.section for unit in units(text)} == {""}


def test_no_word_of_a_heading_is_lost() -> None:
    text = f"ОДИН\n\n1. Два\n\nГлава 3\n\n{LONG}\n\n4. Пять\n\nШЕСТЬ\n\n7. Восемь\n"
    found = read(text)
    kept = " ".join([*(unit.text for unit in found.units), *(head for unit in found.units for head in unit.headings)])
    assert all(word in kept for word in text.split())


# Lists


@pytest.mark.parametrize("mark", ["-", "–", "—", "•", "*", "۱-", "الف)", "а)"])
def test_bullets_and_letters_mark_items_below_their_lead_in(mark: str) -> None:
    found = units(f"Возьмите:\n{mark} полис\n{mark} паспорт\n")
    assert [(unit.kind, unit.text) for unit in found] == [
        ("paragraph", "Возьмите:"),
        ("list", f"{mark} полис\n{mark} паспорт"),
    ]


# Questions


@pytest.mark.parametrize(
    ("asks", "replies"),
    [
        ("В:", "О:"),
        ("Вопрос:", "Ответ:"),
        ("Вопрос 1:", "Ответ 1:"),
        ("سوال:", "پاسخ:"),
        ("سؤال ۲:", "جواب:"),
        ("Q:", "A:"),
    ],
)
def test_questions_open_sections_and_stay_apart_from_their_answers(asks: str, replies: str) -> None:
    text = f"{asks} Когда?\n{replies} Завтра.\nЕщё строка.\n\n{asks} Где?\n\n{replies} Тут.\n"
    assert sections(text) == [
        ("Когда?", f"{asks} Когда?"),
        ("Когда?", f"{replies} Завтра."),
        ("Когда?", "Ещё строка."),
        ("Где?", f"{asks} Где?"),
        ("Где?", f"{replies} Тут."),
    ]
    assert len({unit.section_number for unit in units(text)}) == 2


# Bytes


def test_utf16_and_single_byte_files_are_read() -> None:
    text = "Инструкция по запуску.\n\nПроверьте давление."
    found = read_document(("\ufeff" + text).encode("utf-16-le"), "a.txt", Config())
    assert [unit.text for unit in found.units] == text.split("\n\n") and found.messages == ()
    guessed = read_document(text.encode("cp1251"), "a.txt", Config())
    assert [unit.text for unit in guessed.units] == text.split("\n\n")
    assert [each.code for each in guessed.messages] == ["text-encoding"]


@pytest.mark.parametrize("text", ["", "\n \n\t\n", "\ufeff", "-----\n"])
def test_a_file_without_text_fails_by_name(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(text)
    assert caught.value.message.code == "empty-source"


@pytest.mark.parametrize(
    "text",
    [
        "1. А\n" * 30_000,
        "- а\n\n" * 30_000,
        "АБВ\n\n" * 30_000,
        "АБВ ГДЕ\n" * 30_000 + "а" * 300_000,
        "В: а\n" * 30_000,
        "а" * 300_000,
        "а\n" * 60_000,
        "- " * 99_999 + "а",
        "\fА\n" * 30_000,
        "\fА\nстр. 1\n\n" * 30_000,
        "а-\n" * 50_000,
        "Имя, [12.03.2024 10:15]\n" * 30_000,
    ],
)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    begin = time.perf_counter()
    read(text)
    assert time.perf_counter() - begin < 5
