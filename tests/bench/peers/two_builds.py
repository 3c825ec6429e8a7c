#!/usr/bin/env python3
"""One measurement of winnow-bench in two builds, A-B-B-A in one run: what a change has brought.

    python tests/bench/peers/two_builds.py OLD/winnow-bench NEW/winnow-bench "decode 512 1.0 12" --threads 1 [-- --model FILE]

The measurement is a line of winnow-bench's --serve; what stands behind `--` goes to both. Prints the median and the quartiles of the old one's
time over the new one's; nothing is stored.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys


class Build:
    def __init__(self, program: str, options: list[str]) -> None:
        self.process = subprocess.Popen([program, "--serve", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def measure(self, line: str) -> float:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[1])


def main() -> None:
    words = sys.argv[1:]
    own, further = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("line")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=14)
    options = parser.parse_args(own)
    old, new = (Build(program, ["--threads", str(options.threads), *further]) for program in (options.old, options.new))
    for side in (old, new):  # warm-up, discarded
        side.measure(options.line)
    ratios = []
    for _ in range((options.pairs + 1) // 2):
        a1, b1, b2, a2 = (side.measure(options.line) for side in (old, new, new, old))
        ratios += [a1 / b1, a2 / b2]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"{options.line}, {options.threads} threads: the new one is {middle:.2f} times as fast (quartiles {low:.2f} to {high:.2f}, {len(ratios)} pairs)")


if __name__ == "__main__":
    main()
