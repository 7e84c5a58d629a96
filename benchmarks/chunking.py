"""Cutting Markdown against langchain-text-splitters with the same counter, in MB a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.embedding.embedder import TokenCounter
from ragpress.models.known import tokenizer_file
from ragpress.readers import read_document

_PARAGRAPH = (
    "Записаться можно по телефону или на сайте: выберите врача, назовите дату рождения и коротко опишите жалобу. "
    "Если свободного времени нет, попросите поставить вас в лист ожидания. "
)
_PERSIAN = "برای اعلام خسارت تا پنج روز کاری فرصت دارید. مدارک را در برنامک بارگذاری کنید و شمارهٔ پیگیری را نگه دارید. "


def sample(sections: int) -> str:
    """Markdown with sections of one to twelve paragraphs in two languages, lists among them."""
    lines = ["# Справочник\n"]
    for number in range(sections):
        lines.append(f"## Раздел {number}\n")
        for part in range(1 + number % 12):
            text = (_PARAGRAPH if part % 2 else _PERSIAN) * (1 + (number + part) % 4)
            lines.append(f"{number}.{part} {text}\n")
        if number % 3 == 0:
            lines.append("\n".join(f"- пункт {item} раздела {number}" for item in range(8)) + "\n")
    return "\n".join(lines)


def langchain(text: str, count: Callable[[str], int], limit: int) -> int:
    """The number of chunks of the header and the recursive splitter, one after the other."""
    from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

    headers = MarkdownHeaderTextSplitter([("#", "h1"), ("##", "h2")], strip_headers=False)
    splitter = RecursiveCharacterTextSplitter(chunk_size=limit, chunk_overlap=0, length_function=count)
    return len(splitter.split_documents(headers.split_text(text)))


def run(rounds: int = 9) -> Iterator[tuple[str, float, str]]:
    """(what, ratio, details): reading, normalizing and cutting by this tool, and its cutting alone, against the other.

    The other is given text, and knows no more of Markdown than its headings. In CPU seconds, the best round of each:
    both work in one thread, by turns, and in all rounds but the first the counter has met the words before.
    """
    config = Config(offline_model="multilingual-e5-small")
    counter = TokenCounter(tokenizer_file(config, Path()), "search_document: ")
    text = sample(600)
    data = text.encode("utf-8")
    for what, count in (("word by word", counter), ("whole strings", counter.exact)):
        read: list[float] = []
        cut: list[float] = []
        other: list[float] = []
        for _ in range(rounds):
            begin = time.process_time()
            document = read_document(data, "sample.md", config)
            middle = time.process_time()
            chunk_document(document, config, count)
            end = time.process_time()
            langchain(text, count, config.max_tokens)
            read.append(end - begin)
            cut.append(end - middle)
            other.append(time.process_time() - end)
        for name, own in (("Markdown", read), ("cutting alone", cut)):
            own_rate, other_rate = (len(data) / 1e6 / min(each) for each in (own, other))
            details = f"{own_rate:.2f} / {other_rate:.2f} MB/s"
            yield f"{name}, tokens counted {what} / langchain", own_rate / other_rate, details
