"""Retrieval cases: questions, and what the chunk that answers one must be."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import get_args

import msgspec

from ragpress.console import Report
from ragpress.errors import BuildError, message, render
from ragpress.records import Chunk, ContentType
from ragpress.text import fold, normalize
from ragpress.text.conflicts import UNRESOLVED, begins_conflict

_CONDITIONS = {
    "expected_source": "sources",
    "expected_section": "sections",
    "expected_doc_section": "sections",
    "content_type": "content_types",
    "answer": "answers",
}
"""Key of a line to field of Case."""

_UNANSWERABLE = "unanswerable"
_KEYS = ("question", _UNANSWERABLE, *_CONDITIONS)
_OWN_PREFIX = "expected"  # no other tool's key begins so, so that an unknown one is a slip
_CLOSE = 0.8


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A question and up to four conditions, which one chunk must meet together. `place` is file and line.

    A condition is met by any of its values, an empty one by every chunk. `sources` are paths below sources/ or ends of
    them (`wiki.md` for `klinika/wiki.md`), `sections` a chunk's whole `section`, `answers` a part of its text. Values
    and chunk are compared folded (`text.fold`), any white space as one space. A case that is `unanswerable` has no
    condition, and no chunk answers it.
    """

    question: str
    place: str
    sources: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    content_types: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    unanswerable: bool = False

    def is_answered_by(self, chunk: Chunk) -> bool:
        return not self.unanswerable and all(meets(chunk, getattr(self, field)) for field, meets in _TESTS.items())


@lru_cache(maxsize=1 << 14)
def _plain(text: str) -> str:
    return " ".join(fold(text).split())


def _from_source(chunk: Chunk, sources: tuple[str, ...]) -> bool:
    path = f"/{_plain(chunk.source)}"
    return not sources or any(path.endswith(f"/{_plain(source)}") for source in sources)


def _in_section(chunk: Chunk, sections: tuple[str, ...]) -> bool:
    return not sections or _plain(chunk.section) in map(_plain, sections)


def _of_type(chunk: Chunk, types: tuple[str, ...]) -> bool:
    return not types or chunk.content_type in types


def _holds_answer(chunk: Chunk, answers: tuple[str, ...]) -> bool:
    return not answers or any(_plain(answer) in _plain(chunk.text) for answer in answers)


_TESTS: dict[str, Callable[[Chunk, tuple[str, ...]], bool]] = {
    "sources": _from_source,
    "sections": _in_section,
    "content_types": _of_type,
    "answers": _holds_answer,
}


def obstacle(case: Case, chunks: Iterable[Chunk]) -> str:
    """Why none of these chunks answers the case: the condition that leaves none over; empty where one does."""
    left: Sequence[Chunk] = tuple(chunks)
    met: list[str] = []
    for field, meets in _TESTS.items():
        values = getattr(case, field)
        key = next(key for key, name in _CONDITIONS.items() if name == field)
        before, left = left, [chunk for chunk in left if meets(chunk, values)]
        if not left:
            those = f"the {len(before)} with its {' and '.join(met)}" if met else f"all {len(before)}"
            return f"of {those} none has {key} {' or '.join(values)!r}"
        if values:
            met.append(key)
    return ""


# -- reading ---------------------------------------------------------------------------------------------------------


def read_cases(path: Path, report: Report, shown: str = "") -> tuple[Case, ...]:
    """The cases of a JSONL file, which is called `shown` in messages. Keys of other tools are named once and ignored.

    Raises BuildError that names file and line where a line is no case: not a JSON object, without a question or any
    condition, with a value that is no text or list of texts, or with a key that looks like a mistyped one.
    """
    shown = shown or path.name
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except OSError as error:
        raise BuildError("bad-case", f"{shown} cannot be read: {error.strerror}; correct the path") from None
    except UnicodeDecodeError as error:
        raise BuildError("bad-case", f"{shown}: byte {error.start} is no UTF-8; save the file as UTF-8") from None
    ignored: dict[str, None] = {}
    cases = [_case(line, f"{shown}:{number}", ignored) for number, line in enumerate(lines, 1) if line.strip()]
    if not cases:
        raise BuildError("bad-case", f"{shown} holds no question; write one a line")
    if ignored:
        keys = ", ".join(f"`{key}`" for key in ignored)
        report(render(message("info", "bad-case", f"{shown}: keys without a meaning here are ignored: {keys}")))
    return tuple(cases)


def _case(line: str, place: str, ignored: dict[str, None]) -> Case:
    def wrong(what: str) -> BuildError:
        return BuildError("bad-case", f"{place}: {what}")

    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        if begins_conflict(line):
            raise BuildError("conflict", f"{place}: {UNRESOLVED}; resolve it in this file") from None
        raise wrong(f"not valid JSON ({error}); write one object a line") from None
    if not isinstance(found, dict):
        raise wrong('not a JSON object; write {"question": "…", "expected_section": "…"}')
    for key in found:
        if key not in _KEYS:
            _check_unknown(key, wrong)
            ignored[key] = None
    question = found.get("question")
    if not isinstance(question, str) or not normalize(question).strip():
        raise wrong("`question` is missing or blank")
    values: dict[str, tuple[str, ...]] = {}
    for key, field in _CONDITIONS.items():
        values[field] = (*values.get(field, ()), *_texts(found.get(key), key, wrong))
    unanswerable = found.get(_UNANSWERABLE) or False
    if not isinstance(unanswerable, bool):
        raise wrong(f"`{_UNANSWERABLE}` is neither true nor false")
    if unanswerable == any(values.values()):
        conditions = ", ".join(_CONDITIONS)
        if unanswerable:
            raise wrong(f"it is `{_UNANSWERABLE}` and says what must be found; leave out one of the two")
        raise wrong(f'nothing says what must be found; give one of {conditions}, or "{_UNANSWERABLE}": true')
    for name in values["content_types"]:
        if name not in get_args(ContentType):
            raise wrong(f"no chunk has the content_type {name!r}; use one of {', '.join(get_args(ContentType))}")
    values["sources"] = tuple(unicodedata.normalize("NFC", source).strip("/") for source in values["sources"])
    return Case(question=question, place=place, unanswerable=unanswerable, **values)


def _check_unknown(key: str, wrong: Callable[[str], BuildError]) -> None:
    close = difflib.get_close_matches(key, _KEYS, 1, _CLOSE)
    if close:
        raise wrong(f"there is no key `{key}`; did you mean `{close[0]}`?")
    if key.startswith(_OWN_PREFIX):
        raise wrong(f"there is no key `{key}`; use one of {', '.join(_CONDITIONS)}")


def _texts(value: object, key: str, wrong: Callable[[str], BuildError]) -> tuple[str, ...]:
    texts: list[str] = []
    for text in value if isinstance(value, list) else [value or ""]:
        if not isinstance(text, str):
            raise wrong(f"`{key}` is neither a text nor a list of texts")
        texts.append(text)
    return tuple(text for text in texts if _plain(text))
