"""Bytes to text, the normal form that texts and queries share, and where sentences end."""

from __future__ import annotations

from ragpress.text.encodings import Decoded, decode
from ragpress.text.normalization import fold, normalize
from ragpress.text.sentences import sentence_spans, sentences

__all__ = ["Decoded", "decode", "fold", "normalize", "sentence_spans", "sentences"]
