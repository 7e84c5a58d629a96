"""What a test needs of the machine: where it is lacking, the test is skipped by name, and fails where all must run."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def lacking(what: str) -> NoReturn:
    """Skips the test, with the reason; fails it where every test must run, as `.ci/run` asks for."""
    if os.environ.get("RAGPRESS_TEST_ALL"):
        pytest.fail(what)
    pytest.skip(what)


def need(program: str, package: str) -> str:
    """The path of a program that the Debian package brings."""
    found = shutil.which(program)
    if found is None:
        lacking(f"{program} is not installed (package {package})")
    return found
