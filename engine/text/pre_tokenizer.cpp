#include "engine/text/pre_tokenizer.h"

#include "engine/text/byte_alphabet.h"
#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr int kMaxSequenceDepth = 8;
constexpr std::size_t kMaxStringBytes = std::size_t{64} * 1024;
constexpr std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::string escape_literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80 && std::string_view(R"(\^$.|?*+()[]{}#-)").find(c) != std::string_view::npos)
      out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

// The pieces cut by one pattern after the other.
std::vector<TextPiece> refined(const std::vector<SplitPattern>& patterns, std::string_view text, std::vector<TextPiece> pieces,
                               Deadline& deadline) {
  const auto late = [&] { return deadline.passed(); };
  for (const SplitPattern& pattern : patterns) {
    std::vector<TextPiece> finer;
    for (const TextPiece& piece : pieces) {
      if (piece.bytewise) {
        finer.push_back(piece);
      } else if (!pattern.split(text, piece.begin, piece.end, finer, late)) {
        throw Exception(ErrorCode::kLimitExceeded, "", "splitting the text into words takes too long");
      }
    }
    pieces = std::move(finer);
  }
  return pieces;
}

bool is_character(std::string_view text) { return !text.empty() && utf8::decode(text, 0).bytes == text.size(); }

}  // namespace

PreTokenizer::PreTokenizer(const Json& description, TokenAlphabet alphabet, const std::string& path) : alphabet_(alphabet) {
  if (!description.is_null()) {
    add(description, path, 0);
  } else if (alphabet == TokenAlphabet::kBytes) {
    throw Exception(ErrorCode::kUnsupportedModel, path, "a byte-level tokenizer without byte-level steps is not supported");
  }
}

void PreTokenizer::add(const Json& step, const std::string& path, int depth) {
  if (depth > kMaxSequenceDepth || patterns_.size() + byte_patterns_.size() >= kMaxSteps)
    throw Exception(ErrorCode::kLimitExceeded, path, "too many pre-tokenizers");
  const std::string type = step_type(step, path, "pre_tokenizer");
  const JsonObject fields(step, path, "pre_tokenizer");
  if (type == "Sequence") {
    add_sequence(step, path, depth);
  } else if (type == "ByteLevel" && alphabet_ == TokenAlphabet::kBytes && !byte_level_) {
    if (fields.boolean("add_prefix_space", true)) prefix_ = Prefix::kEveryText;
    if (prefix_ != Prefix::kNone && !patterns_.empty()) {
      throw Exception(ErrorCode::kUnsupportedModel, path, "a prefix space after other pre-tokenizers is not supported");
    }
    if (fields.boolean("use_regex", true)) patterns_.emplace_back(kGpt2Pattern, path);
    byte_level_ = true;
  } else if (type == "Split" && (depth > 0 || alphabet_ == TokenAlphabet::kCharacters)) {
    add_split(fields);
  } else if (type == "Digits" && (depth > 0 || alphabet_ == TokenAlphabet::kCharacters)) {
    patterns().emplace_back(fields.boolean("individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)", path);
  } else if (type == "Punctuation" && (depth > 0 || alphabet_ == TokenAlphabet::kCharacters)) {
    add_punctuation(fields);
  } else if (type == "WhitespaceSplit" && depth > 0 && alphabet_ == TokenAlphabet::kCharacters && space_.from.empty() &&
             patterns_.empty()) {
    white_space_words_ = true;
  } else if (type == "Metaspace" && alphabet_ == TokenAlphabet::kCharacters) {
    add_metaspace(fields);
  } else {
    throw Exception(ErrorCode::kUnsupportedModel, path, "the pre-tokenizer " + type + " is not supported");
  }
}

void PreTokenizer::add_sequence(const Json& step, const std::string& path, int depth) {
  for (const Json& each : steps_of(step, "pretokenizers", path)) add(each, path, depth + 1);
  if (alphabet_ == TokenAlphabet::kBytes && !byte_level_) {
    throw Exception(ErrorCode::kUnsupportedModel, path, "a byte-level tokenizer without byte-level steps is not supported");
  }
  if (white_space_words_ && space_.from.empty())
    throw Exception(ErrorCode::kUnsupportedModel, path, "the pre-tokenizer WhitespaceSplit is not supported without Metaspace behind it");
}

void PreTokenizer::add_punctuation(const JsonObject& fields) {
  const std::string behavior = fields.string("behavior", 64, "Isolated");
  if (behavior != "Isolated" && behavior != "Contiguous") {
    throw Exception(ErrorCode::kUnsupportedModel, fields.file(), "punctuation is only split off isolated or contiguous");
  }
  patterns().emplace_back(std::string(R"([\p{P}$+<=>^`|~])") + (behavior == "Contiguous" ? "+" : ""), fields.file());
}

void PreTokenizer::add_split(const JsonObject& fields) {
  const std::string behavior = fields.string("behavior", 64);
  const JsonObject pattern = fields.object("pattern");
  const bool literal = !pattern.has("Regex");
  const std::string text = pattern.string(literal ? "String" : "Regex", kMaxStringBytes);
  // Gemma merges a space with what is before it (and finds none, for its normalizer has replaced them all).
  const bool merged = behavior == "MergedWithPrevious" && literal && is_character(text);
  if (fields.boolean("invert", false) || (behavior != "Isolated" && !merged)) {
    throw Exception(ErrorCode::kUnsupportedModel, fields.file(), "only isolated splits are supported");
  }
  const std::string escaped = literal ? escape_literal(text) : text;
  patterns().emplace_back(merged ? "[^" + escaped + "]*+" + escaped : escaped, fields.file());
}

void PreTokenizer::add_metaspace(const JsonObject& fields) {
  if (!space_.from.empty() || !patterns_.empty()) {
    throw Exception(ErrorCode::kUnsupportedModel, fields.file(), "Metaspace after other pre-tokenizers is not supported");
  }
  space_ = {" ", fields.string("replacement", 4)};
  if (!is_character(space_.to)) throw Exception(ErrorCode::kDamagedFile, fields.file(), "Metaspace replaces a space by no character");
  const std::string scheme = fields.string("prepend_scheme", 16, fields.boolean("add_prefix_space", true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    throw Exception(ErrorCode::kUnsupportedModel, fields.file(), "Metaspace has a prepend_scheme that is not known");
  }
  const bool splits = fields.boolean("split", true);
  if (white_space_words_ && (scheme != "always" || !splits)) {
    throw Exception(ErrorCode::kUnsupportedModel, fields.file(),
                    "Metaspace after WhitespaceSplit is only supported where it splits and always prepends");
  }
  prefix_ = scheme == "always" ? Prefix::kEveryText : scheme == "first" ? Prefix::kFirstText : Prefix::kNone;
  if (splits) {
    const std::string space = escape_literal(space_.to);
    patterns_.emplace_back(space + "[^" + space + "]*+", fields.file());
  }
}

std::string PreTokenizer::words_with_spaces(std::string_view text, TextStart start) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at + utf8::spaces_at_start(text.substr(at));
    std::size_t end = begin;
    while (end < text.size()) {
      const utf8::Decoded next = utf8::decode(text, end);
      if (utf8::is_space(next.code_point)) break;
      end += next.bytes;
    }
    const std::string_view word = text.substr(begin, end - begin);
    const bool goes_on = begin == 0 && start == TextStart::kContinued;
    if (!word.empty() && !goes_on && !word.starts_with(space_.to)) out += space_.to;
    out += word;
    at = end;
  }
  return out;
}

