"""Published benchmarks' own question files as sets of ours, for people who have them.

    milebench  {"meta_data": {"question_type"?, "task_instruction": [..]}, "data": [{"sample_id", "task_instruction_id", "task_instance":
               {"context", "images_path": [..], "choice_list"?: [..]}, "response"}]}, one file a task; images in images/ beside it. Context
               marks {image#1}, {image#2}, ... place images. Options: accuracy by letter; else ROUGE-L.
    docvqa     {"data": [{"questionId", "question", "image": "documents/x.png", "answers": [..]}]}; images relative to the file. ANLS.
    textvqa    {"data": [{"question_id", "question", "image_id", "answers": [ten]}]}; train_images/IMAGE_ID.jpg. VQA accuracy.
    chartqa    [{"imgname", "query", "label"}]; png/IMGNAME. Relaxed accuracy.
    ai2d       {"imageName", "questions": {TEXT: {"questionId", "answerTexts": [..], "correctAnswer": index}}}, one file a diagram or a
               folder of them; images/IMAGENAME beside the questions' folder. Options as letters, accuracy.

Questions get what the benchmark's usual prompt adds (short answers, option letters). A folder of images that the caller names replaces the
usual one.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from item_lines import BadSource, ItemLine

_SHORT_ANSWER = "\nAnswer the question using a single word or phrase."
_OPTION_LETTER = "\nAnswer with the option's letter from the given choices directly."


def _lettered(options: list[str]) -> str:
    return "".join(f"\n{_letter(i)}. {option}" for i, option in enumerate(options))


def _letter(option: int) -> str:
    return chr(ord("A") + option)


def _text(entry: dict, key: str) -> str:
    """Numbers, too: ids and labels of some files are numbers."""
    value = entry[key]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _string(entry: dict, key: str) -> str:
    if not isinstance(entry[key], str):
        raise BadSource(f"{key}: it must be a string")
    return entry[key]


def _strings(entry: dict, key: str) -> list[str]:
    if not isinstance(entry[key], list) or not all(isinstance(value, str) for value in entry[key]):
        raise BadSource(f"{key}: it must be a list of strings")
    return entry[key]


def _integer(value: object, key: str, most: int) -> int:
    if not isinstance(value, int) or not 0 <= value <= most:
        raise BadSource(f"{key}: it must be a whole number from 0 to {most}")
    return value


@dataclass(frozen=True)
class _Source:
    file: Path
    images: Path

    def image(self, name: str) -> Path:
        path = self.images / name
        if not path.is_file():
            raise BadSource(f"{path}: no such file")
        return path

    def read(self) -> object:
        try:
            return json.loads(self.file.read_text("utf-8"))
        except RecursionError as problem:
            raise BadSource(f"{self.file}: nests too deeply") from problem
        except ValueError as problem:
            raise BadSource(f"{self.file}: is not valid JSON ({problem})") from problem

    def listed(self) -> object:
        whole = self.read()
        if not isinstance(whole, dict) or "data" not in whole:
            raise BadSource(f'{self.file}: has no "data"')
        return whole["data"]

    def each(self, entries: object, make: Callable[[dict], ItemLine]) -> list[ItemLine]:
        """Whatever does not fit is refused with the entry's number, from 1."""
        if not isinstance(entries, list):
            raise BadSource(f"{self.file}: has no list of questions where this format has one")
        items = []
        for number, entry in enumerate(entries, 1):
            try:
                item = make(entry)
                if not item.answers:
                    raise BadSource("has no answers")
            except BadSource as problem:
                raise BadSource(f"{self.file}: entry {number}: {problem}") from problem
            except KeyError as problem:
                raise BadSource(f"{self.file}: entry {number}: {problem.args[0]}: it is missing") from problem
            except (TypeError, AttributeError) as problem:
                raise BadSource(f"{self.file}: entry {number}: is not as this format has it") from problem
            items.append(item)
        return items


