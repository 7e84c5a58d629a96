"""Addresses of links, written behind their text as Markdown writes them: `[text](address)`.

Kept are addresses of the web, of mail and of telephones; links to places in the file and to files of the author's
machine are their text alone, and so is a link whose text is its address.
"""

from __future__ import annotations

import re

_LONGEST = 2_083  # characters of an address, as in Excel
_USABLE = re.compile(r"(?:https?|ftps?)://[^\s/]|(?:mailto|tel):\S", re.IGNORECASE)
_ENDS = re.compile(r"^(?:https?|ftps?|mailto|tel):(?://)?(?:www\.)?|[/#]+$|\?subject=.*", re.IGNORECASE | re.DOTALL)


def linked(text: str, address: str) -> str:
    """`text` as a link to `address`, white space around it outside; as it is where the address adds nothing."""
    shown, address = text.strip(), address.strip()
    if not shown or len(address) > _LONGEST or not _USABLE.match(address) or _is_same(shown, address):
        return text
    start = text.index(shown)
    target = f"<{address}>" if re.search(r"[\s()]", address) else address
    return f"{text[:start]}[{shown}]({target}){text[start + len(shown) :]}"


def _is_same(text: str, address: str) -> bool:
    if address.lower().startswith("tel:"):
        return re.sub(r"\D", "", text) == re.sub(r"\D", "", address)
    return _ENDS.sub("", text).lower() == _ENDS.sub("", address).lower()
