"""Videos for the needle test: one letter card somewhere among scenes of coloured shapes.

The card is shown for two frames (the first or last when the depth is 0 or 100 %), everything else by scenes of shapes and a few empty ones,
at most 34. A frame lasts a second. The same length, depth and trial are the same pixels everywhere: ffmpeg writes them without loss.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import scene_painter
from ffmpeg import run_ffmpeg
from item_lines import ItemLine
from random_numbers import RandomNumbers
from scene_painter import Backdrop, Ground, LetterSheet, Look, Rgb

LETTERS = Path(__file__).parent.parent / "demo/evaluation/letters.png"
LEAST_FRAMES, MOST_FRAMES = 4, 1024
WIDTH, HEIGHT = 240, 180
_CARD_FRAMES = 2
_MOST_SCENES = 34
_PALETTE: tuple[Rgb, ...] = (
    (220, 40, 40), (40, 180, 60), (50, 80, 230), (235, 215, 40), (150, 50, 190), (245, 140, 30), (245, 245, 245), (250, 130, 190),
)  # fmt: skip


@dataclass(frozen=True)
class NeedleSpec:
    frames: int = 64
    depth_percent: int = 50
    trial: int = 0

    @property
    def name(self) -> str:
        return f"needle:{self.frames}:{self.depth_percent}:{self.trial}"


@dataclass(frozen=True)
class NeedleScenes:
    looks: list[Look]
    look_of_frame: list[int]  # [frames]
    letter: str
    first_card_frame: int


def _random_look(random: RandomNumbers, shape: str, color: Rgb, letter: str = "K") -> Look:
    shade = [min(max(channel + random.between(-12, 12), 0.0), 255.0) for channel in color]
    half = random.between(0.16, 0.27)
    place = (random.between(0, 1), random.between(0, 1))
    return Look(shape, letter, (shade[0], shade[1], shade[2]), half, place, random.between(0.68, 0.85), random.between(0.62, 0.8))


def _scene_lengths(random: RandomNumbers, frames: int, most: int) -> list[int]:
    """Lengths of the scenes that fill `frames` frames: as many as fit under `most` with at least two frames each."""
    lengths = []
    scenes = min(max(frames // 3, 1 if frames > 0 else 0), most)
    for left in reversed(range(scenes)):
        fair = frames // (left + 1)
        length = frames if left == 0 else min(max(fair + random.below(3) - 1, min(2, fair)), max(1, frames - left * 2))
        lengths.append(length)
        frames -= length
    return lengths


def needle_scenes(spec: NeedleSpec) -> NeedleScenes:
    random = RandomNumbers(spec.frames * 1_000_003 + spec.depth_percent * 1009 + spec.trial * 7_919_000_017)
    # A and I are words too: they would be hard to judge.
    letter = scene_painter.CARD_LETTERS[1 + random.below(len(scene_painter.CARD_LETTERS) - 1)]
    before = math.floor(spec.depth_percent / 100.0 * (spec.frames - _CARD_FRAMES) + 0.5)
    shapes, things = len(scene_painter.SHAPES), len(_PALETTE) * len(scene_painter.SHAPES)
    made = NeedleScenes([], [], letter, before)
    shown = things  # nothing yet

    def show(look: Look, frames: int) -> None:
        made.looks.append(look)
        made.look_of_frame.extend([len(made.looks) - 1] * frames)

    def fill(frames: int) -> None:
        nonlocal shown
        for length in _scene_lengths(random, frames, max(1, (_MOST_SCENES * frames + spec.frames // 2) // spec.frames)):
            empty = random.below(10) == 0
            thing = shown
            while thing == shown:
                thing = random.below(things)
            shown = shown if empty else thing
            shape = scene_painter.NOTHING if empty else scene_painter.SHAPES[thing % shapes]
            show(_random_look(random, shape, _PALETTE[thing // shapes]), length)

    fill(before)
    show(_random_look(random, scene_painter.CARD, (243, 243, 243), letter), _CARD_FRAMES)
    fill(spec.frames - _CARD_FRAMES - before)
    return made


@lru_cache(maxsize=16)
def _backdrop(trial: int) -> Backdrop:
    random = RandomNumbers(trial + 17)
    first = [random.between(0, 90) for _ in range(3)]
    second = [min(max(channel + random.between(-30, 30), 0.0), 90.0) for channel in first]
    ground = Ground((first[0], first[1], first[2]), (second[0], second[1], second[2]), random.between(0, 2 * math.pi))
    return Backdrop(WIDTH, HEIGHT, ground)


def needle_frames(spec: NeedleSpec, letters: LetterSheet) -> list[bytes]:
    """RGB of every frame."""
    scenes = needle_scenes(spec)
    painted = [_backdrop(spec.trial).paint(look, letters) for look in scenes.looks]
    return [painted[look] for look in scenes.look_of_frame]


def write_video(path: Path, frames: list[bytes]) -> None:
    """H.264 of RGB without loss, a frame a second."""
    size = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", "1"]
    lossless = ["-c:v", "libx264rgb", "-qp", "0", "-preset", "veryfast", "-threads", "1"]
    run_ffmpeg([*size, "-i", "-", *lossless, str(path)], b"".join(frames))


def needle_specs(lengths: tuple[int, ...], depths: int, trials: int) -> list[NeedleSpec]:
    """depths: how many, evenly from 0 to 100 %."""
    percents = [50 if depths == 1 else depth * 100 // (depths - 1) for depth in range(depths)]
    return [NeedleSpec(frames, percent, trial) for frames in lengths for percent in percents for trial in range(trials)]


def needle_items(specs: list[NeedleSpec], folder: Path) -> list[ItemLine]:
    """One item a video; the videos are written into the folder, and those that are there are kept."""
    letters = LetterSheet(LETTERS)
    items = []
    for spec in specs:
        path = folder / (spec.name.replace(":", "-") + ".mp4")
        if not path.exists():
            part = path.with_suffix(".part.mp4")
            write_video(part, needle_frames(spec, letters))
            part.rename(path)
        letter = needle_scenes(spec).letter
        group = f"{spec.frames} frames"
        items.append(ItemLine(spec.name, [path], "What letter is on the card?", [letter], "accuracy", group, frames=spec.frames))
    return items
