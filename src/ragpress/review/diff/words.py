"""Two texts compared word by word, for Persian and Russian as for anything with words and spaces."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Literal

import msgspec

Op = Literal["same", "removed", "added"]

# Vowel signs and other marks of the scripts that words are written with here, and the joiners (ZWNJ, ZWJ): part of a
# word, although `\w` has none of them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8"
    "\u06ea-\u06ed\u200c\u200d"
)
_LETTERS = rf"[\w{_MARKS}]+"
# A number in groups of three digits (`1 250`, with any space between them); a word with its hyphens and apostrophes
# (`кто-нибудь`); a number with its separators (`12:30`, `1.500`, `٫`).
_GROUPED = r"(?<!\w)\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?!\w)(?:[.,\u066b]\d+)?"
_WORD = rf"(?:{_GROUPED}|{_LETTERS}(?:(?:[-'’\u2010\u2011](?=\w)|(?<=\d)[.,:/\u066b\u066c](?=\d)){_LETTERS})*)"
_TOKEN = re.compile(rf"{_WORD}|\s+|.", re.DOTALL)
_ONLY_WORD = re.compile(_WORD)

_MOST_WORK = 1_000_000  # token pairs that are compared; beyond, texts this unlike are shown whole
_ENOUGH = 3  # unchanged words always separate two changes


class Run(msgspec.Struct, frozen=True):
    """A stretch of text that both sides have, or that was removed or added."""

    op: Op
    text: str


def words_of(text: str) -> list[str]:
    """The words of a text in order, case folded."""
    return _ONLY_WORD.findall(text.casefold())


def has_words(text: str) -> bool:
    return _ONLY_WORD.search(text) is not None


def word_runs(before: str, after: str) -> tuple[Run, ...]:
    """What became of `before`: `same` and `removed` runs put together are it, `same` and `added` runs are `after`.

    No two runs of one kind follow each other, and what was removed comes before what was added in its place.
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    head, tail = old[:start], old[len(old) - end :]
    middle = _middle(old[start : len(old) - end], new[start : len(new) - end])
    return _joined([Run("same", "".join(head)), *middle, Run("same", "".join(tail))])


def _common(one: Sequence[str], two: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, two, strict=False):
        if a != b:
            break
        count += 1
    return count


def _middle(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    whole = [Run("removed", "".join(old)), Run("added", "".join(new))]
    if not old or not new or len(old) * len(new) > _MOST_WORK:
        return whole
    runs: list[Run] = []
    matcher = difflib.SequenceMatcher(str.isspace, old, new, autojunk=False)
    for op, a, b, c, d in matcher.get_opcodes():
        if op == "equal":
            runs.append(Run("same", "".join(old[a:b])))
        else:
            runs += [Run("removed", "".join(old[a:b])), Run("added", "".join(new[c:d]))]
    return _folded(runs)


def _folded(runs: Sequence[Run]) -> list[Run]:
    """The runs, with changes that little parts made one: scraps in common explain nothing."""
    changes: list[tuple[str, str]] = []  # removed and added
    between: list[str] = []  # one less, or as many where the last change is not there yet
    for run in runs:
        if run.op == "same":
            between.append(run.text)
            continue
        if len(changes) == len(between):
            changes.append(("", ""))
        removed, added = changes[-1]
        changes[-1] = (removed + run.text, added) if run.op == "removed" else (removed, added + run.text)
        while len(changes) > 1 and run.op == "added" and not _separates(between[-1], changes[-2], changes[-1]):
            one, two = changes[-2:]
            same = between.pop()
            changes[-2:] = [(one[0] + same + two[0], one[1] + same + two[1])]
    found: list[Run] = []
    for number, (removed, added) in enumerate(changes):
        found += [Run("removed", removed), Run("added", added)]
        found += [Run("same", text) for text in between[number : number + 1]]
    return found


def _separates(same: str, one: tuple[str, str], two: tuple[str, str]) -> bool:
    """Whether two changes with this between them are two: with a cell's or line's end, or with as many words."""
    if "|" in same or "\n" in same:
        return True
    return len(words_of(same)) >= min(max(map(_count, one)), max(map(_count, two)), _ENOUGH) and has_words(same)


def _count(text: str) -> int:
    return len(words_of(text))


def _joined(runs: Sequence[Run]) -> tuple[Run, ...]:
    joined: list[Run] = []
    for run in runs:
        if joined and joined[-1].op == run.op:
            joined[-1] = Run(run.op, joined[-1].text + run.text)
        elif run.text:
            joined.append(run)
    for number in range(1, len(joined) - 1):
        before, change, behind = joined[number - 1 : number + 2]
        if before.op == behind.op == "same":
            slid = _slid(before.text, change, behind.text)
            # What separates two changes must not be used up.
            if (slid[0].text or number == 1) and (slid[2].text or number == len(joined) - 2):
                joined[number - 1 : number + 2] = slid
    return tuple(run for run in joined if run.text)


def _slid(before: str, change: Run, behind: str) -> list[Run]:
    """The same change where it reads best: `a.| b.|` and `a|. b|.` are both `a. b.` with ` b.` or `. b` put in."""
    head, middle, tail = (_TOKEN.findall(text) for text in (before, change.text, behind))
    best = head, middle, tail
    while head and head[-1] == middle[-1]:
        head, middle, tail = head[:-1], [middle[-1], *middle[:-1]], [middle[-1], *tail]
    while True:
        if _beginning(head, middle) > _beginning(*best[:2]):
            best = head, middle, tail
        if not tail or tail[0] != middle[0]:
            break
        head, middle, tail = [*head, middle[0]], [*middle[1:], middle[0]], tail[1:]
    return [Run(op, "".join(tokens)) for op, tokens in zip(("same", change.op, "same"), best, strict=True)]


def _beginning(head: Sequence[str], change: Sequence[str]) -> int:
    """How well a change may begin between these tokens: at a line, behind a sentence, at a space."""
    if not head or "\n" in head[-1] or "\n" in change[0]:
        return 3
    if head[-1].isspace() or change[0].isspace():
        sign = head[-2:-1] if head[-1].isspace() else head[-1:]
        return 2 if sign and not has_words(sign[0]) else 1
    return 0
