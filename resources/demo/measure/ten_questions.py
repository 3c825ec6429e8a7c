"""Ten questions about one video, not known when its cache is compressed: what the first and the tenth of them get right.

    python ten_questions.py --cli ../../../build/release/bin/winnow-cli

    python ten_questions.py --cli PATH --frames 256 --methods full self-study own-question --retentions 0.05

Every video is asked ten different one-step questions in a seeded random order, through `winnow-cli batch --together`. Mode drop: each question
alone, on the same compressed cache (--guard alone; methods that compress after a question read everything again for each and are left out).
Mode keep: one conversation. Controls: the words of the first question judged for all ten, the words of each question for itself (what could be had
if the question were known), and the model's own answers to all ten. Right answers at question 1, 2, 5 and 10 and the mean of 2 to 10, with the half width of a 95 % interval by
bootstrap over videos, because questions about one video are not independent; the wait for the first word of questions 1, 2 and 10. What was
answered is kept in a log, and a run that was cut off goes on from there.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import demo_world  # noqa: F401 (first: where the others are found)
import questions
import score
import videos
import world
from export import MODEL_DIR
from questions import Facts, Qa

KINDS = ("color", "shape", "after", "before", "first", "last", "presence", "count", "card", "when")
QUESTIONS = 10
# Name in the table: method and options. All compress before a question is read.
BEFORE = {
    "self-study": ("self-study", {}),
    "self-study, own words alone": ("self-study", {"with": "nothing"}),
    "kvzip": ("kvzip", {}),
    "kvzip+": ("kvzip+", {}),
    "expected-attention": ("expected-attention", {}),
    "expected-attention, request": ("expected-attention", {"stats": "request"}),
    "expected-attention, answer": ("expected-attention", {"stats": "answer"}),
    "self-study-stream": ("self-study-stream", {}),
    "kvzip-stream": ("kvzip-stream", {}),
    "infinipot-v": ("infinipot-v", {}),
    "rekv": ("rekv", {}),
    "random-context": ("random-context", {}),
    "random-context, clips": ("random-context", {"event": "clips"}),
    "every-k": ("every-k", {}),
    "last-frames": ("last-frames", {}),
}
# Whom heads compete with, and the share that every head keeps before they do.
COMPETING = {
    f"{name}, {compete}, floor {floor}": (method, options | {"compete": compete, "floor": floor})
    for name, method, options in (("kvzip+", "kvzip+", {}), ("union", "self-study", {"with": "kvzip"}))
    for compete in ("layer", "all")
    for floor in ("0", "0.2")
}
# The requests in {} are questions of the video.
TOLD = {
    "first-question": ("self-study", {"ask": "{first}", "words": "request"}),
    "own-question": ("self-study", {"ask": "{own}", "words": "request"}),
    "all-questions": ("self-study", {"ask": "{all}", "with": "nothing"}),
}
AFTER = ("snapkv", "vl-cache")  # judged by the first question: only what a conversation keeps tells how it fares
FIRST_SEED = world.EVALUATION_SEEDS.start


def ten(facts: Facts, duration_s: float, rng: np.random.Generator) -> list[Qa]:
    """Each kind once where the video has such a question, then others in turn; none twice; in random order."""
    asked: dict[str, Qa] = {}
    for _ in range(50):
        for kind in KINDS:
            qa = questions.ask(kind, facts, duration_s, rng, surface=False)
            if qa is not None and len(asked) < QUESTIONS:
                asked.setdefault(qa.question, qa)
    return [list(asked.values())[i] for i in rng.permutation(len(asked))]


def half_width(rights: np.ndarray) -> float:
    """Of the mean over all entries [videos, questions], resampled by video, in points."""
    rng = np.random.default_rng(1)
    means = [rights[rng.integers(len(rights), size=len(rights))].mean() for _ in range(2000)]
    return 50 * float(np.quantile(means, 0.975) - np.quantile(means, 0.025))


def requests_of(recipe: tuple[str, float, str], media: dict, asked: list[Qa]) -> list[dict]:
    """Lines for `winnow-cli batch`: one, or one a question where each has a cache of its own."""
    name, share, _ = recipe
    texts = [qa.question for qa in asked]
    line = media | {"retention": share}
    if name not in TOLD:
        method, options = (BEFORE | COMPETING).get(name, (name, {}))
        return [line | {"method": method, "options": options, "questions": texts}]
    method, options = TOLD[name]
    runs = [[text] for text in texts] if options["ask"] == "{own}" else [texts]
    told = [{"first": texts[0], "own": run[0], "all": "|".join(texts)} for run in runs]
    return [line | {"method": method, "options": {k: v.format(**t) for k, v in options.items()}, "questions": run} for run, t in zip(runs, told)]


def begun(description: str, folder: str, most_videos: int) -> tuple[argparse.Namespace, Path, dict[tuple, dict]]:
    """The command line, and what earlier runs have answered: the log's file, and its entries by key."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / folder)
    parser.add_argument("--videos", type=int, default=most_videos)
    parser.add_argument("--frames", type=int, default=64)
    parser.add_argument("--retentions", type=float, nargs="*", default=[0.1, 0.05, 0.025])
    parser.add_argument("--methods", nargs="*", help="of the table; all")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    log_path = options.out / f"{options.frames}-frames.jsonl"
    log = {}
    if log_path.exists():
        log = {tuple(entry["key"]): entry for entry in map(json.loads, log_path.read_text().splitlines())}
    return options, log_path, log


