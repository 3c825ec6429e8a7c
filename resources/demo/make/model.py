"""The demo model in plain torch: a SigLIP-shaped tower, a two-layer projector and a Qwen2-shaped decoder.

Parameters carry the names of a Hugging Face LLaVA-OneVision checkpoint, except that the decoder keeps q, k, v and gate, up
fused for speed; `export.py` splits them. The decoder runs a visual prefix once and any number of question rows on top of it:
each row attends to the prefix and to itself only, which is exactly what one question sees at inference.
"""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class TowerConfig:
    image_size: int = 96
    patch_size: int = 16
    hidden_size: int = 128
    intermediate_size: int = 512
    layers: int = 4
    heads: int = 4
    eps: float = 1e-6

    @property
    def grid(self) -> int:
        return self.image_size // self.patch_size

    @property
    def tokens(self) -> int:
        return self.grid**2

    @property
    def pooled_grid(self) -> int:
        return (self.grid + 1) // 2

    @property
    def pooled_tokens(self) -> int:
        return self.pooled_grid**2


@dataclass(frozen=True)
class DecoderConfig:
    vocabulary: int = 1024
    hidden_size: int = 256
    intermediate_size: int = 640
    layers: int = 8
    heads: int = 8
    kv_heads: int = 4
    rope_theta: float = 1e6
    eps: float = 1e-6

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.heads


class TowerAttention(nn.Module):
    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.heads = config.heads
        self.q_proj, self.k_proj = nn.Linear(size, size), nn.Linear(size, size)
        self.v_proj, self.out_proj = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, x: Tensor) -> Tensor:  # [B, T, hidden]
        def split(y: Tensor) -> Tensor:
            return y.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        q, k, v = split(self.q_proj(x)), split(self.k_proj(x)), split(self.v_proj(x))
        weights = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2))


class TowerMlp(nn.Module):
    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.fc1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))


class TowerLayer(nn.Module):
    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.layer_norm1 = nn.LayerNorm(config.hidden_size, eps=config.eps)
        self.self_attn = TowerAttention(config)
        self.layer_norm2 = nn.LayerNorm(config.hidden_size, eps=config.eps)
        self.mlp = TowerMlp(config)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.self_attn(self.layer_norm1(x))
        return x + self.mlp(self.layer_norm2(x))


class Tower(nn.Module):
    """Pixels to the last layer's hidden states (no final norm: `vision_feature_layer` -1)."""

    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.config = config
        self.patch_embedding = nn.Conv2d(3, config.hidden_size, config.patch_size, config.patch_size)
        self.position_embedding = nn.Embedding(config.tokens, config.hidden_size)
        self.layers = nn.ModuleList(TowerLayer(config) for _ in range(config.layers))
        nn.init.normal_(self.position_embedding.weight, std=0.2)

    def forward(self, frames: Tensor) -> Tensor:  # uint8 [B, side, side, 3] -> [B, tokens, hidden]
        pixels = frames.permute(0, 3, 1, 2).float() / 127.5 - 1.0
        x = self.patch_embedding(pixels).flatten(2).transpose(1, 2) + self.position_embedding.weight
        for layer in self.layers:
            x = layer(x)
        return x


def pool_index(config: TowerConfig) -> Tensor:
    """The four tower tokens behind each pooled token. int64 [pooled_tokens, 4]

    Halving an even grid bilinearly, as transformers' LLaVA-OneVision does with video frames, is the mean of 2 x 2 tokens.
    """
    grid, half = config.grid, config.pooled_grid
    rows, columns = torch.meshgrid(torch.arange(half), torch.arange(half), indexing="ij")
    corner = (rows * 2 * grid + columns * 2).flatten()
    return corner[:, None] + torch.tensor([0, 1, grid, grid + 1])


class Linear(nn.Linear):
    """A linear layer that computes in the input's type; the parameters stay float32."""

    def forward(self, x: Tensor) -> Tensor:
        bias = None if self.bias is None else self.bias.to(x.dtype)
        return F.linear(x, self.weight.to(x.dtype), bias)


class RmsNorm(nn.Module):
    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return (wide * scale).to(x.dtype) * self.weight.to(x.dtype)


class Projector(nn.Module):
    def __init__(self, tower: TowerConfig, decoder: DecoderConfig) -> None:
        super().__init__()
        self.linear_1 = Linear(tower.hidden_size, decoder.hidden_size)
        self.linear_2 = Linear(decoder.hidden_size, decoder.hidden_size)
        with torch.no_grad():
            self.linear_2.weight.mul_(0.15)  # visual tokens begin about as large as text tokens

    def forward(self, features: Tensor) -> Tensor:  # [..., tower hidden] -> [..., decoder hidden]
        return self.linear_2(F.gelu(self.linear_1(features)))

    def pooled(self, features: Tensor) -> Tensor:
        """[..., 4, tower hidden] -> [..., decoder hidden]; the mean commutes with the second linear layer."""
        return self.linear_2(F.gelu(self.linear_1(features)).mean(-2))


