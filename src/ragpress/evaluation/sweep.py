"""Retrieval under other chunking settings, without touching the artifact: a row a combination."""

from __future__ import annotations

import difflib
import itertools
import time
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from ragpress.artifact.index import Vector
from ragpress.artifact.search import top
from ragpress.config import Config, parse_config
from ragpress.console import Report, report
from ragpress.embedding.embedder import Embedder
from ragpress.errors import BuildError, SourceError
from ragpress.evaluation.cases import Case
from ragpress.evaluation.measuring import DEPTH, Figures, ask, figures, judge
from ragpress.evaluation.tables import HEADS, aligned, cells
from ragpress.lexical.fusion import Spread, sample_rows
from ragpress.lexical.postings import build_postings
from ragpress.lexical.scoring import WordFile, WordIndex
from ragpress.models.known import ModelFile, resolve
from ragpress.models.selection import selected_name
from ragpress.pipeline.chunk import compile_file, read_source
from ragpress.pipeline.embed import embed_missing
from ragpress.pipeline.pool import Pool
from ragpress.pipeline.results import Compiled, Outcome, failure
from ragpress.records import Chunk, Hit
from ragpress.repository import Repository
from ragpress.sources import SourceFile, find_sources
from ragpress.text import normalize
from ragpress.vectors.cache import Stored, VectorCache
from ragpress.vectors.digests import vector_keys

Setting = int | bool | str

SWEPT = (
    "max_tokens",
    "min_tokens",
    "overlap_sentences",
    "strategy",
    "breakpoint_percentile",
    "extra_h1",
    "detect_qa",
)
"""The settings that decide how a text is cut."""

_CANDIDATES = 4 * DEPTH  # by matrix product, whose last bits depend on the CPU; scored one by one afterwards


class SweepRow(msgspec.Struct, frozen=True, kw_only=True):
    """One combination. `seconds` are for reading, chunking and embedding what the vector cache did not have."""

    settings: dict[str, Setting]
    chunks: int
    figures: Figures
    seconds: float


def parse_sweep(arguments: Sequence[str], config: Config) -> list[dict[str, Setting]]:
    """Every combination of `name=value,value` arguments, the last name varying fastest.

    Raises BuildError that names an unknown setting, a value that it cannot have, or two that exclude each other.
    """
    choices: dict[str, list[Setting]] = {}
    for argument in arguments:
        name, _, values = argument.partition("=")
        if name not in SWEPT:
            close = difflib.get_close_matches(name, SWEPT, 1)
            hint = f"did you mean `{close[0]}`?" if close else f"use {', '.join(SWEPT)}, as in max_tokens=128,256"
            raise BuildError("bad-setting", f"--sweep has no setting `{name}`; {hint}")
        if name in choices:
            raise BuildError("bad-setting", f"--sweep: `{name}` is given twice; give all its values at once")
        choices[name] = list(dict.fromkeys(_value(name, text) for text in values.split(",")))
    found = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
    for settings in found:
        with_settings(config, settings)
    return found


def _value(name: str, text: str) -> Setting:
    kind = next(field.type for field in msgspec.structs.fields(Config) if field.name == name)
    try:
        value: Setting = msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BuildError("bad-setting", f"--sweep: {name}={text}: {error}") from None
    return value


def with_settings(config: Config, settings: dict[str, Setting]) -> Config:
    """The configuration with these settings. Raises BuildError where they exclude each other."""
    try:
        return parse_config({**msgspec.structs.asdict(config), **settings})
    except BuildError as error:
        raise BuildError("bad-setting", f"--sweep: {error.message.text.removeprefix('pyproject.toml: ')}") from None


def sweep(
    repository: Repository, cases: Sequence[Case], combinations: Sequence[dict[str, Setting]], report: Report = report
) -> Iterator[SweepRow]:
    """A row a combination: the repository's sources cut with these settings, and searched as an artifact is.

    Questions without an answer are left out. Vectors are taken from the build folder's cache and put into it; nothing
    else in the build folder is touched.
    """
    cases = [case for case in cases if not case.unanswerable]
    file = resolve(repository.config, repository.root, selected=selected_name(repository), report=report)
    with Embedder(file) as embedder:
        texts = [normalize(case.question).strip() for case in cases]
        queries = ask(cases, lambda case: embedder.embed_query(normalize(case.question).strip()))
    for settings in combinations:
        begin = time.perf_counter()
        changed = msgspec.structs.replace(repository, config=with_settings(repository.config, settings))
        chunks = sorted(_chunks(changed, report), key=lambda chunk: chunk.chunk_id)  # the order of an artifact's rows
        vectors = _vectors(changed, file, chunks, report)
        seconds = time.perf_counter() - begin
        words = WordIndex([WordFile("words", build_postings([chunk.text for chunk in chunks]))])
        hits = [rank(text, query, chunks, vectors, words) for text, query in zip(texts, queries, strict=True)]
        ranks = [result.rank for result in judge(cases, hits, lambda: ())]
        yield SweepRow(settings=settings, chunks=len(chunks), figures=figures(ranks), seconds=round(seconds, 1))


def _chunks(repository: Repository, report: Report) -> Iterator[Chunk]:
    with Pool(repository, report) as pool:

        def compile_one(source: SourceFile) -> Outcome:
            try:
                data = read_source(source.path, source.source)
            except SourceError as error:
                return failure(error, source.source)
            return compile_file(repository, source.source, data, pool, report)

        for outcome in pool.map(compile_one, find_sources(repository)):
            if isinstance(outcome, Compiled):
                yield from outcome.chunks
            elif repository.config.on_error == "skip":
                report(f"{outcome.error()} - left out")
            else:
                raise outcome.error()


def _vectors(repository: Repository, file: ModelFile, chunks: Sequence[Chunk], report: Report) -> Stored:
    with VectorCache(repository.vectors, report) as cache:
        embed_missing(repository, cache, {chunk.text: chunk for chunk in chunks}, file, report)
        vectors, absent = cache.matrix(vector_keys(file, (chunk.text for chunk in chunks)), file.dimensions)
    if absent:
        raise BuildError("embedding", "vectors vanished from the cache, another build pruned it; run this again")
    return vectors


def rank(text: str, query: Vector, chunks: Sequence[Chunk], vectors: Stored, words: WordIndex) -> tuple[Hit, ...]:
    """The hits that an artifact of these chunks (ordered by id; vectors and words of the same order) would give."""
    rough = (vectors.astype(np.float32) @ query).astype(np.float64)
    spread = Spread.of(rough[sample_rows(len(chunks))])
    word_scores = words.scores(text)
    rows = np.sort(top(spread.fused(rough, word_scores), _CANDIDATES))
    candidates = vectors[rows].astype(np.float64)
    # Element by element and then row by row, as the index does: equal vectors get equal scores.
    norms = np.maximum(np.sqrt((candidates * candidates).sum(axis=1)), 1e-12)
    scores = spread.fused((candidates * query.astype(np.float64)).sum(axis=1) / norms, word_scores[rows])
    best = np.lexsort((rows, -scores))[:DEPTH]
    return tuple(Hit(chunk=chunks[int(rows[place])], score=float(scores[place])) for place in best)


def sweep_table(rows: Sequence[SweepRow]) -> list[str]:
    """The rows for a person."""
    lines = [(*row.settings, "chunks", *HEADS[1:], "seconds", "") for row in rows[:1]]
    for row in rows:
        shown = [str(value).lower() for value in row.settings.values()]
        lines.append((*shown, str(row.chunks), *cells(row.figures)[1:], f"{row.seconds:.1f}", ""))
    return aligned(lines)
