#!/usr/bin/env python3
"""Prefill and decode of a Qwen2-0.5B-shaped random model: Winnow's engine against transformers, A-B-B-A in one run.

    ./winnow bench >/dev/null     # builds winnow-bench
    python tests/bench/peers/transformers_peer.py --bench build/release/bin/winnow-bench

Needs torch==2.11.0 and transformers==5.2.0. Both sides use the same number of threads, bf16 weights of the same shape, the same prompt length,
greedy decoding; transformers runs SDPA with its DynamicCache. Ratios are transformers' time over Winnow's: above 1.0 Winnow is faster.
Prints the median and the quartiles of the ratios of all pairs; nothing is stored.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time

import torch
from transformers import DynamicCache, Qwen2Config, Qwen2ForCausalLM

SHAPE = Qwen2Config(
    vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2,
    max_position_embeddings=32768, rope_theta=1e6, tie_word_embeddings=True,
)  # fmt: skip


class Winnow:
    def __init__(self, program: str, threads: int) -> None:
        self.process = subprocess.Popen(
            [program, "--serve", "--threads", str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def measure(self, what: str, tokens: int, steps: int) -> float:
        assert self.process.stdin and self.process.stdout
        command = f"prefill {tokens}" if what == "prefill" else f"decode {tokens} 1.0 {steps}"
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[1])


class Transformers:
    def __init__(self) -> None:
        torch.manual_seed(1)
        self.model = Qwen2ForCausalLM(SHAPE).to(torch.bfloat16).eval()
        self.caches: dict[int, DynamicCache] = {}

    @torch.inference_mode()
    def measure(self, what: str, tokens: int, steps: int) -> float:
        ids = torch.arange(tokens)[None] % SHAPE.vocab_size
        if what == "prefill":
            start = time.perf_counter()
            self.model(ids, past_key_values=DynamicCache(config=SHAPE), use_cache=True, logits_to_keep=1)
            return 1000 * (time.perf_counter() - start)
        if tokens not in self.caches:
            self.caches = {tokens: self.model(ids, past_key_values=DynamicCache(config=SHAPE), use_cache=True, logits_to_keep=1).past_key_values}
        cache = self.caches[tokens]
        token, times = torch.tensor([[7]]), []
        for _ in range(steps):
            start = time.perf_counter()
            out = self.model(token, past_key_values=cache, use_cache=True)
            token = out.logits[:, -1].argmax(-1, keepdim=True)
            times.append(1000 * (time.perf_counter() - start))
        cache.crop(tokens)
        return statistics.median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/release/bin/winnow-bench")
    parser.add_argument("--contexts", type=int, nargs="+", default=[2048, 8192])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=8, help="decode steps per measurement")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    ours, theirs = Winnow(options.bench, options.threads), Transformers()
    print(f"torch {torch.__version__}, {options.threads} threads, {options.pairs} pairs, bf16")
    for what in ("prefill", "decode"):
        for tokens in options.contexts:
            for side in (ours, theirs):  # warm-up, discarded
                side.measure(what, tokens, options.steps)
            ratios, our_ms, their_ms = [], [], []
            for _ in range((options.pairs + 1) // 2):
                a1 = ours.measure(what, tokens, options.steps)
                b1 = theirs.measure(what, tokens, options.steps)
                b2 = theirs.measure(what, tokens, options.steps)
                a2 = ours.measure(what, tokens, options.steps)
                ratios += [b1 / a1, b2 / a2]
                our_ms += [a1, a2]
                their_ms += [b1, b2]
            low, middle, high = statistics.quantiles(ratios, n=4)
            print(
                f"{what:8} {tokens:6} tokens: ratio {middle:.2f} (quartiles {low:.2f} to {high:.2f}, {len(ratios)} pairs); "
                f"Winnow {statistics.median(our_ms):.1f} ms, transformers {statistics.median(their_ms):.1f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
