#!/usr/bin/env python3
"""Writes tests/golden/minicpmv and minicpmv4_7: tiny random MiniCPM-V 4.6 and 4.7 folders and what transformers computes with them in fp32.

    python tests/golden/make/make_minicpmv_golden.py

As make_qwen3_5_golden.py, whose decoders, tokenizer and measure of steadiness these are, with pictures large enough to be cut. Pixels are rows of
patches, picture by picture, a picture's slices behind it. A medium's features are the rows that the program has of it: of a cell what the merger
makes, of marks and lines between the cells their embedding. Videos are asked for as the model's card does, max_slice_nums=1 and no number before
them, beside images that have theirs (in one prompt of 4.6 transformers gives both or neither; MiniCPMV4_7Processor numbers images alone).

Needs torch, torchvision, transformers 5.24, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json
import shutil

import family_golden
import numpy as np
import torch
import transformers
from family_golden import GOLDEN, GREEDY_TOKENS, loaded, main, template, told, write_folder
from tokenizers import AddedToken, Regex, pre_tokenizers
from transformers import AutoProcessor, MiniCPMV4_6ForConditionalGeneration, MiniCPMV4_7ForConditionalGeneration
from transformers.models.qwen3_5.tokenization_qwen3_5 import PRETOKENIZE_REGEX
from transformers.utils.chat_template_utils import render_jinja_template

import make_qwen2_vl_golden as qwen2
import make_qwen3_5_golden as qwen3_5
import make_qwen3_vl_golden as qwen3

CLASSES = {"minicpmv": MiniCPMV4_6ForConditionalGeneration, "minicpmv4_7": MiniCPMV4_7ForConditionalGeneration}
NAMED = dict(image_token="<|image_pad|>", video_token="<|video_pad|>", image_start_token="<image>", image_end_token="</image>",
             slice_start_token="<slice>", slice_end_token="</slice>", image_id_start_token="<image_id>", image_id_end_token="</image_id>")
HALF = qwen3.HALF
# The program's own, for folders without one, is what openbmb/MiniCPM-V-4.6's makes of threads without tools. The folders have it without thoughts:
# an empty one for the newest answer alone would keep a cache from going on.
CHAT_TEMPLATE, OWN_TEMPLATE = template("minicpmv_without_thoughts"), template("minicpmv")
CONFIGURATIONS, PUBLISHED, _ = told("minicpmv")
CASES = qwen3.CASES | {
    "large_image": [([dict(kind="image", size=(90, 110))], "What is in the picture?")],
    "large_and_small": [([dict(kind="image", size=(40, 150)), dict(kind="image", size=(20, 33))], "How do they differ?")],
    "large_video": [([dict(kind="video", size=(60, 110), frames=3, every_s=1.0)], "Describe the video in one sentence.")],
    "second_turn_images": [([dict(kind="image", size=(31, 45)), dict(kind="image", size=(12, 9))], "How do they differ?"),
                           ([dict(kind="image", size=(70, 64))], "And this one?")],
}


def make_tokenizer():
    plain = qwen2.make_tokenizer(qwen2.SPECIAL + [token for token in NAMED.values() if token not in qwen2.SPECIAL], extra_special_tokens=NAMED)
    plain._tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PRETOKENIZE_REGEX), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    plain.add_tokens([AddedToken(token, special=False, normalized=False) for token in ("<think>", "</think>")])
    return plain


def class_of(options):
    return MiniCPMV4_7ForConditionalGeneration if "sections" in options else MiniCPMV4_6ForConditionalGeneration


def config_of(options, tokenizer):
    rope = dict(rope_type="default", rope_theta=10000000.0, partial_rotary_factor=options["rotated"])
    own = dict(drop_vision_last_layer=False)
    if "sections" in options:  # 4.7
        rope |= dict(mrope_section=options["sections"], mrope_interleaved=True)
        own = {key: tokenizer.convert_tokens_to_ids(token) for key, token in (
            ("image_start_id", "<image>"), ("image_end_id", "</image>"), ("slice_start_id", "<slice>"), ("slice_end_id", "</slice>"),
            ("newline_id", "\u010a"))}
    model_type = class_of(options).config_class.model_type
    text = dict(model_type="qwen3_5_text", vocab_size=len(tokenizer) + 3, max_position_embeddings=4096, bos_token_id=None, eos_token_id=None,
                rope_parameters=rope, partial_rotary_factor=options["rotated"], tie_word_embeddings=options["tied"], attn_output_gate=True,
                mamba_ssm_dtype="float32", mtp_num_hidden_layers=1, **options["text"])
    vision = dict(model_type=model_type + "_vision", num_channels=3, window_kernel_size=[2, 2], insert_layer_id=options["merger_layer"]) | options["vision"]
    return dict(architectures=[class_of(options).__name__], model_type=model_type, tie_word_embeddings=options["tied"],
                torch_dtype=str(options["stored"]).removeprefix("torch."), insert_layer_id=options["merger_layer"], downsample_mode=options["mode"],
                merge_kernel_size=[2, 2], merger_times=1, **own, image_token_id=tokenizer.convert_tokens_to_ids("<|image_pad|>"),
                video_token_id=tokenizer.convert_tokens_to_ids("<|video_pad|>"), eos_token_id=tokenizer.eos_token_id, text_config=text,
                vision_config=vision)


def write_processor(options, tokenizer, folder):
    common = dict(patch_size=options["vision"]["patch_size"], downsample_mode=options["mode"], slice_mode=True, use_image_id=True,
                  processor_class=class_of(options).__name__.removesuffix("ForConditionalGeneration") + "Processor") | HALF | options["pixels"]
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    image = common | dict(image_processor_type="MiniCPMV4_6ImageProcessor")
    video = common | dict(video_processor_type="MiniCPMV4_6VideoProcessor", max_num_frames=128, stack_frames=1)
    if options["files"] == "two":
        (folder / "preprocessor_config.json").write_text(json.dumps(image, indent=1) + "\n")
        (folder / "video_preprocessor_config.json").write_text(json.dumps(video, indent=1) + "\n")
        return
    nested = dict(processor_class=class_of(options).__name__.removesuffix("ForConditionalGeneration") + "Processor", image_processor=image, video_processor=video)
    (folder / "processor_config.json").write_text(json.dumps(nested, indent=1) + "\n")


class InRows:
    """The processor, for videos as the card asks for them, and with rows of patches [patches, 3 * patch * patch] in the place of its pixels."""

    def __init__(self, processor):
        self.processor = processor
        processor.video_processor.max_slice_nums = 1
        numbered = processor._prepend_local_ids
        processor._prepend_local_ids = lambda text, written, token: written if token == processor.video_token else numbered(text, written, token)

    def __getattr__(self, name):
        return getattr(self.processor, name)

    def __call__(self, **arguments):
        inputs = dict(self.processor(**arguments))
        side = self.processor.image_processor.patch_size
        for key in ("pixel_values", "pixel_values_videos"):
            if key in inputs:
                inputs[key] = inputs[key][0].view(3, side, -1, side).permute(2, 0, 1, 3).flatten(1)
        return inputs


def packed(inputs, config):
    """As the model's class takes them."""
    given = {key: inputs[key] for key in ("input_ids", "target_sizes", "target_sizes_videos") if key in inputs}
    side = config.vision_config.patch_size
    for key in ("pixel_values", "pixel_values_videos"):
        if key in inputs:
            given[key] = inputs[key].view(-1, 3, side, side).permute(1, 2, 0, 3).flatten(2)[None]
    given |= dict(attention_mask=torch.ones_like(inputs["input_ids"]))
    return given | (dict(mm_token_type_ids=kinds_of(inputs["input_ids"], config)) if hasattr(config, "newline_id") else {})


