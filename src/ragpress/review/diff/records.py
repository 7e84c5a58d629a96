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
    `before` is None for an added chunk and `after` for a removed one.
    """

    kind: Kind
    aspects: tuple[Aspect, ...] = ()
    before: GoldenChunk | None = None
    after: GoldenChunk | None = None

    @property
    def shown(self) -> GoldenChunk:
        """The chunk as it is now, or as it was if it was removed."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a change of no chunk")
        return found


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


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """All sources that differ, in the order of their names. `base` is the git revision, or empty for the goldens."""

    base: str
    sources: tuple[SourceChange, ...]

    def counts(self) -> Counter[Kind]:
        return count(change for source in self.sources for change in source.changes)


def count(changes: Iterable[ChunkChange]) -> Counter[Kind]:
    return Counter(change.kind for change in changes)
