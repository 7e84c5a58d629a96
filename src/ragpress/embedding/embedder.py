"""Exact token counts, and texts to vectors, by llama.cpp in process."""

from __future__ import annotations

import functools
import math
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ragpress.embedding.llama import Context, Tokens, Vector, Weights, engine
from ragpress.errors import ModelError
from ragpress.models.known import ModelFile
from ragpress.system import processors

_UNIT = 1e-3  # how far from 1 the norm of a finished vector may be
_SAVE_SECONDS = 2.0  # a killed build loses so much work at most
_REPLACE = "fetch its file again, or use another"
_CACHED_WORDS = 400_000
_LONG_WORD = 64

# White space to str.split() that the normalizer deletes or keeps instead of making it a space; a lone surrogate.
_NO_BOUNDARY = re.compile("[\x00\x0b\x1c-\x1f\x85\ud800-\udfff]")
# The other white space of str.split(). A normalizer that does not make a space of each is not the one meant here.
_BOUNDARIES = " \t\n\x0c\r\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
# Pieces by which XLM-RoBERTa's vocabulary is known. In none of its 250,002 pieces does a space mark stand elsewhere
# than at the front, so that no token crosses white space and the counts of words add up.
_XLM_ROBERTA = {3: "<unk>", 6: "\u2581", 8: "\u2581de", 249_997: "\u8718", 249_999: "\u1ea5", 250_000: "\u7a23"}


@functools.lru_cache(maxsize=2)
def _vocabulary(path: Path, stamp: tuple[int, int]) -> tuple[Weights, _Words | None]:
    # loaded once a process (0.9 s, 130 MB); the stamp tells a replaced file from the one before
    weights = Weights(path, vocab_only=True)
    return weights, _Words(weights) if _counts_add_up(weights) else None


def _counts_add_up(weights: Weights) -> bool:
    if not weights.unigram or weights.pieces(_XLM_ROBERTA) != list(_XLM_ROBERTA.values()):
        return False
    pair = 2 * weights.count("a", special=False)
    return all(weights.count(f"a{space}a", special=False) == pair for space in _BOUNDARIES)


