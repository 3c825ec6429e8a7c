"""The README's tables by method and share kept: draws the held-out videos, asks every question under every method, prints the tables.

    python method_tables.py --cli ../../../build/release/bin/winnow-cli

Hours on a small machine (60,000 answers, 10 a second on one core). Killed, it goes on where it was: the program's logs lie in --out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path

import evaluate
from export import MODEL_DIR

MAIN = ("full", "meda", "aircache", "vl-cache", "d2o", "ems", "streaming-llm", "snapkv", "h2o", "random")
OTHERS = (
    "full", "ems-no-position", "local-window", "pyramidkv", "look-m", "look-m-average", "look-m-weighted", "elastic-cache", "prefixkv",
    "prefixkv-profile", "cam", "cam-expected", "roco", "fastv", "fastervlm", "ivtp",
)  # fmt: skip
RETENTIONS = (0.5, 0.2, 0.1, 0.05, 0.01)
VIDEOS = {64: 42, 128: 46}
# Name, frames, methods, questions: whole videos (12 questions each).
RUNS = (("papers and controls", 64, MAIN, 504), ("others", 64, OTHERS, 120), ("papers and controls", 128, MAIN, 504), ("others", 128, OTHERS, 108))

# Recipes that tell what a method's result is due to, on whole videos at 64 frames.
VARIANTS = {
    **{f"aircache alpha {alpha}": {"method": "aircache", "options": {"alpha": alpha}} for alpha in (0, 0.1, 0.3, 0.5, 0.7)},
    "aircache per head": {"method": "aircache", "parts": {"granularity": "head"}},
    "aircache equal budgets": {"method": "aircache", "options": {"alloc": "uniform"}},
    "meda with votes": {"method": "meda", "parts": {"scorer": "snapkv"}},
    "meda with votes, no merge": {"method": "meda", "parts": {"scorer": "snapkv", "reducer": "drop"}},
    "meda late": {"method": "meda", "options": {"event_at_first_decode": True}},
    "d2o late": {"method": "d2o", "options": {"event_at_first_decode": True}},
}
VARIANT_BASES = ("full", "aircache", "meda", "d2o", "snapkv")
VARIANT_RETENTIONS = (0.2, 0.1)
VARIANT_QUESTIONS = 126


def percent(share: float) -> str:
    return f"{100 * share:g}"


def table(rows: list[dict], retentions: tuple[float, ...]) -> str:
    """Rows of `winnow-cli eval`: score, and the share that was kept where it is not what was asked."""
    lines = ["| method | " + " | ".join(f"{percent(r)} %" for r in retentions) + " |", "|---" * (1 + len(retentions)) + "|"]
    for method in dict.fromkeys(row["method"] for row in rows):
        own = {row["requested_retention"]: row for row in rows if row["method"] == method}
        if method == "full":
            lines.append(f"| full | {100 * own[1.0]['score']:.1f} |" + " |" * (len(retentions) - 1))
            continue
        cells = []
        for asked in retentions:
            kept = own[asked]["achieved_retention"]
            other = abs(kept - asked) > 0.06 * asked + 0.0005
            cells.append(f"{100 * own[asked]['score']:.1f}" + (f" ({100 * kept:.1f} kept)" if other else ""))
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def dataset_of(frames: int, out: Path) -> Path:
    """The questions about videos sampled with so many frames; drawn at the first call."""
    folder = out / f"{frames}"
    path = folder / f"{frames}-frames.jsonl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        cases = evaluate.video_cases(folder, VIDEOS[frames], evaluate.FRAMES, frames, evaluate.questions.PHRASINGS)
        evaluate.dataset.write(path, evaluate.dataset_lines(cases))
    return path


class Evaluation:
    """Runs `winnow-cli eval` and prints a table of what it found."""

    def __init__(self, cli: Path, model: Path, out: Path, limit: int | None) -> None:
        self.command, self.out, self.limit = [str(cli), "eval", "--model", str(model)], out, limit

    def print_table(self, name: str, frames: int, questions: int, retentions: tuple[float, ...], recipes: list[str]) -> None:
        limit = min(questions, self.limit or questions)
        results = self.out / f"{frames}-{name}-{limit}".replace(" ", "-")
        data = dataset_of(frames, self.out)
        arguments = ["--data", str(data), "--limit", str(limit), "--retentions", ",".join(map(str, retentions)), "--out", str(results), *recipes]
        # One thread serves so small a model best; more only wait for each other.
        subprocess.run([*self.command, *arguments], check=True, stdout=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"})
        rows = json.loads((results / f"{frames}-frames.json").read_text())["rows"]
        print(f"\n{name}, {frames} frames, {rows[0]['items']} questions:\n\n{table(rows, retentions)}", flush=True)


def variant_files(out: Path) -> list[str]:
    folder = out / "variants"
    folder.mkdir(parents=True, exist_ok=True)
    arguments = []
    for name, recipe in VARIANTS.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"format": "winnow-recipe", "version": 1, "name": name, **recipe}))
        arguments += ["--recipe", str(path)]
    return arguments


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", type=Path, required=True, help="the program's terminal binary")
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "method_tables")
    parser.add_argument("--limit", type=int, help="only so many questions a table, to try it out")
    options = parser.parse_args()
    evaluation = Evaluation(options.cli, options.model, options.out, options.limit)
    for name, frames, methods, questions in RUNS:
        evaluation.print_table(name, frames, questions, RETENTIONS, ["--methods", ",".join(methods)])
    recipes = ["--methods", ",".join(VARIANT_BASES), *variant_files(options.out)]
    evaluation.print_table("variants", 64, VARIANT_QUESTIONS, VARIANT_RETENTIONS, recipes)


if __name__ == "__main__":
    main()
