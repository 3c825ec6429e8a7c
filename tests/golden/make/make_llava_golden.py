#!/usr/bin/env python3
"""Writes tests/golden/llava: tiny random folders of LLaVA-1.5, LLaVA-NeXT and LLaVA-NeXT-Video and what transformers computes with them.

    python tests/golden/make/make_llava_golden.py
    python tests/golden/make/make_llava_golden.py --published FOLDER [--cli winnow-cli]

One folder per configuration: model/ is an ordinary Hugging Face folder (weights, tokenizer, processors, chat template), loaded back with
AutoProcessor and from_pretrained, as anybody would, before anything is computed in fp32; golden.safetensors holds inputs and results,
cases.json the messages, prompts and pictures. Pictures are stored as bytes; pixel values as the bytes that were scaled.

--published makes a folder with the published sizes of llava-hf/llava-1.5-7b-hf (336 px, patches of 14 px, 576 tokens, 32 heads of 128),
llava-v1.6-mistral-7b-hf and LLaVA-NeXT-Video-7B-hf but two layers and narrow MLPs, in FOLDER and not in the repository; with --cli it asks
the program the same and prints the largest relative differences.

Needs torch, torchvision, transformers, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import warnings

import numpy as np
import PIL.Image
import safetensors
import tokenizers
import torch
import torchvision
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (AutoModelForImageTextToText, AutoProcessor, CLIPVisionConfig, LlamaConfig, LlavaConfig,
                          LlavaForConditionalGeneration, LlavaNextConfig, LlavaNextForConditionalGeneration, LlavaNextVideoConfig,
                          LlavaNextVideoForConditionalGeneration, MistralConfig, PreTrainedTokenizerFast, Qwen2Config, SiglipVisionConfig)

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
OUT = pathlib.Path(__file__).resolve().parents[1] / "llava"
SEED = 23
GREEDY_TOKENS = 64
SPECIAL = ["<unk>", "<s>", "</s>", "<video>", "<image>", "<pad>", "<|im_start|>", "<|im_end|>"]
CORPUS = ["What is in the picture?", "Describe the video in one sentence.", "The red circle moves from the left to the right.",
          "How many squares are there?", "USER: ASSISTANT: [INST] [/INST]", "What are the differences between the two images?"]
# As the folders of llava-hf have them.
FIRST = ("{% for content in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\\n' }}{% endfor %}",
         "{% for content in message['content'] | selectattr('type', 'equalto', 'video') %}{{ '<video>\\n' }}{% endfor %}")
IMAGES_FIRST = "{# Render all images first #}" + FIRST[0]
TEXTS = "{# Render all text next #}{% for content in message['content'] | selectattr('type', 'equalto', 'text') %}"
VICUNA = ("{% for message in messages %}{% if message['role'] != 'system' %}{{ message['role'].upper() + ': '}}{% endif %}" + IMAGES_FIRST +
          "{# Render all text next #}{% if message['role'] != 'assistant' %}{% for content in message['content'] | selectattr('type', "
          "'equalto', 'text') %}{{ content['text'] + ' '}}{% endfor %}{% else %}{% for content in message['content'] | selectattr('type', "
          "'equalto', 'text') %}{% generation %}{{ content['text'] + ' '}}{% endgeneration %}{% endfor %}{% endif %}{% endfor %}"
          "{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}")
MISTRAL = ("{% for message in messages %}{% if message['role'] == 'system' %}{{ '<<SYS>>\\n' + message['content'][0]['text'] + "
           "'\\n<</SYS>>\\n\\n' }}{% elif message['role'] == 'user' %}{{ '[INST] ' }}" + IMAGES_FIRST + TEXTS +
           "{{ content['text'] }}{% endfor %}{{' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' ' + message['content'][0]['text'] "
           "+ '<\\\\s> '}}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}")
NEXT_VIDEO = ("{% for message in messages %}{% if message['role'] == 'system' %}{{ message['content'][0]['text'] }}{% else %}"
              "{{ message['role'].upper() + ': '}}{% endif %}" + IMAGES_FIRST + "{# Render all video next #}" + FIRST[1] + TEXTS +
              "{{ content['text'] + ' '}}{% endfor %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}")
CHATML = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n'}}" + IMAGES_FIRST + TEXTS +
          "{{ content['text'] }}{% endfor %}{{'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}"
          "{{ '<|im_start|>assistant\\n' }}{% endif %}")
CLIP_SCALING = dict(image_mean=[0.48145466, 0.4578275, 0.40821073], image_std=[0.26862954, 0.26130258, 0.27577711])
# Batches are filled up with zeros: of these values zero is a byte, too.
BYTE_SCALING = dict(image_mean=[122 / 255, 117 / 255, 104 / 255], image_std=[68 / 255, 67 / 255, 70 / 255])


def crop_processor(name, side, scaling, **others):
    return {"image_processor_type": name, "do_resize": True, "size": {"shortest_edge": side}, "resample": 3, "do_center_crop": True,
            "crop_size": {"height": side, "width": side}, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
            "do_convert_rgb": True, **scaling, **others}


# layout: of the weight names, "language_model.model" (transformers <= 4.51 and save_pretrained of 5) or "model.language_model".
CLASSES = {"llava": (LlavaConfig, LlavaForConditionalGeneration, "LlavaProcessor"),
           "llava_next": (LlavaNextConfig, LlavaNextForConditionalGeneration, "LlavaNextProcessor"),
           "llava_next_video": (LlavaNextVideoConfig, LlavaNextVideoForConditionalGeneration, "LlavaNextVideoProcessor")}
CONFIGURATIONS = {
    "llava_llama": dict(
        covers="LLaVA-1.5: Llama, untied, layer -2, class token dropped, quick_gelu, centre crop, chat_template.json, bf16 weights",
        family="llava", text=LlamaConfig(hidden_size=32, intermediate_size=64, num_attention_heads=4, rms_norm_eps=1e-5),
        vision=CLIPVisionConfig(hidden_size=24, intermediate_size=48, num_hidden_layers=3, num_attention_heads=3, image_size=16, patch_size=4),
        processor=crop_processor("CLIPImageProcessor", 16, CLIP_SCALING), template=VICUNA, template_in="chat_template.json",
        stored=torch.bfloat16, judged=True, cases=("text", "image", "two_images")),
    "llava_full": dict(
        covers="LLaVA-1.5: layers [-3, 1, -1], strategy full (577th token kept), GQA, tied, gelu, projector without bias, padded to a square, "
               "22 px of 5 x 5 patches, names model.language_model, fp16 weights",
        family="llava", text=LlamaConfig(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True,
                                         rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.5}),
        vision=CLIPVisionConfig(hidden_size=24, intermediate_size=40, num_hidden_layers=3, num_attention_heads=2, image_size=22, patch_size=4,
                                hidden_act="gelu", layer_norm_eps=1e-6),
        model=dict(vision_feature_layer=[-3, 1, -1], vision_feature_select_strategy="full", multimodal_projector_bias=False,
                   projector_hidden_act="gelu_pytorch_tanh", tie_word_embeddings=True),
        processor=crop_processor("LlavaImageProcessorFast", 22, BYTE_SCALING, do_pad=True), template=VICUNA,
        stored=torch.float16, layout="model.language_model", cases=("image", "two_images")),
    "llava_siglip": dict(
        covers="LLaVA class with a SigLIP tower and Qwen2, layer -1, strategy full, chatml, no beginning-of-text token, slow processor (no type named)",
        family="llava", text=Qwen2Config(hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=1),
        vision=SiglipVisionConfig(hidden_size=24, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=16, patch_size=4,
                                  vision_use_head=False),
        model=dict(vision_feature_layer=-1, vision_feature_select_strategy="full"),
        processor={key: value for key, value in crop_processor("", 16, BYTE_SCALING).items() if key != "image_processor_type"},
        template=CHATML, bos=False, stored=torch.bfloat16, cases=("image",)),
    "next_mistral": dict(
        covers="LLaVA-NeXT: Mistral, 4 query heads on 2 kv heads, no window, tiles, two images with different tiles, names "
               "model.language_model, two shards, bf16 weights",
        family="llava_next", text=MistralConfig(hidden_size=32, intermediate_size=56, num_attention_heads=4, num_key_value_heads=2,
                                                sliding_window=None, rope_parameters={"rope_type": "default", "rope_theta": 1e6}),
        vision=CLIPVisionConfig(hidden_size=24, intermediate_size=48, num_hidden_layers=3, num_attention_heads=2, image_size=16, patch_size=4),
        model=dict(image_grid_pinpoints=[[16, 32], [32, 16], [32, 32], [48, 16], [16, 48]]),
        processor=crop_processor("LlavaNextImageProcessor", 16, BYTE_SCALING, do_pad=True,
                                 image_grid_pinpoints=[[16, 32], [32, 16], [32, 32], [48, 16], [16, 48]]),
        template=MISTRAL, stored=torch.bfloat16, layout="model.language_model", shards=2, cases=("text", "image", "two_images")),
    "next_video": dict(
        covers="LLaVA-NeXT-Video: Llama, frames pooled by their average, a video and an image in one message, 6 x 6 patches, bf16 weights",
        family="llava_next_video", text=LlamaConfig(hidden_size=32, intermediate_size=64, num_attention_heads=4, rms_norm_eps=1e-5),
        vision=CLIPVisionConfig(hidden_size=24, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=24, patch_size=4),
        model=dict(image_grid_pinpoints=[[24, 48], [48, 24], [48, 48]]),
        processor=crop_processor("LlavaNextImageProcessor", 24, BYTE_SCALING, image_grid_pinpoints=[[24, 48], [48, 24], [48, 48]]),
        template=NEXT_VIDEO, stored=torch.bfloat16, cases=("image", "video", "video_and_image")),
    "next_video_max": dict(
        covers="LLaVA-NeXT-Video: Mistral with a head size of its own, frames pooled by their maximum, layers [-2, -1], names "
               "model.language_model, all processors in one file, fp32 weights",
        family="llava_next_video", text=MistralConfig(hidden_size=24, intermediate_size=40, num_attention_heads=3, num_key_value_heads=1, head_dim=10,
                                                      sliding_window=2048),
        vision=CLIPVisionConfig(hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=16, patch_size=4),
        model=dict(image_grid_pinpoints=[[16, 32], [32, 32]], spatial_pool_mode="max", vision_feature_layer=[-2, -1]),
        processor=crop_processor("LlavaNextImageProcessorFast", 16, BYTE_SCALING, image_grid_pinpoints=[[16, 32], [32, 32]]),
        template=NEXT_VIDEO, nested=True, stored=torch.float32, layout="model.language_model", cases=("image", "video")),
    "next_window": dict(
        covers="LLaVA-NeXT with a Qwen2 whose second layer looks back over 24 tokens, much less than a picture has, fp16 weights",
        family="llava_next", text=Qwen2Config(hidden_size=24, intermediate_size=40, num_attention_heads=4, num_key_value_heads=2,
                                              use_sliding_window=True, sliding_window=24, max_window_layers=1),
        vision=CLIPVisionConfig(hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=16, patch_size=4),
        model=dict(image_grid_pinpoints=[[16, 32], [32, 16], [32, 32]]),
        processor=crop_processor("LlavaNextImageProcessor", 16, BYTE_SCALING, image_grid_pinpoints=[[16, 32], [32, 16], [32, 32]]),
        template=MISTRAL, stored=torch.float16, cached=False, cases=("text", "image")),
}


def published():
    """Sizes of real checkpoints; two layers and narrow MLPs, or the folders would take gigabytes."""
    def vision():
        return CLIPVisionConfig(hidden_size=1024, intermediate_size=512, num_hidden_layers=2, num_attention_heads=16, image_size=336, patch_size=14,
                                projection_dim=768)
    pinpoints = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
    narrow = dict(hidden_size=4096, intermediate_size=256, num_attention_heads=32, rms_norm_eps=1e-5)
    return {
        "llava_1_5_7b": dict(family="llava", text=LlamaConfig(max_position_embeddings=4096, **narrow), vision=vision(), vocabulary=32064,
                             processor=crop_processor("CLIPImageProcessor", 336, CLIP_SCALING), template=VICUNA, stored=torch.bfloat16,
                             cases=("text", "image", "two_images")),
        "llava_v1_6_mistral_7b": dict(
            family="llava_next", text=MistralConfig(num_key_value_heads=8, sliding_window=None, max_position_embeddings=32768,
                                                    rope_parameters={"rope_type": "default", "rope_theta": 1e6}, **narrow),
            vision=vision(), vocabulary=32064, model=dict(image_grid_pinpoints=pinpoints),
            processor=crop_processor("LlavaNextImageProcessor", 336, CLIP_SCALING, image_grid_pinpoints=pinpoints), template=MISTRAL,
            stored=torch.bfloat16, cases=("image", "two_images")),
        "llava_next_video_7b": dict(
            family="llava_next_video", text=LlamaConfig(max_position_embeddings=4096, **narrow), vision=vision(), vocabulary=32064,
            model=dict(image_grid_pinpoints=pinpoints),
            processor=crop_processor("LlavaNextImageProcessor", 336, CLIP_SCALING, image_grid_pinpoints=pinpoints), template=NEXT_VIDEO,
            stored=torch.bfloat16, cases=("image", "video", "video_and_image")),
    }


def picture(height, width, seed):
    """Smooth slopes with a few hard edges; differs visibly between seeds."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    value = 40 * (c + 1) + x * (3 + seed % 5) + y * (7 - seed % 4) + 60 * ((x // 7 + y // 5 + seed) % 3)
    return (value % 256).astype(np.uint8)


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


