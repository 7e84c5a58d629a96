"""Opens an OOXML file (a zip archive of parts joined by relationships, ECMA-376 part 2) that nobody vouches for.

Everything is bounded before it expands, nothing is written to disk, nothing outside the file is fetched. Names are
matched as the standard says (without regard to case) and as writers get them wrong (backslashes, leading slashes,
escapes). A damaged part that is not the main one costs a message and reads as absent; a damaged archive is a
SourceError.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import struct
import zipfile
import zlib
from typing import Literal
from urllib.parse import unquote

import msgspec

from ragpress.errors import SourceError, message
from ragpress.readers.ooxml.xml import EMPTY, Element, ElementClasses, XmlRefused, parse_xml
from ragpress.records import Message

MEGABYTE = 1 << 20
MAX_MEMBERS = 50_000
MAX_TOTAL = 1024 * MEGABYTE  # all parts together, expanded
MAX_PART = 256 * MEGABYTE  # one part that is read as XML takes up to eight times this in memory
MAX_RATIO = 200  # XML that people make deflates up to about 1:100, a bomb 1:1000; a white picture may do that, too
RATIO_FREE = 16 * MEGABYTE  # no ratio can hurt below this size

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_KINDS = {".doc": "Word", ".dot": "Word", ".xls": "Excel", ".xlt": "Excel"}
_ZIP_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,  # a compression method or zip version that Python does not know
    RuntimeError,  # an encrypted member
    OSError,  # a seek to a place that the archive does not have
    ValueError,
    OverflowError,
)


class Relationship(msgspec.Struct, frozen=True):
    """A link from one part to another. `kind` is the last word of its type, such as `styles` or `hyperlink`.

    `part` is the stored name of the part it leads to, or empty where there is none (external, NULL, missing,
    a bookmark). `target` is what the file says.
    """

    identifier: str
    kind: str
    target: str
    part: str
    external: bool


class Package:
    """The parts of one opened file. Made by `open_package`. `messages` collects what was tolerated."""

    def __init__(self, archive: zipfile.ZipFile, source: str, classes: ElementClasses = None) -> None:
        self.source = source
        self.messages: list[Message] = []
        self._archive = archive
        self._classes = classes
        self._budget = MAX_TOTAL
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._relationships: dict[str, dict[str, Relationship]] = {}
        for member in archive.infolist():
            name = part_name(member.filename)
            if name and not member.filename.endswith(("/", "\\")):
                self._members[name.lower()] = member  # of duplicates the last, as the archive's own index has it
        self._names = {key: part_name(member.filename) for key, member in self._members.items()}
        self._defaults, self._overrides = self._content_types()

    def names(self) -> list[str]:
        """The names of all parts, in the order of the archive, with forward slashes and no leading one."""
        return list(self._names.values())

    def find(self, name: str) -> str:
        """The stored name of the part that `name` means, or empty."""
        return self._names.get(part_name(name).lower(), "")

    def read(self, name: str) -> bytes | None:
        """The bytes of a part, or None where it is missing. One that is damaged counts as missing, with a message.

        Raises SourceError "too-large" where it expands beyond what the archive's index admits.
        """
        try:
            return self._expand(name)
        except _ZIP_FAULTS as fault:
            self.warn(f"{part_name(name)} is damaged ({_reason(fault)}) and was not read; save the file again")
            return None

    def head(self, name: str, size: int) -> bytes:
        """The first bytes of a part, empty where it is missing or damaged, without a message: a look beforehand."""
        member = self._members.get(part_name(name).lower())
        if member is None:
            return b""
        try:
            with self._archive.open(member) as stream:
                return stream.read(size)
        except _ZIP_FAULTS:
            return b""

    def xml(self, name: str) -> Element | None:
        """The root element of a part, or None where it is missing or no XML, the latter with a message.

        Strict namespaces come out as the transitional ones; comments and processing instructions are gone.
        Raises SourceError where the part declares a DTD: no program writes one, only bombs have it.
        """
        data = self.read(name)
        if data is None:
            return None
        try:
            root, fault = parse_xml(data, self._classes)
        except XmlRefused as refused:
            raise SourceError(
                "bad-archive",
                f"{part_name(name)} {refused}; do not use this file unless you know its origin",
                self.source,
            ) from None
        if fault:
            self.warn(f"{part_name(name)} is damaged ({fault}); what could be read of it was; save the file again")
        return root

    def root(self, name: str) -> Element:
        """The root element of a part, an empty element where it is missing or no XML."""
        found = self.xml(name) if name else None
        return EMPTY if found is None else found

    def required_xml(self, name: str, what: str) -> Element:
        """The root element of a part that nothing can be read without. Raises SourceError "bad-archive"."""
        before = len(self.messages)
        root = self.xml(name) if name else None
        if root is None:
            found = self.messages[before].text if len(self.messages) > before else f"the archive holds no {what}"
            raise SourceError("bad-archive", found, self.source)
        return root

    def content_type(self, name: str) -> str:
        """The media type that [Content_Types].xml gives a part, in lower case, or empty."""
        key = part_name(name).lower()
        return self._overrides.get(key) or self._defaults.get(posixpath.splitext(key)[1].lstrip("."), "")

    def relationships(self, name: str) -> dict[str, Relationship]:
        """The relationships of a part (`""` for the package's own) by identifier, in the order of the file."""
        name = part_name(name)
        if name not in self._relationships:
            folder, base = posixpath.split(name)
            found: dict[str, Relationship] = {}
            for element in self.root(posixpath.join(folder, "_rels", f"{base}.rels")):
                link = self._relationship(element, folder)
                found.setdefault(link.identifier, link)
            self._relationships[name] = found
        return self._relationships[name]

    def related(self, name: str, kind: str) -> list[str]:
        """The parts that a part's relationships of one kind lead to, existing ones only, each once.

        `kind` is the type of the relationship or its last word: the strict and the transitional types share that.
        """
        kind = posixpath.basename(kind)
        links = self.relationships(name).values()
        return list(dict.fromkeys(link.part for link in links if link.kind == kind and link.part))

    def main_part(self, content_type: str, usual: str) -> str:
        """The stored name of the main part, or empty.

        By the package's relationships; without those by a fragment of its content type; then by its usual name.
        """
        named = self.related("", "officeDocument")
        typed = [name for name in self.names() if content_type in self.content_type(name)]
        both = [name for name in named if name in typed]
        return (both or named or typed or [self.find(usual)])[0]

    def warn(self, text: str) -> None:
        """Collects a warning about a part."""
        self.messages.append(message("warning", "bad-part", text, self.source))

    def _expand(self, name: str) -> bytes | None:
        member = self._members.get(part_name(name).lower())
        if member is None:
            return None
        bound = min(MAX_PART, self._budget)
        ratio = member.file_size // max(member.compress_size, 1)
        if member.file_size > bound or (member.file_size > RATIO_FREE and ratio > MAX_RATIO and is_xml(name)):
            size = f"{member.file_size // MEGABYTE} MB, {ratio} times its size"
            raise _too_large(self.source, f"{part_name(name)} would expand to {size}")
        with self._archive.open(member) as stream:
            data = stream.read(bound + 1)
        if len(data) > bound:  # the index of the archive lied
            raise _too_large(self.source, f"{part_name(name)} expands to over {bound // MEGABYTE} MB")
        self._budget -= len(data)
        return data

    def _relationship(self, element: Element, folder: str) -> Relationship:
        target = (element.get("Target") or "").strip()
        external = (element.get("TargetMode") or "").lower() == "external"
        part = ""
        path = target.replace("\\", "/").partition("#")[0]
        if path and not external:
            # The standard counts from the folder of the part; some writers count from the root without saying so.
            for place in (posixpath.join("/", folder, path), path):
                part = part or self.find(place)
        kind = posixpath.basename((element.get("Type") or "").rstrip("/"))
        return Relationship(element.get("Id") or "", kind, target, part, external)

    def _content_types(self) -> tuple[dict[str, str], dict[str, str]]:
        defaults: dict[str, str] = {}
        overrides: dict[str, str] = {}
        for element in self.root("[Content_Types].xml"):
            media_type = (element.get("ContentType") or "").strip().lower()
            if extension := element.get("Extension"):
                defaults[extension.lower().lstrip(".")] = media_type
            elif name := element.get("PartName"):
                overrides[part_name(name).lower()] = media_type
        return defaults, overrides


def open_package(data: bytes, source: str, kind: Literal["Word", "Excel"], classes: ElementClasses = None) -> Package:
    """The parts of the file `data`. `kind` is the program that a person would open it with.

    `classes` are the element classes that its XML is parsed to; see `parse_xml`.

    Raises SourceError: "empty-source" for no bytes, "encrypted", "legacy-doc" or "bad-archive" for something else than
    a zip archive or a broken one, "too-large" for an archive that would expand beyond the limits.
    """
    if not data.strip(b"\0 \r\n\t"):
        raise SourceError("empty-source", "the file has no content; save it again or remove it", source)
    if data.startswith(_OLE):
        raise _ole_error(data, source, kind)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except _ZIP_FAULTS as fault:
        raise SourceError("bad-archive", _not_a_zip(data, kind, fault), source) from None
    _check_sizes(members, source)
    if any(member.flag_bits & 1 for member in members):
        raise _encrypted(source, kind)
    return Package(archive, source, classes)


def part_name(name: str) -> str:
    """A part's name without a leading slash, with forward slashes, escapes undone and `..` resolved inside the root."""
    name = name.replace("\\", "/")
    if "%" in name:
        name = unquote(name, errors="replace")
    return posixpath.normpath("/" + name).lstrip("/")


def is_xml(name: str) -> bool:
    return part_name(name).lower().endswith((".xml", ".rels", ".vml"))


def _check_sizes(members: list[zipfile.ZipInfo], source: str) -> None:
    if len(members) > MAX_MEMBERS:
        raise _too_large(source, f"the archive holds {len(members)} parts")
    total = sum(member.file_size for member in members)
    if total > MAX_TOTAL:
        raise _too_large(source, f"the archive expands to {total // MEGABYTE} MB")


def _too_large(source: str, found: str) -> SourceError:
    return SourceError("too-large", f"{found}; split the file or remove what makes it large", source)


def _encrypted(source: str, kind: str) -> SourceError:
    return SourceError("encrypted", f"the file is encrypted; open it in {kind} and save it without a password", source)


def _ole_error(data: bytes, source: str, kind: str) -> SourceError:
    """What an OLE container is: an encrypted file (MS-OFFCRYPTO 2.3.4), or a file of the time before OOXML."""
    if any(name.encode("utf-16-le") in data for name in ("EncryptedPackage", "EncryptionInfo")):
        return _encrypted(source, kind)
    if "WordDocument".encode("utf-16-le") in data:
        found = "this is a legacy Word file under another suffix; save it as .docx in Word or LibreOffice"
        return SourceError("legacy-doc", found, source)
    return SourceError("bad-archive", f"this is a file of an older format; save it again in {kind}", source)


def _not_a_zip(data: bytes, kind: str, fault: BaseException) -> str:
    start = data[:512].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    if data.startswith(b"PK\x03\x04"):
        return f"the archive is damaged or cut short ({_reason(fault)}); get a whole copy of the file"
    for mark, name in (
        (b"{\\rtf", "RTF"),
        (b"%pdf", "PDF"),
        (b"<html", "HTML"),
        (b"<!doctype html", "HTML"),
        (b"<?xml", "XML"),
    ):
        if start.startswith(mark):
            return f"this is {name} under another suffix; open it in {kind} and save it in the new format"
    return f"this is no {kind} file: it is not a zip archive; open it in {kind} and save it again, or remove it"


def _reason(fault: BaseException) -> str:
    return " ".join(str(fault).split()) or type(fault).__name__
