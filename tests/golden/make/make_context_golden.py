#!/usr/bin/env python3
"""Writes tests/golden/context: what methods that compress before the question keep of a video, computed with transformers in fp64.

    python tests/golden/make/make_context_golden.py

The folders and their video are those of tests/golden/llava_onevision. The media are read, rows that stand for later questions are run behind
them (the video repeated, or described by the model itself), and every slot gets the largest attention that any of these rows and any query
head of its group pays to it; KVzip+ weighs it by norm(W_O v) / norm(x). Written from the papers (SOURCES); nothing is shared with the program.
The share kept is chosen so that no decision is closer than MARGIN, relative to the score.

Needs torch, transformers, safetensors (versions: manifest.json).
"""

import json
import pathlib
import warnings

import safetensors
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, DynamicCache, LlavaOnevisionForConditionalGeneration

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
    "self-study": "rows of the request 'Describe the video.' and of the model's greedy answer, softmax over the whole cache",
}
CASES = [
    {"method": "kvzip", "options": {}},
    {"method": "kvzip", "options": {"compete": "all"}},
    {"method": "kvzip", "options": {"chunk": "two frames"}},
    {"method": "kvzip+", "options": {}},
    {"method": "kvzip+", "options": {"compete": "all"}},
    {"method": "self-study", "options": {"answer": "24"}},
    {"method": "self-study", "options": {"answer": "24", "compete": "layer", "norms": "false"}},
    {"method": "self-study", "options": {"answer": "24", "with": "kvzip"}},
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
        self.stop = {self.tokenizer.convert_tokens_to_ids("<|im_end|>")}
        self.inputs = [None] * self.layers
        for layer, block in enumerate(self.text.layers):
            block.self_attn.q_proj.register_forward_pre_hook(lambda _, args, layer=layer: self.inputs.__setitem__(layer, args[0][0]))

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
                rows = [self.embed(self.words("\n\nRepeat the previous video exactly." + end))]
            else:
                rows = [self.embed(self.words("\n\nRepeat the part of the previous video exactly, starting with ")),
                        self.context[max(0, begin - 8) : begin], self.embed(self.words(end))]
            rows.append(self.context[begin : begin + count])
            votes[:, :, begin : begin + count] = self.votes(torch.cat(rows), (begin, count), norms, restricted=not whole)
        return votes

    def study(self, longest, norms):
        prompt = self.words("\n\nDescribe the video.<|im_end|><|im_start|>assistant\n")
        answer, useful, margin = [], None, float("inf")
        cache, ids = self.read_context(), prompt
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
        if useful is None:
            useful = len(answer) >= 8
        rows = self.embed(prompt + answer)
        return self.votes(rows, (0, self.n), norms, restricted=False), useful, margin, answer


def chosen(scores, share, across):
    """Per layer and head the context's tokens that stay, and how close the closest decision was."""
    layers, heads, n = scores.shape
    total = int(share * layers * heads * n + 0.5)
    kept = torch.zeros_like(scores, dtype=torch.bool)
    margin = float("inf")

    def pick(part, into, count):
        order = torch.argsort(part.flatten(), descending=True, stable=True)
        into.view(-1)[order[:count]] = True
        last, next_ = part.flatten()[order[count - 1]], part.flatten()[order[count]]
        return float((last - next_) / last)

    if across:
        margin = pick(scores, kept, total)
    else:
        for layer in range(layers):
            count = total // layers + (1 if layer < total % layers else 0)
            margin = min(margin, pick(scores[layer], kept[layer], count))
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
            if case["method"] == "self-study":
                scores, useful, margin, answer = probe.study(int(options["answer"]), norms)
                about = {"useful": useful, "answer": answer}
                if margin < GREEDY_MARGIN:
                    print(name, case, "left out: greedy margin", margin)
                    continue
                if options.get("with") == "kvzip" or not useful:
                    scores = torch.maximum(scores, probe.repeat(None, norms))
            else:
                chunk = 2000
                if options.get("chunk") == "two frames":
                    chunk = 2 * frame
                    options["chunk"] = str(chunk)
                scores = probe.repeat(chunk, norms)
            across = options.get("compete", "all" if case["method"] == "self-study" else "layer") == "all"
            for share in SHARES:
                kept, margin = chosen(scores, share, across)
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
