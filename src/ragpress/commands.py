"""What the commands of `ragpress` do; `cli.py` says how they are called."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragpress.config import Config, load_config
from ragpress.errors import BuildError, ModelError, render
from ragpress.invoke import from_root, here, run_tasks
from ragpress.pipeline.results import Failure, Outcome
from ragpress.records import Chunk, DocumentEntry, Hit
from ragpress.repository import Repository, find_root, open_repository

if TYPE_CHECKING:
    from ragpress.evaluation import Case

# -- the tasks of a build --------------------------------------------------------------------------------------------


def build(_: argparse.Namespace) -> int:
    return run_tasks(["index"])


def golden(options: argparse.Namespace) -> int:
    return run_tasks(["golden", *(["--stat"] if options.stat else [])])


def accept(options: argparse.Namespace) -> int:
    paths = [f"--only={from_root(here().root, path)}" for path in options.paths]
    return run_tasks(["accept", *(["--retrieval"] if options.retrieval else []), *paths])


def report_site(options: argparse.Namespace) -> int:
    """The report is drawn although the build failed: it shows why."""
    status = run_tasks(["index"], ["report", *_base(options)])
    if options.open:
        import webbrowser

        webbrowser.open((here().build / "report" / "index.html").as_uri())
    return status


def _base(options: argparse.Namespace) -> list[str]:
    return [f"--base={options.base}"] if options.base else []


def pack(options: argparse.Namespace) -> int:
    return run_tasks(["pack", *(["--fallback"] if options.fallback else [])])


def clean(options: argparse.Namespace) -> int:
    from ragpress.console import report
    from ragpress.pipeline import build_lock
    from ragpress.pipeline.clean import clean_build

    repository = here()
    with build_lock(repository):
        clean_build(repository, report, everything=options.all)
    return 0


def status(_: argparse.Namespace) -> int:
    """What can be done next, here."""
    from ragpress.status import next_steps

    root = find_root(Path.cwd())
    if root is None:
        print("ragpress: no repository here or in a folder above")
        print("  ragpress init DIR   make one")
        print("  ragpress --help     all commands")
        return 0
    print("\n".join(next_steps(open_repository(root))))
    return 0


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
    """A chunk's line. Without a build there is no documents.jsonl, so that front matter is told with each chunk."""
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
    from ragpress.repository import find_sources

    files: list[tuple[str, Path]] = []
    reports: dict[str, FileReport] = {}
    for path in paths:
        if not path.is_dir():
            files.append((_name(path, [name for name, _ in files]), path))
            continue
        for found in find_sources(path):
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
    raise BuildError("not-a-file", f"{path} is given twice; give it once")


# -- tables ----------------------------------------------------------------------------------------------------------


def tables(options: argparse.Namespace) -> int:
    """How the tables of files are read, on standard output. Status 1 where a file cannot be read."""
    from ragpress.errors import SourceError
    from ragpress.readers import read_tables_of
    from ragpress.review.diff import screen_of
    from ragpress.review.tables import draw, table_lines

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


# -- diff ------------------------------------------------------------------------------------------------------------


def diff(options: argparse.Namespace) -> int:
    """What the chatbot will read differently, on standard output. Status 0, whatever differs.

    Compared is with the goldens; the comment with the merge base as well as the report is.
    """
    from ragpress.console import report
    from ragpress.pipeline import build_lock
    from ragpress.pipeline.results import stale_sources
    from ragpress.repository import find_sources
    from ragpress.review.accept import changes_of, comparison_base
    from ragpress.review.diff import screen_of, to_json, to_terminal

    repository, given = here(), options.base or options.revision
    with build_lock(repository):
        base = comparison_base(repository, given, report) if given or options.markdown else None
        found = changes_of(repository, base)
        stale = stale_sources(repository, find_sources(repository.sources))
    if stale:
        names = ", ".join(f"{repository.config.sources}/{item.source}" for item in stale[:3])
        more = f" and {len(stale) - 3} more" if len(stale) > 3 else ""
        print(
            f"ragpress: changed since the last build: {names}{more}; run `ragpress build`, then this again",
            file=sys.stderr,
        )
    if options.json:
        sys.stdout.write(to_json(found))
    elif options.markdown:
        from ragpress.report.comment import comment

        sys.stdout.write(comment(repository, found, base, options.report_url, report))
    else:
        for line in to_terminal(found, screen_of(sys.stdout, options.width)):
            print(line)
    return 0


# -- search, verify --------------------------------------------------------------------------------------------------


def search(options: argparse.Namespace) -> int:
    """Ranked hits for a person, or as JSON."""
    from ragpress.knowledge_base import KnowledgeBase
    from ragpress.models.selection import file_for

    artifact = options.artifact or here().artifact
    with KnowledgeBase.open(artifact, model_path=options.model or file_for(artifact)) as base:
        try:
            hits = base.search(
                options.question,
                options.k,
                mode=options.mode,
                sources=options.source or None,
                sections=options.section or None,
                content_types=options.type or None,
                neighbours=options.neighbours,
            )
        except ValueError as error:
            raise BuildError("bad-setting", str(error)) from None
    if options.json:
        found = [{**msgspec.to_builtins(hit.chunk), **_scores(hit), **_around(hit)} for hit in hits]
        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
    elif not hits:
        print("ragpress: nothing found; the artifact is empty, or the filters leave nothing", file=sys.stderr)
    else:
        print("\n\n".join(_shown(number, hit) for number, hit in enumerate(hits, 1)))
    return 0


