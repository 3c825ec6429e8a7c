"""Writes the trained model as an ordinary Hugging Face LLaVA-OneVision folder, with the sidecar `winnow.json`."""

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

import questions
import text
from model import DecoderConfig, TowerConfig
from train import LEVELS

MODEL_DIR = Path(__file__).parent.parent / "model"
LONGEST_CONTEXT = 8192


def tower_tensors(state: dict[str, Tensor], config: TowerConfig) -> dict[str, Tensor]:
    root = "vision_tower.vision_model."
    named: dict[str, Tensor] = {
        root + "post_layernorm.weight": torch.ones(config.hidden_size),
        root + "post_layernorm.bias": torch.zeros(config.hidden_size),
    }
    for name, value in state.items():
        inside = f"embeddings.{name}" if "embedding" in name else f"encoder.{name}"
        named[root + inside] = value
    return named


def decoder_tensors(state: dict[str, Tensor], config: DecoderConfig) -> dict[str, Tensor]:
    kv = config.kv_heads * config.head_size
    named: dict[str, Tensor] = {}
    for name, value in state.items():
        name = name.replace("language_model.", "language_model.model.")
        if ".qkv_proj." in name:
            parts = dict(zip(("q_proj", "k_proj", "v_proj"), value.split([config.hidden_size, kv, kv])))
            named |= {name.replace("qkv_proj", f"self_attn.{part}"): piece for part, piece in parts.items()}
        elif ".gate_up_proj." in name:
            parts = dict(zip(("gate_proj", "up_proj"), value.chunk(2)))
            named |= {name.replace("gate_up_proj", f"mlp.{part}"): piece for part, piece in parts.items()}
        else:
            named[name.replace(".o_proj.", ".self_attn.o_proj.").replace(".down_proj.", ".mlp.down_proj.")] = value
    return named


def model_config(tower: TowerConfig, decoder: DecoderConfig, tokens: dict[str, int]) -> dict:
    return {
        "architectures": ["LlavaOnevisionForConditionalGeneration"],
        "model_type": "llava_onevision",
        "dtype": "bfloat16",
        "image_token_index": tokens["<image>"],
        "video_token_index": tokens["<video>"],
        "image_grid_pinpoints": [[tower.image_size, tower.image_size]],
        "multimodal_projector_bias": True,
        "projector_hidden_act": "gelu",
        "tie_word_embeddings": True,
        "vision_aspect_ratio": "anyres_max_9",
        "vision_feature_layer": -1,
        "vision_feature_select_strategy": "full",
        "text_config": {
            "architectures": ["Qwen2ForCausalLM"],
            "model_type": "qwen2",
            "dtype": "bfloat16",
            "attention_dropout": 0.0,
            "bos_token_id": tokens["<|im_start|>"],
            "eos_token_id": tokens["<|im_end|>"],
            "hidden_act": "silu",
            "hidden_size": decoder.hidden_size,
            "initializer_range": 0.02,
            "intermediate_size": decoder.intermediate_size,
            "max_position_embeddings": LONGEST_CONTEXT,
            "num_attention_heads": decoder.heads,
            "num_hidden_layers": decoder.layers,
            "num_key_value_heads": decoder.kv_heads,
            "rms_norm_eps": decoder.eps,
            "rope_theta": decoder.rope_theta,
            "tie_word_embeddings": True,
            "use_cache": True,
            "use_sliding_window": False,
            "vocab_size": decoder.vocabulary,
        },
        "vision_config": {
            "model_type": "siglip_vision_model",
            "dtype": "bfloat16",
            "attention_dropout": 0.0,
            "hidden_act": "gelu_pytorch_tanh",
            "hidden_size": tower.hidden_size,
            "image_size": tower.image_size,
            "intermediate_size": tower.intermediate_size,
            "layer_norm_eps": tower.eps,
            "num_attention_heads": tower.heads,
            "num_channels": 3,
            "num_hidden_layers": tower.layers,
            "patch_size": tower.patch_size,
            "vision_use_head": False,
        },
    }


def processing_configs(tower: TowerConfig) -> dict[str, dict]:
    pixels = {
        "do_convert_rgb": True,
        "do_normalize": True,
        "do_rescale": True,
        "do_resize": True,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "processor_class": "LlavaOnevisionProcessor",
        "resample": 3,
        "rescale_factor": 1 / 255,
        "size": {"height": tower.image_size, "width": tower.image_size},
    }
    grid = {"do_pad": True, "image_grid_pinpoints": [[tower.image_size, tower.image_size]], "image_processor_type": "LlavaOnevisionImageProcessor"}
    processor = {
        "image_token": "<image>",
        "num_image_tokens": tower.tokens,
        "processor_class": "LlavaOnevisionProcessor",
        "video_token": "<video>",
        "vision_aspect_ratio": "anyres_max_9",
        "vision_feature_select_strategy": "full",
    }
    return {
        "preprocessor_config.json": pixels | grid,
        "video_preprocessor_config.json": pixels | {"video_processor_type": "LlavaOnevisionVideoProcessor"},
        "processor_config.json": processor,
    }


def tokenizer_config(tokens: dict[str, int]) -> dict:
    described = {
        str(number): {"content": token, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
        for token, number in tokens.items()
    }
    return {
        "add_prefix_space": False,
        "added_tokens_decoder": described,
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>", "<image>", "<video>"],
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": LONGEST_CONTEXT,
        "pad_token": "<|endoftext|>",
        "processor_class": "LlavaOnevisionProcessor",
        "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer",
        "unk_token": None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out", help="where training left its checkpoints")
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    options = parser.parse_args()
    options.model.mkdir(parents=True, exist_ok=True)

    tokenizer = Tokenizer.from_file(str(options.out / "tokenizer.json"))
    tokens = {token: tokenizer.token_to_id(token) for token in text.SPECIAL_TOKENS}
    tower, decoder = TowerConfig(), DecoderConfig(vocabulary=tokenizer.get_vocab_size())

    classifier = torch.load(options.out / "tower.pt")
    tower_state = {name.removeprefix("tower."): value for name, value in classifier.items() if name.startswith("tower.")}
    trained = torch.load(options.out / "train.pt", weights_only=False)
    average, video_frames = trained["average"], LEVELS[trained["level"]]
    tensors = tower_tensors(tower_state, tower) | decoder_tensors(average, decoder)
    tensors = {name: value.detach().to(torch.bfloat16).contiguous() for name, value in tensors.items()}
    save_file(tensors, options.model / "model.safetensors", metadata={"format": "pt"})

    tokenizer.save(str(options.model / "tokenizer.json"))
    (options.model / "chat_template.jinja").write_text(text.CHAT_TEMPLATE)
    documents = processing_configs(tower) | {
        "config.json": model_config(tower, decoder, tokens),
        "generation_config.json": {
            "do_sample": False,
            "eos_token_id": [tokens["<|im_end|>"], tokens["<|endoftext|>"]],
            "max_new_tokens": 256,
            "pad_token_id": tokens["<|endoftext|>"],
        },
        "tokenizer_config.json": tokenizer_config(tokens) | {"chat_template": text.CHAT_TEMPLATE},
        "winnow.json": {"time_instruction": questions.TIME_INSTRUCTION, "video_frames": video_frames},
    }
    for name, document in documents.items():
        (options.model / name).write_text(json.dumps(document, indent=2) + "\n")
    size = sum(value.numel() for value in tensors.values())
    print(f"{size / 1e6:.2f} M parameters in {options.model}")


if __name__ == "__main__":
    main()
