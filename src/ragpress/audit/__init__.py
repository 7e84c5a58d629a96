"""What of a source's visible text reached a chunk, counted independently of the readers.

For each source the words that a person would see are taken straight from its bytes and compared, as multisets, with
the words of its chunks, of the headings that the chunks carry, and of what was left out on purpose. Nothing of
the readers is used, so that a reader that loses text is found out by the share of words that is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import msgspec

from ragpress.audit.compare import WordCounts, compare_pieces
from ragpress.audit.visible import Visible, words
from ragpress.config import Config
from ragpress.errors import SourceError, message
from ragpress.records import Chunk, Document, Gap, LeftOut, Locator, Message

__all__ = ["CoverageReport", "audit", "messages_for"]


_WORD_FILES = frozenset({".docx", ".docm", ".dotx", ".dotm"})
_WORKBOOKS = frozenset({".xlsx", ".xlsm", ".xltx", ".xltm"})


class CoverageReport(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for one source, in words.

    `coverage` is the share (0 to 1, four places) of the `visible` words that are not `missing`, 1.0 only if none is.
    `gaps` are the first missing snippets with their place. `duplicated` counts words that the chunks hold more often
    than the source shows them; headers of tables and merged cells may. `left_out` counts by reason the words that are
    in no chunk on purpose or that nobody sees.
    """

    coverage: float
    visible: int
    missing: int
    duplicated: int
    gaps: tuple[Gap, ...]
    left_out: dict[str, int]


def audit(data: bytes, document: Document, chunks: Sequence[Chunk], config: Config, suffix: str = "") -> CoverageReport:
    """Compares the bytes of a source with the chunks that were made of it. Raises SourceError for unreadable bytes.

    `suffix` is what the bytes are where that is not the source's own: `.docx` for what was made of a `.doc`.
    """
    suffix = suffix or PurePosixPath(document.source).suffix.lower()
    seen, plain = _visible(data, document.source, suffix)
    excluded = [entry for entry in document.left_out if _is_justified(entry, config)]
    chunks = [chunk for chunk in chunks if chunk.content_type != "image_caption"]  # words that no source holds
    for entry in excluded:
        seen.leave_out(entry.reason, [entry.text])
    if suffix in _WORKBOOKS:
        from ragpress.audit.rows import compare_rows

        counts = compare_rows(seen, document, chunks, excluded)
    else:
        left = Counter(word for entry in excluded for word in words(plain(entry.text)))
        counts = compare_pieces(seen, document, chunks, left, plain)
    return CoverageReport(
        coverage=_share(counts),
        visible=counts.visible,
        missing=counts.missing,
        duplicated=counts.duplicated,
        gaps=tuple(counts.gaps),
        left_out=dict(sorted(seen.left_out.items())),
    )


def messages_for(report: CoverageReport, source: str, config: Config) -> tuple[Message, ...]:
    """What to report of it: a warning that names the first gap, and one where much is duplicated.

    Much is as great a share as `config.min_coverage` lets be missing. Raises SourceError "coverage" below that.
    """
    found: list[Message] = []
    if report.missing:
        gap = report.gaps[0]
        place, where = _locator(gap.place)
        text = (
            f"{report.missing} of {report.visible} visible words are in no chunk (coverage {report.coverage:.4f}); "
            f"first {where}«{gap.text}»"
        )
        if report.coverage < config.min_coverage:
            raise SourceError(
                "coverage",
                f"{text}; min_coverage is {config.min_coverage}: fix the source there, report the fault, or lower it",
                source,
                place,
            )
        found.append(message("warning", "coverage", text, source, place))
    if report.duplicated > (1 - config.min_coverage) * report.visible:
        text = f"{report.duplicated} words are in the chunks more often than in the source; look for repeated text"
        found.append(message("warning", "duplicated", text, source))
    return tuple(found)


def _visible(data: bytes, source: str, suffix: str) -> tuple[Visible, Callable[[str], str]]:
    # Imported where used: auditing Markdown alone loads no lxml.
    if suffix in _WORD_FILES:
        from ragpress.audit.docx import visible_docx, without_addresses

        return visible_docx(data, source), without_addresses
    if suffix in _WORKBOOKS:
        from ragpress.audit.xlsx import visible_xlsx

        return visible_xlsx(data, source), str
    from ragpress.audit.text import plain, visible_csv, visible_markdown, visible_plaintext

    if suffix == ".md":
        return visible_markdown(data, source), plain
    return (visible_csv if suffix in {".csv", ".tsv"} else visible_plaintext)(data, source), str


def _is_justified(entry: LeftOut, config: Config) -> bool:
    """Whether the settings ask for what a reader left out. Other reasons leave a gap."""
    return {
        "excluded-section": bool(config.excluded_section_headings),
        "extra-h1": config.extra_h1 == "drop",
        "empty-section": True,
    }.get(entry.reason, False)


def _share(counts: WordCounts) -> float:
    if not counts.missing:
        return 1.0
    return min(round(1 - counts.missing / counts.visible, 4), 0.9999)


def _locator(place: str) -> tuple[Locator | None, str]:
    """A gap's place as a locator, or in words where it is none."""
    try:
        return Locator.parse(place), ""
    except ValueError:
        return None, f"in the {place}: "
