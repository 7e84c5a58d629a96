"""Blocks to units: sections by heading styles, lists, tables as rows, pictures.

No heading is inferred from text. A heading that no body follows would reach no chunk's headings, so it is kept as a
paragraph of the section around it. A line of the style Title is the title of the document, above all
headings. A line of the style Caption right before a table is a heading of its rows. An automatic number is shown with
its heading in the breadcrumb and is no part of its name, so that a heading put in between renames no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import pairwise

import msgspec

from ragpress.config import Config
from ragpress.readers.docx.blocks import Block, Paragraph, Table, Worksheet, paragraphs
from ragpress.readers.docx.tables import grid, header_rows, is_card, is_layout, prose
from ragpress.readers.rows import Row, TableReading
from ragpress.readers.table_units import deeper, table_units
from ragpress.readers.tables import read_table
from ragpress.records import Locator, Unit, UnitKind
from ragpress.text import normalize
from ragpress.text.questions import pair_columns

_CHARACTERS_A_TOKEN = 3  # Russian and Persian have between 3 and 4 in the models' vocabulary
_INDENT = "  "
_TITLE = -1  # the level of a title: above all outline levels


class _Heading(msgspec.Struct):
    level: int
    name: str
    line: str  # with its automatic number
    place: int
    number: int
    units: int  # how many units there were before it
    used: bool = False


class UnitWriter:
    """Turns blocks into units, in order. Use `write` for each run of blocks and `close` at the end."""

    def __init__(self, config: Config) -> None:
        self.units: list[Unit] = []
        self.title = ""
        self.empty_headings: list[tuple[str, int]] = []  # headings kept as paragraphs, with their place
        self._longest = config.max_tokens * _CHARACTERS_A_TOKEN
        self._path: list[_Heading] = []
        self._last = 0  # the highest section number given
        self._current = 0

    def write(self, blocks: Iterable[Block]) -> None:
        items: list[Paragraph] = []
        for block in _captioned(list(blocks)):
            is_item = isinstance(block, Paragraph) and block.depth is not None and block.level is None
            if not is_item:
                self._list(items)
                items = []
            if isinstance(block, Table):
                self._table(block)
            elif isinstance(block, Worksheet):
                self._worksheet(block)
            elif is_item:
                items.append(block)
            elif block.level is not None and block.text:
                self._heading(block, block.level)
            elif block.title and block.text:
                self._heading(block, _TITLE)
            else:
                self._paragraph(block)
        self._list(items)

    def close(self) -> None:
        """Ends all sections: what is written from now on, such as page footers, belongs to none of them."""
        self._leave(_TITLE)
        self._fresh()

    def _heading(self, block: Paragraph, level: int) -> None:
        name, line = (" ".join(normalize(text).split()) for text in (block.text, block.line()))
        top = self._path[-1] if self._path else None
        if top is not None and level == _TITLE == top.level and not top.used and len(self.units) == top.units:
            if self.title == top.name:
                self.title += f" {name}"
            top.name, top.line = f"{top.name} {name}", f"{top.line} {line}"  # a title of several lines
        else:
            self._leave(level)
            self._last += 1
            self._current = self._last
            self._path.append(_Heading(level, name, line, block.place, self._current, len(self.units)))
        if level == _TITLE and not self.title:
            self.title = name
        self._attached(block)

    def _leave(self, level: int) -> None:
        """Closes the sections at `level` and deeper."""
        while self._path and self._path[-1].level >= level:
            heading = self._path.pop()
            self._current = self._path[-1].number if self._path else 0
            if not heading.used:
                self._keep_as_paragraph(heading)

    def _keep_as_paragraph(self, heading: _Heading) -> None:
        """Puts a heading without a body where it stood, before the pictures below it, if there are any."""
        self.empty_headings.append((heading.line, heading.place))
        pictures = self.units[heading.units :]
        del self.units[heading.units :]
        before = self.units[-1] if self.units else None
        if before is not None and before.headings == self._names() and before.section_number >= self._current:
            self._current = before.section_number
        elif before is not None:
            self._fresh()
        self._put("paragraph", heading.line, heading.place)
        self.units += pictures

    def _fresh(self) -> None:
        """What follows belongs to the open heading but not to the units before it."""
        self._last += 1
        self._current = self._last

    def _paragraph(self, block: Paragraph) -> None:
        if block.text:
            self._put("paragraph", "\n".join([block.line(), *block.notes]), block.place)
            self._pictures([block])
        else:
            self._attached(block)

    def _attached(self, block: Paragraph) -> None:
        """Notes and pictures of a paragraph that is no unit itself."""
        if block.notes:
            self._put("paragraph", "\n".join(block.notes), block.place)
        self._pictures([block])

    def _list(self, items: list[Paragraph]) -> None:
        filled = [item for item in items if item.text or item.notes]
        if filled:
            outmost = min(item.depth or 0 for item in filled)
            texts = []
            for item in filled:
                indent = _INDENT * ((item.depth or 0) - outmost)
                lines = "\n".join([item.line(), *item.notes]).split("\n")
                texts.append(normalize("\n".join(indent + line for line in lines)))
            texts[0] = texts[0].lstrip()
            self._put("list", "\n".join(texts), filled[0].place, filled[-1].place, _starts(texts))
        self._pictures(items)

    def _table(self, table: Table) -> None:
        rows = [self._normal(row) for row in grid(table)]
        found = read_table(rows, table.header)
        marked = header_rows(table)
        if marked and table.header is None and not found.header:
            found = read_table(rows, marked)
        if found.header and _repeated(rows, found.header) > 1:
            found = read_table(rows, 0)  # a line that the table repeats is no header
        if table.header is None and is_card(table):
            found = _read_card(rows)
        headed = found.pairs or (bool(found.header) and (len(found.rows) > 1 or pair_columns(found.header)))
        if is_layout(table, self._longest, headed):
            self.write([Paragraph(table.caption, table.place), *prose(table)])
            return
        if table.caption:
            title = Row(place=table.place, cells=(normalize(table.caption),))
            found = msgspec.structs.replace(found, titles=(title, *found.titles))
        locator = Locator("B", max(table.place, 1), max(table.place, 1))
        units = table_units(
            found,
            locate=lambda row: locator,
            section=self._section(),
            section_number=self._current,
            headings=self._names(),
            breadcrumb=self._breadcrumb(),
        )
        if units:
            self._use()
            self.units += units
            if units[-1].section_number > self._current:
                self._last = max(self._last, units[-1].section_number)
                self._fresh()
        self._pictures(paragraphs([table]))

    def _worksheet(self, block: Worksheet) -> None:
        """The rows of an embedded sheet, below the headings around it; the sheet's own name nobody sees."""
        locator = Locator("B", max(block.place, 1), max(block.place, 1))
        begun = self._current
        for before, unit in pairwise(block.units[:1] + block.units):
            self._use()
            if unit.section_number != before.section_number:
                self._fresh()
            self.units.append(
                msgspec.structs.replace(
                    unit,
                    locator=locator,
                    section=self._section(),
                    section_number=self._current,
                    headings=(*self._names(), *unit.headings[1:]),
                    breadcrumb=reduce(deeper, unit.headings[1:], self._breadcrumb()),
                )
            )
        if self._current != begun:
            self._fresh()

    @staticmethod
    def _normal(row: Row) -> Row:
        cells = tuple(normalize(text) for text in row.cells)
        return Row(row.place, cells, row.spans, row.inherited, row.strong, row.end)

    def _pictures(self, blocks: Iterable[Paragraph]) -> None:
        for block in blocks:
            for picture in block.pictures:
                self._put("image_caption", "", block.place, picture=picture)

    def _put(
        self,
        kind: UnitKind,
        text: str,
        start: int,
        end: int | None = None,
        breaks: tuple[int, ...] = (),
        picture: str = "",
    ) -> None:
        text = normalize(text).strip() if kind != "list" else text.rstrip()  # a list has offsets already
        if not text and not picture:
            return
        if text:
            self._use()
        start = max(start, 1)
        self.units.append(
            Unit(
                kind=kind,
                text=text,
                locator=Locator("B", start, max(end or start, start)),
                section=self._section(),
                section_number=self._current,
                headings=self._names(),
                breadcrumb=self._breadcrumb(),
                breaks=breaks,
                picture=picture,
            )
        )

    def _use(self) -> None:
        for heading in self._path:
            heading.used = True

    def _names(self) -> tuple[str, ...]:
        return tuple(heading.name for heading in self._path)

    def _section(self) -> str:
        return self._path[-1].name if self._path else ""

    def _breadcrumb(self) -> str:
        found = ""
        for heading in self._path:
            found = deeper(found, heading.line)
        return found


