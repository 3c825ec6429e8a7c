#!/usr/bin/env python3
"""What a cache in fewer bits costs: KL a token beside the 16-bit cache, and how often the best token is the same, on real models.

    python3 resources/evaluation/make_set.py held-text texts/held-text.jsonl --words 1000 --count 8
    python tests/bench/trials/cache_bits.py MODEL.gguf texts/held-text.jsonl out/cache-bits.jsonl
    python tests/bench/trials/cache_bits.py --report out/cache-bits.jsonl

A text and the words that follow it are read at once, and the words that follow are compared. Every row is rounded before its own attention,
as the program does; with --exact-text the text's rows are not rounded before the text was read. int8 is the program's: an fp32 scale a
row, keys without strong elements of the bias where that gains enough (kernels/api/narrow_rows.h, engine/kv_cache/key_bias.h). Everything else
has blocks of 32 with a 16-bit scale, as llama.cpp's q8_0 and q4_0, and keys without all of their bias. A recipe that two texts place far
above the limit is not run on more. The log has a line a text and recipe. Needs torch, transformers, gguf and accelerate (README.md).
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "resources/evaluation"))

from equal_bytes import bounds, records_of, run_trial, sha256_of  # noqa: E402

BLOCK = 32
ROWS_AT_A_TIME = 128
LIMIT = 0.004  # mean KL, nats a token
HOPELESS = 4 * LIMIT  # of every text so far
# As the program's int8 (key_bias.h, narrow_rows.h).
WEAK_BIAS, PAIRS_OF_UNIT, LEAST_GAIN = 4.0, 8, 1.25


@dataclass(frozen=True)
class Recipe:
    name: str
    key_bits: int
    value_bits: int
    rotated: bool = False  # keys and values by a Hadamard matrix, as queries and W_O can be
    program: bool = False  # the program's int8
    sinks: int = 0  # first and newest tokens in 16 bits
    newest: int = 0
    outer_bits: int = 0  # of the first and the last layer

    def bits(self, head_dim: int, layers: int) -> float:
        """An element, with its part of the scale; far from the sinks and the newest tokens."""
        outer = 2 / layers if self.outer_bits else 0
        codes = (1 - outer) * (self.key_bits + self.value_bits) / 2 + outer * self.outer_bits
        return codes + (32 / head_dim if self.program else 16 / BLOCK)


PROTECTED = {"sinks": 4, "newest": 128, "outer_bits": 8}
EXACT = {
    "the first 64": {"sinks": 64},
    "the newest 128": {"newest": 128},
    "the first 64 and the newest 32": {"sinks": 64, "newest": 32},
    "the first 64 and the newest 64": {"sinks": 64, "newest": 64},
    "the first 64 and the newest 128": {"sinks": 64, "newest": 128},
    "the first 64, outer layers in 8": {"sinks": 64, "outer_bits": 8},
    "the first 64 and the newest 128, outer layers in 8": {"sinks": 64, "newest": 128, "outer_bits": 8},
}
INT8 = Recipe("int8 of the program", 8, 8, program=True)
ROTATED_4 = Recipe("4/4 rotated", 4, 4, rotated=True, **PROTECTED)
RECIPES = (
    INT8,
    Recipe("int8 of the program, but sinks and newest", 8, 8, program=True, sinks=4, newest=128),
    Recipe("8/8", 8, 8),
    Recipe("8/4", 8, 4, **PROTECTED),
    Recipe("8/4 rotated", 8, 4, rotated=True, **PROTECTED),
    Recipe("6/6", 6, 6, **PROTECTED),
    Recipe("6/6 rotated", 6, 6, rotated=True, **PROTECTED),
    Recipe("5/5", 5, 5, **PROTECTED),
    Recipe("5/5 rotated", 5, 5, rotated=True, **PROTECTED),
    Recipe("4/4", 4, 4, **PROTECTED),
    ROTATED_4,
    Recipe("4/4 rotated, all tokens and layers", 4, 4, rotated=True),
    *(Recipe(f"int8 of the program, but {name}", 8, 8, program=True, **exact) for name, exact in EXACT.items()),
    *(Recipe(f"4/4 rotated, but {name}", 4, 4, rotated=True, **exact) for name, exact in EXACT.items()),
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


def strong(bias):
    """What the program's int8 takes of a bias [kv_heads, head_dim]."""
    import torch

    pairs = bias.unflatten(1, (2, -1))
    units = pairs.square().sum(1).split(PAIRS_OF_UNIT, dim=1)
    taken = torch.cat([(unit.amax(1, keepdim=True) > WEAK_BIAS**2).expand_as(unit) for unit in units], 1)
    return (pairs * taken[:, None]).flatten(1)


