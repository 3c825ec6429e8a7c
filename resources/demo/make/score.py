"""The one judge of answers: every table about the demo model uses `is_right`.

An answer is right if the words that carry the fact are there and no wrong one stands beside them. Case, punctuation and
articles do not matter. A list or a description must name the whole ordered sequence, a description also the number of
things. A time may be off by one sampling interval or one second, whichever is longer.
"""

import re
from collections import Counter

from words import COLORS, SHAPES

_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NEGATIONS = {"no", "not", "none", "nothing", "never"}
_SHAPE_WORDS = {form: shape for shape in SHAPES for form in (shape, shape + "s", shape + "es")}
_LETTER = re.compile(r"\b(?:with|letter is|letter|says|say|shows)\s+(?:an?\s+|the\s+)?(?:letter\s+)?([a-z])(?![a-z])")
_ITEM = re.compile(rf"({'|'.join(COLORS)})\s+({'|'.join(SHAPES)})\b|card\s+with\s+(?:an?\s+|the\s+)?(?:letter\s+)?([a-z])(?![a-z])")


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^a-z0-9]+", " ", text.lower().replace("colour", "color")).split())


def facts(text: str) -> Counter[str]:
    """The fact words of a text: colours, shapes, letters, numbers."""
    plain = _plain(text)
    found = Counter(f"letter {letter}" for letter in _LETTER.findall(plain))
    for word in plain.split():
        if word in COLORS:
            found[word] += 1
        elif word in _SHAPE_WORDS:
            found[_SHAPE_WORDS[word]] += 1
        elif word.isdigit():
            found[word.lstrip("0") or "0"] += 1
        elif word in _NUMBER_WORDS:
            found[str(_NUMBER_WORDS.index(word))] += 1
    return found


def is_negative(text: str) -> bool:
    return not _NEGATIONS.isdisjoint(_plain(text).split())


def sequence(text: str) -> list[str]:
    """Things in the order they are named."""
    return [f"card {letter}" if letter else f"{color} {shape}" for color, shape, letter in _ITEM.findall(_plain(text))]


def _numbers(found: Counter[str]) -> list[float]:
    return sorted(float(word) for word in found if word.isdigit())


def is_right(kind: str, question: str, truth: str, answer: str, interval_s: float = 0.0) -> bool:
    wanted, given = facts(truth), facts(answer)
    if kind in ("list", "describe"):
        stray = sum((given - wanted).values())
        return sequence(answer) == sequence(truth) and stray == 0 and _numbers(given) == _numbers(wanted)
    if kind == "count":
        if is_negative(answer):
            given["0"] += 1
        if is_negative(truth):
            wanted["0"] += 1
    elif is_negative(answer) != is_negative(truth):
        return False
    if kind == "when" and not is_negative(truth):
        told, true = _numbers(given), _numbers(wanted)
        return len(told) == 1 and len(true) > 0 and abs(told[0] - true[0]) <= max(1.0, interval_s)
    asked = facts(question)
    required = set(wanted) if kind in ("after", "before", "first", "last") else set(wanted) - set(asked)
    return required <= set(given) <= set(wanted) | set(asked)
