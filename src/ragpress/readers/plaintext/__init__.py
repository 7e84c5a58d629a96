"""Reads plain text. Structure is guessed from the lines, which no other reader does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from ragpress.config import Config
from ragpress.errors import SourceError, message
from ragpress.readers.plaintext.lines import Line
from ragpress.readers.plaintext.marks import question
from ragpress.readers.plaintext.pieces import Piece, read_pieces
from ragpress.records import Document, LeftOut, Locator, Message, Unit
from ragpress.text import decode, normalize

_SOFT_HYPHENS = re.compile("[\u00ad\u00ac]\r?\n")
_QUESTION_LEVEL = 9
_MOST_TITLES = 2


class _Open(NamedTuple):
    """An open heading."""

    level: float
    text: str


def read_plaintext(data: bytes, source: str, config: Config) -> Document:
    """The document in a text file. Locators are lines of the file; without headings there is no section.

    Lines in capitals, numbered titles and marked questions (`Вопрос:`) with text below them open sections. A
    question is a paragraph of its section as well, so that it can be paired with its answer. Raises SourceError:
    bad-encoding, empty-source.
    """
    decoded = decode(data, source)
    # At the end of a line a soft hyphen, or the sign that stands for it, divides a word like a hyphen.
    found, left_out = read_pieces(normalize(_SOFT_HYPHENS.sub("-\n", decoded.text)))
    pieces = _headings_with_text(found)
    if not pieces:
        raise SourceError("empty-source", "the file has no text; write some or remove the file", source)
    title = _words(pieces[0]) if pieces[0].kind == "heading" else normalize(PurePosixPath(source).stem)
    return Document(
        source=source,
        title=title,
        units=tuple(_units(pieces)),
        messages=(*decoded.messages, *_messages(left_out, source)),
        left_out=tuple(
            LeftOut("headers-footers", line.text, Locator("L", line.number, line.number)) for line in left_out
        ),
    )


def _messages(left_out: Sequence[Line], source: str) -> list[Message]:
    if not left_out:
        return []
    counted = "1 line that repeats" if len(left_out) == 1 else f"{len(left_out)} lines that repeat"
    text = f"{counted} at the edges of pages, such as «{left_out[0].text[:60]}», are read once or left out"
    return [message("info", "left-out", text, source, Locator("L", left_out[0].number, left_out[0].number))]


def _headings_with_text(pieces: Sequence[Piece]) -> list[Piece]:
    """Without heading candidates that no text follows: they are text themselves, so that none is lost.

    Up to two of the same level may stand above the one with the text, as the lines of a title do.
    """
    found: list[Piece] = []
    waiting: list[Piece] = []
    for piece in pieces:
        if piece.kind == "heading":
            if waiting and piece.level < waiting[-1].level:
                found.extend(_as_text(waiting))
                waiting = []
            waiting.append(piece)
        else:
            same = max((sum(other.level == one.level for other in waiting) for one in waiting), default=0)
            found.extend(waiting if same <= _MOST_TITLES else _as_text(waiting))
            found.append(piece)
            waiting = []
    return [*found, *_as_text(waiting)]


def _as_text(pieces: Sequence[Piece]) -> list[Piece]:
    return [Piece("paragraph", piece.lines) for piece in pieces]


def _units(pieces: Sequence[Piece]) -> Iterator[Unit]:
    path: tuple[_Open, ...] = ()
    number = 0
    before: Piece | None = None
    for piece in pieces:
        level = _QUESTION_LEVEL if piece.kind == "question" else piece.level
        if level:
            number += 1
            # A heading directly below one of its own level stands under it, as under a title.
            above = level + 0.5 if before is not None and before.kind == "heading" and before.level == level else level
            path = tuple(step for step in path if step.level < above)
            path = (*path, _Open(above, _words(piece)))
        before = piece
        if piece.kind != "heading":
            yield _unit(piece, path, number)


def _words(piece: Piece) -> str:
    """What a heading or question says, on one line and without a question's mark."""
    text = " ".join(piece.text().split())
    return (piece.kind == "question" and question(text)) or text


def _unit(piece: Piece, path: Sequence[_Open], number: int) -> Unit:
    named = [step.text for step in path if step.level < _QUESTION_LEVEL]
    return Unit(
        kind="list" if piece.kind == "list" else "paragraph",
        text=piece.text(),
        locator=Locator("L", piece.lines[0].number, piece.lines[-1].number),
        section=path[-1].text if path else "",
        section_number=number,
        headings=tuple(step.text for step in path),
        breadcrumb=f"## {named[-1]}" if named else "",
        breaks=piece.breaks(),
        repeat=piece.repeat,
    )
