#!/usr/bin/env python3
"""Writes tests/golden/smolvlm: tiny random Idefics3 and SmolVLM folders and what transformers computes with them in fp32.

    python tests/golden/make/make_smolvlm_golden.py

One folder per configuration: model/ is an ordinary Hugging Face folder, loaded back with from_pretrained before anything is computed,
golden.safetensors holds inputs and results, cases.json the messages and prompts. Pixel values are stored as the bytes after resizing
(pixel = (byte / 255 - 0.5) / 0.5, checked here to be exact). Processors are those that AutoProcessor chooses. second_turn: a thread whose first
answer is the model's own.

transformers' processor takes images or a video, not both, and Idefics3's no video. What it would write is put together here from
SmolVLMProcessor's own two functions, one after the other; the model takes all tiles and frames in the prompt's order.

Needs torch, torchvision, transformers, tokenizers, safetensors, pillow, num2words, numpy (versions: manifest.json).
"""

import json

import numpy as np
import torch
import transformers
from family_golden import (CLIP, GOLDEN, Compared, answered, exported, first_answer, fnv, formula_picture, levels, loaded, main, messages_of, picture,
                           randomise, second_turn, template, told, write, write_configurations, write_manifest, write_weights)
from num2words import num2words
from safetensors.torch import load_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (AutoImageProcessor, AutoVideoProcessor, Idefics3Config, Idefics3ForConditionalGeneration, LlamaConfig,
                          PreTrainedTokenizerFast, SmolVLMConfig, SmolVLMForConditionalGeneration, SmolVLMProcessor)
from transformers.models.smolvlm.processing_smolvlm import DEFAULT_CHAT_TEMPLATE
from transformers.video_utils import VideoMetadata

OUT = GOLDEN / "smolvlm"
SEED = 11
FAKE, IMAGE, GLOBAL, END = "<fake_token_around_image>", "<image>", "<global-img>", "<end_of_utterance>"
CORPUS = ["What is in the picture?", "Describe the video in one sentence.", "User: You are provided the following series of five frames",
          "How many squares are there?", "from a 0:00:05 [H:MM:SS] video.", "Frame from 00:01:", "What are the differences between the two images?"]

CHAT_TEMPLATE = template("smolvlm")  # as published with SmolVLM and SmolVLM2
CONFIGURATIONS, PUBLISHED, CASES = told("smolvlm")
FRAMES = 5
PICTURES = {"image": [(31, 45)], "two_images": [(20, 33), (61, 17)], "video_image": [(26, 40)], "second_turn": [(31, 45), (61, 17)]}
FRAME_SIZE = (24, 34)
HALF = [0.5, 0.5, 0.5]


