"""The top-level blocks of a Markdown text: the plain ones known at sight, all others parsed by markdown-it.

A text is mostly paragraphs, headings, lists and tables, in which a parser looks at each line a dozen times for what
it could be. Those are read here by a pattern each if they can be nothing else by CommonMark (0.31, chapters 4 and 5;
tables by GFM 4.10):

- *Prose* is a line that begins with none of the marks that a block other than a paragraph begins or ends with: white
  space; `#`, `>`, `<`, `|`, `:`, `=`, `~`; `*`, `_`, `+` and `-`, unless followed by what makes them emphasis, a sign
  or a word (a rule or a setext underline has nothing but its marks and spaces, a bullet is followed by a space, a row
  of table delimiters has nothing but `-:|` and spaces); backticks, unless one or two (a fence has three); digits that
  are a list's marker; `[…]:` (a link's definition). So a line of prose goes on with an open paragraph or begins one.
- *A paragraph* is lines of prose before a blank line or the end. None can be a table's header, as no row of delimiters
  stands below it; none is a setext heading's, as no underline follows.
- *An ATX heading* is one line, whatever follows; only one with a `|` could be a table's header.
- *A list*: see `_list`. *A table*: see `_table`.

This holds where no other block is open, which is why markdown-it is asked for one whole top-level block at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

_PROSE = (
    r"(?:[^\s#>*+\-_=`~<\[|:0-9]|\*++[^\s*]|_++[^\s_]|\+\S|-[^\s\-|:]|`{1,2}+(?!`)"
    r"|(?![0-9]++[.)](?:[ \t\n]|\Z))[0-9]|\[[^\[\]\\\n]*+\](?!:)).*+(?:\n|\Z)"
)
_PARAGRAPH = re.compile(rf"(?:{_PROSE})++(?=[ \t]*+(?:\n|\Z))")
_HEADING = re.compile(r"(#{1,6}+)(?:[ \t][^|\n]*+)?(?:\n|\Z)")
_MARKER = re.compile(r"[-*+] |[0-9]{1,9}+[.)] ")
_ENTRY = re.compile(rf"( *+)(?:([-*+]|[0-9]{{1,9}}+[.)])( {{1,4}}+))?+{_PROSE}")
_DEEPEST = 8  # the parser gives up on what lies deeper than ten lists
_CELL = r"[ \t]*+:?-++:?[ \t]*+"
_TABLE = re.compile(rf"(\|.*+)\n(\|{_CELL}(?:\|{_CELL})*+\|?[ \t]*+)(?:\n|\Z)(?:\|.*+(?:\n|\Z))*+(?=[ \t]*+(?:\n|\Z))")
_BORDER = re.compile(r"(?<!\\)\|")
_MOST_CELLS = 1 << 16  # from which on the parser cuts off tables that lack some
_BLANK = re.compile(r"(?:[ \t]*+\n)*+(?:[ \t]++\Z)?")


class Plain(NamedTuple):
    """A block known at sight, on the lines from `start` up to `end` (from 0, `end` out).

    `text` is its lines as they stand, of a heading (`level` 1 to 6) what stands between the marks. `items` are the
    first lines of a list's items, nested ones among them.
    """

    kind: Literal["heading", "paragraph", "list", "table"]
    text: str
    start: int
    end: int
    level: int = 0
    items: Sequence[int] = ()

    def contents(self) -> list[str]:
        """The texts that may hold inline markup, but for empty ones."""
        if self.kind == "list":
            lines = self.text.split("\n")
            cuts = (*(item - self.start for item in self.items), len(lines))
            items = ("\n".join(map(str.strip, lines[cut:stop])) for cut, stop in pairwise(cuts))
            return [_MARKER.sub("", item, count=1).strip() for item in items]
        if self.kind == "table":
            header, _, *rows = map(_cells, self.text.split("\n"))
            return [cell for row in (header, *rows) for cell in row[: len(header)] if cell]
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
    if text[at] == "#":
        return _heading(text, at, line)
    if text[at] == "|":
        return _table(text, at, line)
    if _MARKER.match(text, at):
        return _list(text, at, line)
    found = _PARAGRAPH.match(text, at)
    if found is None:
        return None
    lines = found[0].removesuffix("\n")
    return Plain("paragraph", lines, line, line + lines.count("\n") + 1), found.end()


def _heading(text: str, at: int, line: int) -> tuple[Plain, int] | None:
    found = _HEADING.match(text, at)
    if found is None:
        return None
    content = text[found.end(1) : found.end()].rstrip("\n").rstrip(" \t")
    bare = content.rstrip("#")  # closing marks count as such behind a space
    if bare.endswith((" ", "\t")):
        content = bare
    return Plain("heading", content.strip(), line, line + 1, len(found[1])), found.end()


def _list(text: str, at: int, line: int) -> tuple[Plain, int] | None:
    """A list whose items, nested or not, each hold a paragraph and lists of that kind.

    An item's line is indented by at most three columns more than the text of the item that it stands in, and has one
    to four spaces behind its marker (with five its text would be code) and prose. It needs no blank line before it,
    unless it opens a list within an item by another number than 1. Lines of prose alone go on with the paragraph above,
    however they are indented. The list ends before an item of its own level with another mark, and before a line behind
    a blank one that is neither indented nor may be an item of the list.
    """
    start, begin, end, behind = line, at, line, at
    items: list[int] = []
    edges: list[int] = []  # where the texts of the open items begin
    kind, gap, wrapped = "", False, False
    while at < len(text):
        found = _ENTRY.match(text, at)
        if found is None:
            blank = _BLANK.match(text, at).end()  # type: ignore[union-attr]  # it matches anywhere
            if blank == at:
                if gap and text[at] not in " \t" and not (text[at] == kind or (kind in ".)" and text[at].isdecimal())):
                    break
                return None
            line += text.count("\n", at, blank)
            at, gap = blank, True
            continue
        indent, marker = len(found[1]), found[2]
        if marker is None:
            if gap and not indent:
                break
            if gap:
                return None
            wrapped = True
        else:
            nested = bool(edges) and indent >= edges[-1]
            while edges and indent < edges[-1]:
                edges.pop()
            if indent - (edges[-1] if edges else 0) > 3 or len(edges) == _DEEPEST:
                return None
            kind = kind or marker[-1]
            if not edges and marker[-1] != kind:
                break
            if nested and not gap and marker not in "-*+" and int(marker[:-1]) != 1:
                return None
            edges.append(found.end(3) - at)
            items.append(line)
        line += 1
        at = behind = found.end()
        end, gap = line, False
    source = text[begin:behind].removesuffix("\n")
    if wrapped and ("<" in source or "![" in source):
        return None  # a picture may stand on several lines, and their indentation counts
    return Plain("list", source, start, end, items=items), behind


def _table(text: str, at: int, line: int) -> tuple[Plain, int] | None:
    """A table whose lines all begin with `|`, before a blank line or the end; as many delimiters as header cells."""
    found = _TABLE.match(text, at)
    if found is None or found[1].rstrip(" \t")[-1].isspace():
        return None
    lines = found[0].removesuffix("\n")
    end = line + lines.count("\n") + 1
    columns = len(_cells(found[1]))
    if columns != len(_cells(found[2])) or columns * (end - line) > _MOST_CELLS:
        return None
    return Plain("table", lines, line, end), found.end()


def _cells(row: str) -> list[str]:
    """The cells of a line that begins with `|`."""
    inner = _BORDER.split(row.strip())[1:]
    return [cell.replace("\\|", "|").strip() for cell in (inner if inner[-1] else inner[:-1])]
