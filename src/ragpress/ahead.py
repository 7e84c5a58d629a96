"""Loads the model in a thread while sources are read, so that the stages that need it do not wait for it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragpress.choice import read_choice
from ragpress.repository import Repository, source_stamp

if TYPE_CHECKING:
    from ragpress.engine import Weights


class _Loaded(NamedTuple):
    path: Path
    stamp: str
    weights: Weights


_loading: list[Future[_Loaded | None]] = []


def load_ahead(repository: Repository) -> None:
    """Begins to load the model that the last build used, if its file is on this machine."""
    choice = read_choice(repository)
    if choice is None or not choice.sha256 or _loading:
        return
    threads = ThreadPoolExecutor(1)
    _loading.append(threads.submit(_load, repository, choice.name))
    threads.shutdown(wait=False)


def _load(repository: Repository, name: str) -> _Loaded | None:
    from ragpress.engine import Weights
    from ragpress.models import at_hand

    path = at_hand(repository.config, repository.root, name)
    return _Loaded(path, source_stamp(path), Weights(path, vocab_only=False)) if path else None


def loaded_ahead(path: Path) -> Weights | None:
    """The weights of this file, for one use, if they were loaded ahead. Raises ModelError as loading does."""
    found = _loading.pop().result() if _loading else None
    if found is None:
        return None
    if (found.path, found.stamp) == (path, source_stamp(path)):
        return found.weights
    found.weights.close()
    return None
