"""How a second question about the same video fares under every turn policy and guard.

    python second_question.py --cli ../../../build/release/bin/winnow-cli

Every pair of one-step questions of two different kinds is a conversation of its own, through `winnow-cli chat`. Per cent of second answers
that are right, per method, at one retention: what the first question kept is kept (turn policies segment, whole, first-only), the thread is
read again (guard prefill), or the full cache has stayed in memory (guard ram).
"""

import argparse
import subprocess
from pathlib import Path

import numpy as np

import demo_world  # noqa: F401 (first: where the others are found)
import questions
import score
from evaluate import FRAMES, Case, video_cases
from export import MODEL_DIR

METHODS = ("full", "meda", "aircache", "vl-cache", "d2o", "ems", "snapkv", "h2o", "streaming-llm")
KINDS = ("color", "shape", "after", "before", "first", "last", "presence")  # what a follow-up of a few words can ask for
WAYS = {
    "segment": ("--turn-policy", "segment"),
    "whole": ("--turn-policy", "whole"),
    "first-only": ("--turn-policy", "first-only"),
    "guard prefill": ("--guard", "prefill"),
    "guard ram": ("--guard", "ram"),
}


def pairs(case: Case, rng: np.random.Generator, count: int) -> list[tuple[questions.Qa, questions.Qa]]:
    asked = [qa for qa in case.asked if qa.kind in KINDS]
    return [tuple(asked[i] for i in rng.choice(len(asked), 2, replace=False)) for _ in range(count)]


def second_answers(cli: Path, model: Path, case: Case, asked: list[tuple[questions.Qa, questions.Qa]], options: list[str]) -> list[str]:
    """One process per video: its frames are encoded once, every pair starts a conversation of its own."""
    lines = []
    for first, second in asked:
        lines += ["/reset", f"/video {case.path} {case.frames}", first.question, second.question]
    command = [str(cli), "chat", "--model", str(model), *options]
    done = subprocess.run(command, input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    answers = done.stdout.splitlines()
    assert len(answers) == 2 * len(asked), done.stdout
    return answers[1::2]


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
    asked = [(case, pairs(case, rng, options.pairs)) for case in video_cases(options.out, options.videos, FRAMES, FRAMES, questions.PHRASINGS)]
    count = sum(len(of_video) for _, of_video in asked)
    print(f"| second question, {count} pairs, {100 * options.retention:g} % kept | " + " | ".join(WAYS) + " |")
    print("|---" * (1 + len(WAYS)) + "|")
    for method in options.methods:
        cells = []
        for way in WAYS.values():
            right = []
            for case, of_video in asked:
                chosen = ["--method", method, "--retention", str(options.retention), *way]
                for (_, second), answer in zip(of_video, second_answers(options.cli, options.model, case, of_video, chosen), strict=True):
                    right.append(score.is_right(second.kind, second.question, second.answer, answer, case.interval_s))
            cells.append(f"{100 * np.mean(right):.1f}")
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
