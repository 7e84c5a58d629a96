"""The reader's side of an artifact: open it, search it, read around a hit."""

from __future__ import annotations

import difflib
import itertools
import os
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from ragpress.artifact.format import Manifest, ModelRecord
from ragpress.artifact.index import Positions, Vector
from ragpress.artifact.jsonl import decode_document
from ragpress.artifact.read import Artifact, open_artifact
from ragpress.artifact.search import Ranked, Search
from ragpress.errors import ArtifactError
from ragpress.models.known import ModelFile, cache_folder, known_model, model_of_artifact
from ragpress.passages import passage
from ragpress.records import Chunk, ContentType, DocumentEntry, Hit
from ragpress.system import processors
from ragpress.text import normalize

if TYPE_CHECKING:
    from ragpress.embedding.embedder import Embedder

Names = str | Collection[str] | None
Mode = Literal["hybrid", "vector", "words"]
MODES: tuple[Mode, ...] = get_args(Mode)

_SHOWN_NAMES = 3


class KnowledgeBase:
    """An open artifact; a context manager. Safe from several threads.

    It goes on answering from the files it opened when a build replaces the artifact; open it again for the new one.
    """

    def __init__(self, artifact: Artifact, model_path: Path | None = None, shards: range | None = None) -> None:
        self.manifest: Manifest = artifact.manifest
        """What index.json says."""
        self._artifact: Artifact | None = artifact
        files = _files(shards, len(self.manifest.shards))
        self._rows = artifact.rows_of(files)
        self._search = Search(artifact, files)
        self._model_path = model_path
        self._embedder: Embedder | None = None
        self._facets: _Facets | None = None
        self._documents: dict[str, DocumentEntry] | None = None
        self._loading = threading.Lock()
        self._state = threading.Condition()
        self._running = 0

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        model_path: str | os.PathLike[str] | None = None,
        *,
        shards: range | None = None,
    ) -> KnowledgeBase:
        """The artifact in the folder `path`, or in the archive that `ragpress pack` made, every file checked.

        An archive is unpacked once, into the user's cache. The model is loaded at the first question that needs it:
        from `model_path` (checked now), else from the user's cache, else it is made or fetched. Raises ArtifactError
        for an artifact that is missing, damaged or of another format, ModelError for a file that is not the one that
        made the artifact.

        With `shards`, as in `range(0, 16)`, only the chunks of these index files are searched, and no other graph and
        vector is held in memory. Scores are those of the whole, so that `merge_hits` of all parts' hits gives the same
        as a search of the whole. Raises ValueError for shards that are not there.
        """
        base = cls(_open(Path(path)), Path(model_path) if model_path is not None else None, shards)
        if model_path is not None:
            _model(base.manifest.model, base._model_path)
        return base

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets files and model go once running searches are done; a later one raises ValueError."""
        with self._state:
            artifact, self._artifact = self._artifact, None
            self._state.wait_for(lambda: self._running == 0)
        if artifact is not None:
            artifact.index.close()
            artifact.words.close()
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None

    def __len__(self) -> int:
        """The number of chunks that are searched."""
        return len(self._rows)

    @contextmanager
    def _use(self) -> Iterator[Artifact]:
        with self._state:
            if self._artifact is None:
                raise ValueError("the knowledge base is closed")
            artifact = self._artifact
            self._running += 1
        try:
            yield artifact
        finally:
            with self._state:
                self._running -= 1
                self._state.notify_all()

    # -- searching ---------------------------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        k: int = 5,
        *,
        mode: Mode = "hybrid",
        sources: Names = None,
        sections: Names = None,
        content_types: Names = None,
        neighbours: int = 0,
        merge: bool = False,
        min_confidence: float | None = None,
    ) -> tuple[Hit, ...]:
        """The `k` chunks that fit a question best, best first; fewer only where there are no more.

        `hybrid` ranks by meaning and words together, `vector` by meaning alone, `words` by words alone: that needs no
        model, and finds only chunks with a word of the question. Filters keep chunks whose source, section or content
        type is the given one or among the given ones. `neighbours` adds so many chunks before and after each hit, as
        far as its source goes; with `merge`, hits that touch each other become one, so that no chunk is read twice.
        Hits below `min_confidence` (docs/retrieval.md) are left out, so that there may be none. A blank question finds
        nothing. Raises ValueError for an unknown name in a filter, ModelError where the model cannot be had or the
        question is too long for it.
        """
        if mode not in MODES:
            raise ValueError(f"there is no mode {mode!r}; use one of {', '.join(MODES)}")
        _check_counts(k, neighbours)
        text = normalize(question).strip()
        with self._use() as artifact:
            among = self._matching(artifact, sources, sections, content_types)
            if not text:
                return ()
            if mode == "words":
                found = self._search.by_words(text, k, among)
            else:
                query = np.asarray(self._loaded().embed_query(text), np.float32)
                if mode == "vector":
                    found = self._search.by_vector(query, k, among)
                else:
                    found = self._search.by_both(text, query, k, among)
            return _hits(artifact, found, neighbours, merge, min_confidence)

    def search_many(
        self,
        questions: Sequence[str],
        k: int = 5,
        *,
        mode: Mode = "hybrid",
        sources: Names = None,
        sections: Names = None,
        content_types: Names = None,
        neighbours: int = 0,
        merge: bool = False,
        min_confidence: float | None = None,
    ) -> list[tuple[Hit, ...]]:
        """`search` of each question, in their order; the machine's cores share them."""

        def ask(question: str) -> tuple[Hit, ...]:
            return self.search(
                question,
                k,
                mode=mode,
                sources=sources,
                sections=sections,
                content_types=content_types,
                neighbours=neighbours,
                merge=merge,
                min_confidence=min_confidence,
            )

        with ThreadPoolExecutor(processors()) as threads:
            return list(threads.map(ask, questions))

    def search_vector(
        self,
        vector: npt.ArrayLike,
        k: int = 5,
        *,
        sources: Names = None,
        sections: Names = None,
        content_types: Names = None,
        neighbours: int = 0,
        merge: bool = False,
        min_confidence: float | None = None,
    ) -> tuple[Hit, ...]:
        """As `search` in the mode `vector`, with the question's vector, shape (dimensions,), of any length but 0.

        Needs no model. Raises ValueError for another shape, and for numbers that are not finite.
        """
        _check_counts(k, neighbours)
        query = _unit(vector, self.manifest.model.dimensions)
        with self._use() as artifact:
            among = self._matching(artifact, sources, sections, content_types)
            return _hits(artifact, self._search.by_vector(query, k, among), neighbours, merge, min_confidence)

    def preload(self, *, mode: Mode = "hybrid") -> None:
        """Loads what the first question would load, the model included unless the mode is `words`.

        Raises ModelError where the model cannot be had: call it at start, so that this is reported then.
        """
        with self._use() as artifact:
            len(artifact.words)
            self._facets_of(artifact)
            if mode != "words":
                query = np.asarray(self._loaded().embed_query("?"), np.float32)
                self._search.by_both("?", query, 1)

    def _loaded(self) -> Embedder:
        with self._loading:
            if self._embedder is None:
                from ragpress.embedding.embedder import Embedder

                self._embedder = Embedder(_model(self.manifest.model, self._model_path))
            return self._embedder

    # -- what there is -----------------------------------------------------------------------------------------------

    def chunk(self, chunk_id: str) -> Chunk:
        """The chunk of this id. Raises KeyError."""
        with self._use() as artifact:
            row = artifact.row(chunk_id)
            if row is None:
                raise KeyError(chunk_id)
            return artifact.chunk(row)

    def document(self, source: str) -> DocumentEntry:
        """What is known of a source: title, front matter, sha256 and more. Raises ValueError for an unknown one."""
        found = self._entries()
        (name,) = _known([unicodedata.normalize("NFC", source)], found, "source")
        return found[name]

    @property
    def sources(self) -> tuple[str, ...]:
        """The paths of all sources, sorted."""
        return tuple(self._entries())

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of all sections, sorted, each once."""
        with self._use() as artifact:
            return tuple(sorted(self._facets_of(artifact).sections))

    def _entries(self) -> dict[str, DocumentEntry]:
        with self._use() as artifact, self._loading:
            if self._documents is None:
                lines = bytes(artifact.documents).splitlines()
                self._documents = {entry.source: entry for entry in map(decode_document, lines)}
            return self._documents

    def _facets_of(self, artifact: Artifact) -> _Facets:
        with self._loading:
            if self._facets is None:
                self._facets = _Facets(artifact)
            return self._facets

    def _matching(self, artifact: Artifact, sources: Names, sections: Names, content_types: Names) -> Positions | None:
        """Rows of the chunks that pass the filters, ascending; None without a filter."""
        if sources is None and sections is None and content_types is None:
            return None
        facets = self._facets_of(artifact)
        wanted = _names(sources, lambda name: unicodedata.normalize("NFC", name))
        if wanted is not None:
            _known(wanted, self._entries(), "source")
        named = _names(sections, normalize)
        if named is not None:
            _known(named, facets.sections, "section")
        types = _names(content_types, str)
        if types is not None:
            _known(types, get_args(ContentType), "content type")
        rows = facets.matching(wanted, named, types)
        return rows[(rows >= self._rows.start) & (rows < self._rows.stop)]


def merge_hits(parts: Iterable[Sequence[Hit]], k: int = 5) -> tuple[Hit, ...]:
    """The `k` best hits of one question to parts of an artifact, each asked for `k`, in the order of the whole's."""
    hits = itertools.chain.from_iterable(parts)
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id))[:k])


