#!/usr/bin/env python3
"""Asks the questions of a set under methods x shares x seeds, scores the answers, keeps them in a log and prints the scores.

    python3 resources/evaluation/ask_set.py --demo --methods full,vl-cache,snapkv --retentions 0.2,0.05
    python3 resources/evaluation/ask_set.py --data SET.jsonl --agreement --out RESULTS

RESULTS/SET.jsonl is the log, one answer a line; RESULTS/SET.run.json says what was asked. What the log has is not asked again. report.py
makes tables of both. `winnow-cli batch --json` answers.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from batch_program import BatchProgram, ProgramEnded, told_by
from intervals import mean
from item_lines import BadSource
from item_log import ItemLog, json_line
from make_set import whole_number, whole_numbers
from question_set import QuestionSet, read_set, unique
from recipe_grid import Described, GridRecipe, document_grid, of_method, recipe_grid, require_names
from report_tables import percent, table_line
from results import FORMAT, BadResults, Results, read_results, require_beginning, write_whole
from set_run import Run

RESOURCES = Path(__file__).resolve().parents[1]
BUNDLED_SET = RESOURCES / "demo/evaluation/samples.jsonl"
METHODS = "full,meda,aircache,vl-cache,d2o,snapkv,h2o,streaming-llm,random"
RETENTIONS = "0.5,0.2,0.1,0.05,0.01"
DAY = "2026-01-01"  # that chat templates write: figures of tomorrow are those of today
LOG_LINE_EVERY_S = 30.0
MOST_TOKENS = 1 << 20
INTERRUPTED = 130


def progress_text(done: int, asked: int, planned: int, elapsed_s: float) -> str:
    text = f"{done} of {planned} answers"
    if asked <= 0 or elapsed_s <= 0.0:
        return text
    rate = asked / elapsed_s
    text += f", {rate:.3f} a second" if rate < 0.1 else f", {rate:.1f} a second"
    if done >= planned:
        return text
    left_s = (planned - done) / rate
    left = f"{left_s:.0f} s" if left_s < 90 else f"{left_s / 60:.0f} min" if left_s < 90 * 60 else f"{left_s / 3600:.1f} h"
    return f"{text}, about {left} left"


class ProgressLine:
    """A terminal sees every change in one line, a log file one line now and then."""

    def __init__(self, title: str) -> None:
        self._title, self._interactive = title, sys.stderr.isatty()
        self._start = self._said = time.monotonic()

    def show(self, done: int, asked: int, planned: int) -> None:
        now = time.monotonic()
        if not self._interactive and done < planned and now - self._said < LOG_LINE_EVERY_S:
            return
        self._said = now
        text = f"{self._title}: {progress_text(done, asked, planned, now - self._start)}"
        print(f"\r\033[K{text}" if self._interactive else text, end="" if self._interactive else "\n", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._interactive:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def score_table(results: Results) -> str:
    """Scores are means over questions of means over seeds."""
    rows, answered = "", 0
    for recipe in results.recipes:
        given = [records for item in results.items if (records := results.of(item, recipe))]
        if not given:
            continue
        achieved = [record["achieved"] for records in given for record in records]
        answered += len(achieved)
        scores = [mean([record["score"] for record in records]) for records in given]
        rows += table_line([recipe.method, percent(recipe.retention), percent(mean(achieved)), str(len(given)), percent(mean(scores))])
    metrics = ", ".join(sorted({item.metric for item in results.items}))
    head = f"## {results.dataset}\n\n{results.model}; metric {metrics}; {answered} of {results.planned} answers. Per cent.\n\n"
    return head + "| method | asked | kept | questions | score |\n|---|---:|---:|---:|---:|\n" + rows


def run_line(asked: QuestionSet, model: str, recipes: Sequence[GridRecipe], seeds: Sequence[int]) -> str:
    """What the log does not have: recipes in their order, seeds, and of every question how it is judged, and its first right answer."""
    grid = [
        {"name": one.name, "method": one.title, "retention": one.described["retention"], "seeds": list(one.seeds(seeds))} for one in recipes
    ]
    items = [
        {"id": one.id, "metric": one.metric, "group": one.group, "cluster": one.cluster, "answer": one.answers[0]}
        for one in asked.questions
    ]
    return json_line({"winnow_run": FORMAT, "dataset": asked.name, "model": model, "recipes": grid, "items": items}).decode()


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def shares(text: str) -> list[float]:
    made = [float(word) for word in words(text)]
    if not all(0.0 < share <= 1.0 for share in made):
        raise argparse.ArgumentTypeError("shares must be above 0 and at most 1")
    return made


def judges(text: str) -> list[str]:
    if not words(text) or not set(words(text)) <= {"own", "first"}:
        raise argparse.ArgumentTypeError("must be own, first or own,first")
    return words(text)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sets = made.add_mutually_exclusive_group(required=True)
    sets.add_argument("--data", type=Path, nargs="+", default=[], help="questions as JSON lines: media, question, answers, metric")
    sets.add_argument("--demo", action="store_true", help="the bundled questions about the sample videos")
    made.add_argument("--methods", type=words, default=words(METHODS), help=f"compression methods; default: {METHODS}")
    made.add_argument("--recipe", type=Path, action="append", default=[], help="also a recipe of the window, at these shares; repeatable")
    made.add_argument("--retentions", type=shares, default=shares(RETENTIONS), help=f"shares of the cache to keep; default: {RETENTIONS}")
    made.add_argument("--seeds", type=whole_numbers(0, (1 << 64) - 1), default=(0,), help="for methods that draw numbers; default: 0")
    made.add_argument(
        "--judged-by", type=judges, default=["own", "first"],
        help="for questions about one document and methods that compress after a question: own (each by itself), first (one conversation)",
    )  # fmt: skip
    made.add_argument("--frames", type=whole_number(1, 1024), default=64, help="frames of videos whose line does not say; default: 64")
    made.add_argument("--limit", type=whole_number(1, 1 << 30), default=0, help="only the first N questions of each set")
    made.add_argument("--max-tokens", type=whole_number(1, MOST_TOKENS), default=256, help="of an answer, thinking included; default: 256")
    made.add_argument("--think", help="whether the model thinks before it answers: on, off, or at most N tokens")
    made.add_argument("--agreement", action="store_true", help="also check every answer against the full cache, token by token (slower)")
    made.add_argument("--out", type=Path, default=Path("winnow-evaluation"), help="folder of the logs; a run that ended goes on there")
    made.add_argument("--cli", type=Path, help="winnow-cli; default: that of this source tree, else that on the path")
    for option in ("--model", "--mmproj", "--device", "--dtype", "--picture-detail", "--frame-detail"):
        made.add_argument(option, help="as of winnow-cli ask")
    return made


class Evaluation:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        built = RESOURCES.parent / "build/release/bin/winnow-cli"
        self._cli = options.cli or (built if built.exists() else Path(shutil.which("winnow-cli") or built))
        self._saved = [json.loads(file.read_text("utf-8"), object_pairs_hook=unique) for file in options.recipe]
        inputs = [*options.data, *([BUNDLED_SET] if options.demo else [])]
        self._sets = [read_set(file, options.frames, cache(self._detail)).first(options.limit) for file in inputs]
        names = [one.name for one in self._sets]
        if twice := [name for name in names if names.count(name) > 1]:
            raise BadSource(f"{twice[0]}: names two sets; rename one of them")
        require_names(options.methods, self._saved, [method["name"] for method in told_by(self._cli, "methods")])
        options.out.mkdir(parents=True, exist_ok=True)
        for base in map(self._base, self._sets):
            for path in (base.with_name(base.name + ".jsonl"), base.with_name(base.name + ".run.json")):
                if path.exists() and any(path.samefile(file) for file in (*inputs, *options.recipe)):
                    raise BadResults(f"{path}: is read by this evaluation; choose another folder")
            require_beginning(base.with_name(base.name + ".run.json"), '{"winnow_run":', "no file of an evaluation")

    def run(self) -> None:
        with BatchProgram(self._cli, self._batch_options()) as program:

            def describe(recipe: dict) -> Described:
                return program.ask({"recipes": [recipe], "questions": []})["recipes"][0]

            if sys.stderr.isatty():
                print("loading the model", file=sys.stderr)
            model = program.ask({"questions": []})["model"]
            grid = recipe_grid(self._options.methods, self._options.retentions, self._saved, describe)
            for asked in self._sets:
                clustered = any(one.cluster for one in asked.questions)
                self._run_set(asked, document_grid(grid, self._options.judged_by) if clustered else grid, model, program)

    def _run_set(self, asked: QuestionSet, recipes: Sequence[GridRecipe], model: dict, program: BatchProgram) -> None:
        options, base = self._options, self._base(asked)
        log_path, run_path = base.with_name(base.name + ".jsonl"), base.with_name(base.name + ".run.json")
        held = f"{model['device']}, {model['dtype']}"
        thoughts = {None: "", "on": f", at most {MOST_TOKENS} thought", "off": ", at most 0 thought"}
        settings = f"model {model['fingerprint']}, {held}, at most {options.max_tokens} tokens"
        settings += thoughts.get(options.think, f", at most {options.think} thought") + (", agreement" if options.agreement else "")
        with ItemLog(log_path, f"questions {asked.fingerprint}, {settings}") as log:
            write_whole(run_path, run_line(asked, f"{model['name'] if options.model else 'demo model'}, {held}", recipes, options.seeds))
            progress = ProgressLine(asked.name)
            planned = len(asked.questions) * sum(len(one.seeds(options.seeds)) for one in recipes)
            run = Run(recipes, options.seeds, program.ask, log, lambda *told: progress.show(*told, planned), options.agreement)
            try:
                run.run(asked.questions)
            finally:
                progress.end()
                print(score_table(read_results(base)), flush=True)
                report = Path(__file__).with_name("report.py")
                print(f"wrote {log_path} and {run_path}; intervals and tables: python3 {report} {base}", file=sys.stderr)

    def _base(self, asked: QuestionSet) -> Path:
        return self._options.out / asked.name

    def _detail(self, medium: str) -> str:
        """What was asked of such media, if anything was."""
        options = self._options
        if options.picture_detail in (None, "auto") and options.frame_detail in (None, "auto"):
            return ""
        word = options.frame_detail if told_by(self._cli, "probe", medium)["kind"] == "video" else options.picture_detail
        return "" if word in (None, "auto") else word

    def _batch_options(self) -> list[str]:
        given = [("--max-tokens", str(self._options.max_tokens)), ("--date", DAY)]
        names = ("model", "mmproj", "device", "dtype", "think", "picture_detail", "frame_detail")
        given += [("--" + name.replace("_", "-"), value) for name in names if (value := getattr(self._options, name)) is not None]
        return [word for option in given for word in option]


def main() -> int:
    options = parser().parse_args()
    try:
        if sys.stdout is None:
            raise BadResults("standard output is closed")
        Evaluation(options).run()
    except KeyboardInterrupt:
        return INTERRUPTED
    except ProgramEnded as problem:
        return problem.status
    except (BadSource, BadResults, OSError, ValueError) as problem:
        print(f"ask_set.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
