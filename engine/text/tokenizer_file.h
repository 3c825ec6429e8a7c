// tokenizer.json as plain data, read by events and checked before anything is built from it.
//
// Used by the tokenizer, and by model_files, whose packages of other formats fill it themselves (gguf_tokenizer.h). Vocabulary and merges,
// the two large parts, never become a JSON document. Caps: 64 MiB, depth 64, ids below 1,048,576, tokens of 1..4,096 bytes, 1 M merges,
// 65,536 added tokens of 4 MiB together. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel (a valid file with parts that
// this reader does not know, Unigram, WordPiece and WordLevel among them).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/json_document.h"

namespace winnow {

inline constexpr std::int64_t kMaxTokenIds = std::int64_t{1} << 20;
inline constexpr std::size_t kMaxTokenBytes = 4096;
inline constexpr std::size_t kMaxMerges = 1'000'000;
inline constexpr std::size_t kMaxAddedTokens = 65'536;
inline constexpr std::size_t kMaxAddedBytes = std::size_t{4} << 20;

struct AddedToken {
  std::int64_t id = 0;
  std::string content;
  bool special = false;
  bool single_word = false;  // not inside a word
  bool lstrip = false;       // eats white space before it
  bool rstrip = false;       // and after it
  bool normalized = false;   // is looked for in normalised text
};

// How a word becomes tokens.
enum class WordModelKind : int {
  kRankedMerges = 1,  // of two merges the one first that stands earlier in `merges`
  kScoredMerges = 2,  // the one whose result has the higher score, as SentencePiece does; there are no `merges`
};

struct TokenizerFile {
  std::string path{};
  // Text, id; unique both ways. The text is in the byte alphabet where the decoder is ByteLevel, else plain UTF-8.
  std::vector<std::pair<std::string, std::int64_t>> vocabulary{};
  std::vector<std::pair<std::string, std::string>> merges{};  // in order of rank
  WordModelKind word_model = WordModelKind::kRankedMerges;
  std::vector<double> scores{};  // of kScoredMerges alone: of every entry of the vocabulary; finite
  // Tokens that no merge makes: bytes ("<0x0A>") and unused ones.
  std::vector<std::pair<std::string, std::int64_t>> unmerged{};
  std::vector<AddedToken> added_tokens{};
  Json normalizer{};  // null if absent
  Json pre_tokenizer{};
  Json decoder{};
  // Tokens that stand before a text once the post-processor (a TemplateProcessing) has been over it. The tokenizer adds nothing by itself.
  std::vector<std::string> prefix{};
  std::string unknown_token{};  // empty: none
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
};

TokenizerFile read_tokenizer_file(const std::string& path);

// A tokenizer_config.json's list of added tokens (added_tokens_decoder) has the last word on their flags, and adds those that the file
// does not have, as in transformers.
void replace_added_tokens(const JsonObject& config, TokenizerFile& file);

}  // namespace winnow
