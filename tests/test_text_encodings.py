"""Bytes to text: what is certain, what is guessed and said, what is refused."""

from __future__ import annotations

import random

import pytest

from ragpress.errors import SourceError
from ragpress.text import decode

RUSSIAN = "Добрый день, Вы делаете тимпанометрию?\nПрайс-лист клиники «Пример»."
PERSIAN = "شعبه مرکزي در تهران است، پلاک پنج.\nآيا بيمه داريد؟"
MIXED = "Инструкция.\nراهنمای راه‌اندازی\nPrice list\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_decides_and_is_no_text(encoding: str) -> None:
    found = decode(("\ufeff" + MIXED).encode(encoding), "a.txt")
    assert (found.text, found.encoding, found.certain, found.messages) == (MIXED, encoding, True, ())


def test_utf8_is_certain_and_needs_no_message() -> None:
    assert decode(MIXED.encode(), "a.txt").messages == ()
    assert decode(b"", "a.txt").text == ""


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["plain English, one line", RUSSIAN, PERSIAN, "a;б\n1;2\n"])
def test_wide_text_without_a_mark_is_known_by_its_zero_bytes(encoding: str, text: str) -> None:
    found = decode(text.encode(encoding), "a.txt")
    assert (found.text, found.encoding, found.certain) == (text, encoding, False)
    assert encoding in found.messages[0].text


UNMARKED = [
    *((RUSSIAN, encoding) for encoding in ("cp1251", "mac_cyrillic")),
    *(("Город\tЖители\nТверь\t416", encoding) for encoding in ("cp1251", "koi8-r", "cp866", "iso8859-5")),
    *(("ПРАЙС-ЛИСТ НА УСЛУГИ", encoding) for encoding in ("cp1251", "koi8-r", "cp866", "iso8859-5")),
    *(("цех №7: щётки", encoding) for encoding in ("cp1251", "cp866", "iso8859-5")),
    *((text, "cp1256") for text in (PERSIAN, "نوع بيمه", "قيمت (ريال);شهر\n5;تهران", "ژاله و چنگيز")),
    *((text, "cp1252") for text in ("Grüße aus München", "Été à la crème brûlée", "garçon à l’école", "£5 “each”")),
    *((text, "cp1252") for text in ("20 °C ± 2", "Škoda parts are listed on the second page")),
    ("Київ є столицею України", "cp1251"),
    ("Όνομα,Τιμή\nΜολύβι,12", "cp1253"),
    ("שם,מחיר\nמחברת,30", "cp1255"),
    ("Název,Cena\nŽlutý kůň,12", "cp1250"),
    ("Название товара;Ціна\nїжа;5", "koi8-u"),
    ("Nazwa,Cena\nZażółć gęślą jaźń,13", "iso8859-2"),
    ("Název,Cena\nŽlutý kůň,12", "cp852"),
    ("Ürün,Fiyat\nİstanbul şehri,12", "cp1254"),
    ("Nom,Prix\nCafé crème,12", "cp850"),
    ("Nom,Prix\nCafé crème,12", "mac_roman"),
    ("Όνομα,Τιμή\nΜολύβι,12", "cp737"),
    ("שם,מחיר\nמחברת,30", "cp862"),
    ("الاسم,السعر\nخبز عربي,12", "cp720"),
    ("商品名,価格\nノート,300", "iso2022_jp"),
    ("ชื่อ,ราคา\nข้าวผัดกุ้ง,12", "cp874"),
    ("商品名,価格\nノート,300", "cp932"),
    ("商品名,価格\nノート,300", "euc_jp"),
    ("이름,가격\n연필,120\n지우개,80", "cp949"),
    ("名称,价格,数量\n笔记本,30,2", "gb18030"),
    ("名稱,價格,數量\n筆記本,30,2", "big5"),
]


@pytest.mark.parametrize(("text", "encoding"), UNMARKED)
def test_text_in_other_encodings_is_known_by_its_letters_and_reported(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding), "a.csv")
    assert found.text == text
    assert not found.certain
    assert [(each.severity, each.code, each.source) for each in found.messages] == [
        ("warning", "text-encoding", "a.csv")
    ]


def test_a_long_ascii_beginning_does_not_hide_the_letters() -> None:
    text = "id;name;price\n" * 20_000 + "17;Вентиль латунный;1,90\n"
    assert decode(text.encode("cp1251"), "a.csv").text == text


def test_a_few_broken_bytes_do_not_turn_utf8_into_gibberish() -> None:
    data = "Первая строка\nВторая строка о насосах\n".encode().replace("о н".encode(), b"\xd0 \xd0\xbd")
    found = decode(data + "Третья".encode()[:-1], "a.txt")
    assert found.text.startswith("Первая строка\nВторая строка \ufffd")
    assert (found.encoding, found.certain) == ("utf-8", False)
    assert "2 broken places" in found.messages[0].text and "line 2" in found.messages[0].text


def test_a_cut_utf16_file_is_still_read() -> None:
    found = decode(b"\xff\xfe" + RUSSIAN.encode("utf-16-le")[:-1], "a.txt")
    assert found.text.startswith("Добрый день") and not found.certain


def test_line_ends_become_one_and_inner_marks_and_controls_go() -> None:
    found = decode("а\r\nб\rв\n\ufeffг\x00д\x1a\tе\fж".encode(), "a.txt")
    assert found.text == "а\nб\nв\nгд\tе\fж"
    assert "2 control characters" in found.messages[0].text


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"PK\x03\x04rest", "ZIP"),
        (b"%PDF-1.7\nrest", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "Office"),
        (b"{\\rtf1 rest", "RTF"),
        (random.Random(1).randbytes(4000), ""),
        (bytes(random.Random(2).choices(range(0x80, 0x100), k=4000)), ""),
        (bytes(1000), "control"),
    ],
)
def test_what_is_no_text_is_refused_with_its_name(data: bytes, named: str) -> None:
    with pytest.raises(SourceError) as caught:
        decode(data, "a.txt")
    assert caught.value.message.code == "bad-encoding"
    assert named in str(caught.value) and "\n" not in str(caught.value)
