#!/usr/bin/env python3
"""What a cache in fewer bits costs: KL a token beside the 16-bit cache, and how often the best token is the same, on real models.

    python3 resources/evaluation/make_set.py held-text texts/held-text.jsonl --words 1000 --count 8
    python tests/bench/trials/cache_bits.py MODEL.gguf texts/held-text.jsonl out/cache-bits.jsonl
    python tests/bench/trials/cache_bits.py --report out/cache-bits.jsonl

A text and the words that follow it are read at once. Every row is rounded before its own attention, as the program does; the words that
follow are compared. int8 has an fp32 scale a row (engine/kv_cache/int8_rows.h). Where it lacks the key bias it lacks all of it; the program
takes its strong elements alone. Everything else has blocks of 32 with a 16-bit scale, as llama.cpp's q8_0 and q4_0. The log has a line a
text and recipe. Needs torch, transformers, gguf and accelerate (README.md).
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "resources/evaluation"))

from repair import bounds, records_of, run_trial, sha256_of  # noqa: E402

BLOCK = 32
ROWS_AT_A_TIME = 128


@dataclass(frozen=True)
class Recipe:
    name: str
    key_bits: int
    value_bits: int
    rotated: bool = False  # keys and values by a Hadamard matrix, as queries and W_O can be
    whole_rows: bool = False  # one fp32 scale a row, not a 16-bit scale a block
    bias: bool = True  # keys keep the bias of k_proj; without it its rotation is subtracted
    sinks: int = 0  # first and newest tokens in 16 bits
    newest: int = 0
    outer_bits: int = 0  # of the first and the last layer

    def bits(self, head_dim: int) -> float:
        """An element, with its part of the scale; far from the sinks, the newest tokens and outer layers."""
        return (self.key_bits + self.value_bits) / 2 + (32 / head_dim if self.whole_rows else 16 / BLOCK)


PROTECTED = {"sinks": 4, "newest": 128, "outer_bits": 8}
RECIPES = (
    Recipe("int8, a scale a row", 8, 8, whole_rows=True),
    Recipe("int8, a scale a row, no key bias", 8, 8, whole_rows=True, bias=False),
    Recipe("8/8", 8, 8),
    Recipe("8/4", 8, 4),
    Recipe("8/4 rotated", 8, 4, rotated=True),
    Recipe("6/6 rotated", 6, 6, rotated=True),
    Recipe("6/6 rotated, no key bias", 6, 6, rotated=True, bias=False),
    Recipe("5/5 rotated, no key bias", 5, 5, rotated=True, bias=False),
    Recipe("4/4 rotated", 4, 4, rotated=True),
    Recipe("4/4 rotated, no key bias", 4, 4, rotated=True, bias=False),
    Recipe("8/4 rotated, no key bias, protected", 8, 4, rotated=True, bias=False, **PROTECTED),
    Recipe("4/4 rotated, no key bias, protected", 4, 4, rotated=True, bias=False, **PROTECTED),
)


def rounded(rows, bits: int, block: int | None):
    """rows [..., n]: codes of `bits` bits times a 16-bit scale for every block of so many elements; None: times an fp32 scale a row."""
    import torch

    shape = rows.shape
    rows = rows.reshape(-1, block or shape[-1])
    if bits == 8:
        scale = rows.abs().amax(-1, keepdim=True) / 127
    else:  # the element that is furthest from 0 is the lowest code
        scale = rows.gather(1, rows.abs().argmax(-1, keepdim=True)) / -(1 << bits - 1)
    if block:
        scale = scale.half().float()
    codes = torch.where(scale == 0, 0, rows / scale).round().clamp(-(1 << bits - 1), (1 << bits - 1) - 1)
    return (codes * scale).view(shape)


def hadamard(size: int):
    import torch

    matrix = torch.ones(1, 1)
    while len(matrix) < size:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    return matrix / size**0.5


class FewerBits:
    """The reader of a text whose cache is held by a recipe; None: as it is."""

    def __init__(self, model, recipe: Recipe | None, rows: int) -> None:
        self._model, self._recipe = model, recipe
        self._hadamard = hadamard(model.head_dim) if recipe and recipe.rotated else None
        self._biases = [None if not recipe or recipe.bias else model.rotated_key_bias(layer, rows) for layer in range(model.layers)]

    def __call__(self, layer: int, q, k, v, scaling: float):
        from torch.nn import functional

        recipe = self._recipe
        if not recipe:
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling, enable_gqa=True)
        outer = recipe.outer_bits if layer in (0, self._model.layers - 1) else 0
        bias = self._biases[layer]
        keys = self._held(k if bias is None else k - bias, outer or recipe.key_bits)
        keys = keys if bias is None else keys + bias
        values = self._held(v, outer or recipe.value_bits)
        keys[:, :, : recipe.sinks], values[:, :, : recipe.sinks] = k[:, :, : recipe.sinks], v[:, :, : recipe.sinks]
        if recipe.newest:
            return self._with_newest(q, (k, v), (keys, values), scaling)
        return functional.scaled_dot_product_attention(q, keys, values, is_causal=True, scale=scaling, enable_gqa=True)

    def _held(self, rows, bits: int):
        block = None if self._recipe.whole_rows else BLOCK
        if self._hadamard is None:
            return rounded(rows, bits, block)
        return rounded(rows @ self._hadamard, bits, block) @ self._hadamard.T

    def _with_newest(self, q, exact: tuple, held: tuple, scaling: float):
        """The newest tokens before each row, and the row's own, are exact."""
        import torch

        out = torch.empty_like(q)
        group, rows = q.shape[1] // exact[0].shape[1], q.shape[2]
        at = torch.arange(rows)
        for start in range(0, rows, ROWS_AT_A_TIME):
            end = min(start + ROWS_AT_A_TIME, rows)
            distance = at[start:end, None] - at[None, :end]
            recent = (distance < self._recipe.newest)[None]
            for h in range(exact[0].shape[1]):
                heads = slice(h * group, (h + 1) * group)
                asked = q[0, heads, start:end] * scaling
                logits = torch.where(recent, asked @ exact[0][0, h, :end].T, asked @ held[0][0, h, :end].T)
                weights = logits.masked_fill((distance < 0)[None], float("-inf")).softmax(-1)
                newest = weights.masked_fill(~recent, 0)
                out[0, heads, start:end] = newest @ exact[1][0, h, :end] + (weights - newest) @ held[1][0, h, :end]
        return out


