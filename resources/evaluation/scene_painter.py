"""Frames of the demo world: a coloured shape or a letter card on a dark ground.

Plain Python without numpy: the needle test needs no package. Letters come from a sheet of glyphs
(resources/demo/evaluation/letters.png), so that no font decides what is asked. Positions and sizes are shares, so that any frame size
shows the same. resources/demo/make/world.py draws the world for training; there a scene moves and has noise.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ffmpeg import run_ffmpeg

CARD_LETTERS = "ABCDEFGHJKLMNPRTUVXYZ"  # the world's, in the order of the sheet
SHAPES = ("circle", "square", "triangle", "star", "cross", "diamond")
CARD, NOTHING = "card", "nothing"

_SAMPLES = 4  # each way in a pixel
_INK = 30.0
_WIDEST_LETTER = 0.86  # of the card's width
_GLYPH_HEIGHT, _GLYPH_CELL = 64, 72
_FAINTEST = 32  # of 255: what counts as ink where a glyph's edges are found

Rgb = tuple[float, float, float]  # 0 to 255


@dataclass(frozen=True)
class Look:
    shape: str = NOTHING
    letter: str = "K"  # of a card
    color: Rgb = (245.0, 245.0, 245.0)
    half: float = 0.2  # half extent as a share of the frame's shorter side
    place: tuple[float, float] = (0.5, 0.5)  # of the free room, across and down
    card_width: float = 0.76  # of the card's height
    letter_height: float = 0.7


@dataclass(frozen=True)
class Ground:
    first: Rgb = (20.0, 20.0, 40.0)
    second: Rgb = (20.0, 20.0, 40.0)
    angle: float = 0.0  # of the gradient, radians


class LetterSheet:
    """The glyphs of CARD_LETTERS, cut from a sheet of equal cells in a row, light on dark."""

    def __init__(self, sheet: Path) -> None:
        pixels = run_ffmpeg(["-i", str(sheet), "-f", "rawvideo", "-pix_fmt", "gray", "-"])
        width = _GLYPH_CELL * len(CARD_LETTERS)
        rows = [pixels[width * y : width * (y + 1)] for y in range(_GLYPH_HEIGHT)]
        self._glyphs = {}
        for at, letter in enumerate(CARD_LETTERS):
            cell = [row[at * _GLYPH_CELL : (at + 1) * _GLYPH_CELL] for row in rows]
            inked = [x for x in range(_GLYPH_CELL) if any(row[x] >= _FAINTEST for row in cell)]
            self._glyphs[letter] = [[value / 255.0 for value in row[inked[0] : inked[-1] + 1]] for row in cell]

    def width_to_height(self, letter: str) -> float:
        return len(self._glyphs[letter][0]) / _GLYPH_HEIGHT

    def ink(self, letter: str, x: float, y: float) -> float:
        """How much ink covers a point of the letter's own box, 0 to 1; x and y in [0, 1)."""
        if not (0 <= x < 1 and 0 <= y < 1):
            return 0.0
        row = self._glyphs[letter][int(y * _GLYPH_HEIGHT)]
        return row[int(x * len(row))]


def _in_star(u: float, v: float) -> bool:
    """Five points, tip up, inner radius 0.4: within the radius of its edge in that direction."""
    part = math.pi / 5
    angle = math.fmod(abs(math.atan2(u, -v)), 2 * part)
    if angle > part:
        angle = 2 * part - angle
    # The edge runs from the tip (1, angle 0) to the notch (0.4, angle part).
    x, y = math.hypot(u, v) * math.cos(angle), math.hypot(u, v) * math.sin(angle)
    notch_x, notch_y = 0.4 * math.cos(part), 0.4 * math.sin(part)
    return (x - 1) * notch_y <= y * (notch_x - 1)


