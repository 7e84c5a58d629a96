"""What a person sees of a Markdown, plain text or CSV file, line by line."""

from __future__ import annotations

import html
import re
from itertools import pairwise

from ragpress.audit.visible import UNKNOWN_LETTER, Visible, VisibleText, words
from ragpress.text import decode

_FENCE = re.compile(r"^(?:[\s>]|[-*+]\s|\d+[.)]\s)*(`{3,}(?=[^`]*$)|~{3,})")
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|big|cite|code|del|em|font|i|ins|kbd|mark|q|s|small|span|strong|u|var)(?:\s[^<>]*)?>", re.IGNORECASE
)
_SCRIPT_TAG = re.compile(r"</?su[bp](?:\s[^<>]*)?>", re.IGNORECASE)
# An element that no page shows, up to its end; not one that is never closed, of which a page shows the text or not.
_UNSEEN = re.compile(
    r"<(script|style|template|noscript|object|svg)\b[^<>]*>(?:(?!</?\1\b).)*</\1\s*>", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<[!?][a-zA-Z][^<>]*>")
_DESTINATION = re.compile(r"\]\(\s*(?:<[^<>\n]*>|[^\s()]*(?:\([^()\s]*\)[^\s()]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_LABEL = re.compile(r"\]\[[^\[\]]*\]")
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\]\n]+\]:[ \t]*\n?[ \t]*\S+.*$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"[*`]|~~")
_KEY = re.compile(r"""^["']?[^\s#:"'\[\]{}-][^:]*:(?:\s|$)""")
_CONTINUED = re.compile(r"^(?:\s|#|-\s|-$|[\]}])")
_TOML_LINE = re.compile(r"""^[ \t]*(?:[\w"'.-]+[ \t]*=|\[|#)""")
# Comments of HTML, of MDX and of Obsidian. One of the latter two that is not closed is text.
_COMMENT = re.compile(r"<!--|\{/[*]|(?<![^\W_])(?<!%)%%(?!%)")
_WORD_CUT = re.compile("\\S+[-\u00ad\u00ac]")
_PAGE_NUMBER = re.compile(r"[^\w\n]*(?:page|стр|صفحه)\w*\.?\s*\d+", re.IGNORECASE)
_COMMENT_ENDS = {"<!--": "-->", "{/*": "*/}", "%%": "%%"}
_MDX_CODE = re.compile(
    r"^(?:import\s.*['\"];?[ \t]*$|export\s+(?:const|let|var|class|function|async|default)\b).*(?:\n[ \t]*\S.*)*",
    re.MULTILINE,
)
_ATTRIBUTES = re.compile(r"(?<=\S)[ \t]*\{:?[ \t]*[.#][^}{\n]*\}(?=[ \t]*$)", re.MULTILINE)
_ATX = re.compile(r"^[ >]{0,3}#+[ \t].*$", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^[^\]\s]*\]")
_TITLED = re.compile(r"""^([ \t]*)[!?]{3}\+?[ \t][\w \t-]+(?=".*"[ \t]*$)""", re.MULTILINE)


def plain(text: str) -> str:
    """Markdown text without backslash escapes, character references, and the marks of emphasis and code."""
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    text = html.unescape(text)
    return _EMPHASIS.sub("", text) if "*" in text or "`" in text or "~~" in text else text


def visible_markdown(data: bytes, source: str) -> Visible:
    """The lines without front matter, comments, tags, link targets and the marks of code blocks."""
    seen = Visible()
    lines = decode(data, source).text.split("\n")
    body = _front_matter_end(lines)
    seen.leave_out("front-matter", lines[:body])
    for number, line in enumerate(_without_markup(lines[body:], seen), start=body + 1):
        seen.pieces.append(VisibleText(plain(line), f"L{number}"))
    return seen


def _without_markup(lines: list[str], seen: Visible) -> list[str]:
    """As many lines, those of code blocks as they are."""
    cleaned: list[str] = []
    prose: list[str] = []
    fence = ""
    comment_end = ""
    last = {end: max((at for at, line in enumerate(lines) if end in line), default=-1) for end in ("*/}", "%%")}
    for at, line in enumerate(lines):
        mark = _FENCE.match(line) if not comment_end and ("```" in line or "~~~" in line) else None
        if mark and (not fence or (mark[1].startswith(fence) and not line[mark.end() :].strip(mark[1][0] + " "))):
            cleaned += _clean(prose, seen)
            prose = []
            fence = "" if fence else mark[1]
            cleaned.append("")
            seen.repeatable.update(words(line))
        elif fence:
            cleaned.append(line)
        else:
            if comment_end or _COMMENT.search(line):
                closed_below = {end for end, place in last.items() if place > at}
                line, comments, comment_end = _without_comments(line, comment_end, closed_below)
                seen.leave_out("comment", comments)
            prose.append(line)
    return cleaned + _clean(prose, seen)


