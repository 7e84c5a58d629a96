"""Blocks known at sight against what the parser makes of the same texts, thousands of them made to confuse the two."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import pytest
from markdown_it.token import Token

from ragpress.readers.markdown import parsing
from ragpress.readers.markdown.blocks import read_blocks
from ragpress.readers.markdown.parsing import Plain, at_sight, parser, top_level

# fmt: off
LINES = (
    "слово и слово", "a | b", "12.3 текст", "(скобка", "«кавычка»", "\\# экранировано", "&amp; знак", "!знак", "'x'",
    "**жирно** и нет", "*курсив*", "***", "* * *", "**", "__x__", "___", "_ _ _", "_", "*", "****x", "*\tx", "_x",
    "-5 градусов", "- пункт", "-", "--", "---", "- - -", "-|", "-:", "--|--", "-|-", "|---|", ":-:", ":--|--:",
    "-\tx", "+7 495", "+ пункт", "+", "++", "===", "=", "= x", "==x", "| a | b |", "| 1 | 2 |", "|", ":", ": x",
    "- a | b", "1. пункт", "2) пункт", "10. x", "1.", "1)", "1.x", "3. пункт", "1234567890. x", "0. x", "1 . x", "7",
    "-1. x", "# З", "## З ##", "#", "####### семь", "#нет", "### a | b", "# x #\t", "## #", "#\tз", "# x\\#",
    "#  з   ## #", "> цитата", ">", ">цитата", ">> две", "> - x", "> ```", "> # з", "> a | b", "> --|--", "~5",
    "~~x~~", "~~~", "~~~~ x", "```", "```` x", "`код`", "``код``", "``", "`", "```x```", "` ```", "<div>", "</div>",
    "<b>x</b>", "<!--", "-->", "<", "<!-- x -->", "<?x", "?>", "<script>", "</script>", "<pre>x", "</pre>",
    "<a href='x'>", "<!X>", "<br>", "<x@y.z>", "[a]: /b", "[a]:", "/b", "'t'", '"t', 't"', "[a](b)", "[a]", "[a] : b",
    "[^1]: сноска", "[a\\]: b", "[a", "b]: c", "[]", "![к](a.png)", "[![x](y)](z)", "[a]:b", "[x][y]", "\xa0слово",
    "\x0bслово", "\u2028слово", "\u3000", "\x85", "\u200b", "-  пункт", "-    пункт", "-     код", "- # з", "- > ц",
    "- ```", "- - x", "- 1. x", "1.  - x", "- [a]: b", "- ", "1. ", "- a\\", "+ **ж**: x", "* *к*", "* **ж**", "- -5",
    "- ---", "* ***", "- <b>", "- | a", "- `к`", "1. 2. x", "1) 5", "x:", "a | b\n--|--", "a | b\n-:|--", "a|b\n-|-",
    "# a | b\n:-|-:", "a | b\n:-: | -", "a |\n|-", "- a | b\n--|--", "x\na | b\n-|--", "[a\\]x]: b", "[a\n b]: /c",
    "[a]: /b\n't\nu'", "слово\n---", "слово\n===", "- x\n---", "слово\n- x", "x\n1. y", "x\n2. y", "![к][a]",
    "# ![к][a] з", "<img src=x>", "- ![](a.png)", "слово <!-- нет --> и", "<b>х</b> &lt;",
)
# fmt: on
BEFORE = ("", "", "", "", "", "", "", " ", "  ", "   ", "    ", "     ", "\t", " \t", "> ", "- ", "1. ", "  - ")
BEHIND = ("", "", "", "", "", "", " ", "  ", "\t", "\\")
BLANK = ("", "", "", "", " ", "\t", "     ")


def made(random_: random.Random) -> str:
    """A text of up to 14 lines: of a few different ones so that they meet, or of a list's or a table's lines."""
    few = random_.sample(LINES, random_.randint(1, 6))
    write = random_.choice((anything, anything, item, row))
    lines = [write(random_, few) for _ in range(random_.randint(1, 14))]
    return "\n".join(lines) + random_.choice(("", "\n", "\n\n", "\n  "))


def anything(random_: random.Random, few: list[str]) -> str:
    if random_.random() < 0.3:
        return random_.choice(BLANK)
    return random_.choice(BEFORE) + random_.choice(few) + random_.choice(BEHIND)


def item(random_: random.Random, few: list[str]) -> str:
    """A line of a list, mostly."""
    chance = random_.random()
    if chance < 0.2:
        return random_.choice(BLANK)
    if chance < 0.25:
        return anything(random_, few)
    marker = random_.choice(("-", "-", "-", "*", "1.", "1.", "2.", "12)", "-", ""))
    gap = " " * random_.choice((1, 1, 1, 2, 4, 5)) if marker else ""
    text = random_.choice(("слово", "**ж**", "![к](a.png)", "<b>", "[с](т)", few[0])) if chance < 0.5 else "слово"
    return " " * random_.choice((0, 0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 8)) + marker + gap + text


def row(random_: random.Random, few: list[str]) -> str:
    """A line of a table, mostly; a first line often has another below."""
    chance = random_.random()
    if chance < 0.15:
        return anything(random_, few)

    def cells(choice: tuple[str, ...]) -> str:
        many = random_.choice((1, 2, 2, 2, 3))
        ends = random_.choice(("|", "|", "|", "", "| ", "|\t", "|\u00a0", "\\|"))
        return "|" + "|".join(random_.choice(choice) for _ in range(many)) + ends

    said = ("а", " б ", "", " ", "в\\|г", "\\", "\\\\|", "`|`", "![к](a.png)", "<img src=x>")
    rules = ("-", "--", ":-", "-:", ":-:", " - ", "-- ", "" if chance < 0.2 else "-", "х" if chance < 0.2 else "-")
    return f"{cells(said)}\n{cells(rules)}" if chance < 0.5 else cells(said)


def parsed(text: str) -> tuple[list[list[Token]], dict[str, Any]]:
    """The parser's tokens by top-level block, and its link definitions."""
    env: dict[str, Any] = {}
    groups: list[list[Token]] = [[]]
    for token in parser().parse(text, env):
        groups[-1].append(token)
        if token.level == 0 and token.nesting <= 0:
            groups.append([])
    return groups[:-1], env


