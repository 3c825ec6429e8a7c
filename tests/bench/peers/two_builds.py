#!/usr/bin/env python3
"""One measurement of winnow-bench in two builds, A-B-B-A in one run: what a change has brought.

    python tests/bench/peers/two_builds.py OLD/winnow-bench NEW/winnow-bench "decode 512 1.0 12" --threads 1 [-- --model FILE]

The measurement is a line of winnow-bench's --serve; what stands behind `--` goes to both. Prints the median and the quartiles of the old one's
time over the new one's; nothing is stored.
"""

import argparse
import sys

from interleaved import Winnow, in_turn, split_words, with_quartiles


def main() -> None:
    own, further = split_words(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("line")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=14)
    options = parser.parse_args(own)
    old, new = (Winnow(program, options.threads, further) for program in (options.old, options.new))
    for side in (old, new):  # warm-up, discarded
        side.ask(options.line)
    times = in_turn(lambda: old.ask(options.line), lambda: new.ask(options.line), options.pairs)
    ratios = [old_ms / new_ms for old_ms, new_ms in times]
    print(f"{options.line}, {options.threads} threads: the new one is {with_quartiles(ratios)} times as fast, {len(ratios)} pairs")


if __name__ == "__main__":
    main()
