"""One text, written as Markdown, as Word and as plain text, gives the same own text in the same order, cut alike.

What a format cannot say is allowed for: plain text has one level of headings, Markdown keeps a heading of the third
level in its section's text and a table as it is written.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

import docx
import pytest

from invariants import check_chunks, own
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.records import Chunk
from test_semantic import alike
from units import sentence, words


class Part(NamedTuple):
    """A block of a text. `kind`: a heading's level, `p` a paragraph, `-` and `1` lists, `|` a table."""

    kind: str
    lines: Sequence[str]


def part(kind: str, *lines: str) -> Part:
    return Part(kind, lines)


def as_markdown(text: Sequence[Part]) -> bytes:
    blocks = []
    for kind, lines in text:
        if kind.startswith("#"):
            blocks.append(f"{kind} {lines[0]}")
        elif kind == "-":
            blocks.append("\n".join(f"- {line}" for line in lines))
        elif kind == "1":
            blocks.append("\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1)))
        elif kind == "|":
            rows = [f"| {line} |" for line in lines]
            blocks.append("\n".join([rows[0], "|---" * (lines[0].count("|") + 1) + "|", *rows[1:]]))
        else:
            blocks.append("  \n".join(lines))
    return ("\n\n".join(blocks) + "\n").encode()


def as_plain_text(text: Sequence[Part]) -> bytes:
    blocks = []
    for kind, lines in text:
        if kind.startswith("#"):
            blocks.append(lines[0].upper())
        elif kind == "-":
            blocks.append("\n".join(f"- {line}" for line in lines))
        elif kind == "1":
            blocks.append("\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1)))
        else:
            blocks.append("\n".join(lines))
    return ("\n\n".join(blocks) + "\n").encode()


def as_word(text: Sequence[Part]) -> bytes:
    document = docx.Document()
    for kind, lines in text:
        if kind.startswith("#"):
            document.add_heading(lines[0], len(kind))
        elif kind == "|":
            rows = [line.split(" | ") for line in lines]
            table = document.add_table(rows=len(rows), cols=len(rows[0]))
            for row, cells in zip(table.rows, rows, strict=True):
                for cell, value in zip(row.cells, cells, strict=True):
                    cell.text = value
        elif kind == "p":
            document.add_paragraph("\n".join(lines))
        else:
            for line in lines:
                document.add_paragraph(line, style="List Bullet" if kind == "-" else "List Number")
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def chunked(data: bytes, name: str, config: Config) -> tuple[Chunk, ...]:
    document = read_document(data, name, config)
    chunks, _ = chunk_document(document, config, words, alike)
    check_chunks(document, chunks, config.max_tokens, words)
    return chunks


def all_three(text: Sequence[Part], config: Config) -> list[tuple[Chunk, ...]]:
    writers = {"a.md": as_markdown, "a.docx": as_word, "a.txt": as_plain_text}
    return [chunked(write(text), name, config) for name, write in writers.items()]


def squashed(chunks: Sequence[Chunk]) -> list[str]:
    return [" ".join(own(chunk).split()) for chunk in chunks]


CLINIC = (
    part("#", "Клиника «Берёза»"),
    part("p", "Здесь собраны ответы на частые вопросы."),
    part("##", "Запись на приём"),
    part("p", "Записаться можно по телефону и на сайте."),
    part("p", "Возьмите с собой:"),
    part("-", "паспорт", "полис", "направление врача"),
    part("##", "Как оплатить"),
    part("p", "Принимаем карты и наличные.", "Чек придёт на почту."),
    part("1", "Выберите услугу.", "Нажмите «Оплатить».", "Сохраните чек."),
    part("##", "Частые вопросы"),
    part("p", "Вопрос: Можно ли вернуть деньги?"),
    part("p", "Ответ: Да, в течение десяти дней."),
    part("p", "Вопрос: Что для этого нужно?"),
    part("p", "Ответ: Принесите в кассу:"),
    part("-", "чек", "заявление"),
)
INSURANCE = (
    part("##", "بخش اول: پوشش‌ها"),
    part("p", "این راهنما برای مسافران است."),
    part("p", "هزینهٔ درمان تا سقف قرارداد پرداخت می‌شود."),
    part("-", "درمان سرپایی", "بستری شدن", "گم شدن چمدان"),
    part("##", "بخش دوم: پرسش‌ها"),
    part("p", "سوال: آیا پس از سفر هم می‌توان خرید؟"),
    part("p", "پاسخ: خیر، خرید باید پیش از سفر باشد."),
)
LONG = (
    part("#", "Правила проката"),
    part("##", "Приём лодок"),
    *(
        part("p", " ".join(sentence(f"{name}{number}", 9) for number in range(6)))
        for name in ("весло", "парус", "руль")
    ),
    part("-", *(sentence(f"пункт{number}", 7) for number in range(8))),
    part("##", "Возврат лодок"),
    part("p", " ".join(sentence(f"причал{number}", 10) for number in range(14))),
)


@pytest.mark.parametrize("strategy", ["fixed", "semantic"])
@pytest.mark.parametrize("text", [CLINIC, INSURANCE, LONG], ids=["clinic", "insurance", "long"])
def test_one_text_is_cut_alike_in_all_formats(text: Sequence[Part], strategy: str) -> None:
    # Word's breadcrumbs are longer; the sentences are of a length that leaves as many of them room in all formats.
    config = Config(max_tokens=80, min_tokens=12, overlap_sentences=0, strategy=strategy)  # type: ignore[arg-type]
    markdown, word, plain = all_three(text, config)
    assert squashed(markdown) == squashed(word) == squashed(plain)
    assert len(markdown) > 1
    kinds = [[chunk.content_type for chunk in chunks] for chunks in (markdown, word, plain)]
    assert kinds[0] == kinds[1] == kinds[2]
    assert [(chunk.section, chunk.headings) for chunk in markdown] == [
        (chunk.section, chunk.headings) for chunk in word
    ]


@pytest.mark.parametrize("strategy", ["fixed", "semantic"])
def test_a_text_without_headings_is_cut_alike_in_word_and_plain_text(strategy: str) -> None:
    config = Config(max_tokens=60, min_tokens=12, overlap_sentences=0, strategy=strategy)  # type: ignore[arg-type]
    text = [each for each in LONG if not each.kind.startswith("#")]
    _, word, plain = all_three(text, config)
    assert squashed(word) == squashed(plain) and len(word) > 3


def test_deeper_headings_and_tables_change_no_words_and_no_order() -> None:
    text = (
        *CLINIC,
        part("##", "Услуги"),
        part("p", "Цены действуют до конца года."),
        part("###", "Анализы"),
        part("p", "Сдавайте натощак."),
        part("|", "услуга | цена", "анализ крови | 700", "анализ мочи | 400"),
        part("p", "Результат придёт на почту."),
    )
    markdown, word, _ = all_three(text, Config(max_tokens=60, min_tokens=12, overlap_sentences=0))
    said = " ".join(squashed(markdown)).replace("### Анализы ", "")
    said = said.replace("| услуга | цена | |---|---| | анализ крови | 700 | | анализ мочи | 400 |", "{table}")
    rows = "услуга: анализ крови цена: 700 услуга: анализ мочи цена: 400"
    assert " ".join(squashed(word)).replace(rows, "{table}") == said and said.count("{table}") == 1
