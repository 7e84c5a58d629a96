"""The lines of a plain text as paragraphs, lists, questions and possible headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from ragpress.readers.plaintext.chat import chat_messages
from ragpress.readers.plaintext.lines import Line, known_words, read_lines, with_whole_words
from ragpress.readers.plaintext.marks import (
    Number,
    is_answer,
    is_capitals,
    is_item,
    is_named_part,
    is_titled,
    numbered,
    question,
)
from ragpress.text.questions import is_asking

Kind = Literal["heading", "question", "paragraph", "list"]
_WIDEST_WRAP = 140  # columns; longer lines are paragraphs that an editor wrapped on the screen
_NARROWEST_WRAP = 40
_INDENT = 4  # columns that an indented line is taken to begin with
_SHORT_ITEM = 200
_SENTENCE_LENGTH = 80
_LONG_CAPITALS = 6  # characters from which on capitals in the midst of lines are a title, not an abbreviation
_MOST_TITLE_LINES = 2
_ENDS = (".", "!", "?", "…", "؟", ":", "؛", "»", ")")


class Piece(NamedTuple):
    """Lines that belong together. `level` is a heading's: smaller ones stand above greater ones.

    `split` says that the lines do not run on: a long piece comes apart between them. The first `repeat` characters are
    repeated above each of its parts.
    """

    kind: Kind
    lines: tuple[Line, ...]
    level: int = 0
    split: bool = False
    repeat: int = 0

    def text(self) -> str:
        """The lines as they stand, with a blank line wherever the source has some."""
        out = self.lines[0].text
        for line in self.lines[1:]:
            out += ("\n\n" if line.spaced else "\n") + line.text
        return out

    def breaks(self) -> tuple[int, ...]:
        """Offsets into the text at which a list item begins, or a line where they do not run on."""
        found = []
        at = 0
        for number, line in enumerate(self.lines):
            at += line.spaced if number else 0
            if self.split and (self.kind != "list" or is_item(line.text)):
                found.append(at)
            at += len(line.text) + 1
        return tuple(found)


def read_pieces(text: str) -> tuple[list[Piece], list[Line]]:
    """All pieces in order, and the lines left out. A heading piece is only a candidate: what follows decides."""
    runs, left_out = read_lines(text)
    lines = [line.text for run in runs for line in run]
    messages = chat_messages([line for run in runs for line in run])
    if messages:
        return [Piece("paragraph", message.lines, repeat=message.head) for message in messages], left_out
    # Where most of a text is capitals they mean nothing.
    capitals = 2 * sum(len(line) for line in lines if is_capitals(line)) < sum(map(len, lines))
    pieces = [piece for run in runs for piece in _joined_titles(_split(run, capitals=capitals))]
    pieces = _answered(_without_listed_headings(pieces))
    pieces = [_paragraph_if_single(piece) for piece in _joined_lists(pieces)]
    known = known_words(text)
    if known:
        pieces = [piece._replace(lines=tuple(with_whole_words(piece.lines, known))) for piece in pieces]
    return pieces, left_out


def _split(run: list[Line], *, capitals: bool) -> Iterator[Piece]:
    """Cuts a run at questions, answers, headings, the ends of lists and indented first lines."""
    indented = sum(line.indented for line in run)
    first_lines = 0 < indented <= len(run) - indented
    answers = any(is_answer(line.text) for line in run)
    held: list[Line] = []
    kind: Kind = "paragraph"
    for at, line in enumerate(run):
        asks, replies = bool(question(line.text)), is_answer(line.text)
        level = 0 if asks or replies else _heading_level(run, at, capitals=capitals)
        item = is_item(line.text) and not level
        if held and (
            asks
            or replies
            or level
            or (item and kind == "paragraph")
            or (kind == "list" and not item and _leaves_list(held[-1], line))
            or (kind == "question" and not answers)
            or (kind == "paragraph" and first_lines and line.indented)
        ):
            yield from _closed(kind, held)
            held, kind = [], "paragraph"
        if level:
            yield Piece("heading", (line,), level)
            continue
        if not held:
            kind = "question" if asks else "list" if item else "paragraph"
        held.append(line)
    if held:
        yield from _closed(kind, held)


def _joined_titles(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """A title in capitals of two lines is one heading."""
    held: Piece | None = None
    for piece in pieces:
        if held is not None and piece.level == 1 and is_capitals(piece.lines[0].text):
            yield held._replace(lines=(*held.lines, *piece.lines))
            held = None
            continue
        if held is not None:
            yield held
        held = piece if piece.level == 1 and is_capitals(piece.lines[0].text) else None
        if held is None:
            yield piece
    if held is not None:
        yield held


def _closed(kind: Kind, lines: list[Line]) -> Iterator[Piece]:
    if kind != "paragraph":
        yield Piece(kind, tuple(lines), split=kind == "list")
    elif _run_on(lines):
        yield Piece(kind, tuple(lines))
    elif _sentences(lines):
        yield from (Piece(kind, (line,)) for line in lines)
    else:
        yield Piece(kind, tuple(lines), split=True)


def _run_on(lines: list[Line]) -> bool:
    """Whether the lines are one paragraph that was wrapped at some width: the next word would not have fitted."""
    width = max(len(line.text) + _INDENT * line.indented for line in lines)
    if len(lines) == 1:
        return True
    if not _NARROWEST_WRAP <= width <= _WIDEST_WRAP:
        return False
    full = sum(
        len(line.text) + _INDENT * line.indented + 1 + len(after.text.split()[0]) > width
        for line, after in pairwise(lines)
    )
    return 5 * full >= 4 * (len(lines) - 1)


def _sentences(lines: list[Line]) -> bool:
    """Whether each line is a paragraph of its own, not one of an address, a verse or the like."""
    ended = sum(line.text.endswith(_ENDS) for line in lines)
    return 2 * ended >= len(lines) or sum(len(line.text) for line in lines) >= _SENTENCE_LENGTH * len(lines)


def _leaves_list(before: Line, line: Line) -> bool:
    """Whether a line without a mark is not the rest of the list item above it."""
    leads = line.text.endswith(":")
    return not line.indented and not line.text[0].islower() and (leads or before.text.endswith(_ENDS))


def _heading_level(run: Sequence[Line], at: int, *, capitals: bool) -> int:
    """The level of a possible heading, or 0. Capitals and named parts are 1; `1.` is 2, `1.1.` is 3 and so on."""
    line = run[at].text
    before = run[at - 1].text if at else ""
    after = run[at + 1].text if at + 1 < len(run) else ""
    number = numbered(line)
    if number is not None:
        if (before and not after) or not is_titled(number.title) or _is_item_of_run(run, at, number):
            return 0
        if _is_first_below(numbered(after), number):
            return 1 + len(number.parts)
        heads = not after or is_capitals(line) or len(after) >= max(_SENTENCE_LENGTH, len(line))
        return 1 + len(number.parts) if heads and not (after and (is_item(after) or after[0].islower())) else 0
    if is_named_part(line):
        return int(bool(after) or not before)
    return 1 if capitals and not is_item(line) and _heads_in_capitals(run, at) else 0


def _is_first_below(first: Number | None, number: Number) -> bool:
    """Whether a number is the first one below another: 2.1 below 2, or below II."""
    if first is None or len(first.parts) != len(number.parts) + 1 or first.parts[-1] != 1:
        return False
    return number.parts in ((0,), first.parts[:-1])


def _heads_in_capitals(run: Sequence[Line], at: int) -> bool:
    """Whether a line in capitals is a title, of at most two lines, and not part of a paragraph in capitals."""
    if not is_capitals(run[at].text) or run[at].text.endswith("."):
        return False
    first, end = at, at + 1
    while first and at - first < _MOST_TITLE_LINES and run[first - 1].text.isupper():
        first -= 1
    while end < len(run) and end - at <= _MOST_TITLE_LINES and run[end].text.isupper():
        end += 1
    if end - first > _MOST_TITLE_LINES:
        return False
    return not first or (run[first - 1].text.endswith(_ENDS) and len(run[at].text) >= _LONG_CAPITALS and end < len(run))


def _is_item_of_run(run: Sequence[Line], at: int, number: Number) -> bool:
    """Whether a numbered line of the same depth stands directly around it."""
    around = [*run[max(at - 1, 0) : at], *run[at + 1 : at + 2]]
    return any((other := numbered(line.text)) is not None and len(other.parts) == len(number.parts) for line in around)


def _follows(before: Piece, after: Piece) -> bool:
    """Whether two pieces are items of one list: the next number, or bullets both."""
    last = next((line.text for line in reversed(before.lines) if is_item(line.text)), "")
    first = after.lines[0].text
    one, two = numbered(last), numbered(first)
    if one is None or two is None:
        return one is two and bool(last) and is_item(first)
    return len(one.parts) == len(two.parts) and one.parts[:-1] == two.parts[:-1] and two.parts[-1] == one.parts[-1] + 1


def _without_listed_headings(pieces: Sequence[Piece]) -> list[Piece]:
    """Numbered headings that directly follow each other are the items of a list."""
    found = list(pieces)
    for at, (before, after) in enumerate(pairwise(pieces)):
        if after.kind == "heading" and numbered(after.lines[0].text) and _follows(before, after):
            for place in (at, at + 1):
                if found[place].kind == "heading":
                    found[place] = Piece("list", found[place].lines, split=True)
    return found


def _answered(pieces: Sequence[Piece]) -> list[Piece]:
    """A numbered heading, or one that asks, right before an answer's mark is a question."""
    found = list(pieces)
    for at, (before, after) in enumerate(pairwise(pieces)):
        title = before.lines[-1].text
        if before.kind == "heading" and is_answer(after.lines[0].text) and (is_asking(title) or numbered(title)):
            found[at] = before._replace(kind="question", level=0)
    return found


def _joined_lists(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Short list items with blank lines between them are one list."""
    held: list[Piece] = []
    for piece in pieces:
        short = piece.kind == "list" and all(len(line.text) <= _SHORT_ITEM for line in piece.lines)
        if held and not (short and _follows(held[-1], piece)):
            yield _joined(held)
            held = []
        if short:
            held.append(piece)
        else:
            yield piece
    if held:
        yield _joined(held)


def _joined(pieces: Sequence[Piece]) -> Piece:
    return pieces[0]._replace(lines=tuple(line for piece in pieces for line in piece.lines))


def _paragraph_if_single(piece: Piece) -> Piece:
    if piece.kind == "list" and sum(is_item(line.text) for line in piece.lines) == 1:
        return Piece("paragraph", piece.lines)
    return piece
