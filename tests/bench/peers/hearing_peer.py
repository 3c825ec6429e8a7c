#!/usr/bin/env python3
"""Sounds whose words are known, heard by winnow-cli and by faster-whisper with the same weights, A-B-B-A in one run.

    python tests/bench/peers/hearing_peer.py MODEL FOLDER [--only 1 2 3] [--pairs 2] [--rows FILE] [-- --dtype int8]

MODEL: a Whisper folder of CTranslate2 (`./winnow get whisper-tiny.en`). Keeps in FOLDER ten recordings of 30 s to 10 min that espeak-ng speaks, each
with a file of its sentences and their times, and a minute each of silence, noise, a tone and plucked strings, in which nobody speaks. Needs espeak-ng,
sox and faster-whisper. Both sides hear greedily with the same number of threads, find out first where somebody speaks, do not condition on earlier
text, and try unlikely windows again; faster-whisper multiplies in 8 bits. What is behind `--` goes to winnow-cli. A side's figure is seconds of sound
for each second of processor time, loading not counted (for Winnow: less what a second of silence takes). Prints for each recording the ratio of
these, above 1.0 Winnow is faster, the share of wrong words of both, how far a sentence's end lies from where it was spoken (median, and the share
within 0.3 s), and lines that are heard where nobody speaks.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import time
import wave

import interleaved

try:
    import numpy as np
    from faster_whisper import WhisperModel
except Exception as reason:
    interleaved.missing("faster-whisper", reason, "pip install faster-whisper")

RATE = 16_000
LENGTHS_S = (30, 45, 60, 90, 120, 180, 240, 300, 420, 600)
LOUD = 200  # of 32,768
NEAR_S = 0.3
SILENT = {"silence": "trim 0 60", "noise": "synth 60 whitenoise vol 0.1", "tone": "synth 60 sine 440 vol 0.3",
          "strings": "synth 4 pluck C3 synth 4 pluck mix E4 repeat 14"}
SENTENCES = """The old lighthouse keeper wrote a letter to his sister in Boston.
Seven blue foxes were seen on the beach early this morning.
The committee will discuss the budget on Thursday afternoon.
She opened the window and listened to the rain for an hour.
Nobody remembered where the keys to the garden shed were kept.
The train to the coast leaves from platform nine at noon.
My brother bought three loaves of bread and a bottle of milk.
The museum closes early on Sundays during the winter months.
They walked across the frozen lake without saying a word.
A new bridge will be built over the river next summer.
The doctor asked him to rest and drink plenty of water.
Children were playing football behind the yellow school.
Our teacher explained how plants turn sunlight into sugar.
The captain ordered the crew to lower the sails at once.
It takes about forty minutes to drive to the airport.
The baker gets up at four every morning to light the oven.
He forgot his umbrella and came home completely wet.
The market sells fresh fish, green apples and wild honey.
Two engineers repaired the broken pump before midnight.
The village lies in a narrow valley between high mountains.
The library has more than twenty thousand books.
The report says that sales rose by twelve percent last year.
A strong wind blew the roof off the small wooden house.
The pilot announced that the flight would be delayed.
The farmer counted his sheep and closed the heavy gate.
Please send the signed contract to our office in London.
Scientists have discovered a new kind of spider in Peru.
The mayor thanked the volunteers for their hard work.
The meeting was moved to the large room on the second floor.
Most visitors come to see the waterfall and the old castle.""".splitlines()
NUMBERS = {"2": "two", "3": "three", "4": "four", "7": "seven", "9": "nine", "12": "twelve", "40": "forty", "20,000": "twenty thousand", "%": " percent"}


def samples_of(path: pathlib.Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def spoken(text: str, voice: str, words_a_minute: int, folder: pathlib.Path) -> np.ndarray:
    raw, sound = folder / "raw.wav", folder / "sentence.wav"
    subprocess.run(["espeak-ng", "-v", voice, "-s", str(words_a_minute), "-w", str(raw), text], check=True)
    subprocess.run(["sox", "-V1", "-G", str(raw), "-r", str(RATE), "-c", "1", "-b", "16", str(sound)], check=True)
    samples = samples_of(sound)
    raw.unlink()
    sound.unlink()
    return samples


def speak(folder: pathlib.Path, number: int, length_s: int) -> None:
    chance = random.Random(number)
    voice, speed = ("en-us", "en-gb")[number % 2], (140, 150, 130)[number % 3]
    parts, lines, at = [np.zeros(RATE // 2, "<i2")], [], RATE // 2
    waiting: list[str] = []
    while at < (length_s - 2.5) * RATE:
        waiting = waiting or chance.sample(SENTENCES, len(SENTENCES))
        text = waiting.pop()
        sentence = spoken(text, voice, speed, folder)
        loud = np.nonzero(np.abs(sentence.astype(int)) > LOUD)[0]
        lines.append({"start_s": (at + int(loud[0])) / RATE, "end_s": (at + int(loud[-1])) / RATE, "text": text})
        pause = np.zeros(int(chance.uniform(0.5, 1.2) * RATE), "<i2")
        parts += [sentence, pause]
        at += len(sentence) + len(pause)
    with wave.open(str(folder / f"{number}.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.concatenate(parts).tobytes())
    (folder / f"{number}.json").write_text(json.dumps({"seconds": at / RATE, "lines": lines}, indent=1))


def make_sounds(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, length_s in enumerate(LENGTHS_S, 1):
        if not (folder / f"{number}.json").exists():
            speak(folder, number, length_s)
    for name, effect in {**SILENT, "second": "trim 0 1"}.items():
        path = folder / f"{name}.wav"
        if not path.exists():
            subprocess.run(["sox", "-V1", "-n", "-r", str(RATE), "-c", "1", "-b", "16", str(path), *effect.split()], check=True)


class Winnow:
    def __init__(self, program: str, model: str, threads: int, further: list[str], folder: pathlib.Path) -> None:
        self.command = [program, "transcribe", "--json", "--model", model, *further]
        self.environment = {"OMP_NUM_THREADS": str(threads), "HOME": str(folder)}
        self.loading_s = 0.0
        self.loading_s = min(self.hear(folder / "second.wav")[0] for _ in range(3))

    def hear(self, path: pathlib.Path) -> tuple[float, list[dict]]:
        def used_s() -> float:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime

        before = used_s()
        done = subprocess.run([*self.command, str(path)], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return used_s() - before - self.loading_s, json.loads(done.stdout)["lines"]


class FasterWhisper:
    def __init__(self, model: str, threads: int) -> None:
        self.model = WhisperModel(model, device="cpu", compute_type="int8", cpu_threads=threads)

    def hear(self, path: pathlib.Path) -> tuple[float, list[dict]]:
        before = time.process_time()
        found, _ = self.model.transcribe(str(path), language="en", beam_size=1, condition_on_previous_text=False, vad_filter=True)
        lines = [{"start_s": line.start, "end_s": line.end, "text": line.text} for line in found]
        return time.process_time() - before, lines


def words_of(text: str) -> list[str]:
    for digits, word in NUMBERS.items():
        text = re.sub(rf"(?<![\d,]){re.escape(digits)}(?![\d,])", word, text)
    return re.findall(r"[a-z0-9']+", text.lower())


def wrong_share(known: list[dict], heard: list[dict]) -> float:
    """Words to put in, take out or replace, by the known ones."""
    wanted, found = ([word for line in lines for word in words_of(line["text"])] for lines in (known, heard))
    row = list(range(len(found) + 1))
    for i, word in enumerate(wanted, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(found, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1] / len(wanted)


def distances_s(known: list[dict], heard: list[dict]) -> list[float]:
    """From the end of each line that is a known sentence's end to where that was spoken."""
    ends = {}
    for line in heard:
        ends.setdefault(tuple(words_of(line["text"])[-3:]), []).append(line["end_s"])
    found = (min((abs(end_s - line["end_s"]) for end_s in ends.get(tuple(words_of(line["text"])[-3:]), [])), default=None) for line in known)
    return [distance for distance in found if distance is not None]