# -- opening ---------------------------------------------------------------------------------------------------------


def _open(path: Path) -> Artifact:
    if not path.is_file():
        return open_artifact(path)
    from ragpress.artifact.pack import unpacked

    return unpacked(path, cache_folder() / "artifacts")


def _model(wanted: ModelRecord, path: Path | None) -> ModelFile:
    known = known_model(wanted.name)
    ours = (known.query_prefix, known.document_prefix, known.pooling)
    if (wanted.query_prefix, wanted.document_prefix, wanted.pooling) != ours:
        raise ArtifactError(
            "bad-artifact",
            f"the artifact uses {wanted.name} with other prefixes or pooling than this ragpress; build it again",
        )
    return model_of_artifact(wanted.name, wanted.file, wanted.sha256, wanted.dimensions, path)


def _unit(vector: npt.ArrayLike, dimensions: int) -> Vector:
    query = np.asarray(vector, np.float64)
    if query.shape != (dimensions,):
        raise ValueError(f"the vector has the shape {query.shape}, the artifact's have ({dimensions},)")
    norm = float(np.sqrt((query * query).sum()))
    if not (np.isfinite(norm) and norm > 0):
        raise ValueError("the vector has no direction: its numbers are not finite, or all 0")
    return (query / norm).astype(np.float32)


