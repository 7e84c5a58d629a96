"""The top-level blocks of a Markdown text: the plain ones known at sight, all others parsed by markdown-it.

A text is mostly paragraphs, headings and short lists, in which a parser looks at each line a dozen times for what it
could be. Those are read here by one pattern each, if by CommonMark (0.31, chapter 4 and 5; tables as in GFM) they can
be nothing else:

- *A line that is prose at sight* begins, without indentation, with none of the marks that any block but a paragraph
  begins or ends with: space and tab (indented code, a list item's content), `#`, `>`, `<`, `|`, `:`, `=`, `~`; `*`,
  `_`, `+` and `-` unless followed by what makes them emphasis, a sign or a word (a rule or a setext underline has
  nothing but its marks and spaces, a bullet is followed by a space, a row of table delimiters has nothing but `-:|`
  and spaces); backticks unless one or two (a fence has three); digits unless they are no list marker; `[…]` unless
  no colon follows (a link's definition). A line within a paragraph ends it only by such a mark.
- *A paragraph* is lines of prose before a blank line or the end. No line can be a table's header, because the line
  below a header is a row of delimiters; none is a setext heading's, because no underline follows.
- *An ATX heading* is one line, whatever follows; only one with a `|` could be a table's header.
- *A list* is lines of one bullet or delimiter each, one to four spaces and prose, before a blank line behind which
  stands, without indentation, another mark than the list's, or the end. With five spaces an item would be code; an
  indented line, or another item, would go on with the list.

This holds where no other block is open, which is why markdown-it is asked for one whole top-level block at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

_PROSE = (
    r"(?:[^\s#>*+\-_=`~<\[|:0-9]|\*++[^\s*]|_++[^\s_]|\+\S|-[^\s\-|:]|`{1,2}+(?!`)"
    r"|(?![0-9]++[.)](?:[ \t\n]|\Z))[0-9]|\[[^\[\]\\\n]*+\](?!:)).*+(?:\n|\Z)"
)
_GAP = r"(?:[ \t]*+\n)++"
_PARAGRAPH = re.compile(rf"(?:{_PROSE})++(?=[ \t]*+(?:\n|\Z))")
_HEADING = re.compile(r"(#{1,6}+)(?:[ \t][^|\n]*+)?(?:\n|\Z)")
_ITEM = re.compile(r"[-*+] {1,4}+|[0-9]{1,9}+[.)] {1,4}+")
_LISTS = {
    **{
        mark: re.compile(rf"(?:{re.escape(mark)} {{1,4}}+{_PROSE})++(?=\Z|{_GAP}(?:\Z|[^\s{re.escape(mark)}]))")
        for mark in "-*+"
    },
    **{
        mark: re.compile(rf"(?:[0-9]{{1,9}}+{re.escape(mark)} {{1,4}}+{_PROSE})++(?=\Z|{_GAP}(?:\Z|[^\s0-9]))")
        for mark in ".)"
    },
}
_NUMBER = re.compile(r"[0-9]{1,9}+([.)])")
_BLANK = re.compile(r"(?:[ \t]*+\n)*+(?:[ \t]++\Z)?")


class Plain(NamedTuple):
    """A block known at sight, on the lines from `start` up to `end` (from 0, `end` out).

    `text` is its lines as they stand, of a heading (`level` 1 to 6) what stands between the marks. The items of a list
    are its lines.
    """

    kind: Literal["heading", "paragraph", "list"]
    text: str
    start: int
    end: int
    level: int = 0

    def contents(self) -> list[str]:
        """The texts that may hold inline markup."""
        if self.kind == "list":
            return [_ITEM.sub("", line, count=1).strip() for line in self.text.split("\n")]
        return [self.text.strip()]


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables, which leaves inline markup as it is."""
    # Only headings and pictures are parsed for it, where they stand: that is most of the time saved.
    return MarkdownIt("commonmark").enable("table").disable("inline")


def top_level(text: str, env: dict[str, Any]) -> Iterator[Plain | Sequence[Token]]:
    """The blocks in order, each plain or as the tokens of its own. `env` takes up link definitions, as markdown-it's.

    Lines end with `\\n` alone, and there is no NUL.
    """
    rules = parser().block.ruler.getRules("")
    state: StateBlock | None = None
    at = line = 0
    while True:
        behind = _BLANK.match(text, at).end()  # type: ignore[union-attr]  # it matches anywhere
        line += text.count("\n", at, behind)
        at = behind
        if at == len(text):
            return
        found = at_sight(text, at, line)
        if found is not None:
            plain, at = found
            line = plain.end
            yield plain
            continue
        if state is None:
            state = StateBlock(text, parser(), env, [])
        state.tokens = []
        state.line = line
        next(rule for rule in rules if rule(state, line, state.lineMax, False))
        line = state.line
        at = state.bMarks[line]
        if state.tokens:
            yield state.tokens


def at_sight(text: str, at: int, line: int) -> tuple[Plain, int] | None:
    """The plain block that begins at the offset `at`, in `line`, and where it ends; None where a parser is to tell."""
    mark = text[at]
    if mark == "#":
        return _heading(text, at, line)
    if mark not in "-*+":
        number = _NUMBER.match(text, at)
        mark = number[1] if number else ""
    kind: Literal["paragraph", "list"] = "list"
    found = _LISTS[mark].match(text, at) if mark else None
    if found is None:
        kind, found = "paragraph", _PARAGRAPH.match(text, at)
    if found is None:
        return None
    lines = found[0].removesuffix("\n")
    return Plain(kind, lines, line, line + lines.count("\n") + 1), found.end()


def _heading(text: str, at: int, line: int) -> tuple[Plain, int] | None:
    found = _HEADING.match(text, at)
    if found is None:
        return None
    content = text[found.end(1) : found.end()].rstrip("\n").rstrip(" \t")
    bare = content.rstrip("#")  # closing marks count as such behind a space
    if bare.endswith((" ", "\t")):
        content = bare
    return Plain("heading", content.strip(), line, line + 1, len(found[1])), found.end()
