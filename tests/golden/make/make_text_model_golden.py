#!/usr/bin/env python3
"""Writes tests/golden/text_models: tiny random language models and what transformers computes with them in fp32.

    python tests/golden/make/make_text_model_golden.py

One folder per configuration: config.json and model.safetensors as save_pretrained writes them, loaded back with from_pretrained before
anything is computed; golden.safetensors holds ids [n], logits of the whole prompt [n, vocabulary] of which every fifth column is kept, and 64 greedy tokens.
second_*: the first of those tokens were the answer, further ids follow, whose last logits and greedy tokens are these. Needs torch, transformers,
safetensors (versions: manifest.json).
"""

import json
import pathlib
import shutil

import torch
import transformers
from family_golden import ANSWER_TOKENS, COLUMNS, GOLDEN, GREEDY_TOKENS, Compared, answered, exported, main
from make_llava_golden import make_tokenizer as make_character_tokenizer
from make_qwen2_vl_golden import make_tokenizer as make_byte_tokenizer
from make_qwen2_vl_golden import randomise
from safetensors.torch import save_file
from transformers import (AutoModelForCausalLM, FalconConfig, FalconForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig, Lfm2Config, Lfm2ForCausalLM, LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, MixtralConfig,
                          MixtralForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM, SmolLM3Config, SmolLM3ForCausalLM)

OUT = GOLDEN / "text_models"
SEED = 11
SECOND = dict(rows=9, greedy=24)
VOCABULARY = 96
SMALL = dict(vocab_size=VOCABULARY, num_hidden_layers=2, bos_token_id=None, eos_token_id=None, pad_token_id=None)

