#!/usr/bin/env python3
"""Writes tests/golden/recurrent_text: tiny random language models with layers that keep states or slots of their own, and what transformers
computes with them.

    python tests/golden/make/make_recurrent_text_golden.py

As make_text_model_golden.py, whose tensors these are. Gated DeltaNet layers carry small differences on: a seed is taken only if
transformers' own logits in fp32 and in fp64 are close. Needs torch, transformers 5.24, safetensors (versions: manifest.json).
"""

import json
import re
import shutil

import torch
from family_golden import GOLDEN, main, told
from make_qwen3_5_golden import STEADY
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

import make_text_model_golden as text

OUT = GOLDEN / "recurrent_text"


def decays(model):
    """From a token to hundreds, so that states matter, and routers that choose."""
    for name, value in model.named_parameters():
        for pattern, mean, deviation in ((r"A_log$", -3, 1.5), (r"dt_bias$", 0, 1), (r"mlp\.gate\.weight$", 0, 0.5), (r"linear_attn\.(in|out)_proj", 0, 0.2),
                                         (r"conv1d", 0, 0.5), (r"shared_expert_gate", 0, 0.5)):
            if re.search(pattern, name):
                value.data.copy_(mean + deviation * torch.randn_like(value))


def clear_routers(model):
    """Layer factors that are not one, and routers that choose."""
    for name, value in model.named_buffers():
        if name.endswith("layer_scalar"):
            value.copy_(1 + 0.1 * torch.randn_like(value))
    for name, value in model.named_parameters():
        for pattern, mean, deviation in ((r"router\.proj", 0, 0.5), (r"router\.(scale|per_expert_scale)", 1, 0.3), (r"experts\.", 0, 0.3),
                                         (r"embed_tokens", 0, 0.2), (r"[qk]_norm", 1, 0.2)):
            if re.search(pattern, name):
                value.data.copy_(mean + deviation * torch.randn_like(value))


def inside_the_whole(folder):
    """Names as in a folder of the model with its vision encoder, of which transformers' class reads the text part."""
    tensors = {name.replace("model.", "model.language_model.", 1): value for name, value in load_file(folder / "model.safetensors").items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


CONFIGURATIONS, _, _ = told("recurrent_text")


def clear_convolutions(model):
    """Gates that open and close, and kernels of which every token counts."""
    for name, value in model.named_parameters():
        for pattern, mean, deviation in ((r"conv\.in_proj", 0, 0.4), (r"conv\.conv", 0, 0.5), (r"(self_attn|conv)\.out_proj", 0, 0.2),
                                         (r"feed_forward", 0, 0.15), (r"[qk]_layernorm", 1, 0.2), (r"embed_tokens", 0, 0.2)):
            if re.search(pattern, name):
                value.data.copy_(mean + deviation * torch.randn_like(value))


def as_lfm2_is_published(folder):
    """The keys of published files, of which transformers reads the same model."""
    config = json.loads((folder / "config.json").read_text())
    published = {"block_ff_dim": config.pop("intermediate_size"), "tie_embedding": config.pop("tie_word_embeddings"),
                 "rope_theta": config.pop("rope_parameters")["rope_theta"], "block_norm_eps": config["norm_eps"],
                 "full_attn_idxs": [i for i, kind in enumerate(config.pop("layer_types")) if kind == "full_attention"]}
    (folder / "config.json").write_text(json.dumps(config | published, indent=2, sort_keys=True) + "\n")
    golden = load_file(folder / "golden.safetensors")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.inference_mode():
        assert torch.equal(model(golden["ids"][None]).logits[0][:, ::text.COLUMNS], golden["logits"])


def steadiness(model, folder):
    """How far the logits in fp32 are from those in fp64, relative to the largest."""
    ids = load_file(folder / "golden.safetensors")["ids"][None]
    model.set_experts_implementation("eager")  # the one that knows fp64
    with torch.inference_mode():
        single = model(ids).logits
        double = model.double()(ids).logits
    return float((single - double).abs().max() / double.abs().max())


def write_goldens():
    shutil.rmtree(OUT, ignore_errors=True)
    for name, settings in CONFIGURATIONS.items():
        functions = {key: globals()[settings[key]] for key in ("more", "renames") if key in settings}
        apart = steadiness(text.make(OUT / name, settings | functions, settings["seed"]), OUT / name)
        print(name, "fp32 and fp64 differ by", apart, flush=True)
        assert apart < STEADY, "another seed"
        functions.get("renames", lambda folder: None)(OUT / name)
    text.write_text_manifest(OUT, "language models with layers that keep states or slots of their own", __file__, CONFIGURATIONS)


if __name__ == "__main__":
    main(__doc__, write_goldens)
