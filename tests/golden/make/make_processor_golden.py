"""Golden pixels and token counts of the LLaVA-OneVision processors. Writes tests/golden/processor/.

    python tests/golden/make/make_processor_golden.py

Needs torch, torchvision, transformers, pillow, numpy, safetensors (versions: manifest.json). Pictures are made by the integer formula
`formula_picture`, which the C++ tests repeat, so that only results are stored. Bytes are taken after resizing (rescaling and normalising switched
off) and once with everything on.
"""

import json
import pathlib
import random
import types

import numpy as np
import PIL
import safetensors
import torch
import torchvision
import transformers
from family_golden import fnv, formula_picture as picture
from PIL import Image
from safetensors.numpy import save_file
from transformers import LlavaOnevisionImageProcessor, LlavaOnevisionImageProcessorFast, LlavaOnevisionVideoProcessor
from transformers.models.llava_onevision.modeling_llava_onevision import LlavaOnevisionModel, get_anyres_image_grid_shape, unpad_image
from transformers.models.llava_onevision.processing_llava_onevision import LlavaOnevisionProcessor

OUT = pathlib.Path(__file__).resolve().parent.parent / "processor"
SEED = 20


def image_processor(side, pinpoints, resample, raw, kind=LlavaOnevisionImageProcessor):
    return kind(
        size={"height": side, "width": side}, image_grid_pinpoints=pinpoints, resample=resample, do_rescale=not raw, do_normalize=not raw)


def exact_bytes(processed):
    """Of the first image."""
    values = np.ascontiguousarray(processed["pixel_values"][0])
    result = values.astype(np.uint8)
    assert (result == values).all()
    return result


def video_processor(side, resample, raw):
    return LlavaOnevisionVideoProcessor(
        size={"height": side, "width": side}, resample=resample, do_rescale=not raw, do_normalize=not raw, return_metadata=False)


def grid(side, rows, columns):
    return [[side * r, side * c] for r in range(1, rows + 1) for c in range(1, columns + 1)]


# (name, height, width, side, pinpoints, resample, tiling). Heights of 1 and 3 are left out: transformers guesses the channel axis from
# the shape and takes such a picture for channels first.
IMAGES = [
    ("exact", 28, 28, 28, grid(28, 2, 2), 3, "anyres"),
    ("odd", 45, 71, 28, grid(28, 3, 3), 3, "anyres"),
    ("portrait", 97, 41, 28, grid(28, 3, 3), 3, "anyres"),
    ("tiny", 2, 5, 28, grid(28, 2, 2), 3, "anyres"),
    ("dot", 2, 2, 28, grid(28, 1, 2), 3, "anyres"),
    ("wide", 6, 600, 28, [[28, 28], [28, 112], [56, 56]], 3, "anyres"),
    ("tall", 801, 5, 28, [[28, 28], [112, 28], [56, 56]], 3, "anyres"),
    ("large", 531, 777, 28, grid(28, 3, 3), 3, "anyres"),
    ("bilinear", 121, 85, 28, grid(28, 2, 2), 2, "anyres"),
    ("other_side", 200, 150, 26, grid(26, 2, 2), 3, "anyres"),
    ("single_wide", 60, 91, 28, grid(28, 2, 2), 3, "single"),
    ("single_tall", 333, 60, 28, grid(28, 2, 2), 3, "single"),
    ("single_square", 50, 50, 28, grid(28, 2, 2), 3, "single"),
    ("single_narrow", 4, 700, 28, grid(28, 2, 2), 3, "single"),
]
# Those that are stored as the fast processor resizes them, too.
FAST = ("odd", "portrait", "tiny", "bilinear", "single_wide", "single_tall")
VIDEOS = [
    ("frames_down", 144, 176, 28, 3),
    ("frames_odd", 71, 33, 28, 3),
    ("frames_up", 9, 13, 28, 3),
    ("frames_one_axis", 28, 61, 28, 3),
    ("frames_same", 28, 28, 28, 3),
    ("frames_large", 720, 405, 28, 3),
    ("frames_bilinear", 90, 160, 28, 2),
]
# Full size, kept as hashes of the resized bytes: default pinpoints at 384 px.
HASHED = [("photo", 700, 1000), ("upright", 1203, 641), ("panorama", 300, 2111), ("small", 100, 90)]

