// One word of prepared text to token ids.
//
// Used by the tokenizer; bpe_model.h and spm_model.h are the kinds there are. encode_word() and encode_bytes() use memory
// of the model. Threads: confined to one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace winnow {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
using TokenMap = std::unordered_map<std::string, std::int64_t, StringHash, std::equal_to<>>;

class WordModel {
 public:
  virtual ~WordModel() = default;
  WordModel(const WordModel&) = delete;
  WordModel& operator=(const WordModel&) = delete;

  // Appends the ids of a word: valid UTF-8, at most 2^31 - 1 bytes (the tokenizer cuts at 64 KiB).
  virtual void encode_word(std::string_view word, std::vector<std::int64_t>& ids) = 0;
  // The same with the shortest tokens: one token for each byte or character.
  virtual void encode_units(std::string_view word, std::vector<std::int64_t>& ids) = 0;

  // The id of a token that text can become, by its text in the vocabulary.
  virtual std::optional<std::int64_t> find(std::string_view token_text) const = 0;
  virtual std::int64_t largest_id() const = 0;

 protected:
  WordModel() = default;
};

}  // namespace winnow
