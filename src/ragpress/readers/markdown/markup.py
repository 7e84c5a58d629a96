"""Takes what nobody sees out of Markdown source: comments, HTML tags, scripts, embedded pictures, entity codes."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from markdown_it.common.utils import normalizeReference

from ragpress.readers.markdown.html_tables import LINE_ELEMENTS, UNSEEN_ELEMENTS, table_rows
from ragpress.text import normalize

_MARKUP = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)"
    r"|(?P<comment><!--|\{/\*|(?<![\w%])%%(?!%))"
    r"|(?P<tag></?(?P<name>[A-Za-z][A-Za-z0-9-]*)(?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)?/?>)"
    r"|(?P<instruction><[?!][A-Za-z\[][^<>]*>)"
    r"|(?P<entity>&(?:[A-Za-z][A-Za-z0-9]{1,31}|\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6});)"
    r"|(?P<picture>\]\(\s*<?)data:[^)\s>]*>?"
    r"|\]\[(?P<label>[^\[\]]{1,999})\]"  # of a link's definition, CommonMark 6.3
    r"|\[(?P<short>[^\[\]]{1,999})\](?:\[\])?(?![\[(])"
)
_MARKS = ("<", "&", "(data:", "%%", "{/*")
_ALT = re.compile(r"""\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_CELL = re.compile("t[dh]")
CLOSINGS = {
    "<!--": re.compile("-->"),
    "{/*": re.compile(r"\*/\}"),  # a comment of MDX
    "%%": re.compile(r"%%(?![\w%])"),  # of Obsidian
    "<table": re.compile(r"</table\s*>", re.IGNORECASE),
}


def visible(text: str, addresses: Mapping[str, str] | None = None, *, one_line: bool = False) -> tuple[str, list[str]]:
    """The text without what nobody sees, and the comments that were in it.

    Markdown's own marks stay as written, and so do code spans and escapes. Tags that begin or end a line on a page
    do so here, or are a space in `one_line`; the cells of an HTML table are divided by ` | `, those that span others
    filled in. A comment that is not closed is plain text, but an HTML comment that begins the text goes to the end,
    as in an HTML block. Links whose definition is among `addresses` (by the label as markdown-it normalizes it) are
    written with their address, `[text](address)`.
    """
    if not any(mark in text for mark in _MARKS) and not (addresses and "[" in text):
        return text, []
    addresses = addresses or {}
    out: list[str] = []
    comments: list[str] = []
    changed = decoded = False
    at = 0
    dead_ends: set[str] = set()  # marks that the rest of the text does not close, so that no end is sought twice

    def closing(mark: str, start: int) -> re.Match[str] | None:
        pattern = CLOSINGS.get(mark) or re.compile(re.escape(mark))
        found = None if mark in dead_ends else pattern.search(text, start)
        if found is None:
            dead_ends.add(mark)
        return found

    while (found := _MARKUP.search(text, at)) is not None:
        out.append(text[at : found.start()])
        at = found.end()
        if found["ticks"]:
            end = _code_end(text, found, dead_ends)
            out.append(text[found.start() : end])
            at = end
        elif found["comment"]:
            behind = closing(found[0], found.start() + 2)
            if behind is None and (found[0] != "<!--" or text[: found.start()].strip()):
                out.append(found[0])
                continue
            changed = True
            end = behind.start() if behind else len(text)
            comments.append(text[at : max(end, at)])
            at = behind.end() if behind else end
        elif found["tag"]:
            changed = True
            name = found["name"].lower()
            opens = found[0][1] != "/" and not found[0].endswith("/>")
            behind = closing("<table", at) if name == "table" and opens else None
            if behind is not None:
                rows, inner = table_rows(text[found.start() : behind.end()])
                lines = [" | ".join(row) for row in rows]
                out.append(" ".join(lines) if one_line else "\n" + "\n".join(lines) + "\n")
                comments += inner
                decoded = True
                at = behind.end()
                continue
            out.append(_instead(found[0], name, one_line))
            if name in UNSEEN_ELEMENTS and opens:
                behind = closing(f"</{name}", at)
                at = behind.start() if behind else at
        elif found["instruction"]:
            changed = True
        elif found["entity"]:
            sign = html.unescape(found[0])
            decoded = decoded or sign != found[0]
            out.append(" " if sign in "\t\n\r\f" else sign)
        elif found["picture"]:
            out.append(found["picture"].rstrip("<"))
        elif found["label"] or found["short"]:
            address = addresses.get(normalizeReference(found["label"] or found["short"]))
            if address is None:
                at = found.start() + 1  # there may be code or a tag inside
                out.append(found[0][0])
            else:
                out.append(f"]({address})" if found["label"] else f"[{found['short']}]({address})")
        else:
            out.append(found[0])
    out.append(text[at:])
    result = "".join(out)
    if decoded:
        result = normalize(result)
    return (_tidied(result) if changed else result), comments


def _code_end(text: str, opening: re.Match[str], dead_ends: set[str]) -> int:
    """The end of a code span, or of its opening marks where no equal run of marks closes it."""
    ticks = opening[0]
    if ticks not in dead_ends:
        closed = re.compile(f"(?<!`)`{{{len(ticks)}}}(?!`)").search(text, opening.end())
        if closed is not None:
            return closed.end()
        dead_ends.add(ticks)
    return opening.end()


def _instead(tag: str, name: str, one_line: bool) -> str:
    if name == "img":
        found = _ALT.search(tag)
        return html.unescape(next(filter(None, found.groups()), "")) if found else ""
    if _CELL.fullmatch(name):
        return " | " if tag[1] == "/" else ""
    if name in LINE_ELEMENTS:
        return " " if one_line else ("\n- " if name == "li" and tag[1] != "/" else "\n")
    return ""


def _tidied(text: str) -> str:
    """Without the white space and cell borders that tags left at the ends of lines, and without doubled blank lines."""
    lines = (line.removesuffix(" | ").rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
