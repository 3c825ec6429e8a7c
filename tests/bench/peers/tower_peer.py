#!/usr/bin/env python3
"""A clip through a vision tower: Winnow's engine against transformers on the same weights, A-B-B-A in one run.

    ./winnow bench >/dev/null     # builds winnow-bench
    python tests/bench/peers/tower_peer.py FOLDER [--dtype fp32] [--bits 8] [--frames 2 8]

Keeps in FOLDER a LLaVA-OneVision of random weights (bf16, from a fixed seed): SigLIP so400m at 384 px, 27 layers, and a projector as the published
0.5B has them, before a decoder of one layer, which nothing here runs. Needs torch==2.11.0, torchvision and transformers==5.2.0. Both sides take frames
that are pixels already and give rows of the decoder's width; the same number of threads, transformers with SDPA. `--bits 8` packs Winnow's matrices,
transformers keeps numbers of the type; what Winnow computes in is --dtype, which transformers gets, too. Ratios are transformers' time over
Winnow's: above 1.0 Winnow is faster. Prints a table of the medians and the quartiles of the ratios of all pairs.
"""

from __future__ import annotations

import pathlib
import time

import interleaved

try:
    import torch
    from transformers import (LlavaOnevisionConfig, LlavaOnevisionForConditionalGeneration, LlavaOnevisionImageProcessorFast, Qwen2Config,
                              SiglipVisionConfig)
except Exception as reason:
    interleaved.missing("transformers", reason, "pip install torch==2.11.0 torchvision==0.26.0 transformers==5.2.0")

SEED = 7
SIDE = 384
VISION = SiglipVisionConfig(hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, num_attention_heads=16, image_size=SIDE, patch_size=14,
                            vision_use_head=False)
TEXT = Qwen2Config(vocab_size=512, hidden_size=896, intermediate_size=128, num_hidden_layers=1, num_attention_heads=14, num_key_value_heads=2)


def model_folder(folder: pathlib.Path) -> pathlib.Path:
    if not (folder / "model.safetensors").exists():
        torch.manual_seed(SEED)
        config = LlavaOnevisionConfig(vision_config=VISION, text_config=TEXT, image_token_index=510, video_token_index=511, vision_feature_layer=-1,
                                      image_grid_pinpoints=[[SIDE, SIDE]])
        LlavaOnevisionForConditionalGeneration(config).to(torch.bfloat16).save_pretrained(folder)
        size = {"height": SIDE, "width": SIDE}
        half = [0.5, 0.5, 0.5]
        LlavaOnevisionImageProcessorFast(size=size, image_grid_pinpoints=[[SIDE, SIDE]], image_mean=half, image_std=half).save_pretrained(folder)
    return folder


class Transformers:
    def __init__(self, folder: pathlib.Path, dtype: torch.dtype) -> None:
        whole = LlavaOnevisionForConditionalGeneration.from_pretrained(folder, dtype=dtype, attn_implementation="sdpa")
        self.model = whole.model.eval()
        self.dtype = dtype

    @torch.inference_mode()
    def measure(self, what: str, frames: int, steps: int) -> float:
        assert what == "see"
        pixels = torch.rand(1, frames, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(1)).mul(2).sub(1).to(self.dtype)
        start = time.perf_counter()
        self.model.get_video_features(pixels, vision_feature_layer=-1, vision_feature_select_strategy="full")
        return 1000 * (time.perf_counter() - start)


def main() -> None:
    parser = interleaved.peer_options(__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--dtype", choices=["bf16", "fp32"], default="bf16")
    parser.add_argument("--bits", type=int, choices=[16, 8], default=16, help="of Winnow's matrices")
    parser.add_argument("--frames", type=int, nargs="+", default=[2, 8])
    options = parser.parse_args()
    options.phases, options.contexts = ["see"], options.frames
    torch.set_num_threads(options.threads)
    further = ["--model", str(model_folder(options.folder)), "--dtype", options.dtype, *(["--bits", "8"] if options.bits == 8 else [])]
    ours = interleaved.Winnow(options.bench, options.threads, further)
    theirs = Transformers(options.folder, torch.bfloat16 if options.dtype == "bf16" else torch.float)
    title = f"SigLIP so400m in {options.dtype}, Winnow's matrices in {options.bits} bits; transformers on torch {torch.__version__}"
    interleaved.print_table(title, ours, theirs, options, "frames")


if __name__ == "__main__":
    main()
