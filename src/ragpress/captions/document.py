"""Puts captions into a document, and finds the pictures that have none yet. Runs where the document is read."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from ragpress.captions.engine import READABLE
from ragpress.captions.pictures import LARGEST_FILE, Kind, kind_of
from ragpress.captions.store import NAME, Caption
from ragpress.captions.uses import Use, read_picture
from ragpress.console import plural
from ragpress.errors import message
from ragpress.records import Document, Locator, Message, Picture, Unit
from ragpress.text import normalize

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_SHOWN = 80  # characters of an address in a message


class Uncaptioned(msgspec.Struct, frozen=True):
    """A picture without a caption, and where it is first shown."""

    sha256: str
    media_type: str
    locator: Locator


class Captioned(NamedTuple):
    """A document with captions, all pictures that decided it, and those (with their bytes) that have no caption."""

    document: Document
    uses: tuple[Use, ...]
    uncaptioned: tuple[tuple[Uncaptioned, Picture], ...]


def with_captions(
    document: Document, captions: Mapping[str, Caption], engine: str, root: Path, folder: str
) -> Captioned:
    """Gives each picture's unit its caption as text.

    `root` is the folder of all sources and `folder` the one below it that the source is in: addresses of pictures in
    its text are relative to it. `engine` is the setting `captions`. A picture has one chunk in a source, at
    its first place. A picture that the engine cannot read is named in the document's messages instead.
    """
    known = {picture.sha256: picture for picture in document.pictures}
    remarks = _Remarks(engine)
    uses: dict[tuple[str, str], Use] = {}
    uncaptioned: dict[str, tuple[Uncaptioned, Picture]] = {}
    seen: set[str] = set()
    units: list[Unit] = []
    end = 0
    for unit in document.units:
        if unit.kind != "image_caption":
            units.append(unit)
            end = unit.locator.end
            continue
        picture, file = known.get(unit.picture), ""
        if picture is None:
            picture, file = _referred(unit, root, folder, remarks)
        digest = picture.sha256 if picture else ""
        caption = captions.get(digest)
        if picture or file:
            uses[file, digest] = Use(file, digest, caption.text if caption else None)
        if picture is None or _again(digest, seen, unit, remarks):
            continue
        text = clean(caption.text) if caption else ""
        if text:
            # A picture in the middle of a list comes after the whole list: places ascend.
            place = Locator(unit.locator.unit, unit.locator.start, max(unit.locator.end, end), unit.locator.part)
            units.append(msgspec.structs.replace(unit, text=text, breaks=_lines(text), picture=digest, locator=place))
        elif caption is not None:
            remarks.add("silent", unit)
        elif media_type := _media_type(picture, unit, remarks):
            uncaptioned[digest] = Uncaptioned(digest, media_type, unit.locator), picture
    messages = (*document.messages, *remarks.messages(document.source))
    made = msgspec.structs.replace(document, units=tuple(units), messages=messages)
    return Captioned(made, tuple(uses[key] for key in sorted(uses)), tuple(uncaptioned.values()))


def missing_message(source: str, uncaptioned: tuple[tuple[Uncaptioned, Picture], ...]) -> Message:
    """The message about pictures without a caption where none can be made."""
    counted = plural(len(uncaptioned), "picture has", "pictures have")
    text = f"{counted} no caption in {NAME} yet; run `ragpress build` to make them"
    return message("warning", "caption", text, source, uncaptioned[0][0].locator)


def clean(text: str) -> str:
    """A caption as it is indexed: in normal form, without unseen characters and needless white space."""
    lines = (" ".join(line.split()) for line in _UNSEEN.sub(" ", normalize(text)).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _again(digest: str, seen: set[str], unit: Unit, remarks: _Remarks) -> bool:
    if digest in seen:
        remarks.add("again", unit)
        return True
    seen.add(digest)
    return False


def _media_type(picture: Picture, unit: Unit, remarks: _Remarks) -> str:
    """The media type of a picture that the engine can take; empty, and a remark, for any other."""
    kind = kind_of(picture.data)
    if kind.icon:
        remarks.add("icon", unit)
    elif kind.media_type not in READABLE.get(remarks.engine, ()):
        remarks.add("unreadable", unit, f"{_format(kind, picture)}, sha256 {picture.sha256}")
    elif len(picture.data) > LARGEST_FILE or kind.huge:
        found = f"{kind.width}×{kind.height} pixels, {len(picture.data)} bytes"
        remarks.add("large", unit, f"{found}, sha256 {picture.sha256}")
    else:
        return kind.media_type
    return ""


def _format(kind: Kind, picture: Picture) -> str:
    return kind.media_type.removeprefix("image/") or f"no picture, though it is called {picture.media_type}"


def _referred(unit: Unit, root: Path, folder: str, remarks: _Remarks) -> tuple[Picture | None, str]:
    """The picture at an address in the text, and its path below `root`. The path is empty where none is looked for."""
    address = unit.picture if len(unit.picture) <= _SHOWN else unit.picture[:_SHOWN] + "…"
    try:
        parts = urlsplit(unit.picture)
    except ValueError:
        parts = urlsplit("//")
    name = unquote(parts.path).replace("\\", "/")
    if parts.scheme == "data":
        remarks.add("unreadable", unit, "a damaged data: address")
        return None, ""
    if parts.scheme or parts.netloc or not name:
        remarks.add("elsewhere", unit, address)
        return None, ""
    file = posixpath.normpath(name.lstrip("/") if name.startswith("/") else posixpath.join(folder, name))
    if file.startswith("..") or "\0" in file:
        remarks.add("outside", unit, address)
        return None, ""
    data = read_picture(root, file)
    if data is None:
        remarks.add("gone", unit, address)
        return None, file
    return Picture(hashlib.sha256(data).hexdigest(), "", data), file


def _lines(text: str) -> tuple[int, ...]:
    return tuple(found.end() for found in re.finditer("\n+", text))


class _Remarks:
    """Counts what was met: each kind is reported once a document, with the first place and the first instance."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self._found: dict[str, list[tuple[Unit, str]]] = defaultdict(list)

    def add(self, sort: str, unit: Unit, detail: str = "") -> None:
        self._found[sort].append((unit, detail))

    def messages(self, source: str) -> list[Message]:
        by_hand = f"or write its caption into {NAME}"
        made = []
        for sort, severity, one, many, advice in (
            ("icon", "info", "picture is", "pictures are", "too small to say anything"),
            ("again", "info", "picture is", "pictures are", "shown again; the caption is at the first place"),
            ("silent", "info", "picture has", "pictures have", f"an empty text in {NAME} and no chunk"),
            ("elsewhere", "info", "picture is", "pictures are", "on the web and not fetched; save a copy in sources/"),
            ("unreadable", "warning", "picture is", "pictures are",
             f"of a format that {self.engine} does not take; save it as PNG, {by_hand}"),
            ("large", "warning", "picture is", "pictures are", f"too large for a caption; make it smaller, {by_hand}"),
            ("outside", "warning", "picture is", "pictures are", "outside of sources/ and not read; put a copy inside"),
            ("gone", "warning", "picture is", "pictures are", "missing or too large; correct the address"),
        ):  # fmt: skip
            found = self._found.get(sort)
            if found:
                unit, detail = found[0]
                first = f" ({'first ' if len(found) > 1 else ''}{detail})" if detail else ""
                text = f"{plural(len(found), one, many)} {advice}{first}"
                made.append(message("info" if severity == "info" else "warning", "picture", text, source, unit.locator))
        return made
