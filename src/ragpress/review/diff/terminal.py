"""Changes for a terminal: a block a source, a few lines a chunk, what was (`-`) above what is (`+`).

Old and new text stand on lines of their own, never mixed in one, so that each line has one direction: a terminal
that lays out Persian from the right does so with whole sentences.
"""

from __future__ import annotations

import difflib
import os
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TextIO

import msgspec

from ragpress.review.diff.records import Changes, ChunkChange, Kind, Renaming, SourceChange
from ragpress.review.diff.showing import (
    GAP,
    describe,
    describe_all,
    describe_minor,
    excerpt,
    facts,
    headings_of,
    lines_of,
    one_side,
    shorten,
    span,
    visible,
    visible_run,
)
from ragpress.review.diff.words import Op, Run, word_runs

_AROUND = 10  # words of unchanged text on each side of a change
_PLAIN_WIDTH = 100
_RESET = "\x1b[0m"
_COLOURS: dict[str, str] = {"-": "\x1b[31m", "+": "\x1b[32m", " ": "\x1b[2m"}
_KIND_COLOURS: dict[Kind, str] = {"added": "\x1b[32m", "removed": "\x1b[31m"}
_BOLD, _YELLOW, _REVERSE, _NOT_REVERSE = "\x1b[1m", "\x1b[33m", "\x1b[7m", "\x1b[27m"
_MARKS = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}


class Screen(msgspec.Struct, frozen=True):
    """What is written for: whether colours are understood, columns, and how much is wanted.

    `chunks` is the most that is shown of a source, `text` the most characters of a whole chunk; 0 is all.
    """

    colour: bool = False
    width: int = _PLAIN_WIDTH
    chunks: int = 0
    text: int = 0


def screen_of(stream: TextIO, width: int = 0, chunks: int = 0, text: int = 0) -> Screen:
    """The screen behind a stream: colours where it is a terminal and NO_COLOR (no-color.org) is unset or empty."""
    terminal = stream.isatty()
    colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    columns = width or (shutil.get_terminal_size().columns if terminal else _PLAIN_WIDTH)
    return Screen(colour, max(columns, 40), chunks, text)


def to_terminal(changes: Changes, screen: Screen) -> Iterator[str]:
    """The lines, without their ends."""
    for source in changes.sources:
        yield _coloured(f"{visible(source.source)}: ", _BOLD, screen) + describe(source)
        yield ""
        yield from _source(source, screen)
    yield describe_all(changes) if changes.sources else "no differences"


def to_stat(changes: Changes, screen: Screen) -> Iterator[str]:
    """A line a source and one for all."""
    for source in changes.sources:
        yield _coloured(f"{visible(source.source)}: ", _BOLD, screen) + describe(source)
    yield describe_all(changes) if changes.sources else "no differences"


def _source(source: SourceChange, screen: Screen) -> Iterator[str]:
    shown = source.blocks()
    minor = [change for change in source.changes if change.kind == "minor"]
    most = screen.chunks or len(shown)
    for block in shown[:most]:
        yield from _renaming(block, screen) if isinstance(block, Renaming) else _chunk(block, screen)
        yield ""
    if len(shown) > most:
        yield f"  {GAP} and {sum(map(_chunks, shown[most:]))} more"
        yield ""
    if minor:
        yield f"  minor · {describe_minor(minor)}"
        yield ""
    for mark, messages in (("-", source.messages_removed), ("+", source.messages_added)):
        for message in messages:
            yield from _line(mark, [Run("same", f"▲ {visible(message)}")], screen)
    if source.messages_added or source.messages_removed:
        yield ""


def _chunks(block: ChunkChange | Renaming) -> int:
    return len(block.changes) if isinstance(block, Renaming) else 1


def _renaming(found: Renaming, screen: Screen) -> Iterator[str]:
    yield f"  {_coloured('renamed', _YELLOW, screen)} · {span(found)}, the same text under another heading"
    yield from _both([headings_of(found.before)], [headings_of(found.after)], screen)


