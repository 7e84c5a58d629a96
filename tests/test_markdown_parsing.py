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
from ragpress.readers.markdown.parsing import Plain, parser, top_level

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
    """A text of up to 14 lines, of few different ones so that they meet."""
    few = random_.sample(LINES, random_.randint(1, 6))
    lines = []
    for _ in range(random_.randint(1, 14)):
        if random_.random() < 0.3:
            lines.append(random_.choice(BLANK))
        else:
            lines.append(random_.choice(BEFORE) + random_.choice(few) + random_.choice(BEHIND))
    return "\n".join(lines) + random_.choice(("", "\n", "\n\n", "\n  "))


def parsed(text: str) -> tuple[list[list[Token]], dict[str, Any]]:
    """The parser's tokens by top-level block, and its link definitions."""
    env: dict[str, Any] = {}
    groups: list[list[Token]] = [[]]
    for token in parser().parse(text, env):
        groups[-1].append(token)
        if token.level == 0 and token.nesting <= 0:
            groups.append([])
    return groups[:-1], env


def is_same(found: Plain | Sequence[Token], group: list[Token], lines: list[str]) -> bool:
    """Whether a block says what the parser's tokens say."""
    if not isinstance(found, Plain):
        return list(found) == group
    first, end = group[0], (group[0].map or [0, 0])[1]
    while not lines[end - 1].strip(" \t"):
        end -= 1
    names = [token.type.removeprefix("bullet_").removeprefix("ordered_") for token in group]
    inline = [token for token in group if token.type == "inline"]
    count = found.end - found.start
    inner = ["paragraph_open", "inline", "paragraph_close"]
    items = ["list_open", *["list_item_open", *inner, "list_item_close"] * count, "list_close"]
    wanted = {"heading": ["heading_open", "inline", "heading_close"], "paragraph": inner, "list": items}[found.kind]
    begins = [token.map[0] for token in inline if token.map]
    return (
        names == wanted
        and first.map is not None
        and (first.map[0], end) == (found.start, found.end)
        and [token.content.strip() for token in inline] == found.contents()
        and (first.tag == f"h{found.level}") == (found.kind == "heading")
        and (found.kind == "heading" or found.text == "\n".join(lines[found.start : found.end]))
        and (found.kind != "list" or begins == list(range(found.start, found.end)))
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


def test_most_of_a_usual_document_needs_no_parser() -> None:
    text = "# З\n\n**Ж**: слово\nи *слово*\n\n- а\n- **б**\n\n1. в\n2. г\n\n## Ё\n[с](т) – +7 495\n"
    assert [block.kind for block in top_level(text, {}) if isinstance(block, Plain)] == [
        *("heading", "paragraph", "list", "list", "heading", "paragraph"),
    ]


@pytest.mark.parametrize(
    "lines", ["слово\n", "- слово\n", "- слово\n\n", "1. слово\n* х\n", "# з\n", "слово\n---\n", "а\n<b>\n"]
)
def test_a_long_text_takes_time_in_proportion(lines: str) -> None:
    begin = time.process_time()
    read_blocks(lines * 1000)
    short = time.process_time() - begin
    begin = time.process_time()
    read_blocks(lines * 5000)
    assert time.process_time() - begin < 12 * short + 0.1
