"""Table rows, questions and captions: a chunk each."""

from __future__ import annotations

from ragpress.records import Unit
from units import chunked, chunked_with_messages, contexts, listing, owns, paragraph, sentence, unit


def row(*cells: str, breadcrumb: str = "## Приём") -> Unit:
    return listing(cells, kind="table_row", breadcrumb=breadcrumb)


def pair(question: str, answer: str) -> Unit:
    return unit("qa_pair", f"{question}\n{answer}", repeat=len(question))


def test_a_row_is_a_chunk_and_merges_with_nothing() -> None:
    units = [row(f"Имя: Анна{number}", "Этаж: 2") for number in range(3)]
    chunks = chunked(units, min_tokens=50, overlap=2)
    assert owns(chunks) == [each.text for each in units]
    assert {chunk.content_type for chunk in chunks} == {"table_row"}
    assert set(contexts(chunks)) == {"## Приём\n\n"}


def test_many_rows_of_two_short_words_share_a_chunk_and_few_do_not() -> None:
    units = [row(f"Город: Пункт{number}", f"Норма: {number}") for number in range(8)]
    chunks = chunked(units, min_tokens=22, overlap=2)
    assert owns(chunks) == ["\n\n".join(each.text for each in units[at : at + 5]) for at in (0, 5)]
    assert len(chunked(units[:3], min_tokens=22)) == 3
    assert len(chunked(units, min_tokens=0)) == 8


def test_prose_between_rows_merges_with_prose_alone_and_repeats_no_row() -> None:
    units = [row("Имя: Анна"), paragraph("p", 1, 3), row("Имя: Борис"), paragraph("q", 1, 3), paragraph("r", 1, 3)]
    chunks = chunked(units, min_tokens=50, overlap=2)
    assert [chunk.content_type for chunk in chunks] == ["table_row", "paragraph", "table_row", "paragraph"]
    assert owns(chunks)[3] == f"{sentence('qa', 3)}\n\n{sentence('ra', 3)}"
    assert set(contexts(chunks)) == {"## Приём\n\n"}


def test_a_row_that_is_too_long_is_cut_between_cells_and_repeats_its_first_cell() -> None:
    cells = ["Имя: Анна", *(f"Поле {name}: {sentence(name, 20)}" for name in "abcd")]
    chunks = chunked([row(*cells)])
    assert owns(chunks) == ["\n".join(cells[:3]), "\n".join(cells[3:])]
    assert contexts(chunks) == ["## Приём\n\n", "## Приём\n\nИмя: Анна\n"]


def test_a_cell_that_is_cut_repeats_its_label() -> None:
    long = paragraph("p", 8).text
    chunks = chunked([row("Имя: Анна", f"О враче: {long}", "Этаж: 2")])
    assert contexts(chunks) == ["## Приём\n\n", "## Приём\n\nИмя: Анна\nО враче: "]
    assert owns(chunks)[1] == f"{sentence('pf')} {sentence('pg')} {sentence('ph')}\nЭтаж: 2"


def test_only_a_short_beginning_of_a_cell_is_its_label() -> None:
    for cell in (f"Этаж второй\nЧасы: {paragraph('p', 8).text}", f"{sentence('k', 9)[:-1]}: {paragraph('p', 8).text}"):
        chunks = chunked([row("Имя: Анна", cell)])
        assert contexts(chunks)[1] == "## Приём\n\nИмя: Анна\n"


def test_a_row_without_labels_repeats_no_text_as_a_label() -> None:
    chunks = chunked([row(sentence("k", 20), f"{sentence('p')} {sentence('q', 60)}")])
    assert len(chunks) == 2
    assert set(contexts(chunks)) == {"## Приём\n\n"}


def test_a_row_needs_no_heading() -> None:
    chunks = chunked([row("Имя: Анна", "Этаж: 2", breadcrumb="")])
    assert [(chunk.text, chunk.context_chars) for chunk in chunks] == [("Имя: Анна\nЭтаж: 2", 0)]


def test_a_pair_stays_whole_while_it_fits() -> None:
    units = [pair(f"Вопрос {name}?", sentence(name, 45)) for name in "pq"]
    chunks = chunked(units, min_tokens=50, overlap=2)
    assert owns(chunks) == [each.text for each in units]
    assert {chunk.content_type for chunk in chunks} == {"qa_pair"}


def test_each_piece_of_a_long_answer_has_its_question() -> None:
    question = "Как записаться на приём?"
    chunks = chunked([pair(question, paragraph("p", 14).text)], overlap=2)
    assert len(chunks) == 3
    assert owns(chunks)[0].startswith(f"{question}\nPa1 ")
    assert contexts(chunks)[1:] == [f"## Приём\n\n{question}\n"] * 2


def test_a_question_that_leaves_no_room_is_not_repeated_and_that_is_said() -> None:
    question = sentence("k", 50)
    chunks, messages = chunked_with_messages([pair(question, paragraph("p", 14).text)])
    assert [found.code for found in messages] == ["long-heading"]
    assert set(contexts(chunks)) == {"## Приём\n\n"}


def test_a_caption_is_a_chunk_of_its_own_and_none_while_it_is_empty() -> None:
    picture = "0" * 64
    units = [paragraph("p", 1), unit("image_caption", "Схема проезда.", picture=picture), paragraph("q", 1)]
    assert [chunk.content_type for chunk in chunked(units)] == ["paragraph", "image_caption", "paragraph"]
    units[1] = unit("image_caption", "", picture=picture)
    assert owns(chunked(units)) == [f"{sentence('pa')}\n\n{sentence('qa')}"]


def test_a_subheading_is_repeated_behind_a_caption_too() -> None:
    units = [unit("heading", "### Проезд"), paragraph("p", 1), unit("image_caption", "Схема."), paragraph("q", 1)]
    assert contexts(chunked(units)) == ["## Приём\n\n", *["## Приём\n\n### Проезд\n\n"] * 2]
