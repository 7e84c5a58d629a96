"""The rules of reading and chunking, held on the sample corpus with the real readers and the real token counter."""

from __future__ import annotations

import functools
import io
import json
import re
import sys
import zipfile
from pathlib import Path

import pytest

from invariants import check_chunks, own
from ragpress.chunking import chunk_document
from ragpress.config import Config, load_config
from ragpress.embedding.embedder import TokenCounter
from ragpress.models.known import KNOWN, tokenizer_file
from ragpress.readers import read_document
from ragpress.records import Chunk, Document, Message
from ragpress.text import normalize

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "sources"
NAMES = sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*") if path.is_file())
WIKI = "klinika/wiki.md"
STUDIES = ("тимпанометри", "эндоскопи", "спирографи")
CONFIG = load_config(ROOT)
CASES = [json.loads(line) for line in (ROOT / "golden/questions.jsonl").read_text(encoding="utf-8").splitlines()]


@functools.cache
def counter() -> TokenCounter:
    return TokenCounter(tokenizer_file(CONFIG, ROOT), KNOWN[CONFIG.model].document_prefix)


@functools.cache
def document_of(source: str, config: Config = CONFIG) -> Document:
    return read_document((SOURCES / source).read_bytes(), source, config)


@functools.cache
def compiled(source: str, config: Config = CONFIG) -> tuple[tuple[Chunk, ...], tuple[Message, ...]]:
    document = document_of(source, config)
    chunks, messages = chunk_document(document, config, counter())
    return chunks, document.messages + messages


def chunks_of(source: str) -> tuple[Chunk, ...]:
    return compiled(source)[0]


def corpus() -> list[Chunk]:
    return [chunk for source in NAMES for chunk in chunks_of(source)]


def wiki_sections() -> dict[str, str]:
    """H2 to body, found without the reader: every `## ` line of this file is an H2 outside any code block."""
    text = (SOURCES / WIKI).read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    _, *parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


# -- the wiki --------------------------------------------------------------------------------------------------------


def test_every_wiki_chunk_has_the_h2_above_it_as_section() -> None:
    sections = [chunk.section for chunk in chunks_of(WIKI)]
    assert list(dict.fromkeys(sections)) == list(wiki_sections())
    assert all(sections)


def test_no_list_item_becomes_a_section() -> None:
    assert "\n1. " in (SOURCES / WIKI).read_text(encoding="utf-8")
    assert not [chunk.section for chunk in chunks_of(WIKI) if chunk.section[:1].isdigit()]


def test_a_section_holds_exactly_the_chunks_that_speak_of_its_subject() -> None:
    speaking = [chunk for chunk in chunks_of(WIKI) if any(study in chunk.text.lower() for study in STUDIES)]
    assert speaking == [chunk for chunk in chunks_of(WIKI) if chunk.section == "Направления приёма"]
    assert all(any(study in chunk.text.lower() for chunk in speaking) for study in STUDIES)


def test_front_matter_and_comments_reach_no_chunk() -> None:
    text = "\n".join(chunk.text for chunk in chunks_of(WIKI))
    for hidden in ("2026-10-12", "Черновик проверен", "editor_note", "скидку пенсионерам", "<!--", "---\n"):
        assert hidden in (SOURCES / WIKI).read_text(encoding="utf-8")
        assert hidden not in text


def test_the_first_wiki_chunk_starts_with_the_first_h2() -> None:
    assert chunks_of(WIKI)[0].text.startswith("## О клинике\n")


def test_h3_stays_in_the_body_of_its_section() -> None:
    doctors = [chunk for chunk in chunks_of(WIKI) if chunk.section == "Список врачей по специальностям"]
    marks = re.findall(r"^### (.+)$", wiki_sections()["Список врачей по специальностям"], re.MULTILINE)
    assert len(marks) == 8
    assert re.findall(r"^### (.+)$", "\n".join(map(own, doctors)), re.MULTILINE) == marks
    for chunk in doctors:
        assert not chunk.text.splitlines()[-1].startswith("#"), "a heading ends a chunk"


def test_a_doctors_name_and_hours_stand_in_one_chunk_below_the_speciality() -> None:
    (found,) = [chunk for chunk in chunks_of(WIKI) if "Свиристелева" in own(chunk)]
    assert "### Оториноларингология" in found.text
    assert "вторник и четверг с 9:00 до 17:00" in found.text


