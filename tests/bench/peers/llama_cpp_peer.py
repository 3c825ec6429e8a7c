#!/usr/bin/env python3
"""Prefill and decode of a GGUF file: Winnow's engine against llama.cpp on the same file, A-B-B-A in one run.

    ./winnow get smollm2; ./winnow bench >/dev/null     # the file; builds winnow-bench
    python tests/bench/peers/llama_cpp_peer.py MODEL.gguf --bench build/release/bin/winnow-bench [-- --dtype fp32]

Needs llama-cpp-python==0.3.36 built from its source for this processor (tests/golden/make/real_model_environment.sh): the wheels are made for
processors of ten years ago and are no fair peer. Both sides read the same file with the same number of threads, the same prompt length and
greedy decoding; llama.cpp keeps its cache in fp16 and its flash attention is on. What stands behind `--` goes to winnow-bench: `--dtype` is that
of everything but the file's blocks; winnow-cli's own choice is bf16 with AVX-512 BF16 and fp32 without. `decode 10 %` is Winnow with a tenth of
the cache against llama.cpp with all of it; of a hybrid only the layers that attend have one. Prints a table of the medians and the quartiles of the ratios of all pairs; nothing is stored.
"""

import ctypes
import statistics
import sys
import time

import interleaved

try:
    import llama_cpp
except Exception as reason:
    interleaved.missing("llama.cpp", reason, "tests/golden/make/real_model_environment.sh makes an environment that has it")


class LlamaCpp:
    def __init__(self, model: str, threads: int, context: int) -> None:
        self.llama = llama_cpp.Llama(model, n_ctx=context, n_batch=512, n_threads=threads, n_threads_batch=threads, flash_attn=True, verbose=False)
        self.context = self.llama.ctx
        self.vocabulary = self.llama.n_vocab()
        self.filled = self.answered = 0

    def _decode(self, ids: list[int]) -> None:
        tokens = (llama_cpp.llama_token * len(ids))(*ids)  # the batch points at them
        if llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(tokens, len(ids))) != 0:
            raise RuntimeError("llama_decode failed")

    def _forget(self, tokens: int) -> bool:
        return llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(self.context), 0, tokens, -1)

    def _fill(self, tokens: int) -> float:
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        ids = [i % self.vocabulary for i in range(tokens)]
        start = time.perf_counter()
        for first in range(0, tokens, 512):
            self._decode(ids[first : first + 512])
        llama_cpp.llama_synchronize(self.context)
        self.filled, self.answered = tokens, 0
        return 1000 * (time.perf_counter() - start)

    def measure(self, what: str, tokens: int, steps: int) -> float:
        if what == "prefill":
            return self._fill(tokens)
        if self.filled != tokens or self.answered + steps > tokens // 16:
            self._fill(tokens)
        token, times = 7, []
        for _ in range(steps):
            start = time.perf_counter()
            self._decode([token])
            logits = llama_cpp.llama_get_logits_ith(self.context, -1)
            values = (ctypes.c_float * self.vocabulary).from_address(ctypes.addressof(logits.contents))
            times.append(1000 * (time.perf_counter() - start))
            token = max(range(self.vocabulary), key=values.__getitem__)
        if not self._forget(tokens):  # recurrent layers: the answer goes on, by at most a sixteenth of the prompt, and then it is read again
            self.answered += steps
        return statistics.median(times[1:])


def main() -> None:
    own, further = interleaved.split_words(sys.argv[1:])
    parser = interleaved.peer_options(__doc__)
    parser.add_argument("model")
    options = parser.parse_args(own)
    ours = interleaved.Winnow(options.bench, options.threads, ["--model", options.model, *further])
    theirs = LlamaCpp(options.model, options.threads, max(options.contexts) * 17 // 16 + 2 * options.steps)
    interleaved.print_table(f"{options.model}: Winnow ({' '.join(further)}), llama-cpp-python {llama_cpp.__version__}", ours, theirs, options)


if __name__ == "__main__":
    main()
