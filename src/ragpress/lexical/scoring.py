"""How well chunks answer a question by its words: BM25 as a share of the most that the question can reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ragpress.lexical.postings import Data, Postings, check_postings, read_postings, word_code
from ragpress.lexical.words import words

K1 = 1.2
B = 0.75

_ALL = slice(None)

Scores = npt.NDArray[np.float64]


class WordFile(NamedTuple):
    """A word file's bytes, or a map of them."""

    name: str
    data: Data


class WordIndex:
    """The words of all chunks. A row is a chunk's rank among all chunk ids, over the files in their order.

    Files are looked into at the first question. Safe from several threads. Raises ArtifactError for a
    file that is none.
    """

    def __init__(self, files: Sequence[WordFile]) -> None:
        self._files = tuple(files)
        self._opened: _Opened | None = None

    def _open(self) -> _Opened:
        if self._opened is None:
            self._opened = _Opened([read_postings(file.name, file.data) for file in self._files])
        return self._opened

    def __len__(self) -> int:
        return len(self._open().lengths)

    def scores(self, question: str, files: slice = _ALL) -> Scores:
        """Of each row, 0 to 1: the BM25 of the question's distinct words, divided by their sum of idf · (k1 + 1).

        idf = ln(1 + (N - n + 1/2) / (n + 1/2)), of n among N chunks. A word that no chunk has counts in the divisor.
        Rows of other than these `files` score 0; n and N are those of all.
        """
        opened = self._open()
        scores = np.zeros(len(opened.lengths))
        codes = np.array(sorted({word_code(word) for word in words(question)}), np.uint64)
        if not len(codes) or not len(scores):
            return scores
        places, term, rows, counts = opened.entries(codes, files)
        present = opened.present(codes)
        idf = np.log1p((len(scores) - present + 0.5) / (present + 0.5))
        if not len(rows):
            return scores
        weights = np.repeat(idf[term], places)
        frequency = counts.astype(np.float64)
        scores += np.bincount(rows, weights * frequency / (frequency + opened.norms[rows]), len(scores))
        return scores / float(idf.sum())

    def check(self) -> None:
        """Raises ArtifactError where a file's columns do not fit each other."""
        for file, postings in zip(self._files, self._open().parts, strict=True):
            check_postings(file.name, postings)

    def sizes(self) -> list[int]:
        """The number of rows in each file."""
        return [len(part.lengths) for part in self._open().parts]

    def close(self) -> None:
        """Lets the files go; no search may be running, and none may follow."""
        self._opened = None
        self._files = ()


class _Entries(NamedTuple):
    """Runs of entries, all in a row: how many each has, of which word of the question, and their rows and counts."""

    sizes: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    counts: npt.NDArray[np.uint8]


class _Opened:
    """All files' columns, and what BM25 adds to a word's count by the length of its chunk."""

    def __init__(self, parts: Sequence[Postings]) -> None:
        self.parts = tuple(parts)
        self.lengths = np.concatenate([part.lengths for part in parts]).astype(np.float64)
        mean = max(float(self.lengths.mean()), 1.0) if len(self.lengths) else 1.0
        self.norms = K1 * (1 - B + B * self.lengths / mean)
        self._firsts = np.cumsum([0, *(len(part.lengths) for part in parts)])

    def present(self, codes: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
        """How many rows have each word."""
        found = np.zeros(len(codes))
        for part in self.parts:
            here, begins, ends = _places(part, codes)
            found[here] += ends - begins
        return found

    def entries(self, codes: npt.NDArray[np.uint64], files: slice) -> _Entries:
        """The entries of the words in these files."""
        sizes: list[int] = []
        terms: list[int] = []
        firsts: list[int] = []
        rows, counts = [], []
        for first, part in zip(self._firsts[:-1][files].tolist(), self.parts[files], strict=True):
            for term, begin, end in zip(*(each.tolist() for each in _places(part, codes)), strict=True):
                rows.append(part.rows[begin:end])
                counts.append(part.counts[begin:end])
                sizes.append(end - begin)
                terms.append(term)
                firsts.append(first)
        runs = np.array(sizes, np.int64)
        if not rows:
            return _Entries(runs, np.array(terms, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8))
        places = np.concatenate(rows).astype(np.int64) + np.repeat(np.array(firsts, np.int64), runs)
        return _Entries(runs, np.array(terms, np.int64), places, np.concatenate(counts))


def _places(part: Postings, codes: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], ...]:
    """Of the words that a file has: their places in `codes`, and where their entries begin and end."""
    if not len(part.codes):
        none = np.empty(0, np.int64)
        return none, none, none
    found = np.minimum(np.searchsorted(part.codes, codes), len(part.codes) - 1)
    here = np.flatnonzero(part.codes[found] == codes)
    return here, part.starts[found[here]].astype(np.int64), part.starts[found[here] + 1].astype(np.int64)
