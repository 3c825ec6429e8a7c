#!/usr/bin/env python3
"""Writes tests/golden/family_ids: token ids of two turns with images, family by family, under tokenizers drawn at random.

A line of FAMILY.jsonl is a tokenizer: the model of the family's golden folder ("own"), one over characters ("bpe", with
bytes, and with the folder's added tokens at their ids) or, of language models, one over bytes ("bytes"), with a normalizer, a
pre-tokenizer, flags of added tokens and a post-processor of its own. The first line has what the tokenizers share. `first` are the ids of the
first question's prompt, `whole` those of the second's, as apply_chat_template(tokenize=True) gives them, images written out; a repeated id
is [id, times]. `rest` counts the ids behind the answer; null: a token stands across its end.

    python tests/golden/make/make_family_ids_golden.py

Needs transformers==4.57.6, tokenizers==0.22.2, torch, torchvision, num2words, pillow, numpy.
"""

import copy
import itertools
import json
import pathlib
import random
import shutil
import tempfile
import warnings

import numpy as np
import PIL.Image
import tokenizers
import transformers
from transformers import AutoProcessor, PreTrainedTokenizerFast

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
GOLDEN = pathlib.Path(__file__).resolve().parents[1]
OUT = GOLDEN / "family_ids"
SEED = 20261128
SPACE = "\u2581"
FOLDERS = ["llava/llava_llama", "llava/next_mistral", "llava/next_video", "llava_onevision/gqa_tied", "qwen2_vl/published", "qwen2_5_vl/published",
           "qwen3_vl/published", "smolvlm/smolvlm2_split", "smolvlm/idefics3_plain", "internvl/qwen2_saved", "internvl/llama_published", "gemma3/published",
           "text_models/llama_tied", "text_models/mistral", "text_models/qwen2", "text_models/gemma3"]
MEDIA = ("<image>", "<video>", "<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>", "<image_soft_token>", "<start_of_image>", "<end_of_image>",
         "<img>", "</img>", "<IMG_CONTEXT>", "<fake_token_around_image>", "<global-img>")
WORDS_IN_MEDIA = ("smolvlm", "internvl", "gemma3")
TEXT_VOCABULARY = 90  # of the language models' 96; the rest are added tokens
TEXT_ADDED = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|im_start|>", "<|im_end|>"]
QUESTIONS = ["What is in the picture?", " two  spaces ", "\nHi\n", "Où est-il ?", "x", "  Größe \ufb01 ½\t", "e\u0301 1", "And\n\n what moves ?"]
ANSWERS = ["It is red.", "Red", "No, it moves to the left."]
SIZES = [(31, 45), (41, 17), (20, 61)]
CORPUS = ["What is in the picture?", "And what moves to the left of the red circle?", "USER: user ASSISTANT: assistant [INST] model [/INST] it is red."]
# Llama 2's, Phi 3's, Zephyr's, Qwen's and Gemma's ways to write turns.
TEMPLATES = [
    "{% for m in messages %}{% if m['role'] == 'user' %}{{ bos_token + '[INST] ' + m['content'] + ' [/INST]' }}{% else %}"
    "{{ ' ' + m['content'] + ' ' + eos_token }}{% endif %}{% endfor %}",
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}{{ '<|user|>\n' + m['content'] + '<|end|>\n' }}{% else %}"
    "{{ '<|assistant|>\n' + m['content'] + '<|end|>\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}",
    "{% for m in messages %}{% if m['role'] == 'user' %}{{ '<|user|>\n' + m['content'] + eos_token + '\n' }}{% else %}"
    "{{ '<|assistant|>\n' + m['content'] + eos_token + '\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}",
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "{{ bos_token }}{% for m in messages %}{{ '<|im_start|>' + ('model' if m['role'] == 'assistant' else 'user') + '\n' + m['content'] | trim +"
    " ' <|im_end|> ' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>model\n' }}{% endif %}",
]
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
PREPEND = {"type": "Prepend", "prepend": SPACE}
STRIP = {"type": "Strip", "strip_left": False, "strip_right": True}
QWEN2_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def sequence(kind, steps):
    return steps[0] if len(steps) == 1 else {"type": "Sequence", kind: list(steps)}