def kinds_of(ids, config):
    return (ids == config.image_token_id).int() + 2 * (ids == config.video_token_id).int()


def positions_of(model, given):
    """One axis, but three in 4.7."""
    ids = given["input_ids"]
    sizes = {key: given[key] for key in ("target_sizes", "target_sizes_videos") if key in given}
    if not hasattr(model.config, "newline_id"):
        return torch.arange(ids.shape[1])[None]
    if not sizes:
        return torch.arange(ids.shape[1]).expand(3, -1)
    return model.model.get_rope_index(ids, given["mm_token_type_ids"], **sizes)[0][:, 0]


def randomise(model, generator, tied):
    """Norms of the decoder are stored as w - 1, but for the gated ones. Decays from a token to hundreds, so that the states matter."""
    family_golden.randomise(
        model, generator, (r"(vision_tower|merger)\..*(norm\d?|layernorm)\.weight$|linear_attn\.norm\.weight$", 1, 0.2), (r"norm\.weight$", 0, 0.2),
        (r"(vision_tower|merger)\..*\.bias$", 0, 0.2), (r"dt_bias$", 0, 1), (r"A_log$", -3, 1.5), (r"position_embedding", 0, 0.5),
        ("embed_tokens|lm_head", 0, 0.2 if tied else 0.5))