@dataclass
class Rows:
    """`count` question rows per video, all of one padded length, on top of the video's prefix."""

    ids: Tensor  # int64 [B, count, length]
    positions: Tensor  # int64 [B, count, length]


@dataclass
class Batch:
    """One training batch: prefixes are left-aligned and padded at the end."""

    prefix_ids: Tensor  # int64 [B, P], 0 where a visual token stands
    prefix_positions: Tensor  # int64 [B, P]
    prefix_length: Tensor  # int64 [B]
    visual_slots: Tensor  # bool [B, P]
    visual_features: Tensor  # [visual slots of the batch, 4, tower hidden], one row per slot in order
    newline_slots: Tensor  # bool [B, P]
    rows: list[Rows]


@dataclass
class Trace:
    """What auxiliary losses look at: prefix states after chosen layers, attention of chosen heads from rows to prefix."""

    prefix_states: dict[int, Tensor] = field(default_factory=dict)  # layer -> [B, P, hidden]
    row_states: dict[int, list[Tensor]] = field(default_factory=dict)  # layer -> per row group [B, count, length, hidden]
    attention: dict[int, list[Tensor]] = field(default_factory=dict)  # layer -> [B, kv, count, length, group, P]
    prefix_attention: dict[int, Tensor] = field(default_factory=dict)  # layer -> [B, kv, P, group, P]


