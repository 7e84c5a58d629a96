"""Searching an artifact and reading around a hit."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import numpy as np
import pytest

from artifact_maker import MODEL, TEXTS, chunks_of, many_chunks, sample_chunks, unit_vectors, write_chunks
from ragpress.artifact.format import Manifest, model_record
from ragpress.config import Config
from ragpress.embedding.embedder import Embedder
from ragpress.errors import ArtifactError, ModelError
from ragpress.knowledge_base import KnowledgeBase
from ragpress.models.known import ModelFile, resolve
from ragpress.passages import passage
from ragpress.records import Chunk, Hit


@pytest.fixture
def base(tmp_path: Path) -> Iterator[KnowledgeBase]:
    write_chunks(tmp_path / "kb", sample_chunks())
    with KnowledgeBase.open(tmp_path / "kb") as opened:
        yield opened


def vector_of(number: int) -> list[float]:
    """The vector of the so-manyeth chunk of the sample."""
    found: list[float] = unit_vectors(len(sample_chunks()))[number].tolist()
    return found


def found(hits: tuple[Hit, ...]) -> list[Chunk]:
    return [hit.chunk for hit in hits]


# -- by vector -------------------------------------------------------------------------------------------------------


def test_a_chunk_is_found_by_its_own_vector_with_a_score_of_one(base: KnowledgeBase) -> None:
    for number, chunk in enumerate(sample_chunks()):
        best = base.search_vector(vector_of(number), 1)[0]
        assert best.chunk == chunk
        assert best.score == pytest.approx(1, abs=1e-6)
        assert base.chunk(chunk.chunk_id) == chunk


def test_scores_are_cosines_and_fall_whatever_the_length_of_the_vector(base: KnowledgeBase) -> None:
    vectors = unit_vectors(9)
    hits = base.search_vector(vectors[2] * 7, 9)
    cosines = sorted((vectors @ vectors[2]).tolist(), reverse=True)
    assert [hit.score for hit in hits] == pytest.approx(cosines, abs=1e-3)


def test_asking_for_more_than_there_is_gives_every_chunk_once(base: KnowledgeBase) -> None:
    hits = base.search_vector(vector_of(0), 1000)
    assert sorted(chunk.chunk_id for chunk in found(hits)) == sorted(chunk.chunk_id for chunk in sample_chunks())
    assert len(base) == 9


def test_filters_give_all_that_match_and_nothing_else(tmp_path: Path) -> None:
    chunks = [
        *chunks_of("a.md", [f"Текст {number}." for number in range(30)]),
        *chunks_of("b.md", [f"Текст {number}." for number in range(30)], "Цены"),
        *chunks_of("й.xlsx", [f"Строка {number}." for number in range(30)], "Цены", content_type="table_row"),
    ]
    write_chunks(tmp_path / "kb", chunks)
    query = unit_vectors(1)[0]
    with KnowledgeBase.open(tmp_path / "kb") as base:
        for filters, match in (
            ({"sources": "a.md"}, {"a.md"}),
            ({"sources": ["b.md", "a.md"]}, {"a.md", "b.md"}),
            ({"sources": "и\u0306.xlsx"}, {"й.xlsx"}),  # another Unicode form of the same name
            ({"sections": "Цены"}, {"b.md", "й.xlsx"}),
            ({"sections": "Цены", "content_types": "paragraph"}, {"b.md"}),
            ({"content_types": {"table_row", "qa_pair"}}, {"й.xlsx"}),
            ({"sections": ["Приём"], "sources": ["b.md"]}, set()),
            ({"sources": []}, set()),
        ):
            hits = base.search_vector(query, 100, **filters)
            assert len(hits) == 30 * len(match)
            assert {chunk.source for chunk in found(hits)} == match
            everything = [hit for hit in base.search_vector(query, 90) if hit.chunk.source in match]
            assert found(hits) == found(tuple(everything))


def test_what_cannot_be_searched_for_is_said(base: KnowledgeBase) -> None:
    for vector in (unit_vectors(1, 8)[0], unit_vectors(2)):
        with pytest.raises(ValueError, match=r"the artifact's have \(16,\)"):
            base.search_vector(vector)
    for value in (0.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="no direction"):
            base.search_vector([value] * 16)
    with pytest.raises(ValueError, match="k must be 1 or more"):
        base.search_vector(vector_of(0), 0)
    for name in ("0" * 16, "zz", sample_chunks()[0].chunk_id.upper() + "A"):
        with pytest.raises(KeyError):
            base.chunk(name)


def test_an_empty_artifact_answers_with_nothing(tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", [])
    with KnowledgeBase.open(tmp_path / "kb") as base:
        assert base.search_vector(vector_of(0), 10) == ()
        assert base.search("вопрос", mode="words") == ()
        assert (base.sources, base.sections) == ((), ())


# -- around a hit ----------------------------------------------------------------------------------------------------


def test_neighbours_go_as_far_as_the_source(base: KnowledgeBase) -> None:
    chunks = sample_chunks()
    second = base.search_vector(vector_of(1), 1, neighbours=1)[0]
    assert second.neighbours == (chunks[0], chunks[2])
    last = base.search_vector(vector_of(3), 1, neighbours=9)[0]
    assert last.neighbours == tuple(chunks[:3])
    assert last.passage == "## Приём\n\n" + "\n\n".join(TEXTS["клиника/приём.md"])
    alone = base.search_vector(vector_of(3), 1)[0]
    assert (alone.neighbours, alone.passage) == ((), chunks[3].text)


def made(context: str, own: str) -> Chunk:
    return msgspec.structs.replace(sample_chunks()[0], context_chars=len(context), text=context + own)


def test_a_passage_says_everything_once_and_names_each_section() -> None:
    assert passage(
        [
            made("## А\n\nКонец прежнего. ", "Начало.\n\n### Часть\n\nПервое."),
            made("## А\n\n### Часть\n\nПервое. ", "Второе."),
            made("## Б\n\n", "Третье."),
            made("## А\n\n", "Четвёртое."),
        ]
    ) == ("## А\n\nКонец прежнего. Начало.\n\n### Часть\n\nПервое.\n\nВторое.\n\n## Б\nТретье.\n\n## А\nЧетвёртое.")


def test_a_passage_joins_the_rows_of_a_table_and_shows_its_header_once() -> None:
    head = "## Цены\n\n| Услуга | Цена |\n|---|---|\n"
    joined = passage([made(head, "| Приём | 900 |"), made(head, "| Снимок | 400 |"), made("## Цены\n\n", "Всё.")])
    assert joined == f"{head}| Приём | 900 |\n| Снимок | 400 |\n\nВсё."


def test_a_passage_of_two_tables_on_a_sheet_names_the_second() -> None:
    joined = passage([made("## Лист\n### Врачи\n", "Имя: А"), made("## Лист\n### Цены\n", "Цена: 5")])
    assert joined == "## Лист\n### Врачи\nИмя: А\n\n### Цены\nЦена: 5"


# -- open, closed, replaced, shared ----------------------------------------------------------------------------------


def test_a_reader_goes_on_answering_from_the_files_it_opened(tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", sample_chunks())
    with KnowledgeBase.open(tmp_path / "kb") as base:  # not searched before: nothing is read from the disk by name
        write_chunks(tmp_path / "kb", many_chunks(50))
        assert found(base.search_vector(vector_of(2), 1)) == [sample_chunks()[2]]
        shutil.rmtree(tmp_path / "kb")
        assert len(base.search_vector(vector_of(2), 20, sections="Приём")) == 9


def test_a_closed_base_says_so(base: KnowledgeBase) -> None:
    base.search_vector(vector_of(0))
    base.close()
    base.close()
    with pytest.raises(ValueError, match="the knowledge base is closed"):
        base.search_vector(vector_of(0))


def test_several_threads_get_what_one_gets(tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", many_chunks(600), limit=100)
    queries = unit_vectors(40, seed=2)
    with KnowledgeBase.open(tmp_path / "kb") as base, ThreadPoolExecutor(8) as threads:
        one = [base.search_vector(query, 5, neighbours=1, sections="Приём") for query in queries]
        for _ in range(3):
            together = threads.map(lambda query: base.search_vector(query, 5, neighbours=1, sections="Приём"), queries)
            assert list(together) == one


def test_closing_waits_for_searches_that_are_running(tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", many_chunks(600), limit=100)
    base = KnowledgeBase.open(tmp_path / "kb")
    counts: list[int] = []

    def ask() -> None:
        try:
            while True:
                counts.append(len(base.search_vector(unit_vectors(1)[0], 5)))
        except ValueError as error:
            assert str(error) == "the knowledge base is closed"

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    while len(counts) < 20:
        threading.Event().wait(0.005)
    base.close()
    for asker in askers:
        asker.join(10)
        assert not asker.is_alive()
    assert set(counts) == {5}


# -- by question, with a real model ----------------------------------------------------------------------------------

QUESTIONS = {
    "وقت کار درمانگاه چه ساعتی است؟": "درمانگاه از ساعت هشت صبح تا هشت شب باز است.",
    "نشانی شعبه یزد": "شهر: یزد\nنشانی: میدان آزادی",
    "Вы делаете снимок зуба?": "Рентген: прицельный снимок зуба, панорамный снимок челюсти.",
    "Как отменить запись?": "Отменить приём можно за три часа по телефону.",
}


@pytest.fixture(scope="module")
def e5() -> ModelFile:
    return resolve(Config(model="multilingual-e5-small"), Path(), report=print)


@pytest.fixture(scope="module")
def real(e5: ModelFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact whose vectors a real model made."""
    chunks = chunks_of("всё.md", list(QUESTIONS.values()))
    with Embedder(e5) as embedder:
        vectors = embedder.embed_documents([chunk.text for chunk in chunks])
    target = tmp_path_factory.mktemp("real") / "kb"
    write_chunks(target, chunks, vectors, model=model_record(e5))
    return target