def measure(model, text: str, after: str, recipe: Recipe, full) -> tuple[object, dict]:
    """Log-probabilities of what follows [rows, words], beside those of the full cache (None: this is it)."""
    import torch

    ids, following = model.ids(text), model.ids(after)
    tokens = torch.tensor([ids + following])
    hidden = model.hidden(tokens, torch.arange(tokens.shape[1])[None], FewerBits(model, recipe, tokens.shape[1]))
    likely = model.logits(hidden[0, len(ids) - 1 : -1]).log_softmax(-1)
    if full is None:
        return likely, {}
    divergence = (full.exp() * (full - likely)).sum(-1)
    same = (full.argmax(-1) == likely.argmax(-1)).float()
    figures = {"score": divergence.mean(), "same": same.mean(), "most": divergence.max()}
    return likely, {name: float(figure) for name, figure in figures.items()}


def run(options: argparse.Namespace) -> None:
    from item_log import ItemLog
    from real_model import RealModel

    items = [json.loads(line) for line in options.set.read_text("utf-8").splitlines()[: options.texts]]
    model = RealModel.open(options.model, options.threads, options.bf16_products)
    options.log.parent.mkdir(parents=True, exist_ok=True)
    with ItemLog(options.log, f"cache bits {sha256_of(options.model)} {'bf16' if options.bf16_products else 'fp32'}") as log:
        for item in items:
            text, full = (options.set.parent / item["media"]).read_text("utf-8"), None
            started = time.monotonic()
            for recipe in RECIPES:
                if log.has(item["id"], recipe.name, 0) or not (recipe.bias or model.has_key_biases):
                    continue
                if full is None:
                    full, _ = measure(model, text, item["answers"][0], None, None)
                _, figures = measure(model, text, item["answers"][0], recipe, full)
                log.add({"item": item["id"], "recipe": recipe.name, "seed": 0, "answer": "", "bits": recipe.bits(model.head_dim)} | figures)
            print(f"{time.strftime('%H:%M:%S')} {item['id']}: {time.monotonic() - started:.0f} s", flush=True)


def report(path: Path) -> None:
    found: dict[str, list[dict]] = {}
    for record in records_of(path):
        found.setdefault(record["recipe"], []).append(record)
    print("| cache, K/V | bits an element | mean KL, nats a token | same best token, % |\n|---|---:|---:|---:|")
    for name, records in found.items():
        divergences, same = ([[record[figure]] for record in records] for figure in ("score", "same"))
        print(f"| {name} | {records[0]['bits']:.2f} | {bounds(divergences, 1, 5)} | {bounds(same, 100, 1)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=8)
    run_trial(parser, run, report)


if __name__ == "__main__":
    main()
