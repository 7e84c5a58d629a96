"""Texts of cells: shared, inline and rich strings, their escapes, and the texts of rich values.

Rich values are pictures placed in cells and linked data types such as stocks. Older programs see the error `#VALUE!` in
such a cell; its `vm` attribute leads through metadata.xml to a rich value ([MS-XLSX] 2.6.204 to 2.6.206), whose
structure names what each of its values is.
"""

from __future__ import annotations

import re

from openpyxl.utils.escape import unescape

from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import Element, child, local
from ragpress.readers.xlsx.stream import stream
from ragpress.text import normalize

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

_RICH_PARTS = ("sheetMetadata", "rdRichValue", "rdRichValueStructure")
_SHOWN = ("_DisplayString", "Text", "Name")
"""Keys of the visible text, the first that is there: the name shown, a picture's alternative text."""


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


def rich_values(package: Package, workbook: str) -> dict[str, str]:
    """By the number that a cell's `vm` attribute gives, the text of its rich value; none for one without a text."""
    parts = [(package.related(workbook, kind) or [""])[0] for kind in _RICH_PARTS]
    metadata, values, structures = map(package.root, parts)
    indexes = _value_indexes(metadata)
    if not indexes:
        return {}
    keys = [[(key.get("n") or "", key.get("t")) for key in structure] for structure in structures]
    texts = [_text(value, keys) for value in values]
    found = {str(vm): texts[index] for vm, index in indexes.items() if index < len(texts)}
    return {vm: text for vm, text in found.items() if text}


def _value_indexes(metadata: Element) -> dict[int, int]:
    """By the number of a cell's value metadata, from 1, the place of its rich value, from 0."""
    names = [kind.get("name") for kind in child(metadata, "metadataTypes")]
    blocks = {
        future.get("name"): [_index(mark.get("i")) for block in future for mark in block.iter() if local(mark) == "rvb"]
        for future in metadata
        if local(future) == "futureMetadata"
    }
    found = {}
    for number, block in enumerate(child(metadata, "valueMetadata"), start=1):
        record = child(block, "rc")
        kind, place = _index(record.get("t")) - 1, _index(record.get("v"))
        rich = blocks.get(names[kind], []) if 0 <= kind < len(names) else []
        if 0 <= place < len(rich) and rich[place] >= 0:
            found[number] = rich[place]
    return found


def _text(value: Element, keys: list[list[tuple[str, str | None]]]) -> str:
    structure = _index(value.get("s"))
    if not 0 <= structure < len(keys):
        return ""
    given = [part.text or "" for part in value if local(part) == "v"]
    texts = {name: text for (name, kind), text in zip(keys[structure], given, strict=False) if kind == "s"}
    return next((found for name in _SHOWN if (found := clean(texts.get(name, "")))), "")


def _index(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else -1
