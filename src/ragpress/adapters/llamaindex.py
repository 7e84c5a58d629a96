"""A LlamaIndex retriever over a knowledge base."""

from __future__ import annotations

import asyncio
from typing import Any

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError:
    raise ImportError('llama-index-core is not installed; run `pip install "ragpress[llamaindex]"`') from None

from ragpress.adapters import metadata
from ragpress.knowledge_base import KnowledgeBase


class RagpressRetriever(BaseRetriever):
    """Finds passages in an open knowledge base, which stays the caller's to close.

    `search_kwargs` are what `KnowledgeBase.search` takes by name, as `mode="words", neighbours=1`. Metadata is not
    written into what a language model reads: the passage names its headings. Raises what `search` raises.
    """

    def __init__(self, base: KnowledgeBase, k: int = 5, **search_kwargs: Any) -> None:
        super().__init__()
        self._base = base
        self._search_kwargs = {"k": k, **search_kwargs}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=self._node(hit.chunk.chunk_id, hit.passage, metadata(self._base, hit)), score=hit.score)
            for hit in self._base.search(query_bundle.query_str, **self._search_kwargs)
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    @staticmethod
    def _node(chunk_id: str, text: str, about: dict[str, Any]) -> TextNode:
        unread = list(about)
        return TextNode(
            id_=chunk_id,
            text=text,
            metadata=about,
            excluded_embed_metadata_keys=unread,
            excluded_llm_metadata_keys=unread,
        )
