#!/usr/bin/env python3
"""Asks the program and transformers the same about models of published sizes and prints one table of how far apart they are.

    python tests/golden/make/published_sizes.py FOLDER --cli build/release/bin/winnow-cli [--only NAME ...] [--keep]

Each size is a folder in FOLDER of random weights: head counts, head sizes, positions and their scaling, patches, pictures and token budgets are
the published ones; layers are few, and MLPs narrow and words few where its file would be large. It is removed behind its rows unless it is
kept. A difference beyond TOLERANCE or another token ends the run. Needs what the families' scripts need, and FFmpeg.
"""

import argparse
import pathlib
import shutil

import torch

import make_gemma3_golden
import make_gemma4_golden
import make_glm4v_golden
import make_internvl_golden
import make_lfm2_vl_golden
import make_llava_golden
import make_llava_onevision_golden
import make_minicpmv_golden
import make_mistral3_golden
import make_qwen2_vl_golden
import make_qwen3_5_golden
import make_qwen3_vl_golden
import make_smolvlm_golden
import make_text_model_golden

FAMILIES = (make_text_model_golden, make_llava_golden, make_llava_onevision_golden, make_qwen2_vl_golden, make_qwen3_vl_golden,
            make_qwen3_5_golden, make_glm4v_golden, make_smolvlm_golden, make_internvl_golden, make_gemma3_golden, make_gemma4_golden, make_minicpmv_golden,
            make_mistral3_golden, make_lfm2_vl_golden)
SIZES = {name: family for family in FAMILIES for name in family.PUBLISHED}
TOLERANCE = 1e-4


def relative(ours, theirs):
    return float((ours.double() - theirs.double()).abs().max() / theirs.double().abs().max())


def print_row(name, compared):
    ours, theirs, place = compared.ours, compared.theirs, (name, compared.case)
    assert torch.equal(ours["input_ids"], theirs["input_ids"]), (place, "other ids")
    if theirs.get("position_ids") is not None:
        assert torch.equal(ours["position_ids"], theirs["position_ids"]), (place, "other positions")
    features = None if theirs.get("features") is None else relative(ours["visual_features"], theirs["features"])
    logits, given = relative(ours["logits"][0], theirs["logits"]), ours["generated"].tolist()
    same = sum(a == b for a, b in zip(theirs["greedy"].tolist(), given))
    print(f"| {name} | {compared.case} | {len(ours['input_ids'])} | {compared.pixel:.1e} | {'' if features is None else format(features, '.1e')} | "
          f"{logits:.1e} | {same} of {len(given)} |", flush=True)
    assert compared.pixel < 1e-5 and max(features or 0.0, logits) <= TOLERANCE and same == len(given), (place, "too far apart")


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--cli", type=pathlib.Path, required=True, help="winnow-cli")
    parser.add_argument("--only", nargs="+", choices=SIZES, default=list(SIZES), metavar="NAME", help=", ".join(SIZES))
    parser.add_argument("--keep", action="store_true", help="keep the models")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| folder | case | tokens | largest difference of a pixel | of the features, relative | of the logits | greedy tokens equal |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in options.only:
        folder = options.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for compared in SIZES[name].compared_sizes(name, folder, options.cli):
            print_row(name, compared)
        if not options.keep:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
