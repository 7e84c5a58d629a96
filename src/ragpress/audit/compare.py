"""Compares the visible words of a source with the words of its chunks, as multisets. Workbooks: see rows.py."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from ragpress.audit.visible import Visible, VisibleText, words
from ragpress.records import Chunk, Document, Gap, Locator

MAX_GAPS = 10
_WORDING = 3  # words
_SNIPPET = 120
_DIVIDED = 100  # characters from which on a single word may be divided between chunks
_TOKEN = re.compile(r"(?:[^\s,;|]|,(?=\s|\Z))+")
_HEADER = re.compile(r"^[^:\n]*: (?:=.*)?|^=.*", re.MULTILINE)  # also a formula kept in place of its value
_MARKER = re.compile(r"^\s*(?:[-*+•–]|\w{1,6}[.)]|\[\^?\w+\]:?)\s", re.MULTILINE)


class WordCounts(msgspec.Struct):
    """The outcome of a comparison in words."""

    visible: int = 0
    missing: int = 0
    duplicated: int = 0
    gaps: list[Gap] = []


def own_text(chunk: Chunk) -> str:
    """What a chunk adds: its text without the context that it repeats."""
    return chunk.text[chunk.context_chars :]


def heading_words(
    document: Document, chunks: Sequence[Chunk], section: str | None = None, plain: Callable[[str], str] = str
) -> Counter[str]:
    """The words of the headings that chunks carry, once for each time that a heading is in the source.

    A heading is there again where the path changes, and where a new section begins under the same path.
    """
    carried = {chunk.headings[:depth] for chunk in chunks for depth in range(1, len(chunk.headings) + 1)}
    found: Counter[str] = Counter()
    path: tuple[str, ...] = ()
    number = -1
    for unit in document.units:
        same = 0
        while same < min(len(path), len(unit.headings)) and path[same] == unit.headings[same]:
            same += 1
        if unit.section_number != number and same == len(unit.headings) and same:
            same = unit.headings.index(unit.section) if unit.section in unit.headings else same - 1
        path, number = unit.headings, unit.section_number
        for depth in range(same, len(path)):
            if path[: depth + 1] in carried and section in (None, unit.section):
                found.update(words(plain(path[depth])))
    return found


def compare_pieces(
    seen: Visible, document: Document, chunks: Sequence[Chunk], left: Counter[str], plain: Callable[[str], str]
) -> WordCounts:
    """The counts of a source made of pieces. `left` are words left out on purpose; `plain` undoes markup."""
    owned = [plain(own_text(chunk)) for chunk in chunks]
    own = Counter(words("\n".join(owned)))
    headings = {heading for chunk in chunks for heading in chunk.headings}
    pieces = _without_found_formulas(seen.pieces, (*owned, *headings))
    visible = Counter(words("\n".join(piece.text for piece in pieces)))
    headed = heading_words(document, chunks, plain=plain)
    short = visible - own - headed
    if short:
        short = _without_repeated_headings(_without_divided_words(short, owned), pieces, chunks)
    excluded = short & left
    short -= excluded
    with_row = {f"R{number}" for chunk in chunks for number in _rows_of(chunk)}
    headers = (piece.text for piece in pieces if piece.place[0] == "R" and piece.place not in with_row)
    repeatable = seen.repeatable.union(headed, words("\n".join(headers)))
    formulas = sum(len(words(piece.text)) for piece in seen.pieces if piece.formula)
    formulas -= sum(len(words(piece.text)) for piece in pieces if piece.formula)
    return WordCounts(
        visible=visible.total() + formulas - excluded.total(),
        missing=short.total(),
        duplicated=count_duplicated(chunks, own, visible, repeatable, plain, formulas),
        gaps=_gaps(pieces, short, owned) if short else [],
    )


def _without_found_formulas(pieces: Sequence[VisibleText], found: Sequence[str]) -> list[VisibleText]:
    """The pieces but for formulas whose letters and digits are in these texts in their order."""
    if not any(piece.formula for piece in pieces):
        return list(pieces)
    squashed = _squash(found)
    return [piece for piece in pieces if not (piece.formula and _squash([piece.text]) in squashed)]


def _without_divided_words(short: Counter[str], owned: Sequence[str]) -> Counter[str]:
    """The missing words but for those that were divided between chunks, because a text has no space to cut at."""
    for before, behind in pairwise(owned):
        if before[-1:].isalnum() and behind[:1].isalnum():
            word = words(before[-_DIVIDED:])[-1] + words(behind[:_DIVIDED])[0]
            if word in short:
                short -= Counter([word])
    for word in divided_words(short, owned):
        del short[word]
    return short


def divided_words(missing: Iterable[str], owned: Sequence[str]) -> list[str]:
    """The long ones of some words that were divided between these texts."""
    long = [word for word in missing if len(word) >= _DIVIDED]
    squashed = _squash(owned) if long else ""
    return [word for word in long if word in squashed]


def _without_repeated_headings(
    short: Counter[str], pieces: Sequence[VisibleText], chunks: Iterable[Chunk]
) -> Counter[str]:
    """The missing words but for lines that are a heading of some chunk.

    Paths do not distinguish two sections below each other whose headings above are of the same wording.
    """
    carried = {tuple(words(heading)) for chunk in chunks for heading in chunk.headings}
    for piece in pieces:
        line = tuple(words(piece.text))
        if line and line in carried and Counter(line) <= short:
            short -= Counter(line)
    return short


def _squash(texts: Iterable[str]) -> str:
    return "".join(word for text in texts for word in words(text))


def _rows_of(chunk: Chunk) -> Iterable[int]:
    place = Locator.parse(chunk.locator)
    return range(place.start, place.end + 1) if place.unit == "R" else ()


def count_duplicated(
    chunks: Iterable[Chunk],
    own: Counter[str],
    visible: Counter[str],
    repeatable: set[str],
    plain: Callable[[str], str] = str,
    formulas: int = 0,
) -> int:
    """How many words the chunks hold more often than the source shows them. `own` are all words of the chunks.

    Labels, formulas, all with digits, and the names before the values of table rows and pairs aside.
    """

    def surplus(found: Counter[str]) -> int:
        return sum(
            count - visible[word]
            for word, count in found.items()
            if count > visible[word] and (visible[word] or not (visible or formulas))
            if word not in repeatable and len(word) > 1 and word.isalpha()
        )

    if not surplus(own):
        return 0
    found: Counter[str] = Counter()
    for chunk in chunks:
        text = (_HEADER if chunk.content_type in ("table_row", "qa_pair") else _MARKER).sub("", own_text(chunk))
        found.update(words(plain(text)))
    return surplus(found)


def _gaps(pieces: Sequence[VisibleText], short: Counter[str], owned: Sequence[str]) -> list[Gap]:
    """The first places of the missing words.

    A word that is missing once may stand in several places. Named are first those whose wording is in no chunk and
    that miss most of their words, in the order of the source, then others by how much they miss.
    """
    wordings = {wording for text in owned for wording in _wordings(words(text))}
    inside = [words(piece.text) for piece in pieces]
    ranks = []
    for place, line in enumerate(inside):
        share = sum((Counter(line) & short).values()) / (len(line) or 1)
        if share:
            found_elsewhere = len(line) >= _WORDING and all(wording in wordings for wording in _wordings(line))
            ranks.append((found_elsewhere, 0 if share > 0.5 and not found_elsewhere else 1 - share, place))
    left = Counter(short)
    found: dict[int, Gap] = {}
    for _, _, place in sorted(ranks):
        lost = Counter(inside[place]) & left
        if lost:
            left.subtract(lost)
            found[place] = Gap(snippet(pieces[place].text, lost), pieces[place].place)
            if len(found) == MAX_GAPS:
                break
    return [found[place] for place in sorted(found)]


def _wordings(line: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All runs of so many words as make a wording no chance."""
    return zip(*(line[start:] for start in range(_WORDING)), strict=False)


def snippet(text: str, lost: Container[str]) -> str:
    """The part of a text from the first to the last lost word."""
    tokens = list(_TOKEN.finditer(text))
    hits = [token for token in tokens if any(word in lost for word in words(token[0]))]
    return shorten(" ".join((text[hits[0].start() : hits[-1].end()] if hits else text).split()))


def shorten(text: str) -> str:
    """The beginning of a text that is long."""
    return text if len(text) <= _SNIPPET else text[: _SNIPPET - 1] + "…"
