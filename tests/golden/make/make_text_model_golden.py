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
from family_golden import ANSWER_TOKENS, COLUMNS, GOLDEN, GREEDY_TOKENS, Compared, answered, exported, main, told
from make_llava_golden import make_tokenizer as make_character_tokenizer
from make_qwen2_vl_golden import make_tokenizer as make_byte_tokenizer
from make_qwen2_vl_golden import randomise
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

OUT = GOLDEN / "text_models"
SEED = 11
SECOND = dict(rows=9, greedy=24)
VOCABULARY = 96
SMALL = dict(vocab_size=VOCABULARY, num_hidden_layers=2, bos_token_id=None, eos_token_id=None, pad_token_id=None)
CONFIGURATIONS, PUBLISHED, _ = told("text_model")


SENTENCES = ["On day {} a keeper counted {} seals, {} herons and a fox on the stones of the harbour.", "It rained on day {}: {} gulls were seen, and {} cats."]
CHAT_ML = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}"
           "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
INSTRUCT = ("{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}"
            "{% else %}{{ ' ' + message['content'] + eos_token }}{% endif %}{% endfor %}")


def classes_of(settings):
    return (getattr(transformers, name) for name in settings["make"])


def make_published(settings: dict, folder):
    """The folder's tokenizer and what transformers reads of it. Not eager: that would hold whole matrices of scores."""
    if settings.get("characters"):
        tokenizer = make_character_tokenizer(True, ["<unk>", "<s>", "</s>", "<pad>"], SENTENCES + ["[INST] [/INST] 0123456789"])
        tokenizer.chat_template = INSTRUCT
    else:
        tokenizer = make_byte_tokenizer(["<|endoftext|>", "<|im_start|>", "<|im_end|>"], SENTENCES)
        tokenizer.chat_template = CHAT_ML
    config_class, model_class = classes_of(settings)
    narrow = {"ffn_hidden_size" if config_class is transformers.FalconConfig else "intermediate_size": 1024}
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
    config_class, model_class = classes_of(settings)
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


def write_text_manifest(out: pathlib.Path, what: str, script: str, configurations: dict, **more) -> None:
    manifest = {
        "what": f"logits of a prompt and 64 greedy tokens of tiny random {what}, and of a second question",
        "reference": f"transformers {transformers.__version__}, fp32, eager attention, greedy without a cache",
        "script": "tests/golden/make/" + pathlib.Path(script).name,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        **more,
        "configurations": {name: settings["covers"] for name, settings in configurations.items()},
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def write_goldens() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    for number, (name, settings) in enumerate(CONFIGURATIONS.items()):
        make(OUT / name, settings, SEED + number)
    write_text_manifest(OUT, "language models", __file__, CONFIGURATIONS, seed=f"{SEED} + number of the configuration")


if __name__ == "__main__":
    main(__doc__, write_goldens)
