"""Measures the layers' shares for the method prefixkv-profile and writes them into the model's winnow.json.

As PrefixKV's authors do: its greedy rule runs on ten calibration videos (seeds of the training range), once per retention, and
the shares of the cache that it gives to each layer are averaged. One row per retention: shares of equal mass are not linear in
it. A video is read once for up to eight retentions (the program's `compare`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import videos

FIRST_SEED, FRAMES = 900_000, 64
RETENTIONS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
COLUMNS = 6  # of one comparison


def shares_of(cli: Path, model: Path, video: Path, retentions: list[float]) -> list[np.ndarray]:
    command = [
        str(cli), "compare", "--json", "--model", str(model), "--video", str(video), "--frames", str(FRAMES),
        *(word for retention in retentions for word in ("--method", f"prefixkv@{retention}")), "--max-tokens", "1",
        "Describe the video.",
    ]  # fmt: skip
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
    columns = json.loads(found)["columns"]
    assert [column["retention"] for column in columns] == retentions
    return [np.array([layer["budget"] for layer in column["layers"]]) / column["tokens"]["prompt"] for column in columns]


def main() -> None:
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", type=Path, required=True, help="the program's terminal binary")
    parser.add_argument("--model", type=Path, default=here.parent / "model")
    parser.add_argument("--videos", type=int, default=10)
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(FIRST_SEED, FIRST_SEED + options.videos):
            video = videos.random_video(seed, FRAMES, codec="h264")
            path = Path(folder) / f"{seed}.mp4"
            videos.write(video, path)
            rows = []
            for first in range(0, len(RETENTIONS), COLUMNS):
                rows += shares_of(options.cli, options.model, path, RETENTIONS[first : first + COLUMNS])
            found.append(rows)
            print(seed, *(f"{retention}: {np.round(row, 3)}" for retention, row in zip(RETENTIONS, rows)), sep="\n  ", flush=True)
    sidecar = options.model / "winnow.json"
    document = json.loads(sidecar.read_text())
    document.pop("prefixkv_shares", None)
    rows = [{"retention": r, "shares": [round(float(s), 5) for s in row]} for r, row in zip(RETENTIONS, np.mean(found, axis=0))]
    document["prefixkv_profile"] = rows
    text = json.dumps({key: value for key, value in document.items() if key != "prefixkv_profile"}, indent=2)[:-2]
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    sidecar.write_text(f'{text},\n  "prefixkv_profile": [\n{lines}\n  ]\n}}\n')
    print(sidecar.read_text())


if __name__ == "__main__":
    main()
