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
                            with_model_first, write, write_configurations, write_manifest, write_weights)
from safetensors.torch import load_file
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (AutoModelForImageTextToText, AutoProcessor, CLIPVisionConfig, LlamaConfig, LlavaConfig,
                          LlavaForConditionalGeneration, LlavaNextConfig, LlavaNextForConditionalGeneration, LlavaNextVideoConfig,
                          LlavaNextVideoForConditionalGeneration, MistralConfig, PreTrainedTokenizerFast, Qwen2Config, SiglipVisionConfig)

OUT = GOLDEN / "llava"
SEED = 23
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
        stored=torch.bfloat16, judged=True, cases=("text", "image", "two_images", "second_turn")),
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
        template=MISTRAL, stored=torch.bfloat16, layout="model.language_model", shards=2, cases=("text", "image", "two_images", "second_turn")),
    "next_video": dict(
        covers="LLaVA-NeXT-Video: Llama, frames pooled by their average, a video and an image in one message, 6 x 6 patches, bf16 weights",
        family="llava_next_video", text=LlamaConfig(hidden_size=32, intermediate_size=64, num_attention_heads=4, rms_norm_eps=1e-5),
        vision=CLIPVisionConfig(hidden_size=24, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=24, patch_size=4),
        model=dict(image_grid_pinpoints=[[24, 48], [48, 24], [48, 48]]),
        processor=crop_processor("LlavaNextImageProcessor", 24, BYTE_SCALING, image_grid_pinpoints=[[24, 48], [48, 24], [48, 48]]),
        template=NEXT_VIDEO, stored=torch.bfloat16, cases=("image", "video", "video_and_image", "second_turn_video")),
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

# Of llava-hf/llava-1.5-7b-hf, llava-v1.6-mistral-7b-hf and LLaVA-NeXT-Video-7B-hf; two layers and narrow MLPs, or the folders would take gigabytes.
EYES = CLIPVisionConfig(hidden_size=1024, intermediate_size=512, num_hidden_layers=2, num_attention_heads=16, image_size=336, patch_size=14,
                        projection_dim=768)
PINPOINTS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
NARROW = dict(hidden_size=4096, intermediate_size=256, num_attention_heads=32, rms_norm_eps=1e-5)
PUBLISHED = {
    "LLaVA-1.5-7B": dict(family="llava", text=LlamaConfig(max_position_embeddings=4096, **NARROW), vision=EYES, vocabulary=32064,
                         processor=crop_processor("CLIPImageProcessor", 336, CLIP_SCALING), template=VICUNA, stored=torch.bfloat16,
                         cases=("text", "image", "two_images")),
    "LLaVA-1.6-Mistral-7B": dict(
        family="llava_next", text=MistralConfig(num_key_value_heads=8, sliding_window=None, max_position_embeddings=32768,
                                                rope_parameters={"rope_type": "default", "rope_theta": 1e6}, **NARROW),
        vision=EYES, vocabulary=32064, model=dict(image_grid_pinpoints=PINPOINTS),
        processor=crop_processor("LlavaNextImageProcessor", 336, CLIP_SCALING, image_grid_pinpoints=PINPOINTS), template=MISTRAL,
        stored=torch.bfloat16, cases=("text", "image", "two_images")),
    "LLaVA-NeXT-Video-7B": dict(
        family="llava_next_video", text=LlamaConfig(max_position_embeddings=4096, **NARROW), vision=EYES, vocabulary=32064,
        model=dict(image_grid_pinpoints=PINPOINTS),
        processor=crop_processor("LlavaNextImageProcessor", 336, CLIP_SCALING, image_grid_pinpoints=PINPOINTS), template=NEXT_VIDEO,
        stored=torch.bfloat16, cases=("text", "image", "two_images", "video", "video_and_image")),
}


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
        write(folder / name, content, indent=1)


def judged_by_class_token(tower, pixels):
    """What the class token attends to in the layer that gives the features (the last but one), and rolled out over that and the one before."""
    layers = [attention.mean(1) for attention in tower(pixels, output_attentions=True).attentions[:-1]]
    rolled = [(layer + torch.eye(layer.shape[-1])) / 2 for layer in layers[-2:]]
    return {"class_attention": layers[-1][:, 0, 1:], "class_rollout": (rolled[1] @ rolled[0])[:, 0, 1:]}


# Turns of media and a question.
CASES = {
    "text": [([], "How many squares are there?")],
    "image": [(["image"], "What is in the picture?")],
    "two_images": [(["image", "image"], "What are the differences between the two images?")],
    "video": [(["video"], "Describe the video in one sentence.")],
    "video_and_image": [(["video", "image"], "Is the picture in the video?")],
    "second_turn": [(["image"], "What is in the picture?"), (["image"], "What are the differences?")],
    "second_turn_video": [(["image"], "What is in the picture?"), (["video"], "Is it in the video?")],
}
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
    scaling, features = [options["processor"][key] for key in ("image_mean", "image_std")], []
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
        scaling = [options["processor"][key] for key in ("image_mean", "image_std")]
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
