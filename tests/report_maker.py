"""A small repository that was accepted and then edited, and a large one, for tests of the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragpress.records import Chunk, DocumentEntry, chunk_id
from ragpress.report.gathering import Contents, SourceReport
from ragpress.report.retrieval import Measured
from ragpress.repository import Repository
from repository_maker import SETTINGS, build, make_repository, write_source

WIKI = """---
title: База знаний
tags: [клиника, запись]
---

# Клиника

## Запись

Записаться можно по телефону или на сайте. Приём ведётся с 7:30 до 20:00.

## Парковка

Стоянка на двенадцать машин — во дворе.

## Цены

| Услуга | Цена |
|---|---|
| Приём терапевта | 1 900 |
| Приём кардиолога | 2 500 |
"""
GUIDE = """# بیمه

## پوشش‌ها

سقف پوشش درمان برای هر نفر ۱۲۳۴۵ تومان است و کارت ملی لازم دارد.

## پیامک

SMS بفرستید تا شمارهٔ API و قرارداد برای شما فرستاده شود.

## خالی
"""
HOSTILE = "100% #важно? «да».csv"
ROWS = """<b>Услуга</b>;Цена
"<script>document.title = 'pwned'</script>";12
"</div></article><img src=x onerror=""document.title='pwned'"">";34
&amp; {{ 7 * 7 }} ' ` --> ]]>;56
</script><script>document.title = 'pwned'</script>;78
"""
QUESTIONS = [
    {"question": "Где оставить машину, есть ли стоянка?", "expected_source": "klinika/wiki.md", "answer": "двенадцать"},
    {"question": "سقف پوشش درمان چقدر است؟", "expected_section": "پوشش‌ها"},
    {"question": "Делаете ли вы <b>МРТ</b>?", "answer": "томография"},
]


_made: list[Path] = []


def edited_repository(factory: pytest.TempPathFactory) -> Path:
    """Built, accepted, edited and built again; its artifact and report are up to date. Made once a session."""
    if not _made:
        _made.append(_edited(factory.mktemp("report") / "repo"))
    return _made[0]


def _edited(root: Path) -> Path:
    sources = {"klinika/wiki.md": WIKI, "bime/راهنما.md": GUIDE, HOSTILE: ROWS, "old.md": "# Старое\n\nБыло тут.\n"}
    make_repository(root, sources, SETTINGS + "min_coverage = 0.5\n")
    (root / "golden").mkdir()
    lines = [json.dumps(question, ensure_ascii=False) + "\n" for question in QUESTIONS]
    (root / "golden" / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
    build(root, "index", "accept")
    wiki = WIKI.replace("с 7:30 до 20:00", "с 8:00 до 20:00").replace("## Парковка", "## Стоянка")
    write_source(root, "klinika/wiki.md", wiki)
    write_source(root, "new.md", "# Новое\n\n## Раздел\n\nПоявилось сегодня.\n")
    (root / "sources" / "old.md").unlink()
    build(root, "index", "report")
    return root


def large_report(repository: Repository, count: int) -> Contents:
    """A report of so many chunks in two sources, half of them Persian, without changes and retrieval."""
    half = count // 2
    russian = [f"Услуга: приём врача {number}\nЦена: {number * 10} рублей, ёлка и справка" for number in range(half)]
    persian = [f"هزینهٔ درمان شمارهٔ {number} در بیمارستان پرداخت می‌شود." * 4 for number in range(count - half)]
    sources = [_source("прайс.csv", russian, "R"), _source("راهنما.md", persian, "L")]
    return Contents(
        config=repository.config,
        sources=tuple(sources),
        changes=None,
        manifest=None,
        artifact_note="none",
        measured=Measured(note="none"),
    )


def _source(source: str, texts: list[str], unit: str) -> SourceReport:
    ids: list[str | None] = [None, *(chunk_id(source, (), text, 0) for text in texts), None]
    chunks = tuple(
        Chunk(
            chunk_id=str(ids[number + 1]),
            source=source,
            content_type="table_row" if unit == "R" else "paragraph",
            section="",
            headings=(),
            locator=f"{unit}{number + 1}",
            tokens=40,
            previous_chunk_id=ids[number],
            next_chunk_id=ids[number + 2],
            context_chars=0,
            text=text,
        )
        for number, text in enumerate(texts)
    )
    entry = DocumentEntry(
        source=source,
        sha256="0" * 64,
        title="",
        front_matter={},
        chunks=len(chunks),
        coverage=1.0,
        gaps=(),
        left_out={},
        messages=(),
    )
    return SourceReport(source=source, entry=entry, chunks=chunks)
