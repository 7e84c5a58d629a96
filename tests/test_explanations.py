"""Every message code has a cause and a cure that a person can look up."""

from __future__ import annotations

import pytest

from ragpress.cli import main
from ragpress.errors import CODES
from ragpress.explanations import explanations


def test_each_code_has_its_cause_and_cure_in_the_order_of_the_list() -> None:
    assert list(explanations()) == list(CODES)
    for code, explanation in explanations().items():
        assert all(text.endswith(".") and "**" not in text for text in explanation), code


def test_explain_prints_a_code_as_it_is_copied_from_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "[conflict]"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("conflict: a git merge that is not finished\n\nCause: ")
    assert "\n\nCure: " in printed


def test_explain_alone_lists_all_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(CODES)


def test_explain_guesses_which_code_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "conflicts"]) == 1
    assert "there is no message code conflicts; did you mean conflict?" in capsys.readouterr().err