def _files(shards: range | None, count: int) -> slice:
    if shards is None:
        return slice(None)
    if shards.step != 1 or not 0 <= shards.start < shards.stop <= count:
        raise ValueError(f"there are no shards {shards}; the artifact's are range(0, {count})")
    return slice(shards.start, shards.stop)


def _check_counts(k: int, neighbours: int) -> None:
    if k < 1 or neighbours < 0:
        raise ValueError(f"k must be 1 or more and neighbours 0 or more, not {k} and {neighbours}")


# -- filters ---------------------------------------------------------------------------------------------------------


def _names(given: Names, form: Callable[[str], str]) -> frozenset[str] | None:
    if given is None:
        return None
    return frozenset(form(name) for name in ([given] if isinstance(given, str) else given))


def _known(names: Collection[str], there: Collection[str], what: str) -> Collection[str]:
    """The names, if all are there. Raises ValueError that says which one is not, and what it may have meant."""
    for name in sorted(names):
        if name not in there:
            near = difflib.get_close_matches(name, there, _SHOWN_NAMES, 0.5) or sorted(there)[:_SHOWN_NAMES]
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "there is none"
            raise ValueError(f"there is no {what} {name!r}; {hint}")
    return names


class _Facets:
    """Source, section and content type of every chunk, as numbers by row; made when they are first asked for."""

    def __init__(self, artifact: Artifact) -> None:
        count = artifact.manifest.counts.chunks
        self._numbers: tuple[dict[str, int], ...] = ({}, {}, {})
        self._columns = np.empty((3, count), np.int32)
        for row in range(count):
            chunk = artifact.chunk(row)
            for column, value in enumerate((chunk.source, chunk.section, chunk.content_type)):
                numbers = self._numbers[column]
                self._columns[column, row] = numbers.setdefault(value, len(numbers))

    @property
    def sections(self) -> Collection[str]:
        return self._numbers[1]

    def matching(self, *filters: frozenset[str] | None) -> Positions:
        keep = np.ones(self._columns.shape[1], bool)
        for column, numbers, wanted in zip(self._columns, self._numbers, filters, strict=True):
            if wanted is not None:
                keep &= np.isin(column, [numbers[name] for name in wanted if name in numbers])
        return np.flatnonzero(keep)


