"""Makes the bundled sample videos and images with their ready questions: `../samples` and its `samples.json`.

The scenes are written down here; everything else comes from a fixed seed outside training.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

import questions
import videos
import world
from questions import Facts
from videos import Video
from world import Timeline

SAMPLES_DIR = Path(__file__).parent.parent / "samples"
SEED = world.EVALUATION_SEEDS.stop


@dataclass(frozen=True)
class Sample:
    file: str
    title: str
    duration_s: float
    frames: int
    scenes: int
    size: tuple[int, int]
    fps: int
    kinds: tuple[str, ...]


VIDEOS = (
    Sample("ten-seconds.mp4", "Ten seconds, five scenes", 10, 32, 6, (320, 240), 25, ("first", "color", "list")),
    Sample("half-minute.webm", "Half a minute", 30, 64, 9, (426, 240), 15, ("after", "presence", "count")),
    Sample("two-minutes.mp4", "Two minutes", 120, 64, 12, (480, 360), 12, ("before", "last", "when")),
    Sample("card.webm", "Find the letter card", 60, 64, 10, (240, 240), 12, ("card", "shape", "list")),
    Sample("seven-minutes.mp4", "Seven minutes", 420, 64, 18, (640, 360), 10, ("describe", "count", "after")),
    Sample("half-hour.mp4", "Half an hour, many scenes", 1800, 64, 26, (320, 180), 8, ("list", "when", "before")),
    Sample("quarter-hour.webm", "A quarter of an hour", 900, 64, 20, (320, 240), 8, ("last", "color", "presence")),
)
IMAGES = (
    ("picture.png", "A picture", 2 * len(world.SHAPES) + 3, (480, 360), ("color", "describe")),
    ("letter.jpg", "A letter card", world.SHAPE_THINGS + world.LETTERS.index("K"), (320, 320), ("card", "describe")),
)


def made_video(sample: Sample, number: int) -> tuple[Video, list[questions.Qa]]:
    """The first seed whose video can be asked everything that the sample wants to ask."""
    for attempt in range(1000):
        rng = np.random.default_rng((SEED, number, attempt))
        timeline = world.random_timeline(rng, sample.frames, sample.scenes, shortest=1.8)
        # Scenes change in the middle between two sampled frames, so that any rounding of times finds the same truth.
        ends = tuple(float(round(end)) for end in timeline.ends)
        facts = Facts(Timeline(timeline.things, ends, sample.frames))
        asked = [questions.ask(kind, facts, sample.duration_s, rng, surface=False) for kind in sample.kinds]
        if any(qa is None or "no" in qa.answer.split() or "nothing" in qa.answer for qa in asked):
            continue
        video = Video(
            facts.timeline, tuple(world.random_look(rng, thing) for thing in timeline.things), sample.duration_s, sample.fps, *sample.size,
            codec="h264" if sample.file.endswith(".mp4") else "vp9", quality=26, seed=SEED + number,
        )  # fmt: skip
        return video, asked
    raise RuntimeError(f"no timeline fits {sample.file}")


def entry(file: str, title: str, kind: str, asked: list[questions.Qa], frames: int | None = None) -> dict:
    described = {"file": file, "kind": kind, "title": title}
    if frames is not None:
        described["frames"] = frames
    return described | {"questions": [{"kind": qa.kind, "question": qa.question, "answer": qa.answer} for qa in asked]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, default=SAMPLES_DIR)
    options = parser.parse_args()
    options.samples.mkdir(parents=True, exist_ok=True)
    entries = []
    for number, sample in enumerate(VIDEOS):
        video, asked = made_video(sample, number)
        videos.write(video, options.samples / sample.file)
        entries.append(entry(sample.file, sample.title, "video", asked, sample.frames))
    for number, (file, title, thing, (width, height), kinds) in enumerate(IMAGES):
        rng = np.random.default_rng((SEED, 100 + number))
        picture = world.draw(world.random_backdrop(rng, width, height), world.random_look(rng, thing), 0.0)
        Image.fromarray(picture).save(options.samples / file, quality=92)
        facts = Facts(Timeline((thing,), (1.0,), 1))
        asked = [questions.ask(kind, facts, 0.0, rng, image=True, surface=False) for kind in kinds]
        entries.append(entry(file, title, "image", asked))
    (options.samples / "samples.json").write_text(json.dumps({"samples": entries}, indent=2) + "\n")
    size = sum(path.stat().st_size for path in options.samples.iterdir())
    print(f"{len(entries)} samples, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