def stripped(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def is_same(found: Plain | Sequence[Token], group: list[Token], lines: list[str]) -> bool:
    """Whether a block says what the parser's tokens say."""
    if not isinstance(found, Plain):
        return list(found) == group
    first, end = group[0], (group[0].map or [0, 0])[1]
    while not lines[end - 1].strip(" \t"):
        end -= 1
    wanted = {
        "heading": {"heading_open"},
        "paragraph": {"paragraph_open"},
        "list": {"bullet_list_open", "ordered_list_open"},
        "table": {"table_open"},
    }[found.kind]
    leaves = [token for token in group if token.nesting == 0]
    begins = {
        name: [token.map[0] for token in group if token.type == f"{name}_open" and token.map]
        for name in ("list_item", "paragraph")
    }
    said = [token.content for token in leaves if token.content.strip()]
    return (
        first.type in wanted
        and first.map is not None
        and (first.map[0], end) == (found.start, found.end)
        and {token.type for token in leaves} == {"inline"}
        and list(map(stripped, said)) == list(map(stripped, filter(None, found.contents())))
        and (first.tag == f"h{found.level}") == (found.kind == "heading")
        and (found.kind == "heading" or found.text == "\n".join(lines[found.start : found.end]))
        and (found.kind != "list" or list(found.items) == begins["list_item"] == begins["paragraph"])
    )


def agrees(text: str) -> bool:
    groups, definitions = parsed(text)
    env: dict[str, Any] = {}
    found = list(top_level(text, env))
    lines = text.split("\n")
    return (
        len(found) == len(groups)
        and env == definitions
        and all(is_same(one, group, lines) for one, group in zip(found, groups, strict=True))
    )


@pytest.mark.parametrize("seed", range(4))
def test_blocks_are_those_of_the_parser(seed: int) -> None:
    random_ = random.Random(seed)
    texts = [made(random_) for _ in range(1000)]
    assert [text for text in texts if not agrees(text)] == []


@pytest.mark.parametrize("seed", range(4, 6))
def test_all_that_is_read_is_what_a_parser_alone_would_tell(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random_ = random.Random(seed)
    texts = [made(random_) for _ in range(600)]
    found = [read_blocks(text, pictures=True) for text in texts]
    monkeypatch.setattr(parsing, "at_sight", lambda *_: None)
    assert [text for text, body in zip(texts, found, strict=True) if read_blocks(text, pictures=True) != body] == []


def test_lists_are_read_as_deep_as_the_parser_goes() -> None:
    assert agrees("".join(f"{'  ' * depth}- пункт {depth}\n" for depth in range(14)))
    assert isinstance(next(top_level("- а\n  - б\n    - в\n", {})), Plain)


def test_a_table_that_the_parser_may_cut_off_is_left_to_it() -> None:
    """It makes up at most 65,536 cells where rows are short."""
    head = "|" + "а|" * 400 + "\n|" + "-|" * 400 + "\n"
    assert at_sight(head + "|б|\n" * 161, 0, 0) is not None
    assert at_sight(head + "|б|\n" * 162, 0, 0) is None


def test_most_of_a_usual_document_needs_no_parser() -> None:
    text = (
        "# З\n\n**Ж**: слово\nи слово\n\n- а\n- **б**\n  дальше\n\n  1. в\n  2. г\n\n## Ё\n[с](т)\n\n|а|б|\n|-|-|\n|в|"
    )
    assert [block.kind for block in top_level(text, {}) if isinstance(block, Plain)] == [
        *("heading", "paragraph", "list", "heading", "paragraph", "table"),
    ]


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        *(("слово\n", 2000), ("- слово\n", 2000), ("- слово\n\n", 2000), ("1. слово\n* х\n", 1000)),
        *(("- слово\n  слово\n", 1000), ("|а|\n", 1000), ("слово\n---\n", 200), ("а\n<b>\n", 200)),
    ],
)
def test_a_long_text_takes_time_in_proportion(lines: str, times: int) -> None:
    def seconds(text: str) -> float:
        found = []
        for _ in range(3):
            begin = time.process_time()
            read_blocks(text)
            found.append(time.process_time() - begin)
        return min(found)

    assert seconds(lines * 10 * times) < 25 * seconds(lines * times) + 0.02
