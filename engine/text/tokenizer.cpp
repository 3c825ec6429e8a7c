#include "engine/text/tokenizer.h"

#include <algorithm>
#include <chrono>

#include "engine/text/added_token_matcher.h"
#include "engine/text/bpe_model.h"
#include "engine/text/normalizer.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/special_places.h"
#include "engine/text/spm_model.h"
#include "engine/text/text_bounds.h"
#include "engine/text/token_decoder.h"
#include "engine/text/token_joins.h"
#include "engine/text/tokenizer_file.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;
constexpr std::size_t kLongWordBytes = 1024;
constexpr std::chrono::milliseconds kTimeLimit{1800};

std::unique_ptr<WordModel> model_of(const TokenizerFile& file, TokenAlphabet alphabet) {
  if (file.word_model == WordModelKind::kRankedMerges) return std::make_unique<BpeModel>(file, alphabet);
  if (alphabet != TokenAlphabet::kCharacters) {
    throw Exception(ErrorCode::kUnsupportedModel, file.path, "a byte-level decoder is only supported with the tokenizer model BPE");
  }
  return std::make_unique<SpmModel>(file);
}

}  // namespace

struct Tokenizer::Parts {
  explicit Parts(const TokenizerFile& file)
      : decoder(file.decoder, file.path),
        normalizer(file.normalizer, file.path),
        pre_tokenizer(file.pre_tokenizer, decoder.alphabet(), file.path),
        model(model_of(file, decoder.alphabet())),
        cuts_between_tokens(decoder.alphabet() == TokenAlphabet::kCharacters) {
    std::int64_t largest = model->largest_id();
    for (const AddedToken& token : file.added_tokens) largest = std::max(largest, token.id);
    for (const auto& [text, id] : file.unmerged) largest = std::max(largest, id);
    const auto size = static_cast<std::size_t>(largest + 1);
    bytes.resize(size);
    special.resize(size);
    spaces_put_first.resize(size);
    std::vector<bool> taken(size);
    for (const auto& [text, id] : file.vocabulary) {
      bytes[static_cast<std::size_t>(id)] = decoder.bytes_of(text);
      spaces_put_first[static_cast<std::size_t>(id)] = decoder.makes_spaces_of(text);
      taken[static_cast<std::size_t>(id)] = true;
      if (cuts_between_tokens) joins.add(text);
    }
    for (const auto& [text, id] : file.unmerged) {
      if (taken[static_cast<std::size_t>(id)]) throw Exception(ErrorCode::kDamagedFile, file.path, "two tokens have one id");
      bytes[static_cast<std::size_t>(id)] = decoder.bytes_of(text);
      taken[static_cast<std::size_t>(id)] = true;
    }
    for (const AddedToken& token : file.added_tokens) {
      const auto id = static_cast<std::size_t>(token.id);
      const auto in_vocabulary = model->find(token.content);
      if (in_vocabulary ? *in_vocabulary != token.id : taken[id]) {
        throw Exception(ErrorCode::kDamagedFile, file.path, "an added token has the id of another token");
      }
      // An added token of characters is its own text, U+2581 included: it is looked for before spaces are replaced.
      bytes[id] = decoder.alphabet() == TokenAlphabet::kBytes ? decoder.bytes_of(token.content) : token.content;
      spaces_put_first[id] = false;
      special[id] = token.special;
      added_ids.emplace(token.content, token.id);
      if (token.normalized) {
        const std::string content = normalizer.apply(token.content, TextStart::kNew).text;
        if (content.size() > 2 * kMaxTokenBytes) {
          throw Exception(ErrorCode::kLimitExceeded, file.path, "an added token is longer than 8,192 bytes once it is normalised");
        }
        normalized_tokens.add(token, content);
      } else {
        raw_tokens.add(token, token.content);
      }
    }
    for (const std::string& token : file.prefix) {
      const auto added = added_ids.find(token);
      const std::optional<std::int64_t> id = added != added_ids.end() ? std::optional(added->second) : model->find(token);
      if (!id) throw Exception(ErrorCode::kDamagedFile, file.path, "a token that it writes before a text is not there");
      prefix.push_back(*id);
    }
  }

