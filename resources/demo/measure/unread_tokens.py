"""Visual tokens that are never read (--before) against fewer frames with as many tokens, under the full cache.

    python unread_tokens.py --cli ../../../build/release/bin/winnow-cli

Every question by itself, through `winnow-cli batch --json`. Per cent right, and the visual tokens that the decoder got in the mean.
"""

import argparse
import sys
from pathlib import Path

import demo_world  # noqa: F401 (first: where the others are found)
import numpy as np
import questions
import score
from evaluate import FRAMES, Case, video_cases
from export import MODEL_DIR

sys.path.insert(0, str(Path(__file__).parents[2] / "evaluation"))
from batch_program import BatchProgram  # noqa: E402

SHARES = (0.5, 0.3)
METHODS = ("vidcom2", "evs", "divpruned", "random")


def asked(program: BatchProgram, case: Case, frames: int, before: str) -> list[tuple[bool, int]]:
    """Of each question whether it was answered rightly, and how many visual tokens were read."""
    recipe = {"format": "winnow-recipe", "version": 1, "method": "full", "retention": 1.0, "before": before}
    line = program.ask({"video": str(case.path), "frames": frames, "recipe": recipe, "questions": [qa.question for qa in case.asked]})
    return [
        (score.is_right(qa.kind, qa.question, qa.answer, result["answer"], case.interval_s), result["tokens"]["visual"])
        for qa, result in zip(case.asked, line["results"], strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "unread_tokens")
    parser.add_argument("--videos", type=int, default=10)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    cases = video_cases(options.out, options.videos, FRAMES, FRAMES, questions.PHRASINGS)
    ways = {"all": (FRAMES, "none")}
    for share in SHARES:
        ways |= {f"{method}:{share:g}": (FRAMES, f"{method}:{share:g}") for method in METHODS}
        ways[f"{round(share * FRAMES)} frames"] = (round(share * FRAMES), "none")
    print("| read | visual tokens | right |\n|---|---|---|")
    with BatchProgram(options.cli, ["--model", str(options.model)]) as program:
        for name, (frames, before) in ways.items():
            answers = [answer for case in cases for answer in asked(program, case, frames, before)]
            right, tokens = np.mean([answer[0] for answer in answers]), np.mean([answer[1] for answer in answers])
            print(f"| {name} | {tokens:.0f} | {100 * right:.1f} |", flush=True)


if __name__ == "__main__":
    main()
