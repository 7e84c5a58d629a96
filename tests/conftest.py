from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

# The tests are the same under CI; those about CI set it themselves.
for variable in ("CI", "GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
    os.environ.pop(variable, None)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keeps the tests out of the user's cache; the offline model is made in it once a session."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("RAGPRESS_CACHE")
    os.environ["RAGPRESS_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["RAGPRESS_CACHE"]
    else:
        os.environ["RAGPRESS_CACHE"] = before


@pytest.fixture
def one_core() -> Iterator[None]:
    """Builds of the test take one core, where more would only start more processes. Test processes take turns."""
    cores = sorted(os.sched_getaffinity(0))
    number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    os.sched_setaffinity(0, {cores[int(number) % len(cores)]})
    yield
    os.sched_setaffinity(0, cores)
