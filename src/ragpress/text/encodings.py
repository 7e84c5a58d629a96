"""Bytes to text: byte order marks, then strict UTF-8, then what the bytes themselves tell."""

from __future__ import annotations

import re

import msgspec

from ragpress.errors import SourceError, message
from ragpress.records import Locator, Message
from ragpress.text.conflicts import UNRESOLVED, conflict_line
from ragpress.text.guessing import best_single_byte, best_wide, readable_share

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
"""Byte order marks, the longer before the shorter that it begins with."""

_SIGNATURES = (
    (b"PK\x03\x04", "a ZIP archive or Office file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file"),
    (b"%PDF-", "a PDF file"),
    (b"{\\rtf", "an RTF file"),
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "a gzip file"),
    (b"SQLite format 3\x00", "a database"),
    (b"\x7fELF", "a program"),
)

_SEVEN_BITS = ((b"\x1b$", "iso2022_jp"), (b"\x1b(", "iso2022_jp"), (b"~{", "hz"))
"""What turns to the characters of Japanese and Chinese in encodings that have but ASCII bytes."""

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_SAMPLE = 1 << 16
_FEW = 8  # control characters that are taken out of even a short text
_READABLE = 0.95  # least share of ordinary characters in what is taken for UTF-16 or UTF-32 without a mark


class Decoded(msgspec.Struct, frozen=True):
    """The text of a source and how it was read. `encoding` is Python's name of it.

    `certain` is false where the bytes only suggest the encoding; then `messages` says which was taken.
    """

    text: str
    encoding: str
    certain: bool
    messages: tuple[Message, ...] = ()


def decode(data: bytes, source: str) -> Decoded:
    """Text with `\\n` line ends and without byte order marks, NUL and other control characters but tab and form feed.

    Tried in this order: a byte order mark; UTF-16 and UTF-32 without a mark, by the zero bytes; strict UTF-8; UTF-8
    with a few broken bytes; the single-byte encoding in which the text reads most like Russian, Persian, Greek, Hebrew
    or a language of Latin letters; those of Japanese, Korean and Chinese. What is not certain is reported as a warning
    with code `text-encoding`.
    Raises SourceError for bytes that are no text (bad-encoding) and a text with git's conflict marks (conflict).
    """
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            raise _no_text(source, f"this is {name}, not a text file")
    text, encoding, note = _decode(data, source)
    text = text.replace("\ufeff", "").replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    controls = _CONTROLS.findall(text)
    if len(controls) > max(_FEW, len(text) // 50):
        raise _no_text(source, f"{len(controls)} control characters among {len(text)}: the bytes are no text")
    notes = [note] if note else []
    if controls:
        text = _CONTROLS.sub("", text)
        notes.append(
            f"{len(controls)} control characters (NUL and the like) were taken out; check where they came from"
        )
    line = conflict_line(text)
    if line:
        raise SourceError("conflict", f"{UNRESOLVED}; resolve it in this file", source, Locator("L", line, line))
    messages = tuple(message("warning", "text-encoding", each, source) for each in notes)
    return Decoded(text, encoding, not note, messages)


def _no_text(source: str, found: str) -> SourceError:
    return SourceError("bad-encoding", f"{found}; save it as UTF-8 text, or give the file its true suffix", source)


def _decode(data: bytes, source: str) -> tuple[str, str, str]:
    """Text, encoding, and what to report, empty where the encoding is certain."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            # The mark of UTF-32 is also that of UTF-16 and a NUL: then the longer one fails and the shorter is tried.
            found = _strict(data[len(mark) :], encoding) or _almost(data[len(mark) :], encoding)
            if found:
                return found
    wide = _wide_without_mark(data)
    if wide:
        return data.decode(wide, "replace"), wide, _taken_for(wide)
    for turn, encoding in _SEVEN_BITS:
        found = _strict(data, encoding) if turn in data and data.isascii() else None
        if found and not found[0].isascii():
            return *found[:2], _taken_for(encoding)
    found = _strict(data, "utf-8") or _almost(data, "utf-8")
    if found:
        return found
    encoding = best_single_byte(data) or best_wide(data)
    if not encoding:
        raise _no_text(source, "the bytes are no text in any encoding known here")
    return data.decode(encoding, "replace"), encoding, _taken_for(encoding)


def _taken_for(encoding: str) -> str:
    return f"no UTF-8 and no byte order mark; read as {encoding}, judged by its letters; save the file as UTF-8"


def _strict(data: bytes, encoding: str) -> tuple[str, str, str] | None:
    try:
        return data.decode(encoding), encoding, ""
    except UnicodeDecodeError:
        return None


def _almost(data: bytes, encoding: str) -> tuple[str, str, str] | None:
    """The text if it has one broken place or less for ten sound characters above ASCII."""
    text = data.decode(encoding, "replace")
    broken = text.count("\ufffd")
    if broken * 11 > len(text) - len(text.encode("ascii", "ignore")):
        return None
    line = text.count("\n", 0, text.index("\ufffd")) + 1
    return text, encoding, f"{broken} broken places in {encoding} text, the first in line {line}; save the file anew"


def _wide_without_mark(data: bytes) -> str:
    """The name of UTF-16 or UTF-32 if the zero bytes and what the units then say speak for it, else empty."""
    sample = data[:_SAMPLE]
    if b"\x00" not in sample or len(sample) < 4:
        return ""
    for encoding, size in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        whole = sample[: len(sample) // size * size]
        try:
            text = whole.decode(encoding)
        except UnicodeDecodeError as error:
            if error.end < len(whole) or not error.start:
                continue
            text = whole[: error.start].decode(encoding)
        if readable_share(text) >= _READABLE:
            return encoding
    return ""
