#!/usr/bin/env python3
"""Writes tests/golden/quantised: tiny random language models in the layouts of folders that are quantised already.

    python tests/golden/make/make_quantised_golden.py PACKAGES

PACKAGES holds what others quantise with, unpacked and not installed (their CUDA parts are not needed):

    pip download --no-deps autoawq==0.2.9 auto-gptq==0.7.1          (unpack both)
    pip install --no-deps --target PACKAGES compressed-tensors==0.20.0 pydantic pydantic-core annotated-types typing-inspection loguru psutil

Scales and zero points are chosen here, from the smallest and the largest of a group; codes are packed by AutoAWQ's WQLinear_GEMM, AutoGPTQ's
QuantLinear and compressed-tensors' compressors, and turned back into numbers by the same packages, in fp32. transformers runs the model of
those numbers: golden.safetensors holds ids [n], logits [n, vocabulary] of the whole prompt and 64 greedy tokens. Lists of groups for
compressed-tensors (actorder "group", which 0.20.0 no longer writes) are put together here as its earlier versions did: codes in the inputs'
order, their groups beside them. Needs torch, transformers, safetensors (versions: manifest.json).
"""

import importlib
import json
import pathlib
import shutil
import sys
import types

import torch
import transformers
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
OUT = pathlib.Path(__file__).resolve().parents[1] / "quantised"
SEED = 5
GREEDY_TOKENS = 64
ROWS = 24
VOCABULARY = 96
SMALL = dict(vocab_size=VOCABULARY, hidden_size=64, intermediate_size=128, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=256, bos_token_id=None, eos_token_id=None, pad_token_id=None)
# Inputs whose groups are told by a list have the same list in matrices of the same input, but for q, whose own shows that it may differ.
SHARED = {"k_proj": "qkv", "v_proj": "qkv", "gate_proj": "mlp", "up_proj": "mlp"}

FOLDERS = {
    "awq": dict(covers="AWQ, groups of 32, zero points, down_proj as numbers", method="awq", bits=4, group=32, symmetric=False,
                plain=["down_proj"], family="qwen2"),
    "awq_middle": dict(covers="AWQ, groups of 64, no zero points", method="awq", bits=4, group=64, symmetric=True, family="llama"),
    "gptq": dict(covers="GPTQ, 4 bits, symmetric, groups of 32, zero points less one", method="gptq", bits=4, group=32, symmetric=True, family="llama"),
    "gptq_ordered": dict(covers="GPTQ, 4 bits, asymmetric, desc_act, q in another order than k and v", method="gptq", bits=4, group=32,
                         symmetric=False, ordered=True, family="qwen2"),
    "gptq_v2": dict(covers="GPTQ, 8 bits, asymmetric, groups of 64, gptq_v2", method="gptq", bits=8, group=64, symmetric=False, v2=True,
                    family="llama"),
    "gptq_rows": dict(covers="GPTQ, 8 bits, symmetric, one scale for a row", method="gptq", bits=8, group=-1, symmetric=True, family="llama"),
    "packed": dict(covers="pack-quantized, 4 bits, symmetric, groups of 32, scales in bf16, k_proj ignored", method="compressed-tensors",
                   format="pack-quantized", bits=4, group=32, symmetric=True, plain=["k_proj"], scale=torch.bfloat16, family="llama"),
    "packed_ordered": dict(covers="pack-quantized, 4 bits, asymmetric, groups by a list", method="compressed-tensors", format="pack-quantized",
                           bits=4, group=32, symmetric=False, ordered=True, family="qwen2"),
    "packed_rows": dict(covers="pack-quantized, 8 bits, asymmetric, one scale for a row, the head too", method="compressed-tensors",
                        format="pack-quantized", bits=8, group=-1, symmetric=False, head=True, family="llama"),
    "bytes": dict(covers="int-quantized, 8 bits, symmetric, one scale for a row, activations quantised as well", method="compressed-tensors",
                  format="int-quantized", bits=8, group=-1, symmetric=True, family="llama"),
}


def without_initialisation(root: pathlib.Path, names) -> None:
    """Packages of which single files are imported: what their __init__ needs is not there."""
    for name in names:
        module = types.ModuleType(name)
        module.__path__ = [str(root.joinpath(*name.split(".")))]
        sys.modules[name] = module


