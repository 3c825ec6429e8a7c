#!/usr/bin/env python3
"""Writes tests/golden/qwen3_5 and qwen3_5_moe: tiny random Qwen3.5 folders and what transformers computes with them in fp32.

    python tests/golden/make/make_qwen3_5_golden.py

As make_qwen3_vl_golden.py, whose cases, pictures and processors these are; the vision encoder has no levels. Gated DeltaNet layers carry small
differences on: a seed is taken only if transformers' own answers in fp32 and in fp64 are close (STEADY), or the golden file would hold noise.

Needs torch, torchvision, transformers 5.24, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import json
import shutil

import family_golden
import torch
import transformers
from family_golden import GOLDEN, GREEDY_TOKENS, loaded, main, told, write_folder
from tokenizers import Regex, pre_tokenizers
from transformers import AutoProcessor, Qwen3_5ForConditionalGeneration, Qwen3_5MoeForConditionalGeneration
from transformers.models.qwen3_5.tokenization_qwen3_5 import PRETOKENIZE_REGEX

import make_qwen2_vl_golden as qwen2
import make_qwen3_vl_golden as qwen3

CLASSES = {"qwen3_5": Qwen3_5ForConditionalGeneration, "qwen3_5_moe": Qwen3_5MoeForConditionalGeneration}
STEADY = 4e-5  # of the largest logit
CONFIGURATIONS, PUBLISHED, _ = told("qwen3_5")


def make_tokenizer():
    tokenizer = qwen2.make_tokenizer()
    tokenizer._tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PRETOKENIZE_REGEX), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return tokenizer


def config_of(options, tokenizer):
    family = options.get("family", "qwen3_5")
    published = options["layout"] == "published"
    rope = options["rope"] | dict(mrope_section=options["sections"], mrope_interleaved=True)
    text = dict(model_type=family + "_text", vocab_size=len(tokenizer) + 3, max_position_embeddings=4096, bos_token_id=None, rope_parameters=rope,
                eos_token_id=tokenizer.eos_token_id, tie_word_embeddings=options["tied"], **options["text"])
    vision = options["vision"] | dict(model_type=family if published else family + "_vision", in_channels=3, hidden_act="gelu_pytorch_tanh",
                                      out_hidden_size=options["text"]["hidden_size"])
    if published:
        vision |= dict(deepstack_visual_indexes=[])
        text |= dict(mtp_num_hidden_layers=1, attn_output_gate=True, mamba_ssm_dtype="float32")
    return dict(architectures=[CLASSES[family].__name__], model_type=family, tie_word_embeddings=options["tied"],
                torch_dtype=str(options["stored"]).removeprefix("torch."), **qwen2.vision_ids(tokenizer), text_config=text, vision_config=vision)


def randomise(model, generator, tied):
    """Norms are stored as w - 1, but for the gated ones. Decays from a token to hundreds, so that the states matter. Routers that choose."""
    family_golden.randomise(
        model, generator, (r"visual\..*norm\d?\.weight$|linear_attn\.norm\.weight$", 1, 0.2), (r"norm\.weight$", 0, 0.2),
        (r"visual\..*\.bias$", 0, 0.2), (r"dt_bias$", 0, 1), (r"A_log$", -3, 1.5), (r"mlp\.gate\.weight$", 0, 1), (r"shared_expert_gate", 0, 0.5),
        ("embed_tokens|lm_head", 0, 0.2 if tied else 0.5))


def store(model, options, folder):
    if options["layout"] == "published":  # what is there and nobody reads
        first = model.model.language_model.layers[0]
        for name, value in first.state_dict().items():
            model.register_buffer("mtp.layers.0.".replace(".", "__") + name.replace(".", "__"), value.clone())
    tensors = {name: value.to(options["stored"]).contiguous() for name, value in model.state_dict().items()
               if not (name == "lm_head.weight" and options["tied"])}
    tensors = {name.replace("__", ".") if name.startswith("mtp__") else name: value for name, value in tensors.items()}
    family_golden.write_weights(tensors, folder)


def with_frames_for_marks(processor):
    """The processor, with a video's frames in the place of its marks, as releases up to 5.2 put them and as these models were trained
    (get_rope_index(): "<t1> <vision_start> <frame1> <vision_end> <t2> ..."); 5.24 leaves the template's two marks around all of them."""
    marked = processor.vision_start_token + processor.video_token + processor.vision_end_token
    replace = processor.get_text_with_replacements
    processor.get_text_with_replacements = lambda text, *pictures: replace([each.replace(marked, processor.video_token) for each in text],
                                                                           *pictures)
    return processor


