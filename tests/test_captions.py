"""Pictures to text: what becomes a chunk, what is asked for, and how an engine fails."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import NamedTuple

import pytest

from chat_server import Answer, Chat, serve
from compiling import chunk_all
from docx_maker import docx, p
from invariants import check_chunks
from pictures import drawn, png
from programs import lacking, need
from ragpress.captions.document import Captioned, with_captions
from ragpress.captions.engine import Engine, EngineError
from ragpress.captions.openai import PROMPT, openai_engine
from ragpress.captions.pictures import Kind, kind_of
from ragpress.captions.store import Caption, prune_captions, read_captions, write_captions
from ragpress.captions.tesseract import tesseract_engine
from ragpress.chunking import chunk_document
from ragpress.config import Config, parse_config
from ragpress.errors import BuildError, render
from ragpress.pipeline.results import load_source
from ragpress.readers import read_document
from ragpress.records import Chunk
from ragpress.repository import open_repository
from ragpress.review.accept import accept
from repository_maker import CLOSED, build, chunks, make_repository, run, write_source

MAP, LOGO = png(shade=10), png(shade=20)
ON = Config(captions="openai", min_tokens=0)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def caption(data: bytes, text: str) -> dict[str, Caption]:
    return {sha256(data): Caption(sha256(data), text=text)}


def picture(name: str) -> str:
    """A run of a Word file with the picture of this relationship."""
    return (
        '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="p"/><a:graphic><a:graphicData><pic:pic><pic:blipFill>'
        f'<a:blip r:embed="{name}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
    )


def word(body: str, **pictures: bytes) -> bytes:
    """A Word file with pictures by the name of their relationship."""
    related = [(name, "image", f"media/{name}.png") for name in pictures]
    return docx(body, also={f"word/media/{name}.png": data for name, data in pictures.items()}, related=related)


def captioned(data: bytes, source: str, captions: dict[str, Caption], root: Path = Path("nowhere")) -> Captioned:
    folder = source.rpartition("/")[0]
    return with_captions(read_document(data, source, ON), captions, "openai", root, folder)


def words(text: str) -> int:
    return 3 + len(text.split())


def cut(found: Captioned) -> tuple[Chunk, ...]:
    made, _ = chunk_document(found.document, ON, words)
    check_chunks(found.document, made, ON.max_tokens, words)
    return made


def said(found: Captioned) -> list[tuple[str, str, str]]:
    return [(chunk.content_type, chunk.locator, chunk.text[chunk.context_chars :]) for chunk in cut(found)]


def told(found: Captioned) -> list[str]:
    return [render(message) for message in found.document.messages]


# -- in a document ---------------------------------------------------------------------------------------------------


def test_a_picture_of_a_word_file_is_a_chunk_in_its_place() -> None:
    data = word(p("Смотрите схему.") + p(picture("map")) + p("Вход со двора."), map=MAP)
    assert said(captioned(data, "a.docx", caption(MAP, "Схема проезда.\n\n\n  Вход   со двора."))) == [
        ("paragraph", "B1", "Смотрите схему."),
        ("image_caption", "B2", "Схема проезда.\n\nВход со двора."),
        ("paragraph", "B3", "Вход со двора."),
    ]


def test_a_caption_stands_under_the_headings_of_its_place_and_is_cut_where_it_is_too_long() -> None:
    data = f"# Клиника\n\n## Проезд\n\nСхема: ![](data:image/png;base64,{base64.b64encode(MAP).decode()})\n".encode()
    lines = "\n".join(f"Строка {number} из многих слов на картинке." for number in range(100))
    found = captioned(data, "a.md", caption(MAP, lines))
    made = [chunk for chunk in cut(found) if chunk.content_type == "image_caption"]
    assert len(made) > 1
    assert {chunk.headings for chunk in made} == {("Клиника", "Проезд")}
    assert all(chunk.text.startswith("## Проезд\n\n") for chunk in made)
    assert all(chunk.text.endswith(".") for chunk in made)  # cut between lines


def test_a_picture_inside_a_list_stands_behind_the_list_so_that_places_ascend() -> None:
    numbering = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    kinds = (
        '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = p("Раз.", numbering) + p(picture("map"), numbering) + p("Два.", numbering) + p("После.")
    data = docx(body, also={"word/media/map.png": MAP}, related=[("map", "image", "media/map.png")], numbering=kinds)
    assert [kind for kind, _, _ in said(captioned(data, "a.docx", caption(MAP, "Схема.")))] == [
        "paragraph",
        "image_caption",
        "paragraph",
    ]


def test_pictures_of_markdown_are_found_as_a_browser_finds_them(tmp_path: Path) -> None:
    (tmp_path / "guide" / "img").mkdir(parents=True)
    names = ("img/a.png", "img/b c.png", "img/d.png", "img/e.png", "img/f.png", "up.png", "img/схема.png")
    captions: dict[str, Caption] = {}
    for number, name in enumerate(names):
        (tmp_path / ("" if name == "up.png" else "guide") / name).write_bytes(png(shade=number))
        captions |= caption(png(shade=number), f"Картинка {number}.")
    text = (
        "![](img/a.png 'имя')\n\n![б](<img/b c.png>) `![](img/code.png)`\n\n- ![г][ref]\n\n| a |\n|--|\n"
        '| <img src="img/e.png"> |\n\n[![](img/f.png)](https://x.example)\n\n![](/up.png) \\![](img/no.png)\n\n'
        "![](img%2F%D1%81%D1%85%D0%B5%D0%BC%D0%B0.png#part)\n\n```\n![](img/fence.png)\n```\n\n[ref]: img/d.png\n"
    )
    found = captioned(text.encode(), "guide/a.md", captions, tmp_path)
    shown = [text for kind, _, text in said(found) if kind == "image_caption"]
    assert shown == [f"Картинка {number}." for number in range(7)]
    files = [f"guide/{name}" for name in names if name != "up.png"]
    assert [use.file for use in found.uses] == [*sorted(files), "up.png"]
    assert told(found) == []


def test_no_picture_is_read_from_outside_of_the_sources(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    (tmp_path / "secret.png").write_bytes(MAP)
    (tmp_path / "sources" / "link.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "sources" / "pipe.png").symlink_to("/dev/zero")
    text = (
        f"Текст.\n\n![](../secret.png) ![](img/../../secret.png) ![](%2e%2e/secret.png) ![](..%5Csecret.png)\n\n"
        f"![]({tmp_path}/secret.png) ![](link.png) ![](pipe.png) ![](file://{tmp_path}/secret.png)\n\n"
        f"![](http://x.example/a.png) ![](//x.example/a.png) <img src='file://{tmp_path}/secret.png'>\n\n"
        "![](data:image/png;base64,=)\n"
    )
    found = captioned(text.encode(), "a.md", caption(MAP, "Тайна."), tmp_path / "sources")
    assert not found.uncaptioned
    assert "Тайна" not in "".join(chunk.text for chunk in cut(found))
    *others, missing = told(found)
    assert others == [
        "sources/a.md:L7: info: 3 pictures are on the web and not fetched; save a copy in sources/ (first"
        " http://x.example/a.png) [picture]",
        "sources/a.md:L9: warning: 1 picture is of a format that openai does not take; save it as PNG, or write its"
        " caption into captions.jsonl (a damaged data: address) [picture]",
        "sources/a.md:L3: warning: 4 pictures are outside of sources/ and not read; put a copy inside (first"
        " ../secret.png) [picture]",
    ]
    start = f"sources/a.md:L5: warning: 3 pictures are missing or too large; correct the address (first {tmp_path}"
    assert missing.startswith(start[:120])  # a long address is shortened


def test_icons_drawings_repeated_silent_and_huge_pictures_are_told_and_not_asked_for() -> None:
    drawing, huge, icon = bytes(40) + b" EMF" + bytes(40), png(20000, 1)[:16] + b"\0\1\0\0" * 2 + bytes(9), png(16, 200)
    pictures = {"map": MAP, "logo": LOGO, "icon": icon, "drawing": drawing, "huge": huge, "silent": png(shade=7)}
    body = "".join(p(picture(name)) for name in (*pictures, "logo", "logo"))
    known = caption(MAP, "Схема.") | caption(png(shade=7), " \n")
    found = captioned(word(p("Текст.") + body, **pictures), "a.docx", known)
    assert [each.sha256 for each, _ in found.uncaptioned] == [sha256(LOGO)]
    assert told(found) == [
        "sources/a.docx:B4: info: 1 picture is too small to say anything [picture]",
        "sources/a.docx:B8: info: 2 pictures are shown again; the caption is at the first place [picture]",
        "sources/a.docx:B7: info: 1 picture has an empty text in captions.jsonl and no chunk [picture]",
        "sources/a.docx:B5: warning: 1 picture is of a format that openai does not take; save it as PNG, or write its"
        f" caption into captions.jsonl (x-emf, sha256 {sha256(drawing)}) [picture]",
        "sources/a.docx:B6: warning: 1 picture is too large for a caption; make it smaller, or write its caption into"
        f" captions.jsonl (65536×65536 pixels, {len(huge)} bytes, sha256 {sha256(huge)}) [picture]",
    ]


def test_a_caption_by_hand_serves_for_a_drawing_that_no_engine_takes() -> None:
    drawing = bytes(40) + b" EMF" + bytes(40)
    found = captioned(word(p(picture("d")), d=drawing), "a.docx", caption(drawing, "Чертёж."))
    assert said(found) == [("image_caption", "B1", "Чертёж.")]
    assert told(found) == []


def test_with_captions_off_pictures_are_counted_and_not_looked_for() -> None:
    document = read_document("![](a.png)\n\n![Схема](b.png) <img src='c.png'>\n".encode(), "a.md", Config())
    assert [unit.kind for unit in document.units] == ["paragraph", "paragraph"]
    assert [render(message) for message in document.messages] == [
        "sources/a.md: info: 2 pictures have no alternative text; write one, as ![what it shows](…), so that it can be"
        " found [picture]"
    ]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_format_and_size_are_told_by_the_bytes(kind: str) -> None:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (321, 123)).save(out, kind)
    assert kind_of(out.getvalue()) == Kind(f"image/{kind.lower()}", 321, 123)
    for size in range(0, 60, 7):  # cut short anywhere
        kind_of(out.getvalue()[:size])


def test_a_gif_may_have_the_longest_sides_that_its_header_can_hold() -> None:
    header = b"GIF89a" + (40_000).to_bytes(2, "little") * 2
    assert kind_of(header + bytes(9)) == Kind("image/gif", 40_000, 40_000)
    assert kind_of(header + bytes(9)).huge


def test_drawings_and_other_bytes_are_told_apart() -> None:
    assert kind_of(b"<?xml version='1.0'?>\n<!-- a --><svg xmlns='x'/>").media_type == "image/svg+xml"
    assert kind_of(b"\xd7\xcd\xc6\x9a" + bytes(20)).media_type == "image/x-wmf"
    assert kind_of(b"text").media_type == ""


# -- captions.jsonl --------------------------------------------------------------------------------------------------


def test_captions_are_kept_sorted_a_line_each_as_they_are(tmp_path: Path) -> None:
    store = tmp_path / "captions.jsonl"
    assert read_captions(store) == {}
    kept = [Caption(sha256(data), "openai eyes", "a.docx:B2", "Схема\nبیمه ‌") for data in (MAP, LOGO, b"")]
    write_captions(store, kept)
    lines = store.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines)
    assert re.fullmatch(
        r'\{"sha256":"[0-9a-f]{64}","engine":"openai eyes","found":"a.docx:B2","text":"Схема\\nبیمه ‌"\}', lines[0]
    )
    assert read_captions(store) == {each.sha256: each for each in kept}
    assert prune_captions(store, {sha256(MAP)}) == 2
    assert list(read_captions(store)) == [sha256(MAP)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("<<<<<<< ours", "line 2: a git merge begins here"),
        ('{"sha256": "abc", "text": ""}', "line 2: `sha256` must be 64 hex digits"),
        (f'{{"sha256": "{"0" * 64}", "texts": ""}}', "unknown field `texts`"),
        (f'{{"sha256": "{sha256(MAP)}"}}', "two lines"),
        ("[" * 100_000, "line 2 is no caption"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    store = tmp_path / "captions.jsonl"
    store.write_bytes(b'{"sha256": "%s", "text": "a"}\r\n%s\n' % (sha256(MAP).encode(), line.encode()))
    with pytest.raises(BuildError, match=re.escape(problem)):
        read_captions(store)


# -- an endpoint -----------------------------------------------------------------------------------------------------


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    for name in ("RAGPRESS_CAPTIONS_KEY", "CI", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-host")
    monkeypatch.setenv("HF_ENDPOINT", CLOSED)
    with serve() as chat:
        chat.texts = {MAP: "Схема проезда", LOGO: "Логотип"}
        yield chat


def endpoint(chat: Chat, *, seconds: float = 5, first_wait: float = 0.01, **settings: str) -> Engine:
    config = parse_config({"captions": "openai", "captions_url": chat.address, "captions_model": "eyes"} | settings)
    return openai_engine(config, seconds=seconds, first_wait=first_wait)


def test_a_picture_is_sent_with_the_question_and_answered(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    chat.key = "sk-the-right-one"
    monkeypatch.setenv("RAGPRESS_CAPTIONS_KEY", " sk-the-right-one\n")
    engine = endpoint(chat)
    assert engine.name == "openai eyes"
    assert engine.caption(MAP, "image/png") == "Схема проезда"
    assert endpoint(chat, captions_prompt="Что это?").caption(LOGO, "image/png") == "Логотип"
    assert [question["messages"][0]["content"][0]["text"] for question in chat.asked] == [PROMPT, "Что это?"]


def test_the_key_of_a_known_host_goes_to_no_other(chat: Chat) -> None:
    endpoint(chat).caption(MAP, "image/png")
    assert chat.keys == [""]


def test_a_busy_server_is_asked_again_as_late_as_it_wishes(chat: Chat) -> None:
    chat.planned = [
        Answer(429, {"Retry-After": "1"}, {"error": {"message": "slow down"}}),
        Answer(503, {"Retry-After": formatdate(time.time() - 5, usegmt=True)}),
        Answer(502, raw=b"<html>bad gateway</html>"),
    ]
    assert endpoint(chat).caption(MAP, "image/png") == "Схема проезда"
    assert chat.times[1] - chat.times[0] >= 1
    assert len(chat.asked) == 4


def test_a_server_that_fails_twice_is_asked_a_third_time(chat: Chat) -> None:
    chat.planned = [Answer(500, body={"error": "overloaded"}), Answer(500, cut=True, body={"error": "overloaded"})]
    assert endpoint(chat).caption(MAP, "image/png") == "Схема проезда"


def test_an_answer_that_breaks_off_is_asked_for_again(chat: Chat) -> None:
    chat.planned = [Answer(cut=True, body=chat.completion(content="Половина"))]
    assert endpoint(chat).caption(MAP, "image/png") == "Схема проезда"


def test_each_wait_is_twice_the_one_before(chat: Chat) -> None:
    chat.planned = [Answer(500)] * 5
    with pytest.raises(BuildError, match=r"failed \(500\) \(asked 5 times\)"):
        endpoint(chat, first_wait=0.05).caption(MAP, "image/png")
    waits = [later - earlier for earlier, later in zip(chat.times, chat.times[1:], strict=False)]
    assert all(wait >= 0.05 * 2**number for number, wait in enumerate(waits))


PLANNED = [
    (Answer(401, body={"error": {"message": "Incorrect API key: sk-secr**"}}), True, "refuses the key (401); set"),
    (Answer(404, body={"error": {"message": "no model"}}), True, "(404: no model); check captions_model"),
    (Answer(307, {"Location": "https://evil.example/"}), True, "sends elsewhere (307)"),
    (Answer(429, {"Retry-After": "3600"}), True, "busy (429) (asked 1 times); build again later"),
    (Answer(429, body={"error": {"code": "insufficient_quota", "message": "pay"}}), True, "quota is used up"),
    (Answer(400, body={"error": {"message": "bad image, key sk-secret-key"}}), False, "answered 400: bad image, key …"),
    (Answer(400, body=["?"]), False, "answered 400"),
    (Answer(413), False, "takes no picture of this size (413)"),
    (Answer(raw=b"not json"), False, "no chat completion"),
    (Answer(body={"choices": []}), False, "no chat completion"),
    (Answer(body=[[]]), False, "no chat completion"),
    (Answer(raw=b"[" * 100_000), False, "no chat completion"),
    (Answer(raw=b" " * (1 << 21)), False, "longer than a megabyte"),
    (Answer(after=1.5, body={}), False, "no answer within 0.2 seconds (asked 5 times)"),
]


@pytest.mark.parametrize(("answer", "everywhere", "problem"), PLANNED)
def test_a_failure_is_named_once_and_never_with_the_key(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, answer: Answer, everywhere: bool, problem: str
) -> None:
    monkeypatch.setenv("RAGPRESS_CAPTIONS_KEY", "sk-secret-key")
    chat.planned = [answer] * (5 if answer.after else 1)
    with pytest.raises(BuildError, match=re.escape(problem)) as caught:
        endpoint(chat, seconds=0.2 if answer.after else 5).caption(MAP, "image/png")
    assert isinstance(caught.value, EngineError) == everywhere
    assert "sk-secr" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        (
            {"message": {"content": None, "refusal": "I can't help with\nthat"}},
            "refuses to describe this picture: I can't",
        ),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, "refuses to describe this picture"),
        ({"message": {"content": "Нача"}, "finish_reason": "length"}, "cut off"),
        ({"message": {"content": " \n"}}, "holds no text"),
        ({"message": {"content": "<think>hm</think>"}}, "holds no text"),
        ({"message": {"content": 7}}, "holds no text"),
        ({"message": {"content": "а" * 8001}}, "answered 8001 characters"),
        ({"message": "text"}, "no chat completion"),
        ({"message": {"content": ["text"]}}, "no chat completion"),
    ],
)
def test_what_is_no_caption_is_never_taken_for_one(chat: Chat, choice: dict[str, object], problem: str) -> None:
    chat.planned = [Answer(body={"choices": [choice]})]
    with pytest.raises(BuildError, match=re.escape(problem)) as caught:
        endpoint(chat).caption(MAP, "image/png")
    assert not isinstance(caught.value, EngineError)


def test_thoughts_and_parts_of_an_answer_are_put_right(chat: Chat) -> None:
    chat.planned = [
        Answer(body=chat.completion(content="<think>It is a map.</think>\n\nСхема")),
        Answer(body=chat.completion(content=[{"type": "text", "text": "Схе"}, {"type": "text", "text": "ма"}])),
    ]
    engine = endpoint(chat)
    assert [engine.caption(MAP, "image/png").strip() for _ in range(2)] == ["Схема", "Схема"]


@pytest.mark.parametrize(
    "settings",
    [
        {"captions_url": ""},
        {"captions_model": ""},
        {"captions_url": "ftp://x.example"},
        {"captions_url": "https://"},
        {"captions_url": "https://user:password@x.example/v1"},
        {"captions_url": "https://x.example:port/v1"},
    ],
)
def test_settings_that_name_no_endpoint_are_refused(chat: Chat, settings: dict[str, str]) -> None:
    with pytest.raises(EngineError, match="captions_url") as caught:
        endpoint(chat, **settings)  # type: ignore[arg-type]  # no setting is called seconds
    assert "password" not in str(caught.value)


def test_a_key_that_is_none_is_refused_without_being_shown(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGPRESS_CAPTIONS_KEY", "sk-ключ")
    with pytest.raises(EngineError, match="RAGPRESS_CAPTIONS_KEY holds characters") as caught:
        endpoint(chat)
    assert "ключ" not in str(caught.value)


def test_nobody_at_the_address_is_said_at_once() -> None:
    config = Config(captions="openai", captions_url=CLOSED, captions_model="eyes")
    with pytest.raises(EngineError, match="cannot be reached: Connection refused"):
        openai_engine(config).caption(MAP, "image/png")


# -- tesseract -------------------------------------------------------------------------------------------------------

RUSSIAN, PERSIAN = "Запись по телефону с 9 до 18 часов", "پرداخت خسارت در هفت روز کاری"


@pytest.fixture
def tesseract() -> Engine:
    need("tesseract", "tesseract-ocr")
    try:
        return tesseract_engine(Config(captions="tesseract"))
    except EngineError as error:
        lacking(str(error))


def test_tesseract_reads_russian_persian_and_english(tesseract: Engine) -> None:
    assert tesseract.name.startswith("tesseract ")
    assert tesseract.caption(drawn([RUSSIAN, "Оплата картой Visa"]), "image/png") == f"{RUSSIAN}\n\nОплата картой Visa"
    found = tesseract.caption(drawn([PERSIAN], persian=True, kind="JPEG"), "image/jpeg")
    assert len(set(found.split()) & set(PERSIAN.split())) >= 5, found
    assert "info@example.com" in tesseract.caption(drawn(["Contact: info@example.com"], kind="TIFF"), "image/tiff")


def test_a_picture_without_text_has_an_empty_caption(tesseract: Engine) -> None:
    assert tesseract.caption(png(300, 300, 255), "image/png") == ""


def test_bytes_that_are_no_picture_are_named(tesseract: Engine) -> None:
    with pytest.raises(BuildError, match="tesseract cannot read this picture") as caught:
        tesseract.caption(b"\x89PNG\r\n\x1a\n" + bytes(500), "image/png")
    assert not isinstance(caught.value, EngineError)


def test_a_missing_language_or_program_is_named_by_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    need("tesseract", "tesseract-ocr")
    with pytest.raises(EngineError, match="install tesseract-ocr-xxx-yy"):
        tesseract_engine(Config(captions="tesseract", captions_model="eng+xxx_YY"))
    with pytest.raises(EngineError, match="write it as fas"):
        tesseract_engine(Config(captions="tesseract", captions_model="-v"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="install the package tesseract-ocr"):
        tesseract_engine(Config(captions="tesseract"))


def test_a_picture_that_takes_too_long_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "tesseract"
    program.write_text(
        '#!/bin/sh\ncase "$1" in\n--list-langs) echo fas rus eng;;\n--version) echo 9;;\n*) sleep 60 & wait;;\nesac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    engine = tesseract_engine(Config(captions="tesseract", source_seconds=1))
    begin = time.monotonic()
    with pytest.raises(BuildError, match="took too long"):
        engine.caption(MAP, "image/png")
    assert time.monotonic() - begin < 10  # what it started is gone, too


# -- a build ---------------------------------------------------------------------------------------------------------

GUIDE = "# Клиника\n\n## Проезд\n\nКак доехать: ![схема](img/map.png)\n\nВход со двора.\n"


@pytest.fixture
def root(tmp_path: Path, chat: Chat) -> Path:
    settings = (
        '[tool.ragpress]\noffline_model = "multilingual-e5-small"\ncaptions = "openai"\n'
        f'captions_url = "{chat.address}"\ncaptions_model = "eyes"\n'
    )
    root = make_repository(tmp_path / "repo", {"guide.md": GUIDE}, settings)
    (root / "sources" / "img").mkdir()
    (root / "sources" / "img" / "map.png").write_bytes(MAP)
    body = p("О клинике.") + p(picture("logo")) + p(picture("map"))
    (root / "sources" / "about.docx").write_bytes(word(body, logo=LOGO, map=MAP))
    return root


class Made(NamedTuple):
    """What chunking a repository's sources printed, and by source the failures and the texts of captions' chunks."""

    printed: str
    failures: dict[str, str]
    captions: dict[str, list[str]]


def chunked(root: Path) -> Made:
    """Chunks what is stale, as a build does."""
    repository = open_repository(root)
    printed: list[str] = []
    failures, captions = {}, {}
    for source, result in chunk_all(repository, printed.append).items():
        if result.failure is not None:
            failures[source] = str(result.failure.error())
        else:
            made, _ = load_source(repository, source)
            captions[source] = [chunk.text for chunk in made if chunk.content_type == "image_caption"]
    return Made("\n".join(printed), failures, captions)


BOTH = {"about.docx": ["Логотип", "Схема проезда"], "guide.md": ["## Проезд\n\nСхема проезда"]}


def test_captions_are_made_once_and_kept(root: Path, chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGPRESS_CAPTIONS_KEY", "sk-kept-nowhere")
    made = chunked(root)
    added = re.findall(r"(\d+) captions? by openai eyes added to captions.jsonl", made.printed)
    assert sum(map(int, added)) == 2
    assert made.captions == BOTH
    logo, route = sorted(read_captions(root / "captions.jsonl").values(), key=lambda each: each.text)
    assert logo == Caption(sha256(LOGO), "openai eyes", "about.docx:B2", "Логотип")
    assert route.found in ("about.docx:B3", "guide.md:L5"), "whichever source was read first"
    assert route == Caption(sha256(MAP), "openai eyes", route.found, "Схема проезда")
    entries = [load_source(open_repository(root), source)[1] for source in BOTH]
    assert [entry.coverage for entry in entries] == [1.0, 1.0]
    assert set(chat.keys) == {"Bearer sk-kept-nowhere"}
    assert "sk-kept-nowhere" not in made.printed
    for path in root.rglob("*"):
        assert not path.is_file() or b"sk-kept-nowhere" not in path.read_bytes(), path
    assert chunked(root).printed == ""

    shutil.rmtree(root / "build")
    monkeypatch.setenv("CI", "true")  # with all captions there, neither network nor a person is needed
    assert chunked(root).captions == BOTH
    assert len(chat.asked) == 2


def test_a_changed_caption_or_picture_changes_its_chunks_alone(root: Path, chat: Chat) -> None:
    chunked(root)
    store, image = root / "captions.jsonl", root / "sources" / "img" / "map.png"
    untouched = root / "build" / "chunks" / "guide.md.jsonl"
    before = untouched.stat().st_mtime_ns
    store.write_text(store.read_text(encoding="utf-8").replace("Логотип", "Знак клиники"), encoding="utf-8")
    assert chunked(root).captions["about.docx"] == ["Знак клиники", "Схема проезда"]
    assert untouched.stat().st_mtime_ns == before

    other = png(shade=99)
    chat.texts[other] = "Новая схема"
    image.write_bytes(other)
    assert chunked(root).captions["guide.md"] == ["## Проезд\n\nНовая схема"]
    image.unlink()
    made = chunked(root)
    assert "guide.md:L5: warning: 1 picture is missing" in made.printed
    assert made.captions["guide.md"] == []
    image.write_bytes(other)
    assert chunked(root).captions["guide.md"] == ["## Проезд\n\nНовая схема"]
    assert len(chat.asked) == 3


def test_accepting_drops_captions_that_no_source_shows(root: Path) -> None:
    chunked(root)
    lines: list[str] = []
    accept(open_repository(root), lines.append)
    assert len(read_captions(root / "captions.jsonl")) == 2
    (root / "sources" / "about.docx").unlink()
    accept(open_repository(root), lines.append)
    assert lines[-1] == "deleted 1 line of captions.jsonl: no source shows such a picture"
    assert list(read_captions(root / "captions.jsonl")) == [sha256(MAP)]


def test_under_ci_a_picture_without_a_caption_fails_its_source_by_name_and_place(
    root: Path, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "1")
    assert chunked(root).failures == {
        "guide.md": f"sources/guide.md:L5: error: the picture {sha256(MAP)[:12]}… (image/png) has no caption in"
        " captions.jsonl; build on your machine, and commit captions.jsonl [caption]",
        "about.docx": f"sources/about.docx:B2: error: the picture {sha256(LOGO)[:12]}… (image/png) and 1 more have no"
        " caption in captions.jsonl; build on your machine, and commit captions.jsonl [caption]",
    }
    assert chat.asked == []
    assert not (root / "captions.jsonl").exists()


def test_a_picture_that_is_refused_fails_its_source_and_the_others_keep_their_captions(root: Path, chat: Chat) -> None:
    chat.texts[LOGO] = " "
    made = chunked(root)
    assert list(made.failures) == ["about.docx"]
    line = made.failures["about.docx"]
    assert line.startswith("sources/about.docx:B2: error: a picture has no caption: the model's answer holds no text")
    assert list(read_captions(root / "captions.jsonl")) == [sha256(MAP)]
    by_hand = re.search(r"write (\{.*\}) into captions.jsonl", line)
    assert by_hand is not None
    with (root / "captions.jsonl").open("a", encoding="utf-8") as store:
        store.write(by_hand[1].replace("…", "Знак") + "\n")
    assert chunked(root).captions["about.docx"] == ["Знак", "Схема проезда"]


def test_an_endpoint_that_refuses_the_key_is_asked_no_more(
    root: Path, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.key = "sk-another"
    monkeypatch.setenv("RAGPRESS_CAPTIONS_KEY", "sk-wrong")
    with (root / "sources" / "guide.md").open("a", encoding="utf-8") as guide:
        for shade in range(30, 60):
            guide.write(f"\n![]({shade}.png)\n")
            (root / "sources" / f"{shade}.png").write_bytes(png(shade=shade))
    made = chunked(root)
    start = "sources/guide.md:L5: error: a picture has no caption: the endpoint refuses the key (401)"
    assert made.failures["guide.md"].startswith(start)
    assert len(chat.asked) <= 4  # as many as are asked at once
    assert "sk-wrong" not in made.printed + str(made.failures)


def test_a_damaged_store_is_named_and_left_alone(root: Path) -> None:
    for text, told in (
        ("{broken\n", "captions.jsonl, line 1"),
        ("<<<<<<< HEAD\n", "captions.jsonl, line 1: a git merge"),
    ):
        (root / "captions.jsonl").write_text(text)
        assert told in chunked(root).failures["guide.md"]
        assert (root / "captions.jsonl").read_text() == text


def test_the_chunk_command_uses_captions_and_makes_none(root: Path, chat: Chat) -> None:
    write_captions(root / "captions.jsonl", caption(LOGO, "Логотип").values())
    done = run(root, "ragpress", "chunk", "sources/about.docx")
    assert done.returncode == 0, done.stderr
    assert "Логотип" in done.stdout
    told = "about.docx:B3: warning: 1 picture has no caption in captions.jsonl yet; run `ragpress build` to make them"
    assert told in done.stderr
    assert chat.asked == []


def test_words_on_a_picture_never_stand_in_for_words_that_are_lost(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caption with the words of a lost paragraph would hide the loss."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import ragpress.readers.markdown as module\nreal = module.read_blocks\n"
        "def lossy(*a, **k):\n    body = real(*a, **k)\n"
        "    return body._replace(blocks=[each for each in body.blocks if 'двора' not in each.text])\n"
        "module.read_blocks = lossy\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)]))
    write_captions(root / "captions.jsonl", [*caption(MAP, "Вход со двора").values(), *caption(LOGO, "Знак").values()])
    assert "3 of 8 visible words are in no chunk" in chunked(root).failures["guide.md"]


@pytest.mark.parametrize("text", ["Знак", ""])
def test_a_section_of_a_picture_alone_loses_no_word(root: Path, text: str) -> None:
    write_source(root, "guide.md", f"{GUIDE}\n## Фотография входа\n\n<img src='img/logo.png'>\n")
    (root / "sources" / "img" / "logo.png").write_bytes(LOGO)
    write_captions(root / "captions.jsonl", [*caption(MAP, "Схема").values(), *caption(LOGO, text).values()])
    made = chunked(root)
    assert made.failures == {}
    assert made.captions["guide.md"][1:] == [f"## Фотография входа\n\n{text}"] * bool(text)
    assert load_source(open_repository(root), "guide.md")[1].coverage == 1.0


def test_a_build_is_idle_once_captions_are_there(tmp_path: Path, tesseract: Engine) -> None:
    settings = '[tool.ragpress]\noffline_model = "multilingual-e5-small"\ncaptions = "tesseract"\n'
    root = make_repository(tmp_path / "repo", {"guide.md": GUIDE}, settings)
    (root / "sources" / "img").mkdir()
    (root / "sources" / "img" / "map.png").write_bytes(drawn([RUSSIAN]))
    build(root)
    assert f"## Проезд\n\n{RUSSIAN}" in [chunk["text"] for chunk in chunks(root)]
    assert "nothing to do" in build(root)
