#!/usr/bin/env python3
"""Writes tests/golden/methods: what published cache compressions keep and merge on small random layers.

    python tests/golden/make/make_methods_golden.py

Each method is written here again, from its paper and from what its public implementation does (SOURCES), on dense n x n attention in double
precision: keys repeated for every query head, softmax, topk, gather, scatter_reduce. Nothing is shared with the program. Where Winnow means
to differ, DIFFERENCES says how; for a case without differences whose kept set depends on attention the public
selection is run per query head as it is and must give the same sets; for the others the number of heads that it would treat otherwise is
written into cases.json (notes). Merging has one formulation here, the public one. PyramidKV's floor of w + 1 slots follows
Winnow's specification.

Inputs are redrawn until no decision is closer than MARGIN, so that single precision must decide alike.
Needs torch, safetensors (versions: manifest.json).
"""

import json
import math
import pathlib

import safetensors
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parents[1] / "methods"
MARGIN = 1e-5
HEAD_DIM = 8
SYSTEM, TEXT, VISUAL = 1, 2, 3

SOURCES = {
    "snapkv": "arXiv 2404.14469; FasterDecoding/SnapKV snapkv_utils.py: last w rows vote for the columns before them, pooled, topk",
    "pyramidkv": "arXiv 2406.02069; Zefan-Cai/KVCache-Factory pyramidkv_utils.py: SnapKV with budgets that fall with depth",
    "streaming-llm": "arXiv 2309.17453; mit-han-lab/streaming-llm kv_cache.py: first and last slots",
    "h2o": "arXiv 2306.14048; Zefan-Cai/KVCache-Factory: column sums of all rows, topk beside the last slots; NVIDIA/kvpress "
           "observed_attention_press.py: sums divided by the number of rows that see a column, mean over the group",
    "cam": "OpenReview LCTmppB165; zyxxmu/cam generate_task/streaming_llm/kv_cache_cam.py (probability, 16 following slots; nothing merged by "
           "evict_for_space); Zefan-Cai/KVCache-Factory pyramidkv_utils.py CAMKVCluster (prompt=push: into the following tokens of the "
           "prompt, first to last)",
    "look-m": "arXiv 2406.18139; SUSTechBruce/LOOK-M modify_llama.py: most similar kept key, scatter_reduce with reduce=mean, include_self",
    "aircache": "arXiv 2503.23956, equations 4-11; no public code",
    "prefixkv": "arXiv 2412.03409; THU-MIG/PrefixKV prefixkv.py: a common level of cumulated attention found by bisection, first and last "
                "token on top",
    "meda": "arXiv 2502.17599; AIoT-MLSys-Lab/MEDA: entropies between the modalities decide the budgets, merging as in LOOK-M",
    "random": "splitmix64 of (seed, layer, kv head, token); no paper",
}
DIFFERENCES = {
    "group-mean": "scores of the query heads on one kv head are averaged and the kv head keeps one set; the public code repeats the keys "
                  "and selects per query head",
    "ties": "equal scores (maximum pooling makes them) go to the smaller index; torch.topk leaves that open",
    "exact-total": "budgets of all layers sum to the request; the public code floors the smallest budget and the step between layers, "
                   "gives short prompts equal budgets and does not run with one layer",
    "floor": "a window of w slots never leaves fewer than w + 1 in a layer; SnapKV's public code refuses such a request, PyramidKV's takes "
             "w and less",
    "last-token": "the last token of the prompt always stays",
    "one-event": "all slots leave in one event, first to last, each into the tokens that follow it in the prompt whether they stay or leave "
                 "later (KVCache-Factory's order); the authors' code evicts one slot per token",
    "hashed-draw": "the uniform number is a hash of (seed, layer, kv head, token) instead of the generator's next one",
    "expected": "instead of drawing, the value is added times its probability; the public code only draws",
    "short-window": "near the end the value is divided by the slots that are there; the authors' code divides by m_c always",
    "maximum-of-kept": "reference=max: the largest attention of all kept slots stands for the window's mean",
    "text-boost": "text columns gain the largest column sum, as in the paper; the released code keeps all text (text_policy=hard)",
    "gate-per-head": "the gate is the mean cosine of the kv head's own evicted slots; the released code averages cosines over the heads",
    "head-mean": "elite_heads=mean: one elite from the heads' mean; the paper's formulas leave out head and layer to be simple",
    "elite-share": "elite_rule=share: the largest attentions by number instead of by distance from the largest",
    "skew-factor": "sample deviation and adjusted skewness, negative skew as 0, both halves at mean one (the formulas are not readable)",
    "exact-level": "the level is completed to the exact request, least mass first; the authors' bisection stops within five slots and "
                   "rescales",
    "xmodal": "the entropy between modalities of the paper; the released code computes that of the whole attention",
    "control": "no public counterpart",
}


class TooClose(Exception):
    """A decision that single precision might take otherwise."""


def clear(gap):
    if gap < MARGIN:
        raise TooClose(gap)


