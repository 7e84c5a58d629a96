"""What holds wherever sentences end. Where they do: tests/cases/text/sentences.txt."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import pytest

from ragpress.text import sentence_spans, sentences
from text_cases import cases


def test_spans_follow_each_other_and_cover_the_text() -> None:
    text = "  " + "\n\n".join(case.parts["input"].replace("¦", "") for case in cases("sentences*")) + " \n"
    spans = sentence_spans(text)
    assert spans[0][0] == 0 and spans[-1][1] == len(text)
    assert all(left[1] == right[0] for left, right in pairwise(spans))
    assert "".join(sentences(text)) == text
    assert sentence_spans("") == []


def test_no_sentence_is_blank() -> None:
    for text in ("А.\n\n\n\nБ.", "Да. \n \n Нет.", "… … …", "\n\n", "Да!  \n- нет"):
        pieces = sentences(text)
        assert "".join(pieces) == text
        assert all(piece.strip() for piece in pieces) or not text.strip()


def test_text_without_stops_is_one_sentence() -> None:
    text = "زیرساخت‌های آبرسانی شهرستان‌های کم‌برخوردار " * 200
    assert sentences(text) == [text]


def test_a_hard_wrap_ends_no_sentence_but_a_blank_line_or_a_list_marker_does() -> None:
    assert sentences("Приём ведётся\nв кабинете 5") == ["Приём ведётся\nв кабинете 5"]
    assert sentences("Заголовок\n\nТекст") == ["Заголовок\n\n", "Текст"]
    assert sentences("Возьмите:\n- полис\n- паспорт\n1) копию") == [
        "Возьмите:\n",
        "- полис\n",
        "- паспорт\n",
        "1) копию",
    ]


def test_emphasis_and_note_numbers_belong_to_the_sentence_that_they_close() -> None:
    assert sentences("**Важно.** Далее.[3] Конец.") == ["**Важно.** ", "Далее.[3] ", "Конец."]


def test_long_quotations_are_split_and_short_ones_are_not() -> None:
    short = "«Первое. Второе» сказано."
    assert sentences(short) == [short]
    long = "«" + "Это предложение стоит в очень длинной цитате. " * 8 + "Конец» сказано."
    assert len(sentences(long)) == 9


@pytest.mark.parametrize(
    "text",
    ["." * 200_000, ". " * 100_000, "«" * 100_000, "1. А " * 50_000, ".[1]" * 50_000, "(" * 50_000 + ")" * 50_000],
)
def test_hostile_text_is_split_in_linear_time(text: str) -> None:
    begin = time.perf_counter()
    assert "".join(sentences(text)) == text
    assert time.perf_counter() - begin < 3


def test_random_text_keeps_every_character() -> None:
    chance = random.Random(7)
    for _ in range(300):
        text = "".join(chance.choices("аБв.!?… \n«»()1۲؟؛Aب-*", k=60))
        assert "".join(sentences(text)) == text
