#!/usr/bin/env python3
"""Writes tests/golden/gemma3: tiny random Gemma 3 folders with eyes and what transformers computes with them in fp32.

    python tests/golden/make/make_gemma3_golden.py

One folder per configuration: model/ is an ordinary Hugging Face folder, loaded back with AutoProcessor and from_pretrained before anything is
computed, golden.safetensors holds inputs and results, cases.json the messages and prompts. Pixel values are stored as the bytes after resizing
(mean and deviation beside them).

Gemma3Processor passes its own do_pan_and_scan=False to the image processor whatever the folder says; here a folder that asks for pan and
scan gets what it asks for, as a caller's arguments.

Needs torch, torchvision, transformers, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json

import numpy as np
import torch
from family_golden import (GOLDEN, Compared, answered, exported, first_answer, fnv, formula_picture, levels, loaded, main, messages_of, picture,
                           randomise, second_turn, template, told, with_model_first, write, write_configurations, write_manifest, write_weights)
from make_llava_golden import make_tokenizer as make_character_tokenizer
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, processors
from transformers import (AutoProcessor, Gemma3Config, Gemma3ForConditionalGeneration, Gemma3ImageProcessor, Gemma3ImageProcessorFast,
                          Gemma3Processor, Gemma3TextConfig, PreTrainedTokenizerFast, SiglipVisionConfig)

OUT = GOLDEN / "gemma3"
SEED = 53
BEGIN, IMAGE, END = "<start_of_image>", "<image_soft_token>", "<end_of_image>"
SPECIAL = ["<pad>", "<start_of_turn>", "<end_of_turn>", BEGIN, END, IMAGE]
CORPUS = ["What is in the picture?", "Describe the image in one sentence.", "How many squares are there?", "user model assistant system",
          "Here is the original image and here are some crops to help you see better", "And in this one?\n"]
HALVES = ([0.5] * 3, [0.5] * 3)
CHAT_TEMPLATE = template("gemma3")  # as google's folders have it
CONFIGURATIONS, PUBLISHED, CASES = told("gemma3")
SIZES = {"text": [], "image": [(31, 45)], "two_images": [(20, 33), (61, 17)], "second_turn": [(23, 30), (40, 21)]}
ANSWER = "Some squares."


def make_tokenizer():
    """Characters with byte fallback and nothing before a text; runs of newlines are tokens."""
    plain = make_character_tokenizer(False, ["<unk>", "<s>", "</s>"] + SPECIAL, CORPUS)
    data = json.loads(plain._tokenizer.to_str())
    data["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    data["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    data["decoder"]["decoders"].pop()
    for length, never in zip((2, 3, 4), ("<0xFD>", "<0xFE>", "<0xFF>")):  # bytes that no text has
        data["model"]["vocab"]["\n" * length] = data["model"]["vocab"].pop(never)
        data["model"]["merges"].append(["\n" * (length - 1 if length < 4 else 2), "\n" * (1 if length < 4 else 2)])
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>",
                                   model_max_length=8192, extra_special_tokens=dict(image_token=IMAGE, boi_token=BEGIN, eoi_token=END))


# Embeddings are read times the root of the hidden size: larger ones would drown what layers add, and a tied model would repeat itself.
SCALES = ((r"\.bias$", 0, 0.2), ("vision_tower.*norm", 1, 0.2), ("norm", 0, 0.2), ("embed_tokens", 0, 0.06), ("lm_head|position", 0, 0.5))


def make_processor(options, tokenizer):
    mean, deviation = options.get("scaling", HALVES)
    side = options["vision"]["image_size"]
    images = Gemma3ImageProcessorFast(size={"height": side, "width": side}, image_mean=mean, image_std=deviation, resample=options.get("resample", 2),
                                      **options.get("crops", {}))
    return Gemma3Processor(images, tokenizer, chat_template=CHAT_TEMPLATE, image_seq_length=options["tokens"])


def rewrite_weights(folder, options):
    if options.get("names5"):
        save_file(with_model_first(load_file(folder / "model.safetensors")), folder / "model.safetensors", metadata={"format": "pt"})
    if options.get("shards"):
        write_weights(load_file(folder / "model.safetensors"), folder, options["shards"])


def rewrite_config(folder, options):
    """Keys as transformers 4 wrote them, without what the published files leave out."""
    config = json.loads((folder / "config.json").read_text())
    text = config["text_config"]
    positions = text.pop("rope_parameters")
    full = positions["full_attention"]
    text |= {"rope_theta": full["rope_theta"], "rope_local_base_freq": positions["sliding_attention"]["rope_theta"],
             "rope_scaling": {"factor": full["factor"], "rope_type": "linear"}, "sliding_window_pattern": 2}
    for key in ("layer_types", "tie_word_embeddings", "hidden_activation", "rms_norm_eps", "attention_bias", "use_bidirectional_attention"):
        text.pop(key, None)
    for key in ("hidden_act", "layer_norm_eps", "num_channels", "attention_dropout"):
        config["vision_config"].pop(key, None)
    config["vision_config"]["vision_use_head"] = False
    config.pop("tie_word_embeddings")
    write(folder / "config.json", config)


def rewrite_processor(folder, options):
    if not (options.get("old") or options.get("pillow")):
        return
    combined = json.loads((folder / "processor_config.json").read_text())
    images = combined.pop("image_processor")
    images["image_processor_type"] = "Gemma3ImageProcessor"
    if options.get("pillow"):
        images.pop("image_processor_type")
        combined.pop("processor_class")
        images["processor_class"] = "Gemma3Processor"
    write(folder / "preprocessor_config.json", images)
    write(folder / "processor_config.json", combined)
    if options.get("old"):
        write(folder / "preprocessor_config.json", images | {"image_seq_length": options["tokens"]})
        (folder / "chat_template.jinja").unlink()
        write(folder / "chat_template.json", {"chat_template": CHAT_TEMPLATE})


def make_folder(options, seed, folder):
    torch.manual_seed(seed)
    tokenizer = make_tokenizer()
    tied = options.get("tied", True)
    ends = [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<end_of_turn>")]
    text = Gemma3TextConfig(**({"num_hidden_layers": 2, "max_position_embeddings": 2048} | options["text"]), vocab_size=options.get("vocabulary", len(tokenizer) + 3),
                            bos_token_id=tokenizer.bos_token_id, eos_token_id=ends[0], pad_token_id=0, tie_word_embeddings=tied)
    vision = SiglipVisionConfig(num_hidden_layers=2, vision_use_head=False, **options["vision"])
    config = Gemma3Config(text, vision, mm_tokens_per_image=options["tokens"], tie_word_embeddings=tied, boi_token_index=tokenizer.convert_tokens_to_ids(BEGIN),
                          eoi_token_index=tokenizer.convert_tokens_to_ids(END), image_token_index=tokenizer.convert_tokens_to_ids(IMAGE))
    model = Gemma3ForConditionalGeneration(config)
    randomise(model, torch.Generator().manual_seed(seed), *SCALES, inputs=lambda name, value: len(value) if "mm_input_projection" in name else value[0].numel())
    model.tie_weights()
    model.generation_config.eos_token_id = ends
    model.to(options["stored"]).save_pretrained(folder)
    rewrite_weights(folder, options)
    if options.get("old"):
        rewrite_config(folder, options)
    make_processor(options, tokenizer).save_pretrained(folder)
    rewrite_processor(folder, options)
    model = loaded(Gemma3ForConditionalGeneration, folder)
    assert model.config.tie_word_embeddings == tied and model.config.text_config.layer_types == text.layer_types
    processor = AutoProcessor.from_pretrained(folder)
    wanted = Gemma3ImageProcessor if options.get("pillow") else Gemma3ImageProcessorFast
    assert type(processor.image_processor) is wanted, "the default is not what the script believes"
    return model, processor


def inputs_of(options, processor, messages, images):
    """The prompt and what the processor makes of it."""
    prompt = processor.apply_chat_template(messages, add_generation_prompt=True)
    media = dict(images=[images], **options.get("crops", {})) if images else {}
    return prompt, processor(text=[prompt], return_tensors="pt", add_special_tokens=False, **media)


def counts_of(options, processor, images):
    """Squares of each image."""
    return [1 + int(processor.image_processor([image], **options.get("crops", {}))["num_crops"][0]) for image in images]


def spans(ids, begin, end, counts):
    """Where each medium's tokens are, from its first <start_of_image> to its last <end_of_image>."""
    found, at = [], 0
    for squares in counts:
        first = ids.index(begin, at)
        for _ in range(squares):
            at = ids.index(end, at) + 1
        found.append((first, at))
    return found


