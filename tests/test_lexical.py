"""Words of texts and questions, their index, their scores, and the fusion of those with cosines."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from ragpress.errors import ArtifactError
from ragpress.lexical.fusion import Spread, sample_rows
from ragpress.lexical.postings import build_postings, check_postings, content_hash, read_postings, word_code
from ragpress.lexical.scoring import WordFile, WordIndex
from ragpress.lexical.words import words
from ragpress.text import fold

# -- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Стоимость удаления зуба", ["стоим", "удале", "зуба"]),
        ("ЁЖ ёж Еж", ["еж", "еж", "еж"]),
        ("می‌شود كتاب‌هاي", ["میشود", "کتابه"]),
        ("кто-нибудь (врач), «полис»", ["кто", "нибуд", "врач", "полис"]),
        ("foo_bar А4 МРТ-3 №5", ["foo", "bar", "а", "мрт", "4", "3", "5"]),
        ("ﬁnance ＡＢＣ", ["finan", "abc"]),
        ("за\u0301мок", ["замок"]),  # a stress, which is not typed in questions
        ("", []),
        ("!?… — «»", []),
    ],
)
def test_words_are_runs_of_folded_letters_cut_to_five(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    "written", ["5400", "5 400", "5\u00a0400", "5,400", "5.400", "5'400", "۵٬۴۰۰", "٥٤٠٠", "۵ ۴۰۰"]
)
def test_a_number_is_one_word_however_its_digits_are_grouped(written: str) -> None:
    assert words(f"{written} ₽") == ["5400"]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("12.05.2024", ["12", "05", "2024"]),
        ("2019-2020", ["2019", "2020"]),
        ("3,5", ["3", "5"]),
        ("10–12", ["10", "12"]),
        ("1 800 000", ["1800000"]),
        ("12 345 67", ["12", "345", "67"]),
    ],
)
def test_numbers_side_by_side_stay_apart(written: str, found: list[str]) -> None:
    assert words(written) == found


@pytest.mark.parametrize(
    "written",
    ["+7 (495) 123-45-67", "8 495 123-45-67", "84951234567", "8-495-123-45-67", "+7 495 1234567", "(495) 123-45-67"],
)
def test_a_telephone_number_is_found_whichever_way_it_is_written(written: str) -> None:
    assert set(words("84951234567")) & set(words(f"тел. {written}, доб. 2"))
    assert set(words("۰۲۱۸۸۷۷۶۶۵۵")) & set(words("021-88776655")) & set(words("+98 21 8877 6655"))
    assert set(words("+7 (495) 123-45-67")) >= {"495", "123", "45", "67"}, "its groups are words, too"


def test_words_of_a_text_are_those_of_the_folded_text() -> None:
    """Pieces are folded one by one: nothing may be lost at their borders."""
    signs = "аёЯbZ ﬁ½²\u200c\u0640ىكة۵٥٬،«»–-_'ﷺß\n\t\u00a0/\\Ⅷ①"
    chance = random.Random(7)
    for _ in range(3000):
        text = "".join(chance.choices(signs, k=12))
        letters = [word for word in words(text) if not word.isdigit()]
        again = [word for word in words(fold(text)) if not word.isdigit()]
        assert letters == again, repr(text)


# -- the word file ---------------------------------------------------------------------------------------------------

TEXTS = ["Приём врача: 5 400 ₽", "Парковка во дворе", "Врач принимает, врачи ждут", "", "وقت دکتر"]


def test_the_same_texts_give_the_same_bytes_and_what_stands_in_them() -> None:
    data = build_postings(TEXTS)
    assert data == build_postings(list(TEXTS))
    found = read_postings("words.idx", data)
    check_postings("words.idx", found)
    place = int(np.searchsorted(found.codes, word_code("врач")))
    begin, end = found.starts[place : place + 2]
    assert found.rows[begin:end].tolist() == [2]
    assert found.counts[begin:end].tolist() == [1]
    place = int(np.searchsorted(found.codes, word_code("врача")))
    assert found.rows[found.starts[place] : found.starts[place + 1]].tolist() == [0]
    assert found.lengths.tolist() == [len(words(text)) for text in TEXTS]


def test_a_word_that_a_text_repeats_without_end_counts_255_times() -> None:
    found = read_postings("words.idx", build_postings(["да " * 1000]))
    assert (found.counts.tolist(), found.lengths.tolist()) == ([255], [1000])


def test_other_texts_or_another_order_have_another_content() -> None:
    assert (
        len({content_hash(texts) for texts in (TEXTS, TEXTS[::-1], TEXTS[:4], ["", *TEXTS], ["а", "б"], ["аб"])}) == 6
    )


def test_bytes_that_are_no_word_file_are_refused() -> None:
    good = build_postings(TEXTS)
    for data in (b"", good[:8], good[:-1], good + b"\0", b"x" * len(good)):
        with pytest.raises(ArtifactError, match=r"words.idx: it is no word file; build the artifact again"):
            read_postings("words.idx", data)
    found = read_postings("words.idx", good)
    starts = 16 + found.codes.nbytes
    rows = starts + found.starts.nbytes + found.lengths.nbytes
    wrong = [(16, b"\xff" * 8), (56, b"\xff" * 8), (starts, b"\1"), (starts + 4, b"\xff" * 4), (rows, b"\xff" * 4)]
    for place, data in [*wrong, (len(good) - 1, b"\0")]:
        damaged = bytearray(good)
        damaged[place : place + len(data)] = data
        with pytest.raises(ArtifactError):
            check_postings("words.idx", read_postings("words.idx", bytes(damaged)))


# -- scores ----------------------------------------------------------------------------------------------------------


def plainly(question: str, texts: list[str]) -> list[float]:
    """The word scores by the formula, one after another."""
    split = [words(text) for text in texts]
    mean = sum(map(len, split)) / len(split)
    asked = sorted(set(words(question)))
    idf = {}
    for word in asked:
        n = sum(word in each for each in split)
        idf[word] = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
    most = sum(value * 2.2 for value in idf.values())
    return [
        sum(idf[w] * 2.2 * each.count(w) / (each.count(w) + 1.2 * (0.25 + 0.75 * len(each) / mean)) for w in asked)
        / most
        for each in split
    ]


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize(
    "question", ["врач", "сколько стоит приём врача 5400", "парковка парковка", "دكتر", "нет такого"]
)
def test_scores_are_those_of_the_formula_over_however_many_files(files: int, question: str) -> None:
    texts = [*TEXTS, "врач и парковка " * 4, "приём"] * 3
    step = -(-len(texts) // files)
    parts = [build_postings(texts[begin : begin + step]) for begin in range(0, len(texts), step)]
    index = WordIndex([WordFile(f"words-{number}.idx", data) for number, data in enumerate(parts)])
    assert index.scores(question).tolist() == pytest.approx(plainly(question, texts))


def test_a_question_without_words_scores_nothing() -> None:
    index = WordIndex([WordFile("words.idx", build_postings(TEXTS))])
    assert index.scores("?!").tolist() == [0.0] * 5
    assert WordIndex([WordFile("words.idx", build_postings([]))]).scores("врач").tolist() == []


# -- fusion ----------------------------------------------------------------------------------------------------------


def test_a_score_is_the_standardized_cosine_and_six_times_the_word_score() -> None:
    cosines, word_scores = np.array([0.9, 0.8, 0.7]), np.array([0.0, 0.5, 0.1])
    spread = Spread.of(cosines)
    deviation = math.sqrt(2 / 300)
    assert spread.fused(cosines, word_scores).tolist() == pytest.approx([0.1 / deviation, 3.0, -0.1 / deviation + 0.6])
    assert Spread.of(np.array([0.5, 0.5])).fused(cosines, word_scores).tolist() == pytest.approx([0, 3.0, 0.6])


def test_the_sample_is_all_rows_of_a_few_and_even_among_many() -> None:
    assert sample_rows(0).tolist() == []
    assert sample_rows(5).tolist() == [0, 1, 2, 3, 4]
    many = sample_rows(100_000)
    assert (len(many), many[0]) == (1024, 0)
    assert set(np.diff(many).tolist()) == {97, 98}