class HeldRows:
    """Keys and values [1, kv_heads, rows, head_dim] of positions 0 to rows, as a cache of the recipe gives them back."""

    def __init__(self, model, recipe: Recipe, rows: int) -> None:
        self._recipe, self._last = recipe, model.layers - 1
        self._hadamard = hadamard(model.head_dim) if recipe.rotated else None
        self._biases = []
        for layer in range(model.layers):
            bias = model.key_bias(layer)
            bias = strong(bias) if recipe.program and bias is not None else bias
            self._biases.append(None if bias is None else model.rotated(bias, rows))

    def __call__(self, layer: int, k, v) -> tuple:
        recipe, bias = self._recipe, self._biases[layer]
        outer = recipe.outer_bits if layer in (0, self._last) else 0
        if recipe.program and bias is not None:
            bias = bias * (LEAST_GAIN * (k - bias).abs().amax(-1, keepdim=True) <= k.abs().amax(-1, keepdim=True))
        keys = self._held(k if bias is None else k - bias, outer or recipe.key_bits)
        return keys if bias is None else keys + bias, self._held(v, outer or recipe.value_bits)

    def _held(self, rows, bits: int):
        block = None if self._recipe.program else BLOCK
        if self._hadamard is None:
            return rounded(rows, bits, block)
        return rounded(rows @ self._hadamard, bits, block) @ self._hadamard.T


class FewerBits:
    """The reader of a text whose cache is held by a recipe; None: as it is. `document` was read before, exactly."""

    def __init__(self, model, recipe: Recipe | None, rows: int, document=None) -> None:
        self._recipe, self._windows, self._document = recipe, model.windows, document
        self._held = HeldRows(model, recipe, rows + (document.end if document else 0)) if recipe else None

    def __call__(self, layer: int, q, k, v, scaling: float):
        import torch
        from real_model import attention

        if self._document:
            k, v = (torch.cat([old[layer][None], new], 2) for old, new in ((self._document.keys, k), (self._document.values, v)))
        if not self._held:
            return attention(q, k, v, scaling, self._windows[layer])
        keys, values = self._held(layer, k, v)
        sinks = self._recipe.sinks
        keys[:, :, :sinks], values[:, :, :sinks] = k[:, :, :sinks], v[:, :, :sinks]
        if self._recipe.newest:
            return self._with_newest(q, (k, v), (keys, values), self._windows[layer], scaling)
        return attention(q, keys, values, scaling, self._windows[layer])

    def _with_newest(self, q, exact: tuple, held: tuple, window: int | None, scaling: float):
        """The newest tokens before each row, and the row's own, are exact."""
        import torch
        from real_model import distances

        out = torch.empty_like(q)
        group, rows, all_rows = q.shape[1] // exact[0].shape[1], q.shape[2], exact[0].shape[2]
        distance_of = distances(rows, all_rows)
        for start in range(0, rows, ROWS_AT_A_TIME):
            end = min(start + ROWS_AT_A_TIME, rows)
            seen = all_rows - rows + end
            distance = distance_of[start:end, :seen]
            hidden = ((distance < 0) | (distance >= (window or seen)))[None]
            recent = (distance < self._recipe.newest)[None]
            for h in range(exact[0].shape[1]):
                heads = slice(h * group, (h + 1) * group)
                asked = q[0, heads, start:end] * scaling
                logits = torch.where(recent, asked @ exact[0][0, h, :seen].T, asked @ held[0][0, h, :seen].T)
                weights = logits.masked_fill(hidden, float("-inf")).softmax(-1)
                newest = weights.masked_fill(~recent, 0)
                out[0, heads, start:end] = newest @ exact[1][0, h, :seen] + (weights - newest) @ held[1][0, h, :seen]
        return out


