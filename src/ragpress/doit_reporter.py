"""What doit prints while it builds: a line a stage that had something to do, a line an error, and how it ended."""

from __future__ import annotations

import sys
from typing import Any

from doit.exceptions import UnmetDependency
from doit.reporter import ConsoleReporter


class Reporter(ConsoleReporter):  # type: ignore[misc]  # doit has no types
    """doit's console output without a line for each source, and with errors on standard error."""

    desc = "ragpress: a line a stage, errors on standard error"

    def initialize(self, tasks: object, selected_tasks: object) -> None:
        self._groups: set[str] = set()
        self._executed = 0

    def execute_task(self, task: Any) -> None:
        if not task.actions:
            return
        self._executed += 1
        group = task.name.partition(":")[0]
        if group not in self._groups:
            self._groups.add(group)
            print(f"ragpress: {group}", file=sys.stderr, flush=True)

    def add_failure(self, task: Any, fail: Any) -> None:
        if not isinstance(fail, UnmetDependency):  # what could not begin is no error of its own
            super().add_failure(task, fail)

    def skip_uptodate(self, task: object) -> None:
        """Nothing: what is up to date is told once, at the end."""

    def _write_failure(self, result: dict[str, Any], write_exception: bool = True) -> None:
        print(result["exception"].get_msg().rstrip("\n"), file=sys.stderr, flush=True)

    def complete_run(self) -> None:
        if self.runtime_errors:
            print("\n".join(self.runtime_errors), file=sys.stderr)
        elif self.failures:
            number = len(self.failures)
            print(f"ragpress: failed ({number} {'error' if number == 1 else 'errors'})", file=sys.stderr)
        elif not self._executed:
            print("ragpress: nothing to do", file=sys.stderr)
