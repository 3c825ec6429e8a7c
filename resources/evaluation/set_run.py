"""Runs an evaluation: every question under every recipe and seed that the log does not have yet.

Questions are taken one after another, and the recipes of a question together (as many as a comparison takes), so that they share its media
and prefill; recipes that are asked all questions of a cluster follow after its last (GridRecipe.together). Answers that were asked together
and are not all there yet are left out when the run ends early; the others are in the log.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from answer_metrics import PERPLEXITY, score
from intervals import mean, total
from item_log import ItemLog
from question_set import Question
from recipe_grid import GridRecipe
from report_rows import SELECTION_FIGURES

MOST_COMPARED = 8


@dataclass(frozen=True)
class Wanted:
    recipe: GridRecipe
    seed: int

    def line(self) -> dict:
        return self.recipe.asked(self.seed)


def divergence_from_uniform(budgets: Sequence[float]) -> float:
    """Jensen-Shannon divergence of the layers' budgets from uniform ones, base 2."""
    added, whole, even = 0.0, total(budgets), 1.0 / len(budgets) if budgets else 0.0
    for budget in budgets:
        own = budget / whole if whole > 0.0 else even
        middle = 0.5 * (own + even)
        if own > 0.0:
            added += 0.5 * own * math.log2(own / middle)
        added += 0.5 * even * math.log2(even / middle)
    return max(added, 0.0)


def record(question: Question, wanted: Wanted, result: dict) -> dict:
    """A line of the log. Times are not here: they differ from run to run, and benchmarks measure them."""
    agreement, selection = result["agreement"] or {}, result["selection"] or {}
    perplexity = question.metric == PERPLEXITY
    answer = "" if perplexity else result["answer"]
    # Of a text that is read: the geometric mean of its probabilities.
    right = math.exp(-agreement["loss"]) if perplexity else score(
        question.metric, answer, question.answers, question.question, question.group, question.tolerance_s
    )  # fmt: skip
    made = {"item": question.id, "recipe": wanted.recipe.name, "seed": wanted.seed, "answer": answer, "score": right}
    made |= {"requested": wanted.recipe.described["retention"], "achieved": result["achieved_retention"]}
    made |= {"kv_bytes": result["kv_bytes"]["after_event"], "kv_bytes_full": result["kv_bytes"]["full"]}
    made |= {"budget_jsd": divergence_from_uniform([float(layer["budget"]) for layer in result["layers"]])}
    made["generated"] = result["tokens"]["generated"]
    figures = {"top1": agreement.get("top1"), "kl": agreement.get("mean_kl"), "loss": agreement.get("loss") if perplexity else None}
    made |= {name: value for name, value in figures.items() if value is not None}
    if notices := [f"{medium['path']}: {notice}" for medium in result["media"] for notice in medium["notices"]]:
        made["notices"] = notices
    for name in SELECTION_FIGURES:
        value = selection.get(name)
        if isinstance(value, list):
            value = mean(value) if value else None
        if value is not None:
            made[name] = value
    return made


class Run:
    """ask: a line of `winnow-cli batch --json`, and what comes back. told: answers in the log so far, and those of them that this run made;
    after every group asked together."""

    def __init__(
        self, recipes: Sequence[GridRecipe], seeds: Sequence[int], ask: Callable[[dict], dict], log: ItemLog,
        told: Callable[[int, int], None], check: bool = False,
    ) -> None:  # fmt: skip
        self._wanted = [Wanted(recipe, seed) for recipe in recipes for seed in recipe.seeds(seeds)]
        self._ask, self._log, self._on_progress, self._check = ask, log, told, check
        self._done = self._asked = 0

    def run(self, questions: Sequence[Question]) -> None:
        # Those about the same stand next to each other; one without a cluster stands alone.
        for _, cluster in groupby(questions, key=lambda one: (one.cluster, one.cluster or one.id)):
            members = list(cluster)
            for question in members:
                self._ask_for_itself(question)
            self._ask_together(members)

    def _missing(self, questions: Sequence[Question], wanted: Wanted) -> list[Question]:
        missing = [one for one in questions if not self._log.has(one.id, wanted.recipe.name, wanted.seed)]
        self._done += len(questions) - len(missing)
        return missing

    def _told(self, answers: int) -> None:
        self._done += answers
        self._asked += answers
        self._on_progress(self._done, self._asked)

    def _ask_for_itself(self, question: Question) -> None:
        """Each recipe's answer as if the question were alone."""
        wanted = [one for one in self._wanted if not one.recipe.together and self._missing([question], one)]
        if not wanted:
            self._told(0)
        line = {"frames": question.frames, "questions": [question.pieces()]}
        for together, asked in self._lines(question, wanted):
            results = self._ask(line | asked)["results"]
            for one, result in zip(together, results, strict=True):
                self._log.add(record(question, one, result))
            self._told(len(together))

    def _lines(self, question: Question, wanted: list[Wanted]) -> Iterator[tuple[list[Wanted], dict]]:
        if question.metric == PERPLEXITY:
            # The turn says what the recipe keeps, and leaves what it prepares before a question; the text is read from there.
            for one in wanted:
                yield [one], {"recipe": one.line(), "guard": "alone", "max_tokens": 1, "given": question.answers[0]}
            return
        for first in range(0, len(wanted), MOST_COMPARED):
            together = wanted[first : first + MOST_COMPARED]
            yield together, {"recipes": [one.line() for one in together], "check": self._check}

    def _ask_together(self, questions: list[Question]) -> None:
        """A cluster's questions under the recipes that are asked all of them: all again where one is missing."""
        for one in self._wanted:
            if not one.recipe.together:
                continue
            missing = self._missing(questions, one)
            if missing:
                for question, result in zip(questions, self._series(questions, one), strict=True):
                    if question in missing:
                        self._log.add(record(question, one, result))
            self._told(len(missing))

    def _series(self, questions: list[Question], one: Wanted) -> list[dict]:
        results = []
        # A conversation has its media from the first question on.
        same = (lambda each: (each.media, each.frames)) if one.recipe.together == "alone" else lambda _: None
        for _, group in groupby(questions, key=same):
            asked = [question.pieces() for question in group]
            later = [[piece for piece in pieces if isinstance(piece, str)] for pieces in asked[1:]]
            line = {"recipe": one.line(), "guard": one.recipe.together, "together": True, "frames": questions[0].frames}
            results += self._ask(line | {"questions": [asked[0], *later]})["results"]
        return results
