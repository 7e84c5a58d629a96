"""The YAML or TOML block at the top of a Markdown file: metadata, never text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import NamedTuple

import yaml

from ragpress.errors import SourceError, message
from ragpress.records import Locator, Message

_KEY = re.compile(r"""(?:"[^"]*"|'[^']*'|\w[^:#{}\[\]&*!|>%@`]*?)\s*:(?:\s|$)""")
_TOML_KEY = re.compile(r"""\s*(?:#|\[|(?:[\w.-]+|"[^"]*"|'[^']*')\s*=)""")
_MOST_NODES = 10_000
_DEEPEST = 50


class FrontMatter(NamedTuple):
    """`values` as written (strings, lists and mappings of strings), and how many `lines` of the file it takes."""

    values: dict[str, object]
    lines: int
    messages: tuple[Message, ...] = ()


def read_front_matter(text: str, source: str) -> FrontMatter:
    """The front matter of a file, or nothing where it begins with none.

    It stands between a first line `---` and the next line `---` or `...`, and is a YAML mapping; or between two lines
    `+++`, and is TOML, as Hugo and Zola have it. Anything else is body: so is a block whose first line is empty, as a
    rule between paragraphs has it (Pandoc's reading). Scalars stay as the author wrote them: 2024-05-07, 1.10, 10:00,
    007 and no are strings. Raises SourceError (front-matter) for a block of `key: value` or `key = value` lines that
    is not valid YAML or TOML, or too large.
    """
    nothing = FrontMatter({}, 0)
    if text.startswith("+++"):
        return _read_toml(text, source) or nothing
    if not text.startswith("---"):
        return nothing
    lines = text.split("\n")
    if lines[0].rstrip() != "---" or len(lines) < 2 or not lines[1].strip():
        return nothing
    ends = (number for number, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "..."))
    end = next(ends, None)
    if end is None:
        return nothing
    block = lines[1:end]
    try:
        values, notes = _load("\n".join(block))
    except yaml.YAMLError as error:
        if not _looks_like_keys(block):
            return nothing
        raise _broken(error, source) from None
    except _TooLargeError as error:
        raise SourceError("front-matter", f"the front matter {error}; make it smaller", source) from None
    if values is None:
        return nothing
    place = Locator("L", 1, end + 1)
    return FrontMatter(
        values, end + 1, tuple(message("warning", "front-matter", note, source, place) for note in notes)
    )


def _read_toml(text: str, source: str) -> FrontMatter | None:
    lines = text.split("\n")
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == "+++"), None)
    if lines[0].rstrip() != "+++" or end is None:
        return None
    block = lines[1:end]
    try:
        values = tomllib.loads("\n".join(block), parse_float=str)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        if not any(_TOML_KEY.match(line) for line in block[:1]):
            return None
        # tomllib names the place in the text alone: `… (at line 2, column 5)`.
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(at[1]) + 1 if at else 1
        problem = str(error)[: at.start()].strip() if at else "it cannot be parsed"
        reason = f"the front matter is not valid TOML: {problem}; correct it, or take `+++` out if this is text"
        raise SourceError("front-matter", reason, source, Locator("L", line, line)) from None
    return FrontMatter({key: _as_text(value) for key, value in values.items()}, end + 1) if values else None


def _as_text(value: object) -> object:
    """A TOML value with its scalars as strings."""
    if isinstance(value, dict):
        return {key: _as_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_text(inner) for inner in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


class _TooLargeError(Exception):
    """Says what is too large."""


def _load(text: str) -> tuple[dict[str, object] | None, list[str]]:
    """The mapping and notes on it; None for YAML that is no mapping."""
    try:
        return _mapping(text)
    except yaml.YAMLError:
        if "\t" not in text:
            raise
    values, notes = _mapping(text.replace("\t", "  "))  # YAML forbids tabs where nobody sees them
    return values, [*notes, "tabs in the front matter are read as spaces; write spaces"]


def _mapping(text: str) -> tuple[dict[str, object] | None, list[str]]:
    _measure(yaml.parse(text, Loader=yaml.BaseLoader))
    loader = yaml.BaseLoader(text)
    node = loader.get_single_node()
    if not isinstance(node, yaml.MappingNode) or not node.value:
        return None, []
    keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    twice = sorted({key for key in keys if keys.count(key) > 1}) if len(set(keys)) < len(keys) else []
    values = loader.construct_document(node)
    _measure_expanded(values)
    return values, [
        f"the key `{key}` stands twice in the front matter, the last one counts; remove one" for key in twice
    ]


def _measure(events: Iterable[yaml.Event]) -> None:
    """Bounds the depth and number of nodes before the loader recurses into them."""
    depth = 0
    for number, event in enumerate(events):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise _TooLargeError(f"is nested more than {_DEEPEST} levels deep")
        if number > 2 * _MOST_NODES:
            raise _TooLargeError(f"has more than {_MOST_NODES} values")


def _measure_expanded(values: object) -> None:
    """Bounds the values with every alias (`*name`) written out, as they will be in JSON."""
    waiting = [values]
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    raise _TooLargeError(f"has more than {_MOST_NODES} values with its aliases written out")


def _looks_like_keys(block: list[str]) -> bool:
    """Whether a person who wrote these lines meant `key: value` lines: the first one is, and most others are."""
    flush = [line for line in block if line.strip() and not line[0].isspace() and line[0] not in "#-]}"]
    keys = [line for line in flush if _KEY.match(line)]
    return bool(flush) and keys[:1] == flush[:1] and 2 * len(keys) >= len(flush)


def _broken(error: yaml.YAMLError, source: str) -> SourceError:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 2 if mark is not None else 1
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be parsed"
    return SourceError(
        "front-matter",
        f"the front matter is not valid YAML: {problem}; put the value in quotes, or leave an empty line behind the "
        "first `---` if this is text",
        source,
        Locator("L", line, line),
    )
