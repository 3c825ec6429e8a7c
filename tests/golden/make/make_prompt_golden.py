#!/usr/bin/env python3
"""Writes tests/golden/tokenizer/prompts.jsonl: token ids of chat prompts under every way to put a space before a text.

The tokenizer is llama_like (make_tokenizer_golden.py) with another normalizer and pre-tokenizer each; what it has besides and the prompts
stand in the first line. A prompt is a list of pieces, each the template's ("t") or a message's ("m"); `ids` are those of the whole text,
one list a prompt. `behind` counts pieces that a cache holds: ids of what comes behind them are the last so many (`rest`).

And flags.jsonl, the same under the flags of special tokens as published tokenizers have them: a line has its own tokens, steps and prompts.

usage: make_prompt_golden.py      (needs: tokenizers==0.22.2)
"""
import json
import pathlib

import tokenizers
from tokenizers import Tokenizer

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "tokenizer"
SPACE = "\u2581"
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
PREPEND = {"type": "Prepend", "prepend": SPACE}
NORMALIZERS = [None, REPLACE, {"type": "NFC"}, {"type": "Sequence", "normalizers": [PREPEND, REPLACE]},
               {"type": "Sequence", "normalizers": [{"type": "NFC"}, REPLACE]},
               {"type": "Sequence", "normalizers": [{"type": "NFC"}, PREPEND, REPLACE]}]
METASPACES = [{"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": split}
              for scheme in ("first", "always", "never") for split in (False, True)]
PRE_TOKENIZERS = [None, {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}, *METASPACES]
ADDED = ["<image>", "</s>", "<|im_start|>", "<|im_end|>"]
PROMPTS = [
    {"pieces": [["t", "<s>[INST] "], ["m", "What is in the picture?"], ["t", " [/INST]"]]},
    {"pieces": [["t", "[INST] "], ["m", "What is in the picture?"], ["t", " [/INST]"]]},
    {"pieces": [["t", "<s>USER: <image>\n"], ["m", " two  spaces "], ["t", " ASSISTANT:"]]},
    {"pieces": [["t", "USER: <image>\n<image>\n"], ["m", "Où est-il ?"], ["t", " ASSISTANT:"]]},
    {"pieces": [["t", "<image>\n"], ["m", "e\u0301 1"]]},
    {"pieces": [["m", "plain"]]},
    {"pieces": [["t", "<|im_start|>user\n"], ["m", "\nHi"], ["t", "<|im_end|>\n<|im_start|>assistant\n"]]},
    {"pieces": [["t", "<s>[INST] "], ["m", "Hi"], ["t", " [/INST]"], ["m", " It is red."], ["t", "</s>[INST] "], ["m", "And what moves?"],
                ["t", " [/INST]"]], "behind": 4},
    {"pieces": [["t", "USER: <image>\n"], ["m", "Hi"], ["t", " ASSISTANT:"], ["m", " It is red."], ["t", " USER: <image>\n"],
                ["m", "And this?"], ["t", " ASSISTANT:"]], "behind": 4},
    {"pieces": [["t", "<|im_start|>user\n"], ["m", "Hi"], ["t", "<|im_end|>\n<|im_start|>assistant\n"], ["m", "Red"],
                ["t", "<|im_end|>\n<|im_start|>user\n"], ["m", "And?"], ["t", "<|im_end|>\n<|im_start|>assistant\n"]], "behind": 4},
]

LLAMA_STEPS = {"base": "llama_like", "normalizer": {"type": "Sequence", "normalizers": [PREPEND, REPLACE]}, "pre_tokenizer": None}
FIRST_STEPS = {"base": "llama_like", "normalizer": None, "pre_tokenizer": METASPACES[0]}
BYTE_STEPS = {"base": "qwen2_like"}
TURNS = [["m", " two  spaces \n"], ["m", "It is red."], ["m", "\n\nAnd what moves? "]]
SPECIAL = {"special": True}
TAKES_BEHIND = {"special": True, "rstrip": True}
PHI3 = {"<unk>": SPECIAL, "<s>": SPECIAL, "</s>": {"rstrip": True}, "<|endoftext|>": SPECIAL, "<|assistant|>": TAKES_BEHIND, "<|end|>": TAKES_BEHIND,
        "<|user|>": TAKES_BEHIND, "<|system|>": TAKES_BEHIND, "<image>": SPECIAL, "<pad>": SPECIAL}
