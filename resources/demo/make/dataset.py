"""Questions with their truth as Winnow's evaluation sets: JSON lines for `ask_set.py --data` (resources/evaluation).

    python dataset.py            writes ../evaluation: samples.jsonl, the questions about the bundled samples behind `ask_set.py --demo`, and
                                 letters.png, the glyphs of the needle test's cards (DejaVu Sans Bold)
"""

import argparse
import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import questions
import samples
import world
from questions import Facts, Qa

EVALUATION_DIR = Path(__file__).parent.parent / "evaluation"
QUESTIONS_PER_VIDEO = 14
QUESTIONS_PER_IMAGE = 7
GLYPH_HEIGHT, GLYPH_CELL = 64, 72


def line(name: str, media: str, frames: int, interval_s: float, qa: Qa) -> dict:
    """One question. Metrics facts and time are score.py's rule: the group tells facts which kind of question it is."""
    made = {"id": name, "media": media}
    if frames:
        made["frames"] = frames
    made |= {"question": qa.question, "answers": [qa.answer], "group": qa.kind}
    return made | ({"metric": "time", "tolerance_s": interval_s} if qa.kind == "when" else {"metric": "facts"})


def write(path: Path, lines: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(made) + "\n" for made in lines))
    print(f"{path}: {len(lines)} questions")


def _several(facts: Facts, duration_s: float, rng: np.random.Generator, kinds: tuple[str, ...], count: int, image: bool) -> list[Qa]:
    """Every kind once where the timeline has such a question, then further ones in turn; none twice."""
    asked: dict[str, Qa] = {}
    for _ in range(100):
        for kind in kinds:
            qa = questions.ask(kind, facts, duration_s, rng, image=image, surface=False)
            # Of list, describe and the like another wording is no other question.
            known = qa is None or any(qa.kind == other.kind and qa.answer == other.answer for other in asked.values())
            if not known and len(asked) < count:
                asked[qa.question] = qa
    return sorted(asked.values(), key=lambda qa: kinds.index(qa.kind))


def sample_lines() -> list[dict]:
    ready = {entry["file"]: [q["answer"] for q in entry["questions"]] for entry in json.loads((samples.SAMPLES_DIR / "samples.json").read_text())["samples"]}
    lines = []
    for number, sample in enumerate(samples.VIDEOS):
        video, asked = samples.made_video(sample, number)
        if [qa.answer for qa in asked] != ready[sample.file]:  # phrasings may have been added since
            raise RuntimeError(f"{sample.file} was not made by this samples.py: its timeline is not known")
        facts = Facts(video.timeline)
        several = _several(facts, video.duration_s, np.random.default_rng((samples.SEED, 200 + number)), questions.KINDS, QUESTIONS_PER_VIDEO, False)
        stem = sample.file.partition(".")[0]
        lines += [line(f"{stem}-{at}-{qa.kind}", f"../samples/{sample.file}", sample.frames, video.interval_s, qa) for at, qa in enumerate(several)]
    for number, (file, _, thing, _, _) in enumerate(samples.IMAGES):
        facts = Facts(world.Timeline((thing,), (1.0,), 1))
        several = _several(facts, 0.0, np.random.default_rng((samples.SEED, 300 + number)), questions.IMAGE_KINDS, QUESTIONS_PER_IMAGE, True)
        stem = file.partition(".")[0]
        lines += [line(f"{stem}-{at}-{qa.kind}", f"../samples/{file}", 0, 0.0, qa) for at, qa in enumerate(several)]
    return lines


def letter_sheet() -> Image.Image:
    """The letters of the world in a row, each GLYPH_HEIGHT high in the middle of its GLYPH_CELL, white on black."""
    font = ImageFont.truetype("DejaVuSans-Bold.ttf", 160)
    sheet = Image.new("L", (GLYPH_CELL * len(world.LETTERS), GLYPH_HEIGHT), 0)
    for at, letter in enumerate(world.LETTERS):
        drawn = Image.new("L", (320, 320), 0)
        ImageDraw.Draw(drawn).text((80, 60), letter, fill=255, font=font)
        glyph = drawn.crop(drawn.getbbox())
        glyph = glyph.resize((round(GLYPH_HEIGHT * glyph.width / glyph.height), GLYPH_HEIGHT))
        sheet.paste(glyph, (GLYPH_CELL * at + (GLYPH_CELL - glyph.width) // 2, 0))
    return sheet


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    write(EVALUATION_DIR / "samples.jsonl", sample_lines())
    letter_sheet().save(EVALUATION_DIR / "letters.png", optimize=True)


if __name__ == "__main__":
    main()
