"""Charts and diagrams: the text that lies in parts of its own (ECMA-376 part 1, 21.2 and 21.4).

A chart gives its titles and a table of its cached values, categories down and series across. A diagram (SmartArt) gives
the text of its points, as a list where they stand below each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from docx.opc.constants import RELATIONSHIP_TYPE as RT

from ragpress.readers.docx.blocks import Block, Cell, Paragraph, Table, TableRow
from ragpress.readers.docx.context import Context
from ragpress.readers.docx.names import CX, DGM, A, C, R, inner, number
from ragpress.readers.ooxml.formatted_values import NumberLocale, locale_of, show_number
from ragpress.readers.ooxml.xml import EMPTY, Element

_SILENT_POINTS = frozenset({"pres", "parTrans", "sibTrans", "doc"})
_CHARTS = (C + "chart", CX + "chart")
_LONGEST = 20_000  # values of one chart; Excel draws no more than 32,000 and nobody reads so many

_LARGEST = 308  # powers of ten in a double


def graphic_blocks(element: Element, context: Context) -> list[Block]:
    """The text of a c:chart, cx:chart or dgm:relIds. Empty where its part is missing or says nothing."""
    link = context.link(element.get(R + ("dm" if element.tag == DGM + "relIds" else "id")))
    root = context.package.root(link.part)
    found = _text_of(element, root, link.part, context)
    if not found and (element.tag in _CHARTS or root is EMPTY):
        context.unread_objects.setdefault("chart or diagram without stored text", []).append(context.place)
    return found


def _text_of(element: Element, root: Element, part: str, context: Context) -> list[Block]:
    if element.tag == C + "chart":
        shapes = context.package.related(part, RT.CHART_USER_SHAPES)
        labels = [_rich_text(context.package.root(part)) for part in shapes]
        return [*_chart(root, context), *_said(labels, context.place)]
    if element.tag == CX + "chart":
        return _extended_chart(root, context.place)
    return _diagram(root, context.place)


def _chart(root: Element, context: Context) -> list[Block]:
    place, locale = context.place, locale_of(context.number_locale, context.styles.language)
    named = [_rich_text(title) for title in root.iterfind(f"{C}chart/{C}title")]
    texts = [text for title in root.iter(C + "title") if (text := _rich_text(title)) not in named]
    texts += [_rich_text(label) for label in root.iter(C + "dLbl")]
    columns: list[tuple[str, dict[int, str], dict[int, str]]] = []
    for series in root.iter(C + "ser"):
        name = " ".join(_points(inner(series, C + "tx"), locale).values())
        categories = _points(_first(series, "cat", "xVal"), locale)
        columns.append((name, categories, _points(_first(series, "val", "yVal"), locale)))
        sizes = _points(inner(series, C + "bubbleSize"), locale)
        if sizes:
            columns.append((name, categories, sizes))
    tables = _grid(columns, place)
    for table in tables:
        table.caption = " ".join(named)
    return [*_said(texts if tables else [*named, *texts], place), *tables]


def _first(series: Element, *names: str) -> Element:
    return next((found for name in names if (found := inner(series, C + name)) is not EMPTY), EMPTY)


def _points(data: Element, locale: NumberLocale) -> dict[int, str]:
    """The cached values by their index. Levels of a category that is grouped are joined, the outer one first."""
    literal = inner(data, C + "v")
    if literal is not EMPTY:
        return {0: literal.text or ""}
    levels = list(data.iter(C + "lvl"))
    if not levels:
        return dict(_indexed(data, locale))
    found: dict[int, str] = {}
    innermost, *outer = [dict(_indexed(level, locale)) for level in levels]
    for index, text in innermost.items():
        above = [level[max(known)] for level in outer if (known := [key for key in level if key <= index])]
        found[index] = " ".join([*reversed(above), text])
    return found


def _indexed(data: Element, locale: NumberLocale) -> Iterator[tuple[int, str]]:
    numeric = next(data.iter(C + "numCache", C + "numLit"), EMPTY)
    usual = numeric.findtext(C + "formatCode")
    for order, point in enumerate(data.iter(C + "pt")):
        if order >= _LONGEST:
            return
        index = number(point.get("idx"))
        text = "".join(value.text or "" for value in point.iter(C + "v")).strip()
        if text and numeric is not EMPTY:
            text = _shown(text, point.get("formatCode") or usual or "General", locale)
        if text:
            yield order if index is None else index, text


def _shown(text: str, code: str, locale: NumberLocale) -> str:
    """A cached number as its format shows it."""
    try:
        value = Decimal(text)
    except InvalidOperation:  # an error value such as #N/A
        return text
    return show_number(value, code, locale=locale) if value.is_finite() and abs(value.adjusted()) < _LARGEST else text


def _grid(columns: list[tuple[str, dict[int, str], dict[int, str]]], place: int) -> list[Table]:
    """One table for series that share their categories, a table each for the rest."""
    blocks: list[Table] = []
    while columns:
        categories = columns[0][1]
        same = [column for column in columns if column[1] == categories]
        columns = [column for column in columns if column[1] != categories]
        indexes = sorted(set(categories).union(*(values for _, _, values in same)))
        names = [name for name, _, _ in same]
        rows = [_row(["", *names], place)] if any(names) else []
        header = len(rows)
        rows += [_row([categories.get(i, ""), *(values.get(i, "") for _, _, values in same)], place) for i in indexes]
        blocks.append(Table(rows, place, header))
    return blocks


def _row(texts: list[str], place: int) -> TableRow:
    return TableRow([Cell([Paragraph(text, place)], column) for column, text in enumerate(texts)])


def _extended_chart(root: Element, place: int) -> list[Block]:
    """Charts since 2016 (treemap, funnel …): titles, names and the cached values of each dimension."""
    texts = [_rich_text(title) for title in root.iter(CX + "title")]
    texts += [name.text or "" for name in root.iter(CX + "v")]
    columns: list[dict[int, str]] = []
    for level in root.iter(CX + "lvl"):
        points = enumerate(level.iter(CX + "pt"))
        columns.append({number(point.get("idx")) or order: point.text or "" for order, point in points})
    indexes = sorted({index for column in columns for index in column})[:_LONGEST]
    rows = [_row([column.get(index, "") for column in columns], place) for index in indexes]
    return [*_said(texts, place), *([Table(rows, place, 0)] if rows else [])]


def _diagram(root: Element, place: int) -> list[Block]:
    points = {point.get("modelId") or "": point for point in root.iter(DGM + "pt")}
    children: dict[str, list[tuple[int, str]]] = {}
    below: set[str] = set()
    for link in root.iter(DGM + "cxn"):
        if (link.get("type") or "parOf") == "parOf":
            target = link.get("destId") or ""
            children.setdefault(link.get("srcId") or "", []).append((number(link.get("srcOrd")) or 0, target))
            below.add(target)
    blocks: list[Block] = []
    seen: set[str] = set()
    pending = [(identifier, 0) for identifier in reversed(points) if identifier not in below]
    while pending:
        identifier, depth = pending.pop()
        point = points.get(identifier)
        if point is None or identifier in seen:
            continue
        seen.add(identifier)
        silent = point.get("type") in _SILENT_POINTS
        text = "" if silent else " ".join(_rich_text(point).split())
        if text:
            blocks.append(Paragraph(text, place, label="-", depth=depth))
        children_of = sorted(children.get(identifier, []), reverse=True)
        pending += [(target, depth if silent else depth + 1) for _, target in children_of]
    return blocks


def _rich_text(element: Element) -> str:
    """The text of an element that has no text of another title inside, a paragraph a line."""
    lines = ("".join(text.text or "" for text in paragraph.iter(A + "t")) for paragraph in element.iter(A + "p"))
    return "\n".join(line.strip() for line in lines if line.strip())


def _said(texts: list[str], place: int) -> list[Block]:
    return [Paragraph(text.strip(), place) for text in dict.fromkeys(texts) if text.strip()]
