"""Progress: shown where a person watches something that takes long, and nowhere else."""

from __future__ import annotations

import os
import sys
import termios
import time

import pytest

from ragpress import console
from ragpress.console import Progress, report


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_AFTER", 0.0)
    monkeypatch.setattr(console, "_EVERY", 0.0)
    monkeypatch.delenv("CI", raising=False)


def test_what_is_done_soon_shows_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("reading", 3, "sources") as shown:
        for _ in range(3):
            shown.advance()
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("at_once")
def test_without_a_terminal_a_line_says_how_much_is_done_how_fast_and_how_long_it_takes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Progress("embedding", 1000, "tokens") as shown:
        time.sleep(0.1)
        shown.advance(10)
    line = capsys.readouterr().err
    assert line.startswith("ragpress: embedding: 10 of 1000 tokens, ")
    assert line.endswith(" s left\n") and " a second, " in line


@pytest.mark.usefixtures("at_once")
def test_under_ci_there_is_no_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with Progress("embedding", 1000, "tokens") as shown:
        shown.advance(10)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("at_once")
def test_a_terminal_shows_a_bar_above_which_lines_stand_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        with Progress("embedding", 1000, "tokens") as shown:
            shown.advance(250)
            report("sources/a.md: info: something")
        assert Progress.bars == 0
        written = os.read(ours, 65536).decode()
    os.close(ours)
    assert "embedding:  25%" in written and "250/1000" in written and " tokens/s]" in written
    before, _, after = written.partition("sources/a.md: info: something\r\n")
    assert before.endswith("\r") and after.startswith("\r")
