"""The demo world: things, scenes, the truth of sampled frames, and how a frame is drawn.

A thing is a small integer: 0..47 a shape in a colour, 48..68 a card with a letter, EMPTY nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from words import COLORS, SHAPES

COLOR_NAMES = tuple(COLORS)
LETTERS = "ABCDEFGHJKLMNPRTUVXYZ"

SHAPE_THINGS = len(COLORS) * len(SHAPES)
EMPTY = SHAPE_THINGS + len(LETTERS)
THINGS = EMPTY + 1

TRAINING_SEEDS = range(0, 1_000_000)
EVALUATION_SEEDS = range(1_000_000, 2_000_000)

_SUPERSAMPLING = 4
_FONT_FILES = (
    "DejaVuSans-Bold.ttf",
    "DejaVuSans.ttf",
    "DejaVuSerif-Bold.ttf",
    "LiberationSans-Bold.ttf",
    "NotoSans-Bold.ttf",
)


def is_shape(thing: int) -> bool:
    return thing < SHAPE_THINGS


def is_card(thing: int) -> bool:
    return SHAPE_THINGS <= thing < EMPTY


def color_of(thing: int) -> str:
    return COLOR_NAMES[thing // len(SHAPES)]


def shape_of(thing: int) -> str:
    return SHAPES[thing % len(SHAPES)]


def letter_of(thing: int) -> str:
    return LETTERS[thing - SHAPE_THINGS]


def with_article(words: str) -> str:
    return ("an " if words[0] in "aeiou" else "a ") + words


def name(thing: int) -> str:
    """The words for a thing, with article: "a red star", "a card with K"."""
    if is_card(thing):
        return f"a card with {letter_of(thing)}"
    return with_article(f"{color_of(thing)} {shape_of(thing)}")


@dataclass(frozen=True)
class Timeline:
    """What happens in a video: `things[i]` is shown until `ends[i]`, in sampling intervals."""

    things: tuple[int, ...]
    ends: tuple[float, ...]
    frames: int

    def scene_of_frames(self) -> np.ndarray:
        """Scene index of every sampled frame, taken in the middle of its interval. int [frames]"""
        return np.searchsorted(np.asarray(self.ends), np.arange(self.frames) + 0.5, side="right")

    def at(self, frames: int) -> Timeline:
        """The same video sampled with another number of frames."""
        scale = frames / self.frames
        return Timeline(self.things, tuple(end * scale for end in self.ends), frames)


def _thing_weights(rng: np.random.Generator) -> np.ndarray:
    """Some videos repeat few things, others mix all: every kind of question needs its share."""
    weights = np.zeros((len(COLORS), len(SHAPES)))
    for shape in rng.permutation(len(SHAPES))[: rng.integers(2, len(SHAPES) + 1)]:
        palette = rng.permutation(len(COLORS))[: rng.choice([1, 1, 2, 4, 8])]
        weights[palette, shape] = rng.uniform(0.3, 1.0) / len(palette)
    return (weights / weights.sum()).ravel()


def random_timeline(rng: np.random.Generator, frames: int, scenes: int | None = None, shortest: float = 1.5) -> Timeline:
    """A video as it is seen through `frames` sampled frames; no scene is shorter than `shortest` sampling intervals."""
    if scenes is None:
        most = min(35, int(frames / shortest))
        scenes = int(rng.integers(min(5, most), most + 1))
    weights = _thing_weights(rng)
    card_rate = rng.choice([0.0, 0.1, 0.25])
    single_card_at = int(rng.integers(scenes)) if rng.random() < 0.5 else -1
    things: list[int] = []
    shown = EMPTY
    for index in range(scenes):
        thing = shown
        while thing == shown:
            if index == single_card_at or (single_card_at < 0 and rng.random() < card_rate):
                thing = SHAPE_THINGS + int(rng.integers(len(LETTERS)))
            elif rng.random() < 0.2:
                thing = EMPTY
                break
            elif rng.random() < 0.15:
                thing = int(rng.integers(SHAPE_THINGS))
            else:
                thing = int(rng.choice(SHAPE_THINGS, p=weights))
        if thing == EMPTY and things and things[-1] == EMPTY:
            thing = (shown + 1 + int(rng.integers(SHAPE_THINGS - 1))) % SHAPE_THINGS
        things.append(thing)
        shown = shown if thing == EMPTY else thing
    if all(thing == EMPTY for thing in things):
        things[0] = int(rng.integers(SHAPE_THINGS))
    spare = rng.dirichlet(np.full(scenes, rng.choice([0.5, 1.0, 4.0]))) * (frames - shortest * scenes)
    ends = np.cumsum(shortest + spare)
    ends[-1] = frames
    return Timeline(tuple(things), tuple(float(end) for end in ends), frames)


@dataclass(frozen=True)
class Look:
    """How the thing of one scene is drawn. Positions and sizes are shares of the frame's shorter side or of its free room."""

    thing: int
    rgb: tuple[int, int, int]
    half: float
    start: tuple[float, float]
    stop: tuple[float, float]
    font: int
    card_width: float
    letter_height: float


