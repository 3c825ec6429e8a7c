"""What a replay of the document says of every pair of its cache, [layers, kv_heads, tokens], and how sets are chosen by it.

KVzip+ (arXiv 2601.07891, 3.1): max over replay rows i and the group's heads of p_ij |W_O v_j| / |x_i|. DropKV's removal residual
(openreview MqfNzH3TVH) on the same rows, which its authors take of the last queries, and in the same units: max of
(p_ij / (1 - p_ij))^2 |W_O (v_j - o_i)|^2 / |x_i|^2.
"""

import torch
from kept_rows import causal
from real_model import Document, RealModel
from torch import Tensor

_ROWS_AT_A_TIME = 128  # of probabilities, so that they stay in the processor's cache
_MOST_PROBABILITY = 0.9999  # of one pair, whose removal would leave nothing


class WatchedReplay:
    """The reader of a replay over the whole cache, which keeps both scores and what each row of the document used."""

    def __init__(self, model: RealModel, document: Document) -> None:
        tokens = len(document.ids)
        self._model, self._document = model, document
        self.plus = torch.zeros(model.layers, model.kv_heads, tokens)
        self.residual = torch.zeros(model.layers, model.kv_heads, tokens)
        # Of the replayed document's rows: the largest contribution of a group's heads, [layers, kv_heads, rows, tokens].
        self.used = torch.zeros(model.layers, model.kv_heads, tokens, tokens, dtype=torch.float16)

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor, scaling: float) -> Tensor:
        document, norms = self._document, self._model.norms[layer]
        out = torch.empty_like(q)
        group, rows = q.shape[1] // k.shape[1], q.shape[2]
        before = rows - len(document.ids)  # rows of the instruction
        own = causal(rows)
        for h in range(k.shape[1]):
            keys = torch.cat([document.keys[layer][h], k[0, h]])
            values = torch.cat([document.values[layer][h], v[0, h]])
            context = values[document.lead : document.end]
            weights = [self._model.output_weight(layer, head) for head in range(h * group, (h + 1) * group)]
            grams = [weight.T @ weight for weight in weights]
            mixed = [context @ gram for gram in grams]
            squares = [(one * context).sum(-1) for one in mixed]  # |W_O v_j|^2
            for start in range(0, rows, _ROWS_AT_A_TIME):
                end = min(start + _ROWS_AT_A_TIME, rows)
                largest = torch.zeros(end - start, len(context))
                for g, head in enumerate(range(h * group, (h + 1) * group)):
                    logits = q[0, head, start:end] @ keys[: document.end + end].T * scaling
                    logits[:, document.end :] += own[start:end, :end]
                    p = logits.softmax(-1)
                    o = p @ values[: document.end + end]
                    out[0, head, start:end] = o
                    p = p[:, document.lead : document.end]
                    norm = norms[start:end, None]
                    torch.maximum(largest, p * squares[g].sqrt() / norm, out=largest)
                    left = (o @ grams[g] * o).sum(-1, keepdim=True) - 2 * o @ mixed[g].T + squares[g]  # |W_O (v_j - o_i)|^2
                    odds = p.clamp(max=_MOST_PROBABILITY)
                    odds = odds / (1 - odds) / norm
                    residual = (odds * odds * left.clamp(min=0)).amax(0)
                    torch.maximum(self.residual[layer, h], residual, out=self.residual[layer, h])
                torch.maximum(self.plus[layer, h], largest.amax(0), out=self.plus[layer, h])
                if end > before:
                    first = max(start, before)
                    self.used[layer, h, first - before : end - before] = largest[first - start :]
        return out

    def needed(self, damage: Tensor) -> tuple[Tensor, Tensor]:
        """damage: of each row of the document. What damaged rows had used, by its largest damage and by its sum."""
        largest, added = torch.empty_like(self.plus), torch.empty_like(self.plus)
        broken = damage.nonzero()[:, 0]
        for layer, h in torch.cartesian_prod(torch.arange(len(self.plus)), torch.arange(self.plus.shape[1])).tolist():
            weighed = self.used[layer, h, broken].float() * damage[broken, None]
            largest[layer, h], added[layer, h] = weighed.amax(0), weighed.sum(0)
        return largest, added


def choose(score: Tensor, budget: int, floor: float, kept: Tensor | None = None) -> Tensor:
    """The best `budget` pairs of the whole cache, `kept` among them. Every head has the best of the share `floor` of an equal part."""
    keep = torch.zeros_like(score, dtype=torch.bool) if kept is None else kept.clone()
    heads, tokens = score.shape[0] * score.shape[1], score.shape[2]
    least = int(floor * budget / heads)
    if least:
        keep.view(heads, tokens).scatter_(1, score.view(heads, tokens).topk(least).indices, True)
    rest = score.masked_fill(keep, float("-inf")).flatten()
    keep.view(-1)[rest.topk(budget - int(keep.sum())).indices] = True
    return keep
