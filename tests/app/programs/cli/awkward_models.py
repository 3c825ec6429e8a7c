"""Text models with awkward metadata, and files that are no models, through winnow-cli: what the model reads, how its answers end, what is refused.

    python tests/app/programs/cli/awkward_models.py --cli build/release/bin/winnow-cli SmolLM2-135M-Instruct.Q4_1.gguf [NAME ...]

Models with another chat template, another end token or none of both are made of the file, one after the other, in a temporary folder. What a
model reads is taken from the token ids of `winnow-cli export` and has to be the template's text, as jinja2 renders it, to the letter. Needs gguf,
jinja2 and numpy. Prints a line for each case, and fails if one is wrong.
"""

import argparse
import datetime
import gzip
import io
import json
import pickle
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import gguf
import jinja2
import numpy as np

ANSWERS = {"What is the capital of France?": "Paris", "And of Spain?": "Madrid", "And of Italy?": "Rome"}
DAY = "2026-01-02"
TURN = "{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
ASKED = "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
CHATML = "{%- for m in messages %}" + TURN + "{%- endfor %}" + ASKED


@dataclass
class Model:
    metadata: tuple[str, ...]  # options of gguf's gguf_new_metadata.py
    template: str | None  # None: the file's own, which brings a system prompt
    probe: str = "chat template: its own"
    knows: bool = True  # that it answers right without a system prompt


def spoken(template: str, **more: object) -> Model:
    return Model(("--chat-template", template), template, **more)


MODELS = {
    # An answer behind the last question has an empty thought, earlier ones lose it (Qwen 3).
    "think": spoken(
        "{%- set ns = namespace(last=-1) %}{%- for m in messages %}{%- if m.role == 'user' %}{%- set ns.last = loop.index0 %}{%- endif %}{%- endfor %}"
        "{%- for m in messages %}{%- if m.role == 'assistant' %}{%- set content = m.content %}{%- if '</think>' in content %}"
        "{%- set content = content.split('</think>')[-1].lstrip('\\n') %}{%- endif %}{%- if loop.index0 > ns.last %}"
        "{{- '<|im_start|>assistant\\n<think>\\n\\n</think>\\n\\n' + content + '<|im_end|>\\n' }}{%- else %}"
        "{{- '<|im_start|>assistant\\n' + content + '<|im_end|>\\n' }}{%- endif %}{%- else %}" + TURN + "{%- endif %}{%- endfor %}" + ASKED
    ),
    # No system role, and roles alternate (Gemma 2, early Mistral).
    "nosystem": spoken(
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
        "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate') }}{% endif %}"
        "{{ '<|im_start|>' + m.role + '\\n' + m.content | trim + '<|im_end|>\\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
    ),
    # The day stands in the system prompt of its own (Mistral Small 3, Granite).
    "today": spoken(
        "{%- set today = strftime_now('%Y-%m-%d') %}{%- if messages[0].role != 'system' %}"
        "{{- '<|im_start|>system\\nToday is ' + today + '.<|im_end|>\\n' }}{%- endif %}" + CHATML, knows=False
    ),
    # Writes the beginning of a text, which a tokenizer may write, too.
    "bos": spoken("{{ bos_token }}" + CHATML),
    "eos0": Model(("--special-token-by-id", "eos", "0"), None, knows=False),
    "notemplate": Model(("--force", "--remove-metadata", "tokenizer.chat_template"), CHATML, "chat template: none; ChatML"),
}  # fmt: skip


def archive(name: str) -> bytes:
    bytes_ = io.BytesIO()
    with zipfile.ZipFile(bytes_, "w") as packed:
        packed.writestr(name, b"x")
    return bytes_.getvalue()


DOWNLOAD = "download it again"
NO_MODELS: dict[str, tuple[bytes, str]] = {
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "Git LFS pointer.*git lfs pull"),
    "page": (b"<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n", "web page.*" + DOWNLOAD),
    "answer": (b'{"error":"Invalid username or password."}', "a text.*" + DOWNLOAD),
    "zip": (archive("readme.txt"), "ZIP archive.*unpack"),
    "gzip": (gzip.compress(b"model"), "gzip archive.*unpack"),
    "torch": (archive("model/data.pkl"), "PyTorch weights.*safetensors"),
    "pickle": (pickle.dumps({"weight": 1}, 2), "pickle.*safetensors"),
    "ggjt": (b"tjgg" + bytes(100), "before GGUF.*convert"),
    "zeros": (bytes(100_000), "zeros.*" + DOWNLOAD),
    "empty": (b"", "empty.*(download|copy)"),
}


class Program:
    def __init__(self, cli: Path, scratch: Path) -> None:
        self._cli = cli
        self._out = scratch / "inputs.safetensors"

    def run(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(self._cli), *arguments], input=typed, capture_output=True, text=True, timeout=300)

    def read(self, model: Path, question: str, *options: str) -> tuple[list[int], str]:
        """The prompt's token ids, and what was said on the way."""
        self._out.unlink(missing_ok=True)
        done = self.run("export", "--model", str(model), "--max-tokens", "1", "--out", str(self._out), *options, question)
        if not self._out.exists():
            return [], done.stdout + done.stderr
        data = self._out.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        first, last = json.loads(data[8 : 8 + length])["input_ids"]["data_offsets"]
        return np.frombuffer(data[8 + length + first : 8 + length + last], np.int64).tolist(), done.stderr


