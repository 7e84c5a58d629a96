"""What the chatbot will read differently: two sets of goldens compared, and the result told in three forms."""

from ragpress.changes.compare import Side, compare, compare_chunks
from ragpress.changes.encoding import to_json
from ragpress.changes.markdown import to_markdown
from ragpress.changes.records import KINDS, Aspect, Changes, ChunkChange, Kind, SourceChange, Status
from ragpress.changes.showing import describe, describe_all
from ragpress.changes.terminal import Screen, screen_of, to_terminal
from ragpress.changes.words import Run, word_runs

__all__ = [
    "KINDS",
    "Aspect",
    "Changes",
    "ChunkChange",
    "Kind",
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
    "to_terminal",
    "word_runs",
]
