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
from random_gguf import HybridWriter
from shapes import QWEN35, Hybrid

SHAPES = QWEN35 | {"2b": Hybrid(24, 2048, 6144, 8, 2, 256, 16, 128, 248320), "4b": Hybrid(32, 2560, 9216, 16, 4, 256, 32, 128, 248320)}
BLOCK = np.dtype([("scale", "<f2"), ("codes", "u1", 16)])  # of Q4_0


class File(HybridWriter):
    """In Q4_0. Layers add nothing, so that a token's own row chooses the next one, and the head guesses right."""

    def matrix(self, name: str, rows: int, columns: int) -> None:
        blocks = np.empty((rows, columns // 32), BLOCK)
        blocks["scale"] = 0.0 if name.endswith(("attn_output.weight", "ssm_out.weight", "ffn_down.weight")) else 0.004
        blocks["codes"] = self.generator.integers(0, 256, blocks["codes"].shape, dtype=np.uint8)
        self.add_tensor(name, blocks.view(np.uint8).reshape(rows, -1), raw_dtype=gguf.GGMLQuantizationType.Q4_0)

    def head(self, prefix: str) -> None:
        hidden = self.shape.hidden
        self.layer(prefix, attends=True)
        for name in ("enorm", "hnorm", "shared_head_norm"):
            self.vector(f"{prefix}nextn.{name}.weight", hidden, 1.0)
        joined = np.concatenate([np.eye(hidden), np.zeros((hidden, hidden))], 1).astype(np.float32)
        kind = gguf.GGMLQuantizationType.Q8_0
        self.add_tensor(f"{prefix}nextn.eh_proj.weight", gguf.quants.quantize(joined, kind), raw_dtype=kind)


def write(path: pathlib.Path, shape: Hybrid, tokenizer: str, with_head: bool) -> None:
    file = File(path, shape, tokenizer, int(with_head))
    file.add_uint32("qwen35.nextn_predict_layers", int(with_head))
    file.layers()
    file.matrix("output.weight", shape.vocabulary, shape.hidden)  # another one than the embedding, or every token would follow itself
    if with_head:
        file.head(f"blk.{shape.layers}.")
    file.finish()


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
            write(path, SHAPES[options.shape], options.tokenizer, kind == "drafts")
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
