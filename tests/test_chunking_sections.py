"""Headed prose: what becomes one chunk, what merges, and what stands on top."""

from __future__ import annotations

import pytest

from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.errors import BuildError
from ragpress.records import Document
from units import chunked, chunked_with_messages, contexts, listing, owns, paragraph, sentence, texts, unit, words


def test_a_section_that_fits_is_one_chunk() -> None:
    chunks = chunked([paragraph("p", 1), unit("heading", "### Врачи"), listing(["- Анна", "- Борис"])])
    assert len(chunks) == 1
    assert owns(chunks) == [f"{sentence('pa')}\n\n### Врачи\n\n- Анна\n- Борис"]
    assert contexts(chunks) == ["## Приём\n\n"]


def test_a_longer_section_is_a_paragraph_a_chunk_and_is_not_packed() -> None:
    units = [paragraph(name, 2) for name in "pqrs"]
    chunks = chunked(units, min_tokens=10)
    assert owns(chunks) == [each.text for each in units]
    assert {(chunk.section, chunk.text.partition("\n")[0]) for chunk in chunks} == {("Приём", "## Приём")}


def test_sections_of_one_name_stay_apart() -> None:
    chunks = chunked([paragraph("p", 1, number=1), paragraph("q", 1, number=2)], min_tokens=30, overlap=2)
    assert owns(chunks) == [sentence("pa"), sentence("qa")]
    assert contexts(chunks) == ["## Приём\n\n"] * 2


def test_nothing_merges_and_nothing_is_repeated_across_sections() -> None:
    units = [paragraph("p", 6), paragraph("t", 1, 3), paragraph("q", 6, section="Цены", number=1)]
    chunks = chunked(units, min_tokens=30, overlap=2)
    assert [chunk.section for chunk in chunks] == ["Приём", "Приём", "Цены", "Цены"]
    assert contexts(chunks)[2] == "## Цены\n\n"
    assert owns(chunks)[1].endswith("\n\n" + sentence("ta", 3))


def test_a_small_paragraph_merges_with_the_smaller_neighbour_that_has_room() -> None:
    small, large = paragraph("a", 2), paragraph("b", 4)
    tiny = paragraph("t", 1, 3)
    assert owns(chunked([small, tiny, large], min_tokens=5)) == [f"{small.text}\n\n{tiny.text}", large.text]
    assert owns(chunked([large, tiny, small], min_tokens=5)) == [large.text, f"{tiny.text}\n\n{small.text}"]
    assert owns(chunked([paragraph("c", 6, 9), tiny, small], min_tokens=5))[1] == f"{tiny.text}\n\n{small.text}"


def test_a_small_paragraph_that_fits_nowhere_stays_alone() -> None:
    full = [paragraph(name, 5, 11) for name in "pq"]
    chunks = chunked([full[0], paragraph("t", 1, 4), full[1]], min_tokens=5)
    assert owns(chunks) == [full[0].text, sentence("ta", 4), full[1].text]


def test_small_paragraphs_merge_until_they_are_large_enough_and_no_further() -> None:
    units = [paragraph(f"p{name}", 1) for name in "abcdefgh"]
    assert [text.count("\n\n") for text in owns(chunked(units, min_tokens=15))] == [1, 1, 1, 1]


def test_merging_prefers_the_paragraph_under_the_same_heading() -> None:
    path = ("Клиника", "Приём", "Дети")
    units = [
        unit("heading", "### Дети", headings=path),
        paragraph("a", 4, headings=path),
        paragraph("t", 1, 4, headings=path),
        unit("heading", "### Взрослые"),
        paragraph("b", 1, headings=("Клиника", "Приём", "Взрослые")),
    ]
    chunks = chunked(units, min_tokens=9)
    assert [chunk.headings[2:] for chunk in chunks] == [("Дети",), ("Взрослые",)]
    assert sentence("ta", 4) in owns(chunks)[0]


def test_a_subheading_stays_with_what_follows_and_is_repeated_above_its_continuation() -> None:
    units = [
        paragraph("p", 2),
        unit("heading", "### Врачи"),
        unit("heading", "#### Дети"),
        paragraph("q", 3),
        paragraph("r", 3),
        unit("heading", "### Цены"),
        paragraph("s", 2),
    ]
    chunks = chunked(units)
    assert [own.partition("\n")[0] for own in owns(chunks)] == [
        units[0].text,
        "### Врачи",
        units[4].text,
        "### Цены",
    ]
    assert contexts(chunks) == [
        "## Приём\n\n",
        "## Приём\n\n",
        "## Приём\n\n### Врачи\n\n#### Дети\n\n",
        "## Приём\n\n",
    ]


def test_a_subheading_never_ends_a_chunk_even_where_what_follows_must_be_cut() -> None:
    units = [paragraph("p", 5), unit("heading", "### Врачи"), unit("paragraph", sentence("q", 200))]
    chunks = chunked(units)
    assert not any(own.splitlines()[-1].startswith("#") for own in owns(chunks))
    assert owns(chunks)[1].startswith("### Врачи\n\n")


def test_a_subheading_stays_with_the_beginning_of_a_paragraph_that_would_fit_without_it() -> None:
    chunks = chunked([paragraph("p", 5), unit("heading", "### Наши врачи и все медсёстры"), paragraph("q", 5)])
    assert owns(chunks)[1].startswith("### Наши врачи и все медсёстры\n\nQa1 ")
    assert owns(chunks)[2] == sentence("qe")


