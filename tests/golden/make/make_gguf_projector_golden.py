#!/usr/bin/env python3
"""Writes model.gguf and mmproj-model.gguf beside golden folders of models with eyes, with llama.cpp's own converter; and model.gguf beside
some of models of text alone.

    python tests/golden/make/make_gguf_projector_golden.py LLAMA_CPP [FOLDER ...]

LLAMA_CPP: the folder vendor/llama.cpp of llama-cpp-python's source distribution (0.3.36; pip download --no-binary :all: --no-deps
llama-cpp-python==0.3.36). The two files have to give what tests/golden has for the folder: the same ids, pixels, features, logits and
tokens. Numbers are written in the folder's own type, so that nothing is rounded on the way.

The converter knows tokenizers by a hash of what they make of a text; those of the tiny folders are told here. What tiny folders have
otherwise than every published one, and the converter therefore does not write (bounds of pixels, the side of a window, which layers of a
Gemma look back over one), is added under the keys that llama.cpp has for it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch
from make_internvl_golden import original_names
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig

FOLDERS = {"smolvlm/smolvlm2_split": "smollm", "qwen2_vl/published": "qwen2", "qwen2_5_vl/published": "qwen2", "qwen3_vl/published": "qwen2",
           "qwen3_vl/experts": "qwen2", "qwen3_5/published": "qwen35", "qwen3_5_moe/published": "qwen35", "internvl/qwen2_saved": "qwen2", "internvl/llama_published": None,
           "gemma3/published": "gemma", "mistral3/published": None, "mistral3/ministral": None, "gemma4/published": "own", "gemma4_large/dense": "own", "gemma4_experts/saved": "own", "gemma4_unified/published": "own",
           "lfm2_vl/defaults": "lfm2", "minicpmv/published": "qwen35", "glm4v/thinking": "glm4", "glm4v/bounds": "glm4", "glm4v_moe/published": "glm4"}
# Their eyes are written by the converter of 2023, which is the only one for them. Its kernels and projector are F16.
LEGACY_FOLDERS = ["llava/llava_llama", "llava/next_mistral"]
# Whose text model is written once more, as an InternLM2 (internlm2.gguf): the same Llama under InternVL's original names, q, k and v packed.
INTERNLM2 = "internvl/llama_published"
# Of text alone, and without a tokenizer.
TEXT_FOLDERS = ["text_models/qwen3_moe", "text_models/mixtral", "recurrent_text/qwen3_next", "recurrent_text/lfm2_saved", "glm_text/glm4", "glm_text/glm4_moe"]
GOLDEN = pathlib.Path(__file__).resolve().parents[1]
CLIP_MEAN, CLIP_STD = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]


def chosen(names):
    return [name for name in names if len(sys.argv) < 3 or name in sys.argv[2:]]


def pixels_of(model):
    """What the folder says of its images, wherever it does."""
    if (model / "preprocessor_config.json").exists():
        return json.loads((model / "preprocessor_config.json").read_text())
    return json.loads((model / "processor_config.json").read_text())["image_processor"]


def as_published_gemma4(model, config, processor):
    """Without the sound encoder's tensors, which tiny folders have in name only, and with what the converter looks for in any case."""
    tensors = load_file(model / "model.safetensors")
    save_file({name: tensor for name, tensor in tensors.items() if "audio_tower" not in name}, model / "model.safetensors", metadata={"format": "pt"})
    config["audio_config"] = dict(model_type="gemma4_unified_audio", audio_embed_dim=8) if config["model_type"] == "gemma4_unified" else None
    config["text_config"].setdefault("moe_intermediate_size", None)
    processor |= dict(image_mean=[0, 0, 0], image_std=[1, 1, 1])
    side = processor["patch_size"] * processor["pooling_kernel_size"]
    return {"clip.vision.image_max_pixels": processor["max_soft_tokens"] * side**2}


def as_published_mistral3(model, config, processor):
    """As deep as its features, and as large as its pictures become: the converter takes both for granted."""
    vision = config["vision_config"]
    vision["num_hidden_layers"] += 1 + config["vision_feature_layer"]
    vision["image_size"] = processor["size"]["longest_edge"]
    beyond = f"vision_tower.transformer.layers.{vision['num_hidden_layers']}."
    for file in model.glob("*.safetensors"):
        save_file({name: tensor for name, tensor in load_file(file).items() if beyond not in name}, file, metadata={"format": "pt"})
    for index in model.glob("*.index.json"):
        listed = json.loads(index.read_text())
        listed["weight_map"] = {name: file for name, file in listed["weight_map"].items() if beyond not in name}
        index.write_text(json.dumps(listed))


