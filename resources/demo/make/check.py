"""Checks the exported folder: transformers must give the training code's logits on a real encoded video, in float32."""

import argparse
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import AutoProcessor, LlavaOnevisionForConditionalGeneration

import questions
import text
import videos
import world
from export import MODEL_DIR
from model import Batch, DecoderConfig, DemoModel, Rows, Tower, TowerConfig, pool_index

FRAMES = 16
TOLERANCE = 1e-3


def training_model(folder: Path, config: DecoderConfig) -> tuple[Tower, DemoModel]:
    """The training code's modules with the exported weights."""
    stored = {name: value.float() for name, value in load_file(folder / "model.safetensors").items()}
    root = "vision_tower.vision_model."
    tower = Tower(TowerConfig())
    inside = {name.removeprefix(root + "embeddings.").removeprefix(root + "encoder."): value for name, value in stored.items() if name.startswith(root)}
    tower.load_state_dict({name: value for name, value in inside.items() if "post_layernorm" not in name})
    model = DemoModel(TowerConfig(), config)
    state = {}
    for name in model.state_dict():
        exported = name.replace("language_model.", "language_model.model.")
        if ".qkv_proj." in name:
            state[name] = torch.cat([stored[exported.replace("qkv_proj", f"self_attn.{part}_proj")] for part in "qkv"])
        elif ".gate_up_proj." in name:
            state[name] = torch.cat([stored[exported.replace("gate_up_proj", f"mlp.{part}_proj")] for part in ("gate", "up")])
        else:
            state[name] = stored[exported.replace(".o_proj.", ".self_attn.o_proj.").replace(".down_proj.", ".mlp.down_proj.")]
    model.load_state_dict(state)
    return tower, model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    options = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(options.model / "tokenizer.json"))
    tower, model = training_model(options.model, DecoderConfig(vocabulary=tokenizer.get_vocab_size()))
    video = videos.random_video(world.EVALUATION_SEEDS.start, FRAMES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"video{video.suffix}"
        videos.write(video, path)
        decoded = videos.read(path, video, FRAMES)

    processor = AutoProcessor.from_pretrained(options.model)
    reference = LlavaOnevisionForConditionalGeneration.from_pretrained(options.model, dtype=torch.float32).eval()
    line, question = questions.time_line(video.duration_s, FRAMES), "What is the first shape?"
    message = [{"role": "user", "content": [{"type": "video"}, {"type": "text", "text": f"{line}\n{question}"}]}]
    prompt = processor.apply_chat_template(message, add_generation_prompt=True)
    inputs = processor(text=prompt, videos=[decoded], return_tensors="pt")
    with torch.no_grad():
        wanted = reference(**inputs).logits[0, -1]

        pixels = ((inputs["pixel_values_videos"][0].permute(0, 2, 3, 1) + 1) * 127.5).round().to(torch.uint8)
        tower_config = TowerConfig()
        features = tower(pixels)[:, pool_index(tower_config)].flatten(0, 1)
        visual = FRAMES * tower_config.pooled_tokens
        vocabulary = text.Vocabulary(tokenizer)
        opening, tail = vocabulary.ids(text.PROMPT_OPENING), vocabulary.ids(f"\n{line}\n")
        row = vocabulary.ids(question) + vocabulary.ids(text.ANSWER_OPENING)
        assert inputs["input_ids"][0].tolist() == opening + [processor.video_token_id] * (visual + 1) + tail + row, "token ids differ"
        prefix = torch.tensor([opening + [0] * (visual + 1) + tail])
        place = torch.arange(prefix.shape[1])
        slots = (place >= len(opening)) & (place < len(opening) + visual)
        rows = Rows(torch.tensor([[row]]), prefix.shape[1] + torch.arange(len(row))[None, None])
        batch = Batch(
            prefix, place[None], torch.tensor([prefix.shape[1]]), slots[None], features, (place == len(opening) + visual)[None], [rows]
        )  # fmt: skip
        given = model.language_model.logits(model(batch, torch.float32)[0])[0, 0, -1]
    difference = float((given - wanted).abs().max() / wanted.abs().max())
    print(f"largest difference of logits, as a share of the largest logit: {difference:.1e}")
    if difference > TOLERANCE:
        raise SystemExit("the exported folder does not reproduce the training code")


if __name__ == "__main__":
    main()
