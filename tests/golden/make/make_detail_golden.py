#!/usr/bin/env python3
"""Writes tests/golden/detail/bounds: what transformers makes of a picture, or of frames, of which each may take at most so many tokens.

    python tests/golden/make/make_detail_golden.py

Asks the models of other golden folders, one for each way in which a family bounds its tokens. A bound is told to transformers in its own
settings (settings.json has them), which are found by asking it: the largest setting under which the picture takes no more tokens. Where a
setting is a bound on pixels, a picture is grown to a quarter of it at most. <folder>.<case>.pixels: every 7th number that the processor made,
in the order of the program's own (patches cell by cell, tiles one after the other).

Needs torch, torchvision, transformers, tokenizers, safetensors, pillow, numpy (versions: manifest.json).
"""

import shutil

import torch
from family_golden import GOLDEN, main, messages_of, picture, write, write_manifest
from safetensors.torch import save_file
from transformers import AutoModelForImageTextToText, AutoProcessor

import make_minicpmv_golden as minicpmv

QUESTION = "What is in the picture?"
STEP = 7  # one of so many pixels is kept
OUT = GOLDEN / "detail" / "bounds"
FRAMES = 4
# Sizes of pictures as (height, width), and bounds; of frames likewise.
LARGE, TALL, SMALL = (211, 320), (240, 93), (9, 12)


def visual(processor, inputs, model):
    """Of the program's tokens of the medium, those that stand for pixels."""
    ids = {getattr(model.config, key, None) for key in ("image_token_id", "video_token_id", "image_token_index")}
    return int(sum((inputs["input_ids"] == token).sum() for token in ids if token is not None))


class Asked:
    """A folder and how it is asked."""

    def __init__(self, folder):
        self.folder = folder
        self.processor = AutoProcessor.from_pretrained(GOLDEN / folder / "model")
        self.model = AutoModelForImageTextToText.from_pretrained(GOLDEN / folder / "model", dtype=torch.float32, attn_implementation="eager").eval()
        self.marks_frames = "Qwen3" in type(self.processor).__name__
        # Templates that write the first token themselves.
        self.once = dict(add_special_tokens=False) if self.prompt("image").startswith("<s>") else {}
        self.images, self.videos = self.processor.image_processor, getattr(self.processor, "video_processor", None)

    def prompt(self, kind):
        return self.processor.apply_chat_template(messages_of([([kind], QUESTION)]), add_generation_prompt=True)

    def image(self, size):
        return self.processor(text=self.prompt("image"), images=[picture(*size, 3)], return_tensors="pt", **self.once)

    def video(self, size):
        frames = torch.stack([torch.from_numpy(picture(*size, 10 + number)).permute(2, 0, 1) for number in range(FRAMES)])
        told = dict(fps=1.0, total_num_frames=FRAMES, duration=float(FRAMES), frames_indices=list(range(FRAMES)))
        # As the models were trained: a video's frames stand in the place of the template's marks.
        prompt = self.prompt("video").replace("<|vision_start|><|video_pad|><|vision_end|>", "<|video_pad|>") if self.marks_frames else self.prompt("video")
        return self.processor(text=prompt, videos=[frames], video_metadata=[told], do_sample_frames=False, return_tensors="pt",
                              **self.once)

    def largest(self, settings, tokens, size):
        """The last of the settings, of which each takes as many tokens as the one before or more, that fits; else the first."""
        fitting = settings[0]
        for setting in settings:
            self.take(setting)
            if self.taken(self.image(size)) <= tokens:
                fitting = setting
        return fitting

    def taken(self, inputs):
        return visual(self.processor, inputs, self.model)

    def take(self, setting):
        for name, value in setting.items():
            setattr(self.images, name, value)


