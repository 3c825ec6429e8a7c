"""95 % intervals of a mean score: Wilson where every score is 0 or 1, else a percentile bootstrap of 2,000 resamples with a fixed seed.

Questions are taken as independent draws, but for `clustered_interval`. Several questions about one video are not quite: true intervals are
somewhat wider.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from random_numbers import RandomNumbers

_Z = 1.959963984540054  # two-sided 95 %
_RESAMPLES = 2000


class Interval(NamedTuple):
    low: float = 0.0
    high: float = 1.0


def total(values: Sequence[float]) -> float:
    """From left to right: sum() adds otherwise from Python 3.12 on, and tables would differ in their last digit."""
    added = 0.0
    for value in values:
        added += value
    return added


def mean(values: Sequence[float]) -> float:
    """0 without values."""
    return total(values) / len(values) if values else 0.0


@lru_cache(maxsize=4)
def _draws(count: int) -> tuple[array[int], ...]:
    """Which of `count` things each resample has."""
    random = RandomNumbers(0)
    return tuple(array("I", (random.below(count) for _ in range(count))) for _ in range(_RESAMPLES))


def _middle(means: list[float]) -> Interval:
    means.sort()
    low, high = (means[int(share * (_RESAMPLES - 1) + 0.5)] for share in (0.025, 0.975))
    return Interval(low, high)


def wilson_interval(right: int, asked: int) -> Interval:
    if asked <= 0:
        return Interval()
    share = right / asked
    center = (share + _Z * _Z / (2 * asked)) / (1 + _Z * _Z / asked)
    reach = _Z / (1 + _Z * _Z / asked) * math.sqrt(share * (1 - share) / asked + _Z * _Z / (4 * asked * asked))
    return Interval(0.0 if right == 0 else center - reach, 1.0 if right == asked else center + reach)


def bootstrap_interval(scores: Sequence[float]) -> Interval:
    if not scores:
        return Interval()
    return _middle([total([scores[i] for i in drawn]) / len(scores) for drawn in _draws(len(scores))])


def clustered_interval(clusters: Sequence[Sequence[float]]) -> Interval:
    """Of the mean over all scores, whole clusters drawn: questions about one document. Empty clusters count for nothing."""
    sums = [(total(cluster), float(len(cluster))) for cluster in clusters if cluster]
    if not sums:
        return Interval()
    means = [total([sums[i][0] for i in drawn]) / total([sums[i][1] for i in drawn]) for drawn in _draws(len(sums))]
    return _middle(means)


def mean_interval(scores: Sequence[float]) -> Interval:
    """[0, 1] without scores."""
    if all(score in (0.0, 1.0) for score in scores):
        return wilson_interval(sum(score == 1.0 for score in scores), len(scores))
    return bootstrap_interval(scores)
