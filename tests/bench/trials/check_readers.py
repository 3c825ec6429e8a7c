#!/usr/bin/env python3
"""Holds the trials' readers and scores to transformers' own attention and to plain formulas, on a tiny random Qwen2 with strong key biases.

    python tests/bench/trials/check_readers.py

Prints the largest difference of each comparison and fails where it is above its bound: 1e-5 in fp32, 1e-3 where 16-bit elements are
compared, 1e-2 behind three layers of a cache whose scales have 16 bits. Needs torch and transformers alone.
"""

import sys

import torch
from cache_bits import INT8, FewerBits, HeldRows, Recipe, hadamard, likelihoods, rounded, strong
from kept_rows import KeptRows, ask, causal
from real_model import ATTENTION, RealModel
from replay_scores import WatchedReplay, choose
from transformers import Qwen2Config, Qwen2ForCausalLM

LAYER, HEAD = 1, 1  # where scores are worked out once more
QUESTIONS = [("What is this?", "A text"), ("Who wrote it, and when was that?", "Nobody")]
failed: list[str] = []


class Bytes:
    """A tokenizer of UTF-8 bytes; 256 ends a turn."""

    eos_token_id = 257
    chat_template = "one turn"

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        return [256 if letter == "\x02" else ord(letter) for letter in text]

    def decode(self, ids: list[int]) -> str:
        return str(ids)

    def apply_chat_template(self, messages: list, add_generation_prompt: bool, tokenize: bool) -> str:
        return f"user: {messages[0]['content']}\x02model: "


def compare(what: str, one: torch.Tensor, other: torch.Tensor, bound: float = 1e-5) -> None:
    """Differences are parts of the largest element, if that is above 1."""
    difference = float((one.double() - other.double()).abs().max() / max(1.0, float(other.abs().max())))
    print(f"{what}: {difference:.1e}")
    if difference > bound:
        failed.append(what)


def main() -> None:
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = Qwen2Config(vocab_size=258, initializer_range=0.15, **sizes)
    config._attn_implementation = "eager"
    plain = Qwen2ForCausalLM(config).eval()
    for layer in plain.model.layers:
        torch.nn.init.normal_(layer.self_attn.k_proj.bias, std=5.0)
    own = Qwen2ForCausalLM._from_config(Qwen2Config(**config.to_dict()), attn_implementation=ATTENTION)
    own.load_state_dict(plain.state_dict())
    model = RealModel(own, Bytes())

    document = model.read_document("The five boxing wizards jump quickly, and nobody knows why they would.")
    before = torch.tensor(model.lead + document.ids)
    replayed = torch.tensor(model.request("Repeat it.") + document.ids)
    positions = document.end + torch.arange(len(replayed))[None]
    expected = plain.model(torch.cat([before, replayed])[None]).last_hidden_state[0, len(before) :]
    scores = WatchedReplay(model, document)
    compare("watched replay", model.hidden(replayed[None], positions, scores)[0], expected)
    budget = round(0.4 * scores.plus.numel())
    keep = choose(scores.plus, budget, 0.2)
    compare("pairs kept", keep.sum(), torch.tensor(budget))
    print(f"fewest pairs of a head: {int(keep.sum(-1).min())}")
    check_scores(model, document, scores, replayed, positions)

    def masked(layer, q, k, v, scaling):
        group = q.shape[1] // k.shape[1]
        hidden = torch.cat([torch.zeros(model.kv_heads, document.lead, dtype=torch.bool), ~keep[layer]], 1)
        logits = q[0] @ torch.cat([document.keys[layer], k[0]], 1).repeat_interleave(group, 0).transpose(1, 2) * scaling
        logits[:, :, : document.end].masked_fill_(hidden.repeat_interleave(group, 0)[:, None], float("-inf"))
        logits[:, :, document.end :] += causal(q.shape[2])
        return (logits.softmax(-1) @ torch.cat([document.values[layer], v[0]], 1).repeat_interleave(group, 0))[None]

    in_blocks = document.held_by(HeldRows(model, Recipe("", 16, 16), document.end))
    compare("a document in bits", torch.stack(in_blocks.keys), torch.stack(document.keys), 1e-2)
    assert not torch.equal(in_blocks.values[LAYER], document.values[LAYER]), "no row was rounded"
    kept = KeptRows(document, keep)
    together = ask(model, [KeptRows(document, None), kept], QUESTIONS, 6)
    for answers, rows_kept in zip(together, (KeptRows(document, None), kept)):
        for answer, question in zip(answers, QUESTIONS):
            alone = ask(model, [rows_kept], [question], 6)[0][0]
            compare("asked together and alone", torch.tensor(answer.log_probability), torch.tensor(alone.log_probability))
            assert answer.text == alone.text, (answer, alone)
    for answer, (question, right) in zip(together[1], QUESTIONS):
        request, begin = model.request(question), model.ids("The answer is")
        gold = model.ids("The answer is " + right)[len(begin) :]
        following = torch.tensor(request + begin + gold)
        behind = model.hidden(following[None], document.end + torch.arange(len(following))[None], masked)[0]
        chances = model.log_probabilities(behind[-len(gold) - 1 : -1], following[-len(gold) :])
        compare("an answer behind a set", torch.tensor(answer.log_probability), chances.sum())
    for answer, (question, right) in zip(together[0], QUESTIONS):
        compare_with_plain(model, plain, before.tolist() + model.request(question), answer, right)
    check_bits(model, plain, before)
    sys.exit(f"too far apart: {', '.join(failed)}" if failed else 0)


