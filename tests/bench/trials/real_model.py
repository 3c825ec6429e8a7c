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


def _attend(module: torch.nn.Module, q: Tensor, k: Tensor, v: Tensor, _mask: object, scaling: float, **_: object) -> tuple[Tensor, None]:
    return module.trial.reader(module.layer_idx, q, k, v, scaling).transpose(1, 2).contiguous(), None


ALL_ATTENTION_FUNCTIONS[ATTENTION] = _attend


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
        for number, layer in enumerate(self._decoder.layers):
            layer.self_attn.trial = self
            layer.self_attn.register_forward_pre_hook(lambda _, args, named, at=number: self._note_norms(at, args, named), with_kwargs=True)
        template = self.tokenizer.apply_chat_template(
            [{"role": "user", "content": _PLACE_OF_TEXT}], add_generation_prompt=True, tokenize=False
        )
        self._before, self._after = template.split(_PLACE_OF_TEXT)
        generation = self.tokenizer.encode(self._after, add_special_tokens=False)
        self.ends = {self.tokenizer.eos_token_id, generation[0]}

    @classmethod
    def open(cls, gguf: Path, threads: int, bf16_products: bool) -> RealModel:
        torch.set_num_threads(threads)
        if bf16_products:
            torch.backends.mkldnn.matmul.fp32_precision = "bf16"
        folder, file = str(gguf.parent), {"gguf_file": gguf.name}
        model = AutoModelForCausalLM.from_pretrained(folder, **file, dtype=torch.float32, attn_implementation=ATTENTION)
        return cls(model, AutoTokenizer.from_pretrained(folder, **file))

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

    def read_document(self, text: str, watch: Reader | None = None) -> Document:
        """watch: is called with the document's queries, keys and values too, what it returns is not used."""
        lead, ids = self.ids(self._before), self.ids(text)
        keys: list[Tensor] = []
        values: list[Tensor] = []

        def read(layer: int, q: Tensor, k: Tensor, v: Tensor, scaling: float) -> Tensor:
            keys.append(k[0].contiguous())
            values.append(v[0].contiguous())
            if watch:
                watch(layer, q, k, v, scaling)
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling, enable_gqa=True)

        tokens = torch.tensor([lead + ids])
        self.hidden(tokens, torch.arange(tokens.shape[1])[None], read)
        return Document(keys, values, len(lead), ids)

    @property
    def has_key_biases(self) -> bool:
        return self._decoder.layers[0].self_attn.k_proj.bias is not None

    def rotated_key_bias(self, layer: int, rows: int) -> Tensor:
        """What k_proj's bias is in the keys of positions 0 to rows: [1, kv_heads, rows, head_dim]."""
        bias = self._decoder.layers[layer].self_attn.k_proj.bias.view(1, self.kv_heads, 1, self.head_dim).expand(-1, -1, rows, -1)
        cos, sin = self._decoder.rotary_emb(bias, torch.arange(rows)[None])
        first, second = bias.chunk(2, dim=-1)
        return bias * cos + torch.cat([-second, first], dim=-1) * sin

    def _note_norms(self, layer: int, args: tuple, named: dict) -> None:
        self.norms[layer] = (named["hidden_states"] if "hidden_states" in named else args[0])[0].norm(dim=-1)
