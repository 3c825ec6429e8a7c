#!/usr/bin/env python3
"""Writes tests/golden/tokenizer: small BPE tokenizers and what the `tokenizers` library says about hostile strings.

qwen2_like  Qwen2's normalizer (NFC), split pattern and ByteLevel step, trained here on the strings below; merges as pairs;
            special tokens as in Qwen2 and LLaVA-OneVision, and added tokens with every flag
llama_like  characters with byte fallback as Llama 2 has them: Prepend and Replace before, no words, special tokens in normalised text
metaspace_like  the same with Metaspace and a prefix at the very beginning only, as Mistral has it; bytes are missing, an unknown token is not
split_metaspace_like  the same with a prefix before every text and Metaspace's words, as older files have it
gemma_like  characters without a prefix: only Replace before, and a split at spaces that finds none
falcon_like  Punctuation, ByteLevel, and behind it runs of digits and threes of them, which read a character for every byte
gpt2_like   ByteLevel alone with its own pattern and a prefix space, merges as "a b" text, ignore_merges, an unknown token

One JSON line a case: text, tokenizer (left out for qwen2_like), parse (ids), as_text (ids with encode_special_tokens=True, left out if the
same), decoded (of parse, special tokens kept; left out if the text itself).

usage: make_tokenizer_golden.py      (needs: tokenizers==0.22.2)
"""
import collections
import json
import pathlib
import random

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "tokenizer"
SEED = 20240607
QWEN2_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
                 r"\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>", "<video>"]
SENTENCES = [
    "What is in the picture?", "The red circle moves from the left to the right.", "How many squares did you see in the video?",
    "I'm sure they've left; it's 12:45, isn't it? We'll see, he'd say, you're right.", "Describe the video in one sentence.",
    "Où est passé l'élève ? Ça coûte 3,50 €.", "Der Fuß der Straße ist größer als üblich.", "Привет, как дела? Это видео о кошке.",
    "这个视频里有什么？请描述一下图片。", "日本語のテキストをトークン化します。カタカナとひらがな。", "한국어 문장을 토큰화합니다. 안녕하세요!",
    "مرحبا، ما هذا الفيديو؟ ١٢٣", "שלום עולם, מה שלומך?", "नमस्ते दुनिया, यह एक वीडियो है।", "สวัสดีชาวโลก", "Γειά σου Κόσμε, τι κάνεις;",
    "def main():\n    for i in range(10):\n        print(i)\n", "a = b + c * d / e - f % g; // comment\r\n", "{\"key\": [1, 2.5, null, true]}",
    "https://example.org/path?x=1&y=2#z", "😀😃😄 👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷", "tabs\tand\t\ttabs   and   spaces    ", "\n\n\n  \n\t\n", "1234567890 3.14159",
]
ATOMS = [
    " ", "  ", "   ", "\t", "\n", "\r\n", "\r", "\n\n", "\u00a0", "\u2003", "\u200b", "\u200d", "\ufeff", "\u202e", "\u202c", "\u2066", "\u2069", "\x00",
    "\x1b[31m", "\x7f", "\u0085", "\u180e", "\u2028", "\u2029", "\u3000", "\x1c", "\x0b", "\x0c", "'s", "'S", "'\u017f", "'ll", "'RE", "'d", "\u2019s", "'",
    "a", "B", "the", " the", "The", "video", " red", "7", "42", "½", "Ⅷ", "٣", "①", "²", "é", "e\u0301", "e\u0301\u0323", "e\u0323\u0301", "\u0301", "\u0345\u0301",
    "Å", "\u212b", "A\u030a", "ﬁ", "ǅ", "\u0344", "\u1e9b\u0323", "ß", "İ", "ı", "각", "\u1100\u1161\u11a8", "\u1100\u1161", "\u11a8", "가\u11a8", "\u1100", "\u1161",
    "中", "文字", "\U00020000", "\U000323af", "\uf900", "\ufa0e", "\U0002f800", "ก็", "เ\u0e48", "क्ष", "\u0915\u093c", "\u0958", "\u09c7\u09be", "\u0b47\u0b56",
    "\u0dd9\u0dcf\u0dca", "\u1025\u102e", "\U00011935\U00011930", "\u07fd\u0301", "\u0c3c\u0345", "😀", "👍🏽", "👨‍👩‍👧", "🏳️‍🌈", "🇩🇪", "❤️", "\ue000", "\U0010ffff", "\ufffd",
    "\ufffe", "\U0001d400", "\U0001d15e", "\U000e0041", "\ufe0f", "ا", "لا", "ﷺ", "א", "\u05e9\u05bc\u05c1", "\u1ea0\u0306", "\u01ed", "\u0f71\u0f72\u0f74", "\u0f73", "\u0f81",
    ".", "...", "?!", "--", "==", "://", "#", "\"", "\\", "\\n", "<", "|", ">", "<|", "|>", "<|im_", "im_end|>", "<|im_end|", "<image", "image>",
    "<|im_end|>", "<|im_start|>", "<image>", "<video>", "<|endoftext|>", "<<image>>", "<|im_end|><|im_end|>", "<tool>", " <tool> ", "word", "<wo>", "nfc\u00e9",
    "nfce\u0301", "\U00010400", "\U0001e900", "\u0130", "\ua7cb", "\U00010d4a", "\U000116d0", "\U0001ccf0", "ﾊﾞ", "ば", "は\u3099", "\u3099",
]


