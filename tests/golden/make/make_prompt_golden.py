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
# What is asked under every normalizer and pre-tokenizer, and of published tokenizers.
PROMPTS, PUBLISHED = json.loads((FOLDER.parent / "make" / "prompts.json").read_text(encoding="utf-8")).values()


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