def rotary_tables(config: DecoderConfig, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    frequencies = config.rope_theta ** (-torch.arange(0, config.head_size, 2).float() / config.head_size)
    angles = positions.float()[..., None] * torch.cat([frequencies, frequencies])
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:  # [T, heads, head_size], [T, head_size]
    low, high = x.chunk(2, dim=-1)
    return x * cos[:, None] + torch.cat([-high, low], dim=-1) * sin[:, None]


class DecoderLayer(nn.Module):
    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.sizes = [config.hidden_size, config.kv_heads * config.head_size, config.kv_heads * config.head_size]
        self.input_layernorm = RmsNorm(config.hidden_size, config.eps)
        self.qkv_proj = Linear(config.hidden_size, sum(self.sizes))
        self.o_proj = Linear(config.hidden_size, config.hidden_size, bias=False)
        self.post_attention_layernorm = RmsNorm(config.hidden_size, config.eps)
        self.gate_up_proj = Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down_proj = Linear(config.intermediate_size, config.hidden_size, bias=False)

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [T, hidden] -> q [T, kv, group, size], k [T, kv, size], v [T, kv, size]"""
        size, kv = self.config.head_size, self.config.kv_heads
        q, k, v = self.qkv_proj(self.input_layernorm(x)).split(self.sizes, dim=-1)
        q = rotate(q.unflatten(-1, (-1, size)), cos, sin) * size**-0.5
        k = rotate(k.unflatten(-1, (-1, size)), cos, sin)
        return q.unflatten(1, (kv, -1)), k, v.unflatten(-1, (-1, size))

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        x = x + self.o_proj(attended)
        gate, up = self.gate_up_proj(self.post_attention_layernorm(x)).chunk(2, dim=-1)
        return x + self.down_proj(F.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocabulary, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.layers))
        self.norm = RmsNorm(config.hidden_size, config.eps)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                deep = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(parameter, std=0.02 / (2 * config.layers) ** 0.5 if deep else 0.04)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(self.norm(hidden), self.embed_tokens.weight.to(hidden.dtype)).float()


class DemoModel(nn.Module):
    """Projector and decoder over the tower's outputs; the tower itself is trained first and then kept as it is."""

    def __init__(self, tower: TowerConfig, decoder: DecoderConfig) -> None:
        super().__init__()
        self.tower_config, self.config = tower, decoder
        self.multi_modal_projector = Projector(tower, decoder)
        self.image_newline = nn.Parameter(torch.randn(decoder.hidden_size) * 0.04)
        self.language_model = Decoder(decoder)

    def forward(
        self, batch: Batch, dtype: torch.dtype, watch: Trace | None = None, watched: tuple[int, ...] = (), rounded: bool = False
    ) -> list[Tensor]:
        """Hidden states of every row group, [B, count, length, hidden] each, before the final norm.

        `rounded`: what inference stores in bfloat16 is rounded to it, whatever `dtype` computes.
        """

        def store(x: Tensor) -> Tensor:
            return x.bfloat16().to(x.dtype) if rounded else x

        decoder = self.language_model
        table = decoder.embed_tokens.weight
        videos, width = batch.prefix_ids.shape
        prefix = F.embedding(batch.prefix_ids, table).to(dtype)
        visual = self.multi_modal_projector.pooled(batch.visual_features.to(dtype))
        prefix = prefix.masked_scatter(batch.visual_slots[..., None], visual)
        prefix = torch.where(batch.newline_slots[..., None], self.image_newline.to(dtype), prefix)

        x = torch.cat([prefix.flatten(0, 1)] + [F.embedding(r.ids, table).to(dtype).flatten(0, 2) for r in batch.rows])
        positions = torch.cat([batch.prefix_positions.flatten()] + [r.positions.flatten() for r in batch.rows])
        cos, sin = rotary_tables(self.config, positions, dtype)
        counts = [videos * width] + [r.ids.numel() for r in batch.rows]

        slots = torch.arange(width)
        padding = slots >= batch.prefix_length[:, None]  # [B, P]
        prefix_mask = torch.zeros(videos, 1, width, 1, width, dtype=dtype)
        prefix_mask.masked_fill_((padding[:, None, :] | (slots > slots[:, None]))[:, None, :, None], float("-inf"))
        prefix_mask[:, :, 0, :, 0] = 0
        row_padding = torch.zeros(videos, 1, 1, 1, width, dtype=dtype).masked_fill_(padding[:, None, None, None], float("-inf"))
        causal = [torch.full((r.ids.shape[2],) * 2, float("-inf"), dtype=dtype).triu_(1) for r in batch.rows]

        for index, layer in enumerate(decoder.layers):
            q, k, v = map(store, layer.project(x, cos, sin))
            q_parts, k_parts, v_parts = q.split(counts), k.split(counts), v.split(counts)
            prefix_k = k_parts[0].unflatten(0, (videos, width)).transpose(1, 2)  # [B, kv, P, size]
            prefix_v = v_parts[0].unflatten(0, (videos, width)).transpose(1, 2)
            prefix_q = q_parts[0].unflatten(0, (videos, width)).transpose(1, 2)  # [B, kv, P, group, size]
            group = prefix_q.shape[3]

            scores = (prefix_q.flatten(2, 3) @ prefix_k.transpose(-1, -2)).unflatten(2, (width, group))
            weights = torch.softmax(scores + prefix_mask, dim=-1)
            if watch is not None and index in watched:
                watch.prefix_attention[index] = weights
            attended = (weights.flatten(2, 3) @ prefix_v).unflatten(2, (width, group)).transpose(1, 2)
            outputs = [attended.reshape(videos * width, -1)]

            looks = []
            for rows, row_q, row_k, row_v, triangle in zip(batch.rows, q_parts[1:], k_parts[1:], v_parts[1:], causal):
                _, count, length = rows.ids.shape
                row_q = row_q.unflatten(0, (videos, count, length)).permute(0, 3, 1, 2, 4, 5)  # [B, kv, count, length, group, size]
                row_k = row_k.unflatten(0, (videos, count, length)).permute(0, 3, 1, 2, 4)  # [B, kv, count, length, size]
                row_v = row_v.unflatten(0, (videos, count, length)).permute(0, 3, 1, 2, 4)
                flat_q = row_q.flatten(3, 4)  # [B, kv, count, length * group, size]
                far = (flat_q.flatten(2, 3) @ prefix_k.transpose(-1, -2)).unflatten(2, flat_q.shape[2:4])
                near = (flat_q @ row_k.transpose(-1, -2)) + triangle.repeat_interleave(group, 0)
                weights = torch.softmax(torch.cat([far + row_padding, near], dim=-1), dim=-1)
                far, near = weights.split([width, length], dim=-1)
                attended = (far.flatten(2, 3) @ prefix_v).unflatten(2, flat_q.shape[2:4]) + near @ row_v
                outputs.append(attended.unflatten(3, (length, group)).permute(0, 2, 3, 1, 4, 5).reshape(videos * count * length, -1))
                looks.append(far.unflatten(3, (length, group)))
            x = store(layer.finish(x, store(torch.cat(outputs))))

            if watch is not None and index in watched:
                parts = x.split(counts)
                watch.prefix_states[index] = parts[0].unflatten(0, (videos, width))
                watch.row_states[index] = [p.unflatten(0, r.ids.shape) for p, r in zip(parts[1:], batch.rows)]
                watch.attention[index] = looks

        return [part.unflatten(0, rows.ids.shape) for part, rows in zip(x.split(counts)[1:], batch.rows)]
