"""Writes GGUF files of the architecture nomic-bert-moe, random weights: tiny for tests, full-size for benchmarks."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

from ragpress.models import starter

Vocabulary = tuple[list[bytes], list[float]]


@dataclass(frozen=True)
class Sizes:
    layers: int = 2
    width: int = 64
    heads: int = 4
    inner: int = 128
    experts: int = 4
    used: int = 2
    positions: int = 512


TINY = Sizes()
FULL = Sizes(layers=12, width=768, heads=12, inner=3072, experts=8)
"""The sizes of nomic-embed-text-v2-moe."""


def tiny_vocabulary() -> Vocabulary:
    """Single characters of three scripts, a few words, and one piece that holds a space inside."""
    letters = [chr(code) for code in (*range(0x21, 0x7F), *range(0x410, 0x450), *range(0x621, 0x6D4))]
    words = ["\u2581при", "вет", "\u2581сло", "во", "\u2581سلام", "\u2581the", "w\u2581e"]
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "\u2581", *letters, *words, "<mask>"]
    scores = [0.0] * 4 + [-3.0] + [-8.0] * len(letters) + [-5.0] * len(words) + [0.0]
    return [token.encode() for token in tokens], scores


def xlm_roberta() -> Vocabulary:
    """The real vocabulary of 250,002 pieces, from the package that the offline model is made from."""
    source = starter.parse_source(starter._source_file().read_bytes())
    return source.tokens, source.scores


def write_nomic(
    path: Path,
    sizes: Sizes = TINY,
    vocabulary: Vocabulary | None = None,
    *,
    seed: int = 0,
    pooling: gguf.PoolingType = gguf.PoolingType.MEAN,
    broken: bool = False,
) -> Path:
    """`broken` fills one layer's norm with NaN, so that every vector is NaN."""
    tokens, scores = vocabulary or tiny_vocabulary()
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, "nomic-bert-moe")
    writer.add_context_length(sizes.positions)
    writer.add_embedding_length(sizes.width)
    writer.add_feed_forward_length(sizes.inner)
    writer.add_block_count(sizes.layers)
    writer.add_head_count(sizes.heads)
    writer.add_layer_norm_eps(1e-5)
    writer.add_causal_attention(False)
    writer.add_pooling_type(pooling)
    writer.add_rope_freq_base(10000.0)
    writer.add_moe_every_n_layers(2)
    writer.add_expert_count(sizes.experts)
    writer.add_expert_used_count(sizes.used)
    starter.add_vocabulary(writer, tokens, scores, starter.character_map(), types=1)

    def weight(name: str, *shape: int, spread: float | None = None) -> None:
        scale = spread or 1 / math.sqrt(shape[-1])
        values = random.standard_normal(shape, np.float32) * np.float32(scale)
        writer.add_tensor(f"{name}.weight", values.astype(np.float16))

    def plain(name: str, values: npt.NDArray[np.floating]) -> None:
        writer.add_tensor(
            name, values.astype(np.float32)
        )  # the kernels take norms, biases and the router in float32 alone

    def norm(name: str) -> None:
        fill = np.nan if broken and name == "blk.0.attn_output_norm" else 1.0
        plain(f"{name}.weight", np.full(sizes.width, fill))
        plain(f"{name}.bias", np.zeros(sizes.width))

    weight("token_embd", len(tokens), sizes.width, spread=1.0)
    plain("token_types.weight", np.zeros((1, sizes.width)))
    norm("token_embd_norm")
    for number in range(sizes.layers):
        layer = f"blk.{number}"
        weight(f"{layer}.attn_qkv", 3 * sizes.width, sizes.width)
        plain(f"{layer}.attn_qkv.bias", np.zeros(3 * sizes.width))
        weight(f"{layer}.attn_output", sizes.width, sizes.width)
        plain(f"{layer}.attn_output.bias", np.zeros(sizes.width))
        norm(f"{layer}.attn_output_norm")
        if number % 2:
            plain(f"{layer}.ffn_gate_inp.weight", random.standard_normal((sizes.experts, sizes.width)))
            weight(f"{layer}.ffn_up_exps", sizes.experts, sizes.inner, sizes.width)
            weight(f"{layer}.ffn_down_exps", sizes.experts, sizes.width, sizes.inner)
        else:
            weight(f"{layer}.ffn_up", sizes.inner, sizes.width)
            plain(f"{layer}.ffn_up.bias", np.zeros(sizes.inner))
            weight(f"{layer}.ffn_down", sizes.width, sizes.inner)
            plain(f"{layer}.ffn_down.bias", np.zeros(sizes.width))
        norm(f"{layer}.layer_output_norm")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def quantize(source: Path, target: Path, kind: str) -> Path:
    """Quantises a float16 file by llama.cpp, as the hub's files are made; `kind` is Q6_K, Q4_K_M, Q8_0."""
    import llama_cpp

    settings = llama_cpp.llama_model_quantize_default_params()
    settings.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{kind}")
    settings.nthread = len(os.sched_getaffinity(0))
    status = llama_cpp.llama_model_quantize(os.fsencode(source), os.fsencode(target), settings)
    if status != 0:
        raise RuntimeError(f"llama_model_quantize returned {status}")
    return target
