#!/usr/bin/env python3
"""What is asked of a set, in which order, and what the log of it holds: by a scripted partner, without the program."""

import json
import math
import os
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

import script_folder
from ask_set import Evaluation, parser, progress_text, run_line, score_table
from item_lines import BadSource
from item_log import ItemLog
from question_set import Question, QuestionSet, read_set
from recipe_grid import GridRecipe, document_grid, of_method, recipe_grid, require_names
from results import BadResults, read_results
from set_run import Run, divergence_from_uniform

BEFORE = ("kvzip", "self-study", "every-k")
GOOD = {"media": "a.mp4", "question": "What?", "answers": ["x", "y"], "metric": "anls"}


def described(recipe: dict) -> dict:
    """As the program tells a recipe."""
    if recipe["method"] == "no-such-method":
        raise BadSource("no such method")
    full = {"retention": 1.0} if recipe["method"] == "full" else {"retention": 0.2}
    filled = {"format": "winnow-recipe", "version": 1, "name": "", "method": recipe["method"]} | full
    filled |= {key: value for key, value in recipe.items() if key in ("budget_tokens", "options", "parts")}
    return filled | {"turn_policy": "segment", "min_event_tokens": 256, "seed": 0, "before_question": recipe["method"] in BEFORE}


def grid(methods: list[str], shares: list[float], saved: list[dict] | None = None) -> list[GridRecipe]:
    return recipe_grid(methods, shares, saved or [], described)


