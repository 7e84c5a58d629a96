"""The data of the search page: a script, since a page opened from disk may not read any other file."""

from __future__ import annotations

import unicodedata

import msgspec

from ragpress.report.gathering import Contents
from ragpress.report.pages import SourcePage
from ragpress.report.showing import KINDS
from ragpress.review.diff.showing import visible

_CASED = 0x1E944  # the code points from here on have no case
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def search_data(report: Contents, pages: list[SourcePage]) -> str:
    """`ragpressData = {…}`: sources with their pages, types, heading paths, and a row a chunk that refers to them.

    A row is [id, source, type, headings, place, tokens, flags, context, own text].
    """
    headings: dict[str, int] = {}
    types = list(KINDS)
    rows: list[list[object]] = []
    for number, page in enumerate(pages):
        for path, views in page.groups:
            shown = headings.setdefault(visible(path), len(headings))
            for view in views:
                chunk = view.chunk
                kind = types.index(chunk.content_type)
                place, context, text = visible(chunk.locator), visible(view.context), visible(view.text)
                rows.append([chunk.chunk_id, number, kind, shown, place, chunk.tokens, view.flags, context, text])
    data = {
        "sources": [[visible(page.link.source), page.link.page] for page in pages],
        "types": [[name, KINDS[name]] for name in types],
        "headings": list(headings),
        "chunks": rows,
        "folding": folding(),
    }
    return f"window.ragpressData = {script_literal(data)};\n"


def script_literal(value: object) -> str:
    """JSON that is also safe inside a script: no sign in it can end one, or a line of one."""
    text = msgspec.json.encode(value).decode()
    for sign, escape in _UNSAFE.items():
        text = text.replace(sign, escape)
    return text


def folding() -> dict[str, str]:
    """The letters whose case folding is another than their small letter, which is all that a browser knows."""
    found = {}
    for number in range(0x80, _CASED):
        letter = chr(number)
        folded, small = letter.casefold(), letter.lower()
        if folded != small and unicodedata.normalize("NFKC", letter) == letter:
            found[letter] = folded
    return found
