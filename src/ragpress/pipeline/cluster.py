"""An executor on a Dask cluster. The only importer of distributed.

Dask schedules, and gives the work of a worker that was lost to another. Here a worker is checked before it works, gets
a model's file if it has none, and what goes wrong becomes one line.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
import multiprocessing
import platform
import re
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

from ragpress import __version__
from ragpress.console import Report, plural
from ragpress.errors import BuildError, ClusterError
from ragpress.models.remote import MissingFileError, RemoteFile, find_file, keep_file
from ragpress.pipeline.workers import Workers
from ragpress.repository import tool_fingerprint

_CONNECT = 10  # seconds to wait for a scheduler
_WORKERS = 60  # seconds to wait for the first worker
_LOOK = 2.0  # seconds between two looks at how many workers there are
_SETTINGS = {
    "distributed.admin.large-graph-warning-threshold": "1 TiB",  # a unit may be one large source
    "distributed.diagnostics.computations.nframes": 0,  # no code of ours is sent along to be shown
    "distributed.comm.timeouts.connect": _CONNECT,
}
_HERE = "or set RAGPRESS_CLUSTER= to build on this machine alone"

Versions = dict[str, str]
_P = ParamSpec("_P")
_T = TypeVar("_T")


class Cluster(Workers):
    """The workers of the Dask cluster at an address, which is connected to when it is first needed. Thread-safe.

    `submit` takes functions of this package alone. A future ends with a ClusterError where the cluster cannot go on.
    """

    def __init__(self, address: str, report: Report) -> None:
        self._address = address
        self._report = report
        self._connecting = threading.Lock()
        self._sending = threading.Lock()
        self._sent: dict[RemoteFile, Any] = {}
        self._kept: set[tuple[RemoteFile, str]] = set()
        self._client: Any = None
        self._executor: Any = None
        self._slots = 0
        self._ended = threading.Event()

    def submit(self, work: Callable[_P, _T], /, *arguments: _P.args, **named: _P.kwargs) -> Future[_T]:
        """A future of what `work` gives for these arguments. Raises ClusterError where there is none."""
        self._connected()
        answer: Future[_T] = Future()
        self._begin(answer, partial(work, *arguments, **named))
        return answer

    def slots(self) -> int:
        """The number of calls that run at once; 0 while there is no worker. Raises ClusterError as `submit`."""
        self._connected()
        return self._slots

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves the cluster; what still runs there for this build is given up, and its futures end."""
        with self._connecting:
            client, self._client = self._client, None
            self._ended.set()
        if client is not None:
            with contextlib.suppress(Exception):  # a cluster that is gone cannot be left in good order
                client.close(timeout=5)

    def _connected(self) -> Any:
        with self._connecting:
            if self._ended.is_set():
                raise _error(f"the cluster at {self._address} was left; build again")
            if self._client is None:
                self._client = client = _connect(self._address, self._report)
                self._slots = sum(client.nthreads().values())
                self._executor = client.get_executor(pure=False)
                threading.Thread(target=self._watch, args=(client,), daemon=True).start()
            if self._client.status in ("closing", "closed", "connecting"):
                raise self._gone()
            return self._client

    def _watch(self, client: Any) -> None:
        """Keeps the number of slots, and says when there are none."""
        while not self._ended.wait(_LOOK):
            with contextlib.suppress(Exception):  # the scheduler is gone: the futures tell
                before, self._slots = self._slots, sum(client.nthreads().values())
                if before and not self._slots:
                    self._report(f"ragpress: {self._address} has no workers left; waiting for one")

    def _begin(self, answer: Future[_T], call: Callable[[], _T], helped: frozenset[str] = frozenset()) -> None:
        """`helped` are the workers that were sent a file for this call."""
        future = self._executor.submit(serve, _versions(), call)
        future.add_done_callback(partial(self._done, answer, call, helped))

    def _done(self, answer: Future[_T], call: Callable[[], _T], helped: frozenset[str], future: Future[_T]) -> None:
        try:
            answer.set_result(future.result())
        except _LackingError as lacking:
            if lacking.worker in helped:
                text = f"the worker {lacking.worker} was sent {lacking.wanted.name} and does not find it; {_HERE}"
                answer.set_exception(_error(text))
                return
            # in a thread, since this is the client's own, which sends
            threading.Thread(target=self._help, args=(answer, call, helped, lacking), daemon=True).start()
        except Exception as error:
            answer.set_exception(self._told(error))

    def _help(self, answer: Future[_T], call: Callable[[], _T], helped: frozenset[str], lacking: _LackingError) -> None:
        """Sends a worker the file that it lacks, and has the work done again."""
        try:
            with self._sending:
                if (lacking.wanted, lacking.worker) not in self._kept:
                    self._send(lacking.wanted, lacking.worker)
                    self._kept.add((lacking.wanted, lacking.worker))
            self._begin(answer, call, helped | {lacking.worker})
        except Exception as error:
            answer.set_exception(self._told(error))

    def _send(self, wanted: RemoteFile, worker: str) -> None:
        client = self._connected()
        sent = self._sent.get(wanted)
        if sent is None or sent.status != "finished":
            self._report(f"ragpress: sending {wanted.name} to the cluster, since {worker} neither has nor can fetch it")
            sent = self._sent[wanted] = client.scatter(find_file(wanted).read_bytes(), hash=False)
        client.submit(keep, wanted, sent, workers=[worker], allow_other_workers=False, pure=False).result()

    def _told(self, error: BaseException) -> BuildError:
        """An error of the cluster as a line."""
        if isinstance(error, BuildError):
            return error
        lost = isinstance(error, CancelledError) or type(error).__name__ == "CommClosedError"
        return self._gone() if lost or getattr(self._client, "status", "") != "running" else _plain(error)

    def _gone(self) -> ClusterError:
        text = f"the cluster at {self._address} is gone; what is done is kept: start it and build again, {_HERE}"
        return _error(text)


