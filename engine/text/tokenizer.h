// Text to token ids and back, as the Hugging Face `tokenizers` library does it with the same tokenizer.json.
//
// Used by engine/generation (prompts, streaming) and by the model families (ids of placeholders). Knows byte-level BPE: normalizers NFC
// and Sequence; pre-tokenizers Split (isolated), Digits, ByteLevel and Sequence; decoder ByteLevel; added tokens with all their flags.
// A post-processor is not applied: the chat template writes what the model wants to see, as add_special_tokens=False does.
//
// Differences from the library, all outside real prompts: a stretch of more than 64 KiB that the pattern takes as one word is cut there;
// a stretch on which the pattern hits its step limit becomes one token per byte; a pattern that asks for properties other than letters,
// numbers and white space sees PCRE2's Unicode version.
//
// Errors: Exception. from(): kDamagedFile, kLimitExceeded, kUnsupportedModel. encode(): kLimitExceeded, for text over
// 16 MiB or that takes more than 1.8 s of work. Broken UTF-8 is no error: it becomes U+FFFD.
// Threads: confined to one (the engine's).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

struct TokenizerFile;  // tokenizer_file.h

// What becomes of special tokens that stand in the text.
enum class SpecialText : int {
  kAsText = 1,  // they are ordinary characters: for everything that a user or a model wrote
  kParse = 2,   // they are recognised: for text of the chat template
};

enum class SpecialTokens : int { kKeep = 1, kSkip = 2 };

class Tokenizer {
 public:
  static std::unique_ptr<Tokenizer> from(TokenizerFile file);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  std::vector<std::int64_t> encode(std::string_view text, SpecialText policy) const;

  // Ids without a token (padding of the model's vocabulary) give no text. Bytes that are not UTF-8 become U+FFFD.
  std::string decode(std::span<const std::int64_t> ids, SpecialTokens specials) const;
  // What one id contributes; often less than a character.
  std::string_view token_bytes(std::int64_t id) const;

  // The id of a token by its text: an added token, or a vocabulary entry in the byte alphabet ("\u0120the").
  std::optional<std::int64_t> token_id(std::string_view text) const;
  // One more than the largest id.
  std::int64_t vocabulary_size() const;
  bool is_special(std::int64_t id) const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace winnow
