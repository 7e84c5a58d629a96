"""The lines of a plain text in runs, without the headers and footers of the pages that a PDF was made of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from ragpress.readers.plaintext.marks import is_capitals, is_item, is_rule

_EDGE = 3  # lines at the top or bottom of a page that may be its header or footer
_LEAST_SHARE = 0.4  # of the pages that have it: some have one on left pages and another on right ones
_PAGE = re.compile(r"\W*(?:стр(?:аница|\.)?|page|صفحه)\s*(\d+)(?:\s*(?:из|of|از|/)\s*\d+)?\W*", re.IGNORECASE)
_DIGITS = re.compile(r"\d{1,18}")
_ENDS = (".", "!", "?", "…", "؟", ":", "؛", ";")
_WORD = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_DIVIDED = re.compile(r"(?<!\w)([^\W\d_]+(?:-[^\W\d_]+)*)-\Z")
_REST = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)\S*")
_ALWAYS_COMPOUND = re.compile(
    r"(?:из-(?:за|под)|кое-\w+|по-\w+(?:ому|ему|ки|ьи)|\w+-(?:то|либо|нибудь|таки))", re.IGNORECASE
)
_LONGEST_WORD = 60
_FULL_LINE = 0.7  # of the longest line of its page


class Line(NamedTuple):
    """A line with its number in the file, from 1; `text` is without white space at the ends.

    `spaced` says that it does not directly follow the text above: a blank line, a rule or a page end lies between.
    """

    number: int
    text: str
    indented: bool
    spaced: bool = False


class Lines(NamedTuple):
    """Runs of lines without a blank one, a rule or a page end between them, and the headers and footers left out."""

    runs: list[list[Line]]
    left_out: list[Line]


def read_lines(text: str) -> Lines:
    """All lines. Of a header or footer that is the same on each page one is kept; page numbers are left out.

    Where a sentence goes on from one page to the next, the page end divides nothing.
    """
    sources = text.split("\n")
    pages = _pages(sources)
    dropped = _headers_footers(sources, pages)
    goes_on = _going_on(sources, pages, dropped)
    runs: list[list[Line]] = []
    run: list[Line] = []
    last = 0  # the number of the last line of text
    starts = {page.start for page in pages}
    new_page = False
    for at, source in enumerate(sources):
        new_page = new_page or at in starts
        if at in dropped or (at in goes_on and not source.strip()):
            continue
        line = Line(at + 1, source.strip(), source.startswith(("  ", "\t")), spaced=last != at and at not in goes_on)
        divides = not line.text or is_rule(line.text)
        if run and (divides or (new_page and at not in goes_on)):
            runs.append(run)
            run = []
        if not divides:
            run.append(line)
            last, new_page = at + 1, False
    return Lines([*runs, run] if run else runs, [Line(at + 1, sources[at].strip(), False) for at in sorted(dropped)])


def _pages(sources: Sequence[str]) -> list[range]:
    """The pages, which a form feed divides, or else lines that only number them (`Страница 1 из 3`)."""
    starts = [at for at, source in enumerate(sources) if source.startswith("\f")]
    if not starts:
        found = [(at, match) for at, source in enumerate(sources) if (match := _PAGE.fullmatch(source))]
        if len(found) < 2 or any(int(two[1]) != int(one[1]) + 1 for (_, one), (_, two) in pairwise(found)):
            return [range(len(sources))]
        above = any(source.strip() for source in sources[: found[0][0]])  # the first number stands below its page
        starts = [at + above for at, _ in found]
    return [range(*edges) for edges in pairwise((0, *(start for start in starts if start), len(sources)))]


def _headers_footers(sources: Sequence[str], pages: Sequence[range]) -> set[int]:
    """The indexes of lines that stand at the edges of pages alike, but for one of each that tells no page number."""
    inside = [[at for at in page if sources[at].strip()] for page in pages]
    inside = [page for page in inside if page]
    dropped: set[int] = set()
    if len(inside) < 2:
        return dropped
    edges: set[int] = set()
    for top in (True, False):
        alike: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)  # by shape: page and index of the line
        for number, page in enumerate(inside):
            for at in page[:_EDGE] if top else page[-_EDGE:]:
                alike[_DIGITS.sub("#", " ".join(sources[at].split()))].append((number, at))
        repeated = {at for places in alike.values() if _is_on_pages(sources, places, len(inside)) for _, at in places}
        # What stands further in than a line of its own is text, and what is a header is no footer.
        here = {
            at for page in inside for at in takewhile(repeated.__contains__, page if top else reversed(page))
        } - edges
        edges |= here
        for places in alike.values():
            found = [at for _, at in places if at in here]
            if len({tuple(sources[at].split()) for at in found}) == 1:
                found = found[1:] if top else found[:-1]
            dropped.update(found)
    return dropped if len(dropped) < sum(map(len, inside)) else set()


def _is_on_pages(sources: Sequence[str], places: Sequence[tuple[int, int]], pages: int) -> bool:
    """Whether lines of one shape are headers or footers: on many pages, with no number or the same, or the page's.

    On two pages a sentence may be the same by chance.
    """
    on = len({page for page, _ in places})
    if on < 2 or on < _LEAST_SHARE * pages or (on == 2 and sources[places[0][1]].rstrip().endswith(_ENDS)):
        return False
    numbers = [list(map(int, _DIGITS.findall(sources[at]))) for _, at in places]
    if all(each == numbers[0] for each in numbers):
        return any(map(str.isalpha, sources[places[0][1]]))
    shifts = ({each[column] - page for each, (page, _) in zip(numbers, places, strict=True)} for column in (0, -1))
    return any(len(shift) == 1 for shift in shifts)


def _going_on(sources: Sequence[str], pages: Sequence[range], dropped: set[int]) -> set[int]:
    """The indexes behind the last line of a page up to the first of the next one where a sentence goes on."""
    found: set[int] = set()
    inside = [[at for at in page if sources[at].strip() and at not in dropped] for page in pages]
    for one, two in pairwise(page for page in inside if page):
        width = max(len(sources[at].strip()) for at in one)
        if _goes_on(sources[one[-1]].strip(), sources[two[0]].strip(), width):
            found.update(range(one[-1] + 1, two[0] + 1))
    return found


def _goes_on(before: str, after: str, width: int) -> bool:
    first = after[0]
    if before.endswith(_ENDS) or is_capitals(before) or is_item(after) or not first.isalpha():
        return False
    return first.islower() or (not first.isupper() and len(before) >= _FULL_LINE * width)


def known_words(text: str) -> frozenset[str]:
    """All words of a text, compound ones with their hyphens, casefolded; none where no line ends with a hyphen."""
    if "-\n" not in text:
        return frozenset()
    return frozenset(word.casefold() for word in (*_WORD.findall(text), *_COMPOUND.findall(text)))


def with_whole_words(lines: Sequence[Line], known: frozenset[str]) -> Iterator[Line]:
    """The lines, with each word that was divided at the end of one whole in that line.

    It keeps the hyphen if it is a compound: `известно-\nго`, but `из-\nза` and whatever is among the `known` words with
    its hyphen and not without.
    """
    held: Line | None = None
    for line in lines:
        if (
            held is not None
            and not line.spaced
            and (divided := _DIVIDED.search(held.text, max(0, len(held.text) - _LONGEST_WORD)))
            and (rest := _REST.match(line.text))
            and rest[0][0].islower()
        ):
            whole, compound = divided[1] + rest[1], f"{divided[1]}-{rest[1]}"
            known_as_compound = compound.casefold() in known and whole.casefold() not in known
            hyphen = "-" if known_as_compound or _ALWAYS_COMPOUND.fullmatch(compound) else ""
            held = held._replace(text=f"{held.text[: divided.end(1)]}{hyphen}{line.text[: rest.end()]}")
            line = line._replace(text=line.text[rest.end() :].lstrip())
            if not line.text:
                continue
        if held is not None:
            yield held
        held = line
    if held is not None:
        yield held
