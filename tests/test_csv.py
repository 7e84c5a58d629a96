"""CSV as programs really write it: encodings, delimiters, quotes, banners, ragged rows."""

from __future__ import annotations

import time

import pytest

from ragpress.config import Config
from ragpress.errors import SourceError
from ragpress.readers import read_document
from ragpress.readers.dialect import find_delimiter
from ragpress.records import Document


def read(content: str | bytes, name: str = "a.csv") -> Document:
    return read_document(content if isinstance(content, bytes) else content.encode(), name, Config())


def texts(document: Document) -> list[str]:
    return [unit.text for unit in document.units]


def places(document: Document) -> list[str]:
    return [str(unit.locator) for unit in document.units]


def said(document: Document) -> str:
    return "\n".join(f"{found.locator or ''} {found.code}: {found.text}" for found in document.messages)


TABLE = "Имя;Цена;Город\nПлита;12,50;Тверь\nБлок;7,00;Псков, район 2\n"
SHOWN = ["Имя: Плита\nЦена: 12,50\nГород: Тверь", "Имя: Блок\nЦена: 7,00\nГород: Псков, район 2"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1251", "koi8-r", "cp866"])
def test_every_usual_encoding_is_read(encoding: str) -> None:
    long = TABLE + "".join(f"Вентиль латунный, вид {number};{number},90;Калуга\n" for number in range(40))
    document = read(long.encode(encoding))
    assert texts(document)[:2] == SHOWN
    assert ("text-encoding" in said(document)) == (encoding not in ("utf-8", "utf-8-sig", "utf-16"))


def test_persian_in_cp1256_is_read() -> None:
    persian = "نام;شهر\n" + "".join(f"پرونده شماره {number};تهران و حومه\n".replace("ی", "ي") for number in range(40))
    assert texts(read(persian.encode("cp1256")))[0] == "نام: پرونده شماره 0\nشهر: تهران و حومه"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TABLE, ";"),
        ("a,b\n1,2\n3,4\n", ","),
        ("a\tb\n1,5\t2,5\n3,5\t4,5\n", "\t"),
        ("a|b\n1|2\n3|4\n", "|"),
        ('a,b\n"1;2;3",2\n"4;5;6",4\n', ","),
        ('a;b\n"строка, одна\nи две, и три";2\n', ";"),
        ("1,5;2,5\n3,5;4,5\n5,5;6,5\n", ";"),
        ("Строка без полей\nещё одна, с запятой\nи третья, и четвёртая, и пятая\nшестая\nседьмая\n", ""),
        ("одно\nдва\n", ""),
        ("имя,часы\n" + "Анна,пн 9-18; сб 10-14\n" * 60, ","),  # a sign in each row, but not in the header
        ("1.5 2.5 0.1\n2.5 3.5 0.2\n4.5 1.5 0.3\n", " "),
        ("насос медный новый\nклапан стальной старый\nкран латунный новый\n", ""),
        ("имя#цена\nмел#5\nдоска#6\n", "#"),
        ("Отчёт\nза май, с поправками\nимя;цена;вес\nмел;5,5;1,5\nдоска;6,5;2,5\n", ";"),
        ("банер\nкод,имя,вес\nК1,гайка,10\nК2,болт\nК3,шайба,5,лишнее\n", ","),
    ],
)
def test_the_delimiter_is_what_divides_most_records_alike(text: str, expected: str) -> None:
    assert find_delimiter(text) == expected


def test_tsv_is_divided_by_tabs() -> None:
    assert texts(read("a, b\tc\n1, 2\t3\n", "a.tsv")) == ["a, b: 1, 2\nc: 3"]


def test_the_separator_line_of_excel_is_obeyed_and_not_shown() -> None:
    document = read("sep=|\nимя|цена\nмел|5\n")
    assert texts(document) == ["имя: мел\nцена: 5"]
    assert places(document) == ["R3"]


def test_quoted_breaks_delimiters_and_quotes_stay_in_their_field() -> None:
    document = read(
        'id,title,body\n1,"Насос | Б","Первая\nвторая; третья\n\nпятая"\n2,Клапан,"Знак: ""важно"", конец"\n'
    )
    assert texts(document) == [
        "id: 1\ntitle: Насос | Б\nbody: Первая\nвторая; третья\n\nпятая",
        'id: 2\ntitle: Клапан\nbody: Знак: "важно", конец',
    ]
    assert places(document) == ["R2", "R3"]


def test_a_quotation_that_never_ends_swallows_nothing() -> None:
    document = read('имя;цена\n"мел;5\nдоска;6\n"парта";7\n')
    assert texts(document) == ['имя: "мел\nцена: 5', "имя: доска\nцена: 6", "имя: парта\nцена: 7"]
    assert "R2 csv-quote: quotations that do not end: 1" in said(document)


def test_blanks_beside_a_quotation_do_not_belong_to_the_field() -> None:
    document = read('имя, место, цех\nмел, "Тверь, ул. 1" , 5\nмост, "Псков, ул. 2", 6\n')
    assert texts(document)[0] == "имя: мел\nместо: Тверь, ул. 1\nцех: 5"


