"""What a set keeps of a document, and questions behind many sets at once."""

from dataclasses import dataclass

import torch
from real_model import Document, RealModel
from torch import Tensor


class KeptRows:
    """What is left of a document: its lead, and of each KV head what `keep` says ([layers, kv_heads, tokens]; None: everything)."""

    def __init__(self, document: Document, keep: Tensor | None) -> None:
        self.end = document.end
        self.keys: list[list[Tensor]] = []  # of a layer, of a KV head: [rows, head_dim]
        self.values: list[list[Tensor]] = []
        lead = torch.ones(document.lead, dtype=torch.bool)
        for layer, (keys, values) in enumerate(zip(document.keys, document.values)):
            heads = [slice(None) if keep is None else torch.cat([lead, keep[layer, h]]) for h in range(len(keys))]
            self.keys.append([keys[h][rows] for h, rows in enumerate(heads)])
            self.values.append([values[h][rows] for h, rows in enumerate(heads)])


def causal(rows: int) -> Tensor:
    return torch.full((rows, rows), float("-inf")).triu(1)


@dataclass
class Answer:
    text: str
    log_probability: float  # of the right answer's tokens behind "The answer is", their sum
    tokens: int  # of the right answer


class _Conversations:
    """Rows of several texts a set, each behind the same kept rows; sets stand one after the other in the batch."""

    def __init__(self, sets: list[KeptRows], of_row: list[int], layers: int) -> None:
        self._sets = sets
        self._of_row = of_row
        self._keys: list[Tensor | None] = [None] * layers
        self._values: list[Tensor | None] = [None] * layers
        self._valid = torch.zeros(len(of_row), 0, dtype=torch.bool)
        self._lengths = torch.zeros(len(of_row), dtype=torch.long)
        self._mask = torch.empty(0)
        self._new_valid = torch.empty(0)
        self._stays = True

    @property
    def positions(self) -> Tensor:
        """Of the next token of each text."""
        return self._sets[0].end + self._lengths

    def begin(self, valid: Tensor, stays: bool) -> None:
        """Before rows are read: which are text and not padding [batch, rows]; whether later rows see them."""
        rows = valid.shape[1]
        own = valid[:, None] & torch.ones(rows, rows, dtype=torch.bool).tril()
        seen = torch.cat([self._valid[:, None].expand(-1, rows, -1), own], dim=2)
        self._mask = torch.zeros(seen.shape).masked_fill_(~seen, float("-inf"))
        self._new_valid, self._stays = valid, stays

    def end(self) -> None:
        if self._stays:
            self._valid = torch.cat([self._valid, self._new_valid], dim=1)
            self._lengths = self._lengths + self._new_valid.sum(1)

    def leave(self, rows: Tensor) -> None:
        """Texts that go on."""
        self._of_row = [self._of_row[row] for row in rows.tolist()]
        self._keys = [keys[rows] for keys in self._keys if keys is not None]
        self._values = [values[rows] for values in self._values if values is not None]
        self._valid, self._lengths = self._valid[rows], self._lengths[rows]

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor, scaling: float) -> Tensor:
        before = self._keys[layer], self._values[layer]
        keys, values = (new if old is None else torch.cat([old, new], dim=2) for old, new in zip(before, (k, v)))
        if self._stays:
            self._keys[layer], self._values[layer] = keys, values
        out = torch.empty_like(q)
        group = q.shape[1] // k.shape[1]
        start = 0
        while start < len(self._of_row):
            number = self._of_row[start]
            end = start + self._of_row.count(number)
            for h in range(k.shape[1]):
                asked = q[start:end, h * group : (h + 1) * group]  # [texts, group, rows, head_dim]
                kept_keys, kept_values = self._sets[number].keys[layer][h], self._sets[number].values[layer][h]
                own = asked @ keys[start:end, h, None].transpose(2, 3) * scaling + self._mask[start:end, None]
                weights = torch.cat([asked @ kept_keys.T * scaling, own], dim=-1).softmax(-1)
                of_kept, of_own = weights.split([len(kept_keys), own.shape[-1]], dim=-1)
                out[start:end, h * group : (h + 1) * group] = of_kept @ kept_values + of_own @ values[start:end, h, None]
            start = end
        return out


def _padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Tokens, padded behind, and which are no padding."""
    most = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (most - len(row)) for row in rows])
    return tokens, torch.arange(most) < torch.tensor([len(row) for row in rows])[:, None]


def _read(model: RealModel, texts: _Conversations, rows: list[list[int]], stays: bool) -> Tensor:
    ids, valid = _padded(rows)
    positions = texts.positions[:, None] + torch.arange(ids.shape[1])[None]
    texts.begin(valid, stays)
    hidden = model.hidden(ids, positions, texts)
    texts.end()
    return hidden


def ask(model: RealModel, sets: list[KeptRows], questions: list[tuple[str, str]], most_tokens: int) -> list[list[Answer]]:
    """Every question, with its right answer, of every set, each by itself: greedy answers, and how likely the right one was."""
    texts = _Conversations(sets, [number for number in range(len(sets)) for _ in questions], model.layers)
    requests = [model.request(question) for question, _ in questions] * len(sets)
    asked = _read(model, texts, requests, stays=True)
    last = asked[torch.arange(len(requests)), torch.tensor([len(request) - 1 for request in requests])]

    begin = model.ids("The answer is")
    golds = [model.ids("The answer is " + answer)[len(begin) :] for _, answer in questions] * len(sets)
    read = _read(model, texts, [begin + gold for gold in golds], stays=False)
    rows = [(row, len(begin) - 1 + i) for row, gold in enumerate(golds) for i in range(len(gold))]
    following = torch.tensor([token for gold in golds for token in gold])
    likely = model.log_probabilities(read[[row for row, _ in rows], [at for _, at in rows]], following)

    written: list[list[int]] = [[] for _ in requests]
    going = list(range(len(requests)))
    for step in range(most_tokens):
        tokens = model.logits(last).argmax(-1).tolist()
        stay = []
        for at, (row, token) in enumerate(zip(going, tokens)):
            if token not in model.ends:
                written[row].append(token)
                stay.append(at)
        if not stay or step + 1 == most_tokens:
            break
        texts.leave(torch.tensor(stay))
        going = [going[at] for at in stay]
        last = _read(model, texts, [[tokens[at]] for at in stay], stays=True)[:, 0]

    answers, start = [], 0
    for row, gold in enumerate(golds):
        answers.append(Answer(model.tokenizer.decode(written[row]), float(likely[start : start + len(gold)].sum()), len(gold)))
        start += len(gold)
    return [answers[i : i + len(questions)] for i in range(0, len(answers), len(questions))]
