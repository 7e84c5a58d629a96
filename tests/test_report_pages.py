"""The report as a person uses it: in a real browser, from disk, with a mouse, a keyboard and both scripts."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from browser import running, tab
from ragpress.knowledge_base import KnowledgeBase
from ragpress.lexical.words import words
from ragpress.report.showing import page_name
from ragpress.report.site import render
from ragpress.repository import open_repository
from ragpress.text import fold
from report_maker import HOSTILE, edited_repository, large_report
from repository_maker import build, make_repository

SAMPLE = Path(__file__).resolve().parent.parent / "sources" / "klinika"

WIKI = f"sources/{page_name('klinika/wiki.md')}"
GUIDE = f"sources/{page_name('bime/راهنما.md')}"
ROWS = f"sources/{page_name(HOSTILE)}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def report(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return edited_repository(tmp_path_factory) / "build" / "report"


def pages(report: Path) -> list[str]:
    return sorted(path.relative_to(report).as_posix() for path in report.rglob("*.html"))


def search(page: Page, query: str) -> list[str]:
    """What the search page tells of a query: the count, then each hit's text."""
    page.get_by_role("searchbox").fill(query)
    page.keyboard.press("Enter")
    hits = page.locator("#results > li")
    for _ in range(40):  # Chromium lays what is new out a moment later, and has no inner text for it until then
        if hits.count() == 0 or hits.first.inner_text():
            break
        page.wait_for_timeout(50)
    return [page.locator("#found").inner_text(), *page.locator("#results > li").all_inner_texts()]


