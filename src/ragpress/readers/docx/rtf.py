"""RTF inside a Word file (altChunk) as plain paragraphs, read by striprtf.

striprtf shows hidden and deleted text, drops notes and text boxes, and knows bytes of a code page only as escapes
(`\\'e0`). So the control words in question are exchanged for others first (Rich Text Format specification 1.9.1).
"""

from __future__ import annotations

import re

from striprtf.striprtf import font_table_group, rtf_to_text

from ragpress.errors import SourceError

_BINARY = re.compile(rb"\\bin(\d{1,9}) ?")
_SWITCHED = re.compile(rb"\\(?:v|deleted)(?![a-z\d-])([^{}]{0,300}?)\\(?:v|deleted)0(?!\d)")
_MOST_FONTS = 50_000  # characters of the list of fonts; the time that striprtf takes grows with their square
_CONTROL = re.compile(rb"(?:\\\*)?\\([a-z]+)(-?\d+)? ?|\\[^a-z]|[\x80-\xff]", re.IGNORECASE)
_EXCHANGED = {
    b"v": rb"\*",  # the rest of the group is left out
    b"deleted": rb"\*",
    b"footnote": rb"\par ",
    b"shp": b"",
    b"shpinst": b"",
    b"shptxt": rb"\par ",
    b"cell": rb"\tab |\tab ",
    b"nestcell": rb"\tab |\tab ",
    b"fldinst": rb"\fldinst ",  # the pattern by which striprtf finds links would take time without bound
}
_SIGNS = {rb"\_": b"-", rb"\-": b""}


def rtf_paragraphs(data: bytes, source: str) -> list[str]:
    """The visible paragraphs of an RTF file, table rows as one line each. Raises SourceError for a damaged one."""
    data = _SWITCHED.sub(rb"{\\*\\v\1}", _without_binary(data))
    text = _CONTROL.sub(_exchange, data).decode("ascii", "replace")
    if len(font_table_group(text)) > _MOST_FONTS:
        raise SourceError("too-large", "its RTF lists too many fonts; save it again in Word", source)
    try:
        text = rtf_to_text(text, errors="replace")
    except (ValueError, TypeError, LookupError, OverflowError) as fault:  # absurd numbers and unknown code pages
        raise SourceError("bad-archive", f"its RTF is damaged ({fault}); save it again in Word", source) from None
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [line for found in text.splitlines() if (line := " ".join(found.split()).strip(" |"))]


def _without_binary(data: bytes) -> bytes:
    """The file without the bytes of pictures, which may look like anything."""
    kept, position = [], 0
    while found := _BINARY.search(data, position):
        kept.append(data[position : found.start()])
        position = found.end() + int(found[1])
    return b"".join((*kept, data[position:]))


def _exchange(found: re.Match[bytes]) -> bytes:
    if found[0][0] >= 0x80:
        return rb"\'%02x" % found[0][0]
    if found[1] is None or found[2] == b"0":
        return _SIGNS.get(found[0], found[0])
    return _EXCHANGED.get(found[1].lower(), found[0])
