"""A row of a grid of cell texts, and a table that was found in such rows. Shared by Word, Excel and CSV."""

from __future__ import annotations

import msgspec


class RowEvidence(msgspec.Struct, frozen=True):
    """What a file shows or says of a row beside its texts; all false where it says nothing, as in CSV.

    `bold` and `filled` (a coloured ground) tell that all of its texts are so, `ruled` that a border runs below them,
    `pinned` that the row stays in sight (a frozen pane) or is printed on every page, `filtered` that the buttons of a
    filter stand in it.
    """

    bold: bool = False
    filled: bool = False
    ruled: bool = False
    pinned: bool = False
    filtered: bool = False


NO_EVIDENCE = RowEvidence()


class Row(msgspec.Struct, frozen=True):
    """One row of a grid, as a person sees it.

    `cells` holds one text a column, `""` where there is none: a horizontally merged cell stands once, in its first
    column, and `spans` (empty, or one number a column) says how many columns it covers. A vertically merged cell is
    repeated in each of its rows, and `inherited` names the columns that only repeat a value from above. `strong`
    tells that the row stands out from others by its style; `evidence` is what the file shows of it. `place` is its
    number in the source (row, line or block), `end` the last one where it takes several, `gap` how many blank rows
    stand right above it.
    """

    place: int
    cells: tuple[str, ...]
    spans: tuple[int, ...] = ()
    inherited: tuple[int, ...] = ()
    strong: bool = False
    end: int = 0
    gap: int = 0
    evidence: RowEvidence = NO_EVIDENCE

    def span(self, column: int) -> int:
        """How many columns the cell in `column` covers; 1 where nothing is merged."""
        return self.spans[column] if column < len(self.spans) else 1

    def filled(self) -> tuple[int, ...]:
        """The columns with a text."""
        return tuple([column for column, text in enumerate(self.cells) if text])

    def own(self) -> list[str]:
        """Its texts without those that only repeat a value from above."""
        return [text for column, text in enumerate(self.cells) if text and column not in self.inherited]


class TableReading(msgspec.Struct, frozen=True):
    """How a grid was read, from the top.

    `titles` are lines above the header, `facts` rows of several cells there. `names` has for each column the texts of
    its header, top down (empty for a column without a name), and is empty where no header was found; `header_rows` are
    the rows that it was made from, `repeated` those in which it was printed again. `body` has the rows below, of
    which those at `groups` name the rows below them; `notes` stand under the table and under no header. In a table of
    `pairs` each name stands left of its value. `column` is the number of its first column among those that are seen.
    """

    titles: tuple[Row, ...] = ()
    facts: tuple[Row, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    header_rows: tuple[Row, ...] = ()
    body: tuple[Row, ...] = ()
    groups: frozenset[int] = frozenset()
    repeated: tuple[Row, ...] = ()
    notes: tuple[Row, ...] = ()
    pairs: bool = False
    column: int = 1

    @property
    def header(self) -> tuple[str, ...]:
        """One text a column: `group / name` where several rows make the header."""
        return tuple(" / ".join(texts) for texts in self.names)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of data."""
        return tuple(row for number, row in enumerate(self.body) if number not in self.groups)

    def first_place(self) -> int:
        """Where it begins in the source."""
        parts = (self.titles, self.facts, self.header_rows, self.body, self.notes)
        return min(row.place for rows in parts for row in rows[:1])


class SheetTables(msgspec.Struct, frozen=True):
    """The tables of a sheet, a CSV file or a Word file; `encoding` and `delimiter` are those of a CSV file."""

    sheet: str
    tables: tuple[TableReading, ...]
    encoding: str = ""
    delimiter: str = ""


def one_line(text: str) -> str:
    """The text with each white space as one blank."""
    return " ".join(text.split())
