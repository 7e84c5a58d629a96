"""Reads an Excel workbook (SpreadsheetML) straight from its parts: every visible word once, as a person sees it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import msgspec

from ragpress.config import Config
from ragpress.errors import SourceError, message
from ragpress.readers.ooxml.package import Package, open_package
from ragpress.readers.ooxml.xml import EMPTY, child, local
from ragpress.readers.rows import SheetTables, TableReading, one_line
from ragpress.readers.table_units import table_units
from ragpress.readers.xlsx.assembly import find_tables
from ragpress.readers.xlsx.content import SheetContent, area
from ragpress.readers.xlsx.drawings import Floating, drawing_texts, print_lines
from ragpress.readers.xlsx.grid import VisibleSheet, area_places, visible_rows
from ragpress.readers.xlsx.regions import DeclaredTable
from ragpress.readers.xlsx.sheet import Book, add_filter, read_sheet
from ragpress.readers.xlsx.strings import rich_values, shared_strings
from ragpress.readers.xlsx.styles import read_styles
from ragpress.readers.xlsx.workbook import SheetEntry, number_locale, read_workbook
from ragpress.records import Document, LeftOut, Locator, Message, Severity, Unit
from ragpress.text import normalize

_DEFAULT_NAME = re.compile(
    r"(?:work)?sheet|лист|аркуш|برگه|کاربرگ|شیت|ورقه?|صفحه|tabelle|feuil|hoja|foglio|sayfa|工作表", re.IGNORECASE
)

_NAME = 40  # characters of a column's name or a leftover; a longer text says something


def read_xlsx(data: bytes, source: str, config: Config) -> Document:
    """The visible sheets in order, their tables row by row. `config` says in which way numbers are shown.

    Raises SourceError: as `open_package` does, "bad-archive" for what is no workbook, "empty-source" for one in which
    a person sees no word.
    """
    return _WorkbookReader(open_package(data, source, "Excel"), config).read()


def read_xlsx_tables(data: bytes, source: str) -> list[SheetTables]:
    """How the tables of the visible sheets are read. Raises SourceError as `read_xlsx` does."""
    reader = _WorkbookReader(open_package(data, source, "Excel"), Config())
    reader.read()
    return reader.sheets


class _PlacedContent(msgspec.Struct, frozen=True):
    """A table or a floating text with the row that it begins in."""

    row: int
    content: TableReading | Floating


class _WorkbookReader:
    """Gathers the units and messages of one workbook."""

    def __init__(self, package: Package, config: Config) -> None:
        self.package = package
        self.config = config
        self.source = package.source
        self.units: list[Unit] = []
        self.sheets: list[SheetTables] = []
        self.messages: list[Message] = []
        self.sections = 0
        self.printed: set[str] = set()
        self.left_out: list[LeftOut] = []

    def read(self) -> Document:
        workbook = read_workbook(self.package)
        strings = shared_strings(self.package, workbook.strings)
        styles = read_styles(self.package, workbook.styles)
        book = Book(
            strings,
            styles,
            workbook.date1904,
            rich_values(self.package, workbook.part),
            number_locale(self.config.number_locale, self.package, workbook, strings, styles.formats),
        )
        hidden = [sheet.name for sheet in workbook.sheets if sheet.hidden]
        empty: list[Unit] = []
        for sheet in workbook.sheets:
            if not sheet.hidden:
                begin = len(self.units)
                if self._sheet(sheet, book):
                    empty += self.units[begin:]
                    del self.units[begin:]
        self._drop_empty_sheets(empty)
        if hidden:
            self._report("info", "left-out", f"hidden sheets left out: {len(hidden)} ({', '.join(hidden)})")
        if not self.units:
            found = "no visible sheet holds a word" if hidden else "no sheet holds a word"
            raise SourceError("empty-source", f"{found}; fill it in or remove the file", self.source)
        messages = (*self.package.messages, *self.messages)
        return Document(
            source=self.source,
            title=PurePosixPath(self.source).stem,
            units=tuple(self.units),
            messages=messages,
            left_out=tuple(self.left_out),
        )

    def _report(self, severity: Severity, code: str, text: str, place: Locator | None = None) -> None:
        self.messages.append(message(severity, code, text, self.source, place))

    def _drop_empty_sheets(self, empty: list[Unit]) -> None:
        """Leaves out the sheets without data rows, unless the workbook has no others."""
        if not self.units:
            self.units = empty
        for unit in empty:
            what = f"sheet «{unit.section}» has no data rows"
            if self.units is empty:
                self._report(
                    "info", "empty-section", f"{what}; its words are kept, for there is nothing else", unit.locator
                )
            else:
                self._report("info", "empty-section", f"{what} and is left out: «{one_line(unit.text)}»", unit.locator)
                self.left_out.append(LeftOut("empty-section", unit.text, unit.locator))

    def _sheet(self, sheet: SheetEntry, book: Book) -> bool:
        """Reads a sheet. Returns whether it is empty but for a row of names or a leftover."""
        if not sheet.part:
            self._report("warning", "bad-part", f"sheet «{sheet.name}» is missing from the file; save the file again")
            return False
        if sheet.kind != "worksheet":
            self._chart_sheet(sheet)
            return False
        content = read_sheet(self.package, sheet, book)
        declared = self._tables(sheet, content)
        visible = visible_rows(content)
        tables = find_tables(visible.rows, declared)
        self.sheets.append(SheetTables(normalize(one_line(sheet.name)), tuple(tables)))
        regions = [_PlacedContent(table.first_place(), table) for table in tables]
        regions += [_PlacedContent(floating.row, floating) for floating in self._floating(sheet.part)]
        regions.sort(key=lambda region: region.row)  # stable: side by side stays in order
        for region in regions:
            self._region(sheet, region)
        before = len(self.units)
        self._around(sheet, content, visible)
        self._report_left_out(sheet, content, visible)
        names = all(len(text) <= _NAME for row in visible.rows for text in row.texts.values())
        return len(visible.rows) == len(regions) == 1 and names and len(self.units) == before

    def _region(self, sheet: SheetEntry, region: _PlacedContent) -> None:
        name = normalize(one_line(sheet.name))
        breadcrumb = "" if is_default_name(name) else f"## {name}"
        self.sections += 1
        if isinstance(region.content, TableReading):
            units = table_units(
                region.content,
                locate=lambda row: Locator("R", row.place, row.place, name),
                section=name,
                section_number=self.sections,
                headings=(name,),
                breadcrumb=breadcrumb,
            )
            self.units.extend(units)
            self.sections = max(self.sections, *(unit.section_number for unit in units))
        else:
            self._paragraph(name, region.row, region.content.text)

    def _paragraph(self, name: str, row: int, text: str) -> None:
        self.units.append(
            Unit(
                kind="paragraph",
                text=text,
                locator=Locator("R", row, row, name),
                section=name,
                section_number=self.sections,
                headings=(name,),
                breadcrumb="" if is_default_name(name) else f"## {name}",
            )
        )

    def _tables(self, sheet: SheetEntry, content: SheetContent) -> list[DeclaredTable]:
        """The ranges that the file calls tables, and their filters."""
        declared = []
        for part in self.package.related(sheet.part, "table"):
            root = self.package.root(part)
            found = area(root.get("ref"))
            if found is None:
                continue
            heads = root.get("headerRowCount") or "1"
            left, right = area_places(found, content)
            if left <= right:
                declared.append(
                    DeclaredTable(found.top, found.bottom, left, right, int(heads) if heads.isdecimal() else 1)
                )
            autofilter = child(root, "autoFilter")
            if autofilter is not EMPTY:
                add_filter(autofilter, content)
        return declared

    def _floating(self, part: str) -> list[Floating]:
        return [
            found for drawing in self.package.related(part, "drawing") for found in drawing_texts(self.package, drawing)
        ]

    def _chart_sheet(self, sheet: SheetEntry) -> None:
        """A sheet that is one chart, or of a kind that holds no cells: its words are the chart's titles."""
        texts = [found.text for found in self._floating(sheet.part)]
        self.sections += bool(texts)
        for text in texts:
            self._paragraph(normalize(one_line(sheet.name)), 1, text)
        what = "a chart" if sheet.kind == "chartsheet" else "no worksheet"
        kept = "only its titles were read" if texts else "it was skipped"
        self._report("info", "left-out", f"sheet «{sheet.name}» is {what}; {kept}")

    def _around(self, sheet: SheetEntry, content: SheetContent, visible: VisibleSheet) -> None:
        """Page headers and footers: once for the workbook, and only what they say of their own."""
        row = visible.rows[-1].number if visible.rows else 1
        for code in content.print_texts:
            lines = [line for line in print_lines(code) if line not in self.printed]
            self.printed.update(lines)
            if lines:
                self.sections += 1
                self._paragraph(normalize(one_line(sheet.name)), row, "\n".join(lines))

    def _report_left_out(self, sheet: SheetEntry, content: SheetContent, visible: VisibleSheet) -> None:
        """One message for each kind of thing that was left out or could not be read."""
        name = sheet.name
        for count, what in ((visible.hidden_rows, "hidden rows"), (visible.hidden_columns, "hidden columns")):
            if count:
                self._report("info", "left-out", f"sheet «{name}»: {what} with content left out: {count}")
        if visible.covered:
            self._report("info", "left-out", f"sheet «{name}»: values under merged cells left out: {visible.covered}")
        if visible.filtered_rows:
            self._report(
                "info", "xlsx-filter", f"sheet «{name}»: rows hidden by a filter are read: {visible.filtered_rows}"
            )
        if content.formulas:
            first = Locator("R", content.formulas[0], content.formulas[0], name)
            found = f"formulas without a stored value: {len(content.formulas)}; open and save the file in Excel"
            self._report("warning", "xlsx-formula", f"sheet «{name}»: {found}", first)
        if content.bad_strings:
            found = f"cells whose text is missing from the file: {content.bad_strings}; save it again"
            self._report("warning", "bad-part", f"sheet «{name}»: {found}")
        if content.pictures:
            found = f"cells that show a picture or data without a text: {content.pictures}"
            self._report("info", "left-out", f"sheet «{name}»: {found}")
        comments = self._comments(sheet.part)
        if comments:
            self._report("info", "left-out", f"sheet «{name}»: comments left out: {comments}")

    def _comments(self, part: str) -> int:
        parts = self.package.related(part, "threadedComment") or self.package.related(part, "comments")
        names = ("comment", "threadedComment")
        return sum(local(element) in names for name in parts for element in self.package.root(name).iter())


def is_default_name(name: str) -> bool:
    """Whether a sheet's name is the one that the program gave it, such as `Лист1`."""
    return bool(_DEFAULT_NAME.fullmatch(name.rstrip("0123456789۰۱۲۳۴۵۶۷۸۹ _()").strip()))


__all__ = ["is_default_name", "read_xlsx", "read_xlsx_tables"]
