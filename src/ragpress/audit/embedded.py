"""The text of files that a Word file embeds to be shown in place: HTML, web archives, plain text, worksheets."""

from __future__ import annotations

import email
import email.policy
import html
import re

from ragpress.audit.names import S
from ragpress.audit.package import Parts
from ragpress.audit.visible import Cell
from ragpress.audit.xlsx import visible_xlsx
from ragpress.text import decode, normalize

_UNSEEN = re.compile(r"<!--.*?-->|<(script|style|head|title)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|big|code|em|font|i|ins|mark|s|small|span|strong|sub|sup|u)\b[^>]*>", re.IGNORECASE
)
_ADDRESS = re.compile(rb"""href=(?:3D)?["']?([^"'>\s]+)""", re.IGNORECASE)
_SHORT = re.compile(r"\d{1,9}")
_TAG = re.compile(r"<[^>]*>")


def embedded_lines(data: bytes, source: str) -> list[str]:
    """The visible lines of an embedded HTML file, web archive or text."""
    start = data[:1024].lower()
    if b"mime-version:" in start or b"content-type: multipart" in start:
        return _html_lines(_archived_html(data, source))
    text = decode(data, source).text
    return _html_lines(text) if "<" in text and re.search(r"<(?:html|body|p|div|table|span)\b", text, re.I) else [text]


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
    seen = visible_xlsx(data, source) if names else None
    rows = [row for row in seen.rows if row.sheet == sheet] if seen is not None else []
    return [" ".join(cell.text for cell in row.cells if _is_shown_as_stored(cell)) for row in rows]


def _is_shown_as_stored(cell: Cell) -> bool:
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
