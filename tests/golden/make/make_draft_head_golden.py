#!/usr/bin/env python3
"""Writes tests/golden/draft_head: a random draft head (multi-token prediction) for some tiny folders, and what it computes, by formulas in numpy.

    python tests/golden/make/make_draft_head_golden.py

transformers has no draft heads. Formulas: vLLM's Qwen3NextMultiTokenPredictor and Glm4MoeMultiTokenPredictor, with hidden states from before the
last norm; in fp64, of one row after the other. head.safetensors: the head's tensors as a folder has them; golden.safetensors: "hidden" [n, hidden],
"ids" int64 [n] of the tokens after them, from position FIRST on, "logits" [n, vocabulary], and
"left" [n, hidden], the rows before its norm. model.gguf of qwen3_next: its folder's GGUF file
(recurrent_text) with the head as llama.cpp's converter names it. Needs numpy, safetensors, gguf (versions: manifest.json).
"""

import json
import pathlib
import struct

import gguf
import numpy as np
import safetensors
from safetensors.numpy import save_file

GOLDEN = pathlib.Path(__file__).resolve().parents[1]
OUT = GOLDEN / "draft_head"
ROWS, FIRST = 12, 5
# Folder, and its layer whose shapes the head's layer has.
FOLDERS = {"qwen3_5": ("recurrent_text/qwen3_5", 1), "qwen3_next": ("recurrent_text/qwen3_next", 2), "glm4_moe": ("glm_text/glm4_moe", 2)}
QWEN = {"embedding": "mtp.pre_fc_norm_embedding", "hidden": "mtp.pre_fc_norm_hidden", "joined": "mtp.fc", "norm": "mtp.norm", "layer": "mtp.layers.0."}
GLM = {"embedding": "enorm", "hidden": "hnorm", "joined": "eh_proj", "norm": "shared_head.norm", "layer": ""}
NEXTN = {"embedding": "enorm", "hidden": "hnorm", "joined": "eh_proj", "norm": "shared_head_norm"}
# Those of a layer that attends in llama.cpp's files.
GGUF_LAYER = {"input_layernorm": "attn_norm", "post_attention_layernorm": "post_attention_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
              "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
              "mlp.gate": "ffn_gate_inp", "mlp.shared_expert_gate": "ffn_gate_inp_shexp", "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
              "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp"}