def make_folder(options, folder):
    """Writes the folder and returns what transformers makes of it."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options["seed"])
    tokenizer = make_tokenizer()
    (folder / "config.json").write_text(json.dumps(config_of(options, tokenizer), indent=1) + "\n")
    model_class = CLASSES[options.get("family", "qwen3_5")]
    model = model_class(transformers.AutoConfig.from_pretrained(folder))
    randomise(model, torch.Generator().manual_seed(options["seed"]), options["tied"])
    store(model, options, folder)
    qwen3.write_processor(options, tokenizer, folder)
    return loaded(model_class, folder), with_frames_for_marks(AutoProcessor.from_pretrained(folder))


def run(model, inputs):
    """Logits of the prompt, its positions, media's rows in prompt order, greedy tokens and their margins."""
    grids = {key: inputs[key] for key in ("image_grid_thw", "video_grid_thw") if key in inputs}
    pixels = {key: inputs[key] for key in ("pixel_values", "pixel_values_videos") if key in inputs}
    ids = inputs["input_ids"]
    kinds = (ids == model.config.image_token_id).int() + 2 * (ids == model.config.video_token_id).int()
    model.model.rope_deltas = None  # of the case before
    positions = torch.arange(ids.shape[1]).expand(3, -1)
    if pixels:
        positions = model.model.get_rope_index(input_ids=ids, mm_token_type_ids=kinds, **grids)[0][:, 0]
    rows = model.get_input_embeddings()(ids[0]).clone()
    for key, grid, token in (("pixel_values", "image_grid_thw", model.config.image_token_id),
                             ("pixel_values_videos", "video_grid_thw", model.config.video_token_id)):
        if key in pixels:
            found = model.model.get_image_features(pixels[key], grids[grid], return_dict=True).pooler_output
            rows[ids[0] == token] = torch.cat(list(found)).to(rows.dtype)
    given = dict(input_ids=ids, attention_mask=torch.ones_like(ids), **pixels, **grids)
    if pixels:
        given |= dict(mm_token_type_ids=kinds)
    logits = model(**given, use_cache=False).logits[0]
    model.model.rope_deltas = None
    answer = model.generate(**given, max_new_tokens=GREEDY_TOKENS, do_sample=False, eos_token_id=None, output_logits=True,
                            return_dict_in_generate=True)
    best = torch.topk(torch.cat(answer.logits), 2).values
    return dict(position_ids=positions, logits=logits[-1].clone(), features=rows[qwen3.medium_rows(ids[0], model.config)] if pixels else None,
                greedy=answer.sequences[0, ids.shape[1]:], margins=best[:, 0] - best[:, 1])


def states(model, ids):
    """What the layers without slots keep of a text: recurrent states [layers, heads, k, v], and the convolutions' last inputs [layers, t, channels]."""
    layers = [layer for layer in model(input_ids=ids, use_cache=True).past_key_values.layers if type(layer).__name__ == "LinearAttentionLayer"]
    recent = torch.cat([layer.conv_states[0] for layer in layers]).mT
    taps = model.config.text_config.linear_conv_kernel_dim - 1
    return dict(memory=torch.cat([layer.recurrent_states[0] for layer in layers]), recent=recent[:, recent.shape[1] - taps:])


def steadiness(model, inputs):
    """How far the logits in fp32 are from those in fp64, relative to the largest."""
    single = model(**inputs, use_cache=False).logits[0, -1]
    model.set_experts_implementation("eager")  # the one that knows fp64
    wide = {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}
    double = model.double()(**wide, use_cache=False).logits[0, -1]
    model.float()
    return float((single - double).abs().max() / double.abs().max())


def write_goldens():
    for name, options in CONFIGURATIONS.items():
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        model, processor = make_folder(options, GOLDEN / name / "model")
        images, videos = processor.image_processor, processor.video_processor
        cases, tensors = {}, {"mean": torch.tensor(images.image_mean), "deviation": torch.tensor(images.image_std)}
        assert images.image_mean == videos.image_mean
        for case, turns in qwen3.CASES.items():
            cases[case], results = qwen2.run_case(case, turns, processor, model, (qwen3.inputs_of, run))
            tensors.update(results)
        with torch.no_grad():
            tensors |= {f"text.states.{key}": value for key, value in states(model, tensors["text.input_ids"][None]).items()}
            apart = max(steadiness(model, qwen3.inputs_of(turns[:1], [], processor)[1]) for turns in qwen3.CASES.values())
        print(name, "fp32 and fp64 differ by", apart, flush=True)
        assert apart < STEADY, "another seed"
        write_folder(GOLDEN / name, cases, tensors)
    write_manifests()


def write_manifests():
    for family, model_class in CLASSES.items():
        own = {name: options for name, options in CONFIGURATIONS.items() if name.startswith(family + "/")}
        qwen2.write_manifest_of(family, model_class.__name__, own, __file__,
                                **{"text.states.memory": "fp32 [layers without slots, heads, key, value]",
                                   "text.states.recent": "fp32 [layers without slots, tokens before, channels], of the convolution",
                                   "<case>.features": "fp32 [tokens of media, hidden], in prompt order, of which every fifth column is kept"})


def compared_sizes(name, folder, cli):
    return qwen2.compared_cases(folder, cli, make_folder(PUBLISHED[name], folder), (qwen3.published_inputs, run))


if __name__ == "__main__":
    main(__doc__, write_goldens)