def packers(root: pathlib.Path):
    without_initialisation(next(root.rglob("awq/modules")).parents[1], ["awq", "awq.modules", "awq.modules.linear", "awq.utils"])
    without_initialisation(next(root.rglob("auto_gptq/nn_modules")).parents[1], ["auto_gptq", "auto_gptq.nn_modules", "auto_gptq.nn_modules.qlinear"])
    sys.modules["accelerate"] = types.ModuleType("accelerate")
    awq = importlib.import_module("awq.modules.linear.gemm").WQLinear_GEMM
    unpacked = importlib.import_module("awq.utils.packing_utils").dequantize_gemm
    gptq = importlib.import_module("auto_gptq.nn_modules.qlinear.qlinear_cuda").QuantLinear
    del sys.modules["accelerate"]
    sys.path.insert(0, str(next(root.rglob("compressed_tensors/__init__.py")).parents[1]))
    return awq, unpacked, gptq


def group_list(name: str, inputs: int, group: int) -> torch.Tensor:
    order = torch.randperm(inputs, generator=torch.Generator().manual_seed(len(SHARED.get(name, name)) + inputs))
    groups = torch.empty(inputs, dtype=torch.int32)
    groups[order] = torch.arange(inputs, dtype=torch.int32) // group
    return groups


class Chosen:
    """Scales [out, groups] and zero points (codes without a sign) of a matrix, and the numbers that they make of it."""

    def __init__(self, weight: torch.Tensor, groups: torch.Tensor, settings: dict):
        bits, count = settings["bits"], int(groups.max()) + 1
        most, middle = 2**bits - 1, 2 ** (bits - 1)
        grouped = torch.stack([weight[:, groups == group] for group in range(count)], dim=1)
        low, high = grouped.amin(2).clamp(max=0), grouped.amax(2).clamp(min=0)
        scales = torch.maximum(-low, high) / (middle - 1) if settings["symmetric"] else (high - low) / most
        self.scales = scales.to(settings.get("scale", torch.float16)).float()
        # Not below 1: what is written less one would have no code.
        self.zeros = torch.full_like(scales, middle) if settings["symmetric"] else torch.round(-low / self.scales).clamp(1, most)
        step, zero = self.scales[:, groups.long()], self.zeros[:, groups.long()]
        self.codes = (torch.round(weight / step) + zero).clamp(0, most)
        self.numbers = (self.codes - zero) * step


def as_linear(numbers: torch.Tensor) -> torch.nn.Linear:
    linear = torch.nn.Linear(numbers.shape[1], numbers.shape[0], bias=False)
    linear.weight.data = numbers
    return linear


def of_awq(chosen: Chosen, settings: dict, packer, unpacked):
    scales, zeros = chosen.scales.t().contiguous(), chosen.zeros.t().contiguous()
    packed = packer.from_linear(as_linear(chosen.numbers), 4, settings["group"], scales=scales, zeros=zeros)
    numbers = unpacked(packed.qweight, packed.qzeros, packed.scales.float(), 4, settings["group"]).t()
    parts = {"qweight": packed.qweight, "qzeros": packed.qzeros, "scales": packed.scales}
    if settings["symmetric"]:
        del parts["qzeros"]
    return parts, numbers


def of_gptq(chosen: Chosen, groups: torch.Tensor, settings: dict, packer):
    out, inputs = chosen.numbers.shape
    packed = packer(settings["bits"], settings["group"], inputs, out, bias=False, weight_dtype=torch.float32)
    packed.pack(as_linear(chosen.numbers), chosen.scales.clone(), chosen.zeros.clone(), groups)
    numbers = packed(torch.eye(inputs)).t()
    zeros = packed.qzeros.clone()
    if settings.get("v2"):
        zeros += 0x11111111 if settings["bits"] == 4 else 0x01010101
    return {"qweight": packed.qweight, "qzeros": zeros, "scales": packed.scales.half(), "g_idx": groups}, numbers


def of_compressed_tensors(chosen: Chosen, groups: torch.Tensor, settings: dict):
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    whole = settings["group"] == -1
    scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(
        num_bits=settings["bits"], symmetric=settings["symmetric"], strategy="channel" if whole else "group",
        group_size=None if whole else settings["group"]))
    compressor = BaseCompressor.get_value_from_registry(settings["format"])
    order = torch.argsort(groups, stable=True)
    state = {"weight": chosen.numbers[:, order].contiguous(), "weight_scale": chosen.scales}
    if not settings["symmetric"]:
        state["weight_zero_point"] = (chosen.zeros - 2 ** (settings["bits"] - 1)).to(torch.int8)
    parts = compressor.compress(state, scheme)
    numbers = compressor.decompress(parts, scheme)["weight"][:, torch.argsort(order)]
    if settings.get("ordered"):
        codes = (chosen.codes - 2 ** (settings["bits"] - 1)).to(torch.int8)
        parts["weight_packed"] = pack_to_int32(codes, settings["bits"])
        parts["weight_g_idx"] = groups
    parts["weight_scale"] = chosen.scales.to(settings.get("scale", torch.float16))
    return parts, numbers


