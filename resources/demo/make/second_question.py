"""How a second question about the same video fares: what the first one kept (--guard keep) against reading all again (--guard prefill).

    python second_question.py --cli ../../../build/release/bin/winnow-cli

Every pair of one-step questions of two different kinds is a conversation of its own, through `winnow-cli chat`. Per cent of second answers
that are right, per method and guard, at one retention.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import numpy as np

import questions
import score
from evaluate import FRAMES, Case, video_cases
from export import MODEL_DIR

METHODS = ("full", "meda", "aircache", "vl-cache", "d2o", "ems", "snapkv", "h2o", "streaming-llm")
KINDS = ("color", "shape", "after", "before", "first", "last", "presence")  # what a follow-up of a few words can ask for
GUARDS = ("keep", "prefill")


def pairs(case: Case, rng: np.random.Generator, count: int) -> list[tuple[questions.Qa, questions.Qa]]:
    asked = [qa for qa in case.asked if qa.kind in KINDS]
    return [tuple(asked[i] for i in rng.choice(len(asked), 2, replace=False)) for _ in range(count)]


def second_answer(cli: Path, model: Path, case: Case, texts: list[str], method: str, retention: float, guard: str) -> str:
    command = [str(cli), "chat", "--model", str(model), "--video", str(case.path), "--frames", str(case.frames), "--method", method]
    command += ["--retention", str(retention), "--guard", guard]
    done = subprocess.run(command, input="".join(text + "\n" for text in texts), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    return done.stdout.splitlines()[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "evaluation")
    parser.add_argument("--videos", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=2, help="of questions per video")
    parser.add_argument("--retention", type=float, default=0.1)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    asked = [(case, pair) for case in video_cases(options.out, options.videos, FRAMES, FRAMES, questions.PHRASINGS) for pair in pairs(case, rng, options.pairs)]
    print(f"| second question, {len(asked)} pairs, {100 * options.retention:g} % kept | " + " | ".join(GUARDS) + " |")
    print("|---" * (1 + len(GUARDS)) + "|")
    for method in options.methods:
        cells = []
        for guard in GUARDS:
            right = []
            for case, (first, second) in asked:
                answer = second_answer(options.cli, options.model, case, [first.question, second.question], method, options.retention, guard)
                right.append(score.is_right(second.kind, second.question, second.answer, answer, case.interval_s))
            cells.append(f"{100 * np.mean(right):.1f}")
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
