"""Published shapes, which the peers' models get with random weights: speed does not depend on what the weights are."""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    vocabulary: int
    tied: bool = True


QWEN2 = {"0.5b": Shape(24, 896, 4864, 14, 2, 151936), "1.5b": Shape(28, 1536, 8960, 12, 2, 151936), "7b": Shape(28, 3584, 18944, 28, 4, 152064, tied=False)}
MAX_POSITIONS = 32768
ROPE_THETA = 1e6


def transformers_config(shape: Shape):
    from transformers import Qwen2Config

    return Qwen2Config(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.intermediate,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=MAX_POSITIONS,
        rope_theta=ROPE_THETA,
        tie_word_embeddings=shape.tied,
    )
