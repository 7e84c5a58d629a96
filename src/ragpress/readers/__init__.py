"""Suffix to reader: bytes of a source to a Document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from ragpress.config import Config
from ragpress.errors import SourceError
from ragpress.records import Document

Reader = Callable[[bytes, str, Config], Document]


def read_document(data: bytes, source: str, config: Config) -> Document:
    """Reads one source by its suffix. `source` is its POSIX path below sources/. Raises SourceError."""
    return _reader(source)(data, source, config)


READABLE = frozenset({".md", ".txt", ".docx", ".docm", ".dotx", ".dotm", ".xlsx", ".xlsm", ".xltx", ".xltm", ".csv", ".tsv"})


def is_readable(source: str) -> bool:
    """Whether there is a reader for a file of this name, or a word on what to do with it."""
    return PurePosixPath(source).suffix.lower() in READABLE | {".doc"}


def _reader(source: str) -> Reader:
    # Imported where used: a build that touches Markdown alone loads neither lxml nor openpyxl.
    suffix = PurePosixPath(source).suffix.lower()
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
    if suffix == ".doc":
        raise SourceError(
            "legacy-doc", "this is a legacy Word file; save it as .docx in Word or LibreOffice and add that", source
        )
    raise SourceError(
        "unknown-suffix",
        f"no reader for {suffix or 'a file without suffix'}; use md, txt, docx, xlsx or csv, or move the file out",
        source,
    )
