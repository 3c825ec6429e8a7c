#!/usr/bin/env python3
"""lmms-eval against `winnow-cli serve` with the demo model: the samples' own questions, as a task in its format. Videos go as `video_url`,
pictures as data URIs.

    python3 tests/clients/evaluation_harness.py build/release/bin/winnow-cli

Makes an environment with lmms-eval (several gigabytes: it wants PyTorch) the first time. Prints the share of right answers; ends with 1 if a
request failed or fewer than four of five are right."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from served_model import SAMPLES, Checks, environment, served

LEAST_RIGHT = 0.8
ASKED = ("ten-seconds.mp4", "half-minute.webm", "picture.png", "letter.jpg")  # the other samples take minutes

TASK = """
task: winnow_samples
dataset_path: json
dataset_kwargs:
  data_files: {data}
test_split: train
output_type: generate_until
doc_to_messages: !function functions.messages
doc_to_visual: !function functions.visual
doc_to_text: question
doc_to_target: answer
process_results: !function functions.right
generation_kwargs:
  max_new_tokens: 48
  temperature: 0
metric_list:
  - metric: right
    aggregation: mean
    higher_is_better: true
"""

FUNCTIONS = """
import PIL.Image


def visual(doc):
    return [PIL.Image.open(doc["file"]).convert("RGB") if doc["kind"] == "image" else doc["file"]]


def messages(doc, lmms_eval_specific_kwargs=None):
    return [{"role": "user", "content": [{"type": doc["kind"], "url": visual(doc)[0]}, {"type": "text", "text": doc["question"]}]}]


def right(doc, results):
    return {"right": float(results[0].strip() == doc["answer"])}
"""


def documents():
    for sample in json.loads((SAMPLES / "samples.json").read_text())["samples"]:
        if sample["file"] not in ASKED:
            continue
        for asked in sample["questions"]:
            yield {"file": str(SAMPLES / sample["file"]), "kind": "video" if sample["kind"] == "video" else "image",
                   "question": asked["question"], "answer": asked["answer"]}


def write_task(folder):
    (folder / "samples.json").write_text("\n".join(json.dumps(each) for each in documents()))
    (folder / "winnow_samples.yaml").write_text(TASK.format(data=folder / "samples.json"))
    (folder / "functions.py").write_text(FUNCTIONS)


def results_in(folder):
    found = sorted(folder.rglob("*results.json"))
    if not found:
        return {}
    return json.loads(found[-1].read_text())["results"].get("winnow_samples", {})


def run(program, python, check):
    with tempfile.TemporaryDirectory() as scratch, served(program, "--method", "full") as address:
        folder = pathlib.Path(scratch)
        write_task(folder)
        model = f"base_url={address},api_key=none,model_version=default,pass_video_url=True,max_frames_num=32,num_concurrent=2"
        done = subprocess.run([python, "-m", "lmms_eval", "--model", "openai", "--model_args", model, "--tasks", "winnow_samples",
                               "--include_path", folder, "--output_path", folder / "out", "--log_samples"],
                              env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache")}, capture_output=True, text=True)
        print(done.stdout[-2000:])
        check("lmms-eval ends well", done.returncode == 0, done.stderr[-2000:] if done.returncode else "")
        check("no request failed", "LMMS_EVAL_REQUEST_FAILED" not in "".join(each.read_text() for each in folder.rglob("*samples*.jsonl")))
        right = next((value for name, value in results_in(folder / "out").items() if name.startswith("right,")), -1.0)
        check("the samples' questions are answered", right >= LEAST_RIGHT, f"{right:.0%} of {len(list(documents()))} right")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    checks = Checks()
    run(sys.argv[1], environment("lmms-eval==0.7.3", "filelock==3.20.3"), checks)
    sys.exit(1 if checks.failed else 0)
