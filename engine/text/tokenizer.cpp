#include "engine/text/tokenizer.h"

#include <algorithm>
#include <chrono>

#include "engine/text/added_token_matcher.h"
#include "engine/text/bpe_model.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/tokenizer_file.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;
constexpr std::size_t kLongWordBytes = 1024;
constexpr std::chrono::milliseconds kTimeLimit{1800};

void require_byte_level_decoder(const Json& decoder, const std::string& path) {
  const auto is_byte_level = [](const Json& step) {
    return step.is_object() && step.contains("type") && step["type"].is_string() &&
           step["type"].get_ref<const std::string&>() == "ByteLevel";
  };
  if (is_byte_level(decoder)) return;
  if (decoder.is_object() && decoder.contains("decoders") && decoder["decoders"].is_array() && decoder["decoders"].size() == 1 &&
      is_byte_level(decoder["decoders"][0])) {
    return;
  }
  throw Exception(ErrorCode::kUnsupportedModel, path, "the tokenizer's decoder is not ByteLevel");
}

}  // namespace

struct Tokenizer::Parts {
  explicit Parts(const TokenizerFile& file)
      : normalizer(file.normalizer, file.path), pre_tokenizer(file.pre_tokenizer, file.path), model(file) {
    require_byte_level_decoder(file.decoder, file.path);
    std::int64_t largest = model.largest_id();
    for (const AddedToken& token : file.added_tokens) largest = std::max(largest, token.id);
    const auto size = static_cast<std::size_t>(largest + 1);
    bytes.resize(size);
    special.resize(size);
    std::vector<bool> taken(size);
    for (const auto& [text, id] : file.vocabulary) {
      bytes[static_cast<std::size_t>(id)] = ByteAlphabet::instance().bytes_of(text).value_or(text);
      taken[static_cast<std::size_t>(id)] = true;
    }
    for (const AddedToken& token : file.added_tokens) {
      const auto id = static_cast<std::size_t>(token.id);
      const auto in_vocabulary = model.find(token.content);
      if (in_vocabulary ? *in_vocabulary != token.id : taken[id]) {
        throw Exception(ErrorCode::kDamagedFile, file.path, "an added token has the id of another token");
      }
      bytes[id] = ByteAlphabet::instance().bytes_of(token.content).value_or(token.content);
      special[id] = token.special;
      added_ids.emplace(token.content, token.id);
      if (token.normalized) {
        normalized_tokens.add(token, normalizer.apply(token.content));
      } else {
        raw_tokens.add(token, token.content);
      }
    }
  }

  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  BpeModel model;
  AddedTokenMatcher raw_tokens;
  AddedTokenMatcher normalized_tokens;
  std::vector<std::string> bytes;  // by id
  std::vector<bool> special;
  std::unordered_map<std::string, std::int64_t, StringHash, std::equal_to<>> added_ids;
  BpeModel::Scratch scratch;  // of the one thread that may encode
};

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

std::unique_ptr<Tokenizer> Tokenizer::from(TokenizerFile file) {
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::make_unique<Parts>(std::move(file))));
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view input, SpecialText policy) const {
  if (input.size() > kMaxTextBytes) throw Exception(ErrorCode::kLimitExceeded, "", "the text is longer than 16 MiB");
  std::string repaired;
  if (!utf8::is_valid(input)) {
    repaired = utf8::repair(input);
    input = repaired;
  }
  Parts& parts = *parts_;
  Deadline deadline(kTimeLimit);
  std::vector<std::int64_t> ids;
  for (const AddedTokenSpan& raw : parts.raw_tokens.find(input, policy)) {
    if (raw.id) {
      ids.push_back(*raw.id);
      continue;
    }
    const std::string normalized = parts.normalizer.apply(input.substr(raw.begin, raw.end - raw.begin));
    for (const AddedTokenSpan& span : parts.normalized_tokens.find(normalized, policy)) {
      if (span.id) {
        ids.push_back(*span.id);
        continue;
      }
      const std::string text = parts.pre_tokenizer.prepare(std::string_view(normalized).substr(span.begin, span.end - span.begin));
      std::string_view last_long;
      std::size_t last_long_ids = 0;  // how many of the ids at the end are its
      for (const TextPiece& piece : parts.pre_tokenizer.split(text, deadline)) {
        const std::string_view word = std::string_view(text).substr(piece.begin, piece.end - piece.begin);
        if (piece.bytewise) {
          parts.model.encode_bytes(word, ids);
          last_long = {};
        } else if (word.size() >= kLongWordBytes && word == last_long) {
          // One character ten million times is many equal windows.
          const std::size_t from = ids.size() - last_long_ids;
          ids.resize(ids.size() + last_long_ids);
          std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(from), last_long_ids,
                      ids.end() - static_cast<std::ptrdiff_t>(last_long_ids));
        } else {
          const std::size_t before = ids.size();
          parts.model.encode_word(word, parts.scratch, ids);
          last_long = word;
          last_long_ids = ids.size() - before;
        }
        if (deadline.passed()) throw Exception(ErrorCode::kLimitExceeded, "", "turning the text into tokens takes too long");
      }
    }
  }
  return ids;
}

std::string_view Tokenizer::token_bytes(std::int64_t id) const {
  if (id < 0 || id >= vocabulary_size()) return {};
  return parts_->bytes[static_cast<std::size_t>(id)];
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids, SpecialTokens specials) const {
  std::string out;
  for (const std::int64_t id : ids) {
    if (specials == SpecialTokens::kSkip && is_special(id)) continue;
    out += token_bytes(id);
  }
  return utf8::is_valid(out) ? out : utf8::repair(out);
}

std::optional<std::int64_t> Tokenizer::token_id(std::string_view text) const {
  const auto added = parts_->added_ids.find(text);
  if (added != parts_->added_ids.end()) return added->second;
  return parts_->model.find(text);
}

std::int64_t Tokenizer::vocabulary_size() const { return static_cast<std::int64_t>(parts_->bytes.size()); }

bool Tokenizer::is_special(std::int64_t id) const {
  return id >= 0 && id < vocabulary_size() && parts_->special[static_cast<std::size_t>(id)];
}

}  // namespace winnow
