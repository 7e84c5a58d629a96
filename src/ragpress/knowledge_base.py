"""The reader's side of an artifact: open it, search it, read around a hit."""

from __future__ import annotations

import itertools
import os
import re
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragpress.artifact.format import Manifest, ModelRecord
from ragpress.artifact.index import Positions, Vector
from ragpress.artifact.read import Artifact, open_artifact
from ragpress.errors import ArtifactError
from ragpress.models.known import ModelFile, known_model, model_of_artifact
from ragpress.records import Chunk, Hit
from ragpress.text import normalize

if TYPE_CHECKING:
    from ragpress.embedding.embedder import Embedder

_HEADING = re.compile("(#{1,6}) ")

Names = str | Collection[str] | None


class KnowledgeBase:
    """An open artifact; a context manager. Safe from several threads.

    It goes on answering from the files it opened when a build replaces the artifact; open it again for the new one.
    """

    def __init__(self, opened: Artifact, model_path: Path | None = None) -> None:
        self.manifest: Manifest = opened.manifest
        """What index.json says."""
        self._opened: Artifact | None = opened
        self._model_path = model_path
        self._embedder: Embedder | None = None
        self._facets: _Facets | None = None
        self._loading = threading.Lock()
        # usearch's working memory of a search belongs to a thread's number, and each caller's thread is its number 0
        self._searching = threading.Lock()
        self._state = threading.Condition()
        self._running = 0

    @classmethod
    def open(cls, path: str | os.PathLike[str], model_path: str | os.PathLike[str] | None = None) -> KnowledgeBase:
        """The artifact in the folder `path`, every file checked against index.json.

        The model is loaded at the first question: from `model_path` (checked now), else from the user's cache, else it
        is made or fetched. Raises ArtifactError for an artifact that is missing, damaged or of another format,
        ModelError for a file that is not the one that made the artifact.
        """
        base = cls(open_artifact(Path(path)), Path(model_path) if model_path is not None else None)
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
            opened, self._opened = self._opened, None
            self._state.wait_for(lambda: self._running == 0)
        if opened is not None:
            opened.index.close()
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None

    def __len__(self) -> int:
        return self.manifest.counts.chunks

    @contextmanager
    def _use(self) -> Iterator[Artifact]:
        with self._state:
            if self._opened is None:
                raise ValueError("the knowledge base is closed")
            opened = self._opened
            self._running += 1
        try:
            yield opened
        finally:
            with self._state:
                self._running -= 1
                self._state.notify_all()

    def search(
        self,
        question: str,
        k: int = 5,
        *,
        sources: Names = None,
        sections: Names = None,
        content_types: Names = None,
        neighbours: int = 0,
    ) -> tuple[Hit, ...]:
        """The `k` chunks nearest to a question, best first; fewer only where there are no more.

        Filters keep chunks whose source, section or content type is the given one or among the given ones.
        `neighbours` adds so many chunks before and after each hit, as far as its source goes. A blank question finds
        nothing. Raises ModelError where the model cannot be had or the question is too long for it.
        """
        text = normalize(question).strip()
        if not text:
            return ()
        with self._use():
            vector = self._loaded().embed_query(text)
        return self.search_vector(
            vector, k, sources=sources, sections=sections, content_types=content_types, neighbours=neighbours
        )

    def search_vector(
        self,
        vector: npt.ArrayLike,
        k: int = 5,
        *,
        sources: Names = None,
        sections: Names = None,
        content_types: Names = None,
        neighbours: int = 0,
    ) -> tuple[Hit, ...]:
        """As `search`, with the question's vector, shape (dimensions,), of any length but 0. Needs no model.

        Raises ValueError for another shape, and for numbers that are not finite.
        """
        if k < 1 or neighbours < 0:
            raise ValueError(f"k must be 1 or more and neighbours 0 or more, not {k} and {neighbours}")
        query = _unit(vector, self.manifest.model.dimensions)
        with self._use() as opened:
            among = self._matching(opened, sources, sections, content_types)
            with self._searching:
                found = opened.index.nearest(query, k, among)
            return tuple(_hit(opened, row, score, neighbours) for row, score in found)

    def chunk(self, chunk_id: str) -> Chunk:
        """The chunk of this id. Raises KeyError."""
        with self._use() as opened:
            row = opened.row(chunk_id)
            if row is None:
                raise KeyError(chunk_id)
            return opened.chunk(row)

    def _loaded(self) -> Embedder:
        with self._loading:
            if self._embedder is None:
                from ragpress.embedding.embedder import Embedder

                self._embedder = Embedder(_model(self.manifest.model, self._model_path))
            return self._embedder

    def _matching(self, opened: Artifact, sources: Names, sections: Names, content_types: Names) -> Positions | None:
        """Positions of the chunks that pass the filters, ascending; None without a filter."""
        if sources is None and sections is None and content_types is None:
            return None
        with self._loading:
            if self._facets is None:
                self._facets = _Facets(opened)
        return self._facets.matching(
            _names(sources, lambda name: unicodedata.normalize("NFC", name)),
            _names(sections, normalize),
            _names(content_types, str),
        )


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


