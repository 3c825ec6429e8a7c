"""What a replay of the document says of every pair of its cache, [layers, kv_heads, tokens], and how sets are chosen by it.

KVzip+ (arXiv 2601.07891, 3.1): max over replay rows i and the group's heads of p_ij |W_O v_j| / |x_i|.
"""

import torch
from kept_rows import causal
from real_model import Document, RealModel
from torch import Tensor

_ROWS_AT_A_TIME = 128  # of probabilities, so that they stay in the processor's cache


class WatchedReplay:
    """The reader of a replay over the whole cache, which keeps the scores."""

    def __init__(self, model: RealModel, document: Document) -> None:
        tokens = len(document.ids)
        self._model, self._document = model, document
        self.plus = torch.zeros(model.layers, model.kv_heads, tokens)

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor, scaling: float) -> Tensor:
        document, norms = self._document, self._model.norms[layer]
        out = torch.empty_like(q)
        group, rows = q.shape[1] // k.shape[1], q.shape[2]
        own = causal(rows)
        for h in range(k.shape[1]):
            keys = torch.cat([document.keys[layer][h], k[0, h]])
            values = torch.cat([document.values[layer][h], v[0, h]])
            context = values[document.lead : document.end]
            weights = [self._model.output_weight(layer, head) for head in range(h * group, (h + 1) * group)]
            lengths = [((context @ (weight.T @ weight)) * context).sum(-1).sqrt() for weight in weights]  # |W_O v_j|
            for start in range(0, rows, _ROWS_AT_A_TIME):
                end = min(start + _ROWS_AT_A_TIME, rows)
                largest = torch.zeros(end - start, len(context))
                for g, head in enumerate(range(h * group, (h + 1) * group)):
                    logits = q[0, head, start:end] @ keys[: document.end + end].T * scaling
                    logits[:, document.end :] += own[start:end, :end]
                    p = logits.softmax(-1)
                    out[0, head, start:end] = p @ values[: document.end + end]
                    used = p[:, document.lead : document.end] * lengths[g] / norms[start:end, None]
                    torch.maximum(largest, used, out=largest)
                torch.maximum(self.plus[layer, h], largest.amax(0), out=self.plus[layer, h])
        return out


def choose(score: Tensor, budget: int, floor: float) -> Tensor:
    """The best `budget` pairs of the whole cache. Every head has the best of the share `floor` of an equal part."""
    keep = torch.zeros_like(score, dtype=torch.bool)
    heads, tokens = score.shape[0] * score.shape[1], score.shape[2]
    least = int(floor * budget / heads)
    if least:
        keep.view(heads, tokens).scatter_(1, score.view(heads, tokens).topk(least).indices, True)
    rest = score.masked_fill(keep, float("-inf")).flatten()
    keep.view(-1)[rest.topk(budget - int(keep.sum())).indices] = True
    return keep
