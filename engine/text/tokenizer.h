// Text to token ids and back, as the Hugging Face `tokenizers` library does it with the same tokenizer.json, and as llama.cpp does it with
// the vocabulary of a GGUF file (model_files/gguf_tokenizer.h).
//
// Used by engine/generation (prompts, streaming) and by the model families (ids of placeholders). Knows BPE over bytes and over characters
// with byte fallback, merging by rank or by score; the normalizers of normalizer.h; pre-tokenizers Split (isolated), Digits,
// Punctuation, ByteLevel, Metaspace, WhitespaceSplit before Metaspace, and Sequence; the decoders of token_decoder.h; added tokens with all
// their flags.
// A post-processor is not applied: the chat template writes what the model wants to see, as add_special_tokens=False does. What it would
// put before a text is told (prefix()), for prompts that transformers makes with a processor: those of models that see.
//
// SentencePiece's vocabularies put a space before a text, so that "Hello" is the same token at its beginning as in its middle. As in
// `tokenizers` and llama.cpp every stretch of text gets it that begins the text or follows an added token (with the scheme "first" only
// what begins the whole prompt), and decode() takes the first space away again. In a chat that is what goes together: an answer follows the
// template's last token, so the model writes its first word with the space, people see it without, and read again it gets it back. Text
// that goes on behind tokens of a cache that end in text must not get one (TextStart::kContinued). Spaces inside an answer are never
// touched.
//
// Differences from the library, all outside real prompts: a stretch of more than 64 KiB that is one word (without a pattern: of which no
// token reaches over a border) is cut there; a stretch on which the pattern hits its step limit becomes one token per byte; a pattern that
// asks for properties other than letters, numbers and white space sees PCRE2's Unicode version; broken characters of byte tokens become
// U+FFFD as UTF-8 decoders do it, not one for each byte of the run.
//
// Errors: Exception. from(): kDamagedFile, kLimitExceeded, kUnsupportedModel. encode(): kLimitExceeded, for text over
// 16 MiB or that takes more than 1.8 s of work between two special tokens. Broken UTF-8 is no error: it becomes U+FFFD.
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

class SpecialPlaces;   // special_places.h
struct TokenizerFile;  // tokenizer_file.h

// The treatment of special tokens in the text.
enum class SpecialText : int {
  kAsText = 1,  // they are ordinary characters: for everything that a user or a model wrote
  kParse = 2,   // they are recognised: for text of the chat template
};

enum class SpecialTokens : int { kKeep = 1, kSkip = 2 };

// The context before a text: nothing of the prompt (what a post-processor writes before it does not count), a token that is no text (a
// special one, a picture), or text that it goes on.
enum class TextStart : int { kNew = 1, kContinued = 2, kAfterToken = 3 };

// A stretch of a text that several have written.
struct WrittenText {
  std::string_view text;
  SpecialText policy;
};

class Tokenizer {
 public:
  static std::unique_ptr<Tokenizer> from(const TokenizerFile& file);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  std::vector<std::int64_t> encode(std::string_view text, SpecialText policy, TextStart start = TextStart::kNew) const;
  // One text of its stretches: words, and the white space that a special token takes, reach over their borders; special tokens do not.
  std::vector<std::int64_t> encode(std::span<const WrittenText> stretches, TextStart start) const;

  // True if the last that encode() finds in a text with kParse is an added token.
  bool ends_in_added_token(std::string_view text) const;

  // Ids without a token (padding of the model's vocabulary) give no text. Bytes that are not UTF-8 become U+FFFD.
  std::string decode(std::span<const std::int64_t> ids, SpecialTokens specials) const;
  // The bytes that one id contributes; often less than a character.
  std::string_view token_bytes(std::int64_t id) const;

  // The same of the first id of a text: without the space that the encoder puts there.
  std::string first_bytes(std::int64_t id) const;

  // The id of a token by its text: an added token, or an entry of the vocabulary as it stands there ("\u0120the", "\u2581the").
  std::optional<std::int64_t> token_id(std::string_view text) const;
  // One more than the largest id.
  std::int64_t vocabulary_size() const;
  bool is_special(std::int64_t id) const;
  // The tokens that the post-processor puts before a text.
  std::span<const std::int64_t> prefix() const;

 private:
  struct Parts;
  std::vector<std::int64_t> encode(std::string_view text, const SpecialPlaces& places, TextStart start) const;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace winnow
