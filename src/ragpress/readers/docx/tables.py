"""Tables: the grid of a w:tbl, and whether it holds data or only lays out a page.

Rows and cells are found through content controls and tracked insertions; deleted ones are out. A horizontally merged
cell is read once, in its first column; a vertically merged value in every row that it covers (ECMA-376 part 1, 17.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from docx.oxml.simpletypes import ST_Merge

from ragpress.readers.docx.blocks import Block, Cell, Table, TableRow, lines, paragraphs
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.inline import chosen
from ragpress.readers.docx.names import MC, VAL, W, inner, is_on, read, switch
from ragpress.readers.ooxml.xml import EMPTY, Element
from ragpress.readers.rows import Row

WRAPPERS = frozenset(
    W + name for name in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "body", "dir", "bdo")
)
_WIDEST = 256  # Word allows 63 columns
_NO_COLOUR = frozenset({"auto", "ffffff", "none"})
_FIRST_ROW = 0x20  # the bit of w:tblLook
_FEW_ROWS = 3
_CARD = 4  # columns of a card: two pairs
_MANY_ROWS = 6


def read_table(
    element: Element, context: Context, blocks: Callable[[Iterable[Element], Context], list[Block]]
) -> Table:
    """The rows and cells of a w:tbl. `blocks` reads the content of a cell."""
    table = Table([], context.place)
    for row in _inside(element, W + "tr"):
        properties = row.trPr
        if inner(properties, W + "del") is not EMPTY:
            continue
        found = TableRow([], bool(switch(properties, W + "tblHeader")))
        column = _few(read(properties, "grid_before"), 0)
        for cell in _inside(row, W + "tc"):
            column = _read_cell(cell, found, column, context, blocks)
        if found.cells:
            found.strong = all(cell.shaded for cell in found.cells)
            table.rows.append(found)
    if table.rows and _has_styled_head(read(element, "tblPr"), context):
        table.rows[0].strong = True
    return table


def _read_cell(
    element: Element,
    row: TableRow,
    column: int,
    context: Context,
    blocks: Callable[[Iterable[Element], Context], list[Block]],
) -> int:
    """Adds a cell to the row. Returns the column after it."""
    properties = element.tcPr
    if inner(properties, W + "cellDel") is not EMPTY:
        return column
    span = max(1, _few(read(properties, "grid_span"), 1))
    content = blocks(element, context)
    if _continues_to_the_right(properties) and row.cells:
        row.cells[-1].span += span
        row.cells[-1].blocks += content
    else:
        continues = read(properties, "vMerge_val") == ST_Merge.CONTINUE
        row.cells.append(Cell(content, column, span, continues, _is_shaded(element)))
    return min(column + span, _WIDEST)


def _is_shaded(cell: Element) -> bool:
    return (inner(cell, f"{W}tcPr/{W}shd").get(W + "fill") or "auto").lower() not in _NO_COLOUR


def _has_styled_head(properties: Element | None, context: Context) -> bool:
    """Whether the table's style shows the first row as a head (17.4.55, 17.7.6.6)."""
    if not context.styles.heads_tables(read(properties, "style") or ""):
        return False
    look = inner(properties, W + "tblLook")
    first = look.get(W + "firstRow")
    if first is not None:
        return is_on(first)
    try:
        return bool(int(look.get(W + "val") or "0", 16) & _FIRST_ROW)
    except ValueError:
        return False


def _continues_to_the_right(properties: Element | None) -> bool:
    """A w:hMerge, which python-docx does not know. One without a value continues the cell before (17.18.57)."""
    mark = inner(properties, W + "hMerge")
    return mark is not EMPTY and (mark.get(VAL) or ST_Merge.CONTINUE) == ST_Merge.CONTINUE


def _few(found: int | None, usual: int) -> int:
    return usual if found is None else max(0, min(found, _WIDEST))


def _inside(element: Element, wanted: str) -> Iterator[Element]:
    """The children `wanted`, also those in content controls and other wrappers."""
    stack = [iter(element)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif child.tag == wanted:
            yield child
        elif child.tag in WRAPPERS:
            stack.append(iter(child))
        elif child.tag == MC + "AlternateContent":
            stack.append(iter(chosen(child)))


def grid(table: Table) -> list[Row]:
    """The rows of the table with one text a column."""
    width = max((cell.column + cell.span for row in table.rows for cell in row.cells), default=0)
    width = min(width, _WIDEST)
    found: list[Row] = []
    above: list[str] = [""] * width
    for row in table.rows:
        texts, spans = [""] * width, [1] * width
        inherited = []
        for cell in row.cells:
            if cell.column >= width:
                continue
            text = cell_text(cell)
            if cell.continues and not text:
                text = above[cell.column]
                inherited.append(cell.column)
            texts[cell.column] = text
            spans[cell.column] = cell.span
        found.append(
            Row(
                place=table.place,
                cells=tuple(texts),
                spans=tuple(spans),
                inherited=tuple(inherited),
                strong=_strong(row),
                end=table.place,
            )
        )
        above = texts
    return found


def cell_text(cell: Cell) -> str:
    """The text of a cell, a paragraph a line."""
    return "\n".join(lines(cell.blocks))


def header_rows(table: Table) -> int | None:
    """How many rows the file says are the header (those repeated on each page), or None where it does not say."""
    marked = 0
    for row in table.rows:
        if not row.header:
            break
        marked += 1
    return marked if 0 < marked < len(table.rows) else None


def is_layout(table: Table, longest: int, headed: bool) -> bool:
    """Whether a table only lays out the page: one cell, tables in cells, or text of more than `longest` characters.

    `headed`: a header is provable: long texts under one are data all the same.
    """
    full = [cell for row in table.rows for cell in row.cells if not cell.continues and lines(cell.blocks)]
    if len(full) == 1:
        return True
    nesting = sum(any(isinstance(block, Table) for cell in row.cells for block in cell.blocks) for row in table.rows)
    if nesting:
        return len(table.rows) < _MANY_ROWS or nesting * 4 > len(table.rows)
    if all(len(row.cells) == 1 for row in table.rows):
        prose = any(len(cell.blocks) > 1 for cell in full)
        return prose or len(full) < _FEW_ROWS or any(len(cell_text(cell)) > longest for cell in full)
    return not headed and any(len(cell_text(cell)) > longest for cell in full)


def is_card(table: Table) -> bool:
    """Whether the table is made of one or two pairs a row, each name bold or shaded and no value so.

    This holds whatever the words are; `readers.headers` knows cards whose names stand out by nothing.
    """
    pairs = 0
    for row in table.rows:
        filled = [cell for cell in row.cells if lines(cell.blocks)]
        if len(filled) == 1 and (not pairs or filled[0].column == 0):
            continue  # a title, or the name of the pairs below
        if any(cell.column >= _CARD or (cell.column % 2 == 0) != _stands_out(cell) for cell in filled):
            return False
        pairs += bool(filled)
    return pairs > 1


def _stands_out(cell: Cell) -> bool:
    return cell.shaded or _is_bold([cell])


def _strong(row: TableRow) -> bool:
    return row.strong or _is_bold(row.cells)


def _is_bold(cells: Iterable[Cell]) -> bool:
    texts = [paragraph.bold for cell in cells for paragraph in paragraphs(cell.blocks) if paragraph.text]
    return bool(texts) and all(texts)


def prose(table: Table) -> list[Block]:
    """The content of all cells in reading order: row by row."""
    return [block for row in table.rows for cell in row.cells for block in cell.blocks]
