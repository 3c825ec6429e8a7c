#!/usr/bin/env python3
"""GGUF files of a published shape with random weights, for llama_cpp_peer.py: speed does not depend on what the weights are.

    python tests/bench/peers/random_gguf.py FOLDER --tokenizer MODEL.gguf [--shapes 0.5b 1.5b] [--types bf16 q8_0 q4_0 q4_k_m]

Writes FOLDER/qwen2-<shape>-<type>.gguf: the bf16 one from a fixed seed, the others made of it by llama.cpp's own quantiser. The vocabulary's
words are those of --tokenizer (any GGUF file with a byte-level one), filled up with unused ones. Needs gguf and llama-cpp-python.
"""

from __future__ import annotations

import argparse
import pathlib

import gguf
import llama_cpp
import numpy as np
import shapes

TYPES = {"q8_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0, "q4_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0, "q4_k_m": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_M}
SEED = 7
TIED = [name for name, shape in shapes.QWEN2.items() if shape.tied]  # no head is written


def bf16(numbers: np.ndarray) -> np.ndarray:
    return gguf.quants.quantize(numbers, gguf.GGMLQuantizationType.BF16)


def write(path: pathlib.Path, shape: str, tokenizer: str) -> None:
    layers, hidden, inner, heads, kv_heads, vocabulary, _ = shapes.QWEN2[shape]
    words = gguf.GGUFReader(tokenizer).fields
    texts = lambda key: [bytes(words[key].parts[i]) for i in words[key].data]
    numbers = lambda key: [int(words[key].parts[i][0]) for i in words[key].data]
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_name(f"random Qwen2 {shape}")
    writer.add_block_count(layers)
    writer.add_context_length(shapes.MAX_POSITIONS)
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_rope_freq_base(shapes.ROPE_THETA)
    writer.add_layer_norm_rms_eps(1e-6)
    tokens, kinds = texts("tokenizer.ggml.tokens"), numbers("tokenizer.ggml.token_type")
    missing = vocabulary - len(tokens)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens + [f"[PAD{i}]" for i in range(missing)])
    writer.add_token_types(kinds + [gguf.TokenType.UNUSED] * missing)
    writer.add_token_merges(texts("tokenizer.ggml.merges"))
    writer.add_eos_token_id(numbers("tokenizer.ggml.eos_token_id")[0])
    writer.add_chat_template("{% for m in messages %}{{ m['content'] }}{% endfor %}")
    generator = np.random.default_rng(SEED)
    head_dim = hidden // heads

    def matrix(name: str, rows: int, columns: int) -> None:
        numbers = generator.standard_normal((rows, columns), dtype=np.float32) * 0.02
        writer.add_tensor(name, bf16(numbers), raw_dtype=gguf.GGMLQuantizationType.BF16)

    def vector(name: str, size: int, value: float) -> None:
        writer.add_tensor(name, np.full(size, value, dtype=np.float32))

    matrix("token_embd.weight", vocabulary, hidden)
    vector("output_norm.weight", hidden, 1.0)
    for layer in range(layers):
        prefix = f"blk.{layer}."
        for name, rows in (("q", hidden), ("k", kv_heads * head_dim), ("v", kv_heads * head_dim)):
            matrix(f"{prefix}attn_{name}.weight", rows, hidden)
            vector(f"{prefix}attn_{name}.bias", rows, 0.0)
        matrix(f"{prefix}attn_output.weight", hidden, hidden)
        matrix(f"{prefix}ffn_gate.weight", inner, hidden)
        matrix(f"{prefix}ffn_up.weight", inner, hidden)
        matrix(f"{prefix}ffn_down.weight", hidden, inner)
        vector(f"{prefix}attn_norm.weight", hidden, 1.0)
        vector(f"{prefix}ffn_norm.weight", hidden, 1.0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def quantise(source: pathlib.Path, target: pathlib.Path, kind: int) -> None:
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = kind
    if llama_cpp.llama_model_quantize(str(source).encode(), str(target).encode(), params) != 0:
        raise RuntimeError(f"llama.cpp could not make {target}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--shapes", nargs="+", choices=TIED, default=TIED)
    parser.add_argument("--types", nargs="+", choices=["bf16", *TYPES], default=["bf16", *TYPES])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for shape in options.shapes:
        source = options.folder / f"qwen2-{shape}-bf16.gguf"
        write(source, shape, options.tokenizer)
        for name in options.types:
            if name != "bf16":
                quantise(source, options.folder / f"qwen2-{shape}-{name}.gguf", TYPES[name])


if __name__ == "__main__":
    main()
