#!/usr/bin/env python3
"""Writes tests/golden/thinning: which patches of random features VidCom2, EVS, DivPrune and a seeded draw let into the decoder.

    python tests/golden/make/make_thinning_golden.py

Each rule is written from its paper's formulas, in double precision and with loops where the program has tensors; nothing is shared with it.
Inputs are redrawn until no decision is closer than MARGIN, so that single precision must decide alike. Needs numpy, safetensors.
"""

import json
import math
import pathlib

import numpy as np
from safetensors.numpy import save_file

OUT = pathlib.Path(__file__).resolve().parents[1] / "thinning"
MARGIN = 2e-5
FIRST = 10.0  # the first frame's score: equal for all of its patches, on purpose
# [frames, patches, width]: a video, sets of joined frames, an image, frames of one patch.
INPUTS = {"video": (6, 9, 16), "joined": (3, 12, 32), "image": (1, 20, 12), "narrow": (8, 1, 7)}
PINNED = {"video": [2], "joined": [0, 2]}
SOURCES = {
    "vidcom2": "arXiv 2505.14454: half of the channels by variance, five Gaussian widths, softmax at 0.01 over frames",
    "evs": "arXiv 2510.14624: one minus the cosine to the frame before, the first frame above all",
    "divpruned": "arXiv 2503.02175, algorithm 1: farthest from its nearest first, then farthest from all that are chosen",
    "random": "splitmix64 of (seed, patch); no paper",
}


class TooClose(Exception):
    pass


def best(scores, count, forced):
    """Indices of the `count` highest scores, those in `forced` first; ties to the first."""
    free = [i for i in np.argsort(-np.asarray(scores), kind="stable") if i not in forced]
    take = max(0, count - len(forced))
    if 0 < take < len(free):
        last, next_one = scores[free[take - 1]], scores[free[take]]
        if last - next_one < MARGIN and last != FIRST:
            raise TooClose
    return set(free[:take]) | set(forced)


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def vidcom2(x, share, seed, pins):
    frames, n, width = x.shape
    variance = x.reshape(-1, width).var(axis=0, ddof=1)
    order = np.argsort(variance, kind="stable")
    half = max(1, width // 2)
    if half < width and variance[order[half]] - variance[order[half - 1]] < MARGIN:
        raise TooClose
    tokens = unit(x[:, :, np.sort(order[:half])])
    centre = tokens.reshape(-1, half).mean(axis=0)
    kept, s = set(), []
    scores = np.zeros((frames, n))
    for f in range(frames):
        of_frame = tokens[f].mean(axis=0)
        v = [sum(math.exp(-np.sum((t - centre) ** 2) / (2 * a)) for a in (1 / 8, 1 / 4, 1 / 2, 1, 2)) for t in tokens[f]]
        g = [sum(math.exp(-np.sum((t - of_frame) ** 2) / (2 * a)) for a in (1 / 8, 1 / 4, 1 / 2, 1, 2)) for t in tokens[f]]
        scores[f] = np.array(v) + np.array(g)
        s.append(-np.mean(v))
    s = np.array(s)
    p = np.exp((s - s.max()) / 0.01)
    p /= p.sum()
    for f in range(frames):
        exact = min(1.0, share * (1 + p[f] - p.mean())) * n
        if frames > 1 and abs(exact - math.floor(exact) - 0.5) < 1e-3:
            raise TooClose
        k = n if f in pins else max(1, round(exact))
        kept |= {f * n + i for i in best(-scores[f], k, [])}
    return kept


def evs(x, share, seed, pins):
    frames, n, _ = x.shape
    tokens = unit(x)
    scores = [FIRST] * n + [1 - float(tokens[f, i] @ tokens[f - 1, i]) for f in range(1, frames) for i in range(n)]
    count = max(n, math.floor(frames * n * share), len(pins) * n)
    return best(scores, count, [f * n + i for f in pins for i in range(n)])


def divpruned(x, share, seed, pins):
    frames, n, width = x.shape
    tokens = unit(x.reshape(-1, width))
    count = max(1, math.floor(share * len(tokens) + 0.5), len(pins) * n)
    distance = 1 - tokens @ tokens.T
    chosen = [f * n + i for f in pins for i in range(n)]
    while len(chosen) < count:
        left = [i for i in range(len(tokens)) if i not in chosen]
        far = [min(distance[i, j] for j in (chosen or [k for k in range(len(tokens)) if k != i])) for i in left]
        order = np.argsort(-np.array(far), kind="stable")
        # Two that are each other's nearest are equally far: such an input is drawn again.
        if len(order) > 1 and far[order[0]] - far[order[1]] < MARGIN:
            raise TooClose
        chosen.append(left[order[0]])
    return set(chosen)


def splitmix64(x):
    mask = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def random(x, share, seed, pins):
    frames, n, _ = x.shape
    draws = [(splitmix64(splitmix64(splitmix64(seed)) ^ i) >> 40) * 2.0**-24 for i in range(frames * n)]
    count = max(1, math.floor(share * frames * n + 0.5), len(pins) * n)
    return best(draws, count, [f * n + i for f in pins for i in range(n)])


RULES = {"vidcom2": vidcom2, "evs": evs, "divpruned": divpruned, "random": random}


def drawn(shape, seed):
    rng = np.random.default_rng(seed)
    frames, n, width = shape
    # Frames have something in common with each other, and places keep some of what they show.
    common, frame, place = rng.normal(size=(1, 1, width)), rng.normal(size=(frames, 1, width)), rng.normal(size=(1, n, width))
    return (common + 0.6 * frame + 0.6 * place + rng.normal(size=shape) * np.linspace(0.3, 1.5, width)).astype(np.float32)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    tensors, cases, seeds = {}, [], {}
    for index, (name, shape) in enumerate(INPUTS.items()):
        seed = 1000 * (index + 1)
        while True:
            x = drawn(shape, seed)
            try:
                found = []
                for method, rule in RULES.items():
                    for share in (0.5, 0.3, 0.1):
                        for pins in ([], PINNED.get(name)):
                            if pins is None:
                                continue
                            kept = rule(x.astype(np.float64), share, 7, pins)
                            found.append({"input": name, "method": method, "share": share, "seed": 7, "pinned_frames": pins,
                                          "kept": sorted(int(i) for i in kept)})
                break
            except TooClose:
                seed += 1
        tensors[name], seeds[name] = x, seed
        cases += found
    save_file(tensors, OUT / "golden.safetensors")
    (OUT / "golden.safetensors").chmod(0o644)
    (OUT / "cases.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    manifest = {
        "what": "patches of random features that stay before the decoder, from the papers' formulas in double precision",
        "source": {"numpy": np.__version__},
        "script": "tests/golden/make/make_thinning_golden.py",
        "implementations": SOURCES,
        "inputs": {name: {"shape": shape, "seed": seeds[name]} for name, shape in INPUTS.items()},
        "files": {"golden.safetensors": "per input fp32 [frames, patches of a frame, width]",
                  "cases.json": "method, share, seed and pinned frames of every case, and the patches that stay"},
        "tolerance": {"kept": 0, "why": f"no decision is closer than {MARGIN}"},
        "licence": "Apache-2.0; computed from formulas, random numbers",
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
