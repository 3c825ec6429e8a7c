"""Measures the layers' shares for the method prefixkv-profile and writes them into the model's winnow.json.

As PrefixKV's authors do: its greedy rule runs on ten calibration videos (seeds of the training range), and the shares of the
cache that it gives to each layer are averaged.
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


def shares_of(cli: Path, model: Path, video: Path, retention: float) -> np.ndarray:
    command = [
        str(cli), "ask", "--json", "--model", str(model), "--video", str(video), "--frames", str(FRAMES), "--method", "prefixkv",
        "--retention", str(retention), "--max-tokens", "1", "Describe the video.",
    ]  # fmt: skip
    answer = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout)
    return np.array([layer["budget"] for layer in answer["layers"]]) / answer["tokens"]["prompt"]


def main() -> None:
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", type=Path, required=True, help="the program's terminal binary")
    parser.add_argument("--model", type=Path, default=here.parent / "model")
    parser.add_argument("--videos", type=int, default=10)
    parser.add_argument("--retention", type=float, default=0.2)
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(FIRST_SEED, FIRST_SEED + options.videos):
            video = videos.random_video(seed, FRAMES, codec="h264")
            path = Path(folder) / f"{seed}.mp4"
            videos.write(video, path)
            found.append(shares_of(options.cli, options.model, path, options.retention))
            print(seed, np.round(found[-1], 3), flush=True)
    sidecar = options.model / "winnow.json"
    document = json.loads(sidecar.read_text())
    document["prefixkv_shares"] = [round(float(share), 4) for share in np.mean(found, axis=0)]
    sidecar.write_text(json.dumps(document, indent=2) + "\n")
    print(f"{sidecar}: {document['prefixkv_shares']}")


if __name__ == "__main__":
    main()
