#!/usr/bin/env python3
"""Writes tests/golden/llava: tiny random folders of LLaVA-1.5, LLaVA-NeXT and LLaVA-NeXT-Video and what transformers computes with them.

    python tests/golden/make/make_llava_golden.py

One folder per configuration: model/ is an ordinary Hugging Face folder (weights, tokenizer, processors, chat template), loaded back with
AutoProcessor and from_pretrained, as anybody would, before anything is computed in fp32; golden.safetensors holds inputs and results,
cases.json the messages and prompts. Pixel values are stored as the bytes that were scaled. second_turn: a thread whose first answer is the
model's own.

Needs torch, torchvision, transformers, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json

import numpy as np
import PIL.Image
import torch
from family_golden import (GOLDEN, Compared, answered, exported, first_answer, levels, loaded, main, messages_of, picture, randomise, second_turn,
                           template, told, with_model_first, write, write_configurations, write_manifest, write_weights)
from safetensors.torch import load_file
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (AutoModelForImageTextToText, AutoProcessor, CLIPVisionConfig, LlavaConfig, LlavaForConditionalGeneration, LlavaNextConfig,
                          LlavaNextForConditionalGeneration, LlavaNextVideoConfig, LlavaNextVideoForConditionalGeneration, PreTrainedTokenizerFast,
                          Qwen2Config)

OUT = GOLDEN / "llava"
SEED = 23
SPECIAL = ["<unk>", "<s>", "</s>", "<video>", "<image>", "<pad>", "<|im_start|>", "<|im_end|>"]
CORPUS = ["What is in the picture?", "Describe the video in one sentence.", "The red circle moves from the left to the right.",
          "How many squares are there?", "USER: ASSISTANT: [INST] [/INST]", "What are the differences between the two images?"]
SCALINGS = {"clip": dict(image_mean=[0.48145466, 0.4578275, 0.40821073], image_std=[0.26862954, 0.26130258, 0.27577711]),
            # Batches are filled up with zeros: of these values zero is a byte, too.
            "bytes": dict(image_mean=[122 / 255, 117 / 255, 104 / 255], image_std=[68 / 255, 67 / 255, 70 / 255])}


def crop_processor(side, scaling, name=None, **others):
    named = {"image_processor_type": name} if name else {}
    return {**named, "do_resize": True, "size": {"shortest_edge": side}, "resample": 3, "do_center_crop": True,
            "crop_size": {"height": side, "width": side}, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
            "do_convert_rgb": True, **SCALINGS[scaling], **others}


# layout: of the weight names, "language_model.model" (transformers <= 4.51 and save_pretrained of 5) or "model.language_model".
CLASSES = {"llava": (LlavaConfig, LlavaForConditionalGeneration, "LlavaProcessor"),
           "llava_next": (LlavaNextConfig, LlavaNextForConditionalGeneration, "LlavaNextProcessor"),
           "llava_next_video": (LlavaNextVideoConfig, LlavaNextVideoForConditionalGeneration, "LlavaNextVideoProcessor")}
CONFIGURATIONS, PUBLISHED, CASES = told("llava")


def make_tokenizer(bos, special=SPECIAL, corpus=CORPUS):
    """Characters with byte fallback and a space before a text, as Llama and Mistral have them."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=True)
    alphabet = sorted(set("".join(corpus).replace(" ", "\u2581")))
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=3 + 256 + len(alphabet) + 40, initial_alphabet=alphabet, limit_alphabet=len(alphabet), show_progress=False,
        special_tokens=special[:3] + [f"<0x{byte:02X}>" for byte in range(256)]))
    data = json.loads(tokenizer.to_str())
    data["pre_tokenizer"] = None
    data["added_tokens"] = data["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special[3:]])
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>",
                                   model_max_length=4096)


SCALES = ((r"norm\d?\.weight$", 1, 0.2), (r"\.bias$", 0, 0.2), ("^(?!.*patch).*embed|lm_head|image_newline", 0, 0.5))


def rewrite_weights(folder, options):
    """Names and shards as other writers leave them."""
    tensors = load_file(folder / "model.safetensors")
    if options.get("layout") == "model.language_model":
        tensors = with_model_first(tensors)
    else:  # a buffer that old files still have
        tensors["vision_tower.vision_model.embeddings.position_ids"] = torch.arange(4).unsqueeze(0)
    write_weights(tensors, folder, options.get("shards", 1))


