"""Changes as a comment on a pull request: bounded, most important first, readable in both directions.

Beyond its heading it is made of HTML blocks of one line each, in which a host reads no Markdown. Every character of a
source is escaped and no line end of one gets through, so that no text can leave its block. `dir="auto"` gives each
paragraph the direction of its own words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from html import escape

from ragpress.console import plural
from ragpress.review.diff.records import KINDS, Changes, ChunkChange, Kind, Renaming, SourceChange
from ragpress.review.diff.showing import (
    describe,
    describe_all,
    describe_minor,
    excerpt,
    facts,
    headings_of,
    shorten,
    span,
    visible,
    visible_run,
)
from ragpress.review.diff.words import Run, word_runs, words_of

LIMIT = 60_000
"""Characters: hosts cut or refuse a comment above 65,536."""

_AROUND = 15  # words of unchanged text on each side of a change
_WHOLE = 700  # characters of a chunk that was added or removed
_CHANGED = 3_000  # characters of one that was changed, of which little is unchanged
_ROWS = 40  # sources in the table
_MESSAGES = 10  # messages of a source
_NAME = 200  # characters of a source's name, a heading path or a message
_RANK: dict[Kind, int] = {"changed": 0, "removed": 0, "added": 1, "renamed": 2, "moved": 3, "minor": 4}
_URGENT = ("failed", "unreadable", "removed")
_TAGS = {"same": ("", ""), "removed": ("<del>", "</del>"), "added": ("<ins>", "</ins>")}
# A name or number behind one of these would call a person or link an issue; an invisible joiner keeps it text.
_CALL = re.compile(r"([@#!])(?=\w)")
_LAST_LINE = 2_000  # room for it, whatever is in the revision's name
_Place = tuple[int, int]
Link = Callable[[str, str], str]


def to_markdown(changes: Changes, limit: int = LIMIT, link: Link | None = None, beside: str = "") -> str:
    """The comment, of at most `limit` characters, which must be 10,000 or more. Ends with a newline.

    `link` gives the address of a chunk by its source and id. `beside` is HTML of other things, shown before the chunks.
    """
    against = f"<code>{html_name(changes.base)}</code>" if changes.base else "the accepted goldens"
    head = "### What the chatbot will read differently\n\n"
    if not changes.sources:
        return f"{head}<p>Nothing: the chunks are those of {against}.</p>\n{beside}"
    order = sorted(range(len(changes.sources)), key=lambda number: _importance(changes.sources[number]))
    sources = [changes.sources[number] for number in order]
    top = f"{head}<p><b>{describe_all(changes)}</b>, compared with {against}.</p>\n\n"
    top += f"{_table(sources, limit // 4)}{beside}"
    room = limit - len(top) - _LAST_LINE
    frames: list[tuple[str, str]] = []
    for source in sources:
        opening, closing = _frame(source)
        cost = len(_details(opening, closing or " ")) + 1
        if cost > room:
            break
        room -= cost
        frames.append((opening, closing))
    chosen = _chosen(sources[: len(frames)], room, link)
    blocks = [top]
    for number, (opening, closing) in enumerate(frames):
        inner = "".join(text for place, text in sorted(chosen.items()) if place[0] == number)
        blocks.append(_details(opening, f"{inner}{closing}"))
    missing = sum(
        len(block.changes) if isinstance(block, Renaming) else 1
        for number, source in enumerate(sources)
        for index, block in enumerate(source.blocks())
        if (number, index) not in chosen
    )
    if missing or len(frames) < len(sources):
        left = [plural(missing, "chunk", "chunks")] if missing else []
        left += [plural(len(sources) - len(frames), "source", "sources")] if len(frames) < len(sources) else []
        command = f"ragpress diff {changes.base}".strip()
        blocks.append(
            f"<p>Left out here for length: {' and '.join(left)}. <code>{html_name(command)}</code> shows all.</p>\n"
        )
    return "\n".join(blocks)


def _importance(source: SourceChange) -> tuple[bool, int, str]:
    return source.status not in _URGENT, -sum(_weight(change) for change in source.changes), source.source


def _weight(change: ChunkChange) -> int:
    """About how many words a reader has to look at."""
    if change.kind in ("renamed", "moved", "minor"):
        return 1
    one = Counter(words_of(change.before.text if change.before else ""))
    two = Counter(words_of(change.after.text if change.after else ""))
    return 1 + ((one - two) + (two - one)).total()


def _chosen(sources: Sequence[SourceChange], room: int, link: Link | None) -> dict[_Place, str]:
    """The most important changes that fit: number of the source and of its block to that block's HTML."""
    blocks = [source.blocks() for source in sources]
    places = [
        (
            *((_RANK["renamed"], 0) if isinstance(block, Renaming) else (_RANK[block.kind], -_weight(block))),
            (number, index),
        )
        for number, found in enumerate(blocks)
        for index, block in enumerate(found)
    ]
    chosen: dict[_Place, str] = {}
    for _, _, (number, index) in sorted(places):
        block = blocks[number][index]
        if isinstance(block, Renaming):
            text = _renaming(block)
        else:
            after = block.after
            text = _chunk(block, link(sources[number].source, after.chunk_id) if link and after else "")
        if len(text) > room:
            break
        room -= len(text)
        chosen[number, index] = text
    return chosen


# -- blocks ----------------------------------------------------------------------------------------------------------


