#!/usr/bin/env python3
"""Writes tests/golden/whisper: tiny random Whisper folders and what transformers hears with them in fp32.

    python tests/golden/make/make_whisper_golden.py [--voice FOLDER]

One folder per configuration, of models that know several languages and of one that knows English alone; windows are of 2 s, so that a sound
of 9 s is long. The sound is a formula, which tests/engine/speech/golden_sound.h repeats. golden.safetensors: features of the whole sound
(every 20th column) and of a short one that is filled up with silence, the encoder's states of the first window, logits of a prompt, and the
greedy tokens of all windows with their times; lines: start, end, first token, number of tokens. voice.safetensors: what Silero's detector says
of the same sound; it is only made with --voice, a folder with silero_vad.jit of PyPI's silero-vad 6.2.3, and resources/speech with it.
Needs torch, transformers, tokenizers, safetensors (versions: manifest.json).
"""

import argparse
import json
import pathlib
import shutil

import family_golden
import numpy as np
import torch
import transformers
from family_golden import GOLDEN
from make_qwen2_vl_golden import make_tokenizer
from safetensors.torch import save_file
from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

OUT = GOLDEN / "whisper"
VOICE = GOLDEN.parents[1] / "resources" / "speech" / "silero_vad_16k.safetensors"
SEED = 31
SECONDS = 2
POSITIONS = 50 * SECONDS
COLUMNS = 20
PROMPT = 5  # tokens behind the special ones
LANGUAGES = ["en", "de", "fr"]
CONFIGURATIONS = {"english": dict(languages=[], bins=80, scale=1.0), "several": dict(languages=LANGUAGES, bins=128, scale=1.3)}