def likelihoods(model, text: str, after: str, recipe: Recipe | None, document):
    """Log-probabilities of what follows [rows, words], behind the text or the document that it is."""
    import torch

    ids, following = model.lead + model.ids(text), model.ids(after)
    # The last token of a document that was read is read once more, for what it says of the first word behind it.
    start = len(ids) - 1 if document else 0
    before = document.until(start) if document else None
    tokens = torch.tensor([(ids + following)[start:]])
    reader = FewerBits(model, recipe, tokens.shape[1], before)
    hidden = model.hidden(tokens, start + torch.arange(tokens.shape[1])[None], reader)
    return model.logits(hidden[0, len(ids) - 1 - start : -1]).log_softmax(-1)


def figures_of(full, likely) -> dict[str, float]:
    divergence = (full.exp() * (full - likely)).sum(-1)
    same = (full.argmax(-1) == likely.argmax(-1)).float()
    return {"score": float(divergence.mean()), "same": float(same.mean()), "most": float(divergence.max())}


def run(options: argparse.Namespace) -> None:
    from item_log import ItemLog
    from real_model import RealModel

    items = [json.loads(line) for line in options.set.read_text("utf-8").splitlines()[: options.texts]]
    model = RealModel.open(options.model, options.threads, options.bf16_products)
    options.log.parent.mkdir(parents=True, exist_ok=True)
    subject = f"cache bits {sha256_of(options.model)} {'bf16' if options.bf16_products else 'fp32'}{' exact text' * options.exact_text}"
    with ItemLog(options.log, subject) as log:
        found = {recipe: [record["score"] for record in records_of(options.log) if record["recipe"] == recipe.name] for recipe in RECIPES}
        for item in items:
            text, full = (options.set.parent / item["media"]).read_text("utf-8"), None
            started = time.monotonic()
            for recipe, scores in found.items():
                if log.has(item["id"], recipe.name, 0) or (len(scores) > 1 and min(scores) > HOPELESS):
                    continue
                if full is None:
                    document = model.read_document(text) if options.exact_text else None
                    full = likelihoods(model, text, item["answers"][0], None, document)
                figures = figures_of(full, likelihoods(model, text, item["answers"][0], recipe, document))
                scores.append(figures["score"])
                bits = recipe.bits(model.head_dim, model.layers)
                log.add({"item": item["id"], "recipe": recipe.name, "seed": 0, "answer": "", "bits": bits} | figures)
            print(f"{time.strftime('%H:%M:%S')} {item['id']}: {time.monotonic() - started:.0f} s", flush=True)


def report(path: Path) -> None:
    found: dict[str, list[dict]] = {}
    for record in records_of(path):
        found.setdefault(record["recipe"], []).append(record)
    print("| cache, K/V | bits an element | texts | mean KL, nats a token | same best token, % |\n|---|---:|---:|---:|---:|")
    for name, records in found.items():
        divergences, same = ([[record[figure]] for record in records] for figure in ("score", "same"))
        print(f"| {name} | {records[0]['bits']:.2f} | {len(records)} | {bounds(divergences, 1, 5)} | {bounds(same, 100, 1)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=8)
    parser.add_argument("--exact-text", action="store_true", help="a fifth of the time: round the text's rows once it is read")
    run_trial(parser, run, report)


if __name__ == "__main__":
    main()
