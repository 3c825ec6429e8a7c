#!/usr/bin/env python3
"""Writes tests/golden/qwen3_vl: tiny random Qwen3-VL and Qwen3-VL-MoE folders and what transformers computes with them in fp32.

    python tests/golden/make/make_qwen3_vl_golden.py

As make_qwen2_vl_golden.py, whose tokenizer, pictures and weights these are. A medium's features are the rows that the program has of it: of
a cell what the merger and the deepstack mergers make, side by side; of words among a video's tokens their embedding, with nothing behind it.
Frames lie in the middle of their seconds: 0.5 s, 1.5 s, ...

Needs torch, torchvision, transformers, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json

import numpy as np
import torch
import transformers
from family_golden import GREEDY_TOKENS, loaded, main, messages_of, picture, template, told
from safetensors.torch import load_file, save_file
from transformers import AutoProcessor, Qwen3VLForConditionalGeneration, Qwen3VLMoeForConditionalGeneration
from transformers.models.qwen3_vl.video_processing_qwen3_vl import smart_resize
from transformers.video_utils import VideoMetadata

import make_qwen2_vl_golden as qwen2
from make_qwen2_vl_golden import make_tokenizer

FAMILY = "qwen3_vl"
HALF = dict(image_mean=[0.5, 0.5, 0.5], image_std=[0.5, 0.5, 0.5])
CHAT_TEMPLATE = template("qwen3_vl")
CONFIGURATIONS, PUBLISHED, CASES = told("qwen3_vl")


def model_class(options):
    return Qwen3VLMoeForConditionalGeneration if options.get("experts") else Qwen3VLForConditionalGeneration


def config_of(options, tokenizer):
    family = FAMILY + "_moe" if options.get("experts") else FAMILY
    rope = options.get("rope", dict(rope_type="default", rope_theta=5000000.0)) | dict(
        mrope_section=options["sections"], mrope_interleaved=True)
    text = dict(model_type=family + "_text", vocab_size=len(tokenizer) + 3, max_position_embeddings=4096, bos_token_id=None,
                eos_token_id=tokenizer.eos_token_id, tie_word_embeddings=options["tied"], **options["text"])
    if options["layout"] == "published":
        text |= dict(rope_theta=rope.pop("rope_theta"), rope_scaling=rope)
    else:
        text |= dict(rope_parameters=rope)
    vision = options["vision"] | dict(model_type=family, in_channels=3, hidden_act="gelu_pytorch_tanh",
                                      out_hidden_size=options["text"]["hidden_size"])
    return dict(architectures=[model_class(options).__name__], model_type=family, tie_word_embeddings=options["tied"],
                torch_dtype=str(options["stored"]).removeprefix("torch."), **qwen2.vision_ids(tokenizer), text_config=text,
                vision_config=vision)


def write_processor(options, tokenizer, folder):
    vision = options["vision"]
    common = dict(patch_size=vision["patch_size"], merge_size=vision["spatial_merge_size"],
                  temporal_patch_size=vision["temporal_patch_size"], processor_class="Qwen3VLProcessor")
    tokenizer.save_pretrained(folder)
    image = common | options["pixels"] | dict(image_processor_type="Qwen2VLImageProcessorFast")
    video = common | options["frames"] | dict(video_processor_type="Qwen3VLVideoProcessor")
    if options["layout"] == "published":
        (folder / "preprocessor_config.json").write_text(json.dumps(image, indent=1) + "\n")
        (folder / "video_preprocessor_config.json").write_text(json.dumps(video, indent=1) + "\n")
        (folder / "chat_template.json").write_text(json.dumps(dict(chat_template=CHAT_TEMPLATE), indent=1) + "\n")
        return
    nested = dict(processor_class="Qwen3VLProcessor", image_processor=image, video_processor=video)
    (folder / "processor_config.json").write_text(json.dumps(nested, indent=1) + "\n")
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)


def make_folder(options, folder):
    """Writes the folder and returns what transformers makes of it."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options["seed"])
    tokenizer = make_tokenizer()
    (folder / "config.json").write_text(json.dumps(config_of(options, tokenizer), indent=1) + "\n")
    model = model_class(options)(transformers.AutoConfig.from_pretrained(folder))
    generator = torch.Generator().manual_seed(options["seed"])
    qwen2.randomise(model, generator, options["tied"])
    with torch.no_grad():
        for name, value in model.named_parameters():
            if ".experts." in name:  # a matrix each
                value.copy_(1.2 * torch.randn(value.shape, generator=generator) / np.sqrt(value.shape[-1]))
    qwen2.store(model, options | dict(layout="saved"), folder)  # the names are the same in both
    write_processor(options, tokenizer, folder)
    if options.get("experts"):
        turned = load_file(folder / "model.safetensors")
        turned = {name: value.mT.contiguous() if ".experts." in name else value for name, value in turned.items()}
        save_file(turned, folder / "model.safetensors", metadata={"format": "pt"})
    return loaded(model_class(options), folder), AutoProcessor.from_pretrained(folder)


