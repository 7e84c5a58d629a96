"""The known embedding models, and which file stands for the configured one."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ragpress.config import Config


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """What an embedding model needs to be used rightly; every value is from its model card.

    `file` is the hub's file name with `{quant}` for the quantisation. `matryoshka` says whether a vector may be cut
    to its first dimensions. `max_tokens` counts prefix and special tokens.
    """

    name: str
    repository: str
    file: str
    architecture: str
    document_prefix: str
    query_prefix: str
    dimensions: int
    matryoshka: bool
    max_tokens: int
    vocabulary: str
    pooling: str
    licence: str


KNOWN: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            name="nomic-embed-text-v2-moe",
            repository="nomic-ai/nomic-embed-text-v2-moe-GGUF",
            file="nomic-embed-text-v2-moe.{quant}.gguf",
            architecture="nomic-bert-moe",
            document_prefix="search_document: ",
            query_prefix="search_query: ",
            dimensions=768,
            matryoshka=True,
            max_tokens=512,
            vocabulary="xlm-roberta",
            pooling="mean",
            licence="Apache-2.0",
        ),
        Model(
            name="multilingual-e5-small",
            repository="",  # made on this machine, see starter.py
            file="multilingual-e5-small.Q4_0.gguf",
            architecture="bert",
            document_prefix="passage: ",
            query_prefix="query: ",
            dimensions=384,
            matryoshka=False,
            max_tokens=512,
            vocabulary="xlm-roberta",
            pooling="mean",
            licence="MIT",
        ),
    )
}


class ModelFile(msgspec.Struct, frozen=True, kw_only=True):
    """A model's file on this machine, checked. `dimensions` is the length of the vectors it is used for."""

    model: Model
    path: Path
    sha256: str
    size: int
    dimensions: int


def cache_folder() -> Path:
    """Where models made here and remembered hashes are kept: RAGPRESS_CACHE, else the user's cache."""
    chosen = os.environ.get("RAGPRESS_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ragpress"


def tokenizer_file(config: Config, root: Path) -> Path:
    """The file that gives the configured model's vocabulary, without network where possible. Raises ModelError."""
    from ragpress.starter import make_starter

    if config.model_path:
        return root / config.model_path
    return make_starter(cache_folder())
