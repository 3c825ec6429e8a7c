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
from family_golden import GREEDY_TOKENS, loaded, main, messages_of, picture
from safetensors.torch import load_file, save_file
from transformers import AutoProcessor, Qwen3VLForConditionalGeneration, Qwen3VLMoeForConditionalGeneration
from transformers.models.qwen3_vl.video_processing_qwen3_vl import smart_resize
from transformers.video_utils import VideoMetadata

import make_qwen2_vl_golden as qwen2
from make_qwen2_vl_golden import make_tokenizer

FAMILY = "qwen3_vl"
# What Qwen/Qwen3-VL-4B-Instruct's makes of threads without tools; folders without one get it from the program.
CHAT_TEMPLATE = (
    "{%- set image_count = namespace(value=0) %}{%- set video_count = namespace(value=0) %}{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\n' }}{%- if message.content is string %}{{- message.content }}{%- else %}"
    "{%- for content in message.content %}{%- if content.type == 'image' or 'image' in content or 'image_url' in content %}"
    "{%- set image_count.value = image_count.value + 1 %}{%- if add_vision_id %}Picture {{ image_count.value }}: {% endif -%}"
    "<|vision_start|><|image_pad|><|vision_end|>{%- elif content.type == 'video' or 'video' in content %}"
    "{%- set video_count.value = video_count.value + 1 %}{%- if add_vision_id %}Video {{ video_count.value }}: {% endif -%}"
    "<|vision_start|><|video_pad|><|vision_end|>{%- elif 'text' in content %}{{- content.text }}{%- endif %}{%- endfor %}{%- endif %}"
    "{{- '<|im_end|>\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}")
HALF = dict(image_mean=[0.5, 0.5, 0.5], image_std=[0.5, 0.5, 0.5])

# seed: one whose greedy choices are no ties and say many words. layout: "published" as the folders on the hub are (rope_scaling,
# preprocessor_config.json and video_preprocessor_config.json, chat_template.json), "saved" as transformers 5 saves them (rope_parameters,
# processor_config.json, chat_template.jinja).
CONFIGURATIONS = {
    "qwen3_vl/published": dict(
        seed=6,
        covers="rope_scaling, two levels, a head larger than hidden_size / heads, tied embeddings, a video that is made smaller, bf16",
        text=dict(num_hidden_layers=3, hidden_size=48, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=16),
        sections=[4, 2, 2], tied=True,
        vision=dict(depth=3, hidden_size=16, intermediate_size=24, num_heads=2, patch_size=4, spatial_merge_size=2, temporal_patch_size=2,
                    num_position_embeddings=16, deepstack_visual_indexes=[0, 1]),
        pixels=dict(size=dict(shortest_edge=8 * 64, longest_edge=20 * 64), **HALF),
        frames=dict(size=dict(shortest_edge=8 * 64, longest_edge=24 * 64), **HALF), layout="published", stored=torch.bfloat16),
    "qwen3_vl/saved": dict(
        seed=13,
        covers="rope_parameters, as many levels as the decoder has layers, the last layer's among them, cells of 3 x 3 patches, a video that "
               "is made larger, multi-head attention, untied head, fp32",
        text=dict(num_hidden_layers=3, hidden_size=24, intermediate_size=32, num_attention_heads=2, num_key_value_heads=2, head_dim=20),
        sections=[4, 3, 3], tied=False,
        vision=dict(depth=4, hidden_size=8, intermediate_size=12, num_heads=2, patch_size=3, spatial_merge_size=3, temporal_patch_size=2,
                    num_position_embeddings=25, deepstack_visual_indexes=[1, 2, 3]),
        pixels=dict(size=dict(shortest_edge=6 * 81, longest_edge=15 * 81), **HALF),
        frames=dict(size=dict(shortest_edge=40 * 81, longest_edge=60 * 81), resample=2, **HALF), layout="saved", stored=torch.float32),
    "qwen3_vl/joined_three": dict(
        seed=7,
        covers="no levels, three frames joined, no merging, sections longer than the frequencies, yarn, two shards, fp16",
        text=dict(num_hidden_layers=2, hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=1, head_dim=16),
        sections=[2, 3, 3], tied=False,
        rope=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=1024),
        vision=dict(depth=2, hidden_size=32, intermediate_size=40, num_heads=4, patch_size=6, spatial_merge_size=1, temporal_patch_size=3,
                    num_position_embeddings=9, deepstack_visual_indexes=[]),
        pixels=dict(size=dict(shortest_edge=9 * 36, longest_edge=30 * 36), **HALF),
        frames=dict(size=dict(shortest_edge=4 * 36, longest_edge=40 * 36)), layout="saved", shards=2, stored=torch.float16,
        cases=["text", "image", "odd_video"]),
    "qwen3_vl/experts": dict(
        seed=2, experts=True,
        covers="Qwen3-VL-MoE, 2 of 5 experts in the first and the third layer, none in the second, experts turned over as published, one level, "
               "bf16",
        text=dict(num_hidden_layers=3, hidden_size=32, intermediate_size=40, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
                  num_experts=5, num_experts_per_tok=2, moe_intermediate_size=12, mlp_only_layers=[1]),
        sections=[4, 2, 2], tied=False,
        vision=dict(depth=2, hidden_size=16, intermediate_size=24, num_heads=2, patch_size=4, spatial_merge_size=2, temporal_patch_size=2,
                    num_position_embeddings=16, deepstack_visual_indexes=[0]),
        pixels=dict(size=dict(shortest_edge=8 * 64, longest_edge=20 * 64), **HALF),
        frames=dict(size=dict(shortest_edge=8 * 64, longest_edge=24 * 64), **HALF), layout="published", stored=torch.bfloat16,
        cases=["text", "two_images", "odd_video"]),
}
# Towers cut to four layers and decoders to three, a level behind each of three; narrow MLPs and experts of the decoders, few words.
COMMON = dict(
    seed=1, sections=[24, 20, 20], pixels=dict(size=dict(shortest_edge=65536, longest_edge=16777216), **HALF),
    frames=dict(size=dict(shortest_edge=4096, longest_edge=25165824), **HALF), layout="published", stored=torch.bfloat16)
