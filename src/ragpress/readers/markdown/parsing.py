"""The parser of Markdown: CommonMark with tables and footnotes by markdown-it, and the blocks that other tools add.

These are block rules of our own: comments of Obsidian and MDX, the imports and exports of MDX, HTML tables with blank
lines inside, and the admonitions and tabs of MkDocs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from ragpress.readers.markdown.markup import CLOSINGS

CONTAINER = re.compile(
    r"(?:(?:!!!|\?\?\?\+?)[ \t]+(?P<name>[\w-]+)(?:[ \t]+[\w-]+)*|===[!+]?)(?:[ \t]+\"(?P<title>[^\"\n]*)\")?[ \t]*$",
    re.MULTILINE,
)
"""The first line of an admonition (`!!! note "Title"`, `??? note`) or a tab (`=== "Title"`) of MkDocs."""
_SCRIPT = re.compile(
    r"import\s+(?:[\w$*{][^\n'\"]*\sfrom\s*)?(?:'[^'\n]+'|\"[^\"\n]+\");?\s*(?:$|\n)"
    r"|export\s+(?:(?:const|let|var|class|(?:async\s+)?function\*?)\s+[\w$]+\s*[=({]|default\s+(?:[({]|[\w$.]+;?\s*$))",
    re.MULTILINE,
)


@cache
def parser() -> MarkdownIt:
    """The parser, which leaves inline markup as it is."""
    # Only headings and pictures are parsed for it, where they stand: that is most of the time saved.
    made = MarkdownIt("commonmark").enable("table").disable("inline")
    made.use(footnote_plugin, inline=False, move_to_end=False)
    made.block.ruler.before("table", "script", _script)
    for name, rule in (("delimited", _delimited), ("container", _container)):
        made.block.ruler.before("table", name, rule, {"alt": ["paragraph"]})
    return made


def top_level(text: str, env: dict[str, Any]) -> Iterator[Sequence[Token]]:
    """The tokens of each block that stands in no other, in order. `env` takes up link definitions, as markdown-it's.

    Beside markdown-it's own there are tokens of the types `footnote_reference_open` (`meta["label"]`), `comment` and
    `script` (with their text as content), and `container_open` (its title as content).
    """
    group: list[Token] = []
    for token in parser().parse(text, env):
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def _begins(state: StateBlock, line: int, signs: str) -> int:
    """Where the text of a line begins, -1 if not with one of the signs: these rules are asked at every line."""
    begin = state.bMarks[line] + state.tShift[line]
    return begin if state.src[begin : begin + 1] in signs and begin < state.eMarks[line] else -1


def _delimited(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """`%%` … `%%`, `{/*` … `*/}` and `<table` … `</table>` over lines of their own, blank ones among them."""
    begin = _begins(state, line, "%{<")
    if begin < 0 or state.level:
        return False
    opening = next((mark for mark in ("%%", "{/*", "<table") if state.src.startswith(mark, begin)), "")
    unclosed = state.env.setdefault("unclosed", set())  # so that no closing is sought twice in vain
    if not opening or opening in unclosed or state.is_code_block(line):
        return False
    found = CLOSINGS[opening].search(state.src, begin + len(opening))
    if found is None:
        unclosed.add(opening)
        return False
    last = next(number for number in range(line, end) if state.eMarks[number] >= found.end())
    is_table = opening == "<table"
    if not is_table and state.src[found.end() : state.eMarks[last]].strip():
        return False
    if not silent:
        token = state.push("html_block" if is_table else "comment", "", 0)
        token.content = state.src[
            begin if is_table else begin + len(opening) : found.end() if is_table else found.start()
        ]
        token.map = [line, last + 1]
        state.line = last + 1
    return True


def _script(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Imports and exports of MDX, up to a blank line."""
    begin = state.bMarks[line]
    if state.level or state.src[begin : begin + 2] not in ("im", "ex") or not _SCRIPT.match(state.src, begin):
        return False
    last = line
    while last + 1 < end and not state.isEmpty(last + 1):
        last += 1
    if not silent:
        token = state.push("script", "", 0)
        token.content = state.src[begin : state.eMarks[last]]
        token.map = [line, last + 1]
        state.line = last + 1
    return True


def _container(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """A line with a title, and the lines below it that are indented by four columns."""
    begin = _begins(state, line, "!?=")
    if begin < 0 or state.src[begin : begin + 3] not in ("!!!", "???", "===") or state.is_code_block(line):
        return False
    found = CONTAINER.match(state.src, begin)
    if found is None or (found["name"] is None and found["title"] is None):
        return False
    last = line
    for number in range(line + 1, end):
        if not state.isEmpty(number):
            if state.sCount[number] < state.blkIndent + 4:
                break
            last = number
    if last == line:
        return False
    if not silent:
        token = state.push("container_open", "", 1)
        token.content = title_of(found)
        token.map = [line, last + 1]
        line_max, state.lineMax = state.lineMax, last + 1
        state.blkIndent += 4
        state.md.block.tokenize(state, line + 1, last + 1)
        state.blkIndent -= 4
        state.lineMax = line_max
        state.push("container_close", "", -1)
        state.line = last + 1
    return True


def title_of(container: re.Match[str]) -> str:
    """What the page shows above: the title, which may be empty, else the name of the kind (`note`: Note)."""
    return container["title"] if container["title"] is not None else str(container["name"]).capitalize()