  // Words of a stretch of prepared text.
  std::vector<TextPiece> split(std::string_view text, Deadline& deadline) const {
    std::vector<TextPiece> pieces = pre_tokenizer.split(text, deadline);
    if (!cuts_between_tokens) return pieces;
    std::vector<TextPiece> words;
    for (const TextPiece& piece : pieces) joins.cut(text, piece, words);
    return words;
  }

  // The places where special tokens count once a stretch of a text is normalised. A border stands where what is before it, normalised
  // alone, goes another way than the whole.
  SpecialPlaces normalized_places(std::string_view stretch, const SpecialPlaces& places, std::string_view normalized,
                                  TextStart start) const {
    if (places.stretches().size() == 1) return SpecialPlaces(places.stretches().front().policy);
    if (!normalized_tokens.has_special()) return SpecialPlaces(SpecialText::kAsText);
    SpecialPlaces found;
    for (const SpecialPlaces::Stretch& each : places.stretches()) {
      if (each.end == stretch.size()) {
        found.add(normalized.size(), each.policy);
        break;
      }
      const std::string before = normalizer.apply(stretch.substr(0, each.end), start).text;
      const auto apart = std::ranges::mismatch(normalized, before).in1;
      found.add(static_cast<std::size_t>(apart - normalized.begin()), each.policy);
    }
    return found;
  }

  // Appends the ids of normalised text without added tokens.
  void encode_words(std::string_view normalized, TextStart start, Deadline& deadline, std::vector<std::int64_t>& ids) const {
    const std::string text = pre_tokenizer.prepare(normalized, start);
    std::string_view last_long;
    std::size_t last_long_ids = 0;  // how many of the ids at the end are its
    for (const TextPiece& piece : split(text, deadline)) {
      const std::string_view word = std::string_view(text).substr(piece.begin, piece.end - piece.begin);
      if (piece.bytewise) {
        model->encode_units(word, ids);
        last_long = {};
      } else if (word.size() >= kLongWordBytes && word == last_long) {
        // One character ten million times is many equal windows.
        const std::size_t from = ids.size() - last_long_ids;
        ids.resize(ids.size() + last_long_ids);
        std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(from), last_long_ids, ids.end() - static_cast<std::ptrdiff_t>(last_long_ids));
      } else {
        const std::size_t before = ids.size();
        model->encode_word(word, ids);
        last_long = word;
        last_long_ids = ids.size() - before;
      }
      TextBounds::check_tokens(ids.size());
      if (deadline.passed()) throw Exception(ErrorCode::kLimitExceeded, "", "turning the text into tokens takes too long");
    }
  }

  TokenDecoder decoder;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<WordModel> model;
  bool cuts_between_tokens;  // words of characters
  TokenJoins joins;
  AddedTokenMatcher raw_tokens;
  AddedTokenMatcher normalized_tokens;
  std::vector<std::string> bytes;  // by id
  std::vector<bool> special;
  std::vector<bool> spaces_put_first;  // spaces in the token are what an encoder puts at a text's beginning
  TokenMap added_ids;
  std::vector<std::int64_t> prefix;
};

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

std::unique_ptr<Tokenizer> Tokenizer::from(const TokenizerFile& file) {
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::make_unique<Parts>(file)));
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text, SpecialText policy, TextStart start) const {
  const WrittenText whole{text, policy};
  return encode(std::span(&whole, 1), start);
}

