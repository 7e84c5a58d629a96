"""Takes what nobody sees out of Markdown source: comments, HTML tags, scripts, embedded pictures, entity codes."""

from __future__ import annotations

import html
import re

from ragpress.text import normalize

_MARKUP = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)"
    r"|(?P<comment><!--)"
    r"|(?P<tag></?(?P<name>[A-Za-z][A-Za-z0-9-]*)(?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)?/?>)"
    r"|(?P<instruction><[?!][A-Za-z\[][^<>]*>)"
    r"|(?P<entity>&(?:[A-Za-z][A-Za-z0-9]{1,31}|\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6});)"
    r"|(?P<picture>\]\(\s*<?)data:[^)\s>]*>?"
)
_ALT = re.compile(r"""\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_UNSEEN = frozenset({"script", "style", "template", "noscript", "object", "svg"})
_LINE = re.compile(  # elements that stand on lines of their own
    "address|article|aside|blockquote|body|br|caption|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer"
    "|form|h[1-6]|header|hr|html|li|main|nav|ol|p|pre|section|summary|table|tbody|tfoot|thead|tr|ul"
)
_CELL = re.compile("t[dh]")


def visible(text: str, *, one_line: bool = False) -> tuple[str, list[str]]:
    """The text without what nobody sees, and the comments that were in it.

    Markdown's own marks stay as written, and so do code spans and escapes. Tags that begin or end a line on a page
    do so here, or are a space in `one_line`; the cells of an HTML table are divided by ` | `. An HTML comment that
    is not closed goes to the end if it begins the text, as in an HTML block, and is plain text elsewhere.
    """
    if not ("<" in text or "&" in text or "(data:" in text):
        return text, []
    out: list[str] = []
    comments: list[str] = []
    changed = decoded = False
    at = 0
    dead_ends: set[str] = set()  # closings that the rest of the text does not have, so that none is sought twice

    def closing(mark: str, start: int) -> int:
        found = -1 if mark in dead_ends else text.find(mark, start)
        if found < 0:
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
            end = closing("-->", found.start() + 2)
            if end < 0 and text[: found.start()].strip():
                out.append(found[0])
                continue
            changed = True
            comments.append(text[at : max(end, at)] if end >= 0 else text[at:])
            at = end + 3 if end >= 0 else len(text)
        elif found["tag"]:
            changed = True
            name = found["name"].lower()
            out.append(_instead(found[0], name, one_line))
            if name in _UNSEEN and found[0][1] != "/" and not found[0].endswith("/>"):
                end = closing(f"</{name}", at)
                at = end if end >= 0 else at
        elif found["instruction"]:
            changed = True
        elif found["entity"]:
            sign = html.unescape(found[0])
            decoded = decoded or sign != found[0]
            out.append(" " if sign in "\t\n\r\f" else sign)
        elif found["picture"]:
            out.append(found["picture"].rstrip("<"))
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
    if _LINE.fullmatch(name):
        return " " if one_line else ("\n- " if name == "li" and tag[1] != "/" else "\n")
    return ""


def _tidied(text: str) -> str:
    """Without the white space and cell borders that tags left at the ends of lines, and without doubled blank lines."""
    lines = (line.removesuffix(" | ").rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
