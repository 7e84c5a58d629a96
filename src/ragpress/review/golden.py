"""The golden of a source: a lossless, line-based text of its chunks, rendered and read back.

    ● paragraph · L+2 (3) · Клиника «Берёза» › Запись · 57 tokens · 0f3a…      the head line of a chunk
    ┆ ## Запись                                                                 context: repeated, not new
    │ Записаться можно по телефону или на сайте.                                own text
    ▲ warning: 3 rows have more cells than the header [csv-ragged]              a message, after all chunks

A place is written relative to the end of the chunk before it (`L+2 (3)`: three lines, beginning two below), so
that an inserted paragraph renumbers nothing; the first of a part is absolute. Pointers are no part of it: they
follow from the order and are checked as an invariant. A line with characters that nobody sees, or that a version
control system may change, has a doubled edge (`║`, `┇`) and `\\u{…}` in their place.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ragpress.errors import BuildError
from ragpress.records import Chunk, Locator, Message, PlaceUnit
from ragpress.text.conflicts import UNRESOLVED, begins_conflict

EDGE, CONTEXT, HEAD, NOTE = "│", "┆", "●", "▲"
SUFFIX = ".txt"

_ESCAPED = {"║": EDGE, "┇": CONTEXT}
_EDGES = {EDGE: "║", CONTEXT: "┇"}
_HEAD = re.compile(
    rf"{HEAD} (?P<type>\w+) · (?P<place>.+?) · (?P<headings>.*?)(?: § (?P<section>.*))? · (?P<tokens>\d+) tokens"
    r" · (?P<id>[0-9a-f]{16})(?: \+(?P<ends>\d{1,4}))?"
)
_RELATIVE = re.compile(r"(?P<unit>[LRB])\+(?P<gap>-?\d+) \((?P<count>\d+)\)")
_UNSEEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
)
"""Controls, line ends other than `\\n` (which never gets here in a line), direction marks, lone surrogates."""
_ESCAPE = re.compile(r"\\(?:u\{(?P<hex>[0-9a-f]{1,8})\}|(?P<one>.))")


class GoldenChunk(msgspec.Struct, frozen=True):
    """A chunk as a golden holds it: everything of `Chunk` but its source and pointers."""

    chunk_id: str
    content_type: str
    section: str
    headings: tuple[str, ...]
    locator: str
    tokens: int
    context: str
    text: str

    @classmethod
    def of(cls, chunk: Chunk) -> GoldenChunk:
        return cls(
            chunk.chunk_id,
            chunk.content_type,
            chunk.section,
            chunk.headings,
            chunk.locator,
            chunk.tokens,
            chunk.text[: chunk.context_chars],
            chunk.text[chunk.context_chars :],
        )


def _escape_unseen(text: str) -> str:
    return _UNSEEN.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def _escape(heading: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ("\n", "\\n"), ("›", "\\›"), ("·", "\\·"), ("§", "\\§")):
        heading = heading.replace(plain, escaped)
    return _escape_unseen(heading) or "\\e"


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_plain, text)


def _plain(found: re.Match[str]) -> str:
    if found["hex"] and int(found["hex"], 16) <= sys.maxunicode:
        return chr(int(found["hex"], 16))
    return {"n": "\n", "e": ""}.get(found["one"], found["one"] or found[0])


def _edged(edge: str, text: str) -> list[str]:
    lines: list[str] = []
    for line in text.split("\n"):
        if _UNSEEN.search(line):
            lines.append(f"{_EDGES[edge]} {_escape_unseen(line.replace(chr(92), chr(92) * 2))}")
        else:
            lines.append(f"{edge} {line}" if line else edge)
    return lines


def note_of(found: Message) -> str:
    """A message without the number of its line or row, which an edit elsewhere would change; the sheet's name stays."""
    sheet = f"{found.locator.part}: " if found.locator and found.locator.part else ""
    return f"{sheet}{found.severity}: {found.text} [{found.code}]"


