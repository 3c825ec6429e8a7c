"""Copies a GGUF of architecture llama, with biases put into the keys of its first and last layer, in the elements that rotate least.

    python tests/bench/peers/with_key_biases.py SmolLM2-135M-Instruct.Q4_1.gguf biased.gguf [--bias 300] [--pairs 2]

Qwen2 has such biases. The slowest pairs turn so little over a prompt that the softmax hardly notices them: the model answers as before, and
only what a cache in few bits makes of its keys changes. Needs gguf and numpy.
"""

import argparse

import gguf
import numpy as np


def copy_fields(reader, writer):
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), kind, inner)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--bias", type=float, default=300.0)
    parser.add_argument("--pairs", type=int, default=2, help="rotary pairs of each head that get it")
    options = parser.parse_args()

    reader = gguf.GGUFReader(options.source)
    architecture = reader.fields["general.architecture"].contents()

    def number(name):
        return reader.fields[f"{architecture}.{name}"].contents()

    layers, heads, kv_heads = number("block_count"), number("attention.head_count"), number("attention.head_count_kv")
    head_size = number("embedding_length") // heads
    writer = gguf.GGUFWriter(options.target, architecture)
    copy_fields(reader, writer)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    for layer in range(layers):
        keys = np.zeros((kv_heads, head_size), dtype=np.float32)
        if layer in (0, layers - 1):
            keys[:, head_size - 2 * options.pairs :] = options.bias  # pairs lie side by side in such files, the slowest last
        biases = {"q": np.zeros(heads * head_size, dtype=np.float32), "k": keys.reshape(-1), "v": np.zeros(kv_heads * head_size, dtype=np.float32)}
        for name, bias in biases.items():
            writer.add_tensor(f"blk.{layer}.attn_{name}.bias", bias)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