# rows: of the prompt. Where positions are scaled, original_max_position_embeddings is small, so that the prompt goes far beyond it.
CONFIGURATIONS = {
    "llama_tied": dict(
        covers="Llama, 3 query heads on 1 kv head, tied embeddings, llama3 scaling, bf16 weights", rows=90, stored=torch.bfloat16,
        make=(LlamaConfig, LlamaForCausalLM),
        config=dict(hidden_size=48, intermediate_size=64, num_attention_heads=3, num_key_value_heads=1, tie_word_embeddings=True,
                    max_position_embeddings=256,
                    rope_parameters={"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
                                     "high_freq_factor": 4.0, "original_max_position_embeddings": 32})),
    "llama_biased": dict(
        covers="Llama with biases everywhere, untied, linear scaling by a factor that is no power of two", rows=60, stored=torch.float32,
        make=(LlamaConfig, LlamaForCausalLM),
        config=dict(hidden_size=32, intermediate_size=40, num_attention_heads=4, num_key_value_heads=2, attention_bias=True, mlp_bias=True,
                    max_position_embeddings=256, rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.5})),
    "llama_dynamic": dict(
        covers="Llama, dynamic scaling below max_position_embeddings", rows=60, stored=torch.float16,
        make=(LlamaConfig, LlamaForCausalLM),
        config=dict(hidden_size=32, intermediate_size=40, num_attention_heads=4, num_key_value_heads=4,
                    max_position_embeddings=128, rope_parameters={"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0})),
    "llama_longrope": dict(
        covers="Llama, longrope's short factors and magnitude", rows=60, stored=torch.bfloat16,
        make=(LlamaConfig, LlamaForCausalLM),
        config=dict(hidden_size=32, intermediate_size=40, num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=512,
                    rope_parameters={"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0, 1.25, 1.5, 2.0],
                                     "long_factor": [1.0, 2.0, 4.0, 8.0], "original_max_position_embeddings": 128, "factor": 4.0})),
    "mistral": dict(
        covers="Mistral, head_dim 16 where hidden / heads is 8, a window of 128 that the prompt stays within, untied", rows=50,
        stored=torch.bfloat16, make=(MistralConfig, MistralForCausalLM),
        config=dict(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, head_dim=16, sliding_window=128,
                    max_position_embeddings=512)),
    "qwen2": dict(
        covers="Qwen2, biases of q, k and v, tied", rows=50, stored=torch.bfloat16, make=(Qwen2Config, Qwen2ForCausalLM),
        config=dict(hidden_size=48, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True,
                    max_position_embeddings=512)),
    "qwen3": dict(
        covers="Qwen3, norms of q and k, head_dim 16, YaRN with its magnitude", rows=90, stored=torch.bfloat16,
        make=(Qwen3Config, Qwen3ForCausalLM),
        config=dict(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
                    max_position_embeddings=256,
                    rope_parameters={"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 64})),
    "falcon_7b": dict(
        covers="Falcon as 7B: 4 query heads on 1 kv head, MLP beside the attention under one norm, tied, bf16 weights", rows=50,
        stored=torch.bfloat16, make=(FalconConfig, FalconForCausalLM),
        config=dict(hidden_size=32, num_attention_heads=4, num_kv_heads=4)),
    "falcon_40b": dict(
        covers="Falcon as 40B: 4 query heads on 2 kv heads in one matrix by groups, two norms, biases, untied", rows=50,
        stored=torch.float32, make=(FalconConfig, FalconForCausalLM),
        config=dict(hidden_size=32, ffn_hidden_size=48, num_attention_heads=4, num_kv_heads=2, new_decoder_architecture=True, bias=True,
                    tie_word_embeddings=False)),
    "falcon_11b": dict(
        covers="Falcon as 11B: the groups of 40B under one norm", rows=40, stored=torch.bfloat16, make=(FalconConfig, FalconForCausalLM),
        config=dict(hidden_size=32, ffn_hidden_size=48, num_attention_heads=4, num_kv_heads=2, new_decoder_architecture=True,
                    num_ln_in_parallel_attn=1)),
    "falcon_sequential": dict(
        covers="Falcon with the MLP after the attention and a key and a value for every head", rows=40, stored=torch.float32,
        make=(FalconConfig, FalconForCausalLM),
        config=dict(hidden_size=32, ffn_hidden_size=48, num_attention_heads=2, num_kv_heads=2, multi_query=False, parallel_attn=False,
                    bias=True)),
    "qwen3_moe": dict(
        covers="Qwen3-MoE, 3 of 6 experts whose weights sum to one, a plain layer between two, head_dim 16, untied", rows=60,
        stored=torch.bfloat16, make=(Qwen3MoeConfig, Qwen3MoeForCausalLM), layers=3,
        config=dict(hidden_size=32, intermediate_size=40, num_attention_heads=4, num_key_value_heads=2, head_dim=16, num_experts=6,
                    num_experts_per_tok=3, moe_intermediate_size=16, norm_topk_prob=True, mlp_only_layers=[1],
                    max_position_embeddings=256)),
    "mistral_window": dict(
        covers="Mistral that looks back over 24 tokens in every layer, the prompt goes far beyond", rows=80, stored=torch.bfloat16,
        make=(MistralConfig, MistralForCausalLM),
        config=dict(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, sliding_window=24,
                    max_position_embeddings=512)),
    "qwen2_window": dict(
        covers="Qwen2, a layer that looks back over everything, then one that looks back over 20 tokens", rows=80, stored=torch.bfloat16,
        make=(Qwen2Config, Qwen2ForCausalLM),
        config=dict(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, use_sliding_window=True,
                    sliding_window=20, max_window_layers=1, max_position_embeddings=512)),
    "gemma3": dict(
        covers="Gemma 3, a layer that looks back over 20 tokens and one over everything, each with its own positions, linear scaling, "
               "logits bounded to 5, a query scale that is not the head size's, bf16 weights", rows=80, stored=torch.bfloat16,
        make=(Gemma3TextConfig, Gemma3ForCausalLM),
        config=dict(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, head_dim=16, sliding_window=20,
                    sliding_window_pattern=2, query_pre_attn_scalar=24, final_logit_softcapping=5.0, max_position_embeddings=512,
                    rope_parameters={"full_attention": {"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0},
                                     "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})),
    "gemma3_untied": dict(
        covers="Gemma 3 as its class has it, every layer but the sixth looks back over a window (here both), one kv head, untied", rows=60,
        stored=torch.float32, make=(Gemma3TextConfig, Gemma3ForCausalLM),
        config=dict(hidden_size=24, intermediate_size=40, num_attention_heads=3, num_key_value_heads=1, head_dim=8, sliding_window=16,
                    tie_word_embeddings=False, max_position_embeddings=256)),
    "mixtral": dict(
        covers="Mixtral, 2 of 5 experts in every layer, untied", rows=60, stored=torch.bfloat16, make=(MixtralConfig, MixtralForCausalLM),
        config=dict(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, num_local_experts=5,
                    num_experts_per_tok=2, max_position_embeddings=256)),
    "smollm3": dict(
        covers="SmolLM3, of whose 4 layers the last does not rotate, 2 query heads on 1 kv head, tied", rows=40, stored=torch.bfloat16,
        make=(SmolLM3Config, SmolLM3ForCausalLM), layers=4,
        config=dict(hidden_size=16, intermediate_size=16, num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=512,
                    rope_parameters={"rope_type": "default", "rope_theta": 5000000.0})),
}


def rope(theta: float, kind: str = "default", **more) -> dict:
    return {"rope_type": kind, "rope_theta": theta, **more}


def heads(hidden_size: int, attention: int, key_value: int, **more) -> dict:
    return dict(hidden_size=hidden_size, num_attention_heads=attention, num_key_value_heads=key_value, **more)


LLAMA3_ROPE = dict(low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192)
# Two layers, narrow MLPs, few words. sentences: of the prompt; characters: a tokenizer like SentencePiece's, not of bytes.
LLAMA, MISTRAL, FALCON = (LlamaConfig, LlamaForCausalLM), (MistralConfig, MistralForCausalLM), (FalconConfig, FalconForCausalLM)
PUBLISHED = {
    "Llama-2-7B": dict(make=LLAMA, characters=True, config=heads(4096, 32, 32, rms_norm_eps=1e-5, max_position_embeddings=4096, rope_parameters=rope(1e4))),
    "Llama-3.1-8B": dict(make=LLAMA, config=heads(4096, 32, 8, rms_norm_eps=1e-5, max_position_embeddings=131072,
                                                  rope_parameters=rope(5e5, "llama3", factor=8.0, **LLAMA3_ROPE))),
    "Llama-3.2-1B": dict(make=LLAMA, config=heads(2048, 32, 8, head_dim=64, rms_norm_eps=1e-5, tie_word_embeddings=True, max_position_embeddings=131072,
                                                  rope_parameters=rope(5e5, "llama3", factor=32.0, **LLAMA3_ROPE))),
    "Mistral-7B-v0.1": dict(make=MISTRAL, characters=True, sentences=100,  # beyond the window
                            config=heads(4096, 32, 8, head_dim=128, rms_norm_eps=1e-5, sliding_window=4096, max_position_embeddings=32768,
                                         rope_parameters=rope(1e4))),
    "Qwen2-7B": dict(make=(Qwen2Config, Qwen2ForCausalLM), config=heads(3584, 28, 4, rms_norm_eps=1e-6, max_position_embeddings=131072,
                                                                        rope_parameters=rope(1e6))),
    "Qwen3-0.6B": dict(make=(Qwen3Config, Qwen3ForCausalLM), config=heads(1024, 16, 8, head_dim=128, rms_norm_eps=1e-6, tie_word_embeddings=True,
                                                                          max_position_embeddings=40960, rope_parameters=rope(1e6))),
    "SmolLM3-3B": dict(make=(SmolLM3Config, SmolLM3ForCausalLM),
                       config=heads(2048, 16, 4, num_hidden_layers=4, rms_norm_eps=1e-6, tie_word_embeddings=True, max_position_embeddings=65536,
                                    rope_parameters=rope(5e6))),
    "LFM2-1.2B": dict(make=(Lfm2Config, Lfm2ForCausalLM),
                      config=heads(2048, 32, 8, num_hidden_layers=4, full_attn_idxs=[2], tie_word_embeddings=True, max_position_embeddings=128000,
                                   rope_parameters=rope(1e6))),
    "Falcon-7B": dict(make=FALCON, config=dict(hidden_size=4544, num_attention_heads=71, multi_query=True, parallel_attn=True, bias=False)),
    "Falcon-40B": dict(make=FALCON, config=dict(hidden_size=8192, num_attention_heads=128, num_kv_heads=8, new_decoder_architecture=True, bias=False)),
    "Yi-34B": dict(make=LLAMA, characters=True, config=heads(7168, 56, 8, rms_norm_eps=1e-5, max_position_embeddings=4096, rope_parameters=rope(5e6))),
    "LongChat-7B-16k": dict(make=LLAMA, characters=True, sentences=60,  # beyond the positions of the Llama that it was
                            config=heads(4096, 32, 32, rms_norm_eps=1e-6, max_position_embeddings=2048, max_sequence_length=16384,
                                         rope_parameters=rope(1e4, "linear", factor=8.0))),
}
SENTENCES = ["On day {} a keeper counted {} seals, {} herons and a fox on the stones of the harbour.", "It rained on day {}: {} gulls were seen, and {} cats."]
CHAT_ML = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}"
           "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
INSTRUCT = ("{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}"
            "{% else %}{{ ' ' + message['content'] + eos_token }}{% endif %}{% endfor %}")


def make_published(settings: dict, folder):
    """The folder's tokenizer and what transformers reads of it. Not eager: that would hold whole matrices of scores."""
    if settings.get("characters"):
        tokenizer = make_character_tokenizer(True, ["<unk>", "<s>", "</s>", "<pad>"], SENTENCES + ["[INST] [/INST] 0123456789"])
        tokenizer.chat_template = INSTRUCT
    else:
        tokenizer = make_byte_tokenizer(["<|endoftext|>", "<|im_start|>", "<|im_end|>"], SENTENCES)
        tokenizer.chat_template = CHAT_ML
    config_class, model_class = settings["make"]
    narrow = {"ffn_hidden_size" if config_class is FalconConfig else "intermediate_size": 1024}
    config = config_class(**dict(num_hidden_layers=2, vocab_size=4096, pad_token_id=None, bos_token_id=tokenizer.bos_token_id,
                                 eos_token_id=tokenizer.eos_token_id, **narrow) | settings["config"])
    model = model_class(config)
    randomise(model, torch.Generator().manual_seed(SEED), config.tie_word_embeddings)
    model.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    del model
    return tokenizer, AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa").eval()


def compared_sizes(name: str, folder, cli):
    tokenizer, model = make_published(PUBLISHED[name], folder)
    question = " ".join(SENTENCES[i % 2].format(i + 1, (7 * i) % 19, (5 * i) % 13) for i in range(PUBLISHED[name].get("sentences", 4)))
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": question}], add_generation_prompt=True, tokenize=False)
    ids = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")["input_ids"]
    theirs = answered(model, model(input_ids=ids, use_cache=True))
    yield Compared("text", exported(cli, folder, question, []), dict(input_ids=ids[0]) | theirs)


def make(folder: pathlib.Path, settings: dict, seed: int) -> AutoModelForCausalLM:
    """Writes the folder and gives its model. more: of settings, what is to be done to the weights."""
    torch.manual_seed(seed)
    config_class, model_class = settings["make"]
    model = model_class(config_class(**(SMALL | dict(num_hidden_layers=settings.get("layers", 2))), **settings["config"]))
    for parameter in model.parameters():  # norms and biases, too, so that leaving one out is seen
        parameter.data.add_(torch.randn_like(parameter) * 0.05)
    settings.get("more", lambda model: None)(model)
    folder.mkdir(parents=True)
    model.to(settings["stored"]).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    ids = torch.randint(0, VOCABULARY, (1, settings["rows"]))
    later = torch.randint(0, VOCABULARY, (1, SECOND["rows"]))

    def answered(prompt: torch.Tensor, tokens: int) -> torch.Tensor:
        return model.generate(prompt, max_new_tokens=tokens, do_sample=False, use_cache=False)[:, prompt.shape[1]:]

    with torch.inference_mode():
        logits = model(ids).logits[0]
        greedy = answered(ids, GREEDY_TOKENS)
        thread = torch.cat([ids, greedy[:, :ANSWER_TOKENS], later], 1)
        tensors = {"ids": ids[0], "logits": logits[:, ::COLUMNS], "greedy": greedy[0], "second_ids": later[0], "second_answer": greedy[0, :ANSWER_TOKENS],
                   "second_logits": model(thread).logits[0, -1], "second_greedy": answered(thread, SECOND["greedy"])[0]}
    save_file({name: value.clone().contiguous() for name, value in tensors.items()}, folder / "golden.safetensors")
    return model


def write_goldens() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    for number, (name, settings) in enumerate(CONFIGURATIONS.items()):
        make(OUT / name, settings, SEED + number)
    manifest = {
        "what": "logits of a prompt and 64 greedy tokens of tiny random language models, and of a second question",
        "reference": f"transformers {transformers.__version__}, fp32, eager attention, greedy without a cache",
        "script": "tests/golden/make/make_text_model_golden.py",
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "seed": f"{SEED} + number of the configuration",
        "configurations": {name: settings["covers"] for name, settings in CONFIGURATIONS.items()},
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(__doc__, write_goldens)