def check_scores(model: RealModel, document, scores: WatchedReplay, replayed: torch.Tensor, positions: torch.Tensor) -> None:
    """By the formulas, in fp64, with every W_O v_j written out."""
    seen = {}

    def note(layer, q, k, v, scaling):
        if layer == LAYER:
            seen.update(q=q[0].double(), k=k[0, HEAD].double(), v=v[0, HEAD].double(), x=model.norms[layer].double())
        return WatchedReplay(model, document)(layer, q, k, v, scaling)

    model.hidden(replayed[None], positions, note)
    keys, values = (torch.cat([old[LAYER][HEAD].double(), seen[new]]) for old, new in ((document.keys, "k"), (document.values, "v")))
    group = model.heads // model.kv_heads
    used = []
    for head in range(HEAD * group, (HEAD + 1) * group):
        logits = seen["q"][head] @ keys.T / model.head_dim**0.5
        logits[:, document.end :] += causal(len(replayed))
        p, weight = logits.softmax(-1), model.output_weight(LAYER, head).double()
        lengths = (values[document.lead : document.end] @ weight.T).norm(dim=-1)
        used.append(p[:, document.lead : document.end] * lengths / seen["x"][:, None])
    used = torch.stack(used).amax(0)
    compare("KVzip+", scores.plus[LAYER, HEAD] / used.max(), used.amax(0) / used.max())


def compare_with_plain(model: RealModel, plain, prompt: list[int], answer, right: str) -> None:
    begin = model.ids("The answer is")
    gold = model.ids("The answer is " + right)[len(begin) :]
    chances = plain(torch.tensor([prompt + begin + gold])).logits[0].log_softmax(-1)
    rows = torch.arange(len(gold)) + len(prompt) + len(begin) - 1
    compare("likeliness of an answer", torch.tensor(answer.log_probability), chances[rows, torch.tensor(gold)].sum())
    written: list[int] = []
    while len(written) < 6:
        token = int(plain(torch.tensor([prompt + written])).logits[0, -1].argmax())
        if token in model.ends:
            break
        written.append(token)
    assert str(written) == answer.text, (written, answer)


def check_bits(model: RealModel, plain, ids: torch.Tensor) -> None:
    rows, positions = len(ids), torch.arange(len(ids))[None]
    expected = plain.model(ids[None]).last_hidden_state
    for recipe in (
        Recipe("16 bits in blocks", 16, 16),
        Recipe("rotated", 16, 16, rotated=True),
        Recipe("all of them the newest", 2, 2, newest=10_000),
        Recipe("newest and old", 16, 16, newest=7, sinks=2, outer_bits=16),
    ):
        compare(recipe.name, model.hidden(ids[None], positions, FewerBits(model, recipe, rows)), expected, 1e-2)
    text, after, recipe = "The five boxing wizards", " jump", Recipe("", 16, 16, newest=3)
    at_once, later = (likelihoods(model, text, after, recipe, one) for one in (None, model.read_document(text)))
    compare("an exact text first", later.exp(), at_once.exp(), 1e-2)
    model.windows = [None, 5, None]
    windowed = [model.hidden(ids[None], positions, FewerBits(model, recipe, rows)) for recipe in (None, Recipe("", 16, 16, newest=7))]
    compare("windows", windowed[1], windowed[0], 1e-2)
    assert (windowed[0] - expected).abs().max() > 0.1, "a window changes nothing"
    bias = model.key_bias(LAYER)
    taken = strong(bias)
    drawn = 2 * torch.randn(2, 64)
    of_units = drawn.view(2, 2, -1, 8)
    longest = of_units.square().sum(1).amax(-1)
    assert 0 < int((longest > 16).sum()) < longest.numel(), "all units are alike"
    compare("strong bias", strong(drawn).view_as(of_units), of_units * (longest > 16)[:, None, :, None])
    k = torch.randn(1, model.kv_heads, rows, model.head_dim)
    held, _ = HeldRows(model, INT8, rows)(LAYER, k + model.rotated(bias, rows), k)
    plainly = rounded(k + model.rotated(bias - taken, rows), 8, None) + model.rotated(taken, rows)
    compare("int8 without strong bias", held, plainly)
    held, _ = HeldRows(model, INT8, rows)(LAYER, k, k)
    compare("int8 where the bias is not in the rows", held, rounded(k, 8, None))
    block = torch.tensor([[-8.0, 7.0, 3.4, 0.0]])
    compare("4 bits by hand", rounded(block, 4, 4), torch.tensor([[-8.0, 7.0, 3.0, 0.0]]))
    compare("8 bits by hand", rounded(torch.tensor([[127.0, -127.0, 0.6, 0.0]]), 8, 4), torch.tensor([[127.0, -127.0, 1.0, 0.0]]))
    compare("Hadamard", hadamard(16) @ hadamard(16).T, torch.eye(16))


if __name__ == "__main__":
    main()
