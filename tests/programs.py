"""Programs that a test needs: it is skipped, by name, where one is missing, and fails where every one must be there."""

from __future__ import annotations

import os
import shutil

import pytest


def need(program: str, package: str) -> str:
    """The path of a program that the Debian package brings."""
    found = shutil.which(program)
    if found is None:
        if os.environ.get("RAGPRESS_TEST_ALL"):
            pytest.fail(f"{program} is not installed (package {package})")
        pytest.skip(f"{program} is not installed (package {package})")
    return found
