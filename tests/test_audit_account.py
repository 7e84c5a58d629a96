"""What an account says, and what follows from it."""

from __future__ import annotations

import msgspec
import pytest

from ragpress.audit import CoverageReport, audit, messages_for
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.errors import SourceError, render
from ragpress.readers import read_document
from ragpress.records import Gap


def audited(**fields: object) -> CoverageReport:
    usual = {"coverage": 1.0, "visible": 100, "missing": 0, "duplicated": 0, "gaps": (), "left_out": {}}
    return CoverageReport(**(usual | fields))  # type: ignore[arg-type]


LOSS = audited(coverage=0.99, missing=1, gaps=(Gap("по средам", "Врачи!R3"),))


def test_nothing_is_said_where_nothing_is_missing() -> None:
    assert messages_for(audited(), "a.xlsx", Config()) == ()


def test_a_small_loss_is_a_warning_that_names_the_first_gap_and_its_place() -> None:
    (found,) = messages_for(LOSS, "a.xlsx", Config())
    line = render(found)
    assert line.startswith("sources/a.xlsx:Врачи!R3: warning: 1 of 100 visible words are in no chunk")
    assert "«по средам»" in line
    assert "\n" not in line


def test_a_loss_below_the_least_coverage_fails_the_source_by_name() -> None:
    with pytest.raises(SourceError) as caught:
        messages_for(LOSS, "a.xlsx", Config(min_coverage=0.995))
    line = str(caught.value)
    assert line.startswith("sources/a.xlsx:Врачи!R3: error: ")
    assert "«по средам»" in line
    assert line.endswith("[coverage]")


def test_a_gap_in_a_page_header_is_named_in_words() -> None:
    (found,) = messages_for(audited(coverage=0.99, missing=1, gaps=(Gap("Клиника", "header"),)), "a.docx", Config())
    assert found.locator is None
    assert "in the header: «Клиника»" in found.text


def test_text_that_is_doubled_is_a_warning_where_it_is_much() -> None:
    assert messages_for(audited(duplicated=2), "a.docx", Config()) == ()
    (found,) = messages_for(audited(duplicated=3), "a.docx", Config())
    assert (found.severity, found.code) == ("warning", "duplicated")


def test_a_single_lost_word_of_many_keeps_the_coverage_below_one() -> None:
    text = " ".join(f"слово{number}" for number in range(30_000))
    config = Config()
    document = read_document(text.encode(), "a.txt", config)
    chunks = chunk_document(document, config, lambda chunk: 3 + len(chunk.split()))[0]
    assert audit(text.encode(), document, chunks, config).coverage == 1.0
    found = audit(f"{text} потеря".encode(), document, chunks, config)
    assert (found.coverage, found.missing) == (0.9999, 1)


def test_of_many_gaps_the_first_ones_are_named() -> None:
    config = Config()
    document = read_document("Начало.".encode(), "a.txt", config)
    chunks = chunk_document(document, config, lambda chunk: 3 + len(chunk.split()))[0]
    text = "Начало.\n" + "".join(f"строка{number}\n" for number in range(50))
    found = audit(text.encode(), document, chunks, config)
    assert (found.visible, found.missing) == (51, 50)
    assert [gap.place for gap in found.gaps] == [f"L{line}" for line in range(2, 12)]


def test_the_line_is_named_whose_wording_stands_nowhere() -> None:
    config = Config()
    document = read_document("Врач принимает утром.\n\nВход со двора.".encode(), "a.txt", config)
    chunks = chunk_document(document, config, lambda chunk: 3 + len(chunk.split()))[0]
    text = "Врач принимает утром.\n\nВход со двора.\n\nПринимает утром дежурный."
    found = audit(text.encode(), document, chunks, config)
    assert found.gaps == (Gap("Принимает утром дежурный.", "L5"),)


def test_the_caption_of_a_picture_stands_for_no_text() -> None:
    config = Config()
    document = read_document("Вход со двора.".encode(), "a.txt", config)
    (chunk,) = chunk_document(document, config, lambda text: 3 + len(text.split()))[0]
    caption = msgspec.structs.replace(
        chunk, content_type="image_caption", text="Плакат: приём по средам", context_chars=0
    )
    found = audit("Вход со двора.\n\nПриём по средам.".encode(), document, (chunk, caption), config)
    assert (found.gaps, found.duplicated) == ((Gap("Приём по средам.", "L3"),), 0)


def test_the_account_is_the_same_every_time() -> None:
    text = "".join(f"раздел{number} слово {number}\n\n" for number in range(200)).encode()
    config = Config()
    document = read_document(text, "a.txt", config)
    chunks = chunk_document(document, config, lambda chunk: 3 + len(chunk.split()))[0]
    assert len({repr(audit(text, document, chunks[:5], config)) for _ in range(3)}) == 1