def hostile_strings():
    generator = random.Random(SEED)
    strings = list(SENTENCES) + list(ATOMS) + ["", "x" * 3000, " " * 2500, "\n" * 1200, "." * 1500, "ab" * 900, "中" * 700, "e\u0301" * 400,
                                               "a" + "\u0301" * 600, "\u0323\u0301" * 300, "\u1100\u1161\u11a8" * 150, "👨‍👩‍👧‍👦" * 60, " a" * 500]
    for sentence in SENTENCES:
        words = sentence.split(" ")
        strings += [sentence.upper(), "  " + sentence + "  ", sentence[::-1], " ".join(words[::-1]), sentence.replace(" ", "\u00a0"),
                    sentence + "<|im_end|>", "<image>\n" + sentence, "<|im_start|>user " + sentence + "<|im_end|>\n"]
    while len(strings) < 1900:
        strings.append("".join(generator.choice(ATOMS) for _ in range(generator.randint(2, 12))))
    while len(strings) < 2150:
        planes = ((0x20, 0x2FF), (0x300, 0x36F), (0x370, 0x1FFF), (0x2000, 0x2BFF), (0x3000, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFFFF),
                  (0x10000, 0x1FFFF), (0x20000, 0x10FFFF))
        low, high = generator.choice(planes)
        text = "".join(chr(generator.randint(low, high)) for _ in range(generator.randint(1, 10)))
        strings.append("".join(c for c in text if not 0xD800 <= ord(c) < 0xE000))
    return strings


def trained(pre_tokenizer, normalizer, model, vocabulary, corpus):
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


def qwen2_like(corpus):
    steps = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN2_PATTERN), "isolated"),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = trained(steps, normalizers.NFC(), models.BPE(), 1100, corpus)
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.add_tokens([AddedToken("<tool>", lstrip=True, rstrip=True, normalized=False),
                          AddedToken("word", single_word=True, normalized=False),
                          AddedToken("<wo>", lstrip=True, normalized=True),
                          AddedToken("nfc\u00e9", normalized=True, single_word=True)])
    return json.loads(tokenizer.to_str())