def stored(folder):
    """Tensors of a folder in fp64, and the names without what only a whole model's folder has."""
    data = (folder / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, about in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        first, end = (8 + size + offset for offset in about["data_offsets"])
        if about["dtype"] == "BF16":
            values = (np.frombuffer(data[first:end], dtype="<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(data[first:end], dtype="<f4")
        tensors[name.replace("model.language_model.", "model.")] = values.reshape(about["shape"]).astype(np.float64)
    return tensors


def head_of(tensors, layer, names, centred, generator):
    """Random tensors, the layer's of the shapes of the model's own."""
    prefix = f"model.layers.{layer}."
    shapes = {names["layer"] + name.removeprefix(prefix): value.shape for name, value in tensors.items() if name.startswith(prefix)}
    hidden = tensors["model.embed_tokens.weight"].shape[1]
    shapes |= {names[part] + ".weight": (hidden,) for part in ("embedding", "hidden", "norm")} | {names["joined"] + ".weight": (hidden, 2 * hidden)}
    head = {}
    for name, shape in sorted(shapes.items()):
        if len(shape) > 1:
            values = 1.2 * generator.standard_normal(shape) / np.sqrt(shape[-1])
        else:
            middle = 0 if centred or name.endswith("bias") else 1
            values = middle + 0.2 * generator.standard_normal(shape)
        head[name] = values.astype(np.float32)
    return head


class Head:
    def __init__(self, config, tensors, head, names):
        self.config, self.names = config, names
        self.head = {name: value.astype(np.float64) for name, value in head.items()}
        self.embedding = tensors["model.embed_tokens.weight"]
        self.output = self.embedding if config["tie_word_embeddings"] else tensors["lm_head.weight"]
        self.glm = config["model_type"] == "glm4_moe"
        self.keys, self.values = [], []

    def own(self, name):
        return self.head[self.names["layer"] + name]

    def rms(self, x, weight):
        weight = weight if self.glm else 1 + weight
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.config["rms_norm_eps"]) * weight

    def linear(self, x, name):
        bias = self.head.get(self.names["layer"] + name + ".bias", 0)
        return self.own(name + ".weight") @ x + bias

    def rotated(self, heads, position):
        rope = self.config["rope_parameters"]
        turned = int(heads.shape[-1] * rope["partial_rotary_factor"])
        angles = position * rope["rope_theta"] ** (-np.arange(0, turned, 2) / turned)
        one, two, rest = heads[:, :turned // 2], heads[:, turned // 2:turned], heads[:, turned:]
        cosine, sine = np.cos(angles), np.sin(angles)
        return np.concatenate([one * cosine - two * sine, two * cosine + one * sine, rest], -1)

    def attention(self, x, position):
        heads, kv_heads, size = (self.config[key] for key in ("num_attention_heads", "num_key_value_heads", "head_dim"))
        query, gate = self.linear(x, "self_attn.q_proj").reshape(heads, -1), None
        if not self.glm:
            query, gate = query[:, :size], query[:, size:]
        key = self.linear(x, "self_attn.k_proj").reshape(kv_heads, size)
        query, key = self.rms(query, self.own("self_attn.q_norm.weight")), self.rms(key, self.own("self_attn.k_norm.weight"))
        self.keys.append(self.rotated(key, position))
        self.values.append(self.linear(x, "self_attn.v_proj").reshape(kv_heads, size))
        query = self.rotated(query, position)
        out = np.zeros((heads, size))
        for head in range(heads):
            shared = head // (heads // kv_heads)
            scores = np.array([query[head] @ key[shared] for key in self.keys]) / np.sqrt(size)
            weights = np.exp(scores - scores.max())
            out[head] = (weights / weights.sum()) @ np.array([value[shared] for value in self.values])
        if gate is not None:
            out *= 1 / (1 + np.exp(-gate))
        return self.own("self_attn.o_proj.weight") @ out.reshape(-1)

    def gated(self, x, prefix):
        gate = self.own(prefix + "gate_proj.weight") @ x
        return self.own(prefix + "down_proj.weight") @ (gate / (1 + np.exp(-gate)) * (self.own(prefix + "up_proj.weight") @ x))

    def mlp(self, x):
        if self.names["layer"] + "mlp.gate.weight" not in self.head:
            return self.gated(x, "mlp.")
        logits = self.own("mlp.gate.weight") @ x
        if self.glm:  # in one group
            scores = 1 / (1 + np.exp(-logits))
            chosen = np.argsort(-(scores + self.own("mlp.gate.e_score_correction_bias")))[:self.config["num_experts_per_tok"]]
            factor, shared = self.config["routed_scaling_factor"], self.gated(x, "mlp.shared_experts.")
        else:
            scores = np.exp(logits - logits.max())
            chosen, factor = np.argsort(-scores)[:self.config["num_experts_per_tok"]], 1
            shared = self.gated(x, "mlp.shared_expert.") / (1 + np.exp(-self.own("mlp.shared_expert_gate.weight") @ x))
        return shared + factor * sum(scores[expert] / scores[chosen].sum() * self.gated(x, f"mlp.experts.{expert}.") for expert in chosen)

    def logits(self, hidden, token, position):
        """Of what follows `token`, which follows the token that left `hidden` at `position`; and what the head has for a hidden state of `token`."""
        parts = [self.rms(self.embedding[token], self.head[self.names["embedding"] + ".weight"]), self.rms(hidden, self.head[self.names["hidden"] + ".weight"])]
        x = self.head[self.names["joined"] + ".weight"] @ np.concatenate(parts)
        x = x + self.attention(self.rms(x, self.own("input_layernorm.weight")), position)
        x = x + self.mlp(self.rms(x, self.own("post_attention_layernorm.weight")))
        return self.output @ self.rms(x, self.head[self.names["norm"] + ".weight"]), x


def write_gguf(source, head, layer, path):
    """The file, with a layer more, which guesses. Norms are stored with their one."""
    reader = gguf.GGUFReader(source)
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(path, architecture)
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        more = 1 if name == f"{architecture}.block_count" else 0
        sub_type = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents() + more if more else field.contents(), field.types[0], sub_type=sub_type)
    writer.add_uint32(f"{architecture}.nextn_predict_layers", 1)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    experts = {}
    for name, value in head.items():
        norm = name.endswith("norm.weight") or "pre_fc_norm" in name
        value = value + np.float32(1) if norm else value
        product = name.removesuffix(".weight")
        if ".experts." in name:
            number, matrix = name.split(".experts.")[1].split(".")[:2]
            experts.setdefault(matrix.removesuffix("_proj"), {})[int(number)] = value
            continue
        part = next((NEXTN[part] for part, own in QWEN.items() if own == product), None)
        writer.add_tensor(f"blk.{layer}." + (f"nextn.{part}" if part else GGUF_LAYER[product.removeprefix(QWEN["layer"])]) + ".weight", value)
    for matrix, each in experts.items():
        writer.add_tensor(f"blk.{layer}.ffn_{matrix}_exps.weight", np.stack([each[number] for number in sorted(each)]))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    covers = {}
    for seed, (name, (folder, layer)) in enumerate(FOLDERS.items()):
        generator = np.random.default_rng(seed)
        config = json.loads((GOLDEN / folder / "config.json").read_text())
        tensors = stored(GOLDEN / folder)
        names = QWEN
        if name.startswith("glm"):
            behind = f"model.layers.{config['num_hidden_layers']}."
            names = {part: behind + own for part, own in GLM.items()}
        head = head_of(tensors, layer, names, not name.startswith("glm"), generator)
        vocabulary, width = tensors["model.embed_tokens.weight"].shape
        hidden = generator.standard_normal((ROWS, width)).astype(np.float32)
        ids = generator.integers(0, vocabulary, ROWS)
        run = Head(config, tensors, head, names)
        logits, left = (np.stack(each) for each in zip(*(run.logits(hidden[i].astype(np.float64), ids[i], FIRST + i) for i in range(ROWS))))
        (OUT / name).mkdir(parents=True, exist_ok=True)
        save_file(head, OUT / name / "head.safetensors")
        save_file({"hidden": hidden, "ids": ids.astype(np.int64), "logits": logits.astype(np.float32), "left": left.astype(np.float32)}, OUT / name / "golden.safetensors")
        covers[name] = f"for {folder}, its layer as the model's layer {layer}"
        if name == "qwen3_next":
            write_gguf(GOLDEN / folder / "gguf" / "model.gguf", head, config["num_hidden_layers"], OUT / name / "model.gguf")
    versions = {"numpy": np.__version__, "safetensors": safetensors.__version__, "gguf": "0.19.0"}
    manifest = {"what": "random draft heads and their logits", "reference": "formulas in numpy, fp64", "script": "tests/golden/make/make_draft_head_golden.py",
                "versions": versions, "rows": ROWS, "first_position": FIRST, "configurations": covers,
                "tolerance": "1e-5 of the largest logit: sums in fp32", "licence": "Apache-2.0; random numbers"}
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


main()
