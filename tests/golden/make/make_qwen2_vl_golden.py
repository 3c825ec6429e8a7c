#!/usr/bin/env python3
"""Writes tests/golden/qwen2_vl and qwen2_5_vl: tiny random folders of both families and what transformers computes with them in fp32.

    python tests/golden/make/make_qwen2_vl_golden.py

One folder per configuration, as make_llava_onevision_golden.py has them: model/ is a Hugging Face folder in one of the layouts that are
about, loaded back with from_pretrained (processors with AutoProcessor, so that they are the default ones), golden.safetensors holds inputs
and results, cases.json the messages and prompts. Pixel values are the bytes after resizing. second_turn_video: a thread whose first answer is
the model's own.

Needs torch, torchvision, transformers, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json
import shutil
import subprocess

import family_golden
import numpy as np
import torch
import transformers
from family_golden import (CLIP, GOLDEN, GREEDY_TOKENS, Compared, exported, first_answer, loaded, main, messages_of, picture, second_turn, template,
                           told, write_folder, write_manifest, write_weights)
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import (AutoProcessor, PreTrainedTokenizerFast, Qwen2_5_VLForConditionalGeneration, Qwen2_5_VLProcessor,
                          Qwen2VLForConditionalGeneration)
from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

QUESTION = "What is there?"  # about published sizes
FRAMES = 7
EVERY_S = 0.75
QWEN2_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
                 r"\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>",
           "<|video_pad|>"]
CORPUS = ["You are a helpful assistant.", "Describe the video in one sentence.", "How many squares are there?", "user assistant system"]
CHAT_TEMPLATE = template("qwen2_vl")
CONFIGURATIONS, PUBLISHED, CASES = told("qwen2_vl")


def model_class(family):
    return Qwen2_5_VLForConditionalGeneration if family == "qwen2_5_vl" else Qwen2VLForConditionalGeneration


def make_tokenizer(special=SPECIAL, corpus=CORPUS, pattern=QWEN2_PATTERN, end="<|im_end|>", **more):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=end, pad_token="<|endoftext|>", model_max_length=4096, **more)


def randomise(model, generator, tied):
    """A tied head says the same word again and again unless the layers outweigh the embedding that they began with."""
    family_golden.randomise(model, generator, (r"(norm\d?|layernorm|ln_\w+)\.weight$", 1, 0.2), (r"\.bias$", 0, 0.2),
                            ("embed_tokens|word_embeddings|lm_head", 0, 0.2 if tied else 0.5))


def vision_ids(tokenizer):
    return {name + "_token_id": tokenizer.convert_tokens_to_ids(f"<|{token}|>") for name, token in (
        ("image", "image_pad"), ("video", "video_pad"), ("vision_start", "vision_start"), ("vision_end", "vision_end"))}


def config_of(family, options, tokenizer):
    """config.json: flat as published, or nested."""
    published = options["layout"] == "published"
    rope = options.get("rope", dict(rope_type="default", rope_theta=1000000.0)) | dict(mrope_section=options["sections"])
    text = dict(vocab_size=len(tokenizer) + 3, num_hidden_layers=2, max_position_embeddings=4096, bos_token_id=None,
                eos_token_id=tokenizer.eos_token_id, **options["text"])
    if published:
        text |= dict(rope_theta=rope["rope_theta"], rope_scaling=dict(type="mrope", mrope_section=options["sections"]),
                     use_sliding_window=False, sliding_window=4096, max_window_layers=2)
    else:
        text |= dict(rope_parameters=rope)
    out = "out_hidden_size" if family == "qwen2_5_vl" else "hidden_size"
    vision = options["vision"] | {out: options["text"]["hidden_size"]} | (dict(in_chans=3) if published else dict(in_channels=3))
    root = dict(architectures=[model_class(family).__name__], model_type=family, tie_word_embeddings=options["tied"],
                torch_dtype=str(options["stored"]).removeprefix("torch."), **vision_ids(tokenizer))
    if published:
        return root | text | dict(vision_config=vision)
    return root | dict(text_config=text | dict(model_type=family + "_text"), vision_config=vision | dict(model_type=family))


def write_processor(family, options, tokenizer, folder):
    vision = options["vision"]
    common = dict(patch_size=vision["patch_size"], merge_size=vision["spatial_merge_size"],
                  temporal_patch_size=vision["temporal_patch_size"])
    processor = "Qwen2_5_VLProcessor" if family == "qwen2_5_vl" else "Qwen2VLProcessor"
    tokenizer.save_pretrained(folder)
    image = common | options["pixels"] | dict(image_processor_type="Qwen2VLImageProcessor")
    if options["layout"] == "published":
        (folder / "preprocessor_config.json").write_text(json.dumps(image | dict(processor_class=processor), indent=1) + "\n")
        (folder / "chat_template.json").write_text(json.dumps(dict(chat_template=CHAT_TEMPLATE), indent=1) + "\n")
        return
    video = common | options.get("frames", options["pixels"]) | dict(video_processor_type="Qwen2VLVideoProcessor")
    nested = dict(processor_class=processor, image_processor=image, video_processor=video)
    (folder / "processor_config.json").write_text(json.dumps(nested, indent=1) + "\n")
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)


def store(model, options, folder):
    tensors = {}
    for name, value in model.state_dict().items():
        if name == "lm_head.weight" and options["tied"]:
            continue
        if options["layout"] == "published":
            name = name.replace("model.language_model.", "model.").replace("model.visual.", "visual.")
        tensors[name] = value.to(options["stored"]).contiguous()
    write_weights(tensors, folder, options.get("shards", 1))


def make_folder(family, options, folder):
    """Writes the folder and returns what transformers makes of it."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options["seed"])
    tokenizer = make_tokenizer()
    config = config_of(family, options, tokenizer)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    model = model_class(family)(transformers.AutoConfig.from_pretrained(folder))
    randomise(model, torch.Generator().manual_seed(options["seed"]), options["tied"])
    store(model, options, folder)
    write_processor(family, options, tokenizer, folder)
    return loaded(model_class(family), folder), AutoProcessor.from_pretrained(folder)


