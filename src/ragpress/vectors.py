"""The vector cache: text and model to vector, so that a text is embedded once.

A sqlite file with a rollback journal: kill -9 leaves the last whole transaction, two builds share it, and at rest it
is one file that can be copied. Nothing is written when vectors are only looked up; what is used is known from the
chunks, so that pruning needs no time of last use.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ragpress.errors import BuildError, message, render
from ragpress.models import ModelFile

Stored = npt.NDArray[np.float16]
"""Vectors as they are kept and indexed. float16, because the artifact's index keeps that too: vectors taken back from a
published artifact are the same bits as those that were embedded here."""

_Result = TypeVar("_Result")

_FORMAT = 1
_APPLICATION = 0x52475056  # marks the file as this cache: `RGPV`
_BUSY_SECONDS = 60
_SCHEMA = f"""
PRAGMA page_size = 16384;
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT};
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS engines (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS seeds (stamp TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
    engine INTEGER NOT NULL, checksum INTEGER NOT NULL, vector BLOB NOT NULL
);
COMMIT;
"""
_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space",
    sqlite3.SQLITE_BUSY: f"another build has held it for {_BUSY_SECONDS} seconds; wait for that build",
    sqlite3.SQLITE_READONLY: "it cannot be written; check the permissions of the build folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the permissions of the build folder",
    sqlite3.SQLITE_IOERR: "the disk refused; check its space and health",
}


def vector_keys(file: ModelFile, texts: Iterable[str]) -> list[bytes]:
    """The cache keys of document texts: sha256, 32 bytes, over all that changes a vector's meaning.

    That is the model file's sha256, the document prefix, pooling, dimensions and the text, each after its length.
    """
    common = hashlib.sha256()
    model = file.model
    for part in (file.sha256, model.document_prefix, model.pooling, str(file.dimensions)):
        _add(common, part)
    keys = []
    for text in texts:
        one = common.copy()
        _add(one, text)
        keys.append(one.digest())
    return keys


def _add(digest: hashlib._Hash, part: str) -> None:
    data = part.encode("utf-8", "replace")
    digest.update(len(data).to_bytes(8, "little") + data)


class VectorCache:
    """An open cache; a context manager. Used by one thread.

    A damaged or foreign file is moved aside, said through `warn` (one finished line), and a new one begun. Raises
    BuildError (code `disk`) where the disk refuses.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self.path = path
        self._warn = warn
        self._suspect = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BuildError("disk", f"the folder of the vector cache cannot be made: {error.strerror}") from None
        self._connection: sqlite3.Connection | None = None
        self._guarded(self._connect)

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self._disconnect()

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Stored]:
        """The vectors that are there, each of shape (dimensions,)."""
        return self._guarded(lambda: {keys[at]: np.frombuffer(data, "<f2") for at, _, data in self._rows(keys)})

    def matrix(self, keys: Sequence[bytes], dimensions: int) -> tuple[Stored, list[int]]:
        """Shape (len(keys), dimensions) in the order of `keys`, and the positions that are missing (rows of zeros)."""

        def read() -> tuple[Stored, list[int]]:
            found = np.zeros((len(keys), dimensions), np.float16)
            absent = set(range(len(keys)))
            for at, _, data in self._rows(keys):
                found[at] = np.frombuffer(data, "<f2")
                absent.discard(at)
            return found, sorted(absent)

        return self._guarded(read)

    def missing(self, keys: Sequence[bytes], engine: str | None = None) -> list[int]:
        """Positions in `keys` without a sound vector; with `engine`, also those that another engine made."""

        def read() -> list[int]:
            present = {at for at, made_by, _ in self._rows(keys) if engine in (None, made_by)}
            return [at for at in range(len(keys)) if at not in present]

        return self._guarded(read)

    def engines(self, keys: Sequence[bytes]) -> tuple[str, ...]:
        """The engines that made these vectors, sorted; all of those of an artifact that they were taken from."""

        def read() -> tuple[str, ...]:
            names = {made_by for _, made_by, _ in self._rows(keys)}
            return tuple(sorted({name for several in names for name in several.split("\n")}))

        return self._guarded(read)

    def has_taken(self, seed: str) -> bool:
        """Whether all vectors of this artifact were put in, and none was removed since."""
        return self._guarded(
            lambda: self._database.execute("SELECT 1 FROM seeds WHERE stamp = ?", (seed,)).fetchone() is not None
        )

    def note_taken(self, seed: str) -> None:
        """Keeps in mind that all vectors of this artifact are in."""
        self._guarded(
            lambda: self._transaction(
                lambda database: database.execute("INSERT OR IGNORE INTO seeds VALUES (?)", (seed,))
            )
        )

    def put_many(self, vectors: Iterable[tuple[bytes, npt.NDArray[np.floating]]], engine: str) -> None:
        """Adds vectors of shape (dimensions,), or replaces them, in one transaction.

        `engine` names what made them; several names, a line each, where it was one of these.
        """
        rows = [(key, vector.astype("<f2").tobytes()) for key, vector in vectors]

        def write(database: sqlite3.Connection) -> None:
            if self._suspect:
                database.execute("REINDEX vectors")  # a damaged index would find another row under a key for ever
                self._suspect = False
            database.execute("INSERT OR IGNORE INTO engines (name) VALUES (?)", (engine,))
            (number,) = database.execute("SELECT id FROM engines WHERE name = ?", (engine,)).fetchone()
            database.executemany(
                "INSERT OR REPLACE INTO vectors (key, engine, checksum, vector) VALUES (?, ?, ?, ?)",
                [(key, number, _checksum(key, engine, data), data) for key, data in rows],
            )

        if rows:
            self._guarded(lambda: self._transaction(write))

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
                excess -= size + 80  # the key twice, and the row's own bytes
            database.executemany("DELETE FROM vectors WHERE id = ?", doomed)
            if doomed:
                database.execute("DELETE FROM seeds")
            return len(doomed)

        removed = self._guarded(lambda: self._transaction(remove))
        # as a script, because execute() takes a single step, which gives back a single page
        self._guarded(lambda: self._database.executescript("PRAGMA incremental_vacuum"))
        return removed

    def count(self) -> int:
        """The number of vectors."""
        return self._guarded(lambda: int(self._database.execute("SELECT count(*) FROM vectors").fetchone()[0]))

    def size(self) -> int:
        """Bytes that the cache takes, without what pruning gave free."""

        def read() -> int:
            pages, free, page = (
                self._database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
            return int((pages - free) * page)

        return self._guarded(read)

    def _rows(self, keys: Sequence[bytes]) -> Iterator[tuple[int, str, bytes]]:
        """(position, engine, vector bytes) of the sound rows; unsound ones are as if they were not there."""
        database = self._database
        database.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (at INTEGER PRIMARY KEY, key BLOB)")
        database.execute("BEGIN")
        try:
            database.execute("DELETE FROM wanted")
            database.executemany("INSERT INTO wanted VALUES (?, ?)", enumerate(keys))
            names = dict(database.execute("SELECT id, name FROM engines"))
            unsound = 0
            for at, engine, checksum, data in database.execute(
                "SELECT at, engine, checksum, vector FROM wanted CROSS JOIN vectors v ON v.key = wanted.key"
            ):
                name = names.get(engine, "")
                if isinstance(data, bytes) and _checksum(keys[at], name, data) == checksum:
                    yield at, name, data
                else:
                    unsound += 1
        finally:
            if database.in_transaction:
                database.execute("COMMIT")
        if unsound:
            self._suspect = True
            self._say(f"{unsound} vectors in {self.path.name} are damaged and are made again")

    def _transaction(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            result = work(database)
            database.execute("COMMIT")
            return result
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")

    @property
    def _database(self) -> sqlite3.Connection:
        if self._connection is None:
            raise ValueError("the vector cache is closed")
        return self._connection

    def _connect(self) -> None:
        self._disconnect()
        self._connection = database = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        database.execute("PRAGMA temp_store = MEMORY")
        database.execute("PRAGMA cache_size = -65536")
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if not tables:
            database.executescript(_SCHEMA)
        elif (application, version) != (_APPLICATION, _FORMAT) or not tables >= {"engines", "seeds", "vectors"}:
            raise _ForeignFileError("it is not a vector cache of this version")

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _guarded(self, work: Callable[[], _Result]) -> _Result:
        try:
            return work()
        except _ForeignFileError as error:
            reason = str(error)
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            if code == sqlite3.SQLITE_READONLY_DBMOVED:  # by another build that found it damaged
                self._connect()
                return work()
            if code == sqlite3.SQLITE_READONLY and os.access(self.path, os.W_OK):
                code = sqlite3.SQLITE_CORRUPT  # its header says that it was written by a later version
            if code & 0xFF in _ADVICE:
                raise BuildError("disk", f"the vector cache {self.path.name}: {_ADVICE[code & 0xFF]}") from None
            reason = str(error)  # the statements are fixed, so that whatever else fails is the file's fault
        self._move_aside(reason)
        self._connect()
        return work()

    def _move_aside(self, reason: str) -> None:
        self._disconnect()
        aside = self.path.with_name(f"{self.path.name}.damaged")
        try:
            self.path.replace(aside)
            self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)  # belongs to the moved file
        except OSError as error:
            raise BuildError("disk", f"the damaged vector cache cannot be moved aside: {error.strerror}") from None
        self._say(f"the vector cache is damaged ({reason}); it was moved to {aside.name} and begun anew")

    def _say(self, text: str) -> None:
        self._warn(render(message("warning", "bad-cache", text)))


class _ForeignFileError(Exception):
    """The file is a database, but not this cache."""


def _checksum(key: bytes, engine: str, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(key + engine.encode()))