def make_tokenizer():
    """As SmolLM2's: digits by themselves, GPT-2's pattern; the markers of SmolVLM."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=330, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    rows = [f"<row_{r}_col_{c}>" for r in range(1, 4) for c in range(1, 4)]  # a fourth column is written as text
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", FAKE, IMAGE, END, GLOBAL]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in rows])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|im_start|>", eos_token=END, pad_token="<|im_end|>",
                                   model_max_length=8192)


def classes_of(options):
    smol = options["classes"] == "smolvlm"
    return (SmolVLMConfig, SmolVLMForConditionalGeneration) if smol else (Idefics3Config, Idefics3ForConditionalGeneration)


def tokens_of_tile(options):
    return (options["tile"] // options["vision"]["patch_size"] // options["scale"]) ** 2


def make_folder(options, generator, folder):
    tokenizer = make_tokenizer()
    name = "SmolVLM" if options["classes"] == "smolvlm" else "Idefics3"
    text = LlamaConfig(num_hidden_layers=2, bos_token_id=None, eos_token_id=tokenizer.eos_token_id,
                       **{"vocab_size": len(tokenizer) + 3, "max_position_embeddings": 4096, **options["text"]})
    config_class, model_class = classes_of(options)
    config = config_class(vision_config=options["vision"], text_config=text, scale_factor=options["scale"],
                          image_token_id=tokenizer.convert_tokens_to_ids(IMAGE), tie_word_embeddings=options["tied"])
    model = model_class(config)
    randomise(model, generator, (r"norm\d?\.weight$|layernorm\.weight$", 1, 0.2), (r"\.bias$", 0, 0.2), ("^(?!.*patch).*embed|lm_head", 0, 0.5))
    model.tie_weights()
    model.to(options["stored"]).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if options.get("shards"):
        write_weights(load_file(folder / "model.safetensors"), folder, options["shards"])
    half = [0.5, 0.5, 0.5]
    pictures = {"do_convert_rgb": True, "do_image_splitting": options["splitting"], "do_normalize": True, "do_pad": True, "do_rescale": True,
                "do_resize": True, "image_mean": half, "image_processor_type": name + "ImageProcessor" + ("Fast" if options.get("fast") else ""),
                "image_std": half, "max_image_size": {"longest_edge": options["tile"]}, "processor_class": name + "Processor", "resample": 1,
                "rescale_factor": 1 / 255, "size": {"longest_edge": options["size"]}}
    sequence = tokens_of_tile(options)
    if options["files"] == "published":
        if name == "SmolVLM":
            pictures["video_sampling"] = {"fps": 1, "max_frames": 64, "video_size": {"longest_edge": options["tile"]}}
        write(folder / "preprocessor_config.json", pictures)
        write(folder / "processor_config.json", {"image_seq_len": sequence, "processor_class": name + "Processor"})
        write(folder / "chat_template.json", {"chat_template": CHAT_TEMPLATE})
        # transformers 4 wrote what differs from the class.
        content = json.loads((folder / "config.json").read_text())
        plain = LlamaConfig().to_dict()
        content["text_config"] = {k: v for k, v in content["text_config"].items()
                                  if k in ("model_type", "vocab_size", "eos_token_id") or plain.get(k) != v}
        rope = content["text_config"].pop("rope_parameters", {})
        if "rope_theta" in rope:
            content["text_config"]["rope_theta"] = rope.pop("rope_theta")
        if rope.get("rope_type", "default") != "default":
            content["text_config"]["rope_scaling"] = rope
        content["vision_config"]["model_type"] = options["classes"]
        write(folder / "config.json", content)
    else:
        nested = {"image_processor": pictures, "image_seq_len": sequence, "processor_class": name + "Processor"}
        if name == "SmolVLM":
            nested["video_processor"] = {"video_processor_type": "SmolVLMVideoProcessor", "size": {"longest_edge": options["size"]},
                                         "max_image_size": {"longest_edge": options["tile"]}, "resample": 1, "image_mean": half,
                                         "image_std": half}
        write(folder / "processor_config.json", nested)
        (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)


def load_processor(options, folder):
    images = AutoImageProcessor.from_pretrained(folder)
    fast = type(images).__name__.endswith("Fast")
    assert fast == bool(options.get("fast")), "the default is not what the script believes"
    try:
        videos = AutoVideoProcessor.from_pretrained(folder)
    except Exception:  # Idefics3 names none
        videos = transformers.SmolVLMVideoProcessor(**json.loads((folder / ("preprocessor_config.json" if options["files"] == "published" else
                                                                            "processor_config.json")).read_text()).get("image_processor", {}) or
                                                    json.loads((folder / "preprocessor_config.json").read_text()))
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    return SmolVLMProcessor(images, tokenizer, videos, image_seq_len=tokens_of_tile(options), chat_template=CHAT_TEMPLATE)


def spans(ids, fake, lengths):
    """Where each medium's tokens are: from a marker on, as many as its text has."""
    found, at = [], 0
    for length in lengths:
        at = ids.index(fake, at)
        found.append((at, at + length))
        at += length
    return found


def with_video(processor, texts, inputs):
    """The texts with a video written out, and how many tokens it has."""
    whole = processor.expand_text_with_video_tokens(["<video>"], inputs)[0]
    alone = whole[whole.index(FAKE): whole.rindex(FAKE) + len(FAKE)]
    return processor.expand_text_with_video_tokens(texts, inputs), len(processor.tokenizer(alone, add_special_tokens=False)["input_ids"])


