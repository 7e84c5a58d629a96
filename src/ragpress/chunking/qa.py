"""Questions and their answers become one unit each, before anything is chunked.

A pair needs both marks: `Вопрос:` … `Ответ:`, `س:` … `ج:`, or an enumerator or a question mark right before an
answer's mark; in a table, columns of these names. What only looks like one stays as it is. A title line above pairs
goes with the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, zip_longest
from typing import NamedTuple

import msgspec

from ragpress.config import Config
from ragpress.records import Locator, Unit
from ragpress.text import sentence_spans
from ragpress.text.questions import Mark, Role, answer_within, column_role, has_label, is_asking, mark_of, pair_columns

_QUESTION_LINES = 12  # that a marked question may go on to before its answer
_QUESTION_CHARS = 2000
_FEWEST_WORDS = 3  # of a question without a question mark behind `В:`, which is also a preposition or heads a measure
_CHARS_A_TOKEN = 3  # Russian and Persian have between 3 and 4 in the models' vocabulary
_OPEN_END = 4
"""Chunks of text that an answer may go on to where no further question tells that it ended."""
_SENTENCE_ENDS = (".", "!", "?", "؟", "…", ":", ";", "؛")
_SIBLINGS = {"A": "B", "ج": "بد"}  # an enumerator's letters around it: such lists are no answers


def find_pairs(units: Sequence[Unit], config: Config) -> tuple[Unit, ...]:
    """The units, with one of kind `qa_pair` in the place of the units (or parts of units) of each pair.

    Its text is the question, a line end, and the answer with its paragraphs, lists and small tables, up to the next
    question or heading; `repeat` reaches to the answer. Labels are kept, and so is every other word.
    """
    units = [found for unit in units for found in pairs_in(unit)]
    if not any(_has_label(unit) for unit in units):
        return tuple(units)
    lines = _lines(units)
    pairs = list(_pairs(units, lines, config.max_tokens * _CHARS_A_TOKEN))
    return tuple(_replaced(units, lines, pairs)) if pairs else tuple(units)


class _Line(NamedTuple):
    """A line of prose (a table row of one cell is prose, too), or a whole unit of another kind (`prose` is false)."""

    unit: int
    start: int
    end: int
    text: str
    prose: bool
    mark: Mark | None

    def content(self) -> str:
        """What it says behind its mark."""
        return self.text[self.mark.label :] if self.mark else self.text

    def role(self) -> Role | None:
        return self.mark.role if self.mark else None


class _Pair(NamedTuple):
    """Lines from `question` up to `answer` ask, those up to `end` answer. A heading that asks is not part of it."""

    question: int
    answer: int
    end: int


def _has_label(unit: Unit) -> bool:
    """Whether a line of it may be a question's or an answer's by its label. A pair needs a line that is."""
    return (
        has_label(unit.text)
        if unit.kind == "heading"
        else _is_prose(unit) and any(map(has_label, unit.text.split("\n")))
    )


def _is_prose(unit: Unit) -> bool:
    return unit.kind in ("paragraph", "list") or (unit.kind == "table_row" and not unit.breaks)


def _lines(units: Sequence[Unit]) -> list[_Line]:
    found = []
    for number, unit in enumerate(units):
        if not _is_prose(unit):
            mark = mark_of(unit.text) if unit.kind == "heading" else None
            found.append(_Line(number, 0, len(unit.text), unit.text, False, mark))
            continue
        start = 0
        for text in unit.text.split("\n"):
            end = start + len(text)
            mark = mark_of(text)
            within = answer_within(text, mark) if mark and mark.role == "question" else 0
            if within:
                found.append(_Line(number, start, start + within, text[:within], True, mark))
                start, text = start + within, text[within:]
                mark = mark_of(text)
            if text.strip():
                found.append(_Line(number, start, end, text, True, mark))
            start = end + 1
    return found


def _pairs(units: Sequence[Unit], lines: Sequence[_Line], size: int) -> Iterator[_Pair]:
    at = 0
    while at < len(lines):
        answer = _asked(units, lines, at)
        if not answer:
            at += 1
            continue
        question = at if lines[at].prose else answer
        end = _answer_end(units, lines, answer, size)
        if _says(lines[answer:end]):
            yield _Pair(question, answer, end)
        at = end


def _says(lines: Sequence[_Line]) -> bool:
    return any(char.isalnum() for line in lines for char in line.content())


def _asked(units: Sequence[Unit], lines: Sequence[_Line], at: int) -> int:
    """The index of the answer to the question that begins in the line `at`, or 0 where none does."""
    line, kind = lines[at], units[lines[at].unit].kind
    if line.role() == "answer" or not (line.prose or kind == "heading"):
        return 0
    last = min(at + _QUESTION_LINES, len(lines) - 1)
    end = at + 1
    if line.prose and line.role() == "question":
        while end < last and lines[end].prose and not lines[end].role() and _same_section(units, line, lines[end]):
            end += 1
    elif line.prose:
        # An enumerator, or a line without a mark: the question is the rest of its sentence.
        while end < last and lines[end].unit == line.unit and lines[end].mark is None and _runs_on(lines[end - 1]):
            end += 1
    if end > last or lines[end].role() != "answer" or not _same_section(units, line, lines[end]):
        return 0
    said = sum(len(each.text) for each in lines[at:end]) <= _QUESTION_CHARS and _says(lines[at:end])
    return end if said and _fits(lines, at, end) else 0


def _same_section(units: Sequence[Unit], one: _Line, two: _Line) -> bool:
    return units[one.unit].section_number == units[two.unit].section_number


def _runs_on(line: _Line) -> bool:
    return not line.text.rstrip(' *_»”")').endswith(_SENTENCE_ENDS)


def _fits(lines: Sequence[_Line], at: int, answer: int) -> bool:
    """Whether the marks of question and answer belong together."""
    asks, replies = lines[at].mark, lines[answer].mark
    asking = is_asking(lines[answer - 1].text)
    if replies is None:
        return False
    if asks is None or asks.role is None:
        if replies.weak or (replies.letter and _is_listed(lines, answer)):
            return False
        return asking or (asks is not None and not _follows_on(lines, at))
    if asks.weak and not asking:
        return False
    if asks.letter:
        said = lines[at].content().lstrip(' *_«"“')
        words = sum(word[0].isalpha() for line in lines[at:answer] for word in line.content().split())
        return asking or (words >= _FEWEST_WORDS and not said[:1].islower() and not said[:1].isdecimal())
    return not (replies.letter and replies.weak)


def _is_listed(lines: Sequence[_Line], at: int) -> bool:
    """Whether the answer's letter is one of an enumeration by letters: ب) ج) د)."""
    letters = _SIBLINGS.get(lines[at].text.strip("-–—•* ")[:1], "")
    around = (*lines[max(at - 1, 0) : at], *lines[at + 1 : at + 2])
    return any(line.text[:1] in letters and not line.text[1:2].isalnum() for line in around if letters)


