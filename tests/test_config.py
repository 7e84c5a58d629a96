"""pyproject.toml: each slip is one line with the place, what may be there, and the nearest right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragpress.config import load_config
from ragpress.errors import BuildError
from repository_maker import failing, make_repository


def refused(folder: Path, *lines: str) -> str:
    (folder / "pyproject.toml").write_text("\n".join(["[project]", 'strategy = "x"', *lines, ""]), encoding="utf-8")
    with pytest.raises(BuildError) as found:
        load_config(folder)
    assert "\n" not in str(found.value)
    return found.value.message.text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('strategy = "fixd"', '`strategy` is "fixd", it must be one of "fixed", "semantic"; did you mean "fixed"?'),
        ('strategy = "?"', '`strategy` is "?", it must be one of "fixed", "semantic"'),
        ('max_tokens = "384"', '`max_tokens` is "384", it must be a whole number from 32 to 512'),
        ("min_tokens = -1", "`min_tokens` is -1, it must be a whole number of 0 or more"),
        ("min_coverage = 98", "`min_coverage` is 98, it must be a number from 0 to 1"),
        ('detect_qa = "yes"', '`detect_qa` is "yes", it must be true or false'),
        ("model = 5", '`model` is 5, it must be a text, as "text"'),
        ('excluded_section_headings = "a"', 'is "a", it must be a list of texts, as ["one", "two"]'),
        ("max_token = 5", "[tool.ragpress] has no setting `max_token`; did you mean `max_tokens`?"),
        ("qwerty = 5", "[tool.ragpress] has no setting `qwerty`; see docs/settings.md"),
        ('sources = "../x"', "`sources` must be a folder inside the repository"),
        ("min_tokens = 400", "min_tokens = 400 is above max_tokens = 384; lower it"),
    ],
)
def test_a_wrong_setting_is_named_with_its_line_and_what_may_be_there(tmp_path: Path, line: str, text: str) -> None:
    found = refused(tmp_path, "[tool.ragpress]", "# strategy = 1", line)
    assert found.startswith("pyproject.toml:5: ")
    assert text in found


def test_a_slip_in_the_syntax_names_line_and_column(tmp_path: Path) -> None:
    found = refused(tmp_path, "[tool.ragpress]", "model = nomic")
    assert found == (
        "pyproject.toml:4: this is no valid TOML: Invalid value at column 9; a text needs quotation marks, a list"
        " brackets"
    )


def test_doit_says_the_same_in_one_line(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.md": "# А\n"}, '[tool.ragpress]\nstrategy = "fixd"\n')
    assert failing(root) == (
        'ragpress: error: pyproject.toml:2: `strategy` is "fixd", it must be one of "fixed", "semantic"; did you mean'
        ' "fixed"? [bad-setting]\n'
    )
