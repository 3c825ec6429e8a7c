#!/usr/bin/env python3
"""Prefill and decode of a Qwen2-shaped random model: Winnow's engine against OpenVINO on the same weights, A-B-B-A in one run.

    python3 -m venv peer; peer/bin/pip install openvino==2026.4.1 nncf==3.4.0 optimum-intel==2.2.0 torch==2.11.0 transformers==5.2.0
    ./winnow bench >/dev/null     # builds winnow-bench
    peer/bin/python tests/bench/peers/openvino_peer.py FOLDER --bits 8 [--shape 1.5b] [-- --dtype fp32]

Keeps in FOLDER the weights (bf16, from a fixed seed) and what optimum-intel exports of them: 16 bits as stored, 8 per channel, or 4 in groups of
128 with the head in 8, which is what nncf does by default; a first run takes minutes and several times the weights' memory. Winnow reads the same
weights and packs them in as many bits itself, in groups of 32. OpenVINO's runtime is driven directly, with its own choice of arithmetic and of
the cache's type, which are printed; as its GenAI pipeline does, only the last row of a prompt goes through the head. The same number of threads, the
same prompt length and greedy decoding. What stands behind `--` goes to winnow-bench. `decode 10 %` is Winnow with a tenth of the cache against
OpenVINO with all of it. Prints a table of the medians and the quartiles of the ratios of all pairs.
"""

from __future__ import annotations

import pathlib
import statistics
import sys
import time

import interleaved
import shapes

try:
    import numpy as np
    import openvino as ov
    from openvino import opset13
except Exception as reason:
    interleaved.missing("OpenVINO", reason, "pip install openvino==2026.4.1 nncf==3.4.0 optimum-intel==2.2.0 torch==2.11.0 transformers==5.2.0")

SEED = 7


def weights(folder: pathlib.Path, shape: str) -> pathlib.Path:
    path = folder / f"qwen2-{shape}"
    if not (path / "model.safetensors").exists():
        import torch
        from transformers import Qwen2ForCausalLM

        torch.manual_seed(SEED)
        torch.set_default_dtype(torch.bfloat16)
        Qwen2ForCausalLM(shapes.transformers_config(shapes.QWEN2[shape])).save_pretrained(path)
        torch.set_default_dtype(torch.float)
    return path


def exported(folder: pathlib.Path, shape: str, bits: int) -> pathlib.Path:
    path = folder / f"qwen2-{shape}-{bits}"
    if not (path / "openvino_model.xml").exists():
        from optimum.intel import OVModelForCausalLM, OVWeightQuantizationConfig

        few = None if bits == 16 else OVWeightQuantizationConfig(bits=bits, sym=True, **({"group_size": 128} if bits == 4 else {}))
        model = OVModelForCausalLM.from_pretrained(weights(folder, shape), export=True, compile=False, load_in_8bit=False, quantization_config=few)
        model.save_pretrained(path)
    return path / "openvino_model.xml"


def only_last_row_to_head(model: ov.Model) -> None:
    """The export multiplies every row of a prompt with the head; whoever asks for the next token needs the last one's."""
    node = model.output("logits").get_node().input_value(0).get_node()
    while node.get_type_name() != "MatMul":
        node = node.input_value(0).get_node()
    rows = node.input_value(0)
    last = opset13.slice(rows, np.array([-1]), np.array([np.iinfo(np.int64).max]), np.array([1]), np.array([1]))
    node.input(0).replace_source_output(last.output(0))
    model.validate_nodes_and_infer_types()


class OpenVino:
    def __init__(self, path: pathlib.Path, threads: int, vocabulary: int) -> None:
        core = ov.Core()
        model = core.read_model(path)
        only_last_row_to_head(model)
        settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
        compiled = core.compile_model(model, "CPU", settings)
        asked = ("INFERENCE_PRECISION_HINT", "KV_CACHE_PRECISION", "DYNAMIC_QUANTIZATION_GROUP_SIZE", "INFERENCE_NUM_THREADS")
        chosen = {name: compiled.get_property(name) for name in asked}
        self.settings = ", ".join(f"{name.lower()} {value.to_string() if isinstance(value, ov.Type) else value}" for name, value in chosen.items())
        self.request = compiled.create_infer_request()
        self.inputs = {name for port in compiled.inputs for name in port.get_names()}
        self.vocabulary = vocabulary
        self.filled, self.context = 0, 0

    def _infer(self, ids: np.ndarray) -> int:
        first, self.context = self.context, self.context + len(ids)
        given = {
            "input_ids": ids[None],
            "attention_mask": np.ones((1, self.context), np.int64),
            "position_ids": np.arange(first, self.context, dtype=np.int64)[None],
            "beam_idx": np.zeros(1, np.int32),
        }
        self.request.infer({name: value for name, value in given.items() if name in self.inputs})
        return int(self.request.get_output_tensor(0).data[0, -1].argmax())

    def _fill(self, tokens: int) -> float:
        self.request.reset_state()
        self.context = 0
        ids = np.arange(tokens, dtype=np.int64) % self.vocabulary
        start = time.perf_counter()
        self._infer(ids)
        self.filled = tokens
        return 1000 * (time.perf_counter() - start)

    def measure(self, what: str, tokens: int, steps: int) -> float:
        if what == "prefill":
            return self._fill(tokens)
        # Its state cannot be cut: decoded tokens stay in the context, until they are more than a sixteenth of it.
        if self.filled != tokens or self.context + steps > tokens + max(tokens // 16, 2 * steps):
            self._fill(tokens)
        token, times = 7, []
        for _ in range(steps):
            start = time.perf_counter()
            token = self._infer(np.array([token], np.int64))
            times.append(1000 * (time.perf_counter() - start))
        return statistics.median(times[1:])


def main() -> None:
    own, further = interleaved.split_words(sys.argv[1:])
    parser = interleaved.peer_options(__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shape", choices=shapes.QWEN2, default="0.5b")
    parser.add_argument("--bits", type=int, choices=[16, 8, 4], default=8)
    parser.add_argument("--winnow-bits", type=int, choices=[16, 8, 4], help="where they are to differ: the fastest against the fastest")
    options = parser.parse_args(own)
    path = exported(options.folder, options.shape, options.bits)
    our_bits = options.winnow_bits or options.bits
    ours_options = ["--model", str(weights(options.folder, options.shape)), *(["--bits", str(our_bits)] if our_bits != 16 else []), *further]
    ours = interleaved.Winnow(options.bench, options.threads, ours_options)
    theirs = OpenVino(path, options.threads, shapes.QWEN2[options.shape].vocabulary)
    version = ov.__version__.split("-")[0]
    title = f"Qwen2 {options.shape}: Winnow in {our_bits} bits ({' '.join(further)}), OpenVINO {version} in {options.bits} bits ({theirs.settings})"
    interleaved.print_table(title, ours, theirs, options)


if __name__ == "__main__":
    main()
