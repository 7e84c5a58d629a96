"""What a picture's first bytes say of it: format and size. The name and declared type of a picture are often wrong."""

from __future__ import annotations

import re
from typing import NamedTuple

LARGEST_FILE = 16 << 20
"""Bytes of a picture above which no engine is asked: endpoints take about 20 MB."""
_MOST_PIXELS = 100_000_000
_LEAST_SIDE = 32  # bullets, icons and ruled lines are smaller

_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg\b", re.DOTALL)


class Kind(NamedTuple):
    """A media type, empty where it is unknown, and the size in pixels, 0 where it is unknown."""

    media_type: str
    width: int = 0
    height: int = 0

    @property
    def icon(self) -> bool:
        """Whether it is too small to say anything."""
        return 0 < self.width < _LEAST_SIDE or 0 < self.height < _LEAST_SIDE

    @property
    def huge(self) -> bool:
        """Whether unpacking it takes more memory than a picture is worth."""
        return self.width * self.height > _MOST_PIXELS


def kind_of(data: bytes) -> Kind:
    """The kind of a picture, told by its bytes."""
    for begin, media_type, size in _FORMATS:
        if data.startswith(begin):
            return Kind(media_type, *size(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Kind("image/webp", *_webp(data))
    if data[40:44] == b" EMF":
        return Kind("image/x-emf")
    if data.startswith((b"\xd7\xcd\xc6\x9a", b"\x01\x00\x09\x00")):
        return Kind("image/x-wmf")
    return Kind("image/svg+xml" if _SVG.match(data.removeprefix(b"\xef\xbb\xbf")[:4096]) else "")


def _png(data: bytes) -> tuple[int, int]:
    return _number(data, 16, 4, "big"), _number(data, 20, 4, "big")


def _gif(data: bytes) -> tuple[int, int]:
    return _number(data, 6, 2), _number(data, 8, 2)


def _bmp(data: bytes) -> tuple[int, int]:
    if _number(data, 14, 4) == 12:  # the header of OS/2
        return _number(data, 18, 2), _number(data, 20, 2)
    return _number(data, 18, 4), abs(int.from_bytes(data[22:26], "little", signed=True))


def _jpeg(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(data):
        if data[at] != 0xFF:
            break
        mark = data[at + 1]
        if mark == 0xFF:  # filling
            at += 1
        elif mark in (0x01, *range(0xD0, 0xD9)):  # marks without a body
            at += 2
        elif 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            return _number(data, at + 7, 2, "big"), _number(data, at + 5, 2, "big")
        else:
            at += 2 + max(2, _number(data, at + 2, 2, "big"))
    return 0, 0


def _tiff(data: bytes) -> tuple[int, int]:
    order = "little" if data.startswith(b"II") else "big"
    at = _number(data, 4, 4, order)
    sizes = {0x100: 0, 0x101: 0}
    for entry in range(at + 2, at + 2 + 12 * min(_number(data, at, 2, order), 64), 12):
        tag = _number(data, entry, 2, order)
        if tag in sizes:
            sizes[tag] = _number(data, entry + 8, 2 if _number(data, entry + 2, 2, order) == 3 else 4, order)
    return sizes[0x100], sizes[0x101]


def _webp(data: bytes) -> tuple[int, int]:
    if data[12:16] == b"VP8X":
        return _number(data, 24, 3) + 1, _number(data, 27, 3) + 1
    if data[12:16] == b"VP8L":
        bits = _number(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return _number(data, 26, 2) & 0x3FFF, _number(data, 28, 2) & 0x3FFF


def _number(data: bytes, at: int, size: int, order: str = "little") -> int:
    return int.from_bytes(data[at : at + size], "big" if order == "big" else "little")


_FORMATS = (
    (b"\x89PNG\r\n\x1a\n", "image/png", _png),
    (b"\xff\xd8\xff", "image/jpeg", _jpeg),
    (b"GIF8", "image/gif", _gif),
    (b"BM", "image/bmp", _bmp),
    (b"II*\0", "image/tiff", _tiff),
    (b"MM\0*", "image/tiff", _tiff),
)