def rename_as_internlm2(model, config):
    """transformers has no class for it. The converter goes by the text model's configuration and by the names."""
    tensors = {name: tensor for file in model.glob("*.safetensors") for name, tensor in load_file(file).items()}
    for file in model.glob("*.safetensors*"):
        file.unlink()
    text = {name: tensor for name, tensor in tensors.items() if ".language_model." in name}
    save_file(original_names(text, True, LlamaConfig(**config["text_config"])), model / "model.safetensors", metadata={"format": "pt"})
    config["text_config"]["architectures"] = ["InternLM2ForCausalLM"]
    (model / "config.json").write_text(json.dumps(config))


def write_legacy_eyes(llama_cpp, model, config, target):
    """As its README has it: tower and projector apart, and of LLaVA-NeXT what it does with tiles in the tower's configuration."""
    tensors = {name.removeprefix("model."): tensor for file in model.glob("*.safetensors") for name, tensor in load_file(file).items()}
    with tempfile.TemporaryDirectory() as scratch:
        tower = pathlib.Path(scratch)
        save_file({name.removeprefix("vision_tower."): tensor.float() for name, tensor in tensors.items() if name.startswith("vision_tower.")},
                  tower / "model.safetensors", metadata={"format": "pt"})
        torch.save({name: tensor.float() for name, tensor in tensors.items() if name.startswith(("multi_modal_projector.", "image_newline"))},
                   tower / "llava.projector")
        vision = config["vision_config"]
        if "image_grid_pinpoints" in config:
            vision |= {"image_grid_pinpoints": config["image_grid_pinpoints"], "mm_patch_merge_type": "spatial_unpad",
                       "image_aspect_ratio": "anyres"}
        (tower / "config.json").write_text(json.dumps(vision))
        scaling = pixels_of(model)
        subprocess.run([sys.executable, llama_cpp / "tools/mtmd/legacy-models/convert_image_encoder_to_gguf.py", "-m", tower, "--use-f32",
                        "--clip-model-is-vision", "--llava-projector", tower / "llava.projector",
                        "--image-mean", *map(str, scaling["image_mean"]), "--image-std", *map(str, scaling["image_std"])],
                       check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(llama_cpp / "gguf-py")})
        shutil.move(tower / "mmproj-model-f32.gguf", target)


