"""Files of old formats by LibreOffice: what is read of them, what is refused, and what it may not do meanwhile."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import time
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import msgspec
import pytest
from openpyxl import Workbook

from compiling import chunk_all
from docx_maker import docx, p, tbl, tr
from pictures import png
from programs import need
from ragpress import sandbox as outside
from ragpress.config import Config
from ragpress.errors import BuildError, SourceError
from ragpress.pipeline.convert import convert
from ragpress.pipeline.results import load_source
from ragpress.readers import CONVERTIBLE, READABLE, is_readable, read_document
from ragpress.records import Chunk
from ragpress.repository import open_repository
from ragpress.sources import list_sources
from repository_maker import CLOSED, make_repository, run

ON = Config(convert_doc=True)
SETTINGS = '[tool.ragpress]\noffline_model = "multilingual-e5-small"\nconvert_doc = true\n'

HEADING = (
    '<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr>'
    "</w:style>"
)
SHOWN = (
    '<w:r><w:drawing><wp:inline><wp:extent cx="914400" cy="914400"/><wp:docPr id="1" name="map"/>'
    '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>'
    '<pic:cNvPr id="1" name="map"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="map"/><a:stretch>'
    '<a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="914400" cy="914400"/>'
    '</a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic>'
    "</wp:inline></w:drawing></w:r>"
)
TEXT = docx(
    p("Запись на приём", '<w:pStyle w:val="H2"/>')
    + p("Запишитесь по телефону или на сайте клиники.")
    + p("پرداخت خسارت در هفت روز کاری انجام می‌شود.")
    + tbl(tr("Врач", "Кабинет") + tr("Терапевт", "12") + tr("Окулист", "5"))
    + p(SHOWN),
    also={"word/media/map.png": png()},
    related=[("map", "image", "media/map.png")],
    styles=HEADING,
)


def office(folder: Path, form: str, *names: str) -> None:
    """Has LibreOffice write files of another format beside these."""
    subprocess.run(
        [
            need("soffice", "libreoffice-writer"),
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            *("--headless", "--convert-to", form, "--outdir", str(folder), *(str(folder / name) for name in names)),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with text.doc, text.odt, text.rtf, book.xls and book.ods, as LibreOffice itself writes them."""
    folder = tmp_path_factory.mktemp("old")
    (folder / "text.docx").write_bytes(TEXT)
    book = Workbook()
    book.active.title = "Цены"
    for row in (["Услуга", "Цена"], ["Осмотр", 900], ["УЗИ", 1500]):
        book.active.append(row)
    book.save(folder / "book.xlsx")
    for form in ("doc:MS Word 97", "odt", "rtf"):
        office(folder, form, "text.docx")
    for form in ("xls:MS Excel 97", "ods"):
        office(folder, form, "book.xlsx")
    return folder


def odt(body: str, kind: str = "text") -> bytes:
    """An OpenDocument file with this body."""
    names = " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}"'
        for prefix, name in {
            "office": "office:1.0",
            "text": "text:1.0",
            "table": "table:1.0",
            "draw": "drawing:1.0",
            "svg": "svg-compatible:1.0",
            "of": "of:1.2",
        }.items()
    )
    media_type = f"application/vnd.oasis.opendocument.{kind}"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("mimetype", media_type)
        file.writestr(
            "META-INF/manifest.xml",
            '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" m:version="1.2">'
            f'<m:file-entry m:full-path="/" m:media-type="{media_type}"/>'
            '<m:file-entry m:full-path="content.xml" m:media-type="text/xml"/></m:manifest>',
        )
        file.writestr(
            "content.xml",
            f'<office:document-content {names} xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2">'
            f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        )
    return out.getvalue()


def texts(data: bytes, source: str, folder: Path) -> list[str]:
    made = convert(data, source, folder, ON)
    return [unit.text for unit in read_document(made.read_bytes(), source, ON, made.suffix).units if unit.text]


