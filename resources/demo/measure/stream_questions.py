"""Questions asked while a video is still running, about what was seen so far.

    python stream_questions.py --cli ../../../build/release/bin/winnow-cli

Encoded held-out videos are piped into `winnow-cli watch -`, a frame a sampling interval. At a quarter, half, three quarters and the end of each
four questions of different kinds come about the part that was seen, whose truth is the timeline up to there; nothing of them is known before.
The cache is held within 10, 5 and 2.5 % of the whole video's slots; the row "all kept" has room for everything. Right answers by moment, and
their mean with the half width of a 95 % interval by bootstrap over videos, and what share was really held when it was asked: InfiniPot-V leaves
room for the next clip. What was answered is kept in a log, and a run that was cut off goes on from there.
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np

import demo_world  # noqa: F401 (first: where the others are found)
import questions
import score
import world
from questions import Facts, Qa
from ten_questions import KINDS, begun, half_width, videos_to_ask
from world import Timeline

# Name in the table: method and options.
METHODS = {
    "self-study-stream": ("self-study-stream", []),
    "kvzip-stream": ("kvzip-stream", []),
    "infinipot-v": ("infinipot-v", []),
    "infinipot-v, target=1": ("infinipot-v", ["--method-option", "target=1"]),
    "keydiff": ("keydiff", ["--method-option", "event=clips"]),
    "random-context, clips": ("random-context", ["--method-option", "event=clips"]),
    "last-frames": ("last-frames", []),
    "self-study-stream, newest=4": ("self-study-stream", ["--method-option", "newest=4"]),
}
ALL_KEPT = ("kvzip-stream", [])
MOMENTS = 4
QUESTIONS = 4
FIRST_SEED = world.EVALUATION_SEEDS.start + 500_000
FRAME_TOKENS = 9


def seen_until(timeline: Timeline, frame: int) -> Timeline:
    """What the first `frame` sampled frames show."""
    scenes = int(timeline.scene_of_frames()[frame - 1]) + 1
    return Timeline(timeline.things[:scenes], timeline.ends[: scenes - 1] + (float(frame),), frame)


def some(facts: Facts, duration_s: float, rng: np.random.Generator) -> list[Qa]:
    asked: list[Qa] = []
    for kind in rng.permutation(KINDS):
        qa = questions.ask(str(kind), facts, duration_s, rng, surface=False)
        if qa is not None and len(asked) < QUESTIONS:
            asked.append(qa)
    return asked


def kv_heads(model: Path) -> int:
    return json.loads((model / "config.json").read_text())["text_config"]["num_key_value_heads"]


def watched(options: argparse.Namespace, stream: bytes, every_s: float, asked: list[tuple[float, Qa]], arguments: list[str]) -> tuple[list[str], float]:
    """The answers, and how much of the whole video was held when they were given, on average over layers and moments."""
    timed = options.out / "questions.jsonl"
    timed.write_text("".join(json.dumps({"at": at, "question": qa.question}) + "\n" for at, qa in asked))
    command = [str(options.cli), "watch", "-", "--model", str(options.model), "--every", str(every_s), "--questions", str(timed), "--json", *arguments]
    done = subprocess.run(command, input=stream, stdout=subprocess.PIPE, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    held = [float(np.mean(before["slots"])) for before, line in zip(lines, lines[1:]) if "slots" in before and "answer" in line]
    return [line["answer"] for line in lines if "answer" in line], float(np.mean(held)) / kv_heads(options.model) / (options.frames * FRAME_TOKENS)


def main() -> None:
    options, log_path, log = begun(__doc__, "stream", 40)
    recipes = [("all kept", 1.0)] + [(method, share) for share in options.retentions for method in METHODS]
    if options.methods:
        recipes = [recipe for recipe in recipes if recipe[0] in options.methods]
    for seed, video, path, missing in videos_to_ask(options, FIRST_SEED, recipes, log):
        every_s = video.duration_s / options.frames
        # A watched source's first frame is its first: half an interval is left out, so that frames are those that a file's plan would take.
        command = ["ffmpeg", "-v", "error", "-i", str(path), "-ss", str(every_s / 2), "-c:v", "libx264", "-preset", "veryfast", "-crf", "12", "-f", "mpegts", "-"]  # fmt: skip
        stream = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        rng = np.random.default_rng((seed, MOMENTS))
        asked: list[tuple[float, Qa]] = []
        for moment in range(1, MOMENTS + 1):
            frame = options.frames * moment // MOMENTS
            part = seen_until(video.timeline_at(options.frames), frame)
            asked += [(frame * every_s - (0.25 * every_s if moment == MOMENTS else 0.0), qa) for qa in some(Facts(part), frame * every_s, rng)]
        for method, share in missing:
            cap = 1 << 20 if share == 1.0 else max(1, round(share * options.frames * FRAME_TOKENS))
            program, chosen = ALL_KEPT if share == 1.0 else METHODS[method]
            arguments = ["--cap", str(cap), "--method", program, *chosen]
            answers, held = watched(options, stream, every_s, asked, arguments)
            right = [bool(score.is_right(qa.kind, qa.question, qa.answer, answer, every_s)) for (_, qa), answer in zip(asked, answers, strict=True)]
            moments = [min(MOMENTS, int(round(at / (options.frames * every_s / MOMENTS)))) for at, _ in asked]
            entry = {"key": [seed, method, share], "right": right, "moments": moments, "held": held}
            with log_path.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            log[seed, method, share] = entry

    print(f"| {options.frames} frames | kept | videos | " + " | ".join(f"{moment}/{MOMENTS}" for moment in range(1, MOMENTS + 1)) + " | all | +- | held |")
    print("|---" * (6 + MOMENTS) + "|")
    for method, share in recipes:
        entries = [entry for key, entry in sorted(log.items()) if key[1:] == (method, share)]
        if not entries:
            continue
        cells = [method, f"{100 * share:g} %", str(len(entries))]
        for moment in range(1, MOMENTS + 1):
            of_moment = [right for entry in entries for right, at in zip(entry["right"], entry["moments"]) if at == moment]
            cells.append(f"{100 * np.mean(of_moment):.0f}")
        per_video = np.array([np.mean(entry["right"]) for entry in entries])
        print("| " + " | ".join([*cells, f"{100 * per_video.mean():.1f}", f"{half_width(per_video):.1f}", f"{100 * np.mean([entry['held'] for entry in entries]):.1f} %"]) + " |", flush=True)


if __name__ == "__main__":
    main()