def inputs_of(turns, answers, processor, messages=messages_of, **more):
    """The prompt and what the processor makes of it. Frames lie in the middle of their seconds. messages: how a thread is told to the template."""
    kinds = [([item["kind"] for item in items], question) for items, question in turns]
    prompt = processor.apply_chat_template(messages(kinds, answers), add_generation_prompt=True)
    arguments = {}
    for item, drawn in zip([item for items, _ in turns for item in items], qwen2.drawn_of(turns)):
        pictures, count = [picture(*one) for one in drawn], len(drawn)
        if item["kind"] == "image":
            arguments.setdefault("images", []).append(pictures[0])
        else:
            arguments.setdefault("videos", []).append(np.stack(pictures))
            arguments.setdefault("video_metadata", []).append(VideoMetadata(
                total_num_frames=2 * count, fps=2.0, duration=float(count), frames_indices=[2 * i + 1 for i in range(count)]))
            arguments["do_sample_frames"] = False
    return prompt, processor(text=prompt, return_tensors="pt", **arguments, **more)


def medium_rows(ids, config):
    """Rows of the prompt that belong to media: an image's cells; of a video everything from its first picture's mark to its last one's."""
    rows = ids == config.image_token_id
    video = (ids == config.video_token_id).nonzero().flatten()
    if len(video) > 0:
        rows[int(video[0]) - 1 : int(video[-1]) + 2] = True
    return rows


def run(model, inputs):
    """Logits of the prompt, its positions, media's rows in prompt order, greedy tokens and their margins."""
    grids = {key: inputs[key] for key in ("image_grid_thw", "video_grid_thw") if key in inputs}
    pixels = {key: inputs[key] for key in ("pixel_values", "pixel_values_videos") if key in inputs}
    ids = inputs["input_ids"]
    model.model.rope_deltas = None  # of the case before
    positions = model.model.get_rope_index(ids, **grids)[0][:, 0] if pixels else torch.arange(ids.shape[1]).expand(3, -1)
    rows = model.get_input_embeddings()(ids[0])
    levels = len(model.config.vision_config.deepstack_visual_indexes)
    rows = torch.cat([rows, rows.new_zeros(len(rows), levels * rows.shape[1])], 1)
    for key, grid, token in (("pixel_values", "image_grid_thw", model.config.image_token_id),
                             ("pixel_values_videos", "video_grid_thw", model.config.video_token_id)):
        if key in pixels:
            found = model.model.get_image_features(pixels[key], grids[grid], return_dict=True)
            rows[ids[0] == token] = torch.cat([torch.cat(found.pooler_output), *found.deepstack_features], 1)
    # Without a mask transformers takes the places where positions do not rise by one for the ends of sequences that lie in a row.
    mask = torch.ones_like(ids)
    logits = model(input_ids=ids, attention_mask=mask, use_cache=False, **pixels, **grids).logits[0]
    model.model.rope_deltas = None
    answer = model.generate(**inputs, max_new_tokens=GREEDY_TOKENS, do_sample=False, eos_token_id=None, output_logits=True,
                            return_dict_in_generate=True)
    best = torch.topk(torch.cat(answer.logits), 2).values
    return dict(position_ids=positions, logits=logits[-1].clone(), features=rows[medium_rows(ids[0], model.config)] if pixels else None,
                greedy=answer.sequences[0, ids.shape[1]:], margins=best[:, 0] - best[:, 1])


def write_goldens():
    wanted = {name: (options, {case: CASES[case] for case in options.get("cases", CASES)}) for name, options in CONFIGURATIONS.items()}
    qwen2.write_family(FAMILY, wanted, make_folder, (inputs_of, run))
    qwen2.write_manifest_of(FAMILY, "Qwen3VL(Moe)ForConditionalGeneration", CONFIGURATIONS, __file__,
                            **{"<case>.features": "fp32 [tokens of media, hidden * (1 + levels)], in prompt order, of which every fifth column is kept"})


def video_grid(processor, cli, smart_resize):
    """Of the program's video: its grid of patches, and the cells of a set of frames."""
    video = processor.video_processor
    height, width = smart_resize(qwen2.FRAMES, *qwen2.video_size(cli), video.temporal_patch_size, video.patch_size * video.merge_size,
                                 video.size["shortest_edge"], video.size["longest_edge"])
    grid = [(qwen2.FRAMES + 1) // 2, height // video.patch_size, width // video.patch_size]
    return torch.tensor([grid]), grid[1] * grid[2] // video.merge_size**2


def published_inputs(processor, prompt, cli):
    """What the processor makes of a question about a video but for its pixels, which are the program's own."""
    grid, cells = video_grid(processor, cli, smart_resize)
    times = processor._calculate_timestamps(list(range(qwen2.FRAMES)), 1 / qwen2.EVERY_S, 2)
    text = "".join(f"<{time:.1f} seconds><|vision_start|>{'<|video_pad|>' * cells}<|vision_end|>" for time in times)
    return processor.tokenizer(prompt.replace("<|vision_start|><|video_pad|><|vision_end|>", text), return_tensors="pt") | dict(video_grid_thw=grid)


def compared_sizes(name, folder, cli):
    return qwen2.compared_cases(folder, cli, make_folder(PUBLISHED[name], folder), (published_inputs, run))


if __name__ == "__main__":
    main(__doc__, write_goldens)
