#!/usr/bin/env python3
"""Writes tests/golden/glm4v and glm4v_moe: tiny random GLM-4V folders of three classes and what transformers computes with them in fp32.

    python tests/golden/make/make_glm4v_golden.py

As make_qwen3_vl_golden.py, whose cases and pictures these are, with an image that is less than a cell high. A medium's features are the rows
that the program has of it: of a cell what the merger makes; of marks and times among a video's tokens their embedding. transformers 5.24
cannot put images and videos into one prompt (get_placeholder_mask() takes the cells of both for either's): there the same modules are asked
one by one, which is compared with its own way wherever that exists. sizes.json: what the
processors make of sizes, in rows as the manifest says.

Needs torch, torchvision, transformers 5.24, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json
import shutil

import family_golden
import torch
import transformers
from family_golden import GOLDEN, GREEDY_TOKENS, loaded, main, messages_of, write_folder, write_weights
from tokenizers import AddedToken
from transformers import AutoProcessor, Glm46VForConditionalGeneration, Glm4vForConditionalGeneration, Glm4vMoeForConditionalGeneration
from transformers.models.glm4v.video_processing_glm4v import smart_resize

import make_qwen2_vl_golden as qwen2
import make_qwen3_vl_golden as qwen3

FAMILY = "glm4v"
EXPERTS = "glm4v_moe"
CLASSES = {"glm4v": Glm4vForConditionalGeneration, "glm46v": Glm46VForConditionalGeneration, EXPERTS: Glm4vMoeForConditionalGeneration}
PROCESSORS = {"glm4v": "Glm4v", "glm46v": "Glm46V", EXPERTS: "Glm4v"}
TEMPLATES = {"glm4v": "GLM-4.1V-9B-Thinking", "glm46v": "GLM-4.5V", EXPERTS: "GLM-4.5V"}  # as published; 4.6V-Flash has the second's
PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>",
           "<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>", "<|image|>", "<|video|>", "</answer>"]
ADDED = ["<think>", "</think>", "<answer>", "<|begin_of_box|>", "<|end_of_box|>", "/nothink"]
CLIP_COLOURS = dict(image_mean=[0.48145466, 0.4578275, 0.40821073], image_std=[0.26862954, 0.26130258, 0.27577711])

# seed: one whose greedy choices are no ties and say many words. layout: "published" as the folders on the hub are (rope_scaling, a share of a
# head beside it, preprocessor_config.json and video_preprocessor_config.json), "saved" as transformers 5 saves them (rope_parameters,
# processor_config.json).
CONFIGURATIONS = {
    "glm4v/thinking": dict(
        seed=3, family="glm4v",
        covers="GLM-4.1V, rope_scaling with partial_rotary_factor beside it, half of a head rotates, 4 query heads on 2 kv heads, tied embeddings, no bias "
               "in the tower, whole seconds behind frames, a video that is made smaller, bf16",
        text=dict(num_hidden_layers=3, hidden_size=64, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2), sections=[2, 1, 1],
        rope=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5), tied=True,
        vision=dict(depth=2, hidden_size=16, intermediate_size=24, num_heads=2, patch_size=4, spatial_merge_size=2, temporal_patch_size=2, image_size=21),
        pixels=dict(size=dict(shortest_edge=16 * 64, longest_edge=40 * 64), **CLIP_COLOURS),
        frames=dict(size=dict(shortest_edge=16 * 64, longest_edge=60 * 64), **CLIP_COLOURS), layout="published", stored=torch.bfloat16),
    "glm4v/flash": dict(
        seed=13, family="glm46v",
        covers="GLM-4.6V, rope_parameters in decoder and tower, a quarter of a head rotates, multi-head attention, untied head, biases in the tower's "
               "attention, cells of 3 x 3 patches, tenths of seconds behind frames, a video that is made larger, two shards, fp32",
        text=dict(num_hidden_layers=2, hidden_size=48, intermediate_size=40, num_attention_heads=2, num_key_value_heads=2), sections=[1, 1, 1],
        rope=dict(rope_type="default", rope_theta=500000.0, partial_rotary_factor=0.25), tied=False,
        vision=dict(depth=3, hidden_size=24, intermediate_size=20, num_heads=3, patch_size=3, spatial_merge_size=3, temporal_patch_size=2, image_size=12,
                    attention_bias=True, rms_norm_eps=1e-6, rope_parameters=dict(rope_type="axial", rope_theta=400.0)),
        pixels=dict(size=dict(shortest_edge=12 * 81, longest_edge=30 * 81), **qwen3.HALF),
        frames=dict(size=dict(shortest_edge=60 * 81, longest_edge=90 * 81), resample=2, **qwen3.HALF), layout="saved", shards=2, stored=torch.float32),
    "glm4v/bounds": dict(
        seed=4, family="glm46v",
        covers="GLM-4.6V with the bounds and patches that are published, as its GGUF files leave them out: cells of 28 px, small pictures and "
               "sets of frames made larger, 2 query heads on 1 kv head, biases in the tower's attention, bf16",
        text=dict(num_hidden_layers=2, hidden_size=32, intermediate_size=40, num_attention_heads=2, num_key_value_heads=1), sections=[2, 1, 1],
        rope=dict(rope_type="default", rope_theta=500000.0, partial_rotary_factor=0.5), tied=False,
        vision=dict(depth=2, hidden_size=8, intermediate_size=20, num_heads=2, patch_size=14, spatial_merge_size=2, temporal_patch_size=2, image_size=70,
                    attention_bias=True),
        pixels=dict(size=dict(shortest_edge=12544, longest_edge=9633792), **CLIP_COLOURS),
        frames=dict(size=dict(shortest_edge=12544, longest_edge=47040000), **CLIP_COLOURS), layout="published", stored=torch.bfloat16,
        cases=["text", "image", "video", "video_and_image"]),
    "glm4v_moe/published": dict(
        seed=7, family=EXPERTS,
        covers="GLM-4.5V, 3 of 8 experts by sigmoids with a bias, one that all tokens go through, the first layer without experts, a tensor for each expert, "
               "heads larger than hidden_size / heads, rope_scaling with partial_rotary_factor beside it, 6 query heads on 2 kv heads, bf16",
        text=dict(num_hidden_layers=3, hidden_size=32, intermediate_size=40, num_attention_heads=6, num_key_value_heads=2, head_dim=16,
                  n_routed_experts=8, num_experts_per_tok=3, moe_intermediate_size=12, n_shared_experts=1, n_group=1, topk_group=1, norm_topk_prob=True,
                  routed_scaling_factor=1.0, first_k_dense_replace=1, use_qk_norm=False), sections=[2, 1, 1],
        rope=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5), tied=False,
        vision=dict(depth=2, hidden_size=16, intermediate_size=24, num_heads=2, patch_size=4, spatial_merge_size=2, temporal_patch_size=2, image_size=20),
        pixels=dict(size=dict(shortest_edge=16 * 64, longest_edge=40 * 64), **CLIP_COLOURS),
        frames=dict(size=dict(shortest_edge=16 * 64, longest_edge=60 * 64), **CLIP_COLOURS), layout="published", stored=torch.bfloat16),
    "glm4v_moe/groups": dict(
        seed=7, family=EXPERTS,
        covers="4 experts of 3 in 5 groups of 2 each, weights that do not sum to one times 2.5, two experts that all tokens go through, experts in one tensor, no "
               "layer without, rope_parameters, no biases, tied embeddings, fp32",
        text=dict(num_hidden_layers=2, hidden_size=48, intermediate_size=40, num_attention_heads=2, num_key_value_heads=2, head_dim=16, attention_bias=False,
                  n_routed_experts=10, num_experts_per_tok=4, moe_intermediate_size=16, n_shared_experts=2, n_group=5, topk_group=3, norm_topk_prob=False,
                  routed_scaling_factor=2.5, first_k_dense_replace=0), sections=[1, 2, 1],
        rope=dict(rope_type="default", rope_theta=500000.0, partial_rotary_factor=0.5), tied=True,
        vision=dict(depth=2, hidden_size=16, intermediate_size=24, num_heads=2, patch_size=3, spatial_merge_size=3, temporal_patch_size=2, image_size=12,
                    attention_bias=True, rope_parameters=dict(rope_type="axial", rope_theta=400.0)),
        pixels=dict(size=dict(shortest_edge=12 * 81, longest_edge=30 * 81), **qwen3.HALF),
        frames=dict(size=dict(shortest_edge=12 * 81, longest_edge=60 * 81), **qwen3.HALF), layout="saved", stored=torch.float32,
        cases=["text", "two_images", "video"]),
}
# Two layers of decoder and tower; narrow MLPs of the decoder and the merger, few words.
COMMON = dict(
    seed=1, sections=[8, 12, 12], tied=False, layout="published", stored=torch.bfloat16,
    text=dict(num_hidden_layers=2, hidden_size=4096, intermediate_size=1024, num_attention_heads=32, num_key_value_heads=2, rms_norm_eps=1e-5),
    vision=dict(depth=2, hidden_size=1536, intermediate_size=1024, num_heads=12, patch_size=14, spatial_merge_size=2, temporal_patch_size=2,
                image_size=336),
    pixels=dict(size=dict(shortest_edge=12544, longest_edge=9633792), **CLIP_COLOURS),
    frames=dict(size=dict(shortest_edge=12544, longest_edge=47040000), **CLIP_COLOURS))
PUBLISHED = {
    "GLM-4.1V-9B": dict(family="glm4v", rope=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5), **COMMON),
    "GLM-4.6V-Flash": dict(family="glm46v", rope=dict(rope_type="default", rope_theta=500000.0, partial_rotary_factor=0.5), **COMMON),
    "GLM-4.5V": COMMON | dict(  # 16 narrow experts of 128, of which a token has as many as published
        seed=2, family=EXPERTS, rope=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5),
        text=dict(num_hidden_layers=2, hidden_size=4096, intermediate_size=1024, num_attention_heads=96, num_key_value_heads=8, head_dim=128,
                  rms_norm_eps=1e-5, n_routed_experts=16, num_experts_per_tok=8, moe_intermediate_size=256, n_shared_experts=1, n_group=1, topk_group=1,
                  norm_topk_prob=True, routed_scaling_factor=1.0, first_k_dense_replace=1, use_qk_norm=False)),
}
CASES = qwen3.CASES | {"narrow_image": [([dict(kind="image", size=(5, 61))], "What is in the picture?")]}


def make_tokenizer():
    tokenizer = qwen2.make_tokenizer(SPECIAL, pattern=PATTERN, end="<|endoftext|>")
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in ADDED])
    return tokenizer


def config_of(options, tokenizer):
    family = options["family"]
    rope = options["rope"] | dict(mrope_section=options["sections"])
    kind = EXPERTS if family == EXPERTS else FAMILY
    text = dict(model_type=kind + "_text", vocab_size=len(tokenizer) + 3, max_position_embeddings=4096, attention_bias=True,
                eos_token_id=[tokenizer.convert_tokens_to_ids(token) for token in ("<|endoftext|>", "<|user|>", "<|observation|>")]) | options["text"]
    if options["layout"] == "published":
        text |= {key: rope.pop(key) for key in ("rope_theta", "partial_rotary_factor")} | dict(rope_scaling=rope)
    else:
        text |= dict(rope_parameters=rope)
    vision = dict(model_type=kind + "_vision", in_channels=3, hidden_act="silu", out_hidden_size=options["text"]["hidden_size"]) | options["vision"]
    ids = {name: tokenizer.convert_tokens_to_ids(token) for name, token in (
        ("image_token_id", "<|image|>"), ("video_token_id", "<|video|>"), ("image_start_token_id", "<|begin_of_image|>"),
        ("image_end_token_id", "<|end_of_image|>"), ("video_start_token_id", "<|begin_of_video|>"), ("video_end_token_id", "<|end_of_video|>"))}
    return dict(architectures=[CLASSES[family].__name__], model_type=family, tie_word_embeddings=options["tied"],
                torch_dtype=str(options["stored"]).removeprefix("torch."), **ids, text_config=text, vision_config=vision)


def write_processor(options, tokenizer, folder):
    vision, name = options["vision"], PROCESSORS[options["family"]]
    common = dict(patch_size=vision["patch_size"], merge_size=vision["spatial_merge_size"], temporal_patch_size=vision["temporal_patch_size"],
                  processor_class=name + "Processor")
    tokenizer.save_pretrained(folder)
    image = common | options["pixels"] | dict(image_processor_type=name + "ImageProcessor")
    video = common | options["frames"] | dict(video_processor_type=name + "VideoProcessor")
    shutil.copy(GOLDEN / "chat_template" / FAMILY / f"{TEMPLATES[options['family']]}.jinja", folder / "chat_template.jinja")
    if options["layout"] == "published":
        (folder / "preprocessor_config.json").write_text(json.dumps(image, indent=1) + "\n")
        (folder / "video_preprocessor_config.json").write_text(json.dumps(video, indent=1) + "\n")
        return
    nested = dict(processor_class=name + "Processor", image_processor=image, video_processor=video)
    (folder / "processor_config.json").write_text(json.dumps(nested, indent=1) + "\n")


def randomise(model, generator, tied):
    """Norms behind attention and MLP bound what a layer adds. Keys have biases that an 8-bit cache keeps apart. An expert's bias is as large as its
    score."""
    for name, value in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            value.copy_(0.3 * torch.randn(value.shape, generator=generator))
    family_golden.randomise(model, generator, (r"k_proj\.bias$", 0, 2), (r"(norm\d?|layernorm)\.weight$", 1, 0.2), (r"\.bias$", 0, 0.2), (r"position_embedding", 0, 0.5),
                            ("embed_tokens|lm_head", 0, 0.2 if tied else 0.5))


def store(model, options, folder):
    """The names are the same in both layouts, but that published experts have a tensor each. Biases of experts stay in fp32."""
    tensors = {}
    for name, value in model.state_dict().items():
        if name == "lm_head.weight" and options["tied"]:
            continue
        value = value.to(torch.float32 if name.endswith("e_score_correction_bias") else options["stored"])
        if ".mlp.experts." in name and options["layout"] == "published":
            part = dict(gate_up_proj=("gate_proj", "up_proj"), down_proj=("down_proj",))[name.rsplit(".", 1)[1]]
            for number, expert in enumerate(value):
                tensors |= {f"{name.rsplit('.', 1)[0]}.{number}.{kind}.weight": half.contiguous() for kind, half in zip(part, expert.chunk(len(part)))}
        else:
            tensors[name] = value.contiguous()
    write_weights(tensors, folder, options.get("shards", 1))


def make_folder(options, folder):
    """Writes the folder and returns what transformers makes of it."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options["seed"])
    tokenizer = make_tokenizer()
    (folder / "config.json").write_text(json.dumps(config_of(options, tokenizer), indent=1) + "\n")
    model_class = CLASSES[options["family"]]
    model = model_class(transformers.AutoConfig.from_pretrained(folder))
    randomise(model, torch.Generator().manual_seed(options["seed"]), options["tied"])
    store(model, options, folder)
    write_processor(options, tokenizer, folder)
    return loaded(model_class, folder), AutoProcessor.from_pretrained(folder)


