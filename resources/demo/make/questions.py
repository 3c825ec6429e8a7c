"""What can be asked about a timeline, in everyday phrasings, and the canonical answers with the scenes that tell them."""

from dataclasses import dataclass

import numpy as np

import world
from world import Timeline

KINDS = ("color", "shape", "after", "before", "first", "last", "count", "presence", "card", "when", "list", "describe")
IMAGE_KINDS = ("color", "shape", "presence", "card", "describe")
LONG_KINDS = ("list", "describe")

TIME_INSTRUCTION = "The video lasts {duration_s} seconds, {frames} frames, one every {interval_s} seconds."
OUT_OF_WORLD_ANSWER = "I only know colored shapes and letter cards in videos and images."

PHRASINGS: dict[str, tuple[str, ...]] = {
    "color": (
        "What color is the {shape}?",
        "Which color is the {shape}?",
        "What color does the {shape} have?",
        "Tell me the color of the {shape}.",
        "What was the color of the {shape}?",
        "What is the color of the {shape}?",
        "Which color did the {shape} have?",
        "The {shape} is what color?",
        "What color was the {shape} in the video?",
        "Name the color of the {shape}.",
        "Can you tell me the color of the {shape}?",
        "Can you see what color the {shape} is?",
        "Please tell me which color the {shape} has.",
        "What color do you see on the {shape}?",
        "In which color did the {shape} appear?",
        "Do you know the color of the {shape}?",
    ),
    "shape": (
        "What shape is {color}?",
        "Which shape is {color}?",
        "Which shape was {color}?",
        "Tell me which shape is {color}.",
        "What is the {color} shape?",
        "What {color} shape is there?",
        "What was the {color} thing?",
        "Name the shape that is {color}.",
        "What shape does the {color} thing have?",
        "Which {color} shape can be seen?",
        "Can you tell me what is {color}?",
        "Which shape do you see in {color}?",
        "What shape did you see in {color}?",
        "Please tell me the shape that is {color}.",
        "In the video, what shape is {color}?",
        "What shape appears in {color}?",
    ),
    "after": (
        "What comes after the {thing}?",
        "What came after the {thing}?",
        "Which shape comes after the {thing}?",
        "What follows the {thing}?",
        "Tell me what comes after the {thing}.",
        "After the {thing}, what comes next?",
        "What is shown after the {thing}?",
        "What shape came next after the {thing}?",
        "Which shape followed the {thing}?",
        "What appears right after the {thing}?",
        "Can you tell me what comes after the {thing}?",
        "What did you see after the {thing}?",
        "What is the next shape after the {thing}?",
        "Tell me the shape after the {thing}.",
        "Please tell me which shape comes after the {thing}.",
        "What do you see next, after the {thing}?",
    ),
    "before": (
        "What comes before the {thing}?",
        "What came before the {thing}?",
        "Which shape comes before the {thing}?",
        "What precedes the {thing}?",
        "Tell me what comes before the {thing}.",
        "Before the {thing}, what is shown?",
        "What is shown before the {thing}?",
        "What shape came just before the {thing}?",
        "Which shape preceded the {thing}?",
        "What appears right before the {thing}?",
        "Can you tell me what comes before the {thing}?",
        "What did you see before the {thing}?",
        "What is the shape before the {thing}?",
        "Tell me the shape before the {thing}.",
        "Please tell me which shape comes before the {thing}.",
        "What do you see just before the {thing}?",
    ),
    "first": (
        "What is the first shape?",
        "Which shape is the first?",
        "Which shape comes first?",
        "What shape came first?",
        "Tell me the first shape.",
        "What was the first shape in the video?",
        "What shape is shown first?",
        "Which shape appears first?",
        "Which was the first shape?",
        "Can you tell me the first shape?",
        "What shape do you see first?",
        "Tell me which shape comes first.",
        "Please tell me the first shape that appears.",
        "What comes first?",
        "What shape did you see first?",
    ),
    "last": (
        "What is the last shape?",
        "Which shape is the last?",
        "Which shape comes last?",
        "What shape came last?",
        "Tell me the last shape.",
        "What was the last shape in the video?",
        "What shape is shown last?",
        "Which shape appears last?",
        "Which was the last shape?",
        "Can you tell me the last shape?",
        "What shape do you see last?",
        "Tell me which shape comes last.",
        "Please tell me the last shape that appears.",
        "What comes last?",
        "What shape did you see last?",
    ),
    "count": (
        "How many {shapes} are there?",
        "How many {shapes} were there?",
        "How many {shapes} are in the video?",
        "How many {shapes} can be seen?",
        "Count the {shapes}.",
        "Tell me how many {shapes} there are.",
        "What is the number of {shapes}?",
        "How many {shapes} did you see?",
        "How many times does a {shape} appear?",
        "How often is a {shape} shown?",
        "Can you tell me how many {shapes} there are?",
        "How many {shapes} did the video show?",
        "Please count the {shapes}.",
        "How many {shapes} have you seen?",
        "What number of {shapes} do you see?",
        "How many {shapes} came?",
        "Do you know how many {shapes} there were?",
    ),
    "presence": (
        "Is there {a_thing}?",
        "Was there {a_thing}?",
        "Is {a_thing} shown?",
        "Can {a_thing} be seen?",
        "Do you see {a_thing}?",
        "Tell me whether there is {a_thing}.",
        "Does {a_thing} appear?",
        "Did you see {a_thing}?",
        "Is there {a_thing} in the video?",
        "Does the video show {a_thing}?",
        "Can you tell me if there is {a_thing}?",
        "Do you know whether there was {a_thing}?",
        "Tell me if you see {a_thing}.",
        "Please tell me if {a_thing} appears.",
        "Could you see {a_thing}?",
        "Is {a_thing} in the video?",
        "Does the video contain {a_thing}?",
    ),
    "card": (
        "What letter is on the card?",
        "Which letter is on the card?",
        "What letter was on the card?",
        "Tell me the letter on the card.",
        "What does the card say?",
        "What is written on the card?",
        "Which letter does the card show?",
        "What letter did the card have?",
        "What is the letter?",
        "Read the card.",
        "Can you tell me the letter?",
        "Can you read the card?",
        "Which letter do you see on the card?",
        "Please tell me which letter the card shows.",
        "What letter can be read on the card?",
        "Tell me what the card says.",
    ),
    "when": (
        "When does the {thing} appear?",
        "When did the {thing} appear?",
        "When is the {thing} shown?",
        "At what time does the {thing} appear?",
        "Tell me when the {thing} appears.",
        "When can the {thing} be seen?",
        "When was the {thing} shown?",
        "At which second does the {thing} appear?",
        "When does the {thing} come?",
        "How many seconds in does the {thing} appear?",
        "Can you tell me when the {thing} appears?",
        "At what second can the {thing} be seen?",
        "Tell me the time at which the {thing} appears.",
        "When did you see the {thing}?",
        "Please tell me when the {thing} is shown.",
        "At what time do you see the {thing}?",
        "Tell me at which second the {thing} comes.",
    ),
    "list": (
        "List everything in order.",
        "List all things in order.",
        "Name everything in order.",
        "What is shown, in order?",
        "Tell me everything in order.",
        "List everything that appears.",
        "What things appear, in order?",
        "Name all things in the order they appear.",
        "Which things were shown, in order?",
        "Can you list everything in order?",
        "List the things in the order you see them.",
        "Please list all things.",
        "Tell me everything that appears, in order.",
        "What do you see, in order?",
        "Tell me the things in order.",
        "List all the things in order.",
    ),
    "describe": (
        "Describe the video.",
        "Describe what is in the video.",
        "What happens in the video?",
        "Tell me about the video.",
        "What is in the video?",
        "What does the video show?",
        "What happened in the video?",
        "Please describe the video.",
        "Describe what you see.",
        "Can you describe the video?",
        "What can you see in the video?",
        "Please tell me what is in the video.",
        "Tell me what you see in the video.",
        "What do you see?",
        "What did you see in the video?",
        "Tell me what the video shows.",
        "Please describe what happens.",
    ),
}

