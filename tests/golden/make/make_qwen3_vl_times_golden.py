#!/usr/bin/env python3
"""Writes tests/golden/qwen3_vl/times.json: prompt ids of videos whose frames lie at uneven times, as transformers' Qwen3VLProcessor writes them.

Frames are told by their numbers in the file and its rate; a frame's time is number / rate. The processor is that of qwen3_vl/published, and of
qwen3_vl/joined_three (make_qwen3_vl_golden.py). Numbers and rates are drawn: rates of films and of phones, clips of one frame, the last set of
frames not full, frames close together, videos of more than an hour.

usage: make_qwen3_vl_times_golden.py      (needs: torch, torchvision, transformers, tokenizers, numpy; versions: manifest.json)
"""
import json
import pathlib
import random

import numpy as np
import transformers
from transformers import AutoProcessor
from transformers.video_utils import VideoMetadata

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "qwen3_vl"
SEED = 20261127
RATES = (1.0, 2.0, 10.0, 23.976, 24.0, 25.0, 29.97, 30.0, 50.0, 59.94, 60.0, 0.5, 15.5)
BEFORE, PLACE, AFTER = "<|im_start|>user\n", "<|vision_start|><|video_pad|><|vision_end|>", "What moves?<|im_end|>\n<|im_start|>assistant\n"


def drawn(generator):
    rate = generator.choice(RATES)
    longest = generator.choice((20, 200, 2000, int(rate * 5000) + 20))
    frames = sorted(generator.sample(range(longest), generator.randint(1, 9)))
    return rate, longest, frames


def main():
    generator = random.Random(SEED)
    cases = []
    for name, count in (("published", 40), ("joined_three", 20)):
        processor = AutoProcessor.from_pretrained(FOLDER / name / "model")
        for _ in range(count):
            rate, total, frames = drawn(generator)
            height, width = generator.randint(20, 40), generator.randint(20, 40)
            video = np.random.default_rng(len(cases)).integers(0, 256, (len(frames), height, width, 3), dtype=np.uint8)
            inputs = processor(text=BEFORE + PLACE + AFTER, videos=[video], do_sample_frames=False, return_tensors="pt", video_metadata=[
                VideoMetadata(total_num_frames=total, fps=rate, duration=total / rate, frames_indices=frames)])
            grid = inputs["video_grid_thw"][0].tolist()
            merge = processor.video_processor.merge_size
            cases.append({"folder": name, "rate": rate, "frames": frames, "cells": [grid[1] // merge, grid[2] // merge], "ids": inputs["input_ids"][0].tolist()})
    (FOLDER / "times.json").write_text(json.dumps({"reference": f"transformers {transformers.__version__}, Qwen3VLProcessor", "script": "tests/golden/make/make_qwen3_vl_times_golden.py",
                                                   "seed": SEED, "before": BEFORE, "after": AFTER, "cases": cases}, separators=(",", ":")) + "\n")


main()