def _follows_on(lines: Sequence[_Line], at: int) -> bool:
    """Whether the line before has the number before: then the two are items of a list."""
    before, own = (lines[at - 1].mark if at else None), lines[at].mark
    if before is None or before.role is not None or own is None:
        return False
    one, two = before.number.split("."), own.number.split(".")
    return one[:-1] == two[:-1] and int(two[-1]) == int(one[-1]) + 1


def _answer_end(units: Sequence[Unit], lines: Sequence[_Line], answer: int, size: int) -> int:
    """Where the answer that begins in the line `answer` ends."""
    end, chars = answer + 1, len(lines[answer].text)
    while end < len(lines) and _same_section(units, lines[answer], lines[end]):
        line = lines[end]
        if line.role() == "question" or _asked(units, lines, end):
            return end
        step = 1 if line.prose else _absorbed(units, lines, end, size - chars)
        if not step:
            break
        chars += sum(len(each.text) for each in lines[end : end + step])
        end += step
    if end < len(lines) and (lines[end].role() == "question" or _asked(units, lines, end)):
        return end  # in the next section
    return end if chars <= _OPEN_END * size else _nearest_end(units, lines, answer, end)


def _absorbed(units: Sequence[Unit], lines: Sequence[_Line], at: int, room: int) -> int:
    """How many lines of what is no prose belong to the answer before it: a table or code, if there is `room` for it."""
    unit = units[lines[at].unit]
    if unit.kind in ("table", "code"):
        return 1
    if unit.kind != "table_row" or unit.locator.unit != "B":
        return 0
    end = at
    while (
        end < len(lines)
        and units[lines[end].unit].kind == "table_row"
        and units[lines[end].unit].locator == unit.locator
    ):
        end += 1
    same = _same_section(units, lines[at], lines[end - 1])
    return end - at if same and sum(len(line.text) for line in lines[at:end]) <= room else 0


