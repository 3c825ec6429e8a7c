#!/usr/bin/env python3
"""Writes tests/golden/ollama: golden folders of models with eyes as Ollama's converter makes them, one file for text and eyes.

    python tests/golden/make/make_ollama_golden.py [--to FOLDER] [NAME ...]

NAME ministral3 is not kept, because a folder of golden files has a bound; --to writes it elsewhere.

Needs gguf (0.19.0), torch and safetensors. What is followed is convert/ of github.com/ollama/ollama, read in November 2026: which keys each
family's file has, how tensors are called (strings of pairs, replaced from left to right; the first pair that fits wins), which are taken
apart or repacked, and which type each is stored in. The file has to give what tests/golden has for the folder: the same ids, pixels,
features, logits and tokens.

What tiny folders have otherwise than every published one, and the converter therefore does not write, is added under the keys that Ollama's
own reader has for it; LESS says what a file lacks that the reader takes for granted, so that this is tested, too.
"""

import argparse
import json
import pathlib

import gguf
import numpy as np
import torch
from safetensors.torch import load_file

GOLDEN = pathlib.Path(__file__).resolve().parents[1]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
F32, F16, BF16 = gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16, gguf.GGMLQuantizationType.BF16

QWEN2 = ["lm_head", "output", "model.embed_tokens", "token_embd", "model.layers", "blk", "input_layernorm", "attn_norm", "self_attn.k_proj",
         "attn_k", "self_attn.v_proj", "attn_v", "self_attn.q_proj", "attn_q", "self_attn.o_proj", "attn_output", "mlp.down_proj", "ffn_down",
         "mlp.gate_proj", "ffn_gate", "mlp.up_proj", "ffn_up", "post_attention_layernorm", "ffn_norm", "model.norm", "output_norm"]
QWEN25VL = QWEN2 + ["visual", "v", "blocks", "blk", "attn.proj", "attn_out", "norm1", "ln1", "norm2", "ln2"]
QWEN3VL = ["lm_head", "output", "model.embed_tokens", "token_embd", "model.layers", "blk", "input_layernorm", "attn_norm", "self_attn.k_proj",
           "attn_k", "self_attn.k_norm", "attn_k_norm", "self_attn.v_proj", "attn_v", "self_attn.q_proj", "attn_q", "self_attn.q_norm",
           "attn_q_norm", "self_attn.o_proj", "attn_output", "mlp.down_proj", "ffn_down", "mlp.gate_proj", "ffn_gate", "mlp.up_proj", "ffn_up",
           "mlp.gate.weight", "ffn_gate_inp.weight", "mlp.experts.down_proj", "ffn_down_exps.weight", "mlp.experts.gate_up_proj",
           "ffn_gate_up_exps.weight", "post_attention_layernorm", "ffn_norm", "model.norm", "output_norm", "model.language_", "",
           "model.visual", "v", "patch_embed.proj", "patch_embed", "blocks", "blk", "attn.qkv", "attn_qkv", "attn.proj", "attn_out",
           "deepstack_merger_list", "deepstack_merger"]
QWEN35 = ["lm_head", "output", "model.language_model.embed_tokens", "token_embd", "model.language_model.norm", "output_norm",
          "model.language_model.layers", "blk", "model.visual", "v", "patch_embed.proj", "patch_embed", "blocks", "blk", "attn.qkv", "attn_qkv",
          "attn.proj", "attn_out", "deepstack_merger_list", "deepstack_merger", "input_layernorm", "attn_norm", "post_attention_layernorm",
          "post_attention_norm", "self_attn.q_proj", "attn_q", "self_attn.q_norm", "attn_q_norm", "self_attn.k_proj", "attn_k",
          "self_attn.k_norm", "attn_k_norm", "self_attn.v_proj", "attn_v", "self_attn.o_proj", "attn_output", "linear_attn.in_proj_qkv",
          "attn_qkv", "linear_attn.in_proj_z", "attn_gate", "linear_attn.in_proj_a", "ssm_alpha", "linear_attn.in_proj_b", "ssm_beta",
          "linear_attn.conv1d", "ssm_conv1d", "linear_attn.dt_bias", "ssm_dt", "linear_attn.A_log", "ssm_a", "linear_attn.norm", "ssm_norm",
          "linear_attn.out_proj", "ssm_out", "mlp.down_proj", "ffn_down", "mlp.gate_proj", "ffn_gate", "mlp.up_proj", "ffn_up"]