def run(model, inputs, counts):
    """Logits, greedy tokens, margins; features of the media with the embeddings of the words among them."""
    ids, config, results = inputs["input_ids"], model.config, {}
    if counts:
        found = model.model.get_image_features(inputs["pixel_values"], return_dict=True).pooler_output
        merged = model.get_input_embeddings()(ids)[0].clone()
        merged[ids[0] == config.image_token_id] = found.flatten(0, 1)
        results["features"] = torch.cat([merged[a:b] for a, b in spans(ids[0].tolist(), config.boi_token_id, config.eoi_token_id, counts)])
    return results | {"input_ids": ids[0]} | answered(model, model(**inputs, use_cache=True))


@torch.no_grad()
def run_case(case, options, model, processor):
    turns, drawn = CASES[case], [(h, w, 1 + i) for i, (h, w) in enumerate(SIZES[case])]
    images = [picture(*one) for one in drawn]
    messages = messages_of(turns, [ANSWER] * (len(turns) - 1))
    _, inputs = inputs_of(options, processor, messages, images)
    counts = counts_of(options, processor, images)
    tensors = {"pictures": torch.tensor(drawn).view(-1, 3)} | run(model, inputs, counts)
    if images:
        for number, values in enumerate(torch.split(inputs["pixel_values"], counts)):
            tensors[f"pixel_levels.{number}"] = levels(values, *options.get("scaling", HALVES))
    ids, tokenizer = inputs["input_ids"], processor.tokenizer
    if len(turns) > 1:  # the model's own answer
        begun, first = inputs_of(options, processor, messages[:1], images[:1])
        given = first_answer(tokenizer, run(model, first, counts[:1])["greedy"])
        prompt, whole = inputs_of(options, processor, messages_of(turns, [given[1]]), images)
        run_on = lambda went_on: run(model, whole | dict(input_ids=went_on, attention_mask=torch.ones_like(went_on),
                                                         token_type_ids=(went_on == model.config.image_token_id).long()), counts)
        tensors |= second_turn(tokenizer, (begun, first["input_ids"][0]), (given[0], given[1].strip()), (prompt, whole["input_ids"][0]), run_on,
                               add_special_tokens=False)
    description = dict(messages=messages, prompt=tokenizer.decode(ids[0]).replace(IMAGE * options["tokens"], f"({options['tokens']} x {IMAGE})"),
                       squares=counts, tokens=ids.shape[1], visual_tokens=len(tensors.get("features", [])), smallest_margin=float(tensors["margins"].min()),
                       answer=tokenizer.decode(tensors["greedy"]))
    return description, {f"{case}.{key}": value for key, value in tensors.items()}


