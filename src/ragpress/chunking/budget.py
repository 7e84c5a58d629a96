"""How many tokens a chunk may hold, and how many a text takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ragpress.config import Config
from ragpress.errors import BuildError
from ragpress.records import Locator

LEAST_ROOM = 16
"""Tokens for text beside the model's prefix below which chunks would be useless."""
CHARS_A_TOKEN = 32
"""No text has more characters a token: the longest tokens of the known vocabularies have 16."""
REMEMBERED_CHARS = 64
"""Texts up to this length come again (words, headings), so that their sizes are worth keeping."""
REMEMBERED = 50_000
REMEMBERED_LONG = 500
"""Longer ones are kept only as long as a section may need them again."""

_APART = " \n"
"""White space that every tokenizer takes for such."""


@dataclass(frozen=True)
class Budget:
    """The limit that a document's chunks must keep, and what turned out too long for it.

    `limit` bounds `count` of a whole chunk text; `room` is what it leaves beside the model's prefix and special
    tokens (`overhead`). Where a counter has the attribute `adds_up`, texts that stand apart by white space have as many
    tokens together as each by itself, beside the overhead: then each is counted once, whatever it becomes part of.
    `long_words` and `long_headings` collect what had to be cut, with its place.
    """

    count: Callable[[str], int]
    limit: int
    overhead: int
    room: int
    min_tokens: int
    overlap_sentences: int
    adds_up: bool = False
    long_words: dict[str, Locator] = field(default_factory=dict)
    long_headings: dict[str, Locator] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _long_sizes: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, config: Config, count: Callable[[str], int]) -> Budget:
        """Raises BuildError if the model's prefix leaves too little of the limit."""
        # Not count(""): a prefix that ends with a space is tokenized in another way where nothing follows.
        overhead = 2 * count("a") - count("a a")
        room = config.max_tokens - overhead
        if room < LEAST_ROOM:
            raise BuildError(
                "bad-setting",
                f"max_tokens = {config.max_tokens} leaves {room} tokens beside the model's prefix; raise it",
            )
        adds_up = getattr(count, "adds_up", False)
        return cls(count, config.max_tokens, overhead, room, config.min_tokens, config.overlap_sentences, adds_up)

    def size(self, text: str) -> int:
        """The tokens that `text` adds to a chunk.

        Sizes may be added up for planning: exact where the tokenizer never joins text across white space, near
        enough elsewhere. A text far too long for a chunk is not counted; its size is some number above the limit.
        """
        if not text:
            return 0
        size = (self._sizes if len(text) <= REMEMBERED_CHARS else self._long_sizes).get(text)
        if size is None:
            if len(text) > CHARS_A_TOKEN * self.limit:
                return len(text)
            size = self._added(text)
        return size if size > 0 else 1

    def tokens(self, context: str, own: str) -> int:
        """The tokens of a chunk with this context on top, exactly."""
        if self.adds_up and (not context or context[-1] in _APART):
            return self.overhead + self._added(context) + self._added(own)
        return self.count(context + own)

    def joined(self, texts: Sequence[str], joint: str) -> str:
        """The texts as one. Where counts add up, its size is known with theirs."""
        text = joint.join(texts)
        apart = joint and not joint.strip(_APART)
        if self.adds_up and apart and REMEMBERED_CHARS < len(text) <= CHARS_A_TOKEN * self.limit:
            self._remember(text, sum(map(self._added, texts)))
        return text

    def _added(self, text: str) -> int:
        """The tokens that `text` adds to others, none for nothing."""
        size = (self._sizes if len(text) <= REMEMBERED_CHARS else self._long_sizes).get(text)
        if size is None:
            size = self.count(text) - self.overhead
            self._remember(text, size)
        return size

    def _remember(self, text: str, size: int) -> None:
        if len(text) <= REMEMBERED_CHARS:
            if len(self._sizes) >= REMEMBERED:
                self._sizes.clear()
            self._sizes[text] = size
        elif len(text) <= CHARS_A_TOKEN * self.limit:
            if len(self._long_sizes) >= REMEMBERED_LONG:
                self._long_sizes.clear()
            self._long_sizes[text] = size

    def tightened(self, tokens: int) -> Budget:
        """The same with less room, where a chunk of the planned size turned out to have so many `tokens`."""
        room = max(self.room // 2, self.room * self.limit // tokens)
        return replace(self, room=max(1, min(room, self.room - 1)))