def _nearest_end(units: Sequence[Unit], lines: Sequence[_Line], answer: int, end: int) -> int:
    """The end of the answer's first unit and of the lists that it leads in: what else follows may be anything."""
    at = answer + 1
    while at < end:
        before, unit = lines[at - 1], lines[at].unit
        led = before.text.rstrip().endswith(":") or units[before.unit].kind != "paragraph"
        if unit != before.unit and not (led and units[unit].kind in ("list", "table", "code")):
            break
        at += 1
    return at


def _replaced(units: Sequence[Unit], lines: Sequence[_Line], pairs: Sequence[_Pair]) -> Iterator[Unit]:
    """The units with the pairs in their places; what is left of a unit stays one."""
    waiting = iter(pairs)
    pair = next(waiting, None)
    at = 0
    while at < len(lines):
        if pair is not None and at == pair.question:
            yield _unit(units, lines, pair)
            at, pair = pair.end, next(waiting, None)
            continue
        end, stop = at + 1, pair.question if pair else len(lines)
        while end < stop and lines[end].unit == lines[at].unit:
            end += 1
        yield from _slices(units, lines[at:end])
        at = end


def _slices(units: Sequence[Unit], lines: Sequence[_Line]) -> list[Unit]:
    """The lines as units: whole ones, and parts of those that hold other lines as well."""
    found = []
    start = 0
    for at, line in enumerate(lines):
        if at + 1 == len(lines) or lines[at + 1].unit != line.unit:
            found.append(_slice(units[line.unit], lines[start].start, line.end))
            start = at + 1
    return found


def _slice(unit: Unit, start: int, end: int) -> Unit:
    """The part of a unit between two offsets into its text, without white space at its ends."""
    text = unit.text[start:end]
    if len(text.strip()) == len(unit.text.strip()):
        return unit
    shift = start + len(text) - len(text.lstrip())
    place = unit.locator
    if place.unit == "L" and place.end - place.start == unit.text.count("\n"):
        first = place.start + unit.text.count("\n", 0, shift)
        place = Locator("L", first, first + text.strip().count("\n"), place.part)
    breaks = tuple(at - shift for at in unit.breaks if shift < at < end)
    return msgspec.structs.replace(unit, text=text.strip(), locator=place, breaks=breaks, repeat=0)


def _unit(units: Sequence[Unit], lines: Sequence[_Line], pair: _Pair) -> Unit:
    """A pair as one unit. Where a heading asks, the chunker repeats that one, and the unit is the answer."""
    asking = _slices(units, lines[pair.question : pair.answer])
    answering = _slices(units, lines[pair.answer : pair.end])
    text = "".join(f"{unit.text}\n" for unit in asking)
    repeat = len(text)
    breaks = []
    for at, unit in enumerate(answering):
        if at:
            text += "\n" if unit.kind == answering[at - 1].kind == "table_row" else "\n\n"
        breaks += [len(text), *(len(text) + inner for inner in unit.breaks)]
        text += unit.text
    first, last = (*asking, *answering)[0], answering[-1]
    return msgspec.structs.replace(
        first,
        kind="qa_pair",
        text=text,
        locator=first.locator.to(last.locator),
        breaks=tuple(at for at in breaks if at),
        repeat=repeat,
    )


# -- rows of tables with a question and its answer in columns of these names -------------------------------------------

_BORDER = re.compile(r"(?<!\\)\|")


def pairs_in(unit: Unit) -> list[Unit]:
    """What becomes of a unit: a row a pair, if it is one; a Markdown table its rows, if they are; else the unit."""
    if unit.kind == "table_row":
        return [_pair_in_row(unit)]
    return _rows_of_table(unit) if unit.kind == "table" else [unit]


def _pair_in_row(row: Unit) -> Unit:
    """Every cell is kept with its column's name.

    A question in a column behind its answer, as in a table for readers from right to left, goes before it.
    """
    cells = [row.text[start:end].rstrip("\n") for start, end in pairwise((0, *row.breaks, len(row.text)))]
    roles = [_role(cell) for cell in cells]
    if "question" not in roles or "answer" not in roles:
        return row
    first = roles.index("answer")
    if "question" not in roles[:first]:
        asking = [cell for cell, role in zip(cells, roles, strict=True) if role == "question"]
        rest = [cell for cell, role in zip(cells, roles, strict=True) if role != "question"]
        cells = [*rest[:first], *asking, *rest[first:]]
        first += len(asking)
    text, breaks = _joined(cells)
    return msgspec.structs.replace(row, kind="qa_pair", text=text, breaks=breaks, repeat=breaks[first - 1])


