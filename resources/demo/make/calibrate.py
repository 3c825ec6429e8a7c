"""Measures what the methods prefixkv-profile and kvzip-head need to know of a model and writes it into its winnow.json.

prefixkv-profile, as PrefixKV's authors do: its greedy rule runs on ten calibration videos (seeds of the training range), once per
retention, and the shares of the cache that it gives to each layer are averaged. One row per retention: shares of equal mass are not
linear in it. A video is read once for up to eight retentions (the program's `compare`).

kvzip-head: KVzip runs on the first three of these videos, and each head's score is the largest that it gave any slot of any video.
"""

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
HEAD_VIDEOS = 3


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


def head_scores_of(cli: Path, model: Path, video: Path) -> np.ndarray:
    command = [
        str(cli), "ask", "--json", "--model", str(model), "--video", str(video), "--frames", str(FRAMES), "--method", "kvzip",
        "--retention", "0.5", "--max-tokens", "1", "Describe the video.",
    ]  # fmt: skip
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
    return np.array([layer["best_scores"] for layer in json.loads(found)["layers"]])


def written(document: dict) -> str:
    """As JSON with one row of a list on a line."""
    fields = []
    for key, value in document.items():
        if isinstance(value, list):
            rows = ",\n".join("    " + json.dumps(row) for row in value)
            fields.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            fields.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def main() -> None:
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", type=Path, required=True, help="the program's terminal binary")
    parser.add_argument("--model", type=Path, default=here.parent / "model")
    parser.add_argument("--videos", type=int, default=10)
    parser.add_argument("--only", choices=("prefixkv_profile", "kvzip_head_scores"), help="measure this and leave the other as it is")
    options = parser.parse_args()
    shares, scores = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(FIRST_SEED, FIRST_SEED + options.videos):
            video = videos.random_video(seed, FRAMES, codec="h264")
            path = Path(folder) / f"{seed}.mp4"
            videos.write(video, path)
            if options.only != "prefixkv_profile" and len(scores) < HEAD_VIDEOS:
                scores.append(head_scores_of(options.cli, options.model, path))
                print(seed, np.round(scores[-1], 3), sep="\n  ", flush=True)
            if options.only == "kvzip_head_scores":
                continue
            rows = []
            for first in range(0, len(RETENTIONS), COLUMNS):
                rows += shares_of(options.cli, options.model, path, RETENTIONS[first : first + COLUMNS])
            shares.append(rows)
            print(seed, *(f"{retention}: {np.round(row, 3)}" for retention, row in zip(RETENTIONS, rows)), sep="\n  ", flush=True)
    sidecar = options.model / "winnow.json"
    document = json.loads(sidecar.read_text())
    document.pop("prefixkv_shares", None)
    if shares:
        rows = zip(RETENTIONS, np.mean(shares, axis=0))
        document["prefixkv_profile"] = [{"retention": r, "shares": [round(float(s), 5) for s in row]} for r, row in rows]
    if scores:
        document["kvzip_head_scores"] = [{"heads": [round(float(s), 5) for s in layer]} for layer in np.max(scores, axis=0)]
    sidecar.write_text(written(document))
    print(sidecar.read_text())


if __name__ == "__main__":
    main()
