// The pre-tokenizers of tokenizer.ggml.pre: how text is normalised and split before byte-level BPE.
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

// Returns null for an unknown name. An empty name is "default".
const GgufPreTokenizer* gguf_pre_tokenizer(std::string_view name);

}  // namespace winnow
