"""Opening OOXML packages that nobody vouches for."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest

from docx_maker import Part, archive, docx, links, p, parts, read, story, texts
from ragpress.config import Config
from ragpress.errors import SourceError
from ragpress.readers.docx import read_docx
from ragpress.readers.ooxml.package import open_package, part_name
from ragpress.readers.ooxml.xml import XmlRefused, parse_xml


def refusal(data: bytes) -> tuple[str, str]:
    """Code and text of the error that a file costs."""
    with pytest.raises(SourceError) as found:
        read_docx(data, "a.docx", Config())
    assert "\n" not in str(found.value)
    return found.value.message.code, found.value.message.text


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty-source"),
        (b"\0" * 300, "empty-source"),
        (b"PK\x05\x06" + b"\0" * 18, "bad-archive"),
        (b"hello, this is no archive", "bad-archive"),
        (OLE + b"x" * 600 + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (OLE + b"x" * 600 + "WordDocument".encode("utf-16-le"), "legacy-doc"),
        (OLE + b"x" * 600 + "Workbook".encode("utf-16-le"), "bad-archive"),
        (docx(p("текст"))[:-30], "bad-archive"),
        (docx(p("текст"))[:200], "bad-archive"),
        (archive({"a.txt": "нет документа"}), "bad-archive"),
        (archive(parts("") | {"word/document.xml": "это не XML"}), "bad-archive"),
        (archive(parts("") | {"word/document.xml": story("styles", "")}), "bad-archive"),
        (archive(parts("") | {"word/document.xml": b""}), "bad-archive"),
        (docx(""), "empty-source"),
    ],
)
def test_a_file_that_is_no_document_is_refused_by_what_it_is(data: bytes, code: str) -> None:
    assert refusal(data)[0] == code


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (rb"{\rtf1 x}", "RTF"),
        (b"%PDF-1.4", "PDF"),
        (b"<html></html>", "HTML"),
        (b"\xef\xbb\xbf<?xml version='1.0'?><a/>", "XML"),
        (archive({"mimetype": "application/vnd.oasis.opendocument.text"}), "OpenDocument"),
    ],
)
def test_another_format_under_a_wrong_suffix_is_called_by_its_name(data: bytes, name: str) -> None:
    assert name in refusal(data)[1]


def test_an_archive_with_a_password_is_encrypted() -> None:
    data = bytearray(docx(p("текст")))
    at = data.find(b"PK\x01\x02")
    data[at + 8] |= 1
    assert refusal(bytes(data))[0] == "encrypted"


def test_a_part_with_a_wrong_checksum_costs_a_message_or_the_file() -> None:
    def damaged(name: str) -> bytes:
        data = docx(p("текст"), styles="")
        at = data.find(name.encode(), data.find(b"PK\x01\x02")) - 46 + 16
        return data[:at] + struct.pack("<I", 1) + data[at + 4 :]

    document = read_docx(damaged("word/styles.xml"), "a.docx", Config())
    assert texts(document) == ["текст"]
    assert "word/styles.xml is damaged" in document.messages[0].text
    assert refusal(damaged("word/document.xml"))[0] == "bad-archive"


def test_a_bomb_is_refused_before_it_expands() -> None:
    bomb = archive(parts("") | {"word/document.xml": b" " * (64 << 20)})
    assert len(bomb) < 1 << 20
    assert refusal(bomb)[0] == "too-large"


def test_an_archive_that_says_it_is_larger_than_the_limit_is_refused() -> None:
    data = bytearray(docx(p("текст")))
    at = data.find(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 0xFFFFFFF0)
    assert refusal(bytes(data))[0] == "too-large"


def test_a_part_that_is_larger_than_the_archive_says_expands_no_further() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", b" " * (8 << 20))
    data = bytearray(packed.getvalue())
    at = data.find(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    data[at + 16 : at + 20] = struct.pack("<I", zlib.crc32(b" " * 10))
    package = open_package(bytes(data), "a.docx", "Word")
    assert len(package.read("word/document.xml") or b"") <= 10


def test_a_large_picture_that_nothing_refers_to_costs_nothing() -> None:
    white = {"word/media/white.bmp": b"\xff" * (40 << 20)}
    assert texts(read(p("текст"), also=white)) == ["текст"]


NESTED = '<!DOCTYPE x [<!ENTITY a "ха"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "declared",
    [NESTED, '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://example.org/a.dtd"> %a;]>', '<!DOCTYPE x [<!ENTITY a "ха">]>'],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_that_declares_entities_is_refused(declared: str, encoding: str) -> None:
    xml = f'<?xml version="1.0" encoding="{encoding}"?>{declared}{story("document", p("&b;"))[38:]}'
    with pytest.raises(XmlRefused):
        parse_xml(xml.encode(encoding))
    assert refusal(archive(parts("") | {"word/document.xml": xml.encode(encoding)}))[0] == "bad-archive"


def test_entities_outside_the_file_are_left_out_and_never_fetched(tmp_path: object) -> None:
    declared = f'<!DOCTYPE x [<!ENTITY a SYSTEM "file://{tmp_path}/secret.txt">]>'
    main = story("document", "<w:body>" + p("<w:r><w:t>до &a;после &amp; всё</w:t></w:r>") + "</w:body>")
    xml = main[:38] + declared + main[38:]
    document = read_docx(archive(parts("") | {"word/document.xml": xml}), "a.docx", Config())
    assert texts(document) == ["до после & всё"]
    assert "not fetched" in document.messages[0].text


def test_names_of_parts_are_matched_as_writers_get_them_wrong() -> None:
    right = parts(p("текст"), footnotes="")
    for wrong in (
        {name.replace("/", "\\"): data for name, data in right.items()},
        {name.upper(): data for name, data in right.items()},
        {f"/{name}": data for name, data in right.items()},
        {f"./{name}": data for name, data in right.items()},
    ):
        assert texts(read_docx(archive(wrong), "a.docx", Config())) == ["текст"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("word/a.xml", "word/a.xml"),
        ("/word/a.xml", "word/a.xml"),
        ("word\\a.xml", "word/a.xml"),
        ("../../etc/a.xml", "etc/a.xml"),
        ("word/../../a.xml", "a.xml"),
        ("word/%D0%B0.xml", "word/а.xml"),
    ],
)
def test_no_name_leads_out_of_the_package(name: str, found: str) -> None:
    assert part_name(name) == found


def test_the_main_part_may_have_any_name_and_any_prefix() -> None:
    other = parts(p("текст"), main="parts/text2.xml", footnotes="")
    other["parts/text2.xml"] = str(other["parts/text2.xml"]).replace("w:", "q:").replace("xmlns:q=", "xmlns:q=")
    other["parts/text2.xml"] = str(other["parts/text2.xml"]).replace("xmlns:w=", "xmlns:q=")
    assert texts(read_docx(archive(other), "a.docx", Config())) == ["текст"]


@pytest.mark.parametrize("missing", ["[Content_Types].xml", "_rels/.rels", "word/_rels/document.xml.rels"])
def test_what_describes_the_package_may_be_missing(missing: str) -> None:
    notes = f'<w:footnote w:id="2">{p("сноска")}</w:footnote>'
    cited = p('<w:r><w:t>текст</w:t><w:footnoteReference w:id="2"/></w:r>')
    made = {name: data for name, data in parts(cited, footnotes=notes).items() if name != missing}
    assert texts(read_docx(archive(made), "a.docx", Config())) == ["текст\nсноска"]


def test_a_main_part_that_nothing_names_is_found_by_its_root() -> None:
    made = {"odd/place.xml": story("document", f"<w:body>{p('текст')}</w:body>"), "a.xml": "<a/>"}
    assert texts(read_docx(archive(made), "a.docx", Config())) == ["текст"]


def test_strict_files_are_read_like_transitional_ones() -> None:
    notes = f'<w:footnote w:id="2">{p("сноска")}</w:footnote>'
    cited = p('<w:r><w:t>текст</w:t><w:footnoteReference w:id="2"/></w:r>')

    def strict(text: str) -> str:
        text = text.replace(
            "http://schemas.openxmlformats.org/wordprocessingml/2006/", "http://purl.oclc.org/ooxml/wordprocessingml/"
        )
        return text.replace(
            "http://schemas.openxmlformats.org/officeDocument/2006/", "http://purl.oclc.org/ooxml/officeDocument/"
        )

    made = {name: strict(str(data)) for name, data in parts(cited, footnotes=notes).items()}
    assert "purl.oclc.org/ooxml/wordprocessingml/main" in made["word/document.xml"]
    assert texts(read_docx(archive(made), "a.docx", Config())) == ["текст\nсноска"]


def test_an_address_in_the_text_stays_as_it_is() -> None:
    address = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    assert texts(read(p(address))) == [address]


def test_relationships_are_read_whatever_they_lead_to() -> None:
    entries: list[tuple[str, ...]] = [
        ("a", "image", "NULL"),
        ("b", "image", "../media/x.png"),
        ("c", "hyperlink", "#place"),
    ]
    entries += [
        ("d", "hyperlink", "http://example.org", "External"),
        ("e", "image", ""),
        ("f", "styles", "/word/Styles.XML"),
    ]
    made: dict[str, Part] = {
        "word/styles.xml": "<a/>",
        "media/x.png": b"x",
        "word/_rels/document.xml.rels": links(entries),
    }
    package = open_package(archive(made), "a.docx", "Word")
    found = package.relationships("word/document.xml")
    assert {name: link.part for name, link in found.items()} == {
        "a": "",
        "b": "media/x.png",
        "c": "",
        "d": "",
        "e": "",
        "f": "word/styles.xml",
    }
    assert package.related("word/document.xml", "styles") == ["word/styles.xml"]
    assert package.relationships("word/none.xml") == {}


def test_of_parts_with_the_same_name_the_last_counts() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file, pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr("a.xml", b"<old/>")
        file.writestr("a.xml", b"<new/>")
    assert open_package(packed.getvalue(), "a.docx", "Word").read("A.xml") == b"<new/>"


def test_damaged_xml_is_read_as_far_as_it_can_be_with_a_message() -> None:
    broken = story("document", f"<w:body>{p('цело')}<w:p><w:r><w:t>оборвано</w:t>")[: -len("</w:document>")]
    document = read_docx(archive(parts("") | {"word/document.xml": broken}), "a.docx", Config())
    assert texts(document) == ["цело", "оборвано"]
    assert document.messages[0].severity == "warning"


def test_xml_in_utf_16_is_read() -> None:
    main = story("document", f"<w:body>{p('текст')}</w:body>").replace("UTF-8", "UTF-16")
    assert texts(read_docx(archive(parts("") | {"word/document.xml": main.encode("utf-16")}), "a.docx", Config())) == [
        "текст"
    ]


@pytest.mark.parametrize("suffix", ["docm", "dotx", "dotm"])
def test_macro_files_and_templates_are_read(suffix: str) -> None:
    kind = {
        "docm": "application/vnd.ms-word.document.macroEnabled.main+xml",
        "dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
        "dotm": "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
    }[suffix]
    made = parts(p("текст"), main="word/odd.xml")
    made["[Content_Types].xml"] = str(made["[Content_Types].xml"]).partition("<Override")[0] + (
        f'<Override PartName="/word/odd.xml" ContentType="{kind}"/></Types>'
    )
    del made["_rels/.rels"]
    assert texts(read_docx(archive(made), f"a.{suffix}", Config())) == ["текст"]


def test_all_bodies_of_a_file_with_several_are_read() -> None:
    main = story("document", f"<w:body>{p('один')}</w:body><w:body>{p('два')}</w:body>")
    document = read_docx(archive(parts("") | {"word/document.xml": main}), "a.docx", Config())
    assert [(str(unit.locator), unit.text) for unit in document.units] == [("B1", "один"), ("B2", "два")]
