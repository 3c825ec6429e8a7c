#!/usr/bin/env python3
"""Writes tests/golden/internvl: tiny random InternVL folders of both layouts and what transformers computes with them in fp32.

    python tests/golden/make/make_internvl_golden.py

One folder per configuration: model/ is loaded back with AutoProcessor and from_pretrained before anything is computed, golden.safetensors
holds inputs and results, cases.json the messages and prompts. Pixel values are stored as the bytes after resizing (mean and deviation beside
them). second_turn_video: a thread whose first answer is the model's own.

transformers has no class for the original layout (InternVLChatModel with code of its own). Its goldens come from transformers' class, too:
a random model in transformers' layout is written under the original names, q, k and v packed as they are there (the names and the packing
are those of transformers' convert_internvl_weights_to_hf.py). What the original's code does with prompts and pictures is put together here
with Pillow, after its model cards: tiles by get_optimal_tiled_canvas, a conversation of style MPT.

Needs torch, torchvision, transformers, tokenizers, safetensors, pillow, numpy, num2words (versions: manifest.json).
"""

import json

import numpy as np
import PIL.Image
import torch
import torchvision
from family_golden import (CLIP as SAMPLE, GOLDEN, Compared, answered, exported, first_answer, fnv, formula_picture, levels, loaded, main,
                           messages_of, picture, randomise, second_turn, template, told, with_model_first, write, write_configurations,
                           write_manifest, write_weights)
from make_llava_golden import make_tokenizer as make_character_tokenizer
from make_qwen2_vl_golden import make_tokenizer as make_byte_tokenizer
from safetensors.torch import load_file, save_file
from transformers import (AutoProcessor, GotOcr2ImageProcessorFast, InternVLConfig, InternVLForConditionalGeneration, InternVLProcessor,
                          InternVLVideoProcessor, InternVLVisionConfig, PreTrainedTokenizerFast, Qwen3Config)
from transformers.models.got_ocr2.image_processing_got_ocr2 import get_optimal_tiled_canvas

OUT = GOLDEN / "internvl"
SEED = 31
BEGIN, IMAGE, END, VIDEO = "<img>", "<IMG_CONTEXT>", "</img>", "<video>"
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", BEGIN, END, IMAGE]
CORPUS = ["What is in the picture?", "Describe the video in one sentence.", "How many squares are there?", "user assistant system",
          "Frame1: Frame2: Frame3:", "What are the differences between the two images?"]
# conversation.py of the original folders: system message and what follows every turn.
CONVERSATIONS = {
    "internvl2_5": ("你是书生·万象，英文名是InternVL，是由上海人工智能实验室、清华大学及多家合作单位联合开发的多模态大语言模型。", "<|im_end|>\n"),
    "internlm2-chat": ("你是由上海人工智能实验室联合商汤科技开发的书生多模态大模型，英文名叫InternVL, 是一个有用无害的人工智能助手。", "<|im_end|>"),
}
CHAT_TEMPLATE = template("internvl")  # as OpenGVLab's "-hf" folders have it
CONFIGURATIONS, PUBLISHED, CASES = told("internvl")
FRAMES = 3
PICTURES = {"image": [(31, 45)], "two_images": [(20, 33), (61, 17)], "video_image": [(15, 14)], "second_turn_video": [(31, 45)]}
FRAME_SIZE = (24, 34)