def told(turns, answers=()):
    """The template writes an answer as it is, which a list is not."""
    return [message if message["role"] == "user" else message | dict(content=message["content"][0]["text"]) for message in messages_of(turns, answers)]


def inputs_of(turns, answers, processor):
    return qwen3.inputs_of(turns, answers, processor, told)


def kinds_of(ids, config):
    """0: text, 1: of an image, 2: of a video, which is known by its marks; and whether a token is between these."""
    within = (ids == config.video_start_token_id).cumsum(-1) > (ids == config.video_end_token_id).cumsum(-1)
    return (ids == config.image_token_id).int() * (1 + within.int()), within & (ids != config.video_start_token_id)


def run(model, inputs):
    """Logits of the prompt, its positions, media's rows in prompt order, greedy tokens and their margins."""
    grids = {key: inputs[key] for key in ("image_grid_thw", "video_grid_thw") if key in inputs}
    pixels = {key: inputs[key] for key in ("pixel_values", "pixel_values_videos") if key in inputs}
    ids = inputs["input_ids"]
    kinds, within = kinds_of(ids, model.config)
    if "mm_token_type_ids" in inputs and inputs["mm_token_type_ids"].shape == kinds.shape:
        assert torch.equal(inputs["mm_token_type_ids"].int(), kinds)
    model.model.rope_deltas = None  # of the case before
    positions = torch.arange(ids.shape[1]).expand(3, -1)
    if pixels:
        positions = model.model.get_rope_index(input_ids=ids, mm_token_type_ids=kinds, **grids)[0][:, 0]
    rows = model.get_input_embeddings()(ids[0]).clone()
    if "pixel_values" in pixels:
        rows[kinds[0] == 1] = torch.cat(list(model.model.get_image_features(pixels["pixel_values"], grids["image_grid_thw"], return_dict=True).pooler_output))
    if "pixel_values_videos" in pixels:
        found = model.model.get_video_features(pixels["pixel_values_videos"], grids["video_grid_thw"], return_dict=True)
        rows[kinds[0] == 2] = torch.cat(list(found.pooler_output))
    by_rows = answered_by_rows(model, rows, positions)
    if len(pixels) < 2:  # transformers' own way, which cannot tell an image's cells from a video's
        given = dict(input_ids=ids, attention_mask=torch.ones_like(ids), **pixels, **grids)
        if pixels:
            given |= dict(mm_token_type_ids=kinds)
        logits = model(**given, use_cache=False).logits[0, -1]
        model.model.rope_deltas = None
        answer = model.generate(**given, max_new_tokens=GREEDY_TOKENS, do_sample=False, eos_token_id=None, output_logits=True,
                                return_dict_in_generate=True)
        best = torch.topk(torch.cat(answer.logits), 2).values
        own = dict(logits=logits.clone(), greedy=answer.sequences[0, ids.shape[1]:], margins=best[:, 0] - best[:, 1])
        assert torch.equal(own["greedy"], by_rows["greedy"]) and float((own["logits"] - by_rows["logits"]).abs().max()) < 1e-4
        by_rows = own
    return by_rows | dict(position_ids=positions, features=rows[(kinds[0] == 1) | within[0]] if pixels else None)