def prepared(processor, kinds, prompt, images, frames):
    """The prompt with its media written out, all tiles and frames in its order, and how many tokens each medium has."""
    texts, pixels, lengths = [prompt], [], []
    count = lambda text: len(processor.tokenizer(text, add_special_tokens=False)["input_ids"])
    if images:
        inputs = processor.image_processor([images], return_row_col_info=True, return_tensors="pt")
        assert bool((inputs["pixel_attention_mask"] == 1).all() or len(images) > 1)
        texts = processor.expand_text_with_image_tokens(texts, image_rows=inputs["rows"], image_cols=inputs["cols"])
        tiles = [r * c + 1 for r, c in zip(inputs["rows"][0], inputs["cols"][0])]
        pixels = list(torch.split(inputs["pixel_values"][0][: sum(tiles)], tiles))
        for rows, columns in zip(inputs["rows"][0], inputs["cols"][0]):
            alone = processor.expand_text_with_image_tokens([IMAGE], image_rows=[[rows]], image_cols=[[columns]])[0]
            lengths.append(count(alone))
    if frames is not None:
        # Asked for in the middle of every second, as the engine's plan does.
        metadata = VideoMetadata(total_num_frames=2 * len(frames), fps=2.0, duration=float(len(frames)),
                                 frames_indices=[2 * i + 1 for i in range(len(frames))])
        inputs = processor.video_processor([frames], video_metadata=[metadata], return_metadata=True, return_tensors="pt")
        texts, length = with_video(processor, texts, inputs)
        at = kinds.index("video")
        pixels.insert(at, inputs["pixel_values"][0])
        lengths.insert(at, length)
    return texts[0], pixels, lengths


def inputs_of(processor, turns, answers, images, frames):
    """The prompt, the same with its media written out, its ids, the pixels of each medium and how many tokens it has."""
    kinds = [kind for attached, _ in turns for kind in attached]
    template = DEFAULT_CHAT_TEMPLATE if "video" in kinds else CHAT_TEMPLATE
    prompt = processor.tokenizer.apply_chat_template(messages_of(turns, answers), chat_template=template, add_generation_prompt=True, tokenize=False)
    text, pixels, lengths = prepared(processor, kinds, prompt, images, frames)
    ids = processor.tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
    if kinds and set(kinds) != {"video", "image"}:  # what the processor itself writes
        arguments = {"images": [images]} if images else {"videos": [[frames]], "video_metadata": [VideoMetadata(
            total_num_frames=2 * FRAMES, fps=2.0, duration=float(FRAMES), frames_indices=[2 * i + 1 for i in range(FRAMES)])]}
        whole = processor(text=prompt, return_tensors="pt", **arguments)
        assert torch.equal(whole["input_ids"], ids)
        assert torch.equal(whole["pixel_values"][0][: sum(len(p) for p in pixels)], torch.cat(pixels))
    return prompt, text, ids, pixels, lengths


def run(model, ids, pixels):
    """Logits of the last position, greedy tokens and their margins."""
    return answered(model, model(input_ids=ids, use_cache=True, **(dict(pixel_values=torch.cat(pixels)[None]) if pixels else {})))


def features_of(model, processor, ids, pixels, lengths):
    """Of the media, with the embeddings of the markers among them."""
    found = model.model.get_image_features(torch.cat(pixels)[None], return_dict=True).pooler_output
    merged = model.model.inputs_merger(ids, model.get_input_embeddings()(ids), found)[0]
    fake = processor.tokenizer.convert_tokens_to_ids(FAKE)
    return torch.cat([merged[a:b] for a, b in spans(ids[0].tolist(), fake, lengths)])