# ---- inputs ----------------------------------------------------------------------------------------------------------------------------

# layout: runs of system, text and visual tokens. spread: of the queries, per layer; larger makes sharper attention. fame: deviation
# of what a column's logits gain for every row (the last column as much as the best one), so that sums do not fall from the first column to
# the last only because fewer rows see it.
INPUTS = {
    "mha_two_images": dict(heads=2, kv_heads=2, spread=[1.0, 2.0, 0.5], fame=0.0, layout="S4 V20 T6 V20 T12"),
    "gqa_video": dict(heads=6, kv_heads=2, spread=[0.5, 1.0, 3.0], fame=2.0, layout="S3 V44 T11"),
    "image_last": dict(heads=4, kv_heads=1, spread=[1.0, 2.5], fame=2.0, layout="S3 T6 V39"),
    "image_first": dict(heads=3, kv_heads=3, spread=[1.5], fame=2.0, layout="V30 T14"),
    "no_image": dict(heads=4, kv_heads=2, spread=[1.0, 2.0], fame=0.0, layout="S6 T34"),
    "short": dict(heads=4, kv_heads=2, spread=[1.0, 1.0], fame=0.0, layout="S2 V14 T4"),
    "one_head": dict(heads=1, kv_heads=1, spread=[1.0], fame=0.0, layout="S2 V24 T6"),
    "one_token": dict(heads=2, kv_heads=1, spread=[1.0], fame=0.0, layout="V1"),
}


class Layers:
    """Q, K, V of all layers in double precision, and the attention that they give."""

    def __init__(self, name, seed):
        shape = INPUTS[name]
        kinds = {"S": SYSTEM, "T": TEXT, "V": VISUAL}
        self.modality = torch.tensor([kinds[run[0]] for run in shape["layout"].split() for _ in range(int(run[1:]))], dtype=torch.int32)
        self.n, self.layers = len(self.modality), len(shape["spread"])
        self.heads, self.kv_heads = shape["heads"], shape["kv_heads"]
        self.group = self.heads // self.kv_heads
        generator = torch.Generator().manual_seed(seed)
        spread = torch.tensor(shape["spread"]).view(-1, 1, 1, 1)
        self.stored = {
            "query": torch.randn(self.layers, self.heads, self.n, HEAD_DIM, generator=generator) * spread,
            "key": torch.randn(self.layers, self.kv_heads, self.n, HEAD_DIM, generator=generator),
            "value": torch.randn(self.layers, self.kv_heads, self.n, HEAD_DIM, generator=generator),
        }
        if shape["fame"]:
            self.stored["query"][..., 0] = 2.0
            self.stored["key"][..., 0] *= shape["fame"] * math.sqrt(HEAD_DIM) / 2.0
            self.stored["key"][..., -1, 0] = self.stored["key"][..., 0].max(-1).values
        self.query, self.key, self.value = (self.stored[part].double() for part in ("query", "key", "value"))
        self.logits = self.query @ self.key.repeat_interleave(self.group, 1).transpose(-1, -2) / math.sqrt(HEAD_DIM)
        causal = torch.ones(self.n, self.n).tril() > 0
        self.attention = torch.softmax(self.logits.masked_fill(~causal, -math.inf), -1)  # [layers, heads, rows, columns]
        self.text = self.modality != VISUAL

    def column_sums(self, rows=slice(None)):
        return self.attention[:, :, rows].sum(2)

    def per_kv_head(self, scores):
        return scores.view(self.layers, self.kv_heads, self.group, -1).mean(2)


# ---- budgets ---------------------------------------------------------------------------------------------------------------------------


def round_half_up(x):
    return math.floor(x + 0.5)


def total_budget(spec, layers, n):
    if "budget_tokens" in spec:
        return layers * min(spec["budget_tokens"], n)
    return min(max(round_half_up(spec["retention"] * layers * n), 0), layers * n)


def largest_remainder(real, total, high):
    """Integers below real shares; what is left goes to the largest fractions, lower layers first."""
    base = [min(math.floor(x + 1e-9), h) for x, h in zip(real, high)]
    rest = [round(x - b, 9) for x, b in zip(real, base)]
    order = sorted(range(len(real)), key=lambda layer: (-rest[layer], layer))
    left = total - sum(base)
    if 0 < left < len(real):
        last_given, first_not = rest[order[left - 1]], rest[order[left]]
        if last_given != first_not:
            clear(last_given - first_not)
    while left > 0:
        for layer in order:
            if left > 0 and base[layer] < high[layer]:
                base[layer] += 1
                left -= 1
    return base


def allocate(weights, spec, n, protected, min_fraction=0.0):
    layers = len(weights)
    total = total_budget(spec, layers, n)
    share = spec["budget_tokens"] / n if "budget_tokens" in spec else spec["retention"]
    low = min(n, max(1, protected, math.ceil(min(min_fraction, share) * n)))
    if layers * n <= total:
        return [n] * layers
    if layers * low >= total:
        return [low] * layers
    below, above = 0.0, 2.0 * total / min(w for w in weights if w > 0)
    for _ in range(300):
        middle = (below + above) / 2
        if sum(min(max(middle * w, low), n) for w in weights) < total:
            below = middle
        else:
            above = middle
    return largest_remainder([min(max(above * w, low), n) for w in weights], total, [n] * layers)