def _scores(hit: Hit) -> dict[str, float]:
    names = ("score", "cosine", "word_score", "confidence")
    return {name: round(value, 6) for name in names if (value := getattr(hit, name)) is not None}


def _around(hit: Hit) -> dict[str, object]:
    if not hit.neighbours:
        return {}
    return {"neighbours": [chunk.chunk_id for chunk in hit.neighbours], "passage": hit.passage}


def _shown(number: int, hit: Hit) -> str:
    found: Chunk = hit.chunk
    scores = "  ".join(f"{name} {value:.3f}" for name, value in _scores(hit).items())
    head = f"{number}. {scores}  {found.source}:{found.locator}"
    if found.section:
        head += f"  {found.section}"
    text = hit.passage if hit.neighbours else found.text
    return "\n".join([head, *(f"   {line}" for line in text.splitlines())])


def verify(options: argparse.Namespace) -> int:
    """Checks every file of an artifact against its index.json, and all of them against each other."""
    from ragpress.artifact.read import verify_artifact

    folder = options.folder or here().artifact
    manifest = verify_artifact(folder)
    counts = f"{manifest.counts.sources} sources, {manifest.counts.chunks} chunks, {manifest.model.name}"
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    print(f"{shown}: sound ({counts})", file=sys.stderr)
    return 0


# -- eval ------------------------------------------------------------------------------------------------------------


def evaluate(options: argparse.Namespace) -> int:
    """The gate; or figures of an artifact, or of other settings, on standard output, status 0, whatever they are."""
    measured = (options.cases, options.artifact, options.model, options.json, options.sweep, options.compare)
    if not any(measured) and options.mode == "hybrid":
        return run_tasks(["eval", *_base(options)])
    from ragpress.console import report
    from ragpress.evaluation import comparison_lines, measure_artifact, read_cases, report_lines, to_json
    from ragpress.evaluation.tables import separation_lines
    from ragpress.knowledge_base import MODES
    from ragpress.models.selection import file_for

    path = options.cases or here().golden / "questions.jsonl"
    cases = read_cases(path, report, str(options.cases or "golden/questions.jsonl"))
    if options.sweep:
        return _sweep(options, cases)
    artifact = options.artifact or here().artifact
    model = options.model or file_for(artifact)
    if options.compare:
        modes = {mode: measure_artifact(artifact, cases, report, model, mode) for mode in MODES}
        print(to_json(modes) if options.json else "\n".join(comparison_lines(modes)))
        return 0
    found = measure_artifact(artifact, cases, report, model, options.mode)
    if options.json:
        print(to_json(found))
    else:
        print("\n".join([*report_lines(found.results), *separation_lines(found.separation)]))
    return 0


def _sweep(options: argparse.Namespace, cases: Sequence[Case]) -> int:
    from ragpress.evaluation.sweep import parse_sweep, sweep, sweep_table

    repository = here()
    rows = list(sweep(repository, cases, parse_sweep(options.sweep, repository.config)))
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode())
    else:
        print("\n".join(sweep_table(rows)))
    return 0


# -- model -----------------------------------------------------------------------------------------------------------


def model(options: argparse.Namespace) -> int:
    """Shows, chooses or locks the embedding model of the repository in the working folder."""
    from ragpress.models import selection as choice

    repository = here()
    if options.action == "use":
        print(choice.use(repository, options.name), file=sys.stderr)
    elif options.action == "lock":
        print(choice.lock(repository), file=sys.stderr)
    else:
        print("\n".join(choice.show(repository)))
    return 0


# -- seed, cache -----------------------------------------------------------------------------------------------------


def seed(options: argparse.Namespace) -> int:
    """Puts an artifact's vectors into the cache of the repository in the working folder."""
    from ragpress.console import report
    from ragpress.pipeline import build_lock
    from ragpress.pipeline.seed import seed_cache

    repository = here()
    with build_lock(repository):
        seed_cache(repository, options.path, report)
    return 0


def cache(options: argparse.Namespace) -> int:
    """Says what is in the vector cache of the repository in the working folder, or drops what is unused."""
    from ragpress.console import report
    from ragpress.pipeline import build_lock
    from ragpress.pipeline.cache import describe, prune

    repository = here()
    with build_lock(repository):
        if options.prune:
            print(prune(repository, (options.max_megabytes or 0) * 10**6, report))
        else:
            print(describe(repository, report))
    return 0


# -- init ------------------------------------------------------------------------------------------------------------


def init(options: argparse.Namespace) -> int:
    """Writes what a content repository needs into a folder; nothing that is there is touched."""
    from ragpress.init import make_repository

    for line in make_repository(options.folder):
        print(line, file=sys.stderr)
    return 0