UNSEEN_PHRASINGS: dict[str, tuple[str, ...]] = {
    "color": ("Tell me what color the {shape} is.", "Which color was the {shape}?", "In what color is the {shape} shown?"),
    "shape": ("Tell me what shape is {color}.", "What shape was {color}?", "Which shape appears in {color}?"),
    "after": ("What is next after the {thing}?", "Which shape appears after the {thing}?", "Tell me which shape followed the {thing}."),
    "before": ("What was shown before the {thing}?", "Which shape appears before the {thing}?", "Tell me which shape preceded the {thing}."),
    "first": ("What shape appears first?", "Which shape was first?", "Tell me what comes first."),
    "last": ("What shape appears last?", "Which shape was last?", "Tell me what comes last."),
    "count": ("How many {shapes} do you see?", "Tell me the number of {shapes}.", "How many {shapes} appear?"),
    "presence": ("Can you see {a_thing}?", "Does the video have {a_thing}?", "Tell me if there is {a_thing}."),
    "card": ("What letter does the card have?", "Tell me which letter is on the card.", "Which letter can be seen on the card?"),
    "when": ("At what second is the {thing} shown?", "Tell me at what time the {thing} appears.", "When do you see the {thing}?"),
    "list": ("List all the things that appear, in order.", "Tell me all things in order.", "What appears, in order?"),
    "describe": ("Tell me what happens in the video.", "What do you see in the video?", "Please tell me about the video."),
}