def _milebench(source: _Source) -> list[ItemLine]:
    whole = source.read()
    meta = whole.get("meta_data") if isinstance(whole, dict) else None
    instructions = _strings(meta, "task_instruction") if isinstance(meta, dict) and "task_instruction" in meta else []

    def make(entry: dict) -> ItemLine:
        task = entry["task_instance"]
        media = [source.image(name) for name in _strings(task, "images_path")]
        if not media:
            raise BadSource("names no media")
        question = ""
        if instructions:
            question = instructions[_integer(entry.get("task_instruction_id", 0), "task_instruction_id", len(instructions) - 1)] + "\n"
        question += _string(task, "context")
        response = _text(entry, "response")
        choices = task.get("choice_list")
        if not isinstance(choices, list) or not choices:
            return ItemLine(_text(entry, "sample_id"), media, question, [response], "rouge-l")
        choices = _strings(task, "choice_list")
        if response not in choices:
            raise BadSource("the response is none of the choices")
        question += "\nChoice list:" + _lettered(choices) + _OPTION_LETTER
        return ItemLine(_text(entry, "sample_id"), media, question, [_letter(choices.index(response))], "accuracy")

    return source.each(source.listed(), make)


def _docvqa(source: _Source) -> list[ItemLine]:
    def make(entry: dict) -> ItemLine:
        media = [source.image(_string(entry, "image"))]
        return ItemLine(_text(entry, "questionId"), media, _string(entry, "question") + _SHORT_ANSWER, _strings(entry, "answers"), "anls")

    return source.each(source.listed(), make)


def _textvqa(source: _Source) -> list[ItemLine]:
    def make(entry: dict) -> ItemLine:
        media = [source.image(_string(entry, "image_id") + ".jpg")]
        return ItemLine(_text(entry, "question_id"), media, _string(entry, "question") + _SHORT_ANSWER, _strings(entry, "answers"), "vqa")

    return source.each(source.listed(), make)


def _chartqa(source: _Source) -> list[ItemLine]:
    def make(entry: dict) -> ItemLine:
        media = [source.image(_string(entry, "imgname"))]
        return ItemLine("", media, _string(entry, "query") + _SHORT_ANSWER, [_text(entry, "label")], "relaxed")

    items = source.each(source.read(), make)
    for number, item in enumerate(items, 1):
        item.id = str(number)  # the files have no ids
    return items


def _ai2d(source: _Source) -> list[ItemLine]:
    whole = source.read()
    if not isinstance(whole, dict) or not isinstance(whole.get("questions"), dict) or "imageName" not in whole:
        raise BadSource(f'{source.file}: has no "imageName" with "questions"')
    name = _string(whole, "imageName")

    def make(entry: dict) -> ItemLine:
        facts = entry["facts"]
        choices = _strings(facts, "answerTexts")
        right = facts["correctAnswer"]
        if not isinstance(right, int) or not 0 <= right < len(choices):
            raise BadSource("the correct answer is none of the choices")
        question = entry["question"] + _lettered(choices) + _OPTION_LETTER
        return ItemLine(_text(facts, "questionId"), [source.image(name)], question, [_letter(right)], "accuracy")

    return source.each([{"question": question, "facts": facts} for question, facts in whole["questions"].items()], make)


# Which folder beside the file has the images, and who reads the file.
_FORMATS: dict[str, tuple[str, Callable[[_Source], list[ItemLine]]]] = {
    "milebench": ("images", _milebench),
    "docvqa": ("", _docvqa),
    "textvqa": ("train_images", _textvqa),
    "chartqa": ("png", _chartqa),
    "ai2d": ("../images", _ai2d),
}
FORMATS = tuple(_FORMATS)


def imported(path: Path, name: str, images: Path | None = None) -> list[ItemLine]:
    """name: one of FORMATS. images: instead of the usual folder."""
    usual, reader = _FORMATS[name]
    files: Iterable[Path] = sorted(path.glob("*.json")) if name == "ai2d" and path.is_dir() else [path]
    return [item for file in files for item in reader(_Source(file, images or file.parent / usual))]
