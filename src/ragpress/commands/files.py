"""`ragpress chunk` and `ragpress tables`: how files are read, without a build."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragpress.config import Config, load_config
from ragpress.errors import BuildError, ModelError, render
from ragpress.pipeline.results import Failure, Outcome
from ragpress.records import DocumentEntry
from ragpress.repository import Repository, find_root

# -- chunk -----------------------------------------------------------------------------------------------------------


class FileReport(msgspec.Struct, frozen=True):
    """What `--report` says of one file."""

    outcome: str
    seconds: float
    warning: str = ""


def chunk(options: argparse.Namespace) -> int:
    """Chunks of files as JSONL on standard output, messages on standard error. Status 1 where a file failed."""
    from ragpress.console import report
    from ragpress.pipeline.chunk import compile_file, read_source
    from ragpress.pipeline.pool import Pool
    from ragpress.pipeline.results import failure

    files, reports = _files(options.paths)
    failed = any(each.outcome == "error_named" for each in reports.values())
    for source, refused in reports.items():
        print(f"{source}: {refused.warning}", file=sys.stderr)
    root = find_root(Path.cwd()) or Path.cwd()
    config = load_config(root) if (root / "pyproject.toml").is_file() else Config()
    # This command shows what a reader makes of a file, and warns of gaps; refusing for them is the build's part.
    repository = Repository(root, msgspec.structs.replace(config, min_coverage=0.0))
    with tempfile.TemporaryDirectory(prefix="ragpress-") as folder, Pool(repository) as pool:

        def compile_one(item: tuple[str, Path]) -> Outcome:
            source, path = item
            above = path.absolute().parents[source.count("/")]
            try:
                data = read_source(path, source)
                return compile_file(repository, source, data, pool, report, root=above, converted=Path(folder))
            except ModelError:
                raise
            except BuildError as error:
                return failure(error, source)

        for (source, _), outcome in zip(files, pool.map(compile_one, files), strict=True):
            reports[source] = _print_chunks(outcome)
            failed = failed or reports[source].outcome == "error_named"
    if options.report is not None:
        _write_report(options.report, dict(sorted(reports.items())))
    return 1 if failed else 0


def _print_chunks(outcome: Outcome) -> FileReport:
    from ragpress.artifact.jsonl import encode_chunk

    if isinstance(outcome, Failure):
        error = render(outcome.error().message, "")
        print(error, file=sys.stderr)
        return FileReport("error_named", outcome.seconds, error)
    for item in outcome.chunks:
        sys.stdout.buffer.write(_line(encode_chunk(item), outcome.entry))
    sys.stdout.buffer.flush()
    for message in outcome.messages:
        print(render(message, ""), file=sys.stderr)
    warning = "; ".join(message.text for message in outcome.messages if message.severity != "info")
    return FileReport("ok_with_warning" if warning else "ok", outcome.seconds, warning)


def _line(chunk: bytes, entry: DocumentEntry) -> bytes:
    """A chunk's line. Without a build there is no documents.jsonl, so that front matter stands with each chunk."""
    if not entry.front_matter:
        return chunk
    document = msgspec.json.encode({"document": {"title": entry.title, "front_matter": entry.front_matter}})
    return chunk.removesuffix(b"}\n") + b"," + document.removeprefix(b"{") + b"\n"


def _write_report(path: Path, reports: dict[str, FileReport]) -> None:
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(reports), indent=1) + b"\n")
    except OSError as error:
        reason = f"the report {path.name} cannot be written: {error.strerror}; make room or allow it"
        raise BuildError("disk", reason) from None


def _files(paths: Sequence[Path]) -> tuple[list[tuple[str, Path]], dict[str, FileReport]]:
    """Name and path of each file, named from the given folder on; and the reports of those that are not read."""
    from ragpress.readers import is_readable
    from ragpress.sources import list_sources

    files: list[tuple[str, Path]] = []
    reports: dict[str, FileReport] = {}
    for path in paths:
        if not path.is_dir():
            files.append((_name(path, [name for name, _ in files]), path))
            continue
        for found in list_sources(path).sources:
            if is_readable(found.source):
                files.append((found.source, found.path))
            else:
                reports[found.source] = FileReport("skipped_reported", 0.0, "skipped: no reader for this kind of file")
    return files, reports


def _name(path: Path, taken: Sequence[str]) -> str:
    parts = [part for part in path.parts if part not in {"..", ".", path.anchor}]
    for count in range(1, len(parts) + 1):
        name = "/".join(parts[-count:])
        if name not in taken:
            return name
    raise BuildError("bad-setting", f"{path} is given twice; give it once")


# -- tables ----------------------------------------------------------------------------------------------------------


def tables(options: argparse.Namespace) -> int:
    """How the tables of files are read, on standard output. Status 1 where a file cannot be read."""
    from ragpress.errors import SourceError
    from ragpress.readers import read_tables_of
    from ragpress.review.diff import screen_of
    from ragpress.review.table_view import draw, table_lines

    screen = screen_of(sys.stdout, options.width)
    failed = False
    for source, path in _table_files(options.paths):
        try:
            sheets = read_tables_of(path.read_bytes(), source)
        except SourceError as error:
            print(render(error.message, ""), file=sys.stderr)
            failed = True
            continue
        except OSError as error:
            raise BuildError("not-a-file", f"{path} cannot be read: {error.strerror}; give a file") from None
        for line in table_lines(source, sheets) if options.json else draw(source, sheets, screen):
            print(line)
    return 1 if failed else 0


def _table_files(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """The files that are given, and of folders those that may hold tables."""
    from ragpress.readers import TABLES, suffix_of

    given = {path for path in paths if not path.is_dir()}
    files, _ = _files(paths)
    return [(source, path) for source, path in files if path in given or suffix_of(source) in TABLES]