def grids():
    """[least side, most, least ratio, height, width, crops below each other, beside each other] of odd and large pictures."""
    random = np.random.default_rng(SEED)
    fixed = [(1, 1), (1, 2), (300, 360), (300, 359), (300, 361), (360, 300), (256, 512), (256, 511), (512, 256), (300, 750), (300, 749), (750, 300), (1080, 1920),
             (1920, 1080), (896, 448), (2000, 500), (500, 2000), (3000, 300), (257, 4000), (255, 1000), (41, 3000)]
    scattered = [tuple(int(x) for x in random.integers(30, 3000, 2)) for _ in range(60)]
    rows = []
    for least, most, ratio in ((256, 4, 1.2), (256, 4, 0.0), (100, 8, 1.5), (256, 1, 1.2), (16, 64, 1.0)):
        for height, width in fixed + scattered:
            crops = Gemma3ImageProcessor().pan_and_scan(np.zeros((height, width, 3), np.uint8), least, most, ratio, input_data_format="channels_last")
            if any(0 in crop.shape for crop in crops):  # resizing fails there
                continue
            lies = width >= height
            rows.append([least, most, ratio, height, width, 1 if crops and lies else len(crops), len(crops) if crops and lies else min(1, len(crops))])
    return rows


def hashes():
    """FNV-1a 64 of resized bytes at larger sizes: library, height, width, seed, filter, hash of [squares, 3, side, side]."""
    rows = []
    crops = dict(do_pan_and_scan=True, pan_and_scan_min_crop_size=64, pan_and_scan_max_num_crops=4, pan_and_scan_min_ratio_to_activate=1.2)
    for seed, (height, width, resample) in enumerate([(700, 1000, 2), (1203, 641, 2), (90, 1111, 2), (199, 67, 3), (100, 90, 2), (333, 500, 3)]):
        pixels = formula_picture(height, width, seed)
        common = dict(size={"height": 112, "width": 112}, resample=resample, do_rescale=False, do_normalize=False, **crops)
        for library, made in (("torchvision", Gemma3ImageProcessorFast), ("pillow", Gemma3ImageProcessor)):
            values = np.asarray(made(**common)([pixels], return_tensors="pt")["pixel_values"])
            rows.append([library, height, width, seed, resample, fnv(values.astype(np.uint8))])
    return rows


