"""A branch of each reader is taken out, and the audit names what is missing because of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from docx_maker import docx, p, tbl, tr
from ragpress.audit import audit
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.readers import read_document
from xlsx_maker import make_xlsx, rows

WORD = docx(p("Расписание врачей.") + tbl(tr("Врач", "Кабинет"), tr("Терапевт", "двенадцать"), tr("Окулист", "пять")))
BOOK = make_xlsx(
    {"Врачи": rows([["Врач", "Часы"], ["Терапевт", "утро"], [], ["Цена", "Услуга"], ["девятьсот", "Осмотр"]])}
)
MARKDOWN = "# Врачи\n\nРасписание.\n\n| Врач | Часы |\n|--|--|\n| Терапевт | утро |\n\n- Окулист\n".encode()
TEXT = "Расписание.\n\n- Терапевт\n- Окулист\n\nДо встречи.\n".encode()
TABLE = "Врач;Часы\nТерапевт;утро\nОкулист;вечер\n".encode()

Change = Callable[[Any], Any]


def without_rows(read_table: Any) -> Any:
    def changed(*arguments: Any) -> Any:
        table = read_table(*arguments)
        table.rows.clear()
        return table

    return changed


def without_last(function: Any) -> Any:
    """Drops the last of what a function finds."""
    return lambda *arguments: list(function(*arguments))[:-1]


def without_tables(read_blocks: Any) -> Any:
    def changed(text: str, **options: Any) -> Any:
        body = read_blocks(text, **options)
        return body._replace(blocks=[block for block in body.blocks if block.kind != "table"])

    return changed


def without_lists(read_pieces: Any) -> Any:
    def changed(text: str) -> Any:
        pieces, left_out = read_pieces(text)
        return [piece for piece in pieces if piece.kind != "list"], left_out

    return changed


def without_record(records: Any) -> Any:
    def changed(*arguments: Any) -> Any:
        found, unclosed = records(*arguments)
        return found[:-1], unclosed

    return changed


FAULTS: dict[str, tuple[str, bytes, str, Change, list[tuple[str, str]]]] = {
    "Word tables": (
        "a.docx",
        WORD,
        "ragpress.readers.docx.body.read_table",
        without_rows,
        [("B2", text) for text in ("Врач", "Кабинет", "Терапевт", "двенадцать", "Окулист", "пять")],
    ),
    "the second table of a sheet": (
        "a.xlsx",
        BOOK,
        "ragpress.readers.xlsx.find_tables",
        without_last,
        [("Врачи!R4", "Цена | Услуга"), ("Врачи!R5", "девятьсот | Осмотр")],
    ),
    "Markdown tables": (
        "a.md",
        MARKDOWN,
        "ragpress.readers.markdown.read_blocks",
        without_tables,
        [("L5", "Врач | Часы"), ("L7", "Терапевт | утро")],
    ),
    "lists in text": (
        "a.txt",
        TEXT,
        "ragpress.readers.plaintext.read_pieces",
        without_lists,
        [("L3", "Терапевт"), ("L4", "Окулист")],
    ),
    "the last record": ("a.csv", TABLE, "ragpress.readers.csv._records", without_record, [("R3", "Окулист;вечер")]),
    "a run of units": ("a.csv", TABLE, "ragpress.chunking._runs", without_last, [("R3", "Окулист;вечер")]),
}


def words(text: str) -> int:
    return 3 + len(text.split())


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_reader_or_chunker_is_found_with_its_place(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, data, place, change, gaps = FAULTS[name]
    config = Config(min_tokens=0)
    document = read_document(data, source, config)
    assert audit(data, document, chunk_document(document, config, words)[0], config).coverage == 1.0
    module, _, attribute = place.rpartition(".")
    function = getattr(importlib.import_module(module), attribute)
    monkeypatch.setattr(place, change(function))
    document = read_document(data, source, config)
    found = audit(data, document, chunk_document(document, config, words)[0], config)
    assert [(gap.place, gap.text) for gap in found.gaps] == gaps
    assert found.coverage < config.min_coverage
