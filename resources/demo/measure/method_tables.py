"""The tables by method and share kept: draws the held-out videos, asks every question under every method, prints the tables.

    python method_tables.py --cli ../../../build/release/bin/winnow-cli

Half an hour on one core (about 10 answers a second). Killed, it goes on where it was: the logs lie in --out.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import demo_world  # noqa: F401 (first: where the others are found)
import evaluate
from export import MODEL_DIR

AFTER = (
    "full", "meda", "aircache", "vl-cache", "d2o", "ems", "ems-no-position", "streaming-llm", "local-window", "h2o", "snapkv", "pyramidkv", "look-m",
    "look-m-average", "look-m-weighted", "elastic-cache", "prefixkv", "prefixkv-profile", "cam", "cam-expected", "roco", "fastv", "fastervlm", "ivtp",
    "random",
)  # fmt: skip
BEFORE = (
    "full", "self-study", "kvzip", "kvzip+", "kvzip-head", "self-study-stream", "kvzip-stream", "infinipot-v", "rekv", "keydiff", "expected-attention",
    "random-context", "every-k", "last-frames",
)  # fmt: skip
EVALUATION = Path(__file__).resolve().parents[2] / "evaluation"
RETENTIONS = (0.2, 0.1)
FRAMES = 64
QUESTIONS = 120  # of ten videos
# Name and methods. The second's share is of the video alone.
RUNS = (("judged by the question", AFTER), ("before the question", BEFORE))

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


def percent(share: float) -> str:
    return f"{100 * share:g}"


def table(rows: list[dict]) -> str:
    """Rows of report.py: score, and the share that was kept where it is not what was asked."""
    lines = ["| method | " + " | ".join(f"{percent(r)} %" for r in RETENTIONS) + " |", "|---" * (1 + len(RETENTIONS)) + "|"]
    for method in dict.fromkeys(row["method"] for row in rows):
        own = {row["requested_retention"]: row for row in rows if row["method"] == method}
        if method == "full":
            lines.append(f"| full | {100 * own[1.0]['score']:.1f} |" + " |" * (len(RETENTIONS) - 1))
            continue
        cells = []
        for asked in RETENTIONS:
            kept = own[asked]["achieved_retention"]
            other = abs(kept - asked) > 0.06 * asked + 0.0005
            cells.append(f"{100 * own[asked]['score']:.1f}" + (f" ({100 * kept:.1f} kept)" if other else ""))
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def questions_file(out: Path) -> Path:
    """Drawn at the first call."""
    folder = out / f"{FRAMES}"
    path = folder / f"{FRAMES}-frames.jsonl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        cases = evaluate.video_cases(folder, QUESTIONS // 12, evaluate.FRAMES, FRAMES, evaluate.questions.PHRASINGS)
        evaluate.dataset.write(path, evaluate.dataset_lines(cases))
    return path


class Evaluation:
    """Runs `ask_set.py` and prints a table of what it found."""

    def __init__(self, cli: Path, model: Path, out: Path, limit: int | None) -> None:
        self.command, self.out, self.limit = [sys.executable, str(EVALUATION / "ask_set.py"), "--cli", str(cli), "--model", str(model)], out, limit

    def print_table(self, name: str, recipes: list[str]) -> None:
        limit = min(QUESTIONS, self.limit or QUESTIONS)
        results = self.out / f"{name}-{limit}".replace(" ", "-")
        shares = ",".join(map(str, RETENTIONS))
        arguments = ["--data", str(questions_file(self.out)), "--limit", str(limit), "--retentions", shares, "--out", str(results), *recipes]
        # One thread serves so small a model best; more only wait for each other.
        subprocess.run([*self.command, *arguments], check=True, stdout=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"})
        subprocess.run([sys.executable, str(EVALUATION / "report.py"), str(results / f"{FRAMES}-frames")], check=True, stdout=subprocess.DEVNULL)
        rows = json.loads((results / f"{FRAMES}-frames.json").read_text())["rows"]
        print(f"\n{name}, {FRAMES} frames, {rows[0]['items']} questions:\n\n{table(rows)}", flush=True)


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
    for name, methods in RUNS:
        evaluation.print_table(name, ["--methods", ",".join(methods)])
    recipes = ["--methods", ",".join(VARIANT_BASES), *variant_files(options.out)]
    evaluation.print_table("variants", recipes)


if __name__ == "__main__":
    main()
