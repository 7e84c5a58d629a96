"""Retrievers for other libraries over a knowledge base, a module a library; each needs the extra of its name."""

from __future__ import annotations

from typing import Any

from ragpress.knowledge_base import KnowledgeBase
from ragpress.records import Hit


def metadata(base: KnowledgeBase, hit: Hit) -> dict[str, Any]:
    """What a bot cites a hit by, and why it was found, as plain values. Raises ArtifactError."""
    chunk = hit.chunk
    return {
        "source": chunk.source,
        "title": base.document(chunk.source).title,
        "section": chunk.section,
        "headings": list(chunk.headings),
        "locator": chunk.locator,
        "content_type": chunk.content_type,
        "chunk_id": chunk.chunk_id,
        "score": hit.score,
        "cosine": hit.cosine,
        "word_score": hit.word_score,
        "confidence": hit.confidence,
    }
