"""Embedding rates against the model called straight through llama.cpp's C interface, and against `Llama.embed`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragpress.embedding.embedder import Embedder
from ragpress.embedding.llama import repacks
from ragpress.models.known import KNOWN, ModelFile

SECONDS = 20.0  # of each measurement, about
_WORDS = ("запись", "приём", "врача", "бесплатно", "نشانی", "شعبه", "بیمه", "خسارت", "кабинет", "полис", "анализ")


def texts(tokens: int, count: int, embedder: Embedder) -> list[str]:
    """Texts of about so many tokens, each another."""
    random = np.random.default_rng(tokens)
    made = []
    for _ in range(count):
        words = [_WORDS[at] for at in random.integers(0, len(_WORDS), tokens)]
        while len(embedder._weights.tokens(" ".join(words))) > tokens and len(words) > 1:
            words = words[: max(1, int(len(words) * 0.9))]
        made.append(" ".join(words))
    return made


def reference_rate(path: Path, tokens: int, seconds: float) -> float:
    """Tokens a second on inputs of `tokens`, one single-threaded context a core on one loaded model."""
    import llama_cpp as llama

    settings = llama.llama_model_default_params()
    settings.use_extra_bufts = repacks()
    settings.n_gpu_layers = 0
    model = llama.llama_model_load_from_file(os.fsencode(path), settings)
    size = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
    contexts = [_context(llama, model) for _ in os.sched_getaffinity(0)]
    done = [0] * len(contexts)
    begin = time.perf_counter()

    def work(number: int) -> None:
        random = np.random.default_rng(number)
        while time.perf_counter() - begin < seconds:
            values = random.integers(10, size - 10, tokens)
            batch = (llama.llama_token * tokens)(*values.tolist())
            llama.llama_encode(contexts[number], llama.llama_batch_get_one(batch, tokens))
            llama.llama_get_embeddings_seq(contexts[number], 0)
            done[number] += tokens

    _in_threads(work, len(contexts))
    rate = sum(done) / (time.perf_counter() - begin)
    for context in contexts:
        llama.llama_free(context)
    llama.llama_model_free(model)
    return rate


def _context(llama: Any, model: Any) -> Any:
    settings = llama.llama_context_default_params()
    settings.n_ctx = settings.n_batch = settings.n_ubatch = 512
    settings.n_threads = settings.n_threads_batch = 1
    settings.embeddings = True
    settings.pooling_type = llama.LLAMA_POOLING_TYPE_MEAN
    settings.flash_attn_type = llama.LLAMA_FLASH_ATTN_TYPE_ENABLED
    return llama.llama_init_from_model(model, settings)


def _in_threads(work: Callable[[int], None], count: int) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def own_rate(embedder: Embedder, sample: Sequence[str]) -> float:
    """Tokens a second of the tool's embedder over the sample."""
    prefix = embedder.file.model.document_prefix
    tokens = sum(len(embedder._tokens(prefix + text, "a text")) for text in sample)
    begin = time.perf_counter()
    embedder.embed_documents(sample)
    return tokens / (time.perf_counter() - begin)


def plain_rate(path: Path, sample: Sequence[str], prefix: str) -> float:
    """Texts a second of `llama_cpp.Llama.embed` in its default set-up, where inputs of 512 tokens fit."""
    from llama_cpp import Llama

    model = Llama(str(path), embedding=True, n_ctx=512, n_batch=512, n_ubatch=512, verbose=False)
    begin = time.perf_counter()
    for text in sample:
        model.embed(prefix + text)
    rate = len(sample) / (time.perf_counter() - begin)
    model.close()
    return rate


def run(path: Path, name: str, rounds: int = 3) -> Iterator[tuple[str, float, str]]:
    """(what, ratio, details), the best of some rounds, reference and tool in turn."""
    model = KNOWN[name]
    file = ModelFile(model=model, path=path, sha256="0" * 64, size=path.stat().st_size, dimensions=model.dimensions)
    with Embedder(file) as embedder:
        rate = reference_rate(path, 500, SECONDS / 4)
        prose = texts(400, max(8, int(rate * SECONDS / 2 / 400)), embedder)
        rows = texts(40, max(40, int(rate * SECONDS / 2 / 60)), embedder)
        for what, sample in (("texts of 300 to 500 tokens", prose), ("rows of 30 to 60 tokens", rows)):
            pairs = [(own_rate(embedder, sample), reference_rate(path, 500, SECONDS / 4)) for _ in range(rounds)]
            own, bare = max(pairs, key=lambda pair: pair[0] / pair[1])
            yield f"{name}, {what} / straight 500 tokens", own / bare, f"{own:.0f} / {bare:.0f} tokens/s"
        mixed = [*prose[: len(prose) // 2], *rows[: len(rows) // 2]]
        pairs = []
        for _ in range(rounds):
            begin = time.perf_counter()
            embedder.embed_documents(mixed)
            own = len(mixed) / (time.perf_counter() - begin)
            pairs.append((own, plain_rate(path, mixed, model.document_prefix)))
    own, plain = max(pairs, key=lambda pair: pair[0] / pair[1])
    yield f"{name}, mixed sample / Llama.embed", own / plain, f"{own:.1f} / {plain:.1f} texts/s"
