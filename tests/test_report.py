"""The report's files: what is in them, when they are made, and that nothing of a source gets out of its place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from lxml import html

from compiling import chunk_all
from ragpress.errors import message
from ragpress.records import Chunk, DocumentEntry, Locator
from ragpress.report import draw_report
from ragpress.report.charts import histogram
from ragpress.report.gathering import notes_of
from ragpress.report.searching import script_literal
from ragpress.report.showing import KINDS, bearing, page_name, percent, pieces
from ragpress.repository import open_repository
from report_maker import HOSTILE, edited_repository
from repository_maker import failing, make_repository, run, write_source


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return edited_repository(tmp_path_factory)


@pytest.fixture
def asking(made: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(made, tmp_path / "repo"))


@pytest.fixture
def repository(asking: Path) -> Path:
    """A copy to change, without questions, which would have to be embedded for each report."""
    (asking / "golden" / "questions.jsonl").unlink()
    return asking


def files(root: Path) -> dict[str, bytes]:
    folder = root / "build" / "report"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def page(root: Path, name: str) -> html.HtmlElement:
    return html.fromstring((root / "build" / "report" / name).read_bytes().decode())


def text_of(root: Path, name: str) -> str:
    return " ".join(" ".join(page(root, name).itertext()).split())


def draw(root: Path) -> list[str]:
    """The report drawn in this process; what was reported."""
    told: list[str] = []
    repository = open_repository(root)
    chunk_all(repository)
    draw_report(repository, told.append)
    return told


# -- single texts ----------------------------------------------------------------------------------------------------


def test_a_page_is_named_by_safe_signs_and_no_two_alike() -> None:
    names = ["a b.md", "a-b.md", "A b.md", "a/b.md", "سوالات.xlsx", "شعبه.xlsx", "100% #?.md", "x" * 300, "../up.md"]
    pages = [page_name(name) for name in names]
    assert len({name.lower() for name in pages}) == len(names)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.") and len(name) < 90 for name in pages)
    assert page_name("klinika/wiki.md") == "klinika-wiki-md-a2361e2a72a8.html"


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("Запись по телефону", 'lang="ru" dir="auto"'),
        ("کارت ملی لازم است", 'lang="fa" dir="auto"'),
        ("SMS بفرستید تا شماره برسد", 'lang="fa" dir="rtl"'),
        ("«سقف» is the word for a limit of cover", 'lang="" dir="ltr"'),
        ("1 900 – ۱۲۳", 'lang="" dir="auto"'),
        ("", 'lang="" dir="auto"'),
    ],
)
def test_a_text_gets_the_direction_of_most_of_its_letters(text: str, attributes: str) -> None:
    assert bearing(text) == attributes


def test_only_a_whole_is_shown_as_100_percent() -> None:
    assert [percent(share) for share in (1.0, 0.99999, 0.982, 0.29, 0.0)] == [
        "100 %",
        "99.9 %",
        "98.2 %",
        "29.0 %",
        "0.0 %",
    ]


def test_a_file_name_is_laid_out_piece_by_piece() -> None:
    assert pieces("bime/a/سوالات متداول.xlsx") == ["bime", "/", "a", "/", "سوالات متداول", ".xlsx"]
    assert pieces("README") == ["README"]


def test_no_text_can_end_the_script_that_holds_it() -> None:
    literal = script_literal(["</script><!--", "a\u2028b\u2029c", "&lt;"])
    assert not set(literal) & set("<>&\u2028\u2029")
    assert literal == '["\\u003c/script\\u003e\\u003c!--","a\\u2028b\\u2029c","\\u0026lt;"]'


def chunk(locator: str, tokens: int = 10, identifier: str = "0" * 16) -> Chunk:
    return Chunk(
        chunk_id=identifier,
        source="a.xlsx",
        content_type="table_row",
        section="",
        headings=(),
        locator=locator,
        tokens=tokens,
        previous_chunk_id=None,
        next_chunk_id=None,
        context_chars=0,
        text="текст",
    )


@pytest.mark.parametrize("limit", [32, 100, 384, 512])
def test_every_chunk_is_in_one_bin_of_the_histogram(limit: int) -> None:
    tokens = [1, 2, limit // 2, limit - 1, limit, limit]
    found = histogram([chunk("R1", number) for number in tokens], limit, tuple(KINDS))
    for one in found.bins:
        assert one.chunks == sum(one.first <= number <= one.last for number in tokens)
    assert sum(one.chunks for one in found.bins) == len(tokens)
    assert found.bins[-1].last == limit
    assert found.marks[-1] == found.most >= max(one.chunks for one in found.bins)


def test_a_message_belongs_to_the_chunk_at_its_place() -> None:
    chunks = [chunk("Лист: 1!R2", identifier="a" * 16), chunk("Лист: 1!R3-5", identifier="b" * 16)]
    messages = (
        message("warning", "xlsx-formula", "a cell: odd", "a.xlsx", Locator.parse("Лист: 1!R4")),
        message("info", "left-out", "above all chunks", "a.xlsx", Locator.parse("Лист: 1!R1")),
        message("info", "left-out", "elsewhere", "a.xlsx", Locator.parse("Другой!R4")),
        message("info", "picture", "of the whole file", "a.xlsx"),
    )
    entry = DocumentEntry(
        source="a.xlsx",
        sha256="",
        title="",
        front_matter={},
        chunks=2,
        coverage=1.0,
        gaps=(),
        left_out={},
        messages=messages,
    )
    found = notes_of(entry, chunks)
    assert [note.chunk_id for note in found] == ["b" * 16, "", "", ""]
    assert [note.place for note in found] == ["Лист: 1!R4", "Лист: 1!R1", "Другой!R4", ""]
    assert [(note.text, note.code) for note in found] == [
        ("a cell: odd", "xlsx-formula"),
        ("above all chunks", "left-out"),
        ("elsewhere", "left-out"),
        ("of the whole file", "picture"),
    ]


# -- the files -------------------------------------------------------------------------------------------------------


def test_the_report_has_a_page_a_source_those_that_are_gone_among_them(made: Path) -> None:
    names = {name for name in files(made) if name.startswith("sources/")}
    sources = ["klinika/wiki.md", "bime/راهنما.md", HOSTILE, "new.md", "old.md"]
    assert names == {f"sources/{page_name(source)}" for source in sources}
    assert "Было тут." in text_of(made, f"sources/{page_name('old.md')}")


def test_every_chunk_stands_on_its_sources_page_with_place_tokens_and_headings(made: Path) -> None:
    shown = page(made, f"sources/{page_name('klinika/wiki.md')}")
    articles = shown.xpath("//article[contains(@class, 'chunk')]")
    texts = [" ".join(article.text_content().split()) for article in articles]
    assert len(texts) == 3
    assert "L10" in texts[0].split()
    assert "Context: ## Запись Записаться можно по телефону" in texts[0]
    assert "tokens" in texts[0]
    assert [heading.text_content() for heading in shown.xpath("//h3[@class='path']")] == [
        "Клиника › Запись",
        "Клиника › Стоянка",
        "Клиника › Цены",
    ]
    assert "клиника, запись" in text_of(made, f"sources/{page_name('klinika/wiki.md')}")  # front matter


def test_changed_words_are_marked_on_both_sides(made: Path) -> None:
    shown = page(made, f"sources/{page_name('klinika/wiki.md')}")
    assert [item.text_content() for item in shown.xpath("//article[contains(@class, 'k-changed')]//del")] == ["7:30"]
    assert [item.text_content() for item in shown.xpath("//article[contains(@class, 'k-changed')]//ins")] == ["8:00"]
    renamed = shown.xpath("//article[contains(@class, 'k-renamed')]")
    assert {item.text_content() for item in renamed[0].xpath(".//del")} == {"Парковка"}
    assert {item.text_content() for item in renamed[0].xpath(".//ins")} == {"Стоянка"}


def test_a_source_with_markup_shows_as_text(made: Path) -> None:
    shown = page(made, f"sources/{page_name(HOSTILE)}")
    assert [script.get("src") for script in shown.xpath("//script")] == ["../words.js", "../report.js"]
    assert shown.xpath("//img") == []
    text = text_of(made, f"sources/{page_name(HOSTILE)}")
    for line in (
        "<b>Услуга</b>: ",
        "<script>document.title = 'pwned'</script>",
        "&amp Цена: {{ 7 * 7 }} ' ` --> ]]> 56",
    ):
        assert line in text
    for name, data in files(made).items():
        if name.endswith(".html"):
            scripts = html.fromstring(data.decode()).xpath("//script")
            assert all(script.get("src") and not script.text_content().strip() for script in scripts), name


def test_the_page_of_a_table_says_what_each_row_was_taken_for(made: Path) -> None:
    text = text_of(made, f"sources/{page_name(HOSTILE)}")
    assert "1 table (utf-8, delimiter ';')" in text
    assert "1 header <b>Услуга</b> Цена" in " ".join(text.split())


def test_the_same_repository_gives_the_same_bytes_wherever_it_stands(repository: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(repository, tmp_path / "elsewhere" / "other"))
    draw(repository)
    draw(other)
    assert files(repository) == files(other)
    whole = b"".join(files(repository).values())
    for absolute in (repository, other, Path.home()):
        assert str(absolute).encode() not in whole


def test_nothing_is_written_where_nothing_changed_and_all_where_a_golden_did(repository: Path) -> None:
    draw(repository)
    first = repository / "build" / "report" / "index.html"
    before = first.stat().st_ino
    draw(repository)
    assert first.stat().st_ino == before
    (repository / "golden" / "klinika" / "wiki.md.txt").unlink()
    draw(repository)
    assert "new, 3 chunks" in text_of(repository, "index.html")


def test_a_page_that_was_damaged_is_drawn_again(repository: Path) -> None:
    draw(repository)
    first = repository / "build" / "report" / "index.html"
    good = first.read_bytes()
    first.write_bytes(b"gone")
    draw(repository)
    assert first.read_bytes() == good


def test_a_removed_source_takes_its_page_along(repository: Path) -> None:
    (repository / "sources" / "new.md").unlink()
    done = run(repository, "doit", "index", "accept", "report")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "build/report/index.html"
    names = files(repository)
    assert f"sources/{page_name('new.md')}" not in names
    assert f"sources/{page_name('old.md')}" not in names  # its golden is gone, too
    left = sorted(path.name for path in (repository / "build").glob("report*"))
    assert left == ["report", "reported"]  # neither the old folder nor a half-written one
    assert "Nothing: every chunk is the same." in text_of(repository, "index.html")


def test_the_overview_counts_what_there_is(made: Path) -> None:
    text = text_of(made, "index.html")
    for part in (
        "Sources 5",
        "Chunks 10",
        "1 chunk new",
        "1 chunk with changed text",
        "of 3 questions",
        "1 chunk removed",
    ):
        assert part in text
    assert "multilingual-e5-small" in text
    assert "there is no text under «خالی»" in text


def test_every_question_is_shown_with_its_hits_and_which_is_right(made: Path) -> None:
    rows = page(made, "retrieval.html").xpath("//tbody[@id='question-rows']/tr")
    assert len(rows) == 3
    hits = rows[0].xpath(".//table[@class='hits']/tbody/tr")
    assert len(hits) == 10
    assert [hit.get("class") for hit in hits].count("right") == 1
    right = rows[0].xpath(".//tr[@class='right']//a/@href")[0]
    target, _, anchor = right.partition("#")
    assert page(made, target).get_element_by_id(anchor) is not None
    assert "none" in rows[2].text_content()
    assert "no chunk answers it" in rows[2].text_content()


def test_without_an_artifact_or_goldens_the_report_says_so_and_shows_the_chunks(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.md": "# А\n\n## Б\n\nТекст раздела.\n"})
    draw(root)
    text = text_of(root, "index.html")
    assert "There is no artifact in build/kb/ yet; run ragpress build" in text
    assert "no goldens yet" in text
    assert "Текст раздела." in text_of(root, f"sources/{page_name('a.md')}")
    assert "Текст раздела." in (root / "build" / "report" / "search-data.js").read_text(encoding="utf-8")


def test_an_artifact_that_is_older_than_the_chunks_is_asked_and_said_to_be_older(asking: Path) -> None:
    write_source(asking, "new.md", "# Новое\n\n## Раздел\n\nСовсем другое.\n")
    draw(asking)
    for name in ("index.html", "retrieval.html", "changes.html"):
        assert "build/kb/ is older than these chunks; run ragpress build" in text_of(asking, name)
    assert "of 3 questions" in text_of(asking, "index.html")
    assert "Совсем другое." in text_of(asking, f"sources/{page_name('new.md')}")


def test_a_source_that_fails_is_shown_and_told_and_the_others_are_there(asking: Path) -> None:
    (asking / "sources" / "bad.docx").write_bytes(b"no archive")
    done = run(asking, "doit", "report")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("sources/bad.docx: error:") == 1
    assert "1 source could not be read" in text_of(asking, "index.html")
    assert "of 3 questions" in text_of(asking, "index.html"), "retrieval is that of the last whole artifact"
    assert "cannot be read: " in text_of(asking, "changes.html")
    assert "[bad-archive]" in done.stderr
    assert "bad-archive" in text_of(asking, f"sources/{page_name('bad.docx')}")
    assert "Записаться можно" in text_of(asking, f"sources/{page_name('klinika/wiki.md')}")


def test_questions_that_cannot_be_read_cost_the_report_its_retrieval_only(asking: Path) -> None:
    questions = asking / "golden" / "questions.jsonl"
    good = questions.read_bytes()
    questions.write_bytes(b"no json\n")
    assert any("questions.jsonl:1" in line for line in draw(asking))
    assert "Retrieval could not be measured: golden/questions.jsonl:1" in text_of(asking, "retrieval.html")
    assert any("questions.jsonl:1" in line for line in draw(asking))  # tried again, not taken for done
    questions.write_bytes(good)
    draw(asking)
    assert "of 3 questions" in text_of(asking, "index.html")


def test_a_folder_that_cannot_be_written_ends_in_one_line(repository: Path) -> None:
    write_source(repository, "new.md", "# Новое\n\n## Раздел\n\nСовсем другое.\n")
    (repository / "build" / "report.new").write_text("a file where the folder should be")
    printed = failing(repository, "report")
    assert "report.new/, left over from an earlier build, cannot be removed" in printed
    assert (repository / "build" / "report" / "index.html").is_file()
