"""What every engine is, and the choice of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ragpress.config import Config
from ragpress.errors import BuildError

Caption = Callable[[bytes, str], str]
"""The text of a picture, given its bytes and media type; empty where it says nothing.

Raises EngineError, or BuildError where this picture alone has no caption.
"""


class EngineError(BuildError):
    """The engine cannot be used at all, so that no other picture needs to be tried."""


class Engine(NamedTuple):
    """`name` is kept with each caption; `at_once` is how many pictures it takes at the same time."""

    name: str
    caption: Caption
    at_once: int


READABLE: dict[str, frozenset[str]] = {
    "openai": frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"}),
    "tesseract": frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff"}),
}
"""Media types that each engine takes."""


def engine(config: Config) -> Engine:
    """The engine that the settings name. Raises EngineError where it cannot be used as they say."""
    if config.captions == "openai":
        from ragpress.captions.openai import openai_engine

        return openai_engine(config)
    if config.captions == "tesseract":
        from ragpress.captions.tesseract import tesseract_engine

        return tesseract_engine(config)
    raise EngineError("bad-setting", "captions is off; set it to openai or tesseract")
