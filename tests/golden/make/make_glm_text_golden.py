#!/usr/bin/env python3
"""Writes tests/golden/glm_text: tiny random GLM models of text alone and what transformers computes with them in fp32.

    python tests/golden/make/make_glm_text_golden.py

As make_text_model_golden.py, whose folders these are like. Needs torch, transformers 5.24, safetensors (versions: manifest.json).
"""

import json
import shutil

import torch
import transformers
from family_golden import GOLDEN, main
from transformers import Glm4Config, Glm4ForCausalLM, Glm4MoeConfig, Glm4MoeForCausalLM

import make_glm4v_golden as glm4v
import make_text_model_golden as text

OUT = GOLDEN / "glm_text"


def clear(model):
    """Greedy choices that are no ties."""
    glm4v.randomise(model, torch.Generator().manual_seed(1), False)


CONFIGURATIONS = {
    "glm4": dict(
        seed=1, covers="GLM-4, of whose heads of 16 the first half rotates in neighbouring pairs, norms behind attention and MLP, gate and up in one matrix, "
                       "biases of q, k and v, untied", rows=60, stored=torch.bfloat16, more=clear, make=(Glm4Config, Glm4ForCausalLM),
        config=dict(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=512,
                    rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5})),
    "glm4_moe": dict(
        seed=1, covers="GLM-4.5 as 355B, norms of queries and keys, 3 of 8 experts by sigmoids with a bias, two that all tokens go through, weights times 2.5, the "
                       "first of 3 layers without experts, half of a head rotates, untied", rows=60, stored=torch.float32, layers=3, more=clear,
        make=(Glm4MoeConfig, Glm4MoeForCausalLM),
        config=dict(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=512,
                    attention_bias=True, use_qk_norm=True, n_routed_experts=8, num_experts_per_tok=3, moe_intermediate_size=16, n_shared_experts=2,
                    routed_scaling_factor=2.5, first_k_dense_replace=1,
                    rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5})),
}


def write_goldens() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    for name, settings in CONFIGURATIONS.items():
        text.make(OUT / name, settings, settings["seed"])
        config = json.loads((OUT / name / "config.json").read_text())
        (OUT / name / "config.json").write_text(json.dumps(config | {"eos_token_id": None}, indent=2, sort_keys=True) + "\n")  # its class's are no words here
    manifest = {
        "what": "logits of a prompt and 64 greedy tokens of tiny random GLM models, and of a second question",
        "reference": f"transformers {transformers.__version__}, fp32, eager attention, greedy without a cache",
        "script": "tests/golden/make/make_glm_text_golden.py",
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "configurations": {name: settings["covers"] for name, settings in CONFIGURATIONS.items()},
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(__doc__, write_goldens)
