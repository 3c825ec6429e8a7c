"""The log of an evaluation: one JSON line per finished (item, recipe, seed), so that a killed run goes on where it was.

The first line names what was asked: a log of other items, another model or other settings is refused, never mixed. Methods, shares and
seeds are not part of that: a later run may add some. Every record is written at once and synced; a last line that a crash tore is cut off
when the log is opened. A file that does not begin as a log does is refused before a byte of it is changed. One process at a time, held by a
lock on the file.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from pathlib import Path

from results import FORMAT, BadResults

_HEAD = b'{"winnow_evaluation":'  # every log begins so
_FIELDS = {"item": str, "recipe": str, "seed": int, "answer": str, "score": float}


def json_line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


class ItemLog:
    def __init__(self, path: Path, subject: str) -> None:
        """subject: what the log is about (questions, model, settings), as text that must be equal to go on."""
        self._path = path
        # O_NONBLOCK: a FIFO without another end would wait forever.
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY, 0o666)
        self._there: set[tuple[str, str, int]] = set()
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise BadResults(f"{path}: it is not a regular file")
            self._lock()
            self._read(subject)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> ItemLog:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def has(self, item: str, recipe: str, seed: int) -> bool:
        return (item, recipe, seed) in self._there

    def add(self, record: dict) -> None:
        self._append(json_line(record))
        self._there.add((record["item"], record["recipe"], record["seed"]))

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise BadResults(f"{self._path}: another evaluation is writing here") from problem

    def _read(self, subject: str) -> None:
        text = b""
        while part := os.read(self._file, 1 << 16):
            text += part
            # A log, or the beginning of one that was cut off while its first line was written.
            if not text.startswith(_HEAD) and (b"\n" in text or not _HEAD.startswith(text)):
                raise BadResults(f"{self._path}: is no log of an evaluation and is left as it is; choose another folder")
        whole = text.rfind(b"\n") + 1
        for number, line in enumerate(text.split(b"\n")[:-1], 1):
            try:
                self._take(json.loads(line), subject if number == 1 else None)
            except (ValueError, KeyError, TypeError, RecursionError) as problem:
                raise BadResults(f"{self._path}:{number}: is no line of a log ({problem!r})") from problem
        # Not before all of it is known to be this evaluation's.
        if whole < len(text):
            os.ftruncate(self._file, whole)
        if not whole:
            self._append(json_line({"winnow_evaluation": FORMAT, "subject": subject}))

    def _take(self, line: dict, subject: str | None) -> None:
        if subject is None:
            for field, kind in _FIELDS.items():
                if not isinstance(line[field], kind):
                    raise TypeError(f"{field} is no {kind.__name__}")
            self._there.add((line["item"], line["recipe"], line["seed"]))
        elif line["winnow_evaluation"] != FORMAT or line["subject"] != subject:
            raise BadResults(f"{self._path}: belongs to another evaluation (other questions, model or settings); choose another folder")

    def _append(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)
