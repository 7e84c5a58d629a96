"""The golden files: one lossless, line-based text a source, rendered, read back, compared and accepted.

    ● paragraph · L+2 (3) · Клиника «Берёза» › Запись · 57 tokens · 0f3a…      the head line of a chunk
    ┆ ## Запись                                                                 context: repeated, not new
    │ Записаться можно по телефону или на сайте.                                own text
    ▲ warning docx-unknown-style B7: …                                          a message, after all chunks

A place is written relative to the end of the chunk before it (`L+2 (3)`: three lines, beginning two below), so
that an inserted paragraph renumbers nothing; the first of a part is absolute. Pointers are no part of it: they
follow from the order and are checked as an invariant.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ragpress.errors import BuildError
from ragpress.records import Chunk, Locator, PlaceUnit

EDGE, CONTEXT, HEAD, NOTE = "│", "┆", "●", "▲"
SUFFIX = ".txt"
_HEAD = re.compile(
    rf"{HEAD} (?P<type>\w+) · (?P<place>.+?) · (?P<headings>.*?)(?: § (?P<section>.*))? · (?P<tokens>\d+) tokens"
    r" · (?P<id>[0-9a-f]{16})(?: \+(?P<ends>\d+))?"
)
_RELATIVE = re.compile(r"(?P<unit>[LRB])\+(?P<gap>-?\d+) \((?P<count>\d+)\)")


class GoldenChunk(msgspec.Struct, frozen=True):
    """A chunk as a golden tells it: everything of `Chunk` but its source and pointers."""

    chunk_id: str
    content_type: str
    section: str
    headings: tuple[str, ...]
    locator: str
    tokens: int
    context: str
    text: str

    @classmethod
    def of(cls, chunk: Chunk) -> GoldenChunk:
        return cls(
            chunk.chunk_id,
            chunk.content_type,
            chunk.section,
            chunk.headings,
            chunk.locator,
            chunk.tokens,
            chunk.text[: chunk.context_chars],
            chunk.text[chunk.context_chars :],
        )


def _escape(heading: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ("\n", "\\n"), ("›", "\\›"), ("·", "\\·"), ("§", "\\§")):
        heading = heading.replace(plain, escaped)
    return heading


def _unescape(heading: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], heading)


def _edged(edge: str, text: str) -> list[str]:
    return [f"{edge} {line}" if line else edge for line in text.split("\n")]


def render_golden(chunks: Sequence[Chunk | GoldenChunk], messages: Sequence[str]) -> str:
    """The text of one golden file. `messages` are one-line renderings without the source's name."""
    lines: list[str] = []
    before: Locator | None = None
    for item in chunks:
        chunk = GoldenChunk.of(item) if isinstance(item, Chunk) else item
        place = Locator.parse(chunk.locator)
        shown = str(place)
        if before is not None and (before.part, before.unit) == (place.part, place.unit):
            shown = f"{place.unit}+{place.start - before.end} ({place.end - place.start + 1})"
        before = place
        headings = " › ".join(_escape(heading) for heading in chunk.headings)
        if chunk.section != (chunk.headings[-1] if chunk.headings else ""):
            headings += f" § {_escape(chunk.section)}"
        # A blank line parts context and text; where another number of line ends does, a sign says how many.
        context = chunk.context.rstrip("\n")
        ends = len(chunk.context) - len(context)
        join = f" +{ends}" if chunk.context and ends != 2 else ""
        lines.append(
            f"{HEAD} {chunk.content_type} · {_escape(shown)} · {headings} · {chunk.tokens} tokens"
            f" · {chunk.chunk_id}{join}"
        )
        if chunk.context:
            lines += _edged(CONTEXT, context)
        lines += [*_edged(EDGE, chunk.text), ""]
    lines += [f"{NOTE} {message}" for message in messages]
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def parse_golden(text: str) -> tuple[tuple[GoldenChunk, ...], tuple[str, ...]]:
    """The inverse of `render_golden`. Raises BuildError for a text that is no golden."""
    chunks: list[GoldenChunk] = []
    messages: list[str] = []
    head: re.Match[str] | None = None
    body: dict[str, list[str]] = {CONTEXT: [], EDGE: []}
    before: Locator | None = None

    def close() -> None:
        nonlocal head, before
        if head is None:
            return
        before = _place(head["place"], before)
        headings = tuple(_unescape(part) for part in head["headings"].split(" › ")) if head["headings"] else ()
        section = head["section"]
        context = "\n".join(body[CONTEXT])
        if body[CONTEXT]:
            context += "\n" * int(head["ends"] or 2)
        chunks.append(
            GoldenChunk(
                head["id"],
                head["type"],
                _unescape(section) if section is not None else (headings[-1] if headings else ""),
                headings,
                str(before),
                int(head["tokens"]),
                context,
                "\n".join(body[EDGE]),
            )
        )
        head = None
        body[CONTEXT], body[EDGE] = [], []

    for number, line in enumerate(text.split("\n"), 1):
        mark = line[:1]
        if mark == HEAD:
            close()
            head = _HEAD.fullmatch(line)
            if head is None:
                raise BuildError(
                    "golden", f"line {number} is no head line of a chunk; run `doit accept` to write it anew"
                )
        elif mark in body and head is not None:
            body[mark].append(line[2:])
        elif mark == NOTE:
            close()
            messages.append(line[2:])
        elif line:
            raise BuildError("golden", f"line {number} is not part of a golden; run `doit accept` to write it anew")
    close()
    return tuple(chunks), tuple(messages)