GEMMA3 = ["lm_head", "output", "model.embed_tokens", "token_embd", "model.norm", "output_norm", "vision_tower.vision_model.embeddings", "v",
          "vision_tower.vision_model", "v", "vision_model.vision_model.embeddings", "v", "vision_model.vision_model", "v", "language_model.", "",
          "model.layers", "blk", "encoder.layers", "blk", "input_layernorm", "attn_norm", "self_attn.q_proj", "attn_q", "self_attn.q_norm",
          "attn_q_norm", "self_attn.k_proj", "attn_k", "self_attn.k_norm", "attn_k_norm", "self_attn.v_proj", "attn_v", "self_attn.o_proj",
          "attn_output", "self_attn.out_proj", "attn_output", "mlp.gate_proj", "ffn_gate", "mlp.down_proj", "ffn_down", "mlp.up_proj", "ffn_up",
          "post_attention_layernorm", "post_attention_norm", "pre_feedforward_layernorm", "ffn_norm", "post_feedforward_layernorm",
          "post_ffw_norm", "input_projection_weight", "input_projection.weight", "multi_modal_projector", "mm"]
MISTRAL3 = ["language_model.model.norm", "output_norm", "language_model.model.", "", "language_model.", "", "layers", "blk",
            "transformer.layers", "blk", "vision_tower", "v", "ln_pre", "encoder_norm", "input_layernorm", "attn_norm",
            "post_attention_layernorm", "ffn_norm", "embed_tokens", "token_embd", "self_attn.q_proj", "attn_q", "self_attn.k_proj", "attn_k",
            "self_attn.v_proj", "attn_v", "self_attn.o_proj", "attn_output", "mlp.down_proj", "ffn_down", "mlp.gate_proj", "ffn_gate",
            "mlp.up_proj", "ffn_up", "attention.q_proj", "attn_q", "attention.k_proj", "attn_k", "attention.v_proj", "attn_v",
            "attention.o_proj", "attn_output", "attention_norm", "attn_norm", "feed_forward.gate_proj", "ffn_gate", "feed_forward.down_proj",
            "ffn_down", "feed_forward.up_proj", "ffn_up", "multi_modal_projector", "mm", "ffn_norm", "ffn_norm", "lm_head", "output"]
GEMMA4 = [".linear.weight", ".weight", "model.audio_tower.layers", "a.blk", "self_attn.q_proj", "attn_q", "self_attn.k_proj", "attn_k",
          "self_attn.v_proj", "attn_v", "model.vision_tower.encoder.layers", "v.blk", "model.vision_tower.patch_embedder.input_proj",
          "v.patch_embd", "model.vision_tower.patch_embedder.position_embedding_table", "v.position_embd.weight",
          "model.vision_tower.std_bias", "v.std_bias", "model.vision_tower.std_scale", "v.std_scale",
          "model.embed_vision.embedding_projection", "mm.input_projection", "model.language_model.embed_tokens_per_layer",
          "per_layer_token_embd", "model.language_model.embed_tokens", "token_embd", "model.language_model.per_layer_model_projection",
          "per_layer_model_proj", "model.language_model.per_layer_projection_norm", "per_layer_proj_norm", "model.language_model.norm",
          "output_norm", "model.language_model.layers", "blk", "input_layernorm", "attn_norm", "self_attn.q_norm", "attn_q_norm",
          "self_attn.k_norm", "attn_k_norm", "self_attn.o_proj", "attn_output", "mlp.gate_proj", "ffn_gate", "mlp.down_proj", "ffn_down",
          "mlp.up_proj", "ffn_up", "post_attention_layernorm", "post_attention_norm", "pre_feedforward_layernorm", "ffn_norm",
          "post_feedforward_layernorm", "post_ffw_norm", "per_layer_input_gate", "inp_gate", "per_layer_projection", "proj",
          "post_per_layer_input_norm", "post_norm", "layer_scalar", "layer_output_scale.weight"]


