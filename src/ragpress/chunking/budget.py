"""How many tokens a chunk may hold, and how many a text takes."""

from __future__ import annotations

from collections.abc import Callable
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


@dataclass(frozen=True)
class Budget:
    """The limit that a document's chunks must keep, and what turned out too long for it.

    `limit` bounds `count` of a whole chunk text; `room` is what it leaves beside the model's prefix and special
    tokens (`overhead`). `long_words` and `long_headings` collect what had to be cut, with its place.
    """

    count: Callable[[str], int]
    limit: int
    overhead: int
    room: int
    min_tokens: int
    overlap_sentences: int
    long_words: dict[str, Locator] = field(default_factory=dict)
    long_headings: dict[str, Locator] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

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
        return cls(count, config.max_tokens, overhead, room, config.min_tokens, config.overlap_sentences)

    def size(self, text: str) -> int:
        """The tokens that `text` adds to a chunk.

        Sizes may be added up for planning: exact where the tokenizer never joins text across white space, near
        enough elsewhere. A text far too long for a chunk is not counted; its size is some number above the limit.
        """
        if not text:
            return 0
        if len(text) > CHARS_A_TOKEN * self.limit:
            return len(text)
        if len(text) > REMEMBERED_CHARS:
            return max(1, self.count(text) - self.overhead)
        size = self._sizes.get(text)
        if size is None:
            if len(self._sizes) > REMEMBERED:
                self._sizes.clear()
            size = self._sizes[text] = max(1, self.count(text) - self.overhead)
        return size

    def tightened(self, tokens: int) -> Budget:
        """The same with less room, where a chunk of the planned size turned out to have so many `tokens`."""
        room = max(self.room // 2, self.room * self.limit // tokens)
        return replace(self, room=max(1, min(room, self.room - 1)))
