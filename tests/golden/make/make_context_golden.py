#!/usr/bin/env python3
"""Writes tests/golden/context: what methods that compress before the question keep of a video, computed with transformers in fp64.

    python tests/golden/make/make_context_golden.py

The folders and their video are those of tests/golden/llava_onevision. The media are read, rows that stand for later questions are run behind
them (the video repeated, or described by the model itself), and every slot gets the largest attention that any of these rows and any query
head of its group pays to it; KVzip+ weighs it by norm(W_O v) / norm(x). KeyDiff and Expected Attention run nothing: they judge keys and values
by the keys' mean direction and by the queries that the media themselves made. Written from the papers (SOURCES); nothing is shared with the program.
Streams read the video clip by clip; what has left is masked per head, nothing is ever taken out of the cache, so that positions and sums are
those of transformers. The share kept is chosen so that no decision is closer than MARGIN, relative to the score.

Needs torch, transformers, safetensors (versions: manifest.json).
"""

import copy
import json
import pathlib
import warnings

import safetensors
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, DynamicCache, LlavaOnevisionForConditionalGeneration
from transformers.models.qwen2.modeling_qwen2 import rotate_half

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
HERE = pathlib.Path(__file__).resolve().parents[1]
MARGIN = 1e-4
GREEDY_MARGIN = 1e-3
SHARES = (0.3, 0.25, 0.35, 0.2, 0.4, 0.45)
FOLDERS = ("gqa_tied", "mha_untied", "no_bias_scaled", "head_dim", "plain_projector")
SOURCES = {
    "kvzip": "arXiv 2505.23416, sections 3.1 to 3.3, Algorithm 1; snu-mllab/KVzip; the model's template ends the turn, the lead is in the "
             "restricted softmax, exact top pairs",
    "kvzip+": "arXiv 2601.07891, section 3.1; NVIDIA/kvpress kvzap_press.py",
    "keydiff": "arXiv 2504.15364; NVIDIA/kvpress keydiff_press.py; the media's keys alone, every head by itself",
    "expected-attention": "arXiv 2510.00636; NVIDIA/kvpress expected_attention_press.py; queries and slots of the media alone, population "
                          "covariance, every head by itself; stats=request, answer: queries of all rows that say these words behind the media",
    "kvzip-stream": "KVzip's rows for each clip behind what is left, softmax over the whole cache, the largest vote so far; proxy=text: the "
                    "request to describe; proxy=template: the template's words, mean of the softmax over the media (arXiv 2508.15717)",
    "self-study-stream": "the request and the model's greedy answer behind what is left, the largest vote so far",
    "infinipot-v": "arXiv 2506.15745, Algorithms 1 and 2; the newest eighth of the frames, cells by what they showed, no pooling",
    "rekv": "arXiv 2503.00540; Becomebright/ReKV; one pass, keys keep their positions, media read through local_window, frames by the mean of "
            "their keys and of the queries of the question's words, both before rotary, layer by layer, over what was fetched below",
    "self-study": "rows of the request 'Describe the video.' and of the model's greedy answer, softmax over the whole cache",
}
COMPETE = {"kvzip-stream": "layer", "self-study-stream": "layer", "infinipot-v": "nobody", "kvzip": "layer", "kvzip+": "all", "self-study": "all", "keydiff": "nobody", "expected-attention": "nobody", "rekv": "nobody"}
FLOORS = {"kvzip+": 0.2, "self-study": 0.2, "expected-attention": 0.2}
CASES = [
    {"method": "kvzip", "options": {}},
    {"method": "kvzip", "options": {"compete": "all"}},
    {"method": "kvzip", "options": {"chunk": "two frames"}},
    {"method": "kvzip+", "options": {}},
    {"method": "kvzip+", "options": {"compete": "layer", "floor": "0"}},
    {"method": "self-study", "options": {"answer": "24", "with": "nothing"}},
    {"method": "self-study", "options": {"answer": "24", "with": "nothing", "compete": "layer", "norms": "false"}},
    {"method": "self-study", "options": {"answer": "24", "with": "kvzip"}},
    {"method": "keydiff", "options": {}},
    {"method": "keydiff", "options": {"compete": "all"}},
    {"method": "expected-attention", "options": {}},
    {"method": "expected-attention", "options": {"horizon": "7", "eps": "0"}},
    {"method": "expected-attention", "options": {"compete": "layer"}},
    {"method": "expected-attention", "options": {"stats": "request"}},
    {"method": "expected-attention", "options": {"stats": "answer", "answer": "12"}},
    {"method": "expected-attention", "options": {"stats": "answer", "answer": "12", "eps": "0", "ask": "Which color?|How many squares are there?"}},
    {"method": "self-study", "options": {"answer": "12", "with": "nothing", "ask": "Which color?|How many squares are there?"}},
    {"method": "self-study", "options": {"ask": "Which color?|How many squares are there?", "words": "request"}},
    {"method": "self-study-stream", "options": {"clip": "1", "answer": "12"}},
    {"method": "self-study-stream", "options": {"clip": "2", "answer": "12", "norms": "true", "stored": "false"}},
    {"method": "self-study-stream", "options": {"clip": "2", "answer": "12", "with": "kvzip", "compete": "all"}},
    {"method": "kvzip-stream", "options": {"clip": "1"}},
    {"method": "kvzip-stream", "options": {"clip": "2", "proxy": "text"}},
    {"method": "kvzip-stream", "options": {"clip": "1", "proxy": "template"}},
    {"method": "kvzip-stream", "options": {"clip": "2", "compete": "nobody"}},
    {"method": "keydiff", "options": {"event": "clips", "clip": "1"}},
    {"method": "rekv", "options": {}},
    {"method": "rekv", "options": {"sim": "cosine"}},
    {"method": "rekv", "options": {"local_window": "5"}},
    {"method": "rekv", "options": {"local_window": "2", "sim": "cosine"}},
    {"method": "infinipot-v", "options": {"clip": "1"}},
    {"method": "infinipot-v", "options": {"clip": "1", "newest": "0.5", "target": "0.6"}},
]


