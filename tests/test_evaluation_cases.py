"""Retrieval cases: how they are read, and which chunk answers one."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from ragpress.errors import BuildError
from ragpress.evaluation import Case, read_cases
from ragpress.evaluation.cases import obstacle
from results import chunk


def read(folder: Path, *lines: str | dict[str, object]) -> tuple[tuple[Case, ...], list[str]]:
    """The cases of a file of these lines, and what was said."""
    said: list[str] = []
    path = folder / "cases.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_text("\n".join(texts), encoding="utf-8")
    return read_cases(path, said.append), said


def case(**conditions: tuple[str, ...]) -> Case:
    return msgspec.structs.replace(Case(question="Как заплатить?", place="cases.jsonl:1"), **conditions)


# -- which chunk answers ---------------------------------------------------------------------------------------------


def test_all_conditions_must_hold_for_one_chunk() -> None:
    wanted = case(sections=("Оплата",), answers=("картой",))
    assert wanted.is_answered_by(chunk("Платите картой."))
    assert not wanted.is_answered_by(chunk("Платите наличными."))
    assert not wanted.is_answered_by(chunk("Платите картой.", section="Парковка"))


def test_a_list_is_met_by_any_of_its_values() -> None:
    wanted = case(sections=("Парковка", "Оплата"), content_types=("table_row", "qa_pair"))
    assert wanted.is_answered_by(chunk("Да.", kind="qa_pair"))
    assert not wanted.is_answered_by(chunk("Да.", kind="paragraph"))


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ("klinika/wiki.md", True),
        ("wiki.md", True),
        ("iki.md", False),
        ("a/klinika/wiki.md", False),
        ("KLINIKA/Wiki.md", True),
    ],
)
def test_a_source_is_named_whole_or_by_its_end(expected: str, found: bool) -> None:
    assert case(sources=(expected,)).is_answered_by(chunk("Да.")) is found


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("كارت يا نقد", "با کارت یا نقد"),  # Arabic letters for Persian ones
        ("می‌شود ۱۲ روز", "میشود 12 روز"),  # a joiner left out, other digits
        ("ещё раз", "приходите еще\n  раз"),
        ("1 800", "цена 1\u00a0800 ₽"),
    ],
)
def test_neither_letter_forms_nor_white_space_decide(answer: str, text: str) -> None:
    assert case(answers=(answer,)).is_answered_by(chunk(text))


def test_the_condition_that_no_chunk_meets_is_named() -> None:
    chunks = [chunk("Платите картой."), chunk("Двор закрыт.", section="Парковка")]
    assert obstacle(case(sections=("Парковка",), answers=("закрыт",)), chunks) == ""
    assert obstacle(case(sources=("wiki.txt",)), chunks) == "of all 2 none has expected_source 'wiki.txt'"
    found = obstacle(case(sections=("Парковка",), answers=("картой",)), chunks)
    assert found == "of the 1 with its expected_section none has answer 'картой'"


# -- reading ---------------------------------------------------------------------------------------------------------


def test_both_names_of_the_section_mean_the_same_and_empty_values_ask_nothing(tmp_path: Path) -> None:
    cases, said = read(
        tmp_path,
        {"question": "А?", "expected_section": "Оплата", "answer": "", "expected_source": []},
        "",
        {"question": "Б?", "expected_doc_section": ["Оплата", "Касса"], "content_type": None},
    )
    assert [(one.sections, one.answers, one.sources, one.place) for one in cases] == [
        (("Оплата",), (), (), "cases.jsonl:1"),
        (("Оплата", "Касса"), (), (), "cases.jsonl:3"),
    ]
    assert said == []


def test_keys_of_other_tools_are_named_once_and_ignored(tmp_path: Path) -> None:
    line = {"id": 7, "question": "А?", "answer": "да", "difficulty": "hard"}
    cases, said = read(tmp_path, line, line)
    assert len(cases) == 2
    assert said == [
        "ragpress: info: cases.jsonl: keys without a meaning here are ignored: `id`, `difficulty` [bad-case]"
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"question": "А?", "expected_sectoin": "Оплата"}', "`expected_sectoin`; did you mean `expected_section`?"),
        ('{"question": "А?", "answer": "да", "expected_page": "1"}', "`expected_page`; use one of expected_source"),
        ('{"questoin": "А?", "answer": "да"}', "did you mean `question`?"),
        ('{"question": "А?", "answer": "да"', "not valid JSON"),
        ('["А?"]', "not a JSON object"),
        ('{"answer": "да"}', "`question` is missing or blank"),
        ('{"question": " \u200f", "answer": "да"}', "`question` is missing or blank"),
        ('{"question": "А?", "answer": " "}', "nothing says what must be found"),
        ('{"question": "А?", "answer": 740}', "`answer` is neither a text nor a list of texts"),
        ('{"question": "А?", "content_type": "row"}', "content_type 'row'; use one of paragraph, table_row"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: str, found: str) -> None:
    with pytest.raises(BuildError) as caught:
        read(tmp_path, {"question": "А?", "answer": "да"}, line)
    assert str(caught.value).startswith("ragpress: error: cases.jsonl:2: ")
    assert found in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_cases_says_so(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"cases\.jsonl holds no question"):
        read(tmp_path, "", " ")
    (tmp_path / "cases.jsonl").write_bytes(b'{"question": "\xff"}')
    with pytest.raises(BuildError, match=r"byte 14 is no UTF-8"):
        read_cases(tmp_path / "cases.jsonl", print)
    with pytest.raises(BuildError, match=r"none\.jsonl cannot be read: No such file"):
        read_cases(tmp_path / "none.jsonl", print)
