"""Two sets of goldens compared: which chunk became which, what kind of change that is, and which words changed."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from msgspec.structs import replace

from ragpress.errors import BuildError
from ragpress.records import chunk_id
from ragpress.review.diff import Changes, ChunkChange, SourceChange, compare, compare_chunks, word_runs
from ragpress.review.golden import GoldenChunk, render_golden


def chunk(text: str, line: int = 1, headings: tuple[str, ...] = ("Клиника", "Приём"), **fields: object) -> GoldenChunk:
    plain: dict[str, object] = {"content_type": "paragraph", "context": f"## {headings[-1]}\n\n", "part": "", **fields}
    part = f"{plain['part']}!R" if plain["part"] else "L"
    return GoldenChunk(
        chunk_id=chunk_id(str(fields.get("source", "a.md")), headings, text, 0),
        content_type=str(plain["content_type"]),
        section=headings[-1],
        headings=headings,
        locator=f"{part}{line}",
        tokens=int(str(fields.get("tokens", 4 + len(text.split())))),
        context=str(plain["context"]),
        text=text,
    )


def placed(*texts: str) -> list[GoldenChunk]:
    return [chunk(text, 3 + 2 * number) for number, text in enumerate(texts)]


def kinds(changes: tuple[ChunkChange, ...]) -> list[str]:
    return [change.kind for change in changes]


A = "Первый приём длится сорок минут, повторный двадцать."
B = "بیمه‌گذار باید حادثه را تا پنج روز کاری خبر دهد."
C = "Для детей до трёх лет запись идёт отдельно, по утрам."
D = "Оплатить можно картой, наличными или по счёту."


# -- kinds -----------------------------------------------------------------------------------------------------------


def test_an_inserted_chunk_is_the_only_change() -> None:
    changes = compare_chunks(placed(A, B, C), placed(A, D, B, C))
    assert [(change.kind, change.before, change.shown.text) for change in changes] == [("added", None, D)]


def test_an_edited_chunk_is_changed_and_not_removed_and_added() -> None:
    changes = compare_chunks(placed(A, B, C), placed(A, B.replace("پنج", "سه"), C))
    assert kinds(changes) == ["changed"]
    assert changes[0].before is not None
    assert changes[0].before.text == B
    assert "text" in changes[0].aspects


def test_a_chunk_replaced_by_another_is_removed_and_added() -> None:
    assert kinds(compare_chunks(placed(A, B, C), placed(A, D, C))) == ["removed", "added"]


def test_of_two_edited_chunks_each_finds_its_own() -> None:
    new = placed(C.replace("трёх", "пяти"), "Совсем новое предложение о парковке у входа.", A.replace("сорок", "час"))
    changes = compare_chunks(placed(A, B, C), new)
    found = {
        (change.before.text if change.before else "", change.after.text if change.after else "") for change in changes
    }
    assert found == {(A, new[2].text), (C, new[0].text), (B, ""), ("", new[1].text)}


def test_a_row_whose_values_changed_is_not_taken_for_another_row_of_the_same_headers() -> None:
    rows = [f"Врач: Фамилия{n}\nКабинет: {n}00\nДень: день{n}" for n in range(20)]
    after = [
        *rows[:5],
        rows[5].replace("500", "512"),
        *rows[6:9],
        *rows[10:],
        "Врач: Новенький\nКабинет: 77\nДень: среда",
    ]
    changes = compare_chunks(placed(*rows), placed(*after))
    assert kinds(changes) == ["changed", "removed", "added"]
    assert changes[0].before is not None
    assert changes[0].before.text == rows[5]


def test_the_same_text_under_another_heading_is_renamed() -> None:
    before = [chunk(A), chunk(B, 3)]
    after = [chunk(A, headings=("Клиника", "Запись")), chunk(B, 3)]
    changes = compare_chunks(before, after)
    assert kinds(changes) == ["renamed"]
    assert {"headings", "section", "context"} <= set(changes[0].aspects)


def test_the_fewest_chunks_are_moved() -> None:
    changes = compare_chunks(placed(A, B, C, D), placed(B, C, D, A))
    assert [(change.kind, change.shown.text) for change in changes] == [("moved", A)]
    assert changes[0].aspects == ("order",)


def test_a_row_on_another_sheet_is_moved() -> None:
    before = [chunk(A, part="Лист"), chunk(B, 2, part="Лист")]
    after = [chunk(A, part="Лист"), chunk(B, 1, part="Другой")]
    assert kinds(compare_chunks(before, after)) == ["moved"]


def test_what_is_repeated_above_the_same_text_is_a_minor_change() -> None:
    before, after = placed(A, B), [chunk(A, 3), chunk(B, 5, context="## Приём\n\nКонец прежнего. ", tokens=20)]
    changes = compare_chunks(before, after)
    assert kinds(changes) == ["minor"]
    assert changes[0].aspects == ("context", "tokens")


def test_a_chunk_of_another_type_is_changed() -> None:
    changes = compare_chunks(placed(A), [chunk(A, 3, content_type="qa_pair")])
    assert [(change.kind, change.aspects) for change in changes] == [("changed", ("type",))]


def test_lines_that_shifted_are_no_change_and_a_wider_gap_is_a_minor_one() -> None:
    before = [chunk(A, 3), chunk(B, 5), chunk(C, 7)]
    assert compare_chunks(before, [chunk(A, 3), chunk(B, 5), chunk(C, 7)]) == ()
    wider = compare_chunks(before, [chunk(A, 3), chunk(B, 9), chunk(C, 11)])
    assert [(change.kind, change.aspects, change.shown.text) for change in wider] == [("minor", ("place",), B)]
    assert kinds(compare_chunks(before, [chunk(D, 1), chunk(A, 3), chunk(B, 5), chunk(C, 7)])) == ["added"]


def test_the_same_text_twice_is_matched_in_order() -> None:
    twice = [chunk(A, 3), chunk(B, 5), chunk(A, 7)]
    changes = compare_chunks(twice, [chunk(A, 3), chunk(A, 5)])
    assert [(change.kind, change.shown.text) for change in changes] == [("removed", B)]


def test_every_chunk_is_told_at_most_once_and_none_that_differs_is_left_out() -> None:
    pool = [A, B, C, D, A.replace("сорок", "час"), B.replace("پنج", "سه"), "а", "б", "в"]
    for seed in range(400):
        chance = random.Random(seed)
        before = placed(*chance.sample(pool, chance.randint(0, 7)))
        after = placed(*chance.sample(pool, chance.randint(0, 7)))
        changes = compare_chunks(before, after)
        assert changes == compare_chunks(before, after)
        old = [change.before.text for change in changes if change.before]
        new = [change.after.text for change in changes if change.after]
        assert len(set(old)) == len(old) and len(set(new)) == len(new)
        texts = [item.text for item in before], [item.text for item in after]
        assert set(texts[0]) - set(texts[1]) <= set(old)
        assert set(texts[1]) - set(texts[0]) <= set(new)
        assert bool(changes) == (texts[0] != texts[1])
        back = compare_chunks(after, before)
        assert sorted(kinds(back)).count("added") == kinds(changes).count("removed")


def test_thousands_of_edited_chunks_each_find_their_own() -> None:
    chance = random.Random(3)
    vocabulary = [f"слово{number}" for number in range(2000)]
    texts = [" ".join(chance.choices(vocabulary, k=30)) for _ in range(1500)]
    edited = [" ".join(["правка", *text.split()[1:]]) for text in texts]
    changes = compare_chunks(placed(*texts), placed(*edited[750:], *edited[:750]))
    assert len(changes) == 1500
    assert all(change.kind == "changed" for change in changes)
    became = {change.before.text: change.after.text for change in changes if change.before and change.after}
    assert became == dict(zip(texts, edited, strict=True))


def test_a_place_in_a_word_file_is_told_by_its_heading_and_the_paragraph_or_row_below() -> None:
    before = [
        block("Введение.", "B1", ()),
        block("Первый абзац.", "B4-5", ("Клиника", "Приём")),
        block("Врач: А", "B6", ("Клиника", "Приём"), "table_row"),
        block("Врач: Б", "B6", ("Клиника", "Приём"), "table_row"),
        block("Третий абзац о записи.", "B7", ("Клиника", "Приём")),
    ]
    after = [replace(chunk, text=f"{chunk.text} Правка.") for chunk in before]
    assert [change.place for change in compare_chunks(before, after)] == [
        "paragraph 1",
        "paragraphs 1–2 of «Приём»",
        "row 1 of table 1 of «Приём»",
        "row 2 of table 1 of «Приём»",
        "paragraph 3 of «Приём»",
    ]
    assert [change.place for change in compare_chunks(placed(A), placed(D))] == ["", ""]


def block(text: str, locator: str, headings: tuple[str, ...], kind: str = "paragraph") -> GoldenChunk:
    return GoldenChunk(chunk_id("a.docx", headings, text, 0), kind, "", headings, locator, 9, "", text)


# -- sources ---------------------------------------------------------------------------------------------------------


def golden(*texts: str, messages: tuple[str, ...] = (), **fields: object) -> str:
    return render_golden([chunk(text, 3 + 2 * number, **fields) for number, text in enumerate(texts)], messages)  # type: ignore[arg-type]


def found(before: dict[str, str | BuildError], after: dict[str, str | BuildError]) -> dict[str, SourceChange]:
    changes: Changes = compare(before, after, "main")
    assert changes.base == "main"
    assert [source.source for source in changes.sources] == sorted(source.source for source in changes.sources)
    return {source.source: source for source in changes.sources}


def test_sources_that_came_went_or_differ_are_told_apart() -> None:
    changes = found(
        {"same.md": golden(A), "edited.md": golden(A, B), "gone.md": golden(C, D)},
        {"same.md": golden(A), "edited.md": golden(A), "new.md": golden("Новое.")},
    )
    assert {name: (change.status, kinds(change.changes)) for name, change in changes.items()} == {
        "edited.md": ("changed", ["removed"]),
        "gone.md": ("removed", ["removed", "removed"]),
        "new.md": ("added", ["added"]),
    }


def test_a_renamed_file_is_not_told_as_all_its_chunks_removed_and_added() -> None:
    old = golden(A, B, C, source="old.md")
    new = golden(A, B, C.replace("трёх", "пяти"), source="new.md")
    changes = found({"old.md": old}, {"new.md": new})
    assert list(changes) == ["new.md"]
    assert (changes["new.md"].status, changes["new.md"].before_source) == ("renamed", "old.md")
    assert kinds(changes["new.md"].changes) == ["changed"]
    same = found({"old.md": golden(A, source="old.md")}, {"new.md": golden(A, source="new.md")})
    assert (same["new.md"].status, same["new.md"].changes) == ("renamed", ())


def test_messages_are_compared_as_well() -> None:
    changes = found(
        {"a.md": golden(A, messages=("warning: one [left-out]", "warning: two [left-out]"))},
        {"a.md": golden(A, messages=("warning: two [left-out]", "warning: two [left-out]"))},
    )
    assert changes["a.md"].messages_added == ("warning: two [left-out]",)
    assert changes["a.md"].messages_removed == ("warning: one [left-out]",)


def test_a_golden_that_differs_in_blank_lines_alone_is_told_as_such() -> None:
    changes = found({"a.md": golden(A) + "\n\n"}, {"a.md": golden(A)})
    assert (changes["a.md"].status, changes["a.md"].changes) == ("form", ())


def test_a_damaged_golden_is_named_with_its_line_and_the_others_are_compared() -> None:
    changes = found(
        {"bad.md": golden(A) + "=======\n", "worse.md": BuildError("golden", "byte 7 is no UTF-8"), "b.md": golden(B)},
        {"bad.md": golden(A), "worse.md": golden(A), "b.md": golden(C)},
    )
    assert (changes["bad.md"].status, changes["worse.md"].status) == ("unreadable", "unreadable")
    assert "line 4" in changes["bad.md"].note
    assert "byte 7" in changes["worse.md"].note
    assert changes["b.md"].status == "changed"


def test_a_source_that_could_not_be_read_is_told_as_failed() -> None:
    changes = found({"a.docx": golden(A)}, {"a.docx": BuildError("bad-archive", "no zip archive", "a.docx")})
    assert (changes["a.docx"].status, changes["a.docx"].note) == ("failed", "no zip archive")


# -- words -----------------------------------------------------------------------------------------------------------


def shown(before: str, after: str) -> str:
    marks = {"same": "{}", "removed": "[-{}]", "added": "[+{}]"}
    return "".join(marks[run.op].format(run.text) for run in word_runs(before, after))


@pytest.mark.parametrize(
    ("before", "after", "runs"),
    [
        ("Приём с 8:00 до 20:00.", "Приём с 8:30 до 20:00.", "Приём с [-8:00][+8:30] до 20:00."),
        ("кто-то пришёл", "кто-нибудь пришёл", "[-кто-то][+кто-нибудь] пришёл"),
        ("او می‌رود، شاید", "او می‌آید، شاید", "او [-می‌رود][+می‌آید]، شاید"),
        ("خانه می روم", "خانه می‌روم", "خانه [-می روم][+می‌روم]"),
        ("کتابِ من", "کتاب من", "[-کتابِ][+کتاب] من"),
        ("۱۲٫۵ درصد", "۱۲٫۷ درصد", "[-۱۲٫۵][+۱۲٫۷] درصد"),
        ("Да. Нет.", "Да. Может быть. Нет.", "Да. [+Может быть. ]Нет."),
        ("Раз.\n\nТри.", "Раз.\n\nДва.\n\nТри.", "Раз.\n\n[+Два.\n\n]Три."),
        ("красный, синий", "жёлтый, белый", "[-красный, синий][+жёлтый, белый]"),
        ("| 20 | 45 | да |", "| 25 | 50 | да |", "| [-20][+25] | [-45][+50] | да |"),
        ("раз два.\nтри", "раз пять.\nшесть", "раз [-два][+пять].\n[-три][+шесть]"),
        ("один два три четыре", "пять шесть семь один", "[-один два три четыре][+пять шесть семь один]"),
        ("a  b", "a b", "a[-  ][+ ]b"),
        ("", "новое", "[+новое]"),
        ("всё", "всё", "всё"),
    ],
)
def test_whole_words_are_marked(before: str, after: str, runs: str) -> None:
    assert shown(before, after) == runs


def test_runs_put_together_are_both_texts() -> None:
    pieces = ["да", "می‌شود", ".", ",", " ", "\n", "  ", "12:30", "кто-то", "🙂", "e\u0301", "-"]
    for seed in range(3000):
        chance = random.Random(seed)
        before, after = ("".join(chance.choices(pieces, k=chance.randint(0, 14))) for _ in range(2))
        runs = word_runs(before, after)
        assert "".join(run.text for run in runs if run.op != "added") == before
        assert "".join(run.text for run in runs if run.op != "removed") == after
        for one, two in pairwise(runs):
            assert one.op != two.op
            assert (one.op, two.op) != ("added", "removed")


def test_huge_unlike_texts_are_told_whole_and_at_once() -> None:
    before = " ".join(f"а{number}" for number in range(50_000))
    after = " ".join(f"б{number}" for number in range(50_000))
    assert [run.op for run in word_runs(before + " конец", after + " конец")] == ["removed", "added", "same"]
