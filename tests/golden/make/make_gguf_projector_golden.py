#!/usr/bin/env python3
"""Writes model.gguf and mmproj-model.gguf beside golden folders of models with eyes, with llama.cpp's own converter.

    python tests/golden/make/make_gguf_projector_golden.py LLAMA_CPP

LLAMA_CPP: the folder vendor/llama.cpp of llama-cpp-python's source distribution (0.3.36; pip download --no-binary :all: --no-deps
llama-cpp-python==0.3.36). The two files have to give what tests/golden has for the folder: the same ids, pixels, features, logits and
tokens. Numbers are written as F32, so that nothing is rounded on the way.

The converter knows tokenizers by a hash of what they make of a text; those of the tiny folders are told here. What tiny folders have
otherwise than every published one, and the converter therefore does not write (bounds of pixels, the side of a window, which layers of a
Gemma look back over one), is added under the keys that llama.cpp has for it.
"""

import json
import pathlib
import shutil
import sys
import tempfile

FOLDERS = {"smolvlm/smolvlm2_split": "smollm", "qwen2_vl/published": "qwen2", "qwen2_5_vl/published": "qwen2", "qwen3_vl/published": "qwen2",
           "gemma3/published": None}
GOLDEN = pathlib.Path(__file__).resolve().parents[1]
CLIP_MEAN, CLIP_STD = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]


def main():
    llama_cpp = pathlib.Path(sys.argv[1])
    sys.path[:0] = [str(llama_cpp), str(llama_cpp / "gguf-py")]
    import conversion
    import gguf
    from conversion import ModelType, base, get_model_architecture, get_model_class

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
        if kind == ModelType.TEXT:
            model_class.get_vocab_base_pre = lambda self, tokenizer: pre
            # Byte-level: what it comes to without a SentencePiece model.
            model_class.set_vocab = (lambda self: self._set_vocab_gpt2()) if pre else scored_vocabulary
        own = model_class.set_gguf_parameters

        def parameters(self):
            own(self)
            for key, value in more.items():
                self.gguf_writer.add_uint32(key, value)

        model_class.set_gguf_parameters = parameters
        try:
            writer = model_class(folder, gguf.LlamaFileType.ALL_F32, target)
            if kind == ModelType.MMPROJ:  # the merger's numbers are looked up as blocks', of which tiny towers have fewer
                writer.tensor_map = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, 16)
            writer.write()
        finally:
            model_class.set_gguf_parameters = own

    for name, pre in FOLDERS.items():
        folder = GOLDEN / name
        with tempfile.TemporaryDirectory() as scratch:
            model = pathlib.Path(scratch) / "model"
            shutil.copytree(folder / "model", model)
            processor = json.loads((model / "preprocessor_config.json").read_text())
            processor.setdefault("image_mean", CLIP_MEAN)
            processor.setdefault("image_std", CLIP_STD)
            (model / "preprocessor_config.json").write_text(json.dumps(processor))
            config = json.loads((model / "config.json").read_text())
            if config.get("text_config", {}).get("model_type") == "llama":  # published ones name their text model's class
                config["text_config"].setdefault("architectures", ["LlamaForCausalLM"])
                (model / "config.json").write_text(json.dumps(config))
            vision = config["vision_config"]
            more = {}
            size = processor.get("size", {})
            for key, of in [("clip.vision.image_min_pixels", processor.get("min_pixels", size.get("shortest_edge"))),
                            ("clip.vision.image_max_pixels", processor.get("max_pixels", size.get("longest_edge"))),
                            ("clip.vision.window_size", vision.get("window_size"))]:
                if of is not None and "temporal_patch_size" in vision:  # of the Qwens
                    more[key] = of
            out = folder / "gguf"
            out.mkdir(exist_ok=True)
            # Every sixth layer of every published Gemma looks back over everything.
            pattern = config.get("text_config", {}).get("sliding_window_pattern")
            of_text = {"gemma3.attention.sliding_window_pattern": pattern} if pattern else {}
            write(model, out / "model.gguf", ModelType.TEXT, pre, of_text)
            write(model, out / "mmproj-model.gguf", ModelType.MMPROJ, pre, more)
            print(name, *(f"{file.name} {file.stat().st_size}" for file in sorted(out.iterdir())))


if __name__ == "__main__":
    main()
