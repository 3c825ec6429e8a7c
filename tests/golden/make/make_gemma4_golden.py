#!/usr/bin/env python3
"""Writes tests/golden/gemma4, gemma4_large, gemma4_experts and gemma4_unified: tiny random Gemma 4 folders and what transformers computes
with them in fp32.

    python tests/golden/make/make_gemma4_golden.py

As make_qwen3_vl_golden.py, whose pictures and questions these are, with the tokenizer of make_gemma3_golden.py. A medium's features are the
rows that the program has of it: of a soft token what the vision encoder makes, of words between a medium's first and last token their
embedding; where layers have inputs of their own the same once more, and the id in digits. Pixels are those of the patches that are no padding.
Clipped products have bounds that cut.

Needs torch, torchvision, transformers 5.24, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json
import re
import shutil

import family_golden
import torch
from family_golden import GOLDEN, GREEDY_TOKENS, loaded, main, template, told, write, write_folder, write_manifest
from make_gemma3_golden import make_tokenizer as make_gemma3_tokenizer
from tokenizers import AddedToken
from transformers import (AutoProcessor, Gemma4AudioFeatureExtractor, Gemma4Config, Gemma4ForConditionalGeneration, Gemma4ImageProcessor, Gemma4Processor,
                          Gemma4TextConfig, Gemma4UnifiedAudioFeatureExtractor, Gemma4UnifiedConfig, Gemma4UnifiedForConditionalGeneration,
                          Gemma4UnifiedImageProcessor, Gemma4UnifiedProcessor, Gemma4UnifiedTextConfig, Gemma4UnifiedVideoProcessor,
                          Gemma4UnifiedVisionConfig, Gemma4VideoProcessor, Gemma4VisionConfig, PreTrainedTokenizerFast)
from transformers.masking_utils import create_masks_for_generate
from transformers.models.gemma4_unified import modeling_gemma4_unified as unified_model
from transformers.models.gemma4.processing_gemma4 import get_aspect_ratio_preserving_size

import make_qwen2_vl_golden as qwen2
import make_qwen3_vl_golden as qwen3

FAMILIES = {"gemma4": "tiny random Gemma 4 models with eyes", "gemma4_large": "tiny random Gemma 4 models with eyes, as 31B",
            "gemma4_experts": "tiny random Gemma 4 models with eyes, as 26B-A4B",
            "gemma4_unified": "tiny random Gemma 4 models without a vision transformer, as 12B"}
MARKS = dict(image_token="<|image|>", boi_token="<|image>", eoi_token="<image|>", audio_token="<|audio|>", boa_token="<|audio>", eoa_token="<audio|>")
SPECIAL = ["<|turn>", "<turn|>", "<|channel>", "<channel|>", "<|think|>", "<|video|>", *MARKS.values()]
# google's without thoughts, tools and trimming: an empty thought for the newest answer alone would keep a cache from going on. The program's own is
# compared with google's in tests/engine/text/chat_template_test.cpp.
CHAT_TEMPLATE = template("gemma4")
CONFIGURATIONS, PUBLISHED, _ = told("gemma4")


CASES = {name: turns for name, turns in qwen3.CASES.items() if name != "odd_video"}


def masks_of_gemma4(block_sequence_ids=None, **given):
    """Gemma4Unified's own masks, which its class takes for caches of a fixed size only; for others, pictures would see themselves in all layers, as
    in Gemma 3. llama.cpp has them as Gemma 4's, too."""
    if block_sequence_ids is None:
        return create_masks_for_generate(**given)
    return unified_model.create_masks_for_vision_model(block_sequence_ids=block_sequence_ids, **given)


unified_model.create_masks_for_generate = masks_of_gemma4


def make_tokenizer():
    plain = make_gemma3_tokenizer()
    plain._tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    return PreTrainedTokenizerFast(tokenizer_object=plain._tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>",
                                   model_max_length=8192, extra_special_tokens=MARKS)


def config_of(options, tokenizer):
    of = tokenizer.convert_tokens_to_ids
    vocabulary = len(tokenizer) + 3
    unified = options.get("unified", False)
    more = {} if unified else dict(vocab_size_per_layer_input=vocabulary)
    text = (Gemma4UnifiedTextConfig if unified else Gemma4TextConfig)(
        **dict(max_position_embeddings=4096) | options["text"] | more, global_head_dim=options["global_head_dim"],
        num_global_key_value_heads=options.get("global_kv_heads"), vocab_size=vocabulary, bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, tie_word_embeddings=options["tied"])
    vision = Gemma4UnifiedVisionConfig(**options["vision"]) if unified else Gemma4VisionConfig(num_hidden_layers=2, **options["vision"])
    return (Gemma4UnifiedConfig if unified else Gemma4Config)(text_config=text, vision_config=vision, audio_config=None, tie_word_embeddings=options["tied"],
                        image_token_id=of("<|image|>"), video_token_id=of("<|video|>"), audio_token_id=of("<|audio|>"),
                        boi_token_id=of("<|image>"), eoi_token_id=of("<image|>"))