def replaced(name, pairs):
    rules, out, at = list(zip(pairs[::2], pairs[1::2])), "", 0
    while at < len(name):
        rule = next((rule for rule in rules if name.startswith(rule[0], at)), None)
        out, at = (out + rule[1], at + len(rule[0])) if rule else (out + name[at], at + 1)
    return out


def parts_of(name, tensor, whole):
    """q, k and v apart."""
    return [(name.replace(whole, part), piece) for part, piece in zip(("attn_q", "attn_k", "attn_v"), tensor.chunk(3))]


def add_one(name, tensor):
    return tensor.float() + 1.0 if name.endswith("_norm.weight") and not name.startswith("v.") else tensor


def qwen25vl(name, tensor, config):
    if "patch_embed.proj" in name:
        return [(name.replace("patch_embed.proj", f"patch_embd_{frame}"), tensor[:, :, frame]) for frame in range(2)]
    return parts_of(name, tensor, "attn.qkv") if "attn.qkv" in name else [(name, tensor)]


def qwen3vl(name, tensor, config):
    if "attn_qkv" in name:
        return parts_of(name, tensor, "attn_qkv")
    if "patch_embed" in name and name.endswith("weight"):
        return [(name, tensor.flatten(0, 1))]
    if "ffn_gate_up_exps" in name:
        return [(name.replace("gate_up", part), piece.transpose(1, 2)) for part, piece in zip(("gate", "up"), tensor.chunk(2, 2))]
    return [(name, tensor.transpose(1, 2) if "ffn_down_exps" in name else tensor)]


