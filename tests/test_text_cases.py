"""Markdown, plain text, sentences and normalization, held on the titled examples under tests/cases/text/."""

from __future__ import annotations

import pytest

from text_cases import Case, cases, written


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.file}: {case.title}") for case in cases()])
def test_an_example_gives_what_it_says(case: Case) -> None:
    assert any(case.expected().values()), "an example that expects nothing"
    assert case.found() == case.expected(), written(case)