def _joined(cells: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The cells, one a line, and where the second and each later one begins."""
    return "\n".join(cells), tuple(accumulate(len(cell) + 1 for cell in cells[:-1]))


def _role(cell: str) -> Role | None:
    name, colon, value = cell.partition(": ")
    says = colon and "\n" not in name and any(char.isalnum() for char in value)
    return column_role(name) if says else None


def _rows_of_table(table: Unit) -> list[Unit]:
    head, *lines = table.text.split("\n")
    names = _cells(head)
    if not pair_columns(names):
        return [table]
    found = []
    for number, line in enumerate(lines[1:], start=2):  # below the delimiters
        said = zip_longest(names, _cells(line), fillvalue="")
        cells = [f"{name}: {cell}" if name else cell for name, cell in said if cell]
        if cells:
            text, breaks = _joined(cells)
            place = Locator("L", table.locator.start + number, table.locator.start + number)
            row = msgspec.structs.replace(table, kind="table_row", text=text, locator=place, breaks=breaks, repeat=0)
            found.append(_pair_in_row(row))
    return found or [table]


def _cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table."""
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _BORDER.split(inner)]


# -- title lines -------------------------------------------------------------------------------------------------------

_MOST_WORDS = 12
_FEWEST_PAIRS = 2
_LETTERS_A_DIGIT = 3  # fewer are in a date, the number of a document, a telephone
_NO_TITLE_ENDS = (".", "!", "?", "؟", "…", ";", "؛", ",", "،", "-", "–", "—")
_OPENING, _CLOSING = ' *_«“"(', ' *_»”")'


def with_titles(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """The units of a document, pairs found, with each title line in the pair below it.

    By itself it answers nothing, and is found before the pairs: it is short, and about all of them. It is no heading,
    since in Word none is inferred from text: `section` and `headings` stay as they are. Nor is it repeated above the
    other pairs: measured, that makes them more alike than it helps.

    A title line is the first unit of its section, or of the document; directly below it stand two pairs or more, under
    the same heading. It is one line of at most twelve words, mostly letters, without the mark of a question, an answer
    or an item; it begins with no sign and does not end as a sentence does.
    """
    found: list[Unit] = []
    at = 0
    for title in _titles(units):
        found += [*units[at:title], _led(units[title], units[title + 1])]
        at = title + 2
    return (*found, *units[at:])


def _titles(units: Sequence[Unit]) -> Iterator[int]:
    """Where the title lines stand."""
    firsts = [0, *(at for at, (one, two) in enumerate(pairwise(units), 1) if one.section_number != two.section_number)]
    for at in firsts:
        below = units[at + 1 : at + 1 + _FEWEST_PAIRS]
        # In plain text each question is a section of its own, under the same heading or none.
        pairs = [unit for unit in below if unit.kind == "qa_pair" and unit.breadcrumb == units[at].breadcrumb]
        if len(pairs) == _FEWEST_PAIRS and _is_title(units[at]):
            yield at


def _is_title(unit: Unit) -> bool:
    text = unit.text.rstrip(_CLOSING)
    if unit.kind != "paragraph" or unit.picture or "\n" in text:
        return False
    if not text.lstrip(_OPENING)[:1].isalnum() or text.endswith(_NO_TITLE_ENDS):
        return False
    digits, letters = sum(map(str.isdigit, text)), sum(map(str.isalpha, text))
    is_short = len(text.split()) <= _MOST_WORDS and len(sentence_spans(text)) == 1
    return is_short and letters > digits * _LETTERS_A_DIGIT and mark_of(text) is None


def _led(title: Unit, pair: Unit) -> Unit:
    """The pair with the title line above its question; a later piece of it repeats both."""
    above = f"{title.text}\n\n"
    return msgspec.structs.replace(
        pair,
        text=above + pair.text,
        locator=title.locator.to(pair.locator),
        breaks=tuple(len(above) + at for at in pair.breaks),
        repeat=len(above) + pair.repeat,
    )
