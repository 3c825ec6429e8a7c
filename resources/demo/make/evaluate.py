"""Measures the demo model's full cache on really encoded files of held-out seeds, through the program or through transformers.

    python evaluate.py --cli ../../../build/release/bin/winnow-cli      through the program
    python evaluate.py --transformers                                   without it
    python evaluate.py --write-dataset DIR                              the same files and questions for `ask_set.py --data`

The program answers through `winnow-cli batch FILE`: one JSON object a line with video or image, frames, method, retention and
questions; one a line comes back, with answers in the same order. Every question is its own conversation.
"""

import argparse
import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

import dataset
import frames as pool
import questions
import score
import videos
import world
from export import MODEL_DIR
from questions import Facts, Qa

FRAMES = 64
LONGER = (96, 128, 256)
FIRST_SEED = world.EVALUATION_SEEDS.start
IMAGE_SEED = FIRST_SEED + 500_000
CARD_QUESTIONS = 2  # only some videos have exactly one card


@dataclass
class Case:
    """One media file with its questions and, later, the answers."""

    path: Path
    frames: int
    interval_s: float
    asked: list[Qa]
    answers: list[str] = field(default_factory=list)

    @property
    def is_image(self) -> bool:
        return self.frames == 0

    def request(self) -> dict:
        media = {"image": str(self.path)} if self.is_image else {"video": str(self.path), "frames": self.frames}
        return media | {"method": "full", "retention": 1.0, "questions": [qa.question for qa in self.asked]}

    def right(self) -> list[bool]:
        return [
            score.is_right(qa.kind, qa.question, qa.answer, answer, self.interval_s) for qa, answer in zip(self.asked, self.answers)
        ]


def video_cases(folder: Path, count: int, composed_for: int, frames: int, phrasings: dict[str, tuple[str, ...]]) -> list[Case]:
    """Videos whose scenes are long enough for `composed_for` frames, sampled with `frames`."""
    cases = []
    for seed in range(FIRST_SEED + 1000 * composed_for, FIRST_SEED + 1000 * composed_for + count):
        video = videos.random_video(seed, composed_for)
        path = folder / f"{seed}{video.suffix}"
        if not path.exists():
            videos.write(video, path)
        facts = Facts(video.timeline_at(frames))
        rng = np.random.default_rng((seed, frames, len(phrasings["color"])))
        kinds = questions.KINDS + ("card",) * (CARD_QUESTIONS - 1)
        asked = [questions.ask(kind, facts, video.duration_s, rng, phrasings) for kind in kinds]
        cases.append(Case(path, frames, video.duration_s / frames, [qa for qa in asked if qa is not None]))
    return cases


def image_cases(folder: Path, count: int) -> list[Case]:
    cases = []
    for seed in range(IMAGE_SEED, IMAGE_SEED + count):
        rng = np.random.default_rng(seed)
        thing = int(rng.integers(world.SHAPE_THINGS, world.EMPTY) if rng.random() < 0.35 else rng.integers(world.SHAPE_THINGS))
        path = folder / f"{seed}{'.png' if seed % 2 else '.jpg'}"
        width, height = pool.FRAME_SIZES[rng.integers(len(pool.FRAME_SIZES))]
        picture = world.draw(world.random_backdrop(rng, width, height), world.random_look(rng, thing), 0.0)
        if not path.exists():
            Image.fromarray(picture).save(path)
        facts = Facts(world.Timeline((thing,), (1.0,), 1))
        asked = [questions.ask(kind, facts, 0.0, rng, image=True) for kind in questions.IMAGE_KINDS]
        cases.append(Case(path, 0, 0.0, [qa for qa in asked if qa is not None]))
    return cases


class Program:
    """Answers from the program itself."""

    def __init__(self, cli: Path, model: Path, folder: Path, options: list[str]) -> None:
        self.command, self.folder = [str(cli), "batch", "--model", str(model), *options], folder

    def answer(self, cases: list[Case]) -> None:
        requests = self.folder / "requests.jsonl"
        requests.write_text("".join(json.dumps(case.request()) + "\n" for case in cases))
        done = subprocess.run([*self.command, str(requests)], stdout=subprocess.PIPE, check=True, text=True)
        for case, line in zip(cases, done.stdout.splitlines(), strict=True):
            case.answers = json.loads(line)["answers"]


