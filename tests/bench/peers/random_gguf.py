#!/usr/bin/env python3
"""GGUF files of a published shape with random weights, for llama_cpp_peer.py: speed does not depend on what the weights are.

    python tests/bench/peers/random_gguf.py FOLDER --tokenizer MODEL.gguf [--shapes 0.5b 1.5b 0.8b] [--types bf16 q8_0 q4_0 q4_k_m]

Writes FOLDER/qwen2-<shape>-<type>.gguf, of 0.8b qwen35-0.8b-<type>.gguf: the bf16 one from a fixed seed, the others made of it by llama.cpp's
own quantiser. The vocabulary's words are those of --tokenizer (any GGUF file with a byte-level one), filled up with unused ones. Needs gguf
and llama-cpp-python.
"""

import argparse
import pathlib

import gguf
import numpy as np
import shapes

TYPES = {kind: f"LLAMA_FTYPE_MOSTLY_{kind.upper()}" for kind in ("q8_0", "q4_0", "q4_k_m")}  # of llama_cpp
SEED = 7
TIED = [name for name, shape in shapes.QWEN2.items() if shape.tied]  # no head is written


def bf16(numbers: np.ndarray) -> np.ndarray:
    return gguf.quants.quantize(numbers, gguf.GGMLQuantizationType.BF16)


class Writer(gguf.GGUFWriter):
    """With the words of another file and random weights."""

    def __init__(self, path: pathlib.Path, architecture: str, shape: shapes.Shape | shapes.Hybrid, rope_theta: float, further: int = 0) -> None:
        super().__init__(path, architecture)
        self.generator = np.random.default_rng(SEED)
        self.add_name(f"random {path.stem}")
        self.add_block_count(shape.layers + further)
        self.add_context_length(shapes.MAX_POSITIONS)
        self.add_embedding_length(shape.hidden)
        self.add_feed_forward_length(shape.intermediate)
        self.add_head_count(shape.heads)
        self.add_head_count_kv(shape.kv_heads)
        self.add_rope_freq_base(rope_theta)
        self.add_layer_norm_rms_eps(1e-6)

    def take_words(self, tokenizer: str, pre: str, vocabulary: int) -> None:
        words = gguf.GGUFReader(tokenizer).fields
        texts = lambda key: [bytes(words[key].parts[i]) for i in words[key].data]
        numbers = lambda key: [int(words[key].parts[i][0]) for i in words[key].data]
        tokens, kinds = texts("tokenizer.ggml.tokens"), numbers("tokenizer.ggml.token_type")
        missing = vocabulary - len(tokens)
        self.add_tokenizer_model("gpt2")
        self.add_tokenizer_pre(pre)
        self.add_token_list(tokens + [f"[PAD{i}]" for i in range(missing)])
        self.add_token_types(kinds + [gguf.TokenType.UNUSED] * missing)
        self.add_token_merges(texts("tokenizer.ggml.merges"))
        self.add_eos_token_id(numbers("tokenizer.ggml.eos_token_id")[0])
        self.add_chat_template("{% for m in messages %}{{ m['content'] }}{% endfor %}")

    def matrix(self, name: str, rows: int, columns: int) -> None:
        numbers = self.generator.standard_normal((rows, columns), dtype=np.float32) * 0.02
        self.add_tensor(name, bf16(numbers), raw_dtype=gguf.GGMLQuantizationType.BF16)

    def vector(self, name: str, size: int, value: float) -> None:
        self.add_tensor(name, np.full(size, value, dtype=np.float32))

    def mlp(self, prefix: str, hidden: int, inner: int) -> None:
        self.matrix(f"{prefix}ffn_gate.weight", inner, hidden)
        self.matrix(f"{prefix}ffn_up.weight", inner, hidden)
        self.matrix(f"{prefix}ffn_down.weight", hidden, inner)

    def finish(self) -> None:
        self.write_header_to_file()
        self.write_kv_data_to_file()
        self.write_tensors_to_file()
        self.close()


def write_qwen2(path: pathlib.Path, shape: shapes.Shape, tokenizer: str) -> None:
    writer = Writer(path, "qwen2", shape, shapes.ROPE_THETA)
    writer.take_words(tokenizer, "qwen2", shape.vocabulary)
    hidden, head_dim = shape.hidden, shape.hidden // shape.heads
    writer.matrix("token_embd.weight", shape.vocabulary, hidden)
    writer.vector("output_norm.weight", hidden, 1.0)
    for layer in range(shape.layers):
        prefix = f"blk.{layer}."
        for name, rows in (("q", hidden), ("k", shape.kv_heads * head_dim), ("v", shape.kv_heads * head_dim)):
            writer.matrix(f"{prefix}attn_{name}.weight", rows, hidden)
            writer.vector(f"{prefix}attn_{name}.bias", rows, 0.0)
        writer.matrix(f"{prefix}attn_output.weight", hidden, hidden)
        writer.mlp(prefix, hidden, shape.intermediate)
        writer.vector(f"{prefix}attn_norm.weight", hidden, 1.0)
        writer.vector(f"{prefix}ffn_norm.weight", hidden, 1.0)
    writer.finish()


