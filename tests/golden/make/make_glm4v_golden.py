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
from family_golden import GOLDEN, GREEDY_TOKENS, loaded, main, messages_of, told, write_folder, write_weights
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
CONFIGURATIONS, PUBLISHED, _ = told("glm4v")
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


def with_plain_answers(turns, answers=()):
    """The template writes an answer as it is, which a list is not."""
    return [message if message["role"] == "user" else message | dict(content=message["content"][0]["text"]) for message in messages_of(turns, answers)]


def inputs_of(turns, answers, processor):
    return qwen3.inputs_of(turns, answers, processor, with_plain_answers)


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
    """As qwen3.published_inputs()."""
    grid, cells = qwen3.video_grid(processor, cli, smart_resize)
    text = "".join(processor.replace_frame_token_id(frame * qwen2.EVERY_S, cells) for frame in range(0, qwen2.FRAMES, 2))
    return processor.tokenizer(prompt.replace("<|video|>", text), return_tensors="pt") | dict(video_grid_thw=grid)


def compared_sizes(name, folder, cli):
    return qwen2.compared_cases(folder, cli, make_folder(PUBLISHED[name], folder), (published_inputs, run))


if __name__ == "__main__":
    main(__doc__, write_goldens)
