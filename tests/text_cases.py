"""Reads the titled examples under tests/cases/text/, and writes what the tool makes of one in the same form.

See tests/cases/text/README.md for the form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragpress.audit import audit
from ragpress.chunking import chunk_document
from ragpress.config import Config
from ragpress.errors import SourceError
from ragpress.readers import read_document
from ragpress.records import Chunk, Document, Message
from ragpress.text import fold, normalize, sentence_spans
from units import words

FOLDER = Path(__file__).resolve().parent / "cases" / "text"
_CODE_POINT = re.compile(r"<U\+([0-9A-F]{4,5})>")
_UNSEEN = re.compile(
    "[\u00a0\u00ad\u0300-\u036f\u0600-\u0605\u061c\u064b-\u065f\u2009\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufb50-\ufeff\f]"
)


class Case(NamedTuple):
    """An example: the rule that it shows, the settings, and its parts by name, `input` and what is expected."""

    file: str
    title: str
    settings: dict[str, Any]
    parts: dict[str, str]

    def found(self) -> dict[str, str]:
        """What the tool makes of the input, for each part that is expected."""
        results = self._results(self.parts["input"])
        return {name: results.get(name, "") for name in self.expected()}

    def expected(self) -> dict[str, str]:
        """The other parts. That there are no messages and no gaps in what is covered goes without saying."""
        if self.file.startswith("sentences"):
            return {"sentences": self.parts["input"]}
        unsaid = {} if self.file.startswith("normal") else {"error": "", "messages": "", "gaps": ""}
        return {**unsaid, **{name: part for name, part in self.parts.items() if name != "input"}}

    def _results(self, source: str) -> dict[str, str]:
        if self.file.startswith("normal"):
            lines = source.split("\n")
            return {"normal": "\n".join(map(normalize, lines)), "folded": "\n".join(map(fold, lines))}
        if self.file.startswith("sentences"):
            return {"sentences": "\n".join(map(_cut, source.split("\n")))}
        return _compiled(source.encode(), f"name.{'md' if self.file.startswith('markdown') else 'txt'}", self)


def cases(pattern: str = "*.txt") -> list[Case]:
    return [case for path in sorted(FOLDER.glob(pattern)) for case in _cases(path)]


def _cases(path: Path) -> Iterator[Case]:
    for text in f"\n{path.read_text(encoding='utf-8')}".split("\n@@@ ")[1:]:
        head, _, body = text.partition("\n")
        title, _, settings = head.rstrip("]").partition(" [")
        pieces = re.split(r"(?:\A|\n)--- ([a-z ]+)(?:\n|\Z)", f"--- input\n{body}")[1:]
        parts = {name: _seen(part.strip("\n")) for name, part in zip(pieces[::2], pieces[1::2], strict=True)}
        yield Case(path.name, title, dict(map(_setting, settings.split())), parts)


def _cut(line: str) -> str:
    """A line with `¦` where a sentence ends inside it, for one that may have such marks."""
    text = line.replace("¦", "")
    found = [text[start:end] for start, end in sentence_spans(text)]
    return "".join(f"{each.rstrip()}¦{each[len(each.rstrip()) :]}" for each in found[:-1]) + "".join(found[-1:])


def _setting(written: str) -> tuple[str, Any]:
    name, _, value = written.partition("=")
    if name.endswith("headings"):
        return name, tuple(value.replace("_", " ").split(","))
    return name, int(value) if value.isdecimal() else value


def _seen(text: str) -> str:
    return _CODE_POINT.sub(lambda found: chr(int(found[1], 16)), text)


def shown(text: str) -> str:
    """The text with what nobody could see or type in an editor as `<U+200C>`."""
    return _UNSEEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def _compiled(data: bytes, source: str, case: Case) -> dict[str, str]:
    config = Config(**{"min_tokens": 0, **case.settings})
    try:
        document = read_document(data, source, config)
    except SourceError as error:
        return {"error": _message(error.message)}
    chunks, messages = chunk_document(document, config, words)
    report = audit(data, document, chunks, config)
    return {
        "chunks": "\n\n".join(map(_chunk, chunks)),
        "messages": "\n".join(map(_message, (*document.messages, *messages))),
        "left out": "\n".join(f"{each.locator} {each.reason}: {each.text}" for each in document.left_out),
        "title": document.title,
        "front matter": "\n".join(f"{key}: {value}" for key, value in document.front_matter.items()),
        "units": _units(document),
        "gaps": "\n".join(f"{gap.place}: {gap.text}" for gap in report.gaps),
    }


def _units(document: Document) -> str:
    """Each unit, with `¦` where it may be cut, behind what is repeated above each part."""
    lines: list[str] = []
    for unit in document.units:
        text = unit.text
        for at in sorted(unit.breaks, reverse=True):
            text = f"{text[:at]}¦{text[at:]}"
        repeated = f" repeating {unit.repeat}" if unit.repeat else ""
        lines += [f"● {unit.kind} {unit.locator}{repeated}", *(f"│ {line}".rstrip() for line in text.split("\n"))]
    return "\n".join(lines)


def _chunk(chunk: Chunk) -> str:
    kind = "" if chunk.content_type == "paragraph" else f"{chunk.content_type} "
    context, own = chunk.text[: chunk.context_chars].rstrip("\n"), chunk.text[chunk.context_chars :]
    return "\n".join(
        (
            f"● {kind}{chunk.locator} {' › '.join(chunk.headings)}".rstrip(),
            *_edged("┆", context.split("\n") if context else ()),
            *_edged("│", own.split("\n")),
        )
    )


def _edged(edge: str, lines: Sequence[str]) -> Iterator[str]:
    return (f"{edge} {line}".rstrip() for line in lines)


def _message(found: Message) -> str:
    return f"{found.locator or ''} {found.severity} {found.code}: {found.text}".strip()


def written(case: Case) -> str:
    """The example as its file should have it, with what the tool makes of it now: for a person to look at."""
    settings = "".join(f" {name}={value}" for name, value in case.settings.items()).strip()
    head = f"@@@ {case.title}{f' [{settings}]' if settings else ''}\n"
    found = case.found()
    parts = (f"--- {name}\n{shown(part)}\n" for name, part in found.items() if part)
    return head + shown(case.parts["input"]) + "\n" + "".join(parts)