class HybridWriter(Writer):
    """Of Qwen3.5's architecture, with `further` layers behind the last."""

    def __init__(self, path: pathlib.Path, shape: shapes.Hybrid, tokenizer: str, further: int = 0) -> None:
        super().__init__(path, "qwen35", shape, shapes.HYBRID_ROPE_THETA, further)
        self.shape = shape
        self.take_words(tokenizer, "qwen35", shape.vocabulary)
        self.add_key_length(shape.head_dim)
        self.add_value_length(shape.head_dim)
        self.add_rope_dimension_count(shape.head_dim // shapes.ROTATED)
        self.add_rope_dimension_sections([11, 11, 10, 0])
        self.add_ssm_conv_kernel(shapes.CONVOLUTION)
        self.add_ssm_state_size(shape.state_dim)
        self.add_ssm_group_count(shape.state_heads)
        self.add_ssm_time_step_rank(shape.state_heads)
        self.add_ssm_inner_size(shape.state_heads * shape.state_dim)
        self.add_full_attention_interval(shapes.ATTENDS_EVERY)

    def layer(self, prefix: str, attends: bool) -> None:
        shape, hidden, states = self.shape, self.shape.hidden, self.shape.state_heads * self.shape.state_dim
        if attends:
            self.matrix(f"{prefix}attn_q.weight", 2 * shape.heads * shape.head_dim, hidden)  # with the gate
            for name in "kv":
                self.matrix(f"{prefix}attn_{name}.weight", shape.kv_heads * shape.head_dim, hidden)
            for name in "qk":
                self.vector(f"{prefix}attn_{name}_norm.weight", shape.head_dim, 1.0)
            self.matrix(f"{prefix}attn_output.weight", hidden, shape.heads * shape.head_dim)
        else:
            self.matrix(f"{prefix}attn_qkv.weight", 3 * states, hidden)
            self.matrix(f"{prefix}attn_gate.weight", states, hidden)
            self.matrix(f"{prefix}ssm_alpha.weight", shape.state_heads, hidden)
            self.matrix(f"{prefix}ssm_beta.weight", shape.state_heads, hidden)
            self.add_tensor(f"{prefix}ssm_conv1d.weight", self.generator.standard_normal((3 * states, shapes.CONVOLUTION), dtype=np.float32) * 0.2)
            self.vector(f"{prefix}ssm_dt.bias", shape.state_heads, 1.0)
            self.vector(f"{prefix}ssm_a", shape.state_heads, -1.0)
            self.vector(f"{prefix}ssm_norm.weight", shape.state_dim, 1.0)
            self.matrix(f"{prefix}ssm_out.weight", hidden, states)
        self.mlp(prefix, hidden, shape.intermediate)
        self.vector(f"{prefix}attn_norm.weight", hidden, 1.0)
        self.vector(f"{prefix}post_attention_norm.weight", hidden, 1.0)

    def layers(self) -> None:
        self.matrix("token_embd.weight", self.shape.vocabulary, self.shape.hidden)
        self.vector("output_norm.weight", self.shape.hidden, 1.0)
        for layer in range(self.shape.layers):
            self.layer(f"blk.{layer}.", (layer + 1) % shapes.ATTENDS_EVERY == 0)


def write_qwen35(path: pathlib.Path, shape: shapes.Hybrid, tokenizer: str) -> None:
    writer = HybridWriter(path, shape, tokenizer)
    writer.layers()
    writer.finish()


def quantise(source: pathlib.Path, target: pathlib.Path, kind: str) -> None:
    import llama_cpp  # who wants the writer alone needs no llama.cpp

    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, TYPES[kind])
    if llama_cpp.llama_model_quantize(str(source).encode(), str(target).encode(), params) != 0:
        raise RuntimeError(f"llama.cpp could not make {target}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--shapes", nargs="+", choices=[*TIED, *shapes.QWEN35], default=TIED)
    parser.add_argument("--types", nargs="+", choices=["bf16", *TYPES], default=["bf16", *TYPES])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.shapes:
        family = "qwen35" if name in shapes.QWEN35 else "qwen2"
        path = lambda kind: options.folder / f"{family}-{name}-{kind}.gguf"
        if family == "qwen35":
            write_qwen35(path("bf16"), shapes.QWEN35[name], options.tokenizer)
        else:
            write_qwen2(path("bf16"), shapes.QWEN2[name], options.tokenizer)
        for kind in options.types:
            if kind != "bf16":
                quantise(path("bf16"), path(kind), kind)


if __name__ == "__main__":
    main()