@torch.no_grad()
def run_case(case, options, processor, model):
    turns, answers, given = CASES[case], [], None
    kinds = [kind for attached, _ in turns for kind in attached]
    drawn_images = [(h, w, 1 + i) for i, (h, w) in enumerate(PICTURES.get(case, []))]
    drawn_frames = [(*FRAME_SIZE, 10 + i) for i in range(FRAMES)] if "video" in kinds else []
    images = [picture(*one) for one in drawn_images]
    frames = np.stack([picture(*one) for one in drawn_frames]) if drawn_frames else None
    if len(turns) > 1:
        begun = inputs_of(processor, turns[:1], [], images[:1], None)
        given = first_answer(processor.tokenizer, run(model, *begun[2:4])["greedy"])
        answers = [given[1]]
    prompt, text, ids, pixels, lengths = inputs_of(processor, turns, answers, images, frames)
    tensors = {"input_ids": ids[0], "pictures": torch.tensor(drawn_frames + drawn_images).view(-1, 3)} | run(model, ids, pixels)
    if pixels:
        for number, values in enumerate(pixels):
            tensors[f"pixel_levels.{number}"] = levels(values, HALF, HALF)
        tensors["features"] = features_of(model, processor, ids, pixels, lengths)
    if given:
        tensors |= second_turn(processor.tokenizer, (begun[0], begun[2][0]), given, (prompt, ids[0]), lambda went_on: run(model, went_on, pixels),
                               add_special_tokens=False)
    description = dict(messages=messages_of(turns, answers), prompt=text.replace(IMAGE * tokens_of(processor), f"({tokens_of(processor)} x {IMAGE})"),
                       tokens=ids.shape[1], visual_tokens=sum(lengths), smallest_margin=float(tensors["margins"].min()),
                       answer=processor.tokenizer.decode(tensors["greedy"]))
    return description, {f"{case}.{key}": value for key, value in tensors.items()}


def tokens_of(processor):
    return processor.image_seq_len