def make_folder(options, generator, folder):
    tokenizer = make_tokenizer(options.get("bos", True))
    image_id, video_id = tokenizer.convert_tokens_to_ids(["<image>", "<video>"])
    text, vision = options["text"], options["vision"]
    text.vocab_size = options.get("vocabulary", len(tokenizer) + 3)
    text.num_hidden_layers = 2
    text.eos_token_id = tokenizer.eos_token_id
    if isinstance(text, Qwen2Config):
        text.layer_types = ["full_attention", "sliding_attention" if text.use_sliding_window else "full_attention"]
    config_class, model_class, processor_class = CLASSES[options["family"]]
    tokens = {"image_token_index": image_id}
    if options["family"] == "llava_next_video":
        tokens["video_token_index"] = video_id
    config = config_class(vision_config=vision, text_config=text, **tokens, **options.get("model", {}))
    model = model_class(config)
    randomise(model, generator, *SCALES)
    model.tie_weights()
    model.to(options["stored"]).save_pretrained(folder)
    rewrite_weights(folder, options)
    tokenizer.save_pretrained(folder)
    strategy = options.get("model", {}).get("vision_feature_select_strategy", "default")
    clip = isinstance(vision, CLIPVisionConfig)
    pixels = crop_processor(**options["processor"])
    files = {"preprocessor_config.json": {**pixels, "processor_class": processor_class},
             "processor_config.json": {"image_token": "<image>", "num_additional_image_tokens": int(clip), "patch_size": vision.patch_size,
                                       "processor_class": processor_class, "vision_feature_select_strategy": strategy}}
    if options["family"] == "llava_next_video":
        videos = {key: value for key, value in pixels.items() if key not in ("image_processor_type", "image_grid_pinpoints")}
        files["video_preprocessor_config.json"] = {**videos, "video_processor_type": "LlavaNextVideoVideoProcessor"}
    if options.get("nested"):  # as save_pretrained of 5 writes it
        files["processor_config.json"] |= {"image_processor": files.pop("preprocessor_config.json"),
                                           "video_processor": files.pop("video_preprocessor_config.json")}
    place = options.get("template_in", "chat_template.jinja")
    if place == "chat_template.jinja":
        (folder / place).write_text(template(options["template"]))
    else:
        known = json.loads((folder / place).read_text()) if (folder / place).exists() else {}
        files[place] = {**known, "chat_template": template(options["template"])}
    for name, content in files.items():
        write(folder / name, content, indent=1)


def judged_by_class_token(tower, pixels):
    """What the class token attends to in the layer that gives the features (the last but one), and rolled out over that and the one before."""
    layers = [attention.mean(1) for attention in tower(pixels, output_attentions=True).attentions[:-1]]
    rolled = [(layer + torch.eye(layer.shape[-1])) / 2 for layer in layers[-2:]]
    return {"class_attention": layers[-1][:, 0, 1:], "class_rollout": (rolled[1] @ rolled[0])[:, 0, 1:]}


FRAMES = 3


