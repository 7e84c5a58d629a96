"""The rows of an HTML table, with cells that span others filled into each of these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import NamedTuple

UNSEEN_ELEMENTS = frozenset({"script", "style", "template", "noscript", "object", "svg"})
LINE_ELEMENTS = frozenset(  # that stand on lines of their own
    re.findall(
        r"\w+",
        "address article aside blockquote body br caption center dd details div dl dt "
        "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section "
        "summary table tbody tfoot thead tr ul",
    )
)
_WIDEST, _LONGEST = 1000, 65_534
"""Columns and rows that a cell may span, as the HTML standard (4.9.11) has it."""
_MOST_FILLED = 100_000  # cells that all spans of a table may add


class _Cell(NamedTuple):
    text: str
    wide: int
    high: int


def table_rows(source: str) -> tuple[list[list[str]], list[str]]:
    """The texts of the cells of a table, row by row, each on one line, and the comments in it.

    What stands outside the cells, such as a caption, is a row of its own above.
    """
    parser = _Parser()
    parser.feed(source)
    parser.close()
    outside = " ".join("".join(parser.outside).split())
    return [*([[outside]] if outside else []), *_filled(parser.rows)], parser.comments


def _filled(rows: Sequence[Sequence[_Cell]]) -> Iterator[list[str]]:
    spanning: dict[int, tuple[str, int]] = {}  # by column: what stands there in the next so many rows
    left = _MOST_FILLED
    for cells in rows:
        row: list[str] = []
        for cell in (*cells, None):
            while len(row) in spanning:
                text, more = spanning.pop(len(row))
                if more > 1 and left > 0:
                    spanning[len(row)] = text, more - 1
                left -= 1
                row.append(text)
            if cell is None:
                break
            for number in range(cell.wide if left > 0 else 1):
                if cell.high > 1:
                    spanning[len(row)] = cell.text, cell.high - 1
                left -= number > 0
                row.append(cell.text)
        yield row


class _Parser(HTMLParser):
    """Takes up the cells of the outermost table; a table in a cell is text of that cell."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[_Cell]] = []
        self.outside: list[str] = []
        self.comments: list[str] = []
        self._texts: list[str] | None = None  # of the open cell
        self._span = 1, 1
        self._hidden = self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._hidden += tag in UNSEEN_ELEMENTS
        self._depth += tag == "table"
        if self._depth < 2 and tag in ("tr", "td", "th"):
            self._end_cell()
            if tag == "tr" or not self.rows:
                self.rows.append([])
            if tag != "tr":
                self._texts = []
                self._span = _number(values.get("colspan"), _WIDEST), _number(values.get("rowspan"), _LONGEST)
        elif tag in LINE_ELEMENTS:
            self.handle_data(" ")
        if tag == "img":
            self.handle_data(values.get("alt") or "")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(self._hidden - (tag in UNSEEN_ELEMENTS), 0)
        self._depth -= tag == "table"
        if self._depth < 2 and tag in ("tr", "td", "th", "table"):
            self._end_cell()
        elif tag in LINE_ELEMENTS:
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            (self.outside if self._texts is None else self._texts).append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def close(self) -> None:
        super().close()
        self._end_cell()

    def _end_cell(self) -> None:
        if self._texts is not None:
            self.rows[-1].append(_Cell(" ".join("".join(self._texts).split()), *self._span))
            self._texts = None


def _number(value: str | None, most: int) -> int:
    """A span: 1 where there is none or no number; 0 means up to the end."""
    if value is None or not value.strip().isdecimal():
        return 1
    return min(int(value.strip()[:6]), most) or most