def videos_to_ask(options: argparse.Namespace, first_seed: int, recipes: list[tuple], log: dict[tuple, dict]) -> Iterator[tuple]:
    """Held-out videos of which something is missing in the log: seed, video, its encoded file, the recipes that are missing."""
    for seed in range(first_seed + 1000 * options.frames, first_seed + 1000 * options.frames + options.videos):
        missing = [recipe for recipe in recipes if (seed, *recipe) not in log]
        if not missing:
            continue
        video = videos.random_video(seed, options.frames)
        path = options.out / f"{seed}{video.suffix}"
        if not path.exists():
            videos.write(video, path)
        yield seed, video, path, missing


def main() -> None:
    options, log_path, log = begun(__doc__, "ten", 80)
    recipes = [("full", 1.0, mode) for mode in ("drop", "keep")]
    recipes += [(method, share, mode) for share in options.retentions for method in BEFORE for mode in ("drop", "keep")]
    recipes += [(method, share, "drop") for share in options.retentions for method in COMPETING]
    recipes += [(method, share, "keep") for share in options.retentions for method in AFTER]
    recipes += [(method, share, "drop") for share in options.retentions for method in TOLD]
    if options.methods:
        recipes = [recipe for recipe in recipes if recipe[0] in options.methods]
    for seed, video, path, missing in videos_to_ask(options, FIRST_SEED, recipes, log):
        asked = ten(Facts(video.timeline_at(options.frames)), video.duration_s, np.random.default_rng((seed, QUESTIONS)))
        if len(asked) < QUESTIONS:
            continue
        for mode, guard in (("drop", "alone"), ("keep", "keep")):
            of_mode = [recipe for recipe in missing if recipe[2] == mode]
            media = {"video": str(path), "frames": options.frames}
            lines = [requests_of(recipe, media, asked) for recipe in of_mode]
            requests = options.out / f"requests-{options.frames}.jsonl"
            requests.write_text("".join(json.dumps(line) + "\n" for of_recipe in lines for line in of_recipe))
            command = [str(options.cli), "batch", "--model", str(options.model), "--together", "--guard", guard, str(requests)]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            answered = map(json.loads, done.stdout.splitlines())
            with log_path.open("a") as file:
                for recipe, of_recipe in zip(of_mode, lines, strict=True):
                    found = [next(answered) for _ in of_recipe]
                    answers = [answer for line in found for answer in line["answers"]]
                    interval = video.duration_s / options.frames
                    right = [bool(score.is_right(qa.kind, qa.question, qa.answer, answer, interval)) for qa, answer in zip(asked, answers, strict=True)]
                    entry = {"key": [seed, *recipe], "right": right, "ttft_ms": [ms for line in found for ms in line["ttft_ms"]]}
                    log[tuple(entry["key"])] = entry
                    file.write(json.dumps(entry) + "\n")

    print(f"| {options.frames} frames | kept | mode | videos | 1 | 2 | 5 | 10 | 2-10 | +- | first word of 1, 2, 10 (ms) |")
    print("|---" * 11 + "|")
    for method, share, mode in recipes:
        entries = [entry for key, entry in sorted(log.items()) if key[1:] == (method, share, mode)]
        if not entries:
            continue
        right = np.array([entry["right"] for entry in entries], dtype=float)
        waits = np.median(np.array([entry["ttft_ms"] for entry in entries]), axis=0)
        at = [f"{100 * right[:, i].mean():.0f}" for i in (0, 1, 4, 9)]
        later = right[:, 1:]
        cells = [method, f"{100 * share:g} %", mode, str(len(entries)), *at, f"{100 * later.mean():.1f}", f"{half_width(later):.1f}"]
        print("| " + " | ".join(cells + [", ".join(f"{waits[i]:.0f}" for i in (0, 1, 9))]) + " |", flush=True)


if __name__ == "__main__":
    main()