def make_folder(options, folder):
    """Writes the folder and returns what transformers makes of it."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options["seed"])
    tokenizer = make_tokenizer()
    (folder / "config.json").write_text(json.dumps(config_of(options, tokenizer), indent=1) + "\n")
    ends = [tokenizer.convert_tokens_to_ids(token) for token in ("<|endoftext|>", "<|im_end|>")]
    (folder / "generation_config.json").write_text(json.dumps(dict(eos_token_id=ends, do_sample=True, temperature=0.7, top_k=0, top_p=1.0), indent=1) + "\n")
    model = class_of(options)(transformers.AutoConfig.from_pretrained(folder))
    randomise(model, torch.Generator().manual_seed(options["seed"]), options["tied"])
    qwen3_5.store(model, options | dict(layout="published" if options["tied"] else "saved"), folder)
    write_processor(options, tokenizer, folder)
    model = loaded(class_of(options), folder)
    model.generation_config = transformers.GenerationConfig()
    return model, InRows(AutoProcessor.from_pretrained(folder))


def medium_rows(ids, tokenizer):
    """Rows of the prompt that belong to media: from `<image>` to `</image>` or the last slice behind it."""
    of = tokenizer.convert_tokens_to_ids
    ids, rows = ids.tolist(), torch.zeros(len(ids), dtype=torch.bool)
    begin, end, slice_begin, slice_end, line = (of(token) for token in ("<image>", "</image>", "<slice>", "</slice>", "\u010a"))
    at = 0
    while at < len(ids):
        first = at
        if ids[at] == begin:
            at = ids.index(end, at) + 1
            while at + 1 < len(ids) and (ids[at] == slice_begin or (ids[at] == line and ids[at + 1] == slice_begin)):
                at = ids.index(slice_end, at) + 1
            rows[first:at] = True
        else:
            at += 1
    return rows


def run_with(tokenizer):
    def run(model, inputs):
        """Logits of the prompt, its positions, media's rows in prompt order, greedy tokens and their margins."""
        given = packed(inputs, model.config)
        model.model.rope_deltas = None  # of the case before
        ids = given["input_ids"]
        rows = model.get_input_embeddings()(ids[0]).clone()
        for key, sizes, token in (("pixel_values", "target_sizes", model.config.image_token_id),
                                  ("pixel_values_videos", "target_sizes_videos", model.config.video_token_id)):
            if key in given:
                rows[ids[0] == token] = torch.cat(list(model.model.get_image_features(given[key], given[sizes], return_dict=True).pooler_output))
        logits = model(**given, use_cache=False).logits[0]
        answer = model.generate(**given, max_new_tokens=GREEDY_TOKENS, do_sample=False, eos_token_id=None, output_logits=True, return_dict_in_generate=True)
        best = torch.topk(torch.cat(answer.logits), 2).values
        media = "pixel_values" in given or "pixel_values_videos" in given
        return dict(position_ids=positions_of(model, given), logits=logits[-1].clone(),
                    features=rows[medium_rows(ids[0], tokenizer)] if media else None, greedy=answer.sequences[0, ids.shape[1]:],
                    margins=best[:, 0] - best[:, 1])

    return run


