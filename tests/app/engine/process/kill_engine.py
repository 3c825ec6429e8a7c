#!/usr/bin/env python3
"""Kills winnow-engine at random moments while winnow-cli asks, chats, prepares, watches, saves and loads.

    python3 tests/app/engine/process/kill_engine.py --bin build/release/bin [--kills 1000] [--seed 1]

After every kill: the program ends by itself and in time, with its answer or with the engine's end as its reason; no engine is left behind;
a file that is there is whole; what was not said yet is asked once more, so that one kill before the first word costs no answer; and in a
chat the next question is answered. Exits with 1 at the first thing that is otherwise. Counts per command are printed at the end.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LONGEST_S = 120  # without a word; time in which it waits for a processor does not count
QUESTION = "What happens in this video?"
ENDED = re.compile(r"the engine (was ended by|ended|closed)")
SAMPLES = pathlib.Path(__file__).resolve().parents[4] / "resources" / "demo" / "samples"


def programs_of(home: str) -> dict[int, str]:
    """Names by id of all processes that were started, however indirectly, with this home."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if f"WINNOW_HOME={home}\0".encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = os.path.basename(os.readlink(entry / "exe"))
        except OSError:
            continue  # it has just ended
    return found


def engines_of(home: str) -> list[int]:
    return [number for number, name in programs_of(home).items() if name == "winnow-engine"]


def waits_s(home: str) -> dict[str, float]:
    """Of each thread: how long it has stood in the queue for a processor."""
    waits = {}
    for number in programs_of(home):
        for thread in pathlib.Path(f"/proc/{number}/task").glob("*/schedstat"):
            try:
                waits[str(thread)] = int(thread.read_text().split()[1]) / 1e9
            except OSError:
                continue
    return waits


class Wrong(Exception):
    pass


def status_of(program: subprocess.Popen, home: str, outputs: list[pathlib.Path], what: str) -> int:
    """Waits for its end. On a busy machine a program may take long, but says what it does or waits for a processor."""
    silent_s, said, waits, looked = 0.0, 0.0, waits_s(home), time.monotonic()
    while True:
        try:
            return program.wait(1)
        except subprocess.TimeoutExpired:
            before, waits = waits, waits_s(home)
            waited_s = max((wait - before.get(thread, wait) for thread, wait in waits.items()), default=0.0)
            passed_s, looked = time.monotonic() - looked, time.monotonic()
            last_said, said = said, max(output.stat().st_mtime for output in outputs)
            silent_s = 0.0 if said > last_said else silent_s + passed_s - waited_s
            if silent_s > LONGEST_S:
                program.kill()
                raise Wrong(f"{what}: hangs") from None


