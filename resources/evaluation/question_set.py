"""Reads a set of questions: JSON lines, media relative to the file.

    {"media": "clip.mp4", "question": "What comes first?", "answers": ["a red star"], "metric": "exact"}

media: a path or a list of paths. answers: right answers, or one as a string. Optional: frames (videos), id (else the line's number), group
(a column of the tables), cluster (what questions have in common that are no independent draws: one document; they stand next to each
other), tolerance_s (metric time). Other keys are refused: a misspelt one would quietly change what is measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from answer_metrics import METRICS
from item_lines import BadSource

_KEYS = {"media", "question", "answers", "metric", "frames", "id", "group", "cluster", "tolerance_s"}
_MOST_FRAMES = 1024
_MARK = re.compile(r"\{image#([1-9][0-9]*)\}")


@dataclass(frozen=True)
class Question:
    id: str
    media: tuple[str, ...]  # in prompt order
    question: str  # "{image#1}" stands for the first medium, and so on; media that no mark places come before the text
    answers: list[str]
    metric: str
    frames: int
    group: str
    cluster: str
    tolerance_s: float

    def pieces(self) -> list[str | dict]:
        """As a line of `winnow-cli batch` has them."""
        body: list[str | dict] = []
        placed: set[int] = set()
        done = 0
        for mark in _MARK.finditer(self.question):
            number = int(mark[1])
            if number > len(self.media) or number in placed:
                continue
            placed.add(number)
            body += [self.question[done : mark.start()], {"media": self.media[number - 1]}]
            done = mark.end()
        before = [{"media": path} for number, path in enumerate(self.media, 1) if number not in placed]
        return [piece for piece in (*before, *body, self.question[done:]) if piece]


@dataclass(frozen=True)
class QuestionSet:
    name: str
    fingerprint: str  # SHA-256 of everything that decides the answers but the media's pixels
    questions: list[Question]

    def first(self, limit: int) -> QuestionSet:
        """A shortened set is another one."""
        if not 0 < limit < len(self.questions):
            return self
        return replace(self, fingerprint=f"{self.fingerprint}:{limit}", questions=self.questions[:limit])


def unique(pairs: list[tuple[str, object]]) -> dict:
    """For json.loads, which keeps the last of two members of one name."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key occurs twice")
    return made


def _strings(line: dict, key: str) -> list[str]:
    value = [line[key]] if isinstance(line[key], str) else line[key]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadSource(f"{key}: it must be a string or a list of strings")
    if not value:
        raise BadSource(f"has no {key}")
    return value


def _string(line: dict, key: str, otherwise: str | None = None) -> str:
    value = line[key] if otherwise is None else line.get(key, otherwise)
    if not isinstance(value, str):
        raise BadSource(f"{key}: it must be a string")
    return value


def _question(line: object, number: int, folder: Path, frames: int) -> Question:
    if not isinstance(line, dict):
        raise BadSource("must be a JSON object")
    if unknown := [key for key in line if key not in _KEYS]:
        raise BadSource(f'has the unknown key "{unknown[0][:64]}"')
    media = tuple(str(folder / path) for path in _strings(line, "media"))
    for path in media:
        if not Path(path).exists():
            raise BadSource(f"{path}: no such file")
    count, tolerance = line.get("frames", frames), line.get("tolerance_s", 1.0)
    if type(count) is not int or not 1 <= count <= _MOST_FRAMES:
        raise BadSource(f"frames: it is {count}, not a whole number from 1 to {_MOST_FRAMES}")
    if type(tolerance) not in (int, float) or not 0 <= tolerance <= 1e9:
        raise BadSource(f"tolerance_s: it is {tolerance}, not a number from 0 to 1e9")
    if line["metric"] not in METRICS:
        raise BadSource(f"names an unknown metric; known are {', '.join(METRICS)}")
    question, answers = _string(line, "question"), _strings(line, "answers")
    if not question:
        raise BadSource("has an empty question")
    group, cluster = _string(line, "group", ""), _string(line, "cluster", "")
    name = _string(line, "id", str(number))
    return Question(name, media, question, answers, line["metric"], count, group, cluster, float(tolerance))


def _fingerprint(questions: list[Question], folder: Path, detail: Callable[[str], str]) -> str:
    digest = hashlib.sha256()
    for one in questions:
        media: list[object] = []
        for path in one.media:
            # Relative, so that a set may move with its media; a file that was replaced has another size in all likelihood.
            place = os.path.relpath(path, folder) if os.path.isabs(path) == folder.is_absolute() else ""
            media.append([os.fsencode(place).hex(), os.path.getsize(path), one.frames])
            if word := detail(path):
                media.append(word)
        facts = {"id": one.id, "question": one.question, "answers": one.answers, "metric": one.metric, "group": one.group}
        facts |= {"tolerance_s": one.tolerance_s, "media": media}
        if one.cluster:
            facts["cluster"] = one.cluster  # what was not said is not told, so that older logs go on
        digest.update(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()


def read_set(path: Path, frames: int, detail: Callable[[str], str]) -> QuestionSet:
    """frames: of videos whose line says nothing. detail: the tokens that a medium may take, in a word; empty: as its model has it."""
    if path.exists() and not path.is_file():
        raise BadSource(f"{path}: it is not a regular file")
    questions: dict[str, Question] = {}
    for number, text in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not text.strip(b" \t\r"):
            continue
        try:
            one = _question(json.loads(text, object_pairs_hook=unique), number, path.parent, frames)
        except KeyError as problem:
            raise BadSource(f"{path}:{number}: {problem.args[0]}: it is missing") from problem
        except BadSource as problem:
            raise BadSource(f"{path}:{number}: {problem}") from problem
        except (ValueError, RecursionError) as problem:
            raise BadSource(f"{path}:{number}: is not valid JSON ({problem})") from problem
        if questions.setdefault(one.id, one) is not one:
            raise BadSource(f'{path}: has the id "{one.id}" twice')
    if not questions:
        raise BadSource(f"{path}: holds no question")
    return QuestionSet(path.stem, _fingerprint(list(questions.values()), path.parent, detail), list(questions.values()))
