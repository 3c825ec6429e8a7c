#!/usr/bin/env python3
"""Writes tests/golden/narrow_rows: rows of a cache in 4 bits, by matrices.

    python tests/golden/make/make_narrow_rows_golden.py

A row is multiplied by Hadamard's matrix of the largest power of two that divides its length (Sylvester's, for every part of that size),
over the root of the size. Every 32 elements, and the rest, have a bf16 scale, their furthest element / -8, and the nearest codes. Written
of the formulas alone, in fp64 where the program has fp32: the rows are multiples of 1/64, whose sums are exact in both. Needs numpy.
"""

import json
from pathlib import Path

import numpy as np

OUT = Path(__file__).resolve().parents[1] / "narrow_rows"
SEED = 11
LENGTHS = (2, 8, 32, 64, 80, 96, 256)  # sizes of 4^n have an exact root; 2, 8 and 32 have not
SPAN = 32
MARGIN = 1e-4  # of a code, from where it would round to the other side


class TooClose(Exception):
    pass


def hadamard(size: int) -> np.ndarray:
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.kron(np.array([[1, 1], [1, -1]]), matrix)
    return matrix / np.sqrt(size)


def rotated(row: np.ndarray) -> np.ndarray:
    size = len(row) & -len(row)
    return np.concatenate([hadamard(size) @ part for part in row.reshape(-1, size)])


def bf16(value: float) -> tuple[int, float]:
    """To nearest and even: its bits and what they are."""
    bits = int(np.float32(value).view(np.uint32))
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return bits, float(np.uint32(bits << 16).view(np.float32))


def narrowed(row: np.ndarray) -> dict:
    turned, scales, codes, read = rotated(row), [], [], []
    for first in range(0, len(row), SPAN):
        span = turned[first : first + SPAN]
        bits, scale = bf16(span[np.argmax(np.abs(span))] / -8)
        steps = np.zeros(len(span)) if scale == 0 else np.clip(np.round(span / scale), -8, 7)
        if scale == 0 or np.abs(np.abs(span / scale % 1) - 0.5).min() < MARGIN:
            raise TooClose
        half = (len(span) + 1) // 2
        pairs = np.concatenate([steps + 8, np.full(2 * half - len(span), 8)]).astype(int)
        codes += [int(low | high << 4) for low, high in zip(pairs[:half], pairs[half:])]
        scales.append(bits)
        read.append(steps * scale)
    return {"row": row.tolist(), "codes": codes, "scales": scales, "read": rotated(np.concatenate(read)).tolist()}


def main() -> None:
    random = np.random.default_rng(SEED)
    rows = []
    for length in LENGTHS:
        while True:
            row = np.round(random.standard_normal(length) * 64) / 64
            if length > 8:
                row[3] += 20  # what stands out is spread
            try:
                rows.append(narrowed(row))
                break
            except TooClose:
                pass
    OUT.mkdir(exist_ok=True)
    (OUT / "rows.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", "utf-8")
    manifest = {
        "what": "rows of a cache in 4 bits, from the formulas in double precision",
        "source": {"numpy": np.__version__},
        "script": "tests/golden/make/make_narrow_rows_golden.py",
        "seed": SEED,
        "files": {"rows.json": "row; bytes of codes; bits of bf16 scales; the row as it is read again"},
        "tolerance": {"codes and scales": 0, "why": f"no code is closer than {MARGIN} to the next"},
        "licence": "Apache-2.0; computed from formulas, random numbers",
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
