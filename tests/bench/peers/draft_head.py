#!/usr/bin/env python3
"""What a draft head that always guesses right makes of decoding: random Qwen3.5 files of a published shape with such a head and without it, asked by
winnow-cli in turn, A-B-B-A.

    python tests/bench/peers/draft_head.py WINNOW-CLI FOLDER --tokenizer MODEL.gguf [--shape 4b] [--tokens 120] [--pairs 6]

Writes FOLDER/drafts-<shape>.gguf and plain-<shape>.gguf, unless they are there. Matrices are random Q4_0 blocks. What layers add to a token is zero
times as much work, so that the next token depends on the last one alone, and the head, which hands its embedding on, knows it: the most that
drafts can save. Prints the ratio of decoding times, and of the times that processors were busy beyond those of two tokens, which other programs touch
less. Needs gguf, numpy.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess

import gguf
import numpy as np
from interleaved import in_turn, with_quartiles
from shapes import ATTENDS_EVERY, CONVOLUTION, HYBRID_ROPE_THETA, QWEN35, ROTATED, Hybrid

SHAPES = QWEN35 | {"2b": Hybrid(24, 2048, 6144, 8, 2, 256, 16, 128, 248320), "4b": Hybrid(32, 2560, 9216, 16, 4, 256, 32, 128, 248320)}
BLOCK = np.dtype([("scale", "<f2"), ("codes", "u1", 16)])  # of Q4_0


class File(gguf.GGUFWriter):
    def __init__(self, path: pathlib.Path, shape: Hybrid) -> None:
        super().__init__(path, "qwen35")
        self.shape, self.generator = shape, np.random.default_rng(7)

    def blocks(self, name: str, rows: int, columns: int, scale: float = 0.02) -> None:
        blocks = np.empty((rows, columns // 32), BLOCK)
        blocks["scale"] = scale / 5
        blocks["codes"] = self.generator.integers(0, 256, blocks["codes"].shape, dtype=np.uint8)
        self.add_tensor(name, blocks.view(np.uint8).reshape(rows, -1), raw_dtype=gguf.GGMLQuantizationType.Q4_0)

    def nothing(self, name: str, rows: int, columns: int) -> None:
        self.blocks(name, rows, columns, 0.0)

    def floats(self, name: str, values: np.ndarray) -> None:
        self.add_tensor(name, values.astype(np.float32))

    def ones(self, name: str, size: int) -> None:
        self.floats(name, np.ones(size))

    def layer(self, prefix: str, attends: bool) -> None:
        shape, hidden = self.shape, self.shape.hidden
        states = shape.state_heads * shape.state_dim
        if attends:
            self.blocks(f"{prefix}attn_q.weight", 2 * shape.heads * shape.head_dim, hidden)  # with the gate
            for name in "kv":
                self.blocks(f"{prefix}attn_{name}.weight", shape.kv_heads * shape.head_dim, hidden)
            for name in "qk":
                self.ones(f"{prefix}attn_{name}_norm.weight", shape.head_dim)
            self.nothing(f"{prefix}attn_output.weight", hidden, shape.heads * shape.head_dim)
        else:
            self.blocks(f"{prefix}attn_qkv.weight", 3 * states, hidden)
            self.blocks(f"{prefix}attn_gate.weight", states, hidden)
            self.blocks(f"{prefix}ssm_alpha.weight", shape.state_heads, hidden)
            self.blocks(f"{prefix}ssm_beta.weight", shape.state_heads, hidden)
            self.floats(f"{prefix}ssm_conv1d.weight", self.generator.standard_normal((3 * states, CONVOLUTION)) * 0.2)
            self.ones(f"{prefix}ssm_dt.bias", shape.state_heads)
            self.floats(f"{prefix}ssm_a", -np.ones(shape.state_heads))
            self.ones(f"{prefix}ssm_norm.weight", shape.state_dim)
            self.nothing(f"{prefix}ssm_out.weight", hidden, states)
        self.blocks(f"{prefix}ffn_gate.weight", shape.intermediate, hidden)
        self.blocks(f"{prefix}ffn_up.weight", shape.intermediate, hidden)
        self.nothing(f"{prefix}ffn_down.weight", hidden, shape.intermediate)
        self.ones(f"{prefix}attn_norm.weight", hidden)
        self.ones(f"{prefix}post_attention_norm.weight", hidden)

    def head(self, prefix: str) -> None:
        hidden = self.shape.hidden
        self.layer(prefix, attends=True)
        for name in ("enorm", "hnorm", "shared_head_norm"):
            self.ones(f"{prefix}nextn.{name}.weight", hidden)
        joined = np.concatenate([np.eye(hidden), np.zeros((hidden, hidden))], 1).astype(np.float32)
        kind = gguf.GGMLQuantizationType.Q8_0
        self.add_tensor(f"{prefix}nextn.eh_proj.weight", gguf.quants.quantize(joined, kind), raw_dtype=kind)

    def write(self, tokenizer: str, with_head: bool) -> None:
        shape = self.shape
        words = gguf.GGUFReader(tokenizer).fields
        tokens, kinds = words["tokenizer.ggml.tokens"].contents(), words["tokenizer.ggml.token_type"].contents()
        missing = shape.vocabulary - len(tokens)
        self.add_tokenizer_model("gpt2")
        self.add_tokenizer_pre("qwen35")
        self.add_token_list(tokens + [f"[PAD{i}]" for i in range(missing)])
        self.add_token_types(kinds + [gguf.TokenType.UNUSED] * missing)
        self.add_token_merges(words["tokenizer.ggml.merges"].contents())
        self.add_eos_token_id(words["tokenizer.ggml.eos_token_id"].contents())
        self.add_chat_template("{% for m in messages %}{{ m['content'] }}{% endfor %}")
        self.add_block_count(shape.layers + with_head)
        self.add_uint32("qwen35.nextn_predict_layers", int(with_head))
        self.add_context_length(4096)
        self.add_embedding_length(shape.hidden)
        self.add_feed_forward_length(shape.intermediate)
        self.add_head_count(shape.heads)
        self.add_head_count_kv(shape.kv_heads)
        self.add_key_length(shape.head_dim)
        self.add_value_length(shape.head_dim)
        self.add_rope_freq_base(HYBRID_ROPE_THETA)
        self.add_rope_dimension_count(shape.head_dim // ROTATED)
        self.add_layer_norm_rms_eps(1e-6)
        self.add_ssm_conv_kernel(CONVOLUTION)
        self.add_ssm_state_size(shape.state_dim)
        self.add_ssm_group_count(shape.state_heads)
        self.add_ssm_time_step_rank(shape.state_heads)
        self.add_ssm_inner_size(shape.state_heads * shape.state_dim)
        self.add_full_attention_interval(ATTENDS_EVERY)
        self.blocks("token_embd.weight", shape.vocabulary, shape.hidden)
        self.blocks("output.weight", shape.vocabulary, shape.hidden)  # another one than the embedding, or every token would follow itself
        self.ones("output_norm.weight", shape.hidden)
        for layer in range(shape.layers):
            self.layer(f"blk.{layer}.", (layer + 1) % ATTENDS_EVERY == 0)
        if with_head:
            self.head(f"blk.{shape.layers}.")
        self.write_header_to_file()
        self.write_kv_data_to_file()
        self.write_tensors_to_file()
        self.close()


def ask(program: str, model: pathlib.Path, tokens: int) -> dict:
    command = [program, "ask", "--model", str(model), "--json", "--max-tokens", str(tokens), "--temperature", "0", "What comes next?"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def times(program: str, model: pathlib.Path, tokens: int) -> tuple[float, float]:
    """Of decoding, and of processors, in seconds."""
    busy = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    first = busy()
    ask(program, model, 2)
    second = busy()
    decoding = ask(program, model, tokens)["timings_ms"]["decode_total"] / 1000
    return decoding, (busy() - second) - (second - first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--shape", choices=SHAPES, default="4b")
    parser.add_argument("--tokens", type=int, default=120)
    parser.add_argument("--pairs", type=int, default=6)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    models = {kind: options.folder / f"{kind}-{options.shape}.gguf" for kind in ("drafts", "plain")}
    for kind, path in models.items():
        if not path.exists():
            File(path, SHAPES[options.shape]).write(options.tokenizer, kind == "drafts")
    drafts, plain = (ask(options.program, path, options.tokens) for path in models.values())  # the files are in memory now
    assert drafts["answer"] == plain["answer"], "the head changes the answer"
    print(f"{drafts['tokens']['drafted']} of {drafts['tokens']['generated']} tokens were drafted, without a head {plain['tokens']['drafted']}")
    ratios, busy, speeds = [], [], []
    for one, other in in_turn(*(lambda path=path: times(options.program, path, options.tokens) for path in models.values()), options.pairs):
        ratios.append(other[0] / one[0])
        busy.append(other[1] / one[1])
        speeds.append(options.tokens / other[0])
    print(f"{options.shape}: {with_quartiles(ratios)} times as fast with the head, processors {with_quartiles(busy)}; "
          f"without it {statistics.median(speeds):.1f} tokens a second ({len(ratios)} pairs)")


if __name__ == "__main__":
    main()
