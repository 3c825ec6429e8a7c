#!/usr/bin/env python3
"""Writes tests/golden/mistral3: tiny random Mistral 3 folders with eyes and what transformers computes with them in fp32.

    python tests/golden/make/make_mistral3_golden.py

One folder per configuration: model/ is an ordinary Hugging Face folder, loaded back with AutoProcessor and from_pretrained before anything is
computed, golden.safetensors holds inputs and results, cases.json the messages and prompts. Pixel values are stored as the bytes after resizing
(mean and deviation beside them).

Needs torch, torchvision, transformers 5.24, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json

import numpy as np
import torch
import transformers
from family_golden import (GOLDEN, Compared, answered, exported, levels, loaded, main, messages_of, own_answer, picture, randomise, template, told,
                           write, write_configurations, write_manifest, write_weights)
from make_llava_golden import make_tokenizer
from safetensors.torch import load_file
from transformers import AutoProcessor, Mistral3Config, Mistral3ForConditionalGeneration, PixtralImageProcessor, PixtralProcessor, PixtralVisionConfig
from transformers.models.pixtral.image_processing_pixtral import get_resize_output_image_size

OUT = GOLDEN / "mistral3"
SEED = 61
IMAGE, BREAK, END = "[IMG]", "[IMG_BREAK]", "[IMG_END]"
SPECIAL = ["<unk>", "<s>", "</s>", IMAGE, BREAK, END, "<pad>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"]
CORPUS = ["What is in the picture?", "Describe the image in one sentence.", "How many squares are there?", "And in this one?"]
CLIP = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])
CHAT_TEMPLATE = template("mistral3")  # as Mistral-Small-3.1 has it, without the system text of its default
CONFIGURATIONS, PUBLISHED, CASES = told("mistral3")
SIZES = {"text": [], "image": [(31, 45)], "two_images": [(20, 33), (61, 7)], "second_turn": [(23, 30), (40, 21)]}
ANSWER = "Some squares."
SCALES = ((r"\.bias$", 0, 0.2), ("norm|ln_pre", 1, 0.2), ("embed_tokens|lm_head", 0, 0.5))


def old_name(name):
    """As transformers 4 wrote them."""
    if name.startswith("lm_head."):
        return "language_model." + name
    return name.removeprefix("model.").replace("language_model.", "language_model.model.", 1)


def rewrite_weights(folder, options):
    tensors = load_file(folder / "model.safetensors")
    if options.get("old"):
        plain = {name if name.startswith(("lm_head.", "model.")) else "model." + name.replace("language_model.model.", "language_model."): value
                 for name, value in tensors.items() if not name.startswith("language_model.lm_head.")}
        plain |= {name.removeprefix("language_model."): value for name, value in tensors.items() if name.startswith("language_model.lm_head.")}
        tensors = {old_name(name): value for name, value in plain.items()}
    write_weights(tensors, folder, options.get("shards", 1))


def rewrite_config(folder):
    """Keys as transformers 4 wrote them."""
    config = json.loads((folder / "config.json").read_text())
    for part in ("text_config", "vision_config"):
        config[part]["rope_theta"] = config[part].pop("rope_parameters")["rope_theta"]
    config.pop("tie_word_embeddings")
    config["text_config"].pop("tie_word_embeddings", None)
    write(folder / "config.json", config)


def rewrite_processor(folder):
    combined = json.loads((folder / "processor_config.json").read_text())
    images = combined.pop("image_processor")
    write(folder / "preprocessor_config.json", images | {"image_processor_type": "PixtralImageProcessor", "processor_class": "PixtralProcessor"})
    write(folder / "processor_config.json", combined)
    (folder / "chat_template.jinja").unlink()
    write(folder / "chat_template.json", {"chat_template": CHAT_TEMPLATE})


def make_folder(options, seed, folder):
    torch.manual_seed(seed)
    tokenizer = make_tokenizer(True, SPECIAL, CORPUS)
    tied = options.get("tied", False)
    text = getattr(transformers, options.get("kind", "MistralConfig"))(**({"num_hidden_layers": 2, "max_position_embeddings": 2048, "rope_theta": 1e6, "sliding_window": None}
                                                 | options["text"]), vocab_size=options.get("vocabulary", len(tokenizer) + 3), rms_norm_eps=1e-5,
                                              bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=0, tie_word_embeddings=tied)
    vision = PixtralVisionConfig(**({"num_hidden_layers": 2} | options["vision"]))
    config = Mistral3Config(text_config=text, vision_config=vision, tie_word_embeddings=tied, image_token_index=tokenizer.convert_tokens_to_ids(IMAGE),
                            **options.get("model", {}))
    model = Mistral3ForConditionalGeneration(config)
    randomise(model, torch.Generator().manual_seed(seed), *SCALES)
    model.tie_weights()
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.to(options["stored"]).save_pretrained(folder)
    rewrite_weights(folder, options)
    if options.get("old"):
        rewrite_config(folder)
    cell = config.vision_config.patch_size
    images = PixtralImageProcessor(size={"longest_edge": options.get("edge", config.vision_config.image_size)}, patch_size={"height": cell, "width": cell})
    PixtralProcessor(images, tokenizer, patch_size=cell, spatial_merge_size=config.spatial_merge_size, chat_template=CHAT_TEMPLATE).save_pretrained(folder)
    if options.get("old"):
        rewrite_processor(folder)
    model = loaded(Mistral3ForConditionalGeneration, folder)
    processor = AutoProcessor.from_pretrained(folder)
    assert type(processor.image_processor) is PixtralImageProcessor and processor.spatial_merge_size == config.spatial_merge_size
    return model, processor


def inputs_of(processor, messages, images):
    """The prompt and what the processor makes of it."""
    prompt = processor.apply_chat_template(messages, add_generation_prompt=True)
    return prompt, processor(text=[prompt], return_tensors="pt", add_special_tokens=False, **(dict(images=[images]) if images else {}))


def run(model, processor, inputs):
    """Logits, greedy tokens, margins; features of the media with the embeddings of their rows' ends."""
    ids, results = inputs["input_ids"], {}
    if "pixel_values" in inputs:
        found = model.model.get_image_features(inputs["pixel_values"], inputs["image_sizes"], vision_feature_layer=model.config.vision_feature_layer,
                                               return_dict=True).pooler_output
        merged = model.get_input_embeddings()(ids)[0].clone()
        merged[ids[0] == processor.image_token_id] = torch.cat(tuple(found))
        results["features"] = merged[torch.isin(ids[0], torch.tensor(processor.image_token_ids))]
    return results | {"input_ids": ids[0]} | answered(model, model(**inputs, use_cache=True))


