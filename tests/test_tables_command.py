"""`ragpress tables`: how the tables of files are read, drawn and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragpress.cli import main
from ragpress.readers.csv import read_csv_tables
from ragpress.review.diff.terminal import Screen
from ragpress.review.table_view import draw
from xlsx_maker import make_xlsx, rows

REPORT = """Ведомость
Период;01.04.2024
;Сальдо;;Обороты;
Счёт;Дебет;Кредит;Дебет;Кредит
Склад первый:;;;;
Болт М6;600;0;200;100
Гайка М6;400;0;300;200

Источник: бухгалтерия
"""


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["tables", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_json_says_of_each_table_what_its_rows_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(REPORT, encoding="cp1251")
    (line,) = printed(capsys, "--json", str(path))
    assert json.loads(line) == {
        "source": "a.csv",
        "sheet": "",
        "encoding": "cp1251",
        "delimiter": ";",
        "header_rows": [3, 4],
        "title_rows": [1, 2],
        "note_rows": [9],
        "group_rows": [5],
        "data_rows": [6, 7],
        "headers": [["Счёт"], ["Сальдо", "Дебет"], ["Сальдо", "Кредит"], ["Обороты", "Дебет"], ["Обороты", "Кредит"]],
    }


def test_each_sheet_and_each_table_beside_another_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = rows([["Имя", "Число", None, None, "Цех", "Смена"], ["Мост", 1, None, None, "литейный", 2], ["Брод", 2]])
    (tmp_path / "a.xlsx").write_bytes(make_xlsx({"Склад": grid, "Итоги": rows([["Год", "Сумма"], ["первый", 7]])}))
    found = [json.loads(line) for line in printed(capsys, "--json", str(tmp_path / "a.xlsx"))]
    assert [(table["sheet"], table["data_rows"], table["headers"]) for table in found] == [
        ("Склад", [2, 3], [["Имя"], ["Число"]]),
        ("Склад", [2], [[], [], [], [], ["Цех"], ["Смена"]]),
        ("Итоги", [2], [["Год"], ["Сумма"]]),
    ]


def test_the_grid_says_what_each_row_is_without_colours_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(REPORT, encoding="utf-8")
    lines = printed(capsys, str(path), "--width", "80")
    assert lines[0] == "a.csv (utf-8, delimiter ';')"
    assert [line.split()[:2] for line in lines[2:-1]] == [
        ["1", "title"],
        ["2", "fact"],
        ["3", "header"],
        ["4", "header"],
        ["5", "group"],
        ["6", "data"],
        ["7", "data"],
        ["9", "note"],
    ]
    assert lines[7].split(" │ ")[1:] == ["600       ", "0     ", "200    ", "100"]
    assert all(len(line) <= 80 for line in lines)


def test_long_runs_of_data_are_shortened_and_colours_end_with_their_line() -> None:
    text = "Имя,Число\n" + "".join(f"мост,{number}\n" for number in range(100))
    lines = list(draw("a.csv", read_csv_tables(text.encode(), "a.csv"), Screen(colour=True)))
    assert sum("data" in line for line in lines) < 20
    assert any("rows of data more" in line for line in lines)
    assert all(line.count("\x1b[") in (0, 2) for line in lines)


def test_a_file_without_tables_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.md").write_text("# А", encoding="utf-8")
    assert main(["tables", str(tmp_path / "a.md")]) == 1
    assert "give an xlsx or csv file" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["chunk", "missing.docx"]) == 1
    assert capsys.readouterr().err == "missing.docx: error: there is no such file; check its name [file-gone]\n"
    assert main(["tables", "missing.xlsx"]) == 1
    assert "missing.xlsx" in capsys.readouterr().err
