"""What an evaluation found, per recipe: means over its log. Shares are in [0, 1]."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from intervals import Interval, clustered_interval, mean, mean_interval
from results import Item, Recipe, Results

# What the full cache's attention says about a choice (engine/metrics/selection_figures.h), and its value where a log line leaves it out.
SELECTION_FIGURES = {
    "hit_rate": None,
    "output_error": None,
    "visual_contribution": 0.0,
    "visual_coverage": 0.0,
    "sparsity": 0.0,
    "kept_attention": None,
}


@dataclass(frozen=True)
class ShareOfFull:
    """Of the questions that the full cache answers: what a model cannot do by itself is no loss of compression."""

    items: int
    score: float
    interval: Interval


@dataclass
class Row:
    recipe: str
    method: str
    requested: float
    achieved: float = 0.0  # mean
    items: int = 0  # with at least one answer
    answers: int = 0
    score: float = 0.0  # mean over items of the mean over seeds
    interval: Interval = Interval()  # over items, or over their clusters
    of_full: ShareOfFull | None = None  # of sets whose questions come in clusters
    groups: dict[str, float] = field(default_factory=dict)  # score by the items' group
    same_as_full: float | None = None  # share of answers equal, letter by letter, to the full cache's
    top_agreement: float | None = None
    divergence: float | None = None
    perplexity: float | None = None  # exp of the mean over items, each with the same weight
    selection: dict[str, float | None] | None = None  # each the mean of those that were measured
    budget_divergence: float = 0.0
    kv_bytes: float = 0.0
    kv_bytes_full: float = 0.0
    generated_tokens: float = 0.0


@dataclass(frozen=True)
class Report:
    dataset: str
    model: str
    metrics: str  # "facts, time"
    groups: list[str]  # columns, in the items' order
    planned: int
    answered: int
    rows: list[Row]  # recipes without an answer are left out
    mistakes: list[tuple[str, str, str]]  # of clusters: question, right answer, the full cache's


class _Clusters:
    """Scores by cluster; items without one are clusters by themselves."""

    def __init__(self) -> None:
        self._clustered = False
        self._by_cluster: dict[str, list[float]] = defaultdict(list)
        self.scores: list[float] = []

    def add(self, item: Item, score: float) -> None:
        self._clustered = self._clustered or item.cluster != ""
        self._by_cluster[item.cluster or item.id].append(score)
        self.scores.append(score)

    def interval(self) -> Interval:
        if not self._clustered:
            return mean_interval(self.scores)
        return clustered_interval([self._by_cluster[name] for name in sorted(self._by_cluster)])

    def share(self) -> ShareOfFull | None:
        return ShareOfFull(len(self.scores), mean(self.scores), self.interval()) if self._clustered else None


def _mean_of_those(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return mean(there) if there else None


def _is_right(record: dict | None) -> bool:
    return record is not None and record["score"] == 1.0


def _selection(records: list[dict]) -> dict[str, float | None] | None:
    measured = [record for record in records if not SELECTION_FIGURES.keys().isdisjoint(record)]
    if not measured:
        return None
    return {name: _mean_of_those(record.get(name, absent) for record in measured) for name, absent in SELECTION_FIGURES.items()}


def _row(results: Results, recipe: Recipe) -> Row:
    row = Row(recipe.name, recipe.method, recipe.retention)
    scores, of_full = _Clusters(), _Clusters()
    groups: dict[str, list[float]] = defaultdict(list)
    same: list[float] = []
    records: list[dict] = []
    for item in results.items:
        given, full = results.of(item, recipe), results.full(item)
        if not given:
            continue
        score = mean([record["score"] for record in given])
        scores.add(item, score)
        if _is_right(full):
            of_full.add(item, score)
        if item.group:
            groups[item.group].append(score)
        if full is not None:
            same += [float(record["answer"] == full["answer"]) for record in given if "loss" not in record]
        records += given
    row.answers, row.items = len(records), len(scores.scores)
    row.score, row.interval, row.of_full = mean(scores.scores), scores.interval(), of_full.share()
    row.groups = {group: mean(groups[group]) for group in sorted(groups)}
    row.same_as_full = mean(same) if same else None
    row.achieved = mean([record["achieved"] for record in records])
    row.top_agreement = _mean_of_those(record.get("top1") for record in records)
    row.divergence = _mean_of_those(record.get("kl") for record in records)
    loss = _mean_of_those(record.get("loss") for record in records)
    row.perplexity = None if loss is None else math.exp(loss)
    row.selection = _selection(records)
    row.budget_divergence = mean([record["budget_jsd"] for record in records])
    row.kv_bytes = mean([float(record["kv_bytes"]) for record in records])
    row.kv_bytes_full = mean([float(record["kv_bytes_full"]) for record in records])
    row.generated_tokens = mean([float(record["generated"]) for record in records])
    return row


def build_report(results: Results) -> Report:
    rows = [row for row in (_row(results, recipe) for recipe in results.recipes) if row.answers]
    mistakes = []
    for item in results.items:
        full = results.full(item) if item.cluster else None
        if full is not None and not _is_right(full):
            mistakes.append((item.id, item.gold, full["answer"]))
    return Report(
        dataset=results.dataset,
        model=results.model,
        metrics=", ".join(sorted({item.metric for item in results.items})),
        groups=list(dict.fromkeys(item.group for item in results.items if item.group)),
        planned=results.planned,
        answered=sum(row.answers for row in rows),
        rows=rows,
        mistakes=mistakes,
    )