def test_a_subheading_without_a_body_at_the_end_of_a_section_is_not_lost() -> None:
    chunks = chunked([paragraph("p", 5), paragraph("q", 2), unit("heading", "### Врачи")])
    assert owns(chunks)[-1].endswith("\n\n### Врачи")


def test_a_lead_in_stays_with_its_list_even_where_the_list_is_cut() -> None:
    lead = unit("paragraph", "Возьмите с собой:")
    items = [f"- {sentence(f'i{name}', 9)}" for name in "abcdefgh"]
    chunks = chunked([paragraph("p", 3), lead, listing(items)], min_tokens=5)
    assert owns(chunks)[1].startswith("Возьмите с собой:\n\n- ")
    assert owns(chunks)[0] == paragraph("p", 3).text


def test_of_many_lines_that_end_with_a_colon_each_second_one_is_a_lead_in() -> None:
    units = [unit("paragraph", sentence(name)[:-1] + ":") for name in "abcde"]
    chunks = chunked([*units, paragraph("p", 3)], min_tokens=11)
    assert [own.count(":") for own in owns(chunks)] == [2, 2, 1]
    assert owns(chunks)[2].endswith(sentence("pc"))


def test_a_section_with_much_white_space_is_one_chunk_if_its_words_fit() -> None:
    code = listing([" " * 40 * (number % 2) + "a b" for number in range(24)], kind="code")
    assert len(chunked([code, paragraph("p", 1, 5)])) == 1


def test_the_headings_of_a_chunk_are_those_that_all_of_it_stands_under() -> None:
    path = ("Клиника", "Приём")
    units = [paragraph("p", 1, headings=(*path, "Дети")), paragraph("q", 1, headings=(*path, "Взрослые"))]
    assert [chunk.headings for chunk in chunked(units)] == [path]
    assert [chunk.headings for chunk in chunked(units[:1])] == [(*path, "Дети")]
    merged = chunked([*units, paragraph("r", 5, headings=(*path, "Взрослые"))], min_tokens=11)
    assert [chunk.headings for chunk in merged] == [path, (*path, "Взрослые")]


def test_whole_paragraphs_repeat_nothing_of_each_other() -> None:
    chunks = chunked([paragraph("p", 3, 4), paragraph("q", 4), listing([sentence("i")]), paragraph("r", 2)], overlap=2)
    assert contexts(chunks) == ["## Приём\n\n"] * 4


def test_where_a_paragraph_was_cut_the_end_of_the_chunk_before_is_repeated() -> None:
    chunks = chunked([paragraph("p", 3, 4), paragraph("q", 12, 5)], overlap=2)
    assert contexts(chunks)[2] == f"## Приём\n\n{sentence('qj', 5)} {sentence('qk', 5)} "
    chunks = chunked([paragraph("p", 3, 4), paragraph("q", 7)], overlap=2)
    assert contexts(chunks)[2] == "## Приём\n\n" + sentence("qe") + " "  # two would be over a quarter of the room


def test_a_chunk_is_never_repeated_whole() -> None:
    chunks = chunked([unit("paragraph", f"{sentence('p', 14)} {sentence('q', 50)}")], overlap=1)
    assert contexts(chunks)[1] == "## Приём\n\n"


def test_the_pieces_of_lists_tables_and_code_repeat_no_sentences() -> None:
    for kind in ("list", "table", "code"):
        chunks = chunked([listing([sentence(f"i{name}", 9) for name in "abcdefghijkl"], kind=kind)], overlap=2)
        assert contexts(chunks) == ["## Приём\n\n"] * 2


def test_a_new_paragraph_changes_no_other_chunk() -> None:
    units = [paragraph(name, 2) for name in ("pa", "pb", "pc", "pd", "pe", "pf")]
    before = {chunk.text: chunk.chunk_id for chunk in chunked(units, min_tokens=10, overlap=1)}
    units.insert(3, paragraph("new", 2))
    after = {chunk.text: chunk.chunk_id for chunk in chunked(units, min_tokens=10, overlap=1)}
    assert len(after) - len(before) == 1
    assert before.items() < after.items()


def test_equal_chunks_under_equal_headings_have_ids_of_their_own() -> None:
    chunks = chunked([paragraph("p", 1, number=number) for number in range(3)])
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks) == 3


def test_a_breadcrumb_that_would_fill_the_chunk_is_shortened_at_a_word_with_a_message() -> None:
    heading = sentence("h", 50)
    chunks, messages = chunked_with_messages([paragraph("p", 5, section=heading)])
    assert [(found.severity, found.code) for found in messages] == [("warning", "long-heading")]
    first = texts(chunks)[0].partition("\n")[0]
    assert first.endswith("…") and f"## {heading}".startswith(first[:-1] + " ")
    assert 10 < words(first) - 3 <= 57 // 3
    assert all(chunk.section == heading for chunk in chunks)


def test_a_document_without_units_has_no_chunks() -> None:
    assert chunked([]) == ()
    assert chunked([unit("image_caption", "", picture="0" * 64)]) == ()


def test_a_limit_that_the_prefix_fills_is_refused() -> None:
    document = Document(source="a.md", units=(paragraph("p", 1),))
    with pytest.raises(BuildError, match="max_tokens = 32 leaves 2 tokens"):
        chunk_document(document, Config(max_tokens=32), lambda text: 30 + len(text.split()))
