"""What is a question with its answer and what only looks like one, held on the examples in tests/cases/qa/."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import pytest

from docx_maker import docx, heading, level, lists, numbered, p, styled, tbl, tr
from ragpress.chunking.qa import find_pairs
from ragpress.config import Config
from ragpress.readers import read_document
from ragpress.records import Document, Unit
from xlsx_maker import make_xlsx, rows

CASES = Path(__file__).resolve().parent / "cases" / "qa"
QUESTION, ANSWER = "? ", "! "
TABLES = ("csv", "xlsx", "table", "pipes")


class Example(NamedTuple):
    """An example: its name, the formats it is to be read in, and its lines with the two columns in front."""

    name: str
    formats: tuple[str, ...]
    lines: tuple[str, ...]

    def contents(self) -> list[str]:
        return [line[2:] for line in self.lines]


def examples(file: str) -> list[Example]:
    found = []
    for part in f"\n{(CASES / file).read_text(encoding='utf-8')}".split("\n# ")[1:]:
        head, *lines = part.strip("\n").split("\n")
        name, _, formats = head.rstrip("]").rpartition(" [")
        found.append(Example(name, tuple(formats.split()), tuple(line.ljust(2) for line in lines)))
    return found


def table(example: Example) -> list[list[str]]:
    return [line.split(" | ") for line in example.contents()]


def word_body(example: Example) -> Iterator[str]:
    for is_row, group in groupby(example.contents(), key=lambda line: line.startswith("||")):
        lines = [line for line in group if line.strip()]
        if is_row:
            yield tbl(*(tr(*map(escape, line.strip("| ").split(" | "))) for line in lines))
            continue
        for line in lines:
            if line.startswith("## "):
                yield styled("H1", escape(line[3:]))
            elif line.startswith("- "):
                yield numbered(escape(line[2:]))
            else:
                yield p(escape(line))


def document_of(example: Example, form: str) -> Document:
    text = "\n".join(example.contents()) + "\n"
    if form in ("txt", "md"):
        return read_document(text.encode(), f"a.{form}", Config())
    if form == "pipes":
        head, *data = [f"| {' | '.join(row)} |" for row in table(example)]
        delimiters = "|---" * len(table(example)[0]) + "|"
        return read_document("\n".join([head, delimiters, *data]).encode(), "a.md", Config())
    if form == "csv":
        packed = io.StringIO()
        csv.writer(packed).writerows(table(example))
        return read_document(packed.getvalue().encode(), "a.csv", Config())
    if form == "xlsx":
        return read_document(make_xlsx({"Лист1": rows(table(example))}), "a.xlsx", Config())
    body = tbl(*(tr(*map(escape, row)) for row in table(example))) if form == "table" else "".join(word_body(example))
    made = docx(body, styles=heading("H1", 0), numbering=lists(level(0, "-", "bullet")))
    return read_document(made, "a.docx", Config())


def plain(text: str) -> str:
    return " ".join(text.split())


def wanted(example: Example, form: str) -> list[str]:
    """The pairs that the columns in front tell of."""
    if form in TABLES:
        names, *data = table(example)
        marked = [row for row, line in zip(data, example.lines[1:], strict=True) if line.startswith(ANSWER)]
        return [plain(" ".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True))) for row in marked]
    found: list[str] = []
    before = "  "
    for line in example.lines:
        column, content = line[:2], line[2:]
        if content.startswith("||"):
            content = content.replace("|", " ")
        if (column == QUESTION and before != QUESTION) or (column == ANSWER and before == "  "):
            found.append("")
        if column in (QUESTION, ANSWER):
            found[-1] += content + "\n"
        before = column if content.strip() or column != "  " else before
    return [plain(text) for text in found]


def pairs(document: Document) -> list[Unit]:
    units = [unit for unit in document.units if unit.text]
    return [unit for unit in find_pairs(units, Config()) if unit.kind == "qa_pair"]


def in_order_of_columns(text: str, form: str) -> str:
    """A pair from a table, as words in any order: the question may have gone before the answer."""
    return " ".join(sorted(text.split())) if form in TABLES else text


def test_precision_and_recall_on_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    positive, negative = examples("pairs.txt"), examples("near_misses.txt")
    assert len(positive) >= 40 and len(negative) >= 40
    right = found = expected = 0
    misses = []
    for example in (*positive, *negative):
        for form in example.formats:
            have = [in_order_of_columns(plain(unit.text), form) for unit in pairs(document_of(example, form))]
            want = [in_order_of_columns(text, form) for text in wanted(example, form)]
            right += len([text for text in have if text in want])
            found, expected = found + len(have), expected + len(want)
            if have != want:
                misses.append(f"{example.name} [{form}]\n  found    {have}\n  expected {want}")
    with capsys.disabled():
        print(
            f"\nquestions and answers: precision {right / found:.3f}, recall {right / expected:.3f} of {expected} pairs"
        )
    assert not misses, "\n".join(misses)
    assert all(wanted(example, form) for example in positive for form in example.formats)
    assert not any(wanted(example, form) for example in negative for form in example.formats)


@pytest.mark.parametrize("file", ["pairs.txt", "near_misses.txt"])
def test_no_word_is_lost_or_added_whatever_is_a_pair(file: str) -> None:
    for example in examples(file):
        for form in set(example.formats) - {"pipes"}:  # those become rows, in which names stand once a cell
            units = document_of(example, form).units
            found = find_pairs(units, Config())
            own, kept = ("\n".join(unit.text for unit in each).split() for each in (units, found))
            assert sorted(kept) == sorted(own), f"{example.name} [{form}]"