def randomise(model, generator, options):
    """Attention is not scaled: norms of queries and keys say how sharp it is. Embeddings are read times the root of the hidden size, a second table's times that of its own. Bounds cut here and there. A router chooses clearly."""
    family_golden.randomise(
        model, generator, (r"language_model.*[qk]_norm", options.get("sharpness", 1), 0.2), (r"(norm|layernorm(_\d)?|patch_ln\d)\.weight$", 1, 0.2),
        (r"(norm|patch_ln\d)\.bias$|patch_dense\.bias", 0, 0.2), (r"router\.(scale|per_expert_scale)", 1, 0.3), (r"pos_embedding", 0, 0.5),
        (r"position_embedding_table", 0, 0.5), (r"embed_tokens_per_layer", 0, 0.3), (r"embed_tokens", 0, 0.06 if options["tied"] else 0.2),
        (r"lm_head", 0, 0.5))
    with torch.no_grad():
        for name, value in model.named_buffers():
            noise = torch.randn(value.shape, generator=generator)
            if name.endswith("layer_scalar"):
                value.copy_(1 + 0.1 * noise)
            elif name.endswith(("_min", "_max")):
                value.copy_((-1 if name.endswith("_min") else 1) * (1.5 + 0.5 * noise.abs()))
            elif name.endswith("std_bias"):
                value.copy_(noise)
            elif name.endswith("std_scale"):
                value.copy_(0.5 + 0.1 * noise)


def store(model, options, folder):
    tensors = {name: value.to(options["stored"]).contiguous() for name, value in model.state_dict().items()
               if not (name == "lm_head.weight" and options["tied"])}
    if options.get("unified"):  # as folders have them, for which transformers has names of its own
        tensors = {re.sub(r"embed_vision\.(patch_|pos_)", r"vision_embedder.\1", name).replace("multimodal_embedder.", ""): value
                   for name, value in tensors.items()}
    elif options["layout"] == "published":  # what is there and nobody reads
        tensors["model.audio_tower.layers.0.weight"] = torch.ones(3, dtype=options["stored"])
    if options["text"].get("num_kv_shared_layers") and options["layout"] == "published":
        first = model.config.text_config.num_hidden_layers - model.config.text_config.num_kv_shared_layers
        tensors[f"model.language_model.layers.{first}.self_attn.k_norm.weight"] = torch.ones(options["text"]["head_dim"], dtype=options["stored"])
    family_golden.write_weights(tensors, folder)


def write_config(config, options, folder):
    config.architectures = ["Gemma4UnifiedForConditionalGeneration" if options.get("unified") else "Gemma4ForConditionalGeneration"]
    config.save_pretrained(folder)
    if options["layout"] != "published":
        return
    saved = json.loads((folder / "config.json").read_text())
    text = saved["text_config"]
    text.pop("per_layer_config")
    text |= dict(global_head_dim=options["global_head_dim"], num_global_key_value_heads=options.get("global_kv_heads"))
    if not options.get("unified"):
        saved["audio_config"] = dict(model_type="gemma4_audio", hidden_size=8)
    write(folder / "config.json", saved)


def write_processor(options, tokenizer, folder):
    sizes = dict(patch_size=options["vision"]["patch_size"], pooling_kernel_size=options["vision"]["pooling_kernel_size"])
    unified = options.get("unified", False)
    images = (Gemma4UnifiedImageProcessor if unified else Gemma4ImageProcessor)(max_soft_tokens=options["budgets"][0], **sizes)
    videos = (Gemma4UnifiedVideoProcessor if unified else Gemma4VideoProcessor)(max_soft_tokens=options["budgets"][1], **sizes)
    sounds = (Gemma4UnifiedAudioFeatureExtractor if unified else Gemma4AudioFeatureExtractor)()
    (Gemma4UnifiedProcessor if unified else Gemma4Processor)(sounds, images, tokenizer, videos, chat_template=CHAT_TEMPLATE,
                                                             image_seq_length=options["budgets"][0]).save_pretrained(folder)


