"""What doit prints while it builds: a line a stage that had something to do, a line an error, and how it ended.

It also keeps the order in which tasks were asked for: doit's threads would begin `report` of `doit accept report`
while `accept` runs, or waits for the index.
"""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

from doit.exceptions import UnmetDependency
from doit.reporter import ConsoleReporter

from ragpress.console import Progress, report
from ragpress.errors import message, render
from ragpress.sources import Listing
from ragpress.tasks.state import forgive

_NAMED = 5

_ended: dict[str, threading.Event] = {}


def wait_for_turn(task: str) -> None:
    """Returns once every task that was asked for before this one has ended, however; at once for any other task."""
    if task in _ended:
        for name, ended in _ended.items():
            if name == task:
                return
            ended.wait()


class Reporter(ConsoleReporter):  # type: ignore[misc]  # doit has no types
    """doit's console output without a line for each source, and with errors on standard error."""

    desc = "ragpress: a line a stage, errors on standard error"
    listing = Listing((), (), ())

    def initialize(self, tasks: dict[str, Any], selected_tasks: list[str]) -> None:
        _ended.update((name, threading.Event()) for name in selected_tasks)
        self._groups: set[str] = set()
        self._executed = 0
        self._failures_shown: set[str] = set()
        self._reading = Progress("reading", sum(name.startswith("chunk:") for name in tasks), "sources")
        self._starting = threading.Lock()  # tasks are begun in several threads
        forgive(report)
        gc.freeze()  # all tasks are made, and live to the end
        self._report_passed_over()

    def _report_passed_over(self) -> None:
        """One line, lest a document be missed; what the settings exclude is only counted."""
        found = self.listing
        parts = [", ".join(found.passed_over[:_NAMED])] if found.passed_over else []
        if len(found.passed_over) > _NAMED:
            parts[0] += f" and {len(found.passed_over) - _NAMED} more"
        if found.excluded:
            parts.append(f"{len(found.excluded)} by `exclude`")
        if parts:
            report(render(message("info", "passed-over", f"passed over as no documents: {'; '.join(parts)}")))

    def execute_task(self, task: Any) -> None:
        if not task.actions:
            return
        group = task.name.partition(":")[0]
        with self._starting:
            self._executed += 1
            if group not in self._groups:
                self._groups.add(group)
                report(f"ragpress: {group}")

    def add_failure(self, task: Any, fail: Any) -> None:
        self._end(task)
        shown = fail.get_msg()
        # What could not begin is no error of its own, and an error that stops several tasks is one.
        if shown and not isinstance(fail, UnmetDependency) and shown not in self._failures_shown:
            self._failures_shown.add(shown)
            super().add_failure(task, fail)

    def add_success(self, task: Any) -> None:
        self._end(task)

    def skip_uptodate(self, task: Any) -> None:
        """Says nothing: what is up to date is reported once, when all have ended."""
        self._end(task)

    def _end(self, task: Any) -> None:
        if task.name.startswith("chunk:"):
            self._reading.advance()
        elif task.name == "chunk":
            self._reading.close()
        if task.name in _ended:
            _ended[task.name].set()

    def _write_failure(self, result: dict[str, Any], write_exception: bool = True) -> None:
        report(result["exception"].get_msg().rstrip("\n"))

    def complete_run(self) -> None:
        self._reading.close()
        if self.runtime_errors:
            print("\n".join(self.runtime_errors), file=sys.stderr)
        elif self.failures:
            number = len(self.failures)
            print(f"ragpress: failed ({number} {'error' if number == 1 else 'errors'})", file=sys.stderr)
        elif not self._executed and sys.exc_info()[0] is None:  # and nothing interrupted it
            print("ragpress: nothing to do", file=sys.stderr)