def main():
    llama_cpp = pathlib.Path(sys.argv[1])
    sys.path[:0] = [str(llama_cpp), str(llama_cpp / "gguf-py")]
    import conversion
    import gguf
    from conversion import ModelType, base, get_model_architecture, get_model_class

    def with_scores(self):
        """As from a SentencePiece model, which the tiny folders lack: the score of a token is the rank of its merge, and there are as many
        tokens as the matrices have rows."""
        merges = json.loads((self.dir_model / "tokenizer.json").read_text())["model"]["merges"]
        rank = {"".join(pair).encode(): -float(place) for place, pair in reversed(list(enumerate(merges)))}
        entries = [(text, rank.get(text, score), gguf.TokenType.CONTROL if text.startswith(b"[") and kind == gguf.TokenType.USER_DEFINED else kind)
                   for text, score, kind in gguf.LlamaHfVocab(self.dir_model).all_tokens()]  # "[IMG]": Mistral's are control tokens
        entries += [(f"[PAD{token}]".encode(), -1000.0, gguf.TokenType.UNUSED) for token in range(len(entries), self.hparams["vocab_size"])]
        self.gguf_writer.add_tokenizer_model("llama")
        self.gguf_writer.add_tokenizer_pre("default")
        self.gguf_writer.add_token_list([text for text, _, _ in entries])
        self.gguf_writer.add_token_scores([score for _, score, _ in entries])
        self.gguf_writer.add_token_types([kind for _, _, kind in entries])
        gguf.SpecialVocab(self.dir_model, n_vocab=len(entries)).add_to_gguf(self.gguf_writer)

    def scored_vocabulary(model):
        """Gemma's files hold a SentencePiece model, which tiny folders lack: each token's score is the rank of the merge that makes it."""
        data = json.loads((model.dir_model / "tokenizer.json").read_text())
        rank = {"".join(pair): number for number, pair in enumerate(data["model"]["merges"])}
        special = {token["id"]: token["content"] for token in data["added_tokens"]}
        of_id = {number: token for token, number in data["model"]["vocab"].items()} | special
        tokens, scores, types = [], [], []
        for number in range(model.hparams["vocab_size"]):
            token = of_id.get(number, f"[PAD{number}]")
            byte = token.startswith("<0x") and token.endswith(">")
            kind = "UNUSED" if number not in of_id else "UNKNOWN" if token == "<unk>" else "CONTROL" if number in special else "BYTE" if byte else "NORMAL"
            tokens.append(token)
            scores.append(-float(rank.get(token, 10000)))
            types.append(gguf.TokenType[kind])
        model.gguf_writer.add_tokenizer_model("llama")
        model.gguf_writer.add_tokenizer_pre("default")
        model.gguf_writer.add_token_list(tokens)
        model.gguf_writer.add_token_scores(scores)
        model.gguf_writer.add_token_types(types)
        model.gguf_writer.add_add_space_prefix(False)
        gguf.SpecialVocab(model.dir_model, n_vocab=len(tokens)).add_to_gguf(model.gguf_writer)

    def write(folder, target, kind, pre, more):
        hparams = base.ModelBase.load_hparams(folder, False)
        model_class = get_model_class(get_model_architecture(hparams, kind), mmproj=kind == ModelType.MMPROJ)
        if kind == ModelType.TEXT and pre is None:
            model_class.set_vocab = with_scores
        elif kind == ModelType.TEXT and pre == "gemma":
            model_class.set_vocab = scored_vocabulary
        elif pre == "own":  # Gemma 4's, which has as many tokens as matrices have rows
            own_tokens = gguf.LlamaHfVocab.all_tokens

            def filled_up(self):
                tokens = list(own_tokens(self))
                self.vocab_size = max(len(tokens), hparams["text_config"]["vocab_size"])
                padding = range(len(tokens), self.vocab_size)
                yield from tokens + [(f"[PAD{token}]".encode(), -1000.0, gguf.TokenType.UNUSED) for token in padding]

            gguf.LlamaHfVocab.all_tokens = filled_up
        elif kind == ModelType.TEXT:
            model_class.get_vocab_base_pre = lambda self, tokenizer: pre
            if not model_class.__name__.startswith("Glm"):  # of which published folders have no SentencePiece model either
                model_class.set_vocab = lambda self: self._set_vocab_gpt2()  # what it comes to without one
        own, own_tensors = model_class.set_gguf_parameters, model_class.modify_tensors
        if model_class.__name__ == "LFM2VLModel":  # which takes patches of 16 px for granted
            patch = hparams["vision_config"]["patch_size"]

            def of_patches(self, tensor, name, bid):
                if "patch_embedding.weight" not in name:
                    yield from own_tensors(self, tensor, name, bid)
                    return
                yield from base.MmprojModel.modify_tensors(self, tensor.view(-1, patch, patch, 3).permute(0, 3, 1, 2), name, bid)

            model_class.modify_tensors = of_patches

        def parameters(self):
            own(self)
            for key, value in more.items():
                self.gguf_writer.add_uint32(key, value)

        model_class.set_gguf_parameters = parameters
        try:
            writer = model_class(folder, stored_type(hparams), target)
            if kind == ModelType.MMPROJ:  # the merger's numbers are looked up as blocks', of which tiny towers have fewer
                writer.tensor_map = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, 16)
            writer.write()
        finally:
            model_class.set_gguf_parameters, model_class.modify_tensors = own, own_tensors
            if kind == ModelType.TEXT and pre == "own":
                gguf.LlamaHfVocab.all_tokens = own_tokens

    def stored_type(config):
        types = {"bfloat16": gguf.LlamaFileType.MOSTLY_BF16, "float16": gguf.LlamaFileType.MOSTLY_F16}
        said = [of.get(key) for of in (config, config.get("text_config", {})) for key in ("dtype", "torch_dtype")]
        return next((types[name] for name in said if name in types), gguf.LlamaFileType.ALL_F32)

    for architecture in (gguf.MODEL_ARCH.QWEN3MOE, gguf.MODEL_ARCH.QWEN3VLMOE, gguf.MODEL_ARCH.QWEN3NEXT):  # layers without experts, which published ones lack
        gguf.MODEL_TENSORS[architecture] += [gguf.MODEL_TENSOR.FFN_GATE, gguf.MODEL_TENSOR.FFN_UP, gguf.MODEL_TENSOR.FFN_DOWN]

    def without_words(self):
        self.gguf_writer.add_tokenizer_model("gpt2")
        self.gguf_writer.add_token_list([f"t{token}" for token in range(self.hparams["vocab_size"])])

    for name in chosen(TEXT_FOLDERS):
        out = GOLDEN / name / "gguf"
        out.mkdir(exist_ok=True)
        hparams = base.ModelBase.load_hparams(GOLDEN / name, False)
        model_class = get_model_class(get_model_architecture(hparams, ModelType.TEXT))
        own_vocabulary, model_class.set_vocab = model_class.set_vocab, without_words
        model_class.no_mtp = True  # of Qwen3-Next: else it looks for the layers that guess
        model_class(GOLDEN / name, stored_type(hparams), out / "model.gguf").write()
        if gguf.MODEL_TENSOR.FFN_GATE_UP_EXP in gguf.MODEL_TENSORS[model_class.model_arch]:
            model_class(GOLDEN / name, stored_type(hparams), out / "fused.gguf", fuse_gate_up_exps=True).write()
        model_class.set_vocab = own_vocabulary
        print(name, *(f"{file.name} {file.stat().st_size}" for file in sorted(out.iterdir())))
    for name in chosen([*FOLDERS, *LEGACY_FOLDERS]):
        pre = FOLDERS.get(name)
        folder = GOLDEN / name
        with tempfile.TemporaryDirectory() as scratch:
            model = pathlib.Path(scratch) / "model"
            shutil.copytree(folder / "model", model)
            config = json.loads((model / "config.json").read_text())
            processor = pixels_of(model)
            more = as_published_gemma4(model, config, processor) if name.startswith("gemma4") else {}
            if name.startswith("mistral3"):
                as_published_mistral3(model, config, processor)
            processor.setdefault("image_mean", CLIP_MEAN)
            processor.setdefault("image_std", CLIP_STD)
            (model / "preprocessor_config.json").write_text(json.dumps(processor))
            vision = config["vision_config"]
            if config["model_type"] == "glm46v":  # published folders call it the older class, which the converter knows
                config |= dict(architectures=["Glm4vForConditionalGeneration"], model_type="glm4v")
            # Published ones name the classes of their halves, and how many tiles a picture has.
            text_class = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM", "lfm2": "Lfm2ForCausalLM"}
            if config.get("text_config", {}).get("model_type") in text_class:
                config["text_config"].setdefault("architectures", [text_class[config["text_config"]["model_type"]]])
            if name.startswith("internvl"):
                vision["architectures"] = ["InternVisionModel"]
                config |= {"min_dynamic_patch": processor["min_patches"], "max_dynamic_patch": processor["max_patches"]}
                for file in model.glob("*.safetensors"):  # the converter knows the eyes' names in one layout only
                    eyes = ("vision_tower.", "multi_modal_projector.")
                    save_file({("model." if key.startswith(eyes) else "") + key: tensor for key, tensor in load_file(file).items()}, file)
            (model / "config.json").write_text(json.dumps(config))
            size = processor.get("size", {})
            for key, of in [("clip.vision.image_min_pixels", processor.get("min_pixels", size.get("shortest_edge"))),
                            ("clip.vision.image_max_pixels", processor.get("max_pixels", size.get("longest_edge"))),
                            ("clip.vision.window_size", vision.get("window_size"))]:
                if of is not None and "temporal_patch_size" in vision and name != "glm4v/bounds":  # of the Qwens and GLM; the last has published ones
                    more[key] = of
            out = folder / "gguf"
            out.mkdir(exist_ok=True)
            # Every sixth layer of every published Gemma looks back over everything.
            pattern = config.get("text_config", {}).get("sliding_window_pattern")
            write(model, out / "model.gguf", ModelType.TEXT, pre, {"gemma3.attention.sliding_window_pattern": pattern} if pattern else {})
            if name in LEGACY_FOLDERS:
                write_legacy_eyes(llama_cpp, model, config, out / "mmproj-model.gguf")
            else:
                write(model, out / "mmproj-model.gguf", ModelType.MMPROJ, pre, more)
            if name == INTERNLM2:
                rename_as_internlm2(model, config)
                write(model, out / "internlm2.gguf", ModelType.TEXT, pre, {})
            print(name, *(f"{file.name} {file.stat().st_size}" for file in sorted(out.iterdir())))


if __name__ == "__main__":
    main()