def metadata_of(item):
    count, fps = item["frames"], 1.0 / item["every_s"]
    return dict(fps=fps, total_num_frames=count, duration=count / fps, frames_indices=list(range(count)))


def drawn_of(turns):
    """Pictures of each medium as [height, width, seed]."""
    attached = [item for items, _ in turns for item in items]
    return [[(*item["size"], 10 * number + i + 1) for i in range(item.get("frames", 1))] for number, item in enumerate(attached)]


def inputs_of(turns, answers, processor):
    """The prompt and what the processor makes of it. What it is told of a video's times: metadata_of()."""
    kinds = [([item["kind"] for item in items], question) for items, question in turns]
    prompt = processor.apply_chat_template(messages_of(kinds, answers), add_generation_prompt=True)
    arguments = {}
    for item, drawn in zip([item for items, _ in turns for item in items], drawn_of(turns)):
        pictures = [picture(*one) for one in drawn]
        if item["kind"] == "image":
            arguments.setdefault("images", []).append(pictures[0])
        else:
            arguments.setdefault("videos", []).append(np.stack(pictures))
            arguments.setdefault("video_metadata", []).append(metadata_of(item))
    return prompt, processor(text=prompt, return_tensors="pt", **arguments)


def levels(pixels, processor):
    """The bytes that the processor normalised; exact, or the golden file would not say what the model saw."""
    colours = pixels.shape[1] // 3
    mean, deviation = (torch.tensor(each).repeat_interleave(colours) for each in (processor.image_mean, processor.image_std))
    result = torch.round((pixels * deviation + mean) * 255)
    assert float(((result / 255 - mean) / deviation - pixels).abs().max()) < 1e-5
    return result.to(torch.uint8)


