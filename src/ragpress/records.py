"""The frozen records that every stage takes and returns, and the ids derived from them. No I/O."""

from __future__ import annotations

import hashlib
import re
from typing import Literal

import msgspec

Severity = Literal["info", "warning", "error"]
ContentType = Literal["paragraph", "table_row", "qa_pair", "image_caption"]
UnitKind = Literal["heading", "paragraph", "list", "table", "code", "table_row", "qa_pair", "image_caption"]
PlaceUnit = Literal["L", "R", "B"]

_LOCATOR = re.compile(r"(?:(?P<part>.*)!)?(?P<unit>[LRB])(?P<start>\d+)(?:-(?P<end>\d+))?", re.DOTALL)


class Locator(msgspec.Struct, frozen=True, order=True):
    """A place in a source: lines `L` (md, txt), rows `R` (xlsx, csv) or body blocks `B` (docx), from 1, both ends in.

    `part` is the sheet's name for xlsx and empty elsewhere.
    """

    unit: PlaceUnit
    start: int
    end: int
    part: str = ""

    def __str__(self) -> str:
        span = f"{self.start}" if self.end <= self.start else f"{self.start}-{self.end}"
        return f"{self.part}!{self.unit}{span}" if self.part else f"{self.unit}{span}"

    @classmethod
    def parse(cls, rendered: str) -> Locator:
        """The inverse of `str`. Raises ValueError for anything else."""
        found = _LOCATOR.fullmatch(rendered)
        if found is None:
            raise ValueError(f"not a locator: {rendered!r}")
        start = int(found["start"])
        unit: PlaceUnit = found["unit"]  # type: ignore[assignment]  # the pattern allows just these letters
        return cls(unit=unit, start=start, end=int(found["end"] or start), part=found["part"] or "")

    def to(self, other: Locator) -> Locator:
        """From the beginning of this place to the end of a later one in the same part."""
        return Locator(self.unit, self.start, max(self.end, other.end), self.part)


class Message(msgspec.Struct, frozen=True):
    """Something that was tolerated, for a person to read: what was found and what to do, one line."""

    severity: Severity
    code: str
    text: str
    source: str = ""
    locator: Locator | None = None


class LeftOut(msgspec.Struct, frozen=True):
    """Visible text that was left out on purpose, so that the audit can count it apart.

    `reason` is a short fixed name: `excluded-section`, `extra-h1`, `empty-section`, `comment`, `script`,
    `headers-footers`.
    """

    reason: str
    text: str
    locator: Locator


class Picture(msgspec.Struct, frozen=True):
    """The bytes of a picture in a source, named by their sha256 (64 hex digits)."""

    sha256: str
    media_type: str
    data: bytes


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest structural piece of a source, in reading order.

    `text` is what the piece says, without its breadcrumb. `section_number` tells sections apart that have the
    same name: nothing merges or overlaps across two numbers. `breadcrumb` is the context line that each chunk of
    the section begins with (`## Name`), or empty. `breaks` are ascending offsets into `text` at which a list item,
    table row, code line or cell begins: the preferred places for a split. The first `repeat` characters (a table's
    header lines, a question) are repeated as context in every later piece of a split. `picture` names a picture that
    a caption may be made for: the sha256 of one in the document, or the address of one that its text refers to.
    """

    kind: UnitKind
    text: str
    locator: Locator
    section: str = ""
    section_number: int = 0
    headings: tuple[str, ...] = ()
    breadcrumb: str = ""
    breaks: tuple[int, ...] = ()
    repeat: int = 0
    picture: str = ""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader made of one source. `source` is the POSIX path below sources/, NFC."""

    source: str
    title: str = ""
    front_matter: dict[str, object] = {}
    units: tuple[Unit, ...] = ()
    messages: tuple[Message, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    pictures: tuple[Picture, ...] = ()


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """One line of chunks.jsonl; the order of the fields is the order of the keys."""

    chunk_id: str
    source: str
    content_type: ContentType
    section: str
    headings: tuple[str, ...]
    locator: str
    tokens: int
    previous_chunk_id: str | None
    next_chunk_id: str | None
    context_chars: int
    text: str


class Gap(msgspec.Struct, frozen=True):
    """Visible text that reached no chunk."""

    text: str
    place: str


class DocumentEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of documents.jsonl; the order of the fields is the order of the keys.

    `coverage` is the share (0 to 1) of the source's visible words that its chunks hold; `gaps` are the first
    places where one is missing; `left_out` counts words left out on purpose by reason.
    """

    source: str
    sha256: str
    title: str
    front_matter: dict[str, object]
    chunks: int
    coverage: float
    gaps: tuple[Gap, ...]
    left_out: dict[str, int]
    messages: tuple[Message, ...]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A search result. `score` ranks it among the hits of one question and says nothing across questions.

    `cosine` (1 at best) and `word_score` (0 to 1) are what the score was made of, None where that was not looked at.
    `confidence` says across questions how far the chunk can be trusted to answer. `neighbours` are asked for by number;
    `passage` is the chunk with its neighbours' own text around it, each part once.
    """

    chunk: Chunk
    score: float
    cosine: float | None = None
    word_score: float | None = None
    confidence: float = 0.0
    neighbours: tuple[Chunk, ...] = ()
    passage: str = ""


def chunk_id(source: str, headings: tuple[str, ...], own_text: str, duplicate: int) -> str:
    """16 hex digits: the first 64 bits of the sha256 over what names a chunk.

    `duplicate` counts earlier chunks of the source with the same headings and text. The position is not in it,
    so that an insertion renames nobody.
    """
    name = msgspec.json.encode([source, list(headings), own_text, duplicate])
    return hashlib.sha256(name).hexdigest()[:16]


def index_key(identifier: str) -> int:
    """The usearch key of a chunk: its id as an unsigned 64-bit number."""
    return int(identifier, 16)
