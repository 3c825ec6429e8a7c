// What a name in tokenizer.ggml.pre stands for: how text is normalised and split before byte-level BPE.
//
// Used by gguf_tokenizer. The patterns are those of the models' own tokenizer.json where it splits by patterns, else of what llama.cpp
// writes for its steps; a gap between matches is a word, too. Plain values.
// Source: llama.cpp's llama-vocab.cpp and the tokenizer.json of the models that it names.
#pragma once

#include <span>
#include <string_view>

namespace winnow {

struct GgufPreTokenizer {
  std::span<const std::string_view> patterns;  // applied one after the other, each to the pieces of the last
  bool nfc = false;                            // the model's text is normalised before
  bool ignore_merges = false;                  // a word that is a token is that token, whatever the merges say
};

// Null: the name is not known. Empty: "default".
const GgufPreTokenizer* gguf_pre_tokenizer(std::string_view name);

}  // namespace winnow