def falcon_like(corpus):
    steps = pre_tokenizers.Sequence([pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
                                     pre_tokenizers.Digits(individual_digits=False),
                                     pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated")])
    tokenizer = trained(steps, None, models.BPE(), 420, corpus)
    tokenizer.add_special_tokens(SPECIAL[:1])
    return json.loads(tokenizer.to_str())


def gpt2_like(corpus):
    tokenizer = trained(pre_tokenizers.ByteLevel(add_prefix_space=True), None, models.BPE(unk_token="!", fuse_unk=True, ignore_merges=True), 420, corpus)
    tokenizer.add_special_tokens(SPECIAL[:1])
    data = json.loads(tokenizer.to_str())
    # A token that no merge makes, so that ignore_merges shows, and bytes without a token, so that the unknown token does.
    vocabulary = data["model"]["vocab"]
    vocabulary["Ġcircle"] = vocabulary.pop("ÿ")
    vocabulary["Ġsquares"] = vocabulary.pop("þ")
    data["model"]["merges"] = [" ".join(m) if isinstance(m, list) else m for m in data["model"]["merges"]]
    return data


def llama_like(corpus):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    data_bytes = [f"<0x{b:02X}>" for b in range(256)]
    counts = collections.Counter("".join(corpus).replace(" ", "\u2581"))
    alphabet = sorted(counts, key=lambda c: (-counts[c], c))[:120]  # the trainer's own choice among equals changes from run to run
    trainer = trainers.BpeTrainer(vocab_size=700, initial_alphabet=alphabet, limit_alphabet=len(alphabet), max_token_length=12, special_tokens=["<unk>", "<s>", "</s>", *data_bytes],
                                  show_progress=False)
    # Words of SentencePiece's training: no token reaches over a space.
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=True)
    tokenizer.train_from_iterator(corpus, trainer)
    data = json.loads(tokenizer.to_str())
    data["pre_tokenizer"] = None
    data["added_tokens"] = data["added_tokens"][:3]
    data["added_tokens"][1]["normalized"] = True
    data["added_tokens"].append({"id": 700, "content": "[INST]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False})
    return data


def metaspace_like(corpus):
    data = llama_like(corpus)
    data["normalizer"] = None
    data["pre_tokenizer"] = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False}
    vocabulary = data["model"]["vocab"]
    vocabulary["\u2581\u2581"] = vocabulary.pop("<0xF0>")
    data["model"]["merges"].append(["\u2581", "\u2581"])
    data["added_tokens"][1]["normalized"] = False
    return data


def split_metaspace_like(corpus):
    data = llama_like(corpus)
    data["normalizer"] = None
    data["pre_tokenizer"] = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    data["added_tokens"][1]["normalized"] = False
    return data


def gemma_like(corpus):
    data = llama_like(corpus)
    data["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    data["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    data["decoder"]["decoders"].pop()
    data["added_tokens"][1]["normalized"] = False
    return data


def cases(name, data, strings):
    tokenizer = Tokenizer.from_str(json.dumps(data))
    for text in strings:
        tokenizer.encode_special_tokens = False
        parse = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = True
        as_text = tokenizer.encode(text, add_special_tokens=False).ids
        case = {"text": text, "parse": parse}
        if name != "qwen2_like":
            case["tokenizer"] = name
        if as_text != parse:
            case["as_text"] = as_text
        decoded = tokenizer.decode(parse, skip_special_tokens=False)
        if decoded != text:
            case["decoded"] = decoded
        yield json.dumps(case, separators=(",", ":"), sort_keys=True)


def main():
    strings = hostile_strings()
    corpus = SENTENCES * 4 + strings[:400]
    FOLDER.mkdir(exist_ok=True)
    lines = []
    for name, data, chosen in (("qwen2_like", qwen2_like(corpus), strings), ("gpt2_like", gpt2_like(corpus), strings[:450]),
                                ("llama_like", llama_like(corpus), strings[:330]), ("metaspace_like", metaspace_like(corpus), strings[:330]),
                                ("split_metaspace_like", split_metaspace_like(corpus), strings[:160]), ("gemma_like", gemma_like(corpus), strings[:160]),
                                ("falcon_like", falcon_like(corpus), strings[:400])):
        folder = FOLDER / name
        folder.mkdir(exist_ok=True)
        (folder / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
        lines += cases(name, data, chosen)
    (FOLDER / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = {
        "what": "token ids and decoded text of small BPE tokenizers on hostile strings",
        "reference": f"tokenizers {tokenizers.__version__} (github.com/huggingface/tokenizers)",
        "script": "tests/golden/make/make_tokenizer_golden.py", "seed": SEED, "cases": len(lines),
        "dtype": "integer ids, exact", "tolerance": "none: ids and text are equal or wrong", "licence": "Apache-2.0, own text",
    }
    (FOLDER / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


main()
