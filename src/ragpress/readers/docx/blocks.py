"""What the body of a Word file is made of, before it becomes units."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ragpress.records import Unit


class Paragraph(msgspec.Struct):
    """One paragraph as a person sees it.

    `text` has no label; `label` is the automatic number ("2.1.") or "-" for a bullet. `level` is the outline level
    from 0 where the style (or the paragraph) makes it a heading, `depth` the list level from 0 of a numbered
    paragraph. `title` and `caption`: its style has that name. `notes` are the texts of the notes that it refers
    to, `pictures` the sha256 of the pictures in it.
    `place` counts body blocks from 1.
    """

    text: str
    place: int
    label: str = ""
    level: int | None = None
    depth: int | None = None
    title: bool = False
    caption: bool = False
    bold: bool = False
    notes: list[str] = []
    pictures: list[str] = []

    def line(self) -> str:
        """The text with its label in front."""
        return f"{self.label} {self.text}".strip() if self.label else self.text


class Cell(msgspec.Struct):
    """A cell: its content and the grid columns that it covers. `continues`: it is merged into the one above.

    `shaded`: it has a background colour of its own.
    """

    blocks: list[Block]
    column: int
    span: int = 1
    continues: bool = False
    shaded: bool = False


class TableRow(msgspec.Struct):
    """A row. `header`: the file repeats it on each page. `strong`: shading or the table's style sets it apart."""

    cells: list[Cell]
    header: bool = False
    strong: bool = False


class Table(msgspec.Struct):
    """A table. `header` is how many of its rows are the header where that is beyond doubt, else None.

    `caption` is what names it.
    """

    rows: list[TableRow]
    place: int
    header: int | None = None
    caption: str = ""


class Worksheet(msgspec.Struct):
    """The sheet of an embedded workbook, read to units. Each of their `headings` begins with the sheet's name."""

    units: tuple[Unit, ...]
    place: int


Block = Paragraph | Table | Worksheet


def lines(blocks: Iterable[Block]) -> list[str]:
    """The text of blocks, one line a paragraph or table row, in reading order and with no structure left."""
    found: list[str] = []
    for block in blocks:
        if isinstance(block, Paragraph):
            found += [text for text in (block.line(), *block.notes) if text]
        elif isinstance(block, Worksheet):
            found += [unit.text for unit in block.units]
        else:
            found.append(block.caption)
            for row in block.rows:
                cells = (" ".join(lines(cell.blocks)) for cell in row.cells)
                found.append(" | ".join(text for text in cells if text))
    return [" ".join(text.split()) if "\n" not in text else text for text in found if text]


def paragraphs(blocks: Iterable[Block]) -> Iterable[Paragraph]:
    """All paragraphs in blocks, those in tables too, in reading order."""
    for block in blocks:
        if isinstance(block, Paragraph):
            yield block
        elif isinstance(block, Table):
            for row in block.rows:
                for cell in row.cells:
                    yield from paragraphs(cell.blocks)
