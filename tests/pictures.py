"""Pictures for tests: headers of every format, and drawn text."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence


def png(width: int = 64, height: int = 64, shade: int = 0) -> bytes:
    """A PNG of one shade of grey (0 to 255)."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + bytes([shade]) * width) * height)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", rows) + part(b"IEND", b"")


def drawn(lines: Sequence[str], *, persian: bool = False, kind: str = "PNG") -> bytes:
    """Black text on white, 28 pixels high."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype("DejaVuSans.ttf", 28)
    image = Image.new("RGB", (900, 60 + 50 * len(lines)), "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        if persian:
            place, anchor, direction = (870, 30 + 50 * number), "ra", "rtl"
        else:
            place, anchor, direction = (30, 30 + 50 * number), "la", "ltr"
        draw.text(place, line, "black", font, anchor, direction=direction)
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()
