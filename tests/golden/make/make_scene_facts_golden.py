#!/usr/bin/env python3
"""Writes tests/golden/scene_facts/cases.jsonl: what the demo world's judge (resources/demo/make/score.py) says of right and damaged answers.

usage: make_scene_facts_golden.py      (needs: numpy, pillow)
"""
import json
import pathlib
import random
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "tests/golden/scene_facts"
sys.path.insert(0, str(ROOT / "resources/demo/make"))
import questions  # noqa: E402
import score  # noqa: E402
import world  # noqa: E402

SEED = 20260101
INTERVAL_S = 2.5
HAND_MADE = [
    ("count", "How many stars are there?", "There are no stars.", "There are 0 stars."),
    ("count", "How many stars are there?", "There are 3 stars.", "three Stars"),
    ("count", "How many stars are there?", "There are 3 stars.", "There are 3 crosses."),
    ("count", "How many stars are there?", "There are 3 stars.", "There are 007 stars and 3."),
    ("card", "What letter is on the card?", "The letter is K.", "It says K!"),
    ("card", "What letter is on the card?", "The letter is K.", "The letter is K, no, the letter is L."),
    ("card", "What letter is on the card?", "The letter is K.", "a card with a k"),
    ("when", "When does the red star appear?", "At 12 seconds.", "At 14 seconds."),
    ("when", "When does the red star appear?", "At 12 seconds.", "At 15 seconds."),
    ("when", "When does the red star appear?", "At 12 seconds.", "At twelve or 12 seconds."),
    ("when", "When does the red star appear?", "There is no red star.", "There is no red cross."),
    ("presence", "Is there a red star?", "There is a red star.", "Yes, a red STAR."),
    ("presence", "Is there a red star?", "There is a red star.", "There is no red star."),
    ("color", "What colour is the star?", "The star is red.", "Die Farbe ist rot. Ünïcödé 👍 red"),
    ("list", "List everything in order.", "A red star, a card with K.", "A red star, a card with the letter K."),
    ("list", "List everything in order.", "A red star, a card with K.", "A card with K, a red star."),
    ("after", "What comes after the red star?", "A blue circle.", ""),
]


def damaged(text: str, other: str, dice: random.Random) -> str:
    words = text.rstrip(".").split()
    at = dice.randrange(len(words))
    kind = dice.randrange(8)
    if kind == 0:
        return other
    if kind == 1:
        return " ".join(words[:at])
    if kind == 2:
        return " ".join(words[:at] + [words[at]] * 3 + words[at + 1 :])
    if kind == 3:
        return " ".join(words[:at] + [dice.choice([*world.COLORS, *world.SHAPES, "no", "7", "two", "and", "stars"])] + words[at + 1 :]) + "."
    if kind == 4:
        return text.upper() + "  (" + dice.choice(["I think", "colour", "thing"]) + ")"
    if kind == 5:
        return text + " " + other
    if kind == 6:
        return ", ".join(reversed(text.rstrip(".").split(", ")))
    return text


def main() -> None:
    dice = random.Random(SEED)
    asked = []
    for seed in range(60):
        rng = np.random.default_rng((SEED, seed))
        facts = questions.Facts(world.random_timeline(rng, 16))
        asked += [qa for kind in questions.KINDS for _ in range(2) if (qa := questions.ask(kind, facts, 40.0, rng)) is not None]
    cases = list(HAND_MADE)
    for qa in asked:
        others = [other.answer for other in asked if other.kind == qa.kind]
        cases.append((qa.kind, qa.question, qa.answer, damaged(qa.answer, dice.choice(others), dice)))
    lines = [
        {"kind": kind, "question": question, "truth": truth, "answer": answer, "right": score.is_right(kind, question, truth, answer, INTERVAL_S)}
        for kind, question, truth, answer in cases
    ]
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    manifest = {
        "what": "answers judged by the demo world's rule",
        "reference": "resources/demo/make/score.py, is_right",
        "script": "tests/golden/make/make_scene_facts_golden.py",
        "seed": SEED,
        "cases": len(lines),
        "right": sum(line["right"] for line in lines),
        "interval_s": INTERVAL_S,
        "tolerance": "none",
        "licence": "own",
    }
    (FOLDER / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(f"{len(lines)} cases, {manifest['right']} right")


if __name__ == "__main__":
    main()