# -- around a hit ----------------------------------------------------------------------------------------------------


def _hits(
    artifact: Artifact, found: Sequence[Ranked], neighbours: int, merge: bool, min_confidence: float | None
) -> tuple[Hit, ...]:
    trusted = [one for one in found if min_confidence is None or one.confidence >= min_confidence]
    hits = [_hit(artifact, one, neighbours) for one in trusted]
    return _merged(artifact, hits) if merge else tuple(hits)


def _hit(artifact: Artifact, found: Ranked, neighbours: int) -> Hit:
    chunk = artifact.chunk(found.row)
    before = _follow(artifact, chunk, neighbours, lambda one: one.previous_chunk_id)[::-1]
    after = _follow(artifact, chunk, neighbours, lambda one: one.next_chunk_id)
    return Hit(
        chunk=chunk,
        score=found.score,
        cosine=found.cosine,
        word_score=found.word_score,
        confidence=found.confidence,
        neighbours=(*before, *after),
        passage=passage((*before, chunk, *after)),
    )


def _merged(artifact: Artifact, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits, those whose chunks overlap or follow each other as one, in the place of the best of them."""
    places: dict[int, Chunk] = {}
    for hit in hits:
        for chunk in (hit.chunk, *hit.neighbours):
            row = artifact.row(chunk.chunk_id)
            if row is not None:
                places[int(artifact.offsets.starts[row])] = chunk
    runs: list[list[Chunk]] = []
    for _, chunk in sorted(places.items()):
        if runs and runs[-1][-1].next_chunk_id == chunk.chunk_id:
            runs[-1].append(chunk)
        else:
            runs.append([chunk])
    run_of = {chunk.chunk_id: number for number, run in enumerate(runs) for chunk in run}
    best: dict[int, Hit] = {}
    for hit in hits:
        best.setdefault(run_of[hit.chunk.chunk_id], hit)
    return tuple(
        replace(hit, neighbours=tuple(one for one in runs[number] if one != hit.chunk), passage=passage(runs[number]))
        for number, hit in best.items()
    )


def _follow(opened: Artifact, chunk: Chunk, count: int, pointer: Callable[[Chunk], str | None]) -> list[Chunk]:
    found: list[Chunk] = []
    while len(found) < count and (name := pointer(chunk)) is not None:
        row = opened.row(name)
        if row is None:
            raise ArtifactError("bad-artifact", f"a chunk points at {name}, which is missing; build the artifact again")
        chunk = opened.chunk(row)
        found.append(chunk)
    return found