# (name, tile side, patch size, N of anyres_max_N, pinpoints)
COUNTS = [
    ("default", 384, 14, 9, grid(384, 6, 6)),
    ("few", 384, 14, 4, [[384, 768], [768, 384], [768, 768]]),
    ("demo", 84, 28, 9, grid(84, 3, 3)),
    ("even", 64, 16, 2, grid(64, 4, 4)),
    ("single_patch", 32, 32, 9, grid(32, 6, 6)),
]


def sizes():
    rng = random.Random(SEED)
    fixed = [(1, 1), (1, 2), (2, 1), (1, 200), (200, 1), (384, 384), (383, 385), (768, 384), (1080, 1920), (1920, 1080), (2160, 3840),
             (480, 640), (641, 479), (16384, 82), (82, 16384), (8000, 8000), (84, 252), (85, 251), (9, 16), (333, 1000), (2304, 2304),
             (2305, 2303), (100, 10000), (7, 3), (672, 672)]
    scattered = [(rng.randint(1, 3000), rng.randint(1, 3000)) for _ in range(150)]
    slender = [(max(1, int(w * rng.uniform(0.005, 0.2))), w) for w in (rng.randint(50, 9000) for _ in range(45))]
    return fixed + scattered + slender


def packed(height, width, side, patch, tiles, pinpoints):
    """[h, w, tile rows, tile columns, first row, first column, rows, columns, tokens]; -1 where features were scaled or transformers fails."""
    patches = side // patch
    rows, columns = get_anyres_image_grid_shape((height, width), pinpoints, side)
    config = types.SimpleNamespace(vision_config=types.SimpleNamespace(image_size=side, patch_size=patch), image_grid_pinpoints=pinpoints)
    features = torch.zeros(1 + rows * columns, patches * patches, 1)
    stub = types.SimpleNamespace(config=config)
    processor = types.SimpleNamespace(image_processor=types.SimpleNamespace(image_grid_pinpoints=pinpoints),
                                      num_image_tokens=patches * patches, vision_aspect_ratio=f"anyres_max_{tiles}")
    processor._get_unpadded_features = types.MethodType(LlavaOnevisionProcessor._get_unpadded_features, processor)
    count = LlavaOnevisionProcessor._get_number_of_features(processor, height, width, side, side)
    try:
        result, lengths = LlavaOnevisionModel.pack_image_features(
            stub, [features], [(height, width)], image_newline=-torch.ones(1), vision_aspect_ratio=f"anyres_max_{tiles}")
    except RuntimeError:  # nothing left after scaling
        return [height, width, rows, columns, -1, -1, -1, -1, -1]
    assert int(lengths[0]) == count, (height, width, count, lengths)
    grid_tokens = result[0][patches * patches:, 0]
    packed_rows = int((grid_tokens == -1).sum())
    stitched = torch.arange(rows * patches * columns * patches).reshape(1, rows * patches, columns * patches)
    unpadded = unpad_image(stitched, (height, width))[0]
    packed_columns = len(grid_tokens) // packed_rows - 1 if packed_rows else unpadded.shape[1]
    if tuple(unpadded.shape) != (packed_rows, packed_columns):
        return [height, width, rows, columns, -1, -1, packed_rows, packed_columns, count]
    # first kept row and column; a grid without cells has none
    first = int(unpadded[0, 0]) if unpadded.numel() else None
    place = [first // (columns * patches), first % (columns * patches)] if first is not None else [-1, -1]
    return [height, width, rows, columns, *place, packed_rows, packed_columns, count]


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    tensors, cases = {}, []
    for index, (name, height, width, side, pinpoints, resample, tiling) in enumerate(IMAGES):
        image = Image.fromarray(picture(height, width, index))
        nested = [[image]] if tiling == "anyres" else [[image, image]]
        values = image_processor(side, pinpoints, resample, True)(nested)["pixel_values"][0]
        tensors[name] = np.ascontiguousarray(values).astype(np.uint8)
        assert (tensors[name] == np.array(values)).all()
        case = {"name": name, "kind": tiling, "height": height, "width": width, "seed": index, "side": side, "resample": resample,
                "pinpoints": pinpoints}
        cases.append(case)
        if name in FAST:
            fast = name + ".fast"
            tensors[fast] = exact_bytes(image_processor(side, pinpoints, resample, True, LlavaOnevisionImageProcessorFast)(nested))
            cases.append({**case, "name": fast, "arithmetic": "torch"})
        if name == "single_wide":
            values = image_processor(side, pinpoints, resample, False, LlavaOnevisionImageProcessorFast)(nested)["pixel_values"][0]
            tensors[name + ".fast.scaled"] = np.ascontiguousarray(values)
        if name in ("odd", "single_wide"):
            tensors[name + ".scaled"] = np.ascontiguousarray(image_processor(side, pinpoints, resample, False)(nested)["pixel_values"][0])
            assert tensors[name + ".scaled"].dtype == np.float32
    for index, (name, height, width, side, resample) in enumerate(VIDEOS):
        frames = np.stack([picture(height, width, index + k) for k in range(2)]).transpose(0, 3, 1, 2)
        video = torch.from_numpy(np.ascontiguousarray(frames))
        values = video_processor(side, resample, True)([video])["pixel_values_videos"][0].numpy()
        tensors[name] = np.ascontiguousarray(values).astype(np.uint8)
        assert (tensors[name] == values).all()
        cases.append({"name": name, "kind": "video", "height": height, "width": width, "seed": index, "side": side, "resample": resample})
        if name == "frames_odd":
            scaled = video_processor(side, resample, False)([video])["pixel_values_videos"][0].numpy()
            tensors[name + ".scaled"] = np.ascontiguousarray(scaled)
    hashes = []
    for index, (name, height, width) in enumerate(HASHED):
        pixels = picture(height, width, index)
        anyres = np.array(image_processor(384, grid(384, 6, 6), 3, True)([[Image.fromarray(pixels)]])["pixel_values"][0]).astype(np.uint8)
        single = np.array(image_processor(384, grid(384, 6, 6), 3, True)([[Image.fromarray(pixels)] * 2])["pixel_values"][0]).astype(np.uint8)
        fast = image_processor(384, grid(384, 6, 6), 3, True, LlavaOnevisionImageProcessorFast)
        anyres_fast = exact_bytes(fast([[Image.fromarray(pixels)]]))
        single_fast = exact_bytes(fast([[Image.fromarray(pixels)] * 2]))
        frame = torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))[None]
        video = video_processor(384, 3, True)([frame])["pixel_values_videos"][0].numpy().astype(np.uint8)
        hashes.append({"name": name, "height": height, "width": width, "seed": index, "tiles": len(anyres), "anyres": fnv(anyres),
                       "single": fnv(single), "anyres_fast": fnv(anyres_fast), "single_fast": fnv(single_fast), "video": fnv(video)})
    counts = [{"name": name, "side": side, "patch": patch, "max_tiles": tiles, "pinpoints": pinpoints,
               "rows": [packed(h, w, side, patch, tiles, pinpoints) for h, w in sizes()]} for name, side, patch, tiles, pinpoints in COUNTS]

    save_file(tensors, OUT / "pixels.safetensors")
    (OUT / "pixels.safetensors").chmod(0o644)
    # One case or one size per line keeps differences readable.
    lines = ["{\"cases\": [", ",\n".join(json.dumps(case) for case in cases), "], \"hashed\": [", ",\n".join(json.dumps(h) for h in hashes), "]}"]
    (OUT / "cases.json").write_text("\n".join(lines) + "\n")
    lines = []
    for entry in counts:
        rows = entry.pop("rows")
        lines.append(json.dumps(entry)[:-1] + ", \"rows\": [\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "]}")
    (OUT / "counts.json").write_text("[" + ",\n".join(lines) + "]\n")
    manifest = {
        "what": "resized and scaled pixels of LlavaOnevisionImageProcessor (Pillow), of LlavaOnevisionImageProcessorFast (torchvision; "
                "'fast' in the name) and of LlavaOnevisionVideoProcessor (torchvision), and "
                "packed grids of LlavaOnevisionModel.pack_image_features checked against LlavaOnevisionProcessor",
        "source": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0],
                   "torchvision": torchvision.__version__.split("+")[0], "pillow": PIL.__version__, "numpy": np.__version__,
                   "safetensors": safetensors.__version__},
        "script": "tests/golden/make/make_processor_golden.py",
        "seed": SEED,
        "files": {"pixels.safetensors": {name: [str(t.dtype), list(t.shape)] for name, t in tensors.items()},
                  "cases.json": "what each tensor was made from; FNV-1a 64 of full-size results",
                  "counts.json": "rows of [height, width, tile rows, tile columns, first row, first column, rows, columns, tokens]; -1: scaled, "
                                 "without cells, or refused by transformers"},
        "tolerance": {"bytes": 0, "scaled": 1e-6, "why": "resizing is integer arithmetic that is reproduced bit for bit; scaled values may "
                      "differ by the rounding of one single-precision division at magnitude 2"},
        "licence": "Apache-2.0; computed from formulas, no third-party picture",
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
