#!/usr/bin/env python3
"""Prefill and decode of a random model of Qwen2's or Qwen3.5's shape: Winnow's engine against transformers, A-B-B-A in one run.

    ./winnow bench >/dev/null     # builds winnow-bench
    python tests/bench/peers/transformers_peer.py --bench build/release/bin/winnow-bench [--dtype fp32]
        [--device cuda] [--shape 7b] [--compile]

--shape 0.8b is Qwen3.5's: its weights are written into a scratch folder, which both sides read.

Needs torch==2.11.0 and transformers==5.2.0, of 0.8b 5.24.0. Both sides use the same number of threads, weights of the same shape and type, the same prompt
length, greedy decoding; transformers runs SDPA with its DynamicCache; with --compile its steps are torch.compile's ("reduce-overhead": CUDA
graphs on a GPU) over a StaticCache with room for 256 tokens more. Ratios are transformers' time over Winnow's: above 1.0 Winnow is faster.
Prints a table of the medians and the quartiles of the ratios of all pairs; nothing is stored.
"""

from __future__ import annotations

import copy
import pathlib
import statistics
import tempfile
import time

import interleaved

try:
    import torch
    from transformers import DynamicCache, Qwen2ForCausalLM, StaticCache
except Exception as reason:
    interleaved.missing("transformers", reason, "pip install torch==2.11.0 transformers==5.2.0")

import shapes


class Transformers:
    def __init__(self, config, dtype: torch.dtype, device: str) -> None:
        torch.manual_seed(1)
        self.device = device
        self.config = config
        torch.set_default_dtype(dtype)
        with torch.device(device):
            self.model = Qwen2ForCausalLM(config).eval()
        self.caches: dict[int, DynamicCache] = {}

    def now(self) -> float:
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    @torch.inference_mode()
    def measure(self, what: str, tokens: int, steps: int) -> float:
        ids = torch.arange(tokens, device=self.device)[None] % self.config.vocab_size
        if what == "prefill":
            start = self.now()
            self.model(ids, past_key_values=DynamicCache(config=self.config), use_cache=True, logits_to_keep=1)
            return 1000 * (self.now() - start)
        if tokens not in self.caches:
            self.caches = {tokens: self.model(ids, past_key_values=DynamicCache(config=self.config), use_cache=True, logits_to_keep=1).past_key_values}
        cache = self.caches[tokens]
        token, times = torch.tensor([[7]], device=self.device), []
        for _ in range(steps):
            start = self.now()
            out = self.model(token, past_key_values=cache, use_cache=True)
            token = out.logits[:, -1].argmax(-1, keepdim=True)
            times.append(1000 * (self.now() - start))
        cache.crop(tokens)
        return statistics.median(times[1:])


class Hybrid(Transformers):
    """A state cannot be cropped: each answer goes on from a copy of the prompt's cache."""

    def __init__(self, folder: pathlib.Path, dtype: torch.dtype) -> None:
        from transformers import Qwen3_5ForCausalLM

        self.device = "cpu"
        self.model = Qwen3_5ForCausalLM.from_pretrained(folder, dtype=dtype).eval()
        self.config = self.model.config
        self.caches = {}

    @torch.inference_mode()
    def measure(self, what: str, tokens: int, steps: int) -> float:
        if what == "prefill":
            return super().measure(what, tokens, steps)
        if tokens not in self.caches:
            ids = torch.arange(tokens)[None] % self.config.vocab_size
            self.caches = {tokens: self.model(ids, past_key_values=DynamicCache(config=self.config), use_cache=True, logits_to_keep=1).past_key_values}
        cache = copy.deepcopy(self.caches[tokens])
        token, times = torch.tensor([[7]]), []
        for _ in range(steps):
            start = self.now()
            token = self.model(token, past_key_values=cache, use_cache=True).logits[:, -1].argmax(-1, keepdim=True)
            times.append(1000 * (self.now() - start))
        return statistics.median(times[1:])


def write_hybrid(folder: pathlib.Path, shape: shapes.Hybrid, dtype: torch.dtype) -> None:
    from transformers import Qwen3_5ForCausalLM

    torch.manual_seed(1)
    Qwen3_5ForCausalLM(shapes.hybrid_config(shape)).to(dtype).save_pretrained(folder)


class Compiled(Transformers):
    """A cache of a fixed length, in which answers go on from the prompt until it is full."""

    ROOM = 256

    def __init__(self, config, dtype: torch.dtype, device: str) -> None:
        super().__init__(config, dtype, device)
        self.step = torch.compile(self.model.forward, mode="reduce-overhead", fullgraph=True)
        self.cache = None
        self.prompt = self.filled = 0

    def fill(self, tokens: int) -> None:
        if self.prompt != tokens:
            self.cache = StaticCache(config=self.config, max_cache_len=tokens + self.ROOM)
        self.cache.reset()
        ids = torch.arange(tokens, device=self.device)[None] % self.config.vocab_size
        self.model(ids, past_key_values=self.cache, use_cache=True, logits_to_keep=1)
        self.prompt = self.filled = tokens

    @torch.inference_mode()
    def measure(self, what: str, tokens: int, steps: int) -> float:
        if what == "prefill":
            return super().measure(what, tokens, steps)
        if self.prompt != tokens or self.filled + steps > tokens + self.ROOM:
            self.fill(tokens)
        token, times = torch.tensor([[7]], device=self.device), []
        for _ in range(steps):
            start = self.now()
            out = self.step(token, past_key_values=self.cache, use_cache=True)
            token = out.logits[:, -1].argmax(-1, keepdim=True).clone()
            times.append(1000 * (self.now() - start))
        self.filled += steps
        return statistics.median(times[1:])


def main() -> None:
    parser = interleaved.peer_options(__doc__)
    parser.add_argument("--dtype", choices=["bf16", "fp32"], default="bf16")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--shape", choices=[*shapes.QWEN2, *shapes.QWEN35], default="0.5b")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    dtype = torch.bfloat16 if options.dtype == "bf16" else torch.float
    if options.shape in shapes.QWEN35:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            write_hybrid(folder, shapes.QWEN35[options.shape], dtype)
            ours = interleaved.Winnow(options.bench, options.threads, ["--dtype", options.dtype, "--model", scratch])
            interleaved.print_table(f"Qwen3.5-{options.shape} shape in {options.dtype}: Winnow, transformers on torch {torch.__version__}", ours, Hybrid(folder, dtype), options)
        return
    ours = interleaved.Winnow(options.bench, options.threads, ["--dtype", options.dtype, "--device", options.device, "--shape", options.shape])
    config = shapes.transformers_config(shapes.QWEN2[options.shape])
    theirs = (Compiled if options.compile else Transformers)(config, dtype, options.device)
    interleaved.print_table(f"Qwen2-{options.shape} shape in {options.dtype}: Winnow, transformers on torch {torch.__version__}{', compiled' if options.compile else ''}", ours, theirs, options)


if __name__ == "__main__":
    main()
