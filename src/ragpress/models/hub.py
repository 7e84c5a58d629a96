"""Model files from the hub, by its own client. The only importer of huggingface_hub."""

from __future__ import annotations

import errno
import logging
import os
import threading
import warnings
from pathlib import Path
from urllib.parse import urlsplit

from ragpress.errors import ModelError

PROBE_SECONDS = 2.5
"""An unreachable hub is known after so long; the client itself retries for half a minute."""


def cached(repository: str, file: str, revision: str = "") -> Path | None:
    """The file in the user's cache of hub files, without network; None if it was never fetched."""
    from huggingface_hub import constants

    # The cache's layout as its makers document it. Without that folder there is nothing to ask the client for, which
    # takes a quarter of a second to load.
    if not (Path(constants.HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}").is_dir():
        return None
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repository, file, revision=revision or None)
    return Path(found) if isinstance(found, str) and Path(found).is_file() else None


def revision_of(path: Path) -> str:
    """The hub's commit that a cached file belongs to: the cache keeps it as the folder's name."""
    return path.parent.name


def unreachable() -> str:
    """Why the hub cannot be reached, found out within three seconds; empty if it answers. Raises ModelError."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return "HF_HUB_OFFLINE is set"
    endpoint = _endpoint()
    reasons: list[str] = []

    def probe() -> None:
        from huggingface_hub import get_session

        try:
            # The client's own session, for the same proxies and certificates.
            status = get_session().head(endpoint, timeout=PROBE_SECONDS, follow_redirects=False).status_code
            reasons.append(f"it answers {status}" if status >= 500 else "")
        except Exception as error:  # the client's transport has its own family of exceptions
            reasons.append(_plain(error))

    # In a thread, because looking up a name has no timeout of its own.
    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    thread.join(PROBE_SECONDS)
    return reasons[0] if reasons else f"no answer within {PROBE_SECONDS:g} seconds"


def fetch(repository: str, file: str, revision: str = "") -> Path:
    """Fetches the file into the user's cache, with a progress bar on a terminal. Raises ModelError."""
    from huggingface_hub import hf_hub_download

    log = logging.getLogger("huggingface_hub")
    before = log.level
    log.setLevel(logging.CRITICAL)  # an error is reported in one line
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Path(hf_hub_download(repository, file, revision=revision or None, endpoint=_endpoint()))
    except ModelError:
        raise
    except Exception as error:  # the client's families of exceptions differ by transport and version
        raise _failure(f"{file} of {repository}", error) from None
    finally:
        log.setLevel(before)


def _failure(what: str, error: BaseException) -> ModelError:
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RemoteEntryNotFoundError,
        RepositoryNotFoundError,
    )

    if isinstance(error, LocalEntryNotFoundError) and error.__cause__ is not None:
        error = error.__cause__  # the client's way of saying that asking the hub failed
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ModelError("disk", f"{what} cannot be fetched: the disk is full; free some space")
    if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
        return ModelError("disk", f"{what} cannot be fetched: {error.strerror}: {Path(error.filename).name}")
    if isinstance(error, GatedRepoError):
        reason = "access has to be granted first; log in with `hf auth login`, or set model_path"
    elif isinstance(error, RemoteEntryNotFoundError):
        reason = "the hub has no such file; correct model_file"
    elif isinstance(error, RepositoryNotFoundError):
        reason = "the hub has no such public repository; check HF_ENDPOINT and HF_TOKEN, or set model_path"
    elif isinstance(error, HfHubHTTPError):
        reason = f"the hub answered {error.response.status_code}; try again later, or set model_path"
    else:
        reason = f"{_plain(error)}; try again, or set model_path"
    return ModelError("model", f"{what} cannot be fetched: {reason}")


def _endpoint() -> str:
    # read at each call: the client reads the variable only when it is imported
    from huggingface_hub import constants

    endpoint: str = os.environ.get("HF_ENDPOINT") or constants.ENDPOINT
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ModelError("bad-setting", f"HF_ENDPOINT is {endpoint!r}, which is no web address; correct or unset it")
    return endpoint.rstrip("/")


def _plain(error: BaseException) -> str:
    words = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {words[:200]}" if words else type(error).__name__
