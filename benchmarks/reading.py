"""Long files: a Word table, a sheet of 20,000 rows and one of 100,000 lines, read, cut and audited in a worker."""

from __future__ import annotations

import hashlib
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from ragpress.config import Config
from ragpress.pipeline.pool import Pool
from ragpress.pipeline.results import Compiled, Job
from ragpress.repository import Repository


def word_table(path: Path) -> Path:
    """A Word file with one table of 1,500 rows and 8 columns."""
    import docx
    from docx.oxml import parse_xml

    document = docx.Document()
    table = document.add_table(rows=0, cols=8)
    body = table._tbl
    for row in range(1500):
        cells = "".join(
            f"<w:tc><w:p><w:r><w:t>строка {row} столбец {cell}</w:t></w:r></w:p></w:tc>" for cell in range(8)
        )
        names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
        body.append(parse_xml(f"<w:tr {names}>{cells}</w:tr>"))
    document.save(str(path))
    return path


def sheet(path: Path) -> Path:
    """A workbook with one sheet of 20,000 rows and 8 columns."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    page = book.create_sheet("Прайс")
    page.append([f"Столбец {letter}" for letter in "абвгдежз"])
    for row in range(20_000):
        page.append(
            [f"Товар {row}", row, row * 1.5, f"склад {row % 7}", "шт.", f"примечание {row}", row % 2 == 0, "да"]
        )
    book.save(path)
    return path


def lines(path: Path) -> Path:
    """A workbook with one sheet of 100,000 lines, all in one column."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    page = book.create_sheet("Перечень")
    for row in range(100_000):
        page.append([f"Пункт {row} перечня работ по объекту"])
    book.save(path)
    return path


def run(folder: Path) -> Iterator[tuple[str, float, str]]:
    """(what, seconds, details)."""
    config = Config(offline_model="multilingual-e5-small")
    for what, path, limit in (
        ("Word table of 1,500 × 8 cells, s", word_table(folder / "table.docx"), 2),
        ("sheet of 20,000 rows, s", sheet(folder / "sheet.xlsx"), 10),
        ("sheet of 100,000 lines in one column, s", lines(folder / "lines.xlsx"), 10),
    ):
        begin = time.perf_counter()
        data = path.read_bytes()
        job = Job(source=path.name, sha256=hashlib.sha256(data).hexdigest(), data=data, config=config)
        with Pool(Repository(folder, config), print, 1) as pool:
            outcome = pool.compile(job)
        if not isinstance(outcome, Compiled):
            raise SystemExit(outcome.text)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        details = (
            f"{len(outcome.chunks)} chunks, {time.perf_counter() - begin:.1f} s with the worker's start, {peak} MB;"
        )
        yield what, outcome.seconds, f"{details} the limit is {limit} s and 1000 MB"
