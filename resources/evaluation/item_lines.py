"""A set of questions as `ask_set.py --data` reads it: JSON lines, media relative to the file."""

import json
import os
from dataclasses import dataclass
from pathlib import Path


class BadSource(Exception):
    """What no set can be made of, in words for the person who named it."""


@dataclass
class ItemLine:
    id: str
    media: list[Path]  # in prompt order; "{image#1}" in the question stands for the first
    question: str
    answers: list[str]
    metric: str
    group: str = ""  # a column of the tables
    cluster: str = ""  # what questions have in common that are no independent draws: one document
    frames: int = 0  # of a video; 0: as many as ask_set.py takes


def write_items(path: Path, items: list[ItemLine]) -> None:
    if not items:
        raise BadSource(f"{path}: would hold no question")
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for item in items:
        media = [os.path.relpath(one.resolve(), path.parent.resolve()) for one in item.media]
        line = {"id": item.id, "media": media[0] if len(media) == 1 else media, "question": item.question, "answers": item.answers}
        line["metric"] = item.metric
        line |= {name: value for name in ("group", "cluster", "frames") if (value := getattr(item, name))}
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), "utf-8")
