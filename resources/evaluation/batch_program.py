"""`winnow-cli batch --json` as a partner: a line is asked, and its answers come back before the next."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path


class ProgramEnded(Exception):
    """It ended before it answered; what it said stands on stderr."""

    def __init__(self, status: int) -> None:
        super().__init__(f"winnow-cli ended with status {status}")
        self.status = status


def told_by(cli: Path, *arguments: str) -> list | dict:
    """What a command prints as JSON."""
    done = subprocess.run([cli, *arguments, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise ProgramEnded(done.returncode)
    return json.loads(done.stdout)


class BatchProgram:
    def __init__(self, cli: Path, options: Sequence[str]) -> None:
        self._told = tempfile.TemporaryFile()  # its progress would mix with ours on a terminal
        command = [cli, "batch", "--json", *options, "-"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._told)
        assert self._process.stdin and self._process.stdout
        self._lines, self._answers = self._process.stdin, self._process.stdout

    def __enter__(self) -> BatchProgram:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()
        self._told.seek(0)
        sys.stderr.write(self._told.read().decode("utf-8", "replace"))

    def ask(self, line: dict) -> dict:
        try:
            self._lines.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")
            self._lines.flush()
        except BrokenPipeError:
            pass  # its status says why
        answered = self._answers.readline()
        if not answered.endswith(b"\n"):
            raise ProgramEnded(self._process.wait())
        return json.loads(answered)