def compared_sizes(name, folder, cli):
    options = PUBLISHED[name]
    model, processor = make_folder(options, SEED, folder)
    images = [formula_picture(*size, 1 + i) for i, size in enumerate([(700, 1000), (403, 211), (300, 300), (500, 640), (128, 900)])]
    for case, count in (("text", 0), ("image", 1), ("two_images", 2), ("five_images", 5)):  # the last goes beyond the window
        question = CASES.get(case, CASES["two_images"])[0][1]
        ours = exported(cli, folder, question, [("image", pixels) for pixels in images[:count]])
        _, inputs = inputs_of(options, processor, messages_of([(["image"] * count, question)]), images[:count])
        apart = float((ours["pixel_values"].reshape(inputs["pixel_values"].shape) - inputs["pixel_values"]).abs().max()) if count else 0.0
        yield Compared(case, ours, run(model, inputs, [1] * count), apart)


def write_goldens():
    scaling = lambda options: dict(zip(("mean", "deviation"), map(torch.tensor, options.get("scaling", HALVES))))
    write_configurations(OUT, CONFIGURATIONS, lambda options, folder, number: make_folder(options, options.get("seed", SEED + number), folder), run_case,
                         CASES, scaling)
    rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in grids())
    (OUT / "sizes.json").write_text('{"hashes": ' + json.dumps(hashes()) + ',\n"crops": [\n' + rows + "]}\n")
    write_manifest(
        OUT, "tiny random Gemma 3 models with eyes",
        "Gemma3ForConditionalGeneration in fp32, eager attention; Gemma3Processor as AutoProcessor makes it, with the folder's pan and scan as its caller's "
        "arguments", __file__,
        seed=f"{SEED} + number of the configuration, or its own", configurations={name: options["covers"] for name, options in CONFIGURATIONS.items()},
        tensors={
            "<case>.input_ids": "int64 [n], media written out",
            "<case>.pixel_levels.<image>": "uint8 [squares, 3, side, side], the whole picture first; value = (level / 255 - mean) / deviation",
            "<case>.features": "fp32 [visual tokens, hidden], in prompt order, with the embeddings of the words from a medium's first <start_of_image> "
                               "to its last <end_of_image>; every fifth column is kept",
            "mean, deviation": "fp32 [3], of the processor"},
        **{"sizes.json": "crops: rows of [least side, most, least ratio, height, width, rows, columns]; hashes of resized bytes"},
        licence="Apache-2.0, own random weights, own pictures and text; chat template as google's folders have it (Gemma licence)")


if __name__ == "__main__":
    main(__doc__, write_goldens)
