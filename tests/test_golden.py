"""Goldens: lossless, local under insertion, complete in what they report."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from ragpress.errors import BuildError
from ragpress.golden import GoldenChunk, accept_goldens, compare_goldens, parse_golden, render_golden


def make(number: int, text: str, locator: str, **fields: object) -> GoldenChunk:
    plain = {"section": "Запись", "headings": ("Клиника", "Запись"), "context": "## Запись\n\n", **fields}
    return GoldenChunk(
        chunk_id=f"{number:016x}",
        content_type="paragraph",
        section=str(plain["section"]),
        headings=plain["headings"],  # type: ignore[arg-type]
        locator=locator,
        tokens=number + 10,
        context=str(plain["context"]),
        text=text,
    )


CHUNKS = (
    make(1, "Первая строка.\n\nВторая.", "L5-7"),
    make(2, "متن با نیم‌فاصله", "L9", section="", headings=(), context=""),
    make(3, "| a | b |", "L9-12", context="## Запись\n\n| h |\n|---|\n"),
    make(4, "продолжение", "L9", context="## Запись\n\nКонец прежнего. "),
    make(5, " leading and trailing ", "Лист · 1!R5-6", headings=("a › b", "c · d § e", "f\\g"), section="x › § y"),
    make(6, "", "Лист · 1!R7"),
    make(7, "● not a head\n▲ not a message\n│ not an edge", "B3", section="Запись"),
)


def test_a_golden_tells_everything_of_its_chunks() -> None:
    messages = ("B7: warning: an unknown style [docx-bad-part]",)
    assert parse_golden(render_golden(CHUNKS, messages)) == (CHUNKS, messages)


def test_an_inserted_paragraph_changes_no_other_lines() -> None:
    before = [make(n, f"Абзац {n}.", f"L{n * 2}") for n in range(1, 30)]
    after = [
        *before[:4],
        make(99, "Новый абзац.", "L10"),
        *(make(n, f"Абзац {n}.", f"L{n * 2 + 2}") for n in range(5, 30)),
    ]
    lines = difflib.ndiff(render_golden(before, ()).splitlines(), render_golden(after, ()).splitlines())
    changed = [line for line in lines if line[0] in "+-"]
    assert all(line.startswith("+") for line in changed), changed
    assert len(changed) == 4, changed  # head, breadcrumb, text, blank line


def test_a_text_that_is_no_golden_is_refused_with_its_line() -> None:
    with pytest.raises(BuildError, match="line 2"):
        parse_golden("\n● paragraph without the rest\n")
    with pytest.raises(BuildError, match="line 1"):
        parse_golden("hello\n")


def test_missing_orphaned_and_changed_goldens_are_told_apart_and_accepted(tmp_path: Path) -> None:
    accept_goldens(tmp_path, {"a/old.md": "old\n", "b.md": "one\n"})
    wanted = {"b.md": "two\n", "c.md": "new\n"}
    found = compare_goldens(tmp_path, wanted)
    assert (found.missing, found.orphans, found.changed) == (("c.md.txt",), ("a/old.md.txt",), ("b.md.txt",))
    done = accept_goldens(tmp_path, wanted)
    assert [line.split()[0] for line in done] == ["wrote", "wrote", "deleted"]
    assert not compare_goldens(tmp_path, wanted)
    assert not (tmp_path / "a").exists()


def test_line_ends_changed_by_a_checkout_are_no_difference(tmp_path: Path) -> None:
    accept_goldens(tmp_path, {"a.md": "one\ntwo\n"})
    (tmp_path / "a.md.txt").write_bytes(b"one\r\ntwo\r\n")
    assert not compare_goldens(tmp_path, {"a.md": "one\ntwo\n"})
