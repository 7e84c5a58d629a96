"""Damaged variants of the sample sources, each made from a number alone: `mutant(samples, number)`.

As a program it writes those of the given numbers into a folder, to look at one that was found:

    python tests/fuzzer.py FOLDER 17 4711
"""

from __future__ import annotations

import io
import lzma
import random
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from lxml import etree

SAMPLES = Path(__file__).resolve().parent.parent / "sources"
SUFFIXES = (".docx", ".xlsx", ".csv", ".md", ".txt")

Sample = tuple[str, bytes]
Members = list[tuple[str, bytes]]


class Mutant(NamedTuple):
    """`name` ends in the sample's suffix; `recipe` says from what and how it was made."""

    name: str
    data: bytes
    recipe: str


def samples() -> list[Sample]:
    """Name and bytes of the sample sources, in the order of their names."""
    paths = sorted(path for path in SAMPLES.rglob("*") if path.suffix in SUFFIXES)
    return [(path.relative_to(SAMPLES).as_posix(), path.read_bytes()) for path in paths]


def mutant(given: list[Sample], number: int) -> Mutant:
    """The variant of this number: always the same one for the same samples."""
    chance = random.Random(number)
    suffix = chance.choices(SUFFIXES, (4, 4, 2, 2, 1))[0]
    name, data = chance.choice([item for item in given if item[0].endswith(suffix)])
    recipes = [name]
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if suffix in {".docx", ".xlsx"} and chance.random() < 0.85:
            change: Callable[[bytes, random.Random], bytes] = chance.choice(_ARCHIVE)
        elif suffix in {".docx", ".xlsx"}:
            change = chance.choice(_RAW)
        else:
            change = chance.choice((*_RAW, *_TEXT, *_TEXT))
        recipes.append(change.__name__.strip("_"))
        try:
            data = change(data, chance)
        except _NO_ARCHIVE:  # an earlier change saw to that
            recipes[-1] += " (in vain)"
            data = chance.choice(_RAW)(data, chance)
    return Mutant(f"{number:05d}{suffix}", data, " ".join(recipes))


# -- any bytes -------------------------------------------------------------------------------------------------------


