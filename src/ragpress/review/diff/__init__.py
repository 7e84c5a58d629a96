"""What the chatbot will read differently: two sets of goldens compared, and the result in three forms."""

from ragpress.review.diff.compare import Side, compare, compare_chunks
from ragpress.review.diff.encoding import to_json
from ragpress.review.diff.markdown import to_markdown
from ragpress.review.diff.records import KINDS, Aspect, Changes, ChunkChange, Kind, Renaming, SourceChange, Status
from ragpress.review.diff.showing import describe, describe_all
from ragpress.review.diff.terminal import Screen, screen_of, to_stat, to_terminal
from ragpress.review.diff.words import Run, word_runs

__all__ = [
    "KINDS",
    "Aspect",
    "Changes",
    "ChunkChange",
    "Kind",
    "Renaming",
    "Run",
    "Screen",
    "Side",
    "SourceChange",
    "Status",
    "compare",
    "compare_chunks",
    "describe",
    "describe_all",
    "screen_of",
    "to_json",
    "to_markdown",
    "to_stat",
    "to_terminal",
    "word_runs",
]
