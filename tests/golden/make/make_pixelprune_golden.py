#!/usr/bin/env python3
"""Writes tests/golden/pixelprune: what transformers computes of screens and clips whose equal cells were taken out before the vision encoder.

    python tests/golden/make/make_pixelprune_golden.py

The folders of tests/golden/{qwen2_vl,qwen3_vl,qwen3_5}/published are read as they are. The rule (arXiv 2604.00886, and for videos the same cell of
the set of frames before) is written here on whole images, in units of [0, 1]. transformers' vision model then runs unchanged but for its
embeddings, positions and sequence lengths, of which the rows of the kept cells are taken; its decoder gets the kept tokens at the positions
that get_rope_index gives them in the whole prompt. Needs torch, torchvision, transformers, safetensors, numpy (versions: manifest.json).
"""

import importlib.metadata
import json
import pathlib
import shutil
import types

import numpy as np
import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoModelForImageTextToText, AutoProcessor

import make_qwen2_vl_golden as qwen2
import make_qwen3_vl_golden as qwen3
from family_golden import COLUMNS, GOLDEN, messages_of

OUT = GOLDEN / "pixelprune"
FOLDERS = ["qwen2_vl/published", "qwen3_vl/published", "qwen3_5/published"]
QUESTION = "What is it?"


def screen(seed):
    """A flat ground with a flat window, a slope, noise, and noise that is there twice: four by five cells."""
    rng = np.random.default_rng(seed)
    picture = np.full((32, 40, 3), (200, 210, 220), np.uint8)
    picture[8:24, 16:32] = (20, 40, 90)
    picture[24:32, 0:8] = rng.integers(0, 255, (8, 8, 3))
    picture[0:8, 24:40] = np.tile(rng.integers(0, 255, (8, 8, 3)), (1, 2, 1))
    picture[24:32, 24:40] = np.linspace(0, 250, 16).astype(np.uint8)[None, :, None]
    return picture


def noisy(picture, levels):
    noise = np.random.default_rng(5).integers(-levels, levels + 1, picture.shape)
    return np.clip(picture.astype(int) + noise, 0, 255).astype(np.uint8)


def clip(seed):
    """Something still, and a window that moves after the fourth of six frames."""
    still = np.random.default_rng(seed).integers(0, 255, (8, 8, 3))
    pictures = []
    for frame in range(6):
        picture = np.full((16, 16, 3), (200, 210, 220), np.uint8)
        picture[0:8, 0:8] = still
        at = 8 if frame < 4 else 0
        picture[8:16, at : at + 8] = (250, 30, 30)
        pictures.append(picture)
    return pictures


CASES = {
    "screen": dict(kind="image", make=lambda: [screen(1)], threshold=0.0),
    "noisy_screen": dict(kind="image", make=lambda: [noisy(screen(2), 2)], threshold=0.02),
    "clip": dict(kind="video", make=lambda: clip(3), threshold=0.0),
}


def equal(a, b, threshold):
    return float(np.abs(a - b).max()) <= threshold + 1e-6 * (threshold > 0)


def kept_cells(cells, threshold):
    """cells: [sets, rows, columns, values] in [0, 1]. Whether each stays."""
    sets, rows, columns, _ = cells.shape
    stays = np.ones((sets, rows, columns), bool)
    before = None
    for s in range(sets):
        stands = cells[s].copy()
        for r in range(rows):
            for c in range(columns):
                own = cells[s, r, c]
                guess = None
                if c > 0:
                    guess = stands[r, c - 1]
                    if r > 0 and equal(stands[r - 1, c - 1], guess, threshold) and not equal(stands[r - 1, c - 1], stands[r - 1, c], threshold):
                        guess = stands[r - 1, c]
                elif r > 0:
                    guess = stands[r - 1, c]
                if before is not None and equal(own, before[r, c], threshold):
                    guess = before[r, c]
                if guess is not None and equal(own, guess, threshold):
                    stays[s, r, c] = False
                    stands[r, c] = guess
        before = stands
    return stays


def levels(values, processor, merge, joined):
    """Rows of patches as cells of values in [0, 1]: the processor's normalisation undone."""
    rows = values.view(values.shape[0], 3, -1)
    deviation = torch.tensor(processor.image_std).view(1, 3, 1)
    mean = torch.tensor(processor.image_mean).view(1, 3, 1)
    return (rows * deviation + mean).reshape(-1, merge * merge * values.shape[1]).double().numpy()


