"""Checks `winnow-cli ask --check` against transformers: the same answer read by the full model in one piece, nothing cached.

    python check_agreement.py --cli ../../../build/release/bin/winnow-cli

For every bundled video and some methods: share of tokens whose top choice is the full model's, and at each differing word the probabilities
of both choices. Prints both sides and fails where they differ by more than 0.002 (probabilities) or at all (shares).
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import LlavaOnevisionForConditionalGeneration

DEMO = Path(__file__).parents[3] / "resources" / "demo"
RECIPES = (("vl-cache", 0.1), ("snapkv", 0.05), ("streaming-llm", 0.2), ("random", 0.1))


def program(cli: Path, *arguments: str) -> str:
    return subprocess.run([str(cli), *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout


def dense_logits(model: LlavaOnevisionForConditionalGeneration, run: dict[str, torch.Tensor]) -> torch.Tensor:
    """Of the positions that chose the answer's tokens: [answer, vocabulary]."""
    answer = run["generated"]
    ids = torch.cat([run["input_ids"], answer]).unsqueeze(0)
    with torch.inference_mode():
        logits = model(input_ids=ids, pixel_values_videos=run["pixel_values_videos"], use_cache=False).logits[0]
    return logits[len(run["input_ids"]) - 1 : -1].double()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", type=Path, required=True)
    options = parser.parse_args()
    model = LlavaOnevisionForConditionalGeneration.from_pretrained(DEMO / "model", dtype=torch.float32).eval()
    samples = json.loads((DEMO / "samples" / "samples.json").read_text())["samples"]
    print("| sample | method | same choice, program | transformers | largest difference of a probability |")
    print("|---|---|---|---|---|")
    for sample in samples:
        if sample.get("kind", "video") != "video":
            continue
        question = max(sample["questions"], key=lambda q: len(q["answer"]))["question"]
        for method, retention in RECIPES:
            asked = ["--video", str(DEMO / "samples" / sample["file"]), "--method", method, "--retention", str(retention), "--dtype", "fp32", question]
            agreement = json.loads(program(options.cli, "ask", "--check", "--json", *asked))["agreement"]
            with tempfile.TemporaryDirectory() as folder:
                program(options.cli, "export", "--out", f"{folder}/run.safetensors", *asked)
                run = load_file(f"{folder}/run.safetensors")
            if run["pixel_values_videos"].dim() == 4:
                run["pixel_values_videos"] = run["pixel_values_videos"].unsqueeze(0)
            probabilities = dense_logits(model, run).softmax(-1)
            same = probabilities.argmax(-1) == run["generated"]
            top1 = same.double().mean().item()
            own = probabilities.gather(1, run["generated"].unsqueeze(1)).squeeze(1)
            apart = 0.0
            for difference in agreement["differences"]:
                # A word's first differing token: the one with these two probabilities.
                pairs = torch.stack([own - difference["full_probability"], probabilities.amax(-1) - difference["full_choice_probability"]])
                apart = max(apart, pairs.abs().amax(0)[~same].min().item())
            print(f"| {sample['file']} | {method} {100 * retention:g} % | {agreement['top1']:.4f} | {top1:.4f} | {apart:.1e} |", flush=True)
            assert agreement["tokens"] == len(run["generated"]), "another answer"
            assert abs(agreement["top1"] - top1) < 1e-9, "another agreement"
            assert apart < 0.002, "other probabilities"


if __name__ == "__main__":
    main()