class Probe:
    def __init__(self, folder):
        model = LlavaOnevisionForConditionalGeneration.from_pretrained(folder / "model", attn_implementation="eager").double().eval()
        self.text, self.head = model.model.language_model, model.lm_head
        config = model.config.text_config
        self.layers, self.heads, self.kv_heads = config.num_hidden_layers, config.num_attention_heads, config.num_key_value_heads
        self.tokenizer = AutoTokenizer.from_pretrained(folder / "model")
        golden = load_file(folder / "golden.safetensors")
        ids, self.context = golden["video.input_ids"].flatten().long(), golden["video.features"].double()
        visual = (ids == model.config.video_token_id).nonzero().flatten()
        assert len(visual) == len(self.context)
        self.first, self.n = int(visual[0]), len(visual)
        self.lead = ids[: self.first]
        self.question = ids[self.first + self.n :]
        self.asked = self.rows_of(json.loads((folder / "cases.json").read_text())["video"]["messages"][0]["content"][1]["text"])
        self.stop = {self.tokenizer.convert_tokens_to_ids("<|im_end|>")}
        self.inputs, self.queries = [None] * self.layers, [None] * self.layers
        for layer, block in enumerate(self.text.layers):
            block.self_attn.q_proj.register_forward_pre_hook(lambda _, args, layer=layer: self.inputs.__setitem__(layer, args[0][0]))
            block.self_attn.q_proj.register_forward_hook(lambda _, args, out, layer=layer: self.queries.__setitem__(layer, out[0]))

    def rows_of(self, words):
        """Rows behind the video that spell these words: template and line feeds left out."""
        whole = self.tokenizer.decode(self.question)
        spelled = self.tokenizer(whole, add_special_tokens=False, return_offsets_mapping=True)
        assert spelled.input_ids == self.question.tolist()
        begin = whole.index(words)
        return [row for row, (a, b) in enumerate(spelled.offset_mapping) if a < begin + len(words) and b > begin]

    def embed(self, ids):
        return self.text.embed_tokens(torch.as_tensor(ids).long())

    def words(self, text):
        return self.tokenizer(text, add_special_tokens=False).input_ids

    def read_context(self):
        cache = DynamicCache()
        self.text(inputs_embeds=torch.cat([self.embed(self.lead), self.context])[None], past_key_values=cache, use_cache=True)
        return cache

    def attention(self, rows):
        """Of rows run behind the context: per layer [heads, rows, slots and rows]; values [kv heads, context, d] and norms of the rows' inputs."""
        cache = self.read_context()
        out = self.text(inputs_embeds=rows[None], past_key_values=cache, use_cache=True, output_attentions=True)
        values = [cache.layers[layer].values[0][:, self.first : self.first + self.n] for layer in range(self.layers)]
        return [a[0] for a in out.attentions], values, [x.norm(dim=-1) for x in self.inputs]

    def votes(self, rows, judged, norms, restricted):
        """[layers, kv heads, judged] of context tokens judged = (first, count)."""
        attention, values, inputs = self.attention(rows)
        first, count = judged
        begin, past = self.first + first, self.first + self.n
        result = []
        for layer in range(self.layers):
            a = attention[layer]
            own = a[:, :, begin : begin + count]
            if restricted:
                shared = a[:, :, : self.first].sum(-1) + own.sum(-1) + a[:, :, past:].sum(-1)
                own = own / shared[:, :, None]
            group = self.heads // self.kv_heads
            best = []
            for head in range(self.heads):
                weights = own[head]
                if norms:
                    weight = self.text.layers[layer].self_attn.o_proj.weight
                    d = weight.shape[1] // self.heads
                    value = values[layer][head // group][first : first + count]
                    weights = weights / inputs[layer][:, None] * (value @ weight[:, head * d : (head + 1) * d].T).norm(dim=-1)
                best.append(weights.amax(0))
            result.append(torch.stack(best).view(self.kv_heads, group, count).amax(1))
        return torch.stack(result)

    def repetition(self):
        return torch.cat([self.embed(self.words("\n\nRepeat the previous video exactly.<|im_end|><|im_start|>assistant\n")), self.context])

    def repeat(self, chunk, norms):
        end = "<|im_end|><|im_start|>assistant\n"
        votes = torch.zeros(self.layers, self.kv_heads, self.n, dtype=torch.float64)
        whole = chunk is None
        frame = (self.n - 1) // self.frames  # tokens of a frame; one newline embedding at the end
        size = self.n if whole or self.n <= chunk else max(1, chunk // frame) * frame
        borders = list(range(0, self.n, size))
        if len(borders) > 1 and self.n - borders[-1] == 1 and size + 1 <= chunk:
            borders.pop()  # the newline embedding alone still fits into the chunk before
        for begin in borders:
            following = [b for b in borders if b > begin]
            count = (following[0] if following else self.n) - begin
            if begin == 0:
                rows = [self.repetition()[: -self.n]]
            else:
                rows = [self.embed(self.words("\n\nRepeat the part of the previous video exactly, starting with ")),
                        self.context[max(0, begin - 8) : begin], self.embed(self.words(end))]
            rows.append(self.context[begin : begin + count])
            votes[:, :, begin : begin + count] = self.votes(torch.cat(rows), (begin, count), norms, restricted=not whole)
        return votes

    def request(self, text):
        return self.words(f"\n\n{text}<|im_end|><|im_start|>assistant\n")

    def told(self, longest, asked):
        """The ids of each request with its answer, all answers, whether they are of use, how close a choice of a word was.
        asked: requests of the user instead of a description."""
        rows, said, useful, closest = [], [], True, float("inf")
        for text in asked or ["Describe the video."]:
            prompt = self.request(text)
            answer, sound, margin = self.answer(self.read_context(), prompt, longest)
            useful, closest = useful and sound is not False and (bool(asked) or len(answer) >= 8), min(closest, margin)
            rows.append(prompt + answer)
            said += answer
        return rows, said, useful, closest

    def study(self, longest, norms, asked):
        rows, said, useful, closest = self.told(longest, asked)
        votes = [self.votes(self.embed(ids), (0, self.n), norms, restricted=False) for ids in rows]
        return torch.stack(votes).amax(0), useful, closest, said

    def answer(self, cache, prompt, longest):
        """Greedy; None, or False where it goes round in circles; how close the closest choice of a word was."""
        answer, useful, margin = [], None, float("inf")
        ids = prompt
        said = {}
        while len(answer) < longest:
            logits = self.head(self.text(inputs_embeds=self.embed(ids)[None], past_key_values=cache, use_cache=True).last_hidden_state[0, -1])
            best = logits.topk(2).values
            margin = min(margin, float((best[0] - best[1]) / logits.abs().max()))
            token = int(logits.argmax())
            if token in self.stop:
                break
            answer.append(token)
            ids = [token]
            if len(answer) >= 8:
                gram = tuple(answer[-8:])
                said[gram] = said.get(gram, 0) + 1
                if said[gram] == 3:
                    useful = False
                    break
        return answer, useful, margin

    def slots(self):
        """Keys after rotary and values of the context, per layer [kv heads, context, d]."""
        cache = self.read_context()
        return [[states[0][:, self.first : self.first + self.n] for states in (layer.keys, layer.values)] for layer in cache.layers]

    def key_difference(self):
        scores = []
        for keys, _ in self.slots():
            anchor = torch.nn.functional.normalize(keys, dim=-1).mean(1, keepdim=True)
            scores.append(-torch.nn.functional.cosine_similarity(keys, anchor, dim=-1))
        return torch.stack(scores)

    def queries_of(self, rows):
        """Of rows run behind the context, before rotary: per layer [rows, heads, d]."""
        self.attention(rows)
        return [queries.view(len(rows), self.heads, -1) for queries in self.queries]

    def asking(self, options, asked):
        """Queries of the requests, and of the model's answers to them; whether these are of use; how close a choice of a word was."""
        if options["stats"] == "answer":
            rows, _, useful, closest = self.told(int(options["answer"]), asked)
        else:
            rows, useful, closest = [self.request(text) for text in asked or ["Describe the video."]], True, float("inf")
        parts = [self.queries_of(self.embed(ids)) for ids in rows]
        if not useful:
            parts.append(self.queries_of(self.repetition()))
        return [torch.cat(layer) for layer in zip(*parts)], useful, closest

    def expected(self, horizon, eps, asking=None):
        scores = []
        for layer, (keys, values) in enumerate(self.slots()):
            d = keys.shape[-1]
            coming = torch.arange(self.first + self.n, self.first + self.n + horizon)[None]
            cos, sin = self.text.rotary_emb(keys, coming)
            eye = torch.eye(d, dtype=torch.float64)
            # Rows of `turn` are turned unit vectors, so a turned row vector is q @ turn.
            turn = (eye[:, None] * cos + rotate_half(eye[:, None]) * sin).mean(1)
            queries = self.queries[layer][self.first : self.first + self.n].view(self.n, self.heads, d) if asking is None else asking[layer]
            share = []
            for head in range(self.heads):
                rows = queries[:, head]
                mean = rows.mean(0) @ turn
                covariance = turn.T @ torch.cov(rows.T, correction=0) @ turn
                key = keys[head // (self.heads // self.kv_heads)]
                logits = key @ mean / d**0.5 + torch.einsum("ni,ij,nj->n", key, covariance, key) / (2 * d)
                share.append(logits.softmax(0))
            share = torch.stack(share).view(self.kv_heads, -1, self.n).mean(1)
            scores.append((share + eps) * values.norm(dim=-1))
        return torch.stack(scores)


def in_layers(total, layers):
    return [total // layers + (layer < total % layers) for layer in range(layers)]


class Stream:
    """Media clip by clip. kept: per layer and kv head which of the tokens read are left; the others are masked."""

    def __init__(self, probe):
        self.probe, self.text, self.cache = probe, probe.text, DynamicCache()
        self.kept = torch.ones(probe.layers, probe.kv_heads, 0, dtype=torch.bool)
        self.hooks = [
            block.self_attn.register_forward_pre_hook(lambda _, args, kwargs, layer=layer: (args, self.masked(layer, kwargs)), with_kwargs=True)
            for layer, block in enumerate(self.text.layers)
        ]
        self.run(probe.embed(probe.lead), self.cache)
        self.keep_all(probe.first)
        self.margin = float("inf")

    def close(self):
        for hook in self.hooks:
            hook.remove()

    def keep_all(self, count):
        self.kept = torch.cat([self.kept, torch.ones(*self.kept.shape[:2], count, dtype=torch.bool)], dim=-1)

    def masked(self, layer, kwargs):
        rows = kwargs["hidden_states"].shape[1]
        past = self.reading.get_seq_length(layer)
        allowed = torch.ones(self.probe.kv_heads, rows, past + rows, dtype=torch.bool).tril(past)
        allowed[:, :, : self.kept.shape[-1]] &= self.kept[layer][:, None, :]
        mask = torch.zeros(allowed.shape, dtype=torch.float64).masked_fill(~allowed, torch.finfo(torch.float64).min)
        kwargs["attention_mask"] = mask.repeat_interleave(self.probe.heads // self.probe.kv_heads, dim=0)[None]
        return kwargs

    def run(self, rows, cache):
        self.reading = cache
        return self.text(inputs_embeds=rows[None], past_key_values=cache, use_cache=True, output_attentions=True)

    def votes(self, rows, norms, template=False):
        """[layers, kv heads, tokens read so far]"""
        probe, cache = self.probe, copy.deepcopy(self.cache)
        out = self.run(rows, cache)
        group, first, end = probe.heads // probe.kv_heads, probe.first, self.kept.shape[-1]
        result = []
        for layer in range(probe.layers):
            weights = out.attentions[layer][0][:, :, first:end]
            if template:
                weights = weights / weights.sum(-1, keepdim=True)
                result.append(weights.mean(1).view(probe.kv_heads, group, -1).mean(1))
                continue
            if norms:
                projection = self.text.layers[layer].self_attn.o_proj.weight
                d = projection.shape[1] // probe.heads
                values = cache.layers[layer].values[0][:, first:end]
                gain = [(values[h // group] @ projection[:, h * d : (h + 1) * d].T).norm(dim=-1) for h in range(probe.heads)]
                weights = weights / probe.inputs[layer].norm(dim=-1)[None, :, None] * torch.stack(gain)[:, None]
            result.append(weights.amax(1).view(probe.kv_heads, group, -1).amax(1))
        return torch.stack(result)

    def judge(self, method, options, clip):
        probe, norms = self.probe, options.get("norms") == "true"
        if method == "keydiff":
            scores = torch.zeros(probe.layers, probe.kv_heads, self.kept.shape[-1] - probe.first, dtype=torch.float64)
            for layer in range(probe.layers):
                keys = self.cache.layers[layer].keys[0][:, probe.first :]
                for head in range(probe.kv_heads):
                    left = self.kept[layer, head, probe.first :]
                    anchor = torch.nn.functional.normalize(keys[head][left], dim=-1).mean(0)
                    scores[layer, head] = -torch.nn.functional.cosine_similarity(keys[head], anchor[None], dim=-1)
            return scores
        repeated = torch.cat([probe.embed(probe.request("Repeat the previous video exactly.")), clip])
        if method == "kvzip-stream":
            if options.get("proxy") == "template":
                return self.votes(probe.embed(probe.words("<|im_end|><|im_start|>assistant\n")), norms, template=True)
            return self.votes(probe.embed(probe.request("Describe the video.")) if options.get("proxy") == "text" else repeated, norms)
        prompt = probe.request("Describe the video.")
        telling = copy.deepcopy(self.cache)
        self.reading = telling
        answer, useful, margin = probe.answer(telling, prompt, int(options["answer"]))
        self.margin = min(self.margin, margin)
        scores = self.votes(probe.embed(prompt + answer), norms)
        if options.get("with") == "kvzip" or useful is False or len(answer) < 8:
            scores = torch.maximum(scores, self.votes(repeated, norms))
        return scores

    def changed(self, layer, head, options, cells, target):
        """Scores of InfiniPot-V: those that its first half keeps are infinite."""
        probe = self.probe
        left = self.kept[layer, head, probe.first :]
        slots = left.nonzero().flatten()
        keys, values = ([t[0][head, probe.first :] for t in (self.cache.layers[layer].keys, self.cache.layers[layer].values)])
        frame, cell = slots // cells, slots % cells
        newline = slots == probe.n - 1
        frame, cell = torch.where(newline, frame - 1, frame), torch.where(newline, torch.tensor(cells), cell)
        newest = max(1, int(float(options.get("newest", 0.125)) * (len(slots) // cells) + 0.5))
        recent = frame > frame.max() - newest
        change = torch.full((len(slots),), float("inf"), dtype=torch.float64)
        for i in range(len(slots)):
            if recent[i]:
                continue
            same = slots[recent & (cell == cell[i])]
            alike = torch.nn.functional.cosine_similarity(keys[slots[i]][None], keys[same], dim=-1)
            change[i] = -alike.mean() if len(same) else 0.0
        by_change = target - int(0.5 * target + 0.5)
        order = torch.argsort(change, descending=True, stable=True)
        scores = torch.zeros(len(left), dtype=torch.float64)
        scores[slots] = values[slots].norm(dim=-1)
        if not recent.all() and 0 < by_change < len(slots):
            self.margin = min(self.margin, float((change[order[by_change - 1]] - change[order[by_change]]).abs()))
        scores[slots[order[:by_change]]] = float("inf")
        return scores

    def watch(self, method, options, share, compete):
        """Which of the media's tokens are left when all clips have been read: [layers, kv heads, n]."""
        probe, frames = self.probe, int(options["clip"])
        cells = (probe.n - 1) // probe.frames
        borders = [*range(0, probe.frames * cells, frames * cells), probe.n]
        stored = torch.zeros(probe.layers, probe.kv_heads, 0, dtype=torch.float64)
        best_of_all = method in ("kvzip-stream", "self-study-stream") and options.get("stored") != "false" and options.get("proxy") != "template"
        for begin, end in zip(borders, borders[1:]):
            clip = probe.context[begin:end]
            self.run(clip, self.cache)
            self.keep_all(end - begin)
            left = self.kept[:, :, probe.first :]
            if method == "infinipot-v":
                cap = in_layers(int(share * probe.layers * probe.n + 0.5), probe.layers)
                target = float(options.get("target", 0.75))
                for layer in range(probe.layers):
                    if cap[layer] >= probe.n or int(left[layer].sum()) < cap[layer] * probe.kv_heads:
                        continue
                    count = max(1, int(target * cap[layer] + 0.5))
                    for head in range(probe.kv_heads):
                        now = left[layer, head].clone()
                        scores = self.changed(layer, head, options, cells, count)
                        left[layer, head] = self.best(scores, now, count)
                continue
            scores = self.judge(method, options, clip)
            if best_of_all:
                scores[:, :, : stored.shape[-1]] = torch.maximum(scores[:, :, : stored.shape[-1]], stored)
            stored = scores
            self.hold(scores, left, share, compete)
        return self.kept[:, :, probe.first :]

    def best(self, scores, left, count):
        into = torch.zeros_like(left)
        free = scores.masked_fill(~left, -float("inf")).flatten()
        order = torch.argsort(free, descending=True, stable=True)
        into.view(-1)[order[:count]] = True
        last, next_one = free[order[count - 1]], free[order[count]]
        if torch.isfinite(last) and torch.isfinite(next_one):
            self.margin = min(self.margin, float((last - next_one) / last.abs()))
        return into

    def hold(self, scores, left, share, compete):
        """Cuts what is left down to the cap where there is more."""
        layers, heads, n = self.probe.layers, self.probe.kv_heads, self.probe.n
        sizes = in_layers(int(share * layers * n * (heads if compete != "nobody" else 1) + 0.5), layers)
        if compete == "all":
            # An event comes when any layer has more than its share; then all compete for the sum.
            if any(int(left[layer].sum()) > sizes[layer] for layer in range(layers)) and int(left.sum()) > sum(sizes):
                left.copy_(self.best(scores, left.clone(), sum(sizes)))
            return
        for layer in range(layers):
            if compete == "layer" and int(left[layer].sum()) > sizes[layer]:
                left[layer] = self.best(scores[layer], left[layer].clone(), sizes[layer])
            if compete == "nobody" and int(left[layer].sum()) > heads * sizes[layer]:
                for head in range(heads):
                    left[layer, head] = self.best(scores[layer, head], left[layer, head].clone(), sizes[layer])


class Store:
    """All media, read through a window; a question's rows see the lead, themselves and, in every layer, the frames that fit them there."""

    def __init__(self, probe, options):
        self.probe, self.cosine, self.cache, self.kept = probe, options.get("sim") == "cosine", DynamicCache(), []
        self.keys, self.margin = [None] * probe.layers, float("inf")
        window, total = int(options.get("local_window", 15000)), probe.first + probe.n
        row, column = torch.arange(total)[:, None], torch.arange(total)[None]
        seen = (column <= row) & ((column > row - window) | (column < probe.first))
        self.run(torch.cat([probe.embed(probe.lead), probe.context]), lambda layer, hidden: seen)

    def run(self, rows, seen):
        probe, hooks = self.probe, []

        def before(layer, block, kwargs):
            hidden = kwargs["hidden_states"]
            if self.keys[layer] is None:
                self.keys[layer] = block.k_proj(hidden)[0, probe.first :].view(probe.n, probe.kv_heads, -1)
            allowed = seen(layer, hidden)
            kwargs["attention_mask"] = torch.zeros(allowed.shape, dtype=torch.float64).masked_fill(~allowed, torch.finfo(torch.float64).min)[None, None]
            return (), kwargs

        for layer, block in enumerate(probe.text.layers):
            hook = lambda module, args, kwargs, layer=layer: before(layer, module, kwargs)
            hooks.append(block.self_attn.register_forward_pre_hook(hook, with_kwargs=True))
        probe.text(inputs_embeds=rows[None], past_key_values=self.cache, use_cache=True)
        for hook in hooks:
            hook.remove()

    def likeness(self, layer, hidden):
        """Of every token's frame; the newline embedding goes with the last."""
        probe = self.probe
        query = probe.text.layers[layer].self_attn.q_proj(hidden)[0].view(hidden.shape[1], probe.heads, -1)[probe.asked].mean(0)
        frame = ((probe.n - 1) // probe.frames * torch.arange(1, probe.frames)).tolist()
        parts = self.keys[layer].tensor_split(frame)
        means = torch.stack([part.mean(0).repeat_interleave(probe.heads // probe.kv_heads, dim=0) for part in parts])
        alike = (means * query).sum((1, 2))
        if self.cosine:
            alike = alike / (means.flatten(1).norm(dim=1) * query.norm())
        return torch.cat([a.repeat(len(part)) for a, part in zip(alike, parts)]), alike

    def ask(self, share):
        probe, total = self.probe, self.probe.first + self.probe.n
        rows = probe.embed(probe.question)
        counts = in_layers(int(share * probe.layers * probe.n + 0.5), probe.layers)

        def seen(layer, hidden):
            likeness, alike = self.likeness(layer, hidden)
            fetched = torch.zeros(probe.n, dtype=torch.bool)
            fetched[torch.argsort(likeness, descending=True, stable=True)[: counts[layer]]] = True
            ordered = alike.sort(descending=True).values
            self.margin = min(self.margin, float(((ordered[:-1] - ordered[1:]) / alike.abs().max()).min()))
            self.kept.append(fetched)
            past = torch.cat([torch.ones(probe.first, dtype=torch.bool), fetched]).expand(len(rows), total)
            return torch.cat([past, torch.ones(len(rows), len(rows), dtype=torch.bool).tril()], dim=1)

        self.run(rows, seen)
        return torch.stack(self.kept)[:, None].expand(-1, probe.kv_heads, -1)


def streamed(probe, case, options, compete):
    """Which tokens are left, at a share where no decision was close; None where a word of the model's own was."""
    for share in SHARES:
        stream = Stream(probe)
        kept = stream.watch(case["method"], options, share, compete)
        stream.close()
        if stream.margin >= (GREEDY_MARGIN if case["method"] == "self-study-stream" else MARGIN):
            return kept, share, stream.margin
    return None


def fetched(probe, options):
    """Which tokens a question fetches, at a share where no two frames were close."""
    for share in SHARES:
        store = Store(probe, options)
        kept = store.ask(share)
        if store.margin >= MARGIN:
            return kept, share, store.margin
    return None


def chosen(scores, share, compete, floor=0.0):
    """Per layer and head the context's tokens that stay, and how close the closest decision was."""
    layers, heads, n = scores.shape
    kept = torch.zeros_like(scores, dtype=torch.bool)
    margin = float("inf")

    def pick(part, into, count):
        nonlocal margin
        free = part.masked_fill(into, -float("inf")).flatten()
        order = torch.argsort(free, descending=True, stable=True)
        into.view(-1)[order[:count]] = True
        if count > 0 and free[order[count]] > -float("inf"):
            margin = min(margin, float((free[order[count - 1]] - free[order[count]]) / free[order[count - 1]].abs()))

    if compete == "nobody":
        for layer, count in enumerate(in_layers(int(share * layers * n + 0.5), layers)):
            for head in range(heads):
                pick(scores[layer, head], kept[layer, head], count)
        return kept, margin
    total = int(share * layers * heads * n + 0.5)
    first = int(floor * share * n)
    for layer in range(layers):
        for head in range(heads):
            pick(scores[layer, head], kept[layer, head], first)
    if compete == "all":
        pick(scores, kept, total - first * layers * heads)
    else:
        for layer, count in enumerate(in_layers(total, layers)):
            pick(scores[layer], kept[layer], count - first * heads)
    return kept, margin


@torch.no_grad()
def main():
    tensors, cases = {}, []
    for name in FOLDERS:
        folder = HERE / "llava_onevision" / name
        probe = Probe(folder)
        probe.frames = len(json.loads((folder / "cases.json").read_text())["video"]["pictures"])
        frame = (probe.n - 1) // probe.frames
        for number, case in enumerate(CASES):
            options = dict(case["options"])
            norms = case["method"] != "kvzip" and options.get("norms") != "false"
            about = {}
            compete = options.get("compete", COMPETE[case["method"]])
            if "clip" in options or case["method"] == "rekv":
                found = streamed(probe, case, options, compete) if "clip" in options else fetched(probe, options)
                if found is None:
                    print(name, case, "left out: always a close decision")
                    continue
                kept, share, margin = found
                key = f"{name}.{number}"
                tensors[f"{key}.kept"] = kept.to(torch.uint8).contiguous()
                cases.append({"name": key, "folder": name, "method": case["method"], "options": options, "retention": share,
                              "lead": probe.first, "margin": margin})
                print(key, case["method"], options, share, f"margin {margin:.1e}")
                continue
            asked = options.get("ask", "").split("|") if "ask" in options else []
            if options.get("words") == "request":
                scores = torch.stack([probe.votes(probe.embed(probe.request(text)), (0, probe.n), norms, restricted=False) for text in asked]).amax(0)
            elif case["method"] == "self-study":
                scores, useful, margin, answer = probe.study(int(options["answer"]), norms, asked)
                about = {"useful": useful, "answer": answer}
                if margin < GREEDY_MARGIN:
                    print(name, case, "left out: greedy margin", margin)
                    continue
                if options.get("with", "kvzip") == "kvzip" or not useful:
                    scores = torch.maximum(scores, probe.repeat(None, norms))
            elif case["method"] == "keydiff":
                scores = probe.key_difference()
            elif case["method"] == "expected-attention":
                asking = None
                if "stats" in options:
                    asking, useful, closest = probe.asking(options, asked)
                    about = {"useful": useful}
                    if closest < GREEDY_MARGIN:
                        print(name, case, "left out: greedy margin", closest)
                        continue
                scores = probe.expected(int(options.get("horizon", 512)), float(options.get("eps", 0.02)), asking)
            else:
                chunk = 2000
                if options.get("chunk") == "two frames":
                    chunk = 2 * frame
                    options["chunk"] = str(chunk)
                scores = probe.repeat(chunk, norms)
            for share in SHARES:
                kept, margin = chosen(scores, share, compete, float(options.get("floor", FLOORS.get(case["method"], 0.0))))
                if margin >= MARGIN:
                    break
            else:
                raise SystemExit(f"{name} {case}: no share without a close decision")
            key = f"{name}.{number}"
            tensors[f"{key}.scores"] = scores.float().contiguous()
            tensors[f"{key}.kept"] = kept.to(torch.uint8).contiguous()
            cases.append({"name": key, "folder": name, "method": case["method"], "options": options, "retention": share,
                          "lead": probe.first, "margin": margin, **about})
            print(key, case["method"], options, share, f"margin {margin:.1e}", about.get("useful", ""))
    out = HERE / "context"
    out.mkdir(exist_ok=True)
    save_file(tensors, out / "golden.safetensors")
    (out / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
    versions = {"torch": torch.__version__, "transformers": transformers.__version__, "safetensors": safetensors.__version__}
    (out / "manifest.json").write_text(json.dumps({"made_by": "tests/golden/make/make_context_golden.py", "versions": versions,
                                                   "sources": SOURCES}, indent=1) + "\n")


if __name__ == "__main__":
    main()