def test_quotes_escaped_by_a_backslash_are_read_and_paths_keep_theirs() -> None:
    document = read('id,имя,цех\n"1","ООО \\"Мел\\"","а, б"\n"2","Мост","в"\n')
    assert texts(document)[0] == 'id: 1\nимя: ООО "Мел"\nцех: а, б'
    paths = read('id,путь\n"1","C:\\a\\"\n"2","D:\\b\\"\n')
    assert texts(paths)[0] == "id: 1\nпуть: C:\\a\\"


def test_single_quotes_around_fields_alone_are_quotes() -> None:
    document = read("имя;цена\n'мел; белый';5\n'доска; чёрная';6\n")
    assert texts(document)[0] == "имя: мел; белый\nцена: 5"


def test_a_record_with_another_delimiter_is_divided_by_it() -> None:
    assert texts(read("имя,цена,цех\nмел,5,а\nдоска;6;б\nмост,7,в\n"))[1] == "имя: доска\nцена: 6\nцех: б"


def test_comments_above_the_header_are_titles_whole() -> None:
    document = read("# сделано, вручную\n# 2024, май\nимя,цена\nмел,5\nдоска,6\n")
    assert {unit.headings for unit in document.units} == {("# сделано, вручную", "# 2024, май")}
    assert texts(read("#имя,цена\nмел,5\nдоска,6\n"))[0] == "#имя: мел\nцена: 5"


def test_line_ends_of_all_kinds_end_records() -> None:
    assert texts(read("имя,цена\r\r\nмел,5\rдоска,6\nмост,7\r\n")) == [
        "имя: мел\nцена: 5",
        "имя: доска\nцена: 6",
        "имя: мост\nцена: 7",
    ]


def test_quotes_that_are_not_doubled_are_kept() -> None:
    document = read('имя;цена\n"ООО "Мел" и Ко";5\n5" труба;6\n"а" б;7\n')
    assert texts(document) == ['имя: ООО "Мел" и Ко\nцена: 5', 'имя: 5" труба\nцена: 6', 'имя: "а" б\nцена: 7']


def test_ragged_rows_lose_nothing_and_are_counted() -> None:
    document = read("Выгружено программой\nкод,имя,вес\nК1,гайка,10\nК2,болт\nК3,шайба,5,лишнее,ещё\n\nК4,шплинт,2\n")
    assert texts(document) == [
        "код: К1\nимя: гайка\nвес: 10",
        "код: К2\nимя: болт",
        "код: К3\nимя: шайба\nвес: 5\nлишнее\nещё",
        "код: К4\nимя: шплинт\nвес: 2",
    ]
    assert {unit.headings for unit in document.units} == {("Выгружено программой",)}
    assert "R4 csv-ragged: rows with more or fewer than 3 fields: 2" in said(document)
    assert places(document) == ["R3", "R4", "R5", "R7"]


def test_even_rows_with_empty_ends_are_not_called_ragged() -> None:
    assert "csv-ragged" not in said(read("имя,цена,\nмел,5,\nдоска,6,\n"))


def test_two_tables_in_one_file_have_their_own_headers() -> None:
    document = read("Город,Число\nТверь,5\n\nРасходы\n\nСтатья,Сумма\nМел,7\n")
    assert [(unit.text, unit.headings) for unit in document.units] == [
        ("Город: Тверь\nЧисло: 5", ()),
        ("Статья: Мел\nСумма: 7", ("Расходы",)),
    ]
    assert document.units[0].section_number != document.units[1].section_number


def test_a_single_column_is_a_list_of_rows() -> None:
    assert texts(read("Тверь\nПсков\n\nКалуга\n")) == ["Тверь", "Псков", "Калуга"]


def test_nul_bytes_are_dropped_with_a_message() -> None:
    document = read("имя,цена\nме\0л,5\n")
    assert texts(document) == ["имя: мел\nцена: 5"]
    assert "NUL" in said(document)


def test_a_line_separator_of_unicode_ends_no_record() -> None:
    assert texts(read("имя,цена\nмел\u2028белый\x0b,5\n"))[0].endswith("цена: 5")


@pytest.mark.parametrize("content", [b"", b"\n\n", b";;\n;;\n", b"\xef\xbb\xbf"])
def test_a_file_without_a_word_is_refused(content: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        read(content)
    assert caught.value.message.code == "empty-source"


def test_other_files_are_refused_by_name() -> None:
    with pytest.raises(SourceError, match="ZIP archive"):
        read(b"PK\x03\x04" + bytes(100))


def test_a_large_file_and_a_hostile_one_take_little_time() -> None:
    started = time.perf_counter()
    large = read("имя;цена\n" + "".join(f"товар {number};{number},5\n" for number in range(20_000)))
    assert len(large.units) == 20_000
    read('"' * 20_001 + "\n" + 'a,"b\n' * 2_000)
    assert time.perf_counter() - started < 5
