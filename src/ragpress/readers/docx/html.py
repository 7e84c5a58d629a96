"""HTML inside a Word file (altChunk) as blocks: headings, paragraphs, list items and tables."""

from __future__ import annotations

import re

import msgspec
from lxml import etree
from lxml import html as lxml_html

from ragpress.readers.docx.blocks import Block, Cell, Paragraph, Table, TableRow
from ragpress.readers.docx.names import number
from ragpress.readers.ooxml.links import linked
from ragpress.readers.ooxml.xml import Element
from ragpress.text import decode

_SKIPPED = frozenset({"head", "script", "style", "template", "noscript", "object", "svg", "select", "textarea"})
_LINE = re.compile(  # elements that stand on lines of their own
    "address|article|aside|blockquote|body|caption|center|dd|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]"
    "|header|hr|html|li|main|nav|ol|p|pre|section|table|tbody|td|tfoot|th|thead|tr|ul"
)
_HEADING = re.compile(r"h([1-6])")
_HIDDEN = re.compile(r"(?:display|mso-hide)\s*:\s*(?:none|all)", re.IGNORECASE)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_WIDEST = 256
_DEEPEST = 20


def html_blocks(data: bytes, charset: str, source: str, place: int) -> list[Block]:
    """The blocks of an HTML file. `charset` is what its container says, or empty. Raises SourceError for no text."""
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", html_text(data, charset, source))
    if not text.strip():
        return []
    try:
        root = lxml_html.document_fromstring(text, parser=_parser())
    except (etree.ParserError, etree.XMLSyntaxError):
        return []  # nothing but comments or white space
    return _HtmlReader(place).read(root)


def html_text(data: bytes, charset: str, source: str) -> str:
    """The characters: by a byte order mark, by what the container or the file says, else by evidence."""
    declared = _CHARSET.search(data[:4096])
    name = charset or (declared[1].decode("ascii") if declared else "")
    if name and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode(name, errors="strict")
        except (LookupError, UnicodeDecodeError):
            pass  # it says something wrong, as many files do
    return decode(data, source).text


def _parser() -> etree.HTMLParser:
    return lxml_html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, recover=True, huge_tree=True)


class _OpenTable(msgspec.Struct):
    table: Table
    outside: list[Block]  # where blocks went before the table began
    spans: dict[int, tuple[int, int]] = {}  # column to rows still covered and width


class _HtmlReader:
    """One pass over the tree, without recursion."""

    def __init__(self, place: int) -> None:
        self._place = place
        self._blocks: list[Block] = []
        self._buffer: list[str] = []
        self._lists: list[int] = []  # -1 for bullets, else the next number
        self._label = ""
        self._level: int | None = None
        self._tables: list[_OpenTable] = []
        self._link = 0  # how many parts of the buffer there were before the link that is being read

    def read(self, root: Element) -> list[Block]:
        skipped: Element | None = None
        for step, node in etree.iterwalk(root, events=("start", "end")):
            if skipped is None and step == "start":
                if node.tag in _SKIPPED or _HIDDEN.search(node.get("style") or "") or node.get("hidden") is not None:
                    skipped = node
                else:
                    self._start(node)
                    self._buffer.append(node.text or "")
            elif step == "end" and (skipped is None or node is skipped):
                if skipped is None:
                    self._end(node)
                skipped = None
                self._buffer.append(node.tail or "")
        self._flush()
        return self._blocks

    def _start(self, node: Element) -> None:
        tag = node.tag
        if tag == "br":
            self._buffer.append("\0")
        elif tag == "img" and node.get("alt"):
            self._buffer.append(f" {node.get('alt')} ")
        elif tag == "a":
            self._link = len(self._buffer)
        if not _LINE.fullmatch(tag):
            return
        self._flush()
        heading = _HEADING.fullmatch(tag)
        if heading and not self._tables:
            self._level = int(heading[1]) - 1
        elif tag in ("ul", "ol"):
            self._lists.append(-1 if tag == "ul" else number(node.get("start")) or 1)
        elif tag == "li" and self._lists:
            self._label = "-" if self._lists[-1] < 0 else f"{self._lists[-1]}."
            self._lists[-1] += self._lists[-1] >= 0
        elif tag == "table" and len(self._tables) < _DEEPEST:
            self._tables.append(_OpenTable(Table([], self._place), self._blocks))
        elif tag == "tr" and self._tables:
            self._tables[-1].table.rows.append(TableRow([]))
        elif tag in ("td", "th") and self._tables:
            self._open_cell(node, self._tables[-1])

    def _open_cell(self, node: Element, open_: _OpenTable) -> None:
        if not open_.table.rows:
            open_.table.rows.append(TableRow([]))
        row = open_.table.rows[-1]
        column = self._covered(row, open_)
        span = max(1, min(number(node.get("colspan")) or 1, _WIDEST))
        below = max(1, min(number(node.get("rowspan")) or 1, 10_000)) - 1
        cell = Cell([], column, span)
        row.cells.append(cell)
        row.header = node.tag == "th" and (row.header or len(row.cells) == 1)
        if below:
            open_.spans[column] = (below, span)
        self._blocks = cell.blocks

    @staticmethod
    def _covered(row: TableRow, open_: _OpenTable) -> int:
        """The next free column; cells that reach down from the rows above are filled in on the way."""
        column = row.cells[-1].column + row.cells[-1].span if row.cells else 0
        while column in open_.spans and not any(cell.column == column for cell in row.cells):
            left, span = open_.spans[column]
            row.cells.append(Cell([], column, span, continues=True))
            open_.spans[column] = (left - 1, span)
            if left <= 1:
                del open_.spans[column]
            column += span
        return column

    def _end(self, node: Element) -> None:
        tag = node.tag
        if tag == "a" and self._level is None:
            self._buffer[self._link :] = [linked("".join(self._buffer[self._link :]), node.get("href") or "")]
        if not _LINE.fullmatch(tag):
            return
        self._flush()
        self._level = None
        if tag == "li":
            self._label = ""
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag in ("td", "th") and self._tables:
            self._blocks = self._tables[-1].outside
        elif tag == "tr" and self._tables and self._tables[-1].table.rows:
            self._covered(self._tables[-1].table.rows[-1], self._tables[-1])
        elif tag == "table" and self._tables:
            closed = self._tables.pop()
            self._blocks = closed.outside
            closed.table.rows = [row for row in closed.table.rows if row.cells]
            if closed.table.rows:
                self._blocks.append(closed.table)

    def _flush(self) -> None:
        joined = " ".join("".join(self._buffer).split())
        self._buffer.clear()
        text = "\n".join(line for part in joined.split("\0") if (line := part.strip()))
        if text:
            paragraph = Paragraph(text, self._place, label=self._label, level=self._level)
            paragraph.depth = max(len(self._lists) - 1, 0) if self._label else None
            self._blocks.append(paragraph)
            self._label = ""
