"""The Hugging Face folder that a GGUF file of a Llama came from, its weights as the numbers that the file's blocks stand for.

Used by make_real_model_golden.py and measure_real_model.py. q and k, whose rows llama.cpp interleaves (the two halves of a head become
neighbours), get their order back. Needs gguf, torch, transformers, safetensors (versions: real_model_environment.sh).
"""
import json
import pathlib

import gguf
import numpy
import torch
from safetensors.torch import save_file

# Of llama.cpp, and of transformers.
OUTSIDE = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight", "output.weight": "lm_head.weight"}
OF_A_LAYER = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
              "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
              "ffn_down": "mlp.down_proj"}


def field(reader, name):
    return reader.fields[name].contents()


def in_halves(rows, heads):
    """llama.cpp's order of a head's rows (0, d/2, 1, d/2 + 1, ...) back to 0, 1, 2, ..."""
    pairs = rows.reshape(heads, rows.shape[0] // heads // 2, 2, rows.shape[1])
    return numpy.ascontiguousarray(pairs.swapaxes(1, 2).reshape(rows.shape))


def tensors(reader, heads, kv_heads):
    found = {}
    for tensor in reader.tensors:
        numbers = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if tensor.name in OUTSIDE:
            name = OUTSIDE[tensor.name]
        else:
            _, layer, part, kind = tensor.name.split(".")
            name = f"model.layers.{layer}.{OF_A_LAYER[part]}.{kind}"
            if part in ("attn_q", "attn_k"):
                numbers = in_halves(numbers, heads if part == "attn_q" else kv_heads)
        found[name] = torch.from_numpy(numpy.array(numbers, dtype=numpy.float32))
    return found


def tokenizer(reader):
    """The steps of SmolLM2's tokenizer.json with the file's vocabulary."""
    assert field(reader, "tokenizer.ggml.pre") == "smollm", "only SmolLM's way to split a text is written down here"
    tokens, types = field(reader, "tokenizer.ggml.tokens"), field(reader, "tokenizer.ggml.token_type")
    special = [i for i, kind in enumerate(types) if kind == 3]
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [{"id": i, "content": tokens[i], "special": True, "normalized": False, "single_word": False, "lstrip": False,
                              "rstrip": False} for i in special],
            "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True},
                              {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]},
            "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": False, "byte_fallback": False, "vocab": {text: i for i, text in enumerate(tokens)},
                      "merges": field(reader, "tokenizer.ggml.merges")}}


def write(path, folder):
    reader = gguf.GGUFReader(path)
    assert field(reader, "general.architecture") == "llama"
    of = lambda name: field(reader, "llama." + name)
    heads, kv_heads = of("attention.head_count"), of("attention.head_count_kv")
    numbers = tensors(reader, heads, kv_heads)
    tokens = field(reader, "tokenizer.ggml.tokens")
    bos, eos = field(reader, "tokenizer.ggml.bos_token_id"), field(reader, "tokenizer.ggml.eos_token_id")
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": len(tokens), "hidden_size": of("embedding_length"),
              "intermediate_size": of("feed_forward_length"), "num_hidden_layers": of("block_count"), "num_attention_heads": heads,
              "num_key_value_heads": kv_heads, "hidden_act": "silu", "max_position_embeddings": of("context_length"),
              "rms_norm_eps": of("attention.layer_norm_rms_epsilon"), "rope_theta": of("rope.freq_base"),
              "tie_word_embeddings": "lm_head.weight" not in numbers, "bos_token_id": bos, "eos_token_id": eos, "dtype": "float32"}
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(numbers, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": bos, "eos_token_id": eos}))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(reader), ensure_ascii=False), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": tokens[bos], "eos_token": tokens[eos], "clean_up_tokenization_spaces": False,
        "chat_template": field(reader, "tokenizer.chat_template")}, ensure_ascii=False), encoding="utf-8")
