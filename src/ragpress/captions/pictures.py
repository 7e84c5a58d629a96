"""What a picture's first bytes say of it: format and size. The name and declared type of a picture are often wrong."""

from __future__ import annotations

import io
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
    """The kind of a picture, by its first bytes."""
    media_type = next((media_type for begin, media_type in _RASTER if data.startswith(begin)), "")
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        media_type = "image/webp"
    if media_type:
        import imagesize

        sides = imagesize.get(io.BytesIO(data), exif_rotation=False)
        if sides == (-1, -1):  # damaged
            return Kind(media_type)
        # imagesize takes the sides of a GIF, which are unsigned, as signed numbers of 16 bits.
        return Kind(media_type, *(side % 0x10000 if media_type == "image/gif" else max(side, 0) for side in sides))
    if data[40:44] == b" EMF":
        return Kind("image/x-emf")
    if data.startswith((b"\xd7\xcd\xc6\x9a", b"\x01\x00\x09\x00")):
        return Kind("image/x-wmf")
    return Kind("image/svg+xml" if _SVG.match(data.removeprefix(b"\xef\xbb\xbf")[:4096]) else "")


_RASTER = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