def randomise(model, generator):
    """Logits that differ clearly: default initialisation is so small that greedy choices would be ties."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            if re.search(r"norm\d?\.weight$", name):
                value.copy_(1 + 0.2 * noise)
            elif name.endswith(".bias"):
                value.copy_(0.2 * noise)
            elif ("embed" in name and "patch" not in name) or "lm_head" in name or "image_newline" in name:
                value.copy_(0.5 * noise)
            else:
                value.copy_(1.2 * noise / np.sqrt(value[0].numel()))


def rewrite_weights(folder, options):
    """Names and shards as other writers leave them."""
    tensors = load_file(folder / "model.safetensors")
    if options.get("layout") == "model.language_model":
        renamed = {}
        for name, value in tensors.items():
            name = re.sub(r"^language_model\.lm_head\.", "lm_head.", name)
            name = re.sub(r"^language_model\.model\.", "model.language_model.", name)
            renamed[re.sub(r"^(vision_tower|multi_modal_projector|image_newline)", r"model.\1", name)] = value
        tensors = renamed
    else:  # a buffer that old files still have
        tensors["vision_tower.vision_model.embeddings.position_ids"] = torch.arange(4).unsqueeze(0)
    shards = options.get("shards", 1)
    (folder / "model.safetensors").unlink()
    if shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    names = sorted(tensors)
    index = {"metadata": {"total_size": sum(t.numel() * t.element_size() for t in tensors.values())}, "weight_map": {}}
    for shard in range(shards):
        file = f"model-{shard + 1:05d}-of-{shards:05d}.safetensors"
        part = names[shard::shards]
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
        index["weight_map"].update({name: file for name in part})
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


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
    randomise(model, generator)
    model.tie_weights()
    model.to(options["stored"]).save_pretrained(folder)
    rewrite_weights(folder, options)
    tokenizer.save_pretrained(folder)
    strategy = options.get("model", {}).get("vision_feature_select_strategy", "default")
    clip = isinstance(vision, CLIPVisionConfig)
    files = {"preprocessor_config.json": {**options["processor"], "processor_class": processor_class},
             "processor_config.json": {"image_token": "<image>", "num_additional_image_tokens": int(clip), "patch_size": vision.patch_size,
                                       "processor_class": processor_class, "vision_feature_select_strategy": strategy}}
    if options["family"] == "llava_next_video":
        videos = {key: value for key, value in options["processor"].items() if key not in ("image_processor_type", "image_grid_pinpoints")}
        files["video_preprocessor_config.json"] = {**videos, "video_processor_type": "LlavaNextVideoVideoProcessor"}
    if options.get("nested"):  # as save_pretrained of 5 writes it
        files["processor_config.json"] |= {"image_processor": files.pop("preprocessor_config.json"),
                                           "video_processor": files.pop("video_preprocessor_config.json")}
    place = options.get("template_in", "chat_template.jinja")
    if place == "chat_template.jinja":
        (folder / place).write_text(options["template"])
    else:
        known = json.loads((folder / place).read_text()) if (folder / place).exists() else {}
        files[place] = {**known, "chat_template": options["template"]}
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=1) + "\n")


def levels(pixels, scaling):
    """The bytes that the processor scaled; exact, or the golden file would not say what the model saw."""
    values = pixels.to(torch.float32)
    mean = torch.tensor(scaling["image_mean"]).view(3, 1, 1)
    deviation = torch.tensor(scaling["image_std"]).view(3, 1, 1)
    result = torch.round((values * deviation + mean) * 255)
    again = (result / 255 - mean) / deviation
    assert float(((again - values) * (values != 0)).abs().max()) < 1e-5  # zeros fill a batch up
    return result.to(torch.uint8)


def judged_by_class_token(tower, pixels):
    """What the class token attends to in the layer that gives the features (the last but one), and rolled out over that and the one before."""
    layers = [attention.mean(1) for attention in tower(pixels, output_attentions=True).attentions[:-1]]
    rolled = [(layer + torch.eye(layer.shape[-1])) / 2 for layer in layers[-2:]]
    return {"class_attention": layers[-1][:, 0, 1:], "class_rollout": (rolled[1] @ rolled[0])[:, 0, 1:]}


KINDS = {"text": [], "image": ["image"], "two_images": ["image", "image"], "video": ["video"], "video_and_image": ["video", "image"]}
QUESTIONS = {"text": "How many squares are there?", "image": "What is in the picture?",
             "two_images": "What are the differences between the two images?", "video": "Describe the video in one sentence.",
             "video_and_image": "Is the picture in the video?"}


def media_of(case, scale):
    """Per medium its pictures; sizes are odd, one image is wide, one tall."""
    sizes = {"image": [(31, 45)], "two_images": [(20, 61), (41, 17)], "video": [], "video_and_image": [(37, 19)]}.get(case, [])
    images = iter([[picture(h * scale + scale // 2, w * scale, 1 + i)] for i, (h, w) in enumerate(sizes)])
    clip = [picture(26 * scale + scale // 2, 34 * scale, 10 + i) for i in range(3)]
    return [next(images) if kind == "image" else clip for kind in KINDS[case]]


def run_case(case, processor, model, options, scale=1):
    kinds, media = KINDS[case], media_of(case, scale)
    messages = [{"role": "user", "content": [{"type": kind} for kind in kinds] + [{"type": "text", "text": QUESTIONS[case]}]}]
    prompt = processor.apply_chat_template(messages, add_generation_prompt=True)
    images = [PIL.Image.fromarray(pictures[0]) for kind, pictures in zip(kinds, media) if kind == "image"]
    videos = [np.stack(pictures) for kind, pictures in zip(kinds, media) if kind == "video"]
    arguments = {**({"images": images} if images else {}), **({"videos": videos} if videos else {})}
    inputs = processor(text=prompt, return_tensors="pt", **arguments)
    inputs.pop("token_type_ids", None)
    tensors = {"input_ids": inputs["input_ids"][0]}
    for index, rgb in enumerate(rgb for pictures in media for rgb in pictures):
        tensors[f"rgb.{index}"] = torch.from_numpy(rgb)
    extra, features = {key: value for key, value in inputs.items() if key not in ("input_ids", "attention_mask")}, []
    scaling = {key: options["processor"][key] for key in ("image_mean", "image_std")}
    with torch.no_grad():
        if images:
            pixels = inputs["pixel_values"]
            tensors["pixel_levels"] = levels(pixels if pixels.dim() == 5 else pixels.unsqueeze(1), scaling)
            sizes = {"image_sizes": inputs["image_sizes"]} if "image_sizes" in inputs else {}
            features += model.model.get_image_features(pixel_values=pixels, return_dict=True, **sizes).pooler_output
            if options.get("judged"):
                tensors |= judged_by_class_token(model.model.vision_tower, pixels)
        if videos:
            pixels = inputs["pixel_values_videos"]
            tensors["video_levels"] = levels(pixels, scaling)
            features += [video.flatten(0, 1) for video in model.model.get_video_features(pixels, return_dict=True).pooler_output]
        if features:
            tensors["features"] = torch.cat(features)  # the templates write images first
        cached = options.get("cached", True)  # False: each token by a pass over all of them
        out = model(input_ids=inputs["input_ids"], use_cache=cached, **extra)
        logits = out.logits[0]
        tensors["logits"] = logits[-1].clone()
        greedy, margins, step = [], [], logits[-1]
        for _ in range(GREEDY_TOKENS):
            best = torch.topk(step, 2).values
            greedy.append(int(step.argmax()))
            margins.append(float(best[0] - best[1]))
            if cached:
                out = model(input_ids=torch.tensor([[greedy[-1]]]), past_key_values=out.past_key_values, use_cache=True)
            else:
                out = model(input_ids=torch.cat([inputs["input_ids"], torch.tensor([greedy])], 1), use_cache=False, **extra)
            step = out.logits[0, -1]
    tensors["greedy"] = torch.tensor(greedy)
    tensors["margins"] = torch.tensor(margins)
    description = dict(messages=messages, prompt=prompt, pictures=[list(p.shape[:2]) for pictures in media for p in pictures],
                       frames=[len(pictures) for pictures in media], tokens=len(tensors["input_ids"]),
                       visual_tokens=int(tensors["features"].shape[0]) if features else 0, smallest_margin=min(margins),
                       answer=processor.tokenizer.decode(greedy), **scaling)
    return description, {f"{case}.{key}": value.contiguous() for key, value in tensors.items()}


def load(folder):
    processor = AutoProcessor.from_pretrained(folder)
    model, report = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    unexpected = {key for key in report["unexpected_keys"] if not key.endswith("position_ids")}
    assert not report["missing_keys"] and not unexpected and not report["mismatched_keys"], report
    return processor, model.eval()


def relative(ours, theirs):
    return float((ours.double() - theirs.double()).abs().max() / theirs.double().abs().max())


def compare_published(folder, cli):
    """Folders of published sizes, made on the spot; the program is asked the same."""
    print("| folder | case | tokens | visual | pixels | features | logits | greedy tokens equal |\n|---|---|---|---|---|---|---|---|")
    for number, (name, options) in enumerate(published().items()):
        model_folder = folder / name
        shutil.rmtree(model_folder, ignore_errors=True)
        model_folder.mkdir(parents=True)
        make_folder(options, torch.Generator().manual_seed(SEED + number), model_folder)
        if cli is None:
            continue
        processor, model = load(model_folder)
        for case in options["cases"]:
            description, golden = run_case(case, processor, model, options, scale=16)
            with tempfile.TemporaryDirectory() as scratch:
                asked = []
                for index, (kind, pictures) in enumerate(zip(KINDS[case], media_of(case, 16))):
                    if kind == "image":
                        file = pathlib.Path(scratch) / f"{index}.png"
                        PIL.Image.fromarray(pictures[0]).save(file)
                        asked += ["--image", str(file)]
                    else:  # losslessly, or the program would see other bytes
                        file = pathlib.Path(scratch) / f"{index}.mp4"
                        frames = b"".join(rgb.tobytes() for rgb in pictures)
                        height, width = pictures[0].shape[:2]
                        subprocess.run(["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", "1", "-i", "-",
                                        "-c:v", "libx264rgb", "-qp", "0", str(file)], input=frames, check=True)
                        asked += ["--video", str(file), "--frames", str(len(pictures))]
                out = f"{scratch}/run.safetensors"
                subprocess.run([str(cli), "export", "--model", str(model_folder), "--dtype", "fp32", "--method", "full", "--max-tokens", "64",
                                "--out", out, *asked, QUESTIONS[case]], check=True, stdout=subprocess.DEVNULL)
                ours = load_file(out)
            get = lambda key: golden.get(f"{case}.{key}")
            assert torch.equal(ours["input_ids"], get("input_ids")), "other ids"
            scaling = {key: options["processor"][key] for key in ("image_mean", "image_std")}
            apart = [float((levels(ours[own].reshape(get(key).shape), scaling).int() - get(key).int()).abs().max())
                     for own, key in (("pixel_values", "pixel_levels"), ("pixel_values_videos", "video_levels")) if get(key) is not None]
            features = f"{relative(ours['visual_features'], get('features')):.1e}" if get("features") is not None else ""
            same = int((ours["generated"] == get("greedy")[:len(ours["generated"])]).long().cumprod(0).sum())
            print(f"| {name} | {case} | {description['tokens']} | {description['visual_tokens']} | {max(apart, default=0):g} levels | {features} | "
                  f"{relative(ours['logits'].flatten(), get('logits')):.1e} | {same} of {len(ours['generated'])} |", flush=True)


def make_goldens():
    shutil.rmtree(OUT, ignore_errors=True)
    for number, (name, options) in enumerate(CONFIGURATIONS.items()):
        folder = OUT / name / "model"
        folder.mkdir(parents=True)
        torch.manual_seed(SEED + number)
        make_folder(options, torch.Generator().manual_seed(SEED + number), folder)
        processor, model = load(folder)
        cases, tensors = {}, {}
        for case in options["cases"]:
            cases[case], results = run_case(case, processor, model, options)
            tensors.update(results)
        save_file(tensors, OUT / name / "golden.safetensors")
        for file in (OUT / name).rglob("*.safetensors"):
            file.chmod(0o644)
        (OUT / name / "cases.json").write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n")
        print(name, type(processor.image_processor).__name__,
              {case: (d["tokens"], d["visual_tokens"], round(d["smallest_margin"], 5)) for case, d in cases.items()})
    manifest = {
        "what": "prompt ids, resized bytes, visual features, prefill logits and 64 greedy tokens of tiny random LLaVA, LLaVA-NeXT and "
                "LLaVA-NeXT-Video models",
        "reference": f"transformers {transformers.__version__}, AutoProcessor and AutoModelForImageTextToText in fp32, eager attention",
        "source": "github.com/huggingface/transformers, tag v" + transformers.__version__,
        "script": "tests/golden/make/make_llava_golden.py",
        "versions": {"torch": torch.__version__, "torchvision": torchvision.__version__, "transformers": transformers.__version__,
                     "tokenizers": tokenizers.__version__, "safetensors": safetensors.__version__, "numpy": np.__version__},
        "seed": f"{SEED} + number of the configuration",
        "configurations": {name: options["covers"] for name, options in CONFIGURATIONS.items()},
        "tensors": {
            "<case>.input_ids": "int64 [n], placeholders expanded", "<case>.rgb.<i>": "uint8 [height, width, 3], medium after medium",
            "<case>.pixel_levels": "uint8 [images, tiles, 3, side, side]; value = (level / 255 - image_mean) / image_std of cases.json",
            "<case>.video_levels": "uint8 [1, frames, 3, side, side]", "<case>.features": "fp32 [visual tokens, hidden], images first",
            "<case>.logits": "fp32 [vocabulary], last position", "<case>.greedy": "int64 [64], stop tokens ignored",
            "<case>.margins": "fp32 [64], first minus second choice",
            "<case>.class_attention, <case>.class_rollout": "fp32 [images, patches], of llava_llama: mean over heads of the class token's row in "
                                                            "the feature layer; the same times that of the layer before, each with the identity"},
        "tolerance": "features and logits: largest difference <= 1e-4 of the largest absolute value (fp32 sums in another order); greedy "
                     "tokens equal where the margin exceeds 1e-3; bytes exact",
        "licence": "Apache-2.0, own random weights, own pictures and text; chat templates as published with the models",
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--published", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--cli", type=pathlib.Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.published:
        compare_published(options.published, options.cli)
    else:
        make_goldens()


if __name__ == "__main__":
    main()