def test_every_page_opens_from_disk_without_an_error_or_a_request_elsewhere(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        for name in pages(report):
            page = found.open(report / name)
            assert page.title().endswith("ragpress report")
            assert page.locator("h1").count() == page.locator("main").count() == 1


def test_a_source_with_scripts_runs_none_of_them(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        for name, rest in ((ROWS, ""), ("search.html", "?q=pwned"), ("retrieval.html", "")):
            page = found.open(report / name, rest)
            assert "pwned" not in page.title()
            assert page.locator("img").count() == 0
        page = found.open(report / "search.html", "#q=<script>")
        page.locator("#results > li").first.wait_for()
        assert "<script>document.title = 'pwned'</script>" in page.locator("#results").inner_text()


# -- searching -------------------------------------------------------------------------------------------------------

TEXTS = (
    "Ёлка и ёж, ЁЛКА",
    "كتاب علي ۱۲۳ ٤٥٦ 789",
    "می‌روم، کتاب‌ها و خانه‌ی ما",
    "ﷲ ﷼100 ﻻﺕ ﺷﻜﺮ ـ کـتـاب",
    "\u200cabc\u200c def\u200c\u200cghi (\u200cي) «ي\u200c»",
    "STRASSE Straße ΣΊΣΥΦΟΣ Ὀδυσσεύς İstanbul ﬁne",
    "آبِ زُلال هٔ ۀ ة ؤ إ أ",
    "a\u0301\u00adb\u2067c\u2069 ｆｕｌｌ ½ ² №",
    "क्\u200cष ক্\u200c \u0915\u094d\u200c ",
    "\x85a\x1cb\u00a0c\u3000d ـــ e",
    "👩\u200d⚕️ Ⅷ ǅ Ꭰꭰ ᾳ",
)


def test_the_browser_folds_as_the_tool_does(browser: Browser, report: Path) -> None:
    letters = [chr(number) for number in range(0x20000) if unicodedata.category(chr(number)) not in {"Cn", "Cs", "Co"}]
    texts = [*TEXTS, *letters, *(f"ب{letter}ب" for letter in letters[:20000]), *(f"а {letter}" for letter in letters)]
    with tab(browser) as found:
        page = found.open(report / "search.html")
        folded = page.evaluate("texts => texts.map((text) => folding.fold(text, ragpressData.folding))", texts)
    assert [(text, one) for text, one in zip(texts, folded, strict=True) if one != fold(text)] == []


NUMBERS = (
    "Цена 5 400 руб., 5,400 или ۵٬۴۰۰; 1.234.567 и 12 5 400",
    "Тел. 8 (812) 555-01-23, +7 812 555 01 23, 555-01-23, (021) 8888-1234, ۰۲۱-۸۸۸۸۱۲۳۴",
    "с 7:30 до 20:00, 2024-05-06, ГОСТ 12.0.004-2015, А1.04.003",
    "+98 21 1234 5678 и 00 98 21 12345678, 89215550123",
    "٣٤٥ 𝟏𝟐𝟑𝟒 १२३४ 5\u00a0400 5\u202f400 5'400 5’400",
)


def test_the_browser_finds_the_words_that_the_tool_does(browser: Browser, report: Path) -> None:
    letters = [chr(number) for number in range(0x20000) if unicodedata.category(chr(number)) not in {"Cn", "Cs", "Co"}]
    phones = [
        f"{mark}{a}{b}{c}"
        for mark in ("", "+", "(")
        for a in ("8", "021", "12")
        for b in " -,."
        for c in ("555", "5550123")
    ]
    texts = [*TEXTS, *NUMBERS, *phones, *(f"12{letter}345 аб{letter}вг" for letter in letters)]
    with tab(browser) as found:
        page = found.open(report / "search.html")
        code = "texts => texts.map((text) => wording.words(text, (piece) => folding.fold(piece, ragpressData.folding)))"
        counted = page.evaluate(code, texts)
    wrong = [(text, one) for text, one in zip(texts, counted, strict=True) if sorted(one) != sorted(words(text))]
    assert wrong == []


@pytest.mark.parametrize(
    ("query", "found", "marked", "absent"),
    [
        ("پوشش 12345", "۱۲۳۴۵", ["پوشش", "۱۲۳۴۵"], []),  # Latin digits find Persian ones
        ("كارت ملي", "کارت ملی", ["کارت", "ملی"], []),  # Arabic kaf and yeh find the Persian letters
        ("прием ТЕРАПЕВТУ", "Приём терапевта", ["Приём", "терапевта"], []),
        ("«стоянка на»", "Стоянка на двенадцать", ["Стоянка", "на"], []),
        ("1900", "1 900", ["1 900"], []),
        ("двенадцать телефону", "Стоянка на", ["двенадцать"], ["телефону"]),  # never in one chunk
        ("сколько стоит кардиолог", "Приём кардиолога", ["кардиолога"], ["сколько", "стоит"]),
        ("api", "API", ["API"], []),
        ("неведомое", "", [], []),
        ("«на стоянка»", "", [], []),
    ],
)
def test_a_search_finds_in_both_scripts_marks_what_it_found_and_names_what_it_did_not(
    browser: Browser, report: Path, query: str, found: str, marked: list[str], absent: list[str]
) -> None:
    with tab(browser) as opened:
        page = opened.open(report / "search.html")
        page.locator("#found", has_text="to search").wait_for()
        count, *hits = search(page, query)
        if not found:
            assert (count, hits) == ("No chunk has a word of this", [])
            return
        first = page.locator("#results > li").first
        assert found in hits[0]
        assert set(marked) <= set(first.locator("mark").all_inner_texts())
        assert first.locator(".missing bdi").all_inner_texts() == absent


def test_a_chunk_is_found_by_its_id(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        page = found.open(report / "search.html")
        identifier = page.evaluate("ragpressData.chunks[2][0]")
        assert len(search(page, identifier)) == 2


def test_the_sample_s_search_page_finds_and_ranks_as_the_reader_does_by_words(browser: Browser, tmp_path: Path) -> None:
    prices = "Услуга;Цена, руб.\nУдаление зуба;5 400\nУдаление ногтя;3 100\nПломба;4 200\n"
    wiki = (SAMPLE / "wiki.md").read_text(encoding="utf-8")
    root = make_repository(tmp_path / "repo", {"wiki.md": wiki, "цены.csv": prices})
    build(root, "index", "report")
    expected = {
        "сколько стоит удаление зуба": "Удаление зуба",
        "парковки": "тоянк",
        "кардиологу": "ардиолог",
        "5400": "5 400",
        "телефон регистратуры": "елефон",
    }
    with KnowledgeBase.open(root / "build" / "kb") as base, tab(browser) as found:
        page = found.open(root / "build" / "report" / "search.html")
        page.locator("#found", has_text="to search").wait_for()
        for query, part in expected.items():
            hits = base.search(query, 50, mode="words")
            _, *shown = search(page, query)
            links = page.locator("#results > li .head a").evaluate_all(
                "links => links.map((link) => link.hash.slice(3))"
            )
            scores = [float(re.search(r"word score ([\d.]+)", text)[1]) for text in shown]  # type: ignore[index]
            assert links == [hit.chunk.chunk_id for hit in hits]
            assert scores == pytest.approx([hit.score for hit in hits], abs=6e-4)
            assert part in shown[0]


def test_a_hit_leads_to_its_chunk_and_back_to_the_search(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        page = found.open(report / WIKI)
        page.get_by_role("searchbox", name="Search the chunks").fill("кардиолога")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search.html?q=*")
        page.locator("#found", has_text="1 chunk").wait_for()
        page.locator("#results a").click()
        page.wait_for_url(f"**/{WIKI}#c-*")
        target = page.locator("article:target")
        assert "Приём кардиолога | 2 500" in target.inner_text()
        assert target.evaluate("element => document.activeElement === element")
        page.go_back()
        page.locator("#found", has_text="1 chunk").wait_for()
        assert page.get_by_role("searchbox").input_value() == "кардиолога"


def test_a_search_is_narrowed_by_source_type_and_marks(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        page = found.open(report / "search.html")
        page.locator("#found", has_text="10 chunks to search").wait_for()
        page.get_by_role("checkbox", name="paragraph").uncheck()
        page.locator("#found", has_text="4 chunks").wait_for()
        page.get_by_role("checkbox", name="paragraph").check()
        page.get_by_role("checkbox", name="changed").check()
        page.locator("#found", has_text="3 chunks").wait_for()
        page.get_by_label("Source").select_option(label="new.md")
        page.locator("#found", has_text="1 chunk").wait_for()
        assert "Появилось сегодня." in page.locator("#results").inner_text()


# -- reading ---------------------------------------------------------------------------------------------------------


def test_a_change_is_followed_from_the_overview_to_its_words_and_its_chunk(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        page = found.open(report / "index.html")
        page.locator("section", has_text="What changed").get_by_role("link", name="klinika/wiki.md").click()
        page.wait_for_url(f"**/{WIKI}#changes")
        change = page.locator("article.k-changed")
        assert change.locator("del").all_inner_texts() == ["7:30"]
        assert change.locator("ins").all_inner_texts() == ["8:00"]
        before, after = (change.locator(".side").nth(number).bounding_box() for number in (0, 1))
        assert before is not None
        assert after is not None
        assert before["y"] == after["y"]
        assert before["x"] + before["width"] <= after["x"]
        change.get_by_role("link", name="the chunk now").click()
        assert "с 8:00 до 20:00" in page.locator("article:target").inner_text()
        page.locator("article:target").get_by_role("link", name="changed").click()
        assert page.locator("article:target del").count() == 1


def test_the_chunks_of_a_source_are_filtered_and_counted(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        page = found.open(report / WIKI)
        shown = page.locator("article.chunk:visible")
        status = page.locator("[data-count=chunks]")
        assert (shown.count(), status.inner_text()) == (3, "3 of 3 chunks")
        page.get_by_role("checkbox", name="changed").check()
        status.filter(has_text="2 of 3 chunks").wait_for()
        assert page.locator("h3.path:visible").all_inner_texts() == ["Клиника › Запись", "Клиника › Стоянка"]
        hidden = page.locator("article.chunk").last.get_attribute("id")
        page.evaluate("id => { location.hash = id; }", hidden)  # a link to what the filter hides shows it
        page.locator(f"#{hidden}").wait_for(state="visible")
        page = found.open(report / ROWS)
        page.get_by_role("checkbox", name="with messages").check()
        page.locator("[data-count=chunks]", has_text="1 of 4 chunks").wait_for()


def test_the_tables_are_filtered(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        page = found.open(report / "index.html")
        count = page.locator("[data-count=sources]")
        for label, expected in (("changed", 3), ("with messages", 2)):
            page.get_by_role("checkbox", name=label).check()
            count.filter(has_text=f"{expected} of 5 sources").wait_for()
            page.get_by_role("checkbox", name=label).uncheck()
        page.get_by_label("Name or title").fill("راهنما")
        count.filter(has_text="1 of 5 sources").wait_for()
        page = found.open(report / "retrieval.html")
        page.get_by_label("Show").select_option("missed")
        page.locator("[data-count=questions]", has_text="1 of 3 questions").wait_for()
        page.get_by_label("Show").select_option("")
        page.locator("summary").first.click()
        page.locator("tr.right:visible a").first.click()
        assert page.locator("article:target").count() == 1


def test_each_text_runs_in_its_own_direction(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        page = found.open(report / GUIDE)
        texts = page.locator("article.chunk .text > p, article.chunk .context")
        assert texts.count() == 4
        for number in range(4):
            style = texts.nth(number).evaluate("e => [getComputedStyle(e).direction, e.lang]")
            assert style == ["rtl", "fa"]  # the one that begins with a Latin word among them
        assert page.locator("h1 > bdi").evaluate("e => getComputedStyle(e).direction") == "ltr"
        page = found.open(report / WIKI)
        assert page.locator("article.chunk .text > p").first.evaluate("e => getComputedStyle(e).direction") == "ltr"


# -- for everyone ----------------------------------------------------------------------------------------------------


def test_the_keyboard_reaches_the_content_first_and_everything_in_order(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        page = found.open(report / WIKI)
        order = []
        for _ in range(7):
            page.keyboard.press("Tab")
            order.append(page.evaluate("document.activeElement.textContent || document.activeElement.name"))
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid", order[-1]
        assert order == ["Skip to the content", "Overview", "Changes", "Retrieval", "Search", "q", "Search"]
        page = found.open(report / WIKI)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.keyboard.press("Tab")
        assert "All sources" in page.locator("nav.beside").inner_text()
        assert page.evaluate("document.activeElement.closest('nav.beside') !== null")


NAMELESS = """() => [...document.querySelectorAll("input, select, button, a, svg[role=img], [role=region], summary")]
  .filter((one) => !(one.labels?.length || one.textContent.trim() || one.getAttribute("aria-label")
    || one.getAttribute("aria-labelledby"))).map((one) => one.outerHTML)"""
DANGLING = """() => [...document.querySelectorAll("[aria-labelledby], [for], a[href^='#']")].flatMap((one) =>
  (one.getAttribute("aria-labelledby") ?? one.getAttribute("for") ?? one.getAttribute("href").slice(1)).split(" ")
  .filter((id) => id && !document.getElementById(id)))"""
TWICE = """() => { const seen = new Set(); return [...document.querySelectorAll("[id]")].map((one) => one.id)
  .filter((id) => seen.has(id) || !seen.add(id)); }"""
SKIPPED = """() => { let last = 1; return [...document.querySelectorAll("h1, h2, h3, h4")].filter((one) => {
  const level = Number(one.tagName[1]), wrong = level > last + 1; last = level; return wrong; })
  .map((one) => one.outerHTML); }"""


def test_controls_have_names_ids_are_unique_and_headings_nest(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        for name in pages(report):
            page = found.open(report / name)
            for script in (NAMELESS, DANGLING, TWICE, SKIPPED):
                assert page.evaluate(script) == [], name
            assert page.evaluate("document.documentElement.lang") == "en"


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast_in_both_schemes(browser: Browser, report: Path, scheme: str) -> None:
    inks = {"ground": ("text", "quiet", "link"), "shade": ("text", "quiet"), "mark": ("text",)}
    inks["surface"] = ("text", "quiet", "link", "paragraph", "table_row", "qa_pair", "image_caption", "added")
    inks["surface"] += ("removed", "changed", "moved")
    inks |= {"added-ground": ("added", "text"), "removed-ground": ("removed", "text")}
    with tab(browser, scheme=scheme) as found:
        page = found.open(report / "index.html")
        read = "name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim()"
        dark = luminance(page.evaluate(read, "ground")) < luminance(page.evaluate(read, "text"))
        assert dark == (scheme == "dark")
        for ground, names in inks.items():
            for ink in names:
                one, two = sorted(luminance(page.evaluate(read, name)) for name in (ground, ink))
                assert (two + 0.05) / (one + 0.05) >= 4.5, (ink, ground)


MARKED = """() => [...document.querySelectorAll("ins, del, mark")].map((one) => {
  const style = getComputedStyle(one); return [style.color, style.backgroundColor, one.textContent]; })"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marked_words_have_contrast_wherever_they_are(browser: Browser, report: Path, scheme: str) -> None:
    with tab(browser, scheme=scheme) as found:
        marked = found.open(report / "changes.html").evaluate(MARKED)
        page = found.open(report / "search.html", "#q=Цены")
        page.locator("#results mark").first.wait_for()
        assert page.locator("#results p.context mark").count()
        marked += page.evaluate(MARKED)
        assert len(marked) > 5
        for ink, ground, text in marked:
            one, two = sorted(
                luminance("#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", colour)[:3]))
                for colour in (ink, ground)
            )
            assert (two + 0.05) / (one + 0.05) >= 4.5, (text, ink, ground)


OUTSIDE = """() => [...document.querySelectorAll("main *, header *")].filter((one) => {
  const box = one.getBoundingClientRect(), width = document.documentElement.clientWidth;
  return box.width > 1 && box.height > 1 && (box.right > width + 1 || box.left < -1); }).map((one) => one.outerHTML)"""


@pytest.mark.parametrize("width", [340, 400])
def test_in_a_narrow_window_nothing_is_outside_of_it(browser: Browser, report: Path, width: int) -> None:
    with tab(browser, width=width) as found:
        for name in pages(report):
            page = found.open(report / name)
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            assert page.evaluate(OUTSIDE)[:1] == [], name


def test_sources_are_sorted_by_each_column_and_back(browser: Browser, report: Path) -> None:
    with tab(browser) as found:
        page = found.open(report / "index.html")
        rows = page.locator("#rows > tr")
        for column, head in enumerate(("Source", "Chunks", "Types", "Tokens", "Coverage", "Messages", "Changes")):
            button = page.get_by_role("button", name=head)
            orders = []
            for _ in range(2):
                button.click()
                cell = "(rows, at) => rows.map((row) => row.cells[at].dataset.value ?? row.cells[0].textContent)"
                values = rows.evaluate_all(cell, column)
                orders.append([float(value) for value in values] if column else values)
            assert orders[0] == orders[1][::-1], head
            assert orders[1] == sorted(orders[1]) if column else orders[0][0] < orders[0][-1], head
        assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Changes")


# -- large -----------------------------------------------------------------------------------------------------------


def test_5000_chunks_are_there_and_only_what_is_looked_at_is_laid_out(
    browser: Browser, tmp_path: Path, record_property: Any
) -> None:
    repository = open_repository(make_repository(tmp_path / "repo", {}))
    for name, data in render(large_report(repository, 5000)):
        path = tmp_path / "large" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    loads: dict[str, float] = {}
    for source in ("прайс.csv", "راهنما.md"):
        with tab(browser) as found:
            page = found.open(tmp_path / "large" / "sources" / page_name(source))
            loads[source] = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
            chunks = page.locator("article.chunk")
            assert chunks.count() == 2500
            assert chunks.last.evaluate("e => getComputedStyle(e).contentVisibility") == "auto"
            # a skipped chunk has no layout of its own
            assert not chunks.last.evaluate(
                "e => e.querySelector('.text').checkVisibility({contentVisibilityAuto: true})"
            )
            last = chunks.last.get_attribute("id")
            page.evaluate("id => { location.hash = id; }", last)
            box = page.locator(f"#{last}").bounding_box()
            assert box is not None
            assert 0 <= box["y"] < 900
    with tab(browser) as found:
        page = found.open(tmp_path / "large" / "search.html")
        page.locator("#found", has_text="5000 chunks to search").wait_for()
        loads["search"] = page.evaluate("performance.now()")
        count, *hits = search(page, "درمان 2499")
        assert "شمارهٔ 2499" in hits[0]
        count, *hits = search(page, "рублей")
        assert (count, len(hits)) == ("2500 chunks, the first 50 are shown", 50)
        page.get_by_role("button", name="Show more").click()
        assert page.locator("#results > li").count() == 100
        assert page.evaluate("document.activeElement.closest('li') === document.getElementById('results').children[50]")
    record_property("milliseconds until loaded", json.dumps(loads, ensure_ascii=False))
