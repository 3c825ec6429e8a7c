"""Published shapes, which the peers' models get with random weights: speed does not depend on what the weights are."""

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


class Hybrid(NamedTuple):
    """Every fourth layer attends, the others keep a state of `state_heads` matrices [state_dim, state_dim]."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    state_heads: int
    state_dim: int
    vocabulary: int


QWEN35 = {"0.8b": Hybrid(24, 1024, 3584, 8, 2, 256, 16, 128, 248320)}
ATTENDS_EVERY = 4
ROTATED = 4  # a quarter of a head
CONVOLUTION = 4
HYBRID_ROPE_THETA = 1e7


def hybrid_config(shape: Hybrid):
    from transformers import Qwen3_5TextConfig

    return Qwen3_5TextConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.intermediate,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        linear_num_key_heads=shape.state_heads,
        linear_num_value_heads=shape.state_heads,
        linear_key_head_dim=shape.state_dim,
        linear_value_head_dim=shape.state_dim,
        linear_conv_kernel_dim=CONVOLUTION,
        max_position_embeddings=MAX_POSITIONS,
        rope_parameters={"rope_type": "default", "rope_theta": HYBRID_ROPE_THETA, "partial_rotary_factor": 1 / ROTATED},
        tie_word_embeddings=True,
    )


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