PHI3_PROMPTS = [
    {"pieces": [["t", "<|user|>\n"], TURNS[0], ["t", "<|end|>\n<|assistant|>\n"], TURNS[1], ["t", "<|end|>\n<|user|>\n"], TURNS[2],
                ["t", "<|end|>\n<|assistant|>\n"]], "behind": 4},
    {"pieces": [["t", "<s><|system|>\n"], TURNS[1], ["t", "<|end|>\n<|user|>\n<image>\n"], TURNS[2], ["t", "<|end|>\n<|assistant|>\n"]]},
]
NORMALIZED = {"special": True, "normalized": True}
LLAMA2_PROMPTS = [
    {"pieces": [["t", "<s>[INST] "], TURNS[0], ["t", " [/INST]"], ["t", " "], TURNS[1], ["t", " </s><s>[INST] "], TURNS[2], ["t", " [/INST]"]], "behind": 5},
    {"pieces": [["t", "<s>"], TURNS[1], ["t", "</s>"], TURNS[0], ["t", "</s> <s>"]]},
]
PUBLISHED = {
    "microsoft/Phi-3-mini-4k-instruct": {**LLAMA_STEPS, "tokens": PHI3, "prompts": PHI3_PROMPTS},
    "xtuner/llava-phi-3-mini-hf": {**FIRST_STEPS, "tokens": PHI3, "prompts": PHI3_PROMPTS},
    "meta-llama/Llama-2-7b-chat-hf, first files": {**LLAMA_STEPS, "tokens": {name: NORMALIZED for name in ("<unk>", "<s>", "</s>")}, "prompts": LLAMA2_PROMPTS},
    "answerdotai/ModernBERT-base": {
        **BYTE_STEPS, "tokens": {"[CLS]": SPECIAL, "[SEP]": SPECIAL, "[MASK]": {"special": True, "lstrip": True}, "    ": {"normalized": True}, "  ": {"normalized": True}},
        "prompts": [{"pieces": [["t", "[CLS]"], ["m", "It is     "], ["t", "[MASK]"], ["m", "  red "], ["t", " [MASK][SEP]"]]}]},
    "FacebookAI/roberta-base": {
        **BYTE_STEPS, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "tokens": {"<s>": NORMALIZED, "</s>": NORMALIZED, "<mask>": {"special": True, "lstrip": True}},
        "prompts": [{"pieces": [["t", "<s>"], ["m", "It is  "], ["t", "<mask>"], ["m", "red <x> "], ["t", " <mask></s></s>"], ["m", " x"], ["t", "</s>"]]}]},
    "deepseek-ai/deepseek-llm-7b-chat": {
        **BYTE_STEPS, "tokens": {"<｜begin▁of▁sentence｜>": NORMALIZED, "<｜end▁of▁sentence｜>": NORMALIZED},
        "prompts": [{"pieces": [["t", "<｜begin▁of▁sentence｜>User: "], TURNS[0], ["t", "\n\nAssistant: "], TURNS[1], ["t", "<｜end▁of▁sentence｜>User: "],
                                TURNS[2], ["t", "\n\nAssistant:"]], "behind": 4}]},
}


def ids_of(tokenizer, prompt):
    text = "".join(piece for _, piece in prompt["pieces"])
    encoded = tokenizer.encode(text, add_special_tokens=False)
    if "behind" not in prompt:
        return {"ids": encoded.ids}
    end = len("".join(piece for _, piece in prompt["pieces"][:prompt["behind"]]))
    return {"ids": encoded.ids, "rest": sum(stop > end for _, stop in encoded.offsets)}


def added_tokens(base, tokens):
    """tokens: their texts and the flags that are set. Those that no vocabulary has come behind it."""
    vocabulary = base["model"]["vocab"]
    free = iter(range(1 + max(vocabulary.values()), 10**6))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    added = [{"id": vocabulary[text] if text in vocabulary else next(free), "content": text, **flags, **own} for text, own in tokens.items()]
    return sorted(added, key=lambda token: token["id"])


def published(name, told):
    """What is asked of a published tokenizer: the flags of its tokens, over a vocabulary of ours."""
    base = json.loads((FOLDER / told["base"] / "tokenizer.json").read_text(encoding="utf-8"))
    own = {"added_tokens": added_tokens(base, told["tokens"]), **{step: told.get(step, base[step]) for step in ("normalizer", "pre_tokenizer")}}
    tokenizer = Tokenizer.from_str(json.dumps({**base, **own}))
    return {"name": name, "base": told["base"], **own, "prompts": [prompt | ids_of(tokenizer, prompt) for prompt in told["prompts"]]}


def main():
    lines = [json.dumps(published(name, told), ensure_ascii=False, separators=(",", ":")) for name, told in PUBLISHED.items()]
    (FOLDER / "flags.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    base = json.loads((FOLDER / "llama_like" / "tokenizer.json").read_text(encoding="utf-8"))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    known = {token["content"] for token in base["added_tokens"]}
    vocabulary = base["model"]["vocab"]
    free = iter(range(max(token["id"] for token in base["added_tokens"]) + 1, 10**6))
    added = [{"id": vocabulary[text] if text in vocabulary else next(free), "content": text, **flags} for text in ADDED if text not in known]
    for token in base["added_tokens"]:
        token["normalized"] = False
    base["added_tokens"] += added
    lines = [json.dumps({"added_tokens": base["added_tokens"], "prompts": PROMPTS}, ensure_ascii=False, separators=(",", ":"))]
    for normalizer in NORMALIZERS:
        for pre_tokenizer in PRE_TOKENIZERS:
            tokenizer = Tokenizer.from_str(json.dumps({**base, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer}))
            lines.append(json.dumps({"normalizer": normalizer, "pre_tokenizer": pre_tokenizer,
                                     "prompts": [ids_of(tokenizer, prompt) for prompt in PROMPTS]}, ensure_ascii=False, separators=(",", ":")))
    (FOLDER / "prompts.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = {"what": "token ids of chat prompts under every normalizer and pre-tokenizer that puts a space before a text, and under the flags of "
                        "published tokenizers (flags.jsonl)",
                "reference": f"tokenizers {tokenizers.__version__} (github.com/huggingface/tokenizers)",
                "script": "tests/golden/make/make_prompt_golden.py", "seed": "none", "cases": (len(lines) - 1) * len(PROMPTS),
                "dtype": "integer ids, exact", "tolerance": "none: ids are equal or wrong", "licence": "Apache-2.0, own text"}
    (FOLDER / "prompts_manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


main()
