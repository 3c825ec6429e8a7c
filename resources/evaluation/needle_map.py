"""The needle test's result by length and depth, per recipe: a picture (SVG) and a table (CSV) of the same cells."""

import re
from dataclasses import dataclass

from intervals import mean
from results import Recipe, Results

# The picture's measures in px.
_CELL_WIDTH, _CELL_HEIGHT = 16, 18
_MAP_GAP, _MAP_TITLE = 26, 18
_NAME_WIDTH, _LENGTH_WIDTH = 130, 40
_TITLE_HEIGHT, _FOOT_HEIGHT = 70, 40
_LEAST_WIDTH = 700
# From dark blue (never) over teal to light yellow (always): ordered also without colour vision and in grey.
_SCALE = ((34, 24, 82), (49, 84, 141), (33, 144, 140), (110, 205, 88), (253, 231, 37))
_GREY = 'fill="#555"'


@dataclass
class Cell:
    frames: int
    depth_percent: int
    answers: int = 0  # 0: not asked yet
    score: float = 0.0  # share right


@dataclass(frozen=True)
class NeedleMap:
    recipe: Recipe
    cells: list[Cell]  # by length, then depth
    achieved: float  # mean share kept


def needle_maps(results: Results) -> list[NeedleMap]:
    """Nothing for a set that is no needle test."""
    placed = [(re.fullmatch(r"needle:(\d+):(\d+):\d+", item.id), item) for item in results.items]
    if not any(place for place, _ in placed):
        return []
    maps = []
    for recipe in results.recipes:
        cells: dict[tuple[int, int], Cell] = {}
        achieved = []
        for place, item in placed:
            if place is None:
                continue
            frames, depth = int(place[1]), int(place[2])
            cell = cells.setdefault((frames, depth), Cell(frames, depth))
            for record in results.of(item, recipe):
                cell.score = (cell.score * cell.answers + record["score"]) / (cell.answers + 1)
                cell.answers += 1
                achieved.append(record["achieved"])
        maps.append(NeedleMap(recipe, [cells[place] for place in sorted(cells)], mean(achieved)))
    return maps


def needle_csv(maps: list[NeedleMap]) -> str:
    text = "recipe,method,requested_retention,frames,depth_percent,answers,score\n"
    for one in maps:
        for cell in one.cells:
            text += f"{one.recipe.name},{one.recipe.method},{one.recipe.retention:g},{cell.frames},{cell.depth_percent},"
            text += f"{cell.answers},{cell.score:.6g}\n"
    return text


def _color(share: float) -> str:
    at = min(max(share, 0.0), 1.0) * (len(_SCALE) - 1)
    low = min(int(at), len(_SCALE) - 2)
    rgb = (int(first + (second - first) * (at - low) + 0.5) for first, second in zip(_SCALE[low], _SCALE[low + 1]))
    return "#" + "".join(f"{channel:02x}" for channel in rgb)


def _share_label(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 0.0995 else f"{100.0 * share:.0f} %"  # 6.1 %, 12 %


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text(x: int, y: int, words: str, style: str = "") -> str:
    return f'<text x="{x}" y="{y}" {style}>{_escaped(words)}</text>\n'


def _rectangle(x: int, y: int, size: tuple[int, int], color: str, tip: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{size[0]}" height="{size[1]}" fill="{color}"><title>{_escaped(tip)}</title></rect>\n'


def _map(one: NeedleMap, lengths: list[int], depths: list[int], left: int, top: int) -> str:
    asked = "everything" if one.recipe.name == "full" else f"{_share_label(one.recipe.retention)}, kept {_share_label(one.achieved)}"
    body = _text(left, top - 6, asked)
    for cell in one.cells:
        result = f"{_share_label(cell.score)} of {cell.answers}" if cell.answers else "not asked"
        tip = f"{one.recipe.name}, {cell.frames} frames, depth {cell.depth_percent} %: {result}"
        x = left + depths.index(cell.depth_percent) * _CELL_WIDTH
        y = top + lengths.index(cell.frames) * _CELL_HEIGHT
        body += _rectangle(x, y, (_CELL_WIDTH - 1, _CELL_HEIGHT - 1), _color(cell.score) if cell.answers else "#ddd", tip)
    return body


def needle_svg(maps: list[NeedleMap], title: str) -> str:
    """One small map a recipe, a row of them per method: depth across, length down, the share right as colour and in a cell's tooltip."""
    lengths = sorted({cell.frames for one in maps for cell in one.cells})
    depths = sorted({cell.depth_percent for one in maps for cell in one.cells})
    methods = list(dict.fromkeys(one.recipe.method for one in maps))
    most = max([1, *(sum(one.recipe.method == method for one in maps) for method in methods)])
    map_width, map_height = _CELL_WIDTH * len(depths), _CELL_HEIGHT * len(lengths)
    row_height = map_height + _MAP_TITLE + _MAP_GAP
    first = _NAME_WIDTH + _LENGTH_WIDTH
    width = max(first + most * (map_width + _MAP_GAP), _LEAST_WIDTH)
    height = _TITLE_HEIGHT + len(methods) * row_height + _FOOT_HEIGHT

    body = _text(16, 26, title, 'font-size="15" font-weight="bold"')
    legend = "Across: where the card is, from the first frame to the last. Down: frames of the video. Colour: share of right answers. "
    body += _text(16, 46, legend + "Asked and really kept are named.", _GREY)
    for row, method in enumerate(methods):
        top = _TITLE_HEIGHT + row * row_height + _MAP_TITLE
        body += _text(16, top + map_height // 2 + 4, method, 'font-size="13"')
        for i, length in enumerate(lengths):
            body += _text(first - 6, top + i * _CELL_HEIGHT + 13, str(length), f'text-anchor="end" {_GREY}')
        for column, one in enumerate(one for one in maps if one.recipe.method == method):
            body += _map(one, lengths, depths, first + column * (map_width + _MAP_GAP), top)
    foot = height - _FOOT_HEIGHT + 4
    for step in range(11):
        body += _rectangle(first + step * _CELL_WIDTH, foot, (_CELL_WIDTH, 12), _color(step / 10.0), _share_label(step / 10.0))
    body += _text(first - 6, foot + 10, "0 %", f'text-anchor="end" {_GREY}')
    body += _text(first + 11 * _CELL_WIDTH + 6, foot + 10, "100 % right", _GREY)
    size = f'width="{width}" height="{height}"'
    look = 'font-family="sans-serif" font-size="11" fill="#222"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" {look}>'
    return f'{head}\n<rect {size} fill="#fff"/>\n{body}</svg>\n'