EYES = dict(depth=4, num_heads=16, patch_size=16, spatial_merge_size=2, temporal_patch_size=2, num_position_embeddings=2304,
            deepstack_visual_indexes=[0, 1, 2])
PUBLISHED = {
    "Qwen3-VL-4B": dict(
        text=dict(num_hidden_layers=3, hidden_size=2560, intermediate_size=1024, num_attention_heads=32, num_key_value_heads=8, head_dim=128,
                  rms_norm_eps=1e-6),
        tied=True, vision=dict(hidden_size=1024, intermediate_size=4096, **EYES), **COMMON),
    "Qwen3-VL-30B-A3B": dict(
        experts=True,
        text=dict(num_hidden_layers=3, hidden_size=2048, intermediate_size=6144, num_attention_heads=32, num_key_value_heads=4, head_dim=128,
                  rms_norm_eps=1e-6, num_experts=128, num_experts_per_tok=8, moe_intermediate_size=64),
        tied=False, vision=dict(hidden_size=1152, intermediate_size=4304, **EYES), **COMMON),
}
CASES = {
    "text": [([], "How many squares are there?")],
    "image": [([dict(kind="image", size=(31, 45))], "What is in the picture?")],
    "two_images": [([dict(kind="image", size=(20, 33)), dict(kind="image", size=(70, 17))], "How do they differ?")],
    "video": [([dict(kind="video", size=(24, 34), frames=4, every_s=1.0)], "Describe the video in one sentence.")],
    "odd_video": [([dict(kind="video", size=(24, 34), frames=9, every_s=1.0)], "Describe the video in one sentence.")],
    "video_and_image": [([dict(kind="video", size=(20, 40), frames=3, every_s=1.0), dict(kind="image", size=(31, 45))], "Is it there?")],
    "second_turn_video": [([dict(kind="image", size=(31, 45))], "What is in the picture?"),
                          ([dict(kind="video", size=(24, 34), frames=5, every_s=1.0)], "Is it in the video?")],
}


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
    ids = {name: tokenizer.convert_tokens_to_ids(f"<|{token}|>") for name, token in (
        ("image_token_id", "image_pad"), ("video_token_id", "video_pad"), ("vision_start_token_id", "vision_start"),
        ("vision_end_token_id", "vision_end"))}
    return dict(architectures=[model_class(options).__name__], model_type=family, tie_word_embeddings=options["tied"],
                torch_dtype=str(options["stored"]).removeprefix("torch."), **ids, text_config=text,
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


def inputs_of(turns, answers, processor, messages=messages_of):
    """The prompt and what the processor makes of it. messages: how a thread is told to the template."""
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
    return prompt, processor(text=prompt, return_tensors="pt", **arguments)


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


def published_inputs(processor, prompt, cli):
    """What the processor makes of a question about a video but for its pixels, which are the program's own."""
    video, frames, every_s = processor.video_processor, qwen2.FRAMES, qwen2.EVERY_S
    height, width = smart_resize(frames, *qwen2.video_size(cli), video.temporal_patch_size, video.patch_size * video.merge_size,
                                 video.size["shortest_edge"], video.size["longest_edge"])
    grid = [(frames + 1) // 2, height // video.patch_size, width // video.patch_size]
    cells = grid[1] * grid[2] // video.merge_size**2
    times = processor._calculate_timestamps(list(range(frames)), 1 / every_s, 2)
    text = "".join(f"<{time:.1f} seconds><|vision_start|>{'<|video_pad|>' * cells}<|vision_end|>" for time in times)
    inputs = processor.tokenizer(prompt.replace("<|vision_start|><|video_pad|><|vision_end|>", text), return_tensors="pt")
    return inputs | dict(video_grid_thw=torch.tensor([grid]))


def compared_sizes(name, folder, cli):
    return qwen2.compared_cases(folder, cli, make_folder(PUBLISHED[name], folder), (published_inputs, run))


if __name__ == "__main__":
    main(__doc__, write_goldens)
