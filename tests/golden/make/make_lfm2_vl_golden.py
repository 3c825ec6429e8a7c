#!/usr/bin/env python3
"""Writes tests/golden/lfm2_vl: tiny random LFM2-VL folders and what transformers computes with them in fp32.

    python tests/golden/make/make_lfm2_vl_golden.py

One folder per configuration: model/ is an ordinary Hugging Face folder, loaded back with AutoProcessor and from_pretrained before anything is
computed, golden.safetensors holds inputs and results, cases.json the messages and prompts. Pixel values are stored as the bytes after resizing
(mean and deviation beside them), without the patches that fill a batch up.

Needs torch, torchvision, transformers 5.24, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json

import numpy as np
import torch
from family_golden import (GOLDEN, Compared, answered, exported, levels, loaded, main, messages_of, own_answer, picture, randomise, template, told,
                           write, write_configurations, write_manifest, write_weights)
from make_qwen2_vl_golden import make_tokenizer
from safetensors.torch import load_file
from transformers import AutoProcessor, Lfm2VlConfig, Lfm2VlForConditionalGeneration, Lfm2VlImageProcessor, Lfm2VlProcessor

OUT = GOLDEN / "lfm2_vl"
SEED = 1
IMAGE, START, END, THUMBNAIL = "<image>", "<|image_start|>", "<|image_end|>", "<|img_thumbnail|>"
MOST_TILES = 9  # of these folders
SPECIAL = ["<|pad|>", "<|startoftext|>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", IMAGE, START, END, THUMBNAIL,
           *(f"<|img_row_{row}_col_{column}|>" for row in range(1, 10) for column in range(1, 10) if row * column <= MOST_TILES)]
HALF = ([0.5] * 3, [0.5] * 3)
CHAT_TEMPLATE = template("lfm2_vl")  # as LFM2-VL-1.6B has it, without tools
CONFIGURATIONS, PUBLISHED, CASES = told("lfm2_vl")
QUESTION = "What is in the picture?"
# Of "published" large: 2 x 4 tiles, and 3 x 3.
SIZES = {"text": [], "image": [(31, 45)], "two_images": [(20, 33), (61, 7)], "large": [(60, 118)], "square": [(131, 140)], "small": [(5, 9)],
         "second_turn": [(23, 30), (90, 51)]}
ANSWER = "Some squares."
SCALES = ((r"conv\.conv\.weight", 0, 0.6), (r"\.bias$", 0, 0.2), ("norm", 1, 0.2), ("position_embedding", 0, 0.5), ("embed_tokens|lm_head", 0, 0.3))


def old_name(name):
    """As transformers 4 wrote them."""
    return name.replace("model.vision_tower.", "model.vision_tower.vision_model.", 1)


def rewrite_config(folder):
    """Keys as the published files have them."""
    config = json.loads((folder / "config.json").read_text())
    text = config["text_config"]
    text |= {"block_ff_dim": text.pop("intermediate_size"), "rope_theta": text.pop("rope_parameters")["rope_theta"],
             "full_attn_idxs": [i for i, kind in enumerate(text.pop("layer_types")) if kind == "full_attention"]}
    for part in (config, text):
        part["tie_embedding"] = part.pop("tie_word_embeddings", True)
    write(folder / "config.json", config)


def rewrite_processor(folder):
    combined = json.loads((folder / "processor_config.json").read_text())
    images = combined.pop("image_processor")
    write(folder / "preprocessor_config.json", images | {"image_processor_type": "Lfm2VlImageProcessorFast", "processor_class": "Lfm2VlProcessor"})
    write(folder / "processor_config.json", combined | {"use_image_special_tokens": True})


def make_folder(options, seed, folder):
    torch.manual_seed(seed)
    tokenizer = make_tokenizer(SPECIAL, bos_token="<|startoftext|>")
    tied = options.get("tied", True)
    text = dict(model_type="lfm2", vocab_size=len(tokenizer) + 3, max_position_embeddings=2048, bos_token_id=tokenizer.bos_token_id,
                eos_token_id=tokenizer.eos_token_id, pad_token_id=0, tie_word_embeddings=tied) | options["text"]
    vision = dict(model_type="siglip2_vision_model", num_hidden_layers=2, vision_use_head=False) | options["vision"]
    config = Lfm2VlConfig(text_config=text, vision_config=vision, image_token_id=tokenizer.convert_tokens_to_ids(IMAGE), tie_word_embeddings=tied,
                          **options["model"])
    model = Lfm2VlForConditionalGeneration(config)
    randomise(model, torch.Generator().manual_seed(seed), *SCALES)
    model.tie_weights()
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.to(options["stored"]).save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    write_weights({old_name(name): value for name, value in tensors.items()} if options.get("old") or options.get("old_names") else tensors, folder, options.get("shards", 1))
    mean, deviation = options.get("colours", HALF)
    images = Lfm2VlImageProcessor(image_mean=mean, image_std=deviation, **options["pixels"])
    Lfm2VlProcessor(images, tokenizer, chat_template=CHAT_TEMPLATE).save_pretrained(folder)
    if options.get("old"):
        rewrite_config(folder)
        rewrite_processor(folder)
    del model
    model = loaded(Lfm2VlForConditionalGeneration, folder)
    processor = AutoProcessor.from_pretrained(folder)
    assert type(processor.image_processor) is Lfm2VlImageProcessor and processor.use_image_special_tokens
    return model, processor


def inputs_of(processor, messages, images):
    """The prompt and what the processor makes of it."""
    prompt = processor.apply_chat_template(messages, add_generation_prompt=True)
    return prompt, processor(text=[prompt], return_tensors="pt", **(dict(images=[images]) if images else {}))


def medium_rows(ids, tokenizer):
    """Which tokens are of a picture: from a start mark to an end mark."""
    start, end = tokenizer.convert_tokens_to_ids([START, END])
    begun, ended = (ids == start).cumsum(0), (ids == end).cumsum(0)
    return (begun > ended) | (ids == end)


def run(model, processor, inputs):
    """Logits, greedy tokens, margins; features of the media with the embeddings of their words."""
    ids, results = inputs["input_ids"], {}
    if "pixel_values" in inputs:
        found = model.model.get_image_features(inputs["pixel_values"], inputs["spatial_shapes"], inputs["pixel_attention_mask"], return_dict=True)
        merged = model.get_input_embeddings()(ids)[0].clone()
        merged[ids[0] == model.config.image_token_id] = torch.cat(tuple(found.pooler_output))
        results["features"] = merged[medium_rows(ids[0], processor.tokenizer)]
    return results | {"input_ids": ids[0]} | answered(model, model(**inputs, use_cache=True))


def real_patches(inputs):
    """Of each tile and picture its patches, [patches, patch * patch * 3]."""
    return [values[:rows * columns] for values, (rows, columns) in zip(inputs["pixel_values"], inputs["spatial_shapes"].tolist())]


def levels_of(patches, patch, mean, deviation):
    """[patches, 3, patch, patch], bytes."""
    return levels(patches.unflatten(1, (patch, patch, 3)).permute(0, 3, 1, 2), mean, deviation)


@torch.no_grad()
def run_case(case, options, model, processor):
    turns, drawn = CASES[case], [(h, w, 1 + i) for i, (h, w) in enumerate(SIZES[case])]
    images = [picture(*one) for one in drawn]
    messages = messages_of(turns, [ANSWER] * (len(turns) - 1))
    written, inputs = inputs_of(processor, messages, images)
    tensors = {"pictures": torch.tensor(drawn).view(-1, 3)} | run(model, processor, inputs)
    sizes = inputs["spatial_shapes"].tolist() if images else []
    if images:
        counts = [len(inputs_of(processor, messages_of([(["image"], QUESTION)]), [image])[1]["spatial_shapes"]) for image in images]
        patches, first = real_patches(inputs), 0
        for number, count in enumerate(counts):
            tensors[f"pixel_levels.{number}"] = levels_of(torch.cat(patches[first:first + count]), processor.image_processor.encoder_patch_size,
                                                          *options.get("colours", HALF))
            first += count
        assert first == len(patches)
    if len(turns) > 1:
        tensors |= own_answer(turns, images, processor, inputs_of, lambda given: run(model, processor, given))
    description = dict(messages=messages, prompt=written, sizes=sizes, tokens=len(tensors["input_ids"]), visual_tokens=len(tensors.get("features", [])),
                       smallest_margin=float(tensors["margins"].min()), answer=processor.tokenizer.decode(tensors["greedy"]))
    return description, {f"{case}.{key}": value for key, value in tensors.items()}


def planned_sizes():
    """Of rules and odd and large pictures: [height, width, rows and columns of tiles, height and width of the whole picture]."""
    random = np.random.default_rng(SEED)
    fixed = [(1, 1), (1, 2), (16, 16), (31, 33), (32, 32), (48, 16), (512, 512), (724, 724), (725, 724), (1080, 1920), (4000, 3000), (80, 16000), (8191, 41),
             (512, 1024), (1024, 512), (2048, 512), (1000, 1000), (2000, 2000)]
    scattered = [tuple(int(x) for x in random.integers(1, 6000, 2)) for _ in range(60)]
    rules = [{}, dict(max_tiles=4), dict(min_tiles=1, max_tiles=12), dict(do_image_splitting=False, max_image_tokens=64, min_image_tokens=16),
             dict(encoder_patch_size=14, downsample_factor=3, tile_size=336, max_pixels_tolerance=1.2, use_thumbnail=False)]
    written = []
    for rule in rules:
        processor, cases = Lfm2VlImageProcessor(**rule), []
        bounds = dict(height=0, width=0) | {key: getattr(processor, key) for key in ("max_image_tokens", "encoder_patch_size", "downsample_factor")}
        for height, width in fixed + scattered:
            size = bounds | dict(height=height, width=width)
            whole = processor.smart_resize(**size, min_image_tokens=processor.min_image_tokens)[::-1]
            large = processor._is_image_too_large(**size, max_pixels_tolerance=processor.max_pixels_tolerance) and processor.do_image_splitting
            columns, rows = processor._get_grid_layout(height, width, processor.min_tiles, processor.max_tiles, processor.tile_size)[:2] if large else (1, 1)
            cases.append([height, width, rows, columns, *whole])
        written.append(dict(rules=rule, pictures=cases))
    return written


def compared_sizes(name, folder, cli):
    options = PUBLISHED[name]
    model, processor = make_folder(options, SEED, folder)
    for case, drawn in {"text": [], "image": [(431, 500)], "two_images": [(333, 517), (61, 207)], "large": [(731, 1100)]}.items():
        images = [picture(height, width, 1 + number) for number, (height, width) in enumerate(drawn)]
        question = CASES[case][0][1]
        _, inputs = inputs_of(processor, messages_of([(["image"] * len(images), question)]), images)
        with torch.no_grad():
            theirs = run(model, processor, inputs)
        ours = exported(cli, folder, question, [("image", image) for image in images])
        pixel = 0.0
        if images:
            patch = processor.image_processor.encoder_patch_size
            of_images = [torch.cat(real_patches(inputs))] if len(images) == 1 else real_patches(inputs)  # several are not cut
            pixel = max(float((found[:len(rows)] - rows.unflatten(1, (patch, patch, 3)).permute(0, 3, 1, 2)).abs().max())
                        for found, rows in zip(ours["pixel_values"], of_images, strict=True))
        yield Compared(case, ours, theirs, pixel)


def write_goldens():
    write_configurations(OUT, CONFIGURATIONS, lambda options, folder, number: make_folder(options, options.get("seed", SEED + number), folder), run_case,
                         tuple(CASES), lambda options: dict(zip(("mean", "deviation"), map(torch.tensor, options.get("colours", HALF)))))
    write(OUT / "sizes.json", planned_sizes(), None)
    write_manifest(
        OUT, "tiny random LFM2-VL models", "fp32, eager attention, greedy with a cache", __file__,
        configurations={name: options["covers"] for name, options in CONFIGURATIONS.items()},
        tensors={
            "<case>.pixel_levels.<number>": "uint8 [patches, 3, patch, patch] of a picture: of its tiles row by row, then of the whole picture",
            "<case>.features": "fp32 [tokens, hidden] of pictures with the embeddings of the words around them and their tiles; every fifth column is kept",
            "mean, deviation": "fp32 [3], of the processor"},
        **{"sizes.json": "of settings of the processor: rows of [height, width, rows and columns of tiles, height and width of the whole picture]"},
        licence="Apache-2.0, own random weights, own pictures and text; chat template after LFM2-VL's folders")


if __name__ == "__main__":
    main(__doc__, write_goldens)
