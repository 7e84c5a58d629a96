"""Loads the model in a thread while sources are read, and counts the tokens of a few sources with it.

Most of the time goes into its vocabulary. A reading process would load the same once more, and two at a time take
nearly as long as one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragpress.errors import ModelError
from ragpress.files import stat_signature
from ragpress.models.known import at_hand
from ragpress.models.selection import read_choice, sticky_name
from ragpress.repository import Repository

if TYPE_CHECKING:
    from ragpress.embedding.llama import Weights

_loading: dict[tuple[Path, str], Future[Weights]] = {}  # by path and stamp of the file; one at most


def load_ahead(repository: Repository) -> None:
    """Begins to load the model that the last build used, if its file is on this machine."""
    choice = read_choice(repository)
    if choice is None or not choice.sha256 or choice.name != sticky_name(repository) or _loading:
        return
    path = None
    with suppress(ModelError):  # who needs the model says so
        path = at_hand(repository.config, repository.root, choice.name)
    if path is not None:
        from ragpress.embedding.llama import begin

        begin()  # here, since two threads of Python take turns; loading itself needs none
        threads = ThreadPoolExecutor(1)
        _loading[path, stat_signature(path)] = threads.submit(_load, path)
        threads.shutdown(wait=False)


def _load(path: Path) -> Weights:
    from ragpress.embedding.llama import Weights

    return Weights(path, vocab_only=False)


def counting_ahead(path: Path, prefix: str) -> Callable[[str], int] | None:
    """What counts tokens as `TokenCounter` does, if this file is the one that is being loaded. Raises ModelError."""
    loading = _loading.get((path, stat_signature(path)))
    if loading is None:
        return None
    from ragpress.embedding.embedder import TokenCounter

    counters: list[TokenCounter] = []

    def count(text: str) -> int:
        if not counters:
            counters.append(TokenCounter(path, prefix, loading.result()))
        return counters[0](text)

    return count


def loaded_ahead(path: Path) -> Weights | None:
    """The weights of this file, for one use, if they were loaded ahead. Raises ModelError as loading does."""
    loading = _loading.pop((path, stat_signature(path)), None)
    return loading.result() if loading else None
