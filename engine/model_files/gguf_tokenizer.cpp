#include "engine/model_files/gguf_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "engine/base/error.h"
#include "engine/model_files/gguf_pre_tokenizers.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/quoted_name.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;  // of all tokens, as of a tokenizer.json

enum TokenType : std::int32_t { kUndefined = 0, kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

[[noreturn]] void damaged(const GgufVocabulary& vocabulary, const std::string& reason) {
  throw Exception(ErrorCode::kDamagedFile, vocabulary.path, reason);
}
[[noreturn]] void over_limit(const GgufVocabulary& vocabulary, const std::string& reason) {
  throw Exception(ErrorCode::kLimitExceeded, vocabulary.path, reason);
}

std::int32_t type_of(const GgufVocabulary& vocabulary, std::size_t id) {
  if (vocabulary.types.empty()) return kNormal;
  const std::int32_t type = vocabulary.types[id];
  return type == kUndefined ? static_cast<std::int32_t>(kNormal) : type;
}

void check_sizes(const GgufVocabulary& vocabulary, bool scored) {
  const std::size_t count = vocabulary.tokens.size();
  if (count == 0) damaged(vocabulary, "has an empty vocabulary");
  if (count > static_cast<std::size_t>(kMaxTokenIds)) over_limit(vocabulary, "more than 1,048,576 tokens");
  if (vocabulary.types.size() != count && (scored || !vocabulary.types.empty())) {
    damaged(vocabulary, "has " + std::to_string(vocabulary.types.size()) + " token types for " + std::to_string(count) + " tokens");
  }
  // Some converters leave it so. The chat template's marks would be read as text then, letter by letter.
  if (!vocabulary.types.empty() && std::ranges::all_of(vocabulary.types, [](std::int32_t type) { return type == kUndefined; }))
    damaged(vocabulary, "says of no token what it is (tokenizer.ggml.token_type is 0 throughout): take a file that was converted anew");
  if (scored && vocabulary.scores.size() != count) {
    damaged(vocabulary, "has " + std::to_string(vocabulary.scores.size()) + " token scores for " + std::to_string(count) + " tokens");
  }
  if (vocabulary.merges.size() > kMaxMerges) over_limit(vocabulary, "more than a million merges");
}

void check_tokens(const GgufVocabulary& vocabulary) {
  std::size_t bytes = 0;
  std::unordered_set<std::string_view> seen;
  seen.reserve(vocabulary.tokens.size());
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& text = vocabulary.tokens[id];
    const std::string which = "token " + std::to_string(id);
    if (text.size() > kMaxTokenBytes) over_limit(vocabulary, which + " is longer than 4,096 bytes");
    bytes += text.size();
    if (bytes > kMaxTextBytes) over_limit(vocabulary, "tokens of more than 64 MiB");
    if (!utf8::is_valid(text)) damaged(vocabulary, which + " is not UTF-8");
    if (!text.empty() && !seen.insert(text).second) damaged(vocabulary, which + " occurs twice");
    const std::int32_t type = type_of(vocabulary, id);
    if (type < kNormal || type > kByte) damaged(vocabulary, which + " has a type that there is not");
    if (type == kByte && !byte_of_token_name(text)) damaged(vocabulary, which + " is called a byte and is none");
  }
}

void check_special_ids(const GgufVocabulary& vocabulary) {
  const std::pair<const char*, std::optional<std::int64_t>> ids[] = {
      {"bos_token_id", vocabulary.bos}, {"eos_token_id", vocabulary.eos}, {"unknown_token_id", vocabulary.unknown}};
  for (const auto& [name, id] : ids) {
    if (id && (*id < 0 || *id >= static_cast<std::int64_t>(vocabulary.tokens.size()))) {
      damaged(vocabulary, std::string(name) + " is not in the vocabulary");
    }
  }
}

// "Phi-3-mini-4k-instruct", "Phi 3.5 Mini Instruct": files of Llama's architecture, too.
bool is_phi3(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != ' ' && c != '-' && c != '_') letters += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return letters.find("phi3") != std::string::npos;
}

// Follows Phi-3's tokenizer.json.
bool takes_spaces_in_phi3(std::string_view token) { return token != "<unk>" && token != "<s>" && token != "<|endoftext|>"; }