def answered_by_rows(model, rows, positions):
    """The same by the language model, given its input rows [n, hidden] and positions [3, n]."""
    greedy, margins, cache, first = [], [], None, None
    for _ in range(GREEDY_TOKENS):
        out = model.model.language_model(inputs_embeds=rows[None], position_ids=positions[:, None], cache=cache, use_cache=True)
        logits, cache = model.lm_head(out.last_hidden_state[0, -1]), out.cache
        first = logits.clone() if first is None else first
        best = torch.topk(logits, 2)
        greedy.append(int(best.indices[0]))
        margins.append(float(best.values[0] - best.values[1]))
        rows, positions = model.get_input_embeddings()(torch.tensor(greedy[-1:])), torch.full((3, 1), int(positions.max()) + 1)
    return dict(logits=first, greedy=torch.tensor(greedy), margins=torch.tensor(margins))


def sizes():
    """Of both processors as published, and of small bounds where whole sets matter."""
    rows = []
    for least, most, cell in ((12544, 9633792, 28), (16 * 64, 60 * 64, 8), (60 * 81, 90 * 81, 9)):
        for frames in (0, 2, 3, 4, 5, 7, 9, 13):
            for height, width in ((431, 640), (5, 61), (27, 28), (1080, 1920), (70, 98), (33, 20), (4000, 3000)):
                rows.append([least, most, cell, frames, height, width, *smart_resize(frames or 2, height, width, 2, cell, least, most)])
    return dict(rows=rows)


