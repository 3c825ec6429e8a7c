#!/usr/bin/env python3
"""Writes tests/golden/llava_onevision: tiny random LLaVA-OneVision folders and what transformers computes with them in fp32.

    python tests/golden/make/make_llava_onevision_golden.py

One folder per configuration: model/ is an ordinary Hugging Face folder (weights, tokenizer, processors, chat template), loaded back with
from_pretrained before anything is computed, golden.safetensors holds inputs and results, cases.json the messages and prompts. Pixel values are
stored as the bytes after resizing (pixel = (byte / 255 - 0.5) / 0.5, checked here to be exact). second_turn_video: a thread whose first answer is
the model's own.
Images are prepared as AutoProcessor has it: by torchvision where the folder names an image processor, by Pillow in the one that does not.

The folders video_* are LLaVA-Videos: config.json says how frames are pooled and where newlines stand. transformers reads no such keys, so
that frames go through its tower and projector and are put together here as LLaVA-NeXT does it (llava/model/llava_arch.py).

Needs torch, torchvision, transformers, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json
import re

import numpy as np
import torch
from family_golden import (GOLDEN, Compared, answered, exported, first_answer, levels, loaded, main, messages_of, picture, randomise, second_turn,
                           template, told, with_model_first, write_configurations, write_manifest, write_weights)
from make_qwen2_vl_golden import make_tokenizer
from safetensors.torch import load_file
from torch.nn import functional
from transformers import (AutoProcessor, LlavaOnevisionConfig, LlavaOnevisionForConditionalGeneration, LlavaOnevisionImageProcessor,
                          LlavaOnevisionProcessor, LlavaOnevisionVideoProcessor, Qwen2Config, SiglipVisionConfig)

OUT = GOLDEN / "llava_onevision"
SEED = 7
HALF = [0.5, 0.5, 0.5]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>", "<video>"]
CORPUS = ["What is in the picture?", "Describe the video in one sentence.", "The red circle moves from the left to the right.",
          "How many squares are there?", "user assistant system", "What are the differences between the two images?"]


# layout: of the weight names, "language_model.model" (transformers <= 4.51 and save_pretrained of 5) or "model.language_model".
# cases: those that transformers can run; select strategy "default" leaves no square grid, so tiled images and videos fail there.
ALL = ("text", "image", "two_images", "video")
CHAT_TEMPLATE = template("llava_onevision")
CONFIGURATIONS, PUBLISHED, CASES = told("llava_onevision")


SCALES = ((r"norm\d?\.weight$|layernorm\.weight$", 1, 0.2), (r"\.bias$", 0, 0.2), ("^(?!.*patch).*embed|lm_head|image_newline", 0, 0.5))


def rewrite_weights(folder, options):
    """Names, shards and missing biases as other writers leave them."""
    tensors = load_file(folder / "model.safetensors")
    if options.get("strip_bias"):
        tensors = {k: v for k, v in tensors.items() if not re.search(r"language_model.*[qkv]_proj\.bias$", k)}
    if options.get("layout") == "model.language_model":
        tensors = with_model_first(tensors)
    write_weights(tensors, folder, options.get("shards", 1))


def make_folder(options, generator, folder):
    tokenizer = make_tokenizer(SPECIAL, CORPUS, extra_special_tokens={"image_token": "<image>", "video_token": "<video>"})
    side, patch = options["vision"]["image_size"], options["vision"]["patch_size"]
    image_id, video_id = tokenizer.convert_tokens_to_ids(["<image>", "<video>"])
    text = Qwen2Config(vocab_size=options.get("vocabulary", len(tokenizer) + 3), num_hidden_layers=options.get("layers", 2),
                       max_position_embeddings=options.get("positions", 4096), bos_token_id=None, eos_token_id=tokenizer.eos_token_id, **options["text"])
    vision = SiglipVisionConfig(vision_use_head=False, **options["vision"])
    config = LlavaOnevisionConfig(vision_config=vision, text_config=text, image_token_index=image_id, video_token_index=video_id,
                                  image_grid_pinpoints=options["pinpoints"], tie_word_embeddings=options["text"]["tie_word_embeddings"],
                                  **options["model"])
    model = LlavaOnevisionForConditionalGeneration(config)
    randomise(model, generator, *SCALES)
    model.tie_weights()
    model.to(options["stored"]).save_pretrained(folder)
    size = {"height": side, "width": side}
    aspect = options["model"].get("vision_aspect_ratio", "anyres_max_9")
    half = [0.5, 0.5, 0.5]
    processor = LlavaOnevisionProcessor(
        image_processor=LlavaOnevisionImageProcessor(size=size, image_grid_pinpoints=options["pinpoints"], image_mean=half, image_std=half),
        tokenizer=tokenizer, video_processor=LlavaOnevisionVideoProcessor(size=size, image_mean=half, image_std=half),
        num_image_tokens=(side // patch) ** 2, vision_aspect_ratio=aspect,
        vision_feature_select_strategy=options["model"].get("vision_feature_select_strategy", "full"), chat_template=CHAT_TEMPLATE)
    processor.save_pretrained(folder)
    if not options.get("names_processor", True):
        file = folder / "processor_config.json"
        said = json.loads(file.read_text())
        del said["image_processor"]["image_processor_type"]
        # Only a file of its own may leave the class out.
        (folder / "preprocessor_config.json").write_text(json.dumps(said.pop("image_processor"), indent=1) + "\n")
        file.write_text(json.dumps(said, indent=2, sort_keys=True) + "\n")
    rewrite_weights(folder, options)
    processor = AutoProcessor.from_pretrained(folder)
    assert type(processor.image_processor).__name__.endswith("Fast") == options.get("names_processor", True)
    return processor


def pooled(maps, mode, stride):
    """get_2dPool; maps: [frames, width, rows, columns]."""
    if mode == "average":
        return functional.avg_pool2d(maps, stride)
    if mode == "max":
        return functional.max_pool2d(maps, stride)
    sides = [-(-side // stride) for side in maps.shape[2:]]
    return functional.interpolate(maps, size=sides, mode="bilinear")


def llava_video_features(model, frames):
    """encode_multimodals and what prepare_inputs_labels_for_multimodal does with its videos: [tokens, width]."""
    config, newline = model.config, model.model.image_newline
    states = model.model.vision_tower(frames, output_hidden_states=True).hidden_states
    patches = model.model.multi_modal_projector(states[config.vision_feature_layer])
    count, _, width = patches.shape
    side = config.vision_config.image_size // config.vision_config.patch_size
    maps = patches.view(count, side, side, width).permute(0, 3, 1, 2)
    maps = pooled(maps, config.mm_spatial_pool_mode, config.mm_spatial_pool_stride).permute(0, 2, 3, 1)
    rows, columns = maps.shape[1:3]
    if config.mm_newline_position == "grid":
        return torch.cat([maps, newline.expand(count, rows, 1, width)], 2).reshape(-1, width)
    flat = maps.reshape(count, rows * columns, width)
    if config.mm_newline_position == "frame":
        return torch.cat([flat, newline.expand(count, 1, width)], 1).reshape(-1, width)
    tokens = flat.reshape(-1, width)
    return torch.cat([tokens, newline[None]]) if config.mm_newline_position == "one_token" else tokens


IMAGES = {"image": [(31, 45, 1)], "two_images": [(20, 33, 2), (41, 17, 3)], "second_turn_video": [(31, 45, 1)]}


def inputs_of(processor, turns, answers, images, frames):
    prompt = processor.apply_chat_template(messages_of(turns, answers), add_generation_prompt=True)
    arguments = {}
    if images:
        arguments["images"] = [images]
    if frames:
        arguments["videos"] = [np.stack(frames)]
    inputs = processor(text=prompt, return_tensors="pt", **arguments)
    return prompt, inputs["input_ids"], {key: value for key, value in inputs.items() if key not in ("input_ids", "attention_mask")}


def features_of(model, extra):
    """In the order of the templates, which write images first."""
    features = []
    if "pixel_values" in extra:
        features += model.model.get_image_features(**{key: extra[key] for key in ("pixel_values", "image_sizes", "batch_num_images")}, return_dict=True).pooler_output
    if "pixel_values_videos" in extra:
        features += [model.model.get_video_features(extra["pixel_values_videos"], return_dict=True).pooler_output[0], model.model.image_newline[None]]
    return torch.cat(features) if features else None


def run(model, extra):
    """Logits of all positions, greedy tokens and their margins."""
    out = model(use_cache=True, **extra)
    return {"all_logits": out.logits[0]} | answered(model, out)


@torch.no_grad()
def run_case(case, options, processor, model, scale=1):
    turns, answers, given, sizes = CASES[case], [], None, options.get("frames", [(24 * scale, 34 * scale)] * (5 if scale == 1 else 3))
    drawn_images = [(height * scale, width * scale, seed) for height, width, seed in IMAGES.get(case, [])]
    drawn_frames = [(*size, 10 + i) for i, size in enumerate(sizes)] if "video" in [kind for kinds, _ in turns for kind in kinds] else []
    images, frames = ([picture(*one) for one in drawn] for drawn in (drawn_images, drawn_frames))
    if len(turns) > 1:
        begun = inputs_of(processor, turns[:1], [], images, [])
        given = first_answer(processor.tokenizer, run(model, begun[2] | {"input_ids": begun[1]})["greedy"])
        answers = [given[1]]
    prompt, ids, extra = inputs_of(processor, turns, answers, images, frames)
    tensors = {"pictures": torch.tensor(drawn_images + drawn_frames).view(-1, 3)}
    if "pixel_values" in extra and not given:
        tensors |= {"pixel_levels": levels(extra["pixel_values"], HALF, HALF), "image_sizes": extra["image_sizes"]}
    elif "pixel_values_videos" in extra and not given:
        tensors["pixel_levels"] = levels(extra["pixel_values_videos"][0], HALF, HALF)
    if frames and hasattr(model.config, "mm_newline_position"):
        features = llava_video_features(model, extra["pixel_values_videos"][0])
        place = processor.tokenizer.convert_tokens_to_ids("<video>")
        text = processor.tokenizer(prompt, add_special_tokens=False)["input_ids"]
        at = text.index(place)
        ids = torch.tensor([text[:at] + [place] * len(features) + text[at + 1:]])
        rows = model.get_input_embeddings()(ids)
        rows[0, at:at + len(features)] = features
        results = run(model, dict(inputs_embeds=rows))
    else:
        features = features_of(model, extra)
        results = run(model, extra | {"input_ids": ids})
    if case != "text":
        results.pop("all_logits")
    tensors |= {"input_ids": ids[0]} | results | ({} if features is None else {"features": features})
    if given:
        run_on = lambda went_on: run(model, extra | {"input_ids": went_on})
        tensors |= second_turn(processor.tokenizer, (begun[0], begun[1][0]), given, (prompt, ids[0]), run_on)
    description = dict(messages=messages_of(turns, answers), prompt=prompt, tokens=ids.shape[1], visual_tokens=0 if features is None else len(features),
                       smallest_margin=float(tensors["margins"].min()), answer=processor.tokenizer.decode(tensors["greedy"]))
    return description, {f"{case}.{key}": value for key, value in tensors.items()}


def load(folder, options):
    missing = [f"{which}_proj.bias" for which in "qkv"] if options.get("strip_bias") else []
    model = loaded(LlavaOnevisionForConditionalGeneration, folder, missing)
    with torch.no_grad():  # transformers leaves them as they come
        for key, value in model.named_parameters():
            if "language_model" in key and key.endswith(tuple(missing)):
                value.zero_()
    return model


def compared_sizes(name, folder, cli):
    torch.manual_seed(SEED)
    processor = make_folder(PUBLISHED[name], torch.Generator().manual_seed(SEED), folder)
    model = load(folder, PUBLISHED[name])
    for case in ALL:
        (kinds, question), = CASES[case]
        _, golden = run_case(case, {}, processor, model, scale=16)
        theirs = {key.removeprefix(case + "."): value for key, value in golden.items()}
        pictures = [picture(*one) for one in theirs["pictures"].tolist()]
        media = [("video", pictures)] if kinds == ["video"] else [("image", pixels) for pixels in pictures]
        ours = exported(cli, folder, question, media, *(["--frames", len(pictures)] if case == "video" else []))
        apart = 0.0
        if kinds:
            own = levels(ours["pixel_values_videos" if case == "video" else "pixel_values"], HALF, HALF)
            apart = float((own.reshape(theirs["pixel_levels"].shape).int() - theirs["pixel_levels"].int()).abs().max())
        yield Compared(case, ours, theirs, apart)


def write_goldens():
    def make(options, folder, number):
        torch.manual_seed(SEED + number)
        return make_folder(options, torch.Generator().manual_seed(SEED + number), folder), load(folder, options)

    write_configurations(OUT, CONFIGURATIONS, make, run_case)
    write_manifest(
        OUT, "tiny random LLaVA-OneVision models",
        "LlavaOnevisionForConditionalGeneration in fp32, eager attention; video_*: frames put together as LLaVA-NeXT's llava_arch.py does it", __file__,
        seed=f"{SEED} + number of the configuration", configurations={name: options["covers"] for name, options in CONFIGURATIONS.items()},
        tensors={
            "<case>.input_ids": "int64 [n], placeholders expanded",
            "<case>.pixel_levels": "uint8 [images, tiles, 3, side, side] or [frames, 3, side, side]; value = (level / 255 - 0.5) / 0.5",
            "<case>.image_sizes": "int64 [images, 2], height and width",
            "text.all_logits": "fp32 [n, vocabulary], of which every fifth column is kept"},
        notes=["Qwen2 always has q/k/v biases in this transformers; no_bias_scaled stores none and the script sets them to zero",
               "select_default: transformers cannot pack tiled images or pool videos with this strategy and a SigLIP tower, so that "
               "only text and several images are recorded", "gqa_tied keeps all columns of its video's features, for make_context_golden.py"],
        licence="Apache-2.0, own random weights, own pictures and text")


if __name__ == "__main__":
    main(__doc__, write_goldens)
