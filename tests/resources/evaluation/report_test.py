#!/usr/bin/env python3
"""Tables out of logs: those that winnow-cli wrote itself before report.py was, byte for byte; and what each figure means."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import script_folder
from needle_map import needle_csv, needle_maps, needle_svg
from paper_values import NoValues, paper_comparison, paper_values
from report_rows import Report, Row, build_report
from report_tables import csv_table, json_table, markdown_table
from results import BadResults, read_results

# Folder and set of golden/evaluation; a paper.
SETS = (
    ("plain", "plain", ""),
    ("chartqa", "val", "aircache:ChartQA"),
    ("needle", "needle", ""),
    ("documents", "documents", ""),
    ("held-text", "held-text", ""),
)
# Endings of a table and of its golden file (a .md would be taken for a page of this tree).
TABLES = {".json": ".json", ".md": ".markdown", ".csv": ".csv", "-map.csv": "-map.csv", "-map.svg": "-map.svg"}


def record(item: str, recipe: str, seed: int, answer: str, score: float, achieved: float, **more: float) -> dict:
    return {"item": item, "recipe": recipe, "seed": seed, "answer": answer, "score": score, "requested": 0.5, "achieved": achieved} | {
        "kv_bytes": 0, "kv_bytes_full": 0, "budget_jsd": 0.25, "generated": 0, **more
    }  # fmt: skip


class Scratch(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_report(self, base: Path, *arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, str(script_folder.SCRIPTS / "report.py"), str(base), *arguments]
        return subprocess.run(command, capture_output=True, text=True)


class Golden(Scratch):
    def test_tables_are_those_of_the_same_log_before(self) -> None:
        for folder, name, paper in SETS:
            golden = script_folder.GOLDEN / folder
            own = self.folder / folder
            own.mkdir()
            for ending in (".jsonl", ".run.json"):
                shutil.copy(golden / f"{name}{ending}", own)
            run = self.run_report(own / name, *(["--paper", paper] if paper else []))
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, (golden / f"{name}.markdown").read_text("utf-8") + "\n")
            for ending, golden_ending in TABLES.items():
                made, known = own / f"{name}{ending}", golden / f"{name}{golden_ending}"
                with self.subTest(made.name):
                    self.assertEqual(made.exists(), known.exists())
                    if known.exists():
                        self.assertEqual(made.read_bytes(), known.read_bytes())


class Rows(Scratch):
    """Two items, full and random@0.5 with two seeds; scores are given."""

    def setUp(self) -> None:
        super().setUp()
        self.items = [{"id": i, "metric": "exact", "group": f"group, {i}", "cluster": "", "answer": "x"} for i in ("a", "b")]
        self.recipes = [
            {"name": "full", "method": "full", "retention": 1.0, "seeds": [0]},
            {"name": "random@0.5", "method": "random", "retention": 0.5, "seeds": [0, 1]},
            {"name": "snapkv@0.5", "method": "snapkv", "retention": 0.5, "seeds": [0, 1]},
        ]
        self.records = [
            record("a", "full", 0, "same", 1.0, 1.0),
            record("b", "full", 0, "same", 1.0, 1.0),
            record("a", "random@0.5", 0, "same", 1.0, 0.51),
            record("a", "random@0.5", 1, "other", 0.0, 0.51),
            record("b", "random@0.5", 0, "other", 0.0, 0.55),
        ]

    def write(self, torn: str = "") -> Path:
        base = self.folder / "set"
        run = {"winnow_run": 1, "dataset": "set", "model": "model, cpu, fp32", "recipes": self.recipes, "items": self.items}
        base.with_name("set.run.json").write_text(json.dumps(run) + "\n")
        lines = [{"winnow_evaluation": 1, "subject": "s"}, *self.records]
        base.with_name("set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + torn)
        return base

    def report(self) -> Report:
        return build_report(read_results(self.write()))

    def test_scores_are_means_over_items_of_means_over_seeds(self) -> None:
        made = self.report()
        self.assertEqual([row.recipe for row in made.rows], ["full", "random@0.5"], "a recipe without an answer has no row")
        self.assertEqual((made.planned, made.answered), (2 * 5, 5))
        random = made.rows[1]
        self.assertEqual((random.items, random.answers, random.score), (2, 3, 0.25))
        self.assertEqual(random.groups, {"group, a": 0.5, "group, b": 0.0})
        self.assertAlmostEqual(random.same_as_full or 0.0, 1.0 / 3.0)
        self.assertAlmostEqual(random.achieved, (0.51 + 0.51 + 0.55) / 3)
        self.assertEqual(random.budget_divergence, 0.25)

    def test_markdown_shows_asked_and_kept_side_by_side(self) -> None:
        text = markdown_table(self.report())
        self.assertIn("| method | asked | kept | questions | score | as full | JSD | group, a | group, b |", text)
        self.assertIn("| random | 50.0 | 52.3 | 2 | 25.0 (0.0-50.0) | 33.3 | 0.250 | 50.0 | 0.0 |", text)
        self.assertIn("5 of 10 answers", text)
        for title in ("top-1", "hits", "perplexity"):
            self.assertNotIn(title, text, "not measured, not shown")

    def test_of_clusters_it_counts_what_the_full_cache_answers(self) -> None:
        self.items.append(self.items[0] | {"id": "c"})
        for item in self.items:
            item["cluster"] = "document"
        self.records += [record("c", "full", 0, "no | idea", 0.0, 1.0), record("c", "random@0.5", 0, "x by luck", 1.0, 0.5)]
        made = self.report()
        share = made.rows[1].of_full
        self.assertEqual(made.rows[1].score, 0.5)
        self.assertEqual((share.items, share.score) if share else None, (2, 0.25), "luck counts for nothing")
        self.assertEqual(share.interval.low if share else None, 0.25, "one document has no spread")
        text = markdown_table(made)
        self.assertIn("| random | 50.0 | 51.8 | 3 | 50.0 (50.0-50.0) | 25.0 (25.0-25.0) |", text)
        self.assertIn("| c | x | no   idea |", text)
        self.assertEqual(json.loads(json_table(made))["rows"][1]["of_full"]["items"], 2)

    def test_json_and_csv_hold_the_same_numbers(self) -> None:
        made = self.report()
        self.assertEqual(json.loads(json_table(made))["rows"][1]["score"], 0.25)
        self.assertIn(',"group, a","group, b"\n', csv_table(made))
        self.assertIn("\nset,random@0.5,random,0.5,0.523333,2,3,0.25,0,0.5,,,,0.333333,,,,,,,,,,0.25,0,0,0,0.5,0\n", csv_table(made))

    def test_what_attention_says_is_a_table_of_its_own(self) -> None:
        figures = {"hit_rate": 0.25, "output_error": 0.125, "visual_contribution": 0.75, "visual_coverage": 0.5, "sparsity": 0.875}
        self.records.append(record("a", "snapkv@0.5", 0, "", 0.0, 0.5, **figures, kept_attention=0.625))
        figures |= {"output_error": 0.375}
        del figures["hit_rate"]  # the prompt had other tokens
        self.records.append(record("b", "snapkv@0.5", 0, "", 0.0, 0.5, **figures, kept_attention=0.625))
        made = self.report()
        self.assertIn("\n| snapkv | 50.0 | 25.0 | 0.250 | 75.0 | 50.0 | 87.5 | 62.5 |\n", markdown_table(made))
        self.assertNotIn("| random | 50.0 |  |", markdown_table(made))
        self.assertEqual(json.loads(json_table(made))["rows"][2]["hit_rate"], 0.25, "of those that have one")
        self.assertIn(",0.25,0.25,0.75,0.5,0.875,0.625,", csv_table(made))

    def test_a_torn_last_line_is_no_answer(self) -> None:
        self.assertEqual(len(read_results(self.write('{"item": "b", "recipe": "rand')).records), 5)

    def test_what_somebody_else_wrote_is_left_as_it_is(self) -> None:
        base = self.write()
        self.assertEqual(self.run_report(base).returncode, 0)
        self.assertEqual(
            self.run_report(base.with_name("set.jsonl")).returncode, 0, "our own tables are replaced; any of the files names the set"
        )
        for name, text in (("set.json", "[1]"), ("set.md", "## other\n\n"), ("set.csv", ""), ("set.csv", "a,b\n")):
            with self.subTest(name):
                (self.folder / name).write_text(text)
                run = self.run_report(base)
                self.assertEqual(run.returncode, 1)
                self.assertIn(f"{name}: is no table", run.stderr)
                self.assertEqual((self.folder / name).read_text(), text)
                (self.folder / name).unlink()

    def test_says_what_is_missing_or_broken(self) -> None:
        run = self.run_report(self.folder / "nothing")
        self.assertEqual(run.returncode, 1)
        self.assertIn("nothing.run.json", run.stderr)
        self.assertNotIn("Traceback", run.stderr)
        base = self.write()
        base.with_name("set.run.json").write_text("[1]\n")
        self.assertRaises(BadResults, read_results, base)
        base = self.write(torn="{\n")
        with self.assertRaisesRegex(BadResults, "set.jsonl:7"):
            read_results(base)


class Needle(unittest.TestCase):
    results = read_results(script_folder.GOLDEN / "needle/needle")

    def test_has_every_cell_and_shows_what_was_not_asked(self) -> None:
        removed = {key: line for key, line in self.results.records.items() if not (key[0].startswith("needle:32:50:") and key[1] == "full")}
        some = type(self.results)(self.results.dataset, self.results.model, self.results.recipes, self.results.items, removed)
        maps = needle_maps(some)
        self.assertEqual([len(one.cells) for one in maps], [6] * len(maps))
        svg = needle_svg(maps, "a < b")
        self.assertIn("a &lt; b", svg)
        self.assertIn("full, 32 frames, depth 50 %: not asked", svg)
        self.assertIn("full, 32 frames, depth 0 %: 100 % of 2", svg)
        self.assertRegex(svg, r">10 %, kept \d+ %<")
        self.assertIn("\nfull,full,1,32,50,0,0\n", needle_csv(maps))

    def test_is_nothing_of_other_sets(self) -> None:
        self.assertEqual(needle_maps(read_results(script_folder.GOLDEN / "plain/plain")), [])


class Papers(unittest.TestCase):
    def value(self, paper: str, *where: object) -> float:
        return next(value.score for value in paper_values(paper) if value[:4] == where)

    def test_values_are_those_of_the_tables(self) -> None:
        self.assertEqual(self.value("meda", "T-1", "LLaVA-NeXT-7B", "full", 1.0), 45.8)
        self.assertEqual(self.value("meda", "IR", "LLaVA-v1.5-13B", "meda", 0.1), 1.5)
        self.assertEqual(self.value("meda", "S-5", "LLaVA-NeXT-7B", "look-m", 0.1), 65.3)
        self.assertEqual(self.value("aircache", "DocVQA", "LLaVA-OV-7B", "aircache", 0.01), 73.2)
        self.assertEqual(self.value("aircache", "ChartQA", "Qwen2-VL-7B", "snapkv", 0.01), 69.1)
        self.assertEqual(self.value("aircache", "TextVQA", "InternVL2-8B", "aircache", 0.1), 77.0)
        self.assertEqual(self.value("vl-cache", "DocVQA", "LLaVA-1.6-34B", "streaming-llm", 0.2), 48.0)
        self.assertEqual(self.value("vl-cache", "DocVQA", "LLaVA-Mistral-7B", "full", 1.0), 68.0)
        self.assertEqual((len(paper_values("meda")), len(paper_values("aircache"))), (7 * 11, 21 * 4))

    def test_stand_beside_ours_for_the_same_method_and_share(self) -> None:
        rows = [Row("full", "full", 1.0, score=0.9), Row("aircache@0.1", "aircache", 0.1, score=0.5)]
        table = paper_comparison("aircache", "DocVQA", Report("set", "some-model, cpu, bf16", "anls", [], 2, 2, rows, []))
        self.assertIn("Ours: some-model, cpu, bf16", table)
        self.assertIn("| full | 100.0 | LLaVA-OV-7B | 87.0 | 90.0 | 3.0 |\n", table)
        self.assertIn("| aircache | 10.0 | Qwen2-VL-7B | 92.9 | 50.0 | -42.9 |\n", table)
        self.assertIn("| aircache | 1.0 | Qwen2-VL-7B | 78.3 |  | |\n", table)

    def test_no_values_are_an_error(self) -> None:
        empty = Report("set", "model", "exact", [], 0, 0, [], [])
        self.assertRaisesRegex(NoValues, "no values for AI2D", paper_comparison, "aircache", "AI2D", empty)
        self.assertRaisesRegex(NoValues, "no paper", paper_values, "nobody")


if __name__ == "__main__":
    unittest.main()
