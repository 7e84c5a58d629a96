"""The text of files that a Word file embeds to be shown in place: HTML, web archives, RTF, plain text, worksheets."""

from __future__ import annotations

import email
import email.policy
import html
import re

from ragpress.audit.names import S
from ragpress.audit.package import Parts
from ragpress.audit.visible import UNKNOWN_LETTER, StoredCell
from ragpress.audit.xlsx import visible_xlsx
from ragpress.text import decode, normalize

_MARKUP = re.compile(r"\A\s*<|<(?:html|body|p|div|table|span)\b", re.IGNORECASE)
_UNSEEN = re.compile(r"<!--.*?-->|<(script|style|head|title)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|big|code|em|font|i|ins|mark|s|small|span|strong|sub|sup|u)\b[^>]*>", re.IGNORECASE
)
_ADDRESS = re.compile(rb"""href=(?:3D)?["']?([^"'>\s]+)""", re.IGNORECASE)
_SHORT = re.compile(r"\d{1,9}")
_TAG = re.compile(r"<[^>]*>")
_RTF_GROUP = re.compile(r"\{([^{}]*)\}")
_RTF_UNSEEN = re.compile(
    r"\s*\\(?:\*(?!\\shpinst)|(?:fonttbl|colortbl|stylesheet|info|pict|object|header[lrf]?|footer[lrf]?|fldinst|shprslt|sp"
    r"|bkmkstart|bkmkend|pntext|listtext)(?![a-z]))"
)
_RTF_HIDDEN = re.compile(r"\\(v|deleted)(?![a-z\d-]).*?(?:\\(?:v|deleted)0 ?|\Z)", re.DOTALL)
_RTF_SIGN = re.compile(
    r"\\'([0-9a-f]{2})|\\u(-?\d{1,6}) ?(?:\\'[0-9a-f]{2}|[^\\])?|\\([a-z]+)-?\d* ?|\\(.)|[\r\n\0]+", re.IGNORECASE
)
_RTF_BREAK = re.compile("par|line|row|sect|page|tab|(?:nest)?cell|footnote|e[mn]space|e[mn]dash")
_RTF_DEEPEST = 100  # groups inside each other


def embedded_lines(data: bytes, source: str) -> list[str]:
    """The visible lines of an embedded HTML file, web archive, RTF file or text."""
    start = data[:1024].lower()
    if b"mime-version:" in start or b"content-type: multipart" in start:
        return _html_lines(_archived_html(data, source))
    if start.lstrip().startswith(b"{\\rtf"):
        return _rtf_lines(data.decode("latin-1"))
    text = decode(data, source).text
    return _html_lines(text) if _MARKUP.search(text) else [text]


def worksheet_lines(data: bytes, source: str) -> list[str]:
    """The rows of the active sheet of an embedded workbook, but for values that their format may show in other words.

    Empty for any other file. Raises SourceError for a broken archive.
    """
    parts = Parts(data, source)
    root = parts.tree(parts.main("sheet", "xl/workbook.xml"))
    names = [sheet.get("name") or "" for sheet in root.iter(S + "sheet")]
    active = next((view.get("activeTab") or "0" for view in root.iter(S + "workbookView")), "0")
    shown = names[int(active)] if active.isdecimal() and int(active) < len(names) else ""
    sheet = normalize(" ".join(shown.split()))
    rows = visible_xlsx(data, source).rows if names else []
    shown_rows = (row.cells for row in rows if row.sheet == sheet)
    return [" ".join(cell.text for cell in cells if _is_shown_as_stored(cell)) for cells in shown_rows]


def _is_shown_as_stored(cell: StoredCell) -> bool:
    plain = cell.kind == "number" and cell.code in ("", "General") and _SHORT.fullmatch(cell.text)
    return cell.kind == "text" or bool(plain)


def embedded_addresses(data: bytes) -> list[str]:
    """The addresses of links in an embedded HTML file or web archive, which nobody sees."""
    return [found.decode("utf-8", errors="replace") for found in _ADDRESS.findall(data)]


def _archived_html(data: bytes, source: str) -> str:
    for part in email.message_from_bytes(data, policy=email.policy.compat32).walk():
        if part.get_content_type() == "text/html":
            payload = part.get_payload(decode=True)
            charset = part.get_content_charset()
            if isinstance(payload, bytes):
                try:
                    return payload.decode(charset or "utf-8")
                except (LookupError, UnicodeDecodeError):
                    return decode(payload, source).text
    return ""


def _html_lines(text: str) -> list[str]:
    bare = _TAG.sub("\n", _INLINE.sub("", _UNSEEN.sub(" ", text)))
    return html.unescape(bare).split("\n")


def _rtf_lines(text: str) -> list[str]:
    """The lines of an RTF file. Letters of a code page are unknown: which one it is depends on their fonts."""
    text = re.sub(r"\\[\\{}]", " ", re.sub("[\x80-\xff]", UNKNOWN_LETTER, text))
    for _ in range(_RTF_DEEPEST):  # from the innermost groups outwards
        text, count = _RTF_GROUP.subn(_rtf_group, text)
        if not count:
            break
    return _RTF_SIGN.sub(_rtf_sign, text).split("\n")


def _rtf_group(found: re.Match[str]) -> str:
    return " " if _RTF_UNSEEN.match(found[1]) else f"\0{_RTF_HIDDEN.sub('', found[1])}\0"


def _rtf_sign(found: re.Match[str]) -> str:
    byte, unicode, word, other = found.groups()
    if byte:
        return UNKNOWN_LETTER
    if unicode:
        number = int(unicode) % 0x10000
        return " " if 0xD800 <= number < 0xE000 else chr(number)
    return "\n" if word and _RTF_BREAK.fullmatch(word) else " " if other and other != "-" else ""