def qwen35(name, tensor, config):
    """Value heads in turn: the first of every key head, then the second of every key head."""
    text = config["text_config"]
    keys, values, size = text["linear_num_key_heads"], text["linear_num_value_heads"], text["linear_value_head_dim"]

    def in_turn(of, size, dim=0):
        return of.unflatten(dim, (keys, values // keys, size)).transpose(dim, dim + 1).flatten(dim, dim + 2)

    if name.startswith("v."):
        return qwen3vl(name, tensor, config)
    before = 2 * keys * text["linear_key_head_dim"]
    if name.endswith("_norm.weight") and not name.endswith(".ssm_norm.weight"):
        tensor = tensor.float() + 1.0
    elif name.endswith(".ssm_a"):
        tensor = in_turn(-torch.exp(tensor.float()), 1)
    elif name.endswith((".attn_qkv.weight", ".ssm_conv1d.weight")):
        tensor = tensor.squeeze(1) if tensor.dim() == 3 else tensor
        tensor = torch.cat([tensor[:before], in_turn(tensor[before:], size)])
    elif name.endswith(".attn_gate.weight"):
        tensor = in_turn(tensor, size)
    elif name.endswith((".ssm_beta.weight", ".ssm_alpha.weight", ".ssm_dt")):
        tensor = in_turn(tensor, 1)
    elif name.endswith(".ssm_out.weight"):
        tensor = in_turn(tensor, size, 1)
    return [] if name.startswith("mtp.") else [(name, tensor)]  # in layers of their own, or left out


def mistral3(name, tensor, config):
    """Rows of q and k of the text model: a head's two halves in turn."""
    if name.startswith(f"v.blk.{tower_layers(config)}."):
        return []
    text = config["text_config"]
    heads = {".attn_q.weight": text["num_attention_heads"], ".attn_k.weight": text["num_key_value_heads"]}.get(name[name.rfind(".attn"):])
    if heads and not name.startswith("v."):
        tensor = tensor.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)
    return [(name, tensor)]


def gemma4(name, tensor, config):
    if name.startswith("v.blk."):
        for theirs, mmproj in [("attn_norm", "ln1"), ("ffn_norm", "ln2"), ("attn_output", "attn_out"), ("post_attention_norm", "attn_post_norm"),
                               ("post_ffw_norm", "ffn_post_norm"), ("layer_output_scale", "out_scale")]:
            name = name.replace(f".{theirs}.", f".{mmproj}.", 1)
    if name == "v.patch_embd.weight":
        side = config["vision_config"]["patch_size"]
        return [(name, tensor.view(-1, side, side, 3).permute(0, 3, 1, 2).half())]
    return [(name, tensor if tensor.dim() else tensor.view(1))]


def stored_type(name, tensor):
    """One dimension, biases and routers: F32. Else F16, and what a folder has in BF16 stays so, but for the eyes."""
    always = (".ffn_gate_inp.weight", ".bias", ".ssm_conv1d.weight")
    if tensor.dim() < 2 or name.endswith(always):
        return F32
    return BF16 if tensor.dtype == torch.bfloat16 and not name.startswith(("v.", "mm.")) else F16


def add_tensor(writer, name, tensor):
    kind = stored_type(name, tensor)
    if kind == BF16:
        writer.add_tensor(name, gguf.quants.quantize(tensor.float().contiguous().numpy(), BF16), raw_dtype=BF16)
    else:
        writer.add_tensor(name, tensor.float().contiguous().numpy().astype(np.float32 if kind == F32 else np.float16))


def byte_level(writer, model, pre):
    """tokenizer.json alone."""
    data = json.loads((model / "tokenizer.json").read_text())
    tokens = {number: (text, NORMAL) for text, number in data["model"]["vocab"].items()}
    tokens |= {token["id"]: (token["content"], CONTROL if token["special"] else USER_DEFINED) for token in data["added_tokens"]}
    tokens = [tokens[number] for number in sorted(tokens)]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in data["model"]["merges"]]
    writer.add_string("tokenizer.ggml.model", "llama" if pre == "gemma4" else "gpt2")
    writer.add_string("tokenizer.ggml.pre", pre)
    writer.add_array("tokenizer.ggml.tokens", [text for text, _ in tokens])
    writer.add_array("tokenizer.ggml.scores", [float(number) for number in range(len(tokens))])
    writer.add_array("tokenizer.ggml.token_type", [kind for _, kind in tokens])
    writer.add_array("tokenizer.ggml.merges", merges)


def sentence_piece(writer, model, pre):
    """A SentencePiece model, which the tiny folder lacks: a token's score is the rank of the merge that makes it. What such a model calls
    user defined, the converter calls ordinary; the token for a picture is one of added_tokens.json."""
    data = json.loads((model / "tokenizer.json").read_text())
    rank = {"".join(pair): -float(number) for number, pair in reversed(list(enumerate(data["model"]["merges"])))}
    of_id = {number: text for text, number in data["model"]["vocab"].items()} | {token["id"]: token["content"] for token in data["added_tokens"]}
    kinds = {"<unk>": UNKNOWN, "<s>": CONTROL, "</s>": CONTROL, "<pad>": CONTROL, "<image_soft_token>": USER_DEFINED}
    kinds |= {token["content"]: CONTROL for token in data["added_tokens"] if token["content"].startswith("[")}  # Mistral's
    tokens = [of_id[number] for number in range(len(of_id))]
    writer.add_string("tokenizer.ggml.model", "llama")
    writer.add_string("tokenizer.ggml.pre", pre)
    writer.add_array("tokenizer.ggml.tokens", tokens)
    writer.add_array("tokenizer.ggml.scores", [rank.get(text, -10000.0) for text in tokens])
    writer.add_array("tokenizer.ggml.token_type", [kinds.get(text, BYTE if text.startswith("<0x") and text.endswith(">") else NORMAL) for text in tokens])