def _place(shown: str, before: Locator | None) -> Locator:
    relative = _RELATIVE.fullmatch(shown)
    if relative is None or before is None:
        return Locator.parse(_unescape(shown))
    unit: PlaceUnit = relative["unit"]  # type: ignore[assignment]  # the pattern allows just these letters
    start = before.end + int(relative["gap"])
    return Locator(unit, start, start + int(relative["count"]) - 1, before.part)


class Differences(msgspec.Struct, frozen=True):
    """What `doit golden` found, as paths below the golden folder."""

    missing: tuple[str, ...]
    orphans: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.orphans or self.changed)


def golden_files(folder: Path) -> tuple[str, ...]:
    """All golden texts below the folder, as POSIX paths, sorted. `questions.jsonl` and the like are none."""
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob(f"*{SUFFIX}")))


def read_golden(path: Path) -> str:
    """The text of one golden file; line ends that a checkout changed are forgiven. Raises BuildError."""
    try:
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError("golden", f"golden/{path.name} cannot be read: {error}; run `doit accept`") from None


def compare_goldens(folder: Path, rendered: dict[str, str]) -> Differences:
    """`rendered` is source to golden text. Names what is missing, orphaned or different in the folder."""
    wanted = {f"{source}{SUFFIX}": text for source, text in rendered.items()}
    present = golden_files(folder)
    return Differences(
        missing=tuple(name for name in sorted(wanted) if name not in present),
        orphans=tuple(name for name in present if name not in wanted),
        changed=tuple(name for name in present if name in wanted and read_golden(folder / name) != wanted[name]),
    )


def accept_goldens(folder: Path, rendered: dict[str, str]) -> tuple[str, ...]:
    """Writes what differs and deletes orphans. Returns a line a path: `wrote …` or `deleted …`."""
    found = compare_goldens(folder, rendered)
    done: list[str] = []
    for name in sorted((*found.missing, *found.changed)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rendered[name.removesuffix(SUFFIX)].encode("utf-8"))
        done.append(f"wrote {folder.name}/{name}")
    for name in found.orphans:
        (folder / name).unlink()
        done.append(f"deleted {folder.name}/{name}")
        remove_empty_parents(folder, (folder / name).parent)
    return tuple(done)


def remove_empty_parents(root: Path, folder: Path) -> None:
    """Removes `folder` and its parents below `root` as long as they are empty."""
    for parent in _upwards(root, folder):
        with contextlib.suppress(OSError):  # not empty: it stays
            parent.rmdir()


def _upwards(root: Path, folder: Path) -> Iterable[Path]:
    while folder != root and root in folder.parents:
        yield folder
        folder = folder.parent
