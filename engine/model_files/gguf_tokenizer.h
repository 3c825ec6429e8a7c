// The vocabulary of a GGUF file as what tokenizer.json says, so that one Tokenizer serves both.
//
// Used by the package of GGUF files, which fills a GgufVocabulary from the metadata "tokenizer.ggml.*" as they stand there.
// "gpt2": byte-level BPE; `pre` names its pre-tokenizer (gguf_pre_tokenizers.h). "llama": SentencePiece BPE by scores, with byte tokens.
// "gemma4": BPE over characters by merges, with byte tokens.
// Control and unknown tokens become special added tokens, user defined ones added tokens that are found in any text, unused ones are never
// written by the tokenizer and still have their text. add_bos says what other programs put before a text by themselves: it is told
// (TokenizerFile::prefix), the tokenizer adds nothing.
// Differences from llama.cpp: added tokens are looked for from left to right, the longest first, as `tokenizers` does it; a special
// token or a byte token never comes out of a merge, as in SentencePiece. Phi-3's special tokens take the white space behind them, which no
// field says: they are known by the model's name.
// Nothing that the arrays say is trusted. Errors: Exception with `path`; kDamagedFile, kLimitExceeded, kUnsupportedModel.
// Source: llama.cpp's llama-vocab.cpp; gguf's documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/text/tokenizer_file.h"

namespace winnow {

struct GgufVocabulary {
  std::string path;   // of the file, for errors
  std::string name;   // general.name; may be empty
  std::string model;  // tokenizer.ggml.model: "gpt2", "llama", "gemma4"
  std::string pre;    // tokenizer.ggml.pre; may be empty
  std::vector<std::string> tokens;
  std::vector<float> scores;  // "llama": one for each token; else may be empty, and is not looked at
  std::vector<std::int32_t>
      types;  // 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte; but of "llama" may be empty (all normal)
  std::vector<std::string> merges;  // but of "llama"
  std::optional<std::int64_t> bos, eos, unknown;
  bool add_bos = false;
  bool add_space_prefix = true;  // "llama" only
};

TokenizerFile tokenizer_of(const GgufVocabulary& vocabulary);

}  // namespace winnow