def run(model, inputs):
    """Logits of the prompt, its positions, features in prompt order, greedy tokens and their margins."""
    grids = {key: inputs[key] for key in ("image_grid_thw", "video_grid_thw", "second_per_grid_ts") if key in inputs}
    pixels = {key: inputs[key] for key in ("pixel_values", "pixel_values_videos") if key in inputs}
    ids = inputs["input_ids"]
    model.model.rope_deltas = None  # of the case before
    positions = model.model.get_rope_index(ids, **grids)[0][:, 0] if pixels else torch.arange(ids.shape[1]).expand(3, -1)
    by_id = {}
    if "pixel_values" in pixels:
        by_id[model.config.image_token_id] = torch.cat(
            model.model.get_image_features(pixels["pixel_values"], grids["image_grid_thw"], return_dict=True).pooler_output)
    if "pixel_values_videos" in pixels:
        by_id[model.config.video_token_id] = torch.cat(
            model.model.get_video_features(pixels["pixel_values_videos"], grids["video_grid_thw"], return_dict=True).pooler_output)
    features = []
    for token in sorted(by_id, key=lambda token: int((ids[0] == token).nonzero()[0])):
        assert len(by_id[token]) == int((ids == token).sum())
        features.append(by_id[token])
    logits = model(input_ids=ids, use_cache=False, **pixels, **grids).logits[0]
    model.model.rope_deltas = None
    # generate() and not forward() step by step, where Qwen2-VL's own count of positions is never less than that of tokens.
    answer = model.generate(**inputs, max_new_tokens=GREEDY_TOKENS, do_sample=False, eos_token_id=None, output_logits=True,
                            return_dict_in_generate=True)
    best = torch.topk(torch.cat(answer.logits), 2).values
    return dict(position_ids=positions, logits=logits[-1].clone(), features=torch.cat(features) if features else None,
                greedy=answer.sequences[0, ids.shape[1]:], margins=best[:, 0] - best[:, 1])


def run_case(case, turns, processor, model, ask=None):
    """ask: inputs_of() and run(), of which Qwen3-VL has its own."""
    inputs_of_turns, run_inputs = ask or (inputs_of, run)
    answers, given = [], None
    with torch.no_grad():
        if len(turns) > 1:
            begun, first = inputs_of_turns(turns[:1], [], processor)
            given = first_answer(processor.tokenizer, run_inputs(model, first)["greedy"])
            answers = [given[1]]
        prompt, inputs = inputs_of_turns(turns, answers, processor)
        result = run_inputs(model, inputs)
        tensors = {"input_ids": inputs["input_ids"][0], **{key: value for key, value in result.items() if value is not None}}
        if given:
            run_on = lambda ids: run_inputs(model, inputs | dict(input_ids=ids, attention_mask=torch.ones_like(ids)))
            tensors |= second_turn(processor.tokenizer, (begun, first["input_ids"][0]), given, (prompt, inputs["input_ids"][0]), run_on)
    for key, of in (("pixel_values", processor.image_processor), ("pixel_values_videos", processor.video_processor)):
        if key in inputs:
            tensors[f"levels.{key}"] = levels(inputs[key], of)
    drawn = drawn_of(turns)
    tensors["pictures"] = torch.tensor([one for pictures in drawn for one in pictures]).view(-1, 3)
    attached = [dict(kind=item["kind"], pictures=item.get("frames", 1), every_s=item.get("every_s", 0.0)) for items, _ in turns for item in items]
    kinds = [([item["kind"] for item in items], question) for items, question in turns]
    description = dict(messages=messages_of(kinds, answers), prompt=prompt, attached=attached, tokens=len(tensors["input_ids"]),
                       visual_tokens=len(tensors.get("features", [])), smallest_margin=float(result["margins"].min()))
    return description, {f"{case}.{key}": value for key, value in tensors.items()}


def write_family(family, configurations, make_one, ask=None):
    shutil.rmtree(GOLDEN / family, ignore_errors=True)
    for name, (options, own_cases) in configurations.items():
        model, processor = make_one(options, GOLDEN / name / "model")
        images = processor.image_processor
        assert type(images).__name__ == "Qwen2VLImageProcessorFast" and images.image_mean == processor.video_processor.image_mean
        cases, tensors = {}, {"mean": torch.tensor(images.image_mean), "deviation": torch.tensor(images.image_std)}
        for case, turns in own_cases.items():
            cases[case], results = run_case(case, turns, processor, model, ask)
            tensors.update(results)
        write_folder(GOLDEN / name, cases, tensors)