def special_tokens(writer, model, of_config):
    said = json.loads((model / "tokenizer_config.json").read_text())
    ids = {token["content"]: token["id"] for token in json.loads((model / "tokenizer.json").read_text())["added_tokens"]}
    for kind, key in [("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding")]:
        if said.get(f"{kind}_token") in ids:
            writer.add_bool(f"tokenizer.ggml.add_{key}_token", kind == "bos" and of_config)
            writer.add_uint32(f"tokenizer.ggml.{key}_token_id", ids[said[f"{kind}_token"]])
    generation = model / "generation_config.json"
    ends = json.loads(generation.read_text()).get("eos_token_id") if generation.exists() else None
    if isinstance(ends, list):
        writer.add_array("tokenizer.ggml.eos_token_ids", ends)


def vision_keys(writer, architecture, vision, more):
    key = f"{architecture}.vision."
    for name, value in more.items():
        if value is None:
            continue
        if isinstance(value, list):
            writer.add_array(key + name, value)
        elif isinstance(value, float):
            writer.add_float32(key + name, value)
        else:
            writer.add_uint32(key + name, value)


def decoder_keys(writer, architecture, text, head_dim):
    numbers = {"block_count": "num_hidden_layers", "context_length": "max_position_embeddings", "embedding_length": "hidden_size",
               "feed_forward_length": "intermediate_size", "attention.head_count": "num_attention_heads",
               "attention.head_count_kv": "num_key_value_heads"}
    for key, of in numbers.items():
        writer.add_uint32(f"{architecture}.{key}", text[of])
    writer.add_float32(f"{architecture}.attention.layer_norm_rms_epsilon", text.get("rms_norm_eps", 1e-5 if architecture == "qwen25vl" else 1e-6))
    writer.add_float32(f"{architecture}.rope.freq_base", text.get("rope_theta") or text["rope_parameters"]["rope_theta"])
    if head_dim:
        writer.add_uint32(f"{architecture}.attention.key_length", head_dim)
        writer.add_uint32(f"{architecture}.attention.value_length", head_dim)


def write_gemma3(writer, model, config):
    text, vision, a = config["text_config"], config["vision_config"], "gemma3"
    for key, value in {"block_count": text["num_hidden_layers"], "attention.head_count": text["num_attention_heads"],
                       "attention.head_count_kv": text["num_key_value_heads"], "context_length": text["max_position_embeddings"],
                       "embedding_length": text["hidden_size"], "feed_forward_length": text["intermediate_size"],
                       "attention.sliding_window": text["sliding_window"], "attention.key_length": text["head_dim"],
                       "attention.value_length": text["head_dim"], "mm.tokens_per_image": config["mm_tokens_per_image"]}.items():
        writer.add_uint32(f"{a}.{key}", value)
    # LESS: epsilon, both rotary bases. Tiny: which layers look back over a window, and the factor that 34, 48 and 62 layers have.
    pattern = text["sliding_window_pattern"]
    writer.add_array(f"{a}.attention.sliding_window_pattern", [(layer + 1) % pattern != 0 for layer in range(text["num_hidden_layers"])])
    writer.add_float32(f"{a}.rope.scaling.factor", text["rope_scaling"]["factor"])
    vision_keys(writer, a, vision, {"block_count": vision["num_hidden_layers"], "embedding_length": vision["hidden_size"],
                                    "feed_forward_length": vision["intermediate_size"], "image_size": vision["image_size"],
                                    "patch_size": vision["patch_size"], "num_channels": 3,
                                    "attention.head_count": vision["num_attention_heads"], "attention.layer_norm_epsilon": 1e-6})
    sentence_piece(writer, model, "default")
    special_tokens(writer, model, True)
    return GEMMA3, lambda name, tensor, _: [(name, add_one(name, tensor))]


