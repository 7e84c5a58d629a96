"""Which chunk became which: two lists of one source's chunks, matched by id, by text, and by likeness.

Exact matches take time in proportion to the chunks. Likeness is measured for what is left only, with a bounded number
of candidates a chunk, so that a source with thousands of edited chunks is compared in seconds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from math import log

from ragpress.review.diff.words import words_of
from ragpress.review.golden import GoldenChunk

Pair = tuple[int, int]
"""Index before, index after."""

_COMMON = 64  # a word that more of the added chunks have is no trace of one of them
_RAREST = 6  # words of a removed chunk that are looked for
_BY_WORDS = 4  # candidates a removed chunk by its rarest words
_NEAR = 2  # places that two chunks may be apart to be candidates by position
_ALIKE = 0.5  # share of weighted words that makes two chunks one
_ALIKE_IN_PLACE = 0.3  # the same for chunks under the same headings between the same neighbours


def match(before: Sequence[GoldenChunk], after: Sequence[GoldenChunk]) -> list[Pair]:
    """The pairs in the order of `before`. A chunk in no pair was removed or added."""
    found: dict[int, int] = {}
    taken: set[int] = set()

    def exact(old: Sequence[Hashable], new: Sequence[Hashable]) -> None:
        free: dict[Hashable, deque[int]] = defaultdict(deque)
        for number, key in enumerate(new):
            if number not in taken:
                free[key].append(number)
        for number, key in enumerate(old):
            if number not in found and free.get(key):
                found[number] = free[key].popleft()
                taken.add(found[number])

    exact([chunk.chunk_id for chunk in before], [chunk.chunk_id for chunk in after])
    exact([(chunk.headings, chunk.text) for chunk in before], [(chunk.headings, chunk.text) for chunk in after])
    exact([chunk.text for chunk in before], [chunk.text for chunk in after])
    for old, new in _alike(before, after, found):
        found[old] = new
    return sorted(found.items())


def out_of_order(pairs: Sequence[Pair]) -> set[int]:
    """The indices before of the fewest chunks that must move so that the others keep their order."""
    tops: list[int] = []  # of the growing rows found so far: the smallest last index after, by length
    owners: list[int] = []
    behind: list[int] = []
    for number, (_, new) in enumerate(pairs):
        length = bisect_left(tops, new)
        behind.append(owners[length - 1] if length else -1)
        if length == len(tops):
            tops.append(new)
            owners.append(number)
        else:
            tops[length], owners[length] = new, number
    kept: set[int] = set()
    number = owners[-1] if owners else -1
    while number >= 0:
        kept.add(pairs[number][0])
        number = behind[number]
    return {old for old, _ in pairs if old not in kept}


def _alike(before: Sequence[GoldenChunk], after: Sequence[GoldenChunk], found: dict[int, int]) -> Iterator[Pair]:
    """Pairs of chunks that are much alike, of those that are in no pair yet; the most alike first."""
    taken = set(found.values())
    old = [number for number in range(len(before)) if number not in found]
    new = [number for number in range(len(after)) if number not in taken]
    if not old or not new:
        return
    likeness = _Likeness(before, after, old, new)
    near = _near(found, len(before), len(after), old, new)
    scored: list[tuple[float, int, int]] = []
    for one in old:
        for two in sorted({*near[one], *likeness.by_words(one)}):
            same_place = two in near[one] and before[one].headings == after[two].headings
            share = likeness.of(one, two)
            if share >= (_ALIKE_IN_PLACE if same_place else _ALIKE):
                scored.append((-share, one, two))
    used_old, used_new = set[int](), set[int]()
    for _, one, two in sorted(scored):
        if one not in used_old and two not in used_new:
            used_old.add(one)
            used_new.add(two)
            yield one, two


class _Likeness:
    """How much two texts have in common: words weigh more the fewer chunks have them, as a table's values do."""

    def __init__(
        self, before: Sequence[GoldenChunk], after: Sequence[GoldenChunk], old: Sequence[int], new: Sequence[int]
    ) -> None:
        self._old = {number: Counter(words_of(before[number].text)) for number in old}
        self._new = {number: Counter(words_of(after[number].text)) for number in new}
        holders = Counter(word for chunk in (*before, *after) for word in dict.fromkeys(words_of(chunk.text)))
        chunks = len(before) + len(after)
        self._weight = {word: log(1 + chunks / count) for word, count in holders.items()}
        self._whole_old = {number: self._sum(bag) for number, bag in self._old.items()}
        self._whole_new = {number: self._sum(bag) for number, bag in self._new.items()}
        self._with: dict[str, list[int]] = defaultdict(list)
        for number, bag in self._new.items():
            for word in bag:
                self._with[word].append(number)

    def _sum(self, bag: Counter[str]) -> float:
        return sum(self._weight[word] * count for word, count in bag.items())

    def of(self, one: int, two: int) -> float:
        """From 0 to 1."""
        other = self._new[two]
        shared = sum(self._weight[word] * min(count, other[word]) for word, count in self._old[one].items())
        whole = self._whole_old[one] + self._whole_new[two]
        return 2 * shared / whole if whole else 0.0

    def by_words(self, one: int) -> list[int]:
        """The added chunks that have the most of a removed one's rarest words."""
        known = [word for word in self._old[one] if 0 < len(self._with.get(word, ())) <= _COMMON]
        votes: Counter[int] = Counter()
        for word in sorted(known, key=lambda word: (len(self._with[word]), word))[:_RAREST]:
            votes.update(self._with[word])
        return sorted(votes, key=lambda number: (-votes[number], number))[:_BY_WORDS]


def _near(
    found: dict[int, int], old_count: int, new_count: int, old: Sequence[int], new: Sequence[int]
) -> dict[int, set[int]]:
    """Of each removed chunk the added ones between the same neighbours, at about the same place among them."""
    pairs = sorted(found.items())
    moved = out_of_order(pairs)
    anchors = [pair for pair in pairs if pair[0] not in moved]
    bounds = [*anchors, (old_count, new_count)]
    near: dict[int, set[int]] = {number: set() for number in old}
    start_old = start_new = 0
    for end_old, end_new in bounds:
        here_old = old[bisect_left(old, start_old) : bisect_left(old, end_old)]
        here_new = new[bisect_left(new, start_new) : bisect_left(new, end_new)]
        for place, number in enumerate(here_old):
            for middle in (place, place + len(here_new) - len(here_old)):
                near[number].update(here_new[max(0, middle - _NEAR) : max(0, middle + _NEAR + 1)])
        start_old, start_new = end_old + 1, end_new + 1
    return near