def write_manifest_of(family, classes, configurations, script, **tensors):
    write_manifest(
        GOLDEN / family, f"tiny random {family} models", f"{classes} in fp32, eager attention, processors as AutoProcessor loads them (torchvision)", script,
        seed={name.split("/")[1]: options["seed"] for name, options in configurations.items()},
        configurations={name.split("/")[1]: options["covers"] for name, options in configurations.items()},
        tensors={
            "<case>.input_ids": "int64 [n], placeholders and times written out", "<case>.position_ids": "int64 [3, n]: time, height, width",
            "<case>.levels.pixel_values(_videos)": "uint8 [patches, 3 * joined frames * patch * patch]; every fifth column is kept; "
                                                   "value = (level / 255 - mean) / deviation, colours outermost", "mean, deviation": "fp32 [3]", **tensors},
        licence="Apache-2.0, own random weights, own pictures and text")


def write_goldens():
    for family in ("qwen2_vl", "qwen2_5_vl"):
        own = {name: options for name, options in CONFIGURATIONS.items() if name.startswith(family + "/")}
        write_family(family, {name: (options, CASES) for name, options in own.items()}, lambda options, folder: make_folder(family, options, folder))
        write_manifest_of(family, model_class(family).__name__, own, __file__)


def video_size(cli):
    seen = json.loads(subprocess.run([str(cli), "probe", "--json", str(CLIP)], check=True, stdout=subprocess.PIPE, text=True).stdout)
    return seen["height_px"], seen["width_px"]


def published_inputs(processor, prompt, cli):
    """What the processor makes of a question about a video but for its pixels, which are the program's own."""
    video = processor.video_processor
    height, width = smart_resize(*video_size(cli), video.patch_size * video.merge_size, video.size["shortest_edge"], video.size["longest_edge"])
    grid = [(FRAMES + 1) // 2, height // video.patch_size, width // video.patch_size]
    tokens = grid[0] * grid[1] * grid[2] // video.merge_size**2
    inputs = processor(text=prompt.replace("<|video_pad|>", "<|video_pad|>" * tokens), return_tensors="pt")
    times = dict(second_per_grid_ts=[2 * EVERY_S]) if isinstance(processor, Qwen2_5_VLProcessor) else {}
    return inputs | dict(video_grid_thw=torch.tensor([grid])) | times


def compared_cases(folder, cli, model_and_processor, ask=None):
    """Pictures go through files, so that the program's own decoding is in. ask: published_inputs() and run(), of which Qwen3-VL has its own."""
    model, processor = model_and_processor
    inputs_of_video, run_inputs = ask or (published_inputs, run)
    images = [picture(*size, 3 + number) for number, size in enumerate(((431, 640), (300, 451), (768, 500)))]
    cases = {"text": [], "image": [("image", images[0])], "two_images": [("image", each) for each in images[1:]], "video": [("video", CLIP)]}
    for case, media in cases.items():
        prompt = processor.apply_chat_template(messages_of([([kind for kind, _ in media], QUESTION)]), add_generation_prompt=True)
        ours = exported(cli, folder, QUESTION, media, "--every", EVERY_S, "--to", FRAMES * EVERY_S)
        if case == "video":
            inputs = inputs_of_video(processor, prompt, cli) | dict(pixel_values_videos=ours["pixel_values_videos"])
        else:
            inputs = processor(text=prompt, return_tensors="pt", **(dict(images=[each for _, each in media]) if media else {}))
        apart = float((ours["pixel_values"] - inputs["pixel_values"]).abs().max()) if "pixel_values" in ours else 0.0
        yield Compared(case, ours, run_inputs(model, inputs) | dict(input_ids=inputs["input_ids"][0]), apart)


def compared_sizes(name, folder, cli):
    return compared_cases(folder, cli, make_folder(PUBLISHED[name]["family"], PUBLISHED[name], folder))


if __name__ == "__main__":
    main(__doc__, write_goldens)