def make_folder(options, folder):
    """Writes the folder and returns what transformers makes of it. The sound encoder's numbers are no part of the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options["seed"])
    tokenizer = make_tokenizer()
    config = config_of(options, tokenizer)
    model_class = Gemma4UnifiedForConditionalGeneration if options.get("unified") else Gemma4ForConditionalGeneration
    model = model_class(config)
    randomise(model, torch.Generator().manual_seed(options["seed"]), options)
    model.tie_weights()
    with torch.no_grad():  # nothing is answered that transformers reads as padding
        model.lm_head.weight[[config.image_token_id, config.video_token_id, config.audio_token_id]] *= 0.1
    write_config(config, options | dict(layout="saved"), folder)
    store(model, options, folder)
    write_processor(options, tokenizer, folder)
    read = loaded(model_class, folder, keeps=(".audio_tower.layers.0.weight", "k_norm.weight"))
    processor = AutoProcessor.from_pretrained(folder)
    write_config(config, options, folder)
    if options["layout"] == "published":
        again = type(config).from_pretrained(folder).text_config
        for layer in range(again.num_hidden_layers):
            ours, theirs = again.per_layer_config[layer], read.config.text_config.per_layer_config[layer]
            assert (ours.head_dim, ours.num_key_value_heads) == (theirs.head_dim, theirs.num_key_value_heads)
    return read, processor


def trimmed(inputs):
    """The processor's inputs, and their patches without padding."""
    inputs = dict(inputs)
    for key, places in (("pixel_values", "image_position_ids"), ("pixel_values_videos", "video_position_ids")):
        if key in inputs:
            inputs["padded_" + key] = inputs[key]
            inputs[key] = inputs[key][(inputs[places] != -1).all(-1)]
    return inputs


def inputs_of(turns, answers, processor):
    prompt, inputs = qwen3.inputs_of(turns, answers, processor, add_special_tokens=False)
    return prompt, trimmed(inputs)


def medium_rows(ids, config):
    """Rows of the prompt from each medium's first mark to its last one: pictures of an image, and of a video with the times between them."""
    kinds = ((ids == config.image_token_id).int() + 2 * (ids == config.video_token_id).int()).tolist()
    begins, ends = ((ids == token).nonzero().flatten().tolist() for token in (config.boi_token_id, config.eoi_token_id))
    rows = torch.zeros(len(ids), dtype=torch.bool)
    pictures = [(begin, end, kinds[begin + 1]) for begin, end in zip(begins, ends)]
    for number, (begin, end, kind) in enumerate(pictures):
        rows[begin:end + 1] = True
        if number > 0 and kind == 2 and pictures[number - 1][2] == 2:
            rows[pictures[number - 1][1]:begin] = True
    return rows


