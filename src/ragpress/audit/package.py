"""Opens the parts of an OOXML package for the audit, on its own and within bounds.

The readers have their own way into a package. This one shares no code with it, so that a part that they overlook
is not overlooked here for the same reason.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import zipfile
import zlib
from typing import Any
from urllib.parse import unquote

from lxml import etree

from ragpress.audit.names import STRICT
from ragpress.errors import SourceError

Element = Any
"""An lxml element. lxml has no types of its own."""

_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    OSError,
    EOFError,
    ValueError,
)
"""What reading a damaged part raises."""

MAX_EXPANDED = 1 << 30  # of all parts that are read, together
MAX_MEMBERS = 50_000

SAFE = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": True,
    "recover": True,
    "remove_comments": True,
    "remove_pis": True,
}
"""How every part is parsed: no entities, nothing fetched, damaged XML as far as it goes."""


class Parts:
    """The parts of a package by name. Raises SourceError where the archive cannot be opened."""

    def __init__(self, data: bytes, source: str) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError) as fault:
            raise SourceError("bad-archive", f"the audit cannot open the archive: {fault}", source) from None
        members = self._archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise SourceError("too-large", f"the archive holds {len(members)} parts; split the file", source)
        self._source = source
        self._left = MAX_EXPANDED
        self._members = {_plain(member.filename): member for member in members}

    def read(self, name: str) -> bytes:
        """The bytes of a part; empty where it is missing or damaged, which is the readers' to report."""
        member = self._members.get(_plain(name))
        if member is None:
            return b""
        try:
            with self._archive.open(member) as stream:
                data = stream.read(self._left + 1)
        except _FAULTS:
            return b""
        self._left -= len(data)
        if self._left < 0:
            raise SourceError("too-large", "the parts expand beyond what the audit reads; split the file", self._source)
        return data

    def transitional(self, name: str) -> bytes:
        """The bytes of an XML part with the namespaces of the strict variant as the usual ones."""
        data = self.read(name)
        if b"purl.oclc.org" in data:
            for strict, usual in STRICT.items():
                data = data.replace(f'"{strict}"'.encode(), f'"{usual}"'.encode())
                data = data.replace(f"'{strict}'".encode(), f"'{usual}'".encode())
        return data

    def tree(self, name: str) -> Element:
        """The root element of a part; an empty element where it is missing or unreadable."""
        data = self.transitional(name)
        try:
            root = etree.fromstring(data, etree.XMLParser(**SAFE)) if data else None
        except etree.XMLSyntaxError:
            root = None
        return etree.Element("empty") if root is None else root

    def links(self, name: str) -> dict[str, tuple[str, str]]:
        """Relationships of a part (`""` for the package) by id: the last word of the type, and the target's name.

        Only targets that exist in the package.
        """
        folder, base = posixpath.split(_plain(name))
        found: dict[str, tuple[str, str]] = {}
        for link in self.tree(posixpath.join(folder, "_rels", f"{base}.rels")):
            target = link.get("Target") or ""
            if (link.get("TargetMode") or "").lower() == "external" or not target:
                continue
            kind = (link.get("Type") or "").rstrip("/").rpartition("/")[2]
            for name in (_plain(posixpath.join("/", folder, target.replace("\\", "/"))), _plain(target)):
                if name in self._members:
                    found.setdefault(link.get("Id") or "", (kind, name))
                    break
        return found

    def addresses(self, name: str) -> list[str]:
        """What a part's relationships point to outside of the package."""
        folder, base = posixpath.split(_plain(name))
        links = self.tree(posixpath.join(folder, "_rels", f"{base}.rels"))
        return [link.get("Target") or "" for link in links if (link.get("TargetMode") or "").lower() == "external"]

    def main(self, kind: str, usual: str) -> str:
        """The name of the part that the package is about: by its relationships, by its content type, or as usual."""
        named = [name for found, name in self.links("").values() if found == "officeDocument"]
        for entry in self.tree("[Content_Types].xml"):
            if f"{kind}.main" in (entry.get("ContentType") or "") or "template.main" in (
                entry.get("ContentType") or ""
            ):
                named.append(_plain(entry.get("PartName") or ""))
        return next((name for name in named if name in self._members), usual)


def _plain(name: str) -> str:
    return posixpath.normpath("/" + unquote(name.replace("\\", "/"))).lstrip("/").lower()
