"""A LangChain retriever over a knowledge base."""

from __future__ import annotations

from typing import Any

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import run_in_executor
    from pydantic import Field
except ModuleNotFoundError:
    raise ImportError('langchain-core is not installed; run `pip install "ragpress[langchain]"`') from None

from ragpress.adapters import metadata
from ragpress.knowledge_base import KnowledgeBase


class RagpressRetriever(BaseRetriever):
    """Finds passages in an open knowledge base, which stays the caller's to close.

    `search_kwargs` are what `KnowledgeBase.search` takes by name, as in `{"mode": "words", "neighbours": 1}`; those of
    a single `invoke` come before them. Raises what `search` raises.
    """

    base: KnowledgeBase
    k: int = 5
    search_kwargs: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun | None = None, **search_kwargs: Any
    ) -> list[Document]:
        hits = self.base.search(query, **{"k": self.k, **self.search_kwargs, **search_kwargs})
        return [
            Document(id=hit.chunk.chunk_id, page_content=hit.passage, metadata=metadata(self.base, hit)) for hit in hits
        ]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun | None = None, **search_kwargs: Any
    ) -> list[Document]:
        return await run_in_executor(None, self._get_relevant_documents, query, **search_kwargs)