def run(model, inputs):
    """Logits of the prompt, its positions, media's rows in prompt order, greedy tokens and their margins."""
    ids = inputs["input_ids"]
    given = {key: inputs[key] for key in ("image_position_ids", "video_position_ids", "num_frames_per_video") if key in inputs}
    given |= {key: inputs["padded_" + key] for key in ("pixel_values", "pixel_values_videos") if key in inputs}
    rows = model.get_input_embeddings()(ids[0]).clone()
    if "pixel_values" in given:
        found = model.model.get_image_features(given["pixel_values"], given["image_position_ids"], return_dict=True).pooler_output
        rows[ids[0] == model.config.image_token_id] = torch.cat(list(found)).to(rows.dtype)
    if "pixel_values_videos" in given:
        found = model.model.get_video_features(given["pixel_values_videos"], given["video_position_ids"],
                                               num_frames_per_video=given["num_frames_per_video"], return_dict=True).pooler_output
        rows[ids[0] == model.config.video_token_id] = torch.cat(list(found)).to(rows.dtype)
    if model.config.text_config.use_bidirectional_attention == "vision":
        given["mm_token_type_ids"] = (ids == model.config.image_token_id).int() + 2 * (ids == model.config.video_token_id).int()
    if getattr(model.config.text_config, "hidden_size_per_layer_input", 0):
        soft = (ids[0] == model.config.image_token_id) | (ids[0] == model.config.video_token_id)
        looked_up = torch.where(soft, model.config.text_config.pad_token_id, ids[0])
        rows = torch.cat([rows, rows, torch.stack([looked_up // 256**digit % 256 for digit in range(3)], 1)], 1)
    given |= dict(input_ids=ids, attention_mask=torch.ones_like(ids))
    logits = model(**given, use_cache=False).logits[0]
    answer = model.generate(**given, max_new_tokens=GREEDY_TOKENS, do_sample=False, eos_token_id=None, output_logits=True, return_dict_in_generate=True)
    greedy = answer.sequences[0, ids.shape[1]:]
    assert not set(greedy.tolist()) & {model.config.image_token_id, model.config.video_token_id, model.config.audio_token_id}, "another seed: read as padding"
    best = torch.topk(torch.cat(answer.logits), 2).values
    media = medium_rows(ids[0], model.config)
    return dict(position_ids=torch.arange(ids.shape[1])[None], logits=logits[-1].clone(), features=rows[media] if media.any() else None,
                greedy=greedy, margins=best[:, 0] - best[:, 1])


def grids():
    """Soft tokens of pictures of many shapes: rows of [patch, pooled, budget, height, width, rows, columns]."""
    rows, sizes = [], [(1, 1), (1, 500), (900, 2), (333, 333), (480, 640), (1080, 1920), (4000, 3000), (97, 1201), (31, 45), (50, 7000), (720, 1280)]
    for patch, pooled in ((16, 3), (4, 3), (3, 2)):
        for budget in (70, 140, 280, 560, 1120):
            for height, width in sizes:
                high, wide = get_aspect_ratio_preserving_size(height, width, patch, budget * pooled**2, pooled)
                rows.append([patch, pooled, budget, height, width, high // (patch * pooled), wide // (patch * pooled)])
    return rows


def write_goldens():
    for family in FAMILIES:
        write_family(family, {name: options for name, options in CONFIGURATIONS.items() if name.startswith(family + "/")})
    (GOLDEN / "gemma4" / "sizes.json").write_text("[" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in grids()) + "]\n")


def write_family(family, configurations):
    shutil.rmtree(GOLDEN / family, ignore_errors=True)
    for name, options in configurations.items():
        model, processor = make_folder(options, GOLDEN / name / "model")
        cases, tensors = {}, {"mean": torch.zeros(3), "deviation": torch.ones(3)}
        for case in options.get("cases", CASES):
            cases[case], results = qwen2.run_case(case, CASES[case], processor, model, (inputs_of, run))
            tensors.update(results)
        write_folder(GOLDEN / name, cases, tensors)
    kind = "Gemma4Unified" if family == "gemma4_unified" else "Gemma4"
    write_manifest(
        GOLDEN / family, FAMILIES[family],
        f"{kind}ForConditionalGeneration in fp32, eager attention; {kind}Processor as AutoProcessor loads it (torchvision)", __file__,
        seed={name.split("/")[1]: options["seed"] for name, options in configurations.items()},
        configurations={name.split("/")[1]: options["covers"] for name, options in configurations.items()},
        tensors={"<case>.input_ids": "int64 [n], media written out",
                 "<case>.levels.pixel_values(_videos)": "uint8 [patches, patch * patch * 3], colours innermost; every fifth column is kept; "
                                                        "value = level / 255",
                 "<case>.features": "fp32 [tokens of media, hidden or 2 hidden + 3], in prompt order, of which every fifth column is kept"},
        **({"sizes.json": "rows of [patch, pooled, budget, height, width, rows, columns]"} if family == "gemma4" else {}),
        licence="Apache-2.0, own random weights, own pictures and text")


def published_inputs(processor, prompt, cli):
    """What the processor makes of a question about a video but for its pixels, which are the program's own."""
    videos = processor.video_processor
    side = videos.patch_size * videos.pooling_kernel_size
    high, wide = get_aspect_ratio_preserving_size(*qwen2.video_size(cli), videos.patch_size, videos.max_soft_tokens * videos.pooling_kernel_size**2,
                                                  videos.pooling_kernel_size)
    tokens = high * wide // side**2
    times = [qwen2.EVERY_S * number for number in range(qwen2.FRAMES)]
    frames = " ".join(f"{int(at // 60):02d}:{int(at % 60):02d} <|image>{'<|video|>' * tokens}<image|>" for at in times)
    step = side if "Unified" in type(videos).__name__ else videos.patch_size  # Gemma4Unified's processor pools pixels
    across, down = wide // step, high // step
    places = torch.stack(torch.meshgrid(torch.arange(across), torch.arange(down), indexing="xy"), -1).reshape(1, -1, 2).repeat(qwen2.FRAMES, 1, 1)
    inputs = processor.tokenizer(prompt.replace("<|video|>", frames), return_tensors="pt", add_special_tokens=False)
    return dict(inputs) | dict(video_position_ids=places, num_frames_per_video=torch.tensor([qwen2.FRAMES]))


def run_published(model, inputs):
    inputs = trimmed(inputs) if "image_position_ids" in inputs and "padded_pixel_values" not in inputs else dict(inputs)
    if "pixel_values_videos" in inputs:
        inputs["padded_pixel_values_videos"] = inputs["pixel_values_videos"].reshape(*inputs["video_position_ids"].shape[:2], -1)
    return run(model, inputs)


def compared_sizes(name, folder, cli):
    model, processor = make_folder(PUBLISHED[name], folder)
    plain = processor.__class__.__call__

    class Trimmed:  # pixels as the program has them
        def __getattr__(self, name):
            return getattr(processor, name)

        def __call__(self, *given, **named):
            return trimmed(plain(processor, *given, add_special_tokens=False, **named))

    yield from qwen2.compared_cases(folder, cli, (model, Trimmed()), (published_inputs, run_published))


if __name__ == "__main__":
    main(__doc__, write_goldens)