void add_tokens(const GgufVocabulary& vocabulary, bool scored, TokenizerFile& file) {
  const bool phi3 = is_phi3(vocabulary.name);
  std::size_t added_bytes = 0;
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const std::string& text = vocabulary.tokens[i];
    const auto id = static_cast<std::int64_t>(i);
    const std::int32_t type = type_of(vocabulary, i);
    const bool special = type == kControl || type == kUnknown || (scored && id == vocabulary.unknown);
    if (text.empty()) continue;  // an id without a text, like those that only the model's matrices have
    if (special || type == kUserDefined) {
      AddedToken token{.id = id, .content = text, .special = special, .rstrip = phi3 && takes_spaces_in_phi3(text)};
      added_bytes += text.size();
      if (file.added_tokens.size() >= kMaxAddedTokens) over_limit(vocabulary, "more than 65,536 control and user defined tokens");
      if (added_bytes > kMaxAddedBytes) over_limit(vocabulary, "control and user defined tokens of more than 4 MiB");
      file.added_tokens.push_back(std::move(token));
    }
    if (special) continue;
    if (type == kUnused || (scored && type == kByte)) {
      file.unmerged.emplace_back(text, id);
      continue;
    }
    file.vocabulary.emplace_back(text, id);
    if (!scored) continue;
    if (!std::isfinite(vocabulary.scores[i])) damaged(vocabulary, "the score of token " + std::to_string(i) + " is not a number");
    file.scores.push_back(vocabulary.scores[i]);
  }
}

void add_merges(const GgufVocabulary& vocabulary, TokenizerFile& file) {
  file.merges.reserve(vocabulary.merges.size());
  for (std::size_t i = 0; i < vocabulary.merges.size(); ++i) {
    const std::string& merge = vocabulary.merges[i];
    if (merge.size() > 2 * kMaxTokenBytes + 1) over_limit(vocabulary, "merge " + std::to_string(i) + " is longer than 8,193 bytes");
    const std::size_t space = merge.find(' ');
    if (space == std::string::npos || space == 0 || space + 1 == merge.size() || merge.find(' ', space + 1) != std::string::npos) {
      damaged(vocabulary, "merge " + std::to_string(i) + " is not a pair");
    }
    file.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
}

TokenizerFile byte_level_file(const GgufVocabulary& vocabulary) {
  const GgufPreTokenizer* known = gguf_pre_tokenizer(vocabulary.pre);
  if (known == nullptr) {
    throw Exception(ErrorCode::kUnsupportedModel, vocabulary.path,
                    "the pre-tokenizer " + quoted_name(vocabulary.pre) + " is not supported");
  }
  TokenizerFile file{.ignore_merges = known->ignore_merges};
  if (known->nfc) file.normalizer = {{"type", "NFC"}};
  Json steps = Json::array();
  for (const std::string_view pattern : known->patterns) {
    steps.push_back({{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  file.pre_tokenizer = {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
  file.decoder = {{"type", "ByteLevel"}};
  add_merges(vocabulary, file);
  return file;
}

// Characters with U+2581 for a space and bytes for those that are not there.
TokenizerFile character_file(bool space_prefix) {
  const char* const space = "\u2581";
  TokenizerFile file{.byte_fallback = true};
  Json steps = Json::array();
  if (space_prefix) steps.push_back({{"type", "Prepend"}, {"prepend", space}});
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", space}});
  file.normalizer = {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
  Json decoders = Json::array(
      {{{"type", "Replace"}, {"pattern", {{"String", space}}}, {"content", " "}}, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}});
  if (space_prefix) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  file.decoder = {{"type", "Sequence"}, {"decoders", std::move(decoders)}};
  return file;
}

TokenizerFile sentence_piece_file(const GgufVocabulary& vocabulary) {
  TokenizerFile file = character_file(vocabulary.add_space_prefix);
  file.word_model = WordModelKind::kScoredMerges;
  file.fuse_unknown = true;
  if (vocabulary.unknown) file.unknown_token = vocabulary.tokens[static_cast<std::size_t>(*vocabulary.unknown)];
  return file;
}

TokenizerFile gemma_file(const GgufVocabulary& vocabulary) {
  TokenizerFile file = character_file(false);
  add_merges(vocabulary, file);
  return file;
}

}  // namespace

TokenizerFile tokenizer_of(const GgufVocabulary& vocabulary) {
  const bool scored = vocabulary.model == "llama";
  const bool gemma = vocabulary.model == "gemma4";
  if (!scored && !gemma && vocabulary.model != "gpt2") {
    throw Exception(ErrorCode::kUnsupportedModel, vocabulary.path,
                    "the tokenizer model " + quoted_name(vocabulary.model) + " is not supported");
  }
  check_sizes(vocabulary, scored);
  check_tokens(vocabulary);
  check_special_ids(vocabulary);
  TokenizerFile file = scored ? sentence_piece_file(vocabulary) : gemma ? gemma_file(vocabulary) : byte_level_file(vocabulary);
  file.path = vocabulary.path;
  add_tokens(vocabulary, scored, file);
  if (file.vocabulary.empty()) damaged(vocabulary, "has an empty vocabulary");
  const std::string bos = vocabulary.bos ? vocabulary.tokens[static_cast<std::size_t>(*vocabulary.bos)] : "";
  if (vocabulary.add_bos && !bos.empty()) file.prefix.push_back(bos);
  return file;
}

}  // namespace winnow
