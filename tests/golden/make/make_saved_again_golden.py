"""Makes tests/golden/saved_again: every family's golden folder as the newest transformers saves it, without weights.

A fine-tune is such a folder: transformers loads a published model and saves it, with other keys, in other files and in places with other
shapes. Each folder is loaded, saved, and loaded again; what both compute of a text has to be equal to the bit. <family>-<folder>.json then
holds the small documents that were written, and the names of the tensors whose last two dimensions changed places. All other tensors keep
names and numbers, which is checked here, so that the tests take them from the folder. Run it with the newest transformers that pip finds:

    pip install torch torchvision transformers num2words && python make_saved_again_golden.py
"""

import importlib.metadata
import json
import pathlib
import tempfile

import torch
import transformers
from safetensors.torch import load_file

import family_golden
from family_golden import GOLDEN, write

OUT = GOLDEN / "saved_again"
SEEING = ("gemma3/published", "gemma4/saved", "gemma4_experts/saved", "gemma4_large/plain", "gemma4_unified/published", "glm4v/flash",
          "glm4v/thinking", "glm4v_moe/published", "internvl/llama_published", "internvl/qwen2_saved", "lfm2_vl/published", "llava/llava_llama",
          "llava/next_mistral", "llava/next_video", "llava_onevision/gqa_tied", "minicpmv/published", "minicpmv4_7/published",
          "mistral3/ministral", "mistral3/published", "qwen2_5_vl/published", "qwen2_vl/published", "qwen3_5/published",
          "qwen3_5_moe/published", "qwen3_vl/experts", "qwen3_vl/published", "smolvlm/idefics3_plain", "smolvlm/smolvlm2_split")
TEXT = ("glm_text/glm4", "glm_text/glm4_moe", "recurrent_text/gemma4_borrowing", "recurrent_text/lfm2", "recurrent_text/qwen3_5",
        "recurrent_text/qwen3_5_moe", "recurrent_text/qwen3_next", "text_models/falcon_11b", "text_models/falcon_7b", "text_models/gemma3",
        "text_models/llama_dynamic", "text_models/llama_longrope", "text_models/llama_tied", "text_models/mistral_window",
        "text_models/mixtral", "text_models/qwen2_window", "text_models/qwen3", "text_models/qwen3_moe", "text_models/smollm3")
NOT_SAVED = ("position_ids",)  # transformers computes them


def tensors_of(folder):
    tensors = {}
    for file in sorted(folder.glob("*.safetensors")):
        if file.name != "golden.safetensors":
            tensors.update(load_file(file))
    return tensors


def turned(before, after):
    """The names of tensors whose last two dimensions changed places; everything else has to be the same."""
    gone = [name for name in before if name not in after and not name.endswith(NOT_SAVED) and not name.startswith("mtp.")]
    assert not gone and not set(after) - set(before), (gone, set(after) - set(before))
    names = []
    for name, value in after.items():
        if value.shape != before[name].shape:
            names.append(name)
            value = value.transpose(-1, -2)
        assert torch.equal(value, before[name]), name
    return sorted(names)


def logits_of(model, text):
    with torch.no_grad():
        return model(input_ids=text).logits


def saved_again(folder):
    kind = getattr(transformers, json.loads((folder / "config.json").read_text())["architectures"][0])
    read = lambda place: kind.from_pretrained(place, experts_implementation="eager").eval()
    model = read(folder)
    with tempfile.TemporaryDirectory() as place:
        again = pathlib.Path(place)
        model.save_pretrained(again)
        if (folder / "tokenizer.json").exists():
            transformers.AutoProcessor.from_pretrained(folder).save_pretrained(again)
        text = torch.arange(5, 25)[None]
        assert torch.equal(logits_of(read(again), text), logits_of(model, text)), folder
        documents = {file.name: json.loads(file.read_text()) for file in sorted(again.glob("*.json")) if file.name != "tokenizer.json"}
        documents.update({file.name: file.read_text() for file in again.glob("*.jinja")})
        return {"documents": documents, "turned": turned(tensors_of(folder), tensors_of(again))}


def write_goldens():
    OUT.mkdir(exist_ok=True)
    for file in OUT.glob("*.json"):
        file.unlink()
    for name in SEEING + TEXT:
        folder = GOLDEN / name
        read = saved_again(folder / "model" if name in SEEING else folder)
        write(OUT / (name.replace("/", "-") + ".json"), read, indent=None)
        print(name, list(read["documents"]), len(read["turned"]), "turned", flush=True)
    write(OUT / "manifest.json", {
        "what": "the documents of golden folders after transformers loaded and saved them",
        "source": "github.com/huggingface/transformers, tag v" + importlib.metadata.version("transformers"),
        "script": "tests/golden/make/make_saved_again_golden.py",
        "versions": {name: importlib.metadata.version(name) for name in ("torch", "transformers", "tokenizers", "safetensors")},
        "tolerance": "none: prompts, pixels and logits are those of the golden folder itself",
        "turned": "names of tensors whose last two dimensions changed places"}, indent=1)


if __name__ == "__main__":
    family_golden.main(__doc__, write_goldens)