class Campaign:
    def __init__(self, programs: pathlib.Path, seed: int):
        self.cli = str(programs / "winnow-cli")
        self.random = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="winnow-kills-"))
        self.home = str(self.folder / "home")
        self.video = str(SAMPLES / "ten-seconds.mp4")
        self.cache = self.folder / "kept.safetensors"
        self.ready = self.folder / "ready.safetensors"
        questions = self.folder / "questions.jsonl"
        questions.write_text(json.dumps({"at": 2, "question": QUESTION}) + "\n")
        asks = ["ask", "--video", self.video, "--frames", "16", "--max-tokens", "24"]
        self.commands = {
            "ask": (asks + [QUESTION], ""),
            "chat": (["chat", "--video", self.video, "--frames", "16", "--max-tokens", "24"], f"{QUESTION}\n{QUESTION}\n"),
            "prepare": (["prepare", "--video", self.video, "--frames", "16", "--save-cache", str(self.cache)], ""),
            "watch": (["watch", str(SAMPLES / "half-minute.webm"), "--every", "2", "--stall", "1", "--max-tokens", "24", "--questions", str(questions)], ""),
            "save": (asks + ["--save-cache", str(self.cache), QUESTION], ""),
            "load": (asks[:1] + ["--max-tokens", "24", "--load-cache", str(self.ready), QUESTION], ""),
        }
        self.told = {}
        self.lasts_s = {}
        self.outcomes = collections.Counter()

    def start(self, name: str) -> subprocess.Popen:
        arguments, typed = self.commands[name]
        with open(self.folder / "typed", "w") as file:
            file.write(typed)
        environment = dict(os.environ, WINNOW_HOME=self.home)
        with open(self.folder / "typed") as given, open(self.folder / "out", "w") as out, open(self.folder / "err", "w") as err:
            return subprocess.Popen([self.cli, *arguments], stdin=given, stdout=out, stderr=err, env=environment)

    def end(self, program: subprocess.Popen, name: str) -> tuple[int, str, str]:
        status = status_of(program, self.home, [self.folder / "out", self.folder / "err"], name)
        latest = time.monotonic() + 5
        while engines_of(self.home):
            if time.monotonic() > latest:
                raise Wrong(f"{name}: an engine is left behind")
            time.sleep(0.01)
        return status, (self.folder / "out").read_text(errors="replace"), (self.folder / "err").read_text(errors="replace")

    def undisturbed(self, name: str) -> str:
        began = time.monotonic()
        status, out, err = self.end(self.start(name), name)
        if status != 0:
            raise Wrong(f"{name}: status {status} without a kill: {err}")
        self.lasts_s[name] = time.monotonic() - began
        return out

    def learn(self) -> None:
        self.undisturbed("prepare")
        shutil.copy(self.cache, self.ready)
        for name in self.commands:
            self.told[name] = self.undisturbed(name)

    def killed(self, name: str, kills: int) -> int:
        """How many kills met an engine."""
        self.cache.unlink(missing_ok=True)
        program = self.start(name)
        met = 0
        for _ in range(kills):
            time.sleep(self.random.uniform(0, self.lasts_s[name] / kills))
            for engine in engines_of(self.home):
                try:
                    os.kill(engine, signal.SIGKILL)
                    met += 1
                except ProcessLookupError:
                    pass
        status, out, err = self.end(program, name)
        self.check(name, met, status, out, err)
        return met

    def check(self, name: str, met: int, status: int, out: str, err: str) -> None:
        where = f"{name}, {met} kill(s), status {status}\nout: {out}\nerr: {err}"
        if status == 0:
            self.outcomes[f"{name}: answered after {met} kill(s)"] += 1
        elif status == 3 and ENDED.search(err) and met > 0:
            self.outcomes[f"{name}: said that the engine ended"] += 1
        else:
            raise Wrong(f"ended in another way: {where}")
        if name in ("ask", "load") and status == 0 and out != self.told[name]:
            raise Wrong(f"another answer: {where}")
        if name == "chat" and status == 0:
            answers = len([line for line in out.splitlines() if line.strip()])
            if answers + len(ENDED.findall(err)) < 2 or answers < 1:
                raise Wrong(f"the next question was not answered: {where}")
        if name in ("prepare", "save"):
            if status == 0 and not self.cache.exists():
                raise Wrong(f"no file: {where}")
            if self.cache.exists():
                shutil.copy(self.cache, self.folder / "whole")
                self.commands["whole"] = (["ask", "--max-tokens", "2", "--load-cache", str(self.folder / "whole"), QUESTION], "")
                self.undisturbed("whole")

    def run(self, kills: int) -> None:
        self.learn()
        names = list(self.told)
        done = 0
        try:
            while done < kills:
                # One may be asked again; two at the same request may not.
                done += self.killed(self.random.choice(names), self.random.choice([1, 1, 1, 2]))
            self.undisturbed("ask")
        finally:  # also of a campaign that is ended early
            for outcome, count in sorted(self.outcomes.items()):
                print(f"{outcome}: {count}")
            print(f"{done} kills")


def end_early(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> int:
    signal.signal(signal.SIGTERM, end_early)
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bin", type=pathlib.Path, required=True)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    campaign = Campaign(chosen.bin.resolve(), chosen.seed)
    try:
        campaign.run(chosen.kills)
    except Wrong as wrong:
        print(f"wrong: {wrong}", file=sys.stderr)
        print(f"kept: {campaign.folder}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("ended early, nothing wrong so far")
    else:
        print("nothing lost")
    shutil.rmtree(campaign.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
