"""A real model of a GGUF file in transformers, whose attention the trials replace: they keep keys and values themselves.

`RealModel.hidden()` runs tokens and hands every layer's rotated queries, keys and values to a reader (`Reader`), which answers with the
attention's output. A document is read once (`read_document()`); readers then look at what is kept of it. Weights and arithmetic are fp32;
`bf16_products` lets the processor multiply rounded factors, with sums in fp32. Chat templates must be able to hold one user turn.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: a trial runs beside other programs

import torch
import transformers
from torch import Tensor
from torch.nn import functional
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

torch.set_grad_enabled(False)
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
ATTENTION = "trial"
_PLACE_OF_TEXT = "\x01"
_ROWS_AT_A_TIME = 256  # of logits

# Layer, queries [batch, heads, rows, head_dim], keys and values [batch, kv_heads, rows, head_dim], scaling; returns as queries are.
Reader = Callable[[int, Tensor, Tensor, Tensor, float], Tensor]


@dataclass
class Document:
    """Keys (rotated) and values of what was read: the template's beginning, then the document's tokens."""

    keys: list[Tensor]  # of a layer: [kv_heads, lead + tokens, head_dim]
    values: list[Tensor]
    lead: int  # tokens before the document; never dropped
    ids: list[int]  # of the document

    @property
    def end(self) -> int:
        return self.lead + len(self.ids)

    def held_by(self, held: Callable) -> Document:
        """held: what a cache gives back of a layer's keys and values (cache_bits.HeldRows). The lead stays exact."""
        layers = [[one[0] for one in held(layer, k[None], v[None])] for layer, (k, v) in enumerate(zip(self.keys, self.values))]
        for (k, v), exact_k, exact_v in zip(layers, self.keys, self.values):
            k[:, : self.lead], v[:, : self.lead] = exact_k[:, : self.lead], exact_v[:, : self.lead]
        return Document([k for k, _ in layers], [v for _, v in layers], self.lead, self.ids)

    def until(self, end: int) -> Document:
        return Document([one[:, :end] for one in self.keys], [one[:, :end] for one in self.values], self.lead, self.ids[: end - self.lead])


def _attend(module: torch.nn.Module, q: Tensor, k: Tensor, v: Tensor, _mask: object, scaling: float, **_: object) -> tuple[Tensor, None]:
    return module.trial.reader(module.layer_idx, q, k, v, scaling).transpose(1, 2).contiguous(), None


ALL_ATTENTION_FUNCTIONS[ATTENTION] = _attend


def distances(rows: int, all_rows: int) -> Tensor:
    """How far each key stands before each query; queries are the last rows."""
    return torch.arange(all_rows - rows, all_rows)[:, None] - torch.arange(all_rows)


def attention(q: Tensor, keys: Tensor, values: Tensor, scaling: float, window: int | None) -> Tensor:
    """Causal; queries are the last rows, each sees `window` keys at most."""
    rows, all_rows = q.shape[2], keys.shape[2]
    if rows == all_rows and (window or rows) >= rows:
        return functional.scaled_dot_product_attention(q, keys, values, is_causal=True, scale=scaling, enable_gqa=True)
    distance = distances(rows, all_rows)
    seen = (distance >= 0) & (distance < (window or all_rows))
    return functional.scaled_dot_product_attention(q, keys, values, attn_mask=seen, scale=scaling, enable_gqa=True)