def chunked(root: Path) -> tuple[dict[str, tuple[Chunk, ...]], dict[str, str]]:
    """By source the chunks that a build makes, and why there are none."""
    repository = open_repository(root)
    results = chunk_all(repository, lambda _: None)
    good = {source: load_source(repository, source)[0] for source, result in results.items() if not result.failure}
    return good, {source: str(result.failure.error()) for source, result in results.items() if result.failure}


# -- what is read ----------------------------------------------------------------------------------------------------


def test_old_files_give_the_chunks_of_the_new_ones(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", CLOSED)
    root = make_repository(tmp_path / "repo", {}, SETTINGS)
    shutil.copytree(old, root / "sources", ignore=shutil.ignore_patterns("profile"))
    found, failures = chunked(root)
    assert failures == {}
    own = {
        source: [(chunk.content_type, chunk.section, chunk.text[chunk.context_chars :]) for chunk in made]
        for source, made in found.items()
    }
    assert own["text.doc"] == own["text.docx"]
    assert own["text.odt"] == own["text.docx"]
    assert [text for _, _, text in own["text.rtf"]][:3] == [text for _, _, text in own["text.docx"]][:3]
    assert own["book.xls"] == own["book.ods"] == own["book.xlsx"]
    assert {chunk.locator for chunk in found["book.xls"]} == {chunk.locator for chunk in found["book.xlsx"]}
    repository = open_repository(root)
    for source in found:
        _, entry = load_source(repository, source)
        assert entry.coverage == 1.0, source
        assert any("LibreOffice made" in message.text for message in entry.messages) == (
            source[-4:] not in ("docx", "xlsx")
        )
    names = {path.name: path.stat().st_mtime_ns for path in (root / "build" / "converted").iterdir()}
    assert len(names) == 5
    made = convert((old / "text.doc").read_bytes(), "text.doc", root / "build" / "converted", ON)
    assert len(read_document(made.read_bytes(), "text.doc", ON, made.suffix).pictures) == 1

    shutil.rmtree(root / "build" / "chunks")  # what was converted is kept by its content, whatever the name
    (root / "sources" / "text.doc").rename(root / "sources" / "other.doc")
    assert "other.doc" in chunked(root)[0]
    assert {path.name: path.stat().st_mtime_ns for path in (root / "build" / "converted").iterdir()} == names


def test_the_chunk_command_follows_the_setting_and_leaves_no_file(old: Path, tmp_path: Path) -> None:
    shutil.copy(old / "text.doc", tmp_path)
    done = run(tmp_path, "ragpress", "chunk", "text.doc")
    assert done.returncode == 1
    assert done.stderr == (
        "text.doc: error: a .doc file is not read as it is; set convert_doc = true to have LibreOffice convert it, or"
        " save it as .docx [legacy-doc]\n"
    )
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    done = run(tmp_path, "ragpress", "chunk", "text.doc")
    assert done.returncode == 0, done.stderr
    assert '"source":"text.doc"' in done.stdout
    assert "Терапевт" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"text.doc", "pyproject.toml"}


def test_what_the_day_or_the_place_decides_is_left_out(tmp_path: Path) -> None:
    need("soffice", "libreoffice-writer")
    body = (
        '<text:p>Дата: <text:date text:date-value="2020-01-02">02.01.2020</text:date> <text:time>10:00</text:time>'
        " <text:file-name>x.odt</text:file-name> конец.</text:p>"
        '<text:p>Принято <text:date text:fixed="true" text:date-value="2020-01-02">02.01.2020</text:date>.</text:p>'
    )
    assert texts(odt(body), "a.odt", tmp_path) == ["Дата: конец.", "Принято 1/2/20."]
    cells = "".join(
        f'<table:table-cell table:formula="of:={formula}" office:value-type="float" office:value="{value}"/>'
        for formula, value in (("TODAY()", 43000), ("RAND()", 0.5), ("ROUND(2.6;0)", 3))
    )
    table = f'<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>'
    assert texts(odt(table, "spreadsheet"), "a.ods", tmp_path) == ["=TODAY()\n=RAND()\n3"]


