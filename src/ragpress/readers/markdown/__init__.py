"""Reads Markdown: front matter, sections at H1 and H2, and what an editor wrote in between, as written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from ragpress.config import Config
from ragpress.errors import SourceError, message
from ragpress.readers.markdown.blocks import Block, Comment, read_blocks
from ragpress.readers.markdown.front_matter import read_front_matter
from ragpress.readers.markdown.pictures import embedded
from ragpress.readers.markdown.sections import assemble
from ragpress.records import Document, LeftOut, Locator, Message, Picture
from ragpress.text import decode, normalize


def read_markdown(data: bytes, source: str, config: Config) -> Document:
    """The document in a Markdown file. Locators are lines of the file, front matter counted.

    Raises SourceError: bad-encoding, front-matter, empty-source (no visible text at all).
    """
    decoded = decode(data, source)
    text = normalize(decoded.text)
    front = read_front_matter(text, source)
    body = "\n".join(text.split("\n")[front.lines :]) if front.lines else text
    blocks, comments, silent = read_blocks(body, pictures=config.captions != "off")
    if not blocks:
        raise _empty(front.lines, comments, source)
    if front.lines:
        blocks = [block._replace(start=block.start + front.lines, end=block.end + front.lines) for block in blocks]
    blocks, pictures = _taken_in(blocks)
    title = _title(front.values) or next((block.text for block in blocks if block.level == 1 and block.text), "")
    name = _title(front.values) or normalize(PurePosixPath(source).stem)
    units, messages, left_out = assemble(blocks, name, config, source)
    return Document(
        source=source,
        title=title or name,
        front_matter=front.values,
        units=units,
        messages=(
            *decoded.messages,
            *front.messages,
            *messages,
            *_warnings(comments, front.lines, source),
            *_silent(silent if config.captions == "off" else 0, source),
        ),
        left_out=(*left_out, *(LeftOut(each.reason, each.text, _place(each, front.lines)) for each in comments)),
        pictures=pictures,
    )


def _taken_in(blocks: Sequence[Block]) -> tuple[list[Block], tuple[Picture, ...]]:
    """The blocks with pictures inside the text named by their sha256, and those pictures."""
    found: dict[str, Picture] = {}
    named = []
    for block in blocks:
        picture = embedded(block.picture) if block.picture else None
        if picture is not None:
            found[picture.sha256] = picture
            block = block._replace(picture=picture.sha256)
        named.append(block)
    return named, tuple(found.values())


def _silent(count: int, source: str) -> list[Message]:
    if not count:
        return []
    counted = "1 picture has" if count == 1 else f"{count} pictures have"
    text = f"{counted} no alternative text; write one, as ![what it shows](…), so that it can be found"
    return [message("info", "picture", text, source)]


def _empty(above: int, comments: list[Comment], source: str) -> SourceError:
    for comment in comments:
        if comment.open:
            text = "all text stands behind a comment `<!--` that is not closed; close it with `-->`"
            return SourceError("empty-source", text, source, _place(comment, above))
    text = f"the file has no text{' below its front matter' if above else ''}; write some or remove the file"
    return SourceError("empty-source", text, source)


def _title(values: dict[str, object]) -> str:
    title = values.get("title")
    return " ".join(title.split()) if isinstance(title, str) else ""


def _warnings(comments: list[Comment], above: int, source: str) -> list[Message]:
    text = "a comment `<!--` is not closed: everything below it is left out; close it with `-->`"
    return [message("warning", "left-out", text, source, _place(each, above)) for each in comments if each.open]


def _place(comment: Comment, above: int) -> Locator:
    return Locator("L", comment.start + above + 1, comment.end + above)
