"""Goldens: lossless, of plain lines, and local under insertion."""

from __future__ import annotations

import difflib
import random
from collections.abc import Callable

import pytest

from docx_maker import docx, heading, p, styled
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.errors import BuildError
from ragpress.readers import read_document
from ragpress.review.golden import GoldenChunk, is_golden, parse_golden, render_golden


def make(number: int, text: str, locator: str, **fields: object) -> GoldenChunk:
    plain = {"section": "Запись", "headings": ("Клиника", "Запись"), "context": "## Запись\n\n", **fields}
    return GoldenChunk(
        chunk_id=f"{number:016x}",
        content_type="paragraph",
        section=str(plain["section"]),
        headings=plain["headings"],  # type: ignore[arg-type]
        locator=locator,
        tokens=number + 10,
        context=str(plain["context"]),
        text=text,
    )


CHUNKS = (
    make(1, "Первая строка.\n\nВторая.", "L5-7"),
    make(2, "متن با نیم‌فاصله", "L9", section="", headings=(), context=""),
    make(3, "| a | b |", "L9-12", context="## Запись\n\n| h |\n|---|\n"),
    make(4, "продолжение", "L9", context="## Запись\n\nКонец прежнего. "),
    make(5, " leading and trailing ", "Лист · 1!R5-6", headings=("a › b", "c · d § e", "f\\g"), section="x › § y"),
    make(6, "", "Лист · 1!R7"),
    make(7, "● not a head\n▲ not a message\n│ not an edge", "B3", section="Запись"),
)


def test_a_golden_tells_everything_of_its_chunks() -> None:
    messages = ("warning: an unknown style [docx-bad-part]",)
    assert parse_golden(render_golden(CHUNKS, messages)) == (CHUNKS, messages)


ODD = ["", " ", "a", "я", "ی", "\u200c", "\n", "\r", "\r\n", "\t", "\x0b", "\x1c", "\x85", "\u2028", "\ufeff", "\x00"]
ODD += ["\\", "\\u{d}", "\u202e", "\x1b[31m", "│", "┆", "║", "┇", "●", "▲", "·", "›", "§", " · ", " › ", " § ", "!"]


def odd_text(chance: random.Random) -> str:
    return "".join(chance.choices(ODD, k=chance.randint(0, 8)))


def test_whatever_stands_in_chunks_comes_back_from_lines_that_no_tool_changes() -> None:
    for seed in range(1500):
        chance = random.Random(seed)
        chunks = tuple(
            make(
                number,
                odd_text(chance),
                f"{chance.choice(['', 'Лист!', odd_text(chance) + 'x!'])}R{chance.randint(1, 9)}",
                section=odd_text(chance),
                headings=tuple(odd_text(chance) for _ in range(chance.randint(0, 3))),
                context=odd_text(chance),
            )
            for number in range(chance.randint(0, 5))
        )
        text = render_golden(chunks, ())
        assert parse_golden(text) == (chunks, ()), seed
        assert text.splitlines() == text.split("\n")[:-1], "a character that some tools take for a line end"
        assert not text or text.endswith("\n")
        assert all(letter.isprintable() or letter in "\n\t\u200c\u00a0" for letter in text), seed


def test_lines_with_unseen_characters_alone_are_written_with_escapes() -> None:
    text = render_golden([make(1, "plain \\ text\nwith \u202e override \\ sign", "L1")], ())
    assert "│ plain \\ text\n║ with \\u{202e} override \\\\ sign\n" in text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n● paragraph without the rest\n", 2),
        ("hello\n", 1),
        ("│ text of no chunk\n", 1),
        ("● paragraph · X9 ·  · 5 tokens · 0000000000000001\n│ a\n", 1),
        (f"● paragraph · L{'9' * 5000} ·  · 5 tokens · 0000000000000001\n│ a\n", 1),
        ("▲ warning: one\n● paragraph · L1 ·  · 5 tokens · 0000000000000001\n", 2),
        ("● paragraph · L1 ·  · 5 tokens · 0000000000000001\n<<<<<<< HEAD\n│ a\n", 2),
    ],
)
def test_a_text_that_is_no_golden_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(BuildError, match=rf"line {line}( is not part of a golden|: a git merge begins here)"):
        parse_golden(text)


def test_a_damaged_golden_is_known_from_a_text_that_never_was_one() -> None:
    golden = render_golden(CHUNKS, ())
    assert is_golden(golden[len(golden) // 2 :])
    assert is_golden("<<<<<<< HEAD\n" + golden)
    assert is_golden("")
    assert not is_golden("Notes on what to review.\n")


# -- local under insertion -------------------------------------------------------------------------------------------

SETTINGS = Config(max_tokens=120, min_tokens=24, overlap_sentences=2)


def words(text: str) -> int:
    return 3 + len(text.split())


def a_paragraph(name: str, length: int) -> str:
    sentences = [range(start, min(start + 10, length)) for start in range(0, length, 10)]
    return " ".join(" ".join(f"{name}{number}" for number in sentence).capitalize() + "." for sentence in sentences)


def markdown(paragraphs: list[str]) -> bytes:
    body = "\n\n".join(paragraphs)
    return f"# Клиника\n\n## Приём\n\n{body}\n\n## Оплата\n\nПо счёту.\n".encode()


def word(paragraphs: list[str]) -> bytes:
    body = [styled("H1", "Клиника"), styled("H2", "Приём"), *map(p, paragraphs), styled("H2", "Оплата"), p("По счёту.")]
    return docx("".join(body), styles=heading("H1", 0) + heading("H2", 1))


def golden_of(source: str, data: bytes) -> str:
    chunks, _ = chunk_document(read_document(data, source, SETTINGS), SETTINGS, words)
    return render_golden(chunks, ())


def blocks(golden: str) -> list[str]:
    """What stands in a golden of each chunk: no blank line is without an edge."""
    return golden.split("\n\n")


@pytest.mark.parametrize(("source", "write"), [("a.md", markdown), ("a.docx", word)])
@pytest.mark.parametrize("new", ["Коротко.", a_paragraph("новое", 60), a_paragraph("новое", 300)], ids=len)
def test_a_paragraph_put_in_anywhere_changes_its_neighbours_at_most(
    source: str, write: Callable[[list[str]], bytes], new: str
) -> None:
    chance = random.Random(7)
    old = [a_paragraph(f"а{number}б", chance.choice([4, 9, 15, 22, 30, 60, 90, 250])) for number in range(30)]
    before = blocks(golden_of(source, write(old)))
    own = -(-words(new) // 60)  # a text over the limit is several chunks
    for place in range(len(old) + 1):
        after = blocks(golden_of(source, write([*old[:place], new, *old[place:]])))
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
        assert len(changed) == 1, f"at {place}: changes in {len(changed)} places"
        _, a, b, c, d = changed[0]
        assert b - a <= 3, f"at {place}: {b - a} chunks of before are not what they were"
        assert d - c <= 3 + own
        assert any(new.split()[0] in block for block in after[c:d])
