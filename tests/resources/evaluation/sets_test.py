#!/usr/bin/env python3
"""Drawn videos and documents: they are those that winnow-cli drew itself, and an answer can only come from what was hidden in them."""

import hashlib
import json
import math
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

import script_folder
from fact_documents import Fact, fact_document, fact_items, normalised
from item_lines import BadSource
from needle_videos import LETTERS, NeedleSpec, needle_frames, needle_items, needle_scenes, needle_specs
from running_text import RunningText, words_of
from scene_painter import CARD, CARD_LETTERS, NOTHING, Backdrop, Ground, LetterSheet, Look
from text_documents import DocumentSpec, DocumentSpecs, drawn_part, held_items, held_text

GOLDEN = json.loads((script_folder.GOLDEN / "sets.json").read_text())
SHEET = LetterSheet(LETTERS)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def something_to_read() -> RunningText:
    """Some 2,000 words that name a colour and a month, and what is no running text."""
    text = "A HEADING THAT IS NO TEXT\n\n1. short\n\nTHIS PARAGRAPH IS LONG ENOUGH, BUT IT IS WRITTEN IN CAPITALS FROM ITS FIRST WORD TO "
    text += "THE LAST ONE AND SO IT IS LEFT OUT HERE.\n\n"
    for i in range(60):
        text += f"Paragraph number {i} tells in plain words what is\n  allowed here and what is not. "
        text += f"Whoever copies the red copy of part {i} in August has to say so to all who ask. The rest is free.\n\n"
    return RunningText([text, text])  # the second time it has been there before


def contains(text: str, golds: list[str]) -> bool:
    return any(f" {normalised(gold)} " in f" {normalised(text)} " for gold in golds)


