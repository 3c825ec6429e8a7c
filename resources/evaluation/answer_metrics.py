"""Scores of an answer against right answers, each in [0, 1], the best over the golds.

Exact; accuracy of options and of yes and no; ANLS (arXiv 1907.00490); ROUGE-L F1; contains; ChartQA's relaxed accuracy (2203.10244); VQA
accuracy over ten people's answers (1505.00468); facts and time by the demo world's own judge (../demo/make/score.py). Perplexity judges no
answer.
"""

import math
import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "demo/make"))
from score import is_right  # noqa: E402

PERPLEXITY = "perplexity"
_ARTICLES = {"a", "an", "the"}
_OPTION_RULES = (
    re.compile(r"^[(\[]?([A-Za-z])[)\].:,]?$"),
    re.compile(r"(?:answer is|answer:|option)\s*:?\s*\(?([A-Za-z])(?![A-Za-z])", re.IGNORECASE),
    re.compile(r"\(([A-Za-z])\)|(?<![A-Za-z0-9])([A-Za-z])(?:\)|:|\.(?![A-Za-z]))"),
)
_LONE_CAPITAL = re.compile(r"(?<![A-Za-z0-9'])([B-HJ-Z])(?![A-Za-z0-9'])")  # A and I are words
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII)


def _is_punctuation(letter: str) -> bool:
    kind = unicodedata.category(letter)[0]
    return kind == "P" or (kind == "S" and letter.isascii())  # what English question answering removes includes $+<=>^`|~


def _words(text: str) -> list[str]:
    return "".join(letter for letter in text.lower() if not _is_punctuation(letter)).split()


def normalised(text: str) -> str:
    """Lower case; punctuation and articles removed; runs of white space are one blank."""
    return " ".join(word for word in _words(text) if word not in _ARTICLES)


def exact(answer: str, gold: str) -> float:
    return float(normalised(answer) == normalised(gold))


def _named_option(answer: str) -> str:
    """Upper case: the whole answer, or the letter after "answer is", or one written as (B), B) B. or B:, or the only lone capital."""
    for rule in _OPTION_RULES:
        if found := rule.search(answer.strip()):
            return str(found[found.lastindex or 1]).upper()
    letters = set(_LONE_CAPITAL.findall(answer))
    return letters.pop() if len(letters) == 1 else ""


def accuracy(answer: str, gold: str) -> float:
    """Of multiple choice (a gold of one letter) and of yes and no, the first of these words; other golds as exact."""
    wanted = gold.strip()
    if len(wanted) == 1 and wanted.isalpha():
        return float(_named_option(answer) == wanted.upper())
    if wanted.lower() in ("yes", "no"):
        return float(next((word for word in _words(answer) if word in ("yes", "no")), "") == wanted.lower())
    return exact(answer, gold)


def _edit_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], min(diagonal + (letter != other), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def anls(answer: str, gold: str) -> float:
    """1 - NL if NL < 0.5, else 0; NL = Levenshtein distance over the longer length."""
    a, b = answer.lower().strip(), gold.lower().strip()
    longest = max(len(a), len(b))
    distance = _edit_distance(a, b) / longest if longest else 0.0
    return 1.0 - distance if distance < 0.5 else 0.0


def rouge_l(answer: str, gold: str) -> float:
    """F1 of the longest common subsequence of words; articles count."""
    given, wanted = _words(answer), _words(gold)
    row = [0] * (len(wanted) + 1)
    for word in given:
        diagonal = 0
        for j, other in enumerate(wanted, 1):
            diagonal, row[j] = row[j], diagonal + 1 if word == other else max(row[j], row[j - 1])
    if not row[-1]:
        return 0.0
    precision, recall = row[-1] / len(given), row[-1] / len(wanted)
    return 2.0 * precision * recall / (precision + recall)


def contains(answer: str, gold: str) -> float:
    """As whole words."""
    given, wanted = normalised(answer), normalised(gold)
    return float(f" {wanted} " in f" {given} " if wanted else not given)


def _number(text: str) -> float | None:
    """A final % is divided by 100."""
    plain = text.replace(",", "")
    percent = plain.endswith("%")
    plain = plain.removesuffix("%").strip()
    value = float(plain) if _NUMBER.fullmatch(plain) else math.inf
    return None if math.isinf(value) else value / 100.0 if percent else value


def relaxed(answer: str, gold: str) -> float:
    """Numbers may differ by 5 % of the gold."""
    given, wanted = answer.strip().lower(), gold.strip().lower()
    told, truth = _number(given), _number(wanted)
    if told is not None and truth is not None:
        return float(told == 0.0 if truth == 0.0 else abs(told - truth) <= 0.05 * abs(truth))
    return float(given == wanted)


def vqa(answer: str, golds: list[str]) -> float:
    """Mean over the golds left out one at a time of min(1, equal others / 3)."""
    same = [exact(answer, gold) for gold in golds]
    if len(same) < 2:
        return max(same)
    return sum(min(1.0, (sum(same) - own) / 3.0) for own in same) / len(same)


_BY_GOLD: dict[str, Callable[[str, str], float]] = {
    "exact": exact,
    "accuracy": accuracy,
    "anls": anls,
    "rouge-l": rouge_l,
    "contains": contains,
    "relaxed": relaxed,
}
METRICS = (*_BY_GOLD, "vqa", "facts", "time", PERPLEXITY)


def score(metric: str, answer: str, golds: list[str], question: str, group: str, tolerance_s: float) -> float:
    """group: the kind of question that the demo world's judge goes by."""
    if metric in _BY_GOLD:
        return max(_BY_GOLD[metric](answer, gold) for gold in golds)
    if metric == "vqa":
        return vqa(answer, golds)
    kind = "when" if metric == "time" else group
    return float(any(is_right(kind, question, gold, answer, tolerance_s) for gold in golds))