std::string PreTokenizer::prepare(std::string_view text, TextStart start) const {
  if (white_space_words_) return words_with_spaces(text, start);
  std::string replaced = space_.from.empty() ? std::string(text) : space_.apply(text);
  const std::string_view space = space_.from.empty() ? " " : std::string_view(space_.to);
  const bool wanted =
      prefix_ == Prefix::kEveryText ? start != TextStart::kContinued : prefix_ == Prefix::kFirstText && start == TextStart::kNew;
  if (wanted && !replaced.starts_with(space)) replaced.insert(0, space);
  return replaced;
}

std::vector<TextPiece> PreTokenizer::split(std::string_view text, Deadline& deadline) const {
  std::vector<TextPiece> pieces;
  if (patterns_.empty() && byte_patterns_.empty()) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = window_end(text, at, text.size());
      pieces.push_back({at, end, false});
      at = end;
    }
    return pieces;
  }
  pieces = refined(patterns_, text, {{0, text.size(), false}}, deadline);
  return byte_patterns_.empty() ? pieces : split_bytes(text, pieces, deadline);
}

std::vector<TextPiece> PreTokenizer::split_bytes(std::string_view text, const std::vector<TextPiece>& pieces, Deadline& deadline) const {
  std::vector<TextPiece> finer;
  for (const TextPiece& piece : pieces) {
    if (piece.bytewise) {
      finer.push_back(piece);
      continue;
    }
    const std::string characters = ByteAlphabet::instance().text_of(text.substr(piece.begin, piece.end - piece.begin));
    std::size_t byte = piece.begin;
    for (const TextPiece& part : refined(byte_patterns_, characters, {{0, characters.size(), false}}, deadline)) {
      const std::size_t begin = byte;
      for (std::size_t i = part.begin; i < part.end; i += utf8::decode(characters, i).bytes) ++byte;
      finer.push_back({begin, byte, part.bytewise});
    }
  }
  return finer;
}

}  // namespace winnow
