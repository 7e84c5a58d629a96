"""Marks that git leaves in a file whose merge was not finished."""

from __future__ import annotations

import re

UNRESOLVED = "a git merge begins here and is not finished (`<<<<<<<`)"


def conflict_line(text: str) -> int:
    """The number of the line where the first conflict begins, 0 where there is none.

    A conflict is `<<<<<<<`, `=======` and `>>>>>>>` at the beginning of lines, in this order: equal signs alone
    underline a heading.
    """
    lines = text.split("\n") if "<<<<<<<" in text and ">>>>>>>" in text else []
    begun = parted = 0
    for number, line in enumerate(lines, 1):
        if begins_conflict(line):
            begun, parted = number, 0
        elif begun and line.rstrip("\r") == "=======":
            parted = number
        elif parted and re.match(r">{7}(?: |\r?$)", line):
            return begun
    return 0


def begins_conflict(line: str) -> bool:
    return re.match(r"<{7}(?: |\r?$)", line) is not None
