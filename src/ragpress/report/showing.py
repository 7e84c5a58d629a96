"""How texts, numbers and names are shown on the pages."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from ragpress.records import Chunk, ContentType
from ragpress.review.diff.showing import visible
from ragpress.review.golden import GoldenChunk

_LETTER = re.compile(r"[^\W\d_]")
_RIGHT_TO_LEFT = re.compile(r"(?=[^\W\d_])[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_ARABIC = re.compile(r"(?=[^\W\d_])[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]")
_CYRILLIC = re.compile(r"(?=[^\W\d_])[\u0400-\u052f]")
PARTING = re.compile(r"\n{2,}")
"""What separates two paragraphs of a chunk."""

_NOT_IN_NAMES = re.compile("[^a-z0-9]+")
_LONGEST = 60

KINDS: dict[ContentType, str] = {
    "paragraph": "paragraph",
    "table_row": "table row",
    "qa_pair": "Q&A",
    "image_caption": "caption",
}
"""Content type to the word for it on a page."""


def page_name(source: str) -> str:
    """The file name of a source's page: readable where the name is, and a hash, so that no two are the same.

    Only a-z, 0-9 and `-`, whatever is in the source's name: safe in an address and on every file system.
    """
    words = _NOT_IN_NAMES.sub("-", source.lower())[:_LONGEST].strip("-")
    digest = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{words}-{digest}.html" if words else f"{digest}.html"


def bearing(text: str) -> Markup:
    """The attributes `lang` and `dir` of an element that holds this text alone.

    The direction is left to the browser (`auto`: that of the first letter) unless most letters go the other way, as in
    a Persian line that begins with a Latin abbreviation. The language follows from the script, or is unknown.
    """
    letters = len(_LETTER.findall(text))
    language = ""
    for name, script in (("fa", _ARABIC), ("ru", _CYRILLIC)):
        if 2 * len(script.findall(text)) > letters:
            language = name
    return Markup('lang="{}" dir="{}"').format(language, _direction(text, letters))


def _direction(text: str, letters: int) -> str:
    first = _LETTER.search(text)
    if first is None:
        return "auto"
    to_left = 2 * len(_RIGHT_TO_LEFT.findall(text)) > letters
    starts_to_left = _RIGHT_TO_LEFT.match(first[0]) is not None
    if to_left == starts_to_left:
        return "auto"
    return "rtl" if to_left else "ltr"


def pieces(source: str) -> list[str]:
    """The parts of a source's name that are laid out one by one: folders, slashes, the stem, the suffix."""
    *folders, name = source.split("/")
    stem, dot, suffix = name.rpartition(".")
    last = [stem, dot + suffix] if stem else [name]
    return [*(piece for folder in folders for piece in (folder, "/")), *last]


def finalize(value: object) -> object:
    """What jinja puts on a page for an expression: text with the signs that would steer its direction written out."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def advice(text: str) -> Markup:
    """A note of the tool's own, with what is in backticks as code."""
    pieces = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(one) if at % 2 else one for at, one in enumerate(pieces))


def percent(share: float) -> str:
    """Never rounded up: 100 % is a whole."""
    return "100 %" if share >= 1 else f"{math.floor(share * 1000 + 1e-9) / 10:.1f} %"


def median(numbers: Sequence[int]) -> int:
    """The middle one of at least one number, the lower where there are two."""
    return sorted(numbers)[(len(numbers) - 1) // 2]


def plain_value(value: object) -> str:
    """A value of front matter in one line."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return msgspec.json.encode(value).decode()


def parts_of(chunk: Chunk | GoldenChunk) -> tuple[str, str]:
    """Context and own text, without the blank line between them."""
    if isinstance(chunk, Chunk):
        chunk = GoldenChunk.of(chunk)
    return chunk.context.rstrip("\n"), chunk.text


def cells_of(text: str) -> list[tuple[str, str]]:
    """The lines of a table row as (header with its colon, rest); the header is empty where a line shows none."""
    found = []
    for line in text.split("\n"):
        head, colon, rest = line.partition(": ")
        found.append((f"{head}:", rest) if colon and head else ("", line))
    return found
