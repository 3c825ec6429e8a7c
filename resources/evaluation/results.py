"""What `ask_set.py` left of one set: NAME.run.json (what was asked) and NAME.jsonl (the log: one answer a line)."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

FORMAT = 1


class BadResults(Exception):
    """Files that are not an evaluation's, in words for the person who named them."""


@dataclass(frozen=True)
class Recipe:
    name: str  # of its answers in the log: "vl-cache@0.1"
    method: str  # of its row
    retention: float
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Item:
    id: str
    metric: str
    group: str  # a column of the tables; may be empty
    cluster: str  # what questions have in common that are no independent draws (one document); may be empty
    gold: str  # the first right answer


@dataclass(frozen=True)
class Results:
    dataset: str
    model: str  # name, device, element type
    recipes: tuple[Recipe, ...]
    items: tuple[Item, ...]
    records: dict[tuple[str, str, int], dict]  # by item, recipe and seed: a line of the log

    def of(self, item: Item, recipe: Recipe) -> list[dict]:
        """The answers that are there, by seed."""
        found = (self.records.get((item.id, recipe.name, seed)) for seed in recipe.seeds)
        return [record for record in found if record is not None]

    def full(self, item: Item) -> dict | None:
        """The full cache's answer: greedy, so that one seed is asked alone."""
        return self.records.get((item.id, "full", self.recipes[0].seeds[0]))

    @property
    def planned(self) -> int:
        return len(self.items) * sum(len(recipe.seeds) for recipe in self.recipes)


def _objects(path: Path) -> list[dict]:
    """The complete lines: one that a crash tore is none."""
    try:
        text = path.read_text("utf-8")
    except OSError as problem:
        raise BadResults(f"{path}: {problem.strerror}; name what ask_set.py wrote, without its ending: RESULTS/SET") from problem
    made = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        try:
            made.append(json.loads(line))
        except (ValueError, RecursionError) as problem:
            raise BadResults(f"{path}:{number}: is no line of a log ({problem})") from problem
    return made


def read_results(base: Path) -> Results:
    """base: RESULTS/SET."""
    run_path, log_path = base.with_name(base.name + ".run.json"), base.with_name(base.name + ".jsonl")
    run_lines = _objects(run_path)
    lines = _objects(log_path)
    try:
        run = run_lines[0]
        if run["winnow_run"] != FORMAT or (lines and lines[0]["winnow_evaluation"] != FORMAT):
            raise BadResults(f"{base}: was written by another version of ask_set.py")
        recipes = tuple(Recipe(one["name"], one["method"], one["retention"], tuple(one["seeds"])) for one in run["recipes"])
        items = tuple(Item(one["id"], one["metric"], one["group"], one["cluster"], one["answer"]) for one in run["items"])
        records = {(line["item"], line["recipe"], line["seed"]): line for line in lines[1:]}
        return Results(run["dataset"], run["model"], recipes, items, records)
    except (KeyError, TypeError, IndexError) as problem:
        raise BadResults(f"{base}: is no evaluation ({problem!r})") from problem


def require_beginning(path: Path, beginning: str, otherwise: str) -> None:
    """What does not begin as ours does was written by somebody."""
    if path.exists() and not (path.is_file() and path.read_bytes().startswith(beginning.encode())):
        raise BadResults(f"{path}: is {otherwise} and is left as it is; move it away")


def write_whole(path: Path, text: str) -> None:
    """The whole file or none of it."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, "utf-8")
    os.replace(part, path)