std::vector<std::int64_t> Tokenizer::encode(std::span<const WrittenText> stretches, TextStart start) const {
  std::string text;
  SpecialPlaces places;
  for (const WrittenText& stretch : stretches) {
    if (text.size() + stretch.text.size() > kMaxTextBytes) throw Exception(ErrorCode::kLimitExceeded, "", "the text is longer than 16 MiB");
    text += utf8::is_valid(stretch.text) ? stretch.text : utf8::repair(stretch.text);
    places.add(text.size(), stretch.policy);
  }
  return encode(text, places, start);
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text, const SpecialPlaces& places, TextStart start) const {
  Parts& parts = *parts_;
  Deadline deadline(kTimeLimit);
  std::vector<std::int64_t> ids;
  // Only what stands before all else goes on from what was there before.
  const auto start_at = [&] { return ids.empty() ? start : TextStart::kAfterToken; };
  for (const AddedTokenSpan& raw : parts.raw_tokens.find(text, places)) {
    if (raw.id) {
      ids.push_back(*raw.id);
      if (is_special(*raw.id)) deadline = Deadline(kTimeLimit);
      continue;
    }
    const std::string_view stretch = text.substr(raw.begin, raw.end - raw.begin);
    const Normalizer::Result normalized = parts.normalizer.apply(stretch, start_at());
    const SpecialPlaces normalized_places =
        parts.normalized_places(stretch, places.within(raw.begin, raw.end), normalized.text, start_at());
    if (ids.empty()) start = normalized.start;
    for (const AddedTokenSpan& span : parts.normalized_tokens.find(normalized.text, normalized_places)) {
      if (span.id) {
        ids.push_back(*span.id);
      } else {
        parts.encode_words(std::string_view(normalized.text).substr(span.begin, span.end - span.begin), start_at(), deadline, ids);
      }
    }
  }
  return ids;
}

bool Tokenizer::ends_in_added_token(std::string_view text) const {
  const Parts& parts = *parts_;
  if (text.empty() || !utf8::is_valid(text)) return false;
  const SpecialPlaces everywhere(SpecialText::kParse);
  const AddedTokenSpan last = parts.raw_tokens.find(text, everywhere).back();
  if (last.id) return true;
  const Normalizer::Result normalized = parts.normalizer.apply(text.substr(last.begin), TextStart::kAfterToken);
  const std::vector<AddedTokenSpan> spans = parts.normalized_tokens.find(normalized.text, everywhere);
  return !spans.empty() && spans.back().id.has_value();
}

std::string_view Tokenizer::token_bytes(std::int64_t id) const {
  if (id < 0 || id >= vocabulary_size()) return {};
  return parts_->bytes[static_cast<std::size_t>(id)];
}

std::string Tokenizer::first_bytes(std::int64_t id) const {
  std::string bytes(token_bytes(id));
  if (bytes.empty()) return bytes;
  const FirstSpaces spaces = parts_->decoder.first_spaces();
  if (spaces == FirstSpaces::kOneGoes && bytes.starts_with(' ')) bytes.erase(0, 1);
  if (spaces == FirstSpaces::kAllGo && parts_->spaces_put_first[static_cast<std::size_t>(id)]) std::erase(bytes, ' ');
  return bytes;
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids, SpecialTokens specials) const {
  std::string out;
  bool begun = false;
  for (const std::int64_t id : ids) {
    if (specials == SpecialTokens::kSkip && is_special(id)) continue;
    if (!begun) {
      out = first_bytes(id);
      begun = !token_bytes(id).empty();
    } else {
      out += token_bytes(id);
    }
  }
  return utf8::is_valid(out) ? out : utf8::repair(out);
}

std::optional<std::int64_t> Tokenizer::token_id(std::string_view text) const {
  const auto added = parts_->added_ids.find(text);
  if (added != parts_->added_ids.end()) return added->second;
  return parts_->model->find(text);
}

std::span<const std::int64_t> Tokenizer::prefix() const { return parts_->prefix; }

std::int64_t Tokenizer::vocabulary_size() const { return static_cast<std::int64_t>(parts_->bytes.size()); }

bool Tokenizer::is_special(std::int64_t id) const {
  return id >= 0 && id < vocabulary_size() && parts_->special[static_cast<std::size_t>(id)];
}

}  // namespace winnow