def _connect(address: str, report: Report) -> Any:
    """A client with at least one worker. Raises ClusterError."""
    client: Any
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise _error(f"Dask is not installed; run `pip install 'ragpress[cluster]'`, {_HERE}") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # an error is reported in one line
    dask.config.set(_SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about other versions of Dask there: a worker is checked when it works
        try:
            client = Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise _error(f"no scheduler answers at {address} ({_words(error)}); start it, {_HERE}") from None
    try:
        if not client.nthreads():
            report(f"ragpress: {address} has no workers yet; waiting for one")
            client.wait_for_workers(1, timeout=_WORKERS)
    except (TimeoutError, OSError):
        client.close(timeout=5)
        raise _error(f"{address} has no workers after {_WORKERS} seconds; start some, {_HERE}") from None
    threads = client.nthreads()
    shown = "dashboard" in client.scheduler_info(0).get("services", {})
    link = f"; dashboard: {client.dashboard_link}" if shown else ""
    report(f"ragpress: {plural(len(threads), 'worker', 'workers')} on {address}, {sum(threads.values())} at once{link}")
    return client


def _plain(error: BaseException) -> ClusterError:
    """What Dask says went wrong, as a line."""
    kind = type(error).__name__
    if kind == "KilledWorker":
        text = "workers died one after the other over the same unit; see their log, and give them more memory"
    elif isinstance(error, (ImportError, AttributeError)) or "deserialization" in str(error):
        text = f"a worker or the scheduler has another ragpress, or none ({_words(error)}); install {__version__} there"
    else:
        text = f"a worker failed ({kind}: {_words(error)}); see its log"
    return _error(f"{text}; what is done is kept, build again, {_HERE}")


def _error(text: str) -> ClusterError:
    return ClusterError("cluster", text)


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:300].rstrip(".")


# -- on a worker -----------------------------------------------------------------------------------------------------


class _LackingError(Exception):
    """A worker has not the file that its work needs."""

    def __init__(self, wanted: RemoteFile, worker: str) -> None:
        super().__init__(wanted, worker)
        self.wanted, self.worker = wanted, worker


def serve(versions: Versions, call: Callable[[], _T]) -> _T:
    """What a call gives, on a worker of the versions that the client has. Raises ClusterError that names the worker."""
    worker = _name()
    for name, theirs in versions.items():
        if (ours := _versions().get(name, "none")) != theirs:
            text = f"the worker {worker} has {name} {ours}, and this machine {theirs}; install the same there, {_HERE}"
            raise _error(text)
    # Dask's workers are daemons to Python, which may have no processes of their own. Those that read sources end by
    # themselves when their worker does.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    try:
        return call()
    except MissingFileError as error:
        raise _LackingError(error.wanted, worker) from None
    except BuildError as error:
        if error.message.code in ("model", "disk", "cluster"):
            raise ClusterError(error.message.code, f"the worker {worker}: {error.message.text}") from None
        raise


def keep(wanted: RemoteFile, data: bytes) -> None:
    """Keeps a file on the worker that was sent to it. Raises ClusterError that names the worker."""
    try:
        keep_file(wanted, data)
    except BuildError as error:
        raise ClusterError(error.message.code, f"the worker {_name()}: {error.message.text}") from None


def _name() -> str:
    from distributed import get_worker

    return str(get_worker().address)


@cache
def _versions() -> Versions:
    """All that may change a byte of a result: Python, whose tables of characters matter, and the libraries."""
    found = {
        "ragpress": f"{__version__} (code {tool_fingerprint()[:12]})",
        "Python": ".".join(platform.python_version_tuple()[:2]),
    }
    for requirement in importlib.metadata.requires("ragpress") or ():
        named = re.match(r"[\w.-]+", requirement)
        if named and ("extra" not in requirement or 'extra == "build"' in requirement.replace("'", '"')):
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                found[named[0]] = importlib.metadata.version(named[0])
    return found
