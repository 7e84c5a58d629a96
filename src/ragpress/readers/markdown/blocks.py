"""The blocks of a Markdown body, each with the source text that an editor wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from markdown_it.token import Token

from ragpress.readers.markdown.markup import visible
from ragpress.readers.markdown.parsing import CONTAINER, parser, top_level
from ragpress.readers.markdown.pictures import images
from ragpress.records import UnitKind

_ATTRIBUTES = re.compile(
    r"\s*\{:?\s*[#.][^{}\n]*\}\s*$"
)  # of a heading, as Google Docs, Pandoc and kramdown write them
_NOTE = re.compile(r"\[\^(?P<label>[^\]\s]+)\]")
_HTML_HEADER = re.compile(r"\s*<table\b(?:(?!</tr|<td).)*<th\b", re.IGNORECASE | re.DOTALL)
_MARKS = re.compile(r"[\s>]*(?:[-*+]|\d+[.)])?\s*")  # before the text of an item or in a quotation
_DEFINITION = re.compile(r"\s*\[(?P<note>\^)?[^\]]*\]:\s*(?P<target>\S*)")
_TARGET = re.compile(r"[/#.:<@%]")
_TICKS = re.compile(r"`{3,}")
_LONGEST_HEADING = 2000  # of a longer one the inline markup stays: parsing it may take time in its square
_INLINE = re.compile(r"[\\`*_\[\]!<&\n]")  # what any inline markup has one of
_BLANK = re.compile(r"\n\s*\n")
_CODE = ("fence", "code_block")


class Block(NamedTuple):
    """A block on the lines from `start` up to `end` (from 0, `end` out). `level` is a heading's, 1 to 6, else 0.

    A heading's `text` is plain; that of all others is the source without what nobody sees. `breaks` and `repeat`
    are those of a Unit. A picture (kind `image_caption`) has an address in place of a text, and follows the block that
    shows it.
    """

    kind: UnitKind
    text: str
    start: int
    end: int
    level: int = 0
    breaks: tuple[int, ...] = ()
    repeat: int = 0
    picture: str = ""


class Comment(NamedTuple):
    """What no page shows, on the lines from `start` up to `end`: comments, or by its `reason` the code of MDX.

    `open` if a block's HTML comment is not closed.
    """

    text: str
    start: int
    end: int
    open: bool = False
    reason: str = "comment"


class Body(NamedTuple):
    """The top-level blocks in order, the comments among them, and how many pictures have no alternative text."""

    blocks: list[Block]
    comments: list[Comment]
    silent_pictures: int


def read_blocks(text: str, *, pictures: bool = False) -> Body:
    """What a Markdown text is made of. Only with `pictures` are there blocks of pictures.

    Lists, tables, quotations, code, and admonitions and tabs (their title first) are one block each. Rules, link
    definitions and blocks without visible text are none; but a line that only looks like a definition is
    (`[Phone]: 8-800-000`). A footnote stands below the lines that cite it first, else where it is.
    """
    env: dict[str, Any] = {}
    reader = _Reader(text.split("\n"), env)
    groups = list(top_level(text, env))  # all at first: definitions and notes hold above them, too
    reader.read_definitions(groups)
    for group in groups:
        reader.add(group)
        reader.add_pictures(group, keep=pictures)
    reader.add_uncited_notes()
    return Body(sorted(reader.blocks, key=lambda block: block.start), reader.comments, reader.silent_pictures)


class _Reader:
    def __init__(self, lines: list[str], env: dict[str, Any]) -> None:
        self.blocks: list[Block] = []
        self.comments: list[Comment] = []
        self.silent_pictures = 0
        self._lines = lines
        self._env = env
        self._addresses: dict[str, str] = {}  # of links, by the label of their definition
        self._notes: dict[str, tuple[int, int]] = {}  # the lines of each footnote that was not yet cited, by its label

    def add(self, group: Sequence[Token]) -> None:
        token = group[0]
        if token.map is None or token.type in ("hr", "footnote_reference_open"):
            return
        start, end = token.map
        while end > start + 1 and not self._lines[end - 1].strip():
            end -= 1
        if token.type == "heading_open":
            source = _ATTRIBUTES.sub("", group[1].content)
            self.blocks.append(Block("heading", self._heading(source, start, end), start, end, level=int(token.tag[1])))
            self._append("paragraph", "\n".join(self._cited(source)), start, end)
        elif token.type in ("comment", "script"):
            self.comments.append(Comment(token.content.strip(), start, end, reason=token.type))
        elif token.type in _CODE:
            self._add_code(token, start, end)
        elif token.type == "table_open":
            self._add_table(start, end)
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            items = {inner.map[0] for inner in group if inner.type == "list_item_open" and inner.map}
            self._add_text("list", start, end, items, _leaves(group), _code(group))
        elif token.type == "html_block":
            self._add_html(start, end)
        else:
            contained = token.type == "container_open"
            self._show_titles(group, outdent=contained)
            leaves = _leaves(group)
            items = leaves if contained or token.type == "blockquote_open" else set()
            self._add_text(
                "paragraph", start, end, items, leaves, _code(group), titled=contained and bool(token.content)
            )

    def add_pictures(self, group: Sequence[Token], *, keep: bool) -> None:
        start, end = group[0].map or (0, 0)
        for image in images(group, parser(), self._env, all_=keep):
            self.silent_pictures += not image.alternative.strip()
            if keep:
                self.blocks.append(Block("image_caption", "", start, end, picture=image.address))

    def read_definitions(self, groups: Iterable[Sequence[Token]]) -> None:
        """Takes up notes and the addresses of links; what is only taken for a definition becomes a block."""
        for group in groups:
            if group[0].type == "footnote_reference_open" and group[0].map:
                start, end = group[0].map
                label = group[0].meta["label"].casefold()
                self._notes[f"{label} {start}" if label in self._notes else label] = start, end  # no label has a space
        references = self._env.get("references", {})
        covered = {number for group in groups for number in range(*(group[0].map or (0, 0)))} if references else set()
        for label, definition in (*references.items(), *(("", each) for each in self._env.get("duplicate_refs", []))):
            start, end = definition["map"]
            found = _DEFINITION.match(self._lines[start])
            target = found["target"] if found else ""
            plain = target.rstrip(".,;:!?")
            if found is None or start in covered:
                continue
            if found["note"] or (plain and not _TARGET.search(plain)):
                text = "\n".join(self._lines[start:end]).strip()
                self.blocks.append(Block("paragraph", text, start, end))
            elif label:
                address = target.removeprefix("<").removesuffix(">") or definition["href"]
                self._addresses[label] = "" if address.startswith("data:") else address

    def add_uncited_notes(self) -> None:
        for label, (start, end) in list(self._notes.items()):
            if self._notes.pop(label, None):
                self._append("paragraph", "\n".join(self._note_text(start, end)), start, end)

    def _cited(self, text: str) -> list[str]:
        """The lines of the notes that a text is the first to cite, and of those that they cite in turn."""
        lines: list[str] = []
        waiting = [text]
        while waiting and self._notes:
            for found in _NOTE.finditer(waiting.pop(0)):
                place = self._notes.pop(found["label"].casefold(), None)
                if place is not None:
                    note = self._note_text(*place)
                    lines += note
                    waiting += note
        return lines

    def _note_text(self, start: int, end: int) -> list[str]:
        source = [self._lines[start].lstrip(), *map(_outdented, self._lines[start + 1 : end])]
        text, comments = visible("\n".join(source), self._addresses)
        self._note(comments, start, end)
        return [line.rstrip() for line in text.split("\n") if line.strip()]

    def _clean(self, start: int, end: int, *, one_line: bool = False) -> str:
        text, comments = visible("\n".join(self._lines[start:end]), self._addresses, one_line=one_line)
        self._note(comments, start, end)
        return text

    def _note(self, comments: list[str], start: int, end: int, *, still_open: bool = False) -> None:
        if comments:
            self.comments.append(Comment("\n".join(comments).strip(), start, end, still_open))

    def _heading(self, source: str, start: int, end: int) -> str:
        if len(source) > _LONGEST_HEADING:
            return " ".join(self._clean(start, end, one_line=True).lstrip("# ").split())
        if not _INLINE.search(source):
            return " ".join(source.split())
        tokens: list[Token] = []
        parser().inline.parse(source, parser(), self._env, tokens)
        parts = []
        for token in tokens:
            if token.type == "html_inline":
                text, comments = visible(token.content, one_line=True)
                self._note(comments, start, end)
                parts.append(text)
            else:
                parts.append(" " if token.type in ("softbreak", "hardbreak") else token.content)
        return " ".join("".join(parts).split())

    def _add_text(
        self,
        kind: UnitKind,
        start: int,
        end: int,
        items: set[int],
        leaves: set[int],
        code: Mapping[int, int],
        *,
        titled: bool = False,
    ) -> None:
        """A paragraph, list or quotation, cleaned leaf by leaf, with breaks at the lines in `items`.

        `leaves` are the first lines of blocks that hold text; `code` those of code, with the lines that it ends at.
        If it is `titled`, the first line is repeated above each part.
        """
        edges = sorted(cut for cut in {start, *items, *leaves, *code.values()} if start <= cut < end)
        pieces: list[str] = []
        breaks = []
        length = 0
        for begin, stop in pairwise([*edges, end]):
            piece = "\n".join(self._lines[begin:stop]) if begin in code else self._leaf(begin, stop)
            if not piece.strip() and begin not in code:
                continue
            if begin in items:
                breaks.append(length)
            pieces.append(piece)
            length += len(piece) + 1
        self._append(kind, "\n".join(pieces), start, end, breaks, repeat=len(pieces[0]) + 1 if titled else 0)

    def _leaf(self, start: int, end: int) -> str:
        """A leaf block's lines, and the blank lines behind it, without spaces at the ends of lines."""
        behind = end
        while behind > start and not self._lines[behind - 1].strip():
            behind -= 1
        text = "\n".join(line.rstrip() for line in self._clean(start, behind).split("\n"))
        if not text.strip():
            return ""
        # A leaf has no blank line within, unless a tag or comment left one that would now divide it.
        text = _BLANK.sub("\n", text)
        if self._notes and "[^" in text:
            first = text.split("\n", 1)[0]
            indent = "".join(char if char in ">\t" else " " for char in _MARKS.match(first)[0])  # type: ignore[index]
            text = "\n".join((text, *(indent + line for line in self._cited(text))))
        return text + "\n" * (end - behind)

    def _add_html(self, start: int, end: int) -> None:
        source = "\n".join(self._lines[start:end])
        text, comments = visible(source, self._addresses)
        lines = [stripped for line in text.split("\n") if (stripped := line.strip())]
        still_open = source.lstrip().startswith("<!--") and "-->" not in source
        self._note(comments, start, end, still_open=still_open)
        offsets, header = _offsets(lines), _HTML_HEADER.match(source)
        last = (2 if "<caption" in header[0].lower() else 1) if header else 0
        repeat = offsets[last] if last < len(offsets) else 0
        self._append("paragraph", "\n".join(lines), start, end, offsets, repeat=repeat)

    def _add_code(self, token: Token, start: int, end: int) -> None:
        """Fenced as it stands, or indented code with a fence around, so that no line of it reads as Markdown."""
        if not token.content.strip():
            return
        if token.type == "fence":
            lines = "\n".join(self._lines[start:end]).strip().split("\n")
        else:
            longest = max(map(len, _TICKS.findall(token.content)), default=2)
            fence = "`" * (longest + 1)
            lines = [fence, *token.content.rstrip("\n").split("\n"), fence]
        # Of two lines the second is the code, even if it looks like a fence (indented, it is none).
        closed = len(lines) > 2 and (lines[-1].strip() == token.markup or token.type == "code_block")
        offsets = _offsets(lines)[1 : len(lines) - closed]
        self.blocks.append(Block("code", "\n".join(lines), start, end, breaks=tuple(offsets), repeat=offsets[0]))

    def _add_table(self, start: int, end: int) -> None:
        lines = [self._clean(number, number + 1, one_line=True).strip() for number in range(start, end)]
        offsets = _offsets(lines)[2:]
        repeat = offsets[0] if offsets else 0
        self.blocks.append(Block("table", "\n".join(lines), start, end, breaks=tuple(offsets), repeat=repeat))
        if self._notes:
            self._append("paragraph", "\n".join(self._cited(self.blocks[-1].text)), start, end)

    def _show_titles(self, group: Sequence[Token], *, outdent: bool) -> None:
        """Puts what a page shows in the place of the first lines of admonitions and tabs."""
        for token in group:
            if token.type == "container_open" and token.map:
                start, end = token.map
                self._lines[start] = CONTAINER.sub("", self._lines[start]) + token.content
                if outdent:
                    self._lines[start + 1 : end] = map(_outdented, self._lines[start + 1 : end])

    def _append(
        self, kind: UnitKind, text: str, start: int, end: int, breaks: Sequence[int] = (), *, repeat: int = 0
    ) -> None:
        shift = len(text) - len(text.lstrip())
        if text.strip():
            moved = sorted({max(at - shift, 0) for at in breaks})
            self.blocks.append(Block(kind, text.strip(), start, end, breaks=tuple(moved), repeat=repeat))


def _leaves(group: Sequence[Token]) -> set[int]:
    """The first lines of the blocks in a container that hold text themselves."""
    holding = ("paragraph_open", "container_open")
    return {token.map[0] for token in group if token.map and (token.nesting == 0 or token.type in holding)}


def _code(group: Sequence[Token]) -> dict[int, int]:
    """The first lines of the blocks of code in a container, and the lines that they end at."""
    return {token.map[0]: token.map[1] for token in group if token.type in _CODE and token.map}


def _outdented(line: str) -> str:
    """A line without four columns of white space at its beginning, or as many as it has."""
    return line.removeprefix("\t") if line.startswith("\t") else line[min(4, len(line) - len(line.lstrip(" "))) :]


def _offsets(lines: Sequence[str]) -> list[int]:
    """Where each line begins in the joined text."""
    return [0, *accumulate(len(line) + 1 for line in lines[:-1])]