def metaspace(scheme, split):
    return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": split}


# Normalizer and pre-tokenizer, as published models have them together.
CHARACTER_STEPS = [
    ([PREPEND, REPLACE], None), ([], metaspace("first", False)), ([], metaspace("always", True)), ([], metaspace("never", False)),
    ([REPLACE], {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}),
    ([STRIP], metaspace("always", True)), ([{"type": "NFC"}], metaspace("first", True)), ([{"type": "NFC"}, REPLACE], None),
    ([{"type": "NFD"}], metaspace("first", False)), ([{"type": "NFC"}, PREPEND, REPLACE], None), ([STRIP, PREPEND, REPLACE], None),
    ([{"type": "NFD"}, STRIP], metaspace("always", True)),
]
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
SPLIT = {"type": "Split", "pattern": {"Regex": QWEN2_PATTERN}, "behavior": "Isolated", "invert": False}
BYTE_STEPS = [([{"type": "NFC"}], [SPLIT, BYTES]), ([], [BYTES | {"use_regex": True}]), ([], [BYTES | {"use_regex": True, "add_prefix_space": True}]),
              ([], [{"type": "Digits", "individual_digits": True}, BYTES | {"use_regex": True}]), ([{"type": "NFD"}], [SPLIT, BYTES])]


def golden_picture(height, width, seed):
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    value = 40 * (c + 1) + x * (3 + seed % 5) + y * (7 - seed % 4) + 60 * ((x // 7 + y // 5 + seed) % 3)
    return PIL.Image.fromarray((value % 256).astype(np.uint8))


def pieces_of(size, head, space):
    """A vocabulary of characters, the most frequent first, and of pairs of them; and the merges of these."""
    text = "".join(CORPUS).replace(" ", space).replace("\n", "")
    characters = sorted(set(text), key=lambda c: (-text.count(c), c))[:size - len(head) - min(12, (size - len(head)) // 3)]
    pairs = sorted({a + b for a, b in itertools.pairwise(text) if a in characters and b in characters and b != space}, key=lambda p: (-text.count(p), p))
    words = head + characters + pairs[:size - len(head) - len(characters)]
    return words, [[pair[0], pair[1]] for pair in words[len(head) + len(characters):]]


def models_for(added, own, size):
    """By kind. size: ids below the added tokens."""
    special = ["<unk>", "<s>", "</s>"]
    head = special + [f"<0x{byte:02X}>" for byte in range(256)] if size > 259 + 20 else special
    has_bytes = len(head) > 3
    kinds = {}
    if own and own.get("byte_fallback"):
        words = sorted(own["vocab"], key=own["vocab"].get)
        kinds["bpe"] = own
    else:
        words, merges = pieces_of(size, head, SPACE)
        kinds["bpe"] = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": has_bytes, "ignore_merges": False,
                        "vocab": {word: i for i, word in enumerate(words)}, "merges": merges}
    if own is None:
        words, merges = pieces_of(size, ["<unk>", "<s>", "</s>", "\u010a"], "\u0120")
        kinds["bytes"] = {"type": "BPE", "unk_token": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                          "vocab": {word: i for i, word in enumerate(words)}, "merges": merges}
    elif not own.get("byte_fallback"):
        kinds["own"] = own
    return kinds


class Family:
    def __init__(self, name):
        self.name, self.folder = name, GOLDEN / name / "model"
        self.sees = self.folder.exists()
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        self.base = json.loads((self.folder / "tokenizer.json").read_text()) if self.sees else {"post_processor": None}
        added = self.base["added_tokens"] if self.sees else [{"id": TEXT_VOCABULARY + i, "content": text, **flags} for i, text in enumerate(TEXT_ADDED)]
        known = {token["content"] for token in added}
        self.added = [{"id": i, "content": text, **flags} for i, text in enumerate(("<unk>", "<s>", "</s>")) if text not in known] + added
        size = min(token["id"] for token in added if token["id"] > 2)
        self.models = models_for(added, self.base["model"] if self.sees else None, size)
        self.bytewise = [kind for kind in ("own", "bytes") if kind in self.models]
        names = json.loads((self.folder / "tokenizer_config.json").read_text()) if self.sees else {"bos_token": "<s>", "eos_token": "</s>"}
        self.names = {key: value for key, value in names.items() if key.endswith("_token")}
        # transformers 5 writes all names beside one another.
        standard = ("bos_token", "eos_token", "unk_token", "pad_token")
        self.names["extra_special_tokens"] = {key: self.names.pop(key) for key in list(self.names) if key not in standard}

    def head(self):
        shared = {kind: model for kind, model in self.models.items() if not (self.sees and model is self.base["model"])}
        return {"folder": self.name, "added_tokens": self.added, "vocabularies": shared}

    def flags(self, draw, number):
        """By token, those that are set. The tokens of media only take white space, for a processor counts them; where a medium has several
        kinds of them, they have no flags. Those of <end_of_utterance> are taken away by Idefics3's processor."""
        if number % 4 == 0:
            return {}
        found = {}
        for token in self.added:
            if token["content"] == "<end_of_utterance>":
                set_ = []
            elif token["content"] in MEDIA or token["content"].startswith("<row_"):
                set_ = [] if self.name.startswith(WORDS_IN_MEDIA) else [flag for flag in ("lstrip", "rstrip") if draw.random() < 0.2]
            else:
                set_ = [flag for flag, share in (("lstrip", 0.25), ("rstrip", 0.35), ("normalized", 0.25), ("single_word", 0.1)) if draw.random() < share]
            if set_:
                found[token["content"]] = set_
        return found

    def cases(self):
        return len(CHARACTER_STEPS) + (len(BYTE_STEPS) if self.bytewise else 0)

    def draw(self, draw, number):
        bytewise = number >= len(CHARACTER_STEPS)
        kind = self.bytewise[0] if bytewise else "bpe"
        steps = BYTE_STEPS[number - len(CHARACTER_STEPS)] if bytewise else CHARACTER_STEPS[number * 5 % len(CHARACTER_STEPS)]
        case = {"kind": kind, "normalizer": sequence("normalizers", steps[0]) if steps[0] else None,
                "pre_tokenizer": (sequence("pretokenizers", steps[1]) if bytewise else steps[1]), "flags": self.flags(draw, number),
                "post_processor": self.sees and draw.random() < 0.8}
        case["thread"] = [draw.choice(QUESTIONS), draw.choice(ANSWERS), draw.choice(QUESTIONS)]
        sizes = iter(draw.sample(SIZES, 3))
        counts = [draw.choice([1, 1, 2]), draw.choice([0, 1])]
        if self.name.startswith("llava_onevision"):  # several images of one prompt are not cut into tiles
            counts = draw.choice([[1, 0], [0, 1]])
        case["images"] = [[next(sizes) for _ in range(count)] if self.sees else [] for count in counts]
        if not self.sees:
            case["template"] = number % len(TEMPLATES)
        return case

    def tokenizer_json(self, case):
        added = copy.deepcopy([t for t in self.added if case["kind"] not in self.bytewise or self.base.get("model") is None or t["id"] > 2])
        for token in added:
            token.update({flag: True for flag in case["flags"].get(token["content"], ())})
        decoder = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True} if case["kind"] in self.bytewise else None
        whole = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": sorted(added, key=lambda t: t["id"]), "normalizer": case["normalizer"],
                 "pre_tokenizer": case["pre_tokenizer"], "post_processor": self.base["post_processor"] if case["post_processor"] else None,
                 "decoder": decoder, "model": self.models[case["kind"]]}
        return json.dumps(whole)


class Recorder(PreTrainedTokenizerFast):
    """Remembers the last text, whose images the processor has written out."""
    def __call__(self, text=None, **arguments):
        Recorder.seen = text[0] if isinstance(text, list) else text
        Recorder.special = arguments.get("add_special_tokens", True)
        return super().__call__(text, **arguments)


def messages_of(case, turns):
    messages = []
    for turn in range(turns):
        images = [{"type": "image", "image": golden_picture(*size, 1 + i)} for i, size in enumerate(case["images"][turn])]
        messages.append({"role": "user", "content": images + [{"type": "text", "text": case["thread"][2 * turn]}]})
        if turn + 1 < turns:
            messages.append({"role": "assistant", "content": [{"type": "text", "text": case["thread"][1]}]})
    return messages


def runs(ids):
    out = []
    for value, group in itertools.groupby(map(int, ids)):
        count = len(list(group))
        out += [[value, count]] if count > 3 else [value] * count
    return out


def rest_of(tokenizer, case, text, special):
    answer = case["thread"][1]
    if answer[-1].isalpha() and any("single_word" in flags for flags in case["flags"].values()):
        return None  # a cache does not tell what stands before such a token
    encoded = tokenizer.backend_tokenizer.encode(text, add_special_tokens=special)
    assert text.count(answer) == 1, (text, answer)
    end = text.index(answer) + len(answer)
    behind = [start for start, stop in encoded.offsets if stop > end]
    straddles = [i for i, (start, stop) in enumerate(encoded.offsets) if start < end < stop and encoded.ids[i] not in tokenizer.added_tokens_decoder]
    return None if straddles else len(behind)


def adds_space(case):
    """transformers 4 has its own word for it in tokenizer_config.json, which is the last one."""
    return case["pre_tokenizer"] is not None and case["pre_tokenizer"].get("add_prefix_space", False)


def ids_of(family, case):
    with tempfile.TemporaryDirectory() as folder:
        if family.sees:
            for file in family.folder.iterdir():
                if file.suffix != ".safetensors":
                    shutil.copy(file, folder)
        folder = pathlib.Path(folder)
        (folder / "tokenizer.json").write_text(family.tokenizer_json(case))
        (folder / "tokenizer_config.json").write_text(json.dumps({**family.names, "tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": adds_space(case)}))
        if not family.sees:
            tokenizer = Recorder.from_pretrained(folder)
            encode = lambda turns: tokenizer.apply_chat_template(
                [message | {"content": message["content"][-1]["text"]} for message in messages_of(case, turns)],
                chat_template=TEMPLATES[case["template"]], add_generation_prompt=True, tokenize=True, return_dict=True)["input_ids"]
        else:
            processor = AutoProcessor.from_pretrained(folder)
            tokenizer = processor.tokenizer
            tokenizer.__class__ = Recorder
            encode = lambda turns: list(processor.apply_chat_template(messages_of(case, turns), add_generation_prompt=True, tokenize=True, return_dict=True)["input_ids"][0])
        first, whole = encode(1), encode(2)
        return first, whole, rest_of(tokenizer, case, Recorder.seen, Recorder.special)


def main():
    for each in (transformers.LlavaNextVideoProcessor, transformers.Qwen2VLProcessor, transformers.Qwen2_5_VLProcessor, transformers.Qwen3VLProcessor):
        each.tokenizer_class = "AutoTokenizer"  # else one that writes a post-processor of its own
    OUT.mkdir(exist_ok=True)
    counted = 0
    for number, name in enumerate(FOLDERS):
        family, draw = Family(name), random.Random(SEED + number)
        lines = [family.head() | ({} if family.sees else {"templates": TEMPLATES})]
        for case_number in range(family.cases()):
            case = family.draw(draw, case_number)
            first, whole, case["rest"] = ids_of(family, case)
            case |= {"first": runs(first), "whole": runs(whole)}
            lines.append(case)
        counted += family.cases()
        path = OUT / (name.replace("/", "-") + ".jsonl")
        path.write_text("\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines) + "\n", encoding="utf-8")
        print(path.name, path.stat().st_size, [len(line["whole"]) for line in lines[1:]], [line["rest"] for line in lines[1:]], flush=True)
    manifest = {"what": "token ids of two turns with images under drawn tokenizers, through each family's processor",
                "reference": f"transformers {transformers.__version__}, tokenizers {tokenizers.__version__}: apply_chat_template(tokenize=True)",
                "source": f"github.com/huggingface/transformers, tag v{transformers.__version__}", "script": "tests/golden/make/make_family_ids_golden.py",
                "seed": f"{SEED} + number of the folder", "cases": counted, "dtype": "integer ids, exact", "tolerance": "none: ids are equal or wrong",
                "licence": "Apache-2.0, own text and vocabularies; chat templates as published with the models"}
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
