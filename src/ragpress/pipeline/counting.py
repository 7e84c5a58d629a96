"""What the chunks' numbers of tokens become where another model than the configured one embeds them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragpress.files import copy_signature, fingerprint, read_checksummed, write_checksummed
from ragpress.models.known import known_model, tokenizer_file
from ragpress.models.selection import sticky_name
from ragpress.repository import Repository, tool_fingerprint

_KEPT = msgspec.json.Decoder(tuple[str, list[int]])


def more_tokens(repository: Repository, model: str | None = None) -> int:
    """Tokens that a chunk has more with the prefix of this model, or the one in use, than with the configured one's.

    Exact: a prefix ends with a space, which no token of the shared vocabulary crosses.
    """
    configured = repository.config.model
    used = model or sticky_name(repository) or configured
    if used == configured:
        return 0
    one, two = _prefix_tokens(repository, [known_model(name).document_prefix for name in (used, configured)])
    return one - two


def _prefix_tokens(repository: Repository, prefixes: Sequence[str]) -> list[int]:
    """Tokens of each prefix and the special ones, by the vocabulary that chunks are counted with.

    Kept in build/prefixes, since that vocabulary takes a second to load.
    """
    vocabulary = tokenizer_file(repository.config, repository.root)
    path = repository.build / "prefixes"
    stamp = fingerprint(tool_fingerprint(), copy_signature(vocabulary), prefixes)
    kept = read_checksummed(path, _KEPT)
    if kept is not None and kept[0] == stamp:
        return kept[1]
    from ragpress.embedding.embedder import TokenCounter

    counts = [TokenCounter(vocabulary, prefix).overhead for prefix in prefixes]
    write_checksummed(path, msgspec.json.encode((stamp, counts)))
    return counts