class Vocabulary:
    """Of a file with byte-level BPE: the letters of its pieces stand for bytes."""

    def __init__(self, model: Path) -> None:
        field = gguf.GGUFReader(model).fields["tokenizer.ggml.tokens"]
        self._pieces = [bytes(field.parts[index]).decode() for index in field.data]
        visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
        hidden = sorted(set(range(256)) - set(visible))
        self._bytes = {chr(byte): byte for byte in visible} | {chr(256 + i): byte for i, byte in enumerate(hidden)}

    def text(self, ids: list[int]) -> str:
        return b"".join(bytes(self._bytes[letter] for letter in self._pieces[number]) for number in ids).decode(errors="replace")


def rendered(template: str, messages: list[dict[str, str]], day: str) -> str:
    def refuse(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    environment.globals |= {"raise_exception": refuse, "strftime_now": datetime.date.fromisoformat(day).strftime}
    return environment.from_string(template).render(messages=messages, add_generation_prompt=True, bos_token="<|im_start|>", eos_token="<|im_end|>")


def check_reading(program: Program, vocabulary: Vocabulary, model: Path, about: Model) -> list[str]:
    question, system = next(iter(ANSWERS)), "Answer in one word."
    faults = []
    for before in ([], [{"role": "system", "content": system}]):
        if about.template is None:
            continue
        options = ["--date", DAY] + (["--system", system] if before else [])
        ids, said = program.read(model, question, *options)
        told = vocabulary.text(ids)
        try:
            expected = rendered(about.template, [*before, {"role": "user", "content": question}], DAY)
        except jinja2.TemplateError:  # has no system prompt: before the first question, which is said
            expected = rendered(about.template, [{"role": "user", "content": f"{system}\n\n{question}"}], DAY)
            if "no system prompt" not in said:
                faults.append(f"does not say where the system prompt went: {said}")
        if told != expected:
            faults.append(f"reads {told!r} instead of {expected!r}; {said.strip()}")
        planned = program.run("plan", "--json", "--model", str(model), *options, question)
        if planned.returncode != 0 or json.loads(planned.stdout)["tokens"]["prompt"] != len(ids):
            faults.append(f"plans other tokens than {len(ids)}: {planned.stdout}{planned.stderr}")
    return faults


def check_conversation(program: Program, model: Path, about: Model) -> list[str]:
    faults = []
    typed = "".join(question + "\n" for question in ANSWERS) + "/quit\n"
    for guard in ("keep", "prefill", "ram", "alone"):
        done = program.run("chat", "--model", str(model), "--method", "snapkv", "--guard", guard, "--max-tokens", "24", typed=typed)
        if done.returncode != 0 or "winnow-cli:" in done.stderr or done.stdout.count("\n") < len(ANSWERS):
            faults.append(f"--guard {guard}: {done.returncode}, {done.stdout!r}, {done.stderr!r}")
        whole_thread = guard in ("keep", "prefill")  # the others drop words of so short a thread, or answer without it
        for name in ANSWERS.values() if about.knows and whole_thread else []:
            if name not in done.stdout:
                faults.append(f"--guard {guard}: {name} is not in {done.stdout!r}")
    return faults


def check_model(program: Program, vocabulary: Vocabulary, model: Path, about: Model) -> list[str]:
    probed = program.run("probe", str(model)).stdout
    faults = [] if about.probe in probed else [f"probe says {probed!r}"]
    question = next(iter(ANSWERS)) if about.knows else "Say hello."
    answer = program.run("ask", "--json", "--method", "full", "--max-tokens", "60", "--model", str(model), question)
    said = json.loads(answer.stdout) if answer.returncode == 0 else {}
    if not said or said["stop_reason"] != "stop" or "<|" in said["answer"]:
        faults.append(f"ends otherwise than at its end token: {said.get('stop_reason')}, {said.get('answer')!r}, {answer.stderr!r}")
    return faults + check_reading(program, vocabulary, model, about) + check_conversation(program, model, about)


def check_refused(program: Program, scratch: Path, content: bytes, why: str) -> list[str]:
    folder = scratch / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 8} | dict.fromkeys(("hidden_size", "intermediate_size"), 8) | {"num_attention_heads": 2, "num_hidden_layers": 1}))  # fmt: skip
    faults = []
    for path, model in ((scratch / "model.gguf", scratch / "model.gguf"), (folder / "model.safetensors", folder)):
        path.write_bytes(content)
        done = program.run("ask", "--model", str(model), "hello")
        if done.returncode != 1 or not re.search(why, done.stderr) or path.name not in done.stderr:
            faults.append(f"{path.name}: {done.returncode}, {done.stderr.strip()}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", type=Path, required=True)
    parser.add_argument("model", type=Path)
    parser.add_argument("names", nargs="*", help="only these")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        program = Program(options.cli, scratch)
        vocabulary = Vocabulary(options.model)

        def made(about: Model) -> list[str]:
            path = scratch / "made.gguf"
            path.unlink(missing_ok=True)
            command = [sys.executable, "-m", "gguf.scripts.gguf_new_metadata", *about.metadata, str(options.model), str(path)]
            subprocess.run(command, check=True, capture_output=True)
            return check_model(program, vocabulary, path, about)

        cases: dict[str, Callable[[], list[str]]] = {name: lambda about=about: made(about) for name, about in MODELS.items()}
        cases |= {name: lambda case=case: check_refused(program, scratch, *case) for name, case in NO_MODELS.items()}
        asked = [name for name in cases if not options.names or name in options.names]
        for name in asked:
            faults = cases[name]()
            wrong += bool(faults)
            print(("wrong " if faults else "right ") + name, flush=True)
            for fault in faults[:4]:
                print("    " + fault[:400])
    print(f"{len(asked) - wrong} of {len(asked)} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
