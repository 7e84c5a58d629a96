"""RTF inside a Word file (altChunk) as plain paragraphs (Rich Text Format specification 1.9.1)."""

from __future__ import annotations

import re

_TOKEN = re.compile(rb"\\'([0-9a-fA-F]{2})|\\([a-zA-Z]+)(-?\d+)? ?|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)")
_DESTINATION = re.compile(  # groups that hold something else than the text
    "fonttbl|colortbl|stylesheet|info|pict|object|header[lrf]?|footer[lrf]?|themedata|colorschememapping|datastore|private"
    "|latentstyles|listtable|listoverridetable|rsidtbl|generator|xmlnstbl|filetbl|revtbl|fldinst|annotation|atnid|atnauthor"
    "|bkmkstart|bkmkend|template"
)
_SIGNS = {"par": "\n", "line": "\n", "row": "\n", "sect": "\n", "page": "\n", "tab": " ", "cell": " | ", "emdash": "—"}
_SIGNS |= {"endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•"}
_ESCAPES = {b"~": " ", b"_": "-", b"{": "{", b"}": "}", b"\\": "\\", b"\n": "\n", b"\r": "\n"}


def rtf_paragraphs(data: bytes) -> list[str]:
    """The visible paragraphs of an RTF file, table rows as one line each."""
    code_page = re.search(rb"\\ansicpg(\d+)", data[:2048])
    encoding = f"cp{int(code_page[1])}" if code_page else "cp1252"
    try:
        b"".decode(encoding)
    except LookupError:
        encoding = "cp1252"
    return [text for line in _text(data, encoding).split("\n") if (text := " ".join(line.strip(" |").split()))]


def _text(data: bytes, encoding: str) -> str:
    found: list[str] = []
    pending = bytearray()  # bytes of the code page, which may need two for a character
    outer: list[tuple[bool, int]] = []
    hidden, after_unicode, skip = False, 1, 0

    def flush() -> None:
        if pending:
            found.append(pending.decode(encoding, errors="replace"))
            pending.clear()

    for match in _TOKEN.finditer(data):
        byte, word, value, escape, brace, plain = match.groups()
        if brace == b"{":
            outer.append((hidden, after_unicode))
        elif brace == b"}":
            flush()
            skip = 0
            if outer:
                hidden, after_unicode = outer.pop()
        elif word:
            flush()
            name = word.decode("ascii")
            if _DESTINATION.fullmatch(name) or (name in ("v", "deleted") and value != b"0"):
                hidden = True
            elif name == "uc":
                after_unicode = int(value or 1)
            elif name == "u" and value:
                if not hidden:
                    found.append(chr(int(value) % 0x10000))
                skip = after_unicode
            elif not hidden:
                found.append(_SIGNS.get(name, ""))
        elif escape == b"*":
            hidden = True  # a destination that readers may ignore
        elif escape:
            flush()
            found.append("" if hidden else _ESCAPES.get(escape, ""))
        elif byte:
            if skip:
                skip -= 1
            elif not hidden:
                pending.append(int(byte, 16))
        elif plain:
            dropped = min(skip, len(plain))
            skip -= dropped
            if not hidden:
                pending += plain[dropped:]
    flush()
    return "".join(found).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