def sizes():
    """[longest edge, tile, height, width, first height and width, whole height and width, rows, columns] of odd and large pictures."""
    smol = transformers.models.smolvlm.image_processing_smolvlm
    random = np.random.default_rng(SEED)
    fixed = [(1, 1), (1, 2), (2, 1), (1, 150), (150, 1), (512, 512), (511, 513), (1080, 1920), (1920, 1080), (2160, 3840), (480, 640), (641, 479),
             (3000, 41), (41, 3000), (7, 3), (2048, 2048), (2047, 2048), (100, 9000)]
    scattered = [tuple(int(x) for x in random.integers(1, 3000, 2)) for _ in range(100)]
    rows = []
    for longest, tile in ((2048, 512), (1456, 364), (1536, 384), (64, 16), (50, 17), (6000, 512)):
        processor = transformers.SmolVLMImageProcessor(size={"longest_edge": longest}, max_image_size={"longest_edge": tile})
        asked = []
        processor.resize = lambda image, size, **_: asked.append((size["height"], size["width"]))
        for height, width in fixed + scattered[: 100 if longest != 6000 else 20]:
            first = smol.get_resize_output_image_size(np.empty((height, width, 3), np.uint8), longest, "channels_last")
            asked.clear()
            processor.resize_for_vision_encoder(np.empty((*first, 3), np.uint8), tile, input_data_format="channels_last")
            whole = asked[0]
            if 0 in whole or (whole[0] // tile) * (whole[1] // tile) > 1024:
                continue
            cut = whole[0] > tile or whole[1] > tile
            rows.append([longest, tile, height, width, *first, *whole, *((whole[0] // tile, whole[1] // tile) if cut else (0, 0))])
    return rows


def hashes():
    """FNV-1a 64 of resized bytes at larger sizes: what is done, height, width, seed, filter, hash of [pictures, 3, side, side]."""
    arguments = dict(size={"longest_edge": 768}, max_image_size={"longest_edge": 256}, do_rescale=False, do_normalize=False)
    rows = []
    for seed, (height, width, resample) in enumerate([(700, 1000, 1), (1203, 641, 1), (90, 1111, 1), (1999, 37, 1), (100, 90, 1), (333, 500, 3), (500, 333, 2)]):
        pixels = formula_picture(height, width, seed)
        slow = transformers.SmolVLMImageProcessor(resample=resample, **arguments)([[pixels]])["pixel_values"][0]
        fast = transformers.SmolVLMImageProcessorFast(resample=resample, **arguments)([[pixels]], return_tensors="pt")["pixel_values"][0].numpy()
        frame = torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))[None]
        video = transformers.SmolVLMVideoProcessor(resample=resample, **arguments)([frame])["pixel_values"][0].numpy()
        for what, values in (("image", slow), ("fast", fast), ("video", video)):
            values = np.asarray(values)
            assert (values == values.astype(np.uint8)).all()
            rows.append([what, height, width, seed, resample, fnv(values.astype(np.uint8))])
    return rows


def words():
    numbers = [0, 1, 9, 10, 13, 19, 20, 21, 40, 64, 99, 100, 101, 110, 115, 199, 250, 512, 999, 1000, 1001, 1023, 1024, 1100, 1105, 20_345, 999_999]
    return {str(n): num2words(n) for n in numbers}


def compared_sizes(name, folder, cli):
    options = PUBLISHED[name]
    torch.manual_seed(SEED)
    make_folder(options, torch.Generator().manual_seed(SEED), folder)
    processor, model = load_processor(options, folder), loaded(classes_of(options)[1], folder)
    images = [formula_picture(*size, 1 + number) for number, size in enumerate(options["pictures"])]
    for case, count in (("text", 0), ("image", 1), ("two_images", 2), ("video", 0)):
        (_, question), = CASES[case]
        media = [("video", CLIP)] if case == "video" else [("image", pixels) for pixels in images[:count]]
        ours = exported(cli, folder, question, media, *(["--frames", 4] if case == "video" else []))
        apart = 0.0
        if case == "video":  # the frames are those that the program decoded
            prompt = processor.tokenizer.apply_chat_template(messages_of(CASES[case]), chat_template=DEFAULT_CHAT_TEMPLATE, add_generation_prompt=True,
                                                             tokenize=False)
            pixels = [ours["pixel_values_videos"][0]]
            metadata = VideoMetadata(total_num_frames=10_000, fps=1000.0, duration=10.0, frames_indices=[int(1000 * (i + 0.5) * 10.0 / 4) for i in range(4)])
            (prompt,), length = with_video(processor, [prompt], {"pixel_values": pixels[0][None], "video_metadata": [metadata]})
            ids, lengths = processor.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)["input_ids"], [length]
        else:
            _, _, ids, pixels, lengths = inputs_of(processor, CASES[case], [], images[:count], None)
            apart = max((float((one - ours["pixel_values"][number][: len(one)]).abs().max()) for number, one in enumerate(pixels)), default=0.0)
        theirs = dict(input_ids=ids[0], features=features_of(model, processor, ids, pixels, lengths) if pixels else None) | run(model, ids, pixels)
        yield Compared(case, ours, theirs, apart)


def write_goldens():
    def make(options, folder, number):
        torch.manual_seed(SEED + number)
        make_folder(options, torch.Generator().manual_seed(SEED + number), folder)
        return load_processor(options, folder), loaded(classes_of(options)[1], folder)

    write_configurations(OUT, CONFIGURATIONS, make, run_case, CASES)
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in sizes())
    (OUT / "sizes.json").write_text('{"words": ' + json.dumps(words()) + ',\n"hashes": ' + json.dumps(hashes()) + ',\n"sizes": [\n' + lines + "]}\n")
    write_manifest(
        OUT, "tiny random Idefics3 and SmolVLM models",
        "Idefics3- and SmolVLMForConditionalGeneration in fp32, eager attention; processors as AutoImageProcessor and AutoVideoProcessor choose them", __file__,
        seed=f"{SEED} + number of the configuration", configurations={name: options["covers"] for name, options in CONFIGURATIONS.items()},
        tensors={
            "<case>.input_ids": "int64 [n], media written out",
            "<case>.pixel_levels.<medium>": "uint8 [tiles or frames, 3, side, side], the whole picture last; value = (level / 255 - 0.5) / 0.5",
            "<case>.features": "fp32 [visual tokens, hidden], in prompt order, with the embeddings of the markers between a medium's first and last; "
                               "every fifth column is kept"},
        **{"sizes.json": "rows of [longest edge, tile, height, width, sizes after the first and the second resizing, rows, columns]; numbers as words; hashes "
                         "of pixels"},
        licence="Apache-2.0, own random weights, own pictures and text; the chat template as SmolVLM's repositories have it (Apache-2.0)")


if __name__ == "__main__":
    main(__doc__, write_goldens)