def _captioned(blocks: list[Block]) -> list[Block]:
    """The blocks with each paragraph of the style Caption put into the table right below it."""
    found: list[Block] = []
    for block in blocks:
        before = found[-1] if found else None
        unnamed = isinstance(block, Table) and not block.caption  # a chart has its title
        if unnamed and isinstance(before, Paragraph) and _is_caption(before):
            found[-1] = msgspec.structs.replace(block, caption=before.text)
        else:
            found.append(block)
    return found


def _read_card(rows: list[Row]) -> TableReading:
    """Pairs of names and values, with titles above and lone texts that name the pairs below them."""
    filled = [row for row in rows if row.own()]
    start = next((number for number, row in enumerate(filled) if len(row.filled()) > 1), 0)
    body = filled[start:]
    groups = frozenset(number for number, row in enumerate(body) if len(row.filled()) == 1)
    return TableReading(titles=tuple(filled[:start]), body=tuple(body), groups=groups, pairs=True)


def _is_caption(block: Paragraph) -> bool:
    plain = not (block.notes or block.pictures or block.label) and block.level is None
    return block.caption and bool(block.text) and plain


def _repeated(rows: list[Row], header: tuple[str, ...]) -> int:
    """How often the header is repeated among the rows; a Word table repeats it by itself on each page."""
    texts = [" ".join(text.split()) for text in header]
    return sum([" ".join(text.split()) for text in row.cells] == texts for row in rows) - 1


def _starts(texts: list[str]) -> tuple[int, ...]:
    """The offsets at which the second and each later text begins, joined by line ends."""
    starts = []
    offset = 0
    for text in texts[:-1]:
        offset += len(text) + 1
        starts.append(offset)
    return tuple(starts)
