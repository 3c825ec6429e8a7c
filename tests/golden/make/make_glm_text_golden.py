#!/usr/bin/env python3
"""Writes tests/golden/glm_text: tiny random GLM models of text alone and what transformers computes with them in fp32.

    python tests/golden/make/make_glm_text_golden.py

As make_text_model_golden.py, whose folders these are like. Needs torch, transformers 5.24, safetensors (versions: manifest.json).
"""

import json
import shutil

import torch
from family_golden import GOLDEN, main, told

import make_glm4v_golden as glm4v
import make_text_model_golden as text

OUT = GOLDEN / "glm_text"


def clear(model):
    """Greedy choices that are no ties."""
    glm4v.randomise(model, torch.Generator().manual_seed(1), False)


CONFIGURATIONS, _, _ = told("glm_text")


def write_goldens() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    for name, settings in CONFIGURATIONS.items():
        text.make(OUT / name, settings | dict(more=clear), settings["seed"])
        config = json.loads((OUT / name / "config.json").read_text())
        (OUT / name / "config.json").write_text(json.dumps(config | {"eos_token_id": None}, indent=2, sort_keys=True) + "\n")  # its class's are no words here
    text.write_text_manifest(OUT, "GLM models", __file__, CONFIGURATIONS)


if __name__ == "__main__":
    main(__doc__, write_goldens)