class _Words(dict[str, int]):
    """Tokens of a word between two white spaces, counted at its first use."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, word: str) -> int:
        found = self._weights.count(word, special=False)
        if len(word) <= _LONG_WORD:
            if len(self) >= _CACHED_WORDS:
                self.clear()
            self[word] = found
        return found


class TokenCounter:
    """Counts the tokens of what is embedded for a text: prefix, text and special tokens.

    Only the vocabulary is loaded from `path`. Exact: each word is counted by the model's own tokenizer, once, and the
    counts are added where the vocabulary allows it; any other text or vocabulary is tokenized whole. Safe from several
    threads. Raises ModelError where the file cannot be loaded.
    """

    def __init__(self, path: Path, prefix: str) -> None:
        try:
            status = path.stat()
        except OSError as error:
            raise ModelError("model", f"the model file {path.name} cannot be read: {error.strerror}") from None
        stamp = status.st_mtime_ns, status.st_size
        self._weights, self._words = _vocabulary(path, stamp)
        self._prefix = prefix
        self.adds_up = self._words is not None
        """Whether no token crosses white space: beside the overhead, the counts of parts add up to that of a whole."""
        self.overhead = self._weights.count(prefix, special=True)
        """Tokens of the prefix and the special ones, without any text."""

    def __call__(self, text: str) -> int:
        if self._words is None or _NO_BOUNDARY.search(text):
            return self.exact(text)
        return self.overhead + sum(map(self._words.__getitem__, text.split()))

    def exact(self, text: str) -> int:
        """The same number, by tokenizing the whole string."""
        return self._weights.count(self._prefix + text, special=True)


class Embedder:
    """Texts to unit vectors with one loaded model; a context manager.

    `threads` single-threaded contexts (a core each) share the weights. The vector of a text depends on nothing but the
    text, the model, the role and `engine`. Raises ModelError: code `model` for a file that cannot be used, `embedding`
    for a text or a vector.
    """

    def __init__(self, file: ModelFile, threads: int = 0) -> None:
        self.file = file
        self.threads = threads or processors()
        self._weights = Weights(file.path, vocab_only=False)
        self._idle: queue.SimpleQueue[Context] = queue.SimpleQueue()
        self._contexts: list[Context] = []
        self._lock = threading.Lock()
        try:
            self._check()
        except ModelError:
            self.close()
            raise

    def _check(self) -> None:
        model, name = self.file.model, self.file.path.name
        architecture, width = self._weights.metadata("general.architecture"), self._weights.width
        if architecture != model.architecture or self.file.dimensions == model.dimensions != width:
            raise ModelError(
                "model",
                f"{name} is a {architecture or 'nameless'} model of {width} dimensions, {model.name} is"
                f" {model.architecture} of {model.dimensions}; correct `model` or `model_path`",
            )
        if not 0 < self.file.dimensions <= width:
            raise ModelError("bad-setting", f"dimensions = {self.file.dimensions}, but {model.name} has {width}")
        self._limit = min(model.max_tokens, self._weights.trained_length)

    @property
    def engine(self) -> str:
        """What computes: versions, instruction set and switches, each of which may change a vector's last bits."""
        return engine()

    def __enter__(self) -> Embedder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees contexts and weights; no call may be running."""
        for context in self._contexts:
            context.close()
        self._contexts.clear()
        self._weights.close()

    def embed_query(self, text: str) -> Vector:
        """The vector of a question, shape (dimensions,). Safe from several threads."""
        return self._embed(self.file.model.query_prefix + text, "the question")

    def embed_text(self, text: str, name: str) -> Vector:
        """The vector of a chunk's text, computed in this thread; `name` is for messages. Safe from several threads."""
        return self._embed(self.file.model.document_prefix + text, name)

    def _embed(self, text: str, name: str) -> Vector:
        tokens = self._tokens(text, name)
        context = self._borrow()
        try:
            return self._finish(context.run(tokens), name)
        finally:
            self._idle.put(context)

    def embed_documents(
        self,
        texts: Sequence[str],
        *,
        names: Sequence[str] = (),
        on_batch: Callable[[list[tuple[int, Vector]]], None] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Vector:
        """The vectors of chunk texts, shape (len(texts), dimensions), in their order.

        `names` (chunk ids) are for messages. `on_batch` receives (index, vector) pairs every two seconds and at the
        end, also before an interruption goes on; `progress` receives the index of each text when it is done.
        """
        vectors = np.empty((len(texts), self.file.dimensions), np.float32)
        fresh: list[tuple[int, Vector]] = []
        saved = time.monotonic()
        try:
            for index, vector in self.stream(texts, names=names):
                vectors[index] = vector
                fresh.append((index, vector))
                if on_batch and time.monotonic() - saved >= _SAVE_SECONDS:
                    on_batch(fresh)
                    fresh, saved = [], time.monotonic()
                if progress:
                    progress(index)
        finally:
            if on_batch and fresh:
                on_batch(fresh)
        return vectors

    def stream(self, texts: Sequence[str], *, names: Sequence[str] = ()) -> Iterator[tuple[int, Vector]]:
        """(index, vector) of each text as it is done: longest first, so that the cores finish together."""
        prefix = self.file.model.document_prefix
        named = names or [f"text {number + 1} of {len(texts)}" for number in range(len(texts))]
        order = iter(
            sorted(range(len(texts)), key=lambda index: (-len(texts[index].encode("utf-8", "replace")), index))
        )
        results: queue.SimpleQueue[tuple[int, Vector] | BaseException] = queue.SimpleQueue()
        stop = threading.Event()

        def work(context: Context) -> None:
            try:
                while not stop.is_set():
                    with self._lock:
                        index = next(order, None)
                    if index is None:
                        return
                    tokens = self._tokens(prefix + texts[index], named[index])
                    results.put((index, self._finish(context.run(tokens), named[index])))
            except BaseException as error:
                results.put(error)
            finally:
                self._idle.put(context)

        workers = [
            threading.Thread(target=work, args=(self._borrow(),), daemon=True)
            for _ in range(min(self.threads, len(texts)))
        ]
        try:
            for worker in workers:
                worker.start()
            for _ in texts:
                result = results.get()
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            stop.set()
            for worker in workers:
                worker.join()

    def _tokens(self, text: str, name: str) -> Tokens:
        tokens = self._weights.tokens(text)
        if len(tokens) > self._limit:
            raise ModelError(
                "embedding",
                f"{name} has {len(tokens)} tokens, the model reads at most {self._limit};"
                " shorten it or lower max_tokens",
            )
        return tokens

    def _borrow(self) -> Context:
        with self._lock:
            if self._idle.empty() and len(self._contexts) < self.threads:
                self._contexts.append(Context(self._weights, self._limit, self._weights.width))
                return self._contexts[-1]
        return self._idle.get()

    def _finish(self, raw: Vector, name: str) -> Vector:
        """Cut to the wanted dimensions, then to unit length. Refuses what no index should hold."""
        vector = raw[: self.file.dimensions]
        if not np.isfinite(vector).all():
            raise ModelError("embedding", f"the model returned a vector that is not finite for {name}; {_REPLACE}")
        # fsum is exact, so that the bits do not depend on numpy's own instruction set
        norm = math.sqrt(math.fsum(np.square(vector, dtype=np.float64).tolist()))
        if norm == 0.0:
            raise ModelError("embedding", f"the model returned a zero vector for {name}; {_REPLACE}")
        unit = (vector / norm).astype(np.float32)
        if abs(float(np.linalg.norm(unit)) - 1.0) > _UNIT:
            raise ModelError("embedding", f"the model's vector for {name} has no unit length; {_REPLACE}")
        return unit
