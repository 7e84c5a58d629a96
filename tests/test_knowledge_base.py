"""Searching an artifact and reading around a hit."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from artifact_maker import MODEL, TEXTS, chunks_of, many_chunks, sample_chunks, unit_vectors, write_chunks
from ragpress.artifact.format import Manifest, model_record
from ragpress.artifact.pack import pack
from ragpress.artifact.read import Artifact, open_artifact
from ragpress.artifact.search import Search
from ragpress.config import Config
from ragpress.embedding.embedder import Embedder
from ragpress.errors import ArtifactError, ModelError
from ragpress.knowledge_base import KnowledgeBase, merge_hits
from ragpress.lexical.fusion import Spread
from ragpress.models.known import ModelFile, resolve
from ragpress.passages import passage
from ragpress.records import Chunk, Hit
from ragpress.repository import Repository


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


# -- by words, by both -----------------------------------------------------------------------------------------------

PRICES = {
    "цены.md": [
        "Удаление зуба стоит 5 400 рублей.",
        "Приём кардиолога стоит 1 800 рублей.",
        "Звоните +7 (495) 123-45-67.",
    ],
    "двор.md": ["Парковка во дворе бесплатна.", "Въезд с переулка.", "Выезд на улицу."],
    "مطب.md": ["نوبت‌دهی تلفنی است.", "پارکینگ رایگان است."],
}


@pytest.fixture
def prices(tmp_path: Path) -> Iterator[KnowledgeBase]:
    write_chunks(tmp_path / "kb", sample_chunks(PRICES))
    with KnowledgeBase.open(tmp_path / "kb") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("сколько стоит удаление зуба?", "Удаление зуба стоит 5 400 рублей."),
        ("есть ли парковки", "Парковка во дворе бесплатна."),
        ("кардиологу", "Приём кардиолога стоит 1 800 рублей."),
        ("5400", "Удаление зуба стоит 5 400 рублей."),
        ("۵٬۴۰۰", "Удаление зуба стоит 5 400 рублей."),
        ("84951234567", "Звоните +7 (495) 123-45-67."),
        ("نوبتدهي", "نوبت‌دهی تلفنی است."),
    ],
)
def test_words_are_found_in_other_forms_and_without_a_model(prices: KnowledgeBase, question: str, first: str) -> None:
    hit = prices.search(question, mode="words")[0]
    assert hit.chunk.text.partition("\n\n")[2] == first
    assert hit.word_score == hit.score == hit.confidence > 0
    assert hit.cosine is None


def test_chunks_without_a_word_of_the_question_are_not_found_by_words(prices: KnowledgeBase) -> None:
    assert prices.search("томография", mode="words") == ()
    assert len(prices.search("стоит", 8, mode="words")) == 2


def test_filters_hold_for_words(prices: KnowledgeBase) -> None:
    assert prices.search("стоит", mode="words", sources="двор.md") == ()
    assert len(prices.search("стоит бесплатна", 9, mode="words", sources=["двор.md", "مطب.md"])) == 1


def fused_plainly(artifact: Artifact, text: str, query: npt.NDArray[np.float32]) -> list[int]:
    cosines = artifact.index.cosines(query, np.arange(len(artifact.index)))
    scores = Spread.of(cosines).fused(cosines, artifact.words.scores(text))
    return [int(row) for row in np.lexsort((np.arange(len(scores)), -scores))]


@pytest.mark.parametrize("limit", [1000, 100])
def test_both_together_rank_as_the_formula_does(tmp_path: Path, limit: int) -> None:
    write_chunks(tmp_path / "kb", many_chunks(900), unit_vectors(900), limit=limit)
    artifact = open_artifact(tmp_path / "kb")
    search = Search(artifact)
    for number, query in enumerate(unit_vectors(30, seed=3)):
        text = f"строка {number * 17}"
        found = search.by_both(text, query, 7)
        assert [one.row for one in found] == fused_plainly(artifact, text, query)[:7]
        among = np.arange(0, 900, 3)
        expected = [row for row in fused_plainly(artifact, text, query) if row % 3 == 0][:7]
        assert [one.row for one in search.by_both(text, query, 7, among)] == expected
        for one in found:
            assert one.confidence == pytest.approx((one.cosine or 0) + 0.15 * (one.word_score or 0))


def test_words_and_vectors_are_searched_where_not_all_vectors_are_compared(tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", many_chunks(900), unit_vectors(900), limit=100)
    artifact = open_artifact(tmp_path / "kb")
    artifact.index.scans = False
    query = unit_vectors(1, seed=3)[0]
    first = Search(artifact).by_both("строка 451", query, 5)[0]
    assert "Строка 451." in artifact.chunk(first.row).text


def test_a_name_that_a_filter_does_not_know_is_an_error_with_the_nearest_names(prices: KnowledgeBase) -> None:
    with pytest.raises(ValueError, match=r"there is no source 'цена\.md'; did you mean 'цены\.md'"):
        prices.search("стоит", mode="words", sources="цена.md")
    with pytest.raises(ValueError, match="there is no section 'Приёмы'; did you mean 'Приём'"):
        prices.search("стоит", mode="words", sections=["Приём", "Приёмы"])
    with pytest.raises(ValueError, match="there is no content type 'table'; did you mean 'table_row'"):
        prices.search("стоит", mode="words", content_types="table")
    with pytest.raises(ValueError, match="there is no mode 'both'; use one of hybrid, vector, words"):
        prices.search("стоит", mode="both")  # type: ignore[arg-type]


def test_hits_below_the_confidence_are_left_out(prices: KnowledgeBase) -> None:
    hits = prices.search("удаление зуба стоит", 5, mode="words")
    assert len(hits) == 2
    assert prices.search("удаление зуба стоит", 5, mode="words", min_confidence=hits[0].confidence) == hits[:1]
    assert prices.search("удаление зуба стоит", 5, mode="words", min_confidence=1.0) == ()


def test_several_questions_are_answered_in_their_order(prices: KnowledgeBase) -> None:
    questions = ["парковка", "кардиолог", "", "зуб"]
    assert prices.search_many(questions, 2, mode="words") == [prices.search(one, 2, mode="words") for one in questions]


def test_hits_that_touch_become_one_with_each_chunk_once(prices: KnowledgeBase) -> None:
    hits = prices.search("бесплатна стоит переулка", 9, mode="words", merge=True)
    assert [hit.chunk.source for hit in hits] == ["двор.md", "цены.md"]
    assert hits[0].passage == "## Приём\n\nПарковка во дворе бесплатна.\n\nВъезд с переулка."
    assert hits[1].passage.count("стоит") == 2
    wider = prices.search("бесплатна выезд", 9, mode="words", merge=True, neighbours=1)
    assert [len(hit.neighbours) for hit in wider] == [2]


def test_documents_sources_and_sections_are_named(prices: KnowledgeBase) -> None:
    assert prices.sources == tuple(sorted(PRICES))
    assert prices.sections == ("Приём",)
    assert prices.document("цены.md").chunks == 3
    with pytest.raises(ValueError, match=r"did you mean 'двор\.md'"):
        prices.document("двор")


def test_an_archive_is_opened_from_the_users_cache_and_unpacked_again_when_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGPRESS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "pyproject.toml").write_text("")
    repository = Repository(tmp_path / "repo", Config())
    write_chunks(repository.artifact, sample_chunks(PRICES))
    archive = pack(repository)
    shutil.rmtree(repository.artifact)
    with KnowledgeBase.open(archive) as base:
        assert len(base.search("парковка", mode="words")) == 1
    (folder,) = (path for path in (tmp_path / "cache" / "artifacts").iterdir() if path.is_dir())
    before = folder.stat().st_ino
    KnowledgeBase.open(archive).close()
    assert folder.stat().st_ino == before
    (folder / "words.idx").write_bytes(b"")
    with KnowledgeBase.open(archive) as base:
        assert len(base.search("парковка", mode="words")) == 1
    archive.write_bytes(archive.read_bytes()[:100])
    with pytest.raises(ArtifactError, match="pack it again"):
        KnowledgeBase.open(archive)


# -- parts -----------------------------------------------------------------------------------------------------------


def test_parts_together_find_what_the_whole_finds_with_the_same_scores(tmp_path: Path) -> None:
    write_chunks(tmp_path / "kb", [*many_chunks(900), *sample_chunks(PRICES)], limit=100)
    artifact = open_artifact(tmp_path / "kb")
    count = len(artifact.manifest.shards)
    bounds = [range(0, 10), range(10, 11), range(11, count)]
    parts = [KnowledgeBase.open(tmp_path / "kb", shards=shards) for shards in bounds]
    searches = [Search(artifact, slice(shards.start, shards.stop)) for shards in bounds]
    with KnowledgeBase.open(tmp_path / "kb") as whole:
        assert sum(map(len, parts)) == len(whole) == 908
        for number, query in enumerate(unit_vectors(20, seed=4)):
            text = f"строка {number} стоит 5400"
            both = [one for search in searches for one in search.by_both(text, query, 9)]
            assert sorted(both, key=lambda one: (-one.score, one.row))[:9] == Search(artifact).by_both(text, query, 9)
            hits = [part.search_vector(query, 9) for part in parts]
            assert merge_hits(hits, 9) == whole.search_vector(query, 9)
            for sources in (None, whole.sources[:40]):
                hits = [part.search(text, 9, mode="words", sources=sources) for part in parts]
                assert merge_hits(hits, 9) == whole.search(text, 9, mode="words", sources=sources)
    for part in parts:
        part.close()


@pytest.mark.parametrize("shards", [range(0, 0), range(60, 65), range(0, 10, 2), range(-1, 3)])
def test_shards_that_are_not_there_are_named(tmp_path: Path, shards: range) -> None:
    write_chunks(tmp_path / "kb", many_chunks(200), limit=100)
    with pytest.raises(ValueError, match=r"the artifact's are range\(0, 64\)"):
        KnowledgeBase.open(tmp_path / "kb", shards=shards)


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
        base.preload()
        first = hits[0][0]
        assert (first.cosine or 0) > 0.8
        assert (first.word_score or 0) > 0
        by_vector = base.search(next(iter(QUESTIONS)), 4, mode="vector")[0]
        assert (by_vector.score, by_vector.word_score) == (by_vector.cosine, None)


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
