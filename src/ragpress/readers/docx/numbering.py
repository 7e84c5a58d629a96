"""numbering.xml: the labels of automatic lists ("2.1."), which are not part of the text (ECMA-376 part 1, 17.9)."""

from __future__ import annotations

import re

import msgspec

from ragpress.readers.docx.names import MC, VAL, W, inner, number, read, switch, value
from ragpress.readers.docx.numberformats import format_number
from ragpress.readers.docx.styles import ParagraphStyle, Styles
from ragpress.readers.docx.symbols import is_private, symbol_text
from ragpress.readers.ooxml.xml import EMPTY, Element

_PLACEHOLDER = re.compile(r"%([1-9])")
_LEVELS = 9
BULLET = "-"


class Level(msgspec.Struct, frozen=True):
    """One level of a list: `text` such as `%1.%2.`, with the number format `kind`."""

    start: int = 1
    kind: str = "decimal"
    pattern: str = ""
    text: str = ""
    legal: bool = False
    restart: int | None = None
    style: str = ""
    font: str = ""
    hidden: bool = False


class _List(msgspec.Struct):
    """A w:num: its levels, the abstract list whose numbers it counts on, and the levels at which it restarts."""

    abstract: int
    levels: dict[int, Level]
    starts: dict[int, int]


class Label(msgspec.Struct, frozen=True):
    text: str
    depth: int


class Numbering:
    """The lists of one document and how far each has counted. Made from the root of numbering.xml."""

    def __init__(self, root: Element, styles: Styles) -> None:
        self._styles = styles
        self._abstract: dict[int | None, Element] = {}
        self._numbers: dict[int | None, Element] = {}
        self._lists: dict[int, _List | None] = {}
        self._counters: dict[int, list[int | None]] = {}
        self._started: set[tuple[int, int]] = set()
        for element in root.iterchildren(W + "abstractNum"):
            self._abstract.setdefault(number(element.get(W + "abstractNumId")), element)
        for element in root.iterchildren(W + "num"):
            self._numbers.setdefault(read(element, "numId"), element)

    def label(self, properties: Element | None, style: ParagraphStyle) -> Label | None:
        """The label of the next paragraph with this w:numPr (or None) and style, or None where it is in no list.

        Each call counts one paragraph: call it once a visible paragraph, in the order of the document.
        """
        identifier: int | None = read(properties, "numId", "val")
        identifier = style.numbering if identifier is None else identifier
        found = self._list(identifier) if identifier else None
        if found is None or identifier is None:
            return None
        depth = read(properties, "ilvl", "val")
        if depth is None:
            depth = self._linked_level(found, style)
        depth = max(0, min(depth, _LEVELS - 1))
        level = found.levels.get(depth, Level())
        self._count(identifier, found, depth)
        if level.hidden:
            return Label("", depth)
        return Label(self._text(found, level, depth), depth)

    def _linked_level(self, found: _List, style: ParagraphStyle) -> int:
        """The level linked to the paragraph's style or to the nearest base of it, else the one that the style names."""
        for name in style.numbered_by:
            for depth, level in found.levels.items():
                if level.style == name:
                    return depth
        return style.list_level or 0

    def _count(self, identifier: int, found: _List, depth: int) -> None:
        counters = self._counters.setdefault(found.abstract, [None] * _LEVELS)
        fresh = depth in found.starts and (identifier, depth) not in self._started
        self._started.add((identifier, depth))
        for outer in range(depth):  # a level that was skipped counts as begun: the next item of it is the second
            if counters[outer] is None:
                counters[outer] = found.starts.get(outer, found.levels.get(outer, Level()).start)
        current = counters[depth]
        if fresh:
            counters[depth] = found.starts[depth]
        elif current is None:
            counters[depth] = found.levels.get(depth, Level()).start
        else:
            counters[depth] = current + 1
        for deeper in range(depth + 1, _LEVELS):
            restart = found.levels.get(deeper, Level()).restart
            if restart is None or (restart > 0 and depth < restart):
                counters[deeper] = None

    def _text(self, found: _List, level: Level, depth: int) -> str:
        if level.kind == "bullet":
            return _bullet(level)
        counters = self._counters[found.abstract]

        def write(match: re.Match[str]) -> str:
            index = int(match[1]) - 1
            if index > depth:
                return ""
            shown = found.levels.get(index, Level())
            current = counters[index]
            if current is None or shown.kind in ("none", "bullet"):
                return ""
            return format_number(current, "decimal" if level.legal else shown.kind, shown.pattern)

        return _PLACEHOLDER.sub(write, level.text).strip()

    def _list(self, identifier: int) -> _List | None:
        if identifier not in self._lists:
            self._lists[identifier] = self._read_list(identifier)
        return self._lists[identifier]

    def _read_list(self, identifier: int) -> _List | None:
        element = self._numbers.get(identifier)
        abstract_id = read(element, "abstractNumId", "val")
        seen: set[int | None] = set()
        abstract = self._abstract.get(abstract_id)
        while abstract is not None and abstract_id not in seen:
            seen.add(abstract_id)
            link = value(abstract, W + "numStyleLink")  # the list is defined by a style, which names another list
            target = self._numbers.get(self._styles.list_of(link)) if link else None
            if target is None:
                break
            abstract_id = read(target, "abstractNumId", "val")
            abstract = self._abstract.get(abstract_id)
        if element is None or abstract is None or abstract_id is None:
            return None
        levels = dict(map(_read_level, abstract.iterfind(W + "lvl")))
        starts: dict[int, int] = {}
        for override in element.lvlOverride_lst:
            depth = read(override, "ilvl") or 0
            replaced = override.find(W + "lvl")
            if replaced is not None:
                levels[depth] = _read_level(replaced)[1]
                starts[depth] = levels[depth].start
            start = read(override, "startOverride", "val")
            if start is not None:
                starts[depth] = start
        return _List(abstract_id, levels, starts)


def _read_level(element: Element) -> tuple[int, Level]:
    depth = number(element.get(W + "ilvl")) or 0
    # Custom formats come with a fallback.
    paths = (f"{MC}AlternateContent/{MC}Choice/{W}numFmt", f"{W}numFmt", f"{MC}AlternateContent/{MC}Fallback/{W}numFmt")
    form = next((found for path in paths if (found := inner(element, path)) is not EMPTY), EMPTY)
    properties = element.find(W + "rPr")
    fonts = inner(properties, W + "rFonts")
    start = number(value(element, W + "start"))
    return depth, Level(
        start=0 if start is None else start,
        kind=form.get(VAL) or "decimal",
        pattern=form.get(W + "format") or "",
        text=value(element, W + "lvlText") or "",
        legal=bool(switch(element, W + "isLgl")),
        restart=number(value(element, W + "lvlRestart")),
        style=value(element, W + "pStyle") or "",
        font=fonts.get(W + "ascii") or fonts.get(W + "hAnsi") or "",
        hidden=bool(read(properties, "vanish", "val")),
    )


def _bullet(level: Level) -> str:
    """One mark for all bullets, but words that a list puts before its items as they are."""
    text = level.text.strip()
    if len(text) > 1 and any(map(str.isalnum, text)) and not any(map(is_private, text)):
        return symbol_text(text, level.font)
    return BULLET
