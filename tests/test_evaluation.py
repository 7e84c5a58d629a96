"""The retrieval gate, `ragpress eval` and sweeps, on small repositories with the offline model."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from ragpress.artifact.jsonl import read_chunks
from ragpress.artifact.read import open_artifact
from ragpress.artifact.search import Search
from ragpress.config import Config
from ragpress.errors import BuildError
from ragpress.evaluation import Case, accept_retrieval, check_retrieval, measure_artifact, read_records
from ragpress.evaluation.sweep import parse_sweep, rank
from ragpress.knowledge_base import KnowledgeBase
from ragpress.lexical.postings import build_postings
from ragpress.lexical.scoring import WordFile, WordIndex
from ragpress.records import index_key
from ragpress.repository import open_repository
from repository_maker import artifact_bytes, build, failing, make_repository, run, write_source
from results import chunk

CLINIC = """# Клиника

## Запись

Записаться к врачу можно по телефону или на сайте, свободные часы видны в расписании.

## Оплата

Приём оплачивают банковской картой или наличными в кассе на первом этаже.

## Парковка

Машину можно оставить во дворе, въезд со стороны аптеки, первый час бесплатно.

## Анализы

Кровь берут натощак с половины восьмого до одиннадцати утра.
"""
INSURANCE = """# بیمه

## نشانی

دفتر ما در اصفهان، خیابان نمونه، پلاک ۱۲ است.

## خسارت

برای گرفتن خسارت، عکس‌های خودرو و گزارش پلیس را بفرستید.
"""
QUESTIONS: tuple[dict[str, object], ...] = (
    {"question": "Чем можно заплатить за приём?", "expected_section": "Оплата"},
    {"question": "Где поставить автомобиль?", "expected_source": "wiki.md", "answer": "во дворе"},
    {"question": "До скольки можно сдать кровь?", "expected_section": "Анализы"},
    {"question": "دفتر شما کجاست؟", "expected_source": "bime.md", "answer": "پلاک 12"},
)


def ask(root: Path, *cases: dict[str, object]) -> None:
    path = root / "golden" / "questions.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases), encoding="utf-8")


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that is built and accepted."""
    root = make_repository(tmp_path_factory.mktemp("kept") / "repo", {"ru/wiki.md": CLINIC, "fa/bime.md": INSURANCE})
    ask(root, *QUESTIONS)
    build(root)
    assert "wrote golden/retrieval.json" in build(root, "accept")
    return root


@pytest.fixture
def repository(accepted: Path, tmp_path: Path) -> Path:
    return shutil.copytree(accepted, tmp_path / "repo")


# -- the gate --------------------------------------------------------------------------------------------------------


def test_an_artifact_that_finds_what_it_found_passes(repository: Path) -> None:
    printed = build(repository, "eval")
    assert "total             4  1.0000  1.0000  1.0000  1.0000" in printed
    assert "0 questions worse, 0 better, hit@5 1.0000 → 1.0000" in printed


def test_a_document_that_lost_an_answer_fails_until_that_is_accepted(repository: Path) -> None:
    record = repository / "golden" / "retrieval.json"
    before = record.read_bytes()
    write_source(repository, "ru/wiki.md", CLINIC.replace("Машину можно оставить во дворе, въезд", "Вход"))
    assert "retrieval.json stays as it is, for want of an artifact" in build(repository, "accept")
    assert record.read_bytes() == before
    lines = failing(repository, "eval").splitlines()
    at = lines.index("golden/questions.jsonl:2: rank 1 before, now beyond rank 10")
    assert lines[at + 1] == "    question  Где поставить автомобиль?"
    assert lines[at + 2] == "    expected  of the 4 with its expected_source none has answer 'во дворе'"
    assert [line.split()[0] for line in lines[at + 3 : at + 6]] == ["first", "section", "text"]
    (error,) = (line for line in lines if ": error: " in line)
    assert "hit@5 fell from 1.0000 to 0.7500" in error
    assert "by more than max_hit_drop = 0.02" in error
    printed = build(repository, "accept")
    assert "against golden/retrieval.json: 1 question worse, 0 better, hit@5 1.0000 → 0.7500" in printed
    assert "golden/retrieval.json keeps the better figures" in printed
    assert record.read_bytes() == before
    said: list[str] = []
    accept_retrieval(open_repository(repository), said.append, worse=True)
    assert said[-1].startswith("wrote golden/retrieval.json: hit@5 fell from 1.0000 to 0.7500, MRR@10 fell ")
    (found,) = json.loads(record.read_bytes()).values()
    assert found["ranks"]["Где поставить автомобиль?"] is None
    assert found["figures"]["hit@5"] == 0.75