def make_tokenizer(options):
    special = SPECIAL + ([] if options["layout"] == "original" else [VIDEO])
    if options.get("characters"):
        plain, ends = make_character_tokenizer(True, ["<unk>", "<s>", "</s>"] + special, CORPUS), dict(bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    else:
        plain, ends = make_byte_tokenizer(special, CORPUS), dict(eos_token="<|im_end|>")
    names = dict(start_image_token=BEGIN, end_image_token=END, context_image_token=IMAGE, video_token=VIDEO)
    return PreTrainedTokenizerFast(tokenizer_object=plain._tokenizer, pad_token="<|endoftext|>", model_max_length=8192,
                                   extra_special_tokens={} if options["layout"] == "original" else names, **ends)


def tokens_of_tile(options):
    patch = np.ravel(options["vision"]["patch_size"])[0]
    return int(options["side"] // patch * options.get("model", {}).get("downsample_ratio", 0.5)) ** 2


def config_of(options, tokenizer):
    text = options["text"]
    text.num_hidden_layers = 2
    text.vocab_size = options.get("vocabulary", len(tokenizer) + 3)
    if hasattr(text, "layer_types"):
        text.layer_types = ["full_attention"] * 2
    text.bos_token_id, text.eos_token_id = tokenizer.bos_token_id, tokenizer.convert_tokens_to_ids("<|im_end|>")
    text.pad_token_id = None
    vision = InternVLVisionConfig(num_hidden_layers=2, **options["vision"])
    return InternVLConfig(vision_config=vision, text_config=text, image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
                          image_seq_length=tokens_of_tile(options), tie_word_embeddings=options.get("tied", False), **options.get("model", {}))


def original_names(tensors, internlm2, text):
    """The same weights as the original folders call and pack them."""
    renamed, heads = {}, text.num_attention_heads // text.num_key_value_heads
    for name, value in tensors.items():
        name = name.replace("model.vision_tower.", "vision_model.").replace("model.language_model.", "language_model.model.")
        name = name.replace("lm_head.", "language_model.output." if internlm2 else "language_model.lm_head.")
        for own, theirs in (("layer_norm", "0"), ("linear_1", "1"), ("linear_2", "3")):
            name = name.replace(f"model.multi_modal_projector.{own}.", f"mlp1.{theirs}.")
        if name.startswith("vision_model."):
            for theirs, own in (("encoder.layers.", "encoder.layer."), ("class_embedding", "cls_token"), ("position_embedding", "position_embeddings"),
                                ("patch_embedding.", "patch_embeddings.projection."), ("ls1", "lambda_1"), ("ls2", "lambda_2"),
                                ("attn.proj.", "attention.projection_layer."), ("attn.", "attention."), ("norm1.", "layernorm_before."),
                                ("norm2.", "layernorm_after.")):
                name = name.replace(own, theirs)
            if ".q_proj." in name:
                value = torch.cat([tensors[f"model.vision_tower.{part}"] for part in (
                    name.removeprefix("vision_model.").replace("encoder.layers.", "encoder.layer.").replace("attn.q_proj", f"attention.{which}_proj")
                    for which in "qkv")])
                name = name.replace("q_proj", "qkv")
            elif ".k_proj." in name or ".v_proj." in name:
                continue
        elif internlm2:
            for theirs, own in (("tok_embeddings", "embed_tokens"), ("attention.wo", "self_attn.o_proj"), ("feed_forward.w1", "mlp.gate_proj"),
                                ("feed_forward.w2", "mlp.down_proj"), ("feed_forward.w3", "mlp.up_proj"), ("attention_norm", "input_layernorm"),
                                ("ffn_norm", "post_attention_layernorm")):
                name = name.replace(own, theirs)
            if ".q_proj." in name:
                part = name.replace("language_model.model.", "model.language_model.")
                query = value.view(text.num_key_value_heads, heads, -1, value.shape[1])
                key, own_value = (tensors[part.replace("q_proj", which)].view(text.num_key_value_heads, 1, -1, value.shape[1])
                                  for which in ("k_proj", "v_proj"))
                value = torch.cat([query, key, own_value], 1).reshape(-1, value.shape[1])
                name = name.replace("self_attn.q_proj", "attention.wqkv")
            elif ".k_proj." in name or ".v_proj." in name:
                continue
        renamed[name] = value.contiguous().clone()
    return renamed


def original_config(options, config):
    """config.json as the original folders have it."""
    text, vision = options["text"], options["vision"]
    internlm2 = options["template"] == "internlm2-chat"
    keys = ["hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "num_hidden_layers", "vocab_size", "rms_norm_eps",
            "max_position_embeddings", "hidden_act", "bos_token_id", "eos_token_id", "tie_word_embeddings"]
    llm = {key: getattr(text, key) for key in keys} | {"rope_theta": text.rope_parameters["rope_theta"]}
    if internlm2:
        llm |= {"architectures": ["InternLM2ForCausalLM"], "model_type": "internlm2", "attn_implementation": "flash_attention_2", "bias": False,
                "rope_scaling": {"factor": text.rope_parameters["factor"], "type": "dynamic"}}
    else:
        name = "Qwen3" if isinstance(text, Qwen3Config) else "Qwen2"
        llm |= {"architectures": [name + "ForCausalLM"], "model_type": name.lower(), "use_sliding_window": False, "max_window_layers": 2,
                "sliding_window": None, "rope_scaling": None}
        if name == "Qwen3":
            llm |= {"head_dim": text.head_dim, "attention_bias": False}
    eyes = {"architectures": ["InternVisionModel"], "model_type": "intern_vit_6b", "num_hidden_layers": 2, "hidden_act": "gelu",
            "norm_type": vision.get("norm_type", "layer_norm"), "qk_normalization": vision.get("use_qk_norm", False),
            "qkv_bias": vision.get("attention_bias", False), "use_flash_attn": True, "drop_path_rate": 0.0, "layer_norm_eps": 1e-6,
            **{key: vision[key] for key in ("hidden_size", "intermediate_size", "num_attention_heads", "image_size", "patch_size")}}
    least, most = options["tiles"]
    return {"architectures": ["InternVLChatModel"], "auto_map": {"AutoModel": "modeling_internvl_chat.InternVLChatModel"}, "model_type": "internvl_chat",
            "downsample_ratio": 0.5, "dynamic_image_size": True, "force_image_size": options["side"], "llm_config": llm, "vision_config": eyes,
            "min_dynamic_patch": least, "max_dynamic_patch": most, "pad2square": False, "ps_version": "v2", "select_layer": -1,
            "template": options["template"], "use_backbone_lora": 0, "use_llm_lora": 0, "use_thumbnail": options["thumbnail"]}


def make_processor(options, tokenizer):
    mean, deviation = options["scaling"]
    common = dict(size={"height": options["side"], "width": options["side"]}, image_mean=mean, image_std=deviation, resample=options.get("resample", 3))
    least, most = options["tiles"]
    return InternVLProcessor(GotOcr2ImageProcessorFast(min_patches=least, max_patches=most, **common), tokenizer, InternVLVideoProcessor(**common),
                             image_seq_length=tokens_of_tile(options), chat_template=CHAT_TEMPLATE)


def make_folder(options, seed, folder):
    """Writes the folder and returns what transformers makes of its weights, and its processor (None: there is no class)."""
    torch.manual_seed(seed)
    tokenizer = make_tokenizer(options)
    config = config_of(options, tokenizer)
    model = InternVLForConditionalGeneration(config)
    randomise(model, torch.Generator().manual_seed(seed), (r"norm.*\.weight$|lambda", 1, 0.2), (r"\.bias$", 0, 0.2),
              ("embed_tokens", 0, 0.2 if config.tie_word_embeddings else 0.5), ("lm_head|position|cls_token", 0, 0.5))
    model.tie_weights()
    model.to(options["stored"])
    if options["layout"] == "original":
        tokenizer.save_pretrained(folder)
        tensors = original_names(model.state_dict(), options["template"] == "internlm2-chat", options["text"])
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        write(folder / "config.json", original_config(options, config))
        write(folder / "generation_config.json", {"eos_token_id": tokenizer.convert_tokens_to_ids("<|im_end|>")})
        if options.get("shards"):
            write_weights(load_file(folder / "model.safetensors"), folder, options["shards"])
        # Anew, because what is no parameter (the frequencies of positions) has been rounded with the rest.
        fresh = InternVLForConditionalGeneration._from_config(config, attn_implementation="eager", dtype=torch.float32)
        fresh.load_state_dict({name: value.float() for name, value in model.state_dict().items()})
        return fresh.eval(), None
    model.save_pretrained(folder)
    if options.get("names4"):
        save_file(with_model_first(load_file(folder / "model.safetensors")), folder / "model.safetensors", metadata={"format": "pt"})
    if options.get("shards"):
        write_weights(load_file(folder / "model.safetensors"), folder, options["shards"])
    make_processor(options, tokenizer).save_pretrained(folder)
    if options["layout"] == "published":
        combined = json.loads((folder / "processor_config.json").read_text())
        write(folder / "preprocessor_config.json", combined.pop("image_processor") | {"crop_to_patches": False, "image_processor_type": "GotOcr2ImageProcessor"})
        write(folder / "video_preprocessor_config.json", combined.pop("video_processor"))
        write(folder / "processor_config.json", combined)
    model = loaded(InternVLForConditionalGeneration, folder)
    processor = AutoProcessor.from_pretrained(folder)
    assert isinstance(processor.image_processor, GotOcr2ImageProcessorFast), "the default is not what the script believes"
    return model, processor


def original_pixels(rgb, options, single):
    """The model cards' load_image(): tiles of the resized picture, the thumbnail behind them, ImageNet's scaling."""
    side, (least, most), image = options["side"], options["tiles"], PIL.Image.fromarray(rgb)
    columns, rows = (1, 1) if single else get_optimal_tiled_canvas(image.size[::-1], (side, side), least, most)
    whole = image.resize((side * columns, side * rows))
    tiles = [whole.crop((x * side, y * side, (x + 1) * side, (y + 1) * side)) for y in range(rows) for x in range(columns)]
    if options["thumbnail"] and len(tiles) > 1:
        tiles.append(image.resize((side, side)))
    resized = torchvision.transforms.Resize((side, side), interpolation=torchvision.transforms.InterpolationMode.BICUBIC)
    scale = torchvision.transforms.Normalize(*options["scaling"])
    return torch.stack([scale(torchvision.transforms.functional.to_tensor(resized(tile))) for tile in tiles])


def original_inputs(options, tokenizer, turns, answers, images, frames):
    """What chat() of the original asks, with its history: the prompt, its ids, and pixels medium by medium."""
    system, end = CONVERSATIONS[options["template"]]
    pixels, counts, waiting = [], [], iter(images)
    prompt = f"<|im_start|>system\n{system}{end}"
    for number, (kinds, question) in enumerate(turns):
        text = ""
        for kind in kinds:
            if kind == "video":
                pixels.append(torch.cat([original_pixels(frame, options, True) for frame in frames]))
                text += "".join(f"Frame{number + 1}: <image>\n" for number in range(len(frames)))
            else:
                pixels.append(original_pixels(next(waiting), options, False))
                text += "<image>\n"
            counts += [1] * len(pixels[-1]) if kind == "video" else [len(pixels[-1])]
        prompt += f"<|im_start|>user\n{text}{question}{end}<|im_start|>assistant\n"
        if number < len(answers):
            prompt += answers[number] + end
    written = prompt
    for tiles in counts:
        written = written.replace("<image>", BEGIN + IMAGE * tokens_of_tile(options) * tiles + END, 1)
    return prompt, tokenizer(written, return_tensors="pt")["input_ids"], pixels


def inputs_of(options, processor, tokenizer, turns, answers, images, frames):
    if processor is None:
        return original_inputs(options, tokenizer, turns, answers, images, frames)
    kinds = [kind for attached, _ in turns for kind in attached]
    prompt = processor.apply_chat_template(messages_of(turns, answers), add_generation_prompt=True)
    media = {**({"images": images} if images else {}), **({"videos": [frames]} if "video" in kinds else {})}
    inputs = processor(text=prompt, return_tensors="pt", **media)
    if not kinds:
        return prompt, inputs["input_ids"], []
    counts = [len(processor.image_processor([image], crop_to_patches=True)["pixel_values"]) for image in images]
    each = [len(frames) if kind == "video" else counts.pop(0) for kind in kinds]
    return prompt, inputs["input_ids"], list(torch.split(inputs["pixel_values"], each))


def spans(ids, tokenizer, kinds, frames):
    """Where each medium's tokens are, from its first <img> to its last </img>."""
    begin, end = tokenizer.convert_tokens_to_ids([BEGIN, END])
    found, at = [], 0
    for kind in kinds:
        first = ids.index(begin, at)
        for _ in range(frames if kind == "video" else 1):
            at = ids.index(end, at) + 1
        found.append((first, at))
    return found


def run(model, ids, pixels):
    """Logits of the last position, greedy tokens and their margins."""
    return answered(model, model(input_ids=ids, use_cache=True, **(dict(pixel_values=torch.cat(pixels)) if pixels else {})))


def features_of(model, tokenizer, ids, pixels, kinds, frames):
    """Features of the media with the embeddings of the words among them."""
    found = model.model.get_image_features(torch.cat(pixels), return_dict=True).pooler_output
    merged = model.get_input_embeddings()(ids)[0].clone()
    merged[ids[0] == model.config.image_token_id] = found.flatten(0, 1)
    return torch.cat([merged[a:b] for a, b in spans(ids[0].tolist(), tokenizer, kinds, frames)])


@torch.no_grad()
def run_case(case, options, model, processor, tokenizer):
    turns, answers, given = CASES[case], [], None
    kinds = [kind for attached, _ in turns for kind in attached]
    drawn_images = [(h, w, 1 + i) for i, (h, w) in enumerate(PICTURES.get(case, []))]
    drawn_frames = [(*FRAME_SIZE, 10 + i) for i in range(FRAMES)] if "video" in kinds else []
    images = [picture(*one) for one in drawn_images]
    frames = np.stack([picture(*one) for one in drawn_frames]) if drawn_frames else None
    if len(turns) > 1:
        begun = inputs_of(options, processor, tokenizer, turns[:1], [], images, None)
        given = first_answer(tokenizer, run(model, *begun[1:])["greedy"])
        answers = [given[1]]
    prompt, ids, pixels = inputs_of(options, processor, tokenizer, turns, answers, images, frames)
    drawn = [one for kind in kinds for one in (drawn_frames if kind == "video" else [drawn_images.pop(0)])]
    tensors = {"input_ids": ids[0], "pictures": torch.tensor(drawn).view(-1, 3)} | run(model, ids, pixels)
    for number, values in enumerate(pixels):
        tensors[f"pixel_levels.{number}"] = levels(values, *options["scaling"])
    if pixels:
        tensors["features"] = features_of(model, tokenizer, ids, pixels, kinds, FRAMES)
    if given:
        tensors |= second_turn(tokenizer, (begun[0], begun[1][0]), given, (prompt, ids[0]), lambda went_on: run(model, went_on, pixels))
    description = dict(messages=messages_of(turns, answers),
                       prompt=tokenizer.decode(ids[0]).replace(IMAGE * tokens_of_tile(options), f"({tokens_of_tile(options)} x {IMAGE})"),
                       frames=[FRAMES if kind == "video" else 1 for kind in kinds], tokens=ids.shape[1], visual_tokens=len(tensors.get("features", [])),
                       smallest_margin=float(tensors["margins"].min()), answer=tokenizer.decode(tensors["greedy"]))
    return description, {f"{case}.{key}": value for key, value in tensors.items()}


def grids():
    """[side, least, most, height, width, rows, columns] of odd and large pictures."""
    random = np.random.default_rng(SEED)
    fixed = [(1, 1), (1, 2), (2, 1), (1, 150), (150, 1), (448, 448), (447, 449), (600, 600), (633, 633), (634, 634), (1080, 1920), (1920, 1080),
             (896, 448), (448, 896), (1000, 2000), (2160, 3840), (480, 640), (3000, 41), (100, 9000), (2048, 2048), (4, 5), (800, 1000)]
    scattered = [tuple(int(x) for x in random.integers(1, 3000, 2)) for _ in range(60)]
    rows = []
    for side, least, most in ((448, 1, 12), (448, 1, 6), (448, 2, 40), (16, 1, 6), (448, 1, 1), (384, 3, 5), (448, 7, 128)):
        for height, width in fixed + scattered:
            columns, lines = get_optimal_tiled_canvas((height, width), (side, side), least, most)
            rows.append([side, least, most, height, width, lines, columns])
    return rows


def hashes():
    """FNV-1a 64 of resized bytes at larger sizes: what is done, height, width, seed, filter, hash of [pictures, 3, side, side]."""
    rows = []
    for seed, (height, width, resample) in enumerate([(700, 1000, 3), (1203, 641, 3), (90, 1111, 3), (199, 37, 3), (100, 90, 3), (333, 500, 2)]):
        pixels = formula_picture(height, width, seed)
        common = dict(size={"height": 112, "width": 112}, resample=resample, do_rescale=False, do_normalize=False)
        image = GotOcr2ImageProcessorFast(**common)([pixels], crop_to_patches=True, return_tensors="pt")["pixel_values"]
        video = InternVLVideoProcessor(**common)([pixels[None]], return_tensors="pt")["pixel_values_videos"][0]
        found = [("image", image), ("video", video)]
        if resample == 3:
            plain = dict(side=112, tiles=(1, 12), thumbnail=True, scaling=([0, 0, 0], [1 / 255] * 3))
            found.append(("original", torch.round(original_pixels(pixels, plain, False))))
        rows += [[what, height, width, seed, resample, fnv(values.numpy().astype(np.uint8))] for what, values in found]
    return rows


def compared_sizes(name, folder, cli):
    options = PUBLISHED[name]
    model, processor = make_folder(options, SEED + list(PUBLISHED).index(name), folder)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    images = [formula_picture(700, 1000, 1), formula_picture(403, 211, 2)]
    for case, count in (("text", 0), ("image", 1), ("two_images", 2), ("video", 0)):
        (kinds, question), = CASES[case]
        media = [("video", SAMPLE)] if case == "video" else [("image", pixels) for pixels in images[:count]]
        ours = exported(cli, folder, question, media, *(["--frames", 4] if case == "video" else []))
        blank = np.zeros((4, 64, 64, 3), np.uint8)
        _, ids, pixels = inputs_of(options, processor, tokenizer, CASES[case], [], images[:count], blank)
        apart = 0.0
        if case == "video":  # the frames are those that the program decoded
            pixels = [ours["pixel_values_videos"].reshape(pixels[0].shape)]
        elif count:
            own = ours["pixel_values"].reshape(count, -1, *pixels[0].shape[1:])
            apart = max(float((own[i][: len(pixels[i])] - pixels[i]).abs().max()) for i in range(count))
        features = features_of(model, tokenizer, ids, pixels, kinds, 4) if pixels else None
        yield Compared(case, ours, run(model, ids, pixels) | dict(input_ids=ids[0], features=features), apart)


def write_goldens():
    def make(options, folder, number):
        return *make_folder(options, options.get("seed", SEED + number), folder), PreTrainedTokenizerFast.from_pretrained(folder)

    write_configurations(OUT, CONFIGURATIONS, make, run_case, CASES, lambda options: dict(zip(("mean", "deviation"), map(torch.tensor, options["scaling"]))))
    rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in grids())
    (OUT / "sizes.json").write_text('{"hashes": ' + json.dumps(hashes()) + ',\n"grids": [\n' + rows + "]}\n")
    write_manifest(
        OUT, "tiny random InternVL models in both layouts",
        "InternVLForConditionalGeneration in fp32, eager attention; InternVLProcessor as AutoProcessor makes it; of the original layout prompts and pixels "
        "after its model cards with Pillow, weights renamed", __file__,
        seed=f"{SEED} + number of the configuration, or its own", configurations={name: options["covers"] for name, options in CONFIGURATIONS.items()},
        tensors={
            "<case>.input_ids": "int64 [n], media written out",
            "<case>.pixel_levels.<medium>": "uint8 [tiles or frames, 3, side, side], a thumbnail last; value = (level / 255 - mean) / deviation",
            "<case>.features": "fp32 [visual tokens, hidden], in prompt order, with the embeddings of the words between a medium's <img> and </img>; every "
                               "fifth column is kept",
            "mean, deviation": "fp32 [3], of the processor"},
        **{"sizes.json": "rows of [side, least, most, height, width, rows, columns]; hashes of pixels"},
        licence="Apache-2.0, own random weights, own pictures and text; chat template and system messages as InternVL's repositories have them (MIT)")


if __name__ == "__main__":
    main(__doc__, write_goldens)