def pyramid_budgets(spec, layers, n, window, beta):
    total = total_budget(spec, layers, n)
    extra = total / layers - window
    assert extra > 0
    smallest = extra / beta
    largest = 2 * extra - smallest
    if largest > n - window:
        largest = n - window
        smallest = 2 * extra - largest
    if layers == 1:
        return [total]
    real = [window + largest - layer * (largest - smallest) / (layers - 1) for layer in range(layers)]
    return largest_remainder([max(share, window + 1) for share in real], total, [n] * layers)


def pyramid_budgets_of_public_code(spec, layers, n, window, beta):
    extra = total_budget(spec, layers, n) // layers - window
    smallest = extra // beta
    largest = extra * 2 - smallest
    if largest >= n - window:
        largest = n - window
        smallest = extra * 2 - largest
    if n < extra * 2:
        return [extra + window] * layers
    step = (largest - smallest) // (layers - 1)
    return [window + largest - layer * step for layer in range(layers)]


# ---- selection -------------------------------------------------------------------------------------------------------------------------


def best(scores, count, allowed):
    """The best `count` of the allowed columns: by score, then by index."""
    columns = sorted(allowed, key=lambda j: (-float(scores[j]), j))
    if 0 < count < len(columns):
        last_in, first_out = float(scores[columns[count - 1]]), float(scores[columns[count]])
        if last_in != first_out:
            clear((last_in - first_out) / max(1e-12, float(scores[columns[0]])))
    return set(columns[:count])


def topk(scores, count, columns):
    """The same as public code does it: torch.topk over a prefix of the columns."""
    return set(torch.topk(scores[:columns], count).indices.tolist())


def recent(share, budget):
    return min(max(round_half_up(share * budget), 1), budget)