def write_qwen25vl(writer, model, config):
    vision, pixels = config["vision_config"], json.loads((model / "preprocessor_config.json").read_text())
    decoder_keys(writer, "qwen25vl", config, 0)
    writer.add_array("qwen25vl.rope.mrope_section", config["rope_scaling"]["mrope_section"])
    vision_keys(writer, "qwen25vl", vision, {
        "block_count": vision["depth"], "embedding_length": vision["hidden_size"], "attention.head_count": vision["num_heads"],
        "num_channels": 3, "patch_size": vision["patch_size"], "spatial_merge_size": vision["spatial_merge_size"],
        "window_size": vision["window_size"], "attention.layer_norm_epsilon": 1e-6, "rope.freq_base": 1e4,
        "fullatt_block_indexes": vision["fullatt_block_indexes"], "temporal_patch_size": vision["temporal_patch_size"],
        "min_pixels": pixels["min_pixels"], "max_pixels": pixels["max_pixels"]})  # the last two: tiny
    byte_level(writer, model, "default")  # LESS: its name
    special_tokens(writer, model, False)
    return QWEN25VL, qwen25vl


def with_deepstack(vision, pixels):
    return {"block_count": vision["depth"], "embedding_length": vision["hidden_size"], "attention.head_count": vision["num_heads"],
            "num_channels": 3, "patch_size": vision["patch_size"], "spatial_merge_size": vision["spatial_merge_size"],
            "attention.layer_norm_epsilon": 1e-6, "rope.freq_base": 1e4, "temporal_patch_size": vision["temporal_patch_size"],
            "deepstack_visual_indexes": vision.get("deepstack_visual_indexes") or None,
            "shortest_edge": pixels["size"]["shortest_edge"], "longest_edge": pixels["size"]["longest_edge"],
            "image_mean": pixels["image_mean"], "image_std": pixels["image_std"]}


def write_qwen3vl(writer, model, config):
    text, pixels = config["text_config"], json.loads((model / "preprocessor_config.json").read_text())
    experts = text.get("num_experts", 0)
    a = "qwen3vlmoe" if experts else "qwen3vl"
    decoder_keys(writer, a, text, text["head_dim"])
    if experts:  # LESS: how wide an expert is
        writer.add_uint32(f"{a}.expert_count", experts)
        writer.add_uint32(f"{a}.expert_used_count", text["num_experts_per_tok"])
        writer.add_bool(f"{a}.norm_top_k_prob", text.get("norm_topk_prob", True))
    writer.add_array(f"{a}.mrope_sections", text["rope_scaling"]["mrope_section"])  # tiny
    vision_keys(writer, a, None, with_deepstack(config["vision_config"], pixels))
    byte_level(writer, model, "qwen2")
    special_tokens(writer, model, False)
    return QWEN3VL, qwen3vl


def write_qwen35(writer, model, config):
    text, pixels, a = config["text_config"], json.loads((model / "preprocessor_config.json").read_text()), "qwen35"
    rope = text["rope_parameters"]
    writer.add_uint32(f"{a}.rope.dimension_count", int(text["head_dim"] * rope["partial_rotary_factor"]))
    numbers = {"block_count": "num_hidden_layers", "context_length": "max_position_embeddings", "embedding_length": "hidden_size",
               "feed_forward_length": "intermediate_size", "attention.head_count": "num_attention_heads",
               "attention.key_length": "head_dim", "attention.value_length": "head_dim", "ssm.state_size": "linear_key_head_dim",
               "ssm.group_count": "linear_num_key_heads", "ssm.time_step_rank": "linear_num_value_heads",
               "ssm.conv_kernel": "linear_conv_kernel_dim"}
    for key, of in numbers.items():
        writer.add_uint32(f"{a}.{key}", text[of])
    writer.add_uint32(f"{a}.ssm.inner_size", text["linear_value_head_dim"] * text["linear_num_value_heads"])
    writer.add_bool(f"{a}.ssm.v_head_reordered", True)
    every = text["full_attention_interval"]
    heads = [text["num_key_value_heads"] if (layer + 1) % every == 0 else 0 for layer in range(text["num_hidden_layers"])]
    writer.add_array(f"{a}.attention.head_count_kv", heads)
    writer.add_float32(f"{a}.attention.layer_norm_rms_epsilon", text.get("rms_norm_eps", 1e-6))
    writer.add_float32(f"{a}.rope.freq_base", rope["rope_theta"])
    for key in ("mrope_sections", "rope.mrope_section", "rope.dimension_sections"):
        writer.add_array(f"{a}.{key}", rope["mrope_section"])
    vision_keys(writer, a, None, with_deepstack(config["vision_config"], pixels))
    byte_level(writer, model, "qwen35")
    special_tokens(writer, model, False)
    return QWEN35, qwen35