def random_look(rng: np.random.Generator, thing: int) -> Look:
    base = COLORS[color_of(thing)] if is_shape(thing) else (245, 245, 245)
    start = rng.uniform(0, 1, 2)
    stop = np.clip(start + rng.uniform(-0.3, 0.3, 2) * (rng.random() < 0.7), 0, 1)
    return Look(
        thing=thing,
        rgb=tuple(int(c) for c in np.clip(np.asarray(base) + rng.integers(-12, 13, 3), 0, 255)),
        half=float(rng.uniform(0.15, 0.28)),
        start=(float(start[0]), float(start[1])),
        stop=(float(stop[0]), float(stop[1])),
        font=int(rng.integers(1_000)),
        card_width=float(rng.uniform(0.68, 0.85)),
        letter_height=float(rng.uniform(0.62, 0.8)),
    )


def random_backdrop(rng: np.random.Generator, width: int, height: int) -> np.ndarray:
    """A dark plain or softly graded background with a little noise. float32 [height, width, 3]"""
    first = rng.uniform(0, 90, 3)
    second = first if rng.random() < 0.4 else np.clip(first + rng.uniform(-45, 45, 3), 0, 90)
    angle = rng.uniform(0, 2 * math.pi)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    ramp = (x / width - 0.5) * math.cos(angle) + (y / height - 0.5) * math.sin(angle)
    ramp = np.clip(ramp + 0.5, 0, 1)[..., None]
    noise = rng.normal(0, rng.uniform(0, 4), (height, width, 1))
    return (first + (second - first) * ramp + noise).astype(np.float32)


@lru_cache(maxsize=4)
def _usable_fonts(size: int) -> tuple[ImageFont.FreeTypeFont, ...]:
    fonts = [ImageFont.load_default(size)]
    for file in _FONT_FILES:
        try:
            fonts.append(ImageFont.truetype(file, size))
        except OSError:
            continue
    return tuple(fonts)


@lru_cache(maxsize=512)
def _letter_mask(letter: str, font: int) -> Image.Image:
    fonts = _usable_fonts(160)
    drawn = Image.new("L", (320, 320), 0)
    ImageDraw.Draw(drawn).text((80, 60), letter, fill=255, font=fonts[font % len(fonts)])
    return drawn.crop(drawn.getbbox())


def _outline(shape: str) -> list[tuple[float, float]]:
    """Corners of a shape in the square from -1 to 1, y down."""
    if shape == "square":
        return [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    if shape == "triangle":
        return [(0, -1), (1, 1), (-1, 1)]
    if shape == "diamond":
        return [(0, -1), (1, 0), (0, 1), (-1, 0)]
    if shape == "cross":
        a = 1 / 3
        return [(-a, -1), (a, -1), (a, -a), (1, -a), (1, a), (a, a), (a, 1), (-a, 1), (-a, a), (-1, a), (-1, -a), (-a, -a)]
    points = []
    for corner in range(10):
        radius = 1.0 if corner % 2 == 0 else 0.4
        angle = math.pi * corner / 5
        points.append((radius * math.sin(angle), -radius * math.cos(angle)))
    return points


def draw(backdrop: np.ndarray, look: Look, progress: float) -> np.ndarray:
    """One frame: the look's thing over a backdrop, `progress` (0..1) of the way along its path. uint8 [height, width, 3]"""
    height, width = backdrop.shape[:2]
    frame = np.clip(backdrop, 0, 255).astype(np.uint8)
    if look.thing == EMPTY:
        return frame
    half = look.half * min(width, height)
    x = half + (width - 2 * half) * (look.start[0] + (look.stop[0] - look.start[0]) * progress)
    y = half + (height - 2 * half) * (look.start[1] + (look.stop[1] - look.start[1]) * progress)
    left, top = math.floor(x - half), math.floor(y - half)
    side = math.ceil(2 * half) + 2
    scale = _SUPERSAMPLING
    mask = Image.new("L", (side * scale, side * scale), 0)
    pen = ImageDraw.Draw(mask)
    center = ((x - left) * scale, (y - top) * scale)
    reach = half * scale

    def box(across: float, down: float) -> tuple[float, float, float, float]:
        return (center[0] - reach * across, center[1] - reach * down, center[0] + reach * across, center[1] + reach * down)

    ink = None
    if is_card(look.thing):
        pen.rectangle(box(look.card_width, 1), fill=255)
        glyph = _letter_mask(letter_of(look.thing), look.font)
        tall = 2 * reach * look.letter_height
        wide = min(tall * glyph.width / glyph.height, 2 * reach * look.card_width * 0.86)
        size = (max(1, round(wide)), max(1, round(tall)))
        ink = Image.new("L", mask.size, 0)
        ink.paste(glyph.resize(size), (round(center[0] - size[0] / 2), round(center[1] - size[1] / 2)))
    elif shape_of(look.thing) == "circle":
        pen.ellipse(box(1, 1), fill=255)
    else:
        pen.polygon([(center[0] + reach * u, center[1] + reach * v) for u, v in _outline(shape_of(look.thing))], fill=255)

    rows = slice(max(top, 0), min(top + side, height))
    columns = slice(max(left, 0), min(left + side, width))
    window = (slice(rows.start - top, rows.stop - top), slice(columns.start - left, columns.stop - left))

    def paint(stencil: Image.Image, rgb: tuple[int, int, int]) -> None:
        cover = np.asarray(stencil.reduce(scale), dtype=np.float32)[window][..., None] / 255
        region = frame[rows, columns]
        frame[rows, columns] = (region * (1 - cover) + np.asarray(rgb, dtype=np.float32) * cover + 0.5).astype(np.uint8)

    paint(mask, look.rgb)
    if ink is not None:
        paint(ink, tuple(20 + look.font % 30 for _ in range(3)))
    return frame