def pool(scores, kernel, kind):
    if kind == "max":
        return F.max_pool1d(scores, kernel, padding=kernel // 2, stride=1)
    return F.avg_pool1d(scores, kernel, padding=kernel // 2, stride=1)


class Answer:
    """Per layer and kv head the kept columns; K and V afterwards where a method merges."""

    def __init__(self, kept, public=None):
        self.kept = [[sorted(head) for head in layer] for layer in kept]
        self.public = public  # per layer and query head, as public code chooses; None: position only or no counterpart
        self.key = self.value = None
        self.notes = {}


def window_votes(x, spec, window, kernel, kind, budgets):
    kept, public = [], []
    rows = slice(max(0, x.n - window), None)
    front = x.n - window
    for layer, budget in enumerate(budgets):
        if budget >= x.n:
            kept.append([range(x.n)] * x.kv_heads)
            public.append([set(range(x.n))] * x.heads)
            continue
        votes = x.column_sums(rows)[:, :, :front]
        pooled = pool(x.per_kv_head(votes)[layer], kernel, kind)
        tail = set(range(front, x.n))
        kept.append([best(pooled[h], budget - window, range(front)) | tail for h in range(x.kv_heads)])
        per_query = pool(votes[layer], kernel, kind)
        public.append([topk(per_query[q], budget - window, front) | tail for q in range(x.heads)])
    return Answer(kept, public)


def snapkv(x, spec):
    option = spec["options"]
    window, kernel, kind = int(option.get("window", 32)), int(option.get("kernel", 5)), option.get("pooling", "average")
    return window_votes(x, spec, window, kernel, kind, allocate([1.0] * x.layers, spec, x.n, window + 1))


def pyramidkv(x, spec):
    option = spec["options"]
    window, kernel, kind = int(option.get("window", 8)), int(option.get("kernel", 7)), option.get("pooling", "max")
    beta = float(option.get("beta", 20))
    budgets = pyramid_budgets(spec, x.layers, x.n, window, beta)
    answer = window_votes(x, spec, window, kernel, kind, budgets)
    answer.notes = {"budgets": budgets}
    if x.layers > 1:
        answer.notes["public budgets"] = pyramid_budgets_of_public_code(spec, x.layers, x.n, window, int(beta))
    return answer


def sinks_and_window(x, spec, sinks):
    budgets = allocate([1.0] * x.layers, spec, x.n, sinks + 1)
    columns = list(range(x.n))
    return [[columns if b >= x.n else columns[:sinks] + columns[x.n - (b - sinks):]] * x.kv_heads for b in budgets]


def streaming_llm(x, spec):
    return Answer(sinks_and_window(x, spec, 0 if spec["method"] == "local-window" else int(spec["options"].get("sinks", 4))))


def heavy_hitters(x, spec):
    option = spec["options"]
    budgets = allocate([1.0] * x.layers, spec, x.n, 1)
    sums = x.column_sums()
    if option.get("score") == "mean":
        sums = sums / torch.arange(x.n, 0, -1)
    shared = x.per_kv_head(sums)
    kept, public = [], []
    for layer, budget in enumerate(budgets):
        if budget >= x.n:
            kept.append([range(x.n)] * x.kv_heads)
            public.append([set(range(x.n))] * x.heads)
            continue
        last = recent(float(option.get("recent_share", 0.5)), budget)
        tail = set(range(x.n - last, x.n))
        kept.append([best(shared[layer, h], budget - last, range(x.n - last)) | tail for h in range(x.kv_heads)])
        if option.get("score") == "mean":  # kvpress: the mean over the group, nothing protected
            public.append([topk(shared[layer, q // x.group], budget, x.n) for q in range(x.heads)])
        else:
            public.append([topk(sums[layer, q], budget - last, x.n - last) | tail for q in range(x.heads)])
    return Answer(kept, public)


def prefixkv(x, spec):
    """The largest common level whose prefixes fit the request, then slot by slot where least mass is held."""
    first = int(spec["options"].get("first", 1))
    scores = x.column_sums().mean(1)
    mass = torch.sort(scores, descending=True).values.cumsum(-1)
    mass = torch.cat([torch.zeros(x.layers, 1, dtype=mass.dtype), mass / mass[:, -1:]], 1).tolist()
    on_top, total = first + 1, total_budget(spec, x.layers, x.n)
    longest = x.n - on_top
    assert x.layers * on_top < total < x.layers * x.n

    def prefixes(level):
        return [min(next((k for k, m in enumerate(layer) if m >= level), longest), longest) for layer in mass]

    below, above = 0.0, 1.0
    for _ in range(100):
        middle = (below + above) / 2
        if sum(prefixes(middle)) + x.layers * on_top <= total:
            below = middle
        else:
            above = middle
    lengths = prefixes(below)
    while sum(lengths) + x.layers * on_top < total:
        least = sorted((mass[layer][k], layer) for layer, k in enumerate(lengths) if k < longest)
        if len(least) > 1:
            clear(least[1][0] - least[0][0])
        lengths[least[0][1]] += 1
    kept = []
    for layer, length in enumerate(lengths):
        forced = set(range(first)) | {x.n - 1}
        kept.append([best(scores[layer], length, range(first, x.n - 1)) | forced] * x.kv_heads)
    answer = Answer(kept)
    answer.notes = {"budgets": [length + on_top for length in lengths]}
    return answer


def random_eviction(x, spec):
    budgets = allocate([1.0] * x.layers, spec, x.n, 1)
    kept = []
    for layer, budget in enumerate(budgets):
        draws = [[hash_uniform(spec["seed"], layer, head, j) for j in range(x.n)] for head in range(x.kv_heads)]
        kept.append([best(d, budget - 1, range(x.n - 1)) | {x.n - 1} for d in draws])
    return Answer(kept)


def aircache(x, spec):
    """Only images compete; the question's elite judges them, head by head, in a softmax over images and the elite before it."""
    option = spec["options"]
    alpha = float(option.get("alpha", 0.9))
    visual = (~x.text).nonzero()[:, 0]
    question = [j for j in range(int(visual[-1]) + 1, x.n) if x.modality[j] == TEXT]
    wide = question[-1]
    importance, strength, skew = [], [], []
    for layer in range(x.layers):
        to_text = torch.softmax(x.logits[layer][:, wide, question], -1)
        if option.get("elite_heads") == "mean":
            to_text = to_text.mean(0, keepdim=True).expand(x.heads, -1)
        per_head = []
        for head in range(x.heads):
            row = to_text[head]
            if option.get("elite_rule") == "share":
                count = max(1, math.ceil((1 - alpha) * len(question) - 1e-9))
                elite = best(row, count, range(len(question)))
            else:
                others = row[row < row.max()] / row.max()
                clear(float((others - alpha).abs().min()))
                elite = set((row >= alpha * row.max()).nonzero()[:, 0].tolist())
            elite = sorted(question[e] for e in elite)
            judged = torch.zeros(len(visual), dtype=torch.double)
            for i in elite:
                columns = visual.tolist() + [j for j in elite if j <= i]
                judged += torch.softmax(x.logits[layer][head, i, columns], -1)[: len(visual)]
            per_head.append(judged / len(elite))
        mean = torch.stack(per_head).mean(0)
        importance.append(mean)
        strength.append(float(mean.sum()))
        count = len(visual)
        skew.append(max(0.0, float(count / ((count - 1) * (count - 2)) * (((mean - mean.mean()) / mean.std()) ** 3).sum())))
    halves = [strength[layer] / sum(strength) + skew[layer] / sum(skew) for layer in range(x.layers)]
    budgets = allocate(halves, spec, len(visual), 0)
    kept = []
    for layer, budget in enumerate(budgets):
        chosen = {int(visual[v]) for v in best(importance[layer], budget, range(len(visual)))}
        kept.append([chosen | {j for j in range(x.n) if x.text[j]}] * x.kv_heads)
    answer = Answer(kept)
    answer.notes = {"budgets": budgets, "strength": [round(s, 6) for s in strength], "skew": [round(s, 6) for s in skew]}
    return answer


# ---- merging by keys: LOOK-M and MEDA --------------------------------------------------------------------------------------------------


def merge_by_similarity(x, answer, kind, gate=False):
    """scatter_reduce of every evicted pair into the kept pair whose key is most similar, as the public code writes it."""
    answer.key, answer.value = [], []
    for layer, heads in enumerate(answer.kept):
        keys, values = [], []
        for head, kept in enumerate(heads):
            gone = [j for j in range(x.n) if j not in set(kept)]
            key, value = x.key[layer, head], x.value[layer, head]
            if gone:
                cosine = F.normalize(key[gone], dim=-1) @ F.normalize(key[kept], dim=-1).T
                similarity, target = cosine.max(-1)
                if len(kept) > 1:
                    two = cosine.topk(2, -1).values
                    clear(float((two[:, 0] - two[:, 1]).min()))
                if gate:
                    clear(float((similarity - similarity.mean()).abs().min()))
                    passed = similarity >= similarity.mean()
                    gone = [j for j, yes in zip(gone, passed.tolist()) if yes]
                    similarity, target = similarity[passed], target[passed]
                key, value = (reduce_into(state[kept], state[gone], similarity, target, kind) for state in (key, value))
            else:
                key, value = key[kept], value[kept]
            keys.append(key)
            values.append(value)
        answer.key.append(keys)
        answer.value.append(values)
    return answer


def reduce_into(kept, gone, similarity, target, kind):
    index = target.unsqueeze(-1).expand_as(gone)
    if kind == "pivot":
        gone = (gone + kept.gather(0, index)) / 2
    elif kind == "weighted":
        gone = similarity.unsqueeze(-1) * gone
    return kept.scatter_reduce(0, index, gone, reduce="mean", include_self=True)


def images_only(sums, text, important, last):
    """The released code: images are lowered by a large number, the best before the recent ones set to 0; what is not below 0 stays."""
    lowered = sums - 65516.0 * (~text)
    lowered[torch.topk(lowered[:-last], important).indices] = 0.0
    lowered[-last:] = 0.0
    return set((lowered >= 0).nonzero()[:, 0].tolist())


def text_prior(x, spec, budgets, share):
    """Column sums, text columns raised by the largest; with text_policy=hard all text stays and images share what is left."""
    sums = x.column_sums()
    scores = x.per_kv_head(sums).clone()
    scores[:, :, x.text] += scores.max(-1, keepdim=True).values
    kept, public = [], []
    for layer, budget in enumerate(budgets):
        if budget >= x.n:
            kept.append([range(x.n)] * x.kv_heads)
            public.append([set(range(x.n))] * x.heads)
            continue
        last = recent(share, budget)
        front = range(x.n - last)
        tail = set(range(x.n - last, x.n))
        public.append([images_only(sums[layer, q], x.text, budget - last, last) for q in range(x.heads)])
        if spec["options"].get("text_policy") == "hard":
            text = {j for j in front if x.text[j]}
            images = [j for j in front if not x.text[j]]
            count = max(0, budget - last - len(text))
            kept.append([best(scores[layer, h], count, images) | text | tail for h in range(x.kv_heads)])
        else:
            kept.append([best(scores[layer, h], budget - last, front) | tail for h in range(x.kv_heads)])
    return Answer(kept, public)


def look_m(x, spec):
    kind = {"look-m": "pivot", "look-m-average": "average", "look-m-weighted": "weighted"}[spec["method"]]
    answer = text_prior(x, spec, allocate([1.0] * x.layers, spec, x.n, 1), float(spec["options"].get("recent_share", 0.5)))
    return merge_by_similarity(x, answer, kind, spec["options"].get("merge_gate") == "mean")


def row_entropy(p):
    return -(p * torch.where(p > 0, p, torch.ones_like(p)).log()).sum(-1)


def cross_modal_entropy(x, layer):
    text, visual = x.text.nonzero()[:, 0], (~x.text).nonzero()[:, 0]
    total = 0.0
    for rows, columns in ((text, visual), (visual, text)):
        restricted = torch.softmax(x.logits[layer][:, rows][:, :, columns], -1).mean(0)
        total += float(row_entropy(restricted).mean())
    return total


def meda(x, spec):
    option = spec["options"]
    if x.text.all() or not x.text.any() or option.get("entropy") == "full_attention":
        entropies = [float(row_entropy(x.attention[layer]).mean()) for layer in range(x.layers)]
    else:
        entropies = [cross_modal_entropy(x, layer) for layer in range(x.layers)]
    weights = torch.softmax(torch.tensor(entropies, dtype=torch.double), 0).tolist()
    budgets = allocate(weights, spec, x.n, 1, min_fraction=0.01)
    answer = text_prior(x, spec, budgets, float(option.get("recent_share", 0.5)))
    answer.notes = {"entropies": [round(e, 6) for e in entropies], "budgets": budgets}
    return merge_by_similarity(x, answer, option.get("merge", "average"))


# ---- merging by position: CaM ----------------------------------------------------------------------------------------------------------

WORD = (1 << 64) - 1


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def hash_uniform(seed, layer, head, token):
    return (splitmix64(splitmix64(splitmix64(seed) ^ ((layer << 32) | head)) ^ token) >> 40) * 2.0 ** -24


def cam(x, spec):
    option = spec["options"]
    if option.get("base") == "h2o":
        answer = Answer(heavy_hitters(x, spec).kept)
    else:
        answer = Answer(sinks_and_window(x, spec, int(option.get("sinks", 4))))
    accumulated = x.per_kv_head(x.column_sums())
    expected = spec["method"] == "cam-expected"
    if option.get("prompt", "drop") == "drop":
        return answer
    answer.key, answer.value = [], []
    pushed = drawn = 0
    for layer, heads in enumerate(answer.kept):
        keys, values = [], []
        for head, kept in enumerate(heads):
            share = accumulated[layer, head]
            # carried[i, j]: how much of token j's value stands in token i's place. What a leaving token was given itself goes on with it.
            carried = torch.eye(x.n, dtype=torch.double)
            for gone in (j for j in range(x.n) if j not in set(kept)):
                following = slice(gone + 1, gone + 1 + int(option.get("window", 16)))
                count = len(share[following])
                if count == 0:
                    continue
                reference = share[kept].max() if option.get("reference") == "max" else share[following].mean()
                probability = float((share[gone] / reference).clamp(0, 1))
                drawn += 1
                factor = probability
                if not expected:
                    draw = hash_uniform(spec["seed"], layer, head, gone)
                    clear(abs(draw - probability))
                    factor = 1.0 if draw < probability else 0.0
                    pushed += int(factor)
                carried[following] += carried[gone] * factor / count
            keys.append(x.key[layer, head][kept])
            values.append((carried @ x.value[layer, head])[kept])
        answer.key.append(keys)
        answer.value.append(values)
    if not expected:
        answer.notes = {"pushed": pushed, "of": drawn}
    return answer


# ---- cases -----------------------------------------------------------------------------------------------------------------------------

RULES = {"snapkv": snapkv, "pyramidkv": pyramidkv, "streaming-llm": streaming_llm, "local-window": streaming_llm, "h2o": heavy_hitters,
         "cam": cam, "cam-expected": cam, "look-m": look_m, "look-m-average": look_m, "look-m-weighted": look_m, "meda": meda,
         "aircache": aircache, "prefixkv": prefixkv, "random": random_eviction}
ONCE = {"phase": "once"}


def case(name, method, data, budget, differences=(), seed=0, options=None):
    spec = {"method": method, "seed": seed, "options": dict(options or {})}
    spec["budget_tokens" if isinstance(budget, int) else "retention"] = budget
    return {"name": name, "input": data, "spec": spec, "differences": list(differences)}


PUSH = ("one-event", "hashed-draw", "short-window")
MEAN = ("one-event", "expected", "short-window")
PROMPT = {"prompt": "push"}
CASES = [
    case("snapkv_public", "snapkv", "mha_two_images", 40),
    case("snapkv_small_window", "snapkv", "mha_two_images", 0.3, options={"window": "8", "kernel": "7"}),
    case("snapkv_maximum", "snapkv", "mha_two_images", 24, ["ties"], options={"window": "8", "kernel": "7", "pooling": "max"}),
    case("snapkv_group", "snapkv", "gqa_video", 0.6, ["group-mean"]),
    case("snapkv_one_kv_head", "snapkv", "image_last", 12, ["group-mean"], options={"window": "4", "kernel": "3"}),
    case("snapkv_floor", "snapkv", "gqa_video", 0.1, ["group-mean", "floor"]),
    case("snapkv_no_image", "snapkv", "no_image", 0.5, ["group-mean"], options={"window": "16"}),
    case("snapkv_shorter_than_window", "snapkv", "short", 0.5),
    case("pyramidkv_public", "pyramidkv", "mha_two_images", 28, options={"pooling": "average", "kernel": "5"}),
    case("pyramidkv_maximum", "pyramidkv", "mha_two_images", 24, ["ties", "exact-total"]),
    case("pyramidkv_group", "pyramidkv", "gqa_video", 0.25, ["group-mean", "ties", "exact-total", "floor"]),
    case("pyramidkv_capped", "pyramidkv", "gqa_video", 0.65, ["group-mean", "exact-total"], options={"pooling": "average", "kernel": "3"}),
    case("pyramidkv_one_layer", "pyramidkv", "image_first", 0.4, ["exact-total"], options={"pooling": "average", "beta": "10"}),
    case("streaming_images", "streaming-llm", "mha_two_images", 0.25),
    case("streaming_group", "streaming-llm", "gqa_video", 11, options={"sinks": "2"}),
    case("streaming_uneven", "streaming-llm", "image_last", 0.47),
    case("window_only", "local-window", "gqa_video", 9),
    case("h2o_public", "h2o", "mha_two_images", 0.3, options=ONCE),
    case("h2o_recent_tenth", "h2o", "image_first", 20, options={**ONCE, "recent_share": "0.1"}),
    case("h2o_group", "h2o", "gqa_video", 0.2, ["group-mean"], options=ONCE),
    case("h2o_decode_event", "h2o", "image_last", 0.33, ["group-mean"]),
    case("observed_mean", "h2o", "gqa_video", 0.5, ["last-token"], options={**ONCE, "score": "mean", "recent_share": "0"}),
    case("observed_mean_public", "h2o", "image_first", 0.6, options={**ONCE, "score": "mean", "recent_share": "0"}),
    case("observed_mean_text", "h2o", "no_image", 0.25, ["last-token"], options={**ONCE, "score": "mean", "recent_share": "0"}),
    case("aircache_two_images", "aircache", "mha_two_images", 0.2, ["skew-factor"]),
    case("aircache_group", "aircache", "gqa_video", 0.1, ["skew-factor"]),
    case("aircache_many_judges", "aircache", "gqa_video", 0.3, ["skew-factor"], options={"alpha": "0.2"}),
    case("aircache_head_mean", "aircache", "gqa_video", 0.2, ["skew-factor", "head-mean"], options={"elite_heads": "mean", "alpha": "0.6"}),
    case("aircache_share", "aircache", "image_first", 6, ["skew-factor", "elite-share"], options={"elite_rule": "share", "alpha": "0.75"}),
    case("aircache_share_of_mean", "aircache", "mha_two_images", 0.4, ["skew-factor", "head-mean", "elite-share"],
         options={"elite_heads": "mean", "elite_rule": "share", "alpha": "0.5"}),
    case("prefixkv_two_images", "prefixkv", "mha_two_images", 0.1, ["exact-level"]),
    case("prefixkv_group", "prefixkv", "gqa_video", 0.2, ["exact-level"]),
    case("prefixkv_few", "prefixkv", "image_last", 5, ["exact-level"], options={"first": "2"}),
    case("random_head", "random", "gqa_video", 0.15, ["control"], seed=3),
    case("cam_prompt", "cam", "mha_two_images", 0.3),
    case("cam_prompt_on_h2o", "cam", "image_first", 0.35, options={"base": "h2o"}),
    case("cam_expected_prompt", "cam-expected", "gqa_video", 0.3),
    case("cam_seed_0", "cam", "mha_two_images", 0.3, PUSH, options=PROMPT),
    case("cam_seed_7", "cam", "gqa_video", 0.2, PUSH, seed=7, options={**PROMPT, "window": "4"}),
    case("cam_large_seed", "cam", "image_last", 10, PUSH, seed=2**63 + 12345, options={**PROMPT, "sinks": "1"}),
    case("cam_on_h2o", "cam", "image_first", 0.35, PUSH, seed=1, options={**PROMPT, "base": "h2o"}),
    case("cam_maximum", "cam", "mha_two_images", 0.4, (*PUSH, "maximum-of-kept"), seed=5, options={**PROMPT, "reference": "max"}),
    case("cam_expected", "cam-expected", "gqa_video", 0.3, MEAN, options=PROMPT),
    case("cam_expected_on_h2o", "cam-expected", "no_image", 0.4, MEAN, options={**PROMPT, "base": "h2o", "window": "3"}),
    case("look_m_pivot", "look-m", "mha_two_images", 0.3, ["text-boost"]),
    case("look_m_pivot_group", "look-m", "gqa_video", 0.2, ["text-boost", "group-mean"]),
    case("look_m_hard_text", "look-m", "mha_two_images", 26, options={"text_policy": "hard", "recent_share": "0.2"}),
    case("look_m_text_above_budget", "look-m", "image_first", 10, options={"text_policy": "hard", "recent_share": "0.3"}),
    case("look_m_no_image", "look-m", "no_image", 0.25, ["text-boost", "group-mean"]),
    case("look_m_average", "look-m-average", "image_last", 0.3, ["text-boost", "group-mean"]),
    case("look_m_average_first", "look-m-average", "image_first", 0.25, ["text-boost"]),
    case("look_m_weighted", "look-m-weighted", "mha_two_images", 0.2, ["text-boost"]),
    case("look_m_weighted_gate", "look-m-weighted", "gqa_video", 0.15, ["text-boost", "group-mean", "gate-per-head"],
         options={"merge_gate": "mean"}),
    case("meda", "meda", "gqa_video", 0.2, ["xmodal", "text-boost", "group-mean"]),
    case("meda_images", "meda", "mha_two_images", 0.3, ["xmodal", "text-boost"]),
    case("meda_paper_share", "meda", "gqa_video", 0.25, ["xmodal", "text-boost", "group-mean"], options={"recent_share": "0.75"}),
    case("meda_full_attention", "meda", "image_last", 0.25, ["text-boost", "group-mean"],
         options={"entropy": "full_attention"}),
    case("meda_pivot", "meda", "image_first", 0.3, ["xmodal", "text-boost"], options={"merge": "pivot"}),
    case("meda_no_image", "meda", "no_image", 0.3, ["text-boost", "group-mean"]),
    case("meda_short", "meda", "short", 0.4, ["xmodal", "text-boost", "group-mean"]),
    case("look_m_gate_one_head", "look-m-weighted", "one_head", 14,
         options={"text_policy": "hard", "recent_share": "0.3", "merge_gate": "mean"}),
    case("meda_hard_text", "meda", "mha_two_images", 0.45, ["xmodal"],
         options={"text_policy": "hard", "merge": "pivot", "recent_share": "0.5"}),
    case("one_token", "h2o", "one_token", 0.1, options=ONCE),
]


def check_against_public(entry, x, answer, notes):
    """Without differences public code must choose the same; otherwise say how many heads it would treat otherwise."""
    if answer.public is None:
        return
    ours = [[set(answer.kept[layer][q // x.group]) for q in range(x.heads)] for layer in range(x.layers)]
    other = sum(a != b for mine, theirs in zip(ours, answer.public) for a, b in zip(mine, theirs))
    if not entry["differences"]:
        assert other == 0, entry["name"]
    notes["query heads that public code treats otherwise"] = f"{other} of {x.layers * x.heads}"
    budgets = answer.notes.get("budgets")
    if "public budgets" in answer.notes and "exact-total" not in entry["differences"]:
        assert budgets == answer.notes["public budgets"], entry["name"]


def draw(name, seed):
    """All answers on one input; the first seed from `seed` on that leaves no doubtful decision."""
    while True:
        x = Layers(name, seed)
        try:
            return x, seed, [(entry, RULES[entry["spec"]["method"]](x, entry["spec"])) for entry in CASES if entry["input"] == name]
        except TooClose:
            seed += 1


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    tensors, listed, seeds = {}, {}, {}
    for index, name in enumerate(INPUTS):
        x, seeds[name], answers = draw(name, 1000 * (index + 1))
        for part, values in x.stored.items():
            tensors[f"{name}.{part}"] = values.contiguous()
        tensors[f"{name}.modality"] = x.modality
        for entry, answer in answers:
            notes = dict(answer.notes)
            check_against_public(entry, x, answer, notes)
            kept = [head for layer in answer.kept for head in layer]
            tensors[entry["name"] + ".counts"] = torch.tensor([len(head) for head in kept], dtype=torch.int32)
            tensors[entry["name"] + ".kept"] = torch.tensor([j for head in kept for j in head], dtype=torch.int32)
            # Eviction alone leaves rows of the input.
            for part, state, before in (("keys", answer.key, x.key), ("values", answer.value, x.value)):
                if state is None:
                    continue
                rows = torch.cat([head for layer in state for head in layer])
                same = torch.cat([before[layer, h][list(kept)] for layer, heads in enumerate(answer.kept) for h, kept in enumerate(heads)])
                if not torch.equal(rows, same):
                    tensors[f"{entry['name']}.{part}"] = rows.float().contiguous()
            listed[entry["name"]] = {**entry, "notes": notes} if notes else entry
    save_file(tensors, OUT / "golden.safetensors")
    (OUT / "golden.safetensors").chmod(0o644)
    cases = [listed[entry["name"]] for entry in CASES]
    (OUT / "cases.json").write_text("[\n" + ",\n".join(json.dumps(entry) for entry in cases) + "\n]\n")
    manifest = {
        "what": "kept columns and merged keys and values of published methods on random layers, from dense attention in double precision",
        "source": {"torch": torch.__version__.split("+")[0], "safetensors": safetensors.__version__},
        "script": "tests/golden/make/make_methods_golden.py",
        "implementations": SOURCES,
        "differences": DIFFERENCES,
        "cases without a difference": [entry["name"] for entry in CASES if not entry["differences"]],
        "inputs": {name: {**shape, "head_dim": HEAD_DIM, "seed": seeds[name]} for name, shape in INPUTS.items()},
        "files": {"golden.safetensors": "per input query [layers, heads, n, d], key, value [layers, kv heads, n, d], modality (1 system, 2 "
                                        "text, 3 visual); per case counts [layers * kv heads], kept (columns, concatenated), keys and "
                                        "values (rows of kept slots, concatenated) where merging changes them",
                  "cases.json": "recipe, input and differences of every case; what was found on the way"},
        "tolerance": {"kept": 0, "merged": 1e-5, "why": f"no decision is closer than {MARGIN}; merged values are sums of "
                      "at most some dozen numbers of magnitude 3 in single precision"},
        "licence": "Apache-2.0; computed from formulas, random numbers",
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
