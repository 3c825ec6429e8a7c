#!/usr/bin/env python3
"""Writes tests/golden/tokenizer/drawn.jsonl: tokenizers drawn at random, and what the `tokenizers` library says about awkward texts and chats.

A tokenizer is one of three models with a normalizer, a pre-tokenizer, a decoder and added tokens of its own:
qwen2_like     BPE over bytes (make_tokenizer_golden.py)
llama_like     BPE over characters with bytes (make_tokenizer_golden.py)
metaspace_like the same with bytes missing (make_tokenizer_golden.py)

The first line has texts and chats (as make_prompt_golden.py has them). Each line behind is a tokenizer and its cases: texts by number, ids parsed, ids with encode_special_tokens=True
(null: the same), decoded with (null: the text itself) and without (null: the same) special tokens; chats by number, ids of the whole, how many of them
lie behind an answer (null: none does, or a word stands across its end).

--more COUNT FILE draws so many others; the test DrawnTokenizers reads them if the environment variable WINNOW_DRAWN_TOKENIZERS names the file.

usage: make_drawn_tokenizer_golden.py [--more COUNT FILE]      (needs: tokenizers==0.22.2)
"""
import argparse
import json
import pathlib
import random

import tokenizers
from tokenizers import Tokenizer

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "tokenizer"
SEED = 20261127
DRAWN = 117
SPACE = "\u2581"
BASES = ("qwen2_like", "llama_like", "metaspace_like")
SENTENCES = [
    "What is in the picture?", "The red circle moves from the left to the right.", "How many squares did you see in the video?",
    "I'm sure they've left; it's 12:45, isn't it?", "Describe the video in one sentence.", "Où est passé l'élève ? Ça coûte 3,50 €.",
    "Der Fuß der Straße ist größer als üblich.", "Привет, как дела? Это видео о кошке.", "这个视频里有什么？请描述一下图片。",
    "日本語のテキスト。カタカナとひらがな。", "한국어 문장을 토큰화합니다.", "def main():\n    for i in range(10):\n        print(i)\n",
]
TEXTS = SENTENCES + [
    "", " ", "  ", "\n", " \n ", "\t", " Hello", "Hello ", "  two  spaces  ", "a", "A", "Hello  world   again", "\u3000full\u3000width\u3000", "e\u0301le\u0300ve", "\u0301alone",
    "a\u0323\u0301\u0302", "ﬁne ﬂow ½ ① Ⅷ ²", "ＦＵＬＬ ｗｉｄｔｈ ｶﾞ ｶﾞｶﾞ", "ǅ İstanbul ẞ ΑΣ", "\u1e9b\u0323 \u212b \u2126 \ufb2c", "각 \u1100\u1161\u11a8 \u1100\u1161 가\u11a8", "😀👍🏽", "👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷",
    "1\u20e3 a\u200d b\ufe0f", "\u0600\u0661 \u06dda", "مرحبا ١٢٣ ﷺ لا", "שלום עולם", "नमस्ते क्षेत्र", "สวัสดี เ\u0e48ำ", "\x00", "a\x00b", "\x01\x02c", "\x1b[31mred\x7f", "x\r\ny\rz", "™\u0301 ™", "\ufeffbom\u200b",
    "\u0085\u2028\u2029", "\ufffd \ufffe \ue000", "\U00020000\U000323af \U0001d400", "\u00a0nb\u00a0sp\u2003", SPACE, SPACE + SPACE + "x", "a" + SPACE + "b", " " + SPACE + " ", "<0x41>", "<unk>", "<s>",
    "<s>Hello", "Hello<s>", "<s> <s>", "a<s>b</s>c", " <image> ", "<image>\n<image>\n", "x <image>  y", "[INST] do [/INST] done</s>", "TOOL tool Tool", "Ünï ünï u\u0308ni\u0308", "the tool is a tooltip", "<|im_end|>\n",
    "...?!--==", "a+b=c $5 ^_^ `~`", "3.14159 1234567890", "http://example.org/a_b?x=1&y=2#z", "{\"key\": [1, 2.5, null]}", "tab\there", "aaaaaaaaaaaaaaaa", "abababababab", "中中中中", "е\u0301", "ﷺﷺ",
    "zzz\U0001f98a\U0001f98azzz", "ж" * 12, " a" * 9, "x" * 30, "\u0323\u0301" * 5, "qqq ʘʘ qʘq ʘ", "İ" * 3,
]
CHATS = [
    [["t", "<s>[INST] "], ["m", "What is in the picture?"], ["t", " [/INST]"]],
    [["t", "<s>USER: <image>\n"], ["m", " two  spaces "], ["t", " ASSISTANT:"]],
    [["t", "USER: <image>\n<image>\n"], ["m", "Où est-il ?"], ["t", " ASSISTANT:"]],
    [["t", "<image>\n"], ["m", "e\u0301 1"]],
    [["m", "plain"]],
    [["m", "  Ünï  "]],
    [["t", "<s>"], ["m", "日本語 😀"], ["t", "</s>"]],
    [["t", "<|im_start|>user\n"], ["m", "\nHi"], ["t", "<|im_end|>\n<|im_start|>assistant\n"]],
    [["t", "<s>[INST] "], ["m", "Hi"], ["t", " [/INST]"], ["m", " It is red."], ["t", "</s>[INST] "], ["m", "And what  moves?"], ["t", " [/INST]"]],
    [["t", "<|im_start|>user\n"], ["m", "Größe ﬁ"], ["t", "<|im_end|>\n<|im_start|>assistant\n"], ["m", "Red"],
     ["t", "<|im_end|>\n<|im_start|>user\n<image>\n"], ["m", "And ½?"], ["t", "<|im_end|>\n<|im_start|>assistant\n"]],
    # White space that a template's tokens may take from what a person wrote.
    [["t", "<s> "], ["m", " Hi \n"], ["t", "</s>\n"], ["m", "\tno "], ["t", " <image> "], ["m", "  x"], ["t", "<|im_end|>"]],
    [["m", "x "], ["t", "<s><s> </s></s>"], ["m", "   "], ["t", "<image><image> "], ["m", " ▁ y"], ["t", "\n</s> "]],
    [["t", "<|im_start|> "], ["m", " Hi\u3000"], ["t", "<|im_end|> <|im_start|>\n"], ["m", "Red"], ["t", " </s>\n<s>"], ["m", " And "],
     ["t", "<|im_end|>"]],
]
BEHIND = {8: 4, 9: 4, 12: 4}  # pieces that a cache holds


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def normalizer_step(self):
        replace = lambda text, content: {"type": "Replace", "pattern": {"String": text}, "content": content}
        return self.random.choice([
            {"type": "NFC"}, {"type": "NFD"},
            {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Strip", "strip_left": False, "strip_right": True},
            {"type": "Strip", "strip_left": True, "strip_right": False}, {"type": "Prepend", "prepend": SPACE}, {"type": "Prepend", "prepend": "ab"},
            replace(" ", SPACE), replace("ab", "x"), replace("'", "\u2019"), replace("H", ""),
        ])

    def normalizer(self, base):
        if self.random.random() < 0.15:
            return None
        real = [[{"type": "Prepend", "prepend": SPACE}, {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}],
                [{"type": "Replace", "pattern": {"String": " "}, "content": SPACE}]]
        steps = self.random.choice(real) if base != "qwen2_like" and self.random.random() < 0.35 else [self.normalizer_step() for _ in range(self.random.randint(1, 3))]
        return steps[0] if len(steps) == 1 and self.random.random() < 0.7 else {"type": "Sequence", "normalizers": steps}

    def pre_tokenizer(self, base):
        pick = self.random.random
        if base == "qwen2_like":
            level = {"type": "ByteLevel", "add_prefix_space": pick() < 0.4, "trim_offsets": True, "use_regex": pick() < 0.7}
            if pick() < 0.5:
                return level
            first = self.random.choice([{"type": "Digits", "individual_digits": pick() < 0.5}, {"type": "Punctuation", "behavior": "Isolated"},
                                        {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}|\p{Lu}"}, "behavior": "Isolated", "invert": False}])
            return {"type": "Sequence", "pretokenizers": [first, level | {"add_prefix_space": False}]}
        scheme = self.random.choice(["first", "first", "always", "never"])
        metaspace = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": pick() < 0.5}
        kind = pick()
        if kind < 0.6:
            return metaspace
        if kind < 0.7:
            return {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace | {"prepend_scheme": "always", "split": True}]}
        if kind < 0.8:
            return {"type": "Sequence", "pretokenizers": [metaspace, {"type": "Digits", "individual_digits": pick() < 0.5}]}
        return None if kind < 0.95 else {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}

    def decoder(self, base):
        if base == "qwen2_like":
            return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        metaspace = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": self.random.choice(["first", "always", "never"]), "split": True}
        replace = {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}
        steps = self.random.choice([None, [replace, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}],
                                    [replace, {"type": "ByteFallback"}, {"type": "Fuse"}], [{"type": "ByteFallback"}, metaspace], [metaspace, {"type": "ByteFallback"}], [replace]])
        return metaspace if steps is None else {"type": "Sequence", "decoders": steps}

    def added_tokens(self, vocabulary):
        size = 1 + max(vocabulary.values())
        tokens = []
        for content, special in (("<s>", True), ("</s>", True), ("<image>", True), ("<|im_start|>", True), ("<|im_end|>", True), ("[INST]", False), ("tool", False), ("Ünï", False)):
            chance = self.random.random
            if content[0] != "<" and chance() < 0.4:
                continue
            token = {"id": vocabulary.get(content, size), "content": content, "special": special, "single_word": not special and chance() < 0.3, "lstrip": chance() < 0.15,
                     "rstrip": chance() < 0.15, "normalized": chance() < (0.1 if special else 0.5)}
            size += token["id"] == size
            tokens.append(token)
        return sorted(tokens, key=lambda token: token["id"])


def whole(base, drawn):
    return Tokenizer.from_str(json.dumps(base | {key: drawn[key] for key in ("added_tokens", "normalizer", "pre_tokenizer", "decoder")}))


def text_case(tokenizer, number):
    tokenizer.encode_special_tokens = False
    parse = tokenizer.encode(TEXTS[number], add_special_tokens=False).ids
    tokenizer.encode_special_tokens = True
    as_text = tokenizer.encode(TEXTS[number], add_special_tokens=False).ids
    tokenizer.encode_special_tokens = False
    kept, skipped = (tokenizer.decode(parse, skip_special_tokens=skip) for skip in (False, True))
    return [number, parse, None if as_text == parse else as_text, None if kept == TEXTS[number] else kept, None if skipped == kept else skipped]


def chat_case(tokenizer, number):
    pieces = CHATS[number]
    encoded = tokenizer.encode("".join(text for _, text in pieces), add_special_tokens=False)
    if number not in BEHIND:
        return [number, encoded.ids, None]
    end = len("".join(text for _, text in pieces[:BEHIND[number]]))
    added = tokenizer.get_added_tokens_decoder()
    across = any(start < end < stop and token not in added for token, (start, stop) in zip(encoded.ids, encoded.offsets))
    return [number, encoded.ids, None if across else sum(stop > end for _, stop in encoded.offsets)]


def lines_of(bases, seed, count, texts_each, chats_each):
    draw = Draw(seed)
    yield {"texts": TEXTS, "chats": CHATS, "behind": {str(k): v for k, v in BEHIND.items()}}
    for number in range(count):
        name = BASES[number % len(BASES)]
        drawn = {"base": name, "normalizer": draw.normalizer(name), "pre_tokenizer": draw.pre_tokenizer(name), "decoder": draw.decoder(name),
                 "added_tokens": draw.added_tokens(bases[name]["model"]["vocab"])}
        tokenizer = whole(bases[name], drawn)
        drawn["texts"] = [text_case(tokenizer, i) for i in sorted(draw.random.sample(range(len(TEXTS)), texts_each))]
        drawn["chats"] = [chat_case(tokenizer, i) for i in sorted(draw.random.sample(range(len(CHATS)), chats_each))]
        yield drawn


def write(path, lines):
    text = "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines) + "\n"
    # U+0085, U+2028 and U+2029 end lines for some readers.
    path.write_text(text.replace("\u0085", "\\u0085").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--more", nargs=2, metavar=("COUNT", "FILE"))
    arguments = parser.parse_args()
    bases = {name: json.loads((FOLDER / name / "tokenizer.json").read_text(encoding="utf-8")) for name in BASES}
    if arguments.more:
        write(pathlib.Path(arguments.more[1]), lines_of(bases, SEED + 1, int(arguments.more[0]), 40, len(CHATS)))
        return
    write(FOLDER / "drawn.jsonl", lines_of(bases, SEED, DRAWN, 7, 4))
    manifest = {"what": "token ids and decoded text of drawn tokenizers on awkward texts, ids of chats besides",
                "reference": f"tokenizers {tokenizers.__version__} (github.com/huggingface/tokenizers)",
                "script": "tests/golden/make/make_drawn_tokenizer_golden.py", "seed": SEED, "cases": DRAWN * 7, "dtype": "integer ids, exact",
                "tolerance": "none: ids and text are equal or wrong", "licence": "Apache-2.0, own text"}
    (FOLDER / "drawn_manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


main()