@pytest.mark.parametrize("section", ["Направления приёма", "Список врачей по специальностям"])
def test_a_long_section_becomes_chunks_that_all_name_it_first(section: str) -> None:
    body = wiki_sections()[section]
    assert counter()(body) > CONFIG.max_tokens
    found = [chunk for chunk in chunks_of(WIKI) if chunk.section == section]
    assert len(found) > 2
    assert all(chunk.text.startswith(f"## {section}\n") for chunk in found)


def test_every_section_holds_its_own_words_once_and_in_order() -> None:
    for section, body in wiki_sections().items():
        text = "\n".join(own(chunk) for chunk in chunks_of(WIKI) if chunk.section == section)
        assert words(text) == words(body), section


def test_overlap_comes_from_the_same_section_only() -> None:
    for earlier, later in zip(chunks_of(WIKI), chunks_of(WIKI)[1:], strict=False):
        repeated = later.text[: later.context_chars].removeprefix(f"## {later.section}").strip()
        if earlier.section != later.section:
            assert repeated == "", later.section


def test_a_short_section_stays_as_it_is() -> None:
    (parking,) = [chunk for chunk in chunks_of(WIKI) if chunk.section == "Парковка"]
    assert own(parking).strip() == wiki_sections()["Парковка"].strip()
    assert parking.tokens < CONFIG.min_tokens


# -- the other files of the corpus ------------------------------------------------------------------------------------


def test_each_h1_without_h2_is_a_section_of_its_own() -> None:
    sections = list(dict.fromkeys(chunk.section for chunk in chunks_of("klinika/pervyj-vizit.md")))
    assert [section for section in sections if section.startswith("Шаг ")] == [
        "Шаг 1. Решите, к кому идти",
        "Шаг 2. Запишитесь",
        "Шаг 3. Соберите документы",
        "Шаг 4. Подготовьтесь",
        "Шаг 5. Приезжайте заранее",
        "Шаг 6. Поговорите с врачом",
        "Шаг 7. Оплатите и получите документы",
        "Шаг 8. Оставайтесь на связи",
    ]
    assert sections[3:5] == ["Взрослым", "Детям"]


def test_extra_h1_drop_keeps_the_first_h1_and_warns() -> None:
    dropping = Config(extra_h1="drop")
    chunks, messages = compiled("klinika/pervyj-vizit.md", dropping)
    assert {chunk.section for chunk in chunks} == {"Шаг 1. Решите, к кому идти"}
    (warning,) = [message for message in messages if message.code == "extra-h1"]
    assert warning.severity == "warning"


def test_a_table_alone_in_a_word_file_gives_a_chunk_a_row_with_the_headers() -> None:
    rows = chunks_of("klinika/analizy.docx")
    assert len(rows) == 34
    assert {chunk.content_type for chunk in rows} == {"table_row"}
    assert all(re.fullmatch(r"Код: Л\d\d", chunk.text.splitlines()[0]) for chunk in rows)
    assert "Исследование: Ферритин" in rows[13].text
    assert "Цена, ₽: 740" in rows[13].text


def test_a_branch_row_carries_its_merged_province_and_the_zero_that_only_its_format_shows() -> None:
    rows = chunks_of("bimeh/shoab.xlsx")
    (branch,) = [chunk for chunk in rows if "نام شعبه: شعبهٔ کاشان" in chunk.text]
    assert "استان: اصفهان" in branch.text
    assert "تلفن: 03100001238" in branch.text
    assert "کد شعبه: 0012" in branch.text
    assert branch.section == "شعب"


def test_a_blank_row_between_two_regions_ends_no_table() -> None:
    rows = [chunk for chunk in chunks_of("bimeh/shoab.xlsx") if chunk.section == "شعب"]
    assert [chunk.locator for chunk in rows] == [f"شعب!R{row}" for row in range(4, 16) if row != 11]
    assert all("استان: " in chunk.text and "نشانی: " in chunk.text for chunk in rows)


def test_numbers_are_written_as_the_sheet_shows_them() -> None:
    (row,) = [chunk for chunk in chunks_of("bimeh/taarefe.xlsx") if "مسئولیت پزشک" in chunk.text]
    for shown in ("2,750,000", "1,800,000,000", "7.5%", "2026/09/15"):
        assert shown in row.text