def write_goldens():
    for family in (FAMILY, EXPERTS):
        shutil.rmtree(GOLDEN / family, ignore_errors=True)
    for name, options in CONFIGURATIONS.items():
        model, processor = make_folder(options, GOLDEN / name / "model")
        images, videos = processor.image_processor, processor.video_processor
        assert type(processor).__name__ == PROCESSORS[options["family"]] + "Processor" and images.image_mean == videos.image_mean
        cases, tensors = {}, {"mean": torch.tensor(images.image_mean), "deviation": torch.tensor(images.image_std)}
        for case in options.get("cases", CASES):
            cases[case], results = qwen2.run_case(case, CASES[case], processor, model, (inputs_of, run))
            tensors.update(results)
        write_folder(GOLDEN / name, cases, tensors)
    (GOLDEN / FAMILY / "sizes.json").write_text(json.dumps(sizes()) + "\n")
    features = {"<case>.features": "fp32 [tokens of media, hidden], in prompt order, of which every fifth column is kept"}
    own = {family: {name: options for name, options in CONFIGURATIONS.items() if name.startswith(family + "/")} for family in (FAMILY, EXPERTS)}
    qwen2.write_manifest_of(EXPERTS, "Glm4vMoeForConditionalGeneration", own[EXPERTS], __file__, **features)
    qwen2.write_manifest_of(FAMILY, "Glm4vForConditionalGeneration and Glm46VForConditionalGeneration", own[FAMILY], __file__,
                            **features | {
                               "sizes.json": "least and most pixels, cell, frames (0: an image), height, width, and what they are resized to"})


def published_inputs(processor, prompt, cli):
    """What the processor makes of a question about a video but for its pixels, which are the program's own."""
    video, frames, every_s = processor.video_processor, qwen2.FRAMES, qwen2.EVERY_S
    height, width = smart_resize(frames, *qwen2.video_size(cli), video.temporal_patch_size, video.patch_size * video.merge_size,
                                 video.size["shortest_edge"], video.size["longest_edge"])
    grid = [(frames + 1) // 2, height // video.patch_size, width // video.patch_size]
    cells = grid[1] * grid[2] // video.merge_size**2
    text = "".join(processor.replace_frame_token_id(frame * every_s, cells) for frame in range(0, frames, 2))
    return processor.tokenizer(prompt.replace("<|video|>", text), return_tensors="pt") | dict(video_grid_thw=torch.tensor([grid]))


def compared_sizes(name, folder, cli):
    return qwen2.compared_cases(folder, cli, make_folder(PUBLISHED[name], folder), (published_inputs, run))


if __name__ == "__main__":
    main(__doc__, write_goldens)