class Transformers:
    """Answers from transformers on the same folder; full cache only. The media are seen once, each question forks the cache."""

    def __init__(self, model: Path) -> None:
        import torch
        from transformers import AutoProcessor, LlavaOnevisionForConditionalGeneration

        self.torch = torch
        self.processor = AutoProcessor.from_pretrained(model)
        self.model = LlavaOnevisionForConditionalGeneration.from_pretrained(model, dtype=torch.bfloat16).eval()

    def _inputs(self, case: Case, qa: Qa) -> dict:
        text = qa.question
        if case.is_image:
            media, kind = {"images": [Image.open(case.path).convert("RGB")]}, "image"
        else:
            text = questions.time_line(case.interval_s * case.frames, case.frames) + "\n" + text
            media, kind = {"videos": [self._frames(case)]}, "video"
        message = [{"role": "user", "content": [{"type": kind}, {"type": "text", "text": text}]}]
        prompt = self.processor.apply_chat_template(message, add_generation_prompt=True)
        inputs = self.processor(text=prompt, return_tensors="pt", **media)
        return {name: value.to(self.torch.bfloat16) if value.is_floating_point() else value for name, value in inputs.items()}

    def _frames(self, case: Case) -> np.ndarray:
        seed = int(case.path.stem)
        video = videos.random_video(seed, (seed - FIRST_SEED) // 1000)
        return videos.read(case.path, video, case.frames)

    def answer(self, cases: list[Case]) -> None:
        torch = self.torch
        tokenizer = self.processor.tokenizer
        stop = tokenizer.convert_tokens_to_ids("<|im_end|>")
        with torch.no_grad():
            for case in cases:
                first = self._inputs(case, case.asked[0])
                opening = first["input_ids"]
                media_token = self.processor.image_token_id if case.is_image else self.processor.video_token_id
                shared = int((opening[0] == media_token).nonzero()[-1]) + 1
                seen = self.model(**{**first, "input_ids": opening[:, :shared], "attention_mask": first["attention_mask"][:, :shared]}, use_cache=True)
                cache = seen.past_key_values
                for qa in case.asked:
                    text = qa.question if case.is_image else questions.time_line(case.interval_s * case.frames, case.frames) + "\n" + qa.question
                    ids = tokenizer.encode(f"\n{text}<|im_end|><|im_start|>assistant\n", add_special_tokens=False)
                    given: list[int] = []
                    while len(given) < 256 and (not given or given[-1] != stop):
                        logits = self.model(input_ids=torch.tensor([ids]), past_key_values=cache, use_cache=True).logits
                        ids = [int(logits[0, -1].argmax())]
                        given += ids
                    case.answers.append(tokenizer.decode(given, skip_special_tokens=True))
                    cache.crop(shared)


def by_kind(cases: Iterable[Case]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for case in cases:
        for qa, right in zip(case.asked, case.right()):
            found.setdefault(qa.kind, []).append(right)
    return found


def accuracy_row(title: str, cases: list[Case]) -> str:
    found = by_kind(cases)
    everything = [hit for hits in found.values() for hit in hits]
    cells = [f"{100 * np.mean(found[kind]):.1f}" if kind in found else "" for kind in questions.KINDS]
    return f"| {title} | {len(everything)} | {100 * np.mean(everything):.1f} | " + " | ".join(cells) + " |"


def accuracy_table(rows: list[str]) -> str:
    head = "| full cache | questions | all | " + " | ".join(questions.KINDS) + " |"
    return "\n".join([head, "|---" * (3 + len(questions.KINDS)) + "|", *rows])


def dataset_lines(cases: list[Case]) -> list[dict]:
    """Questions as resources/evaluation/ask_set.py reads them; the media lie beside the file."""
    return [
        dataset.line(f"{case.path.stem}-{at}-{qa.kind}", case.path.name, case.frames, case.interval_s, qa)
        for case in cases
        for at, qa in enumerate(case.asked)
    ]


def report_mistakes(cases: list[Case], path: Path) -> None:
    with path.open("w") as file:
        for case in cases:
            for qa, answer, right in zip(case.asked, case.answers, case.right()):
                if not right:
                    file.write(json.dumps({"file": case.path.name, "kind": qa.kind, "question": qa.question, "true": qa.answer, "given": answer}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--cli", type=Path, help="the program's terminal binary")
    source.add_argument("--transformers", action="store_true")
    source.add_argument("--write-dataset", type=Path, metavar="DIR", help="asks nothing; writes media and one .jsonl for each row")
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "evaluation")
    parser.add_argument("--videos", type=int, default=110)
    parser.add_argument("--images", type=int, default=120)
    parser.add_argument("--shorter", type=int, nargs="*", default=[8, 16, 32], help="also videos composed for so few frames")
    parser.add_argument("--longer", type=int, nargs="*", default=list(LONGER))
    parser.add_argument("--side-videos", type=int, default=40, help="videos for the shorter and longer rows")
    parser.add_argument("--cli-options", nargs="*", default=[], help="further options for the program, such as --device cpu")
    options = parser.parse_args()
    options.out = options.write_dataset or options.out
    options.out.mkdir(parents=True, exist_ok=True)

    full = video_cases(options.out, options.videos, FRAMES, FRAMES, questions.PHRASINGS)
    sets = {f"{FRAMES} frames": full}
    sets["unseen phrasings"] = video_cases(options.out, options.videos, FRAMES, FRAMES, questions.UNSEEN_PHRASINGS)
    sets["images"] = image_cases(options.out, options.images)
    for frames in options.shorter:
        sets[f"{frames} frames"] = video_cases(options.out, options.side_videos, frames, frames, questions.PHRASINGS)
    for frames in options.longer:
        sets[f"{frames} frames"] = video_cases(options.out, options.side_videos, FRAMES, frames, questions.PHRASINGS)
    if options.write_dataset:
        for title, cases in sets.items():
            if cases:
                dataset.write(options.out / f"{title.replace(' ', '-')}.jsonl", dataset_lines(cases))
        return

    source = Transformers(options.model) if options.transformers else Program(options.cli, options.model, options.out, options.cli_options)
    rows = []
    for title, cases in sets.items():
        if cases:
            source.answer(cases)
            rows.append(accuracy_row(title, cases))
            report_mistakes(cases, options.out / f"mistakes {title}.jsonl")
            print(rows[-1], flush=True)
    print("\n" + accuracy_table(rows))


if __name__ == "__main__":
    main()