def drawn_of(case, scale):
    """Per medium its pictures as [height, width, seed]; sizes are odd, one image is wide, one tall."""
    sizes = {"image": [(31, 45)], "two_images": [(20, 61), (41, 17)], "video_and_image": [(37, 19)], "second_turn": [(31, 45), (41, 17)],
             "second_turn_video": [(31, 45)]}.get(case, [])
    images = iter([[(h * scale + scale // 2, w * scale, 1 + i)] for i, (h, w) in enumerate(sizes)])
    clip = [(26 * scale + scale // 2, 34 * scale, 10 + i) for i in range(FRAMES)]
    return [next(images) if kind == "image" else clip for kinds, _ in CASES[case] for kind in kinds]


def inputs_of(processor, turns, answers, media):
    """The prompt, and what the processor makes of it and of as many media as it has."""
    prompt = processor.apply_chat_template(messages_of(turns, answers), add_generation_prompt=True)
    arguments = {}
    for kind, pictures in zip([kind for kinds, _ in turns for kind in kinds], media):
        arguments.setdefault(kind + "s", []).append(PIL.Image.fromarray(pictures[0]) if kind == "image" else np.stack(pictures))
    inputs = processor(text=prompt, return_tensors="pt", **arguments)
    return prompt, inputs["input_ids"], {key: value for key, value in inputs.items() if key not in ("input_ids", "attention_mask", "token_type_ids")}


def run(model, ids, extra, cached):
    """Logits of the last position, greedy tokens and their margins. cached: False: each token by a pass over all of them."""
    anew = lambda greedy: model(input_ids=torch.cat([ids, torch.tensor([greedy])], 1), use_cache=False, **extra).logits[0, -1]
    return answered(model, model(input_ids=ids, use_cache=cached, **extra), None if cached else anew)


@torch.no_grad()
def run_case(case, options, processor, model, scale=1):
    turns, drawn, cached = CASES[case], drawn_of(case, scale), options.get("cached", True)
    media = [[picture(*one) for one in pictures] for pictures in drawn]
    answers, given = [], None
    if len(turns) > 1:
        begun = inputs_of(processor, turns[:1], [], media[:1])
        given = first_answer(processor.tokenizer, run(model, *begun[1:], cached)["greedy"])
        answers = [given[1]]
    prompt, ids, extra = inputs_of(processor, turns, answers, media)
    tensors = {"input_ids": ids[0], "pictures": torch.tensor([one for pictures in drawn for one in pictures]).view(-1, 3)}
    scaling, features = [SCALINGS[options["processor"]["scaling"]][key] for key in ("image_mean", "image_std")], []
    if "pixel_values" in extra:
        pixels = extra["pixel_values"]
        tensors["pixel_levels"] = levels(pixels if pixels.dim() == 5 else pixels.unsqueeze(1), *scaling)
        sizes = {"image_sizes": extra["image_sizes"]} if "image_sizes" in extra else {}
        features += model.model.get_image_features(pixel_values=pixels, return_dict=True, **sizes).pooler_output
        if options.get("judged"):
            tensors |= judged_by_class_token(model.model.vision_tower, pixels)
    if "pixel_values_videos" in extra:
        pixels = extra["pixel_values_videos"]
        tensors["video_levels"] = levels(pixels, *scaling)
        features += [video.flatten(0, 1) for video in model.model.get_video_features(pixels, return_dict=True).pooler_output]
    if features:
        tensors["features"] = torch.cat(features)  # the templates write images first
    tensors |= run(model, ids, extra, cached)
    if given:
        tensors |= second_turn(processor.tokenizer, (begun[0], begun[1][0]), given, (prompt, ids[0]), lambda went_on: run(model, went_on, extra, cached))
    description = dict(messages=messages_of(turns, answers), prompt=prompt, frames=[len(pictures) for pictures in media], tokens=ids.shape[1],
                       visual_tokens=len(tensors.get("features", [])), smallest_margin=float(tensors["margins"].min()),
                       answer=processor.tokenizer.decode(tensors["greedy"]), image_mean=scaling[0], image_std=scaling[1])
    return description, {f"{case}.{key}": value for key, value in tensors.items()}


def load(folder):
    return AutoProcessor.from_pretrained(folder), loaded(AutoModelForImageTextToText, folder, keeps=["position_ids"])


def compared_sizes(name, folder, cli):
    options = PUBLISHED[name]
    make_folder(options, torch.Generator().manual_seed(SEED + list(PUBLISHED).index(name)), folder)
    processor, model = load(folder)
    for case in options["cases"]:
        (kinds, question), = CASES[case]
        _, golden = run_case(case, options, processor, model, scale=16)
        theirs = {key.removeprefix(case + "."): value for key, value in golden.items()}
        media = [[picture(*one) for one in pictures] for pictures in drawn_of(case, 16)]
        sources = [(kind, pictures[0] if kind == "image" else pictures) for kind, pictures in zip(kinds, media)]
        ours = exported(cli, folder, question, sources, *(["--frames", FRAMES] if "video" in kinds else []))
        scaling = [SCALINGS[options["processor"]["scaling"]][key] for key in ("image_mean", "image_std")]
        apart = [float((levels(ours[own].reshape(theirs[key].shape), *scaling).int() - theirs[key].int()).abs().max())
                 for own, key in (("pixel_values", "pixel_levels"), ("pixel_values_videos", "video_levels")) if key in theirs]
        yield Compared(case, ours, theirs, max(apart, default=0.0))


def make_goldens():
    def make(options, folder, number):
        torch.manual_seed(SEED + number)
        make_folder(options, torch.Generator().manual_seed(SEED + number), folder)
        return load(folder)

    write_configurations(OUT, CONFIGURATIONS, make, run_case)
    write_manifest(
        OUT, "tiny random LLaVA, LLaVA-NeXT and LLaVA-NeXT-Video models", "AutoProcessor and AutoModelForImageTextToText in fp32, eager attention", __file__,
        seed=f"{SEED} + number of the configuration", configurations={name: options["covers"] for name, options in CONFIGURATIONS.items()},
        tensors={
            "<case>.input_ids": "int64 [n], placeholders expanded",
            "<case>.pixel_levels": "uint8 [images, tiles, 3, side, side]; value = (level / 255 - image_mean) / image_std of cases.json",
            "<case>.video_levels": "uint8 [1, frames, 3, side, side]",
            "<case>.class_attention, <case>.class_rollout": "fp32 [images, patches], of llava_llama: mean over heads of the class token's row in "
                                                            "the feature layer; the same times that of the layer before, each with the identity"},
        licence="Apache-2.0, own random weights, own pictures and text; chat templates as published with the models")


if __name__ == "__main__":
    main(__doc__, make_goldens)
