"""Addresses of links, written behind their text as Markdown writes them: `[text](address)`.

Kept are addresses outside the document that a reader can use; links to bookmarks and to files of the author's machine
are their text alone, and so is a link whose text is its address.
"""

from __future__ import annotations

import re

_USABLE = re.compile(r"(?:https?|ftps?)://[^\s/]|(?:mailto|tel):\S", re.IGNORECASE)
_FIELD = re.compile(r"\s*HYPERLINK\s+(?:\"([^\"]*)\"|([^\s\\\"]\S*))", re.IGNORECASE)
_BOOKMARK = re.compile(r"\\l\s+\"?([^\"\s]+)")
_DECORATION = re.compile(r"^(?:https?://|ftps?://|mailto:|tel:)|/$", re.IGNORECASE)


def linked(text: str, address: str) -> str:
    """`text` as a link to `address`, white space around it outside; as it is where the address adds nothing."""
    shown = text.strip()
    if not shown or not _USABLE.match(address) or _plain(shown) == _plain(address):
        return text
    start = text.index(shown)
    target = f"<{address}>" if re.search(r"[\s()]", address) else address
    return f"{text[:start]}[{shown}]({target}){text[start + len(shown) :]}"


def field_address(instruction: str) -> str:
    """The address in the code of a HYPERLINK field (17.16.5.25), empty for another field or a bookmark."""
    found = _FIELD.match(instruction)
    if found is None:
        return ""
    bookmark = _BOOKMARK.search(instruction, found.end())
    address = found[1] or found[2] or ""
    return f"{address}#{bookmark[1]}" if address and bookmark else address


def _plain(address: str) -> str:
    return _DECORATION.sub("", address.strip()).lower()
