"""A row of a grid of cell texts: what the readers of Word, Excel and CSV give to the search for tables."""

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
        return tuple(column for column, text in enumerate(self.cells) if text)