def sizes(images, videos):
    """What both processors make of sizes, in tokens: the whole, rows and columns of slices, a slice."""
    rows = []
    shapes = ((431, 640), (5, 61), (27, 28), (1080, 1920), (448, 448), (449, 448), (20, 4000), (4000, 3000), (896, 897), (1, 200), (720, 1280), (1008, 560))
    for scale, patch in ((448, 14), (48, 4), (24, 3)):
        for most in (1, 4, 9, 36):
            for mode, joined in (("16x", 4), ("4x", 2)):
                for shape in shapes:
                    own = (scale, patch, mode)
                    grid = images.get_sliced_grid(shape, most, scale)
                    assert grid == videos.get_sliced_grid(shape, most, scale)
                    whole = images.find_best_resize(shape, *own, allow_upscale=grid is None)
                    assert whole == videos.find_best_resize(shape, scale, patch, downsample_mode=mode, allow_upscale=grid is None)
                    parts = images.get_refine_size(shape, grid, *own, allow_upscale=True) if grid else (0, 0)
                    slices = [side // number // (patch * joined) for side, number in zip(parts, grid)] if grid else [0, 0]
                    rows.append([scale, most, patch, joined, *shape, *(side // (patch * joined) for side in whole), *(grid or (0, 0)), *slices])
    return dict(rows=rows)


def canvases(model):
    """Positions of prompts of 4.7, sizes in tokens; a frame that is cut, too, which only a detail does. parted, after: what is written between
    media and behind the last one, of lines (L) and words (w)."""
    config = model.config
    kinds = [dict(kind="image", frames=1, whole=(3, 4)), dict(kind="image", frames=1, whole=(2, 3), slice=(2, 2), grid=(2, 3)),
             dict(kind="image", frames=1, whole=(7, 6), slice=(5, 7), grid=(1, 2)), dict(kind="video", frames=3, whole=(2, 5)),
             dict(kind="video", frames=2, whole=(3, 2), slice=(2, 3), grid=(3, 1))]
    asked = [(before, [medium], "", after) for medium in kinds for before in (0, 1, 3) for after in ("", "Lw", "w")]
    asked += [(2, [first, second], ("", "L", "w", "Lw", "wL")[(5 * kinds.index(first) + kinds.index(second)) % 5], "Lw")
              for first in kinds for second in kinds]
    written = lambda text: [config.newline_id if letter == "L" else 7 for letter in text]
    rows = []
    for before, media, parted, after in asked:
        ids, sizes = written("w" * before), dict(image=[], video=[])
        for number, medium in enumerate(media):
            ids += written(parted) if number else []
            cell = dict(image=config.image_token_id, video=config.video_token_id)[medium["kind"]]
            down, across = medium.get("grid", (0, 0))
            part = [config.slice_start_id] + [cell] * np.prod(medium.get("slice", (0, 0)), dtype=int) + [config.slice_end_id]
            for _ in range(medium["frames"]):
                ids += [config.image_start_id] + [cell] * np.prod(medium["whole"]) + [config.image_end_id]
                ids += [each for row in range(down) for each in (written("L") if row else []) + part * across]
                sizes[medium["kind"]] += [medium["whole"]] + [medium.get("slice")] * (down * across)
        ids = torch.tensor([ids + written(after)])
        patches = {name: 4 * torch.tensor(sizes[kind]) if sizes[kind] else None for name, kind in (("target_sizes", "image"), ("target_sizes_videos", "video"))}
        positions, deltas = model.model.get_rope_index(ids, kinds_of(ids, config), **patches, downsample_mode="16x")
        rows.append(dict(before=before, media=media, parted=parted, after=after, positions=positions[:, 0].tolist(), next=int(deltas) + ids.shape[1]))
    return dict(rows=rows)


def threads():
    """What transformers makes of threads by the program's own template. think: whether the template is told that the model thinks."""
    part = lambda kind, text="": dict(type=kind) | (dict(text=text) if kind == "text" else {})
    asked = dict(role="user", content=[part("image"), part("video"), part("text", " How many? ")])
    answer = dict(role="assistant", content=[part("text", "Three.")])
    again = dict(role="user", content=[part("text", "And <b>now</b>?")])
    told = [[asked], [dict(role="system", content=[part("text", "Be brief. ")]), asked, answer, again],
            [asked, answer | dict(reasoning_content="One, two, three."), again],
            [asked, dict(role="assistant", content=[part("text", "<think>\nOne.\n</think>\n\nThree.")]), again]]
    rows = []
    for messages in told:
        for think in (None, True, False):
            given = {} if think is None else dict(enable_thinking=think)
            rendered = render_jinja_template([messages], chat_template=OWN_TEMPLATE, add_generation_prompt=True, **given)[0][0]
            rows.append(dict(messages=messages, think=think, expected=rendered))
    return dict(template=OWN_TEMPLATE, rows=rows)


def write_goldens():
    for family, model_class in CLASSES.items():
        shutil.rmtree(GOLDEN / family, ignore_errors=True)
        own = {name: options for name, options in CONFIGURATIONS.items() if name.startswith(family + "/")}
        for name, options in own.items():
            model, images, videos = write_one(name, options)
        axes = "int64 [1, n]" if family == "minicpmv" else "int64 [3, n]: time, height, width"
        qwen2.write_manifest_of(family, model_class.__name__, own, __file__,
                                **{"<case>.position_ids": axes,
                                   "<case>.levels.pixel_values(_videos)": "uint8 [patches, 3 * patch * patch], row by row, a picture's slices behind it; every "
                                                                          "fifth column is kept; value = (level / 255 - mean) / deviation, colours outermost",
                                   "<case>.features": "fp32 [tokens of media, hidden], in prompt order, of which every fifth column is kept"})
    (GOLDEN / "minicpmv4_7" / "canvases.json").write_text(json.dumps(canvases(model)) + "\n")
    (GOLDEN / "minicpmv" / "sizes.json").write_text(json.dumps(sizes(images, videos)) + "\n")
    (GOLDEN / "minicpmv" / "threads.json").write_text(json.dumps(threads(), indent=1) + "\n")


def write_one(name, options):
    model, processor = make_folder(options, GOLDEN / name / "model")
    images, videos = processor.image_processor, processor.video_processor
    assert type(processor.processor).__name__ == class_of(options).__name__.removesuffix("ForConditionalGeneration") + "Processor"
    assert images.image_mean == videos.image_mean
    cases, tensors = {}, {"mean": torch.tensor(images.image_mean), "deviation": torch.tensor(images.image_std)}
    wanted = {case: CASES[case] for case in options.get("cases", CASES)}
    run = run_with(processor.tokenizer)
    for case, turns in wanted.items():
        cases[case], results = qwen2.run_case(case, turns, processor, model, (qwen3.inputs_of, run))
        tensors.update(results)
    with torch.no_grad():
        apart = max(qwen3_5.steadiness(model, packed(qwen3.inputs_of(turns[:1], [], processor)[1], model.config)) for turns in wanted.values())
    print(name, "fp32 and fp64 differ by", apart, flush=True)
    assert apart < qwen3_5.STEADY, "another seed"
    write_folder(GOLDEN / name, cases, tensors)
    return model, images, videos


def published_inputs(processor, prompt, cli):
    """What the processor makes of a question about a video but for its pixels, which are the program's own."""
    video = processor.video_processor
    height, width = video.find_best_resize(qwen2.video_size(cli), video.scale_resolution, video.patch_size, allow_upscale=True)
    sizes = torch.tensor([[height // video.patch_size, width // video.patch_size]] * qwen2.FRAMES)
    frame = "<image>" + "<|video_pad|>" * (int(sizes[0].prod()) // 16) + "</image>"
    return dict(processor.tokenizer(prompt.replace("<|video_pad|>", frame * qwen2.FRAMES), return_tensors="pt")) | dict(target_sizes_videos=sizes)


def compared_sizes(name, folder, cli):
    model, processor = make_folder(PUBLISHED[name], folder)
    return qwen2.compared_cases(folder, cli, (model, processor), (published_inputs, run_with(processor.tokenizer)))


if __name__ == "__main__":
    main(__doc__, write_goldens)
