"""The whole check, as the README and CI run it: ruff, mypy, pytest. Stops at the first that fails.

The package itself is checked as on Windows and macOS as well; tests and benchmarks use what Linux alone has.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STEPS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("mypy", "--platform", "win32", "--cache-dir", ".mypy_cache/win32", "src"),
    ("mypy", "--platform", "darwin", "--cache-dir", ".mypy_cache/darwin", "src"),
    ("pytest", "-n", "2", "--dist", "loadfile"),
)


def main() -> int:
    """Runs each step with the interpreter's own tools. Returns the first status that is not 0."""
    for step in STEPS:
        print("$", *step, flush=True)
        status = subprocess.run([sys.executable, "-m", *step], cwd=ROOT, check=False).returncode
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
