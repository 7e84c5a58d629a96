"""doit's own state: a convenience that may be lost, so that nothing that happens to its file fails a build."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from doit import Globals

from ragpress.console import Report
from ragpress.errors import BuildError
from ragpress.files import file_sha256, stat_signature

_TABLE = "CREATE TABLE IF NOT EXISTS doit (task_id text NOT NULL PRIMARY KEY, task_data json)"  # as doit makes it
_BUSY_SECONDS = 3.0


def content_changed(path: str, seen: Sequence[str]) -> bool:
    """Whether a file is no longer what it was, by its content, unless nothing at all was done to it.

    `seen` are its `stat_signature` and its sha256 then.
    """
    signature, digest = seen
    if stat_signature(path) == signature:
        return False
    try:
        return file_sha256(Path(path)) != digest
    except OSError:
        return True


def state_file(folder: Path, report: Report) -> str:
    """The file of doit's state, ready to be used. One that is no intact database is put aside: doit would crash on it.

    Raises BuildError for a folder that cannot be written, and a file that another program holds.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(
            "disk", f"{folder.name}/ cannot be made: {error.strerror}; check the folder's rights"
        ) from None
    path = folder / "doit.sqlite"
    for place in (folder, path):
        if place.exists() and not os.access(place, os.W_OK):
            name = f"{folder.name}/{'' if place == folder else path.name}"
            raise BuildError("disk", f"{name} cannot be written; check the folder's rights")
    if not _is_usable(path):
        path.replace(folder / "doit.sqlite.damaged")
        report(f"ragpress: {folder.name}/{path.name} was damaged and is put aside; what was built is checked again")
        _is_usable(path)
    return str(path)


def _is_usable(path: Path) -> bool:
    """Whether it is a database with doit's table, which is made where there is none. Raises BuildError."""
    try:
        state = sqlite3.connect(path, timeout=_BUSY_SECONDS)
        try:
            state.execute(_TABLE)
            if state.execute("PRAGMA quick_check").fetchone() != ("ok",):
                return False
            # doit reads a row as JSON when it comes to its task
            broken = "SELECT count(*) FROM doit WHERE NOT json_valid(task_data)"
            return bool(state.execute(broken).fetchone() == (0,))
        finally:
            state.close()
    except sqlite3.DatabaseError as error:
        name = f"{path.parent.name}/{path.name}"
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise BuildError("disk", f"{name} is held by another program; close that, then build again") from None
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise BuildError("disk", f"{name} cannot be written: {error}; make room") from None
        return False


def forgive(report: Report) -> None:
    """Lets the running doit end well where its state cannot be written: the next build looks at everything again."""
    manager: Any = Globals.dep_manager
    remove, dump = manager.remove, manager.backend.dump
    reported = False

    def forgiving(work: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: object) -> None:
            nonlocal reported
            try:
                work(*arguments)
            except sqlite3.DatabaseError as error:
                if not reported:
                    report(f"ragpress: doit's state cannot be written ({error}); the next build looks at everything")
                reported = True

        return run

    manager.remove, manager.backend.dump = forgiving(remove), forgiving(dump)
