"""What the scripts beside this one share: a winnow-bench process that answers, two sides measured in turn, and their ratios as a table.

A side is asked `measure(what, tokens, steps)` and answers in milliseconds. `what` is one of PHASES: "prefill" of so many tokens, "decode" of a
token after them (the median of `steps`), or "decode 10 %", where Winnow keeps a tenth of the cache and a peer all of it; or "see", a clip of so
many frames.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import ceilings

PHASES = ("prefill", "decode", "decode 10 %")
Result = TypeVar("Result")


class Side(Protocol):
    def measure(self, what: str, tokens: int, steps: int) -> float: ...


class Winnow:
    """winnow-bench --serve: it stays, so that loading is no part of what is measured."""

    def __init__(self, program: str, threads: int, further: list[str]) -> None:
        self.process = subprocess.Popen([program, "--serve", "--threads", str(threads), *further], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line: str) -> float:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 2:
            raise RuntimeError(f"winnow-bench ended at: {line}")
        return float(answer[1])

    def measure(self, what: str, tokens: int, steps: int) -> float:
        share = 0.1 if what == "decode 10 %" else 1.0
        return self.ask(f"{what} {tokens}" if what in ("prefill", "see") else f"decode {tokens} {share} {steps}")


def in_turn(one: Callable[[], Result], other: Callable[[], Result], pairs: int) -> Iterator[tuple[Result, Result]]:
    """A-B-B-A, so that a drift of the machine falls on both: yields (one's, other's)."""
    for _ in range((pairs + 1) // 2):
        a1, b1, b2, a2 = one(), other(), other(), one()
        yield a1, b1
        yield a2, b2


def with_quartiles(ratios: list[float]) -> str:
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def row_of(title: str, threads: int, tokens: int, ratios: dict[str, list[float]]) -> dict:
    """A row of tests/bench/results: each phase's median with its quartiles. Peer and model are for the one who publishes it to name."""
    row: dict = {"peer": title, "model": "", "threads": threads, "tokens": tokens}
    for what, values in ratios.items():
        low, middle, high = statistics.quantiles(values, n=4)
        row[what] = [round(middle, 2), round(low, 2), round(high, 2)]
    return row


def split_words(words: list[str]) -> tuple[list[str], list[str]]:
    """What stands before and behind `--`: a script's own options, and those that it hands on."""
    return (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])


def peer_options(text: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/release/bin/winnow-bench")
    parser.add_argument("--contexts", type=int, nargs="+", default=[512, 2048, 8192])
    parser.add_argument("--phases", nargs="+", choices=PHASES, default=list(PHASES))
    parser.add_argument("--pairs", type=int, default=8, help="rounded up to an even number")
    parser.add_argument("--steps", type=int, default=16, help="decode steps per measurement")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rows", type=pathlib.Path, help="a file for the ratios, as tests/bench/results has them: a row for each context")
    return parser


def print_table(title: str, ours: Side, theirs: Side, options: argparse.Namespace, unit: str = "tokens") -> None:
    """Ratios are the peer's time over Winnow's: above 1 Winnow is faster. What the machine can do is printed before and after."""
    device = getattr(options, "device", "cpu")
    print(f"{title}, {options.threads} threads\nbefore: {ceilings.measured_apart(options.threads, device)}\n")
    print(f"| what | {unit} | ratio (quartiles) | Winnow, ms | peer, ms | pairs |\n|---|---|---|---|---|---|", flush=True)
    rows: list[dict] = []
    for tokens in options.contexts:
        of_phases: dict[str, list[float]] = {}
        for what in options.phases:
            for side in (ours, theirs):  # warm-up, discarded
                side.measure(what, tokens, options.steps)
            one, other = (lambda side=side: side.measure(what, tokens, options.steps) for side in (ours, theirs))
            times = list(in_turn(one, other, options.pairs))
            ratios = [their_ms / our_ms for our_ms, their_ms in times]
            our_ms, their_ms = (statistics.median(column) for column in zip(*times))
            print(f"| {what} | {tokens} | {with_quartiles(ratios)} | {our_ms:.2f} | {their_ms:.2f} | {len(ratios)} |", flush=True)
            of_phases[what] = ratios
        rows.append(row_of(title, options.threads, tokens, of_phases))
    if options.rows:
        options.rows.write_text("".join(json.dumps(row) + ",\n" for row in rows))
    print(f"\nafter: {ceilings.measured_apart(options.threads, device)}")


def missing(peer: str, reason: Exception, remedy: str) -> None:
    sys.exit(f"no {peer} here ({reason}); {remedy}")
