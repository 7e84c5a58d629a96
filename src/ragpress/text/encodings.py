"""Bytes to text: byte order marks, then strict UTF-8, then what the bytes themselves tell."""

from __future__ import annotations

import re

import msgspec

from ragpress.errors import SourceError, message
from ragpress.records import Message
from ragpress.text.guessing import best_single_byte, readable_share

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

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_SAMPLE = 1 << 16
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

    Tried in this order: a byte order mark; strict UTF-8; UTF-16 and UTF-32 without a mark, by the zero bytes; UTF-8
    with a few broken bytes; the single-byte encoding in which the text reads most like Russian, Persian or a
    Western language. All but the first two are reported with code `text-encoding`.
    Raises SourceError (bad-encoding) for bytes that are no text.
    """
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            raise _no_text(source, f"this is {name}, not a text file")
    text, encoding, note = _decode(data, source)
    messages: list[Message] = []
    if note:
        messages.append(message("warning", "text-encoding", note, source))
    text = text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")
    nuls = text.count("\x00")
    controls = len(_CONTROLS.findall(text))
    if controls > 8 and controls > len(text) // 50:
        raise _no_text(source, "the bytes are no text")
    if controls:
        text = _CONTROLS.sub("", text)
    if nuls:
        messages.append(message("warning", "text-encoding", f"{nuls} NUL characters were taken out", source))
    return Decoded(text, encoding, not note, tuple(messages))


def _no_text(source: str, found: str) -> SourceError:
    return SourceError("bad-encoding", f"{found}; save it as UTF-8 text, or give the file its true suffix", source)


def _decode(data: bytes, source: str) -> tuple[str, str, str]:
    """Text, encoding, and what to report, empty where the encoding is certain."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            body = data[len(mark) :]
            try:
                return body.decode(encoding), encoding, ""
            except UnicodeDecodeError as error:
                if encoding.startswith("utf-32"):
                    continue  # the shorter mark of UTF-16, then a NUL
                return _mended(body, encoding, error)
    wide = _wide_without_mark(data)
    if wide:
        return data.decode(wide, "replace"), wide, _taken_for(wide)
    try:
        return data.decode("utf-8"), "utf-8", ""
    except UnicodeDecodeError as error:
        mended = data.decode("utf-8", "replace")
        broken = mended.count("\ufffd")
        if broken * 10 <= sum(1 for character in mended if character > "\x7f"):
            return _mended(data, "utf-8", error)
    encoding = best_single_byte(data)
    if not encoding:
        raise _no_text(source, "the bytes are no text in any encoding known here")
    return data.decode(encoding, "replace"), encoding, _taken_for(encoding)


def _taken_for(encoding: str) -> str:
    return f"neither UTF-8 nor marked; taken for {encoding} by its letters; save the file as UTF-8 to be sure"


def _mended(data: bytes, encoding: str, error: UnicodeDecodeError) -> tuple[str, str, str]:
    text = data.decode(encoding, "replace")
    line = data[: error.start].decode(encoding, "replace").count("\n") + 1
    broken = text.count("\ufffd")
    return text, encoding, f"{broken} broken places in the {encoding} text, the first in line {line}; save it anew"


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