def test_a_question_finds_its_answer(real: Path) -> None:
    with KnowledgeBase.open(real) as base, ThreadPoolExecutor(4) as threads:
        hits = [base.search(question, 4) for question in QUESTIONS]
        assert [hit[0].chunk.text.partition("\n\n")[2] for hit in hits] == list(QUESTIONS.values())
        assert list(threads.map(lambda question: base.search(question, 4), QUESTIONS)) == hits
        assert base.search(" \n") == ()


def test_a_question_is_asked_in_the_form_that_texts_are_stored_in(real: Path, e5: ModelFile) -> None:
    with KnowledgeBase.open(real, model_path=e5.path) as base:
        persian = base.search("نشانی شعبه یزد کجاست", 3)
        assert base.search("نشاني شعبه يزد كجاست", 3) == persian  # Arabic yeh and kaf


def test_another_model_than_the_artifacts_is_refused(real: Path, e5: ModelFile, tmp_path: Path) -> None:
    changed = tmp_path / "changed.gguf"
    data = bytearray(e5.path.read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)
    with pytest.raises(ModelError, match=r"^[^\n]*changed.gguf is not the file that made the artifact[^\n]*$"):
        KnowledgeBase.open(real, model_path=changed)
    with pytest.raises(ModelError, match=r"^[^\n]*absent.gguf[^\n]*$"):
        KnowledgeBase.open(real, model_path=tmp_path / "absent.gguf")


def test_an_artifact_of_other_prefixes_or_of_an_unknown_model_is_refused(tmp_path: Path, e5: ModelFile) -> None:
    def write(**fields: str) -> Manifest:
        return write_chunks(tmp_path / "kb", sample_chunks(), model=msgspec.structs.replace(MODEL, **fields))

    write(query_prefix="")
    with KnowledgeBase.open(tmp_path / "kb") as base, pytest.raises(ArtifactError, match="other prefixes or pooling"):
        base.search("вопрос")
    write(name="another-model")
    with KnowledgeBase.open(tmp_path / "kb") as base, pytest.raises(ModelError, match="'another-model' is not known"):
        base.search("вопрос")
