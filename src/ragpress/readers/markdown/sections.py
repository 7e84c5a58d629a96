"""From the blocks of a Markdown file to units: which section each belongs to, and what is left out."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ragpress.config import Config
from ragpress.errors import message
from ragpress.readers.markdown.blocks import Block
from ragpress.records import LeftOut, Locator, Message, Unit
from ragpress.text import fold

_SHOWN = 80  # characters of a heading in a message

Path = tuple[tuple[int, str], ...]
"""The open headings: level and text, outermost first."""


class _Section(msgspec.Struct):
    """What stands between one H1 or H2 and the next. `level` 0 is the text before the first of them."""

    number: int
    level: int
    name: str
    breadcrumb: str
    heading: Block | None
    body: list[tuple[Block, tuple[str, ...]]]  # with the headings that each block stands under
    under_excluded: bool

    def blocks(self) -> list[Block]:
        """The heading and the body."""
        return [*([self.heading] if self.heading else []), *(block for block, _ in self.body)]

    def text(self) -> bool:
        """Whether there is more than headings and pictures."""
        return any(not block.level and block.text for block, _ in self.body)

    def empty(self) -> bool:
        return all(block.level for block, _ in self.body)

    def left_out(self, reason: str) -> LeftOut:
        blocks = self.blocks()
        return LeftOut(reason, "\n".join(block.text for block in blocks), _place(blocks))


def assemble(
    blocks: Sequence[Block], name: str, config: Config, source: str
) -> tuple[tuple[Unit, ...], tuple[Message, ...], tuple[LeftOut, ...]]:
    """Units, messages and what is left out. `name` names the text that stands before any heading.

    Each H1 and H2 begins a section. An H2 names its own; an H1, `name`, or for a heading without words the next one
    above it, names text of which no H2 is the heading. Deeper headings are units of the section's body.
    """
    kept, dropped = _without_extra_h1(blocks, config)
    sections = list(_sections(kept, name, {_comparable(each) for each in config.excluded_section_headings}))
    units: list[Unit] = []
    messages: list[Message] = []
    left_out: list[LeftOut] = []
    for number, section in enumerate(sections):
        if section.under_excluded:
            left_out.append(section.left_out("excluded-section"))
            text = f"section «{_short(section.name)}» is left out, as excluded_section_headings says"
            messages.append(message("info", "left-out", text, source, left_out[-1].locator))
        elif not section.empty():
            units.extend(_units(section))
            if not section.text():  # if no picture has a caption, the heading is in no chunk
                left_out.append(section.left_out("empty-section"))
        elif section.body or (section.heading and section.heading.text and not _opens(section, sections[number + 1 :])):
            left_out.append(section.left_out("empty-section"))
            text = f"there is no text under «{_short(section.name)}»; write some or remove the heading"
            messages.append(message("warning", "empty-section", text, source, left_out[-1].locator))
    if dropped:
        left_out.append(LeftOut("extra-h1", "\n".join(block.text for block in dropped), _place(dropped)))
        text = f"{len(dropped)} blocks from the second H1 «{_short(dropped[0].text)}» on are left out, as extra_h1 says"
        messages.append(message("warning", "extra-h1", text, source, left_out[-1].locator))
    return tuple(units), tuple(messages), tuple(left_out)


def _without_extra_h1(blocks: Sequence[Block], config: Config) -> tuple[Sequence[Block], Sequence[Block]]:
    if config.extra_h1 == "drop":
        first_level = [number for number, block in enumerate(blocks) if block.level == 1]
        if len(first_level) > 1:
            return blocks[: first_level[1]], blocks[first_level[1] :]
    return blocks, ()


def _sections(blocks: Iterable[Block], name: str, excluded: set[str]) -> Iterator[_Section]:
    section = _Section(0, 0, name, f"# {name}", None, [], False)
    path: Path = ()
    headings: tuple[str, ...] = (name,)  # where no H1 or H2 is open, the name stands in for one
    h1_excluded = False
    for block in blocks:
        if block.level:
            path = tuple(step for step in path if step[0] < block.level)
            if block.text:
                path = (*path, (block.level, block.text))
            words = tuple(text for _, text in path)
            headings = words if path and path[0][0] < 3 else (name, *words)
        if block.level in (1, 2):
            if section.blocks():
                yield section
            named_out = bool(excluded) and _comparable(block.text) in excluded
            h1_excluded = named_out if block.level == 1 else h1_excluded
            mark, own_name = path[-1] if path else (1, name)
            section = _Section(
                number=section.number + 1,
                level=block.level,
                name=own_name,
                breadcrumb=f"{'#' * mark} {own_name}",
                heading=block,
                body=[],
                under_excluded=named_out or h1_excluded,
            )
        elif not block.level or block.text:
            section.body.append((block, headings))
    if section.blocks():
        yield section


def _opens(section: _Section, following: Iterable[_Section]) -> bool:
    """Whether an H1 without text of its own is the root of sections that have one, so that their chunks carry it."""
    below = itertools.takewhile(lambda each: each.level == 2, following)
    return section.level == 1 and any(not each.empty() and not each.under_excluded for each in below)


def _units(section: _Section) -> Iterator[Unit]:
    for block, headings in section.body:
        yield Unit(
            kind=block.kind,
            text=f"{'#' * block.level} {block.text}" if block.level else block.text,
            locator=Locator("L", block.start + 1, block.end),
            section=section.name,
            section_number=section.number,
            headings=headings,
            breadcrumb=section.breadcrumb,
            breaks=block.breaks,
            repeat=block.repeat,
            picture=block.picture,
        )


def _place(blocks: Sequence[Block]) -> Locator:
    return Locator("L", blocks[0].start + 1, blocks[-1].end)


def _comparable(heading: str) -> str:
    return " ".join(fold(heading).split())


def _short(heading: str) -> str:
    return heading if len(heading) <= _SHOWN else f"{heading[: _SHOWN - 1]}…"
