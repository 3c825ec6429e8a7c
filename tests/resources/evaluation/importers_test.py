#!/usr/bin/env python3
"""Tiny files in the benchmarks' own formats, written by hand."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import script_folder
from importers import imported
from item_lines import BadSource, ItemLine

SHORT = "\nAnswer the question using a single word or phrase."
LETTER = "\nAnswer with the option's letter from the given choices directly."


class Importers(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def image(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return path

    def imported(self, name: str, content: object, images: Path | None = None) -> list[ItemLine]:
        file = self.folder / "set.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return imported(file, name, images)

    def test_milebench_places_images_and_turns_choices_into_letters(self) -> None:
        a, b, c = (self.image(f"images/{name}.jpg") for name in "abc")
        choices = {"context": "Is {image#2} after {image#1}?", "images_path": ["a.jpg", "b.jpg"], "choice_list": ["Yes, it is", "No"]}
        free = {"context": "Describe {image#1}.", "images_path": ["c.jpg"]}
        first, second = self.imported(
            "milebench",
            {
                "meta_data": {"task_instruction": ["Look closely.", "Choose."]},
                "data": [
                    {"sample_id": 7, "task_instruction_id": 1, "task_instance": choices, "response": "No"},
                    {"sample_id": "8", "task_instruction_id": 0, "task_instance": free, "response": "a dog runs"},
                ],
            },
        )
        question = "Choose.\nIs {image#2} after {image#1}?\nChoice list:\nA. Yes, it is\nB. No" + LETTER
        self.assertEqual(first, ItemLine("7", [a, b], question, ["B"], "accuracy"))
        self.assertEqual(second, ItemLine("8", [c], "Look closely.\nDescribe {image#1}.", ["a dog runs"], "rouge-l"))

    def test_docvqa(self) -> None:
        entry = {"questionId": 49153, "question": "What is it?", "image": "documents/p_81.png", "answers": ["0.28", "0,28"]}
        (item,) = self.imported("docvqa", {"data": [entry]}) if self.image("documents/p_81.png") else []
        self.assertEqual(item, ItemLine("49153", [self.folder / "documents/p_81.png"], "What is it?" + SHORT, ["0.28", "0,28"], "anls"))

    def test_textvqa(self) -> None:
        content = {"data": [{"question": "what brand?", "image_id": "003a", "question_id": 34602, "answers": ["nokia"] * 9 + ["toshiba"]}]}
        usual, other = self.image("train_images/003a.jpg"), self.image("pictures/003a.jpg")
        (item,) = self.imported("textvqa", content)
        self.assertEqual((item.media, len(item.answers), item.metric), ([usual], 10, "vqa"))
        self.assertEqual(self.imported("textvqa", content, other.parent)[0].media, [other])

    def test_chartqa(self) -> None:
        images = [self.image("png/one.png"), self.image("png/two.png")]
        content = [
            {"imgname": "one.png", "query": "How many bars?", "label": "14"},
            {"imgname": "two.png", "query": "Which year?", "label": 2019},
        ]
        items = self.imported("chartqa", content)
        self.assertEqual(
            [(item.id, item.media[0], item.answers, item.metric) for item in items],
            [("1", images[0], ["14"], "relaxed"), ("2", images[1], ["2019"], "relaxed")],
        )

    def test_ai2d_reads_a_folder_of_diagrams(self) -> None:
        image = self.image("ai2d/images/1.png")
        self.image("ai2d/images/0.png")
        questions = self.folder / "ai2d/questions"
        questions.mkdir()
        facts = {"answerTexts": ["crust", "mantle", "core", "sea"], "correctAnswer": 2, "questionId": "1.png-0"}
        (questions / "1.png.json").write_text(json.dumps({"imageName": "1.png", "questions": {"What does 2 show?": facts}}))
        two = {"Which?": {"answerTexts": ["a", "b"], "correctAnswer": 0, "questionId": "0.png-3"}}
        two["And what?"] = {"answerTexts": ["a", "b"], "correctAnswer": 1, "questionId": "0.png-1"}
        (questions / "0.png.json").write_text(json.dumps({"imageName": "0.png", "questions": two}))
        items = imported(questions, "ai2d")
        self.assertEqual([item.id for item in items], ["0.png-3", "0.png-1", "1.png-0"], "in the order of the file")
        self.assertEqual(items[2].media[0].resolve(), image.resolve())
        self.assertEqual(items[2].question, "What does 2 show?\nA. crust\nB. mantle\nC. core\nD. sea" + LETTER)
        self.assertEqual((items[2].answers, items[2].metric), (["C"], "accuracy"))

    def test_refuse_what_does_not_fit_with_the_entrys_number(self) -> None:
        self.image("a.png")
        self.image("images/a.png")
        self.image("png/a.png")
        entry = {"questionId": 1, "question": "?", "image": "a.png", "answers": ["x"]}
        task = {"context": "?", "images_path": ["a.png"], "choice_list": ["x"]}
        chart = {"imgname": "a.png", "query": "?", "label": "1"}
        wrong = {"?": {"answerTexts": ["x"], "correctAnswer": 1, "questionId": "q"}}
        cases = (
            ("docvqa", "{", "not valid JSON"),
            ("milebench", '{"data": [], "meta_data": ' + "[" * 300_000 + "]" * 300_000 + "}", "nests too deeply"),
            ("docvqa", {"data": [entry | {"question": 2}]}, "entry 1: question: it must be a string"),
            ("docvqa", {"data": ["x"]}, "entry 1: is not as this format has it"),
            ("docvqa", [], 'no "data"'),
            ("docvqa", {"data": 3}, "no list of questions"),
            ("docvqa", {"data": [entry | {"answers": []}]}, "entry 1: has no answers"),
            ("docvqa", {"data": [entry | {"image": "missing.png"}]}, "missing.png: no such file"),
            ("chartqa", [chart, {"imgname": "a.png", "query": "?"}], "entry 2: label: it is missing"),
            ("milebench", {"data": [{"sample_id": 1, "task_instance": task, "response": "y"}]}, "none of the choices"),
            ("ai2d", {"imageName": "a.png"}, 'no "imageName" with "questions"'),
            ("ai2d", {"imageName": "a.png", "questions": wrong}, "none of the choices"),
        )
        for name, content, reason in cases:
            with self.subTest(reason):
                self.assertRaisesRegex(BadSource, reason, self.imported, name, content)

    def test_a_command_writes_what_eval_reads(self) -> None:
        self.image("png/one.png")
        (self.folder / "val.json").write_text(json.dumps([{"imgname": "one.png", "query": "How many bars?", "label": "14"}]))
        out = self.folder / "sets/val.jsonl"
        command = [sys.executable, str(script_folder.SCRIPTS / "make_set.py"), "chartqa", str(self.folder / "val.json"), str(out)]
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        line = {"id": "1", "media": "../png/one.png", "question": "How many bars?" + SHORT, "answers": ["14"], "metric": "relaxed"}
        self.assertEqual(json.loads(out.read_text()), line)
        (self.folder / "val.json").write_text("[]")
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((run.returncode, "would hold no question" in run.stderr), (1, True), run.stderr)


if __name__ == "__main__":
    unittest.main()
