"""Golden blocks of every GGUF type with their values, and a small GGUF file. Writes tests/golden/gguf/.

    python tests/golden/make/make_gguf_goldens.py

Needs gguf, numpy, safetensors (versions: manifest.json). blocks.safetensors: for each type "<type>.blocks", random bytes whose scales are
replaced so that every kind of number occurs in them, and "<type>.values", what gguf.quants.dequantize makes of them. every_type.gguf: written
by GGUFWriter, a tensor of each type (rows of two of those blocks) and metadata of every kind; its tensors' values are the first of the former.
"""

import json
import pathlib
import warnings

import gguf
import numpy as np
import safetensors
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFValueType
from safetensors.numpy import save_file

warnings.filterwarnings("ignore")  # NaN and infinity times zero
OUT = pathlib.Path(__file__).resolve().parent.parent / "gguf"
SEED = 41
# Where a block's 16-bit scales lie.
SCALES = {"F16": [0], "BF16": [0], "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0]}
ORDINARY = [0x1234, 0x9876, 0x2C01]  # 0.00076, -0.0021, 0.0625
HALVES = [0x0000, 0x8000, 0xB555, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00]  # zeros, -0.33, subnormal twice, least normal, largest, infinities


def random_blocks(name, generator):
    count = 32 if GGML_QUANT_SIZES[GGMLQuantizationType[name]][0] == 1 else len(ORDINARY) + len(HALVES) + 2
    size = GGML_QUANT_SIZES[GGMLQuantizationType[name]][1]
    blocks = generator.integers(0, 256, (count, size), dtype=np.uint8)
    blocks[-2] = 0xFF
    blocks[-1] = 0xFF
    halves = ORDINARY + HALVES + [0xFFFF, 0x3C00]  # all ones: a NaN, then under a scale of one
    for at in SCALES.get(name, []):
        for block, half in enumerate(halves[:count]):
            blocks[block, at:at + 2] = np.frombuffer(np.uint16(half).tobytes(), dtype=np.uint8)
    if name == "F32":
        words = [0, 0x80000000, 1, 0x007FFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0xFFFFFFFF, 0x3F800000]
        blocks[:len(words)] = np.array(words, dtype=np.uint32).view(np.uint8).reshape(-1, 4)
    return blocks


def values_of(name, blocks):
    return np.ascontiguousarray(gguf.quants.dequantize(blocks.reshape(1, -1), GGMLQuantizationType[name])).astype(np.float32).reshape(-1)


def write_small_file(path, blocks):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("every type")
    writer.add_uint8("test.u8", 200)
    writer.add_int8("test.i8", -100)
    writer.add_uint16("test.u16", 60_000)
    writer.add_int16("test.i16", -30_000)
    writer.add_uint32("test.u32", 4_000_000_000)
    writer.add_int32("test.i32", -2_000_000_000)
    writer.add_uint64("test.u64", 2**63 + 1)
    writer.add_int64("test.i64", -(2**62))
    writer.add_float32("test.f32", 0.5)
    writer.add_float64("test.f64", -1e-6)
    writer.add_bool("test.yes", True)
    writer.add_bool("test.no", False)
    writer.add_string("test.text", "zwei W\u00f6rter")
    writer.add_array("test.strings", ["<s>", "", "\u0120a"])
    writer.add_array("test.integers", [3, -4, 5])
    writer.add_array("test.reals", [0.25, -8.0])
    writer.add_key_value("test.bytes", [1, 2, 255], GGUFValueType.ARRAY, GGUFValueType.UINT8)
    for name, stored in blocks.items():
        kind = GGMLQuantizationType[name]
        data = stored[:4].reshape(2, -1)  # two rows of two blocks
        writer.add_tensor(f"blk.0.{name.lower()}.weight", data, raw_shape=data.shape, raw_dtype=kind)
    writer.add_tensor("scalar", np.array([7], dtype=np.int32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    generator = np.random.default_rng(SEED)
    OUT.mkdir(exist_ok=True)
    names = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"]
    blocks = {name: random_blocks(name, generator) for name in names}
    tensors = {}
    for name in names:
        tensors[f"{name}.blocks"] = blocks[name]
        tensors[f"{name}.values"] = values_of(name, blocks[name])
    save_file(tensors, OUT / "blocks.safetensors")
    write_small_file(OUT / "every_type.gguf", blocks)
    manifest = {
        "what": "blocks of every GGUF type and their values (gguf.quants.dequantize), and a GGUF file that GGUFWriter wrote",
        "source": {"gguf": "0.19.0", "numpy": np.__version__, "safetensors": safetensors.__version__},
        "script": "tests/golden/make/make_gguf_goldens.py",
        "seed": SEED,
        "types": {name: {"blocks": list(blocks[name].shape), "values": list(tensors[f"{name}.values"].shape)} for name in names},
        "tolerance": "none: values are equal bit for bit; a NaN stands for any NaN",
        "licence": "Apache-2.0; random bytes",
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


main()