def test_the_same_file_is_converted_to_the_same_bytes(old: Path, tmp_path: Path) -> None:
    data = (old / "text.doc").read_bytes()
    one, two = (convert(data, name, tmp_path / name, ON) for name in ("a.doc", "b.doc"))
    assert one.name == two.name
    assert one.read_bytes() == two.read_bytes()


def test_other_files_under_an_old_suffix_are_read_as_what_they_are(old: Path, tmp_path: Path) -> None:
    page = "<html><meta charset='utf-8'><table><tr><td>Услуга<td>Цена<tr><td>Осмотр<td>900</table></html>"
    assert texts(page.encode(), "export.xls", tmp_path) == ["Услуга: Осмотр\nЦена: 900"]
    assert "Осмотр" in "".join(texts(page.encode(), "export.doc", tmp_path))
    assert texts((old / "text.rtf").read_bytes(), "letter.doc", tmp_path)[0].startswith("Запишитесь")
    assert texts(TEXT, "renamed.doc", tmp_path)[0].startswith("Запишитесь")


# -- what is refused -------------------------------------------------------------------------------------------------

OLE = bytes.fromhex("d0cf11e0a1b11ae1")
GARBAGE = bytes(range(256)) * 40


@pytest.mark.parametrize(
    ("source", "data"),
    [
        ("empty.doc", b""),
        ("noise.doc", GARBAGE),
        ("text.doc", "Просто текст.".encode()),
        ("ole.doc", OLE + GARBAGE),
        ("book.doc", OLE + GARBAGE + "Workbook".encode("utf-16-le")),
        ("half.doc", OLE + bytes(504) + b"\xec\xa5" + GARBAGE + "WordDocument".encode("utf-16-le")),
        ("half.xls", OLE + GARBAGE + "Workbook".encode("utf-16-le")),
        ("table.xls", b"a\tb\n1\t2\n"),
        ("zip.odt", b"PK\x03\x04" + GARBAGE),
        ("page.odt", b"<html>x</html>"),
        ("letter.rtf", b"{\\rtf1 cut off"),
        ("deep.rtf", b"{\\rtf1 " + b"{" * 200_000),
    ],
)
def test_what_is_no_such_file_ends_in_one_line(tmp_path: Path, source: str, data: bytes) -> None:
    need("soffice", "libreoffice-writer")
    with pytest.raises(BuildError) as caught:
        convert(data, source, tmp_path, ON)
    assert str(caught.value).startswith(f"sources/{source}: error: ")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_cut_short_is_never_read_as_noise(old: Path, tmp_path: Path) -> None:
    data = (old / "text.doc").read_bytes()
    known = set("\n".join(texts(data, "whole.doc", tmp_path)).split())
    for size in (600, 5000, len(data) // 2):
        try:
            found = "".join(texts(data[:size], "cut.doc", tmp_path))
        except SourceError:
            continue
        assert set(found.split()) <= known, found


def test_a_missing_libreoffice_names_the_package(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for source, package in (("text.doc", "libreoffice-writer"), ("book.xls", "libreoffice-calc")):
        with pytest.raises(BuildError, match=f"LibreOffice, which is not installed; install {package}") as caught:
            convert((old / source).read_bytes(), source, tmp_path / "made", ON)
        assert not isinstance(caught.value, SourceError)  # it is tried again once it is installed


def program(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of this name in the place of LibreOffice."""
    (folder / "bin").mkdir()
    path = folder / "bin" / "soffice"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")


RTF = b"{\\rtf1 x}"


def test_a_conversion_without_end_is_stopped_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, f"(sleep 2; touch {tmp_path}/alive) & wait", monkeypatch)
    begin = time.monotonic()
    with pytest.raises(BuildError, match="did not convert it within 1 seconds") as caught:
        convert(RTF, "a.rtf", tmp_path / "made", msgspec.structs.replace(ON, source_seconds=1))
    assert not isinstance(caught.value, SourceError)
    time.sleep(max(0.0, begin + 2.3 - time.monotonic()))
    assert not (tmp_path / "alive").exists()


def test_a_conversion_that_dies_or_makes_too_much_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "kill -SEGV $$", monkeypatch)
    with pytest.raises(BuildError, match=r"ended in the middle of it \(status -11\)"):
        convert(RTF, "a.rtf", tmp_path / "made", ON)
    bomb = tmp_path / "bomb.docx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", bytes(70 << 20))
    (tmp_path / "bin" / "soffice").write_text(f"#!/bin/sh\nmkdir made; cp {bomb} made/source.docx\n")
    with pytest.raises(SourceError, match="takes more than 64 MB"):
        convert(RTF, "a.rtf", tmp_path / "made", msgspec.structs.replace(ON, source_megabytes=64))


def test_a_conversion_sees_no_secret_and_no_more_memory_than_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGPRESS_CAPTIONS_KEY", "sk-secret")
    program(tmp_path, f"env >{tmp_path}/seen; ulimit -v >>{tmp_path}/seen", monkeypatch)
    with pytest.raises(SourceError):
        convert(RTF, "a.rtf", tmp_path / "made", msgspec.structs.replace(ON, source_megabytes=700))
    seen = (tmp_path / "seen").read_text()
    assert "sk-secret" not in seen
    assert "716800" in seen.splitlines()


@pytest.mark.parametrize("separated", [True, False])
def test_nothing_that_a_file_points_to_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separated: bool
) -> None:
    """Neither with a network taken away, where the system can do so, nor by the settings alone."""
    need("soffice", "libreoffice-writer")
    if not separated:
        monkeypatch.setattr(outside, "_can_unshare", lambda: False)
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(png(shade=3))

        do_HEAD = do_OPTIONS = do_PROPFIND = do_GET

        def log_message(self, format: str, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    (tmp_path / "secret.txt").write_text("Тайна.")
    try:
        body = (
            f'<text:section text:name="S"><text:section-source xlink:href="file://{tmp_path}/secret.txt"/>'
            "<text:p>Прежний текст.</text:p></text:section>"
            f'<text:section text:name="T"><text:section-source xlink:href="{address}/a.txt"/><text:p>Тоже.</text:p>'
            '</text:section><text:p><draw:frame draw:name="i" svg:width="2cm" svg:height="2cm">'
            f'<draw:image xlink:href="{address}/a.png" xlink:type="simple" xlink:show="embed"/></draw:frame></text:p>'
        )
        assert texts(odt(body), "a.odt", tmp_path / "made") == ["Прежний текст.", "Тоже."]
        if separated:
            return
        word = docx(p("Текст.") + p(SHOWN), related=[("map", "image", f"{address}/b.png", "External")])
        assert "Текст." in texts(word, "b.doc", tmp_path / "made")[0]
        fields = ((f"INCLUDEPICTURE {address}/c.png", ""), (f"INCLUDETEXT {tmp_path}/secret.txt", "old"))
        rtf = "".join(f"{{\\field{{\\*\\fldinst {code}}}{{\\fldrslt {shown}}}}}" for code, shown in fields)
        rtf = f"{{\\rtf1 {rtf} end}}"
        assert "Тайна" not in "".join(texts(rtf.encode(), "c.rtf", tmp_path / "made"))
    finally:
        server.shutdown()
        server.server_close()
        assert asked == []


# -- which files are sources -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", sorted(CONVERTIBLE))
def test_without_the_setting_each_old_format_says_how_to_turn_it_on(suffix: str) -> None:
    with pytest.raises(SourceError, match=f"set convert_doc = true .* or save it as {CONVERTIBLE[suffix]}"):
        read_document(b"x", f"a{suffix}", Config())


def test_folders_named_like_any_source_fail_by_name(tmp_path: Path) -> None:
    for suffix in READABLE | CONVERTIBLE.keys():
        assert is_readable(f"a{suffix}")
        (tmp_path / f"a{suffix}").mkdir()
    assert {found.source for found in list_sources(tmp_path).sources if not found.regular} == {
        f"a{suffix}" for suffix in READABLE | CONVERTIBLE.keys()
    }
