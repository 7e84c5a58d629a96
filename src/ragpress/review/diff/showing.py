"""What the renderings of changes have in common: words for them, cuts in what did not change, invisible signs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ragpress.console import plural
from ragpress.review.diff.records import KINDS, Aspect, Changes, ChunkChange, Kind, Renaming, SourceChange
from ragpress.review.diff.words import Op, Run

GAP = "…"

_MINOR: dict[Aspect, str] = {
    "context": "other text repeated above",
    "tokens": "another token count",
    "place": "another distance to the chunk before",
}
# Letters that steer a terminal or the direction of text, or that nobody sees; ZWNJ is none of them.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_SPACES = str.maketrans({" ": "·", "\t": "⇥", "\n": "↵\n", "\u00a0": "⍽", "\u202f": "⍽"})


def visible(text: str) -> str:
    """The text with everything that would steer a terminal or a direction written out: `<U+202E>`."""
    return _STEERING.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def visible_run(run: Run) -> Run:
    """The run, made visible; spaces as signs where nothing but they were changed."""
    text = visible(run.text)
    if run.op != "same" and not text.strip():
        text = text.translate(_SPACES)
    return Run(run.op, text)


def counted(counts: Counter[Kind]) -> str:
    """`1 added, 2 changed`; empty for none."""
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])


def describe(source: SourceChange) -> str:
    """What happened to a source, in a few words."""
    chunks = plural(len(source.changes), "chunk", "chunks")
    match source.status:
        case "added":
            found = f"new, {chunks}"
        case "removed":
            found = f"removed, {chunks}"
        case "failed":
            return f"cannot be read: {visible(source.note)}"
        case "unreadable":
            return f"its golden is damaged: {visible(source.note)}"
        case "form":
            return "its golden says the same, but is written in another form"
        case "renamed":
            found = ", ".join(filter(None, (f"renamed from {visible(source.before_source)}", counted(source.counts()))))
        case "changed":
            found = counted(source.counts())
    messages = len(source.messages_added) + len(source.messages_removed)
    return ", ".join(filter(None, (found, plural(messages, "message", "messages") if messages else "")))


def describe_all(changes: Changes) -> str:
    """What happened at all: `2 sources differ (chunks: 1 added, 2 changed)`."""
    differ = plural(len(changes.sources), "source differs", "sources differ")
    chunks = counted(changes.counts())
    return f"{differ} (chunks: {chunks})" if chunks else differ


def describe_minor(minor: Sequence[ChunkChange]) -> str:
    """Chunks whose own text is what it was, in one line: `3 chunks: other text repeated above (2), …`."""
    counts = Counter(aspect for change in minor for aspect in change.aspects)
    reasons = ", ".join(f"{_MINOR[aspect]} ({counts[aspect]})" for aspect in _MINOR if counts[aspect])
    return f"{plural(len(minor), 'chunk', 'chunks')} with the same text of their own: {reasons}"


def headings_of(headings: Sequence[str]) -> str:
    return visible(" › ".join(headings)).replace("\n", " ")


def facts(change: ChunkChange) -> list[str]:
    """Place and tokens of a change, with both values where they differ and say something."""
    one, two = change.before, change.after
    now = change.shown
    found = [f"{change.place} ({now.locator})" if change.place else now.locator]
    if one is not None and two is not None:
        if change.kind == "moved" and one.locator != two.locator:
            found = [f"{one.locator} → {two.locator}"]
        if one.content_type != two.content_type:
            found.append(f"{one.content_type} → {two.content_type}")
        if one.tokens != two.tokens:
            return [*map(visible, found), f"{one.tokens} → {two.tokens} tokens"]
    return [*map(visible, found), f"{now.tokens} tokens"]


def span(found: Renaming) -> str:
    """`17 chunks, L3 to L80`."""
    first, last = (found.changes[number].shown.locator for number in (0, -1))
    return f"{plural(len(found.changes), 'chunk', 'chunks')}, {visible(first)} to {visible(last)}"


# -- cutting ---------------------------------------------------------------------------------------------------------


def shorten(text: str, most: int) -> str:
    """The beginning of a text, cut between words where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    head = text[:most]
    kept = head.rsplit(maxsplit=1)[0] if not text[most].isspace() and len(head.split()) > 1 else head
    return f"{kept.rstrip()} {GAP}"


def excerpt(runs: Sequence[Run], around: int) -> list[Run]:
    """The runs with at most `around` words of unchanged text on each side of a change."""
    found: list[Run] = []
    for number, run in enumerate(runs):
        if run.op != "same":
            found.append(run)
            continue
        words = list(re.finditer(r"\S+", run.text))
        first, last = number == 0, number == len(runs) - 1
        wanted = around * (2 - first - last)
        if len(words) <= wanted + 3:
            found.append(run)
            continue
        head = "" if first else run.text[: words[around - 1].end()]
        tail = "" if last else run.text[words[-around].start() :]
        found.append(Run("same", f"{head} {GAP} {tail}".strip(" " if head and tail else "")))
        if first or last:
            found[-1] = Run("same", f"{GAP} {tail}" if first else f"{head} {GAP}")
    return found


def one_side(runs: Sequence[Run], op: Op) -> list[Run]:
    """The runs that one side has: `removed` for what was, `added` for what is."""
    return [run for run in runs if run.op in ("same", op)]


def lines_of(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs line by line."""
    lines: list[list[Run]] = [[]]
    for run in runs:
        first, *others = run.text.split("\n")
        lines[-1].append(Run(run.op, first))
        lines += [[Run(run.op, line)] for line in others]
    return [[run for run in line if run.text] for line in lines]