def test_a_line_break_in_quotes_stays_in_its_cell() -> None:
    (row,) = [chunk for chunk in chunks_of("klinika/prajs.csv") if "Суточное мониторирование ЭКГ" in chunk.text]
    assert words(row.text)[-9:] == words("снимать прибор придёте на следующий день до 10:00")
    assert "3320,00" in row.text


def test_deleted_text_is_out_and_inserted_text_in() -> None:
    text = "\n".join(chunk.text for chunk in chunks_of("klinika/Правила посещения.docx"))
    assert "за половину цены" not in text
    assert "посмотрит документы бесплатно в течение недели" in text
    assert "приказом № 17 от 3 сентября 2026 года" in text
    assert "халат выдаёт медсестра" in text


def test_a_document_inside_a_table_cell_is_read_as_prose_with_its_nested_rows() -> None:
    text = "\n".join(own(chunk) for chunk in chunks_of("bimeh/form.docx"))
    order = ["با خودکار آبی", "نام و شمارهٔ تلفن یک شاهد", "برگ آزمایش", "بدون امضا و تاریخ"]
    assert [text.count(piece) for piece in order] == [1, 1, 1, 1]
    assert sorted(order, key=text.index) == order
    (row,) = [chunk for chunk in chunks_of("bimeh/form.docx") if "برگ آزمایش" in chunk.text]
    assert "مسمومیت" in row.text


def test_pictures_without_alt_text_are_counted_and_give_no_chunk() -> None:
    chunks, messages = compiled("bimeh/barnamak.docx")
    assert "image_caption" not in {chunk.content_type for chunk in chunks}
    (message,) = [message for message in messages if message.code == "picture"]
    assert "3" in message.text


@pytest.mark.parametrize(
    ("source", "question", "answer"),
    [
        ("bimeh/khesarat.docx", "بدون کروکی پلیس", "برای خسارت جانی کروکی همیشه لازم است"),
        ("bimeh/khesarat.docx", "برای تشکیل پرونده", "شمارهٔ حساب مالک"),
        ("bimeh/omr.docx", "سود پس‌انداز چگونه", "میان بیمه‌گذاران تقسیم می‌شود"),
        ("bimeh/سوالات متداول.xlsx", "شکایت خود را", "واحد صدای مشتری"),
        ("klinika/voprosy.txt", "Есть ли у вас скидки", "Документ покажите в регистратуре до оплаты"),
    ],
)
def test_an_answer_stands_in_the_chunk_of_its_question(source: str, question: str, answer: str) -> None:
    (found,) = [chunk for chunk in chunks_of(source) if question in chunk.text]
    assert answer in own(found)


# -- all samples ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", NAMES)
def test_every_sample_gives_chunks_that_keep_the_invariants(source: str) -> None:
    assert chunks_of(source)
    check_chunks(document_of(source), chunks_of(source), CONFIG.max_tokens, counter())


# -- the files themselves ---------------------------------------------------------------------------------------------


def test_the_binary_samples_hold_what_their_readable_data_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    from make_samples import SAMPLES

    def content(data: bytes) -> object:
        # compared unpacked: another zlib packs differently
        if not data.startswith(b"PK"):
            return data
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    for name, build in SAMPLES.items():
        assert content((SOURCES / name).read_bytes()) == content(build()), f"run tools/make_samples.py: {name}"


def test_there_are_enough_questions_in_both_languages() -> None:
    persian = [case for case in CASES if re.search("[؀-ۿ]", case["question"])]
    assert len(CASES) - len(persian) >= 25
    assert len(persian) >= 25
    assert len({case["question"] for case in CASES}) == len(CASES)


def test_every_question_can_be_answered_by_a_chunk() -> None:
    known = {"question", "expected_section", "expected_source", "answer", "content_type"}
    assert all({"question"} < set(case) <= known for case in CASES)
    assert [case["question"] for case in CASES if not any(fits(case, chunk) for chunk in corpus())] == []


def fits(case: dict[str, str | list[str]], chunk: Chunk) -> bool:
    def allowed(key: str) -> list[str]:
        value = case.get(key, [])
        return [normalize(item) for item in ([value] if isinstance(value, str) else value)]

    return (
        chunk.source in (allowed("expected_source") or [chunk.source])
        and chunk.section in (allowed("expected_section") or [chunk.section])
        and chunk.content_type in (allowed("content_type") or [chunk.content_type])
        and any(answer in own(chunk) for answer in allowed("answer") or [""])
    )
