#!/usr/bin/env python3
"""One question asked of two builds of winnow-cli, A-B-B-A in one run: which part of the time to the first word a change has made shorter.

    python tests/bench/peers/two_builds_ask.py OLD/winnow-cli NEW/winnow-cli --pairs 6 -- --video clip.mp4 --frames 64 "What is shown?"

What stands behind `--` goes to both, after `ask --json --max-tokens 1`; the answers have to be the same. Prints for each part that takes a millisecond, for the
program from its start to its end and for the time that it kept processors busy the median, the least and the most of the old one's time over the new one's; nothing
is stored. Other programs make the times of parts long; the processors' time is less touched by them.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time

from interleaved import in_turn, split_words


def processors_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def ask(program: str, further: list[str]) -> tuple[dict[str, float], str]:
    begin, busy = time.perf_counter(), processors_ms()
    done = subprocess.run([program, "ask", "--json", "--max-tokens", "1", *further], capture_output=True, text=True, check=True)
    wall_ms = 1000 * (time.perf_counter() - begin)
    told = json.loads(done.stdout)
    parts = dict(told["timings_ms"])
    return {**parts, "beside the turn": wall_ms - parts["ttft"], "all": wall_ms, "processors": processors_ms() - busy}, told["answer"]


def main() -> None:
    own, further = split_words(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=6)
    options = parser.parse_args(own)
    answers = {ask(program, further)[1] for program in (options.old, options.new)}  # warm-up; the files are in memory now
    if len(answers) > 1:
        sys.exit(f"the builds do not answer alike: {answers}")
    ratios: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    for old, new in in_turn(lambda: ask(options.old, further)[0], lambda: ask(options.new, further)[0], options.pairs):
        for part in new.keys() & old.keys():
            if min(old[part], new[part]) >= 1.0:
                ratios.setdefault(part, []).append(old[part] / new[part])
                times.setdefault(part, []).append(new[part])
    for part, each in ratios.items():
        middle = statistics.median(each)
        print(f"{part:16} {statistics.median(times[part]):9.0f} ms now, {middle:.2f} times as fast ({min(each):.2f} to {max(each):.2f}, {len(each)} pairs)")


if __name__ == "__main__":
    main()