class RealModel:
    def __init__(self, model: torch.nn.Module, tokenizer) -> None:
        """model: of transformers, made with `attn_implementation=ATTENTION`."""
        self.model, self.tokenizer = model.eval(), tokenizer
        self.reader: Reader | None = None  # of the run in progress
        self._decoder = self.model.model
        attention = self._decoder.layers[0].self_attn
        self.layers, self.head_dim = len(self._decoder.layers), attention.head_dim
        self.heads = attention.o_proj.weight.shape[1] // self.head_dim
        self.kv_heads = attention.k_proj.weight.shape[0] // self.head_dim
        self.norms: list[Tensor] = [torch.empty(0)] * self.layers  # of what a layer's attention reads, a row: [rows], of the first batch
        self.windows: list[int | None] = []  # how many tokens a layer sees, its own among them; None: all
        for number, layer in enumerate(self._decoder.layers):
            layer.self_attn.trial = self
            self.windows.append(getattr(layer.self_attn, "sliding_window", None))
            layer.self_attn.register_forward_pre_hook(lambda _, args, named, at=number: self._note_norms(at, args, named), with_kwargs=True)
        before, self._after = self._around_text()
        self.lead = self.ids(before)
        self.ends = {self.tokenizer.eos_token_id, *self.ids(self._after)[:1]}

    @classmethod
    def open(cls, gguf: Path, threads: int, bf16_products: bool) -> RealModel:
        torch.set_num_threads(threads)
        if bf16_products:
            torch.backends.mkldnn.matmul.fp32_precision = "bf16"
        folder, file = str(gguf.parent), {"gguf_file": gguf.name}
        model = AutoModelForCausalLM.from_pretrained(folder, **file, dtype=torch.float32, attn_implementation=ATTENTION)
        return cls(model, AutoTokenizer.from_pretrained(folder, **file))

    def _around_text(self) -> tuple[str, str]:
        """What the template has before and behind a user's text. A base model has no template: its first token, and nothing."""
        if not self.tokenizer.chat_template:
            return self.tokenizer.bos_token, ""
        turn = [{"role": "user", "content": _PLACE_OF_TEXT}]
        before, after = self.tokenizer.apply_chat_template(turn, add_generation_prompt=True, tokenize=False).split(_PLACE_OF_TEXT)
        return before, after

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False)

    def request(self, text: str) -> list[int]:
        """What follows a document: the text, the end of the user's turn, the beginning of the answer."""
        return self.ids(f"\n\n{text}{self._after}")

    def hidden(self, ids: Tensor, positions: Tensor, reader: Reader) -> Tensor:
        """ids, positions: [batch, rows]. Returns what the head reads: [batch, rows, hidden]."""
        self.reader = reader
        return self._decoder(input_ids=ids, position_ids=positions, use_cache=False).last_hidden_state

    def logits(self, hidden: Tensor) -> Tensor:
        return self.model.lm_head(hidden)

    def log_probabilities(self, hidden: Tensor, tokens: Tensor) -> Tensor:
        """hidden [rows, hidden], the token that follows each [rows]; returns [rows]."""
        found = []
        for start in range(0, len(tokens), _ROWS_AT_A_TIME):
            logits = self.logits(hidden[start : start + _ROWS_AT_A_TIME])
            wanted = tokens[start : start + _ROWS_AT_A_TIME, None]
            found.append(logits.gather(1, wanted)[:, 0] - logits.logsumexp(-1))
        return torch.cat(found)

    def output_weight(self, layer: int, head: int) -> Tensor:
        """Columns of o_proj that read this query head: [hidden, head_dim]."""
        return self._decoder.layers[layer].self_attn.o_proj.weight[:, head * self.head_dim : (head + 1) * self.head_dim]

    def read_document(self, text: str) -> Document:
        ids = self.ids(text)
        keys: list[Tensor] = []
        values: list[Tensor] = []

        def read(layer: int, q: Tensor, k: Tensor, v: Tensor, scaling: float) -> Tensor:
            keys.append(k[0].contiguous())
            values.append(v[0].contiguous())
            return attention(q, k, v, scaling, self.windows[layer])

        tokens = torch.tensor([self.lead + ids])
        self.hidden(tokens, torch.arange(tokens.shape[1])[None], read)
        return Document(keys, values, len(self.lead), ids)

    def key_bias(self, layer: int) -> Tensor | None:
        """Of k_proj: [kv_heads, head_dim]."""
        bias = self._decoder.layers[layer].self_attn.k_proj.bias
        return None if bias is None else bias.view(self.kv_heads, self.head_dim)

    def rotated(self, bias: Tensor, rows: int) -> Tensor:
        """bias [kv_heads, head_dim], as it is in the keys of positions 0 to rows: [1, kv_heads, rows, head_dim]."""
        bias = bias[None, :, None].expand(-1, -1, rows, -1)
        cos, sin = self._decoder.rotary_emb(bias, torch.arange(rows)[None])
        first, second = bias.chunk(2, dim=-1)
        return bias * cos + torch.cat([-second, first], dim=-1) * sin

    def _note_norms(self, layer: int, args: tuple, named: dict) -> None:
        self.norms[layer] = (named["hidden_states"] if "hidden_states" in named else args[0])[0].norm(dim=-1)