def config_of(settings: dict) -> dict:
    plain = settings.get("plain", [])
    if settings["method"] == "awq":
        return {"quant_method": "awq", "bits": 4, "group_size": settings["group"], "zero_point": not settings["symmetric"], "version": "gemm",
                "modules_to_not_convert": plain or None}
    if settings["method"] == "gptq":
        return {"quant_method": "gptq", "bits": settings["bits"], "group_size": settings["group"], "sym": settings["symmetric"],
                "desc_act": settings.get("ordered", False), "damp_percent": 0.1, "true_sequential": True,
                "checkpoint_format": "gptq_v2" if settings.get("v2") else "gptq"}
    whole, eight = settings["group"] == -1, settings["format"] == "int-quantized"
    weights = {"num_bits": settings["bits"], "type": "int", "symmetric": settings["symmetric"], "strategy": "channel" if whole else "group",
               "group_size": None if whole else settings["group"], "dynamic": False, "actorder": "group" if settings.get("ordered") else None,
               "observer": "minmax", "block_structure": None, "observer_kwargs": {}}
    activations = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "token", "dynamic": True} if eight else None
    return {"quant_method": "compressed-tensors", "format": settings["format"], "quantization_status": "compressed",
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": activations, "output_activations": None}},
            "ignore": plain if settings.get("head") else ["lm_head", *plain], "kv_cache_scheme": None}


def make(name: str, settings: dict, seed: int, tools) -> None:
    torch.manual_seed(seed)
    config_class, model_class = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen2": (Qwen2Config, Qwen2ForCausalLM)}[settings["family"]]
    model = model_class(config_class(**SMALL, tie_word_embeddings=not settings.get("head", False))).eval()
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.05)
        parameter.data = parameter.data.half().float()  # what is no code is stored in 16 bits
    stored, awq, unpacked, gptq = {}, *tools
    for module_name, module in model.named_modules():
        short = module_name.split(".")[-1]
        quantised = isinstance(module, torch.nn.Linear) and short not in settings.get("plain", []) and (short != "lm_head" or settings.get("head"))
        if not quantised:
            continue
        inputs = module.weight.shape[1]
        group = inputs if settings["group"] == -1 else settings["group"]
        groups = group_list(short, inputs, group) if settings.get("ordered") else (torch.arange(inputs) // group).to(torch.int32)
        chosen = Chosen(module.weight.data, groups, settings)
        if settings["method"] == "awq":
            parts, numbers = of_awq(chosen, settings, awq, unpacked)
        elif settings["method"] == "gptq":
            parts, numbers = of_gptq(chosen, groups, settings, gptq)
        else:
            parts, numbers = of_compressed_tensors(chosen, groups, settings)
        assert (numbers - chosen.numbers).abs().max() <= 1e-6 * numbers.abs().max(), (name, module_name)
        module.weight.data = numbers.float().contiguous()
        stored |= {f"{module_name}.{part}": tensor.contiguous() for part, tensor in parts.items()}
    packed = {key.rsplit(".", 1)[0] for key in stored}
    for key, tensor in model.state_dict().items():
        tied = key == "lm_head.weight" and model.config.tie_word_embeddings
        if not tied and not (key.endswith(".weight") and key.removesuffix(".weight") in packed):
            stored[key] = tensor.half().contiguous()
    folder = OUT / name
    folder.mkdir(parents=True)
    config = json.loads(model.config.to_json_string()) | {"architectures": [model_class.__name__], "dtype": "float16",
                                                          "quantization_config": config_of(settings)}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
    ids = torch.randint(0, VOCABULARY, (1, ROWS))
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        logits = model(ids).logits[0]
        greedy = model.generate(ids, max_new_tokens=GREEDY_TOKENS, do_sample=False, use_cache=False)[0, ids.shape[1]:]
    save_file({"ids": ids[0], "logits": logits.contiguous(), "greedy": greedy.contiguous()}, folder / "golden.safetensors")


def main() -> None:
    tools = packers(pathlib.Path(sys.argv[1]))
    import compressed_tensors
    shutil.rmtree(OUT, ignore_errors=True)
    for number, (name, settings) in enumerate(FOLDERS.items()):
        make(name, settings, SEED + number, tools)
    manifest = {
        "what": "logits of a prompt and 64 greedy tokens of tiny random language models whose folders are quantised",
        "reference": f"transformers {transformers.__version__}, fp32, eager attention, greedy without a cache, on the packages' own dequantised numbers",
        "script": "tests/golden/make/make_quantised_golden.py",
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__, "autoawq": "0.2.9", "auto-gptq": "0.7.1",
                     "compressed-tensors": compressed_tensors.__version__},
        "seed": f"{SEED} + number of the folder",
        "folders": {name: settings["covers"] for name, settings in FOLDERS.items()},
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
