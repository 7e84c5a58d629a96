"""Any document, however odd, keeps the rules of every chunk."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from invariants import check_chunks
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.embedding.embedder import TokenCounter
from ragpress.models.known import KNOWN, tokenizer_file
from ragpress.records import Document, Locator, Unit, UnitKind


def words(text: str) -> int:
    """A tokenizer that keeps white space apart, with a prefix of three tokens."""
    return 3 + len(text.split())


def letters(text: str) -> int:
    """One that takes long words apart, as real ones do."""
    return 3 + sum(1 + len(word) // 5 for word in text.split())


def pairs(text: str) -> int:
    """One that knows no words at all: three bytes of the whole string are a token, white space too."""
    return 5 + (len(text.encode()) + 2) // 3


COUNTERS = [words, letters, pairs]
ALPHABETS = ["абвгдежзиклмн", "ابپتثجچ‌حخ", "abcdefgh", "а\u0301é🙂👨\u200d👩🏽", "漢字假名"]


class Maker:
    """Random documents of the shapes that readers give, seeded."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.alphabet = self.random.choice(ALPHABETS)
        self.line = 1

    def word(self) -> str:
        length = self.random.choice([1, 2, 5, 9]) if self.random.random() < 0.99 else self.random.randint(100, 700)
        word = "".join(self.random.choices(self.alphabet, k=length)).strip("\u200c\u200d\u0301🏽")
        return word or self.alphabet[0]

    def sentence(self, most: int = 25) -> str:
        text = " ".join(self.word() for _ in range(self.random.randint(1, most)))
        return text.capitalize() + self.random.choice([".", ".", "!", "?", "؟", ":", ""])

    def prose(self, most: int = 12) -> str:
        return self.random.choice([" ", " ", "\n", "\u00a0"]).join(
            self.sentence() for _ in range(self.random.randint(1, most))
        )

    def lines(self, head: str) -> tuple[str, tuple[int, ...]]:
        made = [f"{head}{self.sentence(12)}" for _ in range(self.random.randint(1, 30))]
        breaks, at = [], 0
        for line in made[:-1]:
            at += len(line) + 1
            breaks.append(at)
        return "\n".join(made), tuple(breaks)

    def unit(self, section: str, number: int, path: tuple[str, ...], breadcrumb: str) -> Unit:
        kinds: list[UnitKind] = ["heading", "paragraph", "paragraph", "paragraph", "list", "table", "code"]
        kind = self.random.choice([*kinds, "table_row", "qa_pair", "image_caption"])
        text, repeat = self.prose(), 0
        breaks: tuple[int, ...] = ()
        if kind == "heading":
            text = f"{'#' * self.random.randint(3, 6)} {self.sentence(4)}"
        elif kind in ("list", "code"):
            text, breaks = self.lines("- ")
        elif kind == "table":
            head = f"| {self.sentence(4)} |\n|---|"
            rows, inner = self.lines("| ")
            text, repeat = f"{head}\n{rows}", len(head)
            breaks = tuple(len(head) + 1 + at for at in (0, *inner))
        elif kind == "table_row":
            text, breaks = self.lines(self.random.choice(["", "Имя: "]))
        elif kind == "qa_pair":
            question = self.sentence(30)
            text, repeat = f"{question}\n{self.prose()}", len(question)
        elif kind == "image_caption" and self.random.random() < 0.5:
            text = ""
        start, self.line = self.line, self.line + text.count("\n") + 2
        return Unit(
            kind=kind,
            text=text,
            locator=Locator("L", start, start + text.count("\n")),
            section=section,
            section_number=number,
            headings=path,
            breadcrumb=breadcrumb,
            breaks=breaks,
            repeat=repeat,
        )

    def document(self) -> Document:
        units = []
        for number in range(self.random.randint(1, 4)):
            heading = self.sentence(self.random.choice([2, 3, 60]))
            for _ in range(self.random.randint(1, 12)):
                path = ("Корень", heading, *(self.sentence(2) for _ in range(self.random.randint(0, 1))))
                breadcrumb = self.random.choice([f"## {heading}", f"## {heading}", ""])
                units.append(self.unit(heading, number, path, breadcrumb))
        return Document(source="любой.md", units=tuple(units))


@pytest.mark.parametrize("count", COUNTERS)
@pytest.mark.parametrize("seed", range(60))
def test_every_document_keeps_the_rules(seed: int, count: Callable[[str], int]) -> None:
    make = Maker(seed)
    document = make.document()
    limit = make.random.choice([32, 40, 64, 128, 384])
    config = Config(max_tokens=limit, min_tokens=make.random.choice([0, 8, 24]), overlap_sentences=seed % 3)
    chunks, messages = chunk_document(document, config, count)
    check_chunks(document, chunks, limit, count)
    assert chunk_document(document, config, count) == (chunks, messages)


class Adding:
    """The words of `letters`, which add up, and it says so. Notes what it is asked."""

    adds_up = True

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, text: str) -> int:
        self.asked += len(text)
        return letters(text)


@pytest.mark.parametrize("seed", range(80, 120))
def test_counts_that_add_up_give_the_same_chunks(seed: int) -> None:
    make = Maker(seed)
    document = make.document()
    limit = make.random.choice([32, 64, 128, 384])
    config = Config(max_tokens=limit, min_tokens=make.random.choice([0, 8, 24]), overlap_sentences=seed % 3)
    assert chunk_document(document, config, Adding()) == chunk_document(document, config, letters)


def test_where_counts_add_up_a_paragraph_is_counted_once() -> None:
    paragraphs = [Unit(kind="paragraph", text="слово " * 15, locator=Locator("L", 1, 1)) for _ in range(30)]
    units = [
        msgspec.structs.replace(unit, text=f"{unit.text}{number}.", section_number=number // 5, breadcrumb="## Раздел")
        for number, unit in enumerate(paragraphs)
    ]
    count = Adding()
    chunks, _ = chunk_document(Document(source="a.md", units=tuple(units)), Config(max_tokens=96), count)
    assert 6 < len(chunks) < 30
    assert count.asked < 1.1 * sum(len(unit.text) for unit in units)


@pytest.fixture(scope="module")
def tokens() -> TokenCounter:
    config = Config(offline_model="multilingual-e5-small")
    return TokenCounter(tokenizer_file(config, Path()), KNOWN[config.model].document_prefix)


@pytest.mark.parametrize("seed", range(60, 80))
def test_every_document_keeps_the_rules_by_the_model_s_own_tokens(seed: int, tokens: TokenCounter) -> None:
    make = Maker(seed)
    document = make.document()
    limit = make.random.choice([32, 64, 384, 512])
    config = Config(max_tokens=limit, min_tokens=24)
    chunks, messages = chunk_document(document, config, tokens)
    check_chunks(document, chunks, limit, tokens.exact)
    assert tokens.adds_up and (chunks, messages) == chunk_document(document, config, tokens.exact)