def test_without_questions_the_gate_says_so_and_passes(tmp_path: Path) -> None:
    said: list[str] = []
    repository = open_repository(make_repository(tmp_path, {}))
    check_retrieval(repository, said.append)
    accept_retrieval(repository, said.append)
    assert said == ["ragpress: there is no golden/questions.jsonl; write questions into it to have retrieval measured"]


def test_a_damaged_record_is_named(repository: Path) -> None:
    path = repository / "golden" / "retrieval.json"
    path.write_bytes(path.read_bytes().replace(b": 1,", b": 0,"))
    with pytest.raises(BuildError, match=r"golden/retrieval\.json is damaged .* run `ragpress accept`"):
        read_records(open_repository(repository))


def test_a_question_too_long_for_the_model_is_named(repository: Path) -> None:
    case = Case(question="почему " * 600, place="cases.jsonl:3", answers=("да",))
    with pytest.raises(BuildError, match=r"error: cases\.jsonl:3: the question has \d+ tokens"):
        measure_artifact(repository / "build/kb", [case], print)


# -- ragpress eval ---------------------------------------------------------------------------------------------------


def test_the_command_prints_figures_for_a_program(repository: Path) -> None:
    ask(repository, *QUESTIONS, {"question": "Есть ли у вас бассейн?", "answer": "бассейн"})
    done = run(repository, "ragpress", "eval", "golden/questions.jsonl", "--json")
    found = json.loads(done.stdout)
    assert list(found) == ["questions", "hit@1", "hit@3", "hit@5", "mrr@10", "by_language", "by_source"]
    assert list(found.values())[:5] == [5, 0.8, 0.8, 0.8, 0.8]
    assert found["by_language"]["fa"]["questions"] == 1
    assert found["by_source"]["wiki.md"]["hit@1"] == 1.0
    assert done.stderr == (
        "ragpress: warning: golden/questions.jsonl:5: no chunk answers it:"
        " of all 6 none has answer 'бассейн' [retrieval]\n"
    )


UNANSWERABLE: tuple[dict[str, object], ...] = (
    {"question": "Какая высота у горы Эверест?", "unanswerable": True},
    {"question": "ده سال پیش چه کسی رئیس جمهور فرانسه بود؟", "unanswerable": True},
)


def test_questions_without_an_answer_count_in_no_figure_but_in_how_well_they_are_told_apart(repository: Path) -> None:
    ask(repository, *QUESTIONS, *UNANSWERABLE)
    printed = build(repository, "eval")
    assert "total             4  1.0000  1.0000  1.0000  1.0000" in printed
    assert "no answer: 2 of 6 questions have none; area under the curve 1.0000" in printed
    (threshold,) = re.findall(r"min_confidence = (0\.\d+) serves best: it keeps 100.0% .* rejects 100.0%", printed)
    with KnowledgeBase.open(repository / "build" / "kb") as base:
        for case in QUESTIONS:
            assert base.search(str(case["question"]), min_confidence=float(threshold))
        for question in UNANSWERABLE:
            assert base.search(str(question["question"]), min_confidence=float(threshold)) == ()
    done = run(repository, "ragpress", "eval", "--sweep", "max_tokens=384")
    assert done.stdout.splitlines()[1].split()[2:5] == ["1.0000"] * 3