def render_golden(chunks: Sequence[Chunk | GoldenChunk], messages: Sequence[str]) -> str:
    """The text of one golden file. `messages` are of one line each, without the source's name or a place."""
    lines: list[str] = []
    before: Locator | None = None
    for item in chunks:
        chunk = GoldenChunk.of(item) if isinstance(item, Chunk) else item
        place = Locator.parse(chunk.locator)
        shown = str(place)
        if before is not None and (before.part, before.unit) == (place.part, place.unit):
            shown = f"{place.unit}+{place.start - before.end} ({place.end - place.start + 1})"
        before = place
        headings = " › ".join(_escape(heading) for heading in chunk.headings)
        if chunk.section != (chunk.headings[-1] if chunk.headings else ""):
            headings += f" § {_escape(chunk.section)}"
        # A blank line separates context and text; where another number of line ends does, a sign says how many.
        context = chunk.context.rstrip("\n")
        ends = len(chunk.context) - len(context)
        join = f" +{ends}" if chunk.context and ends != 2 else ""
        lines.append(
            f"{HEAD} {chunk.content_type} · {_escape(shown)} · {headings} · {chunk.tokens} tokens"
            f" · {chunk.chunk_id}{join}"
        )
        if chunk.context:
            lines += _edged(CONTEXT, context)
        lines += [*_edged(EDGE, chunk.text), ""]
    lines += [f"{NOTE} {_escape_unseen(message)}" for message in messages]
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


class _Draft(NamedTuple):
    number: int
    head: re.Match[str]
    body: dict[str, list[str]]


def parse_golden(text: str) -> tuple[tuple[GoldenChunk, ...], tuple[str, ...]]:
    """The inverse of `render_golden`. Raises BuildError that names the line for a text that is no golden."""
    drafts: list[_Draft] = []
    messages: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        mark = line[:1]
        head = _HEAD.fullmatch(line) if mark == HEAD else None
        if mark == NOTE:
            messages.append(line[2:])
        elif head is not None and not messages:
            drafts.append(_Draft(number, head, {CONTEXT: [], EDGE: []}))
        elif mark in _EDGES and drafts and not messages:
            drafts[-1].body[mark].append(line[2:])
        elif mark in _ESCAPED and drafts and not messages:
            drafts[-1].body[_ESCAPED[mark]].append(_unescape(line[2:]))
        elif line:
            raise _damaged(number, line)
    chunks: list[GoldenChunk] = []
    before: Locator | None = None
    for draft in drafts:
        try:
            before = _place(draft.head["place"], before)
            chunks.append(_chunk(draft, before))
        except ValueError:  # a place that is none, or a number of thousands of digits
            raise _damaged(draft.number, "") from None
    return tuple(chunks), tuple(messages)


def _damaged(number: int, line: str) -> BuildError:
    if begins_conflict(line):
        return BuildError("conflict", f"line {number}: {UNRESOLVED}; resolve it, or run `ragpress accept`")
    return BuildError("golden", f"line {number} is not part of a golden; run `ragpress accept` to write it again")


def _chunk(draft: _Draft, place: Locator) -> GoldenChunk:
    head, body = draft.head, draft.body
    headings = tuple(_unescape(part) for part in head["headings"].split(" › ")) if head["headings"] else ()
    section = _unescape(head["section"]) if head["section"] is not None else (headings[-1] if headings else "")
    context = "\n".join(body[CONTEXT])
    if body[CONTEXT]:
        context += "\n" * int(head["ends"] or 2)
    return GoldenChunk(
        head["id"], head["type"], section, headings, str(place), int(head["tokens"]), context, "\n".join(body[EDGE])
    )


def _place(shown: str, before: Locator | None) -> Locator:
    """The place of a head line. Raises ValueError."""
    relative = _RELATIVE.fullmatch(shown)
    if relative is None or before is None:
        return Locator.parse(_unescape(shown))
    unit: PlaceUnit = relative["unit"]  # type: ignore[assignment]  # the pattern allows just these letters
    start = before.end + int(relative["gap"])
    return Locator(unit, start, start + int(relative["count"]) - 1, before.part)


def is_golden(text: str) -> bool:
    """Whether a text was once written as a golden, however damaged: what `ragpress accept` may delete."""
    return not text.strip() or any(line.startswith((f"{HEAD} ", f"{NOTE} ")) for line in text.split("\n"))