def _names(given: Names, form: Callable[[str], str]) -> frozenset[str] | None:
    if given is None:
        return None
    return frozenset(form(name) for name in ([given] if isinstance(given, str) else given))


class _Facets:
    """Source, section and content type of every chunk, as numbers by row; made when a filter is first used."""

    def __init__(self, opened: Artifact) -> None:
        count = opened.manifest.counts.chunks
        self._numbers: tuple[dict[str, int], ...] = ({}, {}, {})
        self._columns = np.empty((3, count), np.int32)
        for row in range(count):
            chunk = opened.chunk(row)
            for column, value in enumerate((chunk.source, chunk.section, chunk.content_type)):
                numbers = self._numbers[column]
                self._columns[column, row] = numbers.setdefault(value, len(numbers))

    def matching(self, *filters: frozenset[str] | None) -> Positions:
        keep = np.ones(self._columns.shape[1], bool)
        for column, numbers, wanted in zip(self._columns, self._numbers, filters, strict=True):
            if wanted is not None:
                keep &= np.isin(column, [numbers[name] for name in wanted if name in numbers])
        return np.flatnonzero(keep)


# -- around a hit ----------------------------------------------------------------------------------------------------


def _hit(opened: Artifact, row: int, score: float, neighbours: int) -> Hit:
    chunk = opened.chunk(row)
    before = _follow(opened, chunk, neighbours, lambda one: one.previous_chunk_id)[::-1]
    after = _follow(opened, chunk, neighbours, lambda one: one.next_chunk_id)
    return Hit(chunk=chunk, score=score, neighbours=(*before, *after), passage=passage((*before, chunk, *after)))


def _follow(opened: Artifact, chunk: Chunk, count: int, pointer: Callable[[Chunk], str | None]) -> list[Chunk]:
    found: list[Chunk] = []
    while len(found) < count and (name := pointer(chunk)) is not None:
        row = opened.row(name)
        if row is None:
            raise ArtifactError("bad-artifact", f"a chunk points at {name}, which is missing; build the artifact again")
        chunk = opened.chunk(row)
        found.append(chunk)
    return found


def passage(chunks: Sequence[Chunk]) -> str:
    """The texts of consecutive chunks as one: the first whole, of the others what is new, below its headings."""
    text = ""
    open_lines: tuple[str, ...] = ()
    for chunk in chunks:
        piece = chunk.text
        if text:
            missing = [line for line in _headings(chunk) if line not in open_lines]
            piece = "\n".join([*missing, chunk.text[chunk.context_chars :]])
        open_lines = _open_after(open_lines, piece)
        text += _gap(text, piece) + piece
    return text


def _headings(chunk: Chunk) -> list[str]:
    """The heading lines at the top of a chunk's context; the rest of it repeats what stands before the chunk."""
    lines = (line for line in chunk.text[: chunk.context_chars].splitlines() if line)
    return list(itertools.takewhile(_HEADING.match, lines))


def _open_after(lines: tuple[str, ...], text: str) -> tuple[str, ...]:
    for line in text.splitlines():
        if found := _HEADING.match(line):
            lines = (*(one for one in lines if _level(one) < len(found[1])), line)
    return lines


def _level(line: str) -> int:
    return len(line) - len(line.lstrip("#"))


def _gap(before: str, piece: str) -> str:
    if not before:
        return ""
    rows = piece.startswith("|") and before.rsplit("\n", 1)[-1].startswith("|")
    return "\n" if rows else "\n\n"  # rows of one table stay together