def _chunk(change: ChunkChange, screen: Screen) -> Iterator[str]:
    kind = _coloured(change.kind, _KIND_COLOURS.get(change.kind, _YELLOW), screen)
    headings = [headings_of(change.shown.headings)] if change.shown.headings else []
    yield f"  {' · '.join([kind, *facts(change), *headings])}"
    one, two = change.before, change.after
    if one is None or two is None:
        mark = "+" if one is None else "-"
        text = change.shown.text
        for line in visible(shorten(text, screen.text) if screen.text else text).split("\n"):
            yield from _line(mark, [Run("same", line)], screen)
        return
    if one.headings != two.headings:
        yield from _both([headings_of(one.headings)], [headings_of(two.headings)], screen)
    if "section" in change.aspects and one.section != (one.headings or ("",))[-1]:
        yield from _both([f"§ {visible(one.section)}"], [f"§ {visible(two.section)}"], screen)
    if one.text == two.text:
        yield from _line(" ", [Run("same", shorten(visible(two.text.partition("\n")[0]), screen.width - 6))], screen)
    else:
        yield from _texts(one.text.split("\n"), two.text.split("\n"), screen)


def _texts(old: Sequence[str], new: Sequence[str], screen: Screen) -> Iterator[str]:
    """Lines that differ, before and after; of those that do not, the first and the last between, for orientation."""
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for op, a, b, c, d in codes:
        if op != "equal":
            yield from _both(old[a:b], new[c:d], screen)
            continue
        same = [line for line in old[a:b] if line.strip()]
        last = same[-1:] if len(same) > 1 and b < len(old) else []
        for line in [*same[:1], *([GAP] if len(same) > 2 and last else []), *last]:
            yield from _line(" ", [Run("same", shorten(visible(line), screen.width - 6))], screen)


def _both(old: Sequence[str], new: Sequence[str], screen: Screen) -> Iterator[str]:
    """Lines as they were above what they are. Words are marked where something else stayed the same."""
    runs = [visible_run(run) for run in excerpt(word_runs("\n".join(old), "\n".join(new)), _AROUND)]
    whole = all(run.op != "same" for run in runs)
    sides: tuple[tuple[str, Op], ...] = (("-", "removed"), ("+", "added"))
    for mark, op in sides:
        for line in lines_of(one_side(runs, op)):
            if line:
                yield from _line(mark, [Run("same", run.text) for run in line] if whole else line, screen)
    if not runs:  # lines without text
        yield from _line("-" if len(old) > len(new) else "+", [Run("same", "↵")], screen)


def _line(mark: str, runs: Sequence[Run], screen: Screen) -> Iterator[str]:
    """One line of text behind its mark, wrapped between words."""
    for piece in _wrapped(runs if screen.colour else [_bracketed(run) for run in runs], screen.width - 4):
        text = "".join(run.text if run.op == "same" else f"{_REVERSE}{run.text}{_NOT_REVERSE}" for run in piece)
        yield _coloured(f"  {mark} {text}".rstrip(), _COLOURS[mark], screen)


def _bracketed(run: Run) -> Run:
    """The run with its marks around its words, for where there are no colours."""
    before, behind = _MARKS[run.op]
    inner = run.text.strip(" ")
    return Run("same", run.text.replace(inner, f"{before}{inner}{behind}", 1) if inner else run.text)


def _wrapped(runs: Sequence[Run], width: int) -> Iterator[list[Run]]:
    line: list[Run] = []
    used = 0
    for run in runs:
        for word in _words(run.text):
            columns = _columns(word.rstrip())
            if used and used + columns > width:
                yield line
                line, used, word = [], 0, word.lstrip()
            used += _columns(word)
            if line and line[-1].op == run.op:
                line[-1] = Run(run.op, line[-1].text + word)
            else:
                line.append(Run(run.op, word))
    yield line


def _words(text: str) -> list[str]:
    """Words with the spaces behind them."""
    found: list[str] = []
    for word in text.split(" "):
        found.append(f"{word} ")
    found[-1] = found[-1][:-1]
    return [word for word in found if word]


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_letter_columns(letter) for letter in text)


def _letter_columns(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _coloured(text: str, colour: str, screen: Screen) -> str:
    return f"{colour}{text}{_RESET}" if screen.colour else text