def main() -> None:
    own, further = interleaved.split_words(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cli", default="build/release/bin/winnow-cli")
    parser.add_argument("--only", type=int, nargs="*", default=list(range(1, len(LENGTHS_S) + 1)), help="recordings by their numbers")
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rows", type=pathlib.Path, help="a file for the rows, as tests/bench/results has them")
    options = parser.parse_args(own)
    make_sounds(options.folder)
    ours = Winnow(options.cli, options.model, options.threads, further, options.folder)
    theirs = FasterWhisper(options.model, options.threads)
    theirs.hear(options.folder / "1.wav")  # warm-up, discarded
    print("| sound, s | ratio | Winnow, s/s | peer, s/s | wrong words, % | peer's | near ends, % | peer's | medians, s |\n" + "|---" * 9 + "|", flush=True)
    rows = []
    for number in options.only:
        truth = json.loads((options.folder / f"{number}.json").read_text())
        path = options.folder / f"{number}.wav"
        pairs = list(interleaved.in_turn(lambda: ours.hear(path), lambda: theirs.hear(path), options.pairs))
        ratios = [their_s / our_s for (our_s, _), (their_s, _) in pairs]
        speeds = [truth["seconds"] / statistics.median(side[0] for side in column) for column in zip(*pairs)]
        lines = [side[1] for side in pairs[0]]
        wrong = [100 * wrong_share(truth["lines"], side) for side in lines]
        away = [distances_s(truth["lines"], side) for side in lines]
        near = [100 * sum(distance <= NEAR_S for distance in side) / max(len(side), 1) for side in away]
        medians = " ".join(f"{statistics.median(side or [0.0]):.2f}" for side in away)
        print(f"| {truth['seconds']:.0f} | {statistics.median(ratios):.2f} | {speeds[0]:.1f} | {speeds[1]:.1f} | {wrong[0]:.1f} | {wrong[1]:.1f} | {near[0]:.0f} | {near[1]:.0f} | {medians} |",
              flush=True)
        rows.append({"peer": "faster-whisper", "seconds": round(truth["seconds"]), "speed": [round(statistics.median(ratios), 2), round(min(ratios), 2), round(max(ratios), 2)],
                     "wrong": round(wrong[0], 1), "peer wrong": round(wrong[1], 1)})
    for name in SILENT:
        heard = [len(side.hear(options.folder / f"{name}.wav")[1]) for side in (ours, theirs)]
        print(f"{name}: {heard[0]} lines, peer {heard[1]}")
    if options.rows:
        options.rows.write_text("".join(json.dumps(row) + ",\n" for row in rows))


if __name__ == "__main__":
    main()
