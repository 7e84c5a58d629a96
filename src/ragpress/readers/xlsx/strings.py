"""Strings of cells: shared, inline and rich ones, and the escapes that SpreadsheetML has for what XML cannot hold."""

from __future__ import annotations

import re

from openpyxl.utils.escape import unescape

from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import Element, local
from ragpress.readers.xlsx.stream import stream
from ragpress.text import normalize

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def shared_strings(package: Package, name: str) -> list[str]:
    """The texts of a shared strings part, in order; empty where it is missing."""
    return [rich_text(item) for item in stream(package, name, "si")] if name else []


def rich_text(item: Element) -> str:
    """The text of an `si` or `is` element: its own, or that of its runs. Phonetic runs (`rPh`) are no text."""
    texts = []
    for part in item:
        name = local(part)
        if name == "t":
            texts.append(part.text or "")
        elif name == "r":
            texts.extend(run.text or "" for run in part if local(run) == "t")
    return clean("".join(texts))


def clean(text: str) -> str:
    """A cell's text in the project's normal form: escapes (`_x000D_`) undone, line ends as `\\n`, outer space off."""
    if "_x" in text:
        text = unescape(text)
    if not text.isprintable():
        text = _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return normalize(text).strip()
