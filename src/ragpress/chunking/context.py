"""What stands at the top of a chunk without being new: headings, a table's header, a list's lead-in and parent items,
the end of the chunk before.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from ragpress.chunking.budget import Budget
from ragpress.chunking.fixed import longest_beginning
from ragpress.records import Unit
from ragpress.text import sentence_spans

# The most that each may take of a chunk's room, so that about a quarter is always left for what is new.
_HEADINGS = 3
_OVERLAP = 4
_LABEL = 8
_LABEL_CHARS = 200
_INDENT = re.compile(r"[ \t]*")


def open_headings(lines: tuple[str, ...], units: Sequence[Unit]) -> tuple[str, ...]:
    """The heading lines (`### …`) that are open after `units`, if `lines` were open before them."""
    for unit in units:
        if unit.kind == "heading":
            level = _level(unit.text)
            lines = (*(line for line in lines if _level(line) < level), unit.text)
    return lines


def _level(line: str) -> int:
    return len(line) - len(line.lstrip("#"))


def above(unit: Unit, lines: Sequence[str], budget: Budget) -> str:
    """The breadcrumb, shortened if it is over a third of the room, and the open heading lines that fit under it."""
    room = budget.room // _HEADINGS
    text = unit.breadcrumb
    if budget.size(text) > room:
        budget.long_headings.setdefault(text, unit.locator)
        text = _shortened(text, room, budget)
    for line in lines:
        longer = f"{text}\n\n{line}" if text else line
        if budget.size(longer) <= room:
            text = longer
    return text


def _shortened(text: str, room: int, budget: Budget) -> str:
    end = longest_beginning(text, 0, len(text), room - 1, budget)
    words = text[:end].rsplit(maxsplit=1)
    # Cut at a word, unless that leaves nothing but the heading's mark.
    kept = words[0] if len(words) > 1 and words[0].strip("# ") and not text[end].isspace() else text[:end].rstrip()
    return f"{kept}…"


def repeated(unit: Unit, start: int, used: int, budget: Budget) -> str:
    """What a piece of a split unit that begins at the offset `start` of its text repeats, or nothing.

    That is what the unit says is to be repeated; of a table row the first cell, which tells whose row it is, and the
    label (`Header: `) of the cell that goes on, if they are short. The white space that belongs behind is included.
    With `used` tokens of headings above, a quarter of the room is left.
    """
    text = ""
    if 0 < unit.repeat <= start:
        text = unit.text[: unit.repeat].strip() + "\n"
        if used + budget.size(text) > budget.room - budget.room // _OVERLAP - budget.room // _LABEL:
            budget.long_headings.setdefault(text, unit.locator)
            text = ""
    if unit.kind == "table_row" and start > 0:
        cells = [0, *unit.breaks]
        at = bisect_right(cells, start) - 1
        first = unit.text[: next((cell for cell in unit.breaks if cell), 0)]
        if not unit.repeat and 0 < len(first) <= start and _short(first, budget):
            text = first.strip() + "\n"
        label, colon, _ = unit.text[cells[at] : min(start, cells[at] + _LABEL_CHARS)].partition(": ")
        if colon and "\n" not in label and _short(label, budget):
            text += label + colon
    return text


def parents_of_items(unit: Unit) -> tuple[int, ...]:
    """For each item of a list (each of its breaks) the number of the item that it is indented below, or -1."""
    parents: list[int] = []
    open_items: list[tuple[int, int]] = []  # indentation and number, outermost first
    for number, start in enumerate(unit.breaks):
        indent = len(_INDENT.match(unit.text, start)[0].expandtabs(4))  # type: ignore[index]  # it matches anywhere
        while open_items and open_items[-1][0] >= indent:
            open_items.pop()
        parents.append(open_items[-1][1] if open_items else -1)
        open_items.append((indent, number))
    return tuple(parents)


def above_item(unit: Unit, start: int, parents: Sequence[int], lead_in: str, used: int, budget: Budget) -> str:
    """What a piece of a list that begins at the offset `start` repeats: the lead-in, and the items that are open there.

    Of each item its first line. With `used` tokens of headings above, they take a quarter of the room at most; what
    does not fit is left out, the nearest items being the most important.
    """
    lines: list[str] = []
    room = min(budget.room // _OVERLAP, budget.room - used - budget.room // _OVERLAP)
    number = bisect_right(unit.breaks, start) - 1
    while number >= 0 and (number := parents[number]) >= 0:
        line = unit.text[unit.breaks[number] : unit.breaks[number + 1]].split("\n", 1)[0].rstrip()
        lines = _with(line, lines, room, budget)
    return "".join(f"{line}\n" for line in (_with(lead_in, lines, room, budget) if lead_in else lines))


def _with(line: str, lines: list[str], room: int, budget: Budget) -> list[str]:
    """The lines below another one, if they fit together."""
    return [line, *lines] if budget.size("\n".join((line, *lines))) <= room else lines


def _short(text: str, budget: Budget) -> bool:
    return budget.size(text) <= budget.room // _LABEL


def overlap(tail: str, whole: str, room: int, budget: Budget) -> str:
    """The last sentences of `tail`, the prose at the end of a chunk that says `whole`: as many as are wanted and fit.

    At most a quarter of the room, and never all that the chunk says: it would lie whole inside the next one.
    """
    if not tail or not budget.overlap_sentences:
        return ""
    room = min(room, budget.room // _OVERLAP)
    for start, _ in sentence_spans(tail)[-budget.overlap_sentences :]:
        text = tail[start:].strip()
        if text and len(text) < len(whole) and budget.size(text) <= room:
            return text
    return ""
