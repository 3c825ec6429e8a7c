#!/usr/bin/env python3
"""ask_set.py around the real program and its demo model, with the scripts that stand before and after it.

    WINNOW_CLI=build/release/bin/winnow-cli python3 tests/resources/evaluation/ask_program_test.py
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import script_folder

CLI = os.environ["WINNOW_CLI"]
SAMPLES = script_folder.ROOT / "resources/demo/samples"
VIDEO = SAMPLES / "ten-seconds.mp4"
ASKED = (
    *("What is the first shape?", "What color is the circle?", "List everything in order.", "Is there a red star?"),
    *("What letter is on the card?", "How many crosses are there?"),
)


class Program(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = os.environ | {"WINNOW_HOME": str(self.folder / "home"), "OMP_NUM_THREADS": "1"}

    def run_script(self, name: str, *arguments: str | Path, fails: bool = False) -> subprocess.CompletedProcess:
        command = [sys.executable, "-B", script_folder.SCRIPTS / name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        self.assertEqual(done.returncode != 0, fails, done.stderr)
        return done

    def command(self, data: Path, *arguments: str, out: str = "results") -> list[str | Path]:
        return ["--cli", CLI, "--data", data, "--out", self.folder / out, *arguments]

    def ask(self, data: Path, *arguments: str, fails: bool = False, out: str = "results") -> subprocess.CompletedProcess:
        return self.run_script("ask_set.py", *self.command(data, *arguments, out=out), fails=fails)

    def questions(self) -> Path:
        """Six at 8 frames."""
        path = self.folder / "set.jsonl"
        line = {"media": str(VIDEO), "frames": 8, "answers": ["The circle is orange."], "metric": "rouge-l"}
        path.write_text("".join(json.dumps(line | {"question": question}) + "\n" for question in ASKED))
        return path

    def texts(self, paragraphs: int) -> Path:
        path = self.folder / "text.txt"
        text = "Paragraph {} tells in plain words what is allowed here and what is not. Whoever copies it has to say so.\n\n"
        path.write_text("".join(text.format(number) for number in range(paragraphs)))
        return path

    def rows(self, name: str) -> list[dict]:
        self.run_script("report.py", self.folder / "results" / name)
        return json.loads((self.folder / "results" / f"{name}.json").read_text())["rows"]

    def test_scores_and_shares_are_those_of_ask(self) -> None:
        run = self.ask(self.questions(), "--limit", "2", "--methods", "vl-cache,snapkv", "--retentions", "0.5")
        command = [CLI, "ask", "--json", "--frames", "8", "--method", "vl-cache", "--retention", "0.5", "--video", VIDEO, ASKED[1]]
        answer = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, env=self.environment).stdout)
        lines = map(json.loads, (self.folder / "results/set.jsonl").read_text().splitlines()[1:])
        record = next(line for line in lines if (line["item"], line["recipe"]) == ("2", "vl-cache@0.5"))
        self.assertEqual(record["answer"], answer["answer"])
        self.assertEqual((record["kv_bytes"], record["kv_bytes_full"]), (answer["kv_bytes"]["after_event"], answer["kv_bytes"]["full"]))
        self.assertIn("; 4 of 4 answers", run.stdout)
        self.assertIn("\n| vl-cache | 50.0 | ", run.stdout)
        self.assertIn(f"report.py {self.folder}/results/set", run.stderr)

    def test_a_killed_run_goes_on_to_the_same_results(self) -> None:
        data = self.questions()
        arguments = ["--agreement", "--methods", "full,vl-cache,random", "--retentions", "0.5", "--seeds", "0,1", "--max-tokens", "10"]
        whole = self.ask(data, *arguments, out="whole")
        log = self.folder / "killed/set.jsonl"
        command = [sys.executable, "-B", script_folder.SCRIPTS / "ask_set.py", *self.command(data, *arguments, out="killed")]
        for enough in (3, 16):  # killed as soon as some answers are logged
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment) as run:
                until = time.monotonic() + 180
                while time.monotonic() < until and not (log.exists() and log.read_bytes().count(b"\n") >= enough):
                    time.sleep(0.002)
                run.send_signal(signal.SIGKILL)
            self.assertIn(log.read_bytes().count(b"\n"), range(enough, 1 + 6 * 5), "was not killed half way")
        self.assertEqual(self.ask(data, *arguments, out="killed").stdout, whole.stdout)
        for name in ("set.jsonl", "set.run.json"):
            self.assertEqual((self.folder / "killed" / name).read_text(), (self.folder / "whole" / name).read_text())

    def test_saved_recipes_stand_in_the_table(self) -> None:
        mine = {"format": "winnow-recipe", "version": 1, "name": "votes by sparsity", "method": "snapkv", "retention": 0.9}
        (self.folder / "mine.json").write_text(json.dumps(mine | {"parts": {"allocator": "sparsity"}}))
        arguments = ["--limit", "2", "--methods", "full", "--retentions", "0.5", "--max-tokens", "10", "--recipe"]
        run = self.ask(self.questions(), *arguments, str(self.folder / "mine.json"))
        self.assertIn("\n| votes by sparsity | 50.0 | 50.0 | 2 |", run.stdout)
        # Of six digits that version 0.9 gave it.
        self.assertIn('"votes by sparsity#edb80a@0.5"', (self.folder / "results/set.run.json").read_text())
        self.ask(self.questions(), *arguments, str(self.folder / "none.json"), fails=True)
        (self.folder / "mine.json").write_text(json.dumps(mine | {"scorer": "x"}))
        self.assertIn("scorer is no field of a recipe", self.ask(self.questions(), *arguments, str(self.folder / "mine.json"), fails=True).stderr)

    def test_a_benchmarks_own_file_stands_beside_the_paper(self) -> None:
        (self.folder / "val.json").write_text('[{"imgname": "picture.png", "query": "What color is the star?", "label": "The star is blue."}]')
        self.run_script("make_set.py", "chartqa", "--images", SAMPLES, self.folder / "val.json", self.folder / "val.jsonl")
        self.ask(self.folder / "val.jsonl", "--methods", "full,aircache", "--retentions", "0.1")
        self.run_script("report.py", "--paper", "aircache:ChartQA", self.folder / "results/val")
        self.assertIn("| full | 100.0 | LLaVA-OV-7B | 80.3 |", (self.folder / "results/val.md").read_text())
        self.run_script("report.py", "--paper", "vl-cache:ChartQA", self.folder / "results/val", fails=True)

    def test_the_card_that_was_drawn_is_found(self) -> None:
        self.run_script("make_set.py", "needle", "--frames", "16,32", "--depths", "3", "--trials", "2", self.folder / "needle.jsonl")
        run = self.ask(self.folder / "needle.jsonl", "--methods", "full,snapkv", "--retentions", "0.1", "--max-tokens", "10")
        self.assertIn("\n| full | 100.0 | 100.0 | 12 | 100.0 |\n", run.stdout, "the demo model's full cache reads every drawn card")
        self.rows("needle")
        self.assertEqual(len((self.folder / "results/needle-map.csv").read_text().splitlines()), 1 + 2 * 6)

    def test_the_questions_about_one_document_are_asked_together(self) -> None:
        data = self.folder / "documents.jsonl"
        self.run_script("make_set.py", "documents", data, "--words", "100", "--count", "1", "--text", self.texts(8))
        self.ask(data, "--methods", "full,kvzip,snapkv", "--retentions", "0.5", "--max-tokens", "3")
        rows = self.rows("documents")
        self.assertEqual(
            [row["recipe"] for row in rows], ["full", "full, conversation", "kvzip@0.5", "snapkv@0.5", "snapkv, first question@0.5"]
        )
        self.assertTrue(all(row["items"] == 6 for row in rows))

    def test_what_follows_a_text_is_read_behind_every_cache(self) -> None:
        data = self.folder / "held-text.jsonl"
        self.run_script("make_set.py", "held-text", data, "--words", "100", "--count", "1", "--text", self.texts(20))
        self.ask(data, "--methods", "full,snapkv", "--retentions", "1,0.5")
        full, kept, half = self.rows("held-text")
        self.assertGreater(full["perplexity"], 1.0)
        self.assertEqual((kept["perplexity"], kept["kl"]), (full["perplexity"], 0.0), "everything kept")
        self.assertNotEqual(half["perplexity"], full["perplexity"])
        self.assertGreater(half["kl"], 0.0)
        self.assertLess(half["achieved_retention"], 0.7)
        self.assertAlmostEqual(half["score"], 1.0 / half["perplexity"], places=9)

    def test_a_command_line_of_0_9_is_told_where_eval_went(self) -> None:
        run = subprocess.run([CLI, "eval", "--demo"], capture_output=True, text=True, env=self.environment)
        self.assertEqual(run.returncode, 2)
        self.assertIn("resources/evaluation/ask_set.py", run.stderr)

    def test_what_cannot_be_measured_is_refused(self) -> None:
        data = self.questions()
        good = data.read_text()
        data.write_text(good + '{"media": "nothing.mp4", "question": "?", "answers": "x", "metric": "exact"}\n')
        self.assertIn("set.jsonl:7", self.ask(data, fails=True).stderr)
        self.assertEqual(self.run_script("ask_set.py", "--cli", CLI, fails=True).returncode, 2)
        data.write_text(good)
        self.assertIn("no-such-method: is not a method", self.ask(data, "--methods", "no-such-method", fails=True).stderr)
        # A log of other questions is not gone on with; results that nobody sees are no success.
        arguments = ["--methods", "full", "--limit", "1", "--max-tokens"]
        self.ask(data, *arguments, "2")
        self.assertIn("belongs to another evaluation", self.ask(data, *arguments, "3", fails=True).stderr)
        command = [sys.executable, "-B", str(script_folder.SCRIPTS / "ask_set.py"), *map(str, self.command(data, *arguments, "2", out="closed"))]
        closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], capture_output=True, text=True, env=self.environment)
        self.assertEqual((closed.returncode, (self.folder / "closed").exists()), (1, False), closed.stderr)


if __name__ == "__main__":
    unittest.main()
