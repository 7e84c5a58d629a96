"""The build folder emptied: all of it can be made again, the vectors alone at a price."""

from __future__ import annotations

import shutil
from pathlib import Path

from ragpress.console import Report, plural, report
from ragpress.files import disk_error
from ragpress.repository import Repository

_CACHE = "cache"
_LOCK = ".lock"  # held while this runs


def clean_build(repository: Repository, report: Report = report, everything: bool = False) -> None:
    """Removes what is in the build folder and says what that was. The vectors stay unless `everything` goes.

    Raises BuildError where the disk refuses.
    """
    name = repository.config.build
    found = sorted(repository.build.iterdir()) if repository.build.is_dir() else []
    gone = [path for path in found if path.name != _LOCK and (everything or path.name != _CACHE)]
    for path in gone:
        shown = f"removed {name}/{path.name}{_size(path)}"
        try:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        except OSError as error:
            raise disk_error(path, error) from None
        report(shown)
    if not gone:
        report(f"ragpress: there is nothing to remove in {name}/")
    kept = repository.build / _CACHE
    if kept.exists():
        report(f"kept {name}/{_CACHE}{_size(kept)}: vectors cost time; `ragpress clean --all` removes them, too")


def _size(path: Path) -> str:
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    megabytes = sum(each.lstat().st_size for each in files) / 1e6
    counted = f"/ ({plural(len(files), 'file', 'files')}, " if path.is_dir() else " ("
    return f"{counted}{megabytes:.1f} MB)"
