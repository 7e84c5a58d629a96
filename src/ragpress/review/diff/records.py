"""What a comparison of two sets of goldens found: by source, a typed list of changes of its chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

import msgspec

from ragpress.review.golden import GoldenChunk

Kind = Literal["added", "removed", "changed", "renamed", "moved", "minor"]
KINDS: tuple[Kind, ...] = ("added", "removed", "changed", "renamed", "moved", "minor")

Aspect = Literal["text", "type", "headings", "section", "order", "place", "context", "tokens"]

Status = Literal["changed", "added", "removed", "renamed", "form", "unreadable", "failed"]


class ChunkChange(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk that is not what it was.

    `changed`: its own text or its type is another. `renamed`: the same text under other headings. `moved`: the same
    text under the same headings, in another order among its neighbours or on another sheet. `minor`: only what is
    repeated above the text (`context`), the token count or the place differs. `aspects` names all that differs;
    `before` is None for an added chunk and `after` for a removed one. `place` is where a person finds it in a Word
    file, empty for other files.
    """

    kind: Kind
    aspects: tuple[Aspect, ...] = ()
    before: GoldenChunk | None = None
    after: GoldenChunk | None = None
    place: str = ""

    @property
    def shown(self) -> GoldenChunk:
        """The chunk as it is now, or as it was if it was removed."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a change of no chunk")
        return found


class Renaming(msgspec.Struct, frozen=True, kw_only=True):
    """Several chunks with the same text of their own, whose heading path from `before` is now `after`."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    changes: tuple[ChunkChange, ...]


class SourceChange(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one source.

    `changed`; `added` and `removed` with all its chunks; `renamed` from `before_source`; `form`: its golden says the
    same and is written differently; `unreadable`: its golden is damaged; `failed`: it could not be read. For the last
    two `note` says why, and nothing is compared. The changes are in reading order.
    """

    source: str
    status: Status
    before_source: str = ""
    note: str = ""
    changes: tuple[ChunkChange, ...] = ()
    messages_added: tuple[str, ...] = ()
    messages_removed: tuple[str, ...] = ()

    def counts(self) -> Counter[Kind]:
        return count(self.changes)

    def blocks(self) -> tuple[ChunkChange | Renaming, ...]:
        """What is worth showing, in reading order: all but `minor` changes, and each renaming once."""
        found: dict[object, list[ChunkChange]] = {}
        for number, change in enumerate(self.changes):
            if change.kind != "minor":
                found.setdefault(_renaming(change) or number, []).append(change)
        return tuple(
            Renaming(before=key[0], after=key[1], changes=tuple(changes))
            if isinstance(key, tuple) and len(changes) > 1
            else changes[0]
            for key, changes in found.items()
        )


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """All sources that differ, in the order of their names. `base` is the git revision, or empty for the goldens."""

    base: str
    sources: tuple[SourceChange, ...]

    def counts(self) -> Counter[Kind]:
        return count(change for source in self.sources for change in source.changes)


def _renaming(change: ChunkChange) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The heading paths down to the last heading that differs, where nothing but that makes the change."""
    one, two = change.before, change.after
    if change.kind != "renamed" or one is None or two is None or one.headings == two.headings:
        return None
    before, after = list(one.headings), list(two.headings)
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return tuple(before), tuple(after)


def count(changes: Iterable[ChunkChange]) -> Counter[Kind]:
    return Counter(change.kind for change in changes)