def _clean(lines: list[str], seen: Visible) -> list[str]:
    """Lines without definitions, tags, link targets and labels. These may be indexed all the same.

    The code of MDX is left out.
    """
    text = "\n".join(lines)
    if "import" in text or "export" in text:
        seen.leave_out("script", _MDX_CODE.findall(text))
        text = _MDX_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    if "[^" in text:
        text = _ATX.sub(lambda found: _NOTE_MARK.sub("", found[0]), text)
    if "span" in text:
        for above in re.split("</table", text, flags=re.IGNORECASE)[:-1]:  # cells that span others stand once for each
            seen.repeatable.update(words(above[above.lower().rfind("<table") :]))

    def blank(found: re.Match[str]) -> str:
        seen.repeatable.update(words(plain(found[0])))
        return {_INLINE_TAG: "", _SCRIPT_TAG: UNKNOWN_LETTER}.get(found.re, " ") + "\n" * found[0].count("\n")

    for pattern in (_ATTRIBUTES, _TITLED, _UNSEEN, _DEFINITION, _INLINE_TAG, _SCRIPT_TAG, _TAG, _DESTINATION, _LABEL):
        if pattern is not _DEFINITION or "]:" in text:
            text = pattern.sub(blank, text)
    return text.split("\n") if lines else []


def _front_matter_end(lines: list[str]) -> int:
    """How many lines the front matter takes: a block between marks whose lines look like YAML's or TOML's."""
    if lines[0].rstrip() == "+++":
        end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == "+++"), 0)
        return end + 1 if end and all(_TOML_LINE.match(line) for line in lines[1:2]) else 0
    if lines[0].rstrip() != "---" or not lines[1:] or not lines[1].strip():
        return 0
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            block = [entry for entry in lines[1:number] if entry.strip()]
            mapping = all(_KEY.match(entry) or _CONTINUED.match(entry) for entry in block)
            keys = any(_KEY.match(entry) for entry in block)
            return number + 1 if mapping and keys else 0
    return 0


def _without_comments(line: str, end: str, closed_below: set[str]) -> tuple[str, list[str], str]:
    """The line without comments, the comments, and the mark that ends one that goes on in the next line.

    `end` is that mark for a comment that is open from above; `closed_below` are the marks that stand in lines below.
    """
    kept, comments = "", []
    while line:
        if end:
            comment, closed, line = line.partition(end)
            comments.append(comment)
            if not closed:
                return kept, comments, end
            end = ""
            continue
        found = _COMMENT.search(line)
        if found is None:
            return kept + line, comments, ""
        kept, line = kept + line[: found.start()], line[found.end() :]
        end = _COMMENT_ENDS[found[0]]
        if end not in line and found[0] != "<!--" and end not in closed_below:
            kept, end = kept + found[0], ""
    return kept, comments, end


def visible_plaintext(data: bytes, source: str) -> Visible:
    """All lines, but for what pages repeat at their edges and then for one of these each, or none where numbers differ.

    A word that is divided at the end of a line may be one or two: it is not counted.
    """
    seen = Visible()
    lines = decode(data, source).text.split("\n")
    hidden = _page_edges(lines)
    for number, line in enumerate(lines):
        if number in hidden:
            seen.repeatable.update(words(line))
            line = ""
        seen.pieces.append(VisibleText(line, f"L{number + 1}"))
    seen.leave_out("headers-footers", (lines[number] for number in hidden))
    tokens = {number: line.split() for number, line in enumerate(lines) if line.strip()}
    neighbours = {*pairwise(tokens), *pairwise(number for number in tokens if number not in hidden)}
    cut = {(one, two) for one, two in neighbours if _WORD_CUT.fullmatch(tokens[one][-1])}
    ends, rests = {one for one, _ in cut}, {two for _, two in cut}
    for one, two in cut:
        end, rest = tokens[one][-1], tokens[two][0]
        seen.repeatable.update(words(f"{end[:-1]}{rest} {end} {rest}"))
    for number in (ends | rests) - hidden:
        whole = tokens[number][number in rests : len(tokens[number]) - (number in ends)]
        seen.pieces[number] = VisibleText(" ".join(whole), f"L{number + 1}")
    return seen


def _page_edges(lines: list[str]) -> set[int]:
    """The lines near the edges of pages that other pages have there, too, whatever numbers are in them."""
    pages: list[list[int]] = [[]]
    by_number = not any(line.startswith("\f") for line in lines)
    for number, line in enumerate(lines):
        if line.startswith("\f"):
            pages.append([])
        if line.strip():
            pages[-1].append(number)
        if by_number and _PAGE_NUMBER.match(line):
            pages.append([])
    hidden: set[int] = set()
    for edge in (slice(0, 3), slice(-3, None)):
        places: dict[tuple[str, ...], list[int]] = {}
        for page in pages:
            for number in page[edge]:
                key = tuple("0" if word.isdecimal() else word for word in words(lines[number]))
                places.setdefault(key, []).append(number)
        for key, found in places.items():
            if len(found) > 1:
                same = len({lines[number].strip() for number in found}) == 1 and any(map(str.isalpha, key))
                hidden.update(found[1:] if same else found)
    return hidden


def visible_csv(data: bytes, source: str) -> Visible:
    """All records, numbered from 1; a record goes on while a quotation is open."""
    seen = Visible()
    lines = decode(data, source).text.split("\n")
    if re.fullmatch(r"sep=.", lines[0].strip()):  # Excel's hint, which it does not show
        lines[0] = ""
    number, quoted = 1, False
    for line in lines:
        seen.pieces.append(VisibleText(line, f"R{number}"))
        quoted ^= line.count('"') % 2 == 1
        number += not quoted
    return seen
