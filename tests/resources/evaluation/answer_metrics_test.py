#!/usr/bin/env python3
"""What each metric says of an answer: published fixtures, rows by hand, and the demo world's own judge."""

import json
import math
import unittest

import script_folder
from answer_metrics import METRICS, PERPLEXITY, normalised, score


def scored(metric: str, answer: str, *golds: str, group: str = "", question: str = "What?", tolerance_s: float = 1.0) -> float:
    return score(metric, answer, list(golds), question, group, tolerance_s)


class Metrics(unittest.TestCase):
    def test_rows(self) -> None:
        vqa_golds = ("cat", "Cat", "a cat", *["dog"] * 7)
        for metric, answer, golds, wanted in (
            ("anls", "hello", ["hallo"], 0.8),
            ("anls", "cat", ["dog"], 0.0),
            ("anls", "12 march 2018", ["12 march 2019"], 12 / 13),
            ("anls", "ab", ["abcd"], 0.0),  # NL = 0.5 is not below 0.5
            ("anls", "", [""], 1.0),
            ("anls", "  Hello ", ["world", "HELLO"], 1.0),
            ("anls", "größe", ["grösse"], 1.0 - 2.0 / 6.0),
            ("rouge-l", "the cat sat on mat", ["the cat is on the mat"], 8 / 11),
            ("rouge-l", "", ["a cat"], 0.0),
            ("rouge-l", "A cat.", ["dog", "a cat"], 1.0),
            ("exact", "A red star.", ["the Red  star"], 1.0),
            ("exact", "red stars", ["red star"], 0.0),
            ("exact", "theatre", ["atre"], 0.0),  # only whole words are articles
            ("accuracy", "No, there is no card; yes?", ["no"], 1.0),
            ("accuracy", "Yes.", ["No"], 0.0),
            ("accuracy", "the Dog", ["dog"], 1.0),
            ("accuracy", "A man walks", ["A"], 0.0),
            ("contains", "I see a red star here", ["red star"], 1.0),
            ("contains", "I see red stars", ["red star"], 0.0),
            ("contains", "nothing", ["red", "nothing"], 1.0),
            ("relaxed", "104.9", ["100"], 1.0),
            ("relaxed", "105.1", ["100"], 0.0),
            ("relaxed", "-95", ["-100"], 1.0),
            ("relaxed", "1,020", ["1000"], 1.0),
            ("relaxed", "20%", ["0.2"], 1.0),
            ("relaxed", "0.01", ["0"], 0.0),
            ("relaxed", "infinity", ["1_0"], 0.0),
            ("relaxed", " Blue", ["blue"], 1.0),
            ("relaxed", "light blue", ["blue"], 0.0),
            # Three of ten said so: left out one of the three, two agree (2/3); left out another, three do (1). 0.3 * 2/3 + 0.7 = 0.9.
            ("vqa", "cat", vqa_golds, 0.9),
            ("vqa", "bird", [*vqa_golds[:9], "bird"], 0.3),
            ("vqa", "Cat", ["cat"], 1.0),
            ("time", "At 13 seconds.", ["At 12 seconds."], 1.0),
            ("time", "At 14 seconds.", ["At 12 seconds."], 0.0),
            ("time", "At 12 or 13 seconds.", ["At 12 seconds."], 0.0),
            ("time", "At 12 seconds.", ["Soon."], 0.0),
        ):
            with self.subTest(metric=metric, answer=answer, golds=golds):
                self.assertAlmostEqual(scored(metric, answer, *golds), wanted, places=12)
        self.assertEqual(scored("time", "At 14 seconds.", "At 12 seconds.", tolerance_s=2.0), 1.0)

    def test_accuracy_finds_the_option_that_is_named(self) -> None:
        for answer in ("B", "b", "(B)", "B.", "B) the red one", "The answer is B", "Answer: (b)", "It must be (B), not the first.", "I think B"):
            self.assertEqual(scored("accuracy", answer, "B"), 1.0, answer)
        for answer in ("A", "", "The answer is C, B is wrong", "A man and a Boat", "B or C", "Bad"):
            self.assertEqual(scored("accuracy", answer, "B"), 0.0, answer)

    def test_case_punctuation_articles_and_spacing_do_not_matter(self) -> None:
        self.assertEqual(normalised("  The  Red, STAR! (an $old one) "), "red star old one")

    def test_strange_texts_are_scored(self) -> None:
        for metric in METRICS:
            if metric == PERPLEXITY:
                continue
            for text in ("\ufffd\x00", "9" * 5000 if metric in ("facts", "time") else "9", ""):
                made = scored(metric, text, "a star", text, question=text, group="list")
                self.assertTrue(0.0 <= made <= 1.0 and math.isfinite(made), metric)

    def test_facts_are_those_of_the_script_that_made_the_world(self) -> None:
        folder = script_folder.ROOT / "tests/golden/scene_facts"
        manifest = json.loads((folder / "manifest.json").read_text())
        cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
        self.assertEqual(len(cases), manifest["cases"])
        for case in cases:
            metric = "time" if case["kind"] == "when" else "facts"
            made = score(metric, case["answer"], [case["truth"]], case["question"], case["kind"], manifest["interval_s"])
            self.assertEqual(made, float(case["right"]), case)


if __name__ == "__main__":
    unittest.main()
