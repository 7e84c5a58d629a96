"""The parser of Markdown: CommonMark with tables, by markdown-it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables, which leaves inline markup as it is."""
    # Only headings and pictures are parsed for it, where they stand: that is most of the time saved.
    return MarkdownIt("commonmark").enable("table").disable("inline")


def top_level(text: str, env: dict[str, Any]) -> Iterator[Sequence[Token]]:
    """The tokens of each block that stands in no other, in order. `env` takes up link definitions, as markdown-it's."""
    group: list[Token] = []
    for token in parser().parse(text, env):
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []
