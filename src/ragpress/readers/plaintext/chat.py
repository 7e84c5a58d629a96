"""The messages of a chat that was copied or exported as text: each whole, with its sender and time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragpress.readers.plaintext.lines import Line

_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[APap]\.?\s?[Mm]\.?|\s[قب]\.?\s?[.]?ظ\.?)?"
_TELEGRAM = re.compile(rf".{{1,80}}[,،]\s\[{_DATE}[,،]?\s{_TIME}\]")
_WHATSAPP = re.compile(  # as Android writes it, and as iOS does
    rf"(?:{_DATE}[,،]?\s{_TIME}\s[-–—]\s|\[{_DATE}[,،]?\s{_TIME}\]\s)(?:[^:\n]{{1,80}}:(?=\s|\Z))?"
)
_FEWEST = 2


class ChatMessage(NamedTuple):
    """The lines of a message, and how many characters at its beginning tell its sender and time."""

    lines: tuple[Line, ...]
    head: int


def chat_messages(lines: Sequence[Line]) -> list[ChatMessage]:
    """The messages of a text that is a chat: it begins with one, and there are two at least. Else none.

    Telegram: `Name, [12.03.2024 10:15]` above the message. WhatsApp: `12.03.2024, 10:15 - Name: message`, or
    `[12.03.2024, 10:15:00] Name: message`.
    """
    heads = [(at, head) for at, line in enumerate(lines) if (head := _head(line.text))]
    if len(heads) < _FEWEST or heads[0][0] > 0:
        return []
    ends = [at for at, _ in heads[1:]] + [len(lines)]
    found = []
    for (at, head), end in zip(heads, ends, strict=True):
        found.append(ChatMessage(tuple(lines[at:end]), head if len(lines[at].text) > head or end > at + 1 else 0))
    return found


def _head(line: str) -> int:
    """The length of what names the sender and time at the beginning of a line, or 0."""
    if _TELEGRAM.fullmatch(line):
        return len(line)
    found = _WHATSAPP.match(line)
    return found.end() if found else 0
