"""ragpress compiles a repository of documents into the files that a chatbot searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragpress.knowledge_base import KnowledgeBase

__version__ = "0.1.0"
__all__ = ["KnowledgeBase", "__version__"]


def __getattr__(name: str) -> object:
    """`from ragpress import KnowledgeBase` loads the reader; `import ragpress` alone loads nothing."""
    if name == "KnowledgeBase":
        from ragpress.knowledge_base import KnowledgeBase

        return KnowledgeBase
    raise AttributeError(f"module 'ragpress' has no attribute {name!r}")
