"""Suffix to reader: bytes of a source to a Document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from ragpress.config import Config
from ragpress.errors import SourceError
from ragpress.readers.rows import SheetTables
from ragpress.records import Document

Reader = Callable[[bytes, str, Config], Document]


def read_document(data: bytes, source: str, config: Config, suffix: str = "") -> Document:
    """Reads one source by its suffix. `source` is its POSIX path below sources/. Raises SourceError.

    `suffix` is what the bytes are where that is not the source's own: `.docx` for what was made of a `.doc`.
    """
    return _reader(source, suffix or suffix_of(source))(data, source, config)


def read_tables_of(data: bytes, source: str) -> list[SheetTables]:
    """How the tables of an Excel or CSV file are read, a sheet an entry. Raises SourceError, also for other files."""
    suffix = suffix_of(source)
    if suffix in {".csv", ".tsv"}:
        from ragpress.readers.csv import read_csv_tables

        return read_csv_tables(data, source)
    if suffix in TABLES:
        from ragpress.readers.xlsx import read_xlsx_tables

        return read_xlsx_tables(data, source)
    raise SourceError("unknown-suffix", "its tables cannot be shown; give an xlsx or csv file", source)


TABLES = frozenset({".csv", ".tsv", ".xlsx", ".xlsm", ".xltx", ".xltm"})
"""The suffixes of files whose tables `read_tables_of` reads."""

READABLE = frozenset(
    {".md", ".txt", ".docx", ".docm", ".dotx", ".dotm", ".xlsx", ".xlsm", ".xltx", ".xltm", ".csv", ".tsv"}
)

CONVERTIBLE = {
    ".doc": ".docx",
    ".dot": ".docx",
    ".odt": ".docx",
    ".rtf": ".docx",
    ".xls": ".xlsx",
    ".xlt": ".xlsx",
    ".ods": ".xlsx",
}
"""Suffix of a file that no reader reads to that of the file which LibreOffice makes of it."""


def suffix_of(source: str) -> str:
    """The suffix of a source in lower case, with its dot."""
    return PurePosixPath(source).suffix.lower()


def is_readable(source: str) -> bool:
    """Whether there is a reader for a file of this name, or a way to one."""
    return suffix_of(source) in READABLE | CONVERTIBLE.keys()


def _reader(source: str, suffix: str) -> Reader:
    # Imported where used: a build that touches Markdown alone loads neither lxml nor openpyxl.
    if suffix == ".md":
        from ragpress.readers.markdown import read_markdown

        return read_markdown
    if suffix == ".txt":
        from ragpress.readers.plaintext import read_plaintext

        return read_plaintext
    if suffix in {".docx", ".docm", ".dotx", ".dotm"}:
        from ragpress.readers.docx import read_docx

        return read_docx
    if suffix in {".xlsx", ".xlsm", ".xltx", ".xltm"}:
        from ragpress.readers.xlsx import read_xlsx

        return read_xlsx
    if suffix in {".csv", ".tsv"}:
        from ragpress.readers.csv import read_csv

        return read_csv
    if suffix in CONVERTIBLE:
        raise SourceError(
            "legacy-doc",
            f"a {suffix} file is not read as it is; set convert_doc = true to have LibreOffice convert it,"
            f" or save it as {CONVERTIBLE[suffix]}",
            source,
        )
    raise SourceError(
        "unknown-suffix",
        f"no reader for {suffix or 'a file without suffix'}; save it as md, txt, docx, xlsx or csv, or name it in the"
        " setting `exclude`",
        source,
    )
