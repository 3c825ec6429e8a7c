#!/usr/bin/env python3
"""Prints how exactly winnow-cli computes a real model: beside transformers on its dequantised weights, and beside llama.cpp on the file.

Chats: prompts of one question each, their ids, the logits of every prompt token, 64 greedy tokens. Running text: words of a licence as one
question; next-token distributions of all its tokens, in pairs: mean Kullback-Leibler divergence both ways (nats a token) and how often the
most likely token is the same. Winnow with --dtype fp32 has its weights as numbers, with --dtype auto in the file's blocks; the folder of the
file's numbers is rounded to --dtype int8 and int4, of which int4 finds a Q4_1 file's own blocks again.

usage: measure_real_model.py SmolLM2-135M-Instruct.Q4_1.gguf WINNOW_CLI [--text FILE] [--words N]   (environment: real_model_environment.sh)
"""
import argparse
import itertools
import pathlib
import subprocess
import tempfile

import llama_cpp
import torch
import transformers
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

import dequantised_folder
import real_model_texts

transformers.logging.disable_progress_bar()
STRINGS = 300
GREEDY_TOKENS = 64
CLOSE = 1e-3  # of two logits: which is larger is a matter of rounding
ROWS = 256    # of distributions compared at a time
DTYPES = ("fp32", "auto")
FOLDER_DTYPES = ("int8", "int4")  # of the folder of its numbers


class Winnow:
    def __init__(self, program, gguf, dtype, scratch):
        self.words = [program, "export", "--model", gguf, "--dtype", dtype, "--method", "full", "--all-logits"]
        self.out = str(pathlib.Path(scratch) / "export.safetensors")

    def run(self, question, tokens):
        command = [*self.words, "--max-tokens", str(tokens), "--out", self.out, question]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        written = load_file(self.out)
        return written["input_ids"].tolist(), written["logits"].float(), written["generated"].tolist()


class Transformers:
    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def text(self, question):
        return self.tokenizer.apply_chat_template(real_model_texts.messages([question]), add_generation_prompt=True, tokenize=False)

    def ids(self, text, special):
        return self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=not special)

    def logits(self, ids):
        with torch.inference_mode():
            return self.model(torch.tensor([ids]), use_cache=False).logits[0]


class LlamaCpp:
    def __init__(self, gguf, fp32_cache):
        kind = llama_cpp.GGML_TYPE_F32 if fp32_cache else llama_cpp.GGML_TYPE_F16
        self.model = llama_cpp.Llama(gguf, n_ctx=8192, n_batch=512, logits_all=True, type_k=kind, type_v=kind, verbose=False)

    def ids(self, text, special):
        return self.model.tokenize(text.encode(), add_bos=False, special=special)

    def logits(self, ids):
        self.model.reset()
        self.model.eval(ids)
        return torch.tensor(self.model.scores[:len(ids)])

    def greedy(self, ids, count, end):
        tokens = [int(self.logits(ids)[-1].argmax())]
        while len(tokens) < count and tokens[-1] != end:
            self.model.eval(tokens[-1:])
            tokens.append(int(self.model.scores[self.model.n_tokens - 1].argmax()))
        return tokens


def compare(first, second):
    """Of two arrays of logits [n, vocabulary]: KL(first || second), KL(second || first), share of equal best tokens."""
    kl, best = torch.zeros(2, dtype=torch.float64), 0
    for at in range(0, len(first), ROWS):
        a, b = (logits[at:at + ROWS].double().log_softmax(-1) for logits in (first, second))
        kl += torch.stack([(a.exp() * (a - b)).sum(), (b.exp() * (b - a)).sum()])
        best += int((a.argmax(-1) == b.argmax(-1)).sum())
    return (kl / len(first)).tolist() + [best / len(first)]


def agreeing(tokens, wanted):
    return next((i for i, (a, b) in enumerate(zip(tokens, wanted)) if a != b), min(len(tokens), len(wanted)))


def chats(reference, winnow, peers):
    """Against transformers, which is asked for the logits behind every token that the other wrote."""
    end = reference.tokenizer.eos_token_id
    for name, run in {**{f"winnow {dtype}": one.run for dtype, one in winnow.items()}, **peers}.items():
        ids_equal = tokens = same = close = whole = 0
        worst = 0.0
        for question in real_model_texts.QUESTIONS:
            prompt = reference.ids(reference.text(question), special=True)
            ids, logits, written = run(question, GREEDY_TOKENS)
            ids_equal += ids == prompt
            expected = reference.logits([*prompt, *written])
            worst = max(worst, float((logits - expected[:len(prompt)]).abs().max() / expected[:len(prompt)].abs().max()))
            behind = expected[len(prompt) - 1:-1]
            ahead = behind.max(-1).values - behind[torch.arange(len(written)), torch.tensor(written)]
            tokens += len(written)
            same += int((ahead == 0).sum())
            close += int(((ahead > 0) & (ahead < CLOSE)).sum())
            whole += bool((ahead < CLOSE).all()) and (written[-1] == end or len(written) >= GREEDY_TOKENS - 1)
        print(f"chats, {name}: prompts with equal ids {ids_equal}/{len(real_model_texts.QUESTIONS)}, largest difference of a logit {worst:.1e} of the "
              f"largest, greedy tokens equal {same}/{tokens}, close calls {close}, answers equal {whole}/{len(real_model_texts.QUESTIONS)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gguf")
    parser.add_argument("winnow_cli")
    parser.add_argument("--text", default="/usr/share/common-licenses/GPL-3")
    parser.add_argument("--words", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "model"
        dequantised_folder.write(options.gguf, folder)
        reference = Transformers(folder)
        winnow = {dtype: Winnow(options.winnow_cli, options.gguf, dtype, scratch) for dtype in DTYPES}
        winnow |= {f"folder, {dtype}": Winnow(options.winnow_cli, folder, dtype, scratch) for dtype in FOLDER_DTYPES}
        llama = {"llama.cpp": LlamaCpp(options.gguf, False), "llama.cpp, fp32 cache": LlamaCpp(options.gguf, True)}

        strings = real_model_texts.strings(STRINGS)
        equal = sum(llama["llama.cpp"].ids(text, special=False) == reference.ids(text, special=False) for text in strings)
        print(f"strings: llama.cpp's ids are those of transformers in {equal}/{len(strings)}", flush=True)

        def peer(model):
            def run(question, tokens):
                ids = model.ids(reference.text(question), special=True)
                logits = model.logits(ids)
                return ids, logits, model.greedy(ids, tokens, reference.tokenizer.eos_token_id)
            return run
        chats(reference, winnow, {name: peer(model) for name, model in llama.items()})

        text = real_model_texts.running_text(options.text, options.words)
        ids = reference.ids(reference.text(text), special=True)
        logits = {"transformers": reference.logits(ids)}
        for dtype, one in winnow.items():
            own, logits[f"winnow {dtype}"], _ = one.run(text, 1)
            print(f"running text, winnow {dtype}: ids equal: {own == ids}")
        for name, model in llama.items():
            print(f"running text, {name}: ids equal: {model.ids(reference.text(text), special=True) == ids}")
            logits[name] = model.logits(ids)
        print(f"running text: {len(ids)} tokens")
        for a, b in itertools.combinations(logits, 2):
            forth, back, best = compare(logits[a], logits[b])
            print(f"running text, {a} | {b}: KL {forth:.2e} and {back:.2e}, same best token {100 * best:.2f} %", flush=True)


if __name__ == "__main__":
    main()