EVERYDAY_TEXT = (
    "Hello!", "Hi there", "Good morning.", "Who are you?", "What can you do?", "How are you today?", "What is the weather like?",
    "Tell me a joke.", "Write a poem about the sea.", "What is two plus two?", "Who wrote Hamlet?", "What is the capital of France?",
    "Can you help me?", "Thank you", "thanks a lot", "Explain how a cache works.", "Translate this into German.", "What day is it?",
    "Is there a cat?", "How old is the person?", "What music is playing?", "Who is speaking?", "Where was this filmed?",
    "Write a program that sorts numbers.", "What is the meaning of life?", "Give me a recipe for soup.", "How far away is the moon?",
    "Summarize the news.", "What model are you?", "Are you a robot?", "Do you like music?", "What is your name?", "help", "test",
    "Is there a dog in the picture?", "What is the man wearing?", "How many people are there?", "Read the sign.", "ok", "why?",
)  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """A part of an answer and the scenes whose frames tell it (none where it is not read off a frame)."""

    text: str
    scenes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Qa:
    kind: str
    question: str
    pieces: tuple[Piece, ...]

    @property
    def answer(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def plural(shape: str) -> str:
    return shape + ("es" if shape.endswith("s") else "s")


class Facts:
    """A timeline with the look-ups that questions need."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.shown = [(scene, thing) for scene, thing in enumerate(timeline.things) if thing != world.EMPTY]
        self.shapes = [(scene, thing) for scene, thing in self.shown if world.is_shape(thing)]
        self.cards = [(scene, thing) for scene, thing in self.shown if world.is_card(thing)]
        things = [thing for _, thing in self.shapes]
        self.single = [at for at, (_, thing) in enumerate(self.shapes) if things.count(thing) == 1]

    def scenes_with(self, *, color: str | None = None, shape: str | None = None) -> list[tuple[int, int]]:
        return [
            (scene, thing)
            for scene, thing in self.shapes
            if color in (None, world.color_of(thing)) and shape in (None, world.shape_of(thing))
        ]

    def absent_thing(self, rng: np.random.Generator) -> int | None:
        """A shape that never appears, mostly one that shares its colour or its shape with something that does."""
        present = {thing for _, thing in self.shapes}
        absent = [thing for thing in range(world.SHAPE_THINGS) if thing not in present]
        near = [
            thing
            for thing in absent
            if self.scenes_with(color=world.color_of(thing)) or self.scenes_with(shape=world.shape_of(thing))
        ]
        choice = near if near and rng.random() < 0.8 else absent
        return int(rng.choice(choice)) if choice else None


def _no(words: str) -> tuple[Piece, ...]:
    return (Piece("There"), Piece(" is"), Piece(f" no {words}"), Piece("."))


def _bare(thing: int) -> str:
    return f"{world.color_of(thing)} {world.shape_of(thing)}"


def _pick(rng: np.random.Generator, items: list) -> object:
    return items[int(rng.integers(len(items)))]


def _color(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    palettes = {shape: {world.color_of(t) for _, t in facts.scenes_with(shape=shape)} for shape in world.SHAPES}
    absent = [shape for shape, colors in palettes.items() if not colors]
    if absent and rng.random() < 0.1:
        shape = _pick(rng, absent)
        return {"shape": shape}, _no(shape)
    plain = [shape for shape, colors in palettes.items() if len(colors) == 1]
    if not plain:
        return None
    shape = _pick(rng, plain)
    scenes = tuple(scene for scene, _ in facts.scenes_with(shape=shape))
    return {"shape": shape}, (Piece(f"The {shape} is"), Piece(f" {next(iter(palettes[shape]))}", scenes), Piece("."))


def _shape(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    forms = {color: {world.shape_of(t) for _, t in facts.scenes_with(color=color)} for color in world.COLORS}
    absent = [color for color, shapes in forms.items() if not shapes]
    if absent and rng.random() < 0.1:
        color = _pick(rng, absent)
        return {"color": color}, _no(f"{color} shape")
    plain = [color for color, shapes in forms.items() if len(shapes) == 1]
    if not plain:
        return None
    color = _pick(rng, plain)
    scenes = tuple(scene for scene, _ in facts.scenes_with(color=color))
    return {"color": color}, (Piece(f"The {color} shape is"), Piece(f" a {next(iter(forms[color]))}", scenes), Piece("."))


def _neighbour(facts: Facts, rng: np.random.Generator, step: int) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    """The next (step 1) or previous (step -1) shape. What came before is read off the named scene itself."""
    if rng.random() < 0.06 and (thing := facts.absent_thing(rng)) is not None:
        return {"thing": _bare(thing)}, _no(_bare(thing))
    if not facts.single:
        return None
    at = _pick(rng, facts.single)
    scene, thing = facts.shapes[at]
    if not 0 <= at + step < len(facts.shapes):
        if rng.random() < 0.5:
            return None
        side = "after" if step > 0 else "before"
        return {"thing": _bare(thing)}, (Piece("There"), Piece(" is"), Piece(f" nothing {side} the {_bare(thing)}"), Piece("."))
    told_by, other = facts.shapes[at + step]
    words = world.name(other)
    return {"thing": _bare(thing)}, (Piece(words[0].upper() + words[1:], (told_by if step > 0 else scene,)), Piece("."))


def _after(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    return _neighbour(facts, rng, 1)


def _before(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    return _neighbour(facts, rng, -1)


def _end(facts: Facts, word: str, at: int) -> tuple[dict[str, str], tuple[Piece, ...]]:
    if not facts.shapes:
        return {}, _no("shape")
    scene, thing = facts.shapes[at]
    return {}, (Piece(f"The {word} shape is"), Piece(f" {world.name(thing)}", (scene,)), Piece("."))


def _first(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]]:
    return _end(facts, "first", 0)


def _last(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]]:
    return _end(facts, "last", -1)


def _count(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    numbers = {shape: len(facts.scenes_with(shape=shape)) for shape in world.SHAPES}
    present = [shape for shape, number in numbers.items() if 1 <= number <= 9]
    absent = [shape for shape, number in numbers.items() if number == 0]
    if absent and (rng.random() < 0.12 or not present):
        shape = _pick(rng, absent)
        return {"shape": shape, "shapes": plural(shape)}, (Piece("There"), Piece(" are"), Piece(f" no {plural(shape)}"), Piece("."))
    if not present:
        return None
    shape = _pick(rng, present)
    number = numbers[shape]
    told_by = (facts.scenes_with(shape=shape)[-1][0],)
    words = shape if number == 1 else plural(shape)
    be = Piece(" is " if number == 1 else " are ", told_by)
    return {"shape": shape, "shapes": plural(shape)}, (Piece("There"), be, Piece(str(number), told_by), Piece(f" {words}"), Piece("."))


def _presence(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    if facts.shapes and rng.random() < 0.5:
        _, thing = _pick(rng, facts.shapes)
        scenes = tuple(scene for scene, other in facts.shapes if other == thing)
        words = world.with_article(_bare(thing))
        return {"a_thing": words}, (Piece("There"), Piece(" is"), Piece(f" {words}", scenes), Piece("."))
    thing = facts.absent_thing(rng)
    return None if thing is None else ({"a_thing": world.with_article(_bare(thing))}, _no(_bare(thing)))


def _card(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    if not facts.cards:
        return ({}, _no("card")) if rng.random() < 0.15 else None
    if len(facts.cards) > 1:
        return None
    scene, thing = facts.cards[0]
    return {}, (Piece("The letter is"), Piece(f" {world.letter_of(thing)}", (scene,)), Piece("."))


def _list_pieces(facts: Facts) -> list[Piece]:
    pieces: list[Piece] = []
    for scene, thing in facts.shown:
        pieces += [Piece(","), Piece(f" {world.name(thing)}", (scene,))]
    return pieces[1:] + [Piece(".")]


def _list(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    if not facts.shown:
        return None
    first, *others = _list_pieces(facts)
    return {}, (Piece(first.text[1].upper() + first.text[2:], first.scenes), *others)


def _describe(facts: Facts, rng: np.random.Generator) -> tuple[dict[str, str], tuple[Piece, ...]]:
    if not facts.shown:
        return {}, (Piece("There"), Piece(" are"), Piece(" no things"), Piece("."))
    number = len(facts.shown)
    told_by = (facts.shown[-1][0],)
    be = Piece(" is " if number == 1 else " are ", told_by)
    things = Piece(" thing:" if number == 1 else " things:")
    return {}, (Piece("There"), be, Piece(str(number), told_by), things, *_list_pieces(facts))


def when_seconds(frame: int, duration_s: float, frames: int) -> int:
    return int((frame + 0.5) * duration_s / frames + 0.5)


def _when(facts: Facts, rng: np.random.Generator, duration_s: float) -> tuple[dict[str, str], tuple[Piece, ...]] | None:
    if rng.random() < 0.05 and (thing := facts.absent_thing(rng)) is not None:
        return {"thing": _bare(thing)}, _no(_bare(thing))
    if not facts.single:
        return None
    scene, thing = facts.shapes[_pick(rng, facts.single)]
    frames = facts.timeline.frames
    first_frame = int(np.argmax(facts.timeline.scene_of_frames() == scene))
    seconds = str(when_seconds(first_frame, duration_s, frames))
    return {"thing": _bare(thing)}, (Piece("At "), Piece(seconds, (scene,)), Piece(" seconds"), Piece("."))


_MAKERS = {
    "color": _color, "shape": _shape, "after": _after, "before": _before, "first": _first, "last": _last,
    "count": _count, "presence": _presence, "card": _card, "list": _list, "describe": _describe,
}  # fmt: skip


def _everyday_surface(text: str, rng: np.random.Generator) -> str:
    """Spelling as people type: other case, no question mark, British colour."""
    if rng.random() < 0.35:
        text = text.replace("color", "colour")
    if rng.random() < 0.3:
        text = text.rstrip("?.")
    return text.lower() if rng.random() < 0.3 else text


def ask(
    kind: str,
    facts: Facts,
    duration_s: float,
    rng: np.random.Generator,
    phrasings: dict[str, tuple[str, ...]] = PHRASINGS,
    image: bool = False,
    surface: bool = True,
) -> Qa | None:
    """One question of a kind, or None where this timeline has none to ask."""
    made = _when(facts, rng, duration_s) if kind == "when" else _MAKERS[kind](facts, rng)
    if made is None:
        return None
    slots, pieces = made
    template = _pick(rng, phrasings[kind])
    if image:
        template = template.replace("video", _pick(rng, ["image", "picture", "image", "photo"]))
    question = template.format(**slots)
    return Qa(kind, _everyday_surface(question, rng) if surface else question, pieces)


def out_of_world(rng: np.random.Generator) -> Qa:
    """A text that the demo world has no answer to."""
    return Qa("other", _everyday_surface(_pick(rng, EVERYDAY_TEXT), rng), (Piece(OUT_OF_WORLD_ANSWER),))


def without_media(qa: Qa) -> Qa:
    """A question about the world that comes without a video or image."""
    return Qa("other", qa.question, (Piece(OUT_OF_WORLD_ANSWER),))


def time_line(duration_s: float, frames: int) -> str:
    return TIME_INSTRUCTION.format(
        duration_s=int(duration_s + 0.5), frames=frames, interval_s=f"{duration_s / frames:.2f}"
    )