def run_on_kept(model, inputs, processor, threshold):
    config = model.config
    visual = model.model.visual
    key, grid_key, token = (("pixel_values", "image_grid_thw", config.image_token_id) if "pixel_values" in inputs else
                            ("pixel_values_videos", "video_grid_thw", config.video_token_id))
    pixels, grid = inputs[key], inputs[grid_key]
    merge = config.vision_config.spatial_merge_size
    sets, height, width = (int(x) for x in grid[0])
    source = processor.image_processor if key == "pixel_values" else processor.video_processor
    cells = levels(pixels, source, merge, config.vision_config.temporal_patch_size)
    stays = kept_cells(cells.reshape(sets, height // merge, width // merge, -1), threshold).reshape(sets, -1)
    kept = torch.tensor(stays.flatten())
    patches = kept.repeat_interleave(merge * merge)
    lengths = torch.tensor([int(n) * merge * merge for n in stays.sum(1) if n > 0])
    ends = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).to(torch.int32)

    def taken(of):
        return lambda *arguments, **named: of(*arguments, **named)[patches]

    originals = {}
    for name in ("patch_embed", "rot_pos_emb", "fast_pos_embed_interpolate"):
        part = getattr(visual, name, None)
        if part is None:
            continue
        target, attribute = (part, "forward") if isinstance(part, torch.nn.Module) else (visual, name)
        originals[(target, attribute)] = getattr(target, attribute)
        setattr(target, attribute, taken(originals[(target, attribute)]))
    for block in visual.blocks:
        forward = block.forward
        originals[(block, "forward")] = forward
        block.forward = lambda hidden, cu_seqlens=None, _of=forward, **named: _of(hidden, cu_seqlens=ends, **named)
    found = visual(pixels, grid_thw=grid)
    for (target, attribute), original in originals.items():
        setattr(target, attribute, original)
    features, deep = found.pooler_output, list(getattr(found, "deepstack_features", None) or [])

    ids = inputs["input_ids"][0]
    model.model.rope_deltas = None
    grids = {grid_key: grid}
    more = {"mm_token_type_ids": inputs["mm_token_type_ids"]} if "mm_token_type_ids" in inputs else {}
    try:
        positions = model.model.get_rope_index(inputs["input_ids"], **grids)[0][:, 0]
    except TypeError:
        positions = model.model.get_rope_index(inputs["input_ids"], **more, **grids)[0][:, 0]
    read = torch.ones(len(ids), dtype=torch.bool)
    read[ids == token] = kept
    embeddings = model.get_input_embeddings()(ids[read])
    mask = ids[read] == token
    embeddings[mask] = features
    arguments = dict(inputs_embeds=embeddings[None], position_ids=positions[:, read][:, None], attention_mask=torch.ones(1, int(read.sum())), use_cache=False)
    if deep:
        arguments |= dict(visual_pos_masks=mask[None], deepstack_visual_embeds=deep)
    hidden = model.model.language_model(**arguments).last_hidden_state[0, -1]
    return dict(kept=kept.to(torch.int32), input_ids=ids[read], position_ids=positions[:, read], features=torch.cat([features, *deep], 1)[:, ::COLUMNS].contiguous(),
                logits=model.lm_head(hidden)), stays


def inputs_for(family, processor, kind, pictures):
    prompt = processor.apply_chat_template(messages_of([([kind], QUESTION)]), add_generation_prompt=True)
    if kind == "image":
        return processor(text=prompt, images=pictures, return_tensors="pt")
    count = len(pictures)
    metadata = qwen3.VideoMetadata(total_num_frames=2 * count, fps=2.0, duration=float(count), frames_indices=[2 * i + 1 for i in range(count)])
    return processor(text=prompt, videos=[np.stack(pictures)], video_metadata=[metadata], do_sample_frames=False, return_tensors="pt")


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    cases, tensors = {}, {}
    for folder in FOLDERS:
        path = GOLDEN / folder / "model"
        model = AutoModelForImageTextToText.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()
        processor = AutoProcessor.from_pretrained(path)
        family = folder.split("/")[0]
        for name, case in CASES.items():
            pictures = case["make"]()
            with torch.no_grad():
                results, stays = run_on_kept(model, inputs_for(family, processor, case["kind"], pictures), processor, case["threshold"])
            assert 0 < stays.sum() < stays.size, f"{family}.{name}: {stays.sum()} of {stays.size} stay"
            tensors[name + ".pictures"] = torch.tensor(np.stack(pictures))
            tensors |= {f"{family}.{name}.{key}": value.detach().contiguous() for key, value in results.items()}
            cases[f"{family}.{name}"] = dict(folder=folder, case=name, kind=case["kind"], threshold=case["threshold"], question=QUESTION,
                                             cells=int(stays.size), kept=int(stays.sum()))
            print(f"{family}.{name}: {int(stays.sum())} of {stays.size} cells")
    save_file(tensors, OUT / "golden.safetensors")
    (OUT / "golden.safetensors").chmod(0o644)
    (OUT / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
    manifest = {
        "what": "kept cells, prompt ids, positions, visual features and prefill logits of questions whose equal cells leave before the vision encoder",
        "reference": f"transformers {importlib.metadata.version('transformers')}; its vision models over the rows of the kept cells",
        "source": "github.com/huggingface/transformers, tag v" + importlib.metadata.version("transformers"),
        "script": "tests/golden/make/make_pixelprune_golden.py",
        "versions": {name: importlib.metadata.version(name) for name in ("torch", "torchvision", "transformers", "safetensors", "numpy")},
        "files": {"golden.safetensors": "<case>.pictures uint8 [frames, height, width, 3]; per family and case kept int32 [cells], input_ids, position_ids, "
                                        "features fp32 of kept tokens, of which every fifth column is kept, logits fp32 of the last position",
                  "cases.json": "folder, medium, threshold, and how many cells stay"},
        "tolerance": {"kept, ids, positions": 0, "features, logits": "largest difference <= 1e-4 of the largest absolute value"},
        "licence": "Apache-2.0; computed from random weights and drawn pictures",
    }
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