class Scratch(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Painter(unittest.TestCase):
    def covered(self, shape: str) -> float:
        """Share of the shape's square that its colour covers, drawn white on black."""
        black = Backdrop(100, 100, Ground((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
        image = black.paint(Look(shape, color=(255.0, 255.0, 255.0), half=0.4), SHEET)
        return sum(image[::3]) / 255.0 / (80.0 * 80.0)

    def test_shapes_cover_their_geometry(self) -> None:
        star = 10 * 0.5 * 0.4 * math.sin(math.pi / 5) / 4  # ten triangles between tip 1 and notch 0.4 with 36 degrees between
        shares = {"circle": math.pi / 4, "square": 1.0, "triangle": 0.5, "cross": 5.0 / 9.0, "diamond": 0.5, "star": star, NOTHING: 0.0}
        for shape, share in shares.items():
            with self.subTest(shape):
                self.assertAlmostEqual(self.covered(shape), share, delta=0.008)

    def test_every_letter_is_dark_ink_of_its_own_form(self) -> None:
        centres = [(i + 0.5) / 16 for i in range(16)]
        forms = {letter: tuple(SHEET.ink(letter, x, y) > 0.5 for y in centres for x in centres) for letter in CARD_LETTERS}
        self.assertEqual(len(set(forms.values())), len(CARD_LETTERS))
        for letter, form in forms.items():
            self.assertTrue(0.15 < sum(form) / 256 < 0.85, letter)
        image = Backdrop(100, 100, Ground()).paint(Look(CARD, "L"), SHEET)
        at = {(u, v): image[3 * (round(50 + v * 20) * 100 + round(50 + u * 20))] for u, v in ((0.1, -0.3), (0.0, 0.65), (0.9, 0.0))}
        self.assertGreater(at[0.1, -0.3], 200, "an L is open there")
        self.assertLess(at[0.0, 0.65], 80, "and has its foot there")
        self.assertLess(at[0.9, 0.0], 80, "beside the card is the ground")


class Needle(Scratch):
    def test_videos_are_those_of_the_program_before(self) -> None:
        for known in GOLDEN["needle"]:
            with self.subTest(known["name"]):
                spec = NeedleSpec(*map(int, known["name"].split(":")[1:]))
                scenes = needle_scenes(spec)
                self.assertEqual(
                    (scenes.letter, scenes.first_card_frame, len(scenes.looks)),
                    (known["letter"], known["first_card_frame"], known["scenes"]),
                )
                self.assertEqual(hashlib.sha256(b"".join(needle_frames(spec, SHEET))).hexdigest(), known["sha256"])

    def test_have_one_card_for_two_frames_at_its_depth(self) -> None:
        for spec in needle_specs((4, 32, 64, 128, 256), 5, 4):
            with self.subTest(spec.name):
                scenes = needle_scenes(spec)
                cards = [frame for frame, look in enumerate(scenes.look_of_frame) if scenes.looks[look].shape == CARD]
                first = math.floor(spec.depth_percent / 100.0 * (spec.frames - 2) + 0.5)
                self.assertEqual((len(scenes.look_of_frame), cards), (spec.frames, [first, first + 1]))
                self.assertEqual({look.letter for look in scenes.looks if look.shape == CARD}, {scenes.letter})
                self.assertNotEqual(scenes.letter, "A")
                self.assertLessEqual(len(scenes.looks), 37)

    def test_a_file_has_the_painted_pixels_and_is_kept(self) -> None:
        spec = NeedleSpec(4, 50, 0)
        (item,) = needle_items([spec], self.folder)
        self.assertEqual((item.id, item.answers, item.frames, item.group), ("needle:4:50:0", ["Z"], 4, "4 frames"))
        read = ["ffmpeg", "-v", "error", "-i", str(item.media[0]), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        pixels = subprocess.run(read, check=True, capture_output=True).stdout
        self.assertEqual(pixels, b"".join(needle_frames(spec, SHEET)))
        made = item.media[0].stat().st_mtime_ns
        needle_items([spec], self.folder)
        self.assertEqual(item.media[0].stat().st_mtime_ns, made)
        self.assertEqual(list(self.folder.iterdir()), [item.media[0]])

    def test_say_what_is_missing(self) -> None:
        command = [sys.executable, str(script_folder.SCRIPTS / "make_set.py"), "needle", str(self.folder / "set.jsonl")]
        run = subprocess.run(command, capture_output=True, text=True, env={"PATH": str(self.folder)})
        self.assertEqual((run.returncode, run.stderr), (1, "make_set.py: ffmpeg is missing; run: sudo apt-get install ffmpeg\n"))


class Text(unittest.TestCase):
    def test_is_whole_sentences_without_headings_and_repeats(self) -> None:
        text = something_to_read()
        self.assertEqual(len(text.paragraphs), 60)
        first, second = (
            "Paragraph number 3 tells in plain words what is allowed here and what is not.",
            "Whoever copies the red copy of part 3 in August has to say so to all who ask.",
        )
        self.assertEqual(text.paragraphs[3], [first, second, "The rest is free."])
        part = text.part(59, 40)
        self.assertEqual(len(part), 2, "37 words of the last paragraph, and it goes on with the first")
        self.assertEqual(part[1], [text.paragraphs[0][0]], "up to the sentence that makes it so many")


class Facts(Scratch):
    text: RunningText
    documents: list[tuple[str, list[Fact]]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.text = something_to_read()
        cls.documents = [fact_document(cls.text, DocumentSpec(400, number, 7)) for number in range(50)]

    def test_documents_are_those_of_the_program_before(self) -> None:
        for name, known in GOLDEN["documents"].items():
            kind, *numbers = name.split(":")
            spec = DocumentSpec(*map(int, numbers))
            with self.subTest(name):
                if kind == "held":
                    self.assertEqual([digest(part) for part in held_text(self.text, spec)], known)
                else:
                    document, facts = fact_document(self.text, spec)
                    asked = "".join(f"{fact.question}|{''.join(gold + '|' for gold in fact.golds)}" for fact in facts)
                    self.assertEqual([digest(document), digest(asked)], known)

    def test_every_fact_is_named_once_and_nowhere_else(self) -> None:
        for document, facts in self.documents:
            self.assertEqual(len(facts), 6)
            for fact in facts:
                self.assertEqual(document.count(fact.sentence), 1)
                rest = document.replace(fact.sentence, "")
                self.assertFalse(contains(rest, [*fact.golds, fact.subject]), fact.sentence)
                self.assertFalse(contains(fact.question, fact.golds), "the question does not tell it")
                self.assertIn(fact.subject, fact.question)

    def test_a_fact_stands_in_every_sixth_and_every_kind_everywhere(self) -> None:
        sixths: dict[str, set[int]] = defaultdict(set)
        for document, facts in self.documents:
            for sixth, (place, kind) in enumerate(sorted((document.find(fact.sentence), fact.kind) for fact in facts)):
                # Sixths are counted in sentences, some of which are longer than others.
                self.assertAlmostEqual(place / len(document), (sixth + 0.5) / 6, delta=0.15)
                sixths[kind].add(sixth)
        self.assertEqual({kind: len(places) for kind, places in sixths.items()}, dict.fromkeys(sixths, 6))
        self.assertEqual(len({facts[0].kind for _, facts in self.documents}), 6, "every kind comes first sometimes")

    def test_answers_contain_the_value_as_people_write_it(self) -> None:
        golds = {fact.kind: fact.golds for fact in self.documents[0][1]}
        self.assertTrue(contains(f"It costs ${golds['amount'][0]}.", golds["amount"]))
        self.assertFalse(contains(f"It costs 1{golds['amount'][0]} dollars.", golds["amount"]), "part of another number")
        self.assertFalse(contains(f"The door is un{golds['color'][0]}", golds["color"]))
        self.assertEqual(len(golds["day"]), 5)

    def test_come_as_items_of_one_cluster(self) -> None:
        items = fact_items(self.text, DocumentSpecs((200, 400), 3, 1), self.folder)
        self.assertEqual((len(items), len({item.id for item in items}), len({item.cluster for item in items})), (36, 36, 6))
        self.assertEqual((items[0].group, items[0].metric), ("200 words", "contains"))
        self.assertEqual(
            {item.media[0].read_text("utf-8") for item in items},
            {fact_document(self.text, spec)[0] for spec in DocumentSpecs((200, 400), 3, 1)},
        )

    def test_refuse_a_text_that_is_too_short(self) -> None:
        self.assertRaisesRegex(BadSource, "fewer than a document of 4000", fact_document, self.text, DocumentSpec(4000))
        self.assertRaises(BadSource, fact_document, RunningText([]), DocumentSpec(100))
        one = RunningText(
            ["This single sentence of more than twenty words has no place for six facts: each stands before a sentence of its own."]
        )
        self.assertRaisesRegex(BadSource, "fewer sentences than facts", fact_document, one, DocumentSpec(20))


class Held(Scratch):
    def test_what_follows_leaves_nothing_out(self) -> None:
        text = something_to_read()
        inside = 0
        for number in range(20):
            spec = DocumentSpec(200, number, 5)
            document, after = held_text(text, spec)
            there = [sentence for paragraph in drawn_part(text, spec, spec.random(), 150) for sentence in paragraph]
            self.assertEqual(words_of(document + after), words_of(" ".join(there)))
            self.assertTrue(200 <= len(words_of(document)) < 220, "up to the end of a sentence")
            inside += not after.startswith("Paragraph")
        self.assertGreater(inside, 0, "a document may end inside a paragraph")

    def test_comes_as_one_item_a_document(self) -> None:
        text = something_to_read()
        items = held_items(text, DocumentSpecs((100, 200), 3, 1), self.folder)
        self.assertEqual(([item.id for item in items][4], len(items)), ("held:200:1:1", 6))
        self.assertEqual(items[4].answers, [held_text(text, DocumentSpec(200, 1, 1))[1]])
        self.assertEqual((items[4].metric, items[4].cluster), ("perplexity", ""), "documents are independent draws")
        with self.assertRaisesRegex(BadSource, "and the 150 behind it"):
            held_text(text, DocumentSpec(2100))


if __name__ == "__main__":
    unittest.main()