class Pixels(Asked):
    """Qwen: min_pixels and max_pixels."""

    def bounded(self, of, tokens, frames=1):
        side = of.patch_size * of.merge_size
        least = self.least[id(of)]
        most = tokens * side * side * frames
        if frames > 1:
            most = min(most, self.most[id(of)])
        return dict(shortest_edge=min(least, max(1, most // 4)), longest_edge=most)

    def __init__(self, folder):
        super().__init__(folder)
        self.least = {id(each): each.size["shortest_edge"] for each in (self.images, self.videos)}
        self.most = {id(each): each.size["longest_edge"] for each in (self.images, self.videos)}
        self.whole = "Qwen3" in type(self.videos).__name__

    def setting(self, tokens, size, kind):
        of = self.images if kind == "image" else self.videos
        return dict(size=self.bounded(of, tokens, FRAMES if kind == "video" and self.whole else 1))

    def take_for(self, setting, kind):
        of = self.images if kind == "image" else self.videos
        of.size = type(of.size)(**setting["size"]) if not isinstance(of.size, dict) else setting["size"]
        of.min_pixels, of.max_pixels = setting["size"]["shortest_edge"], setting["size"]["longest_edge"]

    def pixels(self, inputs, kind):
        return inputs["pixel_values" if kind == "image" else "pixel_values_videos"]

    def positions(self, inputs):
        more = {key: inputs[key] for key in ("image_grid_thw", "video_grid_thw", "second_per_grid_ts", "mm_token_type_ids") if key in inputs}
        return self.model.model.get_rope_index(inputs["input_ids"], **more)[0][:, 0]


class Budgets(Asked):
    """Gemma 4: max_soft_tokens."""

    def setting(self, tokens, size, kind):
        return dict(max_soft_tokens=max(budget for budget in (70, 140) if budget <= max(tokens, 70)))

    def take_for(self, setting, kind):
        (self.images if kind == "image" else self.videos).max_soft_tokens = setting["max_soft_tokens"]

    def pixels(self, inputs, kind):
        """Without the patches that fill a batch up: they have no position."""
        values = inputs["pixel_values" if kind == "image" else "pixel_values_videos"]
        places = inputs["image_position_ids" if kind == "image" else "video_position_ids"]
        return values[(places >= 0).all(-1)]


class Tiles(Asked):
    """InternVL: max_patches."""

    def setting(self, tokens, size, kind):
        side = self.processor.image_seq_length
        most = max(tiles for tiles in range(1, 41) if tiles == 1 or (tiles + 1) * side + 2 <= tokens)
        return dict(max_patches=most, min_patches=min(self.images.min_patches, most))

    def take_for(self, setting, kind):
        self.take(setting)

    def pixels(self, inputs, kind):
        return inputs["pixel_values"]


class LongestEdge(Tiles):
    """SmolVLM, Idefics3: the longest edge in whole tiles."""

    MARKS = ("<fake_token_around_image>", "<global-img>")

    def setting(self, tokens, size, kind):
        side, most = self.images.max_image_size["longest_edge"], self.images.size["longest_edge"]
        return self.largest([dict(size=dict(longest_edge=tiles * side)) for tiles in range(1, most // side + 1)], tokens, size)

    def taken(self, inputs):
        """The program counts the words between the tiles, too."""
        begun = inputs["input_ids"][0].tolist()
        fake = self.processor.tokenizer.convert_tokens_to_ids(self.MARKS[0])
        return len(begun) - begun[::-1].index(fake) - begun.index(fake)

    def take(self, setting):
        self.images.size = type(self.images.size)(**setting["size"]) if not isinstance(self.images.size, dict) else setting["size"]


class Pinpoints(Tiles):
    """LLaVA-NeXT and LLaVA-OneVision: image_grid_pinpoints. A bound below a base tile and one more makes OneVision take the picture as it
    takes several: see single."""

    def __init__(self, folder):
        super().__init__(folder)
        self.pinpoints = list(self.images.image_grid_pinpoints)

    def setting(self, tokens, size, kind):
        config = self.model.config
        side, patches = config.vision_config.image_size, config.vision_config.image_size // config.vision_config.patch_size
        reduced = getattr(config, "vision_aspect_ratio", "")

        def most(height, width):
            rows, grid = height // side * patches, height // side * patches * (width // side * patches)
            if reduced.startswith("anyres_max_"):
                grid = min(grid, int(1.21 * int(reduced.removeprefix("anyres_max_")) * patches**2))
            return patches**2 + grid + rows

        fitting = [list(each) for each in self.pinpoints if most(*each) <= tokens]
        return dict(image_grid_pinpoints=fitting or [[side, side]])

    def take(self, setting):
        super().take(setting)
        self.model.config.image_grid_pinpoints = setting["image_grid_pinpoints"]

    def pixels(self, inputs, kind):
        return inputs["pixel_values"]


class Edge(Asked):
    """Mistral 3: the longest edge, here of whole cells."""

    def setting(self, tokens, size, kind):
        self.cell = self.images.patch_size["height"] * self.model.config.spatial_merge_size
        self.most = getattr(self, "most", None) or self.images.size["longest_edge"]
        edges = [edge * self.cell for edge in range(1, self.most // self.cell + 1)] + [self.most]
        return self.largest([dict(size=dict(longest_edge=edge)) for edge in edges], tokens, size)

    def taken(self, inputs):
        ids = self.processor.tokenizer.convert_tokens_to_ids(["[IMG]", "[IMG_BREAK]", "[IMG_END]"])
        return int(sum((inputs["input_ids"] == token).sum() for token in ids))

    def take(self, setting):
        self.images.size = type(self.images.size)(**setting["size"]) if not isinstance(self.images.size, dict) else setting["size"]

    def take_for(self, setting, kind):
        self.take(setting)

    def pixels(self, inputs, kind):
        merge, patch = self.model.config.spatial_merge_size, self.images.patch_size["height"]
        height, width = inputs["image_sizes"][0].tolist()
        values = inputs["pixel_values"][0, :, :height, :width]
        cells = values.reshape(3, height // self.cell, merge, patch, width // self.cell, merge, patch)
        return cells.permute(1, 4, 2, 5, 0, 3, 6)


class Slices(Asked):
    """MiniCPM-V: downsample_mode and max_slice_nums, of which the first goes where all slices fit so."""

    MOST = 36

    def __init__(self, folder):
        super().__init__(folder)
        self.processor, network = minicpmv.InRows(self.processor), self.model
        self.config = network.config
        self.model = lambda use_cache, **inputs: network(**minicpmv.packed(inputs, network.config), use_cache=use_cache)

    def taken(self, inputs):
        return int(minicpmv.medium_rows(inputs["input_ids"][0], self.processor.tokenizer).sum())

    def take(self, setting):
        super().take(setting)
        for name, value in setting.items():
            setattr(self.videos, name, value)
        self.config.downsample_mode = setting["downsample_mode"]

    def setting(self, tokens, size, kind):
        fine = dict(downsample_mode="4x", max_slice_nums=self.MOST)
        self.take(fine)
        if self.taken(self.image(size)) <= tokens:
            return fine
        fitting, most = None, 0
        for slices in range(1, self.MOST + 1):
            tried = dict(downsample_mode="16x", max_slice_nums=slices)
            self.take(tried)
            taken = self.taken(self.image(size))
            if fitting is None or (taken <= tokens and taken >= most):
                fitting, most = tried, taken
        return fitting

    def take_for(self, setting, kind):
        self.take(setting)

    def pixels(self, inputs, kind):
        return inputs["pixel_values" if kind == "image" else "pixel_values_videos"]


class TilesOrTokens(Tiles):
    """LFM2-VL: max_tiles, up to the folder's, as long as two tiles and the thumbnail fit; else max_image_tokens of a picture that is not cut."""

    def setting(self, tokens, size, kind):
        images = self.images
        side, most = (images.tile_size // images.encoder_patch_size // images.downsample_factor)**2, images.max_image_tokens
        tiles = min(images.max_tiles, (tokens - 2 - most - 1) // (side + 1))
        if tiles > 1:
            return dict(max_tiles=tiles, min_tiles=min(images.min_tiles, tiles))
        most = min(most, tokens - 2)
        least = min(images.min_image_tokens, max(1, most // 4)) if most < images.max_image_tokens else images.min_image_tokens
        return dict(do_image_splitting=False, max_image_tokens=most, min_image_tokens=least)

    def taken(self, inputs):
        """The program counts the names of tiles, too."""
        start, end = self.processor.tokenizer.convert_tokens_to_ids(["<|image_start|>", "<|image_end|>"])
        ids = inputs["input_ids"][0].tolist()
        return ids.index(end) - ids.index(start) + 1

    def pixels(self, inputs, kind):
        """Without the patches that fill a batch up, colours outermost."""
        patch, pictures = self.images.encoder_patch_size, zip(inputs["pixel_values"], inputs["spatial_shapes"].prod(-1).tolist())
        return torch.cat([values[:patches] for values, patches in pictures]).unflatten(1, (patch, patch, 3)).permute(0, 3, 1, 2)


# Of each folder: how it is bounded, and cases as (kind, size, bound).
FOLDERS = {
    "qwen2_vl/published": (Pixels, [("image", LARGE, 96), ("image", TALL, 8), ("image", SMALL, 30), ("video", (40, 61), 6)]),
    "qwen2_5_vl/saved": (Pixels, [("image", LARGE, 50)]),  # the program places what follows a video as 5.2 does
    "qwen3_vl/published": (Pixels, [("image", TALL, 17), ("video", (40, 61), 6)]),
    "qwen3_5/saved": (Pixels, [("image", LARGE, 40), ("video", (40, 61), 5)]),
    "gemma4/published": (Budgets, [("image", LARGE, 140), ("image", TALL, 100), ("video", (40, 61), 140)]),
    "internvl/qwen2_saved": (Tiles, [("image", LARGE, 6), ("image", LARGE, 22), ("image", TALL, 60)]),
    "smolvlm/smolvlm2_split": (LongestEdge, [("image", LARGE, 10), ("image", LARGE, 60), ("image", TALL, 100)]),
    "llava/next_mistral": (Pinpoints, [("image", LARGE, 40), ("image", TALL, 60), ("image", LARGE, 70)]),
    "gqa_tied": (Pinpoints, [("image", LARGE, 60), ("image", TALL, 90)]),
    "minicpmv/published": (Slices, [("image", LARGE, 60), ("image", LARGE, 1000), ("image", TALL, 3), ("image", SMALL, 50), ("video", (60, 110), 45)]),
    "minicpmv/fine": (Slices, [("image", LARGE, 40), ("video", (40, 61), 90)]),
    "minicpmv4_7/published": (Slices, [("image", LARGE, 1000), ("video", (60, 110), 70)]),
    "mistral3/published": (Edge, [("image", LARGE, 30), ("image", TALL, 21)]),
    "lfm2_vl/published": (TilesOrTokens, [("image", LARGE, 90), ("image", LARGE, 20), ("image", TALL, 12), ("image", SMALL, 10)]),
}


def path_of(folder):
    return folder if "/" in folder else "llava_onevision/" + folder


def write_goldens():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    tensors, described = {}, []
    for folder, (bounds, cases) in FOLDERS.items():
        for number, (kind, size, tokens) in enumerate(cases):
            asked = bounds(path_of(folder))
            setting = asked.setting(tokens, size, kind)
            asked.take_for(setting, kind)
            inputs = asked.image(size) if kind == "image" else asked.video(size)
            case = f"{folder}.{number}"
            tensors[f"{case}.input_ids"] = inputs["input_ids"][0]
            tensors[f"{case}.pixels"] = asked.pixels(inputs, kind).flatten()[::STEP].half()
            if isinstance(asked, Pixels):
                tensors[f"{case}.position_ids"] = asked.positions(inputs)
            with torch.no_grad():
                tensors[f"{case}.logits"] = asked.model(**inputs, use_cache=False).logits[0, -1]
            described.append(dict(case=case, folder=folder, kind=kind, height=size[0], width=size[1], frames=FRAMES, most_tokens=tokens,
                                  question=QUESTION, pixels=asked.pixels(inputs, kind).numel(), taken=asked.taken(inputs), setting=setting))
            print(described[-1])
    save_file({name: value.contiguous() for name, value in tensors.items()}, OUT / "golden.safetensors")
    (OUT / "golden.safetensors").chmod(0o644)
    write(OUT / "cases.json", described, indent=1)
    write_manifest(
        OUT, "pictures and frames under a bound on their tokens", "processors as AutoProcessor loads them, models in fp32, eager attention", __file__,
        tensors={"<case>.input_ids": "int64 [n], placeholders and words written out", "<case>.position_ids": "int64 [3, n]; of Qwen",
                 "<case>.pixels": f"fp16, every {STEP}th number that the processor made", "<case>.logits": "fp32 [vocabulary], last position"},
        licence="Apache-2.0, own random weights, own pictures and text")


if __name__ == "__main__":
    main(__doc__, write_goldens)
