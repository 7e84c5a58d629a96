"""The vector cache: text and model to vector, so that a text is embedded once.

Nothing is written when vectors are only looked up; what is used is known from the chunks, so that pruning needs no
time of last use.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ragpress.console import Report
from ragpress.vectors.digests import row_checksum, vector_digest
from ragpress.vectors.file import CacheFile

Stored = npt.NDArray[np.float16]
"""Vectors as they are kept and indexed. float16, because the artifact's index keeps that too: vectors taken back from a
published artifact are the same bits as those that were embedded here."""

_NAME_ENGINE = """INSERT INTO engines (name, checksum) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum"""


class VectorCache:
    """An open cache; a context manager. Used by one thread.

    A damaged or foreign file is moved aside, reported in one line, and replaced by an empty one. Raises
    BuildError (code `disk`) where the disk refuses.
    """

    def __init__(self, path: Path, report: Report) -> None:
        self._file = CacheFile(path, report)
        self._suspect = False

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def matrix(self, keys: Sequence[bytes], dimensions: int) -> tuple[Stored, list[int]]:
        """Shape (len(keys), dimensions) in the order of `keys`, and the positions that are missing (rows of zeros)."""

        def read() -> tuple[Stored, list[int]]:
            found = np.zeros((len(keys), dimensions), np.float16)
            absent = set(range(len(keys)))
            for at, _, data in self._rows(keys):
                found[at] = np.frombuffer(data, "<f2")
                absent.discard(at)
            return found, sorted(absent)

        return self._file.guarded(read)

    def missing(self, keys: Sequence[bytes], engine: str | None = None) -> list[int]:
        """Positions in `keys` without a sound vector; with `engine`, also those that another engine made."""

        def read() -> list[int]:
            present = {at for at, made_by, _ in self._rows(keys) if engine in (None, made_by)}
            return [at for at in range(len(keys)) if at not in present]

        return self._file.guarded(read)

    def digests(self, keys: Sequence[bytes]) -> tuple[npt.NDArray[np.uint64], tuple[str, ...]]:
        """The `vector_digest` of each vector, 0 where there is none; and all engines that may have made one, sorted."""

        def read() -> tuple[npt.NDArray[np.uint64], tuple[str, ...]]:
            found = np.zeros(len(keys), np.uint64)
            makers: set[str] = set()
            for at, engine, data in self._rows(keys):
                found[at] = vector_digest(data)
                makers.add(engine)
            return found, tuple(sorted({name for maker in makers for name in maker.split("\n")}))

        return self._file.guarded(read)

    def has_taken(self, seed: str) -> bool:
        """Whether all vectors of this artifact were put in, and none was removed since."""
        return self._file.guarded(
            lambda: self._file.database.execute("SELECT 1 FROM seeds WHERE stamp = ?", (seed,)).fetchone() is not None
        )

    def note_taken(self, seed: str) -> None:
        """Keeps in mind that all vectors of this artifact are in."""
        self._file.guarded(
            lambda: self._file.transaction(
                lambda database: database.execute("INSERT OR IGNORE INTO seeds VALUES (?)", (seed,))
            )
        )

    def put_many(self, vectors: Iterable[tuple[bytes, npt.NDArray[np.floating]]], engine: str) -> None:
        """Adds vectors of shape (dimensions,), or replaces them, in one transaction.

        `engine` names what made them; several names, a line each, where it was one of these.
        """
        halves = [(key, vector.astype("<f2").tobytes()) for key, vector in vectors]

        def write(database: sqlite3.Connection) -> None:
            if self._suspect:
                database.execute("REINDEX vectors")  # a damaged index would find another row under a key for ever
                self._suspect = False
            named = (engine, crc32(engine.encode()))
            database.execute(_NAME_ENGINE, named)
            (number,) = database.execute("SELECT id FROM engines WHERE name = ?", (engine,)).fetchone()
            database.executemany(
                "INSERT OR REPLACE INTO vectors (key, engine, checksum, vector) VALUES (?, ?, ?, ?)",
                [(key, number, row_checksum(key, engine, data), data) for key, data in halves],
            )

        if halves:
            self._file.guarded(lambda: self._file.transaction(write))

    def prune(self, keep: Iterable[bytes], max_bytes: int = 0) -> int:
        """Removes vectors that are not in `keep`, the oldest first, until the file is no larger. Returns how many."""
        kept = set(keep)

        def remove(database: sqlite3.Connection) -> int:
            rows = database.execute("SELECT id, key, coalesce(length(vector), 0) FROM vectors ORDER BY id")
            unused = [(number, size) for number, key, size in rows if key not in kept]
            excess = self.size() - max_bytes
            doomed = []
            for number, size in unused:
                if excess <= 0:
                    break
                doomed.append((number,))
                excess -= size + 90  # the key twice, and the row's own bytes
            database.executemany("DELETE FROM vectors WHERE id = ?", doomed)
            if doomed:
                database.execute("DELETE FROM seeds")
            return len(doomed)

        removed = self._file.guarded(lambda: self._file.transaction(remove))
        # as a script, because execute() takes a single step, which gives back a single page
        self._file.guarded(lambda: self._file.database.executescript("PRAGMA incremental_vacuum"))
        return removed

    def count(self) -> int:
        """The number of vectors."""
        return self._file.guarded(
            lambda: int(self._file.database.execute("SELECT count(*) FROM vectors").fetchone()[0])
        )

    def size(self) -> int:
        """Bytes that the cache takes, without what pruning gave free."""

        def read() -> int:
            pages, free, page = (
                self._file.database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
            return int((pages - free) * page)

        return self._file.guarded(read)

    def _engines(self) -> dict[int, str]:
        """Those of which the name is as it was written."""
        rows = self._file.database.execute("SELECT id, name, checksum FROM engines")
        return {number: name for number, name, checksum in rows if crc32(str(name).encode()) == checksum}

    def _want(self, keys: Sequence[bytes]) -> None:
        """Puts keys with their positions into a table of this connection's own, to be joined with."""
        database = self._file.database
        database.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (at INTEGER PRIMARY KEY, key BLOB)")
        database.execute("DELETE FROM wanted")
        database.executemany("INSERT INTO wanted VALUES (?, ?)", enumerate(keys))

    def _rows(self, keys: Sequence[bytes]) -> Iterator[tuple[int, str, bytes]]:
        """(position, engine, vector bytes) of the sound rows; unsound ones are as if they were not there."""
        database = self._file.database
        database.execute("BEGIN")
        try:
            self._want(keys)
            names = self._engines()
            unsound = 0
            for at, engine, checksum, data in database.execute(
                "SELECT at, engine, checksum, vector FROM wanted CROSS JOIN vectors v ON v.key = wanted.key"
            ):
                name = names.get(engine, "")
                if isinstance(data, bytes) and row_checksum(keys[at], name, data) == checksum:
                    yield at, name, data
                else:
                    unsound += 1
        finally:
            if database.in_transaction:
                database.execute("COMMIT")
        if unsound:
            self._suspect = True
            self._file.say(f"{unsound} vectors in {self._file.path.name} are damaged and are made again")
