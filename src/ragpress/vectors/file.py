"""The file of the vector cache: opened, guarded against damage, and replaced where it is not such a file.

A sqlite file with a rollback journal: kill -9 leaves the last whole transaction, two builds share it, and at rest it
is one file that can be copied.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ragpress.console import Report
from ragpress.errors import BuildError, message, render

_Result = TypeVar("_Result")

_FORMAT = 3
_APPLICATION = 0x52475056  # marks the file as this cache: `RGPV`
_BUSY_SECONDS = 60
_SCHEMA = f"""
PRAGMA page_size = 16384;
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT};
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS engines (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, checksum INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS seeds (stamp TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
    engine INTEGER NOT NULL, checksum INTEGER NOT NULL, vector BLOB NOT NULL
);
COMMIT;
"""
_FROM_FORMAT_2 = f"""
BEGIN IMMEDIATE;
DROP INDEX IF EXISTS marks;
ALTER TABLE vectors DROP COLUMN digest;
PRAGMA user_version = {_FORMAT};
COMMIT;
"""
_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space",
    sqlite3.SQLITE_BUSY: f"another build has held it for {_BUSY_SECONDS} seconds; wait for that build",
    sqlite3.SQLITE_READONLY: "it cannot be written; check the permissions of the build folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the permissions of the build folder",
    sqlite3.SQLITE_IOERR: "the disk refused; check its space and health",
}


class CacheFile:
    """An open file with the cache's tables. Used by one thread.

    One that is damaged or foreign is moved aside, reported in one line, and replaced by an empty one.
    Raises BuildError (code `disk`) where the disk refuses.
    """

    def __init__(self, path: Path, report: Report) -> None:
        self.path = path
        self._report = report
        self._connection: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BuildError("disk", f"the folder of the vector cache cannot be made: {error.strerror}") from None
        self.guarded(self._connect)

    @property
    def database(self) -> sqlite3.Connection:
        """The connection, in which every statement is a transaction of its own unless one is begun."""
        if self._connection is None:
            raise ValueError("the vector cache is closed")
        return self._connection

    def guarded(self, work: Callable[[], _Result]) -> _Result:
        """What `work` returns, done again with a new file where this one turns out to be damaged. Raises BuildError."""
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

    def transaction(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """What `work` returns, its statements done together or not at all."""
        database = self.database
        database.execute("BEGIN IMMEDIATE")
        try:
            result = work(database)
            database.execute("COMMIT")
            return result
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")

    def say(self, text: str) -> None:
        """A warning for the person who builds."""
        self._report(render(message("warning", "bad-cache", text)))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> None:
        self.close()
        self._connection = database = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        database.execute("PRAGMA temp_store = MEMORY")
        database.execute("PRAGMA cache_size = -65536")
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if not tables:
            database.executescript(_SCHEMA)
        elif (application, version) == (_APPLICATION, 2):
            database.executescript(_FROM_FORMAT_2)
        elif (application, version) != (_APPLICATION, _FORMAT) or not tables >= {"engines", "seeds", "vectors"}:
            raise _ForeignFileError("it is not a vector cache of this version")

    def _move_aside(self, reason: str) -> None:
        self.close()
        aside = self.path.with_name(f"{self.path.name}.damaged")
        try:
            self.path.replace(aside)
            self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)  # belongs to the moved file
        except OSError as error:
            raise BuildError("disk", f"the damaged vector cache cannot be moved aside: {error.strerror}") from None
        self.say(f"the vector cache is damaged ({reason}); it was moved to {aside.name} and an empty one begun")


class _ForeignFileError(Exception):
    """The file is a database, but not this cache."""
