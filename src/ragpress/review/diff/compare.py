"""Two sets of golden texts to a list of changes by source."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ragpress.errors import BuildError
from ragpress.records import Locator
from ragpress.review.diff.matching import match, out_of_order
from ragpress.review.diff.places import places_in_words
from ragpress.review.diff.records import Aspect, Changes, ChunkChange, Kind, SourceChange
from ragpress.review.golden import GoldenChunk, parse_golden

Side = Mapping[str, str | BuildError]
"""Source to the text of its golden, or the error in its place."""

_SAME_SOURCE = 0.5  # share of equal texts, of the shorter source's chunks, that makes a file a renamed one


def compare(before: Side, after: Side, base: str = "") -> Changes:
    """What differs between two sets of goldens. `base` is the name of the first one in `Changes`.

    An error before is a golden that cannot be read (`unreadable`), an error after a source that cannot (`failed`).
    """
    removed = sorted(source for source in before if source not in after)
    added = sorted(source for source in after if source not in before)
    renamed = _renamed(before, after, removed, added)
    olds = set(renamed.values())
    found: list[SourceChange] = []
    for source in sorted({*before, *after} - olds):
        old, new = before.get(renamed.get(source, source)), after.get(source)
        change = _compare_source(source, old, new)
        if source in renamed:
            change = replace(change or SourceChange(source=source, status="renamed"), status="renamed")
            change = replace(change, before_source=renamed[source])
        if change is not None:
            found.append(change)
    return Changes(base=base, sources=tuple(found))


def _compare_source(source: str, old: str | BuildError | None, new: str | BuildError | None) -> SourceChange | None:
    if isinstance(new, BuildError):
        return SourceChange(source=source, status="failed", note=new.message.text)
    if isinstance(old, BuildError):
        return SourceChange(source=source, status="unreadable", note=old.message.text)
    if old == new:
        return None
    try:
        old_chunks, old_messages = parse_golden(old or "")
    except BuildError as error:
        return SourceChange(source=source, status="unreadable", note=error.message.text)
    new_chunks, new_messages = parse_golden(new or "")
    changes = compare_chunks(old_chunks, new_chunks)
    more, less = Counter(new_messages), Counter(old_messages)
    change = SourceChange(
        source=source,
        status="added" if old is None else "removed" if new is None else "changed",
        changes=changes,
        messages_added=tuple((more - less).elements()),
        messages_removed=tuple((less - more).elements()),
    )
    if change.status == "changed" and not (changes or change.messages_added or change.messages_removed):
        return replace(change, status="form")
    return change


def _renamed(before: Side, after: Side, removed: Sequence[str], added: Sequence[str]) -> dict[str, str]:
    """New source to old one, where an added file has the texts of a removed one."""
    texts_removed, texts_added = _texts(before, removed), _texts(after, added)
    holders: dict[str, list[str]] = {}
    for source, texts in texts_removed.items():
        for text in texts:
            holders.setdefault(text, []).append(source)
    scored: list[tuple[float, str, str]] = []
    for source, texts in texts_added.items():
        votes = Counter(old for text in texts for old in holders.get(text, ()))
        for old, shared in votes.items():
            share = shared / max(1, min(len(texts), len(texts_removed[old])))
            if share >= _SAME_SOURCE:
                scored.append((-share, source, old))
    found: dict[str, str] = {}
    for _, source, old in sorted(scored):
        if source not in found and old not in found.values():
            found[source] = old
    return found


def _texts(side: Side, sources: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for source in sources:
        text = side[source]
        if isinstance(text, str):
            try:
                found[source] = {chunk.text for chunk in parse_golden(text)[0]}
            except BuildError:  # `_compare_source` reports it as unreadable
                continue
    return found


# -- the chunks of one source ----------------------------------------------------------------------------------------


def compare_chunks(before: Sequence[GoldenChunk], after: Sequence[GoldenChunk]) -> tuple[ChunkChange, ...]:
    """The changes in reading order: a removed chunk follows the one that it followed."""
    pairs = match(before, after)
    moved = out_of_order(pairs)
    paired_old, paired_new = {old for old, _ in pairs}, {new for _, new in pairs}
    anchors = [pair for pair in pairs if pair[0] not in moved]
    anchors_old = [old for old, _ in anchors]
    places_old, places_new = _places(before), _places(after)
    words_old, words_new = places_in_words(before), places_in_words(after)
    found: list[tuple[int, int, ChunkChange]] = []  # its place after, and for a removed one before
    for old, new in pairs:
        one, two = before[old], after[new]
        order = old in moved
        aspects = _aspects(one, two, places_old[old], places_new[new], order)
        if aspects:
            part = Locator.parse(one.locator).part != Locator.parse(two.locator).part
            kind = _kind(aspects, order or part)
            change = ChunkChange(kind=kind, aspects=aspects, before=one, after=two, place=words_new[new])
            found.append((new, -1, change))
    for number, chunk in enumerate(after):
        if number not in paired_new:
            found.append((number, -1, ChunkChange(kind="added", after=chunk, place=words_new[number])))
    for number, chunk in enumerate(before):
        if number not in paired_old:
            behind = bisect_right(anchors_old, number)
            place = anchors[behind - 1][1] if behind else -1
            change = ChunkChange(kind="removed", before=chunk, place=words_old[number])
            found.append((place, number, change))
    return tuple(change for _, _, change in sorted(found, key=lambda item: item[:2]))


def _places(chunks: Sequence[GoldenChunk]) -> list[tuple[str, int, int | None, int]]:
    """Part, lines, gap to the chunk before (None at the beginning of a part) and, there, the absolute beginning."""
    found: list[tuple[str, int, int | None, int]] = []
    before: Locator | None = None
    for chunk in chunks:
        place = Locator.parse(chunk.locator)
        lines = place.end - place.start + 1
        if before is not None and (before.part, before.unit) == (place.part, place.unit):
            found.append((place.part, lines, place.start - before.end, 0))
        else:
            found.append((place.part, lines, None, place.start))
        before = place
    return found


def _aspects(
    one: GoldenChunk,
    two: GoldenChunk,
    old: tuple[str, int, int | None, int],
    new: tuple[str, int, int | None, int],
    order: bool,
) -> tuple[Aspect, ...]:
    # Places are relative to the chunk before; at the beginning of a part there is none, and no gap to compare.
    first = (old[2] is None) != (new[2] is None)
    differs: dict[Aspect, bool] = {
        "text": one.text != two.text,
        "type": one.content_type != two.content_type,
        "headings": one.headings != two.headings,
        "section": one.section != two.section,
        "order": order,
        "place": old[:2] != new[:2] or (not first and not order and old[2:] != new[2:]),
        "context": one.context != two.context,
        "tokens": one.tokens != two.tokens,
    }
    return tuple(name for name, differ in differs.items() if differ)


def _kind(aspects: Sequence[Aspect], elsewhere: bool) -> Kind:
    if "text" in aspects or "type" in aspects:
        return "changed"
    if "headings" in aspects or "section" in aspects:
        return "renamed"
    return "moved" if elsewhere else "minor"