def write_gemma4(writer, model, config):
    text, vision, a = config["text_config"], config["vision_config"], "gemma4"
    layers, shared, width = text["num_hidden_layers"], text["num_kv_shared_layers"], text["intermediate_size"]
    double = text.get("use_double_wide_mlp")
    numbers = {"block_count": layers, "embedding_length": text["hidden_size"], "context_length": text["max_position_embeddings"],
               "attention.head_count": text["num_attention_heads"], "attention.head_count_kv": text["num_key_value_heads"],
               "attention.key_length": text["global_head_dim"], "attention.value_length": text["global_head_dim"],
               "attention.key_length_swa": text["head_dim"], "attention.value_length_swa": text["head_dim"],
               "attention.sliding_window": text["sliding_window"], "attention.shared_kv_layers": shared,
               "rope.dimension_count": text["global_head_dim"], "rope.dimension_count_swa": text["head_dim"],
               "embedding_length_per_layer_input": text["hidden_size_per_layer_input"]}
    for key, value in numbers.items():
        writer.add_uint32(f"{a}.{key}", value)
    if double and shared:
        writer.add_array(f"{a}.feed_forward_length", [2 * width if layer >= layers - shared else width for layer in range(layers)])
    else:
        writer.add_uint32(f"{a}.feed_forward_length", width)
    rope = text["rope_parameters"]
    writer.add_float32(f"{a}.attention.layer_norm_rms_epsilon", text.get("rms_norm_eps", 1e-6))
    writer.add_float32(f"{a}.rope.freq_base", rope["full_attention"]["rope_theta"])
    writer.add_float32(f"{a}.rope.freq_base_swa", rope["sliding_attention"]["rope_theta"])
    writer.add_array(f"{a}.attention.sliding_window_pattern", [kind == "sliding_attention" for kind in text["layer_types"]])
    if text.get("final_logit_softcapping"):
        writer.add_float32(f"{a}.final_logit_softcapping", text["final_logit_softcapping"])
    pixels = json.loads((model / "processor_config.json").read_text())["image_processor"]
    side = vision["patch_size"] * vision.get("pooling_kernel_size", 3)
    vision_keys(writer, a, vision, {
        "block_count": vision["num_hidden_layers"], "embedding_length": vision["hidden_size"], "attention.head_count": vision["num_attention_heads"],
        "feed_forward_length": vision["intermediate_size"], "patch_size": vision["patch_size"], "num_channels": 3,
        "projector.scale_factor": vision.get("pooling_kernel_size", 3), "attention.layer_norm_epsilon": 1e-6,
        "image_max_pixels": pixels["max_soft_tokens"] * side**2})  # the last: tiny
    byte_level(writer, model, "gemma4")
    special_tokens(writer, model, False)
    turning = int(text["global_head_dim"] * rope["full_attention"].get("partial_rotary_factor", 0.25) / 2)
    writer.add_tensor("rope_freqs.weight", np.array([1.0 if pair < turning else 1e30 for pair in range(text["global_head_dim"] // 2)], np.float32))
    return GEMMA4, gemma4


def tower_layers(config):
    """Tiny: features of the layer before the last. The converter does not say so; a file as deep as they are does."""
    return config["vision_config"]["num_hidden_layers"] + 1 + config["vision_feature_layer"]


def write_mistral3(writer, model, config):
    text, vision, a = config["text_config"], config["vision_config"], "mistral3"
    rope = text.get("rope_parameters") or {"rope_theta": text["rope_theta"]}
    decoder_keys(writer, a, text, text["head_dim"])
    writer.add_uint32(f"{a}.vocab_size", text["vocab_size"])
    writer.add_uint32(f"{a}.rope.dimension_count", text["head_dim"])
    writer.add_string(f"{a}.rope.scaling.type", rope.get("rope_type", ""))
    for key, of in {"rope.scaling.factor": "factor", "rope.scaling.beta_fast": "beta_fast", "rope.scaling.beta_slow": "beta_slow",
                    "rope.scaling.mscale": "mscale", "rope.scaling.mscale_all_dim": "mscale_all_dim",
                    "rope.scaling_beta": "llama_4_scaling_beta"}.items():
        if of in rope or not of.startswith(("mscale", "llama")):
            writer.add_float32(f"{a}.{key}", rope.get(of, 0.0))
    if "original_max_position_embeddings" in rope:
        writer.add_uint32(f"{a}.rope.scaling.original_context_length", rope["original_max_position_embeddings"])
    writer.add_uint32(f"{a}.image_token_index", config["image_token_index"])
    writer.add_uint32(f"{a}.spatial_merge_size", config["spatial_merge_size"])
    writer.add_bool(f"{a}.mm.projector_bias", config["multimodal_projector_bias"])
    writer.add_string(f"{a}.mm.projector_hidden_act", config["projector_hidden_act"])
    processor = next(file for file in ("preprocessor_config.json", "processor_config.json") if (model / file).exists())
    pixels = json.loads((model / processor).read_text())
    vision_keys(writer, a, vision, {
        "block_count": tower_layers(config), "embedding_length": vision["hidden_size"], "feed_forward_length": vision["intermediate_size"],
        "attention.head_count": vision["num_attention_heads"], "attention.key_length": vision["head_dim"], "image_size": vision["image_size"],
        "patch_size": vision["patch_size"], "num_channels": 3, "rope.freq_base": 1e4,
        "longest_edge": pixels.get("image_processor", pixels)["size"]["longest_edge"]})  # the last: tiny
    writer.add_bool("clip.use_gelu", vision["hidden_act"] == "gelu")  # tiny; the reader's towers have SiLU
    sentence_piece(writer, model, "default")
    special_tokens(writer, model, True)
    return MISTRAL3, mistral3


# The chat template of a folder is in tokenizer_config.json, if anywhere; the published ones of Gemma 3 and Qwen2.5-VL are the family's.
FILES = {"gemma3": ("gemma3/published", write_gemma3, "gemma3", False), "qwen2_5_vl": ("qwen2_5_vl/published", write_qwen25vl, "qwen25vl", False),
         "qwen3_vl": ("qwen3_vl/published", write_qwen3vl, "qwen3vl", False), "qwen3_vl_moe": ("qwen3_vl/experts", write_qwen3vl, "qwen3vlmoe", False),
         "qwen3_5": ("qwen3_5/published", write_qwen35, "qwen35", True), "gemma4": ("gemma4/published", write_gemma4, "gemma4", True),
         "mistral3": ("mistral3/published", write_mistral3, "mistral3", True), "ministral3": ("mistral3/ministral", write_mistral3, "mistral3", True)}


def template_of(model):
    if (model / "chat_template.jinja").exists():
        return (model / "chat_template.jinja").read_text()
    return json.loads((model / "chat_template.json").read_text())["chat_template"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--to", type=pathlib.Path, default=GOLDEN / "ollama")
    options.add_argument("names", nargs="*", default=[name for name in FILES if name != "ministral3"])
    options = options.parse_args()
    for name in options.names:
        folder, write, architecture, own_template = FILES[name]
        model, out = GOLDEN / folder / "model", options.to / f"{name}.gguf"
        config = json.loads((model / "config.json").read_text())
        writer = gguf.GGUFWriter(out, architecture)
        rules, taken_apart = write(writer, model, config)
        if own_template:
            writer.add_string("tokenizer.chat_template", template_of(model))
        for file in sorted(model.glob("*.safetensors")):
            for key, tensor in sorted(load_file(file).items()):
                for stored, piece in taken_apart(replaced(key, rules), tensor, config):
                    add_tensor(writer, stored, piece)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        print(out.name, out.stat().st_size)


if __name__ == "__main__":
    main()
