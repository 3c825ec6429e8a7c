"""The colors and shapes of the demo world by their names, for who judges answers without drawing anything."""

COLORS = {
    "red": (220, 40, 40),
    "green": (40, 180, 60),
    "blue": (50, 80, 230),
    "yellow": (235, 215, 40),
    "purple": (150, 50, 190),
    "orange": (245, 140, 30),
    "white": (245, 245, 245),
    "pink": (250, 130, 190),
}
SHAPES = ("circle", "square", "triangle", "star", "cross", "diamond")
