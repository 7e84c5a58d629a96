"""Addresses of links in cells: of the `hyperlink` elements of a sheet, and of formulas."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragpress.readers.ooxml.links import linked
from ragpress.readers.ooxml.package import Package
from ragpress.readers.ooxml.xml import Element
from ragpress.readers.xlsx.content import Area, SheetContent, area, rows_between
from ragpress.readers.xlsx.strings import clean

MAX_VISITS = 1 << 20
"""Rows that all links together may reach over; beyond them a link has the first row of its range."""
_FORMULA = re.compile(r'\s*HYPERLINK\(\s*"((?:[^"]|"")*)"\s*[,)]', re.IGNORECASE)


def formula_address(formula: str) -> str:
    """The address that a formula `=HYPERLINK("…")` holds as a literal, empty for any other formula."""
    found = _FORMULA.match(formula)
    return found[1].replace('""', '"') if found else ""


def sheet_link(element: Element, package: Package, part: str) -> tuple[Area, str] | None:
    """The range and the address of a `hyperlink` element, or None for one to a place in the file itself."""
    identifier = next((value for key, value in element.attrib.items() if key.endswith("}id")), "")
    link = package.relationships(part).get(identifier) if identifier else None
    found = area(element.get("ref"))
    if found is None or link is None or not link.external:
        return None
    place = element.get("location")
    return found, f"{link.target}#{place}" if place and "#" not in link.target else link.target


def add_links(content: SheetContent, links: Sequence[tuple[Area, str]]) -> int:
    """Writes addresses to the cells that they belong to, the first one of each. Returns how many characters it took."""
    numbers = list(content.cells)
    done = set()
    visits = added = 0
    for found, address in links:
        alone = found.top == found.bottom or visits > MAX_VISITS
        rows = [found.top] if alone else rows_between(numbers, found.top, found.bottom)
        visits += len(rows)
        for row in rows:
            texts = content.cells.get(row, {})
            single = found.left == found.right
            columns = [found.left] if single else [x for x in texts if found.left <= x <= found.right]
            for column in columns:
                if column in texts and (row, column) not in done:
                    done.add((row, column))
                    added -= len(texts[column])
                    texts[column] = linked(texts[column], clean(address))
                    added += len(texts[column])
    return added
