#!/usr/bin/env python3
"""Changes a model's file at random moments while winnow-cli has it loaded and answers about it.

    python3 tests/app/engine/process/change_model.py --bin build/release/bin --model model.gguf [--changes 82] [--seed 1]

The file is shortened, emptied, overwritten in its place, replaced by another of its name, or removed. After every change: the program ends
by itself and in time, with the answers that it gives otherwise, or with a sentence; no signal ends it, and no engine is left behind. At the
end the file is put back and the questions are answered as before. Exits with 1 at the first thing that is otherwise.
"""
import argparse
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from kill_engine import Wrong, engines_of, status_of

QUESTIONS = "What is the capital of Japan?\nName three colours.\nCount to five.\n"


class Campaign:
    def __init__(self, programs: pathlib.Path, model: pathlib.Path, seed: int):
        self.cli = str(programs / "winnow-cli")
        self.original = model
        self.random = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="winnow-changes-"))
        self.home = str(self.folder / "home")
        self.model = self.folder / "model.gguf"
        self.outcomes = collections.Counter()
        (self.folder / "typed").write_text(QUESTIONS)

    def start(self) -> subprocess.Popen:
        arguments = [self.cli, "chat", "--model", str(self.model), "--max-tokens", "12", "--device", "cpu"]
        environment = dict(os.environ, WINNOW_HOME=self.home)
        with open(self.folder / "typed") as given, open(self.folder / "out", "w") as out, open(self.folder / "err", "w") as err:
            return subprocess.Popen(arguments, stdin=given, stdout=out, stderr=err, env=environment)

    def end(self, program: subprocess.Popen, what: str) -> tuple[int, str, str]:
        status = status_of(program, self.home, [self.folder / "out", self.folder / "err"], what)
        latest = time.monotonic() + 5
        while engines_of(self.home):
            if time.monotonic() > latest:
                raise Wrong(f"{what}: an engine is left behind")
            time.sleep(0.01)
        return status, (self.folder / "out").read_text(errors="replace"), (self.folder / "err").read_text(errors="replace")

    def put_back(self) -> None:
        self.model.unlink(missing_ok=True)
        shutil.copy(self.original, self.model)

    def answers(self) -> str:
        self.put_back()
        began = time.monotonic()
        status, out, err = self.end(self.start(), "undisturbed")
        if status != 0:
            raise Wrong(f"undisturbed: status {status}: {err}")
        self.lasts_s = time.monotonic() - began
        return out

    def shorten(self) -> None:
        os.truncate(self.model, self.random.randrange(1, self.model.stat().st_size))

    def empty(self) -> None:
        os.truncate(self.model, 0)

    def overwrite(self) -> None:
        with open(self.model, "r+b") as file:
            size = self.model.stat().st_size
            file.seek(self.random.randrange(size // 2))
            file.write(self.random.randbytes(min(size // 2, 20_000_000)))

    def copy_over(self) -> None:
        with open(self.model, "wb") as file:  # as cp does
            file.write(self.random.randbytes(1_000_000))

    def replace(self) -> None:
        other = self.folder / "other"
        other.write_bytes(b"another model")
        os.rename(other, self.model)

    def remove(self) -> None:
        self.model.unlink()

    def changed(self) -> None:
        change = self.random.choice([self.shorten, self.shorten, self.empty, self.overwrite, self.copy_over, self.replace, self.remove])
        what = change.__name__
        self.put_back()
        program = self.start()
        time.sleep(self.random.uniform(0, self.lasts_s))
        change()
        status, out, err = self.end(program, what)
        where = f"{what}, status {status}\nout: {out}\nerr: {err}"
        if status == 0 and out == self.told:
            self.outcomes[f"{what}: answered as ever"] += 1
        elif status > 0 and "winnow-cli: " in err:
            self.outcomes[f"{what}: status {status}, {err.strip().splitlines()[-1].replace(str(self.folder), '')[:110]}"] += 1
        elif status == 0 and "winnow-cli: " in err:
            self.outcomes[f"{what}: some questions refused"] += 1
        else:
            raise Wrong(f"ended in another way: {where}")

    def run(self, changes: int) -> None:
        self.told = self.answers()
        try:
            for _ in range(changes):
                self.changed()
            if self.answers() != self.told:
                raise Wrong("another answer at the end")
        finally:
            for outcome, count in sorted(self.outcomes.items()):
                print(f"{outcome}: {count}")
            print(f"{sum(self.outcomes.values())} changes")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bin", type=pathlib.Path, required=True)
    options.add_argument("--model", type=pathlib.Path, required=True)
    options.add_argument("--changes", type=int, default=82)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    campaign = Campaign(chosen.bin.resolve(), chosen.model.resolve(), chosen.seed)
    try:
        campaign.run(chosen.changes)
    except Wrong as wrong:
        print(f"wrong: {wrong}", file=sys.stderr)
        print(f"kept: {campaign.folder}", file=sys.stderr)
        return 1
    print("nothing lost")
    shutil.rmtree(campaign.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
