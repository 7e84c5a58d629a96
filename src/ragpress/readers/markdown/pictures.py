"""Finds the pictures that Markdown shows: `![…](…)` in all its forms, and HTML's `<img>`."""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragpress.records import Picture

_IMG = re.compile(r"<img\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\s(src|alt)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_LONGEST_HINT = 20_000
"""Characters of a text from which on it is not searched just to count pictures: parsing it takes seconds."""


class Image(NamedTuple):
    """The address of a picture, as written (a percent sign begins an escape), and its alternative text."""

    address: str
    alternative: str


def _may_show(text: str) -> bool:
    """Whether inline text may hold a picture."""
    return "![" in text or ("<" in text and "<img" in text.lower())


def images(group: Iterable[Token], parser: MarkdownIt, env: dict[str, Any], *, all_: bool) -> Iterator[Image]:
    """The pictures in a block's tokens, in order. Without `all_` those in very long texts are passed over."""
    for token in group:
        text = token.content
        if not all_ and len(text) > _LONGEST_HINT:
            continue
        if token.type == "html_block":
            yield from _tags(text)
        elif token.type == "inline" and _may_show(text):
            found: list[Token] = []
            parser.inline.parse(text, parser, env, found)
            for piece in found:
                if piece.type == "image":
                    yield Image(str(piece.attrGet("src") or ""), piece.content)
                elif piece.type == "html_inline":
                    yield from _tags(piece.content)


def _tags(source: str) -> Iterator[Image]:
    for tag in _IMG.finditer(re.sub("<!--.*?(?:-->|$)", "", source, flags=re.DOTALL)):
        attributes = {
            name.lower(): html.unescape(one or two or three) for name, one, two, three in _ATTRIBUTE.findall(tag[0])
        }
        if attributes.get("src"):
            yield Image(attributes["src"], attributes.get("alt", ""))


def embedded(address: str) -> Picture | None:
    """The picture inside a `data:` address (RFC 2397); None where it is another address, or damaged."""
    kind, comma, payload = address.partition(",")
    media_type, *parameters = kind.removeprefix("data:").split(";")
    if not kind.startswith("data:image/") or not comma:
        return None
    data = unquote_to_bytes(payload)
    if "base64" in parameters:
        try:
            data = base64.b64decode(data)
        except binascii.Error:
            return None
    return Picture(hashlib.sha256(data).hexdigest(), media_type, data) if data else None
