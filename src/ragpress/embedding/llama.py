"""llama.cpp's C interface: weights, contexts, tokens. The only importer of llama_cpp."""

from __future__ import annotations

import collections
import ctypes
import functools
import mmap
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragpress.errors import ModelError

Vector = npt.NDArray[np.float32]
Tokens = ctypes.Array[ctypes.c_int32]

_FLASH_FROM = 64  # tokens; GGML_FA_TILE_Q in llama.cpp
_UGM = 4  # llama_vocab_type of a unigram vocabulary


_beginning = threading.Lock()


def _llama() -> Any:
    """llama_cpp, begun once, whichever thread comes first."""
    with _beginning:
        return _begun()


@functools.cache
def _begun() -> Any:
    """llama_cpp with its log caught: it prints to stderr, warnings included, otherwise."""
    import llama_cpp

    llama_cpp.llama_log_set(_log_callback(llama_cpp), ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    return llama_cpp


_log: collections.deque[str] = collections.deque(maxlen=8)
_LOG_ERROR = 4  # ggml_log_level; llama_cpp's own table is of an older numbering


@functools.cache
def _log_callback(llama: Any) -> Any:
    def collect(level: int, text: bytes, _data: Any) -> None:
        if level == _LOG_ERROR:
            _log.append(text.decode("utf-8", "replace").strip())

    return llama.llama_log_callback(collect)  # cached, because llama.cpp keeps the bare pointer


@contextmanager
def interruptible() -> Iterator[None]:
    """For calls in which llama.cpp logs: an interruption is raised behind them.

    A signal's handler that raises while the callback runs raises into ctypes, which prints that and goes on.
    """
    if threading.current_thread() is not threading.main_thread():  # no handler runs in another
        yield
        return
    lost: list[BaseException] = []
    usual = sys.unraisablehook

    def keep(found: sys.UnraisableHookArgs) -> None:
        if isinstance(found.exc_value, (SystemExit, KeyboardInterrupt)):
            lost.append(found.exc_value)
        else:
            usual(found)

    sys.unraisablehook = keep
    try:
        yield
    finally:
        sys.unraisablehook = usual
    if lost:
        raise lost[0]


def _reason() -> str:
    found = [line for line in _log if line]
    return found[0].rstrip(".") if found else "no reason was given"


class Weights:
    """A loaded GGUF, with or without its weights. Raises ModelError where llama.cpp refuses the file."""

    def __init__(self, path: Path, *, vocab_only: bool) -> None:
        llama = _llama()
        if not path.is_file():
            raise ModelError("model", f"there is no model file {path.name}; correct model_path, or leave it out")
        settings = llama.llama_model_default_params()
        settings.vocab_only = vocab_only
        settings.n_gpu_layers = 0
        settings.use_extra_bufts = repacks()
        _log.clear()
        with interruptible():
            self.pointer = llama.llama_model_load_from_file(os.fsencode(path), settings)
        if not self.pointer:
            raise ModelError("model", f"llama.cpp cannot load {path.name}: {_reason()}; fetch the file again")
        self.vocabulary = llama.llama_model_get_vocab(self.pointer)

    def metadata(self, key: str) -> str:
        buffer = ctypes.create_string_buffer(256)
        size = _llama().llama_model_meta_val_str(self.pointer, key.encode(), buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") if size >= 0 else ""

    def count(self, text: str, *, special: bool) -> int:
        data = text.encode("utf-8", "replace")
        # without room for the tokens it answers with their negative number
        found: int = _llama().llama_tokenize(self.vocabulary, data, len(data), None, 0, special, False)
        return -found

    def tokens(self, text: str) -> Tokens:
        """The tokens of `text`, special ones at both ends; what looks like one inside the text is plain text."""
        llama = _llama()
        data = text.encode("utf-8", "replace")
        room = (llama.llama_token * (len(data) + 8))()
        found = llama.llama_tokenize(self.vocabulary, data, len(data), room, len(room), True, False)
        if found < 0:
            raise ModelError("embedding", f"llama.cpp cannot tokenize a text of {len(data)} bytes")
        return (llama.llama_token * found).from_buffer(room)  # type: ignore[no-any-return]

    def pieces(self, numbers: Iterable[int]) -> list[str]:
        """The texts of these tokens; empty for a number beyond the vocabulary."""
        llama = _llama()
        return [
            llama.llama_vocab_get_text(self.vocabulary, number).decode("utf-8", "replace") if number < self.size else ""
            for number in numbers
        ]

    @property
    def size(self) -> int:
        """Pieces in the vocabulary."""
        return int(_llama().llama_vocab_n_tokens(self.vocabulary))

    @property
    def unigram(self) -> bool:
        """Whether the tokenizer is sentencepiece's unigram model."""
        return bool(_llama().llama_vocab_type(self.vocabulary) == _UGM)

    @property
    def width(self) -> int:
        """The length of the vectors."""
        return int(_llama().llama_model_n_embd_out(self.pointer))

    @property
    def trained_length(self) -> int:
        """The longest input that the model was trained on, in tokens."""
        return int(_llama().llama_model_n_ctx_train(self.pointer))

    def close(self) -> None:
        """Frees it, in a thread: 250,000 pieces of a vocabulary take a quarter of a second."""
        pointer, self.pointer = self.pointer, None
        if pointer:
            threading.Thread(target=_llama().llama_model_free, args=(pointer,)).start()


class Context:
    """Single-threaded llama.cpp contexts on shared weights. Used by one thread at a time."""

    def __init__(self, weights: Weights, limit: int, width: int) -> None:
        self._width = width
        self._row = 4 * weights.size  # bytes of a token's logits
        self._reserved: dict[int, int] = {}
        # Flash attention is faster from the tile of its kernel on, and slower below. The choice depends on the text's
        # own length alone, so that its bits stay the same in any company.
        with interruptible():
            self._short = _new_context(weights, min(limit, _FLASH_FROM - 1), flash=False)
            self._long = _new_context(weights, limit, flash=True)

    def run(self, tokens: Tokens) -> Vector:
        """The raw pooled vector of one text, shape (width,)."""
        pointer = self._short if len(tokens) < _FLASH_FROM else self._long
        if len(tokens) <= self._reserved.get(pointer, 0):
            return self._vector(pointer, tokens)
        with _growth:
            vector = self._vector(pointer, tokens)
            _release_logits(pointer, len(tokens) * self._row)
        self._reserved[pointer] = len(tokens)
        return vector

    def _vector(self, pointer: int, tokens: Tokens) -> Vector:
        llama = _llama()
        # One text a call: in a batch its last bits would depend on its mates.
        status = llama.llama_encode(pointer, llama.llama_batch_get_one(tokens, len(tokens)))
        if status != 0:
            raise ModelError("embedding", f"llama.cpp failed with status {status}: {_reason()}")
        found = llama.llama_get_embeddings_seq(pointer, 0)
        if not found:
            raise ModelError("embedding", "llama.cpp returned no pooled vector; the file is no embedding model")
        return np.ctypeslib.as_array(found, shape=(self._width,)).astype(np.float32, copy=True)

    def close(self) -> None:
        for pointer in (self._short, self._long):
            _llama().llama_free(pointer)


_growth = threading.Lock()  # so that of several contexts only one holds the memory below at a time


def _release_logits(pointer: int, size: int) -> None:
    """Gives back the memory of the logits, which an embedding model never writes.

    llama.cpp reserves and clears them for each token of the longest input so far: 250,002 floats a token, 512 MB
    a context.
    """
    advice = getattr(mmap, "MADV_DONTNEED", None)
    start = ctypes.cast(_llama().llama_get_logits(pointer), ctypes.c_void_p).value
    if advice is None or start is None:
        return
    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
    last = (start + size) // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), advice)


def _new_context(weights: Weights, limit: int, *, flash: bool) -> int:
    llama = _llama()
    settings = llama.llama_context_default_params()
    # A model without causal attention reads the whole input in one physical batch; more aborts the process.
    settings.n_ctx = settings.n_batch = settings.n_ubatch = limit
    settings.n_seq_max = 1
    settings.n_threads = settings.n_threads_batch = 1
    settings.embeddings = True
    settings.pooling_type = llama.LLAMA_POOLING_TYPE_MEAN
    settings.flash_attn_type = llama.LLAMA_FLASH_ATTN_TYPE_ENABLED if flash else llama.LLAMA_FLASH_ATTN_TYPE_DISABLED
    _log.clear()
    pointer: int | None = llama.llama_init_from_model(weights.pointer, settings)
    if not pointer:
        raise ModelError("model", f"llama.cpp cannot make a context: {_reason()}")
    return pointer


def engine() -> str:
    """One line: versions of llama.cpp and its binding, CPU features of the build, and the switches used here."""
    llama = _llama()
    version = llama.llama_version().decode()
    binding = f"llama-cpp-python {llama.__version__}"
    buffers = "extra-buffers" if repacks() else "no-extra-buffers"
    return f"llama.cpp {version} ({binding}), {' '.join(_features())}, flash-attention from {_FLASH_FROM}, {buffers}"


def _features() -> list[str]:
    """What llama.cpp was built for and finds in this CPU."""
    return re.findall(r"(\w+) = 1", _llama().llama_print_system_info().decode())


def repacks() -> bool:
    """Whether weights are repacked for the CPU's kernels, which makes rows a sixth faster, e5 a quarter.

    Not with AMX, where that crashes a build by GCC 12 (ggml-org/llama.cpp pull request 26954).
    """
    return not any(feature.startswith("AMX") for feature in _features())