def test_the_modes_are_compared_side_by_side_and_each_alone_is_measured(repository: Path) -> None:
    ask(repository, *QUESTIONS, *UNANSWERABLE)
    lines = run(repository, "ragpress", "eval", "--compare").stdout.splitlines()
    assert lines[0].split() == ["questions", "hit@1", "hit@3", "hit@5", "MRR@10"]
    assert [line.split()[:2] for line in lines[1:4]] == [["hybrid", "4"], ["vector", "4"], ["words", "4"]]
    assert sum(line.startswith("words: no answer: 2 of 6 questions") for line in lines) == 1
    words = run(repository, "ragpress", "eval", "--mode", "words", "--json")
    compared = json.loads(run(repository, "ragpress", "eval", "--compare", "--json").stdout)
    assert json.loads(words.stdout) == compared["words"]
    assert set(compared["hybrid"]["no_answer"]) == {
        "answerable",
        "unanswerable",
        "area",
        "threshold",
        "answered",
        "rejected",
    }


# -- sweeps ----------------------------------------------------------------------------------------------------------


def test_a_sweep_measures_each_combination_and_leaves_the_artifact_alone(repository: Path) -> None:
    before = artifact_bytes(repository)
    done = run(repository, "ragpress", "eval", "--sweep", "max_tokens=384,64", "extra_h1=index")
    assert done.returncode == 0, done.stderr
    head, *rows = (line.split() for line in done.stdout.splitlines())
    assert head == ["max_tokens", "extra_h1", "chunks", "hit@1", "hit@3", "hit@5", "MRR@10", "seconds"]
    assert [row[:3] for row in rows] == [["384", "index", "6"], ["64", "index", "6"]]
    assert rows[0][3:7] == ["1.0000"] * 4
    assert "embedding" not in done.stderr  # the vectors of all these texts are known from the build
    assert artifact_bytes(repository) == before


def test_a_sweep_ranks_as_the_artifact_does(repository: Path) -> None:
    chunks = sorted(read_chunks(repository / "build/kb/chunks.jsonl"), key=lambda chunk: index_key(chunk.chunk_id))
    artifact = open_artifact(repository / "build/kb")
    search, stored = Search(artifact), artifact.index.vectors(np.arange(len(chunks)))
    for number, query in enumerate(np.random.default_rng(1).standard_normal((20, 384)).astype(np.float32)):
        query /= np.linalg.norm(query)
        text = chunks[number % len(chunks)].text[:40]
        hits = search.by_both(text, query, 10)
        found = rank(text, query, chunks, stored, artifact.words)
        assert [hit.chunk for hit in found] == [artifact.chunk(hit.row) for hit in hits]
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in hits], abs=1e-4)


def test_equal_texts_come_in_the_order_of_their_ids() -> None:
    vectors = np.tile(np.eye(1, 4, dtype=np.float16), (30, 1))
    chunks = [replace(chunk("Да."), chunk_id=f"{number:016x}") for number in range(30)]
    words = WordIndex([WordFile("words", build_postings([one.text for one in chunks]))])
    found = rank("да", np.array([0.6, 0.8, 0, 0], np.float32), chunks, vectors, words)
    assert [hit.chunk.chunk_id for hit in found] == [one.chunk_id for one in chunks[:10]]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["max_token=128"], "no setting `max_token`; did you mean `max_tokens`?"),
        (["colour=red"], "no setting `colour`; use max_tokens"),
        (["cases.jsonl"], "no setting `cases.jsonl`"),
        (["max_tokens=128,many"], "max_tokens=many: Expected `int`"),
        (["max_tokens=900"], "max_tokens=900: Expected `int` <= 512"),
        (["strategy=clever"], "strategy=clever: Invalid enum value 'clever'"),
        (["max_tokens=64", "min_tokens=96"], "min_tokens = 96 is above max_tokens = 64"),
        (["max_tokens=64", "max_tokens=96"], "`max_tokens` is given twice"),
    ],
)
def test_a_setting_or_value_that_cannot_be_swept_is_named(arguments: list[str], found: str) -> None:
    with pytest.raises(BuildError) as caught:
        parse_sweep(arguments, Config())
    assert found in str(caught.value)
    assert "pyproject" not in str(caught.value)