# Points of the square from -1 to 1, y down.
_COVERS: dict[str, Callable[[float, float], bool]] = {
    "circle": lambda u, v: u * u + v * v <= 1,
    "square": lambda u, v: True,
    "triangle": lambda u, v: abs(u) <= (v + 1) / 2,
    "star": _in_star,
    "cross": lambda u, v: abs(u) <= 1.0 / 3 or abs(v) <= 1.0 / 3,
    "diamond": lambda u, v: abs(u) + abs(v) <= 1,
}


class Backdrop:
    """A ground of one size, on which scenes are painted."""

    def __init__(self, width: int, height: int, ground: Ground) -> None:
        self.width, self.height = width, height
        across = [(x / width - 0.5) * math.cos(ground.angle) for x in range(width)]
        down = [(y / height - 0.5) * math.sin(ground.angle) for y in range(height)]
        # [height][width]: how far along the gradient
        self._along = [[min(max(a + d + 0.5, 0.0), 1.0) for a in across] for d in down]
        self._first, self._steps = ground.first, tuple(b - a for a, b in zip(ground.first, ground.second))
        plain = bytearray()
        for row in self._along:
            for along in row:
                plain += bytes(_channel(value) for value in self._behind(along))
        self._plain = bytes(plain)

    def _behind(self, along: float) -> list[float]:
        return [first + step * along for first, step in zip(self._first, self._steps)]

    def paint(self, look: Look, letters: LetterSheet) -> bytes:
        """RGB, row by row."""
        if look.shape == NOTHING:
            return self._plain
        half = look.half * min(self.width, self.height)
        center_x = half + (self.width - 2 * half) * look.place[0]
        center_y = half + (self.height - 2 * half) * look.place[1]
        image = bytearray(self._plain)
        columns = [x for x in range(self.width) if abs(x + 0.5 - center_x) <= half + 1]
        points = [[(x + (i + 0.5) / _SAMPLES - center_x) / half for i in range(_SAMPLES)] for x in columns]
        stencil = _Stencil(look, letters)
        for y in range(self.height):
            if abs(y + 0.5 - center_y) > half + 1:
                continue
            lines = [(y + (i + 0.5) / _SAMPLES - center_y) / half for i in range(_SAMPLES)]
            for x, us in zip(columns, points):
                body, ink = stencil.cover(us, lines)
                if body == 0.0:
                    continue
                behind = self._behind(self._along[y][x])
                at = 3 * (y * self.width + x)
                image[at : at + 3] = bytes(
                    _channel(back * (1 - body) + own * (body - ink) + _INK * ink) for back, own in zip(behind, look.color)
                )
        return bytes(image)


class _Stencil:
    """How much of a pixel a look's body and its letter's ink cover, over a grid of samples."""

    def __init__(self, look: Look, letters: LetterSheet) -> None:
        self._look, self._letters = look, letters
        if look.shape == CARD:
            self._half_tall = look.letter_height
            self._half_wide = min(self._half_tall * letters.width_to_height(look.letter), look.card_width * _WIDEST_LETTER)
            self._covers: Callable[[float, float], bool] = lambda u, v: abs(u) <= look.card_width
        else:
            self._covers = _COVERS[look.shape]

    def cover(self, us: list[float], vs: list[float]) -> tuple[float, float]:
        """Of the pixel with samples at us across and vs down."""
        share = 1.0 / (_SAMPLES * _SAMPLES)
        covered, ink = 0, 0.0
        for v in vs:
            if abs(v) > 1:
                continue
            for u in us:
                if abs(u) > 1 or not self._covers(u, v):
                    continue
                covered += 1
                if self._look.shape == CARD:
                    ink += self._ink(u, v) * share
        return covered * share, ink

    def _ink(self, u: float, v: float) -> float:
        return self._letters.ink(self._look.letter, (u / self._half_wide + 1) / 2, (v / self._half_tall + 1) / 2)


def _channel(value: float) -> int:
    return int(min(max(value + 0.5, 0.0), 255.0))
