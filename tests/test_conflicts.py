"""Files with git's conflict marks: an error that names the line, and nothing that only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragpress.captions.store import read_captions
from ragpress.config import Config
from ragpress.errors import BuildError, SourceError
from ragpress.evaluation import read_cases
from ragpress.evaluation.record import read_records
from ragpress.readers import read_document
from ragpress.repository import Repository
from ragpress.text.conflicts import conflict_line

CONFLICT = "Начало\n<<<<<<< HEAD\nнаше\n=======\nчужое\n>>>>>>> ветка\nконец\n"


def test_a_conflict_is_its_three_marks_at_the_beginning_of_lines_in_order() -> None:
    assert conflict_line(CONFLICT) == 2
    assert conflict_line(CONFLICT.replace("\n", "\r\n")) == 2
    assert conflict_line(CONFLICT.replace("=======", "||||||| base\nбыло\n=======")) == 2
    for text in (
        "Заголовок\n=======\n\nтекст\n",
        CONFLICT.replace("=======\n", ""),
        CONFLICT.replace("<<<<<<<", " <<<<<<<"),
        CONFLICT.replace("<<<<<<<", "<<<<<<<<"),
        ">>>>>>> a\n=======\n<<<<<<< b\n",
    ):
        assert conflict_line(text) == 0, text


@pytest.mark.parametrize("suffix", ["md", "txt", "csv"])
def test_a_source_with_a_conflict_is_an_error_that_names_the_line(suffix: str) -> None:
    with pytest.raises(SourceError, match=r"sources/a\.\w+:L2: error: a git merge begins here and is not finished"):
        read_document(CONFLICT.encode(), f"a.{suffix}", Config())


def test_a_conflict_in_captions_questions_or_figures_is_named_as_one(tmp_path: Path) -> None:
    line = '{"question": "Где?", "answer": "тут"}\n'
    path = tmp_path / "questions.jsonl"
    path.write_text(f"{line}<<<<<<< HEAD\n{line}=======\n{line}>>>>>>> b\n", encoding="utf-8")
    with pytest.raises(BuildError, match=r"questions\.jsonl:2: a git merge begins here"):
        read_cases(path, print)
    captions = tmp_path / "captions.jsonl"
    captions.write_text("<<<<<<< HEAD\n", encoding="utf-8")
    with pytest.raises(BuildError, match=r"captions\.jsonl, line 1: a git merge begins here"):
        read_captions(captions)
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "retrieval.json").write_text("{\n<<<<<<< HEAD\n=======\n>>>>>>> b\n}\n", encoding="utf-8")
    with pytest.raises(BuildError, match=r"golden/retrieval\.json:2: a git merge begins here"):
        read_records(Repository(tmp_path, Config()))
