"""Changes in a terminal, as a comment on a pull request and as JSON: readable, bounded, and safe from their texts."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser

import pytest

from ragpress.review.diff import (
    Changes,
    ChunkChange,
    Screen,
    SourceChange,
    compare_chunks,
    screen_of,
    to_json,
    to_markdown,
    to_terminal,
)
from ragpress.review.golden import GoldenChunk
from test_changes import chunk

RUSSIAN = (
    "Записаться можно по телефону.",
    "Кабинет открыт с восьми утра до восьми вечера, кроме воскресенья и праздников, когда принимает только дежурный"
    " врач, а лаборатория и регистратура закрыты.",
)
PERSIAN = "بیمه‌گذار باید حادثه را تا پنج روز کاری خبر دهد."
HOSTILE = "</details><script>alert(1)</script>\n\n### a\n\n| b |\n\n@everyone see #12 & <img src=x onerror=y> `c`"


def changes(*sources: SourceChange, base: str = "") -> Changes:
    return Changes(base=base, sources=sources)


def edited(source: str, before: list[GoldenChunk], after: list[GoldenChunk]) -> SourceChange:
    return SourceChange(source=source, status="changed", changes=compare_chunks(before, after))


def printed(found: Changes, **screen: object) -> str:
    return "\n".join(to_terminal(found, Screen(**screen)))  # type: ignore[arg-type]


def an_edit() -> SourceChange:
    before = [chunk(RUSSIAN[0], 3), chunk(RUSSIAN[1], 5)]
    after = [chunk(RUSSIAN[0], 3), chunk(RUSSIAN[1].replace("восьми утра", "девяти утра"), 5), chunk(PERSIAN, 7)]
    return edited("клиника/приём.md", before, after)


# -- terminal --------------------------------------------------------------------------------------------------------


def test_a_terminal_shows_old_above_new_with_the_words_that_changed_and_no_more_than_is_needed() -> None:
    assert printed(changes(an_edit()), width=80) == (
        "клиника/приём.md: 1 added, 1 changed\n"
        "\n"
        "  changed · L5 · 26 tokens · Клиника › Приём\n"
        "  - Кабинет открыт с [-восьми-] утра до восьми вечера, кроме воскресенья и\n"
        "  - праздников, когда принимает …\n"
        "  + Кабинет открыт с {+девяти+} утра до восьми вечера, кроме воскресенья и\n"
        "  + праздников, когда принимает …\n"
        "\n"
        "  added · L7 · 14 tokens · Клиника › Приём\n"
        "  + بیمه‌گذار باید حادثه را تا پنج روز کاری خبر دهد.\n"
        "\n"
        "1 source differs (chunks: 1 added, 1 changed)"
    )


def test_no_line_holds_old_and_new_text_at_once() -> None:
    for line in printed(changes(an_edit())).split("\n"):
        assert not ("[-" in line and "{+" in line)


def test_colours_add_nothing_but_colours() -> None:
    plain = printed(changes(an_edit()), width=400)
    coloured = printed(changes(an_edit()), width=400, colour=True)
    assert "\x1b[31m" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == re.sub(r"\[-|-\]|\{\+|\+\}", "", plain)
    for line in coloured.split("\n"):
        assert line.count("\x1b[0m") == 1 or "\x1b" not in line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_whose_users_did_not_refuse_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    assert screen_of(Terminal()).colour
    assert not screen_of(io.StringIO()).colour
    assert screen_of(io.StringIO()).width == 100
    assert screen_of(Terminal(), 63).width == 63
    monkeypatch.setenv("NO_COLOR", "1")
    assert not screen_of(Terminal()).colour
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert not screen_of(Terminal()).colour


def test_no_text_reaches_the_terminal_s_controls_or_turns_the_direction() -> None:
    text = "Текст \x1b]0;заголовок\x07 и \u202eоборот\u2069 и \x9b31m \r начало"
    found = edited("a\x1b[2J.md", [chunk("Текст", 3)], [chunk(text, 3, headings=("К\x1b[1m",))])
    shown = printed(changes(found, SourceChange(source="b", status="failed", note="\x1b[5m")))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert "<U+001B>" in shown
    assert "<U+202E>" in shown


@pytest.mark.parametrize("width", [40, 63, 100])
def test_lines_are_wrapped_between_words_and_none_of_them_is_lost(width: int) -> None:
    text = " ".join([PERSIAN, *RUSSIAN, "e\u0301\u0301\u0301"] * 4)
    found = SourceChange(source="a.md", status="added", changes=(ChunkChange(kind="added", after=chunk(text)),))
    lines = [line[4:] for line in printed(changes(found), width=width).split("\n") if line.startswith("  + ")]
    assert " ".join(" ".join(lines).split()) == text
    columns = [len(line.replace("\u200c", "").replace("\u0301", "")) for line in lines]
    assert max(columns) <= width - 4


def test_white_space_that_changed_can_be_seen() -> None:
    before, after = "раз два три четыре пять", "раз\u00a0два три\nчетыре пять"
    shown = printed(changes(edited("a.md", [chunk(before)], [chunk(after)])))
    assert "⍽" in shown
    assert "↵" in shown
    blank = printed(changes(edited("a.md", [chunk("раз два\n\nтри")], [chunk("раз два\nтри")])))
    assert "\n  - ↵" in blank


def test_of_unchanged_lines_those_beside_a_change_and_the_first_are_shown() -> None:
    rows = ["Врач: Иванчук", "Кабинет: 12", "Дни: среда", "Часы: 8–12", "Приём: платный", "Запись: да"]
    text = "\n".join(rows)
    shown = printed(changes(edited("a.xlsx", [chunk(text)], [chunk(text.replace("8–12", "8–14"))])))
    assert [line.strip() for line in shown.split("\n")[3:9]] == [
        "Врач: Иванчук",
        "…",
        "Дни: среда",
        "- Часы: 8–[-12-]",
        "+ Часы: 8–{+14+}",
        "Приём: платный",
    ]


def test_what_is_too_much_for_a_screen_is_counted() -> None:
    found = edited("a.md", [], [chunk(f"Абзац {number}. " + "слово " * 200 + "конец", number) for number in range(30)])
    shown = printed(changes(found), chunks=5, text=100)
    assert shown.count("  added · ") == 5
    assert "… and 25 more" in shown
    assert "конец" not in shown
    assert printed(changes(found)).count("конец") == 30


def test_minor_changes_of_a_source_are_one_line() -> None:
    before = [chunk(f"Абзац {number}.", 3 + 2 * number) for number in range(9)]
    after = [chunk(f"Абзац {number}.", 3 + 2 * number, tokens=99) for number in range(9)]
    shown = printed(changes(edited("a.md", before, after)))
    assert "  minor · 9 chunks with the same text of their own: another token count (9)\n" in shown


def test_each_status_is_told_in_words() -> None:
    sources = [
        SourceChange(source="a", status="added", changes=(ChunkChange(kind="added", after=chunk("x")),)),
        SourceChange(source="b", status="removed", changes=(ChunkChange(kind="removed", before=chunk("x")),)),
        SourceChange(source="c", status="renamed", before_source="old/c"),
        SourceChange(source="d", status="form"),
        SourceChange(source="e", status="unreadable", note="line 3 is not part of a golden"),
        SourceChange(source="f", status="failed", note="no zip archive"),
        SourceChange(source="g", status="changed", messages_added=("warning: new [left-out]",)),
    ]
    shown = printed(changes(*sources))
    for text in (
        "a: new, 1 chunk\n",
        "b: removed, 1 chunk\n",
        "c: renamed from old/c\n",
        "d: its golden says the same, but is written in another form\n",
        "e: its golden is damaged: line 3 is not part of a golden\n",
        "f: cannot be read: no zip archive\n",
        "g: 1 message\n\n  + ▲ warning: new [left-out]\n",
    ):
        assert text in shown
    marked = to_markdown(changes(*sources))
    for text in (
        "new, 1 chunk",
        "removed, 1 chunk",
        "renamed from old/c",
        "line 3 is not",
        "no zip archive",
        "new [left",
    ):
        assert text in marked
    assert printed(changes()) == "no differences"


def renamed_title() -> SourceChange:
    texts = [f"Абзац номер {number} о приёме." for number in range(17)]
    before = [chunk(text, 3 + 2 * at, headings=("Клиника", f"Раздел {at}")) for at, text in enumerate(texts)]
    after = [chunk(text, 3 + 2 * at, headings=("Поликлиника", f"Раздел {at}")) for at, text in enumerate(texts)]
    after[4] = chunk(texts[4] + " Вход со двора.", 11, headings=("Поликлиника", "Раздел 4"))
    return edited("a.md", before, after)


def test_a_title_renamed_over_many_chunks_is_told_once_and_an_edit_among_them_by_itself() -> None:
    shown = printed(changes(renamed_title()))
    assert shown.count("renamed · ") == 1
    assert (
        "  renamed · 16 chunks, L3 to L35, the same text under another heading\n  - Клиника\n  + Поликлиника\n" in shown
    )
    assert "{+Вход со двора.+}" in shown
    assert "… and 16 more" in printed(changes(edited_first(renamed_title())), chunks=1)
    marked = to_markdown(changes(renamed_title()))
    marks = '<span dir="auto"><del>Клиника</del> <ins>Поликлиника</ins></span>'
    assert f"<p><b>renamed</b> · 16 chunks, L3 to L35: {marks}</p>" in marked
    assert marked.count("<b>renamed</b>") == 1
    Page(marked)


def edited_first(source: SourceChange) -> SourceChange:
    order = sorted(source.changes, key=lambda change: change.kind != "changed")
    return SourceChange(source=source.source, status=source.status, changes=tuple(order))


def test_a_price_in_groups_of_digits_is_one_word() -> None:
    before, after = "Приём терапевта: 1 250 рублей", "Приём терапевта: 1 350 рублей"
    shown = printed(changes(edited("a.md", [chunk(before)], [chunk(after)])))
    assert "[-1 250-]" in shown
    assert "{+1 350+}" in shown
    marked = to_markdown(changes(edited("a.md", [chunk(before)], [chunk(after.replace(" 350", "\u00a0350"))])))
    assert "<del>1 250</del> <ins>1\u00a0350</ins>" in marked


# -- markdown --------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Checks that each tag is closed in order, and keeps the text and the tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(attrs)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


SAFE = {"p", "b", "code", "table", "tr", "th", "td", "details", "summary", "blockquote", "span", "del", "ins", "br"}


def test_a_comment_marks_words_in_paragraphs_that_have_their_own_direction() -> None:
    found = edited("a.docx", [chunk(PERSIAN)], [chunk(PERSIAN.replace("پنج", "سه"))])
    marked = to_markdown(changes(found, base="origin/main"))
    assert marked.startswith("### What the chatbot will read differently\n\n<p><b>1 source differs")
    assert "compared with <code>origin/main</code>" in marked
    words = "بیمه‌گذار باید حادثه را تا <del>پنج</del> <ins>سه</ins> روز کاری خبر دهد."
    assert f'<blockquote><p dir="auto">{words}</p></blockquote>' in marked
    Page(marked)


def test_nothing_of_a_source_is_read_as_markup_or_calls_anybody() -> None:
    hostile = SourceChange(
        source=f"{HOSTILE}.md",
        status="changed",
        changes=compare_chunks(
            [chunk("Обычный текст о приёме."), chunk(HOSTILE, 3)],
            [chunk(f"Обычный текст о приёме. {HOSTILE}", headings=(HOSTILE,)), chunk("Иное.", 3)],
        ),
        messages_added=(HOSTILE,),
    )
    failed = SourceChange(source="b.md", status="failed", note=HOSTILE)
    marked = to_markdown(changes(hostile, failed, base=HOSTILE))
    page = Page(marked)
    assert page.tags <= SAFE
    assert page.attributes <= {("dir", "auto"), ("align", "right")}
    assert not re.search(r"@\w|#\d", re.sub("<code>.*?</code>", "", marked))
    for block in marked.split("\n\n")[1:]:  # blocks of HTML, in which no Markdown is read up to a blank line
        assert block.startswith(("<p>", "<table>", "<details>"))
    for line in marked.split("\n")[1:]:
        assert not line or line.startswith("<")


def many(sources: int, chunks: int, text: str) -> Changes:
    return changes(
        *(
            edited(
                f"источник-{number:03}.md", [], [chunk(f"{text} {number} {index}", index) for index in range(chunks)]
            )
            for number in range(sources)
        )
    )


@pytest.mark.parametrize(
    ("sources", "chunks", "text"),
    [(3, 400, "Слово " * 90), (600, 2, PERSIAN), (5, 5, "<&>\"'" * 400), (2, 3, "\x00" * 900), (300, 1, "@a " * 300)],
    ids=["long", "wide", "escapes", "controls", "calls"],
)
@pytest.mark.parametrize("limit", [10_000, 60_000])
def test_a_comment_keeps_within_its_limit_and_says_what_is_left_out(
    sources: int, chunks: int, text: str, limit: int
) -> None:
    marked = to_markdown(many(sources, chunks, text), limit)
    assert len(marked) <= limit
    Page(marked)
    shown = marked.count("<b>added</b>")
    if shown < sources * chunks:
        assert f"Left out here for length: {sources * chunks - shown} chunk" in marked
    assert f"{sources} sources differ (chunks: {sources * chunks} added)" in marked
    assert sum(int(number) for number in re.findall(r'<td align="right">(\d+)</td>', marked)) == sources * chunks


def test_changed_and_removed_chunks_come_before_added_ones_where_room_is_short() -> None:
    texts = [f"Абзац {number}: " + f"слово{number} " * 60 + "и всё." for number in range(12)]
    before = [chunk(text, number) for number, text in enumerate(texts)]
    after = [chunk(text.replace("и всё", "и не всё"), number) for number, text in enumerate(texts[:-1])]
    new = edited("а-новый.md", [], [chunk(f"Новое {number}: " + "ещё " * 90, number) for number in range(300)])
    marked = to_markdown(changes(new, edited("я-старый.md", before, after)), 12_000)
    assert marked.count("<b>changed</b>") == 11
    assert marked.count("<b>removed</b>") == 1
    assert 0 < marked.count("<b>added</b>") < 300


def test_no_changes_are_told_in_a_sentence() -> None:
    assert to_markdown(changes(base="main")).endswith("<p>Nothing: the chunks are those of <code>main</code>.</p>\n")


def test_a_source_without_chunks_to_show_is_a_line_and_nothing_that_opens() -> None:
    marked = to_markdown(changes(SourceChange(source="c", status="renamed", before_source="old/c"), an_edit()))
    assert "<p><code>c</code>: renamed from old/c</p>\n" in marked
    assert marked.count("<details>") == 1
    assert not re.search(r"</summary>\s*</details>", marked)


# -- json ------------------------------------------------------------------------------------------------------------


def test_json_has_all_of_it_under_fixed_keys() -> None:
    found = json.loads(to_json(changes(an_edit(), base="main")))
    assert list(found) == ["base", "sources", "counts"]
    assert found["counts"] == {"added": 1, "removed": 0, "changed": 1, "renamed": 0, "moved": 0, "minor": 0}
    source = found["sources"][0]
    assert list(source) == [
        "source",
        "status",
        "before_source",
        "note",
        "changes",
        "messages_added",
        "messages_removed",
        "counts",
    ]
    changed, added = source["changes"]
    assert list(changed) == ["kind", "aspects", "before", "after", "place", "words", "context_words"]
    assert (changed["kind"], changed["before"]["text"], changed["after"]["locator"]) == ("changed", RUSSIAN[1], "L5")
    assert [run for run in changed["words"] if run["op"] != "same"] == [
        {"op": "removed", "text": "восьми"},
        {"op": "added", "text": "девяти"},
    ]
    assert (added["kind"], added["before"], added["words"]) == ("added", None, [])