def _flipped(data: bytes, chance: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        if found:
            found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _beheaded(data: bytes, chance: random.Random) -> bytes:
    return data[chance.randrange(min(len(data), 200) + 1) :]


def _without_a_piece(data: bytes, chance: random.Random) -> bytes:
    begin, end = _span(data, chance)
    return data[:begin] + data[end:]


def _with_a_piece_twice(data: bytes, chance: random.Random) -> bytes:
    begin, end = _span(data, chance)
    return data[:end] + data[begin:end] * chance.choice((1, 1, 2, 50)) + data[end:]


def _with_a_piece_elsewhere(data: bytes, chance: random.Random) -> bytes:
    begin, end = _span(data, chance)
    place = chance.randrange(len(data) + 1)
    return data[:place] + data[begin:end] + data[place:]


def _blanked(data: bytes, chance: random.Random) -> bytes:
    begin, end = _span(data, chance)
    return data[:begin] + chance.choice((b"\0", b"\xff", b" ", b"\n")) * (end - begin) + data[end:]


def _span(data: bytes, chance: random.Random) -> tuple[int, int]:
    begin = chance.randrange(len(data) + 1)
    return begin, min(len(data), begin + chance.choice((1, 3, 16, 256, 4096)))


_RAW = (
    _flipped,
    _flipped,
    _cut,
    _beheaded,
    _without_a_piece,
    _with_a_piece_twice,
    _with_a_piece_elsewhere,
    _blanked,
)


# -- text ------------------------------------------------------------------------------------------------------------

_SPLICES = (
    "```", "~~~\n", "---\n", "---\n---\n", "\n# ", "\n## ", "\n###### ", "\n\n", "|", "|-|-|\n",
    "\n| a | b |\n|---|\n", "> " * 60, "* " * 60, "[" * 300, "![](", "](", "<!--", "-->", "<details>", "</table>",
    "<script>", "&#x0;", "&amp;amp;", "\\", "`", "**", "[^1]", "[^1]: ", "\n[a]: b\n", "\n- \n", "\n1. \n",
    "\n999999999999. x\n", "\t\t\t\t", "title: [\n", "*a\n&a\n", "!!python/object:a\n", '"', '""', ';', ",", "\t",
    ",,,,,,,,\n", '"\n"', "=SUM(A1)", "'", "\r", "\r\n", "\x0b", "\x0c", "\x1a", "\x1c", "\x85", "\u2028", "\u200c",
    "\u200f", "\u202e", "\ufeff", "\ufffd", "\U0010ffff", "\u0300" * 80, "سوال: ", "پاسخ: ", "Вопрос: ", "О: ", "1) ",
    "№", "ЗАГОЛОВОК\n", "a" * 3000, "слово" * 900, "你" * 600, ("сл " * 900), "0" * 400, "\n" * 500, "1e999", "۱۲۳۴",
)  # fmt: skip


def _spliced(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    piece = chance.choice(_SPLICES) * chance.choice((1, 1, 1, 3, 40))
    return data[:place] + piece.encode() + data[place:]


def _with_other_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def _with_lines_gone(data: bytes, chance: random.Random) -> bytes:
    share = chance.random()
    return b"\n".join(line for line in data.split(b"\n") if chance.random() > share)


def _without_a_byte(data: bytes, chance: random.Random) -> bytes:
    return data.replace(chance.choice((b"\n", b"#", b"|", b'"', b" ", b",", b"-", b";")), b"")


def _with_a_byte_for_another(data: bytes, chance: random.Random) -> bytes:
    one, other = chance.sample((b"\n", b"#", b"|", b'"', b" ", b",", b"-", b";", b"\t", b"\0", b">", b"\r"), 2)
    return data.replace(one, other)


def _in_another_encoding(data: bytes, chance: random.Random) -> bytes:
    encoding = chance.choice(
        ("cp1251", "cp1256", "koi8-r", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp866", "utf-7")
    )
    return data.decode("utf-8", "replace").encode(encoding, "replace")


_TEXT = (
    _spliced,
    _spliced,
    _spliced,
    _with_other_lines,
    _with_lines_gone,
    _without_a_byte,
    _with_a_byte_for_another,
    _in_another_encoding,
)


# -- archives --------------------------------------------------------------------------------------------------------


_NO_ARCHIVE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
)
"""What zipfile raises for one that is damaged."""


def _members(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(item.filename, archive.read(item)) for item in archive.infolist()]


def _archive(members: Members, kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    found = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(found, "w", kind) as archive:
        warnings.simplefilter("ignore")  # a name that comes twice is meant
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, kind)  # the time of ZipInfo is fixed
    return found.getvalue()


def _chosen(members: Members, chance: random.Random, suffixes: tuple[str, ...] = ("",)) -> int:
    fitting = [number for number, (name, _) in enumerate(members) if name.endswith(suffixes)]
    # by size, so that the part with the text is not one of twenty
    return chance.choices(fitting, [len(members[number][1]) ** 0.5 + 1 for number in fitting])[0]


def _with_members_changed(data: bytes, chance: random.Random) -> bytes:
    members = _members(data)
    number = _chosen(members, chance)
    name, content = members[number]
    what = chance.randrange(7)
    if what == 0:
        del members[number]
    elif what == 1:
        members.append((name, content))
    elif what == 2:
        members[number] = (name, chance.choice(members)[1])
    elif what == 3:
        members[number] = (name, b"")
    elif what == 4:
        renamed = (name.upper(), f"/{name}", name.replace("/", "\\"), f"../{name}", f"./{name}", f"{name}/", "")
        members[number] = (chance.choice(renamed), content)
    elif what == 5:
        chance.shuffle(members)
    else:
        members.insert(0, (name, members[_chosen(members, chance)][1]))
    return _archive(
        members, chance.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    )


def _with_bytes_of_a_member_changed(data: bytes, chance: random.Random) -> bytes:
    members = _members(data)
    number = _chosen(members, chance)
    name, content = members[number]
    members[number] = (name, chance.choice((*_RAW, _spliced))(content, chance))
    return _archive(members)


def _with_xml_changed(data: bytes, chance: random.Random) -> bytes:
    members = _members(data)
    number = _chosen(members, chance, (".xml", ".rels"))
    name, content = members[number]
    try:
        root = etree.fromstring(content)
    except etree.XMLSyntaxError:
        return _with_bytes_of_a_member_changed(data, chance)
    for _ in range(chance.choice((1, 1, 3, 20))):
        element = chance.choice(list(root.iter(etree.Element)))
        chance.choice(_XML)(element, chance)
    try:
        members[number] = (name, etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))
    except (ValueError, UnicodeEncodeError):  # a text that no serializer takes
        return _with_bytes_of_a_member_changed(data, chance)
    return _archive(members)


def _with_entities(data: bytes, chance: random.Random) -> bytes:
    members = _members(data)
    number = _chosen(members, chance, (".xml",))
    name, content = members[number]
    head = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/hostname">]>'
    start = content.find(b"?>") + 2
    at = content.find(b"</", start + chance.randrange(max(1, len(content) - start)))
    members[number] = (
        name,
        content[:start] + head + content[start:at] + chance.choice((b"&b;", b"&c;", b"&z;", b"")) + content[at:],
    )
    return _archive(members)


_ARCHIVE = (
    _with_members_changed,
    _with_bytes_of_a_member_changed,
    _with_bytes_of_a_member_changed,
    _with_xml_changed,
    _with_xml_changed,
    _with_xml_changed,
    _with_xml_changed,
    _with_entities,
)

_VALUES = (
    "", "0", "-1", "1", "2", "7", "65536", "2147483648", "-2147483649", "99999999999999999999", "1e308", "1e999",
    "nan", "-inf", "0x10", "١٢", "true", "on", "none", "A1", "A0", "a1:b2", "A1:XFD1048576", "$A$1", "XFE1",
    "ZZZZ99999999", "B2:A1", "A1:A1048576", "\u200f", " ", "я" * 500, "s", "str", "inlineStr", "e", "b", "d", "rId1",
    "rId999", "../../x", "http://localhost:9/x", "vMerge", "restart", "continue", "general", "yyyy",
    "[$-fa-IR]dd mmmm", "#,##0.00;[Red]-0", '"x', "@@@@", "[h]:mm:ss.000", "0" * 300, "[>1]0;[<2]0;0;0;0",
)  # fmt: skip


def _element_gone(element: etree._Element, _: random.Random) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _element_twice(element: etree._Element, chance: random.Random) -> None:
    parent = element.getparent()
    if parent is not None:
        for _ in range(chance.choice((1, 1, 2, 30))):
            parent.insert(parent.index(element), _copy(element))


def _element_elsewhere(element: etree._Element, chance: random.Random) -> None:
    root = element.getroottree().getroot()
    place = chance.choice(list(root.iter(etree.Element)))
    if place is not element and element not in place.iterancestors() and element is not root:
        place.insert(chance.randrange(len(place) + 1), element)


def _element_nested(element: etree._Element, chance: random.Random) -> None:
    inner = element
    for _ in range(chance.choice((1, 5, 120))):
        wrapper = etree.Element(element.tag, dict(element.attrib))
        parent = inner.getparent()
        if parent is None:
            return
        parent.replace(inner, wrapper)
        wrapper.append(inner)
        inner = wrapper


def _tag_changed(element: etree._Element, chance: random.Random) -> None:
    root = element.getroottree().getroot()
    other = chance.choice(list(root.iter(etree.Element)))
    element.tag = chance.choice((other.tag, "x", "{urn:x}y"))


def _attribute_changed(element: etree._Element, chance: random.Random) -> None:
    if element.attrib:
        element.set(chance.choice(list(element.attrib)), chance.choice(_VALUES))
    else:
        _text_changed(element, chance)


def _attribute_gone(element: etree._Element, chance: random.Random) -> None:
    if element.attrib:
        del element.attrib[chance.choice(list(element.attrib))]


def _attribute_borrowed(element: etree._Element, chance: random.Random) -> None:
    other = chance.choice(list(element.getroottree().getroot().iter(etree.Element)))
    for name, value in other.attrib.items():
        element.set(name, value)


def _text_changed(element: etree._Element, chance: random.Random) -> None:
    element.text = chance.choice((*_VALUES, "a" * 40_000, "слово " * 4000, "\n\t", "_x000D_", "سوال:", "x\u0300" * 200))


def _tail_changed(element: etree._Element, chance: random.Random) -> None:
    element.tail = chance.choice(("хвост", " ", "\n"))


def _copy(element: etree._Element) -> etree._Element:
    deep = etree.XMLParser(huge_tree=True)  # as an earlier change may have left it
    return etree.fromstring(etree.tostring(element, with_tail=False), deep)


_XML: tuple[Callable[[etree._Element, random.Random], None], ...] = (
    _element_gone,
    _element_twice,
    _element_elsewhere,
    _element_nested,
    _tag_changed,
    _attribute_changed,
    _attribute_changed,
    _attribute_changed,
    _attribute_gone,
    _attribute_borrowed,
    _text_changed,
    _tail_changed,
)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for wanted in map(int, sys.argv[2:]):
        made = mutant(samples(), wanted)
        (folder / made.name).write_bytes(made.data)
        print(made.name, made.recipe)
