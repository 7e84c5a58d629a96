"""The normal form of texts and queries, and the coarser one in which texts are compared."""

from __future__ import annotations

import itertools
import random
import re
import time
import unicodedata

from ragpress.text import fold, normalize

ZWNJ = "\u200c"


def test_a_document_and_a_query_with_other_letters_meet() -> None:
    assert normalize("كتابخانهٔ ملي در خيابان اصلي است") == normalize("کتابخانهٔ ملی در خیابان اصلی است")


def test_normalizing_twice_changes_nothing_and_gives_nfc() -> None:
    chance = random.Random(3)
    alphabet = (
        "اكيىـ\u0654\u0653\u064e \n.()«»*-\u200c\u200c\u200d\u200f\ufefb\ufdfa\ufdfc\ufe76علیбйи\u0306eé\u030111۱कष्"
    )
    for _ in range(3000):
        once = normalize("".join(chance.choices(alphabet, k=12)))
        assert normalize(once) == once
        assert unicodedata.is_normalized("NFC", once)
        assert not set(once) & set("كيىـ\u200f\ufefb\ufdfa\ufdfc")


def test_every_code_point_is_composed_with_what_stands_before_it() -> None:
    """What normalize changes beside composing aside: tatweel, Arabic forms, yeh and kaf, marks that nobody reads."""
    changed = {
        0x640,
        0x643,
        0x649,
        0x64A,
        0x61C,
        0xAD,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    }
    changed |= {*range(0xD800, 0xE000), *range(0xFB50, 0xFE00), *range(0xFE70, 0xFF00)}
    signs = [chr(number) for number in range(0x11A00) if number not in changed]
    for before in ("e", "и", "ا", "\u1100", "가", "\u0928", "—"):
        text = "\n".join(before + sign for sign in signs)
        assert normalize(text) == unicodedata.normalize("NFC", text)


def test_texts_are_composed_as_a_whole_would_be() -> None:
    chance = random.Random(7)
    signs = "йиё \u0301\u0306\u0308\u0323ا\u0653\u0654\u064eه\u0655Ao\u030a\u212b\u0915\u09c7\u09be\u1100\u1161가\n—№"
    for _ in range(5000):
        text = "".join(chance.choices(signs, k=chance.randint(1, 30)))
        assert normalize(text) == unicodedata.normalize("NFC", text)


def test_letters_and_digits_never_get_lost() -> None:
    """Of what is visible, normalizing takes away nothing but tatweel."""
    chance = random.Random(5)
    for _ in range(500):
        text = "".join(chance.choices("ابپتكيلامنو\u200c .۱2аЯё", k=40))
        visible = sum(1 for character in text if character.isalnum())
        assert sum(1 for character in normalize(text) if character.isalnum()) == visible


def numbers(text: str) -> list[str]:
    return ["".join(str(int(digit)) for digit in number) for number in re.findall(r"\d+", text)]


def test_no_number_is_joined_or_changed() -> None:
    """All texts of up to three dashes, joiners and marks between two numbers, and many of chance."""
    between = ("ـ", ZWNJ, "\u200d", "\u2060", "\u200f", "\u200e", "\u061c", "\u202b", "\u2067", "\ufeff", "\u00ad")
    marks = (*"-–—/.,٫٬:،² \n", "\u064e", "\u0301", "\u0670", "\ufe76", "\ufdfc", "½", "ه", "м")
    for count in (1, 2, 3):
        for signs in itertools.product((*between, *marks) if count < 3 else between, repeat=count):
            for one, two in (("۸", "۱۴"), ("8", "14"), ("٨", "14")):
                text = one + "".join(signs) + two
                assert numbers(normalize(text)) == ["8", "14"], ascii(text)
                folded = numbers(fold(text))
                assert folded[0] == "8" and folded[-1] == "14" and len(folded) >= 2, ascii(text)
    chance = random.Random(11)
    for _ in range(20_000):
        text = "".join(chance.choices((*between, *marks, *"123456۱۲۳۴۵۶٤٥"), k=12))
        assert numbers(normalize(text)) == numbers(text), ascii(text)
        assert normalize(normalize(text)) == normalize(text), ascii(text)
        assert fold(fold(text)) == fold(text), ascii(text)


def test_folding_is_the_same_before_and_after_normalizing() -> None:
    for text in ("۱۰۰۰\ufdfc", "ـ ك ـ", "محمد\ufdfa", "م\ufe76ن", "مسي\u0654ول"):
        assert fold(text) == fold(normalize(text))


def test_folding_keeps_different_words_apart() -> None:
    assert len({fold(word) for word in ("کتاب", "کباب", "عام", "عالم", "мир", "мэр", "кот", "код")}) == 8


def test_megabytes_are_normalized_in_well_under_a_second() -> None:
    text = "زیرساخت\u200cهای كتابخانه ملي قديمی Price 12 Приём ведётся\n" * 40_000
    begin = time.perf_counter()
    normalize(text)
    assert time.perf_counter() - begin < 1.5


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    assert normalize("а\ud83dб") == "а\ufffdб"
