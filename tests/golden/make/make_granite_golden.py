#!/usr/bin/env python3
"""Writes tests/golden/granite: a tiny random Granite and Granite Vision and what transformers computes with them in fp32.

    python tests/golden/make/make_granite_golden.py

text: as make_text_model_golden.py has its folders. vision: as make_llava_golden.py has its; logits are divided as GraniteForCausalLM does it, which
transformers 5 leaves out in Granite Vision. Needs what they need (versions: manifest.json).
"""

import torch
from family_golden import GOLDEN, main, told, write_configurations, write_manifest
from make_llava_golden import load, make_folder, run_case
from make_text_model_golden import make as make_text

OUT = GOLDEN / "granite"
SEED = 29
CONFIGURATIONS, _, _ = told("granite")


def make_vision(options, folder, number):
    torch.manual_seed(SEED + 1)
    make_folder(options, torch.Generator().manual_seed(SEED + 1), folder)
    processor, model = load(folder)
    model.lm_head.register_forward_hook(lambda head, given, logits: logits / model.config.text_config.logits_scaling)
    return processor, model


def make_goldens():
    write_configurations(OUT, {"vision": CONFIGURATIONS["vision"]}, make_vision, run_case)
    make_text(OUT / "text", CONFIGURATIONS["text"], SEED)
    write_manifest(OUT, "tiny random Granite and Granite Vision models", "Auto classes in fp32, eager attention; of vision, logits are divided by logits_scaling", __file__, seed=f"{SEED}; vision: {SEED + 1}",
                   configurations={name: options["covers"] for name, options in CONFIGURATIONS.items()},
                   tensors={"text": "as tests/golden/text_models has them", "vision": "as tests/golden/llava has them"},
                   licence="Apache-2.0, own random weights, own pictures and text")


if __name__ == "__main__":
    main(__doc__, make_goldens)
