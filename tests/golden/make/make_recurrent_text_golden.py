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
import transformers
from family_golden import GOLDEN, main
from make_qwen3_5_golden import STEADY
from safetensors.torch import load_file, save_file
from transformers import (AutoModelForCausalLM, Gemma4ForCausalLM, Gemma4TextConfig, Lfm2Config, Lfm2ForCausalLM, Qwen3_5ForCausalLM, Qwen3_5MoeForCausalLM, Qwen3_5MoeTextConfig, Qwen3_5TextConfig, Qwen3NextConfig,
                          Qwen3NextForCausalLM)

import make_text_model_golden as text

OUT = GOLDEN / "recurrent_text"
ROPE = {"rope_type": "default", "rope_theta": 10000000.0, "partial_rotary_factor": 0.25}
DELTA = dict(linear_num_key_heads=2, linear_key_head_dim=8, linear_value_head_dim=12, linear_conv_kernel_dim=4)
EXPERTS = dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=24)
HEADS = dict(hidden_size=32, num_attention_heads=2, num_key_value_heads=1, head_dim=32, max_position_embeddings=512)


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


CONFIGURATIONS = {
    "qwen3_5": dict(
        seed=1, covers="Qwen3.5, every second of 4 layers attends, 4 value heads on 2 key heads, tied, names as in the whole model's folder", rows=50,
        stored=torch.bfloat16, make=(Qwen3_5TextConfig, Qwen3_5ForCausalLM), layers=4, more=decays, renames=inside_the_whole,
        config=dict(intermediate_size=40, linear_num_value_heads=4, full_attention_interval=2, tie_word_embeddings=True, rope_parameters=ROPE,
                    **HEADS, **DELTA)),
    "qwen3_5_moe": dict(
        seed=1, covers="Qwen3.5-MoE, a tensor for each expert, layer_types of which the first attends and the last does not", rows=50,
        stored=torch.bfloat16, make=(Qwen3_5MoeTextConfig, Qwen3_5MoeForCausalLM), layers=3, more=decays,
        config=dict(linear_num_value_heads=2, layer_types=["full_attention", "linear_attention", "linear_attention"], rope_parameters=ROPE,
                    **HEADS, **EXPERTS, **DELTA)),
    "qwen3_next": dict(
        seed=1, covers="Qwen3-Next, what a key head needs in one block of rows, a layer without experts", rows=50,
        stored=torch.bfloat16, make=(Qwen3NextConfig, Qwen3NextForCausalLM), layers=3, more=decays,
        config=dict(intermediate_size=40, linear_num_value_heads=4, full_attention_interval=3, mlp_only_layers=[1], rope_parameters=ROPE,
                    **HEADS, **EXPERTS, **DELTA)),
}


SLIDING, FULL = "sliding_attention", "full_attention"
CONFIGURATIONS |= {
    "gemma4": dict(
        seed=1, covers="Gemma 4 as 26B-A4B, layers under a window have twice the KV heads of the others, whose values are keys, 2 of 5 experts beside "
                       "every MLP, tied, names as in the whole model's folder", rows=60,
        stored=torch.bfloat16, make=(Gemma4TextConfig, Gemma4ForCausalLM), layers=4, more=clear_routers, renames=inside_the_whole,
        config=dict(hidden_size=32, intermediate_size=40, num_attention_heads=4, num_key_value_heads=2, num_global_key_value_heads=1, head_dim=8,
                    global_head_dim=16, sliding_window=20, layer_types=[SLIDING, SLIDING, FULL, FULL], attention_k_eq_v=True,
                    hidden_size_per_layer_input=0, enable_moe_block=True, num_experts=5, top_k_experts=2, moe_intermediate_size=16,
                    final_logit_softcapping=30.0, max_position_embeddings=512)),
    "gemma4_borrowing": dict(
        seed=1, covers="Gemma 4 as E2B, layer inputs, two layers that borrow keys and have MLPs twice as wide, untied", rows=60,
        stored=torch.float32, make=(Gemma4TextConfig, Gemma4ForCausalLM), layers=4, more=clear_routers,
        config=dict(hidden_size=24, intermediate_size=32, num_attention_heads=2, num_key_value_heads=1, head_dim=8, global_head_dim=12,
                    sliding_window=16, layer_types=[SLIDING, FULL, SLIDING, FULL], num_kv_shared_layers=2, use_double_wide_mlp=True,
                    hidden_size_per_layer_input=4, vocab_size_per_layer_input=text.VOCABULARY, tie_word_embeddings=False,
                    max_position_embeddings=512)),
}


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


CONVOLVED = dict(hidden_size=32, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512, block_multiple_of=8)
CONFIGURATIONS |= {
    "lfm2": dict(
        seed=1, covers="LFM2 under its published keys, 2 of 5 layers attend and the last does not, 4 tokens under a convolution with biases, an MLP of "
                       "1.1 times two thirds of what the file says in multiples of 8, untied", rows=60,
        stored=torch.bfloat16, make=(Lfm2Config, Lfm2ForCausalLM), layers=5, more=clear_convolutions, renames=as_lfm2_is_published,
        config=dict(intermediate_size=72, block_ffn_dim_multiplier=1.1, full_attn_idxs=[1, 3], conv_L_cache=4, conv_bias=True, tie_word_embeddings=False,
                    **CONVOLVED)),
    "lfm2_saved": dict(
        seed=1, covers="LFM2 as transformers saves it, layer_types of which the last attends, an MLP as large as the file says, tied", rows=50,
        stored=torch.float32, make=(Lfm2Config, Lfm2ForCausalLM), layers=3, more=clear_convolutions,
        config=dict(intermediate_size=40, block_auto_adjust_ff_dim=False, layer_types=["conv", "conv", FULL], **CONVOLVED)),
}


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
        apart = steadiness(text.make(OUT / name, settings, settings["seed"]), OUT / name)
        print(name, "fp32 and fp64 differ by", apart, flush=True)
        assert apart < STEADY, "another seed"
        settings.get("renames", lambda folder: None)(OUT / name)
    manifest = {
        "what": "logits of a prompt and 64 greedy tokens of tiny random language models with layers that keep states or slots of their own, and of a second question",
        "reference": f"transformers {transformers.__version__}, fp32, eager attention, greedy without a cache",
        "script": "tests/golden/make/make_recurrent_text_golden.py",
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "configurations": {name: settings["covers"] for name, settings in CONFIGURATIONS.items()},
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(__doc__, write_goldens)