class Scratch(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def refused(self, reason: str, call: Callable[[], object]) -> None:
        with self.assertRaises((BadSource, BadResults)) as refusal:
            call()
        self.assertIn(reason, str(refusal.exception))


class Sets(Scratch):
    def setUp(self) -> None:
        super().setUp()
        for name in ("a.mp4", "b.png", "c/d.mp4"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(name.encode())

    def read(self, *lines: dict | str, folder: Path | None = None, detail: str = "") -> QuestionSet:
        path = (folder or self.folder) / "set.jsonl"
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return read_set(path, 48, lambda _: detail)

    def test_a_line_is_read_as_it_says(self) -> None:
        more = {"id": "q2", "media": ["b.png", "c/d.mp4"], "question": "{image#2} or {image#1}{image#9}?", "answers": "one", "metric": "time"}
        made = self.read(GOOD, "", more | {"frames": 8, "group": "when", "cluster": "d", "tolerance_s": 2})
        self.assertEqual((made.name, len(made.questions)), ("set", 2))
        first, second = made.questions
        self.assertEqual((first.id, first.media, first.frames, first.answers), ("1", (str(self.folder / "a.mp4"),), 48, ["x", "y"]))
        self.assertEqual((second.id, second.frames, second.group, second.cluster, second.tolerance_s), ("q2", 8, "when", "d", 2.0))
        self.assertEqual(second.pieces(), [{"media": str(self.folder / "c/d.mp4")}, " or ", {"media": str(self.folder / "b.png")}, "{image#9}?"])
        self.assertEqual(first.pieces(), [{"media": str(self.folder / "a.mp4")}, "What?"])

    def test_a_bad_line_is_refused_with_its_number_and_the_reason(self) -> None:
        for line, reason in (
            ("{", "not valid JSON"),
            ("[1]", "must be a JSON object"),
            ('{"media": "a.mp4", "media": "a.mp4"}', "a key occurs twice"),
            ('{"media": ' + "[" * 100_000, "not valid JSON"),
            ({"media": "a.mp4", "question": "What?", "metric": "exact"}, "answers: it is missing"),
            (GOOD | {"answers": []}, "has no answers"),
            (GOOD | {"answers": ["x", 3]}, "answers: it must be a string"),
            (GOOD | {"metric": "bleu"}, "unknown metric; known are exact"),
            (GOOD | {"frame": 3}, 'unknown key "frame"'),
            (GOOD | {"frames": 0}, "frames: it is 0"),
            (GOOD | {"frames": True}, "frames: it is True"),
            (GOOD | {"question": 7}, "question: it must be a string"),
            (GOOD | {"question": ""}, "empty question"),
            (GOOD | {"media": []}, "has no media"),
            (GOOD | {"media": "missing.mp4"}, "no such file"),
            (GOOD | {"tolerance_s": -1}, "tolerance_s: it is -1"),
        ):
            with self.subTest(reason):
                self.refused("set.jsonl:3: ", lambda: self.read(GOOD, "", line, GOOD))
                self.refused(reason, lambda: self.read(GOOD, "", line, GOOD))
        self.refused('"q" twice', lambda: self.read(GOOD | {"id": "q"}, GOOD | {"id": "q"}))
        self.refused("no question", lambda: self.read("", " "))
        os.mkfifo(self.folder / "pipe")
        self.refused("not a regular file", lambda: read_set(self.folder / "pipe", 48, lambda _: ""))

    def test_the_fingerprint_follows_content_not_place(self) -> None:
        with tempfile.TemporaryDirectory() as other:
            (Path(other) / "a.mp4").write_bytes(b"a.mp4")
            here = self.read(GOOD).fingerprint
            self.assertEqual(self.read("  " + json.dumps(GOOD), "", folder=Path(other)).fingerprint, here)
        for line in (GOOD | {"answers": ["x", "z"]}, GOOD | {"cluster": "one"}, GOOD | {"frames": 8}):
            self.assertNotEqual(self.read(line).fingerprint, here)
        self.assertNotEqual(self.read(GOOD, detail="low").fingerprint, here)
        two = self.read(GOOD, GOOD)
        self.assertEqual((len(two.first(1).questions), two.first(1).fingerprint), (1, two.fingerprint + ":1"))
        self.assertEqual(two.first(2), two)
        (self.folder / "a.mp4").write_bytes(b"another video")
        self.assertNotEqual(self.read(GOOD).fingerprint, here)

    def test_a_log_of_version_0_9_belongs_to_the_same_set(self) -> None:
        """tests/golden/evaluation: what the program itself wrote of its bundled questions."""
        made = read_set(script_folder.ROOT / "resources/demo/evaluation/samples.jsonl", 64, lambda _: "")
        self.assertEqual(made.fingerprint, "2ef99a50b7f685b5f6e4fa7f9c401e8e625b78c087d40cb73607e34d7ce62c3e")
        kinds = [one.group for one in made.questions]
        for kind in ("color", "shape", "after", "before", "first", "last", "count", "presence", "card", "when", "list", "describe"):
            self.assertGreaterEqual(kinds.count(kind), 6, kind)
        self.assertTrue(all(one.metric == ("time" if one.group == "when" else "facts") for one in made.questions))
        videos = [one.media[0] for one in made.questions if not one.media[0].endswith((".png", ".jpg"))]
        self.assertEqual(len(set(videos)), 7)
        self.assertTrue(all(videos.count(video) >= 12 for video in videos))


class Grids(Scratch):
    late = of_method("d2o") | {"name": "late d2o", "options": {"event_at_first_decode": "true"}}

    def names(self, recipes: list[GridRecipe]) -> list[str]:
        return [f"{recipe.name} {recipe.together}".strip() for recipe in recipes]

    def test_full_stands_once_and_first(self) -> None:
        made = grid(["snapkv", "full", "snapkv", "full"], [0.5, 0.125, 0.5])
        self.assertEqual(self.names(made), ["full", "snapkv@0.5", "snapkv@0.125"])
        self.refused("no such method", lambda: grid(["no-such-method"], [0.5]))
        self.refused("needs a method and a retention", lambda: grid(["snapkv"], []))

    def test_saved_recipes_stand_beside_the_methods(self) -> None:
        made = grid(["d2o"], [0.5, 0.1], [self.late])
        self.assertEqual([recipe.title for recipe in made], ["d2o", "d2o", "late d2o", "late d2o"])
        self.assertRegex(made[3].name, r"^late d2o#[0-9a-f]{6}@0\.1$")
        asked = described(self.late) | {"retention": 0.1, "seed": 7}
        del asked["before_question"]
        self.assertEqual(made[3].asked(7), asked)
        # The share of the file is nothing of it; anything else makes other answers.
        self.assertEqual(grid(["d2o"], [0.5], [self.late | {"retention": 0.9}])[1].name, made[2].name)
        self.assertNotEqual(grid(["d2o"], [0.5], [self.late | {"options": {}}])[1].name, made[2].name)
        self.refused("a budget in slots", lambda: grid([], [0.5], [self.late | {"budget_tokens": 64}]))
        self.refused("needs a name", lambda: require_names([], [of_method("d2o")], ["d2o"]))
        self.refused("the name of two recipes", lambda: require_names([], [self.late | {"name": "snapkv"}], ["snapkv"]))
        self.refused("the name of two recipes", lambda: require_names([], [self.late, self.late], []))
        self.refused("is not a method", lambda: require_names(["no-such-method"], [], ["full"]))

    def test_of_documents_it_says_whose_question_judges(self) -> None:
        made = document_grid(grid(["full", "kvzip", "snapkv"], [0.1]), ["own", "first"])
        self.assertEqual(
            self.names(made), ["full", "full, conversation keep", "kvzip@0.1 alone", "snapkv@0.1", "snapkv, first question@0.1 keep"]
        )
        self.assertEqual(made[-1].title, "snapkv, first question")
        self.assertEqual(len(document_grid(grid(["kvzip", "snapkv"], [0.1]), ["own"])), 2)
        self.assertEqual(document_grid(grid(["full", "snapkv"], [0.1]), ["own"])[0].together, "")
        # With nobody to share a prefill with, the full cache reads a document once for all of its questions.
        alone = document_grid(grid(["full", "kvzip"], [0.1]), ["own"])[0]
        self.assertEqual((alone.together, alone.asked(0)["method"]), ("alone", "every-k"))
        self.assertGreater(alone.asked(0)["budget_tokens"], 1 << 30)


class Logs(Scratch):
    record = {"item": "a", "recipe": "h2o@0.2", "seed": (1 << 64) - 1, "answer": 'a "red" star\n', "score": 1 / 3}

    def log(self, subject: str = "s", name: str = "set.jsonl") -> ItemLog:
        return ItemLog(self.folder / name, subject)

    def test_a_later_run_finds_what_an_earlier_one_added(self) -> None:
        with self.log() as log:
            log.add(self.record)
        with self.log() as log:
            self.assertTrue(log.has("a", "h2o@0.2", (1 << 64) - 1))
            self.assertFalse(log.has("a", "h2o@0.2", 0))
            self.refused("another evaluation is writing here", self.log)
        head = '{"winnow_evaluation":1,"subject":"s"}\n'
        line = '{"item":"a","recipe":"h2o@0.2","seed":18446744073709551615,"answer":"a \\"red\\" star\\n","score":0.3333333333333333}\n'
        self.assertEqual((self.folder / "set.jsonl").read_text(), head + line)

    def test_a_torn_last_line_is_dropped_wherever_the_crash_tore(self) -> None:
        with self.log() as log:
            log.add(self.record)
            log.add(self.record | {"item": "b"})
        whole = (self.folder / "set.jsonl").read_bytes()
        last, second = whole.rstrip(b"\n").rfind(b"\n") + 1, whole.find(b"\n") + 1
        for size in range(len(whole)):
            (self.folder / "torn.jsonl").write_bytes(whole[:size])
            with self.log(name="torn.jsonl") as log:
                self.assertEqual((log.has("a", "h2o@0.2", (1 << 64) - 1), log.has("b", "h2o@0.2", (1 << 64) - 1)), (size >= last, False))
                if second <= size < last:
                    log.add(self.record)
                    log.add(self.record | {"item": "b"})
                    self.assertEqual((self.folder / "torn.jsonl").read_bytes(), whole)

    def test_what_belongs_to_somebody_else_is_left_as_it_is(self) -> None:
        # Questions, with and without a last line break; what another program logs; something that only begins like ours.
        for text in (json.dumps(GOOD), '{"a": 1}\n{"b": 2}\n{"c"', "half", '{"winnow": 1}', "\n", '{"winnow_evaluation"\n', "\0" * 100_000):
            (self.folder / "set.jsonl").write_text(text)
            self.refused("is no log of an evaluation", self.log)
            self.assertEqual((self.folder / "set.jsonl").read_text(), text)
        (self.folder / "set.jsonl").unlink()
        with self.log("questions 1") as log:
            log.add(self.record)
        whole = (self.folder / "set.jsonl").read_text()
        (self.folder / "set.jsonl").write_text(whole + '{"item": "b", "rec')
        self.refused("belongs to another evaluation", lambda: self.log("questions 2"))
        self.assertEqual((self.folder / "set.jsonl").read_text(), whole + '{"item": "b", "rec', "the torn line stays, too")
        for broken in ('{"item": 3}\n', "[1]\n", "{\n", '{"item": ' + "[" * 100_000 + "\n"):
            (self.folder / "set.jsonl").write_text(whole + broken + whole)
            self.refused("set.jsonl:3: is no line of a log", lambda: self.log("questions 1"))
        os.mkfifo(self.folder / "pipe.jsonl")
        self.refused("not a regular file", lambda: self.log(name="pipe.jsonl"))


class ScriptedProgram:
    """Knows a made-up answer for every question and recipe; can be interrupted after some calls."""

    def __init__(self, interrupt_at: int = -1) -> None:
        self.lines: list[dict] = []
        self.asked, self.interrupt_at = 0, interrupt_at

    def ask(self, line: dict) -> dict:
        if len(self.lines) == self.interrupt_at:
            raise KeyboardInterrupt
        self.lines.append(line)
        recipes = line.get("recipes") or [line["recipe"]]
        return {"results": [self._result(line, recipe, pieces[-1]) for pieces in line["questions"] for recipe in recipes]}

    def _result(self, line: dict, recipe: dict, text: str) -> dict:
        self.asked += 1
        # Wrong for seed 1 and for every second question under random.
        wrong = recipe["seed"] == 1 or (recipe["method"] == "random" and text.endswith("1"))
        loss = math.log(2.0 if recipe["method"] == "full" else 4.0)
        layers = [{"budget": budget} for budget in (3, 1, 2)]
        media = [{"path": "clip.mp4", "notices": ["parts of it are damaged"] if text.endswith("1") else []}]
        return {
            "answer": "nonsense" if wrong else "right " + text, "achieved_retention": recipe["retention"] + 0.01, "layers": layers, "media": media,
            "kv_bytes": {"full": 1000, "after_event": int(1000 * recipe["retention"])}, "tokens": {"generated": 2},
            "agreement": {"top1": 0.75, "mean_kl": None, "loss": loss} if "given" in line or line.get("check") else None,
            "selection": {"hit_rate": 0.5, "output_error": [0.1, 0.3], "sparsity": 0.25} if line.get("check") else None,
        }  # fmt: skip


def questions(count: int, metric: str = "exact", cluster: Callable[[int], str] = lambda _: "") -> list[Question]:
    def one(i: int) -> Question:
        text = f"question {i % 2}"
        return Question(f"q{i}", ("clip.mp4",), text, ["right " + text], metric, 8, "even" if i % 2 == 0 else "odd", cluster(i), 1.0)

    return [one(i) for i in range(count)]


class Runs(Scratch):
    def run_it(
        self, asked: list[Question], recipes: list[GridRecipe], seeds: list[int], program: ScriptedProgram, name: str = "set", check: bool = False
    ) -> list[tuple[int, int]]:
        told: list[tuple[int, int]] = []
        (self.folder / f"{name}.run.json").write_text(run_line(QuestionSet(name, "f", asked), "model, cpu, fp32", recipes, seeds))
        with ItemLog(self.folder / f"{name}.jsonl", "s") as log:
            run = Run(recipes, seeds, program.ask, log, lambda *so_far: told.append(so_far), check)
            try:
                run.run(asked)
            except KeyboardInterrupt:
                told.append((-1, -1))
        return told

    def table(self, name: str = "set") -> str:
        return score_table(read_results(self.folder / name))

    def text(self, name: str) -> str:
        return (self.folder / f"{name}.jsonl").read_text()

    def test_every_question_is_asked_under_every_recipe_and_seed_once(self) -> None:
        program = ScriptedProgram()
        told = self.run_it(questions(4), grid(["random", "full", "snapkv"], [0.5, 0.1]), [0, 1], program)
        self.assertEqual(program.asked, 4 * 9, "full once, four recipes with two seeds")
        self.assertEqual(told[-1], (36, 36))
        self.assertEqual(sorted(told), told)
        self.assertEqual(len(program.lines), 4 * 2, "nine answers to a question, eight at most together")
        self.assertEqual(program.lines[0]["questions"], [[{"media": "clip.mp4"}, "question 0"]])
        line = json.loads(self.text("set").splitlines()[2])
        self.assertEqual(line["budget_jsd"], divergence_from_uniform([3.0, 1.0, 2.0]))
        del line["budget_jsd"]
        self.assertEqual(
            line,
            {"item": "q0", "recipe": "random@0.5", "seed": 0, "answer": "right question 0", "score": 1.0, "requested": 0.5, "achieved": 0.51,
             "kv_bytes": 500, "kv_bytes_full": 1000, "generated": 2},
        )  # fmt: skip
        self.assertEqual(
            self.table().split("\n\n", 2)[1:],
            ["model, cpu, fp32; metric exact; 36 of 36 answers. Per cent.",
             "| method | asked | kept | questions | score |\n|---|---:|---:|---:|---:|\n| full | 100.0 | 101.0 | 4 | 100.0 |\n"
             "| random | 50.0 | 51.0 | 4 | 25.0 |\n| random | 10.0 | 11.0 | 4 | 25.0 |\n"
             "| snapkv | 50.0 | 51.0 | 4 | 50.0 |\n| snapkv | 10.0 | 11.0 | 4 | 50.0 |\n"],
        )  # fmt: skip

    def test_resumed_anywhere_it_logs_and_scores_the_same(self) -> None:
        recipes = grid(["random", "full", "snapkv"], [0.5, 0.1])
        self.run_it(questions(4), recipes, [0, 1], ScriptedProgram(), "whole")
        for at in range(8):
            name = f"cut{at}"
            self.assertEqual(self.run_it(questions(4), recipes, [0, 1], ScriptedProgram(at), name)[-1], (-1, -1))
            self.assertIn(f"; {at // 2 * 9 + at % 2 * 8} of 36 answers", self.table(name))
            # A crash between two records of one question, and in the middle of a line.
            if at:
                (self.folder / f"{name}.jsonl").write_text(self.text(name)[:-250])
            rest = ScriptedProgram()
            self.assertEqual(self.run_it(questions(4), recipes, [0, 1], rest, name)[-1][0], 36)
            self.assertEqual(self.text(name), self.text("whole"))
            self.assertEqual(self.table(name).replace(name, "whole"), self.table("whole"))
            self.assertLessEqual(rest.asked, 36 if at < 4 else 36 - 9, "what is in the log is not asked again")

    def test_a_later_run_adds_methods(self) -> None:
        self.run_it(questions(3), grid(["full"], []), [0], ScriptedProgram())
        second = ScriptedProgram()
        self.run_it(questions(3), grid(["full", "snapkv"], [0.5]), [0], second)
        self.assertEqual(second.asked, 3)

    def test_the_questions_of_a_cluster_are_asked_together(self) -> None:
        asked = questions(4, cluster=lambda i: "one" if i < 2 else "two")
        recipes = document_grid(grid(["full", "kvzip", "snapkv"], [0.1]), ["own", "first"])
        guards = lambda program: [line["guard"] for line in program.lines if "guard" in line]  # noqa: E731
        cut = ScriptedProgram(2 + 3 + 2)  # in the second document, in its first series
        self.run_it(asked, recipes, [0], cut)
        self.assertEqual(guards(cut), ["keep", "alone", "keep"])
        self.assertEqual(cut.lines[2]["questions"], [[{"media": "clip.mp4"}, "question 0"], ["question 1"]])
        self.assertIn('"q1","recipe":"snapkv, first question@0.1"', self.text("set"))
        self.assertIn('"q3","recipe":"snapkv@0.1"', self.text("set"))
        self.assertNotIn('"q2","recipe":"full, conversation"', self.text("set"), "half a conversation is none")
        rest = ScriptedProgram()
        told = self.run_it(asked, recipes, [0], rest)
        self.assertEqual(guards(rest), ["keep", "alone", "keep"])
        self.assertEqual((rest.asked, told[-1][0]), (3 * 2, 4 * 5))

    def test_perplexity_is_of_a_text_that_is_read_not_written(self) -> None:
        program = ScriptedProgram()
        for _ in range(2):  # what the log has is not read again
            self.run_it(questions(2, "perplexity"), grid(["full", "snapkv"], [0.5]), [0], program)
        self.assertEqual([line["given"] for line in program.lines], ["right question 0"] * 2 + ["right question 1"] * 2)
        line = json.loads(self.text("set").splitlines()[2])
        self.assertAlmostEqual(line["score"], 0.25)
        self.assertEqual((line["answer"], line["loss"], line["top1"]), ("", math.log(4.0), 0.75))
        self.assertNotIn("kl", line)
        self.assertIn("| snapkv | 50.0 | 51.0 | 2 | 25.0 |", self.table())

    def test_agreement_and_notices_are_logged(self) -> None:
        self.run_it(questions(2), grid(["full"], []), [0], ScriptedProgram(), check=True)
        _, first, second = map(json.loads, self.text("set").splitlines())
        self.assertEqual((first["top1"], first["hit_rate"], first["output_error"], first["sparsity"]), (0.75, 0.5, 0.2, 0.25))
        self.assertNotIn("loss", first)
        self.assertNotIn("notices", first)
        self.assertEqual(second["notices"], ["clip.mp4: parts of it are damaged"])

    def test_budgets_diverge_as_the_fixtures_say(self) -> None:
        for budgets, wanted in (([3, 1, 2], 0.032530), ([10, 1, 1], 0.195710), ([6, 0, 0], 0.459148), ([7, 7], 0.0), ([0, 0], 0.0), ([], 0.0)):
            self.assertAlmostEqual(divergence_from_uniform(budgets), wanted, places=6)

    def test_progress_is_estimated_from_what_this_run_asked(self) -> None:
        self.assertEqual(progress_text(120, 60, 480, 30.0), "120 of 480 answers, 2.0 a second, about 3 min left")
        self.assertEqual(progress_text(120, 0, 480, 30.0), "120 of 480 answers")
        self.assertEqual(progress_text(480, 60, 480, 30.0), "480 of 480 answers, 2.0 a second")
        self.assertEqual(progress_text(2, 1, 1000, 20.0), "2 of 1000 answers, 0.050 a second, about 5.5 h left")


class Files(Scratch):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "a.mp4").write_bytes(b"")
        (self.folder / "set.jsonl").write_text(json.dumps(GOOD))
        self.cli = self.folder / "cli"  # knows its methods alone
        self.cli.write_text('#!/bin/sh\necho \'[{"name": "full"}]\'\n')
        self.cli.chmod(0o755)

    def begin(self, out: str) -> Evaluation:
        arguments = ["--data", str(self.folder / "set.jsonl"), "--methods", "full", "--out", str(self.folder / out), "--cli", str(self.cli)]
        return Evaluation(parser().parse_args(arguments))

    def test_a_run_says_what_was_asked(self) -> None:
        one = Question("q", (), "?", ["ä", "b"], "exact", 8, "colour", "one", 1.0)
        self.assertEqual(
            run_line(QuestionSet("set", "f", [one]), "model", grid(["full", "snapkv"], [0.5]), [3, 4]),
            '{"winnow_run":1,"dataset":"set","model":"model","recipes":['
            '{"name":"full","method":"full","retention":1.0,"seeds":[3]},'
            '{"name":"snapkv@0.5","method":"snapkv","retention":0.5,"seeds":[3,4]}],"items":['
            '{"id":"q","metric":"exact","group":"colour","cluster":"one","answer":"ä"}]}\n',
        )

    def test_questions_and_what_somebody_else_wrote_are_never_written_over(self) -> None:
        self.refused("set.jsonl: is read by this evaluation", lambda: self.begin("."))
        (self.folder / "other").mkdir()
        for text in ('[{"imgname": "a.png"}]', '{"winnow": 1}', "", "{\n"):
            (self.folder / "other/set.run.json").write_text(text)
            self.refused("set.run.json: is no file of an evaluation", lambda: self.begin("other"))
            self.assertEqual((self.folder / "other/set.run.json").read_text(), text)
        (self.folder / "other/set.run.json").write_text('{"winnow_run":1}\n')
        self.begin("other")
        (self.folder / "linked").mkdir()
        os.link(self.folder / "set.jsonl", self.folder / "linked/set.run.json")
        self.refused("set.run.json: is read by this evaluation", lambda: self.begin("linked"))


if __name__ == "__main__":
    unittest.main()