def _table(sources: Sequence[SourceChange], limit: int) -> str:
    """Sources and their counts of what there is; from a number of rows or characters on, the rest in one row."""
    total: Counter[Kind] = sum((source.counts() for source in sources), Counter())
    kinds = [kind for kind in KINDS if total[kind]]
    lines = [_row("th", "source", kinds)]
    used = 0
    for number, source in enumerate(sources):
        note = "" if source.status == "changed" else f" ({source.status})"
        counts = source.counts()
        line = _row("td", f"<code>{html_name(source.source)}</code>{note}", [counts[kind] or "" for kind in kinds])
        used += len(line)
        if number == _ROWS or used > limit:
            rest: Counter[Kind] = sum((other.counts() for other in sources[number:]), Counter())
            more = plural(len(sources) - number, "more source", "more sources")
            lines.append(_row("td", more, [rest[kind] or "" for kind in kinds]))
            break
        lines.append(line)
    return "\n".join(["<table>", *lines, "</table>", ""])


def _row(tag: str, first: str, others: Sequence[object]) -> str:
    cells = "".join(f'<{tag} align="right">{value}</{tag}>' for value in others)
    return f"<tr><{tag}>{first}</{tag}>{cells}</tr>"


def _frame(source: SourceChange) -> tuple[str, str]:
    """The line of a source, and what follows its chunks."""
    summary = html_text(shorten(describe(source), _NAME))
    opening = f"<code>{html_name(source.source)}</code>: {summary}"
    closing = ""
    minor = [change for change in source.changes if change.kind == "minor"]
    if minor:
        closing += f"<p>{describe_minor(minor)}</p>\n"
    for tag, messages in (("del", source.messages_removed), ("ins", source.messages_added)):
        for message in messages[:_MESSAGES]:
            closing += f'<p dir="auto">▲ <{tag}>{html_text(shorten(message, _NAME))}</{tag}></p>\n'
        if len(messages) > _MESSAGES:
            closing += f"<p>▲ and {plural(len(messages) - _MESSAGES, 'more message', 'more messages')}</p>\n"
    return opening, closing


def _details(summary: str, inner: str) -> str:
    """What opens at a click, where there is anything in it."""
    return f"<details><summary>{summary}</summary>\n{inner}</details>\n" if inner else f"<p>{summary}</p>\n"


def _renaming(found: Renaming) -> str:
    marked = _marked(headings_of(found.before), headings_of(found.after))
    return f'<p><b>renamed</b> · {html_text(span(found))}: <span dir="auto">{marked}</span></p>\n'


def _chunk(change: ChunkChange, address: str) -> str:
    one, two = change.before, change.after
    headings = headings_of(change.shown.headings)
    kind = f"<b>{change.kind}</b>"
    head = " · ".join([f'<a href="{escape(address)}">{kind}</a>' if address else kind, *map(html_text, facts(change))])
    if one is not None and two is not None and one.headings != two.headings:
        head += f' · <span dir="auto">{_marked(headings_of(one.headings), headings)}</span>'
    elif headings:
        head += f' · <span dir="auto">{html_text(shorten(headings, _NAME))}</span>'
    if one is None or two is None:
        runs = [Run("added" if one is None else "removed", shorten(change.shown.text, _WHOLE))]
    elif one.text == two.text:
        runs = [Run("same", shorten(two.text, _WHOLE // 4))]
    else:
        runs = excerpt(word_runs(one.text, two.text), _AROUND)
    return f"<p>{head}</p>\n<blockquote>{_paragraphs(_bounded(runs, _CHANGED))}</blockquote>\n"


def _marked(old: str, new: str) -> str:
    runs = word_runs(shorten(old, _NAME), shorten(new, _NAME))
    return "".join(_tagged(run.op, html_text(run.text)) for run in _apart(runs))


def _apart(runs: Sequence[Run]) -> Iterator[Run]:
    """The runs with a space where an old word would join the new one, as Persian letters do across tags."""
    for before, run in zip((Run("same", ""), *runs), runs, strict=False):
        if (before.op, run.op) == ("removed", "added") and not (before.text[-1].isspace() or run.text[0].isspace()):
            yield Run("same", " ")
        yield run


def _bounded(runs: Sequence[Run], most: int) -> list[Run]:
    found: list[Run] = []
    for run in runs:
        if most <= 0:
            return [*found, Run("same", " …")]
        found.append(Run(run.op, shorten(run.text, most)))
        most -= len(run.text)
    return found


def _paragraphs(runs: Sequence[Run]) -> str:
    """The runs as paragraphs; the tags close and open again where one ends."""
    done: list[str] = []
    for run in _apart(runs):
        first, *others = visible_run(run).text.split("\n\n")
        for number, part in enumerate((first, *others)):
            text = _tagged(run.op, "<br>".join(html_text(line) for line in part.split("\n"))) if part else ""
            if number or not done:
                done.append(text)
            else:
                done[-1] += text
    return "".join(f'<p dir="auto">{text}</p>' for text in done if text)


def _tagged(op: str, text: str) -> str:
    before, behind = _TAGS[op]
    return f"{before}{text}{behind}"


def html_text(text: str) -> str:
    """Text of a source as HTML text of one line."""
    one_line = " ".join(visible(text).split("\n"))
    return escape(_CALL.sub("\\1\u2060", one_line))


def html_name(text: str) -> str:
    """The same for text in <code>, where nothing is called or linked."""
    return escape(visible(shorten(text, _NAME)).replace("\n", " "))
