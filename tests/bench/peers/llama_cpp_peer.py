#!/usr/bin/env python3
"""Prefill and decode of a GGUF file: Winnow's engine against llama.cpp on the same file, A-B-B-A in one run.

    ./winnow get smollm2; ./winnow bench >/dev/null     # the file; builds winnow-bench
    python tests/bench/peers/llama_cpp_peer.py MODEL.gguf --bench build/release/bin/winnow-bench

Needs llama-cpp-python==0.3.36 built from its source for this processor (tests/golden/make/real_model_environment.sh): the wheels are made for
processors of ten years ago and are no fair peer. Both sides read the same file with the same number of threads, the same prompt length and
greedy decoding; llama.cpp keeps its cache in fp16 and its flash attention is on. Ratios are llama.cpp's time over Winnow's: above 1.0 Winnow
is faster. `decode 10 %` is Winnow with a tenth of the cache against llama.cpp with all of it. Prints the median and the quartiles of the
ratios of all pairs; nothing is stored.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import subprocess
import time

import llama_cpp


class Winnow:
    def __init__(self, program: str, model: str, threads: int) -> None:
        self.process = subprocess.Popen(
            [program, "--serve", "--model", model, "--threads", str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def measure(self, what: str, tokens: int, steps: int) -> float:
        assert self.process.stdin and self.process.stdout
        share = 0.1 if what == "decode 10 %" else 1.0
        self.process.stdin.write(f"prefill {tokens}\n" if what == "prefill" else f"decode {tokens} {share} {steps}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[1])


class LlamaCpp:
    def __init__(self, model: str, threads: int, context: int) -> None:
        self.llama = llama_cpp.Llama(model, n_ctx=context, n_batch=512, n_threads=threads, n_threads_batch=threads, flash_attn=True, verbose=False)
        self.context = self.llama.ctx
        self.vocabulary = self.llama.n_vocab()
        self.filled = 0

    def _decode(self, ids: list[int]) -> None:
        tokens = (llama_cpp.llama_token * len(ids))(*ids)  # the batch points at them
        if llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(tokens, len(ids))) != 0:
            raise RuntimeError("llama_decode failed")

    def _forget(self, tokens: int) -> None:
        llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(self.context), 0, tokens, -1)

    def _fill(self, tokens: int) -> float:
        self._forget(0)
        ids = [i % self.vocabulary for i in range(tokens)]
        start = time.perf_counter()
        for first in range(0, tokens, 512):
            self._decode(ids[first : first + 512])
        llama_cpp.llama_synchronize(self.context)
        self.filled = tokens
        return 1000 * (time.perf_counter() - start)

    def measure(self, what: str, tokens: int, steps: int) -> float:
        if what == "prefill":
            return self._fill(tokens)
        if self.filled != tokens:
            self._fill(tokens)
        token, times = 7, []
        for _ in range(steps):
            start = time.perf_counter()
            self._decode([token])
            logits = llama_cpp.llama_get_logits_ith(self.context, -1)
            values = (ctypes.c_float * self.vocabulary).from_address(ctypes.addressof(logits.contents))
            times.append(1000 * (time.perf_counter() - start))
            token = max(range(self.vocabulary), key=values.__getitem__)
        self._forget(tokens)
        return statistics.median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--bench", default="build/release/bin/winnow-bench")
    parser.add_argument("--contexts", type=int, nargs="+", default=[512, 2048, 7680])
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=16, help="decode steps per measurement")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    ours = Winnow(options.bench, options.model, options.threads)
    theirs = LlamaCpp(options.model, options.threads, max(options.contexts) + 2 * options.steps)
    print(f"llama-cpp-python {llama_cpp.__version__}, {options.threads} threads, {options.pairs} pairs")
    for tokens in options.contexts:
        for what in ("prefill", "decode", "decode 10 %"):
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
                f"{what:12} {tokens:6} tokens: ratio {middle:.2f} (quartiles {low:.2f} to {high:.2f}, {len(ratios)} pairs); "
                f"Winnow {statistics.median(our_ms):.1f} ms, llama.cpp {statistics.median(their_ms):.1f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
