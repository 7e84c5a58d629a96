"""What a person sees of a Markdown, plain text or CSV file, line by line."""

from __future__ import annotations

import html
import re

from ragpress.audit.visible import Piece, Visible
from ragpress.text import decode

_FENCE = re.compile(r"^(?:[\s>]|[-*+]\s|\d+[.)]\s)*(`{3,}(?=[^`]*$)|~{3,})")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_DESTINATION = re.compile(r"\]\(\s*(?:<[^<>\n]*>|[^\s()]*(?:\([^()\s]*\)[^\s()]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\]]+\]:\s*\S+.*$")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_KEY = re.compile(r"""^["']?[^\s#:"'\[\]{}-][^:]*:(?:\s|$)""")
_CONTINUED = re.compile(r"^(?:\s|#|-\s|-$|[\]}])")


def plain(text: str) -> str:
    """Markdown text without backslash escapes and character references."""
    return html.unescape(_ESCAPE.sub(r"\1", text))


def visible_markdown(data: bytes, source: str) -> Visible:
    """The lines without front matter, comments, tags, link targets and the marks of code blocks."""
    seen = Visible()
    lines = decode(data, source).text.split("\n")
    body = _front_matter_end(lines)
    seen.leave_out("front-matter", lines[:body])
    fence = ""
    for number, line in enumerate(_without_comments(lines[body:], seen), start=body + 1):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line[mark.end() :].strip(mark[1][0] + " "))):
            fence = "" if fence else mark[1]
        elif fence:
            seen.pieces.append(Piece(plain(line), f"L{number}"))
        elif not _DEFINITION.match(line):
            seen.pieces.append(Piece(plain(_TAG.sub(" ", _DESTINATION.sub("] ", line))), f"L{number}"))
    return seen


def _front_matter_end(lines: list[str]) -> int:
    """How many lines the front matter takes: a block between rules whose lines look like a YAML mapping's."""
    if lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            block = [entry for entry in lines[1:number] if entry.strip()]
            mapping = all(_KEY.match(entry) or _CONTINUED.match(entry) for entry in block)
            keys = any(_KEY.match(entry) for entry in block)
            return number + 1 if mapping and keys else 0
    return 0


def _without_comments(lines: list[str], seen: Visible) -> list[str]:
    """The lines with HTML comments blanked, line breaks kept."""

    def blank(found: re.Match[str]) -> str:
        seen.leave_out("comment", [found[0]])
        return "\n" * found[0].count("\n") or " "

    return _COMMENT.sub(blank, "\n".join(lines)).split("\n")


def visible_plaintext(data: bytes, source: str) -> Visible:
    """All lines."""
    lines = decode(data, source).text.split("\n")
    return Visible(pieces=[Piece(line, f"L{number}") for number, line in enumerate(lines, start=1)])


def visible_csv(data: bytes, source: str) -> Visible:
    """All records, numbered from 1; a record goes on while a quotation is open."""
    seen = Visible()
    lines = decode(data, source).text.split("\n")
    if re.fullmatch(r"sep=.", lines[0].strip()):  # Excel's hint, which it does not show
        lines[0] = ""
    number, quoted = 1, False
    for line in lines:
        seen.pieces.append(Piece(line, f"R{number}"))
        quoted ^= line.count('"') % 2 == 1
        number += not quoted
    return seen