def in_cells(pixels, config):
    """Patches cell by cell, within a cell row by row: [patches, 3, patch, patch]."""
    patch, merge = config.vision_config.patch_size, config.spatial_merge_size
    cells = pixels.unflatten(2, (-1, merge, patch)).unflatten(1, (-1, merge, patch))
    return cells.permute(1, 4, 2, 5, 0, 3, 6).flatten(0, 3)


@torch.no_grad()
def run_case(case, options, model, processor):
    turns, drawn = CASES[case], [(h, w, 1 + i) for i, (h, w) in enumerate(SIZES[case])]
    images = [picture(*one) for one in drawn]
    messages = messages_of(turns, [ANSWER] * (len(turns) - 1))
    written, inputs = inputs_of(processor, messages, images)
    tensors = {"pictures": torch.tensor(drawn).view(-1, 3)} | run(model, processor, inputs)
    sizes = [tuple(int(side) for side in size) for size in inputs.get("image_sizes", [])]
    for number, (height, width) in enumerate(sizes):
        tensors[f"pixel_levels.{number}"] = in_cells(levels(inputs["pixel_values"][number, :, :height, :width], *CLIP), model.config)
    if len(turns) > 1:
        tensors |= own_answer(turns, images, processor, inputs_of, lambda given: run(model, processor, given))
    description = dict(messages=messages, prompt=written, sizes=sizes, tokens=len(tensors["input_ids"]), visual_tokens=len(tensors.get("features", [])),
                       smallest_margin=float(tensors["margins"].min()), answer=processor.tokenizer.decode(tensors["greedy"]))
    return description, {f"{case}.{key}": value for key, value in tensors.items()}


def grown_sizes():
    """[longest edge, cell, height, width, height, width as the tower gets it] of odd and large pictures."""
    random = np.random.default_rng(SEED)
    fixed = [(1, 1), (1, 2), (28, 28), (29, 28), (1540, 1540), (1541, 1540), (1540, 1541), (3080, 1540), (1080, 1920), (4000, 3000), (200, 16000), (8191, 41)]
    scattered = [tuple(int(x) for x in random.integers(1, 6000, 2)) for _ in range(60)]
    return [[edge, cell, height, width, *get_resize_output_image_size(np.zeros((height, width, 1), np.uint8), edge, cell, "channels_last")]
            for edge, cell in ((1540, 28), (1024, 16), (36, 6)) for height, width in fixed + scattered if min(height, width) * edge >= max(height, width)]


def compared_sizes(name, folder, cli):
    options = PUBLISHED[name]
    model, processor = make_folder(options, SEED, folder)
    for case, drawn in {"text": [], "image": [(731, 1100)], "two_images": [(333, 517), (61, 207)]}.items():
        images = [picture(height, width, 1 + number) for number, (height, width) in enumerate(drawn)]
        question = CASES[case][0][1]
        _, inputs = inputs_of(processor, messages_of([(["image"] * len(images), question)]), images)
        with torch.no_grad():
            theirs = run(model, processor, inputs)
        ours = exported(cli, folder, question, [("image", image) for image in images])
        yield Compared(case, ours, theirs)


def write_goldens():
    mean, deviation = (torch.tensor(each) for each in CLIP)
    write_configurations(OUT, CONFIGURATIONS, lambda options, folder, number: make_folder(options, options.get("seed", SEED + number), folder), run_case,
                         tuple(CASES), lambda options: {"mean": mean, "deviation": deviation})
    write(OUT / "sizes.json", {"sizes": grown_sizes()}, indent=None)
    write_manifest(
        OUT, "tiny random Mistral 3 models", "Mistral3ForConditionalGeneration in fp32, eager attention, processors as AutoProcessor loads them (torchvision)",
        __file__, configurations={name: options["covers"] for name, options in CONFIGURATIONS.items()},
        tensors={
            "<case>.pixel_levels.<i>": "uint8 [patches, 3, patch, patch], bytes of an image after resizing, cell by cell",
            "<case>.features": "fp32 [tokens, hidden] of the image and break tokens, with the embeddings of breaks and ends; every fifth column is kept",
            "mean, deviation": "fp32 [3], of the processor"},
        **{"sizes.json": "rows of [longest edge, cell, height, width, height, width as the tower gets it]"},
        licence="Apache-2.0, own random weights, own pictures and text; chat template after Mistral's folders (Apache-2.0)")


if __name__ == "__main__":
    main(__doc__, write_goldens)