def sound(samples):
    """A saw tooth whose pitch and loudness change in steps; integers, so that other languages make the same."""
    i = np.arange(samples, dtype=np.int64)
    value = (i * (200 + (i // 800) % 61 * 37)) % 16000 - 8000
    return (value * ((i // 4000) % 5) // 5 / 32768).astype(np.float32)


def tokenizer_of(languages):
    tasks = ["<|transcribe|>", "<|translate|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
    special = ["<|endoftext|>", "<|startoftranscript|>", *(f"<|{language}|>" for language in languages), *tasks]
    tokenizer = make_tokenizer(special, ["the lighthouse keeper wrote a letter", "seven blue foxes on the beach"], end="<|endoftext|>")
    tokenizer.add_tokens([f"<|{0.02 * time:.2f}|>" for time in range(POSITIONS + 1)])
    return tokenizer


def make(folder, settings, seed):
    tokenizer = tokenizer_of(settings["languages"])
    id_of = tokenizer.convert_tokens_to_ids
    config = WhisperConfig(
        vocab_size=len(tokenizer), num_mel_bins=settings["bins"], d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=POSITIONS, max_target_positions=40,
        bos_token_id=id_of("<|endoftext|>"), eos_token_id=id_of("<|endoftext|>"), pad_token_id=id_of("<|endoftext|>"),
        decoder_start_token_id=id_of("<|startoftranscript|>"), suppress_tokens=None, begin_suppress_tokens=None)
    model = WhisperForConditionalGeneration(config)
    generator = torch.Generator().manual_seed(seed)
    family_golden.randomise(model, generator, (r"layer_norm\.weight$", 1, 0.2), (r"\.bias$", 0, 0.2),
                            (r"encoder\.embed_positions", 0, 0.3), (r"embed_", 0, 0.35 * settings["scale"]))
    several = bool(settings["languages"])
    told = dict(suppress_tokens=[id_of("!"), id_of("#")], begin_suppress_tokens=[220, config.eos_token_id], max_initial_timestamp_index=25,
                no_timestamps_token_id=id_of("<|notimestamps|>"), is_multilingual=several, max_length=40,
                decoder_start_token_id=config.decoder_start_token_id, eos_token_id=config.eos_token_id, pad_token_id=config.pad_token_id,
                bos_token_id=config.bos_token_id, return_timestamps=False)
    if several:
        told |= dict(lang_to_id={f"<|{each}|>": id_of(f"<|{each}|>") for each in LANGUAGES},
                     task_to_id={"transcribe": id_of("<|transcribe|>"), "translate": id_of("<|translate|>")})
    model.generation_config = transformers.GenerationConfig(**told)
    folder.mkdir(parents=True)
    model.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    return WhisperForConditionalGeneration.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval(), tokenizer


def golden(model, tokenizer, settings):
    extractor = WhisperFeatureExtractor(feature_size=settings["bins"], chunk_length=SECONDS)
    said = sound(9 * 16000 + 77)
    features = extractor(said, sampling_rate=16000, truncation=False, padding="longest", return_tensors="pt")["input_features"]
    short = extractor(said[:20000], sampling_rate=16000, return_tensors="pt")["input_features"]
    window = features[:, :, :2 * POSITIONS]
    states = model.model.encoder(window).last_hidden_state
    start = [model.config.decoder_start_token_id]
    prompt = torch.tensor([start + [40 + 3 * i for i in range(PROMPT)]])
    logits = model(input_features=window, decoder_input_ids=prompt).logits[0]
    task = {"task": "transcribe"} if settings["languages"] else {}  # without it a language that is found has no task behind it
    heard = model.generate(features, **task, return_timestamps=True, return_segments=True, condition_on_prev_tokens=False, temperature=0.0,
                           compression_ratio_threshold=None, logprob_threshold=None, no_speech_threshold=None)
    segments = heard["segments"][0]
    lines = torch.tensor([[float(each["start"]), float(each["end"]), len(each["tokens"])] for each in segments], dtype=torch.float32)
    tensors = {"features": features[0, :, ::COLUMNS], "short": short[0, :, ::COLUMNS], "states": states[0], "prompt": prompt[0], "logits": logits,
               "lines": lines, "tokens": torch.cat([each["tokens"] for each in segments])}
    if settings["languages"]:
        tensors["language"] = model.detect_language(window)
    return {name: value.detach().clone().contiguous() for name, value in tensors.items()}


def write_voice(folder):
    """Silero's TorchScript model: its weights for 16 kHz as they are shipped, and its probabilities. The package's own safetensors file has the
    weights of an earlier version."""
    model = torch.jit.load(folder / "silero_vad.jit")
    names = {"stft.forward_basis_buffer": "stft_conv.weight", "decoder.decoder.2": "final_conv", "decoder.rnn": "lstm_cell"}
    names |= {f"encoder.{layer}.reparam_conv": f"conv{layer + 1}" for layer in range(4)}
    stored = {}
    for name, value in model.state_dict().items():
        for theirs, ours in names.items():
            if name.startswith("_model." + theirs):
                stored[name.replace("_model." + theirs, ours)] = value.contiguous()
    save_file(stored, VOICE)
    said = torch.from_numpy(sound(6 * 16000))
    model.reset_states()
    spoken = [model(said[at:at + 512], 16000).item() if at + 512 <= len(said) else
              model(torch.nn.functional.pad(said[at:], (0, at + 512 - len(said))), 16000).item() for at in range(0, len(said), 512)]
    save_file({"probabilities": torch.tensor(spoken)}, OUT / "voice.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--voice", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    voice = OUT / "voice.safetensors"
    kept = voice.read_bytes() if voice.exists() else None
    shutil.rmtree(OUT, ignore_errors=True)
    with torch.inference_mode():
        for number, (name, settings) in enumerate(CONFIGURATIONS.items()):
            model, tokenizer = make(OUT / name, settings, SEED + number)
            save_file(golden(model, tokenizer, settings), OUT / name / "golden.safetensors")
        if arguments.voice:
            write_voice(arguments.voice)
        elif kept:
            voice.write_bytes(kept)
    manifest = {"what": "features, encoder states, logits and greedy lines of tiny random Whisper models, and Silero's voice activity",
                "reference": f"transformers {transformers.__version__}, fp32, eager attention",
                "script": "tests/golden/make/make_whisper_golden.py",
                "versions": {"torch": torch.__version__, "transformers": transformers.__version__}, "seed": f"{SEED} + number of the configuration"}
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
